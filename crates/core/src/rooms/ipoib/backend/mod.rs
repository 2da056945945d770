//! The six network back ends: each renders links to files, and reads files to links. Pure.

pub mod ifcfg;
pub mod ifupdown;
pub mod netplan;
pub mod networkd;
pub mod networkmanager;
pub mod wicked;

use super::codes;
use super::model::{Link, Rendered, WantedLink};
use crate::distro::{Backend, Row};
use crate::facts::Facts;
use crate::problem::Problem;
use crate::types::HostPath;
use std::collections::BTreeMap;

/// The files that a back end reads, by path; only those of [`Dialect::folders`] and the rendered paths are given.
pub type Files = BTreeMap<HostPath, String>;

/// What a renderer may know.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// Facts of the host.
    pub facts: &'a Facts,
    /// The row of the distribution, if it is known.
    pub row: Option<&'static Row>,
    /// The back end's files as they are.
    pub files: &'a Files,
}

/// One back end's language.
pub trait Dialect: Sync {
    /// Which.
    fn backend(&self) -> Backend;

    /// Folders (and single files) whose files it reads, so that owners and older files of a link are found.
    fn folders(&self) -> &'static [&'static str];

    /// Whether a file of its folders is one that the back end reads: backups and scripts beside them are passed over.
    fn reads(&self, _path: &HostPath) -> bool {
        true
    }

    /// The files for all wanted links: the same input gives the same bytes. A link that this back end cannot express on this
    /// host is an error that says so (never half obeyed), with the pointer of the link.
    ///
    /// # Errors
    /// Every link or field that cannot be expressed.
    fn render(&self, links: &[WantedLink], context: &Context<'_>) -> Result<Vec<Rendered>, Vec<Problem>>;

    /// The same, told which of the sections `ipoib` and `bonds` the request manages: a back end with one file for both
    /// keeps in it what belongs to the other. The rest write a file a link and have nothing to keep.
    ///
    /// # Errors
    /// As for [`Dialect::render`].
    fn render_sections(
        &self,
        _managed: &[&str],
        links: &[WantedLink],
        context: &Context<'_>,
    ) -> Result<Vec<Rendered>, Vec<Problem>> {
        self.render(links, context)
    }

    /// The links that the files configure, each with the file that says so. Lines that are not understood do not stop it.
    fn read(&self, files: &Files) -> Vec<(HostPath, Link)>;

    /// Whether a file that is there means the same as the wanted text: nothing that counts was added, removed or changed.
    fn same(&self, there: &str, wanted: &str) -> bool {
        there == wanted
    }

    /// Files of `files` that configure one of `links` and are not among `rendered`: they would fight with ours and are taken
    /// over (kept as originals, given back by prune and rollback).
    fn rivals(&self, files: &Files, links: &[WantedLink], rendered: &[Rendered]) -> Vec<HostPath> {
        let mut out: Vec<HostPath> = self
            .read(files)
            .into_iter()
            .filter(|(path, link)| {
                links.iter().any(|w| w.link.name == link.name) && !rendered.iter().any(|r| r.path == *path)
            })
            .map(|(path, _)| path)
            .collect();
        out.dedup();
        out
    }
}

/// What a back end cannot express, for the link that wants it.
fn cannot(wanted: &WantedLink, message: String) -> Problem {
    codes::BACKEND_CANNOT.at(
        wanted.at.clone(),
        message,
        "change the link as the message says, or choose another back end with network_backend",
    )
}

/// The language of a back end.
pub fn dialect(backend: Backend) -> &'static dyn Dialect {
    match backend {
        Backend::NetworkManager => &networkmanager::NetworkManager,
        Backend::Ifcfg => &ifcfg::Ifcfg,
        Backend::Netplan => &netplan::Netplan,
        Backend::Networkd => &networkd::Networkd,
        Backend::Ifupdown => &ifupdown::Ifupdown,
        Backend::Wicked => &wicked::Wicked,
    }
}
