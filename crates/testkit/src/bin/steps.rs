//! Serves one request with a room made for tests: `STEPS` holds `{"first": {PATH: TEXT}, "packages": [NAME], "then": {PATH: TEXT}}`.
//!
//! What the rooms of the document would need a fabric for (packages, slow steps) can be done to any host that way.

use ibplan_core::facts::Facts;
use ibplan_core::parts::file::{self, KeptFile};
use ibplan_core::parts::packages;
use ibplan_core::plan::{Change, Plan};
use ibplan_core::pointer::Pointer;
use ibplan_core::probe::{Probe, ProbeError};
use ibplan_core::problem::Findings;
use ibplan_core::resource::Stage;
use ibplan_core::state::HostState;
use ibplan_core::types::HostPath;
use ibplan_host::Program;
use serde_json::Value;
use std::io::Read;
use std::time::Duration;

struct Steps;

fn files(plan: &mut Plan, wanted: &Value, probe: &dyn Probe) -> Result<(), ProbeError> {
    for (path, text) in wanted.as_object().into_iter().flatten() {
        let path = HostPath::new(path).expect("a path");
        let text = text.as_str().expect("a text");
        let seen = file::observe(probe, &path)?;
        file::keep(
            plan,
            &seen,
            KeptFile::own("sysctl", text, Pointer::of("sysctl"), Vec::new()),
        );
    }
    Ok(())
}

impl Stage for Steps {
    fn name(&self) -> &'static str {
        "sysctl"
    }

    fn settle(&self) -> Duration {
        Duration::ZERO
    }

    fn managed(&self, _: &HostState) -> bool {
        true
    }

    fn sections(&self, _: &HostState) -> Vec<&'static str> {
        vec!["sysctl"]
    }

    fn after_prune(&self, _: &Facts, _: &Plan) -> Plan {
        Plan::default()
    }

    fn check(&self, _: &HostState, _: &mut Findings) {}

    fn check_host(&self, _: &HostState, _: &Facts, _: &mut Findings) {}

    fn plan(&self, _: &HostState, facts: &Facts, probe: &dyn Probe) -> Result<Plan, ProbeError> {
        let steps: Value =
            serde_json::from_str(&std::env::var("STEPS").expect("STEPS")).expect("STEPS in JSON");
        let mut plan = Plan::default();
        files(&mut plan, &steps["first"], probe)?;
        let names: Vec<&str> = steps["packages"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let at = Pointer::of("sysctl");
        let seen = packages::observe(probe, facts, &names)?;
        if packages::keep(&mut plan, &seen, "sysctl", &at, std::slice::from_ref(&at)) {
            plan.changes
                .push(Change::now(at, Value::Null, seen.missing.join(" ")));
        }
        files(&mut plan, &steps["then"], probe)?;
        Ok(plan)
    }
}

fn main() {
    let mut request = Vec::new();
    std::io::stdin().read_to_end(&mut request).expect("a request");
    let program = Program {
        name: "ibplan-steps",
        version: "test",
        stages: &[&Steps],
        sections: &["sysctl"],
    };
    let (response, exit) = ibplan_host::serve(&request, &program, &mut |_| {});
    println!("{}", serde_json::to_string(&response).expect("a response"));
    std::process::exit(exit.status());
}
