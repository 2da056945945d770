//! The back end ifupdown: Debian's `/etc/network/interfaces`.
//!
//! A link is one file, `/etc/network/interfaces.d/ibplan-NAME`; the main file is only ever given the line that includes it.
//! What decides the shape of the files, each fact seen with ifupdown 0.8.41 and ifenslave 2.13:
//!
//! * There is no option for the IPoIB mode: `pre-up echo MODE > /sys/class/net/$IFACE/mode` sets it. Commands run before
//!   the link is touched, so the mode comes before the MTU and before the link is up; it stands in the first stanza only.
//! * `mtu` is an option of `inet static` and `inet manual`. `inet dhcp` passes over it, and `inet6 static` makes a link no
//!   smaller by it, so a link with an MTU that does not begin with `inet static` begins with an `inet manual` of its own.
//! * Each further address is a further stanza. They stand in the document's order, DHCP behind them: it waits for the
//!   fabric, and when it fails, the stanzas behind it are not run.
//! * A name like `ib0.8001` makes ifupdown create the child by `create_child` where the parent is of type 32, also for keys
//!   that begin with a letter (`c001`). It first brings up the parent when that has a stanza, so the order of files does
//!   not count.
//! * A bond has to enslave its ports before it is brought up (DHCP would wait for ever), whatever the order of files. So
//!   ports are no `auto` links but of the class of their bond: ifenslave runs `ifup --allow=BOND PORT` for each. A child
//!   must exist before it can be enslaved, so the bond's first commands create those that are not there.
//! * `source-directory` passes over file names with a `.`, thus over every child.
//! * Routes need no `down` line: they go with the link.

mod include;
mod read;
mod render;
#[cfg(test)]
pub(super) mod strategy;
mod syntax;
#[cfg(test)]
mod tests;

use super::{Context, Dialect, Files};
use crate::distro::{Backend, Purpose, Row};
use crate::problem::Problem;
use crate::rooms::ipoib::model::{Link, LinkKind, Rendered, WantedLink};
use crate::types::HostPath;
use syntax::Item;

/// The main file.
const MAIN: &str = "/etc/network/interfaces";
/// Where our files lie.
const FOLDER: &str = "/etc/network/interfaces.d";

/// Its language.
#[derive(Clone, Copy, Debug)]
pub struct Ifupdown;

/// The packages without which these links do not come up: a bond needs ifenslave, whose hooks do all of the work.
pub fn packages(links: &[WantedLink], row: Option<&'static Row>) -> &'static [&'static str] {
    let bond = links.iter().any(|w| matches!(w.link.kind, LinkKind::Bond { .. }));
    match row {
        Some(row) if bond => row.packages_for(Purpose::IfupdownBonding),
        _ => &[],
    }
}

impl Dialect for Ifupdown {
    fn backend(&self) -> Backend {
        Backend::Ifupdown
    }

    fn folders(&self) -> &'static [&'static str] {
        &[MAIN, FOLDER]
    }

    fn render(&self, links: &[WantedLink], context: &Context<'_>) -> Result<Vec<Rendered>, Vec<Problem>> {
        render::render(links, context)
    }

    /// Each link as all its stanzas make it, once for each file that has one of them.
    fn read(&self, files: &Files) -> Vec<(HostPath, Link)> {
        let found = read::stanzas(files);
        let mut out: Vec<(HostPath, Link)> = Vec::new();
        for link in read::links(&found) {
            for f in found.iter().filter(|f| f.iface.name == link.name) {
                if !out.iter().any(|(p, l)| *p == f.path && l.name == link.name) {
                    out.push((f.path.clone(), link.clone()));
                }
            }
        }
        out
    }

    fn same(&self, there: &str, wanted: &str) -> bool {
        syntax::meaning(there) == syntax::meaning(wanted)
    }

    /// Only files that speak of wanted links alone: the main file and files shared with other links are never taken away
    /// (`render` refuses a link that stands there).
    fn rivals(&self, files: &Files, links: &[WantedLink], rendered: &[Rendered]) -> Vec<HostPath> {
        let mut out: Vec<HostPath> = read::stanzas(files)
            .into_iter()
            .filter(|f| links.iter().any(|w| w.link.name == f.iface.name))
            .map(|f| f.path)
            .filter(|path| !rendered.iter().any(|r| r.path == *path))
            .filter(|path| !shared(files, path, links))
            .collect();
        out.sort();
        out.dedup();
        out
    }
}

/// Whether a file says something about more than wanted links.
fn shared(files: &Files, path: &HostPath, links: &[WantedLink]) -> bool {
    let wanted = |name: &String| links.iter().any(|w| w.link.name == *name);
    path.as_str() == MAIN
        || syntax::parse(files.get(path).map_or("", String::as_str))
            .iter()
            .any(|stanza| match &stanza.item {
                Item::Class { names, .. } => !names.iter().all(wanted),
                Item::Iface(iface) => !wanted(&iface.name),
                Item::Include { .. } | Item::Other(_) => true,
            })
}
