//! A systemd unit: enabled or not by the links below /etc/systemd/system, and what it does now.
//!
//! Enablement is read and written as links, without `systemctl`: the same code serves a running host and an image, the
//! undo is exact, and nothing is run (docs/decisions/0001-unit-enablement-by-links.md). Source: systemd.unit(5),
//! systemctl(1) "enable".

use crate::action::{Action, UnitDo};
use crate::facts::{Facts, Init, Scope};
use crate::parts::file::{self, Present, SeenFile};
use crate::plan::{Claim, Disturbance, Plan, Step};
use crate::pointer::Pointer;
use crate::probe::{Probe, ProbeError, Query};
use crate::types::HostPath;
use std::collections::{BTreeMap, BTreeSet};

/// Where the administrator's units and all enablement links lie.
const ETC: &str = "/etc/systemd/system";
/// Where units lie, the first that has one wins (systemd.unit(5), "Unit File Load Path").
const FOLDERS: &[&str] = &[
    ETC,
    "/run/systemd/system",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
];

/// A unit as its files and links say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenUnit {
    /// Name, with suffix.
    pub name: String,
    /// The unit file; `None` when the package is not there yet.
    pub file: Option<HostPath>,
    /// A link to /dev/null stands in for the unit: it cannot be started.
    pub masked: bool,
    /// The unit has `ExecReload=`.
    pub reloads: bool,
    /// Links that enable it now.
    pub links: Vec<SeenFile>,
    /// Where links have to be, and their text, so that it is enabled.
    spots: Vec<(SeenFile, String)>,
    /// Spots and links that the ledger has.
    owned: BTreeSet<HostPath>,
}

impl SeenUnit {
    /// Whether the boot starts it: one link below a `.wants` or `.requires` folder is enough, as for `systemctl is-enabled`.
    pub fn enabled(&self) -> bool {
        !self.masked && !self.links.is_empty()
    }

    /// Whether a path is one of the links that enable it, or where one would be.
    pub fn is_link(&self, path: &HostPath) -> bool {
        self.links
            .iter()
            .chain(self.spots.iter().map(|(s, _)| s))
            .any(|l| l.path == *path)
    }
}

/// What systemd says of a unit now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LiveUnit {
    /// `LoadState`: loaded, not-found, masked.
    pub load: String,
    /// `ActiveState`: active, inactive, failed, activating.
    pub active: String,
}

impl LiveUnit {
    /// Running, or on its way there.
    pub fn is_active(&self) -> bool {
        matches!(self.active.as_str(), "active" | "activating" | "reloading")
    }
}

/// The file name of a unit: that of its template for an instance.
fn file_name(unit: &str) -> String {
    match (unit.find('@'), unit.rfind('.')) {
        (Some(at), Some(dot)) if at < dot => format!("{}@{}", &unit[..at], &unit[dot..]),
        _ => unit.to_owned(),
    }
}

/// The unit file that systemd would load; a link to /dev/null is `masked`.
///
/// # Errors
/// A folder is there and cannot be searched.
fn find(probe: &dyn Probe, unit: &str) -> Result<(Option<HostPath>, bool), ProbeError> {
    let name = file_name(unit);
    for folder in FOLDERS {
        let Ok(path) = HostPath::fixed(folder).join(&name) else {
            continue;
        };
        if probe.link(&path)?.is_some_and(|target| target == "/dev/null") {
            return Ok((None, true));
        }
        if probe.exists(&path)? {
            return Ok((Some(path), false));
        }
    }
    Ok((None, false))
}

/// Whether a unit file is there (masked counts as there).
///
/// # Errors
/// As for [`observe`].
pub fn exists(probe: &dyn Probe, unit: &str) -> Result<bool, ProbeError> {
    let (file, masked) = find(probe, unit)?;
    Ok(file.is_some() || masked)
}

/// Words of a key of a unit file's section, over all its lines; an empty assignment clears (systemd.syntax(7)).
pub fn words(text: &str, section: &str, key: &str) -> Vec<String> {
    let mut here = false;
    let mut out = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            here = name == section;
        } else if here
            && !line.starts_with(['#', ';'])
            && let Some((k, v)) = line.split_once('=')
            && k.trim() == key
        {
            if v.trim().is_empty() {
                out.clear();
            }
            out.extend(v.split_whitespace().map(str::to_owned));
        }
    }
    out
}

/// Reads a unit: its file, whether it is masked, and the links that enable it.
///
/// `folder` and `wanted_by` are what the distribution's package would bring; they count where the unit file is not there.
///
/// # Errors
/// A file or folder is there and cannot be read.
pub fn observe(
    probe: &dyn Probe,
    facts: &Facts,
    unit: &str,
    folder: &str,
    wanted_by: &str,
) -> Result<SeenUnit, ProbeError> {
    let (file, masked) = find(probe, unit)?;
    let text = match &file {
        Some(path) => probe.text(path)?.unwrap_or_default(),
        None => format!("[Install]\nWantedBy={wanted_by}\n"),
    };
    let target = match &file {
        Some(path) => path.to_string(),
        None => format!("{folder}/{}", file_name(unit)),
    };
    let mut spots = Vec::new();
    for path in places(&text, unit) {
        spots.push((file::observe(probe, &path)?, target.clone()));
    }
    let links = enabling(probe, unit)?;
    let owned = spots
        .iter()
        .map(|(s, _)| &s.path)
        .chain(links.iter().map(|l| &l.path))
        .filter(|p| facts.ledger.files.contains_key(*p))
        .cloned()
        .collect();
    Ok(SeenUnit {
        name: unit.to_owned(),
        file,
        masked,
        reloads: !words(&text, "Service", "ExecReload").is_empty(),
        links,
        spots,
        owned,
    })
}

/// The paths of the links that `systemctl enable` makes for an `[Install]` section.
fn places(text: &str, unit: &str) -> Vec<HostPath> {
    let below = |key: &str, suffix: &str| {
        words(text, "Install", key)
            .into_iter()
            .map(move |target| format!("{ETC}/{target}.{suffix}/{unit}"))
            .collect::<Vec<_>>()
    };
    let mut all = below("WantedBy", "wants");
    all.extend(below("RequiredBy", "requires"));
    all.extend(
        words(text, "Install", "Alias")
            .into_iter()
            .map(|alias| format!("{ETC}/{alias}")),
    );
    all.iter().filter_map(|path| HostPath::new(path)).collect()
}

/// The links in `.wants` and `.requires` folders that bear the unit's name, or lead to a file of its name: relative and
/// absolute ones, and ones into the other of /lib and /usr/lib, are the same to systemd.
fn enabling(probe: &dyn Probe, unit: &str) -> Result<Vec<SeenFile>, ProbeError> {
    let etc = HostPath::fixed(ETC);
    let mut out = Vec::new();
    for name in probe.list(&etc)? {
        if !(name.ends_with(".wants") || name.ends_with(".requires")) {
            continue;
        }
        let Ok(folder) = etc.join(&name) else { continue };
        for entry in probe.list(&folder)? {
            let Ok(path) = folder.join(&entry) else { continue };
            let leads_here = || -> Result<bool, ProbeError> {
                let target = probe.link(&path)?;
                Ok(target.is_some_and(|t| t.rsplit('/').next() == Some(unit)))
            };
            if entry == unit || leads_here()? {
                out.push(file::observe(probe, &path)?);
            }
        }
    }
    Ok(out)
}

/// Plans that the boot starts the unit. The caller names the change. Does nothing to a masked unit.
pub fn enable(plan: &mut Plan, seen: &SeenUnit, section: &'static str, because: &[Pointer]) {
    if seen.masked {
        return;
    }
    if seen.enabled() {
        for link in &seen.links {
            hold(plan, seen, &link.path, section);
        }
    } else {
        for (spot, target) in &seen.spots {
            file::keep_link(plan, spot, target, section, because);
        }
    }
}

/// Plans that the boot does not start the unit. The caller names the change.
pub fn disable(plan: &mut Plan, seen: &SeenUnit, section: &'static str, because: &[Pointer]) {
    for link in &seen.links {
        file::remove(plan, link, section, because);
    }
    for (spot, _) in &seen.spots {
        if spot.present == Present::Absent {
            hold(plan, seen, &spot.path, section);
        }
    }
}

/// Keeps a path in the ledger that is there already, so that it is not given back while it is still wanted like this.
fn hold(plan: &mut Plan, seen: &SeenUnit, path: &HostPath, section: &str) {
    if seen.owned.contains(path) {
        plan.claims.push(Claim::File {
            path: path.clone(),
            section: section.to_owned(),
            keys: BTreeMap::new(),
        });
    }
}

/// Whether the units of this host can be asked and acted on: a running systemd, or its record.
pub const fn reachable(facts: &Facts) -> bool {
    match facts.scope {
        Scope::Live => matches!(facts.init, Init::Systemd { running: true }),
        Scope::Replay => true,
        Scope::Image => false,
    }
}

/// What systemd says of units, by name, in one query; `None` when it cannot be asked.
///
/// # Errors
/// The query failed.
pub fn live(probe: &dyn Probe, names: &[String]) -> Result<Option<BTreeMap<String, LiveUnit>>, ProbeError> {
    if names.is_empty() {
        return Ok(Some(BTreeMap::new()));
    }
    let Some(output) = probe.query(&Query::Units(names.to_vec()))? else {
        return Ok(None);
    };
    let mut out = BTreeMap::new();
    for block in output.stdout.split("\n\n") {
        let property = |name: &str| {
            block
                .lines()
                .find_map(|l| l.strip_prefix(name)?.strip_prefix('='))
                .map(|v| v.trim().to_owned())
        };
        if let Some(id) = property("Id") {
            let unit = LiveUnit {
                load: property("LoadState").unwrap_or_default(),
                active: property("ActiveState").unwrap_or_default(),
            };
            out.insert(id, unit);
        }
    }
    Ok(Some(out))
}

/// Plans an act on a unit of the running systemd.
///
/// The undo of a start is a stop and the other way round; that of a restart is another one, which whoever takes steps
/// back does after the files are back, so that the unit takes its former configuration again.
pub fn act(
    plan: &mut Plan,
    unit: &str,
    act: UnitDo,
    section: &str,
    because: &[Pointer],
    disturbs: Vec<Disturbance>,
) {
    let undo = match act {
        UnitDo::Start => UnitDo::Stop,
        UnitDo::Stop => UnitDo::Start,
        UnitDo::Restart => UnitDo::Restart,
        UnitDo::Reload => UnitDo::Reload,
    };
    let doing = |act| Action::Unit {
        unit: unit.to_owned(),
        act,
    };
    plan.steps.push(Step {
        section: section.to_owned(),
        action: doing(act),
        undo: Some(doing(undo)),
        because: because.to_vec(),
        disturbs,
    });
}

/// Plans that systemd reads its unit files again. Whoever takes steps back does the same once the files are back.
pub fn reread(plan: &mut Plan, section: &str, because: &[Pointer]) {
    plan.steps.push(Step {
        section: section.to_owned(),
        action: Action::ReloadUnits,
        undo: None,
        because: because.to_vec(),
        disturbs: Vec::new(),
    });
}

#[cfg(test)]
mod tests;
