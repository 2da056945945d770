//! What an administrator must be able to trust: hand-made changes survive, a rollback takes back what it says and no more, a
//! damaged journal stops everything before anything is touched, and a conflict does not lock the host up.

use ibplan_core::protocol::{Exit, Response};
use ibplan_host::watch::{Point, Watch};
use ibplan_testkit::{hosts, laws};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

const SYSCTL: &str = "etc/sysctl.d/90-ibplan.conf";
const LIMITS: &str = "etc/security/limits.d/90-ibplan.conf";
const MODPROBE: &str = "etc/modprobe.d/ibplan.conf";

fn document(rmem: u64) -> Value {
    json!({
        "modules": [{ "name": "ib_ipoib", "parameters": { "send_queue_size": 512 } }],
        "sysctl": { "net.core.rmem_max": rmem },
        "limits": { "memlock": "unlimited" },
    })
}

fn no_limits(rmem: u64) -> Value {
    let mut document = document(rmem);
    document["limits"] = json!({ "memlock": "unlimited", "users": [], "services": [] });
    document
}

fn codes(response: &Response) -> Vec<&'static str> {
    response.errors.iter().map(|e| e.code.id()).collect()
}

fn apply(root: &Path, document: &Value, options: Value) -> Response {
    let (response, exit) = laws::serve("apply", root, document, &options);
    assert_eq!(exit, Exit::Done, "{:#?}", response.errors);
    response
}

fn rollback(root: &Path, options: Value) -> (Response, Exit) {
    laws::serve("rollback", root, &Value::Null, &options)
}

fn read(root: &Path, path: &str) -> String {
    fs::read_to_string(root.join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn put(root: &Path, path: &str, text: impl AsRef<[u8]>) {
    let place = root.join(path);
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::write(place, text).unwrap();
}

/// Runs a request in a process of its own that kills itself at a point; `true`: it was killed.
fn killed(root: &Path, operation: &str, document: &Value, point: usize) -> bool {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ibplan-crash"))
        .arg(point.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let request = laws::request(operation, root, document, &json!({}));
    child.stdin.take().unwrap().write_all(&request).unwrap();
    child.wait().unwrap().code().is_none()
}

/// Does something, once, when the chosen point of that kind is reached for the n-th time.
struct At<F: FnMut() -> std::io::Result<()>> {
    point: Point,
    left: usize,
    act: F,
}

impl<F: FnMut() -> std::io::Result<()>> Watch for At<F> {
    fn at(&mut self, point: Point) -> std::io::Result<()> {
        if point == self.point {
            if self.left == 0 {
                self.left = usize::MAX;
                return (self.act)();
            }
            self.left -= 1;
        }
        Ok(())
    }
}

fn watched(root: &Path, document: &Value, options: &Value, watch: &mut dyn Watch) -> (Response, Exit) {
    let request = laws::request("apply", root, document, options);
    ibplan_host::serve_watched(&request, &laws::PROGRAM, &mut |_| {}, watch)
}

#[test]
fn an_own_file_changed_by_hand_stays_so_over_any_number_of_runs() {
    let dir = hosts::copied("bare-debian12-image");
    let root = dir.path();
    apply(root, &document(1 << 20), json!({}));
    let text = read(root, LIMITS) + "# by hand\n";
    put(root, LIMITS, &text);
    // Each of these runs has something to do elsewhere, and writes the ledger anew.
    for rmem in [2 << 20, 3 << 20, 4 << 20] {
        let response = apply(root, &no_limits(rmem), json!({ "prune": true }));
        let told = response
            .warnings
            .iter()
            .any(|w| w.code.id() == "host.changed_by_hand");
        assert!(told, "{rmem}: {:#?}", response.warnings);
        assert_eq!(read(root, LIMITS), text);
    }
}

#[test]
fn a_foreign_file_edited_by_keys_and_then_by_hand_is_never_put_back_over_the_hand() {
    let dir = hosts::copied("bare-debian12-image");
    let root = dir.path();
    put(
        root,
        "etc/network/interfaces",
        "auto lo\niface lo inet loopback\n",
    );
    let mut wanted = document(1 << 20);
    wanted["ipoib"] = json!([{ "interface": "ib0", "addresses": ["192.168.10.1/24"] }]);
    apply(root, &wanted, json!({}));
    assert!(read(root, "etc/network/interfaces").contains("source"));
    let text = read(root, "etc/network/interfaces") + "auto eth1\niface eth1 inet dhcp\n";
    put(root, "etc/network/interfaces", &text);
    wanted["sysctl"]["net.core.rmem_max"] = json!(2 << 20);
    apply(root, &wanted, json!({}));
    wanted["ipoib"] = json!([]);
    let response = apply(root, &wanted, json!({ "prune": true }));
    assert_eq!(
        read(root, "etc/network/interfaces"),
        text,
        "{:#?}",
        response.warnings
    );
    assert!(
        response
            .warnings
            .iter()
            .any(|w| w.message.contains("/etc/network/interfaces")),
        "{:#?}",
        response.warnings
    );
}

#[test]
fn steps_that_were_kept_are_owned_and_give_the_original_back() {
    for left in 0..6 {
        let dir = hosts::copied("bare-debian12-image");
        let root = dir.path();
        put(root, LIMITS, "# the site's own\n");
        put(root, SYSCTL, "# the site's own values\n");
        let mut watch = At {
            point: Point::BeforeStep,
            left,
            act: || Err(std::io::Error::from_raw_os_error(5)),
        };
        let (response, exit) = watched(
            root,
            &document(1 << 20),
            &json!({ "on_failure": "keep" }),
            &mut watch,
        );
        if exit == Exit::Done {
            assert!(left > 2, "only {left} steps");
            break;
        }
        assert_eq!(codes(&response), ["host.step_failed"]);
        assert_eq!(response.changed, left > 0, "{:#?}", response.steps);
        apply(root, &document(1 << 20), json!({}));
        let none = json!({ "modules": [], "sysctl": {}, "limits": { "memlock": "unlimited", "users": [], "services": [] } });
        apply(root, &none, json!({ "prune": true }));
        assert_eq!(read(root, LIMITS), "# the site's own\n", "failed at step {left}");
        assert_eq!(
            read(root, SYSCTL),
            "# the site's own values\n",
            "failed at step {left}"
        );
    }
}

#[test]
fn a_conflict_in_the_middle_of_a_rollback_is_told_once_and_locks_nothing_up() {
    let dir = hosts::copied("bare-debian12-image");
    let root = dir.path();
    put(root, LIMITS, "# the site's own\n");
    let before = hosts::picture(root);
    apply(root, &json!({ "limits": { "memlock": "unlimited" } }), json!({}));
    apply(
        root,
        &json!({ "limits": { "memlock": 64 }, "sysctl": { "net.core.rmem_max": 1 << 20 } }),
        json!({}),
    );
    apply(
        root,
        &json!({ "sysctl": { "net.core.rmem_max": 1 << 21 } }),
        json!({}),
    );
    let text = read(root, LIMITS) + "# by hand\n";
    put(root, LIMITS, &text);
    let (response, exit) = rollback(root, json!({ "transaction": 1 }));
    assert_eq!(exit, Exit::Failed);
    assert!(
        codes(&response).iter().all(|c| *c == "host.rollback_conflict"),
        "{:#?}",
        response.errors
    );
    let mut after = hosts::picture(root);
    after.remove(&format!("/{LIMITS}"));
    let mut wanted = before;
    wanted.remove(&format!("/{LIMITS}"));
    assert_eq!(wanted, after, "{:#?}", hosts::difference(&wanted, &after));
    assert_eq!(read(root, LIMITS), text);
    // Nothing is left open, and the file is still known as one that prune leaves alone.
    let response = apply(root, &no_limits(1 << 22), json!({ "prune": true }));
    assert!(
        response.warnings.iter().all(|w| w.code.id() != "host.recovered"),
        "{:#?}",
        response.warnings
    );
    assert_eq!(read(root, LIMITS), text);
}

#[test]
fn a_rollback_after_an_interrupted_run_takes_back_that_run_and_nothing_else() {
    for options in [json!({}), json!({ "transaction": 2 })] {
        let dir = hosts::copied("bare-debian12-image");
        let root = dir.path();
        apply(root, &document(1 << 20), json!({}));
        let before = hosts::picture(root);
        let mut next = document(1 << 21);
        next["modules"] = json!([{ "name": "ib_ipoib", "parameters": { "send_queue_size": 256 } }]);
        assert!(killed(root, "apply", &next, 25));
        assert_ne!(
            hosts::picture(root),
            before,
            "killed before the first file was written"
        );
        let (response, exit) = rollback(root, options);
        assert_eq!(
            (exit, response.transaction, response.changed),
            (Exit::Done, Some(2), true),
            "{:#?}",
            response.errors
        );
        let after = hosts::picture(root);
        assert_eq!(before, after, "{:#?}", hosts::difference(&before, &after));
    }
}

#[test]
fn a_file_changed_between_plan_and_step_is_kept_and_the_rest_comes_back() {
    for left in 1..4 {
        let dir = hosts::copied("bare-debian12-image");
        let root = dir.path();
        for path in [SYSCTL, LIMITS, MODPROBE, "etc/modules-load.d/ibplan.conf"] {
            put(root, path, "# before\n");
        }
        let mut wanted = Value::Null;
        let mut watch = At {
            point: Point::BeforeStep,
            left,
            act: || {
                for path in [SYSCTL, LIMITS, MODPROBE, "etc/modules-load.d/ibplan.conf"] {
                    if read(root, path) == "# before\n" {
                        put(root, path, "# meanwhile\n");
                    }
                }
                wanted = json!(hosts::picture(root));
                Ok(())
            },
        };
        let (response, exit) = watched(root, &document(1 << 20), &json!({}), &mut watch);
        assert_eq!(exit, Exit::Failed);
        assert_eq!(
            codes(&response),
            ["host.changed_meanwhile"],
            "{:#?}",
            response.errors
        );
        assert!(!response.changed);
        assert!(wanted.is_object(), "the step was never reached");
        let texts: Vec<String> = [SYSCTL, LIMITS, MODPROBE].iter().map(|p| read(root, p)).collect();
        assert!(
            texts.iter().all(|t| t == "# before\n" || t == "# meanwhile\n"),
            "{texts:?}"
        );
        let next = apply(root, &document(1 << 20), json!({}));
        assert!(
            next.warnings.iter().all(|w| w.code.id() != "host.recovered"),
            "{:#?}",
            next.warnings
        );
    }
}

#[test]
fn a_rollback_and_a_recovery_can_be_killed_anywhere_too() {
    let name = "bare-debian12-image";
    for operation in ["rollback", "apply"] {
        for point in 0.. {
            let dir = hosts::copied(name);
            let root = dir.path();
            put(root, LIMITS, "# the site's own\n");
            let before = hosts::picture(root);
            if operation == "rollback" {
                apply(root, &document(1 << 20), json!({}));
            } else {
                assert!(killed(root, "apply", &document(1 << 20), 40));
            }
            // A refused document: only the recovery that comes first has anything to do.
            let wanted = if operation == "rollback" {
                Value::Null
            } else {
                json!({})
            };
            let was_killed = killed(root, operation, &wanted, point);
            let (response, exit) = rollback(root, json!({}));
            let nothing_left = !was_killed || codes(&response) == ["host.no_transaction"];
            assert!(
                exit == Exit::Done || nothing_left,
                "{operation} {point}: {:#?}",
                response.errors
            );
            let after = hosts::picture(root);
            assert_eq!(
                before,
                after,
                "{operation} {point}: {:#?}",
                hosts::difference(&before, &after)
            );
            let ledger: Value = serde_json::from_str(&read(root, "var/lib/ibplan/ledger.json")).unwrap();
            assert_eq!(ledger, json!({ "files": {}, "live": {} }));
            if !was_killed {
                assert!(point > 10, "only {point} points");
                break;
            }
        }
    }
}

#[test]
fn a_damaged_or_later_journal_stops_everything_before_anything_is_touched() {
    let head = "var/lib/ibplan/transactions/0000000001/head.json";
    let record = "var/lib/ibplan/transactions/0000000001/steps/000001.json";
    let ledger = "var/lib/ibplan/ledger.json";
    let cases: &[(&str, &str, &[&str])] = &[
        (ledger, "", &["apply", "rollback"]),
        (
            ledger,
            "{\"files\":{},\"live\":{},\"links\":{}}",
            &["apply", "rollback"],
        ),
        (
            ledger,
            "{\"files\":{\"/etc/x\":{\"section\":\"s\",\"original\":\"absent\",\"written\":\"\",\"new\":1}}}",
            &["apply", "rollback"],
        ),
        (head, "{\"phase\":\"comm", &["apply", "rollback"]),
        (
            head,
            "{\"phase\":\"paused\",\"began\":1,\"steps\":1,\"sections\":[]}",
            &["apply", "rollback"],
        ),
        (
            record,
            "{\"section\":\"s\",\"action\":{\"do\":\"format_disk\"},\"undo\":null}",
            &["rollback"],
        ),
        (record, "gone", &["rollback"]),
    ];
    for (path, text, operations) in cases {
        for operation in *operations {
            let dir = hosts::copied("bare-debian12-image");
            let root = dir.path();
            apply(root, &document(1 << 20), json!({}));
            let good = read(root, path);
            if *text == "gone" {
                fs::remove_file(root.join(path)).unwrap();
            } else {
                put(root, path, text);
            }
            let before = hosts::picture(root);
            let wanted = if *operation == "apply" {
                document(1 << 21)
            } else {
                Value::Null
            };
            let (response, exit) = laws::serve(operation, root, &wanted, &json!({}));
            assert_ne!(exit, Exit::Done, "{path} {text}");
            assert_eq!(
                codes(&response),
                ["host.journal"],
                "{path} {text}: {:#?}",
                response.errors
            );
            assert!(
                *text == "gone" || response.errors[0].message.contains(path),
                "{:#?}",
                response.errors
            );
            assert!(!response.changed);
            assert_eq!(before, hosts::picture(root));
            // Mended, the host is as usable as before.
            put(root, path, &good);
            let (response, exit) = rollback(root, json!({}));
            assert_eq!(exit, Exit::Done, "{path} {text}: {:#?}", response.errors);
        }
    }
}
