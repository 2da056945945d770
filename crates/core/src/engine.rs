//! From a document and a host to one plan, for all rooms: the pure part of every operation.

use crate::codes;
use crate::facts::Facts;
use crate::ledger::STATE;
use crate::parts::prune::prune;
use crate::plan::Plan;
use crate::pointer::Pointer;
use crate::probe::{Probe, ProbeError};
use crate::problem::{Findings, Problem};
use crate::resource::Stage;
use crate::state::HostState;

/// Why a request is refused before anything is touched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusal {
    /// Mistakes that the document alone shows (exit 2).
    pub document: Vec<Problem>,
    /// Rules that needed this host (exit 3).
    pub host: Vec<Problem>,
    /// Warnings found on the way.
    pub warnings: Vec<Problem>,
}

/// Rules that need only the document, over all rooms.
pub fn check(stages: &[&dyn Stage], state: &HostState) -> Findings {
    let mut found = Findings::default();
    for stage in stages {
        stage.check(state, &mut found);
    }
    found
}

/// The rules of a document that could be read only in part: without what may be said only because of its `gaps`, that is
/// of what holds one, is a field beside one, is in a list that lost an element, or in another section of the same room.
pub fn check_partly(stages: &[&dyn Stage], state: &HostState, gaps: &[Pointer]) -> Findings {
    let mut whole = Findings::default();
    for stage in stages {
        let mut found = Findings::default();
        stage.check(state, &mut found);
        let rooms = |section: &str| section == stage.name() || stage.sections(state).contains(&section);
        let doubtful = |p: &Problem| {
            gaps.iter().any(|gap| {
                let (holder, list) = (p.path.parent(), gap.parent());
                let other_section = gap.section() != p.path.section() && rooms(gap.section());
                let beside = holder.is_element() && gap.is_within(&holder);
                let lost = gap.is_element() && p.path.is_within(&list);
                other_section || gap.is_within(&p.path) || beside || lost
            })
        };
        found.errors.retain(|p| !doubtful(p));
        found.warnings.retain(|p| !doubtful(p));
        whole.errors.append(&mut found.errors);
        whole.warnings.append(&mut found.warnings);
    }
    whole
}

/// A problem for something that cannot be read.
pub fn unreadable(error: &ProbeError) -> Problem {
    let own = match error {
        ProbeError::Read { path, .. } | ProbeError::TooLarge { path, .. } => {
            path.as_str().starts_with(&format!("{STATE}/"))
        }
        ProbeError::Query { .. } => false,
    };
    if own {
        return codes::HOST_JOURNAL.at(
            Pointer::of("request"),
            error.to_string(),
            "a file that is damaged or of a later version of ibplan has to be looked at by hand, and moved away only when it is understood",
        );
    }
    codes::HOST_UNREADABLE.at(
        Pointer::of("request"),
        error.to_string(),
        "mend the cause and run again",
    )
}

/// Checks a document against itself and against the host, then plans every room, then what is to be pruned.
///
/// # Errors
/// [`Refusal`]: every problem, none hiding another.
pub fn plan(
    stages: &[&dyn Stage],
    state: &HostState,
    facts: &Facts,
    probe: &dyn Probe,
    pruning: bool,
) -> Result<Plan, Refusal> {
    let document = check(stages, state);
    let mut host = Findings::default();
    for stage in stages {
        stage.check_host(state, facts, &mut host);
    }
    let mut refusal = Refusal {
        document: document.errors,
        host: host.errors,
        warnings: document.warnings.into_iter().chain(host.warnings).collect(),
    };
    if !(refusal.document.is_empty() && refusal.host.is_empty()) {
        return Err(refusal);
    }
    let mut whole = Plan::default();
    for stage in stages {
        match stage.plan(state, facts, probe) {
            Ok(plan) => whole.append(plan),
            Err(error) => refusal.host.push(unreadable(&error)),
        }
    }
    if pruning {
        match prune(&whole, &present(stages, state), facts, probe) {
            Ok(pruned) => {
                let more: Vec<Plan> = stages.iter().map(|s| s.after_prune(facts, &pruned)).collect();
                whole.append(pruned);
                more.into_iter().for_each(|plan| whole.append(plan));
            }
            Err(error) => refusal.host.push(unreadable(&error)),
        }
    }
    refusal.host.append(&mut whole.errors);
    if refusal.host.is_empty() {
        whole.warnings.splice(0..0, refusal.warnings);
        Ok(whole)
    } else {
        refusal.warnings.append(&mut whole.warnings);
        Err(refusal)
    }
}

/// The sections of the document that these stages serve and that it has: where prune may act.
fn present(stages: &[&dyn Stage], state: &HostState) -> Vec<&'static str> {
    stages.iter().flat_map(|s| s.sections(state)).collect()
}
