//! From a response to text for a tired person.
//!
//! Everything is written with colours; they are taken out on the way to a pipe.

mod change;
mod facts;
mod history;
mod problem;
pub(crate) mod style;

pub(crate) use change::words;
pub(crate) use problem::problem;
pub(crate) use style::{clean, count, wrap};

use crate::document::{Checked, Source};
use crate::yaml::Located;
use ibplan_core::problem::Problem;
use ibplan_core::protocol::{Exit, Response, Status};
use serde_json::Value;
use std::fmt::Write;

/// What a response is shown with.
pub(crate) struct Shown<'a> {
    /// The document's text, for excerpts.
    pub(crate) source: &'a Source,
    /// The document, for the names of list elements.
    pub(crate) document: Option<&'a Value>,
    /// The root, when it is not `/`.
    pub(crate) root: Option<&'a str>,
    /// The problems of the document with places that only its text has; else those of the response are looked up.
    pub(crate) checked: Option<Checked>,
}

/// Shows a response.
pub(crate) fn response(response: &Response, exit: Exit, with: &Shown<'_>) -> String {
    let mut text = String::new();
    match response.operation {
        Some("facts") if response.ok => text += &facts::facts(&response.facts),
        Some("last") if response.ok => text += &history::last(&response.facts),
        _ => {}
    }
    let ahead = response.operation == Some("plan");
    text += &change::changes(&response.changes, with.document);
    if ahead {
        text += &change::files(&response.diff);
    }
    text += &change::steps(&response.steps, ahead);
    text += &change::pending(&response.pending);
    text += &history::checks(&response.verify);
    text += &problems(response, with);
    if let Some(line) = closing(response, exit, with) {
        let style = if response.ok { style::GOOD } else { style::BAD };
        let (first, rest) = line.split_once('\n').unwrap_or((&line, ""));
        let _ = writeln!(text, "{style}{first}{style:#}");
        if !rest.is_empty() {
            let _ = writeln!(text, "{rest}");
        }
    }
    text
}

/// Warnings before errors: what is read last is what has to be done.
fn problems(response: &Response, with: &Shown<'_>) -> String {
    let locate = |all: &[Problem]| all.iter().map(|p| with.source.locate(p.clone())).collect();
    let found = with.checked.clone().unwrap_or_else(|| Checked {
        errors: locate(&response.errors),
        warnings: locate(&response.warnings),
    });
    let show = |all: &[Located], is_error| -> String {
        all.iter().map(|l| problem(l, with.source, is_error)).collect()
    };
    show(&found.warnings, false) + &show(&found.errors, true)
}

/// The last line: what it came to.
fn closing(response: &Response, exit: Exit, with: &Shown<'_>) -> Option<String> {
    let untouched = "nothing was touched.";
    if response.operation == Some("verify") && !response.verify.is_empty() {
        return Some(verified(response));
    }
    if !response.ok {
        let errors = count(response.errors.len(), "error");
        return Some(match exit {
            Exit::RequestRefused | Exit::HostRefused => format!("{errors}; {untouched}"),
            _ if response.steps.is_empty() => format!("{errors}."),
            _ => format!("{errors}; {}.", fates(response)),
        });
    }
    let changes = count(response.changes.len(), "change");
    let steps = count(response.steps.len(), "step");
    match response.operation? {
        "plan" | "apply" if response.changes.is_empty() && response.steps.is_empty() => {
            Some("No change: the host is as wanted.".to_owned())
        }
        "plan" => Some(format!("{changes}, {steps}; {untouched}")),
        "apply" => Some(format!("{changes}, {steps}: done.{}", way_back(response, with))),
        "rollback" => Some(match response.transaction {
            Some(n) => format!("Transaction {n} was taken back: {}.", fates(response)),
            None => "There was nothing to take back.".to_owned(),
        }),
        "verify" => Some("The document manages nothing, so nothing was checked.".to_owned()),
        "capture" => Some("Captured.".to_owned()),
        _ => None,
    }
}

fn verified(response: &Response) -> String {
    let checks = count(response.verify.len(), "check");
    let failed = response.verify.iter().filter(|c| !c.ok).count();
    if failed == 0 {
        format!("{checks}, all good: the host is as wanted.")
    } else {
        format!("{checks}, {failed} failed; nothing was touched.")
    }
}

/// How to take an apply back.
fn way_back(response: &Response, with: &Shown<'_>) -> String {
    let Some(number) = response.transaction else {
        return String::new();
    };
    let root = with
        .root
        .map_or_else(String::new, |r| format!(" --root {}", quoted(r)));
    format!("\nTransaction {number}; take it back with: ibplan rollback --transaction {number}{root}")
}

/// A word for a shell: quoted unless it is plainly harmless.
fn quoted(word: &str) -> String {
    let plain = !word.is_empty()
        && word
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"/._-+".contains(&b));
    if plain {
        word.to_owned()
    } else {
        format!("'{}'", clean(word).replace('\'', r"'\''"))
    }
}

/// `3 steps done, 1 failed, 3 undone`.
fn fates(response: &Response) -> String {
    let parts: Vec<String> = [
        (Status::Done, "done"),
        (Status::Failed, "failed"),
        (Status::Undone, "undone"),
        (Status::Planned, "not begun"),
    ]
    .iter()
    .filter_map(|(status, word)| {
        let n = response.steps.iter().filter(|s| s.status == *status).count();
        (n > 0).then(|| format!("{} {word}", count(n, "step")))
    })
    .collect();
    if parts.is_empty() {
        "no step".to_owned()
    } else {
        parts.join(", ")
    }
}

#[cfg(test)]
mod tests;
