//! The files in which back ends name interfaces.

use super::super::IpoibLink;
use super::super::text::{configs, glob, ini, value};
use crate::probe::{Probe, ProbeError};
use crate::types::{HostPath, PKey};
use std::collections::BTreeSet;

/// A NetworkManager keyfile.
pub(super) struct Profile {
    /// Where.
    pub(super) path: String,
    names: Vec<String>,
    address: Option<String>,
}

impl Profile {
    /// Whether it is for this interface, whatever type it has: an Ethernet profile of that name is there to be replaced.
    pub(super) fn is_for(&self, link: &IpoibLink) -> bool {
        if self.names.is_empty() {
            return self
                .address
                .as_deref()
                .is_some_and(|a| a.eq_ignore_ascii_case(&link.address));
        }
        self.names.iter().any(|pattern| glob(pattern, &link.name))
    }
}

/// The keyfiles of all folders (nm-settings-keyfile(5)); editors' leftovers are not read.
pub(super) fn profiles(probe: &dyn Probe) -> Result<Vec<Profile>, ProbeError> {
    let mut found = Vec::new();
    for folder in ["/etc", "/run", "/usr/lib"] {
        let folder = format!("{folder}/NetworkManager/system-connections");
        let passes = |name: &str| {
            !name.starts_with('.')
                && ![".bak", "~", ".rpmsave", ".rpmnew", ".rpmorig"]
                    .iter()
                    .any(|e| name.ends_with(e))
        };
        for (path, text) in configs(probe, &folder, passes)? {
            found.push(profile(path.as_str(), &text));
        }
    }
    Ok(found)
}

fn profile(path: &str, text: &str) -> Profile {
    let all = ini(text);
    let get = |section: &str, key: &str| {
        all.iter()
            .rev()
            .find(|(s, k, v)| s == section && k == key && !v.is_empty())
            .map(|(_, _, v)| v.clone())
    };
    let mut names: Vec<String> = get("connection", "interface-name").into_iter().collect();
    if names.is_empty()
        && let Some(list) = get("match", "interface-name")
    {
        names.extend(
            list.split([';', ',', ' '])
                .filter(|n| !n.is_empty())
                .map(str::to_owned),
        );
    }
    if names.is_empty()
        && let (Some(parent), Some(key)) = (get("infiniband", "parent"), get("infiniband", "p-key"))
        && let Ok(key) = PKey::parse(&key)
    {
        names.push(key.child_of(&parent));
    }
    Profile {
        path: path.to_owned(),
        names,
        address: get("infiniband", "mac-address"),
    }
}

/// A `.network` file of networkd.
pub(super) struct Network {
    /// Where.
    pub(super) path: String,
    names: Vec<String>,
    addresses: Vec<String>,
    infiniband: Option<bool>,
    more: bool,
}

impl Network {
    /// Whether its `[Match]` takes this interface. All keys must agree; a key that cannot be judged from here (driver, path,
    /// kernel command line) makes it no match, and so does a section that takes every interface.
    pub(super) fn is_for(&self, link: &IpoibLink) -> bool {
        let names = self.names.is_empty() || matches(&self.names, &link.name);
        let addresses = self.addresses.is_empty()
            || self
                .addresses
                .iter()
                .any(|a| a.eq_ignore_ascii_case(&link.address));
        let said = !self.names.is_empty() || !self.addresses.is_empty() || self.infiniband.is_some();
        said && !self.more && names && addresses && self.infiniband.unwrap_or(true)
    }
}

/// A list of shell patterns, turned round by a leading `!` (systemd.network(5)).
fn matches(patterns: &[String], name: &str) -> bool {
    let negated = patterns[0].starts_with('!');
    let any = patterns
        .iter()
        .any(|p| glob(p.strip_prefix('!').unwrap_or(p), name));
    any != negated
}

/// The `.network` files of the administrator and of this boot. Those of the vendor are for containers and bridges.
pub(super) fn networks(probe: &dyn Probe) -> Result<Vec<Network>, ProbeError> {
    let mut found = Vec::new();
    for folder in ["/etc/systemd/network", "/run/systemd/network"] {
        for (path, text) in configs(probe, folder, |name| name.ends_with(".network"))? {
            found.push(network(path.as_str(), &text));
        }
    }
    Ok(found)
}

fn network(path: &str, text: &str) -> Network {
    let mut network = Network {
        path: path.to_owned(),
        names: Vec::new(),
        addresses: Vec::new(),
        infiniband: None,
        more: false,
    };
    for (section, key, value) in ini(text) {
        let words = || value.split_whitespace().map(str::to_owned);
        match (section.as_str(), key.as_str()) {
            ("Match", "Name") => network.names.extend(words()),
            ("Match", "MACAddress" | "PermanentMACAddress") => network.addresses.extend(words()),
            ("Match", "Type") => {
                let types: Vec<String> = words().collect();
                network.infiniband = Some(!types.is_empty() && matches(&types, "infiniband"));
            }
            ("Match", _) => network.more = true,
            _ => {}
        }
    }
    network
}

/// Deeper nesting of `source` than any host has.
const DEEPEST: usize = 8;

/// The interfaces that /etc/network/interfaces and the files that it sources configure (interfaces(5)): those with an
/// `iface` stanza, and the members of bonds.
pub(super) fn stanzas(probe: &dyn Probe) -> Result<BTreeSet<String>, ProbeError> {
    let mut found = BTreeSet::new();
    interfaces(probe, "/etc/network/interfaces", 0, &mut found)?;
    Ok(found)
}

fn interfaces(
    probe: &dyn Probe,
    path: &str,
    deep: usize,
    found: &mut BTreeSet<String>,
) -> Result<(), ProbeError> {
    let Some(path) = HostPath::new(path).filter(|_| deep < DEEPEST) else {
        return Ok(());
    };
    let Some(text) = probe.text(&path)? else {
        return Ok(());
    };
    for line in text.replace("\\\n", " ").lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["iface", name, ..] => {
                found.insert((*name).to_owned());
            }
            ["bond-slaves" | "slaves", members @ ..] if *members != ["none"] => {
                found.extend(members.iter().map(|m| (*m).to_owned()));
            }
            [word @ ("source" | "source-directory"), patterns @ ..] => {
                for pattern in patterns {
                    for file in sourced(probe, &path, pattern, *word == "source-directory")? {
                        interfaces(probe, &file, deep + 1, found)?;
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// The files of a `source` line; patterns in the last component are followed.
fn sourced(
    probe: &dyn Probe,
    from: &HostPath,
    pattern: &str,
    directory: bool,
) -> Result<Vec<String>, ProbeError> {
    let absolute = if pattern.starts_with('/') {
        pattern.to_owned()
    } else {
        format!(
            "{}/{pattern}",
            from.parent().as_ref().map_or("", HostPath::as_str)
        )
    };
    let (folder, last) = match (directory, absolute.rsplit_once('/')) {
        (false, Some((folder, last))) => (folder.to_owned(), Some(last.to_owned())),
        _ => (absolute.trim_end_matches('/').to_owned(), None),
    };
    let Some(place) = HostPath::new(&folder) else {
        return Ok(Vec::new());
    };
    let plain = |name: &str| {
        name.bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
    };
    Ok(probe
        .list(&place)?
        .into_iter()
        .filter(|name| match &last {
            Some(last) => glob(last, name) && (!name.starts_with('.') || last.starts_with('.')),
            None => plain(name),
        })
        .map(|name| format!("{folder}/{name}"))
        .collect())
}

/// The interfaces that have an ifcfg file of wicked (ifcfg(5) of SUSE: the file name is the interface).
pub(super) fn wicked(probe: &dyn Probe) -> Result<BTreeSet<String>, ProbeError> {
    Ok(probe
        .list(&HostPath::fixed("/etc/sysconfig/network"))?
        .iter()
        .filter_map(|name| name.strip_prefix("ifcfg-"))
        .map(str::to_owned)
        .collect())
}

/// An ifcfg file of EL.
pub(super) struct Ifcfg {
    /// The interface: `DEVICE`, else the name of the file.
    pub(super) device: String,
    /// NetworkManager may read it: `NM_CONTROLLED` is not `no`.
    pub(super) networkmanager: bool,
}

/// The ifcfg files of EL.
pub(super) fn ifcfg(probe: &dyn Probe) -> Result<Vec<Ifcfg>, ProbeError> {
    let passes = |name: &str| {
        name.starts_with("ifcfg-")
            && ![".bak", ".orig", ".rpmnew", ".rpmorig", ".rpmsave", "~"]
                .iter()
                .any(|e| name.ends_with(e))
    };
    let files = configs(probe, "/etc/sysconfig/network-scripts", passes)?;
    Ok(files
        .iter()
        .map(|(path, text)| {
            let named = || path.name().trim_start_matches("ifcfg-").to_owned();
            let controlled = value(text, "NM_CONTROLLED").unwrap_or_default();
            Ifcfg {
                device: value(text, "DEVICE")
                    .filter(|d| !d.is_empty())
                    .unwrap_or_else(named),
                networkmanager: !["no", "false", "0"]
                    .iter()
                    .any(|n| controlled.eq_ignore_ascii_case(n)),
            }
        })
        .collect())
}
