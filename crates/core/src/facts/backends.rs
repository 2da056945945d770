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
        for backend in Backend::ALL {
            if self.running(backend)? {
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

    fn running(&self, backend: Backend) -> Result<bool, ProbeError> {
        match (self.scope, &self.recorded) {
            (Scope::Image, _) => Ok(false),
            (Scope::Replay, Some(_)) => Ok(units(backend)
                .iter()
                .any(|unit| self.state(unit).is_some_and(|(_, active)| active == "active"))),
            _ => {
                let daemon = matches!(
                    backend,
                    Backend::NetworkManager | Backend::Networkd | Backend::Wicked
                );
                match self.services().filter(|_| daemon) {
                    Some(folder) => {
                        for unit in units(backend) {
                            if self.probe.exists(&folder.join(unit).unwrap_or(folder.clone()))? {
                                return Ok(true);
                            }
                        }
                        Ok(false)
                    }
                    None => any(self.probe, traces(backend)),
                }
            }
        }
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
mod tests {
    use super::*;
    use crate::fake::{Entry, Fake};

    fn facts(host: &Fake, scope: Scope, row: Option<&'static Row>) -> BackendFacts {
        let netplan = Netplan::read(host).unwrap();
        let recorded = host
            .query(&crate::probe::Query::Units(all_units()))
            .unwrap()
            .map(|o| recorded(&o));
        Eyes {
            probe: host,
            scope,
            row,
            netplan: &netplan,
            recorded,
        }
        .facts()
        .unwrap()
    }

    #[test]
    fn installed_in_the_order_of_the_row() {
        use Backend::{Ifcfg, Ifupdown, NetworkManager, Networkd, Wicked};
        let unit = |host: Fake, name: &str| host.file(&format!("/usr/lib/systemd/system/{name}"), "");
        let host = unit(
            unit(Fake::new(), "networking.service"),
            "systemd-networkd.service",
        );
        let host = host.file("/usr/sbin/NetworkManager", "");
        assert_eq!(
            facts(&host, Scope::Live, Row::find("debian", "12")).installed,
            [Ifupdown, NetworkManager, Networkd]
        );
        assert_eq!(
            facts(&host, Scope::Live, Row::find("rocky", "9")).installed,
            [NetworkManager, Ifcfg, Networkd, Ifupdown]
        );
        assert_eq!(
            facts(&host, Scope::Live, Row::find("rocky", "10")).installed[..1],
            [NetworkManager]
        );
        let masked = host.symlink("/etc/systemd/system/NetworkManager.service", "/dev/null");
        assert_eq!(
            facts(&masked, Scope::Live, Row::find("rocky", "9")).installed,
            [Networkd, Ifupdown]
        );
        let suse = unit(Fake::new(), "wicked.service");
        assert_eq!(
            facts(&suse, Scope::Image, Row::find("sles", "15.5")).installed,
            [Wicked]
        );
        let el7 = Fake::new().file("/etc/rc.d/init.d/network", "");
        assert_eq!(
            facts(&el7, Scope::Live, Row::find("centos", "7")).installed,
            [Ifcfg]
        );
        assert!(
            facts(&Fake::new(), Scope::Image, Row::find("debian", "12"))
                .installed
                .is_empty()
        );
    }

    #[test]
    fn running_by_control_group_not_by_what_a_stopped_daemon_left() {
        let host = Fake::new()
            .entry("/run/NetworkManager/devices", Entry::Folder(0o755))
            .entry("/run/systemd/netif/links", Entry::Folder(0o755))
            .file("/run/network/ifstate", "lo=lo\n");
        let of = |host: &Fake, scope| facts(host, scope, Row::find("rocky", "9")).running;
        use Backend::{Ifcfg, Ifupdown, NetworkManager, Networkd};
        assert_eq!(
            of(&host, Scope::Live),
            [NetworkManager, Ifcfg, Networkd, Ifupdown]
        );
        assert!(of(&host, Scope::Image).is_empty());
        let v2 = host.clone().file("/proc/1/cgroup", "0::/init.scope\n").entry(
            "/sys/fs/cgroup/system.slice/systemd-networkd.service",
            Entry::Folder(0o755),
        );
        assert_eq!(of(&v2, Scope::Live), [Networkd, Ifupdown]);
        let v1 = host
            .clone()
            .file("/proc/1/cgroup", "9:cpu:/\n1:name=systemd:/\n0::/\n")
            .entry(
                "/sys/fs/cgroup/systemd/system.slice/NetworkManager.service",
                Entry::Folder(0o755),
            );
        assert_eq!(of(&v1, Scope::Live), [NetworkManager, Ifcfg, Ifupdown]);
        let container = host.file("/proc/1/cgroup", "0::/docker/abc/init.scope\n").entry(
            "/sys/fs/cgroup/docker/abc/system.slice/NetworkManager.service",
            Entry::Folder(0o755),
        );
        assert_eq!(of(&container, Scope::Live), [NetworkManager, Ifcfg, Ifupdown]);
    }

    #[test]
    fn a_capture_answers_for_systemctl() {
        let host = Fake::new().answer(
            "systemctl-show",
            "Id=network.service\nLoadState=loaded\nActiveState=active\n\nId=NetworkManager.service\nLoadState=not-found\n\
             ActiveState=inactive\n\nId=wicked.service\nLoadState=loaded\nActiveState=inactive\n",
        );
        let of = facts(&host, Scope::Replay, Row::find("centos", "7"));
        assert_eq!(of.installed, [Backend::Ifcfg, Backend::Wicked]);
        assert_eq!(of.running, [Backend::Ifcfg]);
    }

    #[test]
    fn netplan_is_used_where_it_is_read() {
        let host = Fake::new().file("/etc/netplan/1.yaml", "network: {renderer: NetworkManager}");
        let row = Row::find("ubuntu", "22.04");
        let left = facts(&host, Scope::Live, row);
        assert!(!left.netplan_used && left.netplan_renderer.is_none());
        let replay = facts(&host, Scope::Replay, row);
        assert_eq!(replay.installed, [Backend::Netplan]);
        let live = host
            .file("/usr/sbin/netplan", "")
            .entry("/run/NetworkManager/devices", Entry::Folder(0o755));
        let live = facts(&live, Scope::Live, row);
        assert_eq!(live.netplan_renderer.as_deref(), Some("NetworkManager"));
        assert_eq!(live.running, [Backend::NetworkManager, Backend::Netplan]);
        let plain = Fake::new()
            .file("/etc/netplan/1.yaml", "network:\n  version: 2\n")
            .file("/usr/sbin/netplan", "");
        assert_eq!(
            facts(&plain, Scope::Live, row).netplan_renderer.as_deref(),
            Some("networkd")
        );
    }
}
