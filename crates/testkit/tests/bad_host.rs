//! A host that is against us: links and FIFOs planted at targets, a full disk, a read-only root, a second run. Each ends with
//! the exact error and with the host as it was.

use ibplan_core::protocol::{Exit, Response};
use ibplan_host::lock::Lock;
use ibplan_host::root::Root;
use ibplan_testkit::{hosts, laws};
use serde_json::{Value, json};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

fn document() -> Value {
    json!({
        "modules": [{ "name": "ib_ipoib", "parameters": { "send_queue_size": 512 } }],
        "sysctl": { "net.core.rmem_max": 134217728 },
        "limits": { "memlock": "unlimited", "services": ["slurmd"] },
    })
}

const TARGETS: &[&str] = &[
    "etc/sysctl.d/90-ibplan.conf",
    "etc/modules-load.d/ibplan.conf",
    "etc/modprobe.d/ibplan.conf",
    "etc/security/limits.d/90-ibplan.conf",
    "etc/systemd/system/slurmd.service.d/90-ibplan.conf",
];

fn codes(response: &Response) -> Vec<&'static str> {
    response.errors.iter().map(|e| e.code.id()).collect()
}

fn refused(root: &Path, code: &str, wanted: Exit) -> Response {
    let before = hosts::picture(root);
    let (response, exit) = laws::serve("apply", root, &document(), &json!({}));
    assert_eq!(
        (codes(&response).first().copied(), exit),
        (Some(code), wanted),
        "{:#?}",
        response.errors
    );
    let after = hosts::picture(root);
    assert_eq!(before, after, "{:#?}", hosts::difference(&before, &after));
    for problem in &response.errors {
        assert!(
            !problem.message.is_empty() && !problem.hint.is_empty(),
            "{problem:?}"
        );
    }
    response
}

#[test]
fn a_link_planted_at_a_target_is_not_written_through() {
    let outside = tempfile::tempdir().unwrap();
    let victim = outside.path().join("victim");
    std::fs::write(&victim, "precious").unwrap();
    for target in TARGETS {
        for text in [
            "/etc/passwd".to_owned(),
            "../../etc/hostname".to_owned(),
            victim.display().to_string(),
        ] {
            let dir = hosts::copied("bare-debian12-image");
            let place = dir.path().join(target);
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            symlink(&text, &place).unwrap();
            let response = refused(dir.path(), "host.link_at_target", Exit::HostRefused);
            assert!(
                response.errors[0].message.contains(&format!("/{target}")),
                "{}",
                response.errors[0].message
            );
        }
    }
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "precious");
}

#[test]
fn a_folder_planted_as_a_link_out_of_the_root_is_not_left_by() {
    let outside = tempfile::tempdir().unwrap();
    let dir = hosts::copied("bare-debian12-image");
    let place = dir.path().join("etc/sysctl.d");
    drop(std::fs::remove_dir_all(&place));
    symlink(outside.path(), &place).unwrap();
    let (response, exit) = laws::serve("apply", dir.path(), &document(), &json!({}));
    assert_ne!(exit, Exit::Done, "{:#?}", response.steps);
    assert_eq!(
        std::fs::read_dir(outside.path()).unwrap().count(),
        0,
        "something was written outside of the root"
    );
}

#[test]
fn what_is_no_file_at_a_target_stays() {
    for target in TARGETS {
        let dir = hosts::copied("bare-debian12-image");
        let place = dir.path().join(target);
        std::fs::create_dir_all(&place).unwrap();
        refused(dir.path(), "host.in_the_way", Exit::HostRefused);
    }
    let dir = hosts::copied("bare-debian12-image");
    let place = dir.path().join(TARGETS[0]);
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    let made = Command::new("mkfifo")
        .arg(&place)
        .status()
        .expect("mkfifo of coreutils");
    assert!(made.success());
    let (response, exit) = laws::serve("apply", dir.path(), &document(), &json!({}));
    assert_eq!(
        (codes(&response), exit),
        (vec!["host.in_the_way"], Exit::HostRefused)
    );
}

/// A small file system of its own, unmounted when it is dropped.
struct Small(tempfile::TempDir);

impl Small {
    fn new(kibibytes: usize) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let options = format!("size={kibibytes}k,nr_inodes=4000");
        run(
            "mount",
            &[
                "-t",
                "tmpfs",
                "-o",
                &options,
                "tmpfs",
                &dir.path().display().to_string(),
            ],
        );
        Self(dir)
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        run("umount", &["-l", &self.0.path().display().to_string()]);
    }
}

fn run(program: &str, arguments: &[&str]) {
    let status = Command::new(program)
        .args(arguments)
        .status()
        .unwrap_or_else(|e| panic!("{program} (root needed): {e}"));
    assert!(
        status.success(),
        "{program} {arguments:?} (root needed): {status}"
    );
}

#[test]
fn a_full_disk_takes_everything_back() {
    let mut failed = 0;
    let mut done = 0;
    for free in (0..=200).step_by(8) {
        let disk = Small::new(1024);
        let root = disk.0.path();
        hosts::copy(&hosts::path("bare-debian12-image"), root);
        // The filler leaves only so much room; its size is found by writing until the disk is full and cutting back.
        let filler = root.join("filler");
        drop(std::fs::write(&filler, vec![b'x'; 2 << 20]));
        let full = std::fs::metadata(&filler).unwrap().len();
        std::fs::OpenOptions::new()
            .write(true)
            .open(&filler)
            .unwrap()
            .set_len(full.saturating_sub(free * 1024))
            .unwrap();
        let before = hosts::picture(root);
        let (response, exit) = laws::serve("apply", root, &document(), &json!({}));
        let after = hosts::picture(root);
        if exit == Exit::Done {
            done += 1;
            assert_ne!(before, after);
        } else {
            failed += 1;
            assert!(
                codes(&response)
                    .iter()
                    .all(|c| ["host.journal", "host.step_failed"].contains(c)),
                "{free} KiB: {:#?}",
                response.errors
            );
            assert!(
                response.errors[0].message.contains("No space left"),
                "{free} KiB: {:#?}",
                response.errors
            );
            // Room again: whatever was left open is finished, and the host is as it was.
            std::fs::remove_file(&filler).unwrap();
            let (response, exit) = laws::serve("apply", root, &document(), &json!({}));
            assert_eq!(exit, Exit::Done, "{:#?}", response.errors);
            laws::serve("rollback", root, &Value::Null, &json!({}));
            let mut before = before;
            before.remove("/filler");
            let back = hosts::picture(root);
            assert_eq!(
                before,
                back,
                "{free} KiB: {:#?}",
                hosts::difference(&before, &back)
            );
        }
    }
    assert!(
        failed > 3 && done > 3,
        "{failed} failed and {done} done: the sizes do not span the edge"
    );
}

#[test]
fn a_read_only_root_is_refused() {
    let disk = Small::new(4096);
    hosts::copy(&hosts::path("bare-debian12-image"), disk.0.path());
    run(
        "mount",
        &["-o", "remount,ro", &disk.0.path().display().to_string()],
    );
    let response = refused(disk.0.path(), "host.journal", Exit::HostRefused);
    assert!(
        response.errors[0].message.contains("Read-only file system"),
        "{:#?}",
        response.errors
    );
    let (_, exit) = laws::serve("plan", disk.0.path(), &document(), &json!({}));
    assert_eq!(exit, Exit::Done, "planning needs no writable root");
}

#[test]
fn a_second_run_waits_or_is_told_who_is_there() {
    let dir = hosts::copied("bare-debian12-image");
    let root = Root::open(dir.path()).unwrap();
    let lock = Lock::take(&root, Duration::ZERO).unwrap();
    let response = refused(dir.path(), "host.busy", Exit::HostRefused);
    assert!(
        response.errors[0]
            .message
            .contains(&format!("process {}", std::process::id())),
        "{:#?}",
        response.errors
    );
    let (_, exit) = laws::serve("plan", dir.path(), &document(), &json!({}));
    assert_eq!(exit, Exit::Done, "planning takes no lock");
    let place = dir.path().to_owned();
    let waiting = std::thread::spawn(move || {
        laws::serve("apply", &place, &document(), &json!({ "lock_timeout_s": 600 }))
    });
    drop(lock);
    let (response, exit) = waiting.join().unwrap();
    assert_eq!(exit, Exit::Done, "{:#?}", response.errors);
}

#[test]
fn a_root_that_is_none_is_refused() {
    for root in [
        "/no/such/root",
        "/etc/passwd",
        "relative",
        "/tmp/../etc",
        "/tmp\0x",
        "",
        "//",
    ] {
        let (response, exit) = laws::serve("apply", Path::new(root), &document(), &json!({}));
        assert_eq!(
            (codes(&response), exit),
            (vec!["host.root"], Exit::HostRefused),
            "{root:?}"
        );
    }
}

/// A file that somebody changes between plan and apply of one run cannot be staged from outside; a changed file between two
/// runs is the ledger's business: it is reported and left alone.
#[test]
fn a_file_changed_by_hand_is_reported_and_left_alone() {
    let dir = hosts::copied("bare-debian12-image");
    let (_, exit) = laws::serve("apply", dir.path(), &document(), &json!({}));
    assert_eq!(exit, Exit::Done);
    let file = dir.path().join(TARGETS[3]);
    let text = std::fs::read_to_string(&file).unwrap() + "# by hand\n";
    std::fs::write(&file, &text).unwrap();
    let smaller = json!({ "limits": { "memlock": "unlimited", "users": [], "services": [] } });
    let (response, exit) = laws::serve("apply", dir.path(), &smaller, &json!({ "prune": true }));
    assert_eq!(exit, Exit::Done, "{:#?}", response.errors);
    assert!(
        response
            .warnings
            .iter()
            .any(|w| w.code.id() == "host.changed_by_hand"),
        "{:#?}",
        response.warnings
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    let (response, exit) = laws::serve("rollback", dir.path(), &Value::Null, &json!({ "transaction": 1 }));
    assert_eq!(exit, Exit::Failed);
    assert!(
        codes(&response).contains(&"host.rollback_conflict"),
        "{:#?}",
        response.errors
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
}
