//! A set of packages: which are installed, and what installing the others would do.
//!
//! Nothing is ever removed for the sake of an installation: apt does it without a question (`apt-get -y` exits 0), so the
//! package manager's own simulation is read first, and an installation that removes something is refused.

use crate::action::Action;
use crate::codes;
use crate::distro::PackageManager;
use crate::facts::Facts;
use crate::plan::{Plan, Step};
use crate::pointer::Pointer;
use crate::probe::{Probe, ProbeError, Query};
use crate::types::HostPath;
use std::collections::BTreeSet;

/// Where dpkg keeps what is installed.
const DPKG: &str = "/var/lib/dpkg/status";

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenPackages {
    /// Wanted and not installed, in the order asked for.
    pub missing: Vec<String>,
    /// No package database is there, so what is missing is not known to be missing.
    pub unknown: bool,
    /// Packages can be installed here.
    pub usable: bool,
    /// What the simulation said, where something is missing and could be installed.
    pub simulation: Simulation,
}

/// What installing would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Simulation {
    /// Packages that it would remove.
    pub removes: Vec<String>,
    /// Why it would fail.
    pub fails: Option<String>,
}

/// Which of these packages are installed, and what installing the others would do.
///
/// # Errors
/// The package database is there and cannot be read.
pub fn observe(probe: &dyn Probe, facts: &Facts, names: &[&str]) -> Result<SeenPackages, ProbeError> {
    let installed = installed(probe, facts, names)?;
    let missing: Vec<String> = names
        .iter()
        .filter(|n| !installed.contains(**n))
        .map(|n| (*n).to_owned())
        .collect();
    let usable = facts.packages.usable;
    let simulation = match facts.packages.manager {
        Some(manager) if usable && !missing.is_empty() => {
            match probe.query(&Query::SimulateInstall(missing.clone()))? {
                Some(output) => read_simulation(
                    manager,
                    output.status,
                    &format!("{}\n{}", output.stdout, output.stderr),
                ),
                None => Simulation::default(),
            }
        }
        _ => Simulation::default(),
    };
    Ok(SeenPackages {
        missing,
        unknown: !facts.packages.database,
        usable,
        simulation,
    })
}

fn installed(probe: &dyn Probe, facts: &Facts, names: &[&str]) -> Result<BTreeSet<String>, ProbeError> {
    match facts.packages.manager {
        Some(PackageManager::Apt) => {
            let status = probe.text(&HostPath::fixed(DPKG))?.unwrap_or_default();
            Ok(dpkg_installed(&status, names))
        }
        Some(PackageManager::Dnf | PackageManager::Zypper) if facts.packages.database => {
            let asked: Vec<String> = names.iter().map(|n| (*n).to_owned()).collect();
            let answer = probe.query(&Query::RpmPackages(asked))?;
            let stdout = answer.map(|o| o.stdout).unwrap_or_default();
            Ok(stdout
                .lines()
                .filter_map(|l| l.split_once('\t').map(|(name, _)| name.to_owned()))
                .collect())
        }
        _ => Ok(BTreeSet::new()),
    }
}

/// Those of `names` whose stanza in dpkg's status file says that they are installed (dpkg-query(1): the third word of
/// `Status`; a removed package whose configuration files are left has a stanza too).
fn dpkg_installed(status: &str, names: &[&str]) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    let mut name = None;
    for line in status.lines() {
        if line.is_empty() {
            name = None;
        } else if let Some(package) = line.strip_prefix("Package:") {
            name = names.iter().find(|n| **n == package.trim());
        } else if let (Some(package), Some(state)) = (name, line.strip_prefix("Status:"))
            && state.split_whitespace().nth(2) == Some("installed")
        {
            out.insert((*package).to_owned());
        }
    }
    out
}

/// Reads a simulation of `apt-get -s`, `dnf --assumeno` or `zypper --dry-run`.
fn read_simulation(manager: PackageManager, status: Option<i32>, text: &str) -> Simulation {
    let removes = match manager {
        PackageManager::Apt => text
            .lines()
            .filter_map(|l| l.strip_prefix("Remv ")?.split_whitespace().next())
            .map(str::to_owned)
            .collect(),
        // A table: heading lines end with ':', rows begin with one blank, a blank line ends a part.
        PackageManager::Dnf => table(
            text,
            |l| l.starts_with("Removing") && l.ends_with(':'),
            |l| l.split_whitespace().next().into_iter().collect(),
        ),
        PackageManager::Zypper => table(
            text,
            |l| l.contains("going to be REMOVED:"),
            |l| l.split_whitespace().collect(),
        ),
    };
    const FAILURES: &[&str] = &[
        "E: ",
        "Error:",
        "No match for argument",
        "Unable to find a match",
        "No provider of",
        "not found in package names",
    ];
    let first = text.lines().map(str::trim).find(|l| {
        FAILURES
            .iter()
            .any(|f| l.starts_with(f) || (!f.ends_with(' ') && l.contains(f)))
    });
    // dnf --assumeno ends with 1 and "Operation aborted." when all is well.
    let aborted = text.contains("Operation aborted.");
    let failed = status != Some(0) && !aborted;
    let fails = failed.then(|| {
        first
            .or_else(|| text.lines().map(str::trim).find(|l| !l.is_empty()))
            .unwrap_or("the simulation failed and gave no reason")
            .to_owned()
    });
    Simulation { removes, fails }
}

/// The names in the rows below a heading: indented lines up to one that is not.
fn table<'a>(
    text: &'a str,
    heading: impl Fn(&str) -> bool,
    names: impl Fn(&'a str) -> Vec<&'a str>,
) -> Vec<String> {
    let mut inside = false;
    let mut out = Vec::new();
    for line in text.lines() {
        if heading(line.trim_end()) {
            inside = true;
        } else if inside && line.starts_with([' ', '\t']) && !line.trim().is_empty() {
            out.extend(names(line).into_iter().map(str::to_owned));
        } else {
            inside = false;
        }
    }
    out
}

/// Plans that the packages are installed; the caller names the change. Where they cannot be, they are pending, and that
/// is a warning and never a change. Returns whether a step installs them.
pub fn keep(plan: &mut Plan, seen: &SeenPackages, section: &str, at: &Pointer, because: &[Pointer]) -> bool {
    if seen.missing.is_empty() {
        return false;
    }
    let list = seen.missing.join(", ");
    if !seen.usable {
        plan.pending.packages.extend(seen.missing.iter().cloned());
        let message = if seen.unknown {
            format!("whether {list} is installed cannot be told: there is no package database")
        } else {
            format!("{list} is not installed, and nothing here can install it")
        };
        plan.warnings.push(codes::HOST_NO_PACKAGE_MANAGER.at(
            at.clone(),
            message,
            "install it when the image is built; it is listed under pending.packages",
        ));
        return false;
    }
    if let Some(reason) = &seen.simulation.fails {
        plan.errors.push(codes::HOST_PACKAGE_UNAVAILABLE.at(
            at.clone(),
            format!("{list} cannot be installed: {reason}"),
            "see that a repository with the package is configured and reachable, or install it by hand, and run again",
        ));
        return false;
    }
    if !seen.simulation.removes.is_empty() {
        plan.errors.push(codes::HOST_COLLATERAL.at(
            at.clone(),
            format!(
                "installing {list} would remove {}",
                seen.simulation.removes.join(", ")
            ),
            "resolve the conflict by hand: remove or replace those packages, or install the wanted one from the source that fits them",
        ));
        return false;
    }
    plan.steps.push(Step {
        section: section.to_owned(),
        action: Action::InstallPackages {
            names: seen.missing.clone(),
        },
        undo: Some(Action::RemovePackages {
            names: seen.missing.clone(),
        }),
        because: because.to_vec(),
        disturbs: Vec::new(),
    });
    true
}

#[cfg(test)]
mod tests;
