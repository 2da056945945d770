//! `ibplan-host`: the agent on a managed host, for the whole document.

use ibplan_core::rooms;
use ibplan_host::Program;
use std::process::ExitCode;

fn main() -> ExitCode {
    ibplan_bins::main(&Program {
        name: "ibplan-host",
        version: env!("CARGO_PKG_VERSION"),
        stages: rooms::HOST,
        sections: ibplan_core::state::SECTIONS,
    })
}
