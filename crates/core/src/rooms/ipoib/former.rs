//! Files that ibplan wrote for another back end, for links that are still wanted.
//!
//! Where the document names another back end than before, the old files would make the links have two owners: they are given
//! back with the change, with or without prune.

use super::backend::{Files, dialect, ifcfg};
use super::seen::Seen;
use crate::distro::Backend;
use crate::facts::Facts;
use crate::parts::prune::give_back;
use crate::plan::Plan;
use crate::pointer::Pointer;
use crate::probe::{Probe, ProbeError};
use crate::types::HostPath;

/// Plans that they are given back.
///
/// # Errors
/// A file that must be known cannot be read.
pub fn plan(
    seen: &Seen,
    backend: Backend,
    managed: &[&str],
    facts: &Facts,
    probe: &dyn Probe,
) -> Result<Plan, ProbeError> {
    let mut plan = Plan::default();
    for (path, owned) in &facts.ledger.files {
        let settled = seen.at.contains_key(path) || seen.away.iter().any(|(away, _)| away == path);
        if settled || !managed.contains(&owned.section.as_str()) || !probe.exists(path)? {
            continue;
        }
        let text = probe.text(path)?.unwrap_or_default();
        if let Some(at) = of_another(seen, backend, path, text) {
            give_back(&mut plan, path, owned, &at, probe)?;
        }
    }
    Ok(plan)
}

/// Whether ibplan has a file of this back end for the link.
pub fn has(facts: &Facts, backend: Backend, link: &str) -> bool {
    facts.ledger.files.keys().any(|path| {
        let names = path.name().contains(link) || path.name() == "90-ibplan.yaml";
        in_folders(backend, path) && names
    })
}

fn in_folders(backend: Backend, path: &HostPath) -> bool {
    let folder = path.parent();
    dialect(backend)
        .folders()
        .iter()
        .any(|f| *f == path.as_str() || folder.as_ref().is_some_and(|p| p.as_str() == *f))
}

/// The place of the wanted link that the file is about, if the present back end does not read the file.
fn of_another(seen: &Seen, backend: Backend, path: &HostPath, text: String) -> Option<Pointer> {
    let at = |name: &str| {
        seen.links
            .iter()
            .find(|w| w.link.name == name)
            .map(|w| w.at.clone())
    };
    if backend != Backend::Ifcfg
        && let Some(at) = ifcfg::read::route_of(path).and_then(at)
    {
        return Some(at);
    }
    // Beside its own files netplan has some for networkd; what networkd had as a back end is not among them.
    let native = backend == Backend::Netplan && in_folders(Backend::Networkd, path);
    if seen.files.contains_key(path) && !native {
        return None;
    }
    let at = |name: &str| {
        seen.links
            .iter()
            .find(|w| w.link.name == name)
            .map(|w| w.at.clone())
    };
    let beside = seen.links.iter().find(|w| {
        let name = &w.link.name;
        *path.as_str() == format!("/etc/udev/rules.d/70-ibplan-{name}-mode.rules")
            || *path.as_str() == format!("/etc/systemd/network/10-netplan-{name}.network.d/60-ibplan.conf")
    });
    if let Some(wanted) = beside {
        return Some(wanted.at.clone());
    }
    let files = Files::from([(path.clone(), text)]);
    let others = Backend::ALL
        .into_iter()
        .filter(|b| *b != backend && in_folders(*b, path));
    others.into_iter().find_map(|other| {
        let links = dialect(other).read(&files);
        let wanted: Option<Vec<Pointer>> = links.iter().map(|(_, link)| at(&link.name)).collect();
        wanted?.into_iter().next()
    })
}
