//! The examples of the README are real: each block that begins with `$ ibplan` is run and compared.
//!
//! After a change that is meant: `IBPLAN_README=write cargo test -p ibplan --test readme`, then read the difference.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::Command;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .unwrap()
        .to_owned()
}

/// What a command of the README prints: standard output, then standard error.
fn run(line: &str) -> String {
    let words: Vec<&str> = line
        .strip_prefix("$ ibplan ")
        .unwrap()
        .split_whitespace()
        .collect();
    let output = Command::new(env!("CARGO_BIN_EXE_ibplan"))
        .args(words)
        .current_dir(repository())
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8(text).unwrap()
}

#[test]
fn the_examples_of_the_readme_are_what_ibplan_prints() {
    let file = repository().join("README.md");
    let text = std::fs::read_to_string(&file).unwrap();
    let mut fresh = String::new();
    let mut rest = text.as_str();
    let mut blocks = 0;
    while let Some(at) = rest.find("```console\n$ ibplan ") {
        let body = at + "```console\n".len();
        let end = body + rest[body..].find("\n```").unwrap();
        let command = rest[body..end].lines().next().unwrap();
        fresh.push_str(&rest[..body]);
        fresh.push_str(&format!("{command}\n{}", run(command).trim_end()));
        rest = &rest[end..];
        blocks += 1;
    }
    fresh.push_str(rest);
    assert!(blocks >= 2, "the README has lost its examples");
    if std::env::var_os("IBPLAN_README").is_some_and(|v| v == "write") {
        std::fs::write(&file, &fresh).unwrap();
    }
    assert_eq!(
        text, fresh,
        "run with IBPLAN_README=write and read the difference"
    );
}
