//! The room `subnet_manager`: opensm on this host, its partitions, its service.
//!
//! What makes it worth a room of its own: opensm ends with exit status 0 for nearly every mistake, ignores keys that it does
//! not know, drops a partitions file with one mistake whole, and every packaging starts it in another way. So everything that
//! is written is checked here first, by tables ([`options`]) and by a reader as strict as opensm's own ([`partitions`]), and
//! which port it may be given is decided here too ([`ports`]). Sources stand in each module.

pub mod codes;
pub mod conf;
pub mod options;
pub mod partitions;
mod plan;
pub mod ports;
pub mod seen;
pub mod service;
pub mod settings;
pub mod want;

use crate::facts::Facts;
use crate::plan::Plan;
use crate::pointer::Pointer;
use crate::probe::{Probe, ProbeError};
use crate::problem::Findings;
use crate::resource::Resource;
use crate::state::HostState;
use std::time::Duration;
use want::SubnetManagerWant;

/// The room.
#[derive(Clone, Copy, Debug)]
pub struct SubnetManager;

impl Resource for SubnetManager {
    const NAME: &'static str = "subnet_manager";
    /// A unit may be `activating` for some seconds.
    const SETTLE: Duration = Duration::from_secs(10);
    type Want = SubnetManagerWant;
    type Seen = Option<seen::Seen>;

    fn wanted(s: &HostState) -> Option<Self::Want> {
        s.subnet_manager.clone()
    }

    fn check(want: &Self::Want, _: &HostState, found: &mut Findings) {
        ports::check(want, found);
        for (index, instance) in want.instances.iter().enumerate() {
            options::check(&instance.options, &ports::at(index).key("options"), found);
        }
        partitions::check(want, found);
    }

    fn check_host(want: &Self::Want, facts: &Facts, found: &mut Findings) {
        if facts.row().is_none() {
            found.error(
                crate::codes::HOST_UNSUPPORTED,
                Pointer::of(Self::NAME),
                format!(
                    "where opensm's files lie on \"{} {}\" is not known",
                    facts.os.id, facts.os.version
                ),
                "leave the section out on this host, or use a supported distribution",
            );
        }
        let instances = ports::resolve(want, facts, found);
        partitions::check_host(want, &instances, facts, found);
    }

    fn observe(want: &Self::Want, facts: &Facts, probe: &dyn Probe) -> Result<Self::Seen, ProbeError> {
        seen::observe(want, facts, probe)
    }

    fn plan(want: &Self::Want, seen: &Self::Seen, facts: &Facts) -> Plan {
        seen.as_ref()
            .map_or_else(Plan::default, |seen| plan::plan(want, seen, facts))
    }
}

#[cfg(test)]
mod tests;
