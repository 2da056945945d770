//! From what is wanted and what was seen to changes and steps.
//!
//! The order: stop what is not wanted, load ib_umad, write files and links, let systemd read them, install the package
//! (which on Debian starts opensm at once, so its settings are there before it), then start, restart or reload.

mod files;
mod partitions;

use super::seen::Seen;
use super::want::{SmState, SubnetManagerWant};
use super::{codes, ports};
use crate::action::UnitDo;
use crate::facts::{Facts, PortState};
use crate::parts::{kmod, packages, unit};
use crate::plan::{Change, Disturbance, Plan};
use crate::pointer::Pointer;
use crate::types::HostPath;
use serde_json::{Value, json};

/// The section.
pub(super) const SECTION: &str = "subnet_manager";

/// What a running opensm needs so that it takes what was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Need {
    /// Nothing.
    #[default]
    Nothing,
    /// SIGHUP.
    Reload,
    /// A restart.
    Restart,
}

fn state_at() -> Pointer {
    Pointer::of(SECTION).key("state")
}

/// Plans the room.
pub(super) fn plan(want: &SubnetManagerWant, seen: &Seen, facts: &Facts) -> Plan {
    let mut plan = Plan::default();
    if seen.too_many {
        plan.errors.push(codes::ONE_INSTANCE_ONLY.at(
            Pointer::of(SECTION).key("instances"),
            "the opensmd service of this host starts one opensm only",
            "keep one instance here, and serve the other subnet from another host",
        ));
    }
    if unit::reachable(facts) && seen.live.is_none() || facts.scope.live() && !unit::reachable(facts) {
        plan.warnings.push(codes::NO_SYSTEMD.at(
            state_at(),
            "systemd is not running here, so opensm is neither started nor stopped",
            "start it by the means of this system, or boot it with systemd",
        ));
    }
    match want.state {
        SmState::Running => running(&mut plan, want, seen, facts),
        SmState::Stopped => {
            let because = stopping(&mut plan, want, seen);
            configure(&mut plan, want, seen, facts);
            off(&mut plan, seen, &because);
            reread(&mut plan, seen);
        }
        SmState::Absent => {
            let because = stopping(&mut plan, want, seen);
            off(&mut plan, seen, &because);
            plan.append(seen.given_back.clone());
            reread(&mut plan, seen);
        }
    }
    plan
}

/// Whether a unit is active; `None` where that is not known.
fn active(seen: &Seen, name: &str) -> Option<bool> {
    let live = seen.live.as_ref()?;
    Some(live.get(name).is_some_and(unit::LiveUnit::is_active))
}

/// The units whose state counts: those of the instances, or the one that runs them all.
fn counting(seen: &Seen) -> Vec<(String, String)> {
    let of_instances: Vec<(String, String)> = seen
        .instances
        .iter()
        .filter_map(|i| Some((seen.layout.instance(i.guid)?, i.guid.to_string())))
        .collect();
    if of_instances.is_empty() {
        let ports: Vec<String> = seen.instances.iter().map(|i| i.guid.to_string()).collect();
        vec![(seen.layout.unit.to_owned(), ports.join(" "))]
    } else {
        of_instances
    }
}

/// The state in one word, or what of it there is.
fn state(enabled: bool, active: Option<bool>, installed: bool) -> Value {
    match (enabled, active) {
        (true, None | Some(true)) => "running".into(),
        (false, None | Some(false)) if installed => "stopped".into(),
        (false, None | Some(false)) => "absent".into(),
        (_, Some(active)) => json!({ "enabled": enabled, "active": active }),
    }
}

fn running(plan: &mut Plan, want: &SubnetManagerWant, seen: &Seen, facts: &Facts) {
    if seen.unit.masked {
        plan.errors.push(codes::MASKED.at(
            state_at(),
            format!("{} is masked, so it cannot be started", seen.layout.unit),
            format!(
                "`systemctl unmask {}`, or set the state to stopped",
                seen.layout.unit
            ),
        ));
        return;
    }
    // An overlay's init script has no unit file; systemd makes its unit at boot.
    let there = seen.packages.missing.is_empty();
    let installing = !there && seen.packages.usable;
    let idle: Vec<(String, String)> = if there || installing {
        counting(seen)
            .into_iter()
            .filter(|(name, _)| active(seen, name) == Some(false))
            .collect()
    } else {
        Vec::new()
    };
    let because = [state_at()];
    if !seen.unit.enabled() || installing || !idle.is_empty() {
        let now = counting(seen)
            .iter()
            .map(|(name, _)| active(seen, name))
            .collect::<Option<Vec<_>>>()
            .map(|all| all.iter().all(|a| *a));
        plan.changes.push(Change::now(
            state_at(),
            state(seen.unit.enabled(), now, there),
            "running",
        ));
    }
    if !idle.is_empty() && !want.take_over {
        other_master(plan, seen, facts);
    }
    stop_unwanted(plan, seen);
    umad(plan, seen, facts);
    let needs = configure(plan, want, seen, facts);
    unit::enable(plan, &seen.unit, SECTION, &because);
    reread(plan, seen);
    packages::keep(plan, &seen.packages, SECTION, &state_at(), &because);
    let parent = seen.layout.unit;
    if !idle.is_empty() && active(seen, parent) == Some(false) {
        unit::act(plan, parent, UnitDo::Start, SECTION, &because, Vec::new());
    }
    for (name, port) in &idle {
        // A start of what the parent started already does nothing.
        if name != parent {
            let disturbs = vec![Disturbance::SubnetManager(port.clone())];
            unit::act(plan, name, UnitDo::Start, SECTION, &because, disturbs);
        }
    }
    renew(plan, seen, &needs);
}

/// Restarts or reloads what runs and has new configuration.
fn renew(plan: &mut Plan, seen: &Seen, needs: &[(Need, Vec<Pointer>)]) {
    let can_reload = seen.layout.instance_unit.is_some() || seen.unit.reloads;
    let one_for_all = seen.layout.instance_unit.is_none();
    let units = counting(seen);
    let whole = |needs: &[(Need, Vec<Pointer>)]| {
        let need = needs.iter().map(|(n, _)| *n).max().unwrap_or_default();
        let mut because: Vec<Pointer> = needs.iter().flat_map(|(_, b)| b.clone()).collect();
        because.sort();
        because.dedup();
        (need, because)
    };
    for (position, (name, port)) in units.iter().enumerate() {
        let (need, because) = if one_for_all {
            whole(needs)
        } else {
            whole(needs.get(position..=position).unwrap_or_default())
        };
        if active(seen, name) != Some(true) || because.is_empty() {
            continue;
        }
        let act = match need {
            Need::Nothing => continue,
            Need::Reload if can_reload => UnitDo::Reload,
            Need::Reload | Need::Restart => UnitDo::Restart,
        };
        let disturbs = if act == UnitDo::Restart {
            vec![Disturbance::SubnetManager(port.clone())]
        } else {
            Vec::new()
        };
        unit::act(plan, name, act, SECTION, &because, disturbs);
    }
}

/// Writes all files; for each instance, what it needs and why.
fn configure(
    plan: &mut Plan,
    want: &SubnetManagerWant,
    seen: &Seen,
    facts: &Facts,
) -> Vec<(Need, Vec<Pointer>)> {
    if seen.layout.numbered.is_some() && seen.instances.len() > 1 {
        plan.warnings.push(codes::SHARED_CACHE.at(
            Pointer::of(SECTION).key("instances"),
            "the instances share /var/cache/opensm, so LIDs may change when they are started again",
            "serve each subnet from a host of its own where that matters",
        ));
    }
    let mut needs = files::confs(plan, want, seen, facts);
    let shared = [
        files::strays(plan, seen, facts),
        partitions::keep(plan, want, seen),
    ];
    let settings = files::settings(plan, seen, facts);
    let drop_ins = files::drop_ins(plan, seen);
    for (position, (need, because)) in needs.iter_mut().enumerate() {
        let own = drop_ins.get(position);
        for (more, why) in shared.iter().chain([&settings]).chain(own) {
            *need = (*need).max(*more);
            because.extend(why.iter().cloned());
        }
    }
    needs
}

/// ib_umad at boot and now: without it opensm finds no port and ends with exit status 0.
fn umad(plan: &mut Plan, seen: &Seen, facts: &Facts) {
    let at = Pointer::of(SECTION);
    if seen.module.missing() {
        plan.errors.push(codes::NO_UMAD.at(
            at,
            "this kernel has no ib_umad, without which opensm cannot reach a port",
            "install the package with the kernel's InfiniBand modules, or boot a kernel that has them",
        ));
        return;
    }
    kmod::keep_loaded(plan, facts, SECTION, &seen.list, &[(&seen.module, at)]);
}

/// Instances that the present settings start and the document does not have.
fn stop_unwanted(plan: &mut Plan, seen: &Seen) {
    let wanted: Vec<String> = seen
        .instances
        .iter()
        .filter_map(|i| seen.layout.instance(i.guid))
        .collect();
    let because = [Pointer::of(SECTION).key("instances")];
    for name in &seen.present {
        if !wanted.contains(name) && active(seen, name) == Some(true) {
            let disturbs = vec![Disturbance::Service(name.clone())];
            unit::act(plan, name, UnitDo::Stop, SECTION, &because, disturbs);
        }
    }
}

/// Stops everything that runs; the change of the state.
fn stopping(plan: &mut Plan, want: &SubnetManagerWant, seen: &Seen) -> Vec<Pointer> {
    let because = vec![state_at()];
    let named = |(unit, port): (String, String)| (unit, Some(port).filter(|p| !p.is_empty()));
    let mut units: Vec<(String, Option<String>)> = counting(seen).into_iter().map(named).collect();
    units.extend(seen.present.iter().map(|u| (u.clone(), None)));
    units.push((seen.layout.unit.to_owned(), None));
    let mut done: Vec<String> = Vec::new();
    for (name, port) in units {
        if active(seen, &name) == Some(true) && !done.contains(&name) {
            let service = || Disturbance::Service(name.clone());
            let disturbs = vec![port.map_or_else(service, Disturbance::SubnetManager)];
            unit::act(plan, &name, UnitDo::Stop, SECTION, &because, disturbs);
            done.push(name);
        }
    }
    let enabled = !seen.unit.links.is_empty();
    if enabled || !done.is_empty() {
        let word = if want.state == SmState::Absent {
            "absent"
        } else {
            "stopped"
        };
        let now = seen.live.as_ref().map(|_| !done.is_empty());
        plan.changes
            .push(Change::now(state_at(), state(enabled, now, true), word));
    }
    because
}

fn off(plan: &mut Plan, seen: &Seen, because: &[Pointer]) {
    unit::disable(plan, &seen.unit, SECTION, because);
}

/// Lets systemd read what was written below its folder.
fn reread(plan: &mut Plan, seen: &Seen) {
    if seen.live.is_none() {
        return;
    }
    let folder = HostPath::fixed("/etc/systemd/system");
    let inside = format!("{folder}/");
    let mut because: Vec<Pointer> = plan
        .steps
        .iter()
        .filter(|s| s.action.target().starts_with(&inside))
        .flat_map(|s| s.because.clone())
        .collect();
    because.sort();
    because.dedup();
    if !because.is_empty() {
        unit::reread(plan, SECTION, &because);
    }
}

/// Says when another subnet manager seems to be master of a port's subnet.
fn other_master(plan: &mut Plan, seen: &Seen, facts: &Facts) {
    for instance in &seen.instances {
        let Some((_, port)) = facts.port_by_guid(instance.guid) else {
            continue;
        };
        if let (PortState::Active, Some(lid), Some(sm)) = (port.state, port.lid, port.sm_lid)
            && lid != sm
        {
            let priority = instance.want.priority.map_or(0, |p| p.get());
            // Equal priorities: the lower GUID wins (opensm: osm_sm_state_mgr.c).
            let when = if priority == 0 {
                "if that one's is 0 too and its GUID higher"
            } else {
                "if that one's is lower, or the same and its GUID higher"
            };
            plan.warnings.push(codes::OTHER_MASTER.at(
                ports::at(instance.index),
                format!("the port at LID {lid} has its subnet manager at LID {sm}; with priority {priority} this one takes over {when}"),
                "set take_over to true if that is meant, else give the master a higher priority; `sminfo` shows whose it is",
            ));
        }
    }
}
