//! From a link to a profile.

use super::keyfile;
use crate::facts::Facts;
use crate::rooms::ipoib::backend::Context;
use crate::rooms::ipoib::model::{Link, LinkKind, Route};
use crate::types::HostPath;
use std::net::IpAddr;
use uuid::Uuid;

/// Name space of ibplan's profile ids (a random UUID, fixed for ever).
const NAMESPACE: Uuid = Uuid::from_u128(0x3d1f_6a52_9c0b_4e67_8f24_b7d9_c1e0_5a83);

/// `ipv6.method=disabled` came with NetworkManager 1.20 (NM: NEWS); before, `ignore` is the nearest.
const DISABLED_SINCE: (u16, u16) = (1, 20);

/// The whole text of the profile of a link, for the file at `path`.
pub fn profile(link: &Link, path: &HostPath, context: &Context<'_>) -> String {
    let mut out = String::from("# Written by ibplan: change the document, not this file.\n[connection]\n");
    let mut line = |key: &str, value: &str| {
        out.push_str(key);
        out.push('=');
        out.push_str(value);
        out.push('\n');
    };
    line("id", &link.name);
    line("uuid", &uuid_of(link, path, context));
    line("type", kind(link));
    line("interface-name", &link.name);
    if let Some(bond) = &link.bond {
        line("master", bond);
        line("slave-type", "bond");
    }
    link_groups(link, &mut out);
    if link.bond.is_none() {
        let old = context
            .row
            .and_then(|r| r.networkmanager)
            .is_some_and(|v| v < DISABLED_SINCE);
        ip_group(link, true, "disabled", &mut out);
        ip_group(link, false, if old { "ignore" } else { "disabled" }, &mut out);
    }
    out
}

const fn kind(link: &Link) -> &'static str {
    match link.kind {
        LinkKind::Parent | LinkKind::Child { .. } => "infiniband",
        LinkKind::Bond { .. } => "bond",
        LinkKind::Ethernet => "ethernet",
    }
}

fn link_groups(link: &Link, out: &mut String) {
    let mtu = link.mtu.map_or(String::new(), |mtu| format!("mtu={mtu}\n"));
    match &link.kind {
        LinkKind::Parent | LinkKind::Ethernet => {
            let mode = link.mode.map_or("datagram", |m| m.word());
            out.push_str(&format!("\n[infiniband]\ntransport-mode={mode}\n{mtu}"));
        }
        LinkKind::Child { parent, pkey } => {
            let (mode, key) = (link.mode.map_or("datagram", |m| m.word()), pkey.full());
            out.push_str(&format!(
                "\n[infiniband]\ntransport-mode={mode}\n{mtu}p-key={key}\nparent={parent}\n"
            ));
        }
        LinkKind::Bond { primary, miimon, .. } => {
            if !mtu.is_empty() {
                out.push_str(&format!("\n[ethernet]\n{mtu}"));
            }
            out.push_str(&format!(
                "\n[bond]\nmode=active-backup\nmiimon={miimon}\nfail_over_mac=active\n"
            ));
            if let Some(primary) = primary {
                out.push_str(&format!("primary={primary}\n"));
            }
        }
    }
}

fn ip_group(link: &Link, v4: bool, off: &str, out: &mut String) {
    let addresses: Vec<String> = link
        .addresses
        .iter()
        .filter(|a| a.is_v4() == v4)
        .map(ToString::to_string)
        .collect();
    let (name, auto, gateway) = if v4 {
        ("ipv4", link.dhcp4, link.gateway4)
    } else {
        ("ipv6", link.dhcp6, link.gateway6)
    };
    let method = match (auto, addresses.is_empty()) {
        (true, _) => "auto",
        (false, false) => "manual",
        (false, true) => off,
    };
    out.push_str(&format!("\n[{name}]\nmethod={method}\n"));
    for (n, address) in addresses.iter().enumerate() {
        out.push_str(&format!("address{}={address}\n", n + 1));
    }
    if let Some(gateway) = gateway.filter(|_| !addresses.is_empty()) {
        out.push_str(&format!("gateway={gateway}\n"));
    }
    let routes = link.routes.iter().filter(|r| r.via.is_ipv4() == v4);
    for (n, route) in routes.enumerate() {
        out.push_str(&format!("route{}={}\n", n + 1, route_text(route)));
    }
}

fn route_text(route: &Route) -> String {
    let via: IpAddr = route.via;
    match route.metric {
        Some(metric) => format!("{},{via},{metric}", route.to),
        None => format!("{},{via}", route.to),
    }
}

/// The profile's id: the one that the file has, where it is valid, its own, and for the same kind of link; else one made
/// from host and link, so that no two links and no two hosts share one (field case 19).
fn uuid_of(link: &Link, path: &HostPath, context: &Context<'_>) -> String {
    let there = context.files.get(path).map(|text| keyfile::parse(text));
    let kept = there.as_ref().and_then(|groups| {
        let uuid = keyfile::get(groups, "connection", "uuid")?;
        let same_kind = keyfile::get(groups, "connection", "type") == Some(kind(link));
        let elsewhere = context.files.iter().any(|(other, text)| {
            other != path && keyfile::get(&keyfile::parse(text), "connection", "uuid") == Some(uuid)
        });
        (Uuid::try_parse(uuid).is_ok() && same_kind && !elsewhere).then(|| uuid.to_owned())
    });
    kept.unwrap_or_else(|| fresh_uuid(context.facts, &link.name))
}

/// A UUID (version 5) of this host and link. In an image, where no machine id is set yet, all hosts share it: it only has
/// to be unique on one host.
pub fn fresh_uuid(facts: &Facts, name: &str) -> String {
    let host = facts.machine_id.as_deref().unwrap_or("image");
    Uuid::new_v5(&NAMESPACE, format!("{host}/{name}").as_bytes())
        .hyphenated()
        .to_string()
}
