//! A kernel module: whether this kernel has it, whether it is loaded, and the list that loads it at boot.
//!
//! What a kernel has stands in `modules.dep` and `modules.builtin` below `/lib/modules/RELEASE` (depmod(8), kmod:
//! libkmod). What is loaded stands below `/sys/module`: a loadable module has `initstate` there, a built-in one has a
//! folder only if it has parameters or a version (linux: kernel/params.c, kernel/module/sysfs.c). `-` and `_` are the
//! same in a module's name; names are kept with `_` here.
//!
//! The list is a file of modules-load.d(5), read by systemd-modules-load at boot. ibplan never unloads a module except
//! to take its own loading back.

use crate::action::Action;
use crate::facts::Facts;
use crate::parts::file::{self, KeptFile, SeenFile};
use crate::plan::{Change, Plan, Step};
use crate::pointer::Pointer;
use crate::probe::{Kind, Probe, ProbeError};
use crate::types::HostPath;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The list of the section `modules`.
pub const MODULES_LIST: &str = "/etc/modules-load.d/ibplan.conf";
/// The list of the section `subnet_manager`: opensm needs ib_umad before it starts.
pub const OPENSM_LIST: &str = "/etc/modules-load.d/ibplan-opensm.conf";

/// Where the code of a module is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file below the kernel's module folder, such as `kernel/drivers/infiniband/ulp/ipoib/ib_ipoib.ko.xz`.
    File(String),
    /// Part of the kernel image.
    Builtin,
    /// This kernel does not have it.
    Missing,
    /// Not known: the kernel's release or its `modules.dep` is not there (a bare image).
    Unknown,
}

/// Whether a module is in the kernel that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loaded {
    /// No.
    No,
    /// Loaded from a file, and it could be unloaded.
    Yes,
    /// Part of the kernel image.
    Builtin,
}

/// One module, as a host has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenModule {
    /// Its name, with `_`.
    pub name: String,
    /// Where its code is.
    pub origin: Origin,
    /// Whether it is in the kernel that runs (of an image: as recorded; then it does not count).
    pub loaded: Loaded,
    /// The parameters that it shows below `/sys/module/NAME/parameters`; those with mode 0 in the kernel's source are
    /// not shown. Trimmed text as the kernel prints it.
    pub parameters: BTreeMap<String, String>,
}

impl SeenModule {
    /// Whether it runs now.
    pub const fn running(&self) -> bool {
        !matches!(self.loaded, Loaded::No)
    }

    /// Whether this kernel certainly lacks it. A module that runs is never missing.
    pub fn missing(&self) -> bool {
        self.origin == Origin::Missing && !self.running()
    }

    /// Whether its file comes from outside the kernel package: `updates/` and `extra/` are where vendor stacks, DKMS
    /// and kmod packages put theirs (depmod.d(5), `search`).
    pub fn vendor(&self) -> bool {
        let Origin::File(path) = &self.origin else {
            return false;
        };
        ["updates/", "extra/", "weak-updates/"]
            .iter()
            .any(|lead| path.starts_with(lead))
    }
}

/// The name as the kernel has it: `_` for `-`.
pub fn normal(name: &str) -> String {
    name.replace('-', "_")
}

/// Reads one module; see [`observe_all`].
///
/// # Errors
/// `modules.dep`, `modules.builtin` or `/sys/module` is there and cannot be read.
pub fn observe(probe: &dyn Probe, facts: &Facts, name: &str) -> Result<SeenModule, ProbeError> {
    let mut index = Index::read(probe, facts)?;
    one(probe, &mut index, name)
}

/// Reads several modules; the kernel's lists are read once.
///
/// # Errors
/// As for [`observe`].
pub fn observe_all<'a>(
    probe: &dyn Probe,
    facts: &Facts,
    names: impl IntoIterator<Item = &'a str>,
) -> Result<Vec<SeenModule>, ProbeError> {
    let mut index = Index::read(probe, facts)?;
    names
        .into_iter()
        .map(|name| one(probe, &mut index, name))
        .collect()
}

fn one(probe: &dyn Probe, index: &mut Index, name: &str) -> Result<SeenModule, ProbeError> {
    let name = normal(name);
    let origin = index.origin(&name);
    let bad = |e: crate::types::host_path::BadPath| ProbeError::Read {
        path: HostPath::fixed("/sys/module"),
        reason: e.to_string(),
    };
    let home = HostPath::fixed("/sys/module").join(&name).map_err(bad)?;
    let there = probe.meta(&home)?.is_some_and(|m| m.kind == Kind::Folder);
    let state = probe.attribute(&home.join("initstate").map_err(bad)?);
    let loaded = match (there, state.as_deref()) {
        // A module that is on its way out is not there for whoever needs it (linux: kernel/module/main.c).
        (true, Some("going")) => Loaded::No,
        (true, Some(_)) => Loaded::Yes,
        (true, None) => Loaded::Builtin,
        (false, _) if origin == Origin::Builtin => Loaded::Builtin,
        (false, _) => Loaded::No,
    };
    let mut parameters = BTreeMap::new();
    if there {
        let folder = home.join("parameters").map_err(bad)?;
        for parameter in probe.list(&folder)? {
            if let Some(value) = folder.join(&parameter).ok().and_then(|p| probe.attribute(&p)) {
                parameters.insert(parameter, value);
            }
        }
    }
    Ok(SeenModule {
        name,
        origin,
        loaded,
        parameters,
    })
}

/// What `/lib/modules/RELEASE` lists; `None`: no `modules.dep` there.
struct Index {
    dep: Option<Vec<u8>>,
    builtin: Vec<u8>,
}

impl Index {
    fn read(probe: &dyn Probe, facts: &Facts) -> Result<Self, ProbeError> {
        for base in ["/lib/modules", "/usr/lib/modules"] {
            let folder = facts
                .kernel
                .as_deref()
                .and_then(|release| HostPath::fixed(base).join(release).ok());
            let Some(folder) = folder else { break };
            let file = |name: &str| folder.join(name).ok().map(|p| probe.read(&p)).transpose();
            if let Some(dep) = file("modules.dep")?.flatten() {
                return Ok(Self {
                    dep: Some(dep),
                    builtin: file("modules.builtin")?.flatten().unwrap_or_default(),
                });
            }
        }
        Ok(Self {
            dep: None,
            builtin: Vec::new(),
        })
    }

    fn origin(&self, name: &str) -> Origin {
        let Some(dep) = &self.dep else {
            return Origin::Unknown;
        };
        if let Some(path) = find(dep, name) {
            return Origin::File(path);
        }
        if find(&self.builtin, name).is_some() {
            Origin::Builtin
        } else {
            Origin::Missing
        }
    }
}

/// The path of a module in the lines of `modules.dep` or `modules.builtin`.
fn find(lines: &[u8], name: &str) -> Option<String> {
    lines.split(|b| *b == b'\n').find_map(|line| {
        let path = line.split(|b| *b == b':').next()?;
        let base = path.rsplit(|b| *b == b'/').next()?;
        let rest = base.get(name.len()..)?;
        let same = base
            .iter()
            .zip(name.bytes())
            .all(|(a, b)| *a == b || (*a == b'-' && b == b'_'));
        (same && (rest == b".ko" || rest.starts_with(b".ko.")))
            .then(|| String::from_utf8_lossy(path).into_owned())
    })
}

/// The modules that a list file names (modules-load.d(5): a name a line, `#` and `;` begin comments).
pub fn listed(list: &SeenFile) -> BTreeSet<String> {
    list.text()
        .unwrap_or_default()
        .lines()
        .map(str::trim)
        .filter(|l| !l.is_empty() && !l.starts_with(['#', ';']))
        .map(normal)
        .collect()
}

/// Reads a list file: [`MODULES_LIST`] or [`OPENSM_LIST`].
///
/// # Errors
/// It is there and cannot be read.
pub fn observe_list(probe: &dyn Probe, list: &'static str) -> Result<SeenFile, ProbeError> {
    file::observe(probe, &HostPath::fixed(list))
}

/// Plans that modules are loaded at boot (by `list`, which then names these and no others) and, on a live host, now.
///
/// Each module has one change, at its pointer, with `{"at_boot": …, "loaded": …}` (in an image only `at_boot`); one that
/// leaves the list has one at the section. The
/// caller has refused modules that are [`missing`](SeenModule::missing). No module at all: the list is neither claimed
/// nor written, so that prune gives it back.
pub fn keep_loaded(
    plan: &mut Plan,
    facts: &Facts,
    section: &'static str,
    list: &SeenFile,
    modules: &[(&SeenModule, Pointer)],
) {
    let Some((_, first)) = modules.first() else {
        return;
    };
    let had = listed(list);
    let mut text = format!(
        "# Written by ibplan for the section {section}; changes made here by hand are lost.\n# Read at boot by systemd-modules-load: modules-load.d(5).\n"
    );
    let mut names = BTreeSet::new();
    let mut because = Vec::new();
    for (module, pointer) in modules {
        names.insert(module.name.clone());
        let at_boot = had.contains(&module.name);
        let now = !facts.scope.live() || module.running();
        if !at_boot {
            because.push(pointer.clone());
        }
        if !(at_boot && now) {
            plan.changes.push(Change::now(
                pointer.clone(),
                named(module, pointer, side(facts, at_boot, module.running())),
                named(module, pointer, side(facts, true, true)),
            ));
        }
    }
    let pointer = Pointer::of(first.section());
    for name in had.difference(&names) {
        let at_boot = |is: bool| json!({ name.as_str(): { "at_boot": is } });
        plan.changes
            .push(Change::now(pointer.clone(), at_boot(true), at_boot(false)));
        because.push(pointer.clone());
    }
    for name in &names {
        text.push_str(name);
        text.push('\n');
    }
    file::keep(plan, list, KeptFile::own(section, text, pointer, because));
    for (module, pointer) in modules {
        load_now(plan, facts, section, module, std::slice::from_ref(pointer));
    }
}

/// Names the module where its pointer does not: opensm's ib_umad has no place of its own in the document.
fn named(module: &SeenModule, pointer: &Pointer, side: Value) -> Value {
    if *pointer == Pointer::of(pointer.section()) {
        json!({ module.name.as_str(): side })
    } else {
        side
    }
}

fn side(facts: &Facts, at_boot: bool, loaded: bool) -> Value {
    if facts.scope.live() {
        json!({ "at_boot": at_boot, "loaded": loaded })
    } else {
        json!({ "at_boot": at_boot })
    }
}

/// Plans that a module is loaded now, with an undo that unloads it again if nothing uses it by then. Nothing is planned
/// when it runs already or when the host is an image.
pub fn load_now(
    plan: &mut Plan,
    facts: &Facts,
    section: &'static str,
    module: &SeenModule,
    because: &[Pointer],
) {
    if !facts.scope.live() || module.running() {
        return;
    }
    plan.steps.push(Step {
        section: section.to_owned(),
        action: Action::LoadModule {
            name: module.name.clone(),
        },
        undo: Some(Action::UnloadModule {
            name: module.name.clone(),
        }),
        because: because.to_vec(),
        disturbs: Vec::new(),
    });
}

#[cfg(test)]
mod tests;
