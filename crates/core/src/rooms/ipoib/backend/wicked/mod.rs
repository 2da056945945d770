//! The back end wicked: SUSE's `/etc/sysconfig/network/ifcfg-NAME` and `ifroute-NAME`.
//!
//! No wicked runs where this is tested: the files are held against documented examples, read back by the strict reader here
//! (written after wicked's own, `src/sysconfig.c` and `client/suse/compat-suse.c`), and sourced by a shell. What decides
//! their shape, from those sources and from ifcfg(5), ifcfg-ipoib(5), ifcfg-bonding(5), ifroute(5):
//!
//! * `IPOIB_MODE` makes a file one of an IPoIB link in every version; `IPOIB=yes` is understood from 0.6.76 on only, so it is
//!   not written. By name alone just `ibN` and `ibN.XXXX` are IPoIB links.
//! * A child always states `IPOIB_DEVICE` and `IPOIB_PKEY`, the key with its membership bit: below 0x8000, and 0xffff, wicked
//!   refuses. Before 0.6.76 both are read from the name, at its first dot, so a parent must have no dot.
//! * A bond's file has no `IPOIB_` variable, and its name must not look like a port's (`ib0bond`): either makes wicked say
//!   "bond config is using infiniband interface name" (openSUSE/wicked#840). Modes belong in the files of the ports.
//! * A port of a bond has `BOOTPROTO='none'`; a link without addresses has `'static'`, which brings it up.
//! * Routes are no part of ifcfg: columns destination, gateway, netmask, interface, options.
//! * Static addresses and DHCP go together. `STARTMODE='auto'` is what the boot waits for.

mod read;
mod render;
mod sysconfig;
#[cfg(test)]
mod tests;

use super::{Context, Dialect, Files};
use crate::distro::Backend;
use crate::problem::Problem;
use crate::rooms::ipoib::model::{Link, Rendered, WantedLink};
use crate::types::HostPath;

/// Where all files lie.
const FOLDER: &str = "/etc/sysconfig/network";
/// The routes of all links.
const ROUTES: &str = "/etc/sysconfig/network/routes";

/// Its language.
#[derive(Clone, Copy, Debug)]
pub struct Wicked;

impl Dialect for Wicked {
    fn backend(&self) -> Backend {
        Backend::Wicked
    }

    fn folders(&self) -> &'static [&'static str] {
        &[FOLDER]
    }

    fn reads(&self, path: &HostPath) -> bool {
        path.as_str() == ROUTES
            || interface(path, "ifcfg-").is_some()
            || interface(path, "ifroute-").is_some()
    }

    fn render(&self, links: &[WantedLink], context: &Context<'_>) -> Result<Vec<Rendered>, Vec<Problem>> {
        render::render(links, context)
    }

    /// Each link with its routes, once for its ifcfg file and once for each file of routes that names it.
    fn read(&self, files: &Files) -> Vec<(HostPath, Link)> {
        read::read(files)
    }

    fn same(&self, there: &str, wanted: &str) -> bool {
        sysconfig::meaning(there) == sysconfig::meaning(wanted)
    }

    /// The file of all routes is never taken away (`render` refuses a route in it that is not wanted).
    fn rivals(&self, files: &Files, links: &[WantedLink], rendered: &[Rendered]) -> Vec<HostPath> {
        let mut out: Vec<HostPath> = read::read(files)
            .into_iter()
            .filter(|(path, link)| {
                path.as_str() != ROUTES
                    && links.iter().any(|w| w.link.name == link.name)
                    && !rendered.iter().any(|r| r.path == *path)
            })
            .map(|(path, _)| path)
            .collect();
        out.sort();
        out.dedup();
        out
    }
}

/// The interface of a file such as `ifcfg-ib0`; `None` for backups, which wicked passes over.
fn interface<'a>(path: &'a HostPath, prefix: &str) -> Option<&'a str> {
    const BACKUPS: &[&str] = &[
        "~",
        ".old",
        ".bak",
        ".orig",
        ".scpmbackup",
        ".rpmnew",
        ".rpmsave",
        ".rpmorig",
    ];
    let name = path.as_str().strip_prefix(FOLDER)?.strip_prefix('/')?;
    let interface = name.strip_prefix(prefix)?;
    let sound = !interface.is_empty() && !interface.contains('/');
    (sound && !BACKUPS.iter().any(|b| interface.ends_with(b))).then_some(interface)
}
