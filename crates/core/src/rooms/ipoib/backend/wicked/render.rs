//! Links to ifcfg and ifroute files.

use super::sysconfig::routes;
use super::{FOLDER, ROUTES};
use crate::problem::Problem;
use crate::rooms::ipoib::backend::{Context, Files, cannot};
use crate::rooms::ipoib::codes;
use crate::rooms::ipoib::model::{Compare, Link, LinkKind, Rendered, WantedLink};
use crate::types::{HostPath, PKey};

/// The files for all links.
pub(super) fn render(links: &[WantedLink], context: &Context<'_>) -> Result<Vec<Rendered>, Vec<Problem>> {
    let (mut out, mut problems) = (Vec::new(), Vec::new());
    for wanted in links {
        problems.extend(limits(wanted));
        problems.extend(shared_routes(wanted, context.files));
        let files = [
            ("ifcfg", Some(ifcfg(&wanted.link))),
            ("ifroute", ifroute(&wanted.link)),
        ];
        for (kind, text) in files {
            let Some(text) = text else { continue };
            match HostPath::fixed(FOLDER).join(&format!("{kind}-{}", wanted.link.name)) {
                Ok(path) => out.push(Rendered {
                    path,
                    text,
                    mode: 0o644,
                    links: vec![wanted.link.name.clone()],
                    section: wanted.section,
                    compare: Compare::Meaning,
                    keys: None,
                }),
                Err(bad) => problems.push(cannot(wanted, bad.to_string())),
            }
        }
    }
    if problems.is_empty() {
        Ok(out)
    } else {
        Err(problems)
    }
}

/// What wicked cannot do.
fn limits(wanted: &WantedLink) -> Vec<Problem> {
    let link = &wanted.link;
    let name = &link.name;
    let mut out = Vec::new();
    match &link.kind {
        LinkKind::Bond { .. } => {
            let rest = name.strip_prefix("ib").unwrap_or("");
            if rest.starts_with(|c: char| c.is_ascii_digit()) {
                out.push(cannot(wanted, format!(
                    "bond {name} has the name of an IPoIB interface: wicked before 0.6.76 refuses its file (\"bond config is using infiniband interface name\", openSUSE/wicked#840), later ones may take it for a port; call it bond0, for example"
                )));
            }
        }
        LinkKind::Child { parent, pkey } => {
            if *pkey == PKey::DEFAULT {
                out.push(cannot(wanted, format!(
                    "{name} is a child for the default partition 0xffff, which wicked refuses; use the parent {parent}"
                )));
            }
            if *name != pkey.child_of(parent) || parent.contains('.') {
                out.push(cannot(wanted, format!(
                    "wicked before 0.6.76 takes parent and P_Key of a child from its name, as far as the first dot and behind it; {name} does not say {parent} and {:#06x}; give the parent a short name without a dot (by a udev rule)",
                    pkey.full()
                )));
            }
        }
        LinkKind::Parent | LinkKind::Ethernet => {
            if name.contains('.') {
                out.push(cannot(wanted, format!(
                    "{name} has a dot in its name: wicked before 0.6.76 takes such an IPoIB link for a P_Key child; give it a name without a dot (by a udev rule)"
                )));
            }
        }
    }
    if link.bond.is_some() && (!link.addresses.is_empty() || link.dhcp4 || link.dhcp6) {
        out.push(cannot(wanted, format!(
            "{name} is a port of a bond and has addresses of its own: wicked configures no addresses on a port; give them to the bond"
        )));
    }
    out
}

/// Routes of our link in the file of all routes, other than the wanted ones: they would come on top.
fn shared_routes(wanted: &WantedLink, files: &Files) -> Vec<Problem> {
    let link = &wanted.link;
    let path = HostPath::fixed(ROUTES);
    let strangers: Vec<String> = routes(files.get(&path).map_or("", String::as_str))
        .into_iter()
        .filter(|line| line.interface.as_deref() == Some(link.name.as_str()))
        .filter(|line| match line.to {
            None => ![link.gateway4, link.gateway6].contains(&line.via) || line.via.is_none(),
            Some(to) => !link
                .routes
                .iter()
                .any(|r| r.to == to && Some(r.via) == line.via && r.metric == line.metric()),
        })
        .map(|line| line.line.to_string())
        .collect();
    if strangers.is_empty() {
        return Vec::new();
    }
    vec![codes::FOREIGN_SHARED.at(
        wanted.at.clone(),
        format!(
            "{path} has routes through {} that the document does not want, in line {}",
            link.name,
            strangers.join(", ")
        ),
        format!(
            "remove those lines, or put the routes into the document; ibplan writes {FOLDER}/ifroute-{}",
            link.name
        ),
    )]
}

/// The text of `ifcfg-NAME`.
fn ifcfg(link: &Link) -> String {
    let port = link.bond.is_some();
    let protocol = match (port, link.dhcp4, link.dhcp6) {
        (true, _, _) => "none",
        (_, true, true) => "dhcp",
        (_, true, false) => "dhcp4",
        (_, false, true) => "dhcp6",
        (_, false, false) => "static",
    };
    let mut lines = vec![
        (
            "STARTMODE".to_owned(),
            (if port { "hotplug" } else { "auto" }).to_owned(),
        ),
        ("BOOTPROTO".to_owned(), protocol.to_owned()),
    ];
    for (at, address) in link.addresses.iter().enumerate() {
        let suffix = if at == 0 { String::new() } else { format!("_{at}") };
        lines.push((format!("IPADDR{suffix}"), address.to_string()));
    }
    if let Some(mtu) = link.mtu {
        lines.push(("MTU".to_owned(), mtu.to_string()));
    }
    match &link.kind {
        LinkKind::Bond {
            ports,
            primary,
            miimon,
        } => {
            lines.push(("BONDING_MASTER".to_owned(), "yes".to_owned()));
            for (at, port) in ports.iter().enumerate() {
                lines.push((format!("BONDING_SLAVE_{at}"), port.clone()));
            }
            let primary = primary
                .as_ref()
                .map_or_else(String::new, |p| format!(" primary={p}"));
            lines.push((
                "BONDING_MODULE_OPTS".to_owned(),
                format!("mode=active-backup miimon={miimon} fail_over_mac=active{primary}"),
            ));
        }
        kind => {
            if let Some(mode) = link.mode {
                lines.push(("IPOIB_MODE".to_owned(), mode.word().to_owned()));
            }
            if let LinkKind::Child { parent, pkey } = kind {
                lines.push(("IPOIB_DEVICE".to_owned(), parent.clone()));
                lines.push(("IPOIB_PKEY".to_owned(), format!("{:#06x}", pkey.full())));
            }
        }
    }
    let mut out = "# Written by ibplan.\n".to_owned();
    for (name, value) in lines {
        out.push_str(&format!("{name}='{value}'\n"));
    }
    out
}

/// The text of `ifroute-NAME`; `None` without routes.
fn ifroute(link: &Link) -> Option<String> {
    let name = &link.name;
    let mut out = "# Written by ibplan.\n".to_owned();
    let none = out.len();
    for gateway in [link.gateway4, link.gateway6].into_iter().flatten() {
        out.push_str(&format!("default {gateway} - {name}\n"));
    }
    for route in &link.routes {
        let metric = route.metric.map_or_else(String::new, |m| format!(" metric {m}"));
        out.push_str(&format!("{} {} - {name}{metric}\n", route.to, route.via));
    }
    (out.len() > none).then_some(out)
}
