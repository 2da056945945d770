//! `source` and `source-directory`: which files ifupdown reads, and the line that makes it read ours.

use super::syntax::{Item, parse};
use super::{FOLDER, MAIN};
use crate::facts::Facts;
use crate::rooms::ipoib::backend::Files;
use crate::types::HostPath;
use std::collections::{BTreeMap, BTreeSet};

/// One pattern of an include line, absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Include {
    pattern: String,
    directory: bool,
}

impl Include {
    /// Whether it reads this file.
    pub(super) fn reads(&self, path: &str) -> bool {
        if !self.directory {
            return glob(&self.pattern, path);
        }
        let Some((folder, name)) = path.rsplit_once('/') else {
            return false;
        };
        glob(self.pattern.trim_end_matches('/'), folder) && is_plain(name)
    }

    /// Whether it looks into the folder of our files at all.
    fn looks_into_folder(&self) -> bool {
        let folder = if self.directory {
            self.pattern.trim_end_matches('/')
        } else {
            self.pattern.rsplit_once('/').map_or("", |(folder, _)| folder)
        };
        glob(folder, FOLDER)
    }
}

/// The only names that `source-directory` takes (interfaces(5)); `ib0.8001` is none of them.
fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// Matches the patterns of wordexp(3) that occur in include lines: `*`, `?` and `[…]`, which never match `/`, and no
/// leading dot. Variables and other expansions match nothing.
pub(super) fn glob(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<_>, Vec<_>) = (pattern.split('/').collect(), text.split('/').collect());
    pattern.len() == text.len()
        && pattern.iter().zip(&text).all(|(p, t)| {
            let hidden = t.starts_with('.') && !p.starts_with('.');
            !hidden && component(p.as_bytes(), t.as_bytes())
        })
}

fn component(pattern: &[u8], text: &[u8]) -> bool {
    match pattern.first() {
        None => text.is_empty(),
        Some(b'*') => (0..=text.len()).any(|skip| component(&pattern[1..], &text[skip..])),
        Some(b'?') => !text.is_empty() && component(&pattern[1..], &text[1..]),
        Some(b'[') => {
            let Some((set, rest)) = class(&pattern[1..]) else {
                return text.first() == Some(&b'[') && component(&pattern[1..], &text[1..]);
            };
            text.first().is_some_and(|b| set.has(*b)) && component(rest, &text[1..])
        }
        Some(byte) => text.first() == Some(byte) && component(&pattern[1..], &text[1..]),
    }
}

struct Class {
    not: bool,
    ranges: Vec<(u8, u8)>,
}

impl Class {
    fn has(&self, byte: u8) -> bool {
        self.ranges.iter().any(|(a, z)| (*a..=*z).contains(&byte)) != self.not
    }
}

/// A bracket expression without its opening bracket, and what follows it.
fn class(pattern: &[u8]) -> Option<(Class, &[u8])> {
    let not = matches!(pattern.first(), Some(b'!' | b'^'));
    let body = if not { &pattern[1..] } else { pattern };
    let end = body.iter().skip(1).position(|b| *b == b']')? + 1;
    let (inside, rest) = (&body[..end], &body[end + 1..]);
    let mut ranges = Vec::new();
    let mut at = 0;
    while at < inside.len() {
        if at + 2 < inside.len() && inside[at + 1] == b'-' {
            ranges.push((inside[at], inside[at + 2]));
            at += 3;
        } else {
            ranges.push((inside[at], inside[at]));
            at += 1;
        }
    }
    Some((Class { not, ranges }, rest))
}

/// The include patterns of a file; relative ones count from its folder.
fn includes_of(path: &str, text: &str) -> Vec<Include> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut out = Vec::new();
    for stanza in parse(text) {
        if let Item::Include { directory, words } = stanza.item {
            for word in words {
                let word = word.trim_matches(|c| c == '"' || c == '\'');
                let pattern = if word.starts_with('/') {
                    word.to_owned()
                } else {
                    format!("{folder}/{word}")
                };
                out.push(Include { pattern, directory });
            }
        }
    }
    out
}

/// All include patterns in force, and the files (of those given) that ifupdown reads, in its order.
pub(super) fn reached(files: &Files) -> (Vec<Include>, Vec<HostPath>) {
    let main = HostPath::fixed(MAIN);
    let (mut includes, mut order) = (Vec::new(), Vec::new());
    if files.contains_key(&main) {
        let mut seen = BTreeSet::new();
        follow(files, &main, &mut seen, &mut includes, &mut order);
    }
    (includes, order)
}

fn follow(
    files: &Files,
    path: &HostPath,
    seen: &mut BTreeSet<HostPath>,
    includes: &mut Vec<Include>,
    order: &mut Vec<HostPath>,
) {
    if !seen.insert(path.clone()) {
        return;
    }
    order.push(path.clone());
    let text = files.get(path).map_or("", String::as_str);
    for include in includes_of(path.as_str(), text) {
        for next in files.keys().filter(|f| include.reads(f.as_str())) {
            follow(files, next, seen, includes, order);
        }
        includes.push(include);
    }
}

/// The edit of the main file that makes ifupdown read all of `own`: its new text and the lines added. `None`: nothing to do.
///
/// Other files in the folder that are not read today stay unread, and none is read twice: the line of a fresh Debian is
/// added only where the folder holds nobody else's files and no other line looks into it.
pub(super) fn main_edit(
    files: &Files,
    own: &[HostPath],
    facts: &Facts,
) -> Option<(String, BTreeMap<String, Option<String>>)> {
    let main = HostPath::fixed(MAIN);
    let there = files.get(&main).map_or("", String::as_str);
    let (includes, _) = reached(files);
    let unread: Vec<&HostPath> = own
        .iter()
        .filter(|path| !includes.iter().any(|i| i.reads(path.as_str())))
        .collect();
    let owned = facts.ledger.files.get(&main).map(|o| o.keys.clone());
    if own.is_empty() || (unread.is_empty() && owned.is_none()) {
        return None;
    }
    let mut keys = owned.unwrap_or_default();
    let mut text = there.to_owned();
    if !unread.is_empty() {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        if text.trim_end().ends_with('\\') {
            text.push('\n');
        }
        for line in lines(files, own, &unread, &includes) {
            text.push_str(&line);
            text.push('\n');
            keys.insert(line, None);
        }
    }
    Some((text, keys))
}

fn lines(files: &Files, own: &[HostPath], unread: &[&HostPath], includes: &[Include]) -> Vec<String> {
    let foreign = files
        .keys()
        .any(|f| f.as_str().starts_with(&format!("{FOLDER}/")) && !f.name().starts_with("ibplan-"));
    if !foreign && !includes.iter().any(Include::looks_into_folder) {
        return vec![format!("source {FOLDER}/*")];
    }
    if unread.len() == own.len() && !reads_some_of_ours(files, includes) {
        return vec![format!("source {FOLDER}/ibplan-*")];
    }
    if unread.iter().all(|f| !is_plain(f.name()))
        && own.iter().all(|f| unread.contains(&f) || is_plain(f.name()))
    {
        // Exactly the names that source-directory skips.
        return vec![format!("source {FOLDER}/ibplan-*[!A-Za-z0-9_-]*")];
    }
    unread.iter().map(|f| format!("source {f}")).collect()
}

fn reads_some_of_ours(files: &Files, includes: &[Include]) -> bool {
    files
        .keys()
        .filter(|f| f.as_str().starts_with(&format!("{FOLDER}/ibplan-")))
        .any(|f| includes.iter().any(|i| i.reads(f.as_str())))
}
