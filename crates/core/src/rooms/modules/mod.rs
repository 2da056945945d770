//! The room `modules`: kernel modules loaded at boot and now, with their parameters.
//!
//! * Two own files: `/etc/modules-load.d/ibplan.conf` (modules-load.d(5)) and `/etc/modprobe.d/ibplan.conf`
//!   (modprobe.d(5), `options` lines). A section without any parameter keeps no options file.
//! * A module is loaded now if it is not; it is never unloaded and never reloaded. A parameter that a loaded module has
//!   otherwise stays pending until the driver is next loaded: unloading ib_ipoib would take all IPoIB links away.
//! * The kernel must have the module: `modules.dep` and `modules.builtin` are read. A bare image without them is trusted.
//! * ib_ipoib rounds its queue sizes to powers of two; the rounded value counts as equal.
//! * Other `options`, `blacklist` and `install` lines are found in all folders of modprobe.d(5) and on the kernel's
//!   command line, and told with who wins. `blacklist` also binds systemd-modules-load, not only udev.
//! * An initramfs that carries the module carries its own copy of modprobe.d; it has to be rebuilt by the distribution's
//!   own tool for the options to count there.
//!
//! Sources: modprobe.d(5), modules-load.d(5), depmod.d(5); linux: drivers/infiniband/ulp/ipoib/ipoib_main.c,
//! kernel/params.c.

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
pub struct Modules;

impl Resource for Modules {
    const NAME: &'static str = "modules";
    type Want = Vec<want::ModuleWant>;
    type Seen = seen::Seen;

    fn wanted(state: &HostState) -> Option<Self::Want> {
        state.modules.clone()
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
}
