//! What differs, what is written, what is done, what stays pending.

use super::style::{BAD, DIM, GOOD, HEAD, LOUD, MINUS, PLACE, PLUS, clean, count};
use ibplan_core::plan::{Change, Diff, Disturbance, Pending, When};
use ibplan_core::protocol::{Status, StepReport};
use serde_json::{Map, Value};
use similar::TextDiff;
use std::fmt::Write;

/// Longest pair of values that stays on one line.
const ONE_LINE: usize = 60;

/// The changes, by section.
pub(super) fn changes(changes: &[Change], document: Option<&Value>) -> String {
    // A file that two sections share gives their changes in the order of its lines.
    let mut sections: Vec<(&str, String)> = Vec::new();
    for change in changes {
        let line = one(change, document);
        match sections
            .iter_mut()
            .find(|(section, _)| *section == change.section)
        {
            Some((_, lines)) => *lines += &line,
            None => sections.push((&change.section, line)),
        }
    }
    let mut text = String::new();
    for (section, lines) in sections {
        let _ = writeln!(text, "{HEAD}{}{HEAD:#}\n{lines}", clean(section));
    }
    text
}

fn one(change: &Change, document: Option<&Value>) -> String {
    let (style, mark) = match (&change.before, &change.after) {
        (Value::Null, _) => (GOOD, '+'),
        (_, Value::Null) => (BAD, '-'),
        _ => (LOUD, '~'),
    };
    let when = match change.when {
        When::Now => "",
        When::LinkUp => "when the link is next brought up",
        When::DriverReload => "when the driver is next loaded",
        When::Reboot => "with the next boot",
    };
    let name = document
        .and_then(|d| named(d, change.path.as_str()))
        .map_or_else(String::new, |n| format!(" {DIM}({}){DIM:#}", clean(&n)));
    let (part, before, after) = differing(&change.before, &change.after);
    let mut text = format!(
        "  {style}{mark}{style:#} {}{name}{part}:",
        clean(change.path.as_str())
    );
    let (before, after) = (shown(&before), shown(&after));
    if before.chars().count() + after.chars().count() <= ONE_LINE {
        let _ = write!(text, " {before} → {after}");
    } else {
        let _ = write!(
            text,
            "\n      {MINUS}{before}{MINUS:#}\n    → {PLUS}{after}{PLUS:#}"
        );
    }
    if !when.is_empty() {
        let _ = write!(text, "  {LOUD}[{when}]{LOUD:#}");
    }
    text.push('\n');
    text
}

/// The name of the innermost list element on the way of a pointer: `ib0` for `/ipoib/0/mode`.
fn named(document: &Value, pointer: &str) -> Option<String> {
    let mut found = None;
    let mut at = document;
    for word in pointer.split('/').skip(1) {
        let word = word.replace("~1", "/").replace("~0", "~");
        let below = match at {
            Value::Object(map) => map.get(&word),
            Value::Array(items) => word.parse::<usize>().ok().and_then(|i| items.get(i)),
            _ => None,
        };
        let Some(below) = below else { break };
        if at.is_array() {
            found = name(below).or(found);
        }
        at = below;
    }
    found
}

/// What a list element calls itself.
fn name(element: &Value) -> Option<String> {
    ["interface", "name", "pkey", "device", "guid", "pci"]
        .iter()
        .find_map(|key| {
            let value = element.get(key).or_else(|| element.get("port")?.get(key))?;
            match value.as_u64() {
                // YAML and JSON keep no base, and a P_Key is spoken of in hex.
                Some(number) if *key == "pkey" => Some(format!("{number:#06x}")),
                _ => (value.is_string() || value.is_number()).then(|| shown(value)),
            }
        })
}

/// What differs of two values, and the way to it: of two sets with the same names only the members that differ, beside
/// the file that they are about; of a single member its values.
fn differing(before: &Value, after: &Value) -> (String, Value, Value) {
    let (Value::Object(old), Value::Object(new)) = (before, after) else {
        return (String::new(), before.clone(), after.clone());
    };
    if !old.keys().eq(new.keys()) || old == new {
        return (String::new(), before.clone(), after.clone());
    }
    let differs: Vec<&String> = old.keys().filter(|n| old.get(*n) != new.get(*n)).collect();
    if let ([name], None) = (differs.as_slice(), old.get("file")) {
        let (below, before, after) = differing(&old[*name], &new[*name]);
        return (format!(" {}{below}", clean(name)), before, after);
    }
    let of = |side: &Map<String, Value>| {
        let members = side
            .iter()
            .filter(|(name, _)| differs.contains(name) || *name == "file");
        Value::Object(members.map(|(n, v)| (n.clone(), v.clone())).collect())
    };
    (String::new(), of(old), of(new))
}

/// A value in one line: words bare, nothing as `nothing`, the sides of a thing (`file`, `live`) one after the other.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::String(word) if is_plain(word) => clean(word),
        Value::Object(sides) if !sides.is_empty() => {
            let side = |(name, value): (&String, &Value)| match value {
                Value::Object(_) => format!("{} ({})", clean(name), shown(value)),
                _ => format!("{} {}", clean(name), shown(value)),
            };
            sides.iter().map(side).collect::<Vec<_>>().join(", ")
        }
        other => clean(&other.to_string()),
    }
}

/// Whether a text can stand without quotes and still be seen for what it is.
fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.trim() == text && !text.contains(['"', ','])
}

/// The files as unified diffs.
pub(super) fn files(diffs: &[Diff]) -> String {
    let mut text = String::new();
    for diff in diffs {
        let lines = TextDiff::from_lines(&diff.before, &diff.after);
        let _ = writeln!(
            text,
            "{HEAD}--- {}\n+++ {}{HEAD:#}",
            clean(&diff.before_header),
            clean(&diff.after_header)
        );
        for hunk in lines.unified_diff().context_radius(3).iter_hunks() {
            for line in hunk.to_string().lines() {
                let style = match line.as_bytes().first() {
                    Some(b'+') => PLUS,
                    Some(b'-') => MINUS,
                    Some(b'@') => PLACE,
                    _ => anstyle::Style::new(),
                };
                let _ = writeln!(text, "{style}{}{style:#}", clean(line));
            }
        }
        text.push('\n');
    }
    text
}

/// The steps in order. What they will disturb stands in a loud line of its own; afterwards their fate counts.
pub(super) fn steps(steps: &[StepReport], ahead: bool) -> String {
    if steps.is_empty() {
        return String::new();
    }
    let mut text = format!("{HEAD}steps{HEAD:#}\n");
    let width = steps.len().to_string().len();
    for (i, step) in steps.iter().enumerate() {
        let fate = match step.status {
            Status::Planned if ahead => String::new(),
            Status::Planned => format!("  {DIM}not begun{DIM:#}"),
            Status::Done => format!("  {GOOD}done{GOOD:#}"),
            Status::Failed => format!("  {BAD}failed{BAD:#}"),
            Status::Undone => format!("  {LOUD}undone{LOUD:#}"),
        };
        let _ = writeln!(
            text,
            "  {:width$}. {} {}{fate}",
            i + 1,
            words(step.action),
            clean(&step.target)
        );
        for disturbance in step.disturbs.iter().filter(|_| ahead) {
            let _ = writeln!(
                text,
                "  {:width$}  {LOUD}!! {}{LOUD:#}",
                "",
                clean(&disturbed(step.action, disturbance))
            );
        }
    }
    text.push('\n');
    text
}

/// An action in words.
pub(crate) fn words(action: &str) -> String {
    match action {
        "sysctl" => "set".to_owned(),
        other => other.replace('_', " "),
    }
}

fn disturbed(action: &str, disturbance: &Disturbance) -> String {
    match (action, disturbance) {
        (_, Disturbance::Link(link)) => format!("link {link} loses traffic for a moment"),
        ("stop_unit", Disturbance::Service(service)) => format!("service {service} is stopped"),
        (_, Disturbance::Service(service)) => format!("service {service} is restarted"),
        ("stop_unit", Disturbance::SubnetManager(port)) => format!("the subnet manager of {port} is stopped"),
        ("start_unit", Disturbance::SubnetManager(port)) => format!("a subnet manager begins on {port}"),
        (_, Disturbance::SubnetManager(port)) => {
            format!("the subnet manager of {port} is away for a moment")
        }
    }
}

/// What is left to a reboot, a driver reload, an image builder or a link.
pub(super) fn pending(pending: &Pending) -> String {
    let groups = [
        ("with the next boot", &pending.reboot),
        ("when the driver is next loaded", &pending.driver_reload),
        ("packages for whoever builds the image", &pending.packages),
        ("when the link is next brought up", &pending.links),
    ];
    let all: usize = groups.iter().map(|(_, items)| items.len()).sum();
    if all == 0 {
        return String::new();
    }
    let mut text = format!("{HEAD}pending{HEAD:#} ({})\n", count(all, "thing"));
    for (when, items) in groups.iter().filter(|(_, items)| !items.is_empty()) {
        // Names fit on a line, sentences do not.
        let sentences = items.iter().any(|i| i.contains(' '));
        let joined = if sentences {
            format!(
                "\n    {}",
                items.iter().map(|i| clean(i)).collect::<Vec<_>>().join("\n    ")
            )
        } else {
            format!(" {}", clean(&items.join(", ")))
        };
        let _ = writeln!(text, "  {LOUD}{when}{LOUD:#}:{joined}");
    }
    text.push('\n');
    text
}
