//! The response: one JSON object.

use crate::plan::{Change, Diff, Disturbance, Pending, Step};
use crate::problem::Problem;
use crate::request::Operation;
use serde::Serialize;
use serde_json::Value;

/// What became of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Not done yet.
    Planned,
    /// Done.
    Done,
    /// Failed.
    Failed,
    /// Done and taken back.
    Undone,
}

/// A step as reported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepReport {
    /// The section.
    pub section: String,
    /// The action's name.
    pub action: &'static str,
    /// What it acts on.
    pub target: String,
    /// What it disturbs.
    pub disturbs: Vec<Disturbance>,
    /// What became of it.
    pub status: Status,
}

impl StepReport {
    /// A planned step.
    pub fn planned(step: &Step) -> Self {
        Self {
            section: step.section.clone(),
            action: step.action.verb(),
            target: step.action.target(),
            disturbs: step.disturbs.clone(),
            status: Status::Planned,
        }
    }
}

/// One check of `verify`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Check {
    /// What is checked.
    pub name: String,
    /// Level, from `L0` (hardware) to `L5` (RDMA traffic).
    pub level: &'static str,
    /// What is wanted.
    pub wanted: Value,
    /// What was found.
    pub found: Value,
    /// Whether they agree.
    pub ok: bool,
    /// What to do when they do not.
    pub advice: String,
}

/// How a run ended: its exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done as asked, changed or not.
    Done,
    /// Tried and failed.
    Failed,
    /// The request was refused; nothing was touched.
    RequestRefused,
    /// The host was refused; nothing was touched.
    HostRefused,
    /// A bug.
    Bug,
}

impl Exit {
    /// The process exit status.
    pub const fn status(self) -> i32 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::RequestRefused => 2,
            Self::HostRefused => 3,
            Self::Bug => 70,
        }
    }
}

/// The whole response.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Response {
    /// `ibplan/v1`
    pub api: &'static str,
    /// Program and version, `ibplan-host 0.1.0`.
    pub tool: String,
    /// The operation; null when it could not be read.
    pub operation: Option<&'static str>,
    /// Whether it went as asked.
    pub ok: bool,
    /// Whether the host is (or, for a plan, would be) different.
    pub changed: bool,
    /// What differs, the same list from `plan` and `apply`.
    pub changes: Vec<Change>,
    /// Files before and after.
    pub diff: Vec<Diff>,
    /// The steps.
    pub steps: Vec<StepReport>,
    /// What the administrator should know.
    pub warnings: Vec<Problem>,
    /// What is left to a reboot, a driver reload, an image builder or a link.
    pub pending: Pending,
    /// Why it did not go as asked.
    pub errors: Vec<Problem>,
    /// Facts of the host, for `facts`; results of `last` and `version` too.
    pub facts: Value,
    /// Checks, for `verify`.
    pub verify: Vec<Check>,
    /// The transaction's number, where there is one.
    pub transaction: Option<u32>,
}

impl Response {
    /// An empty response that went well.
    pub fn new(tool: impl Into<String>, operation: Option<Operation>) -> Self {
        Self {
            api: "ibplan/v1",
            tool: tool.into(),
            operation: operation.map(operation_word),
            ok: true,
            changed: false,
            changes: Vec::new(),
            diff: Vec::new(),
            steps: Vec::new(),
            warnings: Vec::new(),
            pending: Pending::default(),
            errors: Vec::new(),
            facts: Value::Object(serde_json::Map::new()),
            verify: Vec::new(),
            transaction: None,
        }
    }
}

/// The word of an operation.
pub const fn operation_word(operation: Operation) -> &'static str {
    match operation {
        Operation::Version => "version",
        Operation::Facts => "facts",
        Operation::Plan => "plan",
        Operation::Apply => "apply",
        Operation::Verify => "verify",
        Operation::Confirm => "confirm",
        Operation::Rollback => "rollback",
        Operation::Last => "last",
        Operation::Capture => "capture",
    }
}
