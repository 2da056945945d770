//! Rules of the house that no compiler knows.

mod source;

use crate::shell::{self, cargo};
use anyhow::{Context, Result, bail};
use source::Source;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Crates that are shipped: distribution names belong into the tables of the first.
const SHIPPED: &[&str] = &["core", "host", "bins", "cli"];

/// Longest source file in lines, tables aside.
const LONGEST: usize = 400;

/// Tables: one row a line, so their length is the world's.
const TABLES: &[&str] = &[
    "crates/core/src/codes.rs",
    "crates/core/src/distro/table.rs",
    "crates/core/src/hca/table.rs",
];

/// File names of tables, in whatever room.
const TABLE_NAMES: &[&str] = &["codes.rs", "table.rs", "tests.rs"];

/// What `ibplan-core` may depend on: nothing that could touch a machine.
const CORE_MAY: &[&str] = &[
    "ipnet",
    "schemars",
    "serde",
    "serde_json",
    "serde_path_to_error",
    "sha2",
    "strsim",
    "thiserror",
    "uuid",
];

/// Most crates in the agent, itself included.
const MOST_CRATES: usize = 60;

/// Runs every rule and lists every breach.
pub(crate) fn run() -> Result<()> {
    let root = shell::root();
    let files = Source::all(&root)?;
    let mut breaches = Vec::new();
    for file in &files {
        breaches.extend(forbidden_words(file));
        breaches.extend(too_long(file));
        breaches.extend(distribution_names(file));
    }
    breaches.extend(core_dependencies(&shell::metadata(&["--no-deps"])?)?);
    breaches.extend(agent_size()?);
    println!("static-check: {} files read", files.len());
    for breach in &breaches {
        println!("{breach}");
    }
    if breaches.is_empty() {
        Ok(())
    } else {
        bail!("{} breaches of the rules of the house", breaches.len())
    }
}

/// Words that mean unfinished work. Spelt in two halves, so that this list is no breach of itself.
fn unfinished() -> Vec<String> {
    [("TO", "DO"), ("FIX", "ME"), ("to", "do!"), ("unim", "plemented!")]
        .map(|(a, b)| format!("{a}{b}"))
        .into()
}

fn forbidden_words(file: &Source) -> Vec<String> {
    let words = unfinished();
    let mut found = Vec::new();
    for (number, line) in file.lines() {
        for word in &words {
            if source::has_word(line, word) {
                found.push(format!(
                    "{}:{number}: \"{word}\": finish it, or leave it out",
                    file.name
                ));
            }
        }
    }
    found
}

fn is_table(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name);
    TABLES.contains(&name) || TABLE_NAMES.contains(&file) || file.ends_with("_table.rs")
}

fn too_long(file: &Source) -> Option<String> {
    let lines = file.text.lines().count();
    let counted = file.is_rust() && file.name.contains("/src/") && !is_table(&file.name);
    (counted && lines > LONGEST).then(|| {
        format!(
            "{}: {lines} lines, more than {LONGEST}: give it a second room",
            file.name
        )
    })
}

/// Names of distributions, as os-release writes them.
const DISTRIBUTIONS: &[&str] = &[
    "almalinux",
    "amzn",
    "centos",
    "debian",
    "fedora",
    "ol",
    "opensuse",
    "opensuse-leap",
    "openeuler",
    "photon",
    "proxmox",
    "raspbian",
    "rhel",
    "rocky",
    "sle",
    "sled",
    "sles",
    "suse",
    "ubuntu",
];

/// A string literal that is a distribution's name is a decision by name: it belongs into a table's column.
fn distribution_names(file: &Source) -> Vec<String> {
    let shipped = SHIPPED
        .iter()
        .any(|c| file.name.starts_with(&format!("crates/{c}/src/")));
    if !shipped || !file.is_rust() || file.name.contains("/src/distro/") || source::is_test(&file.name) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (number, line) in file.lines_before_tests() {
        for literal in source::literals(line) {
            let name = literal.to_ascii_lowercase();
            if DISTRIBUTIONS.contains(&name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')) {
                found.push(format!(
                    "{}:{number}: \"{literal}\": decide by a column of crates/core/src/distro, not by name",
                    file.name
                ));
            }
        }
    }
    found
}

fn core_dependencies(metadata: &serde_json::Value) -> Result<Vec<String>> {
    let packages = metadata["packages"].as_array().context("no packages")?;
    let core = packages
        .iter()
        .find(|p| p["name"] == "ibplan-core")
        .context("cargo metadata knows no ibplan-core")?;
    let dependencies = core["dependencies"].as_array().context("no dependencies")?;
    Ok(dependencies
        .iter()
        .filter(|d| d["kind"].is_null())
        .filter_map(|d| d["name"].as_str())
        .filter(|name| !CORE_MAY.contains(name))
        .map(|name| format!("ibplan-core depends on {name}, which is not in the list of what it may use"))
        .collect())
}

fn agent_size() -> Result<Option<String>> {
    let tree = shell::read(cargo(&[
        "tree",
        "-p",
        "ibplan-bins",
        "-e",
        "normal",
        "--prefix",
        "none",
    ]))?;
    let crates: BTreeSet<&str> = tree.lines().filter_map(|l| l.split_whitespace().next()).collect();
    let count = crates.len();
    println!("static-check: the agent is {count} crates (at most {MOST_CRATES})");
    Ok((count > MOST_CRATES).then(|| format!("the agent is {count} crates, more than {MOST_CRATES}")))
}

/// A path below the root, with slashes.
fn below(root: &Path, path: PathBuf) -> String {
    let short = path.strip_prefix(root).unwrap_or(&path);
    short.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rust(name: &str, text: &str) -> Source {
        Source {
            name: name.to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn unfinished_work_is_seen() {
        for word in unfinished() {
            let file = rust("crates/core/src/a.rs", &format!("// {word} later\n"));
            assert_eq!(forbidden_words(&file).len(), 1, "{word}");
        }
        assert!(forbidden_words(&rust("a.rs", "let mastodon = TODAY;\n")).is_empty());
    }

    #[test]
    fn long_files_are_seen_and_tables_are_not() {
        let long = "x\n".repeat(LONGEST + 1);
        assert!(too_long(&rust("crates/core/src/a.rs", &long)).is_some());
        assert!(too_long(&rust("crates/core/src/hca/table.rs", &long)).is_none());
        assert!(too_long(&rust("crates/core/tests/a.rs", &long)).is_none());
        assert!(too_long(&rust("crates/core/src/a.rs", &"x\n".repeat(LONGEST))).is_none());
    }

    #[test]
    fn decisions_by_name_are_seen() {
        let found = |name: &str, text: &str| distribution_names(&rust(name, text)).len();
        assert_eq!(
            found(
                "crates/core/src/a.rs",
                "if id == \"debian\" || id == \"Debian12\" {}\n"
            ),
            2
        );
        assert_eq!(found("crates/core/src/a.rs", "// as \"debian\" has it\n"), 0);
        assert_eq!(found("crates/core/src/a.rs", "\"Debian's opensm reads it\"\n"), 0);
        assert_eq!(
            found("crates/core/src/a.rs", "#[cfg(test)]\nmod tests { \"debian\" }\n"),
            0
        );
        assert_eq!(found("crates/core/src/distro/table.rs", "\"debian\"\n"), 0);
        assert_eq!(found("crates/testkit/src/a.rs", "\"debian\"\n"), 0);
    }

    #[test]
    fn a_new_dependency_of_core_is_seen() {
        let metadata = serde_json::json!({"packages": [{"name": "ibplan-core", "dependencies": [
            {"name": "serde", "kind": null}, {"name": "rustix", "kind": null}, {"name": "insta", "kind": "dev"},
        ]}]});
        let found = core_dependencies(&metadata).unwrap();
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("rustix"));
    }
}
