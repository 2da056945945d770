//! The room `ipoib`.

pub mod backend;
pub mod codes;
pub mod model;
pub mod want;

use crate::facts::Facts;
use crate::plan::Plan;
use crate::probe::{Probe, ProbeError};
use crate::resource::Resource;
use crate::state::HostState;

/// The room.
#[derive(Clone, Copy, Debug)]
pub struct Ipoib;

impl Resource for Ipoib {
    const NAME: &'static str = "ipoib";
    type Want = Vec<want::IpoibWant>;
    type Seen = ();

    fn wanted(s: &HostState) -> Option<Self::Want> {
        s.ipoib.clone()
    }

    fn observe(_: &Self::Want, _: &Facts, _: &dyn Probe) -> Result<(), ProbeError> {
        Ok(())
    }

    fn plan(_: &Self::Want, (): &(), _: &Facts) -> Plan {
        Plan::default()
    }
}
