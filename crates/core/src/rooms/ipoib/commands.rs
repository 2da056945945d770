//! The command of each back end that makes one link take its configuration, for people: ibplan does not run it.

use crate::action::Action;
use crate::distro::{Backend, IfcfgReader, Row};
use crate::facts::Facts;
use crate::plan::Plan;
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

/// Links that are still there and whose files went: nothing takes them down before the next boot.
pub fn after_prune(facts: &Facts, pruned: &Plan) -> Plan {
    let mut plan = Plan::default();
    if !facts.scope.live() {
        return plan;
    }
    for name in &facts.links {
        let gone = pruned.steps.iter().find_map(|step| match &step.action {
            Action::RemoveFile { path, .. } if ["ipoib", "bonds"].contains(&step.section.as_str()) => {
                let (folder, file) = path.as_str().rsplit_once('/')?;
                let command = let_go(facts, name, folder, file)?;
                Some(format!(
                    "{name}: its file is gone, and it stays up until the next boot or: {command}"
                ))
            }
            _ => None,
        });
        plan.pending.links.extend(gone);
    }
    plan
}

/// The command that ends a link whose file was removed, by the file that it had.
fn let_go(facts: &Facts, name: &str, folder: &str, file: &str) -> Option<String> {
    let is = |before: &str, after: &str| {
        file.strip_prefix(before)
            .and_then(|rest| rest.strip_suffix(after))
            == Some(name)
    };
    let initscripts = facts.row().is_some_and(|r| r.ifcfg == IfcfgReader::Initscripts);
    // A port's own interface cannot be deleted, only a child or a bond.
    let own = facts
        .ipoib_link(name)
        .is_some_and(|link| link.parent.is_none() && !name.contains('.'));
    let by_hand = if own {
        format!("ip address flush dev {name}")
    } else {
        format!("ip link delete {name}")
    };
    match folder {
        "/etc/NetworkManager/system-connections" if is("", ".nmconnection") => {
            Some("nmcli connection reload".to_owned())
        }
        "/etc/sysconfig/network-scripts" if is("ifcfg-", "") && !initscripts => {
            Some("nmcli connection reload".to_owned())
        }
        "/etc/sysconfig/network-scripts" if is("ifcfg-", "") => Some(by_hand),
        "/etc/sysconfig/network" if is("ifcfg-", "") => Some(format!("wicked ifreload {name}")),
        "/etc/network/interfaces.d" if is("ibplan-", "") => Some(by_hand),
        "/etc/systemd/network" if is("60-ibplan-", ".netdev") || is("60-ibplan-", ".network") => {
            Some(format!("networkctl reload && {by_hand}"))
        }
        _ => None,
    }
}
