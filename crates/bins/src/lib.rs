//! What the agent programs share: read one request, serve it, print one response, end with its status.
//!
//! | stream | what |
//! | --- | --- |
//! | standard input, or the file named by the only argument | the request, read no further than its size limit |
//! | standard output | exactly one JSON object and a newline |
//! | standard error | progress, one JSON object a line |
//!
//! The status is that of [`Exit`]. A panic too ends in a response and a status: see [`bug_hook`].

mod bug;
mod input;

pub use bug::{bug_hook, bug_response};

use ibplan_core::codes;
use ibplan_core::pointer::Pointer;
use ibplan_core::problem::Problem;
use ibplan_core::protocol::{Exit, Response};
use ibplan_host::{Program, Progress};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
enum Asked {
    /// Serve the request in this file; `None`: on standard input.
    Serve(Option<PathBuf>),
    /// Print a text for people.
    Tell(String),
}

/// Runs a program from its command line to its exit status.
pub fn main(program: &Program) -> ExitCode {
    bug_hook(program);
    let asked = asked(program, std::env::args_os().skip(1));
    let (response, exit) = match asked {
        Ok(Asked::Tell(text)) => {
            // Whoever closed the pipe has read enough.
            let _ = io::stdout().write_all(text.as_bytes());
            return ExitCode::SUCCESS;
        }
        Ok(Asked::Serve(file)) => serve(program, file.as_deref()),
        Err(problem) => refuse(program, problem),
    };
    ExitCode::from(answer(&response, exit))
}

/// Reads the command line.
fn asked(program: &Program, args: impl Iterator<Item = OsString>) -> Result<Asked, Problem> {
    let mut parser = lexopt::Parser::from_args(args);
    let mut file = None;
    while let Some(arg) = parser.next().map_err(|e| usage(e.to_string()))? {
        match arg {
            lexopt::Arg::Long("help") | lexopt::Arg::Short('h') => return Ok(Asked::Tell(help(program))),
            lexopt::Arg::Long("version") | lexopt::Arg::Short('V') => {
                return Ok(Asked::Tell(format!("{} {}\n", program.name, program.version)));
            }
            lexopt::Arg::Value(path) if file.is_none() => file = Some(PathBuf::from(path)),
            lexopt::Arg::Value(_) => return Err(usage("more than one argument was given".to_owned())),
            other => return Err(usage(other.unexpected().to_string())),
        }
    }
    Ok(Asked::Serve(file))
}

fn usage(message: String) -> Problem {
    codes::REQUEST_ARGUMENTS.at(
        Pointer::of("request"),
        message,
        "send the request on standard input, or name its file as the only argument",
    )
}

fn help(program: &Program) -> String {
    format!(
        "{name} {version}: serves one ibplan request on this host\n\n\
         usage: {name} < request.json\n       {name} request.json\n\n\
         sections: {sections}\n\
         The response is one JSON object on standard output, progress is JSON lines on standard error.\n\
         Exit: 0 done, 1 failed, 2 request refused, 3 host refused, 70 bug. People use `ibplan`.\n",
        name = program.name,
        version = program.version,
        sections = program.sections.join(" "),
    )
}

fn serve(program: &Program, file: Option<&Path>) -> (Response, Exit) {
    match request(file) {
        Ok(bytes) => ibplan_host::serve(&bytes, program, &mut report),
        Err(problem) => refuse(program, problem),
    }
}

/// The bytes of the request, at most one more than the limit: parsing refuses those that reach it.
fn request(file: Option<&Path>) -> Result<Vec<u8>, Problem> {
    let (from, read) = match file {
        None => ("standard input".to_owned(), input::bounded(io::stdin().lock())),
        Some(path) => (
            path.display().to_string(),
            File::open(path).and_then(input::bounded),
        ),
    };
    read.map_err(|e| {
        codes::REQUEST_UNREADABLE.at(
            Pointer::of("request"),
            format!("{} cannot be read: {e}", from.escape_debug()),
            "name a file that this user can read, or send the request on standard input",
        )
    })
}

fn refuse(program: &Program, problem: Problem) -> (Response, Exit) {
    let mut response = Response::new(format!("{} {}", program.name, program.version), None);
    response.ok = false;
    response.errors.push(problem);
    (response, Exit::RequestRefused)
}

/// Progress is a courtesy: that nobody reads it must not stop a transaction.
fn report(progress: &Progress) {
    if let Ok(mut line) = serde_json::to_vec(progress) {
        line.push(b'\n');
        let _ = io::stderr().write_all(&line);
    }
}

/// Prints the response. The status says "failed" when it could not be delivered whole.
fn answer(response: &Response, exit: Exit) -> u8 {
    let delivered = bug::deliver(response).is_ok();
    let status = match exit {
        Exit::Done if !delivered => Exit::Failed,
        other => other,
    };
    u8::try_from(status.status()).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: Program = Program {
        name: "ibplan-test",
        version: "0.0.0",
        stages: &[],
        sections: &["sysctl"],
    };

    fn of(args: &[&str]) -> Result<Asked, Problem> {
        asked(&PROGRAM, args.iter().map(OsString::from))
    }

    #[test]
    fn one_argument_is_the_file_and_more_are_refused() {
        assert_eq!(of(&[]).unwrap(), Asked::Serve(None));
        assert_eq!(of(&["r.json"]).unwrap(), Asked::Serve(Some("r.json".into())));
        assert_eq!(
            of(&["--", "--help"]).unwrap(),
            Asked::Serve(Some("--help".into()))
        );
        for bad in [&["a", "b"][..], &["--root"], &["-x"], &["a", "--check=yes"]] {
            assert_eq!(of(bad).unwrap_err().code, codes::REQUEST_ARGUMENTS, "{bad:?}");
        }
    }

    #[test]
    fn help_and_version_are_short() {
        assert_eq!(
            of(&["--version"]).unwrap(),
            Asked::Tell("ibplan-test 0.0.0\n".to_owned())
        );
        let Asked::Tell(text) = of(&["-h"]).unwrap() else {
            panic!("no help")
        };
        assert!(text.contains("sections: sysctl\n"), "{text}");
        assert!(text.lines().all(|l| l.len() <= 110), "{text}");
    }

    #[test]
    fn a_request_that_cannot_be_read_is_refused() {
        for path in ["/nonexistent/request.json", "/"] {
            let problem = request(Some(Path::new(path))).unwrap_err();
            assert_eq!(problem.code, codes::REQUEST_UNREADABLE, "{path}");
        }
    }
}
