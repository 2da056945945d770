//! From the command line to a request, and from its response to text and status.

use crate::Ended;
use crate::args::{Command, Hosted};
use crate::document::{Document, Source};
use crate::show::{self, Shown};
use crate::tell;
use crate::yaml::Located;
use ibplan_core::protocol::{Exit, Response};
use ibplan_core::request::Operation;
use ibplan_core::{rooms, state};
use ibplan_host::{Program, Progress};
use serde_json::{Map, Value, json};
use std::io::{self, Write};

const PROGRAM: Program = Program {
    name: "ibplan",
    version: env!("CARGO_PKG_VERSION"),
    stages: rooms::HOST,
    sections: state::SECTIONS,
};

/// One question to a host.
struct Question {
    operation: Operation,
    file: Option<String>,
    options: Map<String, Value>,
    json: bool,
}

/// Carries a command out.
pub(crate) fn run(command: Command) -> Ended {
    let question = |operation, file, options, hosted: &Hosted| Question {
        operation,
        file,
        options,
        json: hosted.json,
    };
    ask(&match command {
        Command::Validate { files, json } => return validate(&files, json),
        Command::Schema { which } => return tell::schema(which),
        Command::Explain { code } => return tell::explain(code.as_deref()),
        Command::Plan(a) => question(Operation::Plan, Some(a.file.clone()), a.options(), &a.hosted),
        Command::Verify(a) => question(Operation::Verify, Some(a.file.clone()), a.options(), &a.hosted),
        Command::Apply(a) => question(
            Operation::Apply,
            Some(a.looking.file.clone()),
            a.options(),
            &a.looking.hosted,
        ),
        Command::Facts(a) => question(Operation::Facts, None, a.options(), &a),
        Command::Rollback(a) => question(Operation::Rollback, None, a.options(), &a.stored.hosted),
        Command::Last(a) => question(Operation::Last, None, a.options(), &a.hosted),
        Command::Capture(a) => question(Operation::Capture, None, a.options(), &a.hosted),
    })
}

fn ask(question: &Question) -> Ended {
    let document = question.file.as_deref().map(Document::load);
    let (response, exit) = match document.as_ref().and_then(|d| refused(d, question.operation)) {
        Some(refused) => refused,
        None => serve(question, document.as_ref()),
    };
    if question.json {
        let text = serde_json::to_string(&response).map_or_else(|_| String::new(), |t| t + "\n");
        return Ended { text, exit };
    }
    let none = Source::default();
    let root = question.options.get("root").and_then(Value::as_str);
    let with = Shown {
        source: document.as_ref().map_or(&none, |d| &d.source),
        document: document.as_ref().and_then(|d| d.value.as_ref()),
        root: root.filter(|r| *r != "/"),
        checked: document
            .as_ref()
            .filter(|d| !d.can_be_asked())
            .map(Document::check),
    };
    Ended {
        text: show::response(&response, exit, &with),
        exit,
    }
}

/// Mistakes of the file itself are found here: what is sent to the host is JSON and has none of them.
fn refused(document: &Document, operation: Operation) -> Option<(Response, Exit)> {
    if document.can_be_asked() {
        return None;
    }
    let checked = document.check();
    let mut response = Response::new(format!("{} {}", PROGRAM.name, PROGRAM.version), Some(operation));
    response.ok = false;
    response.errors = checked.errors.into_iter().map(|l| l.problem).collect();
    response.warnings = checked.warnings.into_iter().map(|l| l.problem).collect();
    Some((response, Exit::RequestRefused))
}

fn serve(question: &Question, document: Option<&Document>) -> (Response, Exit) {
    let mut request = json!({
        "api": "ibplan/v1",
        "operation": ibplan_core::protocol::operation_word(question.operation),
        "options": question.options,
    });
    if let (Some(map), Some(value)) = (request.as_object_mut(), document.and_then(|d| d.value.clone())) {
        map.insert("desired".to_owned(), value);
    }
    let as_json = question.json;
    let bytes = request.to_string().into_bytes();
    ibplan_host::serve(&bytes, &PROGRAM, &mut |progress| report(progress, as_json))
}

/// Progress goes to standard error; that nobody reads it stops nothing.
fn report(progress: &Progress, as_json: bool) {
    let line = if as_json {
        serde_json::to_string(progress).unwrap_or_default()
    } else {
        let (action, target) = progress.what.split_once(' ').unwrap_or((&progress.what, ""));
        let what = format!("{} {target}", show::words(action));
        format!(
            "[{}/{}] {}",
            progress.step,
            progress.of,
            show::clean(what.trim_end())
        )
    };
    let _ = writeln!(io::stderr(), "{line}");
}

/// Checks many documents; every mistake of every one is told.
fn validate(files: &[String], json: bool) -> Ended {
    let mut text = String::new();
    let mut bad = 0;
    for file in files {
        let document = Document::load(file);
        if json {
            let checked = document.check();
            bad += usize::from(!checked.errors.is_empty());
            let line = json!({
                "file": document.source.name,
                "ok": checked.errors.is_empty(),
                "errors": checked.errors.iter().map(located).collect::<Vec<_>>(),
                "warnings": checked.warnings.iter().map(located).collect::<Vec<_>>(),
            });
            text += &format!("{line}\n");
        } else {
            let (listed, errors) = listed(&document);
            bad += usize::from(errors > 0);
            text += &listed;
        }
    }
    if !json {
        text += &verdict(files.len(), bad);
    }
    let exit = if bad == 0 {
        Exit::Done
    } else {
        Exit::RequestRefused
    };
    Ended { text, exit }
}

fn verdict(files: usize, bad: usize) -> String {
    let style = if bad == 0 {
        show::style::GOOD
    } else {
        show::style::BAD
    };
    let line = match (files, bad) {
        (1, 0) => "The document is good by itself; `ibplan plan` compares it with a host.".to_owned(),
        (_, 0) => {
            format!("All {files} documents are good by themselves; `ibplan plan` compares them with hosts.")
        }
        (1, _) => "The document is refused.".to_owned(),
        _ => format!("{bad} of {} refused.", show::count(files, "document")),
    };
    format!("{style}{line}{style:#}\n")
}

/// Every problem of a document as text, and the number of errors.
fn listed(document: &Document) -> (String, usize) {
    let checked = document.check();
    let show = |all: &[Located], is_error| -> String {
        all.iter()
            .map(|l| show::problem(l, &document.source, is_error))
            .collect()
    };
    (
        show(&checked.warnings, false) + &show(&checked.errors, true),
        checked.errors.len(),
    )
}

fn located(located: &Located) -> Value {
    let mut value = json!(located.problem);
    if let (Some(map), Some(place)) = (value.as_object_mut(), located.place) {
        map.insert("line".to_owned(), place.line.into());
        map.insert("column".to_owned(), place.column.into());
    }
    value
}
