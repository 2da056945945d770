//! What a plan says to a person, on captured hosts: meanings and not digests, in an order that can be followed.

use ibplan_core::protocol::{Exit, Response};
use ibplan_testkit::{hosts, laws};
use serde_json::{Value, json};

/// Applies one document to a copy of a host, then plans another with prune.
fn then(host: &str, first: &Value, second: &Value) -> Response {
    let root = hosts::copied(host);
    let (applied, exit) = laws::serve("apply", root.path(), first, &json!({}));
    assert_eq!(exit, Exit::Done, "{:#?}", applied.errors);
    let (planned, exit) = laws::serve("plan", root.path(), second, &json!({ "prune": true }));
    assert_eq!(exit, Exit::Done, "{:#?}", planned.errors);
    planned
}

fn long_hex(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_hexdigit())
        .any(|w| w.len() >= 40)
}

#[test]
fn changes_speak_of_meanings_and_not_of_digests() {
    let full = json!({
        "modules": [{ "name": "ib_umad" }, { "name": "ib_ipoib", "parameters": { "send_queue_size": 512 } }],
        "limits": { "memlock": "unlimited", "services": ["slurmd"] },
        "subnet_manager": { "partitions": [{ "name": "Default", "pkey": "0x7fff", "ipoib": {}, "members": { "ALL": "full" } }] },
    });
    let less =
        json!({ "modules": [{ "name": "ib_ipoib" }], "limits": {}, "subnet_manager": { "state": "absent" } });
    for host in ["rocky9-cx6", "debian12-cx6", "sles15-cx5"] {
        let nothing = json!({ "modules": [] });
        for response in [then(host, &nothing, &full), then(host, &full, &less)] {
            for change in &response.changes {
                let text = format!("{} -> {}", change.before, change.after);
                assert!(!long_hex(&text), "{host} {}: {text}", change.path);
            }
        }
        let gone = then(host, &full, &less);
        assert!(
            gone.changes
                .iter()
                .any(|c| c.path.as_str() == "/modules"
                    && c.before == json!({ "ib_umad": { "at_boot": true } })),
            "{:#?}",
            gone.changes
        );
        let limits: Vec<_> = gone.changes.iter().filter(|c| c.section == "limits").collect();
        assert_eq!(limits.len(), 2, "{limits:#?}");
    }
}

/// Bringing the parent up takes its children along, so they come after it.
#[test]
fn links_that_wait_are_listed_parents_first() {
    for (host, interface) in [
        ("rocky9-cx6", "ibp65s0"),
        ("debian12-cx6", "ibp65s0"),
        ("sles15-cx5", "ib0"),
    ] {
        let root = hosts::copied(host);
        let desired = json!({ "ipoib": [{ "interface": interface, "partitions": [{ "pkey": 0x10 }] }] });
        let (planned, _) = laws::serve("plan", root.path(), &desired, &json!({ "replay": true }));
        let names: Vec<&str> = planned
            .pending
            .links
            .iter()
            .filter_map(|l| l.split_once(": ").map(|(name, _)| name))
            .collect();
        assert_eq!(
            names,
            [interface.to_owned(), format!("{interface}.8010")],
            "{host}"
        );
    }
}

/// All mistakes come at once, and none that nobody made: rules are silent on what could not be read.
#[test]
fn rules_come_along_with_mistakes_of_shape_and_invent_none() {
    let root = hosts::copied("rocky9-cx6");
    let desired = json!({
        "limits": { "memlock": 1, "users": ["root"] },
        "ipoib": [{
            "interface": "ib0",
            "addresses": ["10.0.0.1"],
            "gateway": "10.0.0.9",
            "partitions": [{ "pkey": 0 }, { "pkey": 10 }, { "pkey": 11 }],
        }],
        "modules": [{ "name": "ib_umad" }, { "name": "ib-umad" }],
        "subnet_manager": { "instances": [{ "priority": 20, "options": { "log_level": 7 } }] },
    });
    let (response, exit) = laws::serve("plan", root.path(), &desired, &json!({}));
    assert_eq!(exit, Exit::RequestRefused);
    let mut found: Vec<_> = response
        .errors
        .iter()
        .map(|e| (e.path.to_string(), e.code.id()))
        .collect();
    found.sort();
    let found: Vec<_> = found.iter().map(|(path, code)| (path.as_str(), *code)).collect();
    assert_eq!(
        found,
        [
            ("/ipoib/0/addresses/0", "request.shape"),
            ("/ipoib/0/partitions/0/pkey", "request.shape"),
            ("/limits/memlock", "request.shape"),
            ("/modules/1/name", "modules.named_twice"),
            (
                "/subnet_manager/instances/0/options/log_level",
                "subnet_manager.unknown_option"
            ),
            ("/subnet_manager/instances/0/priority", "request.shape"),
        ]
    );
}

/// What prune takes away on a running host has an after: the link is still up, and systemd has the drop-in in memory.
#[test]
fn what_is_pruned_has_its_after() {
    let root = hosts::copied("deb12-softib-active");
    let full = json!({
        "ipoib": [{ "interface": "ib0", "partitions": [{ "pkey": "0x8001" }] }],
        "limits": { "memlock": "unlimited", "services": ["slurmd"] },
    });
    let (applied, exit) = laws::serve("apply", root.path(), &full, &json!({}));
    assert_eq!(exit, Exit::Done, "{:#?}", applied.errors);
    let less = json!({ "ipoib": [{ "interface": "ib0" }], "limits": {} });
    let live = json!({ "prune": true, "replay": true });
    let (planned, exit) = laws::serve("plan", root.path(), &less, &live);
    assert_eq!(exit, Exit::Done, "{:#?}", planned.errors);
    let child: Vec<_> = planned
        .pending
        .links
        .iter()
        .filter(|l| l.starts_with("ib0.8001: "))
        .collect();
    assert_eq!(
        child,
        ["ib0.8001: its file is gone, and it stays up until the next boot or: ip link delete ib0.8001"]
    );
    let reload = planned
        .steps
        .iter()
        .rev()
        .find(|s| s.section == "limits")
        .map(|s| s.action);
    assert_eq!(reload, Some("reload_units"));
    let (image, _) = laws::serve("plan", root.path(), &less, &json!({ "prune": true }));
    assert!(image.pending.links.is_empty());
    assert!(!image.steps.iter().any(|s| s.action == "reload_units"));
}

fn replayed(host: &str, desired: &Value) -> Response {
    let root = hosts::copied(host);
    let (planned, exit) = laws::serve("plan", root.path(), desired, &json!({ "replay": true }));
    assert_eq!(exit, Exit::Done, "{:#?}", planned.errors);
    planned
}

/// A pointer leads into the document, also where the rule for the default partition is not in it; whatever is disturbed has
/// a name.
#[test]
fn subnet_manager_pointers_and_disturbances_have_a_place_and_a_name() {
    let only = json!({ "subnet_manager": { "partitions": [{ "name": "s", "pkey": 5, "members": { "ALL": "full" } }] } });
    let planned = replayed("ubuntu2404-cx7", &only);
    let paths: Vec<_> = planned
        .changes
        .iter()
        .map(|c| c.path.as_str())
        .filter(|p| p.starts_with("/subnet_manager/partitions"))
        .collect();
    assert_eq!(
        paths,
        [
            "/subnet_manager/partitions",
            "/subnet_manager/partitions",
            "/subnet_manager/partitions/0"
        ]
    );
    let absent = replayed(
        "ubuntu2404-cx7",
        &json!({ "subnet_manager": { "state": "absent" } }),
    );
    let disturbed: Vec<_> = absent
        .steps
        .iter()
        .filter(|s| s.action == "stop_unit")
        .map(|s| json!(s.disturbs))
        .collect();
    assert_eq!(
        disturbed,
        [
            json!([{ "service": "opensm.service" }]),
            json!([{ "service": "opensm@0xa088c20300617c40.service" }]),
        ]
    );
}

/// With equal priorities the lower GUID is master, so 0 can only take over from another 0.
#[test]
fn the_warning_of_another_master_is_true_for_priority_0() {
    for (priority, words) in [(0, "is 0 too and its GUID higher"), (7, "is lower, or the same")] {
        let desired = json!({ "subnet_manager": { "instances": [{ "priority": priority }] } });
        let planned = replayed("rocky9-cx6", &desired);
        let told = planned
            .warnings
            .iter()
            .find(|w| w.code.id() == "subnet_manager.other_master");
        assert!(
            told.is_some_and(|w| w.message.contains(words)),
            "{:#?}",
            planned.warnings
        );
    }
}

/// An image without a package database: the unit file tells that opensm is there, and where that is missing too, nothing is
/// claimed to be known.
#[test]
fn an_image_without_a_package_database_is_not_said_to_lack_a_package() {
    let running = json!({ "subnet_manager": {} });
    let root = hosts::copied("rocky9-cx6");
    let image = |root: &std::path::Path| laws::serve("plan", root, &running, &json!({})).0;
    let there = image(root.path());
    assert!(there.errors.is_empty(), "{:#?}", there.errors);
    assert!(there.pending.packages.is_empty() && there.changed);
    assert_eq!(there.changes[0].before, json!("stopped"));
    std::fs::remove_file(root.path().join("usr/lib/systemd/system/opensm.service")).expect("removed");
    let unknown = image(root.path());
    assert_eq!(unknown.pending.packages, ["opensm"]);
    let told = unknown
        .warnings
        .iter()
        .find(|w| w.code.id() == "host.no_package_manager");
    assert!(
        told.is_some_and(|w| w.message.contains("cannot be told")),
        "{:#?}",
        unknown.warnings
    );
}

/// A file of a package that somebody edited after ibplan must not be told to be removed: its original is named.
#[test]
fn a_foreign_file_changed_by_hand_is_told_with_its_original() {
    let root = hosts::copied("rocky9-cx6");
    let running = json!({ "subnet_manager": { "instances": [{ "priority": 14 }] } });
    let (_, exit) = laws::serve("apply", root.path(), &running, &json!({}));
    assert_eq!(exit, Exit::Done);
    let conf = root.path().join("etc/rdma/opensm.conf");
    let text = std::fs::read_to_string(&conf).expect("text");
    std::fs::write(&conf, text.replace("sweep_interval 10", "sweep_interval 33")).expect("written");
    let absent = json!({ "subnet_manager": { "state": "absent" } });
    let (planned, _) = laws::serve("plan", root.path(), &absent, &json!({}));
    let told: Vec<_> = planned
        .warnings
        .iter()
        .filter(|w| w.code.id() == "host.changed_by_hand")
        .map(|w| w.hint.as_str())
        .collect();
    assert!(
        matches!(told[..], [hint] if hint.contains("/var/lib/ibplan/originals/") && !hint.contains("remove")),
        "{told:?}"
    );
}
