//! The room `limits`: locked memory (RLIMIT_MEMLOCK) for login sessions and for services.
//!
//! RDMA pins its buffers, and a low limit makes `ibv_reg_mr` fail with ENOMEM. Two ways lead to a process:
//!
//! * PAM sessions read `/etc/security/limits.d` in the C order of file names, at the next login. `*` is everyone but root.
//!   Own file: `90-ibplan.conf`, a soft and a hard line for each user. Files that sort later and name the same user win;
//!   that is told. A line for a user or group is more specific than one for `*`, whatever its file.
//! * Services never see those files (slurmd and its jobs have systemd's default). They get a drop-in each,
//!   `/etc/systemd/system/UNIT.d/90-ibplan.conf`, and systemd reads its units again. A running service keeps its old limit
//!   until it is started again; ibplan never restarts one, since jobs may run below it. What its main process has is read
//!   from `/proc/PID/limits`, found through the service's control group.
//!
//! Numbers are KiB in limits.conf and bytes in LimitMEMLOCK=.
//!
//! Sources: limits.conf(5), pam_limits(8), systemd.exec(5), systemd.unit(5), proc_pid_limits(5).

pub mod codes;
pub mod plan;
pub mod rules;
pub mod seen;
pub mod want;

#[cfg(test)]
mod tests;

use crate::facts::Facts;
use crate::plan::Plan;
use crate::probe::{Probe, ProbeError};
use crate::problem::Findings;
use crate::resource::Resource;
use crate::state::HostState;

/// The room.
#[derive(Clone, Copy, Debug)]
pub struct Limits;

impl Resource for Limits {
    const NAME: &'static str = "limits";
    type Want = want::LimitsWant;
    type Seen = seen::Seen;

    fn wanted(state: &HostState) -> Option<Self::Want> {
        state.limits.clone()
    }

    fn check(want: &Self::Want, _: &HostState, found: &mut Findings) {
        rules::check(want, found);
    }

    fn observe(want: &Self::Want, facts: &Facts, probe: &dyn Probe) -> Result<Self::Seen, ProbeError> {
        seen::observe(want, facts, probe)
    }

    fn plan(want: &Self::Want, seen: &Self::Seen, facts: &Facts) -> Plan {
        plan::plan(want, seen, facts)
    }

    fn after_prune(facts: &Facts, pruned: &Plan) -> Plan {
        plan::after_prune(facts, pruned)
    }
}
