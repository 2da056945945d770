//! Small readers of the text formats in which back ends keep what they own.

use crate::probe::{Probe, ProbeError};
use crate::types::HostPath;

/// A configuration file; a link to /dev/null masks one and counts as none (systemd.unit(5), netplan(5)).
///
/// # Errors
/// It is there and cannot be read.
pub(super) fn config(probe: &dyn Probe, path: &HostPath) -> Result<Option<String>, ProbeError> {
    if probe.link(path)?.as_deref() == Some("/dev/null") {
        return Ok(None);
    }
    probe.text(path)
}

/// The configuration files of a folder whose names pass, sorted by name.
///
/// # Errors
/// The folder or a file in it is there and cannot be read.
pub(super) fn configs(
    probe: &dyn Probe,
    folder: &str,
    passes: impl Fn(&str) -> bool,
) -> Result<Vec<(HostPath, String)>, ProbeError> {
    let mut found = Vec::new();
    let Some(folder) = HostPath::new(folder) else {
        return Ok(found);
    };
    for name in probe.list(&folder)? {
        let Ok(path) = folder.join(&name) else { continue };
        if passes(&name)
            && let Some(text) = config(probe, &path)?
        {
            found.push((path, text));
        }
    }
    Ok(found)
}

/// Section, key and value of each assignment of an ini-like file (keyfiles, systemd.syntax(7)).
pub(super) fn ini(text: &str) -> Vec<(String, String, String)> {
    let mut section = String::new();
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            name.clone_into(&mut section);
        } else if let Some((key, value)) = line.split_once('=') {
            found.push((section.clone(), key.trim().to_owned(), value.trim().to_owned()));
        }
    }
    found
}

/// The last value of a key of a flat `KEY=value` file, unquoted (/run state files, ifcfg).
pub(super) fn value(text: &str, key: &str) -> Option<String> {
    text.lines()
        .rev()
        .filter_map(|line| line.trim().split_once('='))
        .find(|(k, _)| *k == key)
        .map(|(_, v)| super::os::unquote(v.trim()))
}

/// Whether a shell pattern (`*`, `?`, `[…]`) matches a whole name (glob(7)).
pub(super) fn glob(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut p, mut n) = (0, 0);
    // Where the last star stands and how much it has eaten: on a mismatch it eats one more.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        if pattern.get(p) == Some(&'*') {
            star = Some((p, n));
            p += 1;
        } else if let Some(next) = step(&pattern, p, name[n]) {
            (p, n) = (next, n + 1);
        } else if let Some((at, eaten)) = star {
            star = Some((at, eaten + 1));
            (p, n) = (at + 1, eaten + 1);
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// The place after the pattern's element at `p`, when that element takes `c`.
fn step(pattern: &[char], p: usize, c: char) -> Option<usize> {
    match *pattern.get(p)? {
        '?' => Some(p + 1),
        '[' => {
            let Some(len) = pattern[p + 1..]
                .iter()
                .skip(1)
                .position(|x| *x == ']')
                .map(|at| at + 1)
            else {
                return (c == '[').then_some(p + 1);
            };
            let set = &pattern[p + 1..p + 1 + len];
            let (negated, set) = match set {
                ['!' | '^', rest @ ..] => (true, rest),
                _ => (false, set),
            };
            (in_set(set, c) != negated).then_some(p + len + 2)
        }
        literal => (literal == c).then_some(p + 1),
    }
}

fn in_set(set: &[char], c: char) -> bool {
    match set {
        [low, '-', high, rest @ ..] => (*low..=*high).contains(&c) || in_set(rest, c),
        [one, rest @ ..] => *one == c || in_set(rest, c),
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn globs() {
        for (pattern, name, wanted) in [
            ("ib0", "ib0", true),
            ("ib*", "ib0.8001", true),
            ("*", "", true),
            ("ib?", "ib0", true),
            ("ib?", "ib", false),
            ("ib[0-3]", "ib2", true),
            ("ib[!0-3]", "ib2", false),
            ("ib[!0-3]", "ib7", true),
            ("*.80*1", "ib0.8001", true),
            ("*.80*2", "ib0.8001", false),
            ("ib[", "ib[", true),
            ("", "ib0", false),
            ("e*n*o*", "eno1", true),
        ] {
            assert_eq!(glob(pattern, name), wanted, "{pattern} {name}");
        }
    }

    #[test]
    fn masked_and_absent_files_are_none() {
        let host = Fake::new()
            .symlink("/etc/x/masked.network", "/dev/null")
            .file("/etc/x/a.network", "[Match]\nName=ib0\n")
            .file("/etc/x/readme", "");
        let found = configs(&host, "/etc/x", |n| n.ends_with(".network")).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(
            ini(&found[0].1),
            [("Match".to_owned(), "Name".to_owned(), "ib0".to_owned())]
        );
        assert!(configs(&host, "/nowhere", |_| true).unwrap().is_empty());
        assert!(configs(&Fake::new().unreadable("/etc/x/a"), "/etc/x", |_| true).is_err());
    }

    #[test]
    fn flat_files() {
        let text = "# A=1\nA=2\nB='x y'\n";
        assert_eq!(value(text, "A").as_deref(), Some("2"));
        assert_eq!(value(text, "B").as_deref(), Some("x y"));
        assert_eq!(value(text, "C"), None);
    }
}
