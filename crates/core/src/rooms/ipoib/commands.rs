//! The command of each back end that makes one link take its configuration, for people: ibplan does not run it.

use crate::distro::{Backend, IfcfgReader, Row};
use crate::types::HostPath;

/// The command. `reload`: files were taken away, which NetworkManager sees only when it reads all of them again.
pub fn bring_up(
    backend: Backend,
    row: Option<&'static Row>,
    name: &str,
    file: Option<&HostPath>,
    reload: bool,
) -> String {
    let initscripts = row.is_some_and(|r| r.ifcfg == IfcfgReader::Initscripts);
    match backend {
        Backend::Ifcfg if initscripts => format!("ifdown {name}; ifup {name}"),
        Backend::NetworkManager | Backend::Ifcfg => match file {
            Some(file) if !reload => {
                format!("nmcli connection load {file} && nmcli connection up {name}")
            }
            _ => format!("nmcli connection reload && nmcli connection up {name}"),
        },
        Backend::Netplan => "netplan apply".to_owned(),
        Backend::Networkd => format!("networkctl reload && networkctl reconfigure {name}"),
        Backend::Ifupdown => format!("ifdown {name}; ifup {name}"),
        Backend::Wicked => format!("wicked ifreload {name}"),
    }
}
