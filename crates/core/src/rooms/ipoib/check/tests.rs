//! Tables of documents and hosts, each with the problems that it must show.

mod documents;
mod hosts;

use crate::problem::{Findings, Problem};
use crate::resource::Resource;
use crate::rooms::ipoib::Ipoib;
use crate::state::HostState;
use serde_json::Value;

fn state(desired: &Value) -> HostState {
    serde_json::from_value(desired.clone()).unwrap()
}

fn document(desired: &Value) -> Findings {
    let state = state(desired);
    let want = Ipoib::wanted(&state).unwrap();
    let mut found = Findings::default();
    Ipoib::check(&want, &state, &mut found);
    found
}

fn told(problems: &[Problem]) -> Vec<String> {
    problems
        .iter()
        .map(|p| format!("{} {}", p.code, p.path))
        .collect()
}
