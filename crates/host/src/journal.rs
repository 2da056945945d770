//! The journal: a folder for each transaction, written and synced ahead of every step.

use crate::files::{self, FileError, NewFile};
use crate::root::Root;
use crate::watch::Watch;
use ibplan_core::action::{Action, Expect};
use ibplan_core::ledger::{LEDGER, Ledger, ORIGINALS, STATE};
use ibplan_core::plan::Step;
use ibplan_core::types::HostPath;
use serde::{Deserialize, Serialize};

/// Transactions kept.
pub const KEPT: usize = 10;

/// Where transactions lie.
const FOLDER: &str = "/var/lib/ibplan/transactions";

/// How far a transaction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Steps are being done; found by a later run, it was interrupted.
    Open,
    /// Done and verified.
    Committed,
    /// Being taken back.
    RollingBack,
    /// Taken back.
    RolledBack,
    /// A step failed and the finished ones were kept, as asked.
    Kept,
}

/// One step as recorded before it was done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The section.
    pub section: String,
    /// What was to be done.
    pub action: Action,
    /// What takes it back.
    pub undo: Option<Action>,
}

/// The head of a transaction, one line for `last`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// How far it is.
    pub phase: Phase,
    /// Seconds since 1970 when it began.
    pub began: u64,
    /// Number of steps.
    pub steps: usize,
    /// Sections that it changed.
    pub sections: Vec<String>,
}

/// Why the journal cannot be kept.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {reason}")]
pub struct JournalError {
    /// Which file.
    pub path: HostPath,
    /// Why.
    pub reason: String,
}

/// The journal of a root. Only the holder of the lock may write it.
#[derive(Debug)]
pub struct Journal<'a> {
    root: &'a Root,
}

impl<'a> Journal<'a> {
    /// The journal of a root.
    pub const fn of(root: &'a Root) -> Self {
        Self { root }
    }

    fn path(words: &[&str]) -> Result<HostPath, JournalError> {
        words.iter().try_fold(HostPath::fixed(FOLDER), |at, word| {
            at.join(word).map_err(|e| JournalError {
                path: at.clone(),
                reason: e.to_string(),
            })
        })
    }

    fn folder(id: u32) -> String {
        format!("{id:010}")
    }

    /// Numbers of the transactions that are kept, oldest first.
    ///
    /// # Errors
    /// The folder cannot be listed.
    pub fn list(&self) -> Result<Vec<u32>, JournalError> {
        let folder = HostPath::fixed(FOLDER);
        let names = files::list(self.root, &folder).map_err(|e| fault(&folder, &e))?;
        let number = |n: &String| n.parse().ok().filter(|id| Self::folder(*id) == *n);
        Ok(names.iter().filter_map(number).collect())
    }

    /// The head of a transaction; `None`: it is not there, or was never begun for good.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn head(&self, id: u32) -> Result<Option<Head>, JournalError> {
        self.json(&Self::path(&[&Self::folder(id), "head.json"])?)
    }

    fn json<T: for<'de> Deserialize<'de>>(&self, path: &HostPath) -> Result<Option<T>, JournalError> {
        match files::read(self.root, path).map_err(|e| fault(path, &e))? {
            None => Ok(None),
            Some(bytes) => serde_json::from_slice(&bytes)
                .map(Some)
                .map_err(|e| JournalError {
                    path: path.clone(),
                    reason: e.to_string(),
                }),
        }
    }

    fn put(&self, path: &HostPath, bytes: &[u8], watch: &mut dyn Watch) -> Result<(), JournalError> {
        let how = NewFile {
            content: bytes,
            mode: 0o600,
            uid: owner(),
            gid: group(),
            expect: &Expect::Anything,
        };
        files::write(self.root, path, &how, watch).map_err(|e| fault(path, &e))
    }

    fn put_json(
        &self,
        path: &HostPath,
        value: &impl Serialize,
        watch: &mut dyn Watch,
    ) -> Result<(), JournalError> {
        let mut bytes = serde_json::to_vec_pretty(value).map_err(|e| JournalError {
            path: path.clone(),
            reason: e.to_string(),
        })?;
        bytes.push(b'\n');
        self.put(path, &bytes, watch)
    }

    /// Begins a transaction: its folder, the request, the ledger as it is. It counts from the moment its head is written.
    ///
    /// # Errors
    /// Nothing of the host was touched.
    pub fn begin(
        &self,
        request: &[u8],
        steps: &[Step],
        ledger: &Ledger,
        watch: &mut dyn Watch,
    ) -> Result<u32, JournalError> {
        let id = self.list()?.last().map_or(1, |last| last.saturating_add(1));
        let make = |words: &[&str]| {
            let path = Self::path(words)?;
            files::make_folder_if_missing(self.root, &path, 0o700).map_err(|e| fault(&path, &e))
        };
        make(&[])?;
        make(&[&Self::folder(id)])?;
        make(&[&Self::folder(id), "steps"])?;
        self.put(&Self::path(&[&Self::folder(id), "request.json"])?, request, watch)?;
        self.put_json(&Self::path(&[&Self::folder(id), "ledger.json"])?, ledger, watch)?;
        let mut sections: Vec<String> = steps.iter().map(|s| s.section.clone()).collect();
        sections.dedup();
        let began = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |d| d.as_secs());
        let head = Head {
            phase: Phase::Open,
            began,
            steps: steps.len(),
            sections,
        };
        self.put_json(&Self::path(&[&Self::folder(id), "head.json"])?, &head, watch)?;
        Ok(id)
    }

    /// Moves a transaction to another phase.
    ///
    /// # Errors
    /// The head cannot be written.
    pub fn phase(&self, id: u32, phase: Phase, watch: &mut dyn Watch) -> Result<(), JournalError> {
        let path = Self::path(&[&Self::folder(id), "head.json"])?;
        let head: Option<Head> = self.json(&path)?;
        let Some(mut head) = head else {
            return Err(JournalError {
                path,
                reason: "the transaction has no head".to_owned(),
            });
        };
        head.phase = phase;
        self.put_json(&path, &head, watch)
    }

    /// Writes the record of a step, before it is done.
    ///
    /// # Errors
    /// It cannot be written; the step must not be done.
    pub fn record(
        &self,
        id: u32,
        step: usize,
        record: &Record,
        watch: &mut dyn Watch,
    ) -> Result<(), JournalError> {
        self.put_json(
            &Self::path(&[&Self::folder(id), "steps", &format!("{step:06}.json")])?,
            record,
            watch,
        )
    }

    /// Marks a step as done.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn done(&self, id: u32, step: usize, watch: &mut dyn Watch) -> Result<(), JournalError> {
        let mark = Self::path(&[&Self::folder(id), "steps", &format!("{step:06}.done")])?;
        self.put(&mark, b"", watch)
    }

    /// The records of a transaction, in order, each with whether it was marked as done.
    ///
    /// # Errors
    /// One cannot be read.
    pub fn records(&self, id: u32) -> Result<Vec<(Record, bool)>, JournalError> {
        let folder = Self::path(&[&Self::folder(id), "steps"])?;
        let names = files::list(self.root, &folder).map_err(|e| fault(&folder, &e))?;
        let mut out = Vec::new();
        for name in names.iter().filter(|n| !n.starts_with('.')) {
            if let Some(stem) = name.strip_suffix(".json") {
                let path = Self::path(&[&Self::folder(id), "steps", name])?;
                if stem.parse() != Ok(out.len()) {
                    return Err(JournalError {
                        path,
                        reason: format!("the record of step {} is not there", out.len()),
                    });
                }
                if let Some(record) = self.json(&path)? {
                    out.push((record, names.contains(&format!("{stem}.done"))));
                }
            }
        }
        Ok(out)
    }

    /// The ledger as it was when a transaction began.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn ledger_before(&self, id: u32) -> Result<Ledger, JournalError> {
        let path = Self::path(&[&Self::folder(id), "ledger.json"])?;
        self.json(&path)?.ok_or_else(|| JournalError {
            path,
            reason: "it is not there".to_owned(),
        })
    }

    /// Writes the ledger of the host.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write_ledger(&self, ledger: &Ledger, watch: &mut dyn Watch) -> Result<(), JournalError> {
        self.put_json(&HostPath::fixed(LEDGER), ledger, watch)
    }

    /// The ledger of the host as it is; an absent one is empty.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn ledger(&self) -> Result<Ledger, JournalError> {
        Ok(self.json(&HostPath::fixed(LEDGER))?.unwrap_or_default())
    }

    /// Keeps an original under the name of its digest.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep_original(
        &self,
        digest: &str,
        bytes: &[u8],
        watch: &mut dyn Watch,
    ) -> Result<(), JournalError> {
        let folder = HostPath::fixed(ORIGINALS);
        files::make_folder_if_missing(self.root, &folder, 0o700).map_err(|e| fault(&folder, &e))?;
        let path = folder.join(digest).map_err(|e| JournalError {
            path: folder.clone(),
            reason: e.to_string(),
        })?;
        // A copy that was damaged since is written anew.
        match files::read(self.root, &path).map_err(|e| fault(&path, &e))? {
            Some(kept) if kept == bytes => Ok(()),
            _ => self.put(&path, bytes, watch),
        }
    }

    /// Forgets transactions beyond the last ten, oldest first. A transaction that is open is never forgotten.
    ///
    /// # Errors
    /// One cannot be removed.
    pub fn trim(&self) -> Result<(), JournalError> {
        let mut begun = Vec::new();
        for id in self.list()? {
            match self.head(id)? {
                Some(head) => begun.push((id, head.phase)),
                // Killed while it began, or while it was forgotten.
                None => self.remove(id)?,
            }
        }
        for (id, phase) in &begun[..begun.len().saturating_sub(KEPT)] {
            if !matches!(phase, Phase::Open | Phase::RollingBack) {
                self.remove(*id)?;
            }
        }
        Ok(())
    }

    fn remove(&self, id: u32) -> Result<(), JournalError> {
        let top = Self::path(&[&Self::folder(id)])?;
        let steps = Self::path(&[&Self::folder(id), "steps"])?;
        // The head goes first: a transaction without one was never begun.
        let head = Self::path(&[&Self::folder(id), "head.json"])?;
        files::remove(self.root, &head, &Expect::Anything).map_err(|e| fault(&head, &e))?;
        for folder in [steps, top] {
            for name in files::list(self.root, &folder).map_err(|e| fault(&folder, &e))? {
                let path = folder.join(&name).map_err(|e| JournalError {
                    path: folder.clone(),
                    reason: e.to_string(),
                })?;
                files::remove(self.root, &path, &Expect::Anything)
                    .or_else(|_| files::remove_folder(self.root, &path))
                    .map_err(|e| fault(&path, &e))?;
            }
            files::remove_folder(self.root, &folder).map_err(|e| fault(&folder, &e))?;
        }
        Ok(())
    }

    /// Whether the state folder is there at all.
    pub fn exists(&self) -> bool {
        files::meta(self.root, &HostPath::fixed(STATE)).is_ok_and(|m| m.is_some())
    }
}

fn owner() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn group() -> u32 {
    rustix::process::getegid().as_raw()
}

fn fault(path: &HostPath, e: &FileError) -> JournalError {
    JournalError {
        path: path.clone(),
        reason: e.to_string(),
    }
}
