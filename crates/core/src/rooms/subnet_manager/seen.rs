//! What a host says of its subnet manager.

use super::ports;
use super::service::{self, Instance, Layout, OVERLAY_SCRIPT, OVERLAY_UNIT};
use super::settings::Settings;
use super::want::{SmState, SubnetManagerWant};
use crate::distro::{Purpose, Row, ServiceSettings};
use crate::facts::Facts;
use crate::parts::file::{self, Present, SeenFile};
use crate::parts::kmod::{self, SeenModule};
use crate::parts::packages::{self, SeenPackages};
use crate::parts::prune;
use crate::parts::unit::{self, LiveUnit, SeenUnit};
use crate::plan::Plan;
use crate::pointer::Pointer;
use crate::probe::{Probe, ProbeError};
use crate::problem::Findings;
use crate::types::{Guid, HostPath};
use std::collections::{BTreeMap, BTreeSet};

/// The kernel module through which opensm sends management packets.
pub const UMAD: &str = "ib_umad";

/// What was found.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Where things are here.
    pub layout: Layout,
    /// The instances that the document comes to on this host.
    pub instances: Vec<Instance>,
    /// More were asked for than the service can start.
    pub too_many: bool,
    /// The package of opensm.
    pub packages: SeenPackages,
    /// The configuration file of each instance, in their order.
    pub confs: Vec<SeenFile>,
    /// Numbered configuration files for which the launch script would start an opensm that the document does not have.
    pub strays: Vec<SeenFile>,
    /// The partitions file.
    pub partitions: SeenFile,
    /// The service settings.
    pub settings: Option<SeenFile>,
    /// The drop-in of each instance's unit, in their order; empty where instances have no units.
    pub drop_ins: Vec<SeenFile>,
    /// The unit that is enabled.
    pub unit: SeenUnit,
    /// Units of instances that the present settings start.
    pub present: BTreeSet<String>,
    /// What systemd says; `None`: not asked, or no answer.
    pub live: Option<BTreeMap<String, LiveUnit>>,
    /// ib_umad.
    pub module: SeenModule,
    /// The list that loads it at boot.
    pub list: SeenFile,
    /// For the state absent: what gives everything back.
    pub given_back: Plan,
}

/// Which packaging is on the host.
///
/// # Errors
/// Unit folders cannot be searched.
fn layout(row: &Row, probe: &dyn Probe) -> Result<Layout, ProbeError> {
    let overlay = unit::exists(probe, OVERLAY_UNIT)? || probe.exists(&HostPath::fixed(OVERLAY_SCRIPT))?;
    let own = Layout::of(&row.opensm);
    match own {
        Some(own) if !overlay || unit::exists(probe, own.unit)? => Ok(own),
        _ => Ok(Layout::overlay()),
    }
}

/// Reads all of it; `None` where the distribution is not known.
///
/// # Errors
/// Something is there and cannot be read.
pub fn observe(
    want: &SubnetManagerWant,
    facts: &Facts,
    probe: &dyn Probe,
) -> Result<Option<Seen>, ProbeError> {
    let Some(row) = facts.row() else {
        return Ok(None);
    };
    let layout = layout(row, probe)?;
    let ports = ports::resolve(want, facts, &mut Findings::default());
    let instances = service::instances(&layout, want, &ports);
    let names = if layout.packaged {
        row.packages_for(Purpose::Opensm)
    } else {
        &[]
    };
    let each = |path: Option<HostPath>| path.map(|p| file::observe(probe, &p)).transpose();
    let mut confs = Vec::new();
    let mut drop_ins = Vec::new();
    for instance in &instances {
        confs.push(file::observe(probe, &instance.conf)?);
        drop_ins.extend(each(layout.drop_in(instance.guid))?);
    }
    let settings = each(layout.settings.as_ref().map(|(path, _)| path.clone()))?;
    let unit = unit::observe(probe, facts, layout.unit, row.unit_folder, layout.wanted_by)?;
    let present = present(&layout, settings.as_ref(), facts);
    let asked: BTreeSet<String> = instances
        .iter()
        .filter_map(|i| layout.instance(i.guid))
        .chain(present.iter().cloned())
        .chain([layout.unit.to_owned()])
        .collect();
    let live = if unit::reachable(facts) {
        unit::live(probe, &asked.into_iter().collect::<Vec<_>>())?
    } else {
        None
    };
    let mut packages = SeenPackages::default();
    if want.state == SmState::Running {
        packages = packages::observe(probe, facts, names)?;
    }
    // Where no database can tell, the unit file does: it comes with the package.
    if packages.unknown && unit.file.is_some() {
        packages.missing.clear();
    }
    Ok(Some(Seen {
        too_many: instances.len() < ports.len(),
        packages,
        confs,
        strays: strays(&layout, &instances, want, probe)?,
        partitions: file::observe(probe, &layout.partitions)?,
        settings,
        drop_ins,
        present,
        live,
        module: kmod::observe(probe, facts, UMAD)?,
        list: kmod::observe_list(probe, kmod::OPENSM_LIST)?,
        given_back: if want.state == SmState::Absent {
            give_back(&unit, facts, probe)?
        } else {
            Plan::default()
        },
        unit,
        instances,
        layout,
    }))
}

/// Units of the instances that the present settings start; `ALL` is every port, Ethernet ones too (`ibstat -p`).
fn present(layout: &Layout, settings: Option<&SeenFile>, facts: &Facts) -> BTreeSet<String> {
    let Some((_, ServiceSettings::Ports)) = layout.settings else {
        return BTreeSet::new();
    };
    let bytes = settings.and_then(|s| match &s.present {
        Present::File { bytes, .. } => Some(bytes.as_slice()),
        _ => None,
    });
    let ports = Settings::read(bytes).get("PORTS").unwrap_or_default();
    let guids: Vec<Guid> = if ports == "ALL" {
        facts.ports().filter_map(|(_, p)| p.guid).collect()
    } else {
        ports
            .split_whitespace()
            .filter_map(|w| Guid::parse(w).ok())
            .collect()
    };
    guids.into_iter().filter_map(|g| layout.instance(g)).collect()
}

/// Numbered files that are not ours to have: the launch script starts one opensm for each.
fn strays(
    layout: &Layout,
    instances: &[Instance],
    want: &SubnetManagerWant,
    probe: &dyn Probe,
) -> Result<Vec<SeenFile>, ProbeError> {
    let start = layout.numbered.and_then(|s| {
        let (folder, name) = s.rsplit_once('/')?;
        Some((HostPath::new(folder)?, name))
    });
    let (Some((folder, name)), false) = (start, want.state == SmState::Absent) else {
        return Ok(Vec::new());
    };
    let mut out = Vec::new();
    for entry in probe.list(&folder)? {
        let numbered = entry
            .strip_prefix(name)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        let Ok(path) = folder.join(&entry) else { continue };
        if numbered && !instances.iter().any(|i| i.conf == path) {
            out.push(file::observe(probe, &path)?);
        }
    }
    Ok(out)
}

/// Everything that the ledger has for this room, except the links that enable the unit: absent means not enabled, also
/// where it was enabled before ibplan came.
fn give_back(unit: &SeenUnit, facts: &Facts, probe: &dyn Probe) -> Result<Plan, ProbeError> {
    let mut plan = Plan::default();
    let pointer = Pointer::of("subnet_manager").key("state");
    for (path, owned) in &facts.ledger.files {
        if owned.section == "subnet_manager" && !unit.is_link(path) {
            prune::give_back(&mut plan, path, owned, &pointer, probe)?;
        }
    }
    Ok(plan)
}
