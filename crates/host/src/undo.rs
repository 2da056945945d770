//! Taking steps back: after a failure, after a kill, or on request.

use crate::files;
use crate::host::{Host, PATIENCE};
use crate::journal::{Journal, JournalError, Phase, Record};
use crate::perform::PerformError;
use crate::watch::Watch;
use ibplan_core::action::{Action, Expect, digest};
use ibplan_core::codes;
use ibplan_core::facts::Scope;
use ibplan_core::ledger::fingerprint;
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
    /// Files that somebody else changed since: they are left alone, and that is the end of it.
    pub left: Vec<HostPath>,
    /// Something failed that can be mended: the transaction stays open.
    pub failed: bool,
    /// Whether anything was done to the host.
    pub acted: bool,
}

impl Host {
    /// Takes records back (each with whether it was marked as done), the last first. Every undo looks first whether there is something to undo, so that it may be
    /// interrupted and begun again.
    ///
    /// Files come back before units are started again, whatever the order was on the way there: a service must never be
    /// restarted on the configuration that is just being taken back.
    pub fn take_back(&mut self, records: &[(Record, bool)], watch: &mut dyn Watch) -> Taken {
        let mut taken = Taken {
            undone: vec![false; records.len()],
            ..Taken::default()
        };
        let order = undo_order(records.iter().map(|(r, _)| r.undo.as_ref()));
        let is_unit = |at: usize| matches!(records[at].0.undo, Some(Action::Unit { .. }));
        let mut reload =
            self.scope() == Scope::Live && records.iter().any(|(r, _)| r.action == Action::ReloadUnits);
        let last_file = order.iter().rposition(|at| !is_unit(*at));
        for (n, at) in order.iter().enumerate() {
            if reload && last_file.is_none_or(|last| n > last) {
                reload = false;
                self.act(&Action::ReloadUnits, &mut taken, watch);
            }
            self.take_one_back(*at, &records[*at], &mut taken, watch);
        }
        if reload {
            self.act(&Action::ReloadUnits, &mut taken, watch);
        }
        taken
    }

    /// Does an undo and notes how it went; `true`: it is done.
    fn act(&mut self, undo: &Action, taken: &mut Taken, watch: &mut dyn Watch) -> bool {
        taken.acted = true;
        match self.perform(undo, watch) {
            Ok(()) => return true,
            Err(e) if e.is_change() => {
                taken.left.extend(file_of(undo).cloned());
                taken.problems.push(conflict(undo, &e));
            }
            Err(e) => {
                taken.failed = true;
                taken.problems.push(problem(undo, &e.to_string()));
            }
        }
        false
    }

    /// Whether there is nothing left that an undo could act on: the live side of an image, a kernel value of a link that
    /// is no longer there.
    fn is_moot(&self, undo: &Action) -> bool {
        match undo {
            Action::Sysctl { path, .. } => {
                self.scope() == Scope::Image || self.meta(path).is_ok_and(|m| m.is_none())
            }
            Action::LoadModule { .. }
            | Action::UnloadModule { .. }
            | Action::ReloadUnits
            | Action::Unit { .. } => self.scope() == Scope::Image,
            _ => false,
        }
    }

    fn take_one_back(
        &mut self,
        at: usize,
        (record, done): &(Record, bool),
        taken: &mut Taken,
        watch: &mut dyn Watch,
    ) {
        let Some(undo) = &record.undo else {
            taken.undone[at] = true;
            return;
        };
        if self.is_moot(undo) {
            taken.undone[at] = true;
            return;
        }
        if let Some(path) = file_of(undo) {
            // What a killed run left half written goes first.
            if let Err(e) = files::sweep(&self.root, path) {
                taken.failed = true;
                taken.problems.push(problem(undo, &e.to_string()));
                return;
            }
            // A step that stopped because somebody else changed its file has nothing to take back.
            if self.is_already(undo) || (!done && self.is_as_left(&record.action) == Some(false)) {
                taken.undone[at] = true;
                return;
            }
        }
        taken.undone[at] = self.act(undo, taken, watch);
    }

    /// Whether a file is as an action on it leaves it; `None`: it is no action on a file, or cannot be told.
    pub(crate) fn is_as_left(&self, action: &Action) -> Option<bool> {
        let (path, wanted) = match action {
            Action::WriteFile { path, content, .. } => (path, Some(digest(&content.0))),
            Action::MakeLink { path, target, .. } => (path, Some(format!("link:{target}"))),
            Action::RemoveFile { path, .. } => (path, None),
            _ => return None,
        };
        fingerprint(self, path).ok().map(|now| now == wanted)
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

    /// Takes a whole transaction back and puts the ledger back to what it was before. A file that somebody else changed
    /// since stays, and stays in the ledger. With `give_up` the transaction is closed even where an undo failed.
    ///
    /// # Errors
    /// The journal cannot be read (then nothing was done) or written.
    pub fn take_transaction_back(
        &mut self,
        id: u32,
        give_up: bool,
        watch: &mut dyn Watch,
    ) -> Result<(Vec<Record>, Taken), JournalError> {
        self.limit = PATIENCE;
        let (records, mut ledger, now) = {
            let journal = Journal::of(&self.root);
            let records = journal.records(id)?;
            let (ledger, now) = (journal.ledger_before(id)?, journal.ledger()?);
            journal.phase(id, Phase::RollingBack, watch)?;
            (records, ledger, now)
        };
        let taken = self.take_back(&records, watch);
        let journal = Journal::of(&self.root);
        if !taken.failed || give_up {
            for path in &taken.left {
                if let Some(owned) = now.files.get(path) {
                    ledger.files.insert(path.clone(), owned.clone());
                }
            }
            journal.write_ledger(&ledger, watch)?;
            journal.phase(id, Phase::RolledBack, watch)?;
        }
        Ok((records.into_iter().map(|(record, _)| record).collect(), taken))
    }

    /// Takes back what an interrupted run left open, the newest first, up to one that cannot be finished. Returns the
    /// transactions.
    ///
    /// # Errors
    /// The journal cannot be read or written.
    pub fn recover(
        &mut self,
        give_up: bool,
        watch: &mut dyn Watch,
    ) -> Result<Vec<(u32, Taken)>, JournalError> {
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
            let (_, taken) = self.take_transaction_back(id, give_up, watch)?;
            let stuck = taken.failed && !give_up;
            out.push((id, taken));
            if stuck {
                break;
            }
        }
        Ok(out)
    }
}

fn conflict(undo: &Action, e: &PerformError) -> Problem {
    let text = e.to_string();
    let how = text.rsplit_once(": ").map_or(text.as_str(), |(_, how)| how);
    codes::HOST_ROLLBACK_CONFLICT.at(
        Pointer::of("request"),
        format!(
            "{} was changed by somebody else ({how}) and is left alone",
            undo.target()
        ),
        "compare it with the copy in the transaction's folder and decide which is wanted",
    )
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
        "mend the cause, then run rollback again (with `on_failure: keep` it leaves what cannot be taken back as it is); the former state lies in the transaction's folder",
    )
}
