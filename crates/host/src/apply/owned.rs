//! The ledger of an apply: what becomes ibplan's, and what was there before.

use super::{Outcome, journal_problem};
use crate::host::Host;
use crate::journal::{Journal, JournalError, Phase};
use crate::watch::Watch;
use ibplan_core::action::{Action, digest};
use ibplan_core::ledger::{Ledger, Original, Owned, OwnedLive, fingerprint};
use ibplan_core::parts::file::{self, Present};
use ibplan_core::plan::{Claim, Plan};
use ibplan_core::probe::ProbeError;
use ibplan_core::protocol::Status;
use ibplan_core::types::HostPath;
use std::collections::BTreeMap;

/// The ledger as it will be, what was written not yet in it. Keeps the originals of everything that becomes ibplan's.
pub(super) fn adopt(
    host: &Host,
    plan: &Plan,
    before: &Ledger,
    watch: &mut dyn Watch,
) -> Result<Ledger, JournalError> {
    let journal = Journal::of(&host.root);
    let mut ledger = before.clone();
    for path in &plan.forgets {
        ledger.files.remove(path);
        ledger.live.remove(path);
    }
    let fault = |e: &ProbeError| JournalError {
        path: HostPath::fixed("/"),
        reason: e.to_string(),
    };
    for claim in &plan.claims {
        match claim {
            Claim::File { path, section, keys } => {
                let known = ledger.files.remove(path);
                let written = match &known {
                    Some(owned) => still_foreign(host, path, owned, keys).map_err(|e| fault(&e))?,
                    None => String::new(),
                };
                let (original, first) = match known {
                    Some(owned) => (owned.original, owned.keys),
                    None => {
                        let original = original(host, &journal, path, watch);
                        (
                            original.map_err(|e| e.unwrap_or_else(|p| fault(&p)))?,
                            BTreeMap::new(),
                        )
                    }
                };
                // What a key was before ibplan is what it was when it was first seen.
                let keys = keys
                    .iter()
                    .map(|(key, seen)| (key.clone(), first.get(key).unwrap_or(seen).clone()))
                    .collect();
                let owned = Owned {
                    section: section.clone(),
                    original,
                    written,
                    keys,
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
    Ok(ledger)
}

/// A foreign file that somebody else changed since ibplan wrote it holds their work from then on, whatever ibplan adds to it
/// later: what was written then stays in the ledger, so that nothing ever takes the file for ibplan's alone. Empty: the
/// file will be as ibplan leaves it.
fn still_foreign(
    host: &Host,
    path: &HostPath,
    owned: &Owned,
    keys: &BTreeMap<String, Option<String>>,
) -> Result<String, ProbeError> {
    if keys.is_empty() && owned.keys.is_empty() {
        return Ok(String::new());
    }
    let now = fingerprint(host, path)?;
    Ok(if now.is_some_and(|now| now != owned.written) {
        owned.written.clone()
    } else {
        String::new()
    })
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
    path: &HostPath,
    watch: &mut dyn Watch,
) -> Result<Original, OriginalError> {
    let seen = file::observe(host, path).map_err(OriginalError::Probe)?;
    Ok(match seen.present {
        Present::Absent | Present::Other(_) => Original::Absent,
        Present::Link(target) => Original::Link { target },
        Present::File { meta, bytes } => {
            let name = digest(&bytes);
            journal
                .keep_original(&name, &bytes, watch)
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

/// Notes what ibplan wrote: of the files that this plan keeps, and of no others, since those may hold somebody's work by now.
pub(super) fn written(host: &Host, mut ledger: Ledger, plan: &Plan) -> Result<Ledger, JournalError> {
    for claim in &plan.claims {
        let Claim::File { path, .. } = claim else { continue };
        let Some(owned) = ledger.files.get_mut(path).filter(|o| o.written.is_empty()) else {
            continue;
        };
        let now = fingerprint(host, path).map_err(|e| JournalError {
            path: path.clone(),
            reason: e.to_string(),
        })?;
        owned.written = now.unwrap_or_default();
    }
    Ok(ledger)
}

/// Leaves the finished steps as they are, as asked, and keeps in the ledger what they made ibplan's.
pub(super) fn keep(
    host: &Host,
    id: u32,
    before: &Ledger,
    mut ledger: Ledger,
    watch: &mut dyn Watch,
    outcome: &mut Outcome,
) {
    let mut effects = false;
    for (step, report) in outcome.plan.steps.iter().zip(&outcome.steps) {
        let half = report.status == Status::Failed && host.is_as_left(&step.action) == Some(true);
        if report.status == Status::Done || half {
            effects = true;
            continue;
        }
        let (Action::WriteFile { path, .. }
        | Action::MakeLink { path, .. }
        | Action::RemoveFile { path, .. }
        | Action::Sysctl { path, .. }) = &step.action
        else {
            continue;
        };
        put_back(&mut ledger.files, &before.files, path);
        put_back(&mut ledger.live, &before.live, path);
    }
    outcome.changed = effects;
    let journal = Journal::of(&host.root);
    let done = written(host, ledger, &outcome.plan)
        .and_then(|ledger| journal.write_ledger(&ledger, watch))
        .and_then(|()| journal.phase(id, Phase::Kept, watch));
    outcome.errors.extend(done.err().map(|e| journal_problem(&e)));
}

fn put_back<T: Clone>(now: &mut BTreeMap<HostPath, T>, before: &BTreeMap<HostPath, T>, path: &HostPath) {
    match before.get(path) {
        Some(entry) => now.insert(path.clone(), entry.clone()),
        None => now.remove(path),
    };
}
