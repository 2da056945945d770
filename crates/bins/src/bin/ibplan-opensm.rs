//! `ibplan-opensm`: the subnet manager alone.

use ibplan_core::resource::{Of, Stage};
use ibplan_core::rooms;
use ibplan_host::Program;
use std::process::ExitCode;

const STAGES: &[&dyn Stage] = &[&Of::<rooms::subnet_manager::SubnetManager>::new()];

fn main() -> ExitCode {
    ibplan_bins::main(&Program {
        name: "ibplan-opensm",
        version: env!("CARGO_PKG_VERSION"),
        stages: STAGES,
        sections: &["subnet_manager"],
    })
}
