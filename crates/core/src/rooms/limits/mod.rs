//! The room `limits`.

pub mod codes;
pub mod want;

use crate::facts::Facts;
use crate::plan::Plan;
use crate::probe::{Probe, ProbeError};
use crate::resource::Resource;
use crate::state::HostState;

/// The room.
#[derive(Clone, Copy, Debug)]
pub struct Limits;

impl Resource for Limits {
    const NAME: &'static str = "limits";
    type Want = want::LimitsWant;
    type Seen = ();

    fn wanted(s: &HostState) -> Option<Self::Want> {
        s.limits.clone()
    }

    fn observe(_: &Self::Want, _: &Facts, _: &dyn Probe) -> Result<(), ProbeError> {
        Ok(())
    }

    fn plan(_: &Self::Want, (): &(), _: &Facts) -> Plan {
        Plan::default()
    }
}
