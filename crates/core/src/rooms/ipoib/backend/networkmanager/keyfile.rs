//! The form of a keyfile (GKeyFile), and what counts in one.

use std::collections::BTreeMap;

/// Groups with their keys. Later lines win, as in GKeyFile.
pub type Groups = BTreeMap<String, BTreeMap<String, String>>;

/// Reads groups and keys; comments and lines that are neither are passed over. Old names of groups become the new ones.
pub fn parse(text: &str) -> Groups {
    let mut out = Groups::new();
    let mut group: Option<String> = None;
    for line in text.lines() {
        let line = line.trim();
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            let name = match name {
                "802-3-ethernet" => "ethernet",
                other => other,
            };
            out.entry(name.to_owned()).or_default();
            group = Some(name.to_owned());
        } else if let Some((key, value)) = line.split_once('=')
            && !line.starts_with('#')
            && let Some(group) = &group
        {
            out.entry(group.clone())
                .or_default()
                .insert(key.trim().to_owned(), value.trim().to_owned());
        }
    }
    out
}

/// A value of a group.
pub fn get<'a>(groups: &'a Groups, group: &str, key: &str) -> Option<&'a str> {
    groups.get(group)?.get(key).map(String::as_str)
}

/// A value by the first of several names that is there and not empty.
pub fn first<'a>(groups: &'a Groups, group: &str, keys: &[&str]) -> Option<&'a str> {
    keys.iter()
        .find_map(|k| get(groups, group, k).filter(|v| !v.is_empty()))
}

/// The boolean words of GKeyFile and NetworkManager.
pub fn truth(text: &str) -> bool {
    matches!(text, "true" | "yes" | "1" | "on")
}

/// The values of numbered keys (`address1`, `address2`), in the order of their numbers; the key without a number first.
pub fn numbered<'a>(groups: &'a Groups, group: &str, stems: &[&str]) -> Vec<&'a str> {
    let mut found: Vec<(u32, &str)> = groups
        .get(group)
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((number_of(key, stems)?, value.as_str())))
        .filter(|(_, value)| !value.is_empty())
        .collect();
    found.sort_by_key(|(n, _)| *n);
    found.into_iter().map(|(_, value)| value).collect()
}

fn number_of(key: &str, stems: &[&str]) -> Option<u32> {
    stems.iter().find_map(|stem| {
        let rest = key.strip_prefix(stem)?;
        if rest.is_empty() {
            Some(0)
        } else {
            rest.parse().ok()
        }
    })
}

/// Names of the keys that hold addresses; `addresses` is the old form.
pub const ADDRESSES: &[&str] = &["addresses", "address"];
/// Names of the keys that hold routes.
pub const ROUTES: &[&str] = &["routes", "route"];

/// Splits `a/l,gateway` and the old `a;l;gateway;` into address with length, and gateway.
pub fn address(value: &str) -> (String, Option<String>) {
    let parts: Vec<&str> = value
        .split([',', ';'])
        .map(str::trim)
        .filter(|p| !p.is_empty())
        .collect();
    match parts.as_slice() {
        [net, rest @ ..] if net.contains('/') => ((*net).to_owned(), rest.first().map(|g| (*g).to_owned())),
        [ip, length, rest @ ..] => (format!("{ip}/{length}"), rest.first().map(|g| (*g).to_owned())),
        [ip] => ((*ip).to_owned(), None),
        [] => (String::new(), None),
    }
}

/// What of a profile counts: keys by group, brought into one form. Left out are what NetworkManager adds when it writes a
/// profile itself (empty groups, the time of the last use, defaults spelled out), the uuid, and the order.
pub fn meaning(text: &str) -> Groups {
    let mut out = Groups::new();
    for (group, keys) in parse(text) {
        let mut kept = BTreeMap::new();
        if group == "ipv4" || group == "ipv6" {
            addresses(&parse(text), &group, &mut kept);
        }
        for (key, value) in keys {
            let listed = number_of(&key, ADDRESSES)
                .or_else(|| number_of(&key, ROUTES))
                .is_some();
            let told = listed || (key == "gateway" && kept.contains_key("gateway"));
            if !told && !is_default(&group, &key, &value) {
                let (key, value) = renamed(&group, &key, value);
                kept.insert(key, value);
            }
        }
        silent(&group, &mut kept);
        if !kept.is_empty() {
            out.insert(group, kept);
        }
    }
    out
}

/// What the document has no say in: whether a link without IPv6 addresses has a link-local one, and whether a default route
/// would be taken where there is none.
fn silent(group: &str, kept: &mut BTreeMap<String, String>) {
    if group == "ipv6"
        && let Some(method) = kept.get_mut("method")
        && matches!(method.as_str(), "disabled" | "ignore" | "link-local")
    {
        "disabled".clone_into(method);
    }
    let taken = kept.contains_key("gateway") || kept.get("method").is_some_and(|m| m == "auto");
    if !taken {
        kept.remove("never-default");
    }
}

/// Addresses in order, the gateway apart, routes as a set.
fn addresses(groups: &Groups, group: &str, kept: &mut BTreeMap<String, String>) {
    for (n, value) in numbered(groups, group, ADDRESSES).into_iter().enumerate() {
        let (net, gateway) = address(value);
        kept.insert(format!("address{n}"), net);
        if let Some(gateway) = gateway {
            kept.entry("gateway".to_owned()).or_insert(gateway);
        }
    }
    let mut routes: Vec<String> = numbered(groups, group, ROUTES)
        .into_iter()
        .map(|r| r.split([',', ';']).map(str::trim).collect::<Vec<_>>().join(","))
        .collect();
    routes.sort();
    for (n, route) in routes.into_iter().enumerate() {
        kept.insert(format!("route{n}"), route);
    }
}

/// A value that says what is so without it, or that does not concern the document.
fn is_default(group: &str, key: &str, value: &str) -> bool {
    match (group, key) {
        ("connection", "uuid" | "timestamp") | ("ipv6", "addr-gen-mode") => true,
        ("connection", "autoconnect") => truth(value),
        ("ipv4" | "ipv6", "may-fail") => truth(value),
        ("ipv4" | "ipv6", "never-default") => !truth(value),
        ("ipv6", "ip6-privacy") => matches!(value, "-1" | "0"),
        ("infiniband" | "ethernet", "mtu") => matches!(value, "0" | "auto" | ""),
        ("infiniband", "p-key") => value == "-1",
        _ => value.is_empty(),
    }
}

/// New names by their old ones, numbers by their decimal form.
fn renamed(group: &str, key: &str, value: String) -> (String, String) {
    let key = match (group, key) {
        ("connection", "controller") => "master",
        ("connection", "port-type") => "slave-type",
        _ => key,
    };
    let value = match (group, key, value.as_str()) {
        ("connection", "type", "802-3-ethernet") => "ethernet".to_owned(),
        ("infiniband", "p-key", _) => number(&value).map_or(value, |n| n.to_string()),
        _ => value,
    };
    (key.to_owned(), value)
}

/// A P_Key as people write it: decimal, or hexadecimal with `0x`.
pub fn number(text: &str) -> Option<u16> {
    match text.strip_prefix("0x") {
        Some(hex) => u16::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}
