//! Rules that need the facts of the host.

use super::{bonds, names};
use crate::distro::{Backend, IfcfgReader};
use crate::facts::{Facts, IpoibLink, LinkLayer, PortState, RdmaDevice};
use crate::hca::{HcaModel, LinkTypes};
use crate::pointer::Pointer;
use crate::problem::{Findings, Problem};
use crate::rooms::ipoib::backend::dialect;
use crate::rooms::ipoib::entry::{Entry, Want, What, entries};
use crate::rooms::ipoib::model::Mode;
use crate::rooms::ipoib::{choose, codes, former, resolve};

/// All rules.
pub fn host(want: &Want, facts: &Facts, found: &mut Findings) {
    let resolved = resolve::names(want, facts);
    let all = entries(want, |n, _| resolved.get(n).cloned().flatten());
    if all.is_empty() {
        return;
    }
    selectors(want, facts, found);
    again(want, &all, found);
    hardware(&all, facts, found);
    for entry in &all {
        presence(entry, facts, found);
        enslaved(want, entry, facts, found);
        connected(entry, &all, facts, found);
        clamped(entry, facts, found);
        pkey(entry, &all, facts, found);
    }
    back_end(want, &all, facts, found);
}

/// Ports that cannot be resolved.
fn selectors(want: &Want, facts: &Facts, found: &mut Findings) {
    for (n, link) in want.interfaces().iter().enumerate() {
        if let (None, Some(port)) = (&link.interface, &link.port) {
            let at = Pointer::of("ipoib").index(n).key("port");
            if let Err(problem) = resolve::interface_of(port, facts, &at) {
                found.errors.push(problem);
            }
        }
    }
}

/// The rules of names once more, with the names of ports: only what the document did not show already.
fn again(want: &Want, all: &[Entry<'_>], found: &mut Findings) {
    if want.interfaces().iter().all(|l| l.port.is_none()) {
        return;
    }
    let check = |list: &[Entry<'_>]| -> Vec<Problem> {
        let mut now = Findings::default();
        names(list, &mut now);
        bonds::members(want, list, &mut now);
        now.errors
    };
    let given = entries(want, |_, l| l.interface.as_ref().map(ToString::to_string));
    let known = check(&given);
    found
        .errors
        .extend(check(all).into_iter().filter(|p| !known.contains(p)));
}

/// Whether the host has anything that IPoIB runs on.
fn hardware(all: &[Entry<'_>], facts: &Facts, found: &mut Findings) {
    let Some(first) = all.first() else { return };
    let section = Pointer::of(first.at.section());
    if !facts.hardware_known() {
        found.warn(
            codes::HARDWARE_UNKNOWN,
            section,
            "no RDMA device is recorded on this host: interface names are taken as given, and modes and MTUs are not checked against an adapter",
            "on a running host look whether the driver is loaded; in an image leave it so",
        );
    } else if !facts.ports().any(|(_, p)| p.link_layer != LinkLayer::Ethernet) {
        let devices: Vec<&str> = facts.devices.iter().map(|d| d.name.as_str()).collect();
        found.error(
            codes::NO_INFINIBAND_PORT,
            section,
            format!("every RDMA port of this host ({}) is Ethernet, and IPoIB needs an InfiniBand port", devices.join(", ")),
            "take the section out for this host; a VPI adapter is switched to InfiniBand in its firmware (mlxconfig LINK_TYPE_P1=1)",
        );
    }
}

/// A name that belongs to something else, or to nothing.
fn presence(entry: &Entry<'_>, facts: &Facts, found: &mut Findings) {
    let Some(name) = entry.name.as_deref() else { return };
    if matches!(entry.what, What::Bond(_)) || facts.ipoib_link(name).is_some() {
        return;
    }
    if facts.links.iter().any(|l| l == name) {
        found.error(
            codes::NOT_IPOIB,
            entry.at.clone(),
            format!("{name} is there and is no IPoIB interface (its type is not 32)"),
            format!("give the name of an IPoIB interface: {}", interfaces(facts)),
        );
    } else if facts.hardware_known() && !entry.is_child() {
        found.warn(
            codes::INTERFACE_ABSENT,
            entry.at.clone(),
            format!(
                "there is no interface {name} on this host; it has {}",
                interfaces(facts)
            ),
            "check the name; leave it if the interface comes with a driver or a rename that is still to be done",
        );
    }
}

fn interfaces(facts: &Facts) -> String {
    let names: Vec<&str> = facts
        .ipoib
        .iter()
        .filter(|l| l.parent.is_none())
        .map(|l| l.name.as_str())
        .collect();
    if names.is_empty() {
        "no IPoIB interface (is ib_ipoib loaded?)".to_owned()
    } else {
        names.join(", ")
    }
}

/// A member of a bond that the document does not manage: its membership stays, so it carries no IP.
fn enslaved(want: &Want, entry: &Entry<'_>, facts: &Facts, found: &mut Findings) {
    let link = entry.name.as_deref().and_then(|name| facts.ipoib_link(name));
    if let (None, Some(link)) = (&want.bonds, link)
        && let Some(bond) = &link.bond
        && !entry.ip.fields().is_empty()
    {
        found.error(
            codes::ENSLAVED,
            entry.at.clone(),
            format!("{} is a member of {bond}, which this document does not manage; a member of a bond carries no IP", link.name),
            format!("describe {bond} in `bonds`, or give `bonds: []` to dissolve it"),
        );
    }
}

/// The link itself, or for a child that is not there yet its parent.
fn nearest<'a>(entry: &Entry<'_>, all: &[Entry<'_>], facts: &'a Facts) -> Option<&'a IpoibLink> {
    if let Some(link) = entry.name.as_deref().and_then(|name| facts.ipoib_link(name)) {
        return Some(link);
    }
    let What::Child { parent, .. } = entry.what else {
        return None;
    };
    let at = Pointer::of("ipoib").index(parent);
    let parent = all.iter().find(|e| e.at == at)?.name.as_deref()?;
    facts.ipoib_link(parent)
}

/// What the table says of a device.
fn model(device: &RdmaDevice, facts: &Facts) -> Option<&'static HcaModel> {
    let pci = device.pci.as_ref()?;
    facts.hcas.iter().find(|h| h.address == *pci)?.model
}

/// Connected mode: byte 0 of the address decides; where there is no link yet, the table of adapters.
fn connected(entry: &Entry<'_>, all: &[Entry<'_>], facts: &Facts, found: &mut Findings) {
    if entry.mode != Some(Mode::Connected) || matches!(entry.what, What::Child { own_mode: false, .. }) {
        return;
    }
    let at = entry.at.key("mode");
    if let Some(link) = nearest(entry, all, facts) {
        if !link.connected_capable {
            found.errors.push(impossible(at, link, facts));
        }
        return;
    }
    let models = candidates(entry, facts);
    let (yes, no): (Vec<&HcaModel>, Vec<&HcaModel>) =
        models.iter().flatten().copied().partition(|m| m.connected);
    if no.len() == models.len()
        && let Some(first) = no.first()
    {
        found.error(
            codes::CONNECTED_IMPOSSIBLE,
            at,
            format!("{}: {}", first.name, ENHANCED),
            CONNECTED_HINT,
        );
    } else if models.is_empty() || yes.len() != models.len() {
        let why = if models.is_empty() {
            "no adapter is recorded"
        } else {
            "the adapters of this host differ in it, or are not in ibplan's table, and the interface is not there yet"
        };
        found.warn(
            codes::CONNECTED_UNPROVEN,
            at,
            format!("whether the adapter can do connected mode is not known: {why}"),
            "give datagram, which works everywhere; ConnectX-4 and later cannot do connected mode with the kernel's own driver",
        );
    }
}

const ENHANCED: &str = "the driver of this adapter supplies the interface itself (enhanced IPoIB), which has no connected mode; the kernel refuses the write with EINVAL";
const CONNECTED_HINT: &str = "give `mode: datagram` (or auto) and MTU 4092, 2044 or auto: on these adapters datagram with offloads is the fast path";

fn impossible(at: Pointer, link: &IpoibLink, facts: &Facts) -> Problem {
    let device = link
        .port
        .as_ref()
        .and_then(|(name, _)| facts.devices.iter().find(|d| d.name == *name));
    let card = device.and_then(|d| model(d, facts));
    let who = match (card, device) {
        (Some(card), Some(device)) => format!("{} ({}, {})", link.name, card.name, device.name),
        (_, Some(device)) => format!("{} ({})", link.name, device.name),
        _ => link.name.clone(),
    };
    let why = match card {
        Some(card) if card.connected => {
            "the adapter could do connected mode, and the interface does not offer it: this kernel is built without CONFIG_INFINIBAND_IPOIB_CM"
        }
        Some(_) => ENHANCED,
        None => {
            "the interface does not offer connected mode (byte 0 of its address lacks the bit 0x80), and the kernel refuses the write with EINVAL"
        }
    };
    codes::CONNECTED_IMPOSSIBLE.at(at, format!("{who}: {why}"), CONNECTED_HINT)
}

/// The adapters that an interface which is not there yet may belong to; `None` for one that the table does not know.
fn candidates(entry: &Entry<'_>, facts: &Facts) -> Vec<Option<&'static HcaModel>> {
    if let What::Interface(link) = entry.what
        && let Some(selector) = &link.port
    {
        return resolve::port_of(selector, facts)
            .map(|(device, _)| model(device, facts))
            .into_iter()
            .collect();
    }
    if facts.hardware_known() {
        return facts
            .devices
            .iter()
            .filter(|d| d.ports.iter().any(|p| p.link_layer != LinkLayer::Ethernet))
            .map(|d| model(d, facts))
            .collect();
    }
    facts
        .hcas
        .iter()
        .filter(|h| h.model.is_none_or(|m| m.links != LinkTypes::Ethernet))
        .map(|h| h.model)
        .collect()
}

/// A link with carrier and less MTU than wanted: most often the broadcast group's limit, which no host can raise.
fn clamped(entry: &Entry<'_>, facts: &Facts, found: &mut Findings) {
    let link = entry.name.as_deref().and_then(|name| facts.ipoib_link(name));
    if let (Some(Mode::Datagram), Some(wanted), Some(link)) = (entry.mode, entry.ip.mtu(), link)
        && facts.scope.live()
        && link.carrier == Some(true)
        && let Some(now) = link.mtu.filter(|now| *now < wanted)
    {
        found.warn(
            codes::MTU_CLAMPED,
            entry.at.key("mtu"),
            format!("{} has carrier and MTU {now}, and {wanted} is wanted. If it stays at {now} once its configuration is in force, the fabric MTU is {now}: the kernel takes a larger number and clamps it to the broadcast group's", link.name),
            "raise the MTU of the partition's IPoIB group at the subnet manager (`ipoib: {mtu: 4096}`) and bring the links of the fabric up again, or want less",
        );
    }
}

/// A key that the port does not have.
fn pkey(entry: &Entry<'_>, all: &[Entry<'_>], facts: &Facts, found: &mut Findings) {
    let What::Child { pkey, .. } = entry.what else {
        return;
    };
    let Some((device, number)) = nearest(entry, all, facts).and_then(|l| l.port.clone()) else {
        return;
    };
    let port = facts
        .ports()
        .find(|(d, p)| d.name == device && p.number == number)
        .map(|(_, p)| p);
    if let Some(port) = port
        && port.state == PortState::Active
        && !port.pkeys.is_empty()
        && !port.pkeys.iter().any(|k| k & 0x7fff == pkey.number())
    {
        let have: Vec<String> = port.pkeys.iter().map(|k| format!("{k:#06x}")).collect();
        found.warn(
            codes::PKEY_NOT_IN_TABLE,
            entry.at.key("pkey"),
            format!("port {number} of {device} is ACTIVE and has no P_Key {pkey} (it has {}): the child will have no carrier", have.join(", ")),
            "make the port a member of the partition at the subnet manager; the child then comes up by itself",
        );
    }
}

/// The back end: there, read by somebody, and the only owner.
fn back_end(want: &Want, all: &[Entry<'_>], facts: &Facts, found: &mut Findings) {
    let at = Pointer::of("network_backend");
    let backend = match choose::backend(want, all, facts) {
        Ok(backend) => backend,
        Err(problem) => {
            found.errors.push(problem);
            return;
        }
    };
    let named = want.backend.named().is_some();
    if named && facts.scope.live() && !facts.backends.installed.contains(&backend) {
        let have: Vec<&str> = facts.backends.installed.iter().map(|b| b.word()).collect();
        found.error(
            codes::NOT_INSTALLED,
            at.clone(),
            format!(
                "{backend} is not installed on this host (found: {}), so nobody would read its files",
                if have.is_empty() {
                    "no back end that ibplan knows".to_owned()
                } else {
                    have.join(", ")
                }
            ),
            "install it first, or leave `network_backend` at auto",
        );
    }
    if backend == Backend::Ifcfg
        && let Some(row) = facts.row()
        && row.ifcfg == IfcfgReader::Nobody
    {
        let message = format!(
            "nothing on {} reads ifcfg files in /etc/sysconfig/network-scripts",
            row.name
        );
        let hint = "give `network_backend: networkmanager`, or leave it at auto";
        if facts.scope.live() {
            found.error(codes::NOT_READ, at.clone(), message, hint);
        } else {
            found.warn(codes::NOT_READ, at.clone(), message, hint);
        }
    }
    for entry in all {
        owners(entry, backend, named, facts, found);
    }
}

fn owners(entry: &Entry<'_>, backend: Backend, named: bool, facts: &Facts, found: &mut Findings) {
    let Some(link) = entry.name.as_deref().and_then(|name| facts.ipoib_link(name)) else {
        return;
    };
    let mut claim: Vec<Backend> = link.owners.clone();
    claim.extend(link.owner);
    claim.sort_unstable();
    claim.dedup();
    let words: Vec<&str> = claim.iter().map(|b| b.word()).collect();
    if claim.len() > 1 && !named {
        found.error(
            codes::TWO_OWNERS,
            entry.at.clone(),
            format!(
                "{} is configured by {} at once; which of them wins changes from boot to boot",
                link.name,
                words.join(" and ")
            ),
            "take the link out of all but one, or name the one that is to have it with `network_backend`",
        );
        return;
    }
    let others: Vec<&str> = claim
        .iter()
        .filter(|b| **b != backend && !reads(backend, **b) && !former::has(facts, **b, &link.name))
        .map(|b| b.word())
        .collect();
    if named && !others.is_empty() {
        found.warn(
            codes::TWO_OWNERS,
            entry.at.clone(),
            format!("{} is configured by {} now, and its files are not ibplan's to remove while {backend} is named: the link would have two owners", link.name, others.join(" and ")),
            format!("take the link out of the configuration of {}", others.join(" and ")),
        );
    }
}

/// Whether a back end reads the files of another one too: then it takes over those of its links.
fn reads(backend: Backend, other: Backend) -> bool {
    let folders = dialect(backend).folders();
    dialect(other)
        .folders()
        .first()
        .is_some_and(|f| folders.contains(f))
}
