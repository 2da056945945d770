//! ifcfg and ifroute files to links.

use super::sysconfig::{RouteLine, Settings, parse_key, routes};
use super::{ROUTES, interface};
use crate::rooms::ipoib::backend::Files;
use crate::rooms::ipoib::model::{Link, LinkKind, Mode, Route};
use crate::types::{Address, HostPath, PKey};
use std::collections::BTreeMap;

/// All links, each with every file that says something about it.
pub(super) fn read(files: &Files) -> Vec<(HostPath, Link)> {
    let mut links: BTreeMap<String, (Link, Vec<HostPath>)> = BTreeMap::new();
    for (path, text) in files {
        if let Some(name) = interface(path, "ifcfg-") {
            links.insert(name.to_owned(), (link(name, text), vec![path.clone()]));
        }
    }
    for (path, text) in files {
        let own = interface(path, "ifroute-");
        if own.is_none() && path.as_str() != ROUTES {
            continue;
        }
        for line in routes(text) {
            if let Some(name) = own.map(str::to_owned).or_else(|| line.interface.clone()) {
                let (link, paths) = links.entry(name.clone()).or_insert_with(|| {
                    let kind = kind(&name, &Settings::parse(""));
                    (Link::new(name, kind), Vec::new())
                });
                add(link, &line);
                if !paths.contains(path) {
                    paths.push(path.clone());
                }
            }
        }
    }
    enslave(&mut links);
    let mut out = Vec::new();
    for (mut link, paths) in links.into_values() {
        link.routes.sort();
        link.routes.dedup();
        out.extend(paths.into_iter().map(|p| (p, link.clone())));
    }
    out
}

/// Ports do not name their bond, it names them.
fn enslave(links: &mut BTreeMap<String, (Link, Vec<HostPath>)>) {
    let members: Vec<(String, String)> = links
        .values()
        .filter_map(|(l, _)| match &l.kind {
            LinkKind::Bond { ports, .. } => Some((l.name.clone(), ports.clone())),
            _ => None,
        })
        .flat_map(|(bond, ports)| ports.into_iter().map(move |p| (p, bond.clone())))
        .collect();
    for (port, bond) in members {
        if let Some((link, _)) = links.get_mut(&port) {
            link.bond = Some(bond);
        }
    }
}

fn link(name: &str, text: &str) -> Link {
    let settings = Settings::parse(text);
    let mut link = Link::new(name, kind(name, &settings));
    link.mode = match settings.get("IPOIB_MODE") {
        Some("connected") => Some(Mode::Connected),
        Some("datagram") => Some(Mode::Datagram),
        _ => None,
    };
    link.mtu = settings.get("MTU").and_then(|m| m.parse().ok());
    let protocol = settings.get("BOOTPROTO").unwrap_or("static").to_ascii_lowercase();
    link.dhcp4 = protocol.split('+').any(|p| p == "dhcp" || p == "dhcp4");
    link.dhcp6 = protocol.split('+').any(|p| p == "dhcp" || p == "dhcp6");
    if protocol != "none" {
        link.addresses = settings
            .addresses()
            .iter()
            .filter_map(|a| Address::parse(&a.to_string()).ok())
            .collect();
    }
    link
}

/// What wicked takes a file for (compat-suse.c, try_bonding and try_infiniband).
fn kind(name: &str, settings: &Settings) -> LinkKind {
    if settings.is_yes("BONDING_MASTER") {
        return bond(settings);
    }
    let by_name = by_name(name);
    let says = settings.get("IPOIB_MODE").is_some() || settings.get("IPOIB_UMCAST").is_some();
    let infiniband = match settings.get("IPOIB") {
        Some(_) => settings.is_yes("IPOIB"),
        None => says || by_name,
    };
    if !infiniband {
        return LinkKind::Ethernet;
    }
    let split = name.split_once('.').filter(|_| by_name);
    let device = settings
        .get("IPOIB_DEVICE")
        .map(str::to_owned)
        .or_else(|| split.map(|(parent, _)| parent.to_owned()));
    let key = settings
        .get("IPOIB_PKEY")
        .or_else(|| split.map(|(_, key)| key))
        .and_then(parse_key)
        .and_then(PKey::new);
    match (device, key) {
        (Some(parent), Some(pkey)) => LinkKind::Child { parent, pkey },
        _ => LinkKind::Parent,
    }
}

/// `ibN` or `ibN.XXXX`.
fn by_name(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("ib") else {
        return false;
    };
    let (digits, key) = rest
        .split_once('.')
        .map_or((rest, None), |(digits, key)| (digits, Some(key)));
    !digits.is_empty()
        && digits.bytes().all(|b| b.is_ascii_digit())
        && key.is_none_or(|k| !k.is_empty() && k.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn bond(settings: &Settings) -> LinkKind {
    let options = settings.get("BONDING_MODULE_OPTS").unwrap_or("");
    let option = |key: &str| {
        options
            .split_whitespace()
            .filter_map(|o| o.split_once('='))
            .find(|(k, _)| *k == key)
            .map(|(_, v)| v)
    };
    LinkKind::Bond {
        ports: settings
            .indexed("BONDING_SLAVE")
            .map(|(_, port)| port.to_owned())
            .collect(),
        primary: option("primary").map(str::to_owned),
        // The kernel's default: no monitoring.
        miimon: option("miimon").and_then(|m| m.parse().ok()).unwrap_or(0),
    }
}

fn add(link: &mut Link, line: &RouteLine) {
    match (line.to, line.via) {
        (Some(to), Some(via)) => link.routes.push(Route {
            to,
            via,
            metric: line.metric(),
        }),
        (None, Some(via)) if via.is_ipv4() => link.gateway4 = Some(via),
        (None, Some(via)) => link.gateway6 = Some(via),
        (_, None) => {}
    }
}
