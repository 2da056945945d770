//! Files made from the Rust types and their doc comments, checked in so that they can be read and reviewed.

mod described;
mod pages;
mod schemas;

use crate::shell;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;

/// A generated file.
struct Made {
    /// Path below the repository's root.
    name: &'static str,
    text: String,
}

/// Writes every generated file, or with `check` compares and writes nothing.
pub(crate) fn run(check: bool) -> Result<()> {
    let root = shell::root();
    let mut stale = Vec::new();
    let made = all()?;
    for file in &made {
        let path = root.join(file.name);
        let current = fs::read_to_string(&path).unwrap_or_default();
        if current == file.text {
            continue;
        }
        if check {
            println!("{}: {}", file.name, first_difference(&current, &file.text));
            stale.push(file.name);
        } else {
            write(&path, &file.text)?;
            println!("generate: wrote {}", file.name);
        }
    }
    if stale.is_empty() {
        println!("generate: {} files are current", made.len());
        Ok(())
    } else {
        bail!(
            "not current: {}; run `cargo xtask generate` and commit",
            stale.join(", ")
        )
    }
}

fn all() -> Result<Vec<Made>> {
    let host = schemas::host();
    let request = schemas::request();
    let response = schemas::response();
    let mut bare = Vec::new();
    for (name, schema) in [("host", &host), ("request", &request), ("response", &response)] {
        bare.extend(
            described::missing(schema.as_value())
                .into_iter()
                .map(|p| format!("{name}: {p}")),
        );
    }
    if !bare.is_empty() {
        bail!(
            "fields without a doc comment, so without a description in the schema: {}",
            bare.join(", ")
        );
    }
    Ok(vec![
        Made {
            name: "docs/reference/codes.md",
            text: pages::codes(),
        },
        Made {
            name: "docs/reference/host.md",
            text: pages::host(host.as_value()),
        },
        Made {
            name: "schemas/v1/host.schema.json",
            text: schemas::text(&host)?,
        },
        Made {
            name: "schemas/v1/request.schema.json",
            text: schemas::text(&request)?,
        },
        Made {
            name: "schemas/v1/response.schema.json",
            text: schemas::text(&response)?,
        },
    ])
}

fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// The first line that differs, for a person who wonders what changed.
fn first_difference(current: &str, wanted: &str) -> String {
    if current.is_empty() {
        return "is not there".to_owned();
    }
    let same = current
        .lines()
        .zip(wanted.lines())
        .take_while(|(a, b)| a == b)
        .count();
    let line = |text: &str| {
        text.lines()
            .nth(same)
            .unwrap_or("(end of file)")
            .trim()
            .to_owned()
    };
    format!(
        "line {}: has `{}`, should be `{}`",
        same + 1,
        line(current),
        line(wanted)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_named() {
        assert_eq!(first_difference("", "a\n"), "is not there");
        assert_eq!(
            first_difference("a\nb\n", "a\nc\n"),
            "line 2: has `b`, should be `c`"
        );
        assert!(first_difference("a\n", "a\nc\n").contains("(end of file)"));
    }

    #[test]
    fn what_is_made_is_the_same_twice() {
        let (one, two) = (all().unwrap(), all().unwrap());
        assert_eq!(one.len(), 5);
        for (a, b) in one.iter().zip(&two) {
            assert_eq!(a.text, b.text, "{}", a.name);
        }
    }
}
