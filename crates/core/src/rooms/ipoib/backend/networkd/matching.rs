//! Which links a .network file applies to (systemd.network(5), `[Match]`), as far as its text alone can tell.

use super::ini::Ini;
use crate::rooms::ipoib::model::{Link, LinkKind};

/// The names that a file spells out: no pattern, no negation.
pub(crate) fn exact_names(ini: &Ini) -> Vec<&str> {
    ini.words("Match", "Name")
        .into_iter()
        .filter(|w| is_plain(w))
        .collect()
}

fn is_plain(word: &str) -> bool {
    !word.contains(['*', '?', '[', '!'])
}

/// Whether every interface that the file can apply to is one of `names`.
pub(crate) fn only_for(ini: &Ini, names: &[&str]) -> bool {
    let words = ini.words("Match", "Name");
    !words.is_empty() && words.iter().all(|w| is_plain(w) && names.contains(w))
}

/// Whether the file applies to the link. Criteria that only the host can decide (MAC address, path, driver) narrow the
/// file down: with a name beside them they are taken as met, alone as not met.
pub(crate) fn applies(ini: &Ini, link: &Link) -> bool {
    let types = ini.words("Match", "Type");
    let kind = match link.kind {
        LinkKind::Bond { .. } => "bond",
        LinkKind::Parent | LinkKind::Child { .. } => "infiniband",
        LinkKind::Ethernet => "ether",
    };
    if !types.is_empty() && !list_matches(&types, kind) {
        return false;
    }
    let names = ini.words("Match", "Name");
    if names.is_empty() {
        let other = ini
            .each("Match")
            .flatten()
            .any(|(key, value)| key != "Type" && !value.is_empty());
        return !other;
    }
    list_matches(&names, &link.name)
}

/// A list of patterns; a `!` before the first one turns the whole list round.
fn list_matches(words: &[&str], text: &str) -> bool {
    let negated = words.first().is_some_and(|w| w.starts_with('!'));
    let hit = words
        .iter()
        .any(|w| glob(w.trim_start_matches('!').as_bytes(), text.as_bytes()));
    hit != negated
}

/// fnmatch(3) with `*`, `?` and `[...]`.
fn glob(pattern: &[u8], text: &[u8]) -> bool {
    match (pattern.first(), text.first()) {
        (None, None) => true,
        (Some(b'*'), _) => glob(&pattern[1..], text) || (!text.is_empty() && glob(pattern, &text[1..])),
        (Some(b'?'), Some(_)) => glob(&pattern[1..], &text[1..]),
        (Some(b'['), Some(c)) => match pattern.iter().skip(2).position(|b| *b == b']') {
            Some(at) => class(&pattern[1..at + 2], *c) && glob(&pattern[at + 3..], &text[1..]),
            None => *c == b'[' && glob(&pattern[1..], &text[1..]),
        },
        (Some(p), Some(c)) => p == c && glob(&pattern[1..], &text[1..]),
        _ => false,
    }
}

fn class(inside: &[u8], c: u8) -> bool {
    let (negated, mut rest) = match inside.first() {
        Some(b'!' | b'^') => (true, &inside[1..]),
        _ => (false, inside),
    };
    let mut hit = false;
    while let Some(first) = rest.first() {
        if let [from, b'-', to, ..] = rest {
            hit |= (*from..=*to).contains(&c);
            rest = &rest[3..];
        } else {
            hit |= *first == c;
            rest = &rest[1..];
        }
    }
    hit != negated
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_what_a_file_applies_to() {
        let ib0 = Link::new("ib0", LinkKind::Parent);
        for (text, applies_, only) in [
            ("[Match]\nName=ib0\n", true, true),
            ("[Match]\nName=ib0 ib1\n", true, false),
            ("[Match]\nName=ib*\n", true, false),
            ("[Match]\nName=ib[0-3]\n", true, false),
            ("[Match]\nName=ib[!0]\n", false, false),
            ("[Match]\nName=ib?\nType=infiniband\n", true, false),
            ("[Match]\nName=!eth0\n", true, false),
            ("[Match]\nName=!ib0\n", false, false),
            ("[Match]\nType=infiniband\n", true, false),
            ("[Match]\nType=ether\n", false, false),
            ("[Match]\nName=* \nType=ether wlan\n", false, false),
            ("[Match]\nName=e*\n", false, false),
            ("[Match]\nMACAddress=00:11:22:33:44:55\n", false, false),
            ("[Match]\nDriver=mlx5_core\nName=ib0\n", true, true),
            ("[Network]\nDHCP=yes\n", true, false),
        ] {
            let ini = Ini::parse(text);
            assert_eq!(applies(&ini, &ib0), applies_, "{text}");
            assert_eq!(only_for(&ini, &["ib0"]), only, "{text}");
        }
    }
}
