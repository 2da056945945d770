//! Problems: what is wrong, where, why, and what to do. Errors are the product.

use crate::pointer::Pointer;
use serde::{Serialize, Serializer};
use std::fmt;

/// A stable, dotted name of a kind of problem, with the paragraph that `ibplan explain` prints.
///
/// The first word is the section of the document, or `request`, `host`, `internal`.
#[derive(Clone, Copy)]
pub struct Code {
    id: &'static str,
    explain: &'static str,
}

impl Code {
    /// For the [`codes!`] macro only.
    #[doc(hidden)]
    pub const fn new(id: &'static str, explain: &'static str) -> Self {
        Self { id, explain }
    }

    /// The dotted name, such as `ipoib.mtu_above_fabric`.
    pub const fn id(self) -> &'static str {
        self.id
    }

    /// One paragraph: what the problem means, why ibplan refuses or warns, what to do.
    pub const fn explain(self) -> &'static str {
        self.explain
    }

    /// A problem of this kind.
    pub fn at(self, path: Pointer, message: impl Into<String>, hint: impl Into<String>) -> Problem {
        Problem {
            code: self,
            path,
            message: message.into(),
            hint: hint.into(),
        }
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

impl PartialEq for Code {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Code {}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.id)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Code {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Code".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        // Not the list of today's codes: a reader must take those of a later version.
        schemars::json_schema!({
            "type": "string",
            "pattern": "^[a-z_]+\\.[a-z0-9_]+$",
            "description": "Stable, dotted name of a kind of problem; docs/reference/codes.md explains each.",
        })
    }
}

/// Declares the problem codes of one room: a constant for each, and `ALL`, the list of them.
///
/// ```text
/// codes! {
///     /// The mode is not possible on this hardware.
///     MODE_IMPOSSIBLE = "ipoib.mode_impossible": "One paragraph for a tired person.",
/// }
/// ```
#[macro_export]
macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $id:literal : $explain:expr),+ $(,)?) => {
        $($(#[$doc])* pub const $name: $crate::problem::Code = $crate::problem::Code::new($id, $explain);)+
        /// Every code of this room.
        pub const ALL: &[$crate::problem::Code] = &[$($name),+];
    };
}

/// One thing that is wrong or worth a warning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Problem {
    /// Its kind.
    pub code: Code,
    /// Where in the document.
    pub path: Pointer,
    /// What is wrong and why.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} [{}]", self.path, self.message, self.code)
    }
}

/// A collector: checks add to it and go on, so that no problem hides another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// What makes the request refused.
    pub errors: Vec<Problem>,
    /// What the administrator should know.
    pub warnings: Vec<Problem>,
}

impl Findings {
    /// Adds an error.
    pub fn error(&mut self, code: Code, path: Pointer, message: impl Into<String>, hint: impl Into<String>) {
        self.errors.push(code.at(path, message, hint));
    }

    /// Adds a warning.
    pub fn warn(&mut self, code: Code, path: Pointer, message: impl Into<String>, hint: impl Into<String>) {
        self.warnings.push(code.at(path, message, hint));
    }
}
