//! Links to .network and .netdev files (systemd.network(5), systemd.netdev(5)).

use super::ini::Writer;
use super::{FOLDER, MEMBERS};
use crate::rooms::ipoib::model::{Compare, Link, LinkKind, Rendered, WantedLink};
use crate::types::HostPath;

const COMMENT: &str = "Written by ibplan; changes by hand are undone.";

/// A link as it stands among the others.
#[derive(Clone, Debug)]
pub(crate) struct Place<'a> {
    /// The link.
    pub(crate) wanted: &'a WantedLink,
    /// Its P_Key children.
    pub(crate) children: Vec<&'a str>,
    /// It is the preferred member of its bond.
    pub(crate) primary: bool,
}

impl<'a> Place<'a> {
    /// Finds the place of a link among all wanted ones.
    pub(crate) fn of(wanted: &'a WantedLink, all: &'a [WantedLink]) -> Self {
        let name = wanted.link.name.as_str();
        let children = all
            .iter()
            .filter(|w| matches!(&w.link.kind, LinkKind::Child { parent, .. } if parent == name))
            .map(|w| w.link.name.as_str())
            .collect();
        let primary = all.iter().any(|w| {
            wanted.link.bond.as_ref() == Some(&w.link.name)
                && matches!(&w.link.kind, LinkKind::Bond { primary: Some(p), .. } if p == name)
        });
        Self {
            wanted,
            children,
            primary,
        }
    }
}

/// An own file of a link.
pub(crate) fn file(path: &str, text: String, wanted: &WantedLink) -> Option<Rendered> {
    Some(Rendered {
        path: HostPath::new(path)?,
        text,
        mode: 0o644,
        links: vec![wanted.link.name.clone()],
        section: wanted.section,
        compare: Compare::Bytes,
        keys: None,
    })
}

/// The .netdev file that makes a child or a bond; `None` for a port's own interface, which the driver makes.
pub(crate) fn netdev(wanted: &WantedLink) -> Option<Rendered> {
    let link = &wanted.link;
    let mut out = Writer::new(COMMENT);
    match &link.kind {
        LinkKind::Parent | LinkKind::Ethernet => return None,
        LinkKind::Child { pkey, .. } => {
            // Without MACAddress=none networkd derives a GUID from the name and the machine id (systemd: ipoib.c,
            // generate_mac), and the kernel takes it for the child's GID (linux: ipoib_main.c, ipoib_child_init): one that
            // no port has. With it the kernel gives the child the parent's. As old as Kind=ipoib (systemd: NEWS, 250).
            out.section("NetDev")
                .key("Name", &link.name)
                .key("Kind", "ipoib")
                .key("MACAddress", "none");
            out.section("IPoIB")
                .key("PartitionKey", format!("{:#06x}", pkey.full()));
            if let Some(mode) = link.mode {
                out.key("Mode", mode.word());
            }
        }
        LinkKind::Bond { ports, miimon, .. } => {
            // Who is in the bond stands in the members' files; only their order has no other place.
            out.comment(&format!("{MEMBERS}{}", ports.join(" ")));
            out.section("NetDev").key("Name", &link.name).key("Kind", "bond");
            // The kernel refuses every other mode over IPoIB and forces this MAC policy (linux: bond_main.c).
            out.section("Bond")
                .key("Mode", "active-backup")
                .key("FailOverMACPolicy", "active")
                .key("MIIMonitorSec", format!("{miimon}ms"));
        }
    }
    file(
        &format!("{FOLDER}/60-ibplan-{}.netdev", link.name),
        out.finish(),
        wanted,
    )
}

/// The .network file of a link.
pub(crate) fn network(place: &Place<'_>) -> Option<Rendered> {
    let link = &place.wanted.link;
    let mut out = Writer::new(COMMENT);
    out.section("Match").key("Name", &link.name);
    out.section("Link");
    if let Some(mtu) = link.mtu {
        out.key("MTUBytes", mtu);
    }
    // Carrier comes with the subnet manager: without this line a fabric without one stops the boot for 120 s in
    // systemd-networkd-wait-online.
    out.key("RequiredForOnline", "no");
    out.section("Network");
    membership(&mut out, place);
    for child in &place.children {
        out.key("IPoIB", child);
    }
    addressing(&mut out, link);
    for route in &link.routes {
        out.section("Route")
            .key("Destination", route.to)
            .key("Gateway", route.via);
        if let Some(metric) = route.metric {
            out.key("Metric", metric);
        }
    }
    file(
        &format!("{FOLDER}/60-ibplan-{}.network", link.name),
        out.finish(),
        place.wanted,
    )
}

/// The lines that put a link into its bond.
pub(crate) fn membership(out: &mut Writer, place: &Place<'_>) {
    if let Some(bond) = &place.wanted.link.bond {
        out.key("Bond", bond);
        if place.primary {
            out.key("PrimarySlave", "true");
        }
        out.key("LinkLocalAddressing", "no");
    }
}

fn addressing(out: &mut Writer, link: &Link) {
    let dhcp = match (link.dhcp4, link.dhcp6) {
        (true, true) => "yes",
        (true, false) => "ipv4",
        (false, true) => "ipv6",
        (false, false) => "no",
    };
    out.key("DHCP", dhcp)
        .key("IPv6AcceptRA", if link.dhcp6 { "yes" } else { "no" });
    for address in &link.addresses {
        out.key("Address", address);
    }
    for gateway in [link.gateway4, link.gateway6].into_iter().flatten() {
        out.key("Gateway", gateway);
    }
}
