//! Links to interfaces(5).

use super::read::{Found, stanzas};
use super::syntax::meaning;
use super::{FOLDER, MAIN, include, shared};
use crate::problem::Problem;
use crate::rooms::ipoib::backend::{Context, Files, cannot};
use crate::rooms::ipoib::codes;
use crate::rooms::ipoib::model::{Compare, Link, LinkKind, Rendered, Route, WantedLink};
use crate::types::HostPath;
use std::net::IpAddr;

/// The files for all links.
pub(super) fn render(links: &[WantedLink], context: &Context<'_>) -> Result<Vec<Rendered>, Vec<Problem>> {
    let found = stanzas(context.files);
    let (mut out, mut problems) = (Vec::new(), Vec::new());
    for wanted in links {
        problems.extend(limits(wanted));
        let path = match HostPath::fixed(FOLDER).join(&format!("ibplan-{}", wanted.link.name)) {
            Ok(path) => path,
            Err(bad) => {
                problems.push(cannot(wanted, bad.to_string()));
                continue;
            }
        };
        let text = text(&wanted.link, links);
        let elsewhere: Vec<&Found> = found
            .iter()
            .filter(|f| f.iface.name == wanted.link.name && f.path != path)
            .filter(|f| shared(context.files, &f.path, links))
            .collect();
        if !elsewhere.is_empty() {
            if !stands(wanted, &text, &elsewhere, &found, context.files) {
                problems.push(in_the_way(wanted, &path, &elsewhere));
            }
            continue;
        }
        out.push(Rendered {
            path,
            text,
            mode: 0o644,
            links: vec![wanted.link.name.clone()],
            section: wanted.section,
            compare: Compare::Meaning,
            keys: None,
        });
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    out.extend(main_file(&out, context));
    Ok(out)
}

/// The main file, when it has to be edited, or was edited by ibplan before (so that it stays claimed).
fn main_file(own: &[Rendered], context: &Context<'_>) -> Option<Rendered> {
    let paths: Vec<HostPath> = own.iter().map(|r| r.path.clone()).collect();
    let (text, keys) = include::main_edit(context.files, &paths, context.facts)?;
    let section = own.iter().map(|r| r.section).max().unwrap_or("ipoib");
    Some(Rendered {
        path: HostPath::fixed(MAIN),
        text,
        mode: 0o644,
        links: own.iter().flat_map(|r| r.links.clone()).collect(),
        section,
        compare: Compare::Bytes,
        keys: Some(keys),
    })
}

/// What ifupdown cannot do.
fn limits(wanted: &WantedLink) -> Vec<Problem> {
    let link = &wanted.link;
    let mut out = Vec::new();
    for (v4, dhcp) in [(true, link.dhcp4), (false, link.dhcp6)] {
        if dhcp && link.addresses.iter().any(|a| a.is_v4() == v4) {
            let family = if v4 { 4 } else { 6 };
            out.push(cannot(
                wanted,
                format!(
                    "{} wants static IPv{family} addresses and DHCP: ifupdown's DHCP client flushes the addresses of its family, so the static ones would be lost; keep one of the two",
                    link.name
                ),
            ));
        }
    }
    if let LinkKind::Child { parent, pkey } = &link.kind
        && link.name != pkey.child_of(parent)
    {
        out.push(cannot(
            wanted,
            format!(
                "ifupdown takes parent and P_Key of a child from its name, which would have to be {} and is {}; give the parent a shorter name (by a udev rule)",
                pkey.child_of(parent),
                link.name
            ),
        ));
    }
    out
}

/// Whether a link that stands in a shared file is there exactly as wanted, and brought up at boot.
fn stands(wanted: &WantedLink, text: &str, there: &[&Found], all: &[Found], files: &Files) -> bool {
    let name = &wanted.link.name;
    if all.iter().filter(|f| f.iface.name == *name).count() != there.len() {
        return false;
    }
    let mut said = String::new();
    let mut paths: Vec<&HostPath> = there.iter().map(|f| &f.path).collect();
    paths.dedup();
    for path in paths {
        said.push_str(files.get(path).map_or("", String::as_str));
        said.push('\n');
    }
    meaning(&said).says_of(name, &meaning(text))
}

fn in_the_way(wanted: &WantedLink, path: &HostPath, there: &[&Found]) -> Problem {
    let name = &wanted.link.name;
    let places: Vec<String> = there
        .iter()
        .map(|f| format!("{} lines {} to {}", f.path, f.first, f.last))
        .collect();
    let main = there.iter().any(|f| f.path.as_str() == MAIN);
    let code = if main {
        codes::STANZA_IN_MAIN_FILE
    } else {
        codes::FOREIGN_SHARED
    };
    code.at(
        wanted.at.clone(),
        format!(
            "{name} is configured in {}, in a file that also holds other things, and not as the document wants it; ifupdown would run both",
            places.join(", ")
        ),
        format!("remove those lines (ibplan writes {path}), or move them to a file of their own in {FOLDER}, which ibplan then takes over"),
    )
}

struct Stanza {
    family: &'static str,
    method: &'static str,
    options: Vec<String>,
}

impl Stanza {
    fn new(family: &'static str, method: &'static str) -> Self {
        Self {
            family,
            method,
            options: Vec::new(),
        }
    }
}

/// The text of a link's file.
fn text(link: &Link, all: &[WantedLink]) -> String {
    let mut stanzas = skeleton(link);
    if let Some(first) = stanzas.first_mut() {
        first.options.extend(link_options(link, all));
    }
    for (v4, ip) in [(true, link.gateway4), (false, link.gateway6)] {
        if let Some(ip) = ip {
            gateway(&mut stanzas, v4, ip);
        }
    }
    for route in &link.routes {
        let command = route_command(route);
        if let Some(stanza) = home(&mut stanzas, route.via.is_ipv4()) {
            stanza.options.push(command);
        }
    }
    let class = link
        .bond
        .as_ref()
        .map_or_else(|| "auto".to_owned(), |bond| format!("allow-{bond}"));
    let mut out = format!("# Written by ibplan.\n{class} {}\n", link.name);
    for (at, stanza) in stanzas.iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        out.push_str(&format!(
            "iface {} {} {}\n",
            link.name, stanza.family, stanza.method
        ));
        for option in &stanza.options {
            out.push_str(&format!("    {option}\n"));
        }
    }
    out
}

/// The stanzas with their addresses, and first of all one that can carry the MTU.
fn skeleton(link: &Link) -> Vec<Stanza> {
    let mut out: Vec<Stanza> = link
        .addresses
        .iter()
        .map(|a| {
            let mut stanza = Stanza::new(family(a.is_v4()), "static");
            stanza.options.push(format!("address {a}"));
            stanza
        })
        .collect();
    if link.dhcp4 {
        out.push(Stanza::new("inet", "dhcp"));
    }
    if link.dhcp6 {
        let mut stanza = Stanza::new("inet6", "dhcp");
        // Router advertisements too: the method leaves autoconf off.
        stanza
            .options
            .extend(["accept_ra 1".to_owned(), "autoconf 1".to_owned()]);
        out.push(stanza);
    }
    let carries_mtu = out
        .first()
        .is_some_and(|s| (s.family, s.method) == ("inet", "static"));
    if out.is_empty() || (link.mtu.is_some() && !carries_mtu) {
        out.insert(0, Stanza::new("inet", "manual"));
    }
    out
}

/// Options of the link itself: mode, MTU, bond.
fn link_options(link: &Link, all: &[WantedLink]) -> Vec<String> {
    let mut out = Vec::new();
    if let Some(mode) = link.mode {
        out.push(format!(
            "pre-up echo {} > /sys/class/net/$IFACE/mode",
            mode.word()
        ));
    }
    if let LinkKind::Bond { ports, .. } = &link.kind {
        for wanted in all.iter().filter(|w| ports.contains(&w.link.name)) {
            if let LinkKind::Child { parent, pkey } = &wanted.link.kind {
                out.push(format!(
                    "pre-up ip link show dev {} > /dev/null 2>&1 || echo {:#06x} > /sys/class/net/{parent}/create_child",
                    wanted.link.name,
                    pkey.full()
                ));
            }
        }
    }
    if let Some(mtu) = link.mtu {
        out.push(format!("mtu {mtu}"));
    }
    if let Some(bond) = &link.bond {
        out.push(format!("bond-master {bond}"));
    }
    if let LinkKind::Bond {
        ports,
        primary,
        miimon,
    } = &link.kind
    {
        out.push("bond-mode active-backup".to_owned());
        out.push(format!("bond-miimon {miimon}"));
        out.push("bond-fail-over-mac active".to_owned());
        if let Some(primary) = primary {
            out.push(format!("bond-primary {primary}"));
        }
        out.push(format!("bond-slaves {}", ports.join(" ")));
    }
    out
}

const fn family(v4: bool) -> &'static str {
    if v4 { "inet" } else { "inet6" }
}

/// `gateway` in the first static stanza of the family, else a command where the family is configured.
fn gateway(stanzas: &mut [Stanza], v4: bool, ip: IpAddr) {
    let wanted = (family(v4), "static");
    if let Some(stanza) = stanzas.iter_mut().find(|s| (s.family, s.method) == wanted) {
        stanza.options.insert(1, format!("gateway {ip}"));
    } else if let Some(stanza) = home(stanzas, v4) {
        let six = if v4 { "" } else { " -6" };
        stanza
            .options
            .push(format!("up ip{six} route replace default via {ip} dev $IFACE"));
    }
}

/// The stanza after which all addresses of a family are there: its last one, else the last of all.
fn home(stanzas: &mut [Stanza], v4: bool) -> Option<&mut Stanza> {
    let at = stanzas
        .iter()
        .rposition(|s| s.family == family(v4) && s.method != "manual")
        .unwrap_or(stanzas.len().checked_sub(1)?);
    stanzas.get_mut(at)
}

fn route_command(route: &Route) -> String {
    let six = if route.via.is_ipv4() { "" } else { " -6" };
    let metric = route
        .metric
        .map_or_else(String::new, |metric| format!(" metric {metric}"));
    format!(
        "up ip{six} route replace {} via {} dev $IFACE{metric}",
        route.to, route.via
    )
}
