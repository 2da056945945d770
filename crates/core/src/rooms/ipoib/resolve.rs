//! From a port to its IPoIB interface: by the port GUID in the interface's hardware address, never by its name.

use super::codes;
use super::entry::Want;
use crate::facts::{Facts, IpoibLink, LinkLayer, Port, RdmaDevice};
use crate::pointer::Pointer;
use crate::problem::Problem;
use crate::rooms::subnet_manager::want::PortSelector;

/// The interface name of every entry of `ipoib`, by index; `None` where it cannot be told.
pub fn names(want: &Want, facts: &Facts) -> Vec<Option<String>> {
    want.interfaces()
        .iter()
        .map(|link| match (&link.interface, &link.port) {
            (Some(name), None) => Some(name.to_string()),
            (None, Some(port)) => interface_of(port, facts, &Pointer::root()).ok(),
            _ => None,
        })
        .collect()
}

/// The interface of a port.
///
/// # Errors
/// Why it cannot be told: no hardware recorded, no such port, an Ethernet port, or no IPoIB interface on it.
pub fn interface_of(selector: &PortSelector, facts: &Facts, at: &Pointer) -> Result<String, Problem> {
    if !facts.hardware_known() {
        return Err(codes::PORT_UNRESOLVED.at(
            at.clone(),
            "no RDMA device is recorded on this host, so the name of the port's IPoIB interface cannot be told",
            "give `interface` instead of `port`: configuration files carry the name",
        ));
    }
    let (device, port) = port_of(selector, facts).ok_or_else(|| {
        codes::PORT_UNRESOLVED.at(
            at.clone(),
            format!(
                "{} is no port of this host; it has {}",
                shown(selector),
                ports_of(facts)
            ),
            "give the GUID of one of these ports; `ibplan facts` shows them",
        )
    })?;
    if port.link_layer == LinkLayer::Ethernet {
        return Err(codes::NO_INFINIBAND_PORT.at(
            at.clone(),
            format!(
                "port {} of {} has link layer Ethernet: there is no IPoIB on it",
                port.number, device.name
            ),
            "choose an InfiniBand port; a VPI adapter is switched to InfiniBand in its firmware (mlxconfig LINK_TYPE_P1=1)",
        ));
    }
    link_of(device, port, facts)
        .map(|l| l.name.clone())
        .ok_or_else(|| {
            codes::PORT_UNRESOLVED.at(
                at.clone(),
                format!(
                    "port {} of {} has no IPoIB interface, so its name cannot be told",
                    port.number, device.name
                ),
                "load ib_ipoib (section `modules`) and run again, or give `interface`",
            )
        })
}

/// The port that a selector means.
pub fn port_of<'a>(selector: &PortSelector, facts: &'a Facts) -> Option<(&'a RdmaDevice, &'a Port)> {
    if let Some(guid) = selector.guid {
        return facts.port_by_guid(guid);
    }
    let number = selector.port.map_or(1, crate::types::Num::get);
    facts.ports().find(|(device, port)| {
        let named = selector
            .device
            .as_ref()
            .is_some_and(|name| name.as_str() == device.name)
            || (selector.pci.is_some() && device.pci == selector.pci);
        named && i64::from(port.number) == number
    })
}

/// The IPoIB interface of a port that is no P_Key child.
fn link_of<'a>(device: &RdmaDevice, port: &Port, facts: &'a Facts) -> Option<&'a IpoibLink> {
    let mine = |l: &&IpoibLink| {
        l.parent.is_none()
            && super::entry::child_name(&l.name).is_none()
            && (l
                .port
                .as_ref()
                .is_some_and(|(d, p)| *d == device.name && *p == port.number)
                || (l.guid.is_some() && l.guid == port.guid))
    };
    facts.ipoib.iter().find(mine)
}

fn shown(selector: &PortSelector) -> String {
    let port = selector.port.map_or(1, crate::types::Num::get);
    match (selector.guid, &selector.device, &selector.pci) {
        (Some(guid), _, _) => format!("GUID {guid}"),
        (None, Some(device), _) => format!("port {port} of {device}"),
        (None, None, Some(pci)) => format!("port {port} at PCI address {pci}"),
        (None, None, None) => "a port that is not named".to_owned(),
    }
}

/// The ports of a host, for a message.
fn ports_of(facts: &Facts) -> String {
    let list: Vec<String> = facts
        .ports()
        .filter(|(_, p)| p.link_layer != LinkLayer::Ethernet)
        .map(|(d, p)| {
            let guid = p.guid.map_or_else(|| "no GUID".to_owned(), |g| g.to_string());
            format!("{}/{} ({guid})", d.name, p.number)
        })
        .collect();
    if list.is_empty() {
        "no InfiniBand port".to_owned()
    } else {
        list.join(", ")
    }
}
