//! The request: from bytes to a typed document, with the pointer of every mistake.

mod json;
mod missing;
mod shape;
mod strict;
mod tree;

pub use json::{MAX_BYTES, MAX_DEPTH, parse_strict};
pub use shape::{Partly, read_document, read_what_can_be};

use crate::codes;
use crate::pointer::Pointer;
use crate::problem::{Findings, Problem};
use crate::state::HostState;
use crate::types::Num;
use serde::Deserialize;
use serde_json::Value;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Name and version of the program.
    Version,
    /// What the host is.
    Facts,
    /// What would be done. This is check mode.
    Plan,
    /// Do it.
    Apply,
    /// Is it so?
    Verify,
    /// Keep what an apply with `confirm_within_s` did.
    Confirm,
    /// Take a transaction back.
    Rollback,
    /// The last transactions.
    Last,
    /// Pack what the program reads.
    Capture,
}

/// What happens when a step fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// The finished steps are taken back in reverse order.
    #[default]
    Rollback,
    /// They are kept.
    Keep,
}

/// Options of a request.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// The root folder; any but `/` is image mode. Default: `/`.
    pub root: Option<String>,
    /// Seconds within which `confirm` must come, 10 to 3600; else the apply is rolled back. Default: none needed.
    pub confirm_within_s: Option<Num<10, 3600>>,
    /// Seconds to wait for another run, 0 to 3600. Default: 0.
    pub lock_timeout_s: Option<Num<0, 3600>>,
    /// Seconds that the whole run may take, 1 to 86400. Default: 600.
    pub deadline_s: Option<Num<1, 86400>>,
    /// Remove what has left the document, and give the originals back. Default: false.
    pub prune: bool,
    /// What happens when a step fails. Default: rollback. With `keep`, `rollback` leaves what cannot be taken back as it is.
    pub on_failure: OnFailure,
    /// For `rollback`, `confirm` and `last`: the transaction. Default: the newest.
    pub transaction: Option<Num<1, 4_294_967_295>>,
    /// The recorded live side of a captured host counts as live (`plan`, `facts`, `verify`). Default: false.
    pub replay: bool,
    /// For `capture`: the folder to write.
    pub output: Option<String>,
    /// For `capture`: replace names and addresses. Default: false.
    pub scrub: bool,
}

/// A request as sent: `desired` still untyped.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Envelope {
    /// `ibplan/v1`.
    pub api: crate::state::Api,
    /// What is asked for.
    pub operation: Operation,
    /// The host document; for `plan`, `apply` and `verify`.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "crate::state::HostState"))]
    pub desired: Option<Value>,
    /// Options.
    #[serde(default)]
    pub options: Options,
}

/// A request understood.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// What is asked for.
    pub operation: Operation,
    /// The host document; empty where none was given.
    pub desired: HostState,
    /// Options.
    pub options: Options,
}

/// Why a request was refused, with as much of it as was understood.
#[derive(Clone, Debug, Default)]
pub struct Refused {
    /// The operation, if that was clear.
    pub operation: Option<Operation>,
    /// Every mistake found.
    pub errors: Vec<Problem>,
    /// What could be read of the document.
    pub desired: Box<Partly>,
}

/// Reads a request. All mistakes of the envelope and of the document are collected.
///
/// # Errors
/// [`Refused`]: nothing was touched.
pub fn parse(bytes: &[u8]) -> Result<Request, Refused> {
    let refuse = |operation, errors, desired| Refused {
        operation,
        errors,
        desired: Box::new(desired),
    };
    let mut value =
        parse_strict(bytes).map_err(|e| refuse(None, vec![e.below_request()], Partly::default()))?;
    let mut errors = Vec::new();
    // The document is read on its own; in the envelope it is enough that there is one.
    let document = value.get_mut("desired").map(|document| match document {
        Value::Null => Value::Null,
        there => std::mem::replace(there, Value::Object(serde_json::Map::new())),
    });
    let operation = value
        .get("operation")
        .and_then(|o| serde_json::from_value(o.clone()).ok());
    let envelope: Option<Envelope> = shape::typed(value, &Pointer::of("request"), &mut errors);
    let mut read = match document {
        Some(document) => read_what_can_be(document, &Pointer::root()),
        None => Partly {
            state: Some(HostState::default()),
            ..Partly::default()
        },
    };
    errors.append(&mut read.mistakes);
    let Some(envelope) = envelope else {
        return Err(refuse(operation, errors, read));
    };
    errors.extend(option_rules(&envelope));
    match read.state.take_if(|_| errors.is_empty()) {
        Some(desired) => Ok(Request {
            operation: envelope.operation,
            desired,
            options: envelope.options,
        }),
        None => Err(refuse(Some(envelope.operation), errors, read)),
    }
}

/// Rules between operation and options.
fn option_rules(envelope: &Envelope) -> Vec<Problem> {
    let mut found = Findings::default();
    let at = |name: &str| Pointer::of("request").key("options").key(name);
    let (options, operation) = (&envelope.options, envelope.operation);
    let needs_document = matches!(operation, Operation::Plan | Operation::Apply | Operation::Verify);
    if needs_document && envelope.desired.is_none() {
        found.error(
            codes::REQUEST_MISSING_FIELD,
            Pointer::of("request").key("desired"),
            "the operation needs a host document",
            "send it as `desired`",
        );
    }
    if options.replay && !matches!(operation, Operation::Plan | Operation::Facts | Operation::Verify) {
        found.error(
            codes::REQUEST_OPTION,
            at("replay"),
            "a replayed host can be looked at, not changed",
            "use plan, facts or verify",
        );
    }
    let image = options.root.as_deref().is_some_and(|r| r != "/");
    if options.replay && !image {
        found.error(
            codes::REQUEST_OPTION,
            at("replay"),
            "replay needs a captured host",
            "give its folder as `root`",
        );
    }
    if options.confirm_within_s.is_some() && (image || operation != Operation::Apply) {
        found.error(
            codes::REQUEST_OPTION,
            at("confirm_within_s"),
            "only the apply on a running host can wait for a confirmation",
            "leave the option out",
        );
    }
    if options.output.is_some() != (operation == Operation::Capture) {
        found.error(
            codes::REQUEST_OPTION,
            at("output"),
            "`output` belongs to capture, and capture needs it",
            "give the folder to write",
        );
    }
    found.errors
}
