//! YAML, read strictly, with the place of every value.
//!
//! The events come from `saphyr-parser`; what they mean is decided here: YAML 1.2 core schema, no key twice, nothing that
//! YAML 1.1 (PyYAML, so Ansible and Salt) would read as something else. `docs/decisions/0002-yaml.md` says why.

mod read;
mod scalar;

pub(crate) use read::read;

use ibplan_core::pointer::Pointer;
use ibplan_core::problem::Problem;
use ibplan_core::request::MAX_DEPTH;
use serde_json::{Map, Value};
use std::rc::Rc;

/// Most values that aliases and merges may unfold to.
pub(crate) const MAX_UNFOLDED: usize = 100_000;

/// Where something stands in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Line, from 1.
    pub(crate) line: usize,
    /// Column in characters, from 1.
    pub(crate) column: usize,
    /// Characters to underline, at least 1.
    pub(crate) width: usize,
}

/// A value with its place.
#[derive(Debug)]
pub(crate) struct Node {
    place: Place,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Scalar(Value),
    List(Vec<Rc<Node>>),
    Map(Vec<Member>),
}

/// A key with its value.
#[derive(Clone, Debug)]
struct Member {
    key: String,
    place: Place,
    value: Rc<Node>,
}

/// A problem and, where it is known, its place.
#[derive(Clone, Debug)]
pub(crate) struct Located {
    /// What is wrong.
    pub(crate) problem: Problem,
    /// Where.
    pub(crate) place: Option<Place>,
}

impl Node {
    /// The value, aliases unfolded.
    ///
    /// # Errors
    /// It unfolds to more than [`MAX_UNFOLDED`] values beyond those written, or is too deep.
    pub(crate) fn value(&self, written: usize) -> Result<Value, Box<Located>> {
        let mut left = written.saturating_add(MAX_UNFOLDED);
        self.unfold(&Pointer::root(), 0, &mut left)
    }

    fn unfold(&self, at: &Pointer, depth: usize, left: &mut usize) -> Result<Value, Box<Located>> {
        let Some(fewer) = left.checked_sub(1) else {
            return Err(self.refuse(read::too_many(at.clone())));
        };
        *left = fewer;
        if depth > MAX_DEPTH {
            return Err(self.refuse(read::too_deep(at.clone())));
        }
        Ok(match &self.kind {
            Kind::Scalar(value) => value.clone(),
            Kind::List(items) => Value::Array(
                items
                    .iter()
                    .enumerate()
                    .map(|(i, item)| item.unfold(&at.index(i), depth + 1, left))
                    .collect::<Result<_, _>>()?,
            ),
            Kind::Map(members) => {
                let mut map = Map::new();
                for member in members {
                    let value = member.value.unfold(&at.key(&member.key), depth + 1, left)?;
                    map.insert(member.key.clone(), value);
                }
                Value::Object(map)
            }
        })
    }

    fn refuse(&self, problem: Problem) -> Box<Located> {
        Box::new(Located {
            problem,
            place: Some(self.place),
        })
    }

    /// Where the thing that a pointer names stands: a scalar itself, the key of a longer value (or the first line of a
    /// list element). What is not there is shown at the nearest thing around it that is.
    pub(crate) fn locate(&self, pointer: &Pointer, key_is_meant: bool) -> Place {
        let mut at = self;
        let mut place = self.place;
        let mut words = pointer.as_str().split('/').skip(1).peekable();
        while let Some(word) = words.next() {
            let word = word.replace("~1", "/").replace("~0", "~");
            match &at.kind {
                Kind::Map(members) => {
                    let Some(member) = members.iter().rev().find(|m| m.key == word) else {
                        return place;
                    };
                    at = &member.value;
                    let last = words.peek().is_none();
                    let value_is_meant = matches!(at.kind, Kind::Scalar(_)) && !(last && key_is_meant);
                    place = if value_is_meant { at.place } else { member.place };
                }
                Kind::List(items) => {
                    let Some(item) = word.parse().ok().and_then(|i: usize| items.get(i)) else {
                        return place;
                    };
                    at = item;
                    place = at.place;
                }
                Kind::Scalar(_) => return place,
            }
        }
        place
    }
}

#[cfg(test)]
mod tests;
