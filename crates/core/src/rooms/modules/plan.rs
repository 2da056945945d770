//! Wanted and seen compared: options for the next load, the list for the boot, and loading now.

use super::codes;
use super::rules::{at, becomes, effective, same};
use super::seen::{Line, OPTIONS, Seen, parse};
use super::want::ModuleWant;
use crate::facts::Facts;
use crate::parts::file::{self, KeptFile};
use crate::parts::kmod::{self, Loaded, Origin, SeenModule};
use crate::plan::{Change, Plan, When};
use crate::pointer::Pointer;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const SECTION: &str = "modules";

/// What our options file sets: module and parameter, value.
type Ours = BTreeMap<(String, String), String>;

/// The plan.
pub fn plan(want: &[ModuleWant], seen: &Seen, facts: &Facts) -> Plan {
    let mut plan = Plan::default();
    let ours = ours(seen);
    let mut because = Vec::new();
    for (index, (wanted, module)) in want.iter().zip(&seen.modules).enumerate() {
        exists(&mut plan, index, module, facts);
        blocked(&mut plan, index, module, seen);
        for (name, value) in &wanted.parameters {
            let one = One {
                module,
                name: name.as_str(),
                value: value.as_str(),
                pointer: at(index).key("parameters").key(name.as_str()),
            };
            compare(&mut plan, &one, &ours, facts, &mut because);
            others(&mut plan, &one, seen);
        }
        warn_parameters(&mut plan, index, wanted, module);
    }
    if want.iter().any(|m| !m.parameters.is_empty()) {
        gone(&mut plan, want, &ours, &mut because);
        let kept = KeptFile::own(SECTION, render(want), Pointer::of(SECTION), because);
        file::keep(&mut plan, &seen.options, kept);
    }
    let loaded: Vec<(&SeenModule, Pointer)> =
        seen.modules.iter().enumerate().map(|(i, m)| (m, at(i))).collect();
    kmod::keep_loaded(&mut plan, facts, SECTION, &seen.list, &loaded);
    plan
}

/// One wanted parameter.
struct One<'a> {
    module: &'a SeenModule,
    name: &'a str,
    value: &'a str,
    pointer: Pointer,
}

fn ours(seen: &Seen) -> Ours {
    parse(&seen.options.text().unwrap_or_default())
        .into_iter()
        .filter_map(|line| match line {
            Line::Option { module, name, value } => Some(((module, name), value)),
            _ => None,
        })
        .collect()
}

fn exists(plan: &mut Plan, index: usize, module: &SeenModule, facts: &Facts) {
    if module.missing() {
        let kernel = facts.kernel.as_deref().unwrap_or("?");
        plan.errors.push(codes::NOT_FOR_THIS_KERNEL.at(
            at(index).key("name"),
            format!("kernel {kernel} has no module {}: /lib/modules/{kernel} does not list it", module.name),
            "check the spelling, and whether a package of extra modules or a driver stack for this kernel is missing",
        ));
    }
}

fn blocked(plan: &mut Plan, index: usize, module: &SeenModule, seen: &Seen) {
    for other in &seen.others {
        for line in &other.lines {
            let how = match line {
                Line::Blacklist(name) if *name == module.name => {
                    "is blacklisted, so nothing loads it at boot"
                }
                Line::Never(name) if *name == module.name => "has an install command that loads nothing",
                _ => continue,
            };
            plan.warnings.push(codes::BLOCKED.at(
                at(index).key("name"),
                format!("{} {how}: {}", module.name, other.file),
                format!("remove the line from {}", other.file),
            ));
        }
    }
}

fn shown(text: &str) -> Value {
    text.parse::<i64>().map_or_else(|_| json!(text), |n| json!(n))
}

/// The file for the next load, and what the loaded module has. The change is of the file; a loaded module that
/// differs is pending until it is loaded again, and stays so.
fn compare(plan: &mut Plan, one: &One<'_>, ours: &Ours, facts: &Facts, because: &mut Vec<Pointer>) {
    let in_file = ours.get(&(one.module.name.clone(), one.name.to_owned()));
    let counts = facts.scope.live() && one.module.running();
    let loaded = one.module.parameters.get(one.name).filter(|_| counts);
    let differs = loaded.is_some_and(|now| !effective(&one.module.name, one.name, one.value, now));
    if differs && one.module.loaded == Loaded::Yes {
        plan.pending.driver_reload.push(format!(
            "{}: {} is {} and becomes {} when the module is next loaded",
            one.module.name,
            one.name,
            loaded.map_or("?", String::as_str),
            becomes(&one.module.name, one.name, one.value)
        ));
    }
    if in_file.is_some_and(|text| same(text, one.value)) {
        return;
    }
    let file = in_file.map_or(Value::Null, |t| shown(t));
    let before = match loaded {
        Some(now) if in_file.is_none_or(|text| !same(text, now)) => {
            json!({ "file": file, "loaded": shown(now) })
        }
        _ => file,
    };
    let change = Change::now(one.pointer.clone(), before, shown(one.value));
    let reload = counts && (differs || loaded.is_none());
    plan.changes.push(if reload {
        change.later(When::DriverReload)
    } else {
        change
    });
    because.push(one.pointer.clone());
}

/// Others that give the parameter another value, and who wins.
fn others(plan: &mut Plan, one: &One<'_>, seen: &Seen) {
    for other in &seen.others {
        let theirs = other.lines.iter().rev().find_map(|line| match line {
            Line::Option { module, name, value } if *module == one.module.name && name == one.name => {
                Some(value)
            }
            _ => None,
        });
        let Some(value) = theirs.filter(|v| !same(v, one.value)) else {
            continue;
        };
        let wins = if other.after { other.file.as_str() } else { OPTIONS };
        plan.warnings.push(codes::OTHER_OWNER.at(
            one.pointer.clone(),
            format!(
                "{} gives {} {}={value}; {wins} wins when the module is loaded",
                other.file, one.module.name, one.name
            ),
            format!(
                "remove it from {}, or give the same value in both places",
                other.file
            ),
        ));
    }
}

fn warn_parameters(plan: &mut Plan, index: usize, wanted: &ModuleWant, module: &SeenModule) {
    let at = at(index).key("parameters");
    if !wanted.parameters.is_empty() && module.loaded == Loaded::Builtin {
        plan.warnings.push(codes::BUILT_IN.at(
            at.clone(),
            format!(
                "{} is built into this kernel, and modprobe.d does not reach it",
                module.name
            ),
            format!("put {}.PARAMETER=VALUE on the kernel's command line", module.name),
        ));
    }
    let enhanced = "ipoib_enhanced";
    let own = module.origin != Origin::Unknown || module.running();
    if module.name == "ib_ipoib"
        && wanted.parameters.keys().any(|p| p.as_str() == enhanced)
        && own
        && !module.vendor()
        && !module.parameters.contains_key(enhanced)
    {
        plan.warnings.push(codes::VENDOR_PARAMETER.at(
            at.key(enhanced),
            "this kernel's own ib_ipoib has no parameter ipoib_enhanced and ignores it",
            "leave it out; it exists only in vendor stacks",
        ));
    }
}

/// Parameters that our file still has and the document no longer wants.
fn gone(plan: &mut Plan, want: &[ModuleWant], ours: &Ours, because: &mut Vec<Pointer>) {
    for ((module, name), value) in ours {
        let kept = want
            .iter()
            .any(|m| m.name.normal() == *module && m.parameters.keys().any(|p| p.as_str() == name));
        if kept {
            continue;
        }
        let (pointer, before) = match want.iter().position(|m| m.name.normal() == *module) {
            Some(index) => (at(index).key("parameters").key(name), shown(value)),
            // Its module has no place in the document any more.
            None => (
                Pointer::of(SECTION),
                json!({ "module": module, "parameter": name, "value": shown(value) }),
            ),
        };
        plan.changes
            .push(Change::now(pointer.clone(), before, Value::Null));
        because.push(pointer);
    }
}

fn render(want: &[ModuleWant]) -> String {
    let mut lines: Vec<String> = want
        .iter()
        .filter(|m| !m.parameters.is_empty())
        .map(|m| {
            let parameters: Vec<String> = m
                .parameters
                .iter()
                .map(|(k, v)| format!("{}={}", k.as_str(), v.as_str()))
                .collect();
            format!("options {} {}\n", m.name.normal(), parameters.join(" "))
        })
        .collect();
    lines.sort();
    format!(
        "# Written by ibplan for the section modules; changes made here by hand are lost.\n# Read by modprobe when a module is loaded: modprobe.d(5).\n{}",
        lines.concat()
    )
}
