//! Source files, read just well enough to check them.

use crate::shell;
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// A file of the repository.
#[derive(Debug)]
pub(crate) struct Source {
    /// Path below the repository's root.
    pub(crate) name: String,
    /// What it says.
    pub(crate) text: String,
}

/// Kinds of files that are read.
const KINDS: &[&str] = &["rs", "py", "sh", "yml", "yaml"];

/// Folders that hold no source of ours.
const SKIPPED: &[&str] = &["target", "node_modules", "__pycache__"];

/// Below it lie captured hosts: other people's files.
const HOSTS: &str = "tests/hosts";

impl Source {
    /// Every source file of the repository, in order of name.
    pub(crate) fn all(root: &Path) -> Result<Vec<Self>> {
        let mut files = Vec::new();
        walk(root, root, &mut files)?;
        files.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(files)
    }

    /// Whether it is Rust.
    pub(crate) fn is_rust(&self) -> bool {
        self.name.ends_with(".rs")
    }

    /// Lines with their number, from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(i, l)| (i + 1, l))
    }

    /// The lines before the tests that stand at the end of a Rust file.
    pub(crate) fn lines_before_tests(&self) -> impl Iterator<Item = (usize, &str)> {
        self.lines().take_while(|(_, line)| line.trim() != "#[cfg(test)]")
    }
}

fn walk(root: &Path, folder: &Path, files: &mut Vec<Source>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        let file_name = entry.file_name();
        let file_name = file_name.to_string_lossy();
        if kind.is_dir() {
            let hidden = file_name.starts_with('.') && file_name != ".ci" && file_name != ".github";
            let captured = folder == root.join(HOSTS);
            if !hidden && !captured && !SKIPPED.contains(&file_name.as_ref()) {
                walk(root, &path, files)?;
            }
        } else if kind.is_file() && is_source(&path) {
            let text =
                fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            files.push(Source {
                name: super::below(root, path),
                text,
            });
        }
    }
    Ok(())
}

fn is_source(path: &Path) -> bool {
    let kind = path.extension().and_then(|e| e.to_str());
    kind.is_some_and(|k| KINDS.contains(&k)) || path == shell::root().join(".ci/run")
}

/// Whether a file holds nothing but tests.
pub(crate) fn is_test(name: &str) -> bool {
    name.ends_with("/tests.rs") || name.contains("/tests/")
}

/// Whether a line has a word that does not go on into letters on either side.
pub(crate) fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let letter = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        !letter(before) && !letter(after)
    })
}

/// The texts between double quotes of a line of Rust, its comment left out.
pub(crate) fn literals(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<String> = None;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match (&mut open, c) {
            (None, '/') if chars.peek() == Some(&'/') => break,
            (None, '\'') if chars.peek() == Some(&'"') => drop(chars.next()),
            (None, '"') => open = Some(String::new()),
            (None, _) => {}
            (Some(text), '\\') => text.extend(chars.next()),
            (Some(_), '"') => found.extend(open.take()),
            (Some(text), c) => text.push(c),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_found_and_comments_are_not() {
        assert_eq!(literals(r#"f("a", "b\"c") // "d""#), ["a", "b\"c"]);
        assert_eq!(literals(r#"x == '"' && y == "z""#), ["z"]);
        assert_eq!(literals(r#""http://x", "y""#), ["http://x", "y"]);
    }

    #[test]
    fn words_are_whole() {
        assert!(has_word("a XX: b", "XX") && has_word("XX", "XX"));
        assert!(!has_word("XXL", "XX") && !has_word("a_XX", "XX"));
    }
}
