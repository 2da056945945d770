//! Wanted and seen compared by tokens; the drop-in first, then each running value that differs.

use super::owners::{OWN, Owner, Turn};
use super::seen::{Live, Seen, proc_path};
use super::want::{SysctlKey, SysctlValue};
use super::{Entry, Wanted, codes};
use crate::action::Action;
use crate::facts::{Facts, Init};
use crate::parts::file::{self, KeptFile};
use crate::plan::{Change, Claim, Plan, Step};
use crate::pointer::Pointer;
use crate::types::num::kernel_integer as integer;
use serde_json::{Value, json};

/// The section that keeps drop-in and values.
const SECTION: &str = "sysctl";

/// The plan.
pub fn plan(want: &Wanted, seen: &Seen, facts: &Facts) -> Plan {
    let mut plan = Plan::default();
    if want.keys.is_empty() {
        // Neither claimed nor written: prune gives the file and the values back.
        return plan;
    }
    let mut because = Vec::new();
    let mut live_steps = Vec::new();
    for (key, entry) in &want.keys {
        let in_file = seen.ours.get(key.path()).map(String::as_str);
        let file_ok = in_file.is_some_and(|text| entry.value.same(text));
        let now = running(&mut plan, key, entry, seen, facts);
        let live_ok = now.is_none_or(|text| entry.value.same(text));
        if !file_ok {
            because.push(entry.pointer.clone());
        }
        if !(file_ok && live_ok) {
            let before = before(in_file, now);
            plan.changes.push(change(key, entry, before));
        }
        if let Some(text) = now.filter(|_| !live_ok) {
            live_steps.extend(set(key, entry, text));
        }
        others(&mut plan, key, entry, seen);
    }
    gone(&mut plan, want, seen, &mut because);
    let pointer = want.pointer();
    file::keep(
        &mut plan,
        &seen.file,
        KeptFile::own(SECTION, render(want), pointer, because),
    );
    plan.steps.append(&mut live_steps);
    plan
}

/// The running value that counts: one that is there and that ibplan may set. Everything else is told.
fn running<'a>(
    plan: &mut Plan,
    key: &SysctlKey,
    entry: &Entry,
    seen: &'a Seen,
    facts: &Facts,
) -> Option<&'a str> {
    let at = entry.pointer.clone();
    match seen.live.get(key)? {
        Live::Value { text, writable } => {
            if !writable && !entry.value.same(text) {
                plan.warnings.push(codes::READ_ONLY.at(
                    at,
                    format!("{key} is {text} and cannot be set: the kernel lets nobody write it here"),
                    "take it out of the document, or set it where it can be set (on the container's host)",
                ));
            }
            let path = proc_path(key).filter(|_| *writable)?;
            plan.claims.push(Claim::Live {
                path,
                section: SECTION.to_owned(),
                seen: text.clone(),
            });
            Some(text)
        }
        Live::NotReadable => {
            plan.errors.push(codes::NOT_READABLE.at(
                at,
                format!("{key} cannot be read back: it triggers something and has no value to keep"),
                "take it out of the document",
            ));
            None
        }
        Live::NoLink(link) => {
            let how = if matches!(facts.init, Init::Systemd { .. }) {
                "set by udev from the drop-in when the link appears"
            } else {
                "run ibplan again when the link is there"
            };
            plan.pending.links.push(format!(
                "{key} = {}: link {link} is not there yet; {how}",
                entry.value
            ));
            None
        }
        Live::NoKey(why) => {
            plan.warnings.push(codes::NO_SUCH_KEY.at(
                at,
                format!("the running kernel has no {key}: {why}"),
                "take it out of the document, or load what offers it",
            ));
            None
        }
    }
}

/// A value for people: one integer is a number, everything else text.
fn shown(text: &str) -> Value {
    text.parse::<i64>().map_or_else(|_| json!(text), |n| json!(n))
}

/// Plain when file and kernel agree or only the file counts, else both sides.
fn before(in_file: Option<&str>, live: Option<&str>) -> Value {
    let file = in_file.map_or(Value::Null, shown);
    match live {
        None => file,
        Some(text)
            if in_file
                .and_then(SysctlValue::from_text)
                .is_some_and(|v| v.same(text)) =>
        {
            shown(text)
        }
        Some(text) => json!({ "file": file, "live": shown(text) }),
    }
}

fn change(key: &SysctlKey, entry: &Entry, before: Value) -> Change {
    let after = shown(&entry.value.to_string());
    if entry.explicit {
        return Change::now(entry.pointer.clone(), before, after);
    }
    // All values of a profile share one place in the document: the key tells them apart.
    Change::now(
        entry.pointer.clone(),
        json!({ key.dotted(): before }),
        json!({ key.dotted(): after }),
    )
}

fn set(key: &SysctlKey, entry: &Entry, now: &str) -> Option<Step> {
    let path = proc_path(key)?;
    Some(Step {
        section: SECTION.to_owned(),
        action: Action::Sysctl {
            path: path.clone(),
            value: entry.value.kernel_text(),
        },
        undo: Some(Action::Sysctl {
            path,
            value: now.to_owned(),
        }),
        because: vec![entry.pointer.clone()],
        disturbs: Vec::new(),
    })
}

/// Keys that our drop-in still has and the document no longer wants.
fn gone(plan: &mut Plan, want: &Wanted, seen: &Seen, because: &mut Vec<Pointer>) {
    for (path, text) in &seen.ours {
        if want.keys.keys().any(|k| k.path() == path) {
            continue;
        }
        let shown_key = SysctlKey::parse(path).map_or_else(|_| path.clone(), |k| k.dotted());
        let pointer = Pointer::of(SECTION).key(&shown_key);
        plan.changes
            .push(Change::now(pointer.clone(), shown(text), Value::Null));
        because.push(pointer);
    }
}

fn render(want: &Wanted) -> String {
    let mut text = "# Written by ibplan; changes made here by hand are lost.\n\
                    # Read at boot by systemd-sysctl, and by `sysctl --system`: sysctl.d(5).\n"
        .to_owned();
    for (key, entry) in &want.keys {
        text.push_str(&format!("{key} = {}\n", entry.value));
    }
    text
}

/// Whether an owner's value is the wanted one. tuned takes `>N` and `<N`: set only where the running value is less
/// (more).
fn agrees(owner: &Owner, text: &str, wanted: &SysctlValue) -> bool {
    if owner.profile.is_some()
        && let Some([mine]) = wanted.integers().as_deref()
    {
        if let Some(least) = text.strip_prefix('>').and_then(integer) {
            return *mine >= least;
        }
        if let Some(most) = text.strip_prefix('<').and_then(integer) {
            return *mine <= most;
        }
    }
    wanted.same(text)
}

/// Tells of every other owner that disagrees, and who wins at boot. A packaged default that loses is what drop-ins are for.
fn others(plan: &mut Plan, key: &SysctlKey, entry: &Entry, seen: &Seen) {
    let all: Vec<(&Owner, &str, bool)> = seen
        .owners
        .iter()
        .filter_map(|o| o.value(key.path()).map(|(text, pattern)| (o, text, pattern)))
        .collect();
    let winner = all
        .iter()
        .rfind(|(o, _, pattern)| !pattern && matches!(o.turn, Turn::After | Turn::Tuned));
    for (owner, text, pattern) in &all {
        if agrees(owner, text, &entry.value) {
            continue;
        }
        let wins = winner.is_some_and(|(w, _, _)| w == owner);
        if !wins && owner.packaged() && (*pattern || owner.turn == Turn::Before) {
            continue;
        }
        let who = match &owner.profile {
            Some(profile) => format!("tuned's active profile {profile} ({})", owner.file),
            None => owner.file.to_string(),
        };
        let end = if wins {
            let why = if owner.turn == Turn::Tuned {
                "is applied last (reapply_sysctl=0)"
            } else {
                "is read after 90-ibplan.conf"
            };
            format!("and {why}: the next boot will bring {text}, not {}", entry.value)
        } else if owner.turn == Turn::OnlyByHand {
            "which is not read at boot here, but is read last by `sysctl --system`".to_owned()
        } else {
            let first = winner.map_or(OWN, |(w, _, _)| w.file.as_str());
            format!("but {first} wins at boot")
        };
        plan.warnings.push(codes::OTHER_OWNER.at(
            entry.pointer.clone(),
            format!("{who} sets {key} to {text}, {end}"),
            format!(
                "remove the line from {}, or give the same value in both places",
                owner.file
            ),
        ));
    }
}
