use super::*;
use ibplan_core::codes;
use ibplan_core::plan::{Change, Diff, Disturbance, Pending, When};
use ibplan_core::pointer::Pointer;
use ibplan_core::protocol::{Check, StepReport};
use ibplan_core::request::Operation;
use serde_json::json;

fn step(section: &str, action: &'static str, target: &str, disturbs: Vec<Disturbance>) -> StepReport {
    StepReport {
        section: section.to_owned(),
        action,
        target: target.to_owned(),
        disturbs,
        status: Status::Planned,
    }
}

/// A plan with everything that a plan can have.
fn plan() -> Response {
    let mut response = Response::new("ibplan 0.1.0", Some(Operation::Plan));
    response.changed = true;
    response.changes = changes();
    response.diff = diffs();
    response.steps = steps();
    response.pending = Pending {
        reboot: vec!["kernel argument x".to_owned()],
        packages: vec!["opensm".to_owned(), "perftest".to_owned()],
        ..Pending::default()
    };
    response.warnings = vec![codes::HOST_CHANGED_BY_HAND.at(
        Pointer::of("ipoib").index(0),
        "the file /etc/x was changed by hand",
        "decide which content is wanted",
    )];
    response
}

fn changes() -> Vec<Change> {
    let ib0 = Pointer::of("ipoib").index(0);
    let sysctl = Pointer::of("sysctl");
    let size = Pointer::of("modules")
        .index(0)
        .key("parameters")
        .key("send_queue_size");
    let before = json!(["192.168.10.1/24", "192.168.10.2/24"]);
    let after = json!(["192.168.20.1/24", "fd00:10::1/64"]);
    let profile = Pointer::of("sysctl_profile");
    vec![
        Change::now(
            Pointer::of("modules").index(0),
            json!({"at_boot": false, "loaded": true}),
            json!({"at_boot": true, "loaded": true}),
        ),
        Change::now(size, json!(null), 512).later(When::DriverReload),
        Change::now(ib0.key("mode"), "connected", "datagram").later(When::LinkUp),
        Change::now(ib0.key("addresses"), before, after),
        Change::now(
            sysctl.key("net.core.rmem_max"),
            json!({"file": null, "live": 212_992}),
            134_217_728,
        ),
        Change::now(
            sysctl.key("net.ipv4.tcp_rmem"),
            "4096 131072 6291456",
            "4096 87380 134217728",
        ),
        Change::now(sysctl.key("vm.min_free_kbytes"), "67584", json!(null)),
        Change::now(
            profile,
            json!({"net.core.wmem_max": {"file": null, "live": 1}}),
            json!({"net.core.wmem_max": 2}),
        ),
        Change::now(sysctl.key("net.core.zzz"), json!(null), 3),
        Change::now(
            ib0.key("partitions").index(0),
            json!({"file": "/etc/x", "mode": "0600", "owner": "0:0"}),
            json!({"file": "/etc/x", "mode": "0644", "owner": "0:0"}),
        ),
    ]
}

fn diffs() -> Vec<Diff> {
    let conf = |ninth: i32| {
        (0..20)
            .map(|i| format!("key_{i} {}\n", if i == 9 { ninth } else { i }))
            .collect()
    };
    let file = |path: &str, note: &str, before, after| Diff {
        before_header: format!("{path}{note}"),
        after_header: path.to_owned(),
        before,
        after,
    };
    let own = "# kept by ibplan\nnet.core.rmem_max = 134217728\n".to_owned();
    vec![
        file("/etc/sysctl.d/90-ibplan.conf", " (not there)", String::new(), own),
        file("/etc/opensm/opensm.conf", "", conf(9), conf(90)),
    ]
}

fn steps() -> Vec<StepReport> {
    let opensm = vec![
        Disturbance::Service("opensm.service".to_owned()),
        Disturbance::SubnetManager("fe80::/64".to_owned()),
    ];
    let link = vec![Disturbance::Link("ib0".to_owned())];
    let port = || vec![Disturbance::SubnetManager("0xb83fd20300aa10c4".to_owned())];
    vec![
        step("sysctl", "write_file", "/etc/sysctl.d/90-ibplan.conf", vec![]),
        step("ipoib", "restart_unit", "ib.service", link),
        step("subnet_manager", "restart_unit", "opensm.service", opensm),
        step("subnet_manager", "stop_unit", "opensm@1.service", port()),
        step("subnet_manager", "start_unit", "opensm@2.service", port()),
    ]
}

fn shown(response: &Response, exit: Exit) -> String {
    let document = json!({"ipoib": [{"interface": "ib0", "partitions": [{"pkey": 32784}]}], "modules": [{"name": "ib_ipoib"}]});
    let with = Shown {
        source: &Source::default(),
        document: Some(&document),
        root: Some("/srv/an image"),
        checked: None,
    };
    anstream::adapter::strip_str(&super::response(response, exit, &with)).to_string()
}

#[test]
fn a_plan_with_everything() {
    insta::assert_snapshot!(shown(&plan(), Exit::Done));
}

#[test]
fn an_apply_that_went_well() {
    let mut response = plan();
    response.operation = Some("apply");
    response.transaction = Some(7);
    response.warnings.clear();
    for step in &mut response.steps {
        step.status = Status::Done;
    }
    insta::assert_snapshot!(shown(&response, Exit::Done));
}

#[test]
fn an_apply_that_failed() {
    let mut response = plan();
    response.operation = Some("apply");
    response.ok = false;
    response.changed = false;
    response.transaction = Some(7);
    response.changes.clear();
    response.pending = Pending::default();
    response.warnings.clear();
    response.steps[0].status = Status::Undone;
    response.steps[1].status = Status::Failed;
    response.errors = vec![codes::HOST_STEP_FAILED.at(
        Pointer::of("request"),
        "restart_unit ib.service: timed out after 60 s",
        "see `journalctl -u ib.service`",
    )];
    insta::assert_snapshot!(shown(&response, Exit::Failed));
}

#[test]
fn checks_and_transactions() {
    let mut response = Response::new("ibplan 0.1.0", Some(Operation::Verify));
    response.ok = false;
    let check = |name: &str, ok, found| Check {
        name: name.to_owned(),
        level: "L0",
        wanted: json!("as in the document"),
        found,
        ok,
        advice: if ok {
            String::new()
        } else {
            "run plan to see the difference, apply to remove it".to_owned()
        },
    };
    response.verify = vec![
        check("modules", true, json!("as in the document")),
        check(
            "sysctl",
            false,
            json!([{"path": "/sysctl/a", "found": 1, "wanted": 2}]),
        ),
    ];
    let verified = shown(&response, Exit::Failed);
    let mut response = Response::new("ibplan 0.1.0", Some(Operation::Last));
    response.facts = json!({"transactions": [
        {"transaction": 7, "began": 1_714_557_600, "phase": "committed", "sections": ["sysctl", "limits"], "steps": ["write_file /etc/a"]},
        {"transaction": 12, "began": 1_714_644_000, "phase": "undone", "sections": [], "steps": []},
    ]});
    insta::assert_snapshot!(format!("{verified}\n{}", shown(&response, Exit::Done)));
}

#[test]
fn no_change_is_said_plainly() {
    for operation in [Operation::Plan, Operation::Apply] {
        let response = Response::new("ibplan 0.1.0", Some(operation));
        assert_eq!(
            shown(&response, Exit::Done),
            "No change: the host is as wanted.\n"
        );
    }
}

#[test]
fn what_a_terminal_would_obey_is_escaped() {
    let mut response = plan();
    response.changes = vec![Change::now(
        Pointer::of("sysctl").key("\x1b[2J"),
        "\x1b]0;x\x07",
        "\u{202e}evil",
    )];
    response.diff[0].after = "\x1b[31mred\r\n".to_owned();
    response.steps[0].target = "/etc/\x1b[0m".to_owned();
    let with = Shown {
        source: &Source::default(),
        document: None,
        root: None,
        checked: None,
    };
    let text = super::response(&response, Exit::Done, &with);
    let plain = anstream::adapter::strip_str(&text).to_string();
    assert!(!plain.contains(['\x1b', '\r', '\x07', '\u{202e}']), "{plain:?}");
    assert!(
        plain.contains(r"\u{1b}[2J") && plain.contains(r"\u{1b}[31mred"),
        "{plain}"
    );
}

#[test]
fn text_is_wrapped_at_blanks() {
    assert_eq!(wrap("one two three", 7, ""), "one two\nthree\n");
    assert_eq!(wrap("one two", 5, "  "), "one\n  two\n");
    assert_eq!(wrap("longerthanthewidth", 5, ""), "longerthanthewidth\n");
    assert_eq!(wrap("", 5, ""), "\n");
}

#[test]
fn facts_explain_the_state_of_each_port() {
    let port = |layer: &str, state: &str, phys: &str, gbps: f64| {
        json!({"number": 1, "link_layer": layer, "state": state, "phys_state": phys, "lid": null, "guid": "0x0002c903000e0b72",
            "rate": {"gbps": gbps, "width": 4, "speed": "EDR"}})
    };
    let device = |name: &str, ports: Vec<Value>| json!({"name": name, "omni_path": false, "ports": ports});
    let mut response = Response::new("ibplan 0.1.0", Some(Operation::Facts));
    response.facts = json!({
        "os": {"name": "Rocky Linux 9.4", "row": "el9"},
        "kernel": "5.14.0", "arch": "x86_64",
        "packages": {"manager": "dnf", "usable": true},
        "backends": {"installed": ["networkmanager"], "running": []},
        "devices": [
            device("mlx5_0", vec![port("infiniband", "active", "LinkUp", 100.0)]),
            device("mlx5_1", vec![port("infiniband", "init", "LinkUp", 100.0)]),
            device("mlx5_2", vec![port("infiniband", "down", "Polling", 0.0)]),
            device("mlx5_3", vec![port("infiniband", "down", "Disabled", 0.0)]),
            device("rocep1s0", vec![port("ethernet", "active", "LinkUp", 25.0)]),
        ],
        "ipoib": [
            {"name": "ib0", "port": ["mlx5_0", 1], "pkey": "0xffff", "mode": "datagram", "mtu": 2044, "carrier": true, "owner": "networkmanager", "owners": ["networkmanager"]},
            {"name": "ib1", "port": ["mlx5_1", 1], "pkey": null, "mode": null, "mtu": null, "carrier": false, "owner": null, "owners": ["networkmanager", "ifcfg"]},
        ],
    });
    let full = shown(&response, Exit::Done);
    response.facts = json!({"devices": [], "hcas": [{}]});
    insta::assert_snapshot!(format!("{full}\n{}", shown(&response, Exit::Done)));
}
