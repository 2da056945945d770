//! Rules of bonds over IPoIB (linux: drivers/net/bonding/bond_main.c, bond_enslave).

use super::DATAGRAM_MAX;
use crate::pointer::Pointer;
use crate::problem::Findings;
use crate::rooms::ipoib::codes;
use crate::rooms::ipoib::entry::{Entry, Want, What, bond_of};
use crate::rooms::ipoib::model::Mode;
use crate::rooms::ipoib::want::{BondMode, BondWant};
use std::collections::BTreeMap;

/// Rules of bonds that need no names of resolved ports.
pub fn document(want: &Want, all: &[Entry<'_>], found: &mut Findings) {
    for (n, bond) in want.bond_list().iter().enumerate() {
        let at = Pointer::of("bonds").index(n);
        shape(bond, &at, found);
        ports(want, n, bond, &at, found);
        mtu(bond, all, &at, found);
    }
    members(want, all, found);
}

fn shape(bond: &BondWant, at: &Pointer, found: &mut Findings) {
    if bond.mode != BondMode::ActiveBackup {
        found.error(
            codes::BOND_MODE,
            at.key("mode"),
            "the kernel bonds IPoIB interfaces in active-backup mode only: every other mode answers EOPNOTSUPP when the first of them is enslaved, since an IPoIB link has no address that could be set",
            "give active-backup or leave `mode` out",
        );
    }
    if let Some(primary) = &bond.primary
        && !bond.ports.contains(primary)
    {
        found.error(
            codes::BOND_PRIMARY,
            at.key("primary"),
            format!(
                "{primary} is to be the preferred member of {}, and is no member of it",
                bond.name
            ),
            "add it to `ports`, or name one of them",
        );
    }
}

fn ports(want: &Want, n: usize, bond: &BondWant, at: &Pointer, found: &mut Findings) {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for (m, port) in bond.ports.iter().enumerate() {
        let here = at.key("ports").index(m);
        if let Some(first) = seen.insert(port.as_str(), m) {
            found.error(
                codes::BOND_PORTS,
                here.clone(),
                format!("{port} is a member of {} twice (also ports/{first})", bond.name),
                "name it once",
            );
            continue;
        }
        if let Some((other, _)) = bond_of(want, port.as_str())
            && other != n
        {
            found.error(
                codes::BOND_PORTS,
                here.clone(),
                format!(
                    "{port} is a member of two bonds, {} and {}",
                    want.bond_list()[other].name,
                    bond.name
                ),
                "a link has one master: take it out of one of the two",
            );
        }
        if want.bond_list().iter().any(|b| b.name == *port) {
            found.error(
                codes::BOND_PORTS,
                here,
                format!("{port} is a bond, and a bond cannot be a member of a bond"),
                "name IPoIB interfaces or P_Key children",
            );
        }
    }
}

/// The MTU of a bond is given to its members; one without takes 1500, whatever the fabric can.
fn mtu(bond: &BondWant, all: &[Entry<'_>], at: &Pointer, found: &mut Findings) {
    let Some(mtu) = bond.ip().mtu() else {
        found.warn(
            codes::BOND_MTU_DEFAULT,
            at.key("mtu"),
            format!("{} has no MTU: a bond begins with 1500 and sets its members to the same (linux: bond_main.c, bond_enslave), less than IPoIB carries", bond.name),
            "give the MTU that the members' fabric carries: 2044, or 4092 with a 4K group",
        );
        return;
    };
    let datagram = bond.ports.iter().find(|port| {
        all.iter()
            .any(|e| e.name.as_deref() == Some(port.as_str()) && e.mode == Some(Mode::Datagram))
    });
    if let Some(port) = datagram
        && mtu > DATAGRAM_MAX
    {
        found.error(
            codes::MTU_ABOVE_DATAGRAM,
            at.key("mtu"),
            format!("MTU {mtu} of {} is given to its members, and {port} is in datagram mode, which carries {DATAGRAM_MAX} at most", bond.name),
            "give 4092, 2044 or auto",
        );
    }
}

/// Members carry no IP, and a bond has no children. Runs again with the names of resolved ports.
pub fn members(want: &Want, all: &[Entry<'_>], found: &mut Findings) {
    for entry in all {
        let Some(name) = entry.name.as_deref() else {
            continue;
        };
        if let What::Interface(link) = entry.what
            && want.bond_list().iter().any(|b| b.name.as_str() == name)
            && !link.partitions.is_empty()
        {
            found.error(
                codes::CHILD_OF_BOND,
                entry.at.key("partitions"),
                format!("{name} is a bond, and a bond has no P_Key children: the kernel makes them on IPoIB interfaces only"),
                "make the children on the member interfaces, and bond those (ib0.8001 with ib1.8001)",
            );
        }
        let Some((n, _)) = bond_of(want, name) else {
            continue;
        };
        if matches!(entry.what, What::Bond(_)) {
            continue;
        }
        for field in entry.ip.fields() {
            found.error(
                codes::PORT_WITH_ADDRESS,
                entry.at.key(field),
                format!(
                    "{name} is a member of {}; an enslaved link carries no IP of its own",
                    want.bond_list()[n].name
                ),
                format!("move `{field}` to /bonds/{n}"),
            );
        }
    }
}
