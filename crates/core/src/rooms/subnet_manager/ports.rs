//! From the document's instances to port GUIDs.
//!
//! opensm checks the node type and not the link layer, and ends with exit status 0 when it cannot bind (opensm:
//! osm_vendor_ibumad.c, main.c): which ports it may be given is decided here.

use super::codes;
use super::want::{InstanceWant, PortSelector, SmState, SubnetManagerWant};
use crate::facts::{Facts, LinkLayer, Port, RdmaDevice};
use crate::pointer::Pointer;
use crate::problem::{Code, Findings};
use crate::types::Guid;
use std::collections::BTreeMap;

/// The pointer of an instance.
pub fn at(index: usize) -> Pointer {
    Pointer::of("subnet_manager").key("instances").index(index)
}

/// Rules on selectors that need no host.
pub fn check(want: &SubnetManagerWant, found: &mut Findings) {
    let mut seen: Vec<&PortSelector> = Vec::new();
    for (index, instance) in want.instances.iter().enumerate() {
        let here = at(index).key("port");
        let Some(port) = &instance.port else {
            if want.instances.len() > 1 {
                found.error(
                    codes::PORT_SELECTOR,
                    here,
                    "with several instances each names its port",
                    "give guid, device or pci",
                );
            }
            continue;
        };
        let ways = [port.guid.is_some(), port.device.is_some(), port.pci.is_some()];
        let named = ways.iter().filter(|w| **w).count();
        if named != 1 {
            found.error(
                codes::PORT_SELECTOR,
                here,
                if named == 0 {
                    "the port is not named"
                } else {
                    "the port is named in more than one way"
                },
                "give exactly one of guid, device and pci",
            );
        } else if port.guid.is_some() && port.port.is_some() {
            found.error(
                codes::PORT_SELECTOR,
                here.key("port"),
                "a GUID names one port, so a port number beside it can only contradict it",
                "leave the number out",
            );
        } else if seen.contains(&port) {
            found.error(
                codes::DUPLICATE_PORT,
                here,
                "another instance is bound to the same port",
                "give each instance a port of its own, or leave one out",
            );
        } else {
            seen.push(port);
        }
    }
    prefixes(&want.instances, found);
}

/// Each of several instances has a prefix of its own.
fn prefixes(instances: &[InstanceWant], found: &mut Findings) {
    if instances.len() < 2 {
        return;
    }
    let mut seen = BTreeMap::new();
    for (index, instance) in instances.iter().enumerate() {
        let here = at(index).key("subnet_prefix");
        let hint = "give each subnet its own, such as fe80:0000:0000:0000 and fe80:0000:0000:0001, the same on every subnet manager of a subnet";
        match instance.subnet_prefix {
            None => found.error(
                codes::PREFIX_SHARED,
                here,
                "with several instances each needs its own subnet prefix",
                hint,
            ),
            Some(prefix) => {
                if let Some(first) = seen.insert(prefix.get(), index) {
                    found.error(
                        codes::PREFIX_SHARED,
                        here,
                        format!("instance {first} has the subnet prefix {prefix} too"),
                        hint,
                    );
                }
            }
        }
    }
}

/// Why opensm cannot run on a port; `None` when it can. A port in state INIT is as good as an active one: it waits for
/// exactly this.
fn unfit(device: &RdmaDevice, port: &Port) -> Option<(Code, String)> {
    let name = format!("port {} of {}", port.number, device.name);
    if device.omni_path {
        return Some((
            codes::OMNI_PATH,
            format!("{name} is an Omni-Path port; opensm cannot manage it"),
        ));
    }
    if port.link_layer != LinkLayer::Infiniband {
        return Some((
            codes::ETHERNET_PORT,
            format!("the link layer of {name} is not InfiniBand"),
        ));
    }
    let blocked = port.smi_enabled == Some(false) || (device.vf && port.smi_enabled != Some(true));
    blocked.then(|| {
        (
            codes::VIRTUAL_FUNCTION,
            format!("{name} belongs to a virtual function, on which no subnet manager can run"),
        )
    })
}

/// An image without recorded hardware: nothing can be looked up. A running host without hardware just has none.
fn bare(facts: &Facts) -> bool {
    !facts.hardware_known() && !facts.scope.live()
}

/// Ports on which opensm could run.
fn eligible(facts: &Facts) -> Vec<(&RdmaDevice, &Port, Guid)> {
    facts
        .ports()
        .filter(|(d, p)| unfit(d, p).is_none())
        .filter_map(|(d, p)| Some((d, p, p.guid?)))
        .collect()
}

fn listing(ports: &[(&RdmaDevice, &Port, Guid)]) -> String {
    ports
        .iter()
        .map(|(d, p, guid)| format!("{guid} ({} port {})", d.name, p.number))
        .collect::<Vec<_>>()
        .join(", ")
}

/// What to do when a port will not do.
fn alternatives(facts: &Facts) -> String {
    let ports = eligible(facts);
    if ports.is_empty() {
        "take the section out for this host: none of its ports can have a subnet manager".to_owned()
    } else {
        format!(
            "give a port of this host on which opensm can run: {}",
            listing(&ports)
        )
    }
}

/// The port GUIDs of the instances, in their order. What cannot be resolved is a finding and missing in the list.
pub fn resolve(want: &SubnetManagerWant, facts: &Facts, found: &mut Findings) -> Vec<(usize, Guid)> {
    if want.state == SmState::Absent {
        return Vec::new();
    }
    if want.instances.is_empty() {
        let here = Pointer::of("subnet_manager").key("instances");
        // What is to be stopped needs no port: where none is clear, nothing is configured.
        let mut unheard = Findings::default();
        let found = if want.state == SmState::Stopped {
            &mut unheard
        } else {
            found
        };
        return only(&here, facts, found).map(|g| (0, g)).into_iter().collect();
    }
    let mut out: Vec<(usize, Guid)> = Vec::new();
    for (index, instance) in want.instances.iter().enumerate() {
        let here = at(index).key("port");
        let guid = match &instance.port {
            None => only(&here, facts, found),
            Some(selector) => select(selector, &here, facts, found),
        };
        let Some(guid) = guid else { continue };
        if let Some((first, _)) = out.iter().find(|(_, g)| *g == guid) {
            found.error(
                codes::DUPLICATE_PORT,
                here,
                format!("{guid} is the port of instance {first} too"),
                "give each instance a port of its own, or leave one out",
            );
            continue;
        }
        out.push((index, guid));
    }
    out
}

/// The only eligible port.
fn only(here: &Pointer, facts: &Facts, found: &mut Findings) -> Option<Guid> {
    if bare(facts) {
        found.error(
            codes::NEEDS_GUID,
            here.clone(),
            "no RDMA device is recorded here, so there is no port to choose",
            "name the port by its GUID",
        );
        return None;
    }
    match eligible(facts).as_slice() {
        [(_, _, guid)] => Some(*guid),
        [] => {
            let reasons: Vec<String> = facts
                .ports()
                .filter_map(|(d, p)| unfit(d, p).map(|(_, why)| why))
                .collect();
            let why = if reasons.is_empty() {
                "it has no RDMA device".to_owned()
            } else {
                reasons.join("; ")
            };
            found.error(
                codes::NO_ELIGIBLE_PORT,
                here.clone(),
                format!("no port of this host can have a subnet manager: {why}"),
                "run the subnet manager on a host with an InfiniBand port, or on a switch",
            );
            None
        }
        several => {
            found.error(
                codes::SEVERAL_PORTS,
                here.clone(),
                format!(
                    "opensm could run on several ports of this host: {}",
                    listing(several)
                ),
                "name one under instances[].port.guid; one instance for each subnet",
            );
            None
        }
    }
}

fn select(selector: &PortSelector, here: &Pointer, facts: &Facts, found: &mut Findings) -> Option<Guid> {
    if let Some(guid) = selector.guid {
        return by_guid(guid, &here.key("guid"), facts, found);
    }
    let (word, name) = match (&selector.device, &selector.pci) {
        (Some(device), None) => ("device", device.to_string()),
        (None, Some(pci)) => ("pci", pci.to_string()),
        // Not named in one way: the document's own check says so.
        _ => return None,
    };
    let here = here.key(word);
    if bare(facts) {
        found.error(
            codes::NEEDS_GUID,
            here,
            format!("no RDMA device is recorded here, so {name} cannot be looked up"),
            "name the port by its GUID",
        );
        return None;
    }
    let number = selector.port.map_or(1, |n| n.get());
    let same = |device: &RdmaDevice| match &selector.pci {
        Some(pci) => device.pci.as_ref() == Some(pci),
        None => device.name == name,
    };
    let port = facts
        .ports()
        .find(|(d, p)| same(d) && i64::from(p.number) == number);
    let Some((device, port)) = port else {
        found.error(
            codes::UNKNOWN_DEVICE,
            here,
            format!("this host has no port {number} of {name}"),
            alternatives(facts),
        );
        return None;
    };
    fit(device, port, here, facts, found)
}

fn by_guid(guid: Guid, here: &Pointer, facts: &Facts, found: &mut Findings) -> Option<Guid> {
    if bare(facts) {
        found.warn(
            codes::HARDWARE_UNKNOWN,
            here.clone(),
            format!("no RDMA device is recorded here; {guid} is taken as given"),
            "check that it is a port GUID of the host that will run this image",
        );
        return Some(guid);
    }
    if let Some((device, port)) = facts.port_by_guid(guid) {
        return fit(device, port, here.clone(), facts, found);
    }
    match node_guid(guid, facts) {
        Some((name, ports)) => found.error(
            codes::NODE_GUID,
            here.clone(),
            format!("{guid} is the node GUID of {name}, not a port GUID"),
            format!("give the port GUID: {ports}"),
        ),
        None => found.error(
            codes::UNKNOWN_GUID,
            here.clone(),
            format!("no port of this host has the GUID {guid}"),
            alternatives(facts),
        ),
    }
    None
}

/// The device whose node GUID this is, and its port GUIDs, where no port has this GUID itself.
pub fn node_guid(guid: Guid, facts: &Facts) -> Option<(&str, String)> {
    if facts.port_by_guid(guid).is_some() {
        return None;
    }
    let device = facts.devices.iter().find(|d| d.node_guid == Some(guid))?;
    let ports: Vec<String> = device
        .ports
        .iter()
        .filter_map(|p| p.guid.map(|g| g.to_string()))
        .collect();
    (!ports.is_empty()).then(|| (device.name.as_str(), ports.join(" or ")))
}

fn fit(device: &RdmaDevice, port: &Port, here: Pointer, facts: &Facts, found: &mut Findings) -> Option<Guid> {
    if let Some((code, why)) = unfit(device, port) {
        found.error(code, here, why, alternatives(facts));
        return None;
    }
    if port.guid.is_none() {
        found.error(
            codes::UNKNOWN_GUID,
            here,
            format!(
                "the GUID of port {} of {} cannot be read",
                port.number, device.name
            ),
            "see whether its driver is up: /sys/class/infiniband/DEV/ports/N/gids/0",
        );
    }
    port.guid
}
