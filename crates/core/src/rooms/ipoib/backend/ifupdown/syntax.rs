//! The syntax of interfaces(5): logical lines, stanzas, and what of them counts.

use ipnet::IpNet;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};

/// A stanza with the lines (from 1) that it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stanza {
    pub(super) item: Item,
    pub(super) first: usize,
    pub(super) last: usize,
}

/// What a stanza says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// `auto` or `allow-CLASS`, with the names behind it.
    Class { class: String, names: Vec<String> },
    /// `iface`.
    Iface(Iface),
    /// `source` or `source-directory`.
    Include { directory: bool, words: Vec<String> },
    /// `mapping`, `rename`, `no-auto-down`, `no-scripts`, and lines that belong nowhere.
    Other(Vec<String>),
}

/// An `iface` stanza.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Iface {
    pub(super) name: String,
    /// `inet`, `inet6`, …
    pub(super) family: String,
    /// `static`, `dhcp`, `manual`, `auto`, …
    pub(super) method: String,
    /// The stanza whose options it takes over.
    pub(super) inherits: Option<String>,
    /// Options in order; names with `-`, `post-up` as `up` and `pre-down` as `down`, which is what they are.
    pub(super) options: Vec<(String, String)>,
}

impl Iface {
    /// The first value of an option.
    pub(super) fn option(&self, key: &str) -> Option<&str> {
        self.options
            .iter()
            .find(|(k, _)| k == key)
            .map(|(_, v)| v.as_str())
    }

    /// The address of a static stanza; the old style with a netmask of its own too.
    pub(super) fn address(&self) -> Option<IpNet> {
        let text = self.option("address")?;
        if text.contains('/') {
            return text.parse().ok();
        }
        let ip: IpAddr = text.parse().ok()?;
        let prefix = match self.option("netmask") {
            Some(mask) => prefix_of(mask)?,
            None => match ip {
                // What ifupdown fills in: 64, and for IPv4 the class of old.
                IpAddr::V6(_) => 64,
                IpAddr::V4(v4) if v4.octets()[0] < 128 => 8,
                IpAddr::V4(v4) if v4.octets()[0] < 192 => 16,
                IpAddr::V4(_) => 24,
            },
        };
        IpNet::new(ip, prefix).ok()
    }
}

/// Prefix length of `24` or `255.255.255.0`.
pub(super) fn prefix_of(mask: &str) -> Option<u8> {
    mask.parse::<u8>().ok().or_else(|| {
        let mask: Ipv4Addr = mask.parse().ok()?;
        ipnet::ipv4_mask_to_prefix(mask).ok()
    })
}

/// Logical lines: comments and blank lines left out, continued lines joined (a comment is never continued).
fn logical(text: &str) -> Vec<(usize, usize, String)> {
    let mut out = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let line = line.trim_start();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (mut joined, mut last) = (line.to_owned(), at);
        while joined.ends_with('\\') && !joined.ends_with("\\\\") {
            joined.pop();
            let Some((next_at, next)) = lines.next() else {
                break;
            };
            joined.push_str(next);
            last = next_at;
        }
        out.push((at + 1, last + 1, joined.trim().to_owned()));
    }
    out
}

/// All stanzas of a file. Nothing stops it: what it does not know is kept as [`Item::Other`].
pub(super) fn parse(text: &str) -> Vec<Stanza> {
    let mut out: Vec<Stanza> = Vec::new();
    for (first, last, line) in logical(text) {
        let mut words = line.split_whitespace();
        let word = words.next().unwrap_or_default();
        let rest = || words.clone().map(str::to_owned).collect::<Vec<_>>();
        let class = if word == "auto" {
            Some("auto")
        } else {
            word.strip_prefix("allow-")
        };
        let item = match (word, class) {
            (_, Some(class)) => Item::Class {
                class: class.to_owned(),
                names: rest(),
            },
            ("iface", _) => Item::Iface(iface(&rest())),
            ("source" | "source-directory", _) => Item::Include {
                directory: word == "source-directory",
                words: rest(),
            },
            ("mapping" | "rename" | "no-auto-down" | "no-scripts" | "template", _) => Item::Other(vec![line]),
            _ => {
                if !out.last_mut().is_some_and(|open| open.takes(&line, last)) {
                    out.push(Stanza {
                        item: Item::Other(vec![line]),
                        first,
                        last,
                    });
                }
                continue;
            }
        };
        out.push(Stanza { item, first, last });
    }
    out
}

impl Stanza {
    /// Takes a line that begins no stanza of its own; only `iface` and `mapping` have such lines.
    fn takes(&mut self, line: &str, last: usize) -> bool {
        let taken = match &mut self.item {
            Item::Iface(iface) => {
                let (key, value) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
                iface.options.push((option_name(key), value.trim().to_owned()));
                true
            }
            Item::Other(lines) if lines.first().is_some_and(|l| l.starts_with("mapping")) => {
                lines.push(line.to_owned());
                true
            }
            _ => false,
        };
        if taken {
            self.last = last;
        }
        taken
    }
}

fn iface(words: &[String]) -> Iface {
    let word = |at: usize| words.get(at).cloned().unwrap_or_default();
    // Family and method may be left out where another stanza is inherited.
    if words.get(1).is_some_and(|w| w == "inherits") {
        return Iface {
            name: word(0),
            inherits: words.get(2).cloned(),
            ..Iface::default()
        };
    }
    let inherits = words.iter().position(|w| w == "inherits");
    Iface {
        name: word(0),
        family: word(1),
        method: word(2),
        inherits: inherits.and_then(|at| words.get(at + 1).cloned()),
        options: Vec::new(),
    }
}

/// One name for one option: ifenslave gets `IF_BOND_MODE` from `bond-mode` and `bond_mode` alike.
fn option_name(key: &str) -> String {
    match key {
        "post-up" => "up".to_owned(),
        "pre-down" => "down".to_owned(),
        "slaves" => "bond-slaves".to_owned(),
        _ if key.starts_with("bond_") => key.replace('_', "-"),
        _ => key.to_owned(),
    }
}

/// Options that are commands: their order counts, and blanks inside them too.
fn is_command(key: &str) -> bool {
    matches!(key, "pre-up" | "up" | "down" | "post-down")
}

type Options = BTreeMap<String, Vec<String>>;

/// Family, method, what is inherited, and the options of a stanza.
type Said = (String, String, Option<String>, Options);

/// What of a file counts, so that two texts can be compared by meaning.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Meaning {
    classes: BTreeSet<(String, String)>,
    ifaces: BTreeMap<String, Vec<Said>>,
    includes: BTreeSet<(bool, String)>,
    other: Vec<Vec<String>>,
}

impl Meaning {
    /// Whether this says of a link all that `wanted` says, and no more.
    pub(super) fn says_of(&self, name: &str, wanted: &Self) -> bool {
        self.ifaces.get(name) == wanted.ifaces.get(name)
            && wanted.classes.iter().all(|class| self.classes.contains(class))
    }
}

/// The meaning of a text: without comments, layout, the order of options, and the order of stanzas of different links.
pub(super) fn meaning(text: &str) -> Meaning {
    let mut out = Meaning {
        classes: BTreeSet::new(),
        ifaces: BTreeMap::new(),
        includes: BTreeSet::new(),
        other: Vec::new(),
    };
    for stanza in parse(text) {
        match stanza.item {
            Item::Class { class, names } => {
                out.classes.extend(names.into_iter().map(|n| (class.clone(), n)));
            }
            Item::Include { directory, words } => {
                out.includes.extend(words.into_iter().map(|w| (directory, w)));
            }
            Item::Other(lines) => out.other.push(lines),
            Item::Iface(iface) => {
                let options = options_of(&iface);
                out.ifaces.entry(iface.name).or_default().push((
                    iface.family,
                    iface.method,
                    iface.inherits,
                    options,
                ));
            }
        }
    }
    out
}

fn options_of(iface: &Iface) -> Options {
    let mut options = Options::new();
    let address = iface.address();
    for (key, value) in &iface.options {
        let value = match key.as_str() {
            "address" => address.map_or_else(|| value.clone(), |a| a.to_string()),
            "netmask" if address.is_some() => continue,
            _ if is_command(key) => value.clone(),
            _ => value.split_whitespace().collect::<Vec<_>>().join(" "),
        };
        options.entry(key.clone()).or_default().push(value);
    }
    options
}
