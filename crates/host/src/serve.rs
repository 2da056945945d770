//! From the bytes of a request to a response: what every program does.

mod locked;
mod past;

use crate::apply::{self, How, Progress};
use crate::host::Host;
use crate::watch::{Nothing, Watch};
use ibplan_core::codes;
use ibplan_core::engine::{self, Refusal};
use ibplan_core::facts;
use ibplan_core::plan::Plan;
use ibplan_core::pointer::Pointer;
use ibplan_core::problem::Problem;
use ibplan_core::protocol::{Check, Exit, Response, StepReport};
use ibplan_core::request::{self, Operation, Request};
use ibplan_core::resource::Stage;
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

/// A program: its name and what it serves.
#[derive(Clone, Copy)]
pub struct Program {
    /// Its name, as in `tool` of the response.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
    /// Its rooms, in order of work.
    pub stages: &'static [&'static dyn Stage],
    /// The sections that it serves.
    pub sections: &'static [&'static str],
}

/// Serves one request.
pub fn serve(bytes: &[u8], program: &Program, progress: &mut dyn FnMut(&Progress)) -> (Response, Exit) {
    serve_watched(bytes, program, progress, &mut Nothing)
}

/// The same with somebody looking on at every point of every step.
pub fn serve_watched(
    bytes: &[u8],
    program: &Program,
    progress: &mut dyn FnMut(&Progress),
    watch: &mut dyn Watch,
) -> (Response, Exit) {
    let tool = format!("{} {}", program.name, program.version);
    let request = match request::parse(bytes) {
        Ok(request) => request,
        Err(refused) => {
            let mut response = Response::new(tool, refused.operation);
            let mut errors = refused.errors;
            if let Some(state) = &refused.desired.state {
                let mut found = engine::check_partly(program.stages, state, &refused.desired.gaps);
                errors.append(&mut found.errors);
                response.warnings.append(&mut found.warnings);
            }
            return (
                refuse(&mut response, errors, Exit::RequestRefused),
                Exit::RequestRefused,
            );
        }
    };
    let mut response = Response::new(tool, Some(request.operation));
    let mut strangers = not_served(bytes, program);
    strangers.extend(not_yet(&request));
    if !strangers.is_empty() {
        return (
            refuse(&mut response, strangers, Exit::RequestRefused),
            Exit::RequestRefused,
        );
    }
    let exit = operate(bytes, &request, program, progress, watch, &mut response);
    response.ok = exit == Exit::Done;
    (response, exit)
}

fn refuse(response: &mut Response, errors: Vec<Problem>, exit: Exit) -> Response {
    response.ok = exit == Exit::Done;
    response.errors.extend(errors);
    response.clone()
}

/// Options that this version refuses rather than half obeys. It never takes a running link down, so there is no connection to lose.
fn not_yet(request: &Request) -> Option<Problem> {
    request.options.confirm_within_s.map(|_| {
        codes::REQUEST_OPTION.at(
            Pointer::of("request").key("options").key("confirm_within_s"),
            "this version has no guard that would roll back without a confirmation",
            "leave the option out; nothing that this version does takes a link down",
        )
    })
}

/// Sections of the document that a narrow program does not serve.
fn not_served(bytes: &[u8], program: &Program) -> Vec<Problem> {
    let value = request::parse_strict(bytes).unwrap_or_default();
    let sections = value.get("desired").and_then(Value::as_object);
    sections
        .into_iter()
        .flat_map(serde_json::Map::keys)
        .filter(|s| s.as_str() != "api" && !program.sections.contains(&s.as_str()))
        .map(|s| {
            codes::REQUEST_SECTION_NOT_SERVED.at(
                Pointer::of(s),
                format!("{} does not manage the section `{s}`", program.name),
                format!(
                    "it serves {}; use ibplan-host for the whole document",
                    program.sections.join(", ")
                ),
            )
        })
        .collect()
}

fn operate(
    bytes: &[u8],
    request: &Request,
    program: &Program,
    progress: &mut dyn FnMut(&Progress),
    watch: &mut dyn Watch,
    response: &mut Response,
) -> Exit {
    if request.operation == Operation::Version {
        response.facts =
            json!({ "name": program.name, "version": program.version, "sections": program.sections });
        return Exit::Done;
    }
    let root = request.options.root.as_deref().unwrap_or("/");
    let mut host = match open(root, request.options.replay) {
        Ok(host) => host,
        Err(problem) => return ended(response, vec![problem], Exit::HostRefused),
    };
    match request.operation {
        Operation::Version => Exit::Done,
        Operation::Facts => read_facts(&host, response),
        Operation::Plan => plan(&mut host, request, program, response),
        Operation::Verify => verify(&mut host, request, program, response),
        Operation::Apply => {
            locked::with_lock(&mut host, request, response, watch, |host, _, watch, response| {
                apply_now(host, bytes, request, program, progress, watch, response)
            })
        }
        Operation::Rollback => locked::with_lock(
            &mut host,
            request,
            response,
            watch,
            |host, recovered, watch, response| past::rollback(host, request, recovered, watch, response),
        ),
        Operation::Last => past::last(&host, request, response),
        Operation::Confirm => ended(
            response,
            vec![codes::HOST_NO_TRANSACTION.at(
                Pointer::of("request"),
                "no transaction waits for a confirmation",
                "only an apply with `confirm_within_s` waits for one",
            )],
            Exit::HostRefused,
        ),
        Operation::Capture => crate::capture::capture(&mut host, request, program, response),
    }
}

fn open(root: &str, replay: bool) -> Result<Host, Problem> {
    let trouble = |message: String| {
        codes::HOST_ROOT.at(
            Pointer::of("request").key("options").key("root"),
            message,
            "give an existing folder with an absolute path",
        )
    };
    let shown = root.escape_debug();
    let normal = root == "/" || ibplan_core::types::HostPath::new(root.trim_end_matches('/')).is_some();
    if !normal {
        return Err(trouble(format!(
            "\"{shown}\" is not an absolute path without '.', '..' and NUL"
        )));
    }
    Host::at(Path::new(root), replay).map_err(|e| trouble(format!("{shown}: {e}")))
}

fn ended(response: &mut Response, errors: Vec<Problem>, exit: Exit) -> Exit {
    response.errors.extend(errors);
    exit
}

fn read_facts(host: &Host, response: &mut Response) -> Exit {
    match facts::read(host, host.scope()).map(|f| serde_json::to_value(f).unwrap_or_default()) {
        Ok(value) => {
            response.facts = value;
            Exit::Done
        }
        Err(e) => ended(response, vec![engine::unreadable(&e)], Exit::HostRefused),
    }
}

fn deadline(request: &Request) -> Instant {
    let seconds = request
        .options
        .deadline_s
        .map_or(600, ibplan_core::types::Num::get);
    Instant::now() + Duration::from_secs(u64::try_from(seconds).unwrap_or(600))
}

fn refused(response: &mut Response, refusal: Refusal) -> Exit {
    let exit = if refusal.document.is_empty() {
        Exit::HostRefused
    } else {
        Exit::RequestRefused
    };
    response.warnings.extend(refusal.warnings);
    ended(
        response,
        refusal.document.into_iter().chain(refusal.host).collect(),
        exit,
    )
}

/// Puts what a plan says into the response.
fn tell(plan: Plan, response: &mut Response) {
    response.changes = plan.changes;
    response.diff = plan.diffs;
    response.warnings.extend(plan.warnings);
    response.pending = plan.pending;
}

fn plan(host: &mut Host, request: &Request, program: &Program, response: &mut Response) -> Exit {
    match apply::plan(
        host,
        program.stages,
        &request.desired,
        request.options.prune,
        deadline(request),
    ) {
        Err(refusal) => refused(response, refusal),
        Ok((_, plan)) => {
            response.changed = plan.changed();
            response.steps = plan.steps.iter().map(StepReport::planned).collect();
            tell(plan, response);
            Exit::Done
        }
    }
}

/// One check for each section that the document manages: is anything left to do?
fn verify(host: &mut Host, request: &Request, program: &Program, response: &mut Response) -> Exit {
    let plan = match apply::plan(
        host,
        program.stages,
        &request.desired,
        request.options.prune,
        deadline(request),
    ) {
        Err(refusal) => return refused(response, refusal),
        Ok((_, plan)) => plan,
    };
    for stage in program.stages.iter().filter(|s| s.managed(&request.desired)) {
        let sections = stage.sections(&request.desired);
        let open: Vec<Value> = plan
            .changes
            .iter()
            .filter(|c| sections.contains(&c.section.as_str()))
            .map(|c| json!({ "path": c.path, "found": c.before, "wanted": c.after }))
            .collect();
        response.verify.push(Check {
            name: stage.name().to_owned(),
            level: "L0",
            wanted: json!("as in the document"),
            ok: open.is_empty(),
            advice: if open.is_empty() {
                String::new()
            } else {
                "run plan to see the difference, apply to remove it".to_owned()
            },
            found: if open.is_empty() {
                json!("as in the document")
            } else {
                Value::Array(open)
            },
        });
    }
    let ok = response.verify.iter().all(|c| c.ok);
    tell(plan, response);
    if ok { Exit::Done } else { Exit::Failed }
}

fn apply_now(
    host: &mut Host,
    bytes: &[u8],
    request: &Request,
    program: &Program,
    progress: &mut dyn FnMut(&Progress),
    watch: &mut dyn Watch,
    response: &mut Response,
) -> Exit {
    let how = How {
        request: bytes,
        prune: request.options.prune,
        on_failure: request.options.on_failure,
        deadline: deadline(request),
    };
    match apply::apply(host, program.stages, &request.desired, &how, watch, progress) {
        Err(refusal) => refused(response, refusal),
        Ok(outcome) => {
            response.changed = outcome.changed;
            response.steps = outcome.steps;
            response.transaction = outcome.transaction;
            tell(outcome.plan, response);
            let exit = match (outcome.errors.is_empty(), outcome.transaction) {
                (true, _) => Exit::Done,
                // The journal could not be begun: nothing was touched.
                (false, None) => Exit::HostRefused,
                (false, Some(_)) => Exit::Failed,
            };
            ended(response, outcome.errors, exit)
        }
    }
}
