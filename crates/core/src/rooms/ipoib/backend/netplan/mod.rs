//! The back end netplan: one YAML file for all links, and networkd files beside it for what netplan has no words for.
//!
//! Traps that this folder is about:
//! - netplan has no P_Key children. With the renderer networkd they are networkd files, and the parent's generated
//!   file learns of them by a drop-in. With the renderer NetworkManager they are refused.
//! - `infiniband-mode` needs netplan 0.105. With the renderer networkd it has no effect in any version, since networkd
//!   ignores what netplan writes for it: the mode is set by a udev rule ([`super::networkd::mode_rule`]), so that an
//!   older netplan is no hindrance there and the key is left out. With the renderer NetworkManager it decides the type
//!   of the profile, so that an older netplan cannot configure IPoIB at all.
//! - netplan merges its files: lists of a link that stands in two files are joined, and the global renderer is the
//!   host's, never ours.
//! - One file for two sections of the document: see [`keep`].

mod keep;
mod read;
mod render;
#[cfg(test)]
mod tests;
mod yaml;

use super::networkd;
use super::{Context, Dialect, Files};
use crate::distro::Backend;
use crate::problem::Problem;
use crate::rooms::ipoib::codes;
use crate::rooms::ipoib::model::{Link, LinkKind, Rendered, WantedLink};
use crate::types::HostPath;
use networkd::render::Place;
use read::Document;
use render::Can;

const FOLDER: &str = "/etc/netplan";

/// The file that ibplan writes.
const OWN: &str = "/etc/netplan/90-ibplan.yaml";

/// How the names of the .network files begin that netplan generates below /run.
const GENERATED: &str = "10-netplan-";

/// What an unknown distribution is taken for.
const ASSUMED_NETPLAN: (u16, u16) = (0, 106);

/// Its language.
#[derive(Clone, Copy, Debug)]
pub struct Netplan;

impl Dialect for Netplan {
    fn backend(&self) -> Backend {
        Backend::Netplan
    }

    fn folders(&self) -> &'static [&'static str] {
        &[FOLDER, networkd::FOLDER, networkd::mode_rule::FOLDER]
    }

    fn reads(&self, path: &HostPath) -> bool {
        is_netplan(path) || networkd::reads(path)
    }

    fn render(&self, links: &[WantedLink], context: &Context<'_>) -> Result<Vec<Rendered>, Vec<Problem>> {
        let managed: Vec<&str> = ["ipoib", "bonds"]
            .into_iter()
            .filter(|s| links.iter().any(|w| w.section == *s))
            .collect();
        self.render_sections(&managed, links, context)
    }

    fn render_sections(
        &self,
        managed: &[&str],
        links: &[WantedLink],
        context: &Context<'_>,
    ) -> Result<Vec<Rendered>, Vec<Problem>> {
        let host = Host::of(context);
        let (native, own): (Vec<WantedLink>, Vec<WantedLink>) =
            links.iter().cloned().partition(|w| is_native(w, links));
        let mut errors: Vec<Problem> = links
            .iter()
            .flat_map(|w| host.cannot(w, links, context))
            .collect();
        errors.extend(shared(context.files, links));
        errors.extend(networkd::hidden(context.files, &native, networkd::OWN));
        if !host.networkmanager {
            errors.extend(networkd::hidden(context.files, &own, GENERATED));
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let there = context.files.get(&HostPath::fixed(OWN)).map(String::as_str);
        let all = keep::with_kept(&own, managed, there);
        let mut out: Vec<Rendered> = render::rendered(&all, host.can).into_iter().collect();
        for wanted in &native {
            out.extend(networkd::render::netdev(wanted));
            out.extend(networkd::render::network(&Place::of(wanted, links)));
        }
        for wanted in all
            .iter()
            .filter(|w| own.iter().any(|o| o.link.name == w.link.name))
        {
            if !host.networkmanager {
                out.extend(networkd::mode_rule::render(wanted));
            }
            let native_bond = native
                .iter()
                .any(|n| wanted.link.bond.as_ref() == Some(&n.link.name));
            out.extend(render::drop_ins(&Place::of(wanted, links), native_bond));
        }
        out.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(out)
    }

    fn read(&self, files: &Files) -> Vec<(HostPath, Link)> {
        let tree = networkd::read::Tree::of(files);
        let modes = networkd::mode_rule::read(files);
        let mut out = Vec::new();
        for (path, text) in files.iter().filter(|(p, _)| is_netplan(p)) {
            for mut link in Document::parse(text).links {
                if link.kind == LinkKind::Parent && link.mode.is_none() {
                    link.mode = modes.get(&link.name).copied();
                }
                if link.bond.is_none() {
                    link.bond = tree.bonds.get(&link.name).map(|(bond, _)| bond.clone());
                }
                out.push((path.clone(), link));
            }
        }
        out.extend(tree.links());
        out.sort_by(|a, b| a.0.cmp(&b.0));
        out
    }

    /// A netplan file all of whose content is wanted, and networkd files that would hide the generated ones and those of
    /// the children.
    fn rivals(&self, files: &Files, links: &[WantedLink], rendered: &[Rendered]) -> Vec<HostPath> {
        let mut out: Vec<HostPath> = files
            .iter()
            .filter(|(path, _)| is_netplan(path) && path.as_str() != OWN)
            .filter(|(_, text)| {
                let document = Document::parse(text);
                overlaps(&document, links).is_some() && wholly_wanted(&document, links)
            })
            .map(|(path, _)| path.clone())
            .collect();
        let (native, own): (Vec<WantedLink>, Vec<WantedLink>) =
            links.iter().cloned().partition(|w| is_native(w, links));
        out.extend(networkd::in_the_way(files, &native, rendered, networkd::OWN));
        out.extend(networkd::in_the_way(files, &own, rendered, GENERATED));
        out.sort();
        out.dedup();
        out
    }
}

/// The netplan of a host.
#[derive(Clone, Copy, Debug)]
struct Host {
    version: (u16, u16),
    can: Can,
    networkmanager: bool,
}

impl Host {
    fn of(context: &Context<'_>) -> Self {
        let version = context.row.and_then(|r| r.netplan).unwrap_or(ASSUMED_NETPLAN);
        let renderer = context.facts.backends.netplan_renderer.as_deref();
        Self {
            version,
            can: Can {
                mode: version >= (0, 105),
                default_route: version >= (0, 103),
            },
            networkmanager: renderer.is_some_and(|r| r.eq_ignore_ascii_case("NetworkManager")),
        }
    }

    fn cannot(&self, wanted: &WantedLink, all: &[WantedLink], context: &Context<'_>) -> Vec<Problem> {
        let name = &wanted.link.name;
        let hint = "give network_backend: networkmanager, so that NetworkManager's own profiles are written";
        if !self.networkmanager {
            return networkd::cannot(wanted, all, context.row);
        }
        let why = match &wanted.link.kind {
            LinkKind::Child { .. } => {
                format!("{name} is a P_Key child: netplan has none, and its renderer here is NetworkManager")
            }
            LinkKind::Bond { .. } if is_native(wanted, all) => format!(
                "{name} is a bond of P_Key children: netplan has none, and its renderer here is NetworkManager"
            ),
            LinkKind::Parent if !self.can.mode => format!(
                "netplan {}.{} has no infiniband-mode, and without it its NetworkManager profile for {name} is of type Ethernet and never binds",
                self.version.0, self.version.1
            ),
            _ => return Vec::new(),
        };
        vec![codes::BACKEND_CANNOT.at(wanted.at.clone(), why, hint)]
    }
}

/// Whether netplan has no words for a link: children, and bonds with a child among their members.
fn is_native(wanted: &WantedLink, all: &[WantedLink]) -> bool {
    match &wanted.link.kind {
        LinkKind::Child { .. } => true,
        LinkKind::Bond { ports, .. } => all
            .iter()
            .any(|w| matches!(w.link.kind, LinkKind::Child { .. }) && ports.contains(&w.link.name)),
        LinkKind::Parent | LinkKind::Ethernet => false,
    }
}

fn is_netplan(path: &HostPath) -> bool {
    path.parent().is_some_and(|p| p.as_str() == FOLDER) && path.name().ends_with(".yaml")
}

fn overlaps<'a>(document: &Document, links: &'a [WantedLink]) -> Option<&'a WantedLink> {
    links
        .iter()
        .find(|w| document.links.iter().any(|l| l.name == w.link.name))
}

fn wholly_wanted(document: &Document, links: &[WantedLink]) -> bool {
    document.besides.is_empty()
        && document
            .links
            .iter()
            .all(|l| links.iter().any(|w| w.link.name == l.name))
}

/// Files of others that netplan would merge with ours and that cannot be taken over whole.
fn shared(files: &Files, links: &[WantedLink]) -> Vec<Problem> {
    let mut out = Vec::new();
    for (path, text) in files.iter().filter(|(p, _)| is_netplan(p) && p.as_str() != OWN) {
        let document = Document::parse(text);
        if wholly_wanted(&document, links) {
            continue;
        }
        let strangers = document
            .links
            .iter()
            .map(|l| l.name.as_str())
            .filter(|n| !links.iter().any(|w| w.link.name == *n))
            .chain(document.besides.iter().map(String::as_str))
            .collect::<Vec<_>>()
            .join(", ");
        for wanted in links {
            let name = &wanted.link.name;
            if document.links.iter().any(|l| l.name == *name) {
                out.push(codes::FOREIGN_SHARED.at(
                    wanted.at.clone(),
                    format!("{path} configures {name} too, beside {strangers}; netplan would merge its settings of {name} with the wanted ones"),
                    format!("remove {name} from {path}; ibplan takes over only files that hold nothing else"),
                ));
            }
        }
    }
    out
}
