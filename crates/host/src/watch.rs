//! Points inside a step at which a test may look, fail or kill. A program watches nothing.

/// A point inside a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// The journal record of a step is about to be written.
    BeforeRecord,
    /// The undo record is on disk; the step has not begun.
    BeforeStep,
    /// A temporary file is made, nothing is in it.
    BeforeWrite,
    /// Its bytes are written and not synced.
    BeforeSync,
    /// It is synced and not renamed.
    BeforeRename,
    /// It is renamed; the folder is not synced.
    AfterRename,
    /// The step is done; its mark is not written.
    AfterStep,
    /// All steps are done; the ledger is not written.
    BeforeLedger,
    /// The ledger is written; the transaction is not closed.
    BeforeCommit,
}

/// Looks on.
pub trait Watch {
    /// Called at each point; an error is treated as if the system had reported it there.
    ///
    /// # Errors
    /// What the watcher wants to have failed.
    fn at(&mut self, point: Point) -> std::io::Result<()>;
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nothing;

impl Watch for Nothing {
    fn at(&mut self, _: Point) -> std::io::Result<()> {
        Ok(())
    }
}
