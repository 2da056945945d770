//! The laws of a room, held by hand on the host in memory; for tests of rooms.

use crate::engine::{self, Refusal};
use crate::facts::Facts;
use crate::fake::Fake;
use crate::plan::Plan;
use crate::request::read_document;
use crate::resource::{Of, Resource, Stage};
use crate::state::HostState;
use serde_json::Value;

/// A document that parses.
pub(crate) fn document(json: Value) -> HostState {
    let (state, mistakes) = read_document(json, &crate::pointer::Pointer::root());
    assert!(mistakes.is_empty(), "{mistakes:?}");
    state.unwrap()
}

/// The plan of one room.
pub(crate) fn plan<R: Resource + 'static>(json: &Value, facts: &Facts, host: &Fake) -> Result<Plan, Refusal> {
    let stage: &dyn Stage = &Of::<R>::new();
    engine::plan(&[stage], &document(json.clone()), facts, host, false)
}

/// Plans, performs, and holds the laws stillness, return, reason and calm. Gives the plan and the host afterwards.
pub(crate) fn hold<R: Resource + 'static>(json: &Value, facts: &Facts, host: &Fake) -> (Plan, Fake) {
    let first = plan::<R>(json, facts, host).unwrap();
    assert_eq!(first, plan::<R>(json, facts, host).unwrap(), "calm");
    let mut now = host.clone();
    for step in &first.steps {
        assert!(!step.because.is_empty(), "reason: {step:?}");
        for at in &step.because {
            assert!(
                first.changes.iter().any(|c| c.path == *at),
                "reason: {at} is no change"
            );
        }
        now.perform(&step.action);
    }
    for change in &first.changes {
        assert!(
            first.steps.iter().any(|s| s.because.contains(&change.path)),
            "reason: {} has no step",
            change.path
        );
    }
    let again = plan::<R>(json, facts, &now).unwrap();
    assert!(
        again.steps.is_empty() && again.changes.is_empty(),
        "stillness: {again:?}"
    );
    let mut back = now.clone();
    for undo in first.steps.iter().rev().filter_map(|s| s.undo.as_ref()) {
        back.perform(undo);
    }
    assert_eq!(back, *host, "return");
    (first, now)
}

/// The codes of problems, in order.
pub(crate) fn codes(problems: &[crate::problem::Problem]) -> Vec<&'static str> {
    problems.iter().map(|p| p.code.id()).collect()
}
