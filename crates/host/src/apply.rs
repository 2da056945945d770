//! Plan, journal, perform, verify; on failure take back in reverse.

mod owned;

use crate::host::Host;
use crate::journal::{Journal, JournalError, Phase, Record};
use crate::undo::Taken;
use crate::watch::{Point, Watch};
use ibplan_core::codes;
use ibplan_core::engine::{self, Refusal};
use ibplan_core::facts::{self, Facts};
use ibplan_core::ledger::Ledger;
use ibplan_core::plan::{Plan, Step};
use ibplan_core::pointer::Pointer;
use ibplan_core::probe::ProbeError;
use ibplan_core::problem::Problem;
use ibplan_core::protocol::{Status, StepReport};
use ibplan_core::request::OnFailure;
use ibplan_core::resource::Stage;
use ibplan_core::state::HostState;
use ibplan_core::types::HostPath;
use serde::Serialize;
use std::time::{Duration, Instant};

/// A step under way, for people who wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Progress {
    /// Number of the step, from 1.
    pub step: usize,
    /// Number of steps.
    pub of: usize,
    /// What is done: `write_file /etc/sysctl.d/90-ibplan.conf`.
    pub what: String,
    /// Milliseconds since the first step began.
    pub elapsed_ms: u64,
}

/// How to apply.
#[derive(Clone, Copy, Debug)]
pub struct How<'a> {
    /// The request as received, for the journal.
    pub request: &'a [u8],
    /// Remove what has left the document.
    pub prune: bool,
    /// What happens when a step fails.
    pub on_failure: OnFailure,
    /// When the run must have ended.
    pub deadline: Instant,
}

/// How an apply ended.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The plan that was carried out.
    pub plan: Plan,
    /// Each step and what became of it.
    pub steps: Vec<StepReport>,
    /// What failed; empty when all went well.
    pub errors: Vec<Problem>,
    /// The transaction, if one was begun.
    pub transaction: Option<u32>,
    /// Whether the host is different from before.
    pub changed: bool,
}

/// Facts and plan of a host.
///
/// # Errors
/// Every reason for which nothing was planned.
pub fn plan(
    host: &mut Host,
    stages: &[&dyn Stage],
    want: &HostState,
    prune: bool,
    deadline: Instant,
) -> Result<(Facts, Plan), Refusal> {
    let refuse = |e: &ProbeError| Refusal {
        host: vec![engine::unreadable(e)],
        ..Refusal::default()
    };
    let facts = facts::read(host, host.scope()).map_err(|e| refuse(&e))?;
    host.prepare(
        facts.packages.manager,
        deadline
            .saturating_duration_since(Instant::now())
            .max(Duration::from_secs(1)),
    );
    let plan = engine::plan(stages, want, &facts, host, prune)?;
    Ok((facts, plan))
}

/// Brings a host to the document. The caller holds the lock and has recovered interrupted transactions.
///
/// # Errors
/// The request was refused for this host; nothing was touched.
pub fn apply(
    host: &mut Host,
    stages: &[&dyn Stage],
    want: &HostState,
    how: &How<'_>,
    watch: &mut dyn Watch,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Outcome, Refusal> {
    let (facts, plan) = plan(host, stages, want, how.prune, how.deadline)?;
    let mut outcome = Outcome {
        steps: plan.steps.iter().map(StepReport::planned).collect(),
        plan,
        ..Outcome::default()
    };
    if outcome.plan.steps.is_empty() {
        return Ok(outcome);
    }
    let begun = Journal::of(&host.root).begin(how.request, &outcome.plan.steps, &facts.ledger, watch);
    let id = match begun {
        Ok(id) => id,
        Err(e) => {
            outcome.errors.push(journal_problem(&e));
            return Ok(outcome);
        }
    };
    outcome.transaction = Some(id);
    let failure = match owned::adopt(host, &outcome.plan, &facts.ledger, watch) {
        Err(e) => Some((journal_problem(&e), None)),
        Ok(ledger) => carry_out(host, id, how, watch, progress, &mut outcome)
            .or_else(|| settle(host, stages, want, how))
            .or_else(|| close(host, id, &ledger, watch, &mut outcome.plan))
            .map(|problem| (problem, Some(ledger))),
    };
    match failure {
        None => outcome.changed = true,
        Some((problem, Some(ledger))) if how.on_failure == OnFailure::Keep => {
            outcome.errors.push(problem);
            owned::keep(host, id, &facts.ledger, ledger, watch, &mut outcome);
        }
        Some((problem, _)) => {
            outcome.errors.push(problem);
            take_back(host, id, watch, &mut outcome);
        }
    }
    Ok(outcome)
}

/// Does every step; the first failure ends it.
fn carry_out(
    host: &mut Host,
    id: u32,
    how: &How<'_>,
    watch: &mut dyn Watch,
    progress: &mut dyn FnMut(&Progress),
    outcome: &mut Outcome,
) -> Option<Problem> {
    let began = Instant::now();
    let of = outcome.plan.steps.len();
    for (at, step) in outcome.plan.steps.iter().enumerate() {
        let what = format!("{} {}", step.action.verb(), step.action.target());
        let elapsed_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        progress(&Progress {
            step: at + 1,
            of,
            what: what.clone(),
            elapsed_ms,
        });
        let failed = |reason: String| {
            let path = step.because.first().cloned().unwrap_or_default();
            codes::HOST_STEP_FAILED.at(path, format!("{what}: {reason}"), "mend the cause and run again")
        };
        host.until(how.deadline);
        let problem = match (host.interrupted(), Instant::now() >= how.deadline) {
            (Some(signal), _) => Some(failed(format!("the run was asked to end by {signal}"))),
            (None, true) => Some(failed("the deadline of the run has passed".to_owned())),
            (None, false) => one(host, id, at, step, watch, &failed),
        };
        if let Some(problem) = problem {
            outcome.steps[at].status = Status::Failed;
            return Some(problem);
        }
        outcome.steps[at].status = Status::Done;
    }
    None
}

/// One step: undo record on disk, then the effect, then the mark.
fn one(
    host: &mut Host,
    id: u32,
    at: usize,
    step: &Step,
    watch: &mut dyn Watch,
    failed: &dyn Fn(String) -> Problem,
) -> Option<Problem> {
    let record = Record {
        section: step.section.clone(),
        action: step.action.clone(),
        undo: step.undo.clone(),
    };
    let before = |host: &Host, watch: &mut dyn Watch| -> Result<(), String> {
        watch.at(Point::BeforeRecord).map_err(|e| e.to_string())?;
        Journal::of(&host.root)
            .record(id, at, &record, watch)
            .map_err(|e| e.to_string())?;
        watch.at(Point::BeforeStep).map_err(|e| e.to_string())
    };
    if let Err(reason) = before(host, watch) {
        return Some(failed(reason));
    }
    if let Err(e) = host.perform(&step.action, watch) {
        if e.is_change() {
            let path = step.because.first().cloned().unwrap_or_default();
            return Some(codes::HOST_CHANGED_MEANWHILE.at(path, e.to_string(), "run again"));
        }
        return Some(failed(e.to_string()));
    }
    let after = watch.at(Point::AfterStep).map_err(|e| e.to_string());
    after
        .and_then(|()| {
            Journal::of(&host.root)
                .done(id, at, watch)
                .map_err(|e| e.to_string())
        })
        .err()
        .map(failed)
}

/// Plans again until nothing is left, for as long as the slowest room may take.
fn settle(host: &mut Host, stages: &[&dyn Stage], want: &HostState, how: &How<'_>) -> Option<Problem> {
    let patience = stages.iter().map(|s| s.settle()).max().unwrap_or_default();
    let end = (Instant::now() + patience).min(how.deadline);
    loop {
        let left = match plan(host, stages, want, false, how.deadline) {
            Ok((_, plan)) if plan.steps.is_empty() => return None,
            Ok((_, plan)) => plan
                .steps
                .iter()
                .map(|s| format!("{} {}", s.action.verb(), s.action.target()))
                .collect::<Vec<_>>(),
            Err(refusal) => refusal
                .document
                .iter()
                .chain(&refusal.host)
                .map(ToString::to_string)
                .collect(),
        };
        if let Some(signal) = host.interrupted() {
            return Some(codes::HOST_STEP_FAILED.at(
                Pointer::root(),
                format!("the run was asked to end by {signal} while the host was settling"),
                "run again",
            ));
        }
        if Instant::now() >= end {
            return Some(codes::HOST_NOT_SETTLED.at(
                Pointer::root(),
                format!("after all steps, this is still to do: {}", left.join("; ")),
                "look for something else that manages the same thing on this host",
            ));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Writes the ledger with what was written, and commits. That old transactions cannot be forgotten is only a warning.
fn close(host: &Host, id: u32, ledger: &Ledger, watch: &mut dyn Watch, plan: &mut Plan) -> Option<Problem> {
    let journal = Journal::of(&host.root);
    let commit = |watch: &mut dyn Watch| -> Result<(), JournalError> {
        let ledger = owned::written(host, ledger.clone(), plan)?;
        point(watch, Point::BeforeLedger)?;
        journal.write_ledger(&ledger, watch)?;
        point(watch, Point::BeforeCommit)?;
        journal.phase(id, Phase::Committed, watch)
    };
    if let Err(e) = commit(watch) {
        return Some(journal_problem(&e));
    }
    if let Err(e) = journal.trim() {
        plan.warnings.push(journal_problem(&e));
    }
    None
}

fn point(watch: &mut dyn Watch, at: Point) -> Result<(), JournalError> {
    watch.at(at).map_err(|e| JournalError {
        path: HostPath::fixed(ibplan_core::ledger::LEDGER),
        reason: e.to_string(),
    })
}

/// Takes the finished steps back.
fn take_back(host: &mut Host, id: u32, watch: &mut dyn Watch, outcome: &mut Outcome) {
    match host.take_transaction_back(id, false, watch) {
        Ok((_, taken)) => mark_undone(&taken, outcome),
        Err(e) => {
            outcome.errors.push(journal_problem(&e));
            outcome.changed = outcome.steps.iter().any(|s| s.status == Status::Done);
        }
    }
}

fn mark_undone(taken: &Taken, outcome: &mut Outcome) {
    for (report, undone) in outcome.steps.iter_mut().zip(&taken.undone) {
        if report.status == Status::Done && *undone {
            report.status = Status::Undone;
        }
    }
    outcome.changed = !taken.problems.is_empty();
    outcome.errors.extend(taken.problems.iter().cloned());
}

/// A problem of the journal.
pub fn journal_problem(e: &JournalError) -> Problem {
    codes::HOST_JOURNAL.at(
        Pointer::of("request"),
        e.to_string(),
        "make room or mend the file system; a file that is damaged or of a later version of ibplan has to be looked at by hand, and moved away only when it is understood",
    )
}
