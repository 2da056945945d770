//! Who else sets a kernel parameter: files of sysctl.d(5), /etc/sysctl.conf, and tuned's active profile.

use super::want::path_form;
use crate::facts::Facts;
use crate::parts::dropin;
use crate::probe::{Probe, ProbeError};
use crate::types::HostPath;

/// The drop-in that ibplan keeps.
pub const OWN: &str = "/etc/sysctl.d/90-ibplan.conf";

/// Folders of sysctl.d(5), the highest precedence first; `/lib` counts where it is no link (procps; older systemd).
const FOLDERS: &[&str] = &[
    "/etc/sysctl.d",
    "/run/sysctl.d",
    "/usr/local/lib/sysctl.d",
    "/usr/lib/sysctl.d",
    "/lib/sysctl.d",
];

/// When an owner's assignments are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Turn {
    /// At boot, before ibplan's drop-in.
    Before,
    /// At boot, after ibplan's drop-in.
    After,
    /// tuned, which then reads /etc/sysctl.d again: ibplan's drop-in wins.
    TunedThenFiles,
    /// tuned, with `reapply_sysctl=0`: it wins.
    Tuned,
    /// Not at boot, but last in `sysctl --system`.
    OnlyByHand,
}

/// One assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The key in path form; may be a pattern.
    pub key: String,
    /// The value as written.
    pub value: String,
}

impl Assignment {
    /// Whether the key is a pattern. systemd-sysctl and procps 4 let an explicit key win over any pattern.
    pub fn pattern(&self) -> bool {
        self.key.contains(['*', '?', '['])
    }

    /// Whether it sets this key.
    pub fn sets(&self, path: &str) -> bool {
        if !self.pattern() {
            return self.key == path;
        }
        let (mine, theirs): (Vec<&str>, Vec<&str>) =
            (self.key.split('/').collect(), path.split('/').collect());
        mine.len() == theirs.len()
            && mine
                .iter()
                .zip(&theirs)
                .all(|(p, t)| matches(p.as_bytes(), t.as_bytes()))
    }
}

/// A file (or tuned profile) that sets kernel parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The file.
    pub file: HostPath,
    /// For a tuned profile: the active profile that brings it in.
    pub profile: Option<String>,
    /// When its turn is.
    pub turn: Turn,
    /// What it sets, in order.
    pub sets: Vec<Assignment>,
}

impl Owner {
    /// What it gives a key: the last explicit assignment, else the last pattern; `true` for a pattern.
    pub fn value(&self, path: &str) -> Option<(&str, bool)> {
        let last = |pattern: bool| {
            self.sets
                .iter()
                .rfind(|a| a.pattern() == pattern && a.sets(path))
                .map(|a| (a.value.as_str(), pattern))
        };
        last(false).or_else(|| last(true))
    }

    /// A default that a package ships: overriding it is what drop-ins are for.
    pub fn packaged(&self) -> bool {
        self.profile.is_none()
            && (self.file.as_str().starts_with("/usr/lib/") || self.file.as_str().starts_with("/lib/"))
    }
}

/// Shell patterns within one path component: `*`, `?`, `[…]`, `[!…]` (glob(7)).
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    match (pattern.first(), text.first()) {
        (None, None) => true,
        (Some(b'*'), _) => matches(&pattern[1..], text) || (!text.is_empty() && matches(pattern, &text[1..])),
        (Some(b'?'), Some(_)) => matches(&pattern[1..], &text[1..]),
        (Some(b'['), Some(c)) => match class(pattern) {
            Some((set, rest)) => in_class(set, *c) && matches(rest, &text[1..]),
            None => *c == b'[' && matches(&pattern[1..], &text[1..]),
        },
        (Some(p), Some(c)) => p == c && matches(&pattern[1..], &text[1..]),
        _ => false,
    }
}

/// The inside of a leading `[…]`, and what follows it.
fn class(pattern: &[u8]) -> Option<(&[u8], &[u8])> {
    // A `]` directly behind `[` or `[!` is a member (glob(7)).
    let from = if matches!(pattern.get(1), Some(b'!' | b'^')) {
        3
    } else {
        2
    };
    let end = from + pattern.get(from..)?.iter().position(|b| *b == b']')?;
    Some((&pattern[1..end], &pattern[end + 1..]))
}

fn in_class(set: &[u8], c: u8) -> bool {
    let (negative, mut set) = match set {
        [b'!' | b'^', rest @ ..] => (true, rest),
        _ => (false, set),
    };
    let mut found = false;
    while let Some((first, rest)) = set.split_first() {
        if let [b'-', last, rest @ ..] = rest {
            found |= (*first..=*last).contains(&c);
            set = rest;
        } else {
            found |= *first == c;
            set = rest;
        }
    }
    found != negative
}

/// The assignments of a file of sysctl.d(5). `-key` without a value only takes a key out of patterns.
pub fn parse(text: &str) -> Vec<Assignment> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with(['#', ';']))
        .filter_map(|line| line.split_once('='))
        .map(|(key, value)| {
            let key = key.trim();
            Assignment {
                key: path_form(key.strip_prefix('-').unwrap_or(key)),
                value: value.trim().to_owned(),
            }
        })
        .collect()
}

/// Every other owner, in the order in which they act at boot.
///
/// # Errors
/// A folder or file is there and cannot be read.
pub fn observe(probe: &dyn Probe, facts: &Facts) -> Result<Vec<Owner>, ProbeError> {
    let files = dropin::files(probe, FOLDERS)?;
    let own = HostPath::fixed(OWN);
    let mut owners = Vec::new();
    let mut conf_linked = false;
    for (name, path) in files {
        let target = probe.link(&path)?;
        conf_linked |= target.as_deref().is_some_and(|t| t.ends_with("sysctl.conf"));
        if path == own || target.as_deref() == Some("/dev/null") {
            continue;
        }
        let turn = if name.as_str() < own.name() {
            Turn::Before
        } else {
            Turn::After
        };
        add(&mut owners, probe, path, turn)?;
    }
    if !conf_linked {
        // Read at boot only where the distribution says so, then in the place of 99-sysctl.conf; always last by hand.
        let turn = match facts.row() {
            Some(row) if row.sysctl_conf_at_boot => Turn::After,
            _ => Turn::OnlyByHand,
        };
        add(&mut owners, probe, HostPath::fixed("/etc/sysctl.conf"), turn)?;
    }
    owners.extend(tuned(probe)?);
    Ok(owners)
}

fn add(owners: &mut Vec<Owner>, probe: &dyn Probe, file: HostPath, turn: Turn) -> Result<(), ProbeError> {
    let sets = parse(&probe.text(&file)?.unwrap_or_default());
    if !sets.is_empty() {
        owners.push(Owner {
            file,
            profile: None,
            turn,
            sets,
        });
    }
    Ok(())
}

/// The `[sysctl]` sections of tuned's active profiles and of what they include, in the order in which tuned merges them.
fn tuned(probe: &dyn Probe) -> Result<Vec<Owner>, ProbeError> {
    let Some(active) = probe.text(&HostPath::fixed("/etc/tuned/active_profile"))? else {
        return Ok(Vec::new());
    };
    let main = probe
        .text(&HostPath::fixed("/etc/tuned/tuned-main.conf"))?
        .unwrap_or_default();
    let reapply = ini(&main)
        .into_iter()
        .rfind(|(_, key, _)| key == "reapply_sysctl")
        .is_none_or(|(_, _, value)| !matches!(value.as_str(), "0" | "false" | "False" | "no"));
    let turn = if reapply {
        Turn::TunedThenFiles
    } else {
        Turn::Tuned
    };
    let mut owners = Vec::new();
    for profile in active.split_whitespace() {
        let mut seen = Vec::new();
        include(&mut owners, probe, profile, profile, turn, &mut seen)?;
    }
    Ok(owners)
}

fn include(
    owners: &mut Vec<Owner>,
    probe: &dyn Probe,
    active: &str,
    name: &str,
    turn: Turn,
    seen: &mut Vec<String>,
) -> Result<(), ProbeError> {
    if seen.iter().any(|s| s == name) {
        return Ok(());
    }
    seen.push(name.to_owned());
    let Some((file, text)) = profile_file(probe, name)? else {
        return Ok(());
    };
    let mut sets = Vec::new();
    for (section, key, value) in ini(&text) {
        match (section.as_str(), key.as_str()) {
            ("main", "include") => {
                for base in value.split([',', ' ']).filter(|b| !b.is_empty()) {
                    include(
                        owners,
                        probe,
                        active,
                        base.trim_start_matches(['-', '?']),
                        turn,
                        seen,
                    )?;
                }
            }
            ("sysctl", "type" | "enabled" | "replace") => {}
            ("sysctl", _) => sets.push(Assignment {
                key: path_form(&key),
                value: value.trim_matches('"').to_owned(),
            }),
            _ => {}
        }
    }
    if !sets.is_empty() {
        owners.push(Owner {
            file,
            profile: Some(active.to_owned()),
            turn,
            sets,
        });
    }
    Ok(())
}

/// Where a tuned profile is: the administrator's own first, the folder `profiles` first (tuned 2.23 and later).
fn profile_file(probe: &dyn Probe, name: &str) -> Result<Option<(HostPath, String)>, ProbeError> {
    for folder in [
        "/etc/tuned/profiles",
        "/etc/tuned",
        "/usr/lib/tuned/profiles",
        "/usr/lib/tuned",
    ] {
        let path = HostPath::fixed(folder)
            .join(name)
            .and_then(|p| p.join("tuned.conf"));
        let Ok(path) = path else { return Ok(None) };
        if let Some(text) = probe.text(&path)? {
            return Ok(Some((path, text)));
        }
    }
    Ok(None)
}

/// Section, key and value of each line of an ini file.
fn ini(text: &str) -> Vec<(String, String, String)> {
    let mut section = String::new();
    let mut out = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            name.trim().clone_into(&mut section);
        } else if let Some((key, value)) = line.split_once('=') {
            out.push((section.clone(), key.trim().to_owned(), value.trim().to_owned()));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_stay_in_their_component() {
        for (pattern, path, wanted) in [
            ("net/ipv4/conf/*/rp_filter", "net/ipv4/conf/ib0/rp_filter", true),
            ("net/ipv4/conf/*/rp_filter", "net/ipv4/conf/rp_filter", false),
            ("net/*/rp_filter", "net/ipv4/conf/ib0/rp_filter", false),
            ("net/ipv4/conf/ib?/x", "net/ipv4/conf/ib0/x", true),
            ("net/ipv4/conf/ib[0-3]/x", "net/ipv4/conf/ib2/x", true),
            ("net/ipv4/conf/ib[!0-3]/x", "net/ipv4/conf/ib2/x", false),
            ("net/ipv4/conf/ib[0/x", "net/ipv4/conf/ib0/x", false),
        ] {
            let one = Assignment {
                key: pattern.into(),
                value: "1".into(),
            };
            assert_eq!(one.sets(path), wanted, "{pattern} {path}");
        }
    }

    #[test]
    fn reads_every_form_of_a_line() {
        let text = "# c\n; c\n\nnet.core.rmem_max=1\n -net/ipv4/conf/ib0.8001/rp_filter = 2 \n-net.ipv4.conf.eth0.rp_filter\nnet.ipv4.conf.ib0/8001.x = a b\n";
        let keys: Vec<_> = parse(text).into_iter().map(|a| (a.key, a.value)).collect();
        assert_eq!(
            keys,
            [
                ("net/core/rmem_max".to_owned(), "1".to_owned()),
                ("net/ipv4/conf/ib0.8001/rp_filter".to_owned(), "2".to_owned()),
                ("net/ipv4/conf/ib0.8001/x".to_owned(), "a b".to_owned()),
            ]
        );
    }
}
