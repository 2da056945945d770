//! From profiles to links: ours, and what people, installers and other tools left.

use super::keyfile::{self, Groups};
use crate::rooms::ipoib::backend::Files;
use crate::rooms::ipoib::entry::DEFAULT_MIIMON;
use crate::rooms::ipoib::model::{Link, LinkKind, Mode, Route};
use crate::types::{Address, HostPath, PKey};
use std::net::IpAddr;

/// Whether NetworkManager would read this file as a profile (NM: nm-keyfile-utils.c, nm_keyfile_utils_ignore_filename).
pub fn is_profile(path: &HostPath) -> bool {
    const NOT: &[&str] = &[
        "~",
        ".bak",
        ".rpmnew",
        ".rpmsave",
        ".rpmorig",
        ".orig",
        ".swp",
        ".dpkg-old",
        ".dpkg-dist",
        ".pem",
        ".der",
    ];
    let name = path.name();
    let here = path.parent().is_some_and(|p| p.as_str() == super::FOLDER);
    here && !name.starts_with('.') && !NOT.iter().any(|end| name.ends_with(end))
}

/// Every link that a profile configures.
pub fn profiles(files: &Files) -> Vec<(HostPath, Link)> {
    let all: Vec<(&HostPath, Groups)> = files
        .iter()
        .filter(|(path, _)| is_profile(path))
        .map(|(path, text)| (path, keyfile::parse(text)))
        .collect();
    all.iter()
        .filter_map(|(path, groups)| Some(((*path).clone(), link_of(groups, &all)?)))
        .collect()
}

/// The interface of a profile. A P_Key profile may leave its name out; a profile without a name and without a key would
/// fit every IPoIB interface, and belongs to none.
fn name_of(groups: &Groups) -> Option<String> {
    if let Some(name) = keyfile::first(groups, "connection", &["interface-name"]) {
        return Some(name.to_owned());
    }
    let parent = keyfile::first(groups, "infiniband", &["parent"])?;
    let key = keyfile::number(keyfile::get(groups, "infiniband", "p-key")?)?;
    Some(format!("{parent}.{key:04x}"))
}

fn link_of(groups: &Groups, all: &[(&HostPath, Groups)]) -> Option<Link> {
    let name = name_of(groups)?;
    let kind = match keyfile::get(groups, "connection", "type")? {
        "infiniband" => infiniband(groups),
        "bond" => bond(groups, &name, all),
        "ethernet" | "802-3-ethernet" => LinkKind::Ethernet,
        _ => return None,
    };
    let mut link = Link::new(name, kind);
    link.mode = match keyfile::get(groups, "infiniband", "transport-mode") {
        Some("datagram") => Some(Mode::Datagram),
        Some("connected") => Some(Mode::Connected),
        _ => None,
    };
    link.mtu = ["infiniband", "ethernet"]
        .iter()
        .filter_map(|g| keyfile::get(groups, g, "mtu"))
        .find_map(|mtu| mtu.parse().ok().filter(|n| *n != 0));
    link.bond = master(groups, all);
    for (group, v4) in [("ipv4", true), ("ipv6", false)] {
        ip(groups, group, v4, &mut link);
    }
    link.routes.sort();
    Some(link)
}

fn infiniband(groups: &Groups) -> LinkKind {
    let parent = keyfile::first(groups, "infiniband", &["parent"]);
    let key = keyfile::get(groups, "infiniband", "p-key")
        .and_then(keyfile::number)
        .and_then(PKey::new);
    match (parent, key) {
        (Some(parent), Some(pkey)) => LinkKind::Child {
            parent: parent.to_owned(),
            pkey,
        },
        _ => LinkKind::Parent,
    }
}

/// A bond; its members are those profiles that name it as their master.
fn bond(groups: &Groups, name: &str, all: &[(&HostPath, Groups)]) -> LinkKind {
    let ports = all
        .iter()
        .filter(|(_, port)| master(port, all).as_deref() == Some(name))
        .filter_map(|(_, port)| name_of(port))
        .collect();
    LinkKind::Bond {
        ports,
        primary: keyfile::first(groups, "bond", &["primary"]).map(str::to_owned),
        miimon: keyfile::get(groups, "bond", "miimon")
            .and_then(|m| m.parse().ok())
            .unwrap_or(DEFAULT_MIIMON),
    }
}

/// The bond that a profile is a member of, by interface name; a UUID is looked up among the profiles.
fn master(groups: &Groups, all: &[(&HostPath, Groups)]) -> Option<String> {
    let master = keyfile::first(groups, "connection", &["master", "controller"])?;
    if keyfile::first(groups, "connection", &["slave-type", "port-type"]) != Some("bond") {
        return None;
    }
    let by_uuid = all
        .iter()
        .find(|(_, g)| keyfile::get(g, "connection", "uuid") == Some(master));
    Some(
        by_uuid
            .and_then(|(_, g)| name_of(g))
            .unwrap_or_else(|| master.to_owned()),
    )
}

fn ip(groups: &Groups, group: &str, v4: bool, link: &mut Link) {
    let method = keyfile::get(groups, group, "method").unwrap_or("");
    let auto = matches!(method, "auto" | "dhcp");
    if v4 {
        link.dhcp4 = auto;
    } else {
        link.dhcp6 = auto;
    }
    if !(auto || method == "manual") {
        return;
    }
    let mut gateway: Option<IpAddr> = keyfile::get(groups, group, "gateway").and_then(|g| g.parse().ok());
    for value in keyfile::numbered(groups, group, keyfile::ADDRESSES) {
        let (net, router) = keyfile::address(value);
        link.addresses.extend(Address::parse(&net).ok());
        gateway = gateway.or_else(|| router.and_then(|g| g.parse().ok()));
    }
    for value in keyfile::numbered(groups, group, keyfile::ROUTES) {
        match route(value) {
            Some(route) if route.to.prefix_len() == 0 => gateway = gateway.or(Some(route.via)),
            other => link.routes.extend(other),
        }
    }
    if keyfile::get(groups, group, "never-default").is_some_and(keyfile::truth) {
        gateway = None;
    }
    if v4 {
        link.gateway4 = gateway;
    } else {
        link.gateway6 = gateway;
    }
}

/// `network/length,router,metric`; a route without a router is no route of the document.
fn route(value: &str) -> Option<Route> {
    let mut parts = value.split([',', ';']).map(str::trim);
    Some(Route {
        to: parts.next()?.parse().ok()?,
        via: parts.next()?.parse().ok()?,
        metric: parts.next().and_then(|m| m.parse().ok()),
    })
}
