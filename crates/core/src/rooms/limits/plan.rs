//! Wanted and seen compared: lines for PAM sessions, drop-ins for services.

use super::codes;
use super::rules::{service_at, users_at};
use super::seen::{DROP_IN, OWN, Seen, SeenService, parse};
use super::want::{LimitsWant, MemlockWant};
use crate::facts::{Facts, Init};
use crate::parts::file::{self, KeptFile};
use crate::parts::unit;
use crate::plan::{Change, Plan};
use crate::pointer::Pointer;
use crate::types::UserName;
use serde_json::{Map, Value, json};

const SECTION: &str = "limits";

/// The plan.
pub fn plan(want: &LimitsWant, seen: &Seen, facts: &Facts) -> Plan {
    let mut plan = Plan::default();
    let Some((memlock, who)) = want.users() else {
        return plan;
    };
    if !who.is_empty() {
        users(&mut plan, memlock, &who, seen);
    }
    let mut changed = Vec::new();
    for (index, service) in seen.services.iter().enumerate() {
        if drop_in(&mut plan, memlock, index, service) {
            changed.push(service_at(index));
        }
        told(
            &mut plan,
            memlock,
            index,
            service,
            changed.contains(&service_at(index)),
            facts,
        );
    }
    reread(&mut plan, &changed, facts);
    plan
}

/// Drop-ins that went: systemd would keep their limits for the next start.
pub fn after_prune(facts: &Facts, pruned: &Plan) -> Plan {
    let mut plan = Plan::default();
    let of_units = pruned
        .steps
        .iter()
        .filter(|s| s.section == SECTION && s.action.target().starts_with("/etc/systemd/system/"));
    let because: Vec<Pointer> = of_units.flat_map(|s| s.because.clone()).collect();
    reread(&mut plan, &because, facts);
    plan
}

fn reread(plan: &mut Plan, because: &[Pointer], facts: &Facts) {
    if !because.is_empty() && facts.scope.live() && facts.init == (Init::Systemd { running: true }) {
        unit::reread(plan, SECTION, because);
    }
}

fn kib(want: MemlockWant) -> Option<u64> {
    want.number().and_then(|n| u64::try_from(n).ok())
}

/// As limits.conf(5) has it: `unlimited` or KiB.
fn word(kib: Option<u64>) -> String {
    kib.map_or_else(|| "unlimited".to_owned(), |n| n.to_string())
}

fn shown(kib: Option<u64>) -> Value {
    kib.map_or_else(|| json!("unlimited"), |n| json!(n))
}

fn users(plan: &mut Plan, memlock: MemlockWant, who: &[UserName], seen: &Seen) {
    let limit = kib(memlock);
    let lines = parse(&seen.file.text().unwrap_or_default());
    let mut before = Map::new();
    for line in &lines {
        let kind = match (line.soft, line.hard) {
            (true, true) => "-",
            (true, false) => "soft",
            _ => "hard",
        };
        before.insert(format!("{} {kind}", line.domain), shown(line.kib));
    }
    let mut after = Map::new();
    let mut text = "# Written by ibplan; changes made here by hand are lost.\n\
                    # Read by pam_limits at login, for sessions only (limits.conf(5)); services have drop-ins instead.\n"
        .to_owned();
    for user in who {
        for kind in ["soft", "hard"] {
            text.push_str(&format!("{user} {kind} memlock {}\n", word(limit)));
            after.insert(format!("{user} {kind}"), shown(limit));
        }
    }
    let mut because = Vec::new();
    if before != after {
        let before = if before.is_empty() {
            Value::Null
        } else {
            before.into()
        };
        plan.changes
            .push(Change::now(users_at(), before, Value::Object(after)));
        because.push(users_at());
    }
    file::keep(
        plan,
        &seen.file,
        KeptFile::own(SECTION, text, users_at(), because),
    );
    for (path, lines) in &seen.later {
        for line in lines.iter().filter(|l| l.kib != limit) {
            if who.iter().any(|u| u.as_str() == line.domain) {
                plan.warnings.push(codes::OTHER_OWNER.at(
                    users_at(),
                    format!(
                        "{path} is read after {OWN} and gives {} memlock {}",
                        line.domain,
                        word(line.kib)
                    ),
                    format!("remove the line from {path}"),
                ));
            }
        }
    }
}

/// As systemd.exec(5) has it: `infinity` or bytes.
fn systemd(want: MemlockWant) -> String {
    match kib(want) {
        None => "infinity".to_owned(),
        Some(n) => n.saturating_mul(1024).to_string(),
    }
}

/// What a drop-in says, in the document's terms: `unlimited`, KiB, or the text where it is neither.
fn of_systemd(text: &str) -> Value {
    match text.parse::<u64>() {
        Ok(bytes) if bytes.is_multiple_of(1024) => json!(bytes / 1024),
        _ if text == "infinity" => json!("unlimited"),
        _ => json!(text),
    }
}

/// The drop-in of one service; `true` when it is written.
fn drop_in(plan: &mut Plan, want: MemlockWant, index: usize, service: &SeenService) -> bool {
    let value = systemd(want);
    let text = format!(
        "# Written by ibplan; changes made here by hand are lost.\n\
         # limits.conf does not reach services: systemd.exec(5), LimitMEMLOCK=, in bytes.\n\
         [Service]\nLimitMEMLOCK={value}\n"
    );
    let now = unit::words(
        &service.file.text().unwrap_or_default(),
        "Service",
        "LimitMEMLOCK",
    )
    .pop();
    let mut because: Vec<Pointer> = Vec::new();
    if now.as_deref() != Some(value.as_str()) {
        plan.changes.push(Change::now(
            service_at(index),
            now.map_or(Value::Null, |text| of_systemd(&text)),
            shown(kib(want)),
        ));
        because.push(service_at(index));
    }
    let steps = plan.steps.len();
    file::keep(
        plan,
        &service.file,
        KeptFile::own(SECTION, text, service_at(index), because),
    );
    plan.steps.len() > steps
}

/// What the administrator should know of one service. It is never restarted: jobs may run below it.
fn told(
    plan: &mut Plan,
    want: MemlockWant,
    index: usize,
    service: &SeenService,
    written: bool,
    facts: &Facts,
) {
    let name = &service.unit;
    if !service.installed {
        plan.warnings.push(codes::NO_SUCH_UNIT.at(
            service_at(index),
            format!("there is no unit {name} on this host"),
            "check the name; the limit counts once the service is installed",
        ));
    }
    let limit = systemd(want);
    for (path, value) in service.later.iter().filter(|(_, v)| *v != limit) {
        plan.warnings.push(codes::OTHER_OWNER.at(
            service_at(index),
            format!("{path} is read after {DROP_IN} and gives {name} LimitMEMLOCK={value}"),
            format!("remove the line from {path}"),
        ));
    }
    let bytes = kib(want).map(|n| n.saturating_mul(1024));
    let old = match service.running {
        Some(now) => now != bytes,
        None => written && service.installed && facts.scope.live(),
    };
    if old {
        let has = match service.running {
            Some(Some(now)) => format!(" (its main process has {now} bytes)"),
            Some(None) => " (its main process has no limit)".to_owned(),
            None => String::new(),
        };
        plan.pending.reboot.push(format!(
            "{name}: LimitMEMLOCK={limit} counts when the service is next started{has}"
        ));
    }
}
