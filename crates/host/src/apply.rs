//! Plan, journal, perform, verify; on failure take back in reverse.

use crate::host::Host;
use crate::journal::{Journal, JournalError, Phase, Record};
use crate::signals::Held;
use crate::undo::Taken;
use crate::watch::{Nothing, Point, Watch};
use ibplan_core::action::digest;
use ibplan_core::codes;
use ibplan_core::engine::{self, Refusal};
use ibplan_core::facts::{self, Facts};
use ibplan_core::ledger::{Ledger, Original, Owned, OwnedLive, fingerprint};
use ibplan_core::parts::file::{self, Present};
use ibplan_core::plan::{Claim, Plan, Step};
use ibplan_core::pointer::Pointer;
use ibplan_core::probe::ProbeError;
use ibplan_core::problem::Problem;
use ibplan_core::protocol::{Status, StepReport};
use ibplan_core::request::OnFailure;
use ibplan_core::resource::Stage;
use ibplan_core::state::HostState;
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
    let begun = begin(host, &outcome.plan, &facts, how, watch);
    let (id, ledger) = match begun {
        Ok(begun) => begun,
        Err(e) => {
            outcome.errors.push(journal_problem(&e));
            return Ok(outcome);
        }
    };
    outcome.transaction = Some(id);
    let failure = carry_out(host, id, how, watch, progress, &mut outcome)
        .or_else(|| settle(host, stages, want, how))
        .or_else(|| close(host, id, &ledger, watch).err().map(|e| journal_problem(&e)));
    match failure {
        None => outcome.changed = true,
        Some(problem) => fail(host, id, how.on_failure, problem, &mut outcome),
    }
    Ok(outcome)
}

/// Opens the transaction and keeps the originals of everything that becomes ibplan's.
fn begin(
    host: &Host,
    plan: &Plan,
    facts: &Facts,
    how: &How<'_>,
    watch: &mut dyn Watch,
) -> Result<(u32, Ledger), JournalError> {
    let journal = Journal::of(&host.root);
    let id = journal.begin(how.request, &plan.steps, &facts.ledger, watch)?;
    let mut ledger = facts.ledger.clone();
    for path in &plan.forgets {
        ledger.files.remove(path);
        ledger.live.remove(path);
    }
    let fault = |e: &ProbeError| JournalError {
        path: ibplan_core::types::HostPath::fixed("/"),
        reason: e.to_string(),
    };
    for claim in &plan.claims {
        match claim {
            Claim::File { path, section, keys } => {
                let original = match ledger.files.remove(path) {
                    Some(owned) => owned.original,
                    None => original(host, &journal, path).map_err(|e| e.unwrap_or_else(|p| fault(&p)))?,
                };
                let owned = Owned {
                    section: section.clone(),
                    original,
                    written: String::new(),
                    keys: keys.clone(),
                };
                ledger.files.insert(path.clone(), owned);
            }
            Claim::Live { path, section, seen } => {
                let fresh = || OwnedLive {
                    section: section.clone(),
                    original: seen.clone(),
                };
                ledger.live.entry(path.clone()).or_insert_with(fresh);
            }
        }
    }
    Ok((id, ledger))
}

enum OriginalError {
    Journal(JournalError),
    Probe(ProbeError),
}

impl OriginalError {
    fn unwrap_or_else(self, make: impl FnOnce(ProbeError) -> JournalError) -> JournalError {
        match self {
            Self::Journal(e) => e,
            Self::Probe(e) => make(e),
        }
    }
}

/// What is at a path, its bytes kept.
fn original(
    host: &Host,
    journal: &Journal<'_>,
    path: &ibplan_core::types::HostPath,
) -> Result<Original, OriginalError> {
    let seen = file::observe(host, path).map_err(OriginalError::Probe)?;
    Ok(match seen.present {
        Present::Absent | Present::Other(_) => Original::Absent,
        Present::Link(target) => Original::Link { target },
        Present::File { meta, bytes } => {
            let name = digest(&bytes);
            journal
                .keep_original(&name, &bytes)
                .map_err(OriginalError::Journal)?;
            Original::File {
                digest: name,
                mode: meta.mode,
                uid: meta.uid,
                gid: meta.gid,
            }
        }
    })
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
    let held = Held::new();
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
        let problem = match (held.arrived(), Instant::now() >= how.deadline) {
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
            .record(id, at, &record, &mut Nothing)
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
        .and_then(|()| Journal::of(&host.root).done(id, at).map_err(|e| e.to_string()))
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

/// Writes the ledger with what was written, and commits.
fn close(host: &Host, id: u32, ledger: &Ledger, watch: &mut dyn Watch) -> Result<(), JournalError> {
    let journal = Journal::of(&host.root);
    let mut ledger = ledger.clone();
    let point = |watch: &mut dyn Watch, at| {
        watch.at(at).map_err(|e| JournalError {
            path: ibplan_core::types::HostPath::fixed(ibplan_core::ledger::LEDGER),
            reason: e.to_string(),
        })
    };
    for (path, owned) in &mut ledger.files {
        if let Some(now) = fingerprint(host, path).map_err(|e| JournalError {
            path: path.clone(),
            reason: e.to_string(),
        })? {
            owned.written = now;
        }
    }
    point(watch, Point::BeforeLedger)?;
    journal.write_ledger(&ledger, &mut Nothing)?;
    point(watch, Point::BeforeCommit)?;
    journal.phase(id, Phase::Committed, &mut Nothing)?;
    journal.trim()
}

/// Takes the finished steps back, or keeps them where that was asked for.
fn fail(host: &mut Host, id: u32, on_failure: OnFailure, problem: Problem, outcome: &mut Outcome) {
    outcome.errors.push(problem);
    let kept = match on_failure {
        OnFailure::Keep => Journal::of(&host.root)
            .phase(id, Phase::Kept, &mut Nothing)
            .map(|()| None),
        OnFailure::Rollback => host.take_transaction_back(id).map(|(_, taken)| Some(taken)),
    };
    match kept {
        Ok(None) => outcome.changed = outcome.steps.iter().any(|s| s.status == Status::Done),
        Ok(Some(taken)) => mark_undone(&taken, outcome),
        Err(e) => {
            outcome.errors.push(journal_problem(&e));
            outcome.changed = true;
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
        "make room or mend the file system, then run again",
    )
}
