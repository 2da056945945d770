//! What netplan's files define, read by lines: enough to tell whose an interface is (netplan(5)).
//!
//! This is no YAML parser. It knows nested block mappings, flow mappings, quotes and comments; sequences, anchors and
//! multi-line scalars are passed over, because no interface is named by one.

use super::text::{config, glob};
use crate::probe::{Probe, ProbeError};
use crate::types::HostPath;
use std::collections::BTreeMap;
use std::iter::Peekable;
use std::str::Chars;

/// netplan's folders; a file of a later one hides the file of the same name in those before.
const FOLDERS: [&str; 4] = ["/usr/lib/netplan", "/lib/netplan", "/etc/netplan", "/run/netplan"];

/// All definitions of all files.
#[derive(Default)]
pub(super) struct Netplan {
    /// There is at least one file.
    pub(super) used: bool,
    /// The global `renderer`; the last file that names one wins.
    pub(super) renderer: Option<String>,
    definitions: BTreeMap<String, Definition>,
}

/// One interface definition.
#[derive(Default)]
struct Definition {
    matches: bool,
    name: Option<String>,
    address: Option<String>,
    set_name: Option<String>,
}

impl Netplan {
    /// Reads the files.
    ///
    /// # Errors
    /// One is there and cannot be read.
    pub(super) fn read(probe: &dyn Probe) -> Result<Self, ProbeError> {
        let mut files: BTreeMap<String, HostPath> = BTreeMap::new();
        for folder in FOLDERS {
            let folder = HostPath::fixed(folder);
            for name in probe.list(&folder)? {
                if name.ends_with(".yaml")
                    && let Ok(path) = folder.join(&name)
                {
                    files.insert(name, path);
                }
            }
        }
        let mut whole = Self::default();
        for path in files.values() {
            if let Some(text) = config(probe, path)? {
                whole.used = true;
                whole.add(&text);
            }
        }
        Ok(whole)
    }

    fn add(&mut self, text: &str) {
        for (path, value) in entries(text) {
            let words: Vec<&str> = path.iter().map(String::as_str).collect();
            let filled = || Some(value.clone()).filter(|v| !v.is_empty());
            match words.as_slice() {
                ["network", "renderer"] => self.renderer = filled(),
                ["network", _, id, rest @ ..] => {
                    let definition = self.definitions.entry((*id).to_owned()).or_default();
                    match rest {
                        ["match"] => definition.matches = true,
                        ["match", "name"] => definition.name = filled(),
                        ["match", "macaddress"] => definition.address = filled(),
                        ["set-name"] => definition.set_name = filled(),
                        // A NetworkManager profile that netplan only carries.
                        ["networkmanager", "passthrough", "connection.interface-name"] => {
                            definition.set_name = filled();
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether a definition is for this interface.
    pub(super) fn claims(&self, name: &str, address: &str) -> bool {
        self.definitions.iter().any(|(id, d)| {
            d.set_name.as_deref() == Some(name)
                || (!d.matches && id == name)
                || d.name.as_deref().is_some_and(|pattern| glob(pattern, name))
                || d.address
                    .as_deref()
                    .is_some_and(|a| a.eq_ignore_ascii_case(address))
        })
    }
}

type Entries = Vec<(Vec<String>, String)>;

/// Every key of the mappings with its path from the top, in order; the value is empty where a mapping or list follows.
fn entries(text: &str) -> Entries {
    let mut out = Entries::new();
    let mut stack: Vec<(usize, String)> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let line = uncomment(line);
        let content = line.trim();
        let indent = line.len() - line.trim_start().len();
        if content.is_empty() || content.starts_with(['-', '%']) {
            continue;
        }
        let (key, value) = if content.starts_with('{') {
            (None, content)
        } else {
            match split_key(content) {
                Some((key, value)) => (Some(key), value),
                None => continue,
            }
        };
        if let Some(key) = key {
            while stack.last().is_some_and(|(at, _)| *at >= indent) {
                stack.pop();
            }
            stack.push((indent, key));
        }
        let path: Vec<String> = stack.iter().map(|(_, key)| key.clone()).collect();
        if value.starts_with('{') {
            let mut whole = value.to_owned();
            while depth(&whole) > 0
                && let Some(more) = lines.next()
            {
                whole.push(' ');
                whole.push_str(uncomment(more));
            }
            out.push((path.clone(), String::new()));
            flow(&mut whole.chars().peekable(), &path, &mut out, 0);
        } else {
            out.push((path, plain(value)));
        }
    }
    out
}

/// The line without its comment: `#` at the start or after a blank, outside quotes.
fn uncomment(line: &str) -> &str {
    let mut quote = None;
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        match quote {
            Some(q) if q == c => quote = None,
            Some(_) => {}
            None if c == '#' && before.is_whitespace() => return &line[..at],
            None if c == '"' || c == '\'' => quote = Some(c),
            None => {}
        }
        before = c;
    }
    line
}

/// Key and value of `key: value`; a quoted key may hold a colon.
fn split_key(content: &str) -> Option<(String, &str)> {
    if let Some(quote) = content.chars().next().filter(|c| *c == '"' || *c == '\'') {
        let (key, rest) = content[1..].split_once(quote)?;
        return Some((key.to_owned(), rest.trim_start().strip_prefix(':')?.trim()));
    }
    if let Some(key) = content.strip_suffix(':') {
        return Some((key.trim().to_owned(), ""));
    }
    let (key, value) = content.split_once(": ")?;
    Some((key.trim().to_owned(), value.trim()))
}

fn plain(value: &str) -> String {
    value.trim().trim_matches(['"', '\'']).to_owned()
}

/// How many braces and brackets are still open.
fn depth(text: &str) -> usize {
    let mut quote = None;
    text.chars().fold(0, |open: usize, c| {
        match (quote, c) {
            (Some(q), _) if q == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '{' | '[') => return open + 1,
            (None, '}' | ']') => return open.saturating_sub(1),
            (None, _) => {}
        }
        open
    })
}

/// Deeper than any netplan file.
const DEEPEST: usize = 12;

/// A flow mapping or sequence from its opening bracket to its closing one; members of a sequence are passed over.
fn flow(chars: &mut Peekable<Chars<'_>>, path: &[String], out: &mut Entries, deep: usize) {
    let mapping = chars.next() == Some('{');
    let mut key: Option<String> = None;
    let mut word = String::new();
    while let Some(&c) = chars.peek() {
        if c == '{' || c == '[' {
            let mut inner = path.to_vec();
            inner.extend(key.take());
            if deep >= DEEPEST {
                return;
            }
            let mut members = Entries::new();
            flow(chars, &inner, &mut members, deep + 1);
            if mapping {
                out.push((inner, String::new()));
                out.append(&mut members);
            }
            word.clear();
            continue;
        }
        chars.next();
        match c {
            '"' | '\'' => word.extend(chars.by_ref().take_while(|x| *x != c)),
            ':' if mapping && key.is_none() => key = Some(std::mem::take(&mut word).trim().to_owned()),
            ',' | '}' | ']' => {
                let value = plain(&std::mem::take(&mut word));
                let name = key
                    .take()
                    .or_else(|| Some(value.clone()).filter(|v| !v.is_empty()));
                if let Some(name) = name.filter(|_| mapping) {
                    let mut at = path.to_vec();
                    at.push(name);
                    out.push((at, value));
                }
                if c != ',' {
                    return;
                }
            }
            _ => word.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    fn of(text: &str) -> Netplan {
        Netplan::read(&Fake::new().file("/etc/netplan/50-x.yaml", text)).unwrap()
    }

    #[test]
    fn an_interface_is_a_key_at_its_place() {
        let n = of(
            "# ib9:\nnetwork:\n  version: 2\n  renderer: NetworkManager # ib8: x\n  ethernets:\n    \"ib0\":\n      mtu: 4092\n      \
             addresses:\n      - 192.168.10.1/24\n      routes:\n      - to: default\n        ib7: 192.168.10.254\n    ib1: {}\n  \
             bonds:\n    bond0:\n      interfaces: [ib2, ib3]\n",
        );
        assert_eq!(n.renderer.as_deref(), Some("NetworkManager"));
        for (name, wanted) in [
            ("ib0", true),
            ("ib1", true),
            ("bond0", true),
            ("ib2", false),
            ("ib7", false),
            ("ib8", false),
            ("ib9", false),
            ("mtu", false),
            ("ethernets", false),
        ] {
            assert_eq!(n.claims(name, ""), wanted, "{name}");
        }
    }

    #[test]
    fn flow_style_and_json() {
        for text in [
            "{\"network\": {\"version\": 2, \"ethernets\": {\"ib0\": {\"addresses\": [\"10.0.0.1/24\"], \"mtu\": 2044}, \"ib1\": {}}}}",
            "network: {ethernets: {ib0: {mtu: 2044, addresses: [10.0.0.1/24, \"fd00::1/64\"]},\n    ib1: {dhcp4: yes}}}\n",
            "network:\n  ethernets: {ib0: {}, ib1: }\n",
            "network:\n  ethernets:\n    ib0: {routes: [{to: default, via: 10.0.0.1}]}\n    ib1:\n      dhcp4: true\n",
        ] {
            let n = of(text);
            let names: Vec<&String> = n.definitions.keys().collect();
            assert_eq!(names, ["ib0", "ib1"], "{text}");
        }
        let deep = format!("network: {}", "{a: ".repeat(500));
        assert!(!of(&deep).claims("ib0", ""));
    }

    #[test]
    fn matches_and_renames() {
        let n = of(
            "network:\n  ethernets:\n    fabric:\n      match:\n        name: ibp*\n    byaddr:\n      match: {macaddress: \"80:AA\"}\n      \
             set-name: ib5\n    NM-1:\n      match: {}\n      networkmanager:\n        passthrough:\n          connection.interface-name: ib6\n",
        );
        assert!(
            n.claims("ibp65s0", "") && n.claims("ib5", "") && n.claims("x", "80:aa") && n.claims("ib6", "")
        );
        assert!(
            !n.claims("fabric", ""),
            "with a match, the id is no interface name"
        );
    }

    #[test]
    fn later_folders_hide_earlier_ones() {
        let host = Fake::new()
            .file(
                "/usr/lib/netplan/00-x.yaml",
                "network: {ethernets: {ib0: {}}, renderer: NetworkManager}",
            )
            .file("/etc/netplan/00-x.yaml", "network: {ethernets: {ib1: {}}}")
            .file("/etc/netplan/10-y.yaml.bak", "network: {ethernets: {ib2: {}}}")
            .file(
                "/run/netplan/20-z.yaml",
                "network:\n  renderer: networkd\n  ethernets:\n    ib3: {}\n",
            );
        let n = Netplan::read(&host).unwrap();
        assert_eq!(n.definitions.keys().collect::<Vec<_>>(), ["ib1", "ib3"]);
        assert_eq!(n.renderer.as_deref(), Some("networkd"));
        let none = Netplan::read(&Fake::new()).unwrap();
        assert!(!none.used && none.renderer.is_none());
        let masked = Fake::new().symlink("/etc/netplan/00-x.yaml", "/dev/null");
        assert!(!Netplan::read(&masked).unwrap().used);
    }
}
