//! From ifcfg and route files to links.

use super::{FOLDER, shell};
use crate::rooms::ipoib::backend::{Files, networkmanager::keyfile};
use crate::rooms::ipoib::entry::DEFAULT_MIIMON;
use crate::rooms::ipoib::model::{Link, LinkKind, Mode, Route};
use crate::types::{Address, HostPath, PKey};
use std::collections::BTreeMap;
use std::net::IpAddr;

type Keys = BTreeMap<String, String>;

/// Whether a reader would take this file (initscripts: network-functions, and NM: nms-ifcfg-rh-utils.c, both pass over backups).
pub fn is_ifcfg(path: &HostPath) -> bool {
    const NOT: &[&str] = &[
        "~", ".bak", ".orig", ".rej", ".rpmnew", ".rpmorig", ".rpmsave", ".augnew", ".augtmp",
    ];
    let name = path.name();
    let here = path.parent().is_some_and(|p| p.as_str() == FOLDER);
    let kind = ["ifcfg-", "route-", "route6-"]
        .iter()
        .any(|p| name.starts_with(p));
    here && kind && name != "ifcfg-lo" && !NOT.iter().any(|end| name.ends_with(end))
}

/// The link of a route file.
pub fn route_of(path: &HostPath) -> Option<&str> {
    let name = path.name();
    name.strip_prefix("route-")
        .or_else(|| name.strip_prefix("route6-"))
        .filter(|_| is_ifcfg(path))
}

/// Every link that an ifcfg file configures; an alias (`ifcfg-ib0:1`) counts for its link.
pub fn links(files: &Files) -> Vec<(HostPath, Link)> {
    let all: Vec<(&HostPath, Keys)> = files
        .iter()
        .filter(|(path, _)| is_ifcfg(path) && path.name().starts_with("ifcfg-"))
        .map(|(path, text)| (path, shell::parse(text)))
        .collect();
    all.iter()
        .map(|(path, keys)| ((*path).clone(), link_of(path, keys, &all, files)))
        .collect()
}

fn name_of(path: &HostPath, keys: &Keys) -> String {
    let full = keys
        .get("DEVICE")
        .filter(|d| !d.is_empty())
        .map_or_else(|| path.name().trim_start_matches("ifcfg-"), String::as_str);
    full.split(':').next().unwrap_or(full).to_owned()
}

fn link_of(path: &HostPath, keys: &Keys, all: &[(&HostPath, Keys)], files: &Files) -> Link {
    let name = name_of(path, keys);
    let mut link = Link::new(&name, kind(&name, keys, all));
    let on = |key: &str| keys.get(key).is_some_and(|v| shell::truth(v));
    link.mode = keys.get("CONNECTED_MODE").map(|v| {
        if v == "yes" {
            Mode::Connected
        } else {
            Mode::Datagram
        }
    });
    link.mtu = keys.get("MTU").and_then(|m| m.parse().ok());
    link.bond = keys.get("MASTER").filter(|_| on("SLAVE")).cloned();
    link.dhcp4 = keys.get("BOOTPROTO").is_some_and(|v| v == "dhcp" || v == "bootp");
    four(keys, &mut link);
    if on("IPV6INIT") {
        six(keys, &mut link);
    }
    for stem in ["route", "route6"] {
        let file = format!("{FOLDER}/{stem}-{name}");
        if let Some((_, text)) = files.iter().find(|(p, _)| p.as_str() == file) {
            routes(text, &mut link);
        }
    }
    link.routes.sort();
    link
}

fn kind(name: &str, keys: &Keys, all: &[(&HostPath, Keys)]) -> LinkKind {
    let on = |key: &str| keys.get(key).is_some_and(|v| shell::truth(v));
    let of = keys.get("TYPE").map(|t| t.to_ascii_lowercase());
    if of.as_deref() == Some("bond") || on("BONDING_MASTER") {
        return bond(name, keys, all);
    }
    // Without TYPE: 20 bytes of address, or the name, tell initscripts that it is InfiniBand.
    let long = keys.get("HWADDR").is_some_and(|a| a.split(':').count() == 20);
    let infiniband = match of.as_deref() {
        Some(word) => word == "infiniband",
        None => long || name.starts_with("ib") || on("PKEY"),
    };
    if !infiniband {
        return LinkKind::Ethernet;
    }
    let key = keys
        .get("PKEY_ID")
        .or_else(|| keys.get("PKEY_ID_NM"))
        .and_then(|k| keyfile::number(k))
        .and_then(PKey::new);
    match (keys.get("PHYSDEV"), key) {
        (Some(parent), Some(pkey)) if on("PKEY") => LinkKind::Child {
            parent: parent.clone(),
            pkey,
        },
        _ => LinkKind::Parent,
    }
}

fn bond(name: &str, keys: &Keys, all: &[(&HostPath, Keys)]) -> LinkKind {
    let options: BTreeMap<&str, &str> = keys
        .get("BONDING_OPTS")
        .map_or("", String::as_str)
        .split_whitespace()
        .filter_map(|o| o.split_once('='))
        .collect();
    let ports = all
        .iter()
        .filter(|(_, k)| k.get("MASTER").is_some_and(|m| m == name))
        .map(|(p, k)| name_of(p, k))
        .collect();
    LinkKind::Bond {
        ports,
        primary: options.get("primary").map(|p| (*p).to_owned()),
        miimon: options
            .get("miimon")
            .and_then(|m| m.parse().ok())
            .unwrap_or(DEFAULT_MIIMON),
    }
}

fn four(keys: &Keys, link: &mut Link) {
    let numbers = std::iter::once(String::new()).chain((0..=255).map(|n| n.to_string()));
    let mut gateway = None;
    for n in numbers {
        let value = |stem: &str| keys.get(&format!("{stem}{n}")).filter(|v| !v.is_empty());
        if let Some(ip) = value("IPADDR") {
            let length = value("PREFIX")
                .and_then(|p| p.parse::<u8>().ok())
                .or_else(|| value("NETMASK").and_then(|m| shell::prefix_of(m)));
            let address = length.and_then(|l| Address::parse(&format!("{ip}/{l}")).ok());
            link.addresses.extend(address);
        }
        gateway = gateway.or_else(|| value("GATEWAY").and_then(|g| g.parse::<IpAddr>().ok()));
    }
    let never = keys.get("DEFROUTE").is_some_and(|v| !shell::truth(v));
    link.gateway4 = gateway.filter(|_| !never);
}

fn six(keys: &Keys, link: &mut Link) {
    // Without the key NetworkManager takes it for yes (NM: nms-ifcfg-rh-reader.c, make_ip6_setting).
    link.dhcp6 = keys.get("IPV6_AUTOCONF").is_none_or(|v| shell::truth(v))
        || keys.get("DHCPV6C").is_some_and(|v| shell::truth(v));
    let first = keys.get("IPV6ADDR").into_iter().map(String::as_str);
    let more = keys
        .get("IPV6ADDR_SECONDARIES")
        .into_iter()
        .flat_map(|v| v.split_whitespace());
    link.addresses
        .extend(first.chain(more).filter_map(|a| Address::parse(a).ok()));
    let never = keys.get("IPV6_DEFROUTE").is_some_and(|v| !shell::truth(v));
    link.gateway6 = keys
        .get("IPV6_DEFAULTGW")
        .and_then(|g| g.split('%').next()?.parse().ok())
        .filter(|_| !never);
}

/// Both forms of a route file: lines of `ip route`, or ADDRESSn, NETMASKn, GATEWAYn.
fn routes(text: &str, link: &mut Link) {
    for line in text.lines() {
        let words: Vec<&str> = line.split('#').next().unwrap_or("").split_whitespace().collect();
        let after = |word: &str| {
            words
                .iter()
                .position(|w| *w == word)
                .and_then(|at| words.get(at + 1))
        };
        let to = words.first().and_then(|w| w.parse().ok());
        let via = after("via").and_then(|v| v.parse().ok());
        if let (Some(to), Some(via)) = (to, via) {
            let metric = after("metric").and_then(|m| m.parse().ok());
            link.routes.push(Route { to, via, metric });
        }
    }
    let keys = shell::parse(text);
    for n in 0..=255 {
        let value = |stem: &str| keys.get(&format!("{stem}{n}"));
        let length = value("NETMASK").and_then(|m| shell::prefix_of(m));
        let to = value("ADDRESS")
            .zip(length)
            .and_then(|(a, l)| format!("{a}/{l}").parse().ok());
        let via = value("GATEWAY").and_then(|g| g.parse().ok());
        if let (Some(to), Some(via)) = (to, via) {
            let metric = value("METRIC").and_then(|m| m.parse().ok());
            link.routes.push(Route { to, via, metric });
        }
    }
}
