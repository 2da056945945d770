//! interfaces(5) to links.

use super::include::reached;
use super::syntax::{Iface, Item, parse, prefix_of};
use super::{FOLDER, MAIN};
use crate::rooms::ipoib::backend::Files;
use crate::rooms::ipoib::model::{Link, LinkKind, Mode, Route};
use crate::types::{Address, HostPath, PKey};
use ipnet::IpNet;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// One `iface` stanza of a file, with what it inherits filled in.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) path: HostPath,
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) iface: Iface,
}

/// All `iface` stanzas that ifupdown sees, in its order: those of the main file and what that includes, and ours, even
/// where no line includes them yet. Without a main file all files count: what includes them is not known.
pub(super) fn stanzas(files: &Files) -> Vec<Found> {
    let (_, mut order) = reached(files);
    let has_main = files.contains_key(&HostPath::fixed(MAIN));
    let ours = format!("{FOLDER}/ibplan-");
    for path in files.keys() {
        if !order.contains(path) && (!has_main || path.as_str().starts_with(&ours)) {
            order.push(path.clone());
        }
    }
    let mut out = Vec::new();
    for path in order {
        for stanza in parse(files.get(&path).map_or("", String::as_str)) {
            if let Item::Iface(iface) = stanza.item {
                out.push(Found {
                    path: path.clone(),
                    first: stanza.first,
                    last: stanza.last,
                    iface,
                });
            }
        }
    }
    let all = out.clone();
    for found in &mut out {
        inherit(&mut found.iface, &all, 8);
    }
    out
}

/// Takes over the options of the inherited stanza that are not set here.
fn inherit(iface: &mut Iface, all: &[Found], depth: u8) {
    let Some(name) = iface.inherits.take() else { return };
    if depth == 0 {
        return;
    }
    let family = iface.family.clone();
    let parent = all
        .iter()
        .map(|f| &f.iface)
        .find(|i| i.name == name && (family.is_empty() || i.family == family));
    let Some(mut parent) = parent.cloned() else { return };
    inherit(&mut parent, all, depth - 1);
    if family.is_empty() {
        iface.family = parent.family;
        iface.method = parent.method;
    }
    let mut options: Vec<_> = parent
        .options
        .into_iter()
        .filter(|(k, _)| iface.option(k).is_none())
        .collect();
    options.append(&mut iface.options);
    iface.options = options;
}

/// Every link as all its stanzas together make it, in the order in which they are met.
pub(super) fn links(found: &[Found]) -> Vec<Link> {
    let mut order: Vec<&str> = Vec::new();
    let mut stanzas: BTreeMap<&str, Vec<&Iface>> = BTreeMap::new();
    for f in found {
        if !stanzas.contains_key(f.iface.name.as_str()) {
            order.push(&f.iface.name);
        }
        stanzas.entry(&f.iface.name).or_default().push(&f.iface);
    }
    let mut out: Vec<Link> = order
        .into_iter()
        .map(|name| link(name, stanzas.get(name).map_or(&[], Vec::as_slice)))
        .collect();
    let members: BTreeMap<String, String> = out
        .iter()
        .filter_map(|l| match &l.kind {
            LinkKind::Bond { ports, .. } => Some((l, ports)),
            _ => None,
        })
        .flat_map(|(l, ports)| ports.iter().map(|p| (p.clone(), l.name.clone())))
        .collect();
    for link in &mut out {
        if link.bond.is_none() {
            link.bond = members.get(&link.name).cloned();
        }
    }
    out
}

fn link(name: &str, ifaces: &[&Iface]) -> Link {
    let mut link = Link::new(name, kind(name, ifaces));
    for iface in ifaces {
        stanza(&mut link, iface);
    }
    link.routes.sort();
    link.routes.dedup();
    link
}

fn kind(name: &str, ifaces: &[&Iface]) -> LinkKind {
    let option = |key: &str| ifaces.iter().find_map(|i| i.option(key));
    if option("bond-slaves").is_some() || option("bond-mode").is_some() {
        let ports = option("bond-slaves").unwrap_or("none");
        return LinkKind::Bond {
            ports: ports
                .split_whitespace()
                .filter(|p| *p != "none")
                .map(str::to_owned)
                .collect(),
            primary: option("bond-primary")
                .and_then(|p| p.split_whitespace().next())
                .map(str::to_owned),
            // The kernel's default: no monitoring.
            miimon: option("bond-miimon").and_then(|v| v.parse().ok()).unwrap_or(0),
        };
    }
    child(name).unwrap_or(LinkKind::Parent)
}

/// `PARENT.XXXX` with the four digits of a P_Key.
fn child(name: &str) -> Option<LinkKind> {
    let (parent, key) = name.rsplit_once('.')?;
    let hex = key.len() == 4 && key.bytes().all(|b| b.is_ascii_hexdigit());
    let pkey = PKey::new(u16::from_str_radix(key, 16).ok().filter(|_| hex)?)?;
    (!parent.is_empty()).then(|| LinkKind::Child {
        parent: parent.to_owned(),
        pkey,
    })
}

fn stanza(link: &mut Link, iface: &Iface) {
    match (iface.family.as_str(), iface.method.as_str()) {
        ("inet" | "inet6", "static") => {
            link.addresses
                .extend(iface.address().and_then(|a| Address::parse(&a.to_string()).ok()));
        }
        ("inet", "dhcp") => link.dhcp4 = true,
        ("inet6", "dhcp" | "auto") => link.dhcp6 = true,
        _ => {}
    }
    for (key, value) in &iface.options {
        match key.as_str() {
            "mtu" => link.mtu = link.mtu.or_else(|| value.parse().ok()),
            "gateway" => gateway(link, value.parse().ok()),
            "bond-master" => link.bond = Some(value.clone()),
            "pre-up" | "up" => {
                let value = value
                    .replace("${IFACE}", &link.name)
                    .replace("$IFACE", &link.name)
                    .replace(['"', '\''], "");
                command(link, &value);
            }
            _ => {}
        }
    }
}

fn gateway(link: &mut Link, ip: Option<IpAddr>) {
    match ip {
        Some(IpAddr::V4(_)) => link.gateway4 = ip,
        Some(IpAddr::V6(_)) => link.gateway6 = ip,
        None => {}
    }
}

/// What a shell command of the kinds that administrators write here does to its link.
fn command(link: &mut Link, text: &str) {
    let text = text.split("||").next().unwrap_or("").trim();
    let words: Vec<&str> = text.split_whitespace().collect();
    let program = words.first().map_or("", |w| w.rsplit('/').next().unwrap_or(w));
    match program {
        "echo" => mode(link, &text.replace('>', " > ")),
        "ip" => {
            let rest: Vec<&str> = words[1..]
                .iter()
                .filter(|w| !w.starts_with('-'))
                .copied()
                .collect();
            match rest.as_slice() {
                [object, "add" | "replace" | "change", what @ ..] if "address".starts_with(object) => {
                    let own = after(what, "dev").is_none_or(|d| d == link.name);
                    let address = what.first().and_then(|a| Address::parse(a).ok());
                    link.addresses.extend(address.filter(|_| own));
                }
                [object, "add" | "replace" | "append", what @ ..] if "route".starts_with(object) => {
                    ip_route(link, what);
                }
                [object, "set", what @ ..]
                    if "link".starts_with(object) && what.contains(&link.name.as_str()) =>
                {
                    link.mtu = after(what, "mtu").and_then(|m| m.parse().ok()).or(link.mtu);
                }
                _ => {}
            }
        }
        "route" => old_route(link, &words[1..]),
        _ => {}
    }
}

/// `echo connected > /sys/class/net/ib0/mode`.
fn mode(link: &mut Link, text: &str) {
    let words: Vec<&str> = text.split_whitespace().collect();
    if let ["echo", word, ">", path, ..] = words.as_slice()
        && *path == format!("/sys/class/net/{}/mode", link.name)
    {
        link.mode = [Mode::Datagram, Mode::Connected]
            .into_iter()
            .find(|m| m.word() == *word)
            .or(link.mode);
    }
}

fn after<'a>(words: &[&'a str], key: &str) -> Option<&'a str> {
    let at = words.iter().position(|w| *w == key)?;
    words.get(at + 1).copied()
}

fn ip_route(link: &mut Link, words: &[&str]) {
    if after(words, "dev").is_some_and(|d| d != link.name) {
        return;
    }
    let Some(via) = after(words, "via").and_then(|v| v.parse::<IpAddr>().ok()) else {
        return;
    };
    let to = if words.first() == Some(&"to") {
        words.get(1)
    } else {
        words.first()
    };
    let metric = after(words, "metric").and_then(|m| m.parse().ok());
    match to {
        Some(&"default") => gateway(link, Some(via)),
        Some(to) => add_route(link, network(to), via, metric),
        None => {}
    }
}

/// `route add -net 10.20.0.0 netmask 255.255.0.0 gw 192.168.10.254 dev ib0`.
fn old_route(link: &mut Link, words: &[&str]) {
    let Some(via) = after(words, "gw").and_then(|v| v.parse::<IpAddr>().ok()) else {
        return;
    };
    if !words.contains(&"add") {
        return;
    }
    if words.contains(&"default") {
        return gateway(link, Some(via));
    }
    let target = after(words, "-net").or_else(|| after(words, "-host"));
    let net = target.and_then(|t| match after(words, "netmask").and_then(prefix_of) {
        Some(prefix) => IpNet::new(t.parse().ok()?, prefix).ok(),
        None => network(t),
    });
    let metric = after(words, "metric").and_then(|m| m.parse().ok());
    add_route(link, net, via, metric);
}

fn network(text: &str) -> Option<IpNet> {
    let net = text
        .parse::<IpNet>()
        .ok()
        .or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from));
    net.map(|n| n.trunc())
}

fn add_route(link: &mut Link, to: Option<IpNet>, via: IpAddr, metric: Option<u32>) {
    match to {
        Some(to) if to.prefix_len() == 0 => gateway(link, Some(via)),
        Some(to) => link.routes.push(Route { to, via, metric }),
        None => {}
    }
}
