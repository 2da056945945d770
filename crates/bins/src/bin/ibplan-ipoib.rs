//! `ibplan-ipoib`: IPoIB interfaces and their bonds alone.

use ibplan_core::resource::{Of, Stage};
use ibplan_core::rooms;
use ibplan_host::Program;
use std::process::ExitCode;

const STAGES: &[&dyn Stage] = &[&Of::<rooms::ipoib::Ipoib>::new()];

fn main() -> ExitCode {
    ibplan_bins::main(&Program {
        name: "ibplan-ipoib",
        version: env!("CARGO_PKG_VERSION"),
        stages: STAGES,
        sections: &["ipoib", "bonds", "network_backend"],
    })
}
