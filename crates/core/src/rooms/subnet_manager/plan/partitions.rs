//! The partitions file: what differs in it, rule by rule.

use super::files::{Asked, bytes};
use super::{Need, SECTION};
use crate::parts::file::{self, KeptFile};
use crate::plan::{Change, Plan};
use crate::pointer::Pointer;
use crate::rooms::subnet_manager::codes;
use crate::rooms::subnet_manager::partitions::{self, Partition, Table};
use crate::rooms::subnet_manager::seen::Seen;
use crate::rooms::subnet_manager::want::{Membership, SubnetManagerWant};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The partitions file.
pub(super) fn keep(plan: &mut Plan, want: &SubnetManagerWant, seen: &Seen) -> Asked {
    let Some(listed) = &want.partitions else {
        return (Need::Nothing, Vec::new());
    };
    let here = Pointer::of(SECTION).key("partitions");
    let wanted = partitions::wanted(listed);
    let now = seen
        .partitions
        .text()
        .map(|text| partitions::read(&text))
        .transpose();
    let mut because = Vec::new();
    let need = match &now {
        Ok(now) => {
            let none = Table::new();
            let place = |pkey: u16| {
                let index = listed.iter().position(|p| p.pkey.number() == pkey);
                index.map_or_else(|| here.clone(), |i| here.index(i))
            };
            compare(plan, now.as_ref().unwrap_or(&none), &wanted, &place, &mut because)
        }
        Err(fault) => {
            let message = format!(
                "{} has a mistake ({fault}), so opensm drops all of it",
                seen.partitions.path
            );
            plan.warnings.push(codes::PARTITIONS_BROKEN.at(
                here.clone(),
                message,
                "nothing has to be done: it is replaced",
            ));
            plan.changes.push(Change::now(
                here.clone(),
                json!({ "fault": fault.to_string() }),
                all_shown(&wanted),
            ));
            because.push(here.clone());
            Need::Restart
        }
    };
    let defaults: BTreeMap<u16, Membership> = listed
        .iter()
        .filter_map(|p| Some((p.pkey.number(), p.default_membership?)))
        .collect();
    let content = match bytes(&seen.partitions) {
        Some(bytes) if because.is_empty() => bytes.to_vec(),
        _ => partitions::render(&wanted, &defaults).into_bytes(),
    };
    let kept = KeptFile::own(SECTION, content, here, because.clone()).keyed(BTreeMap::new());
    file::keep(plan, &seen.partitions, kept);
    (need, because)
}

fn all_shown(table: &Table) -> Value {
    table.iter().map(|(k, p)| p.shown(*k)).collect()
}

/// Names what differs between two tables. A group that exists keeps its parameters until all have left it, so a changed one
/// needs a restart; the rest is read again with SIGHUP.
fn compare(
    plan: &mut Plan,
    now: &Table,
    wanted: &Table,
    place: &dyn Fn(u16) -> Pointer,
    because: &mut Vec<Pointer>,
) -> Need {
    let mut need = Need::Nothing;
    let keys: BTreeSet<u16> = now.keys().chain(wanted.keys()).copied().collect();
    let mut changes = Vec::new();
    for pkey in keys {
        let at = place(pkey);
        match (now.get(&pkey), wanted.get(&pkey)) {
            (Some(a), Some(b)) if a == b => continue,
            (Some(a), Some(b)) => {
                if a.group != b.group && a.group.is_some() {
                    need = Need::Restart;
                }
                if at.is_element() {
                    changes.extend(partition_changes(&at, a, b));
                } else {
                    // The rule for the default partition that the document leaves to opensm has no place of its own there.
                    changes.push(Change::now(at, a.shown(pkey), b.shown(pkey)));
                }
            }
            (a, b) => {
                if a.is_some_and(|p| p.group.is_some()) {
                    need = Need::Restart;
                }
                let shown = |p: Option<&Partition>| p.map_or(Value::Null, |p| p.shown(pkey));
                changes.push(Change::now(at, shown(a), shown(b)));
            }
        }
        need = need.max(Need::Reload);
    }
    // In the order of the document, not of the P_Keys.
    changes.sort_by(|a, b| a.path.cmp(&b.path));
    because.extend(changes.iter().map(|c| c.path.clone()));
    because.sort();
    because.dedup();
    plan.changes.extend(changes);
    need
}

fn partition_changes(at: &Pointer, now: &Partition, wanted: &Partition) -> Vec<Change> {
    let mut out = Vec::new();
    if now.name != wanted.name {
        out.push(Change::now(
            at.key("name"),
            now.name.as_str(),
            wanted.name.as_str(),
        ));
    }
    if now.group != wanted.group {
        let shown = |p: &Partition| p.group.map_or(Value::Null, partitions::Group::shown);
        out.push(Change::now(at.key("ipoib"), shown(now), shown(wanted)));
    }
    let how = |p: &Partition, member| p.members.iter().find(|(m, _)| *m == member).map(|(_, how)| *how);
    let members: BTreeSet<_> = now
        .members
        .iter()
        .chain(&wanted.members)
        .map(|(m, _)| *m)
        .collect();
    for member in members {
        let (a, b) = (how(now, member), how(wanted, member));
        if a != b {
            let word = |m: Option<Membership>| m.map_or(Value::Null, |m| m.word().into());
            out.push(Change::now(
                at.key("members").key(&member.to_string()),
                word(a),
                word(b),
            ));
        }
    }
    if out.is_empty() {
        // Only the order of members differs, or something that a document cannot say.
        let shown = |p: &Partition| json!({ "order": p.members.iter().map(|(m, _)| m.to_string()).collect::<Vec<_>>(), "besides": p.odd });
        out.push(Change::now(at.clone(), shown(now), shown(wanted)));
    }
    out
}
