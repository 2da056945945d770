//! Rules of the sections `ipoib` and `bonds` that the document alone decides.

pub mod bonds;
pub mod host;
mod ip;
#[cfg(test)]
mod tests;

use super::codes;
use super::entry::{Entry, Want, What, child_name, entries};
use super::model::Mode;
use super::want::IpoibWant;
use crate::problem::Findings;
use crate::rooms::subnet_manager::want::PortSelector;
use crate::state::HostState;
use crate::types::PKey;
use crate::types::ifname::MAX_IFNAME;
use std::collections::BTreeMap;

/// Largest MTU in datagram mode: an InfiniBand MTU of 4096 less the 4 bytes of IPoIB's header (linux: ipoib.h, IPOIB_UD_MTU).
pub const DATAGRAM_MAX: u32 = 4092;
/// Smallest MTU that carries IPv6 (RFC 8200, section 5).
const IPV6_MIN: u32 = 1280;

/// All rules.
pub fn document(want: &Want, state: &HostState, found: &mut Findings) {
    let all = entries(want, |_, link| link.interface.as_ref().map(ToString::to_string));
    for (n, link) in want.interfaces().iter().enumerate() {
        let at = crate::pointer::Pointer::of("ipoib").index(n);
        naming(link, &at, found);
        keys(link, &at, found);
        child_mtu(link, &at, found);
    }
    names(&all, found);
    mtus(&all, found);
    bonds::document(want, &all, found);
    ip::document(&all, found);
    partitions(&all, state, found);
}

/// Exactly one of `interface` and `port`, and a `port` that names exactly one thing.
fn naming(link: &IpoibWant, at: &crate::pointer::Pointer, found: &mut Findings) {
    match (&link.interface, &link.port) {
        (Some(_), Some(_)) => found.error(
            codes::INTERFACE_OR_PORT,
            at.clone(),
            "both `interface` and `port` are given, and they might not mean the same link",
            "keep one of the two",
        ),
        (None, None) => found.error(
            codes::INTERFACE_OR_PORT,
            at.clone(),
            "neither `interface` nor `port` is given, so it is not known which link is meant",
            "give `interface: ib0`, or `port: {guid: \"0x…\"}`",
        ),
        (None, Some(port)) => selector(port, &at.key("port"), found),
        (Some(name), None) => {
            if let Some((parent, _)) = child_name(name.as_str()) {
                found.error(
                    codes::CHILD_AS_INTERFACE,
                    at.key("interface"),
                    format!("{name} is the name of a P_Key child of {parent}; it cannot be a port's own interface, nor have children itself"),
                    format!("list the key under `partitions` of {parent}"),
                );
            }
        }
    }
}

fn selector(port: &PortSelector, at: &crate::pointer::Pointer, found: &mut Findings) {
    let ways = [port.guid.is_some(), port.device.is_some(), port.pci.is_some()];
    let given = ways.into_iter().filter(|w| *w).count();
    if given != 1 {
        found.error(
            codes::PORT_SELECTOR,
            at.clone(),
            format!("a port is named in exactly one way, and {given} are given"),
            "give `guid`, or `device` (with `port`), or `pci` (with `port`)",
        );
    } else if port.guid.is_some() && port.port.is_some() {
        found.error(
            codes::PORT_SELECTOR,
            at.key("port"),
            "a GUID names one port already; a port number beside it could only contradict it",
            "take the number out",
        );
    }
}

/// P_Keys of the children of one interface.
fn keys(link: &IpoibWant, at: &crate::pointer::Pointer, found: &mut Findings) {
    let mut seen: BTreeMap<PKey, usize> = BTreeMap::new();
    for (m, child) in link.partitions.iter().enumerate() {
        let here = at.key("partitions").index(m).key("pkey");
        if child.pkey == PKey::DEFAULT {
            found.error(
                codes::DEFAULT_PKEY,
                here.clone(),
                "0x7fff is the default partition, which the interface itself is in; the kernel refuses a child with its parent's key (ENOTUNIQ)",
                "give the interface itself the addresses that are meant for the default partition",
            );
        }
        if let Some(first) = seen.insert(child.pkey, m) {
            found.error(
                codes::DUPLICATE_PKEY,
                here,
                format!(
                    "P_Key {} stands twice below this interface (first in partitions/{first}); the membership bit does not make two keys of one",
                    child.pkey
                ),
                "merge the two entries",
            );
        }
    }
}

/// A child above its parent's MTU (field case 37).
fn child_mtu(link: &IpoibWant, at: &crate::pointer::Pointer, found: &mut Findings) {
    let Some(limit) = link.ip().mtu() else { return };
    for (m, child) in link.partitions.iter().enumerate() {
        if let Some(mtu) = child.ip().mtu().filter(|mtu| *mtu > limit) {
            found.error(
                codes::CHILD_MTU_ABOVE_PARENT,
                at.key("partitions").index(m).key("mtu"),
                format!("MTU {mtu} of the P_Key child is above the {limit} of its parent"),
                "give the child the parent's MTU or less, or raise the parent's",
            );
        }
    }
}

/// Names of all links: unique, and short enough. Runs again with the names of resolved ports.
pub fn names(all: &[Entry<'_>], found: &mut Findings) {
    let mut seen: BTreeMap<&str, &Entry<'_>> = BTreeMap::new();
    for entry in all {
        let Some(name) = entry.name.as_deref() else {
            continue;
        };
        if entry.is_child() && name.len() > MAX_IFNAME {
            found.error(
                codes::NAME_TOO_LONG,
                entry.at.key("pkey"),
                format!(
                    "the P_Key child would be called {name}: {} characters, and the kernel takes {MAX_IFNAME} (IFNAMSIZ - 1). Older kernels cut the key, newer ones the parent's name, and the network back ends expect the one or the other",
                    name.len()
                ),
                "rename the parent to at most 10 characters, such as ib0 (a udev rule on the last 8 bytes of its address)",
            );
        }
        if matches!(entry.what, What::Member) {
            continue;
        }
        if let Some(first) = seen.insert(name, entry) {
            found.error(
                codes::DUPLICATE_NAME,
                entry.at.clone(),
                format!("{name} is described twice, first at {}", first.at),
                "merge the two, or give the second its own name",
            );
        }
    }
}

/// MTUs against the mode.
fn mtus(all: &[Entry<'_>], found: &mut Findings) {
    for entry in all {
        let Some(mtu) = entry.ip.mtu() else { continue };
        if entry.mode == Some(Mode::Datagram) && mtu > DATAGRAM_MAX {
            found.error(
                codes::MTU_ABOVE_DATAGRAM,
                entry.at.key("mtu"),
                format!("MTU {mtu} is impossible in datagram mode: a packet is one InfiniBand packet of at most 4096 bytes, 4 of which are IPoIB's header"),
                "give 4092 (fabric with a 4K group), 2044 (the usual 2K group) or auto; 65520 needs `mode: connected`, which only older adapters have",
            );
        }
        let six = entry.ip.dhcp6 || entry.ip.has_address(false);
        if six && mtu < IPV6_MIN {
            found.error(
                codes::MTU_BELOW_IPV6,
                entry.at.key("mtu"),
                format!("MTU {mtu} is below {IPV6_MIN}, the least that IPv6 needs: the kernel would switch IPv6 off on this link"),
                "give at least 1280, or no IPv6 addresses",
            );
        }
    }
}

/// Links against the partitions of the same document: who writes both wants them to fit.
fn partitions(all: &[Entry<'_>], state: &HostState, found: &mut Findings) {
    let Some(list) = state.subnet_manager.as_ref().and_then(|s| s.partitions.as_ref()) else {
        return;
    };
    for entry in all {
        let pkey = match entry.what {
            What::Child { pkey, .. } => pkey,
            What::Interface(_) => PKey::DEFAULT,
            What::Bond(_) | What::Member => continue,
        };
        let Some(partition) = list.iter().find(|p| p.pkey == pkey) else {
            if entry.is_child() {
                found.warn(
                    codes::PKEY_NOT_IN_PARTITIONS,
                    entry.at.key("pkey"),
                    format!("P_Key {pkey} is not among the `subnet_manager` partitions of this document; on a fabric that this subnet manager serves the child has no carrier"),
                    "add the partition, with `ipoib` and this host's port as a member, unless another subnet manager gives the key",
                );
            }
            continue;
        };
        let limit = partition
            .ipoib
            .as_ref()
            .map(|group| group.mtu.map_or(2048, |m| u32::from(m.bytes())) - 4);
        if let (Some(Mode::Datagram), Some(mtu), Some(limit)) = (entry.mode, entry.ip.mtu(), limit)
            && mtu > limit
        {
            found.warn(
                codes::MTU_ABOVE_PARTITION,
                entry.at.key("mtu"),
                format!("MTU {mtu} is above what the broadcast group of partition {} carries ({limit}): the kernel takes the number and clamps it", partition.name.as_str()),
                "raise `ipoib.mtu` of the partition, or lower this MTU",
            );
        }
    }
}
