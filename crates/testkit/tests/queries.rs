//! How often a plan asks a program: the budget is one child process on a converged Debian host, two on an RPM host.

use ibplan_core::engine;
use ibplan_core::facts::{self, Scope};
use ibplan_core::fake::Fake;
use ibplan_core::pointer::Pointer;
use ibplan_core::probe::{Meta, Output, Probe, ProbeError, Query};
use ibplan_core::request::read_document;
use ibplan_core::rooms::HOST;
use ibplan_core::state::HostState;
use ibplan_core::types::HostPath;
use ibplan_testkit::hosts;
use serde_json::json;
use std::cell::RefCell;

/// Passes everything on and writes down the queries.
struct Listening<'a> {
    host: &'a Fake,
    asked: RefCell<Vec<&'static str>>,
}

impl Probe for Listening<'_> {
    fn read(&self, path: &HostPath) -> Result<Option<Vec<u8>>, ProbeError> {
        self.host.read(path)
    }

    fn meta(&self, path: &HostPath) -> Result<Option<Meta>, ProbeError> {
        self.host.meta(path)
    }

    fn link(&self, path: &HostPath) -> Result<Option<String>, ProbeError> {
        self.host.link(path)
    }

    fn list(&self, folder: &HostPath) -> Result<Vec<String>, ProbeError> {
        self.host.list(folder)
    }

    fn query(&self, query: &Query) -> Result<Option<Output>, ProbeError> {
        self.asked.borrow_mut().push(query.record());
        self.host.query(query)
    }
}

/// The whole document for the first InfiniBand port of a host that has one.
fn whole(host: &Fake) -> Option<HostState> {
    let facts = facts::read(host, Scope::Live).expect("facts");
    let link = facts
        .ipoib
        .iter()
        .find(|l| l.parent.is_none() && l.port.is_some())?;
    let guid = link.guid?.to_string();
    let document = json!({
        "modules": [{ "name": "ib_ipoib" }, { "name": "ib_umad" }],
        "subnet_manager": {
            "instances": [{ "port": { "guid": guid }, "priority": 14, "options": { "log_flags": 3 } }],
            "partitions": [{ "name": "storage", "pkey": 16, "ipoib": { "mtu": 4096 }, "members": { "ALL": "full" } }],
        },
        "ipoib": [{ "interface": link.name, "addresses": ["192.168.10.1/24"] }],
        "sysctl_profile": "ipoib_throughput",
        "limits": { "memlock": "unlimited", "services": ["slurmd"] },
    });
    let (state, errors) = read_document(document, &Pointer::root());
    assert!(errors.is_empty(), "{errors:#?}");
    state
}

#[test]
fn a_converged_host_is_asked_once_or_twice() {
    let mut tried = 0;
    for name in hosts::names() {
        let mut host = hosts::fake(&name);
        let Some(want) = whole(&host) else { continue };
        let facts = facts::read(&host, Scope::Live).expect("facts");
        let Ok(plan) = engine::plan(HOST, &want, &facts, &host, false) else {
            continue;
        };
        for step in &plan.steps {
            host.perform(&step.action);
        }
        let listening = Listening {
            host: &host,
            asked: RefCell::default(),
        };
        let facts = facts::read(&listening, Scope::Live).expect("facts");
        let plan = engine::plan(HOST, &want, &facts, &listening, true).expect("a plan");
        assert!(plan.steps.is_empty(), "{name}: {:#?}", plan.steps);
        let asked = listening.asked.into_inner();
        let budget = if host.get("/var/lib/dpkg/status").is_some() {
            1
        } else {
            2
        };
        assert!(asked.len() <= budget, "{name}: asked {asked:?}, {budget} allowed");
        assert!(
            asked.contains(&"systemctl-show"),
            "{name}: {asked:?}: the running units were not looked at"
        );
        tried += 1;
    }
    assert!(tried >= 8, "only {tried} hosts took the document");
}
