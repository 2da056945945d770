//! The six laws, each as a function that panics with what is broken.
//!
//! 1. Stillness: apply, then plan again: empty.
//! 2. Return: undo in reverse: as before, byte for byte.
//! 3. Honesty: what check lists is what apply does, and planning never writes.
//! 4. Reason: every step names a change.
//! 5. Crash: see `tests/crash.rs`.
//! 6. Calm: the same request gives the same plan.

use crate::hosts::{difference, picture};
use ibplan_core::engine;
use ibplan_core::facts::{self, Scope};
use ibplan_core::fake::Fake;
use ibplan_core::plan::{Plan, When, undo_order};
use ibplan_core::protocol::{Exit, Response, Status};
use ibplan_core::rooms::HOST;
use ibplan_core::state::{HostState, SECTIONS};
use ibplan_host::Program;
use serde_json::{Value, json};
use std::path::Path;

/// The whole agent, as tests run it.
pub const PROGRAM: Program = Program {
    name: "ibplan-host",
    version: "test",
    stages: HOST,
    sections: SECTIONS,
};

/// A request for an image or captured host.
pub fn request(operation: &str, root: &Path, desired: &Value, options: &Value) -> Vec<u8> {
    let mut all = json!({ "root": root });
    for (key, value) in options.as_object().into_iter().flatten() {
        all[key] = value.clone();
    }
    let mut request = json!({ "api": "ibplan/v1", "operation": operation, "options": all });
    if !desired.is_null() {
        request["desired"] = desired.clone();
    }
    request.to_string().into_bytes()
}

/// Serves a request for a root.
pub fn serve(operation: &str, root: &Path, desired: &Value, options: &Value) -> (Response, Exit) {
    ibplan_host::serve(&request(operation, root, desired, options), &PROGRAM, &mut |_| {})
}

/// Law 4 of a plan.
pub fn reason(plan: &Plan) {
    for step in &plan.steps {
        assert!(
            !step.because.is_empty(),
            "{} {} has no reason",
            step.action.verb(),
            step.action.target()
        );
        for path in &step.because {
            assert!(
                plan.changes.iter().any(|c| c.path == *path),
                "{} {} is because of {path}, and no change is there: {:#?}",
                step.action.verb(),
                step.action.target(),
                plan.changes
            );
        }
    }
    for change in plan.changes.iter().filter(|c| c.when == When::Now) {
        assert!(
            plan.steps.iter().any(|s| s.because.contains(&change.path)),
            "the change at {} has no step: {change:#?}",
            change.path
        );
    }
}

/// Laws 1 to 4 and 6 on a host in memory, with its live side. Returns whether the document was taken.
pub fn on_fake(host: &Fake, want: &HostState) -> bool {
    let look = |host: &Fake| {
        let facts = facts::read(host, Scope::Live).expect("facts");
        engine::plan(HOST, want, &facts, host, false)
    };
    let first = look(host);
    assert_eq!(first, look(host), "calm: two plans of the same host differ");
    let Ok(plan) = first else { return false };
    reason(&plan);
    let mut after = host.clone();
    for step in &plan.steps {
        after.perform(&step.action);
    }
    let again = look(&after).unwrap_or_else(|r| panic!("stillness: refused after apply: {r:#?}"));
    assert!(
        again.steps.is_empty(),
        "stillness: still to do: {:#?}\nfirst: {:#?}",
        again.steps,
        plan.steps
    );
    let open: Vec<_> = again.changes.iter().filter(|c| c.when == When::Now).collect();
    assert!(open.is_empty(), "stillness: still different: {open:#?}");
    let mut back = after.clone();
    for at in undo_order(plan.steps.iter().map(|s| s.undo.as_ref())) {
        if let Some(undo) = &plan.steps[at].undo {
            back.perform(undo);
        }
    }
    back.units.clone_from(&host.units);
    assert!(back.same_as(host), "return: {:#?}", back.differences(host));
    if plan.steps.is_empty() {
        assert_eq!(after, *host);
    }
    true
}

/// Laws 1 to 4 and 6 on a folder, through the whole agent with its journal. The folder is as before afterwards.
/// Returns the plan's response.
pub fn on_root(root: &Path, desired: &Value, options: &Value) -> (Response, Exit) {
    let before = picture(root);
    let (planned, exit) = serve("plan", root, desired, options);
    let seen = picture(root);
    assert_eq!(
        before,
        seen,
        "honesty: planning wrote: {:#?}",
        difference(&before, &seen)
    );
    let (again, _) = serve("plan", root, desired, options);
    assert_eq!(planned, again, "calm: two plans of the same host differ");
    let (applied, applied_exit) = serve("apply", root, desired, options);
    let after = picture(root);
    if exit != Exit::Done {
        assert_eq!(
            applied_exit, exit,
            "plan refused and apply did not: {:#?}",
            applied.errors
        );
        assert_eq!(
            before,
            after,
            "a refused request wrote: {:#?}",
            difference(&before, &after)
        );
        return (planned, exit);
    }
    assert_eq!(
        applied_exit,
        Exit::Done,
        "{:#?}\nsteps {:#?}",
        applied.errors,
        applied.steps
    );
    assert_eq!(
        planned.changes, applied.changes,
        "honesty: check and apply list other changes"
    );
    assert_eq!(
        planned.diff, applied.diff,
        "honesty: check and apply show other diffs"
    );
    assert_eq!(
        planned.changed, applied.changed,
        "honesty: check and apply disagree on changed"
    );
    assert!(
        applied.steps.iter().all(|s| s.status == Status::Done),
        "{:#?}",
        applied.steps
    );
    assert_eq!(
        applied.changed,
        before != after,
        "honesty: changed is {}, and {:#?}",
        applied.changed,
        difference(&before, &after)
    );
    let (still, still_exit) = serve("apply", root, desired, options);
    assert_eq!(still_exit, Exit::Done, "{:#?}", still.errors);
    assert!(
        !still.changed && still.steps.is_empty() && still.transaction.is_none(),
        "stillness: {:#?}",
        still.changes
    );
    let rest = picture(root);
    assert_eq!(
        after,
        rest,
        "stillness: the second apply wrote: {:#?}",
        difference(&after, &rest)
    );
    let (verified, verified_exit) = serve("verify", root, desired, options);
    assert_eq!(verified_exit, Exit::Done, "{:#?}", verified.verify);
    if applied.changed {
        let (undone, undone_exit) = serve("rollback", root, &Value::Null, &json!({}));
        assert_eq!(undone_exit, Exit::Done, "{:#?}", undone.errors);
    }
    let back = picture(root);
    assert_eq!(before, back, "return: {:#?}", difference(&before, &back));
    (planned, exit)
}
