//! What the host says of the links: the files of their back end, and what ibplan took away before.

use super::backend::{Context, Dialect, Files, dialect};
use super::entry::{Entry, Want, What, entries, wanted_links};
use super::model::{Rendered, WantedLink};
use super::placed::placed;
use super::{choose, former, resolve};
use crate::distro::{Backend, IfcfgReader};
use crate::facts::Facts;
use crate::ledger::{Ledger, Original};
use crate::parts::file::{self, SeenFile};
use crate::plan::Plan;
use crate::probe::{Kind, Probe, ProbeError};
use crate::problem::Problem;
use crate::types::HostPath;
use std::collections::BTreeMap;

/// What is there, with what is to be there.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The wanted links.
    pub links: Vec<WantedLink>,
    /// The back end; `None` where there is nothing to configure, or none can be told (refused elsewhere).
    pub backend: Option<Backend>,
    /// The wanted files.
    pub rendered: Vec<Rendered>,
    /// Why the back end cannot write them.
    pub problems: Vec<Problem>,
    /// The back end's files as they are.
    pub files: Files,
    /// Files of others that configure one of the links.
    pub rivals: Vec<HostPath>,
    /// Every file that is to be written or taken away, as it is.
    pub at: BTreeMap<HostPath, SeenFile>,
    /// Rivals that an earlier run took away and that stay away: path and section.
    pub away: Vec<(HostPath, String)>,
    /// What gives back the files that ibplan wrote for another back end.
    pub former: Plan,
}

/// Reads it all.
///
/// # Errors
/// A file that must be known cannot be read.
pub fn observe(want: &Want, facts: &Facts, probe: &dyn Probe) -> Result<Seen, ProbeError> {
    let resolved = resolve::names(want, facts);
    let all = entries(want, |n, _| resolved.get(n).cloned().flatten());
    let links = wanted_links(want, &all);
    let Ok(backend) = choose::backend(want, &all, facts) else {
        return Ok(Seen::default());
    };
    let language = dialect(backend);
    let mut seen = Seen {
        files: files(language, facts, probe)?,
        backend: Some(backend),
        links,
        ..Seen::default()
    };
    adopt(want, &all, &mut seen, language, facts);
    let ipoib = want.ipoib.as_ref().map(|_| "ipoib");
    let bonds = want.bonds.as_ref().map(|_| "bonds");
    let managed: Vec<&str> = ipoib.into_iter().chain(bonds).collect();
    if let Err(problems) = render(&mut seen, &managed, language, facts, probe) {
        seen.problems = problems?;
        return Ok(seen);
    }
    seen.rivals = language.rivals(&seen.files, &seen.links, &seen.rendered);
    let paths = seen.rendered.iter().map(|r| &r.path).chain(&seen.rivals);
    for path in paths {
        seen.at.insert(path.clone(), file::observe(probe, path)?);
    }
    seen.away = away(&seen, facts, probe)?;
    seen.former = former::plan(&seen, backend, &managed, facts, probe)?;
    Ok(seen)
}

/// What a section that is not managed says of a link of the other one stays: the mode and MTU of a bond's member, and the
/// bond that an interface is a member of.
fn adopt(want: &Want, all: &[Entry<'_>], seen: &mut Seen, language: &dyn Dialect, facts: &Facts) {
    if want.ipoib.is_some() && want.bonds.is_some() {
        return;
    }
    let read = language.read(&seen.files);
    for wanted in &mut seen.links {
        let name = &wanted.link.name;
        let there = read.iter().map(|(_, link)| link).find(|link| link.name == *name);
        let Some(entry) = all.iter().find(|e| e.at == wanted.at) else {
            continue;
        };
        match (entry.what, there) {
            (What::Member, Some(there)) if want.ipoib.is_none() => {
                wanted.link.mode = there.mode.or(wanted.link.mode);
                wanted.link.mtu = there.mtu;
            }
            (What::Interface(_) | What::Child { .. }, _) if entry.ip.fields().is_empty() => {
                let live = facts.ipoib_link(name).and_then(|l| l.bond.clone());
                wanted.link.bond = there.and_then(|l| l.bond.clone()).or(live);
            }
            _ => {}
        }
    }
}

/// Renders; where a wanted file lies outside the back end's folders and is there, once more with its text.
fn render(
    seen: &mut Seen,
    managed: &[&str],
    language: &dyn Dialect,
    facts: &Facts,
    probe: &dyn Probe,
) -> Result<(), Result<Vec<Problem>, ProbeError>> {
    let draw = |files: &Files| {
        let context = Context {
            facts,
            row: facts.row(),
            files,
        };
        language.render_sections(managed, &seen.links, &context)
    };
    let mut rendered = draw(&seen.files).map_err(Ok)?;
    let mut more = Files::new();
    for file in &rendered {
        if !seen.files.contains_key(&file.path)
            && let Some(text) = probe.text(&file.path).map_err(Err)?
        {
            more.insert(file.path.clone(), text);
        }
    }
    if !more.is_empty() {
        let mut files = seen.files.clone();
        files.extend(more);
        rendered = draw(&files).map_err(Ok)?;
        seen.files = files;
    }
    seen.rendered = rendered;
    Ok(())
}

/// The texts of a back end's files.
fn files(language: &dyn Dialect, facts: &Facts, probe: &dyn Probe) -> Result<Files, ProbeError> {
    let mut out = Files::new();
    for folder in language.folders() {
        let dead = facts.row().is_some_and(|r| r.ifcfg == IfcfgReader::Nobody);
        if dead && language.backend() == Backend::NetworkManager && *folder == super::backend::ifcfg::FOLDER {
            continue;
        }
        let Some(folder) = HostPath::new(folder) else {
            continue;
        };
        if probe.meta(&folder)?.is_some_and(|m| m.kind == Kind::File) {
            out.extend(probe.text(&folder)?.map(|text| (folder, text)));
            continue;
        }
        for name in probe.list(&folder)? {
            let Ok(path) = folder.join(&name) else { continue };
            if language.reads(&path)
                && let Some(text) = probe.text(&path)?
            {
                let text = placed(language.backend(), &path, text, facts);
                out.insert(path, text);
            }
        }
    }
    Ok(out)
}

/// What the ledger says was taken away because it configured one of the links: it must not come back by prune while the
/// link is wanted.
fn away(seen: &Seen, facts: &Facts, probe: &dyn Probe) -> Result<Vec<(HostPath, String)>, ProbeError> {
    let mut out = Vec::new();
    for (path, owned) in &facts.ledger.files {
        let Original::File { digest, .. } = &owned.original else {
            continue;
        };
        let mine = owned.section == "ipoib" || owned.section == "bonds";
        if !mine || seen.at.contains_key(path) || probe.exists(path)? {
            continue;
        }
        let Some(text) = probe.text(&Ledger::original_path(digest)?)? else {
            continue;
        };
        let wanted = |name: &str| seen.links.iter().any(|w| w.link.name == name);
        let configures = Backend::ALL.into_iter().any(|backend| {
            let text = placed(backend, path, text.clone(), facts);
            let links = dialect(backend).read(&Files::from([(path.clone(), text)]));
            links.iter().any(|(_, link)| wanted(&link.name))
        });
        if configures || super::backend::ifcfg::read::route_of(path).is_some_and(wanted) {
            out.push((path.clone(), owned.section.clone()));
        }
    }
    Ok(out)
}
