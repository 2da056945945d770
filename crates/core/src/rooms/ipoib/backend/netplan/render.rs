//! Links to the one netplan file, and to the drop-ins that say what netplan cannot.

use super::yaml::scalar;
use crate::rooms::ipoib::backend::networkd;
use crate::rooms::ipoib::backend::networkd::ini::Writer;
use crate::rooms::ipoib::backend::networkd::render::{Place, file, membership};
use crate::rooms::ipoib::model::{Compare, Link, LinkKind, Rendered, WantedLink};
use crate::types::HostPath;
use std::net::IpAddr;

const COMMENT: &str = "Written by ibplan; changes by hand are undone. The word behind each name is the section of the document.";

/// What the netplan and renderer of a host can do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Can {
    /// `infiniband-mode` (netplan 0.105).
    pub(crate) mode: bool,
    /// `to: default`; before it `gateway4` and `gateway6` (netplan 0.103).
    pub(crate) default_route: bool,
}

/// The text of the file for these links, in their order: ports before bonds.
pub(crate) fn text(links: &[WantedLink], can: Can) -> String {
    let mut out = format!("# {COMMENT}\nnetwork:\n  version: 2\n");
    let (bonds, ports): (Vec<&WantedLink>, Vec<&WantedLink>) = links
        .iter()
        .partition(|w| matches!(w.link.kind, LinkKind::Bond { .. }));
    for (group, members) in [("ethernets", ports), ("bonds", bonds)] {
        if !members.is_empty() {
            out.push_str(&format!("  {group}:\n"));
        }
        for wanted in members {
            out.push_str(&format!(
                "    {}:  # {}\n",
                scalar(&wanted.link.name),
                wanted.section
            ));
            body(&mut out, &wanted.link, can);
        }
    }
    out
}

fn body(out: &mut String, link: &Link, can: Can) {
    let mut line = |text: String| {
        out.push_str("      ");
        out.push_str(&text);
        out.push('\n');
    };
    // Carrier comes with the subnet manager: a fabric without one must not stop the boot.
    line("optional: true".to_owned());
    if let LinkKind::Bond {
        ports,
        primary,
        miimon,
    } = &link.kind
    {
        line("interfaces:".to_owned());
        ports.iter().for_each(|p| line(format!("  - {}", scalar(p))));
        line("parameters:".to_owned());
        line("  mode: active-backup".to_owned());
        line(format!("  mii-monitor-interval: {miimon}"));
        line("  fail-over-mac-policy: active".to_owned());
        if let Some(primary) = primary {
            line(format!("  primary: {}", scalar(primary)));
        }
    }
    if let Some(mode) = link.mode.filter(|_| can.mode) {
        line(format!("infiniband-mode: {}", mode.word()));
    }
    if let Some(mtu) = link.mtu {
        line(format!("mtu: {mtu}"));
    }
    line(format!("dhcp4: {}", link.dhcp4));
    line(format!("dhcp6: {}", link.dhcp6));
    line(format!("accept-ra: {}", link.dhcp6));
    if !link.addresses.is_empty() {
        line("addresses:".to_owned());
        link.addresses.iter().for_each(|a| line(format!("  - \"{a}\"")));
    }
    routes(&mut line, link, can);
}

fn routes(line: &mut impl FnMut(String), link: &Link, can: Can) {
    let gateways: Vec<IpAddr> = [link.gateway4, link.gateway6].into_iter().flatten().collect();
    if !can.default_route {
        for gateway in &gateways {
            let key = if gateway.is_ipv4() { "gateway4" } else { "gateway6" };
            line(format!("{key}: \"{gateway}\""));
        }
    }
    let defaults = gateways.iter().filter(|_| can.default_route);
    let mut items: Vec<(String, IpAddr, Option<u32>)> =
        defaults.map(|g| ("default".to_owned(), *g, None)).collect();
    items.extend(
        link.routes
            .iter()
            .map(|r| (format!("\"{}\"", r.to), r.via, r.metric)),
    );
    if !items.is_empty() {
        line("routes:".to_owned());
    }
    for (to, via, metric) in items {
        line(format!("  - to: {to}"));
        line(format!("    via: \"{via}\""));
        if let Some(metric) = metric {
            line(format!("    metric: {metric}"));
        }
    }
}

/// The file itself; its section is `ipoib` as soon as one of its links is of that section.
pub(crate) fn rendered(links: &[WantedLink], can: Can) -> Option<Rendered> {
    let first = links.first()?;
    let section = links
        .iter()
        .map(|w| w.section)
        .find(|s| *s == "ipoib")
        .unwrap_or(first.section);
    Some(Rendered {
        path: HostPath::fixed(super::OWN),
        text: text(links, can),
        mode: 0o600,
        links: links.iter().map(|w| w.link.name.clone()).collect(),
        section,
        compare: Compare::Bytes,
        keys: None,
    })
}

/// Drop-ins for the .network file that netplan generates for a port: its P_Key children, and its membership in a bond
/// that netplan knows nothing of. They lie in /etc, the file that they go with below /run.
pub(crate) fn drop_ins(place: &Place<'_>, native_bond: bool) -> Vec<Rendered> {
    let name = &place.wanted.link.name;
    let folder = format!("{}/10-netplan-{name}.network.d", networkd::FOLDER);
    let comment = "Written by ibplan; changes by hand are undone.";
    let mut out = Vec::new();
    if !place.children.is_empty() {
        let mut text = Writer::new(comment);
        text.section("Network");
        for child in &place.children {
            text.key("IPoIB", child);
        }
        out.extend(file(
            &format!("{folder}/60-ibplan.conf"),
            text.finish(),
            place.wanted,
        ));
    }
    if native_bond {
        let mut text = Writer::new(comment);
        text.section("Network");
        membership(&mut text, place);
        let file = file(
            &format!("{folder}/61-ibplan-bond.conf"),
            text.finish(),
            place.wanted,
        );
        out.extend(file.map(|f| Rendered {
            section: "bonds",
            ..f
        }));
    }
    out
}
