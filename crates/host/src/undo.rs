//! Taking steps back: after a failure, after a kill, or on request.

use crate::files;
use crate::host::Host;
use crate::journal::{Journal, JournalError, Phase, Record};
use crate::perform::PerformError;
use crate::watch::Nothing;
use ibplan_core::action::{Action, Expect, digest};
use ibplan_core::codes;
use ibplan_core::facts::Scope;
use ibplan_core::plan::undo_order;
use ibplan_core::pointer::Pointer;
use ibplan_core::probe::Probe;
use ibplan_core::problem::Problem;
use ibplan_core::types::HostPath;

/// What became of taking steps back.
#[derive(Debug, Default)]
pub struct Taken {
    /// For each record, in their order: whether the host is as it was before that step.
    pub undone: Vec<bool>,
    /// What could not be taken back.
    pub problems: Vec<Problem>,
}

impl Host {
    /// Takes records back, the last first. Every undo looks first whether there is something to undo, so that it may be
    /// interrupted and begun again.
    ///
    /// Files come back before units are started again, whatever the order was on the way there: a service must never be
    /// restarted on the configuration that is just being taken back.
    pub fn take_back(&mut self, records: &[Record]) -> Taken {
        let mut taken = Taken {
            undone: vec![false; records.len()],
            problems: Vec::new(),
        };
        let order = undo_order(records.iter().map(|r| r.undo.as_ref()));
        let is_unit = |at: usize| matches!(records[at].undo, Some(Action::Unit { .. }));
        let mut reload =
            self.scope() == Scope::Live && records.iter().any(|r| r.action == Action::ReloadUnits);
        let last_file = order.iter().rposition(|at| !is_unit(*at));
        for (n, at) in order.iter().enumerate() {
            if reload && last_file.is_none_or(|last| n > last) {
                reload = false;
                report(
                    self.quietly(&Action::ReloadUnits),
                    &Action::ReloadUnits,
                    &mut taken,
                );
            }
            self.take_one_back(*at, &records[*at], &mut taken);
        }
        if reload {
            report(
                self.quietly(&Action::ReloadUnits),
                &Action::ReloadUnits,
                &mut taken,
            );
        }
        taken
    }

    fn quietly(&mut self, action: &Action) -> Result<(), PerformError> {
        self.perform(action, &mut Nothing)
    }

    fn take_one_back(&mut self, at: usize, record: &Record, taken: &mut Taken) {
        let Some(undo) = &record.undo else {
            taken.undone[at] = true;
            return;
        };
        if let Some(path) = file_of(undo) {
            // What a killed run left half written goes first.
            if let Err(e) = files::sweep(&self.root, path) {
                taken.problems.push(problem(undo, &e.to_string()));
                return;
            }
            if self.is_already(undo) {
                taken.undone[at] = true;
                return;
            }
        }
        let done = self.quietly(undo);
        taken.undone[at] = done.is_ok();
        report(done, undo, taken);
    }

    /// Whether a file is already as an undo would make it.
    fn is_already(&self, undo: &Action) -> bool {
        match undo {
            Action::RemoveFile { path, .. } | Action::RemoveFolder { path } => {
                self.meta(path).is_ok_and(|m| m.is_none())
            }
            Action::MakeLink { path, target, .. } => {
                self.link(path).is_ok_and(|l| l.as_deref() == Some(target))
            }
            Action::WriteFile {
                path,
                content,
                mode,
                uid,
                gid,
                ..
            } => {
                let same = files::check(&self.root, path, &Expect::Digest(digest(&content.0))).is_ok();
                same && self
                    .meta(path)
                    .is_ok_and(|m| m.is_some_and(|m| (m.mode, m.uid, m.gid) == (*mode, *uid, *gid)))
            }
            _ => false,
        }
    }

    /// Takes a whole transaction back and puts the ledger back to what it was before.
    ///
    /// # Errors
    /// The journal cannot be read or written.
    pub fn take_transaction_back(&mut self, id: u32) -> Result<(Vec<Record>, Taken), JournalError> {
        let (records, ledger) = {
            let journal = Journal::of(&self.root);
            journal.phase(id, Phase::RollingBack, &mut Nothing)?;
            (
                journal
                    .records(id)?
                    .into_iter()
                    .map(|(record, _)| record)
                    .collect::<Vec<_>>(),
                journal.ledger_before(id)?,
            )
        };
        let taken = self.take_back(&records);
        let journal = Journal::of(&self.root);
        if taken.problems.is_empty() {
            journal.write_ledger(&ledger, &mut Nothing)?;
            journal.phase(id, Phase::RolledBack, &mut Nothing)?;
        }
        Ok((records, taken))
    }

    /// Takes back what an interrupted run left open, the newest first. Returns the transactions taken back.
    ///
    /// # Errors
    /// The journal cannot be read or written.
    pub fn recover(&mut self) -> Result<Vec<(u32, Taken)>, JournalError> {
        let open: Vec<u32> = {
            let journal = Journal::of(&self.root);
            let mut open = Vec::new();
            for id in journal.list()? {
                if matches!(
                    journal.head(id)?.map(|h| h.phase),
                    Some(Phase::Open | Phase::RollingBack)
                ) {
                    open.push(id);
                }
            }
            open
        };
        let mut out = Vec::new();
        for id in open.into_iter().rev() {
            let (_, taken) = self.take_transaction_back(id)?;
            out.push((id, taken));
        }
        Ok(out)
    }
}

fn report(done: Result<(), PerformError>, undo: &Action, taken: &mut Taken) {
    match done {
        Ok(()) => {}
        Err(e) if e.is_change() => taken.problems.push(codes::HOST_ROLLBACK_CONFLICT.at(
            Pointer::of("request"),
            format!(
                "{} was changed by somebody else and is left alone: {e}",
                undo.target()
            ),
            "compare it with the copy in the transaction's folder and decide which is wanted",
        )),
        Err(e) => taken.problems.push(problem(undo, &e.to_string())),
    }
}

fn file_of(action: &Action) -> Option<&HostPath> {
    match action {
        Action::WriteFile { path, .. }
        | Action::RemoveFile { path, .. }
        | Action::MakeLink { path, .. }
        | Action::RemoveFolder { path } => Some(path),
        _ => None,
    }
}

fn problem(undo: &Action, reason: &str) -> Problem {
    codes::HOST_UNDO_FAILED.at(
        Pointer::of("request"),
        format!("{} {} failed: {reason}", undo.verb(), undo.target()),
        "mend the cause, then run rollback again; the former state lies in the transaction's folder",
    )
}
