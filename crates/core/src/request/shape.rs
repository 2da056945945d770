//! From untyped JSON to types, without stopping at the first mistake.
//!
//! serde stops at the first mistake. So a mistake is written down, the value that holds it is taken out, and the rest is
//! read again, until it can be read or nothing is left to take out.

use super::missing;
use super::strict::Strict;
use super::tree::{Key, Tree, keys, pointer};
use crate::codes;
use crate::pointer::Pointer;
use crate::problem::Problem;
use crate::state::HostState;
use crate::types::unpack_refusal;
use serde::de::DeserializeOwned;
use serde_json::Value;

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
        let (place, text) = match read::<T>(&tree.value) {
            Ok(typed) => {
                let gaps = tree.taken.iter().map(|keys| pointer(base, keys)).collect();
                return (Some(typed), gaps);
            }
            Err(error) => error,
        };
        let original = tree.original(&place);
        // A field that is missing, or a list that is empty, only because a mistake in it was taken out is no new mistake.
        if let Some(field) = missing_field(&text) {
            let fields = missing::all::<T>(&tree.value, &place, field);
            let new = |f: &String| !blamed.contains(&[original.clone(), vec![Key::Name(f.clone())]].concat());
            errors.extend(
                fields
                    .iter()
                    .filter(|f| new(f))
                    .map(|f| missing_problem(pointer(base, &original), f)),
            );
        } else if !blamed
            .iter()
            .any(|b| b.len() > original.len() && b.starts_with(&original))
        {
            errors.push(problem(base, &original, &text));
        }
        blamed.push(original);
        if !tree.take_out(&place) {
            return (None, Vec::new());
        }
    }
    (None, Vec::new())
}

/// Reads a value as a type; the error is the place of the first mistake and what serde says of it.
pub(super) fn read<T: DeserializeOwned>(value: &Value) -> Result<T, (Vec<Key>, String)> {
    serde_path_to_error::deserialize(Strict(value)).map_err(|e| (keys(e.path()), e.inner().to_string()))
}

/// The field that serde says is missing.
pub(super) fn missing_field(text: &str) -> Option<String> {
    quoted_after(text, "missing field ")
}

fn missing_problem(at: Pointer, field: &str) -> Problem {
    codes::REQUEST_MISSING_FIELD.at(
        at,
        format!("the field `{field}` is missing"),
        format!("add `{field}`; `ibplan schema` tells what it means"),
    )
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
        other => {
            return Some((
                format!("{found} stands here; expected: {other}"),
                "`ibplan schema` tells what this field takes",
            ));
        }
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
                "/sysctl/net.core.rmem_max: null stands here; expected: an integer, text, or a list of integers; `ibplan schema` tells what this field takes",
                "/sysctl/net.core.wmem_max: the number 1.5 stands here; expected: an integer, text, or a list of integers; `ibplan schema` tells what this field takes",
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
