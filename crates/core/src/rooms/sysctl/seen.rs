//! What the host says: our drop-in, the running values, and who else sets them.

use super::Wanted;
use super::owners::{self, Owner};
use super::want::SysctlKey;
use crate::facts::Facts;
use crate::parts::file::{self, SeenFile};
use crate::probe::{Kind, Probe, ProbeError};
use crate::types::HostPath;
use std::collections::BTreeMap;

/// Everything.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Our drop-in.
    pub file: SeenFile,
    /// What it sets: path form of the key, value.
    pub ours: BTreeMap<String, String>,
    /// The running side of every wanted key; empty where the live side does not count.
    pub live: BTreeMap<SysctlKey, Live>,
    /// Other files, and tuned.
    pub owners: Vec<Owner>,
}

/// The running side of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Live {
    /// It has a value.
    Value {
        /// Tokens separated by blanks.
        text: String,
        /// Somebody may write it.
        writable: bool,
    },
    /// It is there and cannot be read: a trigger.
    NotReadable,
    /// Its link is not there yet.
    NoLink(String),
    /// The kernel has no such key; why, as far as that can be told.
    NoKey(String),
}

/// Reads everything.
///
/// # Errors
/// A file is there and cannot be read.
pub fn observe(want: &Wanted, facts: &Facts, probe: &dyn Probe) -> Result<Seen, ProbeError> {
    let file = file::observe(probe, &HostPath::fixed(owners::OWN))?;
    let ours = owners::parse(&file.text().unwrap_or_default())
        .into_iter()
        .map(|a| (a.key, a.value))
        .collect();
    let mut live = BTreeMap::new();
    if facts.scope.live() {
        for key in want.keys.keys() {
            live.insert(key.clone(), running(key, facts, probe)?);
        }
    }
    let owners = if want.keys.is_empty() {
        Vec::new()
    } else {
        owners::observe(probe, facts)?
    };
    Ok(Seen {
        file,
        ours,
        live,
        owners,
    })
}

/// The file of a key below /proc/sys.
pub fn proc_path(key: &SysctlKey) -> Option<HostPath> {
    HostPath::new(&format!("/proc/sys/{}", key.path()))
}

fn running(key: &SysctlKey, facts: &Facts, probe: &dyn Probe) -> Result<Live, ProbeError> {
    let Some(path) = proc_path(key) else {
        return Ok(Live::NoKey("the name is too long".to_owned()));
    };
    let there = probe.meta(&path)?.filter(|m| m.kind == Kind::File);
    let Some(meta) = there else {
        if let Some(link) = key.link()
            && !facts.links.iter().any(|l| l == link)
            && link_folder_missing(&path, probe)?
        {
            return Ok(Live::NoLink(link.to_owned()));
        }
        return Ok(Live::NoKey(reason(key, probe)?));
    };
    Ok(match probe.attribute(&path) {
        Some(text) if meta.mode & 0o444 != 0 => Live::Value {
            text: text.split_whitespace().collect::<Vec<_>>().join(" "),
            writable: meta.mode & 0o222 != 0,
        },
        _ => Live::NotReadable,
    })
}

/// The folder of the link is missing, though that of its family is there.
fn link_folder_missing(path: &HostPath, probe: &dyn Probe) -> Result<bool, ProbeError> {
    let Some(folder) = path.parent() else {
        return Ok(false);
    };
    let Some(family) = folder.parent() else {
        return Ok(false);
    };
    Ok(!probe.exists(&folder)? && probe.exists(&family)?)
}

/// Keys that were removed, with the kernel version (linux: git log of net/ipv4/sysctl_net_ipv4.c).
const REMOVED: &[(&str, &str)] = &[
    (
        "net/ipv4/tcp_low_latency",
        "it has had no effect since Linux 4.14 and was removed later",
    ),
    (
        "net/ipv4/tcp_tw_recycle",
        "it was removed in Linux 4.12, since it broke connections behind NAT",
    ),
];

/// Folders that a module brings.
const BY_MODULE: &[(&str, &str)] = &[
    ("net/netfilter/", "nf_conntrack"),
    ("net/bridge/", "br_netfilter"),
    ("net/rds/", "rds"),
    ("net/sctp/", "sctp"),
    ("sunrpc/", "sunrpc"),
    ("fs/nfs/", "lockd"),
];

fn reason(key: &SysctlKey, probe: &dyn Probe) -> Result<String, ProbeError> {
    let path = key.path();
    if let Some((_, why)) = REMOVED.iter().find(|(k, _)| *k == path) {
        return Ok((*why).to_owned());
    }
    if let Some((_, module)) = BY_MODULE.iter().find(|(lead, _)| path.starts_with(lead)) {
        return Ok(format!("its module {module} is not loaded"));
    }
    let ipv6 = HostPath::fixed("/proc/sys/net/ipv6");
    if path.starts_with("net/ipv6/") && !probe.exists(&ipv6)? {
        return Ok("IPv6 is off in this kernel".to_owned());
    }
    Ok("it is misspelt, or this kernel (or this container) does not offer it".to_owned())
}
