//! The project's own chores. `cargo xtask help` lists them.
//!
//! | module | what |
//! | --- | --- |
//! | [`demo`] | the main job on real input |
//! | [`setup`] | installs what tests need |
//! | [`suite`] | every check, build and test, counted |
//! | [`generate`] | schemas and reference pages, from the Rust types |
//! | [`static_check`] | rules of the house that no compiler knows |
//! | [`bench`] | speed and size against the budget |
//! | [`shell`], [`tally`] | running programs; counting |

mod bench;
mod demo;
mod generate;
mod setup;
mod shell;
mod static_check;
mod suite;
mod tally;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Chores of the ibplan project.
#[derive(Parser)]
#[command(name = "cargo xtask", version)]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// The main job on real input: two captured hosts brought to a document, shown unchanged, and taken back.
    Demo,
    /// Install what the tests need: Debian packages, Rust targets and components, cargo-deny.
    Setup,
    /// Set up, then run every check and test; the last line is `N passed, N failed`.
    Test {
        /// Give property and crash tests many more cases (sets IBPLAN_LONG=1).
        #[arg(long)]
        long: bool,
    },
    /// Write schemas/ and docs/reference/ from the Rust types.
    Generate {
        /// Write nothing; fail if a file differs from what would be written.
        #[arg(long)]
        check: bool,
    },
    /// Check the rules of the house that no compiler knows.
    StaticCheck,
    /// Measure speed and size, and print them beside the budget.
    Bench,
}

fn main() -> ExitCode {
    let done = match Arguments::parse().chore {
        Chore::Demo => demo::run(),
        Chore::Setup => setup::run(),
        Chore::Test { long } => return suite::run(long),
        Chore::Generate { check } => generate::run(check),
        Chore::StaticCheck => static_check::run(),
        Chore::Bench => bench::run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
