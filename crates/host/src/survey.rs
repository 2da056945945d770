//! What a capture reads when no document says what matters: everything that some document could ask for.

use ibplan_core::facts::Facts;
use ibplan_core::pointer::Pointer;
use ibplan_core::probe::{Kind, Probe};
use ibplan_core::request::read_document;
use ibplan_core::state::HostState;
use ibplan_core::types::HostPath;
use serde_json::{Value, json};

/// Kernel values that tuning of InfiniBand hosts is about; whole folders, since a key may be wanted tomorrow.
const VALUES: &[&str] = &[
    "/proc/sys/net/core",
    "/proc/sys/net/ipv4",
    "/proc/sys/net/ipv6",
    "/proc/sys/vm",
];

/// Single values beside them.
const SINGLE: &[&str] = &[
    "/proc/sys/kernel/numa_balancing",
    "/proc/sys/kernel/sched_rt_runtime_us",
];

/// Deepest folder below [`VALUES`] that is read: `net/ipv4/conf/ib0/rp_filter`.
const DEPTH: usize = 3;

/// Secrets among the values: they are not even read.
const NEVER: &[&str] = &["stable_secret", "tcp_fastopen_key"];

/// A document that has every section, for the links and ports of this host.
pub(crate) fn document(facts: &Facts) -> HostState {
    let links: Vec<Value> = facts
        .ipoib
        .iter()
        .filter(|link| link.parent.is_none())
        .map(|link| json!({ "interface": link.name }))
        .collect();
    let mut document = json!({
        "modules": [{ "name": "ib_ipoib" }, { "name": "ib_umad" }, { "name": "ib_uverbs" }, { "name": "rdma_ucm" }],
        "sysctl_profile": "ipoib_throughput",
        "limits": { "memlock": "unlimited", "services": ["slurmd", "slurmstepd", "pbs_mom", "opensm"] },
        "ipoib": links,
    });
    if let Some(guid) = facts.ports().find_map(|(_, port)| port.guid) {
        document["subnet_manager"] = json!({ "instances": [{ "port": { "guid": guid } }], "partitions": [] });
    }
    // A link whose name no document can hold is left out with the rest of its mistakes.
    read_document(document, &Pointer::root()).0.unwrap_or_default()
}

/// Reads the kernel values, for whoever listens.
pub(crate) fn values(probe: &dyn Probe) {
    for folder in VALUES {
        below(probe, &HostPath::fixed(folder), DEPTH);
    }
    for file in SINGLE {
        let _ = probe.read(&HostPath::fixed(file));
    }
}

fn below(probe: &dyn Probe, folder: &HostPath, depth: usize) {
    for name in probe.list(folder).unwrap_or_default() {
        if NEVER.contains(&name.as_str()) {
            continue;
        }
        let Ok(path) = folder.join(&name) else { continue };
        match probe.meta(&path).ok().flatten().map(|m| m.kind) {
            Some(Kind::Folder) if depth > 1 => below(probe, &path, depth - 1),
            // Some values are write-only or answer with an error: a reader must do without them too.
            Some(Kind::File) => drop(probe.read(&path)),
            _ => {}
        }
    }
}
