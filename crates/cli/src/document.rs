//! A document: one file in YAML or JSON.

use crate::yaml::{self, Located, Node, Place};
use ibplan_core::codes;
use ibplan_core::engine;
use ibplan_core::pointer::Pointer;
use ibplan_core::problem::Problem;
use ibplan_core::request::{MAX_BYTES, Partly, parse_strict, read_what_can_be};
use ibplan_core::rooms;
use serde_json::Value;
use std::fs::File;
use std::io::{self, Read};
use std::rc::Rc;

/// A file as read, for showing the place of a problem. The default has no name and no text: for commands without one.
#[derive(Default)]
pub(crate) struct Source {
    /// Its name, as given.
    pub(crate) name: String,
    /// Its text; empty when it could not be read.
    pub(crate) text: String,
    tree: Option<Rc<Node>>,
}

/// A document: its source, what it says, and what is wrong with the text.
pub(crate) struct Document {
    /// The source.
    pub(crate) source: Source,
    /// What it says, as far as it could be read.
    pub(crate) value: Option<Value>,
    /// Mistakes of the text.
    mistakes: Vec<Located>,
}

/// What the document alone shows to be wrong or doubtful.
#[derive(Clone)]
pub(crate) struct Checked {
    pub(crate) errors: Vec<Located>,
    pub(crate) warnings: Vec<Located>,
}

impl Source {
    /// Finds the place of a problem.
    pub(crate) fn locate(&self, problem: Problem) -> Located {
        let of_request = problem.path.section() == "request";
        let place = match &self.tree {
            Some(tree) if !of_request && !problem.path.as_str().is_empty() => {
                let key = [
                    codes::REQUEST_UNKNOWN_FIELD,
                    codes::REQUEST_SECTION_NOT_SERVED,
                    codes::REQUEST_DUPLICATE_KEY,
                ];
                Some(tree.locate(&problem.path, key.contains(&problem.code)))
            }
            _ => None,
        };
        Located { problem, place }
    }
}

impl Document {
    /// Reads a file, or standard input for `-`.
    pub(crate) fn load(file: &str) -> Self {
        let name = if file == "-" { "standard input" } else { file };
        match bytes(file) {
            Ok(bytes) => Self::of(name, bytes),
            Err(e) => Self::unread(
                name,
                codes::REQUEST_UNREADABLE.at(
                    Pointer::of("request"),
                    format!("{} cannot be read: {e}", name.escape_debug()),
                    "name a file that this user can read, or `-` for standard input",
                ),
            ),
        }
    }

    fn unread(name: &str, problem: Problem) -> Self {
        Self {
            source: Source {
                name: name.to_owned(),
                ..Source::default()
            },
            value: None,
            mistakes: vec![Located { problem, place: None }],
        }
    }

    fn of(name: &str, bytes: Vec<u8>) -> Self {
        if bytes.len() > MAX_BYTES {
            // The strict reader refuses by size before it looks at anything.
            let refusal = parse_strict(&bytes).err();
            return refusal.map_or_else(
                || Self::of(name, Vec::new()),
                |problem| Self::unread(name, problem),
            );
        }
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(e) => return Self::not_utf8(name, &e),
        };
        let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
        let as_json = is_json(name, &text).then(|| parse_strict(text.as_bytes()));
        let mut document = Self {
            source: Source {
                name: name.to_owned(),
                text,
                tree: None,
            },
            value: None,
            mistakes: Vec::new(),
        };
        let read = yaml::read(&document.source.text);
        match (as_json, read) {
            (Some(Err(problem)), _) => document.mistakes.push(json_place(problem)),
            // The text is JSON; its places are those that the other reader saw, where it could read it too.
            (Some(Ok(value)), read) => {
                document.value = Some(value);
                document.source.tree = read.ok().map(|r| r.root);
            }
            (None, Err(mistake)) => document.mistakes.push(*mistake),
            (None, Ok(read)) => {
                document.mistakes = read.mistakes;
                match read.root.value(read.written) {
                    Ok(value) => document.value = Some(value),
                    Err(mistake) => document.mistakes.push(*mistake),
                }
                document.source.tree = Some(read.root);
            }
        }
        document
    }

    fn not_utf8(name: &str, error: &std::string::FromUtf8Error) -> Self {
        let good = error.utf8_error().valid_up_to();
        let before = String::from_utf8_lossy(error.as_bytes().get(..good).unwrap_or_default());
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |l| l.chars().count()) + 1;
        let problem = codes::REQUEST_SYNTAX.at(
            Pointer::root(),
            format!("the text is not UTF-8: byte {} is wrong", good + 1),
            "save the file as UTF-8",
        );
        Self {
            source: Source {
                name: name.to_owned(),
                text: String::from_utf8_lossy(error.as_bytes()).into_owned(),
                tree: None,
            },
            value: None,
            mistakes: vec![Located {
                problem,
                place: Some(Place {
                    line,
                    column,
                    width: 1,
                }),
            }],
        }
    }

    /// Whether a host can be asked about it: the text could be read without a doubt, and names the contract.
    pub(crate) fn can_be_asked(&self) -> bool {
        self.mistakes.is_empty() && self.value.as_ref().is_some_and(|v| missing_api(v).is_none())
    }

    /// Everything that the document alone shows, in the order of the text.
    pub(crate) fn check(&self) -> Checked {
        let mut errors = self.mistakes.clone();
        let mut warnings = Vec::new();
        if let Some(value) = &self.value {
            let mut read = match value {
                // Nothing is no document of a wrong type: one word about it is enough.
                Value::Null => Partly::default(),
                value => read_what_can_be(value.clone(), &Pointer::root()),
            };
            read.gaps
                .extend(self.mistakes.iter().map(|m| m.problem.path.clone()));
            let mut found = read
                .state
                .map(|s| engine::check_partly(rooms::HOST, &s, &read.gaps))
                .unwrap_or_default();
            let mut problems = read.mistakes;
            problems.append(&mut found.errors);
            problems.extend(missing_api(value));
            // What stands where the text is wrong anyway is no second mistake.
            problems.retain(|p| !self.mistakes.iter().any(|m| m.problem.path == p.path));
            errors.extend(problems.into_iter().map(|p| self.source.locate(p)));
            warnings.extend(found.warnings.into_iter().map(|p| self.source.locate(p)));
        }
        errors.sort_by_key(|l| l.place.map(|p| (p.line, p.column)));
        warnings.sort_by_key(|l| l.place.map(|p| (p.line, p.column)));
        Checked { errors, warnings }
    }
}

/// At most one byte more than the largest document.
fn bytes(file: &str) -> io::Result<Vec<u8>> {
    let limit = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    if file == "-" {
        io::stdin().lock().take(limit).read_to_end(&mut bytes)?;
    } else {
        File::open(file)?.take(limit).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// A file is JSON when its name says so, or when it begins as an object and is well-formed.
fn is_json(name: &str, text: &str) -> bool {
    name.ends_with(".json") || (text.trim_start().starts_with('{') && parse_strict(text.as_bytes()).is_ok())
}

/// The place in a message of the JSON reader, `... at line 3 column 7`.
fn json_place(problem: Problem) -> Located {
    let place = problem.message.rsplit_once(" at line ").and_then(|(_, rest)| {
        let (line, column) = rest.split_once(" column ")?;
        Some(Place {
            line: line.parse::<usize>().ok()?.max(1),
            column: column.parse::<usize>().ok()?.max(1),
            width: 1,
        })
    });
    Located { problem, place }
}

/// Files name the version of the contract, so that an old file meets a new program (or the reverse) with a clear word.
fn missing_api(value: &Value) -> Option<Problem> {
    let message = match value {
        Value::Object(map) if !map.contains_key("api") => {
            "the document does not name the version of the contract"
        }
        Value::Null => "the document is empty",
        _ => return None,
    };
    Some(codes::REQUEST_API.at(Pointer::root(), message, "begin it with `api: ibplan/v1`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes_of(name: &str, bytes: &[u8]) -> Vec<(String, Option<(usize, usize)>)> {
        Document::of(name, bytes.to_vec())
            .check()
            .errors
            .iter()
            .map(|l| {
                (
                    l.problem.code.id().to_owned(),
                    l.place.map(|p| (p.line, p.column)),
                )
            })
            .collect()
    }

    #[test]
    fn bad_texts_have_code_and_place() {
        let at = |code: &str, line, column| vec![(code.to_owned(), Some((line, column)))];
        assert_eq!(
            codes_of("a.yaml", b"api: ibplan/v1\nx: \xff\n"),
            at("request.syntax", 2, 4)
        );
        assert_eq!(
            codes_of("a.json", b"{\"api\":\"ibplan/v1\",\n}"),
            at("request.syntax", 2, 1)
        );
        assert_eq!(
            codes_of("a.json", br#"{"api":"ibplan/v1","colour":1}"#),
            at("request.unknown_field", 1, 20)
        );
        assert_eq!(codes_of("a.yaml", b"\xef\xbb\xbfapi: ibplan/v1\n"), vec![]);
        assert_eq!(codes_of("a.yaml", b"api: ibplan/v2\n"), at("request.api", 1, 6));
        assert_eq!(
            codes_of("a.yaml", b"modules: []\n"),
            vec![("request.api".to_owned(), None)]
        );
        assert_eq!(
            codes_of("a.yaml", &vec![b' '; MAX_BYTES + 1]),
            vec![("request.too_large".to_owned(), None)]
        );
        let dhcp = b"api: ibplan/v1\nipoib:\n  - interface: ib0\n    dhcp4: yes\n";
        assert_eq!(codes_of("a.yaml", dhcp), at("request.syntax", 4, 12));
    }

    #[test]
    fn rules_keep_silent_where_a_part_was_misread() {
        let text = b"api: ibplan/v1\nlimits: {memlock: 5, users: [root]}\nipoib:\n  - {interface: ib0, gateway: 10.0.0.9, addresses: [10.0.0.1], partitions: [{pkey: 0}, {pkey: 0xffff}]}\nmodules: [{name: ib_umad}, {name: ib_umad}]\n";
        let found: Vec<String> = codes_of("a.yaml", text)
            .into_iter()
            .map(|(code, _)| code)
            .collect();
        assert_eq!(
            found,
            [
                "request.shape",
                "request.shape",
                "request.shape",
                "modules.named_twice"
            ]
        );
    }

    #[test]
    fn a_word_that_yaml_doubts_is_one_mistake() {
        let text = b"api: ibplan/v1\nipoib:\n  - interface: on\n";
        assert_eq!(
            codes_of("a.yaml", text),
            vec![("request.syntax".to_owned(), Some((3, 16)))]
        );
    }

    #[test]
    fn json_and_yaml_say_the_same() {
        let json = br#"{"api": "ibplan/v1", "sysctl": {"net.core.rmem_max": 16, "x": "\ud83d\ude00\/"}}"#;
        let yaml = "api: ibplan/v1\nsysctl:\n  net.core.rmem_max: 0x10\n  x: \"\u{1f600}/\"\n";
        let one = Document::of("a.json", json.to_vec()).value;
        assert!(one.is_some());
        assert_eq!(one, Document::of("standard input", json.to_vec()).value);
        assert_eq!(one, Document::of("a.yaml", yaml.as_bytes().to_vec()).value);
    }
}
