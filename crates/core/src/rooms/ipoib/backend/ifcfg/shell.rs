//! Shell assignments, as initscripts source them and ifcfg-rh parses them: strictly `NAME=value`, quoted or not.

use std::collections::BTreeMap;

/// The assignments of a file, later ones winning. What is no assignment is passed over to the end of its line.
pub fn parse(text: &str) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for line in text.lines() {
        let mut rest = line.trim_start();
        while let Some((name, value, after)) = assignment(rest) {
            out.insert(name.to_owned(), value);
            rest = after.trim_start_matches([' ', '\t', ';']);
        }
    }
    out
}

/// One assignment at the beginning of `text`, and what follows it.
fn assignment(text: &str) -> Option<(&str, String, &str)> {
    let text = text.strip_prefix("export ").unwrap_or(text).trim_start();
    let (name, rest) = text.split_once('=')?;
    let good = !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !name.starts_with(|c: char| c.is_ascii_digit());
    if !good {
        return None;
    }
    let mut value = String::new();
    let mut quote: Option<char> = None;
    let mut chars = rest.char_indices();
    while let Some((at, c)) = chars.next() {
        match (quote, c) {
            (None, ' ' | '\t' | ';') => return Some((name, value, &rest[at..])),
            (None, '\'' | '"') => quote = Some(c),
            (Some(q), c) if c == q => quote = None,
            (Some('\''), c) => value.push(c),
            (_, '\\') => value.extend(chars.next().map(|(_, c)| c)),
            (_, c) => value.push(c),
        }
    }
    quote.is_none().then_some((name, value, ""))
}

/// A value as it is written: bare where the shell takes it bare, else in double quotes.
pub fn quoted(value: &str) -> String {
    let plain = value
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || b"._:/-@+,%".contains(&b));
    if plain {
        return value.to_owned();
    }
    let mut out = String::from("\"");
    for c in value.chars() {
        if matches!(c, '"' | '\\' | '$' | '`') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
    out
}

/// The boolean words that both readers know; initscripts take `yes` for CONNECTED_MODE only.
pub fn truth(value: &str) -> bool {
    matches!(
        value.to_ascii_lowercase().as_str(),
        "yes" | "true" | "y" | "t" | "1" | "on"
    )
}

/// What of an ifcfg or route file counts, in one form: quotes, comments, order, the UUID and spelled-out defaults do not.
pub fn meaning(text: &str) -> BTreeMap<String, String> {
    let there = parse(text);
    let mut out = BTreeMap::new();
    for (key, value) in &there {
        let key = if key == "IPADDR0" || key == "PREFIX0" || key == "NETMASK0" || key == "GATEWAY0" {
            key.trim_end_matches('0')
        } else {
            key
        };
        if let Some((key, value)) = counts(key, value) {
            out.insert(key, value);
        }
    }
    if there.contains_key("DEVICE") || there.contains_key("TYPE") {
        // NetworkManager takes a missing IPV6INIT for no (NM: nms-ifcfg-rh-reader.c, make_ip6_setting).
        out.entry("IPV6INIT".to_owned())
            .or_insert_with(|| "no".to_owned());
    }
    let routes = text
        .lines()
        .map(|l| l.split('#').next().unwrap_or("").trim())
        .filter(|l| l.contains(" via "));
    for route in routes {
        let words: Vec<&str> = route.split_whitespace().collect();
        out.insert(words.join(" "), String::new());
    }
    out
}

fn counts(key: &str, value: &str) -> Option<(String, String)> {
    let word = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    let value = match key {
        "UUID" => return None,
        "NM_CONTROLLED" if truth(value) => return None,
        "CONNECTED_MODE" => word(value == "yes"),
        "TYPE" => value.to_ascii_lowercase(),
        "BOOTPROTO" if value.is_empty() || value == "static" => "none".to_owned(),
        "ONBOOT" | "PKEY" | "SLAVE" | "DEFROUTE" | "IPV6INIT" | "IPV6_AUTOCONF" | "BONDING_MASTER" => {
            word(truth(value))
        }
        _ if value.is_empty() => return None,
        _ => value.to_owned(),
    };
    if let Some(n) = key.strip_prefix("NETMASK")
        && let Some(length) = prefix_of(&value)
    {
        return Some((format!("PREFIX{n}"), length.to_string()));
    }
    Some((key.to_owned(), value))
}

/// The prefix length of a netmask.
pub fn prefix_of(mask: &str) -> Option<u8> {
    ipnet::ip_mask_to_prefix(mask.parse().ok()?).ok()
}
