//! Prune: what has left the document is removed, and the original comes back.

use crate::action::{Action, Content, Expect};
use crate::codes;
use crate::facts::Facts;
use crate::ledger::{Ledger, Original, Owned, fingerprint};
use crate::parts::file::{self, SeenFile};
use crate::plan::{Change, Claim, Plan, Step};
use crate::pointer::Pointer;
use crate::probe::{Probe, ProbeError};
use crate::types::HostPath;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Plans the removal of everything that the ledger holds for `sections` and that `plan` does not claim.
///
/// A file that was changed by hand since ibplan wrote it is left alone and reported.
///
/// # Errors
/// Something that must be compared cannot be read.
pub fn prune(plan: &Plan, sections: &[&str], facts: &Facts, probe: &dyn Probe) -> Result<Plan, ProbeError> {
    let mut out = Plan::default();
    let claimed: BTreeSet<&HostPath> = plan
        .claims
        .iter()
        .map(|c| match c {
            Claim::File { path, .. } | Claim::Live { path, .. } => path,
        })
        .collect();
    let forgotten: BTreeSet<&HostPath> = plan.forgets.iter().collect();
    for (path, owned) in &facts.ledger.files {
        let theirs = claimed.contains(path) || forgotten.contains(path);
        if sections.contains(&owned.section.as_str()) && !theirs {
            give_back(&mut out, path, owned, &Pointer::of(&owned.section), probe)?;
        }
    }
    for (path, owned) in &facts.ledger.live {
        if facts.scope.live() && sections.contains(&owned.section.as_str()) && !claimed.contains(path) {
            give_back_value(&mut out, path, owned, probe);
        }
    }
    Ok(out)
}

/// Plans that one file or link of the ledger is given back: removed, or its original restored. `pointer` is the part of
/// the document that says so.
///
/// # Errors
/// Something that must be compared cannot be read.
pub fn give_back(
    out: &mut Plan,
    path: &HostPath,
    owned: &Owned,
    pointer: &Pointer,
    probe: &dyn Probe,
) -> Result<(), ProbeError> {
    let pointer = pointer.clone();
    let now = fingerprint(probe, path)?;
    if now.as_deref().is_some_and(|f| f != owned.written) {
        let hint = match &owned.original {
            Original::File { digest, .. } => format!(
                "merge by hand what was changed into the file that was there before ibplan, {}, and put that in its place",
                Ledger::original_path(digest)?
            ),
            Original::Absent | Original::Link { .. } => {
                "remove it by hand if nobody needs it, or give it back its last content and run again"
                    .to_owned()
            }
        };
        out.warnings.push(codes::HOST_CHANGED_BY_HAND.at(
            pointer,
            format!("{path} is no longer in the document, and was changed by hand since ibplan wrote it; it is left alone"),
            hint,
        ));
        return Ok(());
    }
    out.forgets.push(path.clone());
    if now.is_none() && owned.original == Original::Absent {
        return Ok(());
    }
    let seen = file::observe(probe, path)?;
    let (action, after, text) = restore(&seen, &owned.original, probe)?;
    let before = if now.is_some() {
        json!({ "file": path })
    } else {
        Value::Null
    };
    out.changes.push(Change::now(pointer.clone(), before, after));
    out.diffs.push(file::diff(&seen, text.as_deref(), None));
    let written = match &action {
        Action::WriteFile { content, .. } => Expect::Digest(crate::action::digest(&content.0)),
        Action::MakeLink { target, .. } => Expect::Target(target.clone()),
        _ => Expect::Absent,
    };
    out.steps.push(Step {
        section: owned.section.clone(),
        action,
        undo: seen.undo(written),
        because: vec![pointer],
        disturbs: Vec::new(),
    });
    Ok(())
}

/// The action that brings an original back, how the change calls it, and its text for the diff.
fn restore(
    seen: &SeenFile,
    original: &Original,
    probe: &dyn Probe,
) -> Result<(Action, Value, Option<Vec<u8>>), ProbeError> {
    let path = seen.path.clone();
    Ok(match original {
        Original::Absent => (
            Action::RemoveFile {
                path,
                expect: seen.expect(),
            },
            Value::Null,
            None,
        ),
        Original::Link { target } => (
            Action::MakeLink {
                path,
                target: target.clone(),
                expect: seen.expect(),
            },
            json!({ "link": target }),
            Some(format!("-> {target}\n").into_bytes()),
        ),
        Original::File {
            digest,
            mode,
            uid,
            gid,
        } => {
            let copy = Ledger::original_path(digest)?;
            let Some(bytes) = probe.read(&copy)? else {
                return Err(ProbeError::Read {
                    path: copy,
                    reason: format!("the kept original of {path} is not there"),
                });
            };
            if crate::action::digest(&bytes) != *digest {
                return Err(ProbeError::Read {
                    path: copy,
                    reason: format!("the kept original of {path} was damaged"),
                });
            }
            let action = Action::WriteFile {
                path,
                content: Content(bytes.clone()),
                mode: *mode,
                uid: *uid,
                gid: *gid,
                expect: seen.expect(),
            };
            (action, json!({ "original": seen.path }), Some(bytes))
        }
    })
}

fn give_back_value(out: &mut Plan, path: &HostPath, owned: &crate::ledger::OwnedLive, probe: &dyn Probe) {
    out.forgets.push(path.clone());
    let Some(now) = probe.attribute(path) else { return };
    let same = now.split_whitespace().eq(owned.original.split_whitespace());
    if same {
        return;
    }
    let pointer = Pointer::of(&owned.section).key(&path.as_str().replacen("/proc/sys/", "", 1));
    out.changes
        .push(Change::now(pointer.clone(), now.clone(), owned.original.clone()));
    out.steps.push(Step {
        section: owned.section.clone(),
        action: Action::Sysctl {
            path: path.clone(),
            value: owned.original.clone(),
        },
        undo: Some(Action::Sysctl {
            path: path.clone(),
            value: now,
        }),
        because: vec![pointer],
        disturbs: Vec::new(),
    });
}
