//! Where opensm's files lie and how its service is told on which ports to run, for each kind of packaging.
//!
//! - EL and SLES: one `opensm.service` whose launch script loops one opensm for each of `GUIDS` (adding
//!   `--subnet_prefix 0xfe800000000000NN` by position, and `-p PRIORITY`), else for each `/etc/rdma/opensm.conf.N`, else one
//!   with the default file. The command line beats opensm.conf, so `GUIDS` and `PRIORITY` are kept empty here and opensm.conf
//!   is the only word; several instances are numbered files.
//! - Debian and Ubuntu: a oneshot `opensm.service` starts `opensm@GUID.service` for each of `PORTS`, with `--guid` and
//!   `--log_file`, all with the same opensm.conf. Several instances get a file each by a drop-in for their unit.
//! - MLNX_OFED and DOCA: `opensmd`, one opensm, /etc/opensm/opensm.conf.

use super::want::{InstanceWant, SubnetManagerWant};
use crate::distro::{OpensmRow, ServiceSettings};
use crate::types::{Guid, HostPath};

/// The layout on one host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Main configuration file.
    pub conf: HostPath,
    /// Partitions file.
    pub partitions: HostPath,
    /// Service settings.
    pub settings: Option<(HostPath, ServiceSettings)>,
    /// Unit to enable.
    pub unit: &'static str,
    /// What the packaged unit is wanted by.
    pub wanted_by: &'static str,
    /// Unit of an instance, with `%s` for the GUID.
    pub instance_unit: Option<&'static str>,
    /// Start of the names of numbered configuration files.
    pub numbered: Option<&'static str>,
    /// A package of the distribution brings it.
    pub packaged: bool,
}

/// MLNX_OFED's and DOCA's unit, and the init script of older ones.
pub const OVERLAY_UNIT: &str = "opensmd.service";
/// See [`OVERLAY_UNIT`].
pub const OVERLAY_SCRIPT: &str = "/etc/init.d/opensmd";

impl Layout {
    /// Of a distribution's own opensm.
    pub fn of(row: &OpensmRow) -> Option<Self> {
        Some(Self {
            conf: HostPath::new(row.conf)?,
            partitions: HostPath::new(row.partitions)?,
            settings: Some((HostPath::new(row.settings.0)?, row.settings.1)),
            unit: row.unit,
            wanted_by: row.wanted_by,
            instance_unit: row.instance_unit,
            numbered: row.numbered_conf,
            packaged: true,
        })
    }

    /// Of MLNX_OFED or DOCA.
    pub fn overlay() -> Self {
        Self {
            conf: HostPath::fixed("/etc/opensm/opensm.conf"),
            partitions: HostPath::fixed("/etc/opensm/partitions.conf"),
            settings: None,
            unit: OVERLAY_UNIT,
            wanted_by: "multi-user.target",
            instance_unit: None,
            numbered: None,
            packaged: false,
        }
    }

    /// The unit of an instance; `None` where one unit runs them all.
    pub fn instance(&self, guid: Guid) -> Option<String> {
        self.instance_unit
            .map(|pattern| pattern.replace("%s", &guid.to_string()))
    }

    /// The drop-in of an instance's unit.
    pub fn drop_in(&self, guid: Guid) -> Option<HostPath> {
        let unit = self.instance(guid)?;
        HostPath::new(&format!("/etc/systemd/system/{unit}.d/90-ibplan.conf"))
    }

    /// The configuration file of an instance; `many`: there are several.
    pub fn conf_of(&self, position: usize, guid: Guid, many: bool) -> Option<HostPath> {
        if !many {
            return Some(self.conf.clone());
        }
        let path = match (self.numbered, self.instance_unit) {
            (Some(start), _) => format!("{start}{}", position + 1),
            (None, Some(_)) => format!("{}/opensm.{guid}.conf", self.conf.parent()?),
            (None, None) => return None,
        };
        HostPath::new(&path)
    }
}

/// One opensm as wanted.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// Its place in the document.
    pub index: usize,
    /// Its port.
    pub guid: Guid,
    /// Its configuration file.
    pub conf: HostPath,
    /// One of several.
    pub many: bool,
    /// The document's words; all defaults when it has none.
    pub want: InstanceWant,
}

/// The instances with their files. Empty where the layout cannot serve several.
pub fn instances(layout: &Layout, want: &SubnetManagerWant, ports: &[(usize, Guid)]) -> Vec<Instance> {
    let many = ports.len() > 1;
    ports
        .iter()
        .enumerate()
        .filter_map(|(position, (index, guid))| {
            Some(Instance {
                index: *index,
                guid: *guid,
                conf: layout.conf_of(position, *guid, many)?,
                many,
                want: want.instances.get(*index).cloned().unwrap_or(InstanceWant {
                    port: None,
                    priority: None,
                    subnet_prefix: None,
                    options: std::collections::BTreeMap::new(),
                }),
            })
        })
        .collect()
}

/// The drop-in of an instance's unit. `ExecReload=` makes SIGHUP possible, which the packaged unit has not. Where opensm.conf
/// names a log file, or is not the common one, the command line is replaced: it would beat the file.
pub fn drop_in(instance: &Instance) -> String {
    let mut text = String::from(
        "# Written by ibplan from the host document; changes made here by hand are lost.\n[Service]\nExecReload=/bin/kill -HUP $MAINPID\n",
    );
    if instance.many {
        // Two opensm with one cache folder overwrite each other's guid2lid.
        text.push_str("CacheDirectory=opensm/%I\nEnvironment=OSM_CACHE_DIR=/var/cache/opensm/%I/\n");
    }
    if instance.many || instance.want.options.contains_key("log_file") {
        text.push_str("ExecStart=\nExecStart=/usr/sbin/opensm --guid %I --config ");
        text.push_str(instance.conf.as_str());
        text.push('\n');
    }
    text
}
