//! NetworkManager keyfiles (nm-settings-keyfile(5)): one profile for each link, `/etc/NetworkManager/system-connections/NAME.nmconnection`.
//!
//! * Such a file must be root's and 0600, or NetworkManager ignores it.
//! * `type=infiniband` needs a `transport-mode`; the MTU of an IPoIB link is `infiniband.mtu`, never `ethernet.mtu` (field
//!   case 17), which is where the MTU of a bond stands.
//! * A P_Key child names its parent by interface (field case 8: a UUID there is refused) and its key in decimal with bit 15
//!   set; the interface name must then be `PARENT.XXXX` (NM: nm-setting-infiniband.c).
//! * Members say `master` and `slave-type`, which every version reads; `controller` and `port-type` came with 1.46.
//! * `mac-address` is not used: the first 12 bytes of an IPoIB address change when the driver is loaded again.
//!
//! EL 8 and 9 read ifcfg files too, so those of the same link are found here and taken over.

pub mod keyfile;
pub mod read;
pub mod render;
#[cfg(test)]
mod tests;

use super::{Context, Dialect, Files, ifcfg};
use crate::distro::Backend;
use crate::problem::Problem;
use crate::rooms::ipoib::model::{Compare, Link, Rendered, WantedLink};
use crate::types::HostPath;

/// Where profiles lie.
pub const FOLDER: &str = "/etc/NetworkManager/system-connections";

/// Its language.
#[derive(Clone, Copy, Debug)]
pub struct NetworkManager;

impl Dialect for NetworkManager {
    fn backend(&self) -> Backend {
        Backend::NetworkManager
    }

    fn folders(&self) -> &'static [&'static str] {
        &[FOLDER, ifcfg::FOLDER]
    }

    fn reads(&self, path: &HostPath) -> bool {
        read::is_profile(path) || ifcfg::is_ifcfg(path)
    }

    fn render(&self, links: &[WantedLink], context: &Context<'_>) -> Result<Vec<Rendered>, Vec<Problem>> {
        let folder = HostPath::fixed(FOLDER);
        let mut out = Vec::new();
        let mut problems = Vec::new();
        for wanted in links {
            let name = format!("{}.nmconnection", wanted.link.name);
            let path = match folder.join(&name) {
                Ok(path) => path,
                Err(bad) => {
                    problems.push(crate::rooms::ipoib::codes::BACKEND_CANNOT.at(
                        wanted.at.clone(),
                        bad.to_string(),
                        "give the link a name that can be a file name",
                    ));
                    continue;
                }
            };
            let text = render::profile(&wanted.link, &path, context);
            out.push(Rendered {
                path,
                text,
                mode: 0o600,
                links: vec![wanted.link.name.clone()],
                section: wanted.section,
                compare: Compare::Meaning,
                keys: None,
            });
        }
        if problems.is_empty() {
            Ok(out)
        } else {
            Err(problems)
        }
    }

    fn read(&self, files: &Files) -> Vec<(HostPath, Link)> {
        let mut out = read::profiles(files);
        out.extend(ifcfg::links(files));
        out
    }

    fn same(&self, there: &str, wanted: &str) -> bool {
        keyfile::meaning(there) == keyfile::meaning(wanted)
    }
}
