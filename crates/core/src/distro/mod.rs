//! Distributions: what is where, and how it is called. The only place where a distribution has a name.

mod table;

pub use table::ROWS;

use serde::{Deserialize, Serialize};

/// Package managers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PackageManager {
    /// apt and dpkg.
    Apt,
    /// dnf (yum on EL 7) and rpm.
    Dnf,
    /// zypper and rpm.
    Zypper,
}

/// Network back ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Backend {
    /// NetworkManager keyfiles.
    NetworkManager,
    /// ifcfg files of initscripts, or of NetworkManager's ifcfg-rh plugin.
    Ifcfg,
    /// netplan YAML.
    Netplan,
    /// systemd-networkd files.
    Networkd,
    /// Debian's /etc/network/interfaces.
    Ifupdown,
    /// SUSE's wicked.
    Wicked,
}

impl Backend {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::NetworkManager,
        Self::Ifcfg,
        Self::Netplan,
        Self::Networkd,
        Self::Ifupdown,
        Self::Wicked,
    ];

    /// The word of the document.
    pub const fn word(self) -> &'static str {
        match self {
            Self::NetworkManager => "networkmanager",
            Self::Ifcfg => "ifcfg",
            Self::Netplan => "netplan",
            Self::Networkd => "networkd",
            Self::Ifupdown => "ifupdown",
            Self::Wicked => "wicked",
        }
    }
}

impl std::fmt::Display for Backend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

/// Who reads ifcfg files on a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfcfgReader {
    /// initscripts' network.service (EL 7).
    Initscripts,
    /// NetworkManager's ifcfg-rh plugin (EL 8, EL 9).
    NetworkManager,
    /// Nobody: ifcfg files are not read.
    Nobody,
}

/// How the opensm package of a distribution is told on which ports to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceSettings {
    /// `/etc/default/opensm`: `PORTS="0x… 0x…"`; a systemd EnvironmentFile, no shell (Debian, Ubuntu).
    Ports,
    /// `/etc/sysconfig/opensm`: `GUIDS="0x… 0x…"` and `PRIORITY=`; sourced by the launch script (EL, SLES).
    Guids,
}

/// opensm as a distribution packages it.
#[derive(Clone, Copy, Debug)]
pub struct OpensmRow {
    /// Main configuration file.
    pub conf: &'static str,
    /// Partitions file.
    pub partitions: &'static str,
    /// File and kind of the service settings.
    pub settings: (&'static str, ServiceSettings),
    /// Unit to enable.
    pub unit: &'static str,
    /// `WantedBy=` of the packaged unit.
    pub wanted_by: &'static str,
    /// Installing the package enables and starts it on every port.
    pub starts_on_install: bool,
    /// opensm.conf is shipped as a full template.
    pub conf_shipped: bool,
    /// Per-instance unit, `%s` for the port GUID; `None`: the launch script starts them itself.
    pub instance_unit: Option<&'static str>,
    /// Per-instance configuration files, `/etc/rdma/opensm.conf.1` and on; `None`: one file for all instances.
    pub numbered_conf: Option<&'static str>,
}

/// What a package is for; each row maps it to its names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The subnet manager.
    Opensm,
    /// udev rules, module lists.
    RdmaCore,
    /// ibstat, sminfo, iblinkinfo.
    Diagnostics,
    /// ifupdown's bonding hooks; nothing elsewhere.
    IfupdownBonding,
}

/// One distribution line.
#[derive(Debug)]
pub struct Row {
    /// For people: `EL 9`, `Debian 12`.
    pub name: &'static str,
    /// `ID` values of os-release.
    pub ids: &'static [&'static str],
    /// `ID_LIKE` words by which an unknown `ID` is taken for this line, where its version is one of the line's: only lines
    /// whose rebuilds keep the numbers.
    pub rebuilds: &'static [&'static str],
    /// Versions: a major (`9` matches `9` and `9.4`) or a full version (`22.04`).
    pub versions: &'static [&'static str],
    /// Package manager.
    pub packages: PackageManager,
    /// systemd version of the release (the oldest of its minors).
    pub systemd: u16,
    /// NetworkManager version, major and minor; `None`: not shipped.
    pub networkmanager: Option<(u16, u16)>,
    /// netplan version, major and minor times 1 (0.106 is `(0, 106)`); `None`: not shipped.
    pub netplan: Option<(u16, u16)>,
    /// Back ends that the distribution has, its own first.
    pub backends: &'static [Backend],
    /// Who reads ifcfg files.
    pub ifcfg: IfcfgReader,
    /// Where units of packages lie.
    pub unit_folder: &'static str,
    /// opensm.
    pub opensm: OpensmRow,
    /// Package names.
    pub names: &'static [(Purpose, &'static [&'static str])],
    /// /etc/sysctl.conf is read at boot.
    pub sysctl_conf_at_boot: bool,
    /// udev gives IPoIB links predictable names (systemd >= 240).
    pub predictable_names: bool,
    /// udev renames RDMA devices (rdma-core; EL patches it off).
    pub renames_rdma: bool,
}

impl Row {
    /// The row of an os-release; `None` when the distribution or its version is not in the table.
    pub fn find(id: &str, version: &str) -> Option<&'static Self> {
        ROWS.iter()
            .find(|row| row.ids.contains(&id) && row.has_version(version))
    }

    /// The row that a rebuild follows, by `ID_LIKE` of os-release. Never for an `ID` that the table knows.
    pub fn find_rebuild(id: &str, like: &[String], version: &str) -> Option<&'static Self> {
        if ROWS.iter().any(|row| row.ids.contains(&id)) {
            return None;
        }
        let follows = |row: &&Self| like.iter().any(|l| row.rebuilds.contains(&l.as_str()));
        ROWS.iter().find(|row| follows(row) && row.has_version(version))
    }

    fn has_version(&self, version: &str) -> bool {
        self.versions
            .iter()
            .any(|v| version == *v || version.strip_prefix(v).is_some_and(|rest| rest.starts_with('.')))
    }

    /// The packages for a purpose; empty when nothing has to be installed for it here.
    pub fn packages_for(&self, purpose: Purpose) -> &'static [&'static str] {
        self.names
            .iter()
            .find(|(p, _)| *p == purpose)
            .map_or(&[], |(_, names)| names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::HostPath;

    #[test]
    fn finds_rebuilds_and_minors() {
        for (id, version, name) in [
            ("rocky", "9.4", "EL 9"),
            ("almalinux", "8.10", "EL 8"),
            ("centos", "7", "EL 7"),
            ("rhel", "10.1", "EL 10"),
            ("ubuntu", "22.04", "Ubuntu 22.04"),
            ("debian", "12", "Debian 12"),
            ("sles", "15.6", "SLES 15"),
        ] {
            assert_eq!(
                Row::find(id, version).map(|r| r.name),
                Some(name),
                "{id} {version}"
            );
        }
        for (id, version) in [
            ("rocky", "19"),
            ("rocky", "99"),
            ("debian", "1"),
            ("ubuntu", "22.10"),
            ("arch", ""),
            ("debian", ""),
        ] {
            assert!(Row::find(id, version).is_none(), "{id} {version}");
        }
    }

    #[test]
    fn rows_are_sound() {
        for row in ROWS {
            for path in [
                row.opensm.conf,
                row.opensm.partitions,
                row.opensm.settings.0,
                row.unit_folder,
            ] {
                assert!(HostPath::new(path).is_some(), "{}: {path}", row.name);
            }
            assert!(
                !row.backends.is_empty() && !row.packages_for(Purpose::Opensm).is_empty(),
                "{}",
                row.name
            );
            for other in ROWS.iter().filter(|o| o.name != row.name) {
                let clash = row.ids.iter().any(|i| other.ids.contains(i))
                    && row.versions.iter().any(|v| other.versions.contains(v));
                assert!(!clash, "{} and {} match the same host", row.name, other.name);
            }
        }
    }
}
