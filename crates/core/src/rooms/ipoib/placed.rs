//! Files that name their link by its hardware address alone.
//!
//! A profile with `mac-address` and no `interface-name` (what some installers write) and an ifcfg file with `HWADDR` and no
//! `DEVICE` configure the port whose GUID is the last 8 bytes of the address; the first 12 change when the driver is loaded
//! again (linux: ipoib_main.c). Read with the name added, they are owners of the link like any other file.

use super::backend::networkmanager::keyfile;
use crate::distro::Backend;
use crate::facts::Facts;
use crate::types::{Guid, HostPath};

/// The text as it is to be read: with the link's name where it names the link by address and the link is there.
pub fn placed(backend: Backend, path: &HostPath, text: String, facts: &Facts) -> String {
    let ifcfg = path.name().starts_with("ifcfg-");
    let address = match backend {
        Backend::NetworkManager | Backend::Ifcfg if ifcfg => hwaddr(&text),
        Backend::NetworkManager => mac_address(&text),
        _ => None,
    };
    match address.and_then(|a| link_with(&a, facts)) {
        Some(name) if ifcfg => format!("{text}\nDEVICE={name}\n"),
        Some(name) => format!("{text}\n[connection]\ninterface-name={name}\n"),
        None => text,
    }
}

/// Whether a profile fits every IPoIB interface: neither name nor address nor P_Key narrows it.
pub fn fits_all(text: &str) -> bool {
    let groups = keyfile::parse(text);
    keyfile::get(&groups, "connection", "type") == Some("infiniband")
        && keyfile::first(&groups, "connection", &["interface-name"]).is_none()
        && keyfile::first(&groups, "infiniband", &["mac-address", "p-key"]).is_none()
        && keyfile::first(&groups, "match", &["interface-name", "path", "driver"]).is_none()
        && keyfile::get(&groups, "connection", "autoconnect").is_none_or(keyfile::truth)
}

fn mac_address(text: &str) -> Option<String> {
    let groups = keyfile::parse(text);
    let free = keyfile::get(&groups, "connection", "type") == Some("infiniband")
        && keyfile::first(&groups, "connection", &["interface-name"]).is_none()
        && keyfile::first(&groups, "infiniband", &["p-key"]).is_none();
    let address = keyfile::first(&groups, "infiniband", &["mac-address"])?;
    free.then(|| address.to_owned())
}

fn hwaddr(text: &str) -> Option<String> {
    let value = |key: &str| {
        let mut lines = text
            .lines()
            .filter_map(|l| l.trim().strip_prefix(key)?.strip_prefix('='));
        lines
            .next_back()
            .map(|v| v.trim().trim_matches(['"', '\'']).to_owned())
    };
    let free = value("DEVICE").is_none_or(|v| v.is_empty()) && value("PKEY").is_none();
    value("HWADDR").filter(|_| free)
}

/// The port's own interface with the GUID in a 20-byte address.
fn link_with(address: &str, facts: &Facts) -> Option<String> {
    let bytes: Vec<&str> = address.split(':').collect();
    let low = bytes.get(12..).filter(|low| low.len() == 8)?;
    let guid = Guid::parse(&format!("0x{}", low.concat())).ok()?;
    let own =
        |l: &&crate::facts::IpoibLink| l.guid == Some(guid) && l.parent.is_none() && !l.name.contains('.');
    facts.ipoib.iter().find(own).map(|l| l.name.clone())
}
