//! The room `sysctl`.

pub mod codes;
pub mod want;

use crate::facts::Facts;
use crate::plan::Plan;
use crate::probe::{Probe, ProbeError};
use crate::resource::Resource;
use crate::state::HostState;

/// The room.
#[derive(Clone, Copy, Debug)]
pub struct Sysctl;

impl Resource for Sysctl {
    const NAME: &'static str = "sysctl";
    type Want = want::SysctlWant;
    type Seen = ();

    fn wanted(s: &HostState) -> Option<Self::Want> {
        s.sysctl.clone()
    }

    fn observe(_: &Self::Want, _: &Facts, _: &dyn Probe) -> Result<(), ProbeError> {
        Ok(())
    }

    fn plan(_: &Self::Want, (): &(), _: &Facts) -> Plan {
        Plan::default()
    }
}
