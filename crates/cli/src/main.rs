//! `ibplan`: the program for people.
//!
//! It reads YAML or JSON, asks the same engine as the agent (in this process), and shows the answer.
//!
//! | module | what |
//! | --- | --- |
//! | [`args`] | the command line |
//! | [`document`], [`yaml`] | a file: its value, and the place of every value |
//! | [`ask`] | from the command line to a request and its response |
//! | [`show`] | from a response to text |
//! | [`tell`] | `explain` and `schema` |

mod args;
mod ask;
mod document;
mod show;
mod tell;
mod yaml;

use clap::Parser;
use ibplan_core::protocol::Exit;
use std::io::{self, Write};
use std::process::ExitCode;

/// What a command ends with: text for standard output, and its status.
struct Ended {
    text: String,
    exit: Exit,
}

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|info| {
        let place = info
            .location()
            .map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
        let _ = writeln!(
            io::stderr(),
            "error[internal.bug]: ibplan failed{place}\n  = hint: report this with the output of `ibplan capture`"
        );
        std::process::exit(Exit::Bug.status());
    }));
    let args = args::Args::parse();
    let choice = args.color.choice();
    choice.write_global();
    let ended = ask::run(args.command);
    // Whoever closed the pipe has read enough; any other failure to print is one.
    let printed = anstream::stdout().lock().write_all(ended.text.as_bytes());
    let lost = printed.is_err_and(|e| e.kind() != io::ErrorKind::BrokenPipe);
    let exit = if lost && ended.exit == Exit::Done {
        Exit::Failed
    } else {
        ended.exit
    };
    ExitCode::from(u8::try_from(exit.status()).unwrap_or(1))
}
