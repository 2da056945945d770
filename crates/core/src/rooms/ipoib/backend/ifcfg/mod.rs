//! ifcfg files of `/etc/sysconfig/network-scripts`: read by initscripts (EL 7) or by NetworkManager's ifcfg-rh plugin (EL 8
//! and 9); gone on EL 10. Sources: initscripts `sysconfig.txt`, rdma-core v15 `redhat/rdma.ifup-ib`, nm-settings-ifcfg-rh(5).
//!
//! * `TYPE=InfiniBand` is written always: without it NetworkManager guesses.
//! * `CONNECTED_MODE` is the literal `yes` or `no`, since initscripts take nothing else for on.
//! * A child needs `PKEY=yes`, `PKEY_ID=0x8001` and `PHYSDEV=ib0` together, and is called `PHYSDEV.XXXX`.
//! * `UUID` is for NetworkManager only, made from host and link (field case 19: one UUID for two links).
//! * `NM_CONTROLLED` of a file that is there stays: it says which of the two readers has the link, and that is the
//!   administrator's choice.
//! * Routes lie in `route-NAME` and `route6-NAME`, in the form of `ip route`.
//!
//! Outside EL there is no program that reads these files, so no real parser judges them in the tests: golden files taken
//! from the documentation and the shell itself (`sh -n`, and sourcing them) do.

pub mod read;
pub mod render;
pub mod shell;
#[cfg(test)]
mod tests;

use super::{Context, Dialect, Files, networkmanager};
use crate::distro::{Backend, IfcfgReader};
use crate::problem::Problem;
use crate::rooms::ipoib::codes::BACKEND_CANNOT;
use crate::rooms::ipoib::model::{Compare, Link, Rendered, WantedLink};
use crate::types::HostPath;

pub use read::{is_ifcfg, links};

/// Where the files lie.
pub const FOLDER: &str = "/etc/sysconfig/network-scripts";

/// Its language.
#[derive(Clone, Copy, Debug)]
pub struct Ifcfg;

impl Dialect for Ifcfg {
    fn backend(&self) -> Backend {
        Backend::Ifcfg
    }

    fn folders(&self) -> &'static [&'static str] {
        &[FOLDER, networkmanager::FOLDER]
    }

    fn reads(&self, path: &HostPath) -> bool {
        is_ifcfg(path) || networkmanager::read::is_profile(path)
    }

    fn render(&self, links: &[WantedLink], context: &Context<'_>) -> Result<Vec<Rendered>, Vec<Problem>> {
        let reader = context.row.map_or(IfcfgReader::NetworkManager, |r| r.ifcfg);
        let mut out = Vec::new();
        let mut problems = Vec::new();
        for wanted in links {
            let link = &wanted.link;
            if reader == IfcfgReader::Initscripts && link.dhcp4 && link.addresses.iter().any(|a| a.is_v4()) {
                problems.push(BACKEND_CANNOT.at(
                    wanted.at.key("dhcp4"),
                    format!(
                        "initscripts take the IPv4 addresses of {} either by DHCP or from the file, not both",
                        link.name
                    ),
                    "keep `dhcp4` or the IPv4 addresses",
                ));
            }
            for (stem, text) in render::files(link, reader, context) {
                match HostPath::fixed(FOLDER).join(&format!("{stem}-{}", link.name)) {
                    Ok(path) => out.push(Rendered {
                        path,
                        text,
                        mode: 0o644,
                        links: vec![link.name.clone()],
                        section: wanted.section,
                        compare: Compare::Meaning,
                        keys: None,
                    }),
                    Err(bad) => problems.push(BACKEND_CANNOT.at(
                        wanted.at.clone(),
                        bad.to_string(),
                        "give the link a name that can be a file name",
                    )),
                }
            }
        }
        if problems.is_empty() {
            Ok(out)
        } else {
            Err(problems)
        }
    }

    fn read(&self, files: &Files) -> Vec<(HostPath, Link)> {
        let mut out = links(files);
        out.extend(networkmanager::read::profiles(files));
        out
    }

    fn same(&self, there: &str, wanted: &str) -> bool {
        shell::meaning(there) == shell::meaning(wanted)
    }

    /// Also route files of our links that we do not write: they would add routes.
    fn rivals(&self, files: &Files, links: &[WantedLink], rendered: &[Rendered]) -> Vec<HostPath> {
        let ours = |path: &HostPath| rendered.iter().any(|r| r.path == *path);
        let wanted = |name: &str| links.iter().any(|w| w.link.name == name);
        let mut out: Vec<HostPath> = self
            .read(files)
            .into_iter()
            .filter(|(path, link)| wanted(&link.name) && !ours(path))
            .map(|(path, _)| path)
            .collect();
        out.extend(
            files
                .keys()
                .filter(|path| !ours(path) && read::route_of(path).is_some_and(wanted))
                .cloned(),
        );
        out.sort();
        out.dedup();
        out
    }
}
