//! A document from which mistakes are taken out, while everything else keeps its place.

use crate::pointer::Pointer;
use serde_json::Value;
use serde_path_to_error::{Path, Segment};

/// The value at a place.
pub(super) fn at_place<'a>(value: &'a mut Value, place: &[Key]) -> Option<&'a mut Value> {
    place.iter().try_fold(value, |at, key| match key {
        Key::Name(name) => at.get_mut(name),
        Key::Index(index) => at.get_mut(index),
    })
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Name(String),
    Index(usize),
}

pub(super) fn keys(path: &Path) -> Vec<Key> {
    path.iter()
        .filter_map(|segment| match segment {
            Segment::Seq { index } => Some(Key::Index(*index)),
            Segment::Map { key } => Some(Key::Name(key.clone())),
            Segment::Enum { .. } | Segment::Unknown => None,
        })
        .collect()
}

pub(super) fn pointer(base: &Pointer, keys: &[Key]) -> Pointer {
    keys.iter().fold(base.clone(), |at, key| match key {
        Key::Name(name) => at.key(name),
        Key::Index(index) => at.index(*index),
    })
}

/// A value from which parts are taken out, while every remaining list element keeps its first index.
pub(super) struct Tree {
    pub(super) value: Value,
    /// For each list from which elements were taken out (by its present path): the first indexes of what is left.
    lists: Vec<(Vec<Key>, Vec<usize>)>,
    /// What was taken out, by its path in the text.
    pub(super) taken: Vec<Vec<Key>>,
}

impl Tree {
    pub(super) const fn new(value: Value) -> Self {
        Self {
            value,
            lists: Vec::new(),
            taken: Vec::new(),
        }
    }

    /// The path as it was in the text.
    pub(super) fn original(&self, place: &[Key]) -> Vec<Key> {
        let mut out = Vec::with_capacity(place.len());
        for key in place {
            let key = match key {
                Key::Index(i) => {
                    let list = self.lists.iter().find(|(path, _)| *path == out);
                    Key::Index(list.and_then(|(_, left)| left.get(*i).copied()).unwrap_or(*i))
                }
                name => name.clone(),
            };
            out.push(key);
        }
        out
    }

    /// Takes out the value at a path (or, where it is already gone, the one that holds it). `false`: it was the root.
    pub(super) fn take_out(&mut self, place: &[Key]) -> bool {
        let Some((last, above)) = place.split_last() else {
            return false;
        };
        let list = self.original(above);
        let whole = self.original(place);
        let Some(holder) = at_place(&mut self.value, above) else {
            return self.take_out(above);
        };
        match (last, holder) {
            (Key::Name(name), Value::Object(members)) if members.contains_key(name) => {
                members.remove(name);
                self.taken.push(whole);
                true
            }
            (Key::Index(index), Value::Array(items)) if *index < items.len() => {
                let before = items.len();
                items.remove(*index);
                self.taken.push(whole);
                match self.lists.iter_mut().find(|(path, _)| *path == list) {
                    Some((_, left)) => drop(left.remove(*index)),
                    None => self
                        .lists
                        .push((list, (0..before).filter(|i| i != index).collect())),
                }
                true
            }
            _ => self.take_out(above),
        }
    }
}
