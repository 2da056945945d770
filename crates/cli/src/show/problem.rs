//! An error or warning with the place in the file.

use super::style::{BAD, DIM, HEAD, LOUD, PLACE, clean, wrap};
use crate::args::FLAGS;
use crate::document::Source;
use crate::yaml::{Located, Place};
use std::fmt::Write;

/// Most characters of a source line that are shown.
const LINE: usize = 100;

/// Shows one problem.
pub(crate) fn problem(located: &Located, source: &Source, is_error: bool) -> String {
    let Located { problem, place } = located;
    let (style, word) = if is_error {
        (BAD, "error")
    } else {
        (LOUD, "warning")
    };
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{style}{word}[{}]{style:#}{HEAD}: {}{HEAD:#}",
        problem.code,
        clean(&problem.message)
    );
    let pointer = problem.path.as_str();
    let option = pointer
        .strip_prefix("/request/options/")
        .and_then(|name| FLAGS.iter().find(|(option, _)| *option == name));
    let of_request = problem.path.section() == "request";
    match (place, option) {
        (Some(place), _) => text += &excerpt(source, *place),
        (None, Some((_, flag))) => {
            let _ = writeln!(text, "  {PLACE}-->{PLACE:#} option {flag}");
        }
        (None, None) if !source.name.is_empty() && !of_request => {
            let _ = writeln!(text, "  {PLACE}-->{PLACE:#} {}", clean(&source.name));
        }
        (None, None) => {}
    }
    if !pointer.is_empty() && !of_request {
        let _ = writeln!(text, "   {PLACE}={PLACE:#} {DIM}at {}{DIM:#}", clean(pointer));
    }
    let _ = write!(
        text,
        "   {PLACE}={PLACE:#} hint: {}",
        wrap(&clean(&problem.hint), 100, "           ")
    );
    text.push('\n');
    text
}

/// The line of a place, with carets below it.
fn excerpt(source: &Source, place: Place) -> String {
    let gutter = " ".repeat(place.line.to_string().len());
    let line = source.text.lines().nth(place.line - 1).unwrap_or("");
    // A long line is cut so that the place stays in sight.
    let skip = (place.column - 1).saturating_sub(LINE - 30);
    let cut: String = line.chars().skip(skip).take(LINE).collect();
    let lead: String = line.chars().skip(skip).take(place.column - 1 - skip).collect();
    let marked: String = line
        .chars()
        .skip(place.column - 1)
        .take(place.width.min(LINE))
        .collect();
    let (before, behind) = (
        if skip > 0 { "…" } else { "" },
        if line.chars().count() > skip + LINE {
            "…"
        } else {
            ""
        },
    );
    let blanks = " ".repeat(clean(&lead).chars().count() + before.chars().count());
    let carets = "^".repeat(clean(&marked).chars().count().max(1));
    format!(
        "{gutter}{PLACE}-->{PLACE:#} {}:{}:{}\n\
         {gutter} {PLACE}|{PLACE:#}\n\
         {PLACE}{} |{PLACE:#} {before}{}{behind}\n\
         {gutter} {PLACE}|{PLACE:#} {blanks}{BAD}{carets}{BAD:#}\n",
        clean(&source.name),
        place.line,
        place.column,
        place.line,
        clean(&cut),
    )
}
