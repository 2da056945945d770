//! From events to a tree.

use super::scalar;
use super::{Kind, Located, MAX_UNFOLDED, Member, Node, Place};
use ibplan_core::codes;
use ibplan_core::pointer::Pointer;
use ibplan_core::problem::{Code, Problem};
use ibplan_core::request::MAX_DEPTH;
use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, StrInput, Tag};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// What a text holds: its tree, and how many values are written in it.
pub(crate) struct Read {
    /// The tree.
    pub(crate) root: Rc<Node>,
    /// The number of its nodes.
    pub(crate) written: usize,
    /// Mistakes that did not keep the tree from being read: keys that stand twice, ambiguous words.
    pub(crate) mistakes: Vec<Located>,
}

/// Reads one YAML document.
///
/// # Errors
/// The first mistake that makes the rest of the text unreadable.
pub(crate) fn read(text: &str) -> Result<Read, Box<Located>> {
    let mut reader = Reader {
        events: Parser::new_from_str(text),
        anchors: BTreeMap::new(),
        written: 0,
        merged: 0,
        mistakes: Vec::new(),
    };
    let root = reader.document()?;
    Ok(Read {
        root,
        written: reader.written,
        mistakes: reader.mistakes,
    })
}

pub(super) fn too_deep(at: Pointer) -> Problem {
    codes::REQUEST_TOO_DEEP.at(
        at,
        format!("nested deeper than {MAX_DEPTH} levels"),
        "a host document needs about 6 levels",
    )
}

pub(super) fn too_many(at: Pointer) -> Problem {
    codes::REQUEST_TOO_LARGE.at(
        at,
        format!("its aliases unfold to more than {MAX_UNFOLDED} values"),
        "write the values out, or use fewer aliases",
    )
}

struct Reader<'t> {
    events: Parser<'t, StrInput<'t>>,
    anchors: BTreeMap<usize, Rc<Node>>,
    written: usize,
    merged: usize,
    mistakes: Vec<Located>,
}

type Tagged<'a> = Option<Cow<'a, Tag>>;

impl<'t> Reader<'t> {
    fn document(&mut self) -> Result<Rc<Node>, Box<Located>> {
        let mut root = None;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamEnd => break,
                Event::DocumentStart(_) if root.is_some() => {
                    return Err(syntax(
                        "a second document begins here",
                        "a host has one document; keep one file for each host",
                        place(span),
                    ));
                }
                Event::DocumentStart(_) => {
                    let (event, span) = self.next()?;
                    root = Some(self.node(event, span, &Pointer::root(), 0)?);
                }
                _ => {}
            }
        }
        Ok(root.unwrap_or_else(|| {
            Rc::new(Node {
                place: Place {
                    line: 1,
                    column: 1,
                    width: 1,
                },
                kind: Kind::Scalar(Value::Null),
            })
        }))
    }

    fn next(&mut self) -> Result<(Event<'t>, Span), Box<Located>> {
        match self.events.next_event() {
            Some(Ok(next)) => Ok(next),
            Some(Err(error)) => Err(scan_error(&error)),
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    fn node(
        &mut self,
        event: Event<'t>,
        span: Span,
        at: &Pointer,
        depth: usize,
    ) -> Result<Rc<Node>, Box<Located>> {
        self.written += 1;
        if depth > MAX_DEPTH {
            return Err(refuse(too_deep(at.clone()), place(span)));
        }
        let (anchor, kind) = match event {
            Event::Alias(anchor) => {
                return self.anchors.get(&anchor).cloned().ok_or_else(|| {
                    syntax(
                        "an alias stands inside its own anchor",
                        "write the value out",
                        place(span),
                    )
                });
            }
            Event::Scalar(text, style, anchor, tag) => (
                anchor,
                Kind::Scalar(self.scalar(&text, style, tag.as_deref(), span, at)),
            ),
            Event::SequenceStart(anchor, tag) => {
                self.container_tag(&tag, "seq", span, at);
                (anchor, Kind::List(self.list(at, depth)?))
            }
            Event::MappingStart(anchor, tag) => {
                self.container_tag(&tag, "map", span, at);
                (anchor, Kind::Map(self.map(at, depth)?))
            }
            _ => {
                return Err(syntax(
                    "the text ends in the middle of a value",
                    "finish it",
                    place(span),
                ));
            }
        };
        let node = Rc::new(Node {
            place: place(span),
            kind,
        });
        if anchor != 0 {
            self.anchors.insert(anchor, Rc::clone(&node));
        }
        Ok(node)
    }

    fn list(&mut self, at: &Pointer, depth: usize) -> Result<Vec<Rc<Node>>, Box<Located>> {
        let mut items = Vec::new();
        loop {
            let (event, span) = self.next()?;
            if event == Event::SequenceEnd {
                return Ok(items);
            }
            items.push(self.node(event, span, &at.index(items.len()), depth + 1)?);
        }
    }

    fn map(&mut self, at: &Pointer, depth: usize) -> Result<Vec<Member>, Box<Located>> {
        let mut own: Vec<Member> = Vec::new();
        let mut names = BTreeSet::new();
        let mut merges = Vec::new();
        loop {
            let (event, span) = self.next()?;
            if event == Event::MappingEnd {
                break;
            }
            let (key, merge) = self.key(event, span)?;
            let (event, value_span) = self.next()?;
            let value = self.node(event, value_span, &at.key(&key), depth + 1)?;
            if merge {
                merges.push((value, place(span)));
                continue;
            }
            if !names.insert(key.clone()) {
                let message = format!("the key \"{}\" stands twice", key.escape_debug());
                self.mistake(
                    codes::REQUEST_DUPLICATE_KEY,
                    at.key(&key),
                    message,
                    "remove one of the two",
                    span,
                );
            }
            own.push(Member {
                key,
                place: place(span),
                value,
            });
        }
        for (value, place) in merges {
            self.merge(&value, place, at, &mut own, &mut names)?;
        }
        Ok(own)
    }

    /// A key, and whether it is the merge key `<<`.
    fn key(&mut self, event: Event<'t>, span: Span) -> Result<(String, bool), Box<Located>> {
        match event {
            Event::Scalar(text, style, _, None) if style != ScalarStyle::Plain || !text.is_empty() => {
                Ok((text.to_string(), style == ScalarStyle::Plain && text == "<<"))
            }
            _ => Err(syntax(
                "a key is a plain word or a text in quotes, nothing else",
                "put a value that begins with `{`, `[`, `*`, `&` or `!` in quotes; what a template holds (`{{ name }}`) has to be filled in first",
                place(span),
            )),
        }
    }

    /// Adds the members of a merged map, or of a list of them; those that are there already win.
    fn merge(
        &mut self,
        from: &Node,
        place: Place,
        at: &Pointer,
        own: &mut Vec<Member>,
        names: &mut BTreeSet<String>,
    ) -> Result<(), Box<Located>> {
        match &from.kind {
            Kind::Map(members) => {
                for member in members {
                    self.merged += 1;
                    if self.merged > MAX_UNFOLDED {
                        return Err(refuse(too_many(at.clone()), place));
                    }
                    if names.insert(member.key.clone()) {
                        own.push(member.clone());
                    }
                }
                Ok(())
            }
            Kind::List(items) if items.iter().all(|i| matches!(i.kind, Kind::Map(_))) => items
                .iter()
                .try_for_each(|item| self.merge(item, place, at, own, names)),
            _ => Err(syntax(
                "`<<` merges a map or a list of maps",
                "give an alias such as *defaults",
                place,
            )),
        }
    }

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        tag: Option<&Tag>,
        span: Span,
        at: &Pointer,
    ) -> Value {
        let read = match tag {
            None if style == ScalarStyle::Plain => scalar::plain(text),
            None => Ok(text.into()),
            Some(tag) if !tag.is_yaml_core_schema() => Err((
                format!("the tag `{tag}` means nothing here"),
                "remove it; what a vault or a template holds has to be filled in before ibplan reads the file",
            )),
            Some(tag) => match tag.suffix.as_str() {
                "str" => Ok(text.into()),
                "int" | "float" | "bool" | "null" => {
                    scalar::plain(text).and_then(|v| fits(v, text, &tag.suffix))
                }
                _ => Err((
                    format!("the tag `!!{}` does not fit here", tag.suffix),
                    "remove it",
                )),
            },
        };
        read.unwrap_or_else(|(message, hint)| {
            self.mistake(codes::REQUEST_SYNTAX, at.clone(), message, hint, span);
            Value::Null
        })
    }

    fn container_tag(&mut self, tag: &Tagged<'_>, wanted: &str, span: Span, at: &Pointer) {
        if let Some(tag) = tag
            && !(tag.is_yaml_core_schema() && tag.suffix == wanted)
        {
            let message = format!("the tag `{tag}` means nothing here");
            self.mistake(codes::REQUEST_SYNTAX, at.clone(), message, "remove it", span);
        }
    }

    fn mistake(&mut self, code: Code, at: Pointer, message: String, hint: &str, span: Span) {
        self.mistakes.push(Located {
            problem: code.at(at, message, hint),
            place: Some(place(span)),
        });
    }
}

/// Whether a tagged scalar is of the type that its tag says.
fn fits(value: Value, text: &str, suffix: &str) -> Result<Value, scalar::Refused> {
    let fits = match suffix {
        "int" => value.is_i64() || value.is_u64(),
        "float" => value.is_number(),
        "bool" => value.is_boolean(),
        _ => value.is_null(),
    };
    if fits {
        Ok(value)
    } else {
        Err((
            format!("`{}` is no `!!{suffix}`", text.escape_debug()),
            "remove the tag, or mend the value",
        ))
    }
}

fn syntax(message: &str, hint: &str, place: Place) -> Box<Located> {
    refuse(codes::REQUEST_SYNTAX.at(Pointer::root(), message, hint), place)
}

fn refuse(problem: Problem, place: Place) -> Box<Located> {
    Box::new(Located {
        problem,
        place: Some(place),
    })
}

fn scan_error(error: &ScanError) -> Box<Located> {
    let mark = error.marker();
    let place = Place {
        line: mark.line().max(1),
        column: mark.col() + 1,
        width: 1,
    };
    let info = error.info();
    if info.contains("recursion limit") {
        return refuse(too_deep(Pointer::root()), place);
    }
    let hint = if info.contains("tab") {
        "indent with spaces; YAML allows no tabs there"
    } else if info.contains("anchor") {
        "an alias *name needs an anchor &name above it; a text that begins with `*` needs quotes"
    } else if info.contains("quote") {
        "close the quote"
    } else {
        "the mistake is here or on the line above: look for indentation, a missing `:` or `-`, an open bracket or quote"
    };
    let message = format!("not well-formed YAML: {info}");
    refuse(codes::REQUEST_SYNTAX.at(Pointer::root(), message, hint), place)
}

/// The place of a span; only its first line is underlined.
fn place(span: Span) -> Place {
    let (start, end) = (span.start, span.end);
    let width = if start.line() == end.line() {
        end.col().saturating_sub(start.col())
    } else {
        1
    };
    Place {
        line: start.line().max(1),
        column: start.col() + 1,
        width: width.max(1),
    }
}
