//! `NAME='value'` files as wicked reads them (wicked: src/sysconfig.c), and lines of routes.

use ipnet::IpNet;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Assignments in order; an empty value is as good as none.
pub(super) fn assignments(text: &str) -> Vec<(String, String)> {
    text.lines()
        .filter_map(assignment)
        .filter(|(_, value)| !value.is_empty())
        .collect()
}

fn assignment(line: &str) -> Option<(String, String)> {
    let (name, value) = line.trim_start().split_once('=')?;
    let sound = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    Some((name.to_owned(), unquote(value)?)).filter(|_| sound)
}

/// A value up to its closing quote, or, unquoted, up to the first blank. `None`: the quote is never closed.
fn unquote(text: &str) -> Option<String> {
    match text.chars().next() {
        Some(quote @ ('\'' | '"')) => {
            let (value, _) = text[1..].split_once(quote)?;
            Some(value.to_owned())
        }
        _ => Some(text.split_whitespace().next().unwrap_or("").to_owned()),
    }
}

/// A file's assignments, the last of each name, in the order of first mention.
#[derive(Debug)]
pub(super) struct Settings(Vec<(String, String)>);

impl Settings {
    pub(super) fn parse(text: &str) -> Self {
        let mut out: Vec<(String, String)> = Vec::new();
        for (name, value) in assignments(text) {
            match out.iter_mut().find(|(n, _)| *n == name) {
                Some((_, old)) => *old = value,
                None => out.push((name, value)),
            }
        }
        Self(out)
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    /// `yes`, `true`, `on` or 1.
    pub(super) fn is_yes(&self, name: &str) -> bool {
        self.get(name).is_some_and(|v| {
            ["yes", "true", "on", "1"]
                .iter()
                .any(|w| v.eq_ignore_ascii_case(w))
        })
    }

    /// Suffixes and values of a variable that may come many times, such as `IPADDR`, `IPADDR_1`.
    pub(super) fn indexed<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.0
            .iter()
            .filter_map(move |(n, v)| Some((n.strip_prefix(name)?, v.as_str())))
    }

    /// The addresses in order; prefix in the value, else in PREFIXLEN, else in NETMASK, else of one host.
    pub(super) fn addresses(&self) -> Vec<IpNet> {
        self.indexed("IPADDR")
            .filter_map(|(suffix, value)| self.address(suffix, value))
            .collect()
    }

    fn address(&self, suffix: &str, value: &str) -> Option<IpNet> {
        if let Ok(net) = value.parse::<IpNet>() {
            return Some(net);
        }
        let ip: IpAddr = value.parse().ok()?;
        let prefix = match (
            self.get(&format!("PREFIXLEN{suffix}")),
            self.get(&format!("NETMASK{suffix}")),
        ) {
            (Some(bits), _) => bits.parse().ok(),
            (None, Some(mask)) => mask.parse().ok().and_then(|m| ipnet::ipv4_mask_to_prefix(m).ok()),
            (None, None) => None,
        };
        let most = if ip.is_ipv4() { 32 } else { 128 };
        IpNet::new(ip, prefix.filter(|p| (1..=most).contains(p)).unwrap_or(most)).ok()
    }
}

/// One line of `ifroute-NAME` or `routes`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RouteLine {
    /// Destination, `None` for the default route.
    pub(super) to: Option<IpNet>,
    /// Gateway, if there is one.
    pub(super) via: Option<IpAddr>,
    /// Interface, if it is named.
    pub(super) interface: Option<String>,
    /// Everything behind the fourth column.
    pub(super) options: Vec<String>,
    /// Its number, from 1.
    pub(super) line: usize,
}

impl RouteLine {
    /// The metric, under any of its three names.
    pub(super) fn metric(&self) -> Option<u32> {
        let at = self
            .options
            .iter()
            .position(|o| ["metric", "priority", "preference"].contains(&o.as_str()))?;
        self.options.get(at + 1)?.parse().ok()
    }
}

/// The routes of a file; lines that make no sense are passed over.
pub(super) fn routes(text: &str) -> Vec<RouteLine> {
    text.lines()
        .enumerate()
        .filter_map(|(at, line)| route(at + 1, line))
        .collect()
}

fn route(number: usize, line: &str) -> Option<RouteLine> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return None;
    }
    let mut words = line.split_whitespace();
    let destination = words.next()?;
    let mut column = || words.next().filter(|w| *w != "-");
    let (via, mask, interface) = (column(), column(), column());
    let via: Option<IpAddr> = match via {
        Some(text) => Some(text.parse().ok()?),
        None => None,
    };
    let to = if destination == "default" {
        None
    } else {
        let net = match destination.parse::<IpNet>() {
            Ok(net) => net,
            Err(_) => masked(destination.parse().ok()?, mask)?,
        };
        Some(net.trunc()).filter(|n| n.prefix_len() > 0)
    };
    Some(RouteLine {
        to,
        via: via.filter(|ip| !ip.is_unspecified()),
        interface: interface.map(str::to_owned),
        options: words.map(str::to_owned).collect(),
        line: number,
    })
}

fn masked(ip: IpAddr, mask: Option<&str>) -> Option<IpNet> {
    match mask {
        Some(mask) => IpNet::new(ip, ipnet::ipv4_mask_to_prefix(mask.parse().ok()?).ok()?).ok(),
        None => Some(IpNet::from(ip)),
    }
}

/// What of a file counts, for files of both kinds: assignments without their order, addresses in order, routes sorted.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Meaning {
    settings: BTreeMap<String, String>,
    addresses: Vec<IpNet>,
    routes: Vec<RouteLine>,
}

/// The meaning of a text: without comments, layout, quotes, empty values, and names of addresses.
pub(super) fn meaning(text: &str) -> Meaning {
    let settings = Settings::parse(text);
    let mut routes = routes(text);
    for route in &mut routes {
        // The file already says for which interface it is.
        route.interface = None;
        route.line = 0;
    }
    routes.sort();
    Meaning {
        addresses: settings.addresses(),
        settings: settings
            .0
            .into_iter()
            .filter(|(n, _)| {
                !["IPADDR", "PREFIXLEN", "NETMASK"]
                    .iter()
                    .any(|p| n.starts_with(p))
            })
            .map(|(name, value)| {
                let value = if name == "IPOIB_PKEY" { key(&value) } else { value };
                (name, value)
            })
            .collect(),
        routes,
    }
}

/// A P_Key is hexadecimal, with or without `0x`.
fn key(text: &str) -> String {
    parse_key(text).map_or_else(|| text.to_owned(), |k| format!("{k:#06x}"))
}

/// Reads it as wicked does: only children with the membership bit, and not 0xffff.
pub(super) fn parse_key(text: &str) -> Option<u16> {
    let digits = text
        .strip_prefix("0x")
        .or_else(|| text.strip_prefix("0X"))
        .unwrap_or(text);
    u16::from_str_radix(digits, 16)
        .ok()
        .filter(|k| (0x8001..0xffff).contains(k))
}
