//! The room `subnet_manager`.

pub mod codes;
pub mod conf;
pub mod options;
pub mod want;

use crate::facts::Facts;
use crate::plan::Plan;
use crate::probe::{Probe, ProbeError};
use crate::resource::Resource;
use crate::state::HostState;

/// The room.
#[derive(Clone, Copy, Debug)]
pub struct SubnetManager;

impl Resource for SubnetManager {
    const NAME: &'static str = "subnet_manager";
    type Want = want::SubnetManagerWant;
    type Seen = ();

    fn wanted(s: &HostState) -> Option<Self::Want> {
        s.subnet_manager.clone()
    }

    fn observe(_: &Self::Want, _: &Facts, _: &dyn Probe) -> Result<(), ProbeError> {
        Ok(())
    }

    fn plan(_: &Self::Want, (): &(), _: &Facts) -> Plan {
        Plan::default()
    }
}
