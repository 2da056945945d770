//! The back end networkd: one .network file a link, a .netdev file for what networkd itself makes, and a udev rule for
//! the mode of a port.
//!
//! Traps that this folder is about:
//! - `[IPoIB]` in a .network file is ignored ([`mode_rule`]).
//! - The first .network file that applies to a link is the only one, by order of file names: an older file of somebody
//!   else with a smaller number hides ours, also by a pattern ([`Networkd::rivals`], `ipoib.foreign_file_shared`).
//! - A child is made while its parent is configured, because the parent's file names it (`IPoIB=`).
//! - `Kind=ipoib` needs systemd 250 (systemd: NEWS).

pub(crate) mod ini;
pub(crate) mod matching;
pub(crate) mod mode_rule;
pub(crate) mod read;
pub(crate) mod render;
#[cfg(test)]
pub(crate) mod tests;

use super::{Context, Dialect, Files};
use crate::distro::{Backend, Row};
use crate::problem::Problem;
use crate::rooms::ipoib::codes;
use crate::rooms::ipoib::model::{LinkKind, Rendered, WantedLink};
use crate::types::HostPath;
use ini::Ini;
use render::Place;

/// Where the administrator's files lie.
pub(crate) const FOLDER: &str = "/etc/systemd/network";

/// How the names of own files begin.
pub(crate) const OWN: &str = "60-ibplan-";

/// The comment that keeps the order of a bond's members.
const MEMBERS: &str = "Members: ";

/// First version with `Kind=ipoib` (systemd: NEWS, 250).
const CHILDREN_FROM: u16 = 250;

/// What an unknown distribution is taken for: old enough to be careful, new enough for children.
const ASSUMED_SYSTEMD: u16 = 252;

/// Its language.
#[derive(Clone, Copy, Debug)]
pub struct Networkd;

impl Dialect for Networkd {
    fn backend(&self) -> Backend {
        Backend::Networkd
    }

    fn folders(&self) -> &'static [&'static str] {
        &[FOLDER, mode_rule::FOLDER]
    }

    fn reads(&self, path: &HostPath) -> bool {
        reads(path)
    }

    fn render(&self, links: &[WantedLink], context: &Context<'_>) -> Result<Vec<Rendered>, Vec<Problem>> {
        let mut errors: Vec<Problem> = links.iter().flat_map(|w| cannot(w, links, context.row)).collect();
        errors.extend(hidden(context.files, links, OWN));
        if !errors.is_empty() {
            return Err(errors);
        }
        let mut out = Vec::new();
        for wanted in links {
            out.extend(render::netdev(wanted));
            out.extend(render::network(&Place::of(wanted, links)));
            out.extend(mode_rule::render(wanted));
        }
        out.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(out)
    }

    fn read(&self, files: &Files) -> Vec<(HostPath, crate::rooms::ipoib::model::Link)> {
        read::Tree::of(files).links()
    }

    /// Only a file that sorts before ours is in the way; one behind it is never looked at.
    fn rivals(&self, files: &Files, links: &[WantedLink], rendered: &[Rendered]) -> Vec<HostPath> {
        in_the_way(files, links, rendered, OWN)
    }
}

/// Whether a file says something of a link.
pub(crate) fn reads(path: &HostPath) -> bool {
    let name = path.name();
    if path.as_str().starts_with(mode_rule::FOLDER) {
        name.ends_with("-mode.rules")
    } else {
        [".network", ".netdev", ".conf"]
            .iter()
            .any(|end| name.ends_with(end))
    }
}

/// Files of others for the links that sort before `PREFIXname`, the file that is to be obeyed.
pub(crate) fn in_the_way(
    files: &Files,
    links: &[WantedLink],
    rendered: &[Rendered],
    prefix: &str,
) -> Vec<HostPath> {
    let mut out: Vec<HostPath> = read::Tree::of(files)
        .links()
        .into_iter()
        .filter(|(path, link)| {
            links.iter().any(|w| w.link.name == link.name)
                && !rendered.iter().any(|r| r.path == *path)
                && sorts_first(path, prefix, &link.name)
        })
        .map(|(path, _)| path)
        .collect();
    out.sort();
    out.dedup();
    out
}

/// Whether networkd looks at a file before it looks at `PREFIXlink`: the order is that of the file names, whatever
/// folder they lie in (systemd.network(5)).
fn sorts_first(path: &HostPath, prefix: &str, link: &str) -> bool {
    path.name() < format!("{prefix}{link}").as_str()
}

/// What networkd of this host cannot express.
pub(crate) fn cannot(wanted: &WantedLink, all: &[WantedLink], row: Option<&'static Row>) -> Vec<Problem> {
    let name = &wanted.link.name;
    let mut out = Vec::new();
    if is_number(name) {
        out.push(codes::BACKEND_CANNOT.at(
            wanted.at.clone(),
            format!(
                "networkd takes {name} for a number, not for the name of an interface, and ignores the file"
            ),
            "give the interface another name, by a udev rule",
        ));
    }
    let LinkKind::Child { parent, .. } = &wanted.link.kind else {
        return out;
    };
    let systemd = row.map_or(ASSUMED_SYSTEMD, |r| r.systemd);
    if systemd < CHILDREN_FROM {
        let release = row.map_or("this host", |r| r.name);
        out.push(codes::BACKEND_CANNOT.at(
            wanted.at.clone(),
            format!("{name} is a P_Key child; networkd makes those from systemd {CHILDREN_FROM} on, and {release} has {systemd}"),
            "leave the children out, or install NetworkManager and give `network_backend: networkmanager`",
        ));
    }
    if !all.iter().any(|w| w.link.name == *parent) {
        out.push(codes::CHILD_WITHOUT_PARENT.at(
            wanted.at.clone(),
            format!("{name} is a child of {parent}, and {parent} is not among the interfaces: its file has to name the child"),
            format!("add {parent} to the section ipoib"),
        ));
    }
    out
}

/// systemd takes no interface name that reads as a number, in any base (systemd: ifname_valid_full).
fn is_number(name: &str) -> bool {
    let all = |text: &str, base| !text.is_empty() && text.chars().all(|c| c.is_digit(base));
    let prefixed = [("0x", 16), ("0b", 2), ("0o", 8)]
        .iter()
        .any(|(prefix, base)| name.strip_prefix(prefix).is_some_and(|rest| all(rest, *base)));
    prefixed || all(name, 10)
}

/// Files of others that networkd would take instead of ours and that cannot be taken over, because they also apply to
/// interfaces that nobody asked about.
pub(crate) fn hidden(files: &Files, links: &[WantedLink], prefix: &str) -> Vec<Problem> {
    let names: Vec<&str> = links.iter().map(|w| w.link.name.as_str()).collect();
    let foreign: Vec<(&HostPath, Ini)> = files
        .iter()
        .filter(|(path, _)| path.name().ends_with(".network") && !path.name().starts_with(OWN))
        .map(|(path, text)| (path, Ini::parse(text)))
        .collect();
    let mut out = Vec::new();
    for wanted in links {
        let name = &wanted.link.name;
        for (path, ini) in &foreign {
            if sorts_first(path, prefix, name)
                && matching::applies(ini, &wanted.link)
                && !matching::only_for(ini, &names)
            {
                out.push(codes::FOREIGN_SHARED.at(
                    wanted.at.clone(),
                    format!("{path} applies to {name} and to other interfaces, and networkd takes the first file that applies: ours would be ignored"),
                    format!("narrow [Match] of {path} so that it leaves {name} out, or rename the file to sort behind {prefix}{name}.network"),
                ));
            }
        }
    }
    out
}
