//! `explain` and `schema`: texts that need no host.

use crate::Ended;
use crate::args::Schema;
use crate::show::{style, wrap};
use ibplan_core::codes;
use ibplan_core::problem::Code;
use ibplan_core::protocol::Exit;
use std::fmt::Write;

const HOST: &str = include_str!("../../../schemas/v1/host.schema.json");
const REQUEST: &str = include_str!("../../../schemas/v1/request.schema.json");
const RESPONSE: &str = include_str!("../../../schemas/v1/response.schema.json");

/// Prints a schema as it is checked in.
pub(crate) fn schema(which: Schema) -> Ended {
    let text = match which {
        Schema::Host => HOST,
        Schema::Request => REQUEST,
        Schema::Response => RESPONSE,
    };
    Ended {
        text: text.to_owned(),
        exit: Exit::Done,
    }
}

/// Explains one code, or lists all.
pub(crate) fn explain(code: Option<&str>) -> Ended {
    let mut all = codes::all();
    all.sort_by_key(|c| c.id());
    match code {
        None => Ended {
            text: list(&all),
            exit: Exit::Done,
        },
        Some(wanted) => one(&all, wanted),
    }
}

fn list(all: &[Code]) -> String {
    let width = all.iter().map(|c| c.id().len()).max().unwrap_or(0);
    let mut text = String::new();
    for code in all {
        let _ = writeln!(
            text,
            "{:width$}  {}",
            code.id(),
            first_sentence(code.explain(), 76 - width.min(40))
        );
    }
    text
}

/// As much of the beginning as fits.
fn first_sentence(text: &str, width: usize) -> String {
    let sentence = text
        .split_once(". ")
        .map_or(text, |(first, _)| first)
        .trim_end_matches('.');
    wrap(sentence, width.max(20), "")
        .split_once('\n')
        .filter(|(_, rest)| !rest.is_empty())
        .map_or_else(|| sentence.to_owned(), |(first, _)| format!("{first} …"))
}

fn one(all: &[Code], wanted: &str) -> Ended {
    let wanted = wanted.trim().trim_start_matches("error").trim_matches(['[', ']']);
    if let Some(code) = all.iter().find(|c| c.id() == wanted) {
        let title = style::HEAD;
        return Ended {
            text: format!(
                "{title}{}{title:#}\n\n{}",
                code.id(),
                wrap(code.explain(), 80, "")
            ),
            exit: Exit::Done,
        };
    }
    // The whole code is compared, and what stands behind its first word: people remember that.
    let distance = |id: &str| {
        let tail = id.split_once('.').map_or(id, |(_, tail)| tail);
        strsim::damerau_levenshtein(id, wanted).min(strsim::damerau_levenshtein(tail, wanted))
    };
    let mut near: Vec<(usize, &str)> = all
        .iter()
        .map(|c| (distance(c.id()), c.id()))
        .filter(|(d, id)| *d <= 2 + id.len() / 4 || (wanted.len() > 2 && id.contains(wanted)))
        .collect();
    near.sort_unstable();
    let names: Vec<&str> = near.iter().take(3).map(|(_, id)| *id).collect();
    let hint = if names.is_empty() {
        "`ibplan explain` lists them all".to_owned()
    } else {
        format!("did you mean {}?", names.join(" or "))
    };
    anstream::eprintln!("error: there is no code \"{}\"; {hint}", wanted.escape_debug());
    Ended {
        text: String::new(),
        exit: Exit::RequestRefused,
    }
}
