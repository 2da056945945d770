//! A file that ibplan keeps: all of its bytes, its mode, its owner.

use crate::action::{Action, Content, Expect, digest};
use crate::codes;
use crate::plan::{Change, Claim, Diff, Plan, Step};
use crate::pointer::Pointer;
use crate::probe::{Kind, Meta, Probe, ProbeError};
use crate::types::HostPath;
use serde_json::json;
use std::collections::BTreeMap;

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Present {
    /// Nothing.
    Absent,
    /// A regular file.
    File {
        /// Mode and owner.
        meta: Meta,
        /// Its bytes.
        bytes: Vec<u8>,
    },
    /// A symbolic link, with its text.
    Link(String),
    /// A folder, device, FIFO or socket.
    Other(Kind),
}

/// A path as it is, with the folders above it that are not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenFile {
    /// The path.
    pub path: HostPath,
    /// What is there.
    pub present: Present,
    /// Missing folders above it, outermost first.
    pub missing: Vec<HostPath>,
    /// Something above it that is there and is no folder.
    pub blocked: Option<HostPath>,
}

impl SeenFile {
    /// Its text, when it is a file.
    pub fn text(&self) -> Option<String> {
        match &self.present {
            Present::File { bytes, .. } => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        }
    }

    /// What an action that replaces it must find.
    pub fn expect(&self) -> Expect {
        match &self.present {
            Present::Absent => Expect::Absent,
            Present::File { bytes, .. } => Expect::Digest(digest(bytes)),
            Present::Link(target) => Expect::Target(target.clone()),
            Present::Other(_) => Expect::Anything,
        }
    }

    /// The action that brings back what is here now, once `written` has replaced it.
    pub fn undo(&self, written: Expect) -> Option<Action> {
        let path = self.path.clone();
        match &self.present {
            Present::Absent => Some(Action::RemoveFile {
                path,
                expect: written,
            }),
            Present::File { meta, bytes } => Some(Action::WriteFile {
                path,
                content: Content(bytes.clone()),
                mode: meta.mode,
                uid: meta.uid,
                gid: meta.gid,
                expect: written,
            }),
            Present::Link(target) => Some(Action::MakeLink {
                path,
                target: target.clone(),
                expect: written,
            }),
            Present::Other(_) => None,
        }
    }
}

/// Reads what is at a path.
///
/// # Errors
/// It is there and cannot be read.
pub fn observe(probe: &dyn Probe, path: &HostPath) -> Result<SeenFile, ProbeError> {
    let present = match probe.meta(path)? {
        None => Present::Absent,
        Some(meta) => match meta.kind {
            Kind::File => match probe.read(path)? {
                Some(bytes) => Present::File { meta, bytes },
                None => Present::Absent,
            },
            Kind::Link => Present::Link(probe.link(path)?.unwrap_or_default()),
            kind => Present::Other(kind),
        },
    };
    let (mut missing, mut blocked) = (Vec::new(), None);
    if present == Present::Absent {
        let mut folder = path.parent();
        while let Some(at) = folder {
            match probe.meta(&at)?.map(|m| m.kind) {
                Some(Kind::Folder | Kind::Link) => break,
                Some(Kind::File | Kind::Other) => {
                    blocked = Some(at);
                    break;
                }
                None => {
                    folder = at.parent();
                    missing.push(at);
                }
            }
        }
        missing.reverse();
    }
    Ok(SeenFile {
        path: path.clone(),
        present,
        missing,
        blocked,
    })
}

/// How a file is to be.
#[derive(Clone, Debug)]
pub struct KeptFile {
    /// The section that keeps it.
    pub section: &'static str,
    /// All of its bytes.
    pub content: Vec<u8>,
    /// Permission bits; ignored for a foreign file that is there, which keeps its own.
    pub mode: u32,
    /// Paths of the changes that it serves. When it is empty and the file differs, one change is added, at `pointer`.
    pub because: Vec<Pointer>,
    /// Where in the document the file comes from.
    pub pointer: Pointer,
    /// For a foreign file edited by keys: the keys and what they were before ibplan.
    pub keys: Option<BTreeMap<String, Option<String>>>,
    /// Hides secrets in the diff.
    pub mask: Option<fn(&str) -> String>,
}

impl KeptFile {
    /// An own file, mode 0644, root's.
    pub fn own(
        section: &'static str,
        content: impl Into<Vec<u8>>,
        pointer: Pointer,
        because: Vec<Pointer>,
    ) -> Self {
        Self {
            section,
            content: content.into(),
            mode: 0o644,
            because,
            pointer,
            keys: None,
            mask: None,
        }
    }

    /// The same with other permission bits.
    #[must_use]
    pub fn mode(mut self, mode: u32) -> Self {
        self.mode = mode;
        self
    }

    /// A foreign file edited by keys: owner and mode stay, the keys are remembered.
    #[must_use]
    pub fn keyed(mut self, keys: BTreeMap<String, Option<String>>) -> Self {
        self.keys = Some(keys);
        self
    }
}

/// Plans that a file is as wanted. Claims it; adds steps, diff and (where no room named a change) a change.
pub fn keep(plan: &mut Plan, seen: &SeenFile, want: KeptFile) {
    if let Some(problem) = obstacle(seen, &want.pointer) {
        plan.errors.push(problem);
        return;
    }
    plan.claims.push(Claim::File {
        path: seen.path.clone(),
        section: want.section.to_owned(),
        keys: want.keys.clone().unwrap_or_default(),
    });
    let foreign = want.keys.is_some();
    let (mode, uid, gid) = match &seen.present {
        Present::File { meta, .. } if foreign => (meta.mode, meta.uid, meta.gid),
        _ => (want.mode, 0, 0),
    };
    if let Present::File { meta, bytes } = &seen.present
        && *bytes == want.content
        && (meta.mode, meta.uid, meta.gid) == (mode, uid, gid)
    {
        return;
    }
    let because = reasons(plan, seen, &want, mode, uid, gid);
    folders(plan, seen, want.section, &because);
    plan.diffs.push(diff(seen, Some(&want.content), want.mask));
    let written = Expect::Digest(digest(&want.content));
    plan.steps.push(Step {
        section: want.section.to_owned(),
        action: Action::WriteFile {
            path: seen.path.clone(),
            content: Content(want.content),
            mode,
            uid,
            gid,
            expect: seen.expect(),
        },
        undo: seen.undo(written),
        because,
        disturbs: Vec::new(),
    });
}

/// The change paths that a write serves; adds a change of the file itself when no room named one.
fn reasons(plan: &mut Plan, seen: &SeenFile, want: &KeptFile, mode: u32, uid: u32, gid: u32) -> Vec<Pointer> {
    if !want.because.is_empty() {
        return want.because.clone();
    }
    let (before, after) = match &seen.present {
        Present::File { meta, bytes } => {
            let side = |text: &str, mode: u32, uid: u32, gid: u32| {
                let mut side = json!({
                    "file": seen.path, "mode": format!("{mode:04o}"), "owner": format!("{uid}:{gid}"),
                });
                if *bytes != want.content {
                    side["text"] = text.into();
                }
                side
            };
            (
                side("another", meta.mode, meta.uid, meta.gid),
                side("as ibplan writes it", mode, uid, gid),
            )
        }
        _ => (serde_json::Value::Null, json!({ "file": seen.path })),
    };
    plan.changes
        .push(Change::now(want.pointer.clone(), before, after));
    vec![want.pointer.clone()]
}

/// Plans that nothing is at a path that ibplan does not own: a file that stands in the way of the wanted state.
pub fn remove(plan: &mut Plan, seen: &SeenFile, section: &'static str, because: &[Pointer]) {
    if seen.present == Present::Absent {
        return;
    }
    if let Present::Other(_) = seen.present {
        plan.errors
            .extend(obstacle(seen, because.first().unwrap_or(&Pointer::root())));
        return;
    }
    plan.claims.push(Claim::File {
        path: seen.path.clone(),
        section: section.to_owned(),
        keys: BTreeMap::new(),
    });
    plan.diffs.push(diff(seen, None, None));
    plan.steps.push(Step {
        section: section.to_owned(),
        action: Action::RemoveFile {
            path: seen.path.clone(),
            expect: seen.expect(),
        },
        undo: seen.undo(Expect::Absent),
        because: because.to_vec(),
        disturbs: Vec::new(),
    });
}

/// Plans that a symbolic link with this text is at a path.
pub fn keep_link(plan: &mut Plan, seen: &SeenFile, target: &str, section: &'static str, because: &[Pointer]) {
    match &seen.present {
        Present::Link(now) if now == target => {}
        Present::Absent | Present::Link(_) => {
            folders(plan, seen, section, because);
            plan.steps.push(Step {
                section: section.to_owned(),
                action: Action::MakeLink {
                    path: seen.path.clone(),
                    target: target.to_owned(),
                    expect: seen.expect(),
                },
                undo: seen.undo(Expect::Target(target.to_owned())),
                because: because.to_vec(),
                disturbs: Vec::new(),
            });
        }
        Present::File { .. } | Present::Other(_) => {
            plan.errors.push(codes::HOST_IN_THE_WAY.at(
                because.first().cloned().unwrap_or_default(),
                format!("{} is not a symbolic link", seen.path),
                "look at what it is, move it away, and run again",
            ));
            return;
        }
    }
    plan.claims.push(Claim::File {
        path: seen.path.clone(),
        section: section.to_owned(),
        keys: BTreeMap::new(),
    });
}

/// Plans the folders that are missing above a path, unless a step before makes them.
fn folders(plan: &mut Plan, seen: &SeenFile, section: &str, because: &[Pointer]) {
    for folder in &seen.missing {
        let made = |s: &Step| matches!(&s.action, Action::MakeFolder { path, .. } if path == folder);
        if plan.steps.iter().any(made) {
            continue;
        }
        plan.steps.push(Step {
            section: section.to_owned(),
            action: Action::MakeFolder {
                path: folder.clone(),
                mode: 0o755,
            },
            undo: Some(Action::RemoveFolder { path: folder.clone() }),
            because: because.to_vec(),
            disturbs: Vec::new(),
        });
    }
}

/// Why a path cannot be written: a link planted there, or something that is no file.
fn obstacle(seen: &SeenFile, pointer: &Pointer) -> Option<crate::problem::Problem> {
    if let Some(above) = &seen.blocked {
        return Some(codes::HOST_IN_THE_WAY.at(
            pointer.clone(),
            format!("{} cannot be made: {above} is there and is no folder", seen.path),
            "look at what it is; if the host has another network back end or layout, name that one",
        ));
    }
    match &seen.present {
        Present::Link(target) => Some(codes::HOST_LINK_AT_TARGET.at(
            pointer.clone(),
            format!(
                "{} is a symbolic link to {}, and ibplan writes through no link",
                seen.path,
                target.escape_debug()
            ),
            "find out who made the link; remove it, or manage the file that it points to by other means",
        )),
        Present::Other(_) => Some(codes::HOST_IN_THE_WAY.at(
            pointer.clone(),
            format!("{} is there and is not a regular file", seen.path),
            "look at what it is, move it away, and run again",
        )),
        _ => None,
    }
}

/// A diff of a file for people.
pub fn diff(seen: &SeenFile, after: Option<&[u8]>, mask: Option<fn(&str) -> String>) -> Diff {
    let show = |text: String| mask.map_or_else(|| text.clone(), |hide| hide(&text));
    let before = match &seen.present {
        Present::Link(target) => format!("-> {target}\n"),
        _ => seen.text().unwrap_or_default(),
    };
    let absent = format!("{} (absent)", seen.path);
    Diff {
        before_header: if seen.present == Present::Absent {
            absent.clone()
        } else {
            seen.path.to_string()
        },
        after_header: if after.is_some() {
            seen.path.to_string()
        } else {
            absent
        },
        before: show(before),
        after: show(
            after
                .map(|b| String::from_utf8_lossy(b).into_owned())
                .unwrap_or_default(),
        ),
    }
}
