//! Keys of opensm.conf: what a document may set, and how a value is written and compared.
//!
//! opensm takes a wrong value for its default, with one line on its standard output and exit status 0; a boolean that is
//! not exactly `TRUE` is silently false; an unknown key is ignored. So everything is checked here.

mod table;

use super::codes;
use super::want::OptionValue;
use crate::pointer::Pointer;
use crate::problem::Findings;
use serde_json::Value;
use std::collections::BTreeMap;

pub use table::KEYS;

/// What a key holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `TRUE` or `FALSE`.
    Bool,
    /// An integer in a range, written in decimal digits.
    Int(i64, i64),
    /// One of these numbers.
    OneOf(&'static [i64]),
    /// A number up to the second, written `0x` and at least so many hexadecimal digits as the first says.
    Hex(usize, u64),
    /// One of these words.
    Word(&'static [&'static str]),
    /// A word.
    Text,
    /// Words joined with commas; when any are named, only these.
    List(&'static [&'static str]),
    /// An absolute path.
    Path,
    /// A mask of 256 bits, `0x` and up to 64 hexadecimal digits.
    Mask,
    /// A service level and a value, once for each level: not settable through a document.
    PerSl,
}

/// One key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// opensm's default, as its template has it.
    pub default: &'static str,
    /// SIGHUP takes a new value; else only a restart.
    pub live: bool,
}

/// Keys whose values are secrets: shown nowhere.
pub const SECRETS: &[&str] = &["m_key", "sm_key", "sa_key", "cc_key"];
/// What is shown for a secret.
pub const HIDDEN: &str = "(hidden)";

/// Keys with a field of their own, or that are not for a document, and where they belong.
const OWN: &[(&str, &str)] = &[
    (
        "guid",
        "name the port in `instances[].port` (guid, device or pci)",
    ),
    ("sm_priority", "give it as `instances[].priority`"),
    ("subnet_prefix", "give it as `instances[].subnet_prefix`"),
    (
        "partition_config_file",
        "list the partitions in `partitions`; ibplan writes the file where opensm looks for it",
    ),
    (
        "daemon",
        "leave it out: the service unit decides how opensm is started",
    ),
];

/// Names that people write by mistake, and what they mean.
const MISTAKEN: &[(&str, &str)] = &[
    (
        "log_level",
        "use `log_flags`, for opensm has no log levels; it is a sum of 0x01 errors, 0x02 info, 0x04 verbose, 0x08 debug",
    ),
    (
        "verbosity",
        "use `log_flags`, a bit mask: 3 is the default, 7 adds verbose messages",
    ),
    ("log_size", "use `log_max_size`, in MB"),
    ("logfile", "use `log_file`"),
    ("priority", "give it as `instances[].priority`"),
    ("port", "name the port in `instances[].port`"),
    ("port_guid", "name the port in `instances[].port`"),
    ("routing", "use `routing_engine`"),
    ("routing_algorithm", "use `routing_engine`"),
    ("sweep", "use `sweep_interval`, in seconds"),
    (
        "dimn_ports_file",
        "use `port_search_ordering_file`, the newer name of this key",
    ),
    ("partitions_file", "list the partitions in `partitions`"),
    ("partition_file", "list the partitions in `partitions`"),
    ("partition_enforce", "use `part_enforce`: both, in, out or off"),
    (
        "mr_cache_size",
        "that is no setting of a subnet manager but of a user program's memory registration cache",
    ),
    (
        "mtu",
        "give the MTU of an IPoIB group as `partitions[].ipoib.mtu`",
    ),
    (
        "rate",
        "give the rate of an IPoIB group as `partitions[].ipoib.rate`",
    ),
    ("max_smps", "use `max_wire_smps`"),
    (
        "timeout",
        "use `transaction_timeout`, in ms, or `sminfo_polling_timeout`",
    ),
];

/// The key of this name.
pub fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|k| k.name == name)
}

/// The number that opensm reads (strtoul, base by prefix); `None` when it would not take the text.
fn number(text: &str) -> Option<i128> {
    let (digits, negative) = text.strip_prefix('-').map_or((text, false), |d| (d, true));
    let magnitude = if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        u64::from_str_radix(hex, 16).ok()
    } else if digits.len() > 1 && digits.starts_with('0') {
        u64::from_str_radix(digits, 8).ok()
    } else {
        digits.parse().ok()
    }?;
    let magnitude = i128::from(magnitude);
    Some(if negative { -magnitude } else { magnitude })
}

impl Key {
    /// Whether two raw values of opensm.conf mean the same.
    pub fn same(&self, a: &str, b: &str) -> bool {
        match self.kind {
            Kind::Bool => (a == "TRUE") == (b == "TRUE"),
            Kind::Int(..) | Kind::OneOf(_) | Kind::Hex(..) => match (number(a), number(b)) {
                (Some(a), Some(b)) => a == b,
                _ => a == b,
            },
            Kind::Mask => mask_digits(a).is_some_and(|d| Some(d) == mask_digits(b)) || a == b,
            Kind::List(_) => words(a).eq(words(b)),
            Kind::PerSl => a.split_whitespace().eq(b.split_whitespace()),
            Kind::Path => a.trim_end_matches('/') == b.trim_end_matches('/'),
            Kind::Word(_) | Kind::Text => a == b,
        }
    }

    /// A raw value as a change shows it.
    pub fn shown(&self, raw: &str) -> Value {
        if SECRETS.contains(&self.name) {
            return HIDDEN.into();
        }
        match self.kind {
            _ if raw == "(null)" => Value::Null,
            Kind::Bool => (raw == "TRUE").into(),
            Kind::Int(..) | Kind::OneOf(_) => number(raw)
                .and_then(|n| i64::try_from(n).ok())
                .map_or_else(|| raw.into(), Value::from),
            _ => raw.into(),
        }
    }

    /// What opensm.conf has for a value of the document.
    ///
    /// # Errors
    /// What is wrong, and what would be right.
    pub fn render(&self, value: &OptionValue) -> Result<String, (String, String)> {
        let secret = SECRETS.contains(&self.name);
        let shown = if secret { HIDDEN.to_owned() } else { show(value) };
        let refuse = |hint: String| {
            Err((
                format!("{shown} is not a value of the opensm.conf key {}", self.name),
                hint,
            ))
        };
        if let OptionValue::Text(word) = value
            && word == "(null)"
            && matches!(self.kind, Kind::Text | Kind::List(_) | Kind::Path)
        {
            return Ok(word.clone());
        }
        match (self.kind, value) {
            (Kind::Bool, OptionValue::Bool(b)) => Ok(if *b { "TRUE" } else { "FALSE" }.to_owned()),
            (Kind::Bool, OptionValue::Text(t)) if t.eq_ignore_ascii_case("true") => Ok("TRUE".to_owned()),
            (Kind::Bool, OptionValue::Text(t)) if t.eq_ignore_ascii_case("false") => Ok("FALSE".to_owned()),
            (Kind::Bool, _) => refuse("give true or false".to_owned()),
            (Kind::Int(min, max), _) => match plain(value) {
                Some(n) if (i128::from(min)..=i128::from(max)).contains(&n) => Ok(n.to_string()),
                _ => refuse(format!("give an integer from {min} to {max}")),
            },
            (Kind::OneOf(numbers), _) => match plain(value) {
                Some(n) if numbers.iter().any(|k| i128::from(*k) == n) => Ok(n.to_string()),
                _ => refuse(format!("give one of {}", join(numbers))),
            },
            (Kind::Hex(digits, max), _) => match plain(value) {
                Some(n) if (0..=i128::from(max)).contains(&n) => {
                    Ok(format!("0x{}", pad(&format!("{n:x}"), digits)))
                }
                _ => refuse(format!("give a number from 0 to {max:#x}, in decimal digits or as a 0x string")),
            },
            (Kind::Word(known), OptionValue::Text(t)) if known.contains(&t.as_str()) => Ok(t.clone()),
            // YAML 1.1 reads a bare `off` as false.
            (Kind::Word(known), OptionValue::Bool(false)) if known.contains(&"off") => Ok("off".to_owned()),
            (Kind::Word(known), _) => refuse(format!("give one of {}", join(known))),
            (Kind::Text, OptionValue::Text(t)) => Ok(t.clone()),
            (Kind::Text, OptionValue::Number(n)) => Ok(n.to_string()),
            (Kind::Text, _) => refuse("give a word".to_owned()),
            (Kind::List(known), _) => list(known, value).map_or_else(|h| refuse(h.to_owned()), Ok),
            (Kind::Path, OptionValue::Text(t)) if t.starts_with('/') => Ok(t.clone()),
            (Kind::Path, _) => refuse("give an absolute path; opensm is started in the root folder".to_owned()),
            (Kind::Mask, OptionValue::Text(t)) if mask_digits(t).is_some() => Ok(t.clone()),
            (Kind::Mask, _) => refuse("give 0x and up to 64 hexadecimal digits".to_owned()),
            (Kind::PerSl, _) => refuse(
                "this key holds a value for each service level and stands many times; edit it in opensm.conf, where ibplan leaves it alone"
                    .to_owned(),
            ),
        }
    }
}

fn show(value: &OptionValue) -> String {
    match value {
        OptionValue::Bool(b) => b.to_string(),
        OptionValue::Number(n) => n.to_string(),
        OptionValue::Text(t) => format!("\"{}\"", t.escape_debug()),
        OptionValue::List(words) => format!("[{}]", words.join(", ")),
    }
}

fn join<T: ToString>(all: &[T]) -> String {
    all.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

fn pad(digits: &str, width: usize) -> String {
    format!("{digits:0>width$}")
}

/// A number of the document: an integer, or a string of plain decimal or `0x` digits. A leading zero would be octal to
/// opensm and decimal to most readers, so it is no number here.
fn plain(value: &OptionValue) -> Option<i128> {
    match value {
        OptionValue::Number(n) => Some(i128::from(*n)),
        OptionValue::Text(t) => {
            let digits = t.strip_prefix('-').unwrap_or(t);
            let octal = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0x");
            let signed = digits.starts_with(['+', '-']) || digits.contains("0x+");
            (!octal && !signed).then(|| number(t)).flatten()
        }
        _ => None,
    }
}

fn words(raw: &str) -> impl Iterator<Item = &str> {
    raw.split(',').map(str::trim).filter(|w| !w.is_empty())
}

fn list(known: &[&str], value: &OptionValue) -> Result<String, String> {
    let all: Vec<String> = match value {
        OptionValue::Text(t) => words(t).map(str::to_owned).collect(),
        OptionValue::List(l) => l.clone(),
        OptionValue::Number(n) => vec![n.to_string()],
        OptionValue::Bool(_) => Vec::new(),
    };
    let fits = |w: &String| (known.is_empty() || known.contains(&w.as_str())) && !w.contains(',');
    if all.is_empty() || !all.iter().all(fits) {
        return Err(if known.is_empty() {
            "give a list of words".to_owned()
        } else {
            format!("give a list of words of {}", join(known))
        });
    }
    Ok(all.join(","))
}

/// Hexadecimal digits of a mask without leading zeros.
fn mask_digits(text: &str) -> Option<String> {
    let digits = text.strip_prefix("0x")?;
    let ok = (1..=64).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit());
    ok.then(|| digits.trim_start_matches('0').to_ascii_lowercase())
}

/// Checks the options of one instance.
pub fn check(options: &BTreeMap<String, OptionValue>, at: &Pointer, found: &mut Findings) {
    for (name, value) in options {
        let here = at.key(name);
        if let Some((_, hint)) = OWN.iter().find(|(own, _)| own == name) {
            found.error(
                codes::OPTION_HAS_FIELD,
                here,
                format!("the opensm.conf key {name} is not given as an option"),
                *hint,
            );
        } else if let Some(key) = find(name) {
            match key.render(value) {
                Ok(raw) => warn(key, &raw, here, found),
                Err((message, hint)) => found.error(codes::OPTION_VALUE, here, message, hint),
            }
        } else {
            found.error(
                codes::UNKNOWN_OPTION,
                here,
                format!(
                    "opensm has no key \"{}\"; it would ignore the line",
                    name.escape_debug()
                ),
                format!("{} (checked against opensm 3.3.x)", nearest(name)),
            );
        }
    }
}

/// Values that opensm takes, and that somebody will regret.
fn warn(key: &Key, raw: &str, here: Pointer, found: &mut Findings) {
    match (key.name, raw) {
        ("console", "socket") => found.warn(
            codes::CONSOLE_OPEN,
            here,
            "console socket lets everyone who reaches the port command the subnet manager, without a password",
            "use loopback, or off",
        ),
        ("ignore_other_sm", "TRUE") => found.warn(
            codes::IGNORES_OTHERS,
            here,
            "with ignore_other_sm two masters can configure one subnet against each other",
            "leave it out unless this is the only subnet manager for sure",
        ),
        _ => {}
    }
}

/// What to do about an unknown key.
fn nearest(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    if let Some((_, hint)) = MISTAKEN.iter().find(|(wrong, _)| *wrong == lower) {
        return (*hint).to_owned();
    }
    KEYS.iter()
        .map(|k| (strsim::damerau_levenshtein(&lower, k.name), k.name))
        .min()
        .filter(|(distance, near)| *distance <= 2.max(near.len() / 4))
        .map_or_else(
            || "`opensm -c FILE` writes a template with every key".to_owned(),
            |(_, near)| format!("did you mean `{near}`?"),
        )
}

#[cfg(test)]
mod tests;
