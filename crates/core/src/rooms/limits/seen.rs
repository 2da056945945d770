//! What the host says: limits.d, the drop-ins of the services, and what their processes have.

use super::want::LimitsWant;
use crate::facts::Facts;
use crate::parts::file::{self, SeenFile};
use crate::parts::unit;
use crate::probe::{Probe, ProbeError};
use crate::types::HostPath;
use std::collections::BTreeMap;

/// The file that ibplan keeps.
pub const OWN: &str = "/etc/security/limits.d/90-ibplan.conf";
/// The name of our drop-ins.
pub const DROP_IN: &str = "90-ibplan.conf";
const FOLDER: &str = "/etc/security/limits.d";

/// Where drop-ins lie, the highest precedence first (systemd.unit(5)).
const UNIT_FOLDERS: &[&str] = &[
    "/etc/systemd/system",
    "/run/systemd/system",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
];

/// Everything.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Our limits file.
    pub file: SeenFile,
    /// Files of limits.d that are read after ours, with their memlock lines.
    pub later: Vec<(HostPath, Vec<MemlockLine>)>,
    /// The services, in the order of the document.
    pub services: Vec<SeenService>,
}

/// One line of limits.conf(5) about locked memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemlockLine {
    /// Whom it is for.
    pub domain: String,
    /// It sets the soft limit.
    pub soft: bool,
    /// It sets the hard limit.
    pub hard: bool,
    /// KiB; `None`: unlimited.
    pub kib: Option<u64>,
}

/// One service.
#[derive(Clone, Debug)]
pub struct SeenService {
    /// The unit.
    pub unit: String,
    /// Our drop-in.
    pub file: SeenFile,
    /// A unit file is there, or a start script.
    pub installed: bool,
    /// Drop-ins of others that are read after ours and set the limit, with their value.
    pub later: Vec<(HostPath, String)>,
    /// The soft limit of its main process in bytes; outer `None`: it does not run or cannot be asked, inner: unlimited.
    pub running: Option<Option<u64>>,
}

/// Reads everything.
///
/// # Errors
/// A file or folder is there and cannot be read.
pub fn observe(want: &LimitsWant, facts: &Facts, probe: &dyn Probe) -> Result<Seen, ProbeError> {
    let own = HostPath::fixed(OWN);
    let mut later = Vec::new();
    let folder = HostPath::fixed(FOLDER);
    for name in probe.list(&folder)? {
        if name.ends_with(".conf")
            && name.as_str() > own.name()
            && let Ok(path) = folder.join(&name)
        {
            let lines = parse(&probe.text(&path)?.unwrap_or_default());
            if !lines.is_empty() {
                later.push((path, lines));
            }
        }
    }
    let services = want
        .services
        .iter()
        .filter_map(|s| service(&s.unit(), facts, probe).transpose())
        .collect::<Result<_, _>>()?;
    Ok(Seen {
        file: file::observe(probe, &own)?,
        later,
        services,
    })
}

/// The memlock lines of a file of limits.conf(5).
pub fn parse(text: &str) -> Vec<MemlockLine> {
    text.lines()
        .filter_map(|line| {
            let line = line.split('#').next().unwrap_or_default();
            let words: Vec<&str> = line.split_whitespace().collect();
            let [domain, kind, "memlock", value] = words[..] else {
                return None;
            };
            let kib = match value {
                "unlimited" | "infinity" | "-1" => None,
                number => Some(number.parse().ok()?),
            };
            Some(MemlockLine {
                domain: domain.to_owned(),
                soft: matches!(kind, "soft" | "-"),
                hard: matches!(kind, "hard" | "-"),
                kib,
            })
        })
        .collect()
}

/// `None`: the name makes no path (never for a name that was checked).
fn service(name: &str, facts: &Facts, probe: &dyn Probe) -> Result<Option<SeenService>, ProbeError> {
    let Ok(folder) = HostPath::fixed("/etc/systemd/system").join(&format!("{name}.d")) else {
        return Ok(None);
    };
    let Ok(path) = folder.join(DROP_IN) else {
        return Ok(None);
    };
    let script = HostPath::fixed("/etc/init.d").join(name.trim_end_matches(".service"));
    let scripted = match script {
        Ok(path) => probe.exists(&path)?,
        Err(_) => false,
    };
    Ok(Some(SeenService {
        unit: name.to_owned(),
        file: file::observe(probe, &path)?,
        installed: unit::exists(probe, name)? || scripted,
        later: later_drop_ins(name, probe)?,
        running: if facts.scope.live() {
            running(name, probe)?
        } else {
            None
        },
    }))
}

/// Drop-ins of the unit (and of its template) that are read after ours and set the limit.
fn later_drop_ins(name: &str, probe: &dyn Probe) -> Result<Vec<(HostPath, String)>, ProbeError> {
    let mut files: BTreeMap<String, HostPath> = BTreeMap::new();
    let template = name
        .split_once('@')
        .map(|(prefix, _)| format!("{prefix}@.service.d"));
    for holder in std::iter::once(format!("{name}.d")).chain(template) {
        for folder in UNIT_FOLDERS {
            let Ok(folder) = HostPath::fixed(folder).join(&holder) else {
                continue;
            };
            for file in probe.list(&folder)? {
                if file.ends_with(".conf")
                    && file.as_str() > DROP_IN
                    && !files.contains_key(&file)
                    && let Ok(path) = folder.join(&file)
                {
                    files.insert(file, path);
                }
            }
        }
    }
    let mut out = Vec::new();
    for path in files.into_values() {
        let text = probe.text(&path)?.unwrap_or_default();
        if let Some(value) = unit::words(&text, "Service", "LimitMEMLOCK").pop() {
            out.push((path, value));
        }
    }
    Ok(out)
}

/// The limit of the service's main process, found through its control group: no program is run. The lowest process
/// number is the main process but for a service that has outlived the number space.
fn running(name: &str, probe: &dyn Probe) -> Result<Option<Option<u64>>, ProbeError> {
    let slice = match name.split_once('@') {
        Some((prefix, _)) => format!("system.slice/system-{}.slice", prefix.replace('-', "\\x2d")),
        None => "system.slice".to_owned(),
    };
    for base in ["/sys/fs/cgroup", "/sys/fs/cgroup/systemd"] {
        let Some(path) = HostPath::new(&format!("{base}/{slice}/{name}/cgroup.procs")) else {
            continue;
        };
        let Some(list) = probe.attribute(&path) else {
            continue;
        };
        let first = list.lines().filter_map(|l| l.trim().parse::<u32>().ok()).min();
        let Some(path) = first.and_then(|pid| HostPath::new(&format!("/proc/{pid}/limits"))) else {
            continue;
        };
        return Ok(probe.attribute(&path).and_then(|text| soft_limit(&text)));
    }
    Ok(None)
}

/// `Max locked memory  65536  65536  bytes` (proc_pid_limits(5)).
fn soft_limit(text: &str) -> Option<Option<u64>> {
    let line = text.lines().find_map(|l| l.strip_prefix("Max locked memory"))?;
    match line.split_whitespace().next()? {
        "unlimited" => Some(None),
        number => number.parse().ok().map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_limits_of_both_kinds() {
        let text = "# * soft memlock 1\n* soft memlock unlimited # x\n@rdma - memlock 64\nroot hard memlock -1\n* hard nofile 1\nbob soft memlock lots\n";
        let lines: Vec<_> = parse(text)
            .into_iter()
            .map(|l| (l.domain, l.soft, l.hard, l.kib))
            .collect();
        assert_eq!(
            lines,
            [
                ("*".to_owned(), true, false, None),
                ("@rdma".to_owned(), true, true, Some(64)),
                ("root".to_owned(), false, true, None),
            ]
        );
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \nMax locked memory         65536                unlimited            bytes     \n";
        assert_eq!(soft_limit(limits), Some(Some(65536)));
        assert_eq!(
            soft_limit("Max locked memory unlimited unlimited bytes"),
            Some(None)
        );
        assert_eq!(soft_limit(""), None);
    }
}
