//! From untyped JSON to types, without stopping at the first mistake.
//!
//! serde stops at the first mistake. So a mistake is written down, the value that holds it is taken out, and the rest is
//! read again, until it can be read or nothing is left to take out.

use super::strict::Strict;
use crate::codes;
use crate::pointer::Pointer;
use crate::problem::Problem;
use crate::state::HostState;
use crate::types::unpack_refusal;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::{Path, Segment};

/// More mistakes than a person mends in one go.
const MOST: usize = 100;

/// Longest word of a document that is quoted or compared with the choices, in bytes.
const LONGEST: usize = 200;

/// Longest message in bytes.
const MESSAGE: usize = 2000;

/// Reads a host document. The state is `None` when not even a part of it could be read.
pub fn read_document(value: Value, base: &Pointer) -> (Option<HostState>, Vec<Problem>) {
    let read = read_what_can_be(value, base);
    (read.state, read.mistakes)
}

/// A document as far as it could be read.
#[derive(Clone, Debug, Default)]
pub struct Partly {
    /// The state; `None` when not even a part could be read.
    pub state: Option<HostState>,
    /// Every mistake of shape.
    pub mistakes: Vec<Problem>,
    /// What is missing from the state because it could not be read.
    pub gaps: Vec<Pointer>,
}

/// Reads a host document as far as it can be read.
pub fn read_what_can_be(value: Value, base: &Pointer) -> Partly {
    let mut mistakes = Vec::new();
    let (state, gaps) = typed_partly(value, base, &mut mistakes);
    Partly {
        state,
        mistakes,
        gaps,
    }
}

/// Reads a `T`, collecting every mistake; what could be read comes back even when there were mistakes.
pub(super) fn typed<T: DeserializeOwned>(
    value: Value,
    base: &Pointer,
    errors: &mut Vec<Problem>,
) -> Option<T> {
    typed_partly(value, base, errors).0
}

/// The same, and what was taken out.
fn typed_partly<T: DeserializeOwned>(
    value: Value,
    base: &Pointer,
    errors: &mut Vec<Problem>,
) -> (Option<T>, Vec<Pointer>) {
    let mut tree = Tree::new(value);
    let mut blamed: Vec<Vec<Key>> = Vec::new();
    for _ in 0..MOST {
        let error = match serde_path_to_error::deserialize::<_, T>(Strict(&tree.value)) {
            Ok(typed) => {
                let gaps = tree.taken.iter().map(|keys| pointer(base, keys)).collect();
                return (Some(typed), gaps);
            }
            Err(error) => error,
        };
        let place = keys(error.path());
        let text = error.inner().to_string();
        let original = tree.original(&place);
        // A field that is missing, or a list that is empty, only because a mistake in it was taken out is no new mistake.
        let consequence = match quoted_after(&text, "missing field ") {
            Some(field) => blamed.contains(&[original.clone(), vec![Key::Name(field)]].concat()),
            None => blamed
                .iter()
                .any(|b| b.len() > original.len() && b.starts_with(&original)),
        };
        if !consequence {
            errors.push(problem(base, &original, &text));
        }
        blamed.push(original);
        if !tree.take_out(&place) {
            return (None, Vec::new());
        }
    }
    (None, Vec::new())
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Key {
    Name(String),
    Index(usize),
}

fn keys(path: &Path) -> Vec<Key> {
    path.iter()
        .filter_map(|segment| match segment {
            Segment::Seq { index } => Some(Key::Index(*index)),
            Segment::Map { key } => Some(Key::Name(key.clone())),
            Segment::Enum { .. } | Segment::Unknown => None,
        })
        .collect()
}

fn pointer(base: &Pointer, keys: &[Key]) -> Pointer {
    keys.iter().fold(base.clone(), |at, key| match key {
        Key::Name(name) => at.key(name),
        Key::Index(index) => at.index(*index),
    })
}

/// A value from which parts are taken out, while every remaining list element keeps its first index.
struct Tree {
    value: Value,
    /// For each list from which elements were taken out (by its present path): the first indexes of what is left.
    lists: Vec<(Vec<Key>, Vec<usize>)>,
    /// What was taken out, by its path in the text.
    taken: Vec<Vec<Key>>,
}

impl Tree {
    const fn new(value: Value) -> Self {
        Self {
            value,
            lists: Vec::new(),
            taken: Vec::new(),
        }
    }

    /// The path as it was in the text.
    fn original(&self, place: &[Key]) -> Vec<Key> {
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
    fn take_out(&mut self, place: &[Key]) -> bool {
        let Some((last, above)) = place.split_last() else {
            return false;
        };
        let list = self.original(above);
        let whole = self.original(place);
        let Some(holder) = above.iter().try_fold(&mut self.value, |at, key| match key {
            Key::Name(name) => at.get_mut(name),
            Key::Index(index) => at.get_mut(index),
        }) else {
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

/// The text between the first pair of backquotes after `lead`.
fn quoted_after(text: &str, lead: &str) -> Option<String> {
    let rest = text.strip_prefix(lead)?.strip_prefix('`')?;
    rest.split_once('`').map(|(word, _)| word.to_owned())
}

/// The problem at a place, its message cut where it quotes too much.
fn problem(base: &Pointer, place: &[Key], text: &str) -> Problem {
    let mut problem = whole_problem(base, place, text);
    problem.message = cut(problem.message, MESSAGE);
    problem.hint = cut(problem.hint, MESSAGE);
    problem
}

/// The beginning of a text that is too long to be told whole.
fn cut(text: String, limit: usize) -> String {
    if text.len() <= limit {
        return text;
    }
    let end = (0..=limit)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0);
    format!("{}…", &text[..end])
}

fn whole_problem(base: &Pointer, place: &[Key], text: &str) -> Problem {
    let at = pointer(base, place);
    if let Some(field) = quoted_after(text, "missing field ") {
        return codes::REQUEST_MISSING_FIELD.at(
            at,
            format!("the field `{field}` is missing"),
            format!("add `{field}`; `ibplan schema` tells what it means"),
        );
    }
    if let Some(field) = quoted_after(text, "unknown field ") {
        return unknown_field(at, base, &field, text);
    }
    if let Some(word) = quoted_after(text, "unknown variant ") {
        let words = choices(text);
        let hint = nearest(&word, &words).map_or_else(
            || format!("give one of {}", words.join(", ")),
            |near| format!("did you mean `{near}`? The choices are {}", words.join(", ")),
        );
        let code = match place.last() {
            Some(Key::Name(n)) if n == "operation" => codes::REQUEST_OPERATION,
            Some(Key::Name(n)) if n == "api" => codes::REQUEST_API,
            _ => codes::REQUEST_SHAPE,
        };
        return code.at(
            at,
            format!(
                "\"{}\" is not one of the choices",
                cut(word, LONGEST).escape_debug()
            ),
            hint,
        );
    }
    if let Some((message, hint)) = wrong_type(text) {
        return codes::REQUEST_SHAPE.at(at, message, hint);
    }
    let (message, hint) = unpack_refusal(text);
    let hint = hint.unwrap_or("`ibplan schema` tells what this field takes");
    codes::REQUEST_SHAPE.at(at, message, hint)
}

/// serde's word on a value of a wrong type, in ours, and what to do.
fn wrong_type(text: &str) -> Option<(String, &'static str)> {
    let (found, wanted) = text.strip_prefix("invalid type: ")?.split_once(", expected ")?;
    let (kind, value) = found.split_once(['`', '"']).map_or((found, ""), |(kind, rest)| {
        (kind.trim_end(), rest.trim_end_matches(['`', '"']))
    });
    let number = matches!(kind, "integer" | "floating point");
    let found = match kind {
        "string" => format!("the text \"{value}\""),
        "boolean" => format!("the word {value}"),
        "null" | "unit value" | "Option value" => "null".to_owned(),
        "map" => "an object".to_owned(),
        "sequence" => "a list".to_owned(),
        _ if number => format!("the number {value}"),
        other => other.to_owned(),
    };
    let (wanted, hint) = match wanted {
        "a string" | "a borrowed string" if number || kind == "boolean" => ("a text", "put it in quotes"),
        "a string" | "a borrowed string" => ("a text", "give one text"),
        "a sequence" => ("a list", "put it in square brackets, even if it is only one"),
        "a map" => ("an object", "give fields and values, such as {name: value}"),
        "a boolean" => ("a boolean", "give true or false, without quotes"),
        other => (other, "`ibplan schema` tells what this field takes"),
    };
    Some((format!("{found} stands where {wanted} belongs"), hint))
}

/// Sections of the contract that another version of ibplan manages.
const LATER: &[&str] = &[
    "stack",
    "device_access",
    "naming",
    "sriov",
    "cpu",
    "firmware",
    "kubernetes",
    "verify",
];

fn unknown_field(at: Pointer, base: &Pointer, field: &str, text: &str) -> Problem {
    let top = at.as_str() == format!("{base}/{field}");
    if top && base.as_str().is_empty() && LATER.contains(&field) {
        return codes::REQUEST_SECTION_NOT_SERVED.at(
            at,
            format!("the section `{field}` is not managed by this version of ibplan"),
            "take the section out; a document is obeyed as a whole or not at all",
        );
    }
    let fields = choices(text);
    let hint = nearest(field, &fields).map_or_else(
        || format!("the fields here are {}", fields.join(", ")),
        |near| format!("did you mean `{near}`? The fields here are {}", fields.join(", ")),
    );
    codes::REQUEST_UNKNOWN_FIELD.at(
        at,
        format!(
            "there is no field `{}` here",
            cut(field.to_owned(), LONGEST).escape_debug()
        ),
        hint,
    )
}

/// The backquoted words after the first one.
fn choices(text: &str) -> Vec<String> {
    text.split('`').skip(3).step_by(2).map(str::to_owned).collect()
}

/// The choice that a misspelt word most likely means.
fn nearest<'a>(word: &str, choices: &'a [String]) -> Option<&'a String> {
    // The comparison takes memory for every pair of letters.
    if word.len() > LONGEST {
        return None;
    }
    choices
        .iter()
        .map(|c| (strsim::damerau_levenshtein(word, c), c))
        .filter(|(d, c)| *d <= 1 + c.len() / 4)
        .min_by_key(|(d, _)| *d)
        .map(|(_, c)| c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn mistakes(document: Value) -> Vec<(String, &'static str)> {
        let (_, errors) = read_document(document, &Pointer::root());
        errors
            .into_iter()
            .map(|e| (e.path.to_string(), e.code.id()))
            .collect()
    }

    #[test]
    fn a_value_of_a_wrong_type_is_told_in_plain_words() {
        let (_, errors) = read_document(
            json!({
                "limits": {"memlock": "unlimited", "users": "root"},
                "subnet_manager": {"take_over": "yes", "instances": [{"port": {"guid": 0xb83f_d203_00aa_10c4_u64}}]},
                "sysctl": {"net.core.rmem_max": null, "net.core.wmem_max": 1.5},
            }),
            &Pointer::root(),
        );
        let mut told: Vec<String> = errors
            .iter()
            .map(|e| format!("{}: {}; {}", e.path, e.message, e.hint))
            .collect();
        told.sort();
        assert_eq!(
            told,
            [
                "/limits/users: the text \"root\" stands where a list belongs; put it in square brackets, even if it is only one",
                "/subnet_manager/instances/0/port/guid: the number 13276561136849391812 stands where a text belongs; put it in quotes",
                "/subnet_manager/take_over: the text \"yes\" stands where a boolean belongs; give true or false, without quotes",
                "/sysctl/net.core.rmem_max: null stands where an integer, text, or a list of integers belongs; `ibplan schema` tells what this field takes",
                "/sysctl/net.core.wmem_max: the number 1.5 stands where an integer, text, or a list of integers belongs; `ibplan schema` tells what this field takes",
            ]
        );
    }

    #[test]
    fn every_mistake_is_found_with_its_own_place() {
        let found = mistakes(json!({
            "ipoib": [
                {"interface": "ib0", "mtu": "big", "adresses": []},
                {"interface": "a/b"},
                {"interface": "ib2", "partitions": [{"pkey": 0}, {}, {"pkey": 5, "mode": "fast"}]},
                7,
                {"interface": "ib4", "mtuu": 5},
            ],
            "limits": {"memlock": 1},
            "sysctl": {"net.core.rmem_max": [1.5]},
            "stack": {"source": "inbox"},
            "colour": 1,
        }));
        let mut sorted = found.clone();
        sorted.sort();
        assert_eq!(
            sorted,
            [
                ("/colour", "request.unknown_field"),
                ("/ipoib/0/adresses", "request.unknown_field"),
                ("/ipoib/0/mtu", "request.shape"),
                ("/ipoib/1/interface", "request.shape"),
                ("/ipoib/2/partitions/0/pkey", "request.shape"),
                ("/ipoib/2/partitions/1", "request.missing_field"),
                ("/ipoib/2/partitions/2/mode", "request.shape"),
                ("/ipoib/3", "request.shape"),
                ("/ipoib/4/mtuu", "request.unknown_field"),
                ("/limits/memlock", "request.shape"),
                ("/stack", "request.section_not_served"),
                ("/sysctl/net.core.rmem_max/0", "request.shape"),
            ]
            .map(|(p, c)| (p.to_owned(), c))
        );
    }

    #[test]
    fn hints_name_the_nearest_field() {
        let (_, errors) = read_document(json!({"sysctl_profil": "ipoib_throughput"}), &Pointer::root());
        assert!(errors[0].hint.contains("`sysctl_profile`"), "{}", errors[0].hint);
        let (_, errors) = read_document(json!([]), &Pointer::root());
        assert_eq!(errors.len(), 1);
        let (_, errors) = read_document(json!({"subnet_manager": {"state": "runing"}}), &Pointer::root());
        assert!(errors[0].hint.contains("`running`"), "{}", errors[0].hint);
    }
}
