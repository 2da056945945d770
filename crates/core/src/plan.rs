//! A plan: what differs, in the document's terms, and the steps between.

use crate::action::{Action, UnitDo};
use crate::pointer::Pointer;
use crate::problem::Problem;
use crate::types::HostPath;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// When a change takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// With the apply.
    Now,
    /// When the link is next brought up by its back end.
    LinkUp,
    /// When the driver is next loaded.
    DriverReload,
    /// With the next boot.
    Reboot,
}

/// One difference between the document and the host, in the document's terms.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Change {
    /// The section.
    pub section: String,
    /// A pointer into the document.
    pub path: Pointer,
    /// What the host has; null for nothing.
    pub before: Value,
    /// What it will have; null for nothing.
    pub after: Value,
    /// When it takes effect.
    pub when: When,
}

impl Change {
    /// A change that takes effect with the apply; the section is the first word of the path.
    pub fn now(path: Pointer, before: impl Into<Value>, after: impl Into<Value>) -> Self {
        Self {
            section: path.section().to_owned(),
            path,
            before: before.into(),
            after: after.into(),
            when: When::Now,
        }
    }

    /// The same, effective later.
    #[must_use]
    pub fn later(mut self, when: When) -> Self {
        self.when = when;
        self
    }
}

/// What a step disturbs while it runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Disturbance {
    /// A link loses traffic.
    Link(String),
    /// A service is restarted.
    Service(String),
    /// The subnet manager of a fabric is away for a moment.
    SubnetManager(String),
}

/// One action with its undo and its reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The section whose room planned it.
    pub section: String,
    /// What is done.
    pub action: Action,
    /// What takes it back; `None` only where nothing has to be (a unit reload) or nothing can (named in the plan).
    pub undo: Option<Action>,
    /// The paths of the changes that it serves: never empty (law 4).
    pub because: Vec<Pointer>,
    /// What it disturbs.
    pub disturbs: Vec<Disturbance>,
}

/// The order in which steps are taken back: the last first, but what starts or restarts a unit comes after everything else, so
/// that no service starts on the configuration that is just being taken back.
pub fn undo_order<'a>(undos: impl IntoIterator<Item = Option<&'a Action>>) -> Vec<usize> {
    let starts = |undo: Option<&Action>| {
        matches!(
            undo,
            Some(Action::Unit {
                act: UnitDo::Start | UnitDo::Restart | UnitDo::Reload,
                ..
            })
        )
    };
    let (late, mut order): (Vec<_>, Vec<_>) =
        undos.into_iter().enumerate().partition(|(_, undo)| starts(*undo));
    order.reverse();
    order
        .into_iter()
        .chain(late.into_iter().rev())
        .map(|(at, _)| at)
        .collect()
}

/// A file as shown in a diff: the shape that Ansible prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Diff {
    /// The path, or a note that the file is not there.
    pub before_header: String,
    /// The path, or a note that the file is removed.
    pub after_header: String,
    /// Text before.
    pub before: String,
    /// Text after.
    pub after: String,
}

/// What stays to be done by somebody else, or by time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pending {
    /// What the next boot brings.
    pub reboot: Vec<String>,
    /// What the next load of a driver brings.
    pub driver_reload: Vec<String>,
    /// Packages to be installed in an image by whoever builds it.
    pub packages: Vec<String>,
    /// Links that take their new configuration when they are next brought up.
    pub links: Vec<String>,
}

/// That ibplan keeps something, so that it can give it back when it leaves the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// A whole file or link.
    File {
        /// Which.
        path: HostPath,
        /// The section that keeps it.
        section: String,
        /// For a foreign file edited by keys: the keys and what they were before ibplan (`None`: not there).
        keys: BTreeMap<String, Option<String>>,
    },
    /// A live value below /proc/sys.
    Live {
        /// Which.
        path: HostPath,
        /// The section that keeps it.
        section: String,
        /// What it was when this plan was made.
        seen: String,
    },
}

/// What a room, or all rooms together, would do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// What differs.
    pub changes: Vec<Change>,
    /// What is done about it.
    pub steps: Vec<Step>,
    /// Files before and after.
    pub diffs: Vec<Diff>,
    /// What is left to others.
    pub pending: Pending,
    /// What the administrator should know.
    pub warnings: Vec<Problem>,
    /// Why the host cannot be brought there; nothing is done when this is not empty.
    pub errors: Vec<Problem>,
    /// What is kept.
    pub claims: Vec<Claim>,
    /// Paths that leave the ledger with this plan.
    pub forgets: Vec<HostPath>,
}

impl Plan {
    /// Whether something differs that an apply acts on.
    pub fn changed(&self) -> bool {
        !self.steps.is_empty()
    }

    /// Appends the plan of the next room. A folder that an earlier step makes is not made twice, and systemd reads its
    /// files again once, after the last of them is written.
    pub fn append(&mut self, next: Self) {
        self.changes.extend(next.changes);
        for step in next.steps {
            let twice = matches!(step.action, Action::MakeFolder { .. })
                && self.steps.iter().any(|s| {
                    s.action.target() == step.action.target() && s.action.verb() == step.action.verb()
                });
            if !twice {
                self.steps.push(step);
            }
        }
        self.diffs.extend(next.diffs);
        for (mine, theirs) in [
            (&mut self.pending.reboot, next.pending.reboot),
            (&mut self.pending.driver_reload, next.pending.driver_reload),
            (&mut self.pending.packages, next.pending.packages),
            (&mut self.pending.links, next.pending.links),
        ] {
            // In the order of the rooms' work: a parent link comes before its children.
            for item in theirs {
                if !mine.contains(&item) {
                    mine.push(item);
                }
            }
        }
        self.warnings.extend(next.warnings);
        self.errors.extend(next.errors);
        self.claims.extend(next.claims);
        self.forgets.extend(next.forgets);
    }
}
