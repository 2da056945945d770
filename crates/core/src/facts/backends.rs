//! Which network back ends are on the host, and which of them work now. By files only: no program is asked.

use super::folder::any;
use super::netplan::Netplan;
use super::{BackendFacts, Scope};
use crate::distro::{Backend, IfcfgReader, Row};
use crate::probe::{Output, Probe, ProbeError};
use crate::types::HostPath;
use std::collections::BTreeMap;

/// Units of a back end, the main one first.
const fn units(backend: Backend) -> &'static [&'static str] {
    match backend {
        Backend::NetworkManager => &["NetworkManager.service"],
        Backend::Networkd => &["systemd-networkd.service"],
        Backend::Ifupdown => &["networking.service"],
        Backend::Wicked => &["wickedd.service", "wicked.service"],
        Backend::Ifcfg => &["network.service"],
        Backend::Netplan => &[],
    }
}

/// Every unit whose state is of interest: what a capture is asked for.
pub(super) fn all_units() -> Vec<String> {
    Backend::ALL
        .iter()
        .flat_map(|b| units(*b))
        .map(|unit| (*unit).to_owned())
        .collect()
}

/// Programs that only this back end has. EL and SUSE have an `ifup` too, but no `ifquery`.
const fn programs(backend: Backend) -> &'static [&'static str] {
    match backend {
        Backend::NetworkManager => &["/usr/sbin/NetworkManager"],
        Backend::Networkd => &[
            "/usr/lib/systemd/systemd-networkd",
            "/lib/systemd/systemd-networkd",
        ],
        Backend::Netplan => &["/usr/sbin/netplan"],
        Backend::Ifupdown => &["/sbin/ifquery", "/usr/sbin/ifquery"],
        Backend::Wicked => &["/usr/sbin/wickedd"],
        Backend::Ifcfg => &["/etc/init.d/network", "/etc/rc.d/init.d/network"],
    }
}

/// What is there while a back end works. Some of these outlive it, so the control group is asked first.
const fn traces(backend: Backend) -> &'static [&'static str] {
    match backend {
        Backend::NetworkManager => &["/run/NetworkManager/devices"],
        Backend::Networkd => &["/run/systemd/netif/links"],
        Backend::Ifupdown => &["/run/network/ifstate"],
        Backend::Wicked => &["/run/wicked"],
        Backend::Ifcfg => &["/run/lock/subsys/network", "/var/lock/subsys/network"],
        Backend::Netplan => &[],
    }
}

/// Folders in which units lie.
const UNIT_FOLDERS: [&str; 3] = [
    "/etc/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
];

/// All that tells about back ends.
pub(super) struct Eyes<'a> {
    /// The host.
    pub(super) probe: &'a dyn Probe,
    /// Which sides count.
    pub(super) scope: Scope,
    /// The row of the distribution.
    pub(super) row: Option<&'static Row>,
    /// What netplan's files say.
    pub(super) netplan: &'a Netplan,
    /// Load and active state of units, from a capture.
    pub(super) recorded: Option<Units>,
}

/// Load state and active state by unit.
pub(super) type Units = BTreeMap<String, (String, String)>;

/// Reads an answer of `systemctl show`.
pub(super) fn recorded(output: &Output) -> Units {
    output
        .stdout
        .split("\n\n")
        .filter_map(|block| {
            let of = |key| super::text::value(block, key);
            Some((of("Id")?, (of("LoadState")?, of("ActiveState")?)))
        })
        .collect()
}

impl Eyes<'_> {
    /// Reads the facts.
    ///
    /// # Errors
    /// A folder on the way cannot be searched.
    pub(super) fn facts(&self) -> Result<BackendFacts, ProbeError> {
        let own = self.row.map_or(&[][..], |r| r.backends);
        let rest = Backend::ALL.iter().filter(|b| !own.contains(b));
        let mut facts = BackendFacts::default();
        for backend in own.iter().chain(rest) {
            if self.installed(*backend)? {
                facts.installed.push(*backend);
            }
        }
        facts.netplan_used =
            self.netplan.used && (self.scope != Scope::Live || facts.installed.contains(&Backend::Netplan));
        if facts.netplan_used {
            let named = self.netplan.renderer.clone();
            facts.netplan_renderer = Some(named.unwrap_or_else(|| Backend::Networkd.word().to_owned()));
        }
        let services = self.services();
        for backend in Backend::ALL {
            if self.running(backend, services.as_ref())? {
                facts.running.push(backend);
            }
        }
        self.borrowed(&mut facts);
        Ok(facts)
    }

    /// netplan and NetworkManager's ifcfg plugin have no process of their own: they work while their renderer or reader does.
    fn borrowed(&self, facts: &mut BackendFacts) {
        let renderer = match facts.netplan_renderer.as_deref() {
            Some("NetworkManager") => Some(Backend::NetworkManager),
            Some(_) => Some(Backend::Networkd),
            None => None,
        };
        if renderer.is_some_and(|r| facts.running.contains(&r)) {
            facts.running.push(Backend::Netplan);
        }
        if self.ifcfg_by_networkmanager()
            && facts.running.contains(&Backend::NetworkManager)
            && !facts.running.contains(&Backend::Ifcfg)
        {
            facts.running.push(Backend::Ifcfg);
        }
        facts.running.sort();
    }

    fn ifcfg_by_networkmanager(&self) -> bool {
        self.row.is_some_and(|r| r.ifcfg == IfcfgReader::NetworkManager)
    }

    /// Program or unit file found, and the unit not masked (a masked back end reads nothing).
    fn installed(&self, backend: Backend) -> Result<bool, ProbeError> {
        if backend == Backend::Ifcfg && self.row.is_some_and(|r| r.ifcfg == IfcfgReader::Nobody) {
            return Ok(false);
        }
        if backend == Backend::Ifcfg
            && self.ifcfg_by_networkmanager()
            && self.installed(Backend::NetworkManager)?
        {
            return Ok(true);
        }
        if let Some(main) = units(backend).first()
            && self.masked(main)?
        {
            return Ok(false);
        }
        if any(self.probe, programs(backend))? {
            return Ok(true);
        }
        // A capture holds no programs; there, configuration and recorded units speak for them.
        if self.scope == Scope::Replay && backend == Backend::Netplan && self.netplan.used {
            return Ok(true);
        }
        for unit in units(backend) {
            if self.state(unit).is_some_and(|(load, _)| load == "loaded") || self.unit_file(unit)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn state(&self, unit: &str) -> Option<&(String, String)> {
        self.recorded.as_ref()?.get(unit)
    }

    fn masked(&self, unit: &str) -> Result<bool, ProbeError> {
        let Some(path) = HostPath::new(&format!("{}/{unit}", UNIT_FOLDERS[0])) else {
            return Ok(false);
        };
        Ok(self.probe.link(&path)?.as_deref() == Some("/dev/null"))
    }

    fn unit_file(&self, unit: &str) -> Result<bool, ProbeError> {
        for folder in UNIT_FOLDERS {
            if let Some(path) = HostPath::new(&format!("{folder}/{unit}"))
                && self.probe.exists(&path)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn running(&self, backend: Backend, services: Option<&HostPath>) -> Result<bool, ProbeError> {
        if self.scope == Scope::Image {
            return Ok(false);
        }
        // The record of a capture has the units that somebody asked for, perhaps none of these.
        let mut told = units(backend)
            .iter()
            .filter_map(|unit| self.state(unit))
            .peekable();
        if told.peek().is_some() {
            return Ok(told.any(|(_, active)| active == "active"));
        }
        let daemon = matches!(
            backend,
            Backend::NetworkManager | Backend::Networkd | Backend::Wicked
        );
        let Some(folder) = services.filter(|_| daemon) else {
            // networkd is part of systemd: what it left in an image means nothing where systemd has not booted.
            let possible = backend != Backend::Networkd || any(self.probe, &["/run/systemd/system"])?;
            return Ok(possible && any(self.probe, traces(backend))?);
        };
        for unit in units(backend) {
            if let Ok(group) = folder.join(unit)
                && self.probe.exists(&group)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The control group folder of system services: a service has a folder in it exactly while it has processes
    /// (systemd: docs/CGROUP_DELEGATION.md). `None` where control groups are not visible.
    fn services(&self) -> Option<HostPath> {
        let text = self.probe.attribute(&HostPath::fixed("/proc/1/cgroup"))?;
        let lines: Vec<&str> = text.lines().collect();
        let place = |mark: &str, mount: &str| {
            let own = lines.iter().find_map(|line| line.split_once(mark))?.1;
            let root = own.strip_suffix("/init.scope").unwrap_or(own);
            let folder = HostPath::new(&format!("{mount}{}/system.slice", root.trim_end_matches('/')))?;
            self.probe.exists(&folder).unwrap_or(false).then_some(folder)
        };
        place(":name=systemd:", "/sys/fs/cgroup/systemd").or_else(|| place("0::", "/sys/fs/cgroup"))
    }

    /// Whether the back end will start at the next boot: its unit is wanted.
    ///
    /// # Errors
    /// A folder on the way cannot be searched.
    pub(super) fn enabled(&self, backend: Backend) -> Result<bool, ProbeError> {
        for unit in units(backend) {
            let path = HostPath::new(&format!("{}/multi-user.target.wants/{unit}", UNIT_FOLDERS[0]));
            if let Some(path) = path
                && self.probe.exists(&path)?
                && !self.masked(unit)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests;
