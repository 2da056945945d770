//! RDMA devices and their ports (formats: linux: drivers/infiniband/core/sysfs.c, core/device.c).

use super::folder::Folder;
use super::pci::Function;
use super::{LinkLayer, Port, PortState, Rate, RdmaDevice};
use crate::hca::LinkTypes;
use crate::probe::{Probe, ProbeError};
use crate::types::{Guid, HostPath, PciAddress};

/// All devices of /sys/class/infiniband. A device that lacks attributes is listed like any other.
///
/// # Errors
/// The class is there and cannot be listed.
pub(super) fn devices(probe: &dyn Probe) -> Result<Vec<RdmaDevice>, ProbeError> {
    let class = HostPath::fixed("/sys/class/infiniband");
    let names = probe.list(&class)?;
    let class = Folder::new(probe, class);
    Ok(names
        .into_iter()
        .filter_map(|name| {
            let folder = class.follow(&name)?;
            Some(device(name, &folder))
        })
        .collect())
}

fn device(name: String, folder: &Folder<'_>) -> RdmaDevice {
    let pci = folder.target("device").and_then(|to| PciAddress::parse(&to).ok());
    let function = folder
        .sub("device")
        .filter(|_| pci.is_some())
        .and_then(|f| Function::read(&f));
    let driver = match &function {
        Some(function) => function.driver.clone(),
        None => folder.target("device/driver").or_else(|| software(&name, folder)),
    };
    let omni_path = driver.as_deref() == Some("hfi1")
        || name.starts_with("hfi1_")
        || function
            .as_ref()
            .and_then(|f| f.model)
            .is_some_and(|m| m.links == LinkTypes::OmniPath);
    RdmaDevice {
        driver,
        node_guid: folder.attr("node_guid").and_then(|g| Guid::parse(&g).ok()),
        fw_ver: folder.attr("fw_ver"),
        board_id: folder.attr("board_id"),
        hca_type: folder.attr("hca_type"),
        vf: function.is_some_and(|f| f.vf),
        omni_path,
        ports: folder.sub("ports").map(|p| ports(&p)).unwrap_or_default(),
        name,
        pci,
    }
}

/// A software device has no `device` link; udev leaves it the name that it was made with (rdma-core: rdma_rename).
fn software(name: &str, folder: &Folder<'_>) -> Option<String> {
    ["rxe", "siw"]
        .into_iter()
        .find(|kind| name.starts_with(kind) && !folder.has("device"))
        .map(str::to_owned)
}

fn ports(folder: &Folder<'_>) -> Vec<Port> {
    folder
        .numbers::<u8>()
        .into_iter()
        .filter_map(|number| Some(port(number, &folder.sub(&number.to_string())?)))
        .collect()
}

fn port(number: u8, folder: &Folder<'_>) -> Port {
    let gid = folder.attr("gids/0").and_then(|text| parse_gid(&text));
    // 0 and the permissive LID are none; an Omni-Path LID of more than 16 bits is none that InfiniBand tools can use.
    let lid = |name| {
        folder
            .hex(name)
            .and_then(|lid| u16::try_from(lid).ok())
            .filter(|lid| *lid != 0 && *lid != 0xffff)
    };
    Port {
        number,
        link_layer: match folder.attr("link_layer").as_deref() {
            Some("InfiniBand") => LinkLayer::Infiniband,
            Some("Ethernet") => LinkLayer::Ethernet,
            _ => LinkLayer::Unknown,
        },
        state: folder
            .attr("state")
            .map_or(PortState::Unknown, |text| parse_state(&text)),
        phys_state: folder
            .attr("phys_state")
            .map(|text| text.split_once(": ").map_or(text.as_str(), |(_, w)| w).to_owned()),
        rate: folder
            .attr("rate")
            .map(|text| parse_rate(&text))
            .unwrap_or_default(),
        lid: lid("lid"),
        sm_lid: lid("sm_lid"),
        guid: gid.and_then(|(_, low)| Guid::new(low)),
        subnet_prefix: gid.filter(|(_, low)| *low != 0).map(|(high, _)| high),
        pkeys: folder.sub("pkeys").map(|p| pkeys(&p)).unwrap_or_default(),
        smi_enabled: match folder.attr("smi_enabled").as_deref() {
            Some("0") => Some(false),
            Some("1") => Some(true),
            _ => None,
        },
    }
}

/// The P_Key table without its empty entries. The whole table is read: a subnet manager keeps the place of a key, so there may
/// be keys behind a gap.
fn pkeys(folder: &Folder<'_>) -> Vec<u16> {
    folder
        .numbers::<u16>()
        .into_iter()
        .filter_map(|index| folder.hex(&index.to_string()))
        .filter_map(|key| u16::try_from(key).ok())
        .filter(|key| *key != 0)
        .collect()
}

/// `4: ACTIVE`: the number counts.
fn parse_state(text: &str) -> PortState {
    match text.split(':').next() {
        Some("1") => PortState::Down,
        Some("2") => PortState::Init,
        Some("3") => PortState::Armed,
        Some("4") => PortState::Active,
        _ => PortState::Unknown,
    }
}

/// `<int>[.5] Gb/sec (<w>X[ <speed>])`; anything else is rate 0, with what can still be told.
fn parse_rate(text: &str) -> Rate {
    let (number, rest) = text.split_once(' ').unwrap_or((text, ""));
    let (unit, lanes) = rest.split_once(' ').unwrap_or((rest, ""));
    let gbps = number
        .parse::<f64>()
        .ok()
        .filter(|n| n.is_finite() && *n >= 0.0 && unit == "Gb/sec")
        .unwrap_or(0.0);
    let mut words = lanes
        .strip_prefix('(')
        .and_then(|l| l.strip_suffix(')'))
        .unwrap_or("")
        .split_whitespace();
    Rate {
        gbps,
        width: words
            .next()
            .and_then(|w| w.strip_suffix('X'))
            .and_then(|w| w.parse().ok()),
        speed: words.next().map(str::to_owned),
    }
}

/// High and low half of a GID in its full form, eight groups of four.
fn parse_gid(text: &str) -> Option<(u64, u64)> {
    let groups: Vec<&str> = text.split(':').collect();
    if groups.len() != 8 || groups.iter().any(|g| g.len() != 4) {
        return None;
    }
    let half = |part: &[&str]| u64::from_str_radix(&part.concat(), 16).ok();
    Some((half(&groups[..4])?, half(&groups[4..])?))
}

#[cfg(test)]
mod tests;
