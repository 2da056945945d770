//! Files, whatever the file system and the caller bring: masks, attributes, access lists, hard links, immutable files, strange
//! names, FIFOs, huge files, huge requests.

use ibplan_core::action::{Action, Expect};
use ibplan_core::ledger::Ledger;
use ibplan_core::protocol::{Exit, Response};
use ibplan_core::types::HostPath;
use ibplan_host::files;
use ibplan_host::journal::{Journal, Record};
use ibplan_host::root::Root;
use ibplan_host::watch::Nothing;
use ibplan_testkit::{hosts, laws};
use rustix::fs::{CWD, FileType, Mode, XattrFlags};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

const LIMITS: &str = "etc/security/limits.d/90-ibplan.conf";

fn document() -> Value {
    json!({
        "modules": [{ "name": "ib_ipoib", "parameters": { "send_queue_size": 512 } }],
        "sysctl": { "net.core.rmem_max": 134217728 },
        "limits": { "memlock": "unlimited", "services": ["slurmd"] },
    })
}

fn codes(response: &Response) -> Vec<&'static str> {
    response.errors.iter().map(|e| e.code.id()).collect()
}

/// A copy of a host on a disk: file systems in memory have no attributes of users.
fn on_disk() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    hosts::copy(&hosts::path("bare-debian12-image"), dir.path());
    dir
}

fn serve(operation: &str, root: &Path) -> (Response, Exit) {
    let wanted = if operation == "rollback" {
        Value::Null
    } else {
        document()
    };
    laws::serve(operation, root, &wanted, &json!({}))
}

fn put(root: &Path, path: &str, text: &str) {
    let place = root.join(path);
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::write(place, text).unwrap();
}

#[test]
fn the_mask_of_the_caller_changes_nothing() {
    let pictures: Vec<_> = ["000", "022", "077", "777"]
        .iter()
        .map(|mask| {
            let dir = hosts::copied("bare-debian12-image");
            let mut child = Command::new("sh")
                .args([
                    "-c",
                    &format!("umask {mask}; exec \"$0\" 1000000"),
                    env!("CARGO_BIN_EXE_ibplan-crash"),
                ])
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            let request = laws::request("apply", dir.path(), &document(), &json!({}));
            child.stdin.take().unwrap().write_all(&request).unwrap();
            assert!(child.wait().unwrap().success(), "umask {mask}");
            for (path, mode) in [
                ("", 0o700),
                ("/transactions", 0o700),
                ("/ledger.json", 0o600),
                ("/lock", 0o600),
            ] {
                let place = dir.path().join(format!("var/lib/ibplan{path}"));
                let now = fs::metadata(&place).unwrap().permissions().mode() & 0o7777;
                assert!(
                    now == mode || (path == "/lock" && now & !mode == 0),
                    "umask {mask}: {path} {now:o}"
                );
            }
            hosts::picture(dir.path())
        })
        .collect();
    for picture in &pictures {
        assert_eq!(
            &pictures[0],
            picture,
            "{:#?}",
            hosts::difference(&pictures[0], picture)
        );
    }
}

#[test]
fn attributes_and_access_lists_outlive_the_file_and_never_change_its_mode() {
    let dir = on_disk();
    let place = dir.path().join(LIMITS);
    put(dir.path(), LIMITS, "# before\n");
    rustix::fs::setxattr(&place, "user.site", b"kept", XattrFlags::empty())
        .expect("a file system with attributes");
    // user::rw-, user:1000:rwx, group::r--, mask::rwx, other::r-- (linux: posix_acl_xattr.h)
    let mut list = 2u32.to_le_bytes().to_vec();
    for (tag, bits, id) in [
        (1u16, 6u16, u32::MAX),
        (2, 7, 1000),
        (4, 4, u32::MAX),
        (16, 7, u32::MAX),
        (32, 4, u32::MAX),
    ] {
        list.extend(tag.to_le_bytes());
        list.extend(bits.to_le_bytes());
        list.extend(id.to_le_bytes());
    }
    rustix::fs::setxattr(&place, "system.posix_acl_access", &list, XattrFlags::empty())
        .expect("access lists");
    let before = hosts::picture(dir.path());
    let (response, exit) = serve("apply", dir.path());
    assert_eq!(exit, Exit::Done, "{:#?}", response.errors);
    let attribute = |name: &str| {
        let mut value = vec![0u8; 4096];
        let length = rustix::fs::getxattr(&place, name, &mut value).unwrap_or_else(|e| panic!("{name}: {e}"));
        value.truncate(length);
        value
    };
    assert_eq!(attribute("user.site"), b"kept");
    assert!(!attribute("system.posix_acl_access").is_empty());
    assert_eq!(fs::metadata(&place).unwrap().permissions().mode() & 0o7777, 0o644);
    let (again, _) = serve("plan", dir.path());
    assert!(!again.changed, "{:#?}", again.changes);
    let (response, exit) = serve("rollback", dir.path());
    assert_eq!(exit, Exit::Done, "{:#?}", response.errors);
    assert_eq!(
        (attribute("user.site"), attribute("system.posix_acl_access")),
        (b"kept".to_vec(), list)
    );
    assert_eq!(before, hosts::picture(dir.path()));
}

#[test]
fn another_name_of_the_same_file_is_never_written_through() {
    let dir = hosts::copied("bare-debian12-image");
    put(dir.path(), LIMITS, "# shared\n");
    let other = dir.path().join("etc/other-name");
    fs::hard_link(dir.path().join(LIMITS), &other).unwrap();
    for operation in ["apply", "rollback"] {
        let (response, exit) = serve(operation, dir.path());
        assert_eq!(exit, Exit::Done, "{:#?}", response.errors);
        assert_eq!(fs::read_to_string(&other).unwrap(), "# shared\n");
    }
    assert_eq!(fs::read_to_string(dir.path().join(LIMITS)).unwrap(), "# shared\n");
}

#[test]
fn an_immutable_file_is_told_and_everything_else_comes_back() {
    let dir = on_disk();
    put(dir.path(), LIMITS, "# before\n");
    let chattr = |flag: &str| {
        let status = Command::new("chattr")
            .arg(flag)
            .arg(dir.path().join(LIMITS))
            .status();
        assert!(
            status.expect("chattr of e2fsprogs").success(),
            "chattr {flag} (root needed)"
        );
    };
    let before = hosts::picture(dir.path());
    chattr("+i");
    let (response, exit) = serve("apply", dir.path());
    let after = hosts::picture(dir.path());
    chattr("-i");
    assert_eq!(
        (codes(&response), exit),
        (vec!["host.step_failed"], Exit::Failed),
        "{:#?}",
        response.errors
    );
    assert!(
        response.errors[0].message.contains("Operation not permitted"),
        "{:#?}",
        response.errors
    );
    assert!(!response.changed);
    assert_eq!(before, after, "{:#?}", hosts::difference(&before, &after));
    assert_eq!(serve("apply", dir.path()).1, Exit::Done);
}

#[test]
fn names_that_are_no_text_do_no_harm_and_a_link_that_is_none_is_not_guessed_at() {
    let dir = hosts::copied("bare-debian12-image");
    let strange = OsStr::from_bytes(b"\xff\xfe.conf");
    for folder in [
        "etc/sysctl.d",
        "etc/modprobe.d",
        "etc/security/limits.d",
        "etc/network/interfaces.d",
        "var/lib/ibplan/transactions",
    ] {
        fs::create_dir_all(dir.path().join(folder)).unwrap();
        fs::write(dir.path().join(folder).join(strange), "x = 1\n").unwrap();
    }
    let before = hosts::picture(dir.path());
    for operation in ["apply", "rollback"] {
        let (response, exit) = serve(operation, dir.path());
        assert_eq!(exit, Exit::Done, "{:#?}", response.errors);
    }
    assert_eq!(before, hosts::picture(dir.path()));
    symlink(strange, dir.path().join("etc/strange")).unwrap();
    let root = Root::open(dir.path()).unwrap();
    let e = files::link(&root, &HostPath::fixed("/etc/strange")).unwrap_err();
    assert!(e.to_string().contains("not UTF-8"), "{e}");
}

#[test]
fn a_fifo_on_the_running_host_does_not_hold_the_reader_up() {
    let dir = tempfile::tempdir().unwrap();
    let fifo = dir.path().join("fifo");
    rustix::fs::mknodat(CWD, &fifo, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let root = Root::open(Path::new("/")).unwrap();
    let path = HostPath::new(fifo.to_str().unwrap()).unwrap();
    assert_eq!(files::read(&root, &path).unwrap(), None);
    assert!(
        files::read(&root, &HostPath::fixed("/etc/passwd"))
            .unwrap()
            .is_some()
    );
}

#[test]
fn a_huge_file_is_told_and_not_read() {
    let dir = hosts::copied("bare-debian12-image");
    let place = dir.path().join("etc/sysctl.d/50-huge.conf");
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::File::create(&place).unwrap().set_len(1 << 40).unwrap();
    let (response, exit) = serve("plan", dir.path());
    assert_eq!(
        (codes(&response), exit),
        (vec!["host.unreadable"], Exit::HostRefused)
    );
    assert!(
        response.errors[0].message.contains("/etc/sysctl.d/50-huge.conf"),
        "{:#?}",
        response.errors
    );
}

/// A run on the host itself was interrupted, and its disk is looked after from another system: there is no kernel whose values
/// could be given back, and the files are what matters.
#[test]
fn what_a_running_host_left_open_is_finished_on_its_disk() {
    let dir = hosts::copied("bare-debian12-image");
    let root = Root::open(dir.path()).unwrap();
    put(dir.path(), "etc/left", "half\n");
    for folder in ["/var", "/var/lib", "/var/lib/ibplan"] {
        files::make_folder_if_missing(&root, &HostPath::fixed(folder), 0o755).unwrap();
    }
    let journal = Journal::of(&root);
    let id = journal
        .begin(b"{}", &[], &Ledger::default(), &mut Nothing)
        .unwrap();
    let value = |v: &str| Action::Sysctl {
        path: HostPath::fixed("/proc/sys/net/core/rmem_max"),
        value: v.to_owned(),
    };
    let file = HostPath::fixed("/etc/left");
    let records = [
        (
            Action::MakeLink {
                path: file.clone(),
                target: String::new(),
                expect: Expect::Absent,
            },
            Action::RemoveFile {
                path: file,
                expect: Expect::Anything,
            },
        ),
        (value("2"), value("1")),
        (Action::ReloadUnits, Action::ReloadUnits),
    ];
    for (at, (action, undo)) in records.into_iter().enumerate() {
        let record = Record {
            section: "sysctl".to_owned(),
            action,
            undo: Some(undo),
        };
        journal.record(id, at, &record, &mut Nothing).unwrap();
        journal.done(id, at, &mut ibplan_host::watch::Nothing).unwrap();
    }
    let (response, exit) = serve("rollback", dir.path());
    assert_eq!(
        (exit, response.transaction),
        (Exit::Done, Some(id)),
        "{:#?}",
        response.errors
    );
    assert!(!dir.path().join("etc/left").exists());
}

#[test]
fn requests_made_to_exhaust_us_are_answered() {
    let around =
        |desired: String| format!("{{\"api\":\"ibplan/v1\",\"operation\":\"plan\",\"desired\":{desired}}}");
    let word = "w".repeat(15 << 20);
    let wide = |part: &str, times: usize| vec![part; times].join(",");
    let cases = [
        around(format!("{{\"ipoib\":[{}]}}", wide("7", 7 << 20))),
        around(format!("{{\"ipoib\":[{}]}}", wide("7", 90_000))),
        around(format!("{{\"ipoib\":[{}]}}", wide("{\"mtuu\":1}", 40_000))),
        around(format!("{{\"ipoib\":[{}]}}", wide("[]", 5 << 20))),
        around(format!("{{\"{word}\":1}}")),
        around(format!("{{\"subnet_manager\":{{\"state\":\"{word}\"}}}}")),
        around(
            format!("{{\"network_backend\":\"{word}\",\"limits\":\"{word}\"}}").replacen(&word, "auto", 1),
        ),
        around(format!(
            "{{\"sysctl\":{{\"{}\":[{}]}}}}",
            &word[..4000],
            wide("1.5", 50_000)
        )),
        "[".repeat(16 << 20),
        "{\"a\":".repeat(3 << 20),
    ];
    for (n, case) in cases.iter().enumerate() {
        let (response, exit) = ibplan_host::serve(case.as_bytes(), &laws::PROGRAM, &mut |_| {});
        assert_eq!(exit, Exit::RequestRefused, "case {n}: {:?}", codes(&response));
        let answer = serde_json::to_vec(&response).unwrap();
        assert!(
            !response.errors.is_empty() && answer.len() < 2 << 20,
            "case {n}: {} bytes",
            answer.len()
        );
    }
}
