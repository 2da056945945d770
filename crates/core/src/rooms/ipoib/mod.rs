//! The room `ipoib`: the sections `ipoib` and `bonds`, written in the language of the host's network back end.
//!
//! The document is brought into one model of a link ([`model`]); each back end ([`backend`]) renders links to its files and
//! reads files to links, so that changes are told in the document's terms whatever the dialect. What the room does:
//!
//! * It writes the files of the links, and takes away other files that configure the same links (their originals are kept).
//! * It takes no link down: `pending.links` has the command for each link whose running state differs.
//! * It refuses what the kernel would refuse later and worse: connected mode on adapters with enhanced IPoIB, MTUs above
//!   4092 in datagram mode, bonds other than active-backup, names of children that do not fit.
//! * `mtu: auto` means that no file sets an MTU; a file that does is a change from that number to `auto`. What the fabric
//!   then gives is never a change.
//!
//! Sources: linux `drivers/infiniband/ulp/ipoib`, `drivers/net/bonding/bond_main.c`, `Documentation/infiniband/ipoib.rst`;
//! those of each back end stand in its module.

pub mod backend;
pub mod changes;
pub mod check;
pub mod choose;
pub mod codes;
pub mod commands;
pub mod entry;
pub mod former;
pub mod model;
pub mod placed;
pub mod plan;
pub mod resolve;
pub mod seen;
#[cfg(test)]
mod tests;
pub mod want;

use crate::facts::Facts;
use crate::plan::Plan;
use crate::probe::{Probe, ProbeError};
use crate::problem::Findings;
use crate::resource::Resource;
use crate::state::HostState;

/// The room.
#[derive(Clone, Copy, Debug)]
pub struct Ipoib;

impl Resource for Ipoib {
    const NAME: &'static str = "ipoib";
    type Want = entry::Want;
    type Seen = seen::Seen;

    fn sections(state: &HostState) -> Vec<&'static str> {
        let ipoib = state.ipoib.is_some().then_some("ipoib");
        let bonds = state.bonds.is_some().then_some("bonds");
        ipoib.into_iter().chain(bonds).collect()
    }

    fn wanted(state: &HostState) -> Option<entry::Want> {
        (state.ipoib.is_some() || state.bonds.is_some()).then(|| entry::Want {
            ipoib: state.ipoib.clone(),
            bonds: state.bonds.clone(),
            backend: state.network_backend.unwrap_or_default(),
        })
    }

    fn check(want: &entry::Want, state: &HostState, found: &mut Findings) {
        check::document(want, state, found);
    }

    fn check_host(want: &entry::Want, facts: &Facts, found: &mut Findings) {
        check::host::host(want, facts, found);
    }

    fn observe(want: &entry::Want, facts: &Facts, probe: &dyn Probe) -> Result<seen::Seen, ProbeError> {
        seen::observe(want, facts, probe)
    }

    fn plan(_: &entry::Want, seen: &seen::Seen, facts: &Facts) -> Plan {
        plan::plan(seen, facts)
    }

    fn after_prune(facts: &Facts, pruned: &Plan) -> Plan {
        commands::after_prune(facts, pruned)
    }
}
