//! The room `sysctl`: kernel parameters, in a drop-in for the next boot and below /proc/sys for now.
//!
//! * One own file, `/etc/sysctl.d/90-ibplan.conf`, read by systemd-sysctl and by procps alike. `/etc/sysctl.conf` is never
//!   edited. A file that sorts later (`99-sysctl.conf`, a link to `/etc/sysctl.conf` on most distributions) wins at boot;
//!   that is told.
//! * Values are compared by tokens: the kernel prints vectors with tabs and numbers in decimal.
//! * The file and the kernel are two sides. A key of a link that is not there yet is pending, not wrong: udev's
//!   99-systemd.rules applies the drop-in to it when the link appears.
//! * Other owners: the five folders of sysctl.d(5) with their masking and their order, `/etc/sysctl.conf`, and the
//!   `[sysctl]` sections of tuned's active profile, which tuned follows by /etc/sysctl.d again unless `reapply_sysctl=0`.
//!   A packaged default that sorts earlier is overridden silently: that is what drop-ins are for.
//! * Nothing here affects verbs traffic; see [`profile`].
//!
//! Change entries: one for each key, with file and kernel together: `before` is the plain value when both agree (or only
//! the file counts), else `{"file": …, "live": …}`. Values of a profile share the path `/sysctl_profile` and are wrapped
//! as `{"net.core.rmem_max": …}`.
//!
//! Sources: sysctl.d(5), sysctl(8) of procps-ng 4, systemd src/sysctl/sysctl.c, tuned.conf(5), tuned-main.conf(5).

pub mod codes;
pub mod owners;
pub mod plan;
pub mod profile;
pub mod rules;
pub mod seen;
pub mod want;

#[cfg(test)]
mod tests;

use crate::facts::Facts;
use crate::plan::Plan;
use crate::pointer::Pointer;
use crate::probe::{Probe, ProbeError};
use crate::problem::Findings;
use crate::resource::Resource;
use crate::state::HostState;
use std::collections::BTreeMap;
use std::time::Duration;
use want::{SysctlKey, SysctlValue};

pub use seen::Seen;

/// The room.
#[derive(Clone, Copy, Debug)]
pub struct Sysctl;

/// What the sections `sysctl` and `sysctl_profile` want together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    keys: BTreeMap<SysctlKey, Entry>,
    twice: Vec<(String, String)>,
}

/// One wanted value.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    value: SysctlValue,
    pointer: Pointer,
    /// Given in `sysctl`, not by a profile.
    explicit: bool,
}

impl Wanted {
    /// Where the drop-in as a whole comes from.
    fn pointer(&self) -> Pointer {
        let explicit = self.keys.is_empty() || self.keys.values().any(|e| e.explicit);
        Pointer::of(if explicit { "sysctl" } else { "sysctl_profile" })
    }
}

impl Resource for Sysctl {
    const NAME: &'static str = "sysctl";
    /// udev sets the keys of a link that an earlier room has just made.
    const SETTLE: Duration = Duration::from_secs(5);
    type Want = Wanted;
    type Seen = Seen;

    fn wanted(state: &HostState) -> Option<Wanted> {
        if state.sysctl.is_none() && state.sysctl_profile.is_none() {
            return None;
        }
        let mut wanted = Wanted::default();
        for (key, value) in state.sysctl_profile.iter().flat_map(|p| p.parsed()) {
            let pointer = Pointer::of("sysctl_profile");
            wanted.keys.insert(
                key,
                Entry {
                    value,
                    pointer,
                    explicit: false,
                },
            );
        }
        if let Some(given) = &state.sysctl {
            for (key, spelled, value) in given.iter() {
                let entry = Entry {
                    value: value.clone(),
                    pointer: Pointer::of("sysctl").key(spelled),
                    explicit: true,
                };
                wanted.keys.insert(key.clone(), entry);
            }
            wanted.twice = given.twice().to_vec();
        }
        Some(wanted)
    }

    fn check(want: &Wanted, _: &HostState, found: &mut Findings) {
        rules::check(want, found);
    }

    fn observe(want: &Wanted, facts: &Facts, probe: &dyn Probe) -> Result<Seen, ProbeError> {
        seen::observe(want, facts, probe)
    }

    fn plan(want: &Wanted, seen: &Seen, facts: &Facts) -> Plan {
        plan::plan(want, seen, facts)
    }
}
