//! Law 5: killed or failing at any point inside any step, nothing is half written, nothing is lost, and the next run gets there.

use ibplan_core::protocol::Exit;
use ibplan_host::watch::{Point, Watch};
use ibplan_testkit::{hosts, laws};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// A document that exercises every kind of file step on each of these hosts.
fn document(name: &str) -> Value {
    let guid = match name {
        "centos7-cx3" => "0x0002c90300a1b2c1",
        _ => "0xb83fd20300fc6de4",
    };
    json!({
        "subnet_manager": {
            "instances": [{ "port": { "guid": guid }, "priority": 14 }],
            "partitions": [{ "name": "storage", "pkey": 16, "members": { "ALL": "full" } }],
        },
        "modules": [{ "name": "ib_ipoib", "parameters": { "send_queue_size": 512 } }],
        "sysctl": { "net.core.rmem_max": 134217728 },
        "limits": { "memlock": "unlimited", "services": ["slurmd"] },
        "ipoib": [{ "interface": "ib0", "addresses": ["192.168.10.1/24"] }],
    })
}

/// Debian with its interfaces file, EL with keyfiles, and an image in which most folders are missing.
const HOSTS: &[&str] = &["bare-debian12-image", "bare-rocky9-image", "centos7-cx3"];

/// Counts the points, or fails at one of them.
struct Counter {
    seen: usize,
    fail_at: Option<usize>,
}

impl Watch for Counter {
    fn at(&mut self, _: Point) -> std::io::Result<()> {
        let here = self.seen;
        self.seen += 1;
        if self.fail_at == Some(here) {
            return Err(std::io::Error::from_raw_os_error(28));
        }
        Ok(())
    }
}

fn points(name: &str) -> usize {
    let dir = hosts::copied(name);
    let mut counter = Counter {
        seen: 0,
        fail_at: None,
    };
    let bytes = laws::request("apply", dir.path(), &document(name), &json!({}));
    let (response, exit) = ibplan_host::serve_watched(&bytes, &laws::PROGRAM, &mut |_| {}, &mut counter);
    assert_eq!(exit, Exit::Done, "{name}: {:#?}", response.errors);
    assert!(response.changed);
    counter.seen
}

/// The tree as wanted, for comparison.
fn wanted(name: &str) -> BTreeMap<String, String> {
    let dir = hosts::copied(name);
    let (_, exit) = laws::serve("apply", dir.path(), &document(name), &json!({}));
    assert_eq!(exit, Exit::Done);
    hosts::picture(dir.path())
}

/// Every path is as before or as wanted; temporary files of a killed run aside.
fn nothing_half_written(
    name: &str,
    point: usize,
    root: &Path,
    before: &BTreeMap<String, String>,
    wanted: &BTreeMap<String, String>,
) {
    for (path, what) in hosts::picture(root) {
        if path.ends_with(".ibplan-new") {
            continue;
        }
        let (b, w) = (before.get(&path), wanted.get(&path));
        // A folder is made with mode 0700 and gets its own mode at once; killed between the two it is still empty.
        let young = what.starts_with("folder 700") && b.is_none();
        assert!(
            young || b == Some(&what) || w == Some(&what),
            "{name}, point {point}: {path} is {what}: neither {b:?} nor {w:?}"
        );
    }
}

#[test]
fn killed_at_every_point_of_every_step() {
    for name in HOSTS {
        let (count, wanted) = (points(name), wanted(name));
        assert!(count > 30, "{name}: only {count} points");
        println!("{name}: {count} points");
        let request_for = |root: &Path| laws::request("apply", root, &document(name), &json!({}));
        for point in 0..count {
            let dir = hosts::copied(name);
            let before = hosts::picture(dir.path());
            let mut child = Command::new(env!("CARGO_BIN_EXE_ibplan-crash"))
                .arg(point.to_string())
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .spawn()
                .expect("the program starts");
            child
                .stdin
                .take()
                .expect("stdin")
                .write_all(&request_for(dir.path()))
                .expect("a request");
            let status = child.wait().expect("it ends");
            assert_eq!(status.code(), None, "{name}: not killed at point {point}");
            nothing_half_written(name, point, dir.path(), &before, &wanted);
            let (response, exit) = laws::serve("apply", dir.path(), &document(name), &json!({}));
            assert_eq!(exit, Exit::Done, "{name}, point {point}: {:#?}", response.errors);
            let now = hosts::picture(dir.path());
            assert_eq!(
                now,
                wanted,
                "{name}, point {point}: {:#?}",
                hosts::difference(&wanted, &now)
            );
            // All the way back, over both runs.
            let (undone, exit) = laws::serve("rollback", dir.path(), &Value::Null, &json!({}));
            assert_eq!(exit, Exit::Done, "{name}, point {point}: {:#?}", undone.errors);
            let back = hosts::picture(dir.path());
            assert_eq!(
                back,
                before,
                "{name}, point {point}: {:#?}",
                hosts::difference(&before, &back)
            );
        }
    }
}

#[test]
fn failing_at_every_point_of_every_step_takes_everything_back() {
    for name in HOSTS {
        let count = points(name);
        for point in 0..count {
            let dir = hosts::copied(name);
            let before = hosts::picture(dir.path());
            let mut watch = Counter {
                seen: 0,
                fail_at: Some(point),
            };
            let bytes = laws::request("apply", dir.path(), &document(name), &json!({}));
            let (response, exit) =
                ibplan_host::serve_watched(&bytes, &laws::PROGRAM, &mut |_| {}, &mut watch);
            // A journal that cannot be begun refuses the host; from then on it is a failure.
            let wanted = if response.transaction.is_none() {
                Exit::HostRefused
            } else {
                Exit::Failed
            };
            assert_eq!(exit, wanted, "{name}, point {point}");
            assert!(
                !response.errors.is_empty() && !response.changed,
                "{name}, point {point}: {response:#?}"
            );
            let now = hosts::picture(dir.path());
            assert_eq!(
                now,
                before,
                "{name}, point {point}: {:#?}",
                hosts::difference(&before, &now)
            );
        }
    }
}
