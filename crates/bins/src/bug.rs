//! What happens when the program itself is wrong: still one response, and status 70.

use ibplan_core::codes;
use ibplan_core::pointer::Pointer;
use ibplan_core::protocol::{Exit, Response};
use ibplan_host::Program;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::panic::{Location, PanicHookInfo};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a response was begun: there must never be two.
static ANSWERED: AtomicBool = AtomicBool::new(false);

/// Writes a response, the first time it is called.
///
/// It goes to the descriptor itself, not through the lock and buffer of [`io::stdout`], which may be in any state when
/// a panic hook runs.
pub(crate) fn deliver(response: &Response) -> io::Result<()> {
    if ANSWERED.swap(true, Ordering::SeqCst) {
        return Ok(());
    }
    let mut line = serde_json::to_vec(response)?;
    line.push(b'\n');
    File::from(io::stdout().as_fd().try_clone_to_owned()?).write_all(&line)
}

/// The response of a program that failed at a place of its own source.
///
/// The text of a panic is left out unless it is a fixed one: it may quote a value, and a value may be a secret.
pub fn bug_response(program: &Program, place: Option<&Location<'_>>, fixed_text: Option<&str>) -> Response {
    let mut response = Response::new(format!("{} {}", program.name, program.version), None);
    let place = place.map_or_else(
        || "an unknown place".to_owned(),
        |at| format!("{}:{}", at.file(), at.line()),
    );
    let text = fixed_text.map_or_else(String::new, |text| format!(": {text}"));
    response.ok = false;
    response.errors.push(codes::INTERNAL_BUG.at(
        Pointer::of("request"),
        format!("{} failed at {place}{text}", program.name),
        "run it again: what was half done is taken back first; report this with the output of `ibplan capture`",
    ));
    response
}

/// From now on a panic prints [`bug_response`] and ends the process with status 70.
///
/// The hook ends the process itself: with `panic = "abort"` nothing runs after it and the status would be that of a
/// signal.
pub fn bug_hook(program: &Program) {
    let (name, version) = (program.name, program.version);
    std::panic::set_hook(Box::new(move |info: &PanicHookInfo<'_>| {
        let program = Program {
            name,
            version,
            stages: &[],
            sections: &[],
        };
        let fixed = info.payload().downcast_ref::<&'static str>().copied();
        let _ = deliver(&bug_response(&program, info.location(), fixed));
        std::process::exit(Exit::Bug.status());
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_where_and_never_quotes_a_value() {
        let program = Program {
            name: "ibplan-host",
            version: "1.2.3",
            stages: &[],
            sections: &[],
        };
        let response = bug_response(&program, Some(Location::caller()), None);
        assert_eq!(response.tool, "ibplan-host 1.2.3");
        assert!(!response.ok);
        assert_eq!(response.errors[0].code.id(), "internal.bug");
        assert!(
            response.errors[0].message.contains("bug.rs:"),
            "{}",
            response.errors[0].message
        );
        let response = bug_response(&program, None, Some("no stage"));
        assert!(response.errors[0].message.ends_with("an unknown place: no stage"));
    }
}
