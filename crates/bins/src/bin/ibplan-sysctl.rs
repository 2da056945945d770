//! `ibplan-sysctl`: kernel parameters alone.

use ibplan_core::resource::{Of, Stage};
use ibplan_core::rooms;
use ibplan_host::Program;
use std::process::ExitCode;

const STAGES: &[&dyn Stage] = &[&Of::<rooms::sysctl::Sysctl>::new()];

fn main() -> ExitCode {
    ibplan_bins::main(&Program {
        name: "ibplan-sysctl",
        version: env!("CARGO_PKG_VERSION"),
        stages: STAGES,
        sections: &["sysctl", "sysctl_profile"],
    })
}
