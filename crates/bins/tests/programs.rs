//! The real programs, driven from outside.

#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const HOST: &str = env!("CARGO_BIN_EXE_ibplan-host");
const PROGRAMS: [(&str, &str, &[&str]); 4] = [
    (
        "ibplan-host",
        HOST,
        &[
            "modules",
            "subnet_manager",
            "ipoib",
            "bonds",
            "network_backend",
            "sysctl",
            "sysctl_profile",
            "limits",
        ],
    ),
    (
        "ibplan-sysctl",
        env!("CARGO_BIN_EXE_ibplan-sysctl"),
        &["sysctl", "sysctl_profile"],
    ),
    (
        "ibplan-opensm",
        env!("CARGO_BIN_EXE_ibplan-opensm"),
        &["subnet_manager"],
    ),
    (
        "ibplan-ipoib",
        env!("CARGO_BIN_EXE_ibplan-ipoib"),
        &["ipoib", "bonds", "network_backend"],
    ),
];

/// Runs a program with this on its standard input, which it may leave unread.
fn run(program: &str, args: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(program)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let feeder = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    output
}

/// The one response: one line, one object, nothing behind it.
fn response(output: &Output) -> Value {
    let text = std::str::from_utf8(&output.stdout).unwrap();
    assert!(text.ends_with('\n') && text.lines().count() == 1, "{text:?}");
    let value: Value = serde_json::from_str(text).unwrap();
    assert_eq!(value["api"], "ibplan/v1");
    value
}

fn codes(response: &Value) -> Vec<(&str, &str)> {
    response["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| (e["code"].as_str().unwrap(), e["path"].as_str().unwrap()))
        .collect()
}

fn request(operation: &str, desired: &Value) -> Vec<u8> {
    json!({"api": "ibplan/v1", "operation": operation, "desired": desired})
        .to_string()
        .into_bytes()
}

/// Texts that are no request: name, text, code, pointer.
const TEXTS: &[(&str, &[u8], &str, &str)] = &[
    ("nothing", b"", "request.syntax", "/request"),
    (
        "not UTF-8",
        b"{\"api\":\"\xff\xfe\"}",
        "request.syntax",
        "/request",
    ),
    ("NUL bytes", &[0; 64], "request.syntax", "/request"),
    ("half", b"{\"api\":\"ibplan/v1\"", "request.syntax", "/request"),
    ("two", b"{}{}", "request.syntax", "/request"),
    (
        "operation",
        br#"{"api":"ibplan/v1","operation":"check"}"#,
        "request.operation",
        "/request/operation",
    ),
    (
        "version",
        br#"{"api":"ibplan/v2","operation":"plan","desired":{}}"#,
        "request.api",
        "/request/api",
    ),
    (
        "no document",
        br#"{"api":"ibplan/v1","operation":"plan"}"#,
        "request.missing_field",
        "/request/desired",
    ),
    (
        "unknown option",
        br#"{"api":"ibplan/v1","operation":"plan","desired":{},"options":{"check":true}}"#,
        "request.unknown_field",
        "/request/options/check",
    ),
    (
        "replayed apply",
        br#"{"api":"ibplan/v1","operation":"apply","desired":{},"options":{"replay":true,"root":"/srv"}}"#,
        "request.option",
        "/request/options/replay",
    ),
];

/// Documents that are refused: the document, code, pointer.
const DOCUMENTS: &[(&str, &str, &str)] = &[
    (
        r#"{"ipoib":[{"interface":"ib0","mtu":1,"mtu":2}]}"#,
        "request.duplicate_key",
        "/ipoib/0/mtu",
    ),
    (
        r#"{"sysctl":{"net.core.rmem_max":1e999}}"#,
        "request.syntax",
        "/request",
    ),
    (
        r#"{"subnet_manager":{"instances":[{"priority":16}]}}"#,
        "request.shape",
        "/subnet_manager/instances/0/priority",
    ),
    (
        r#"{"ipoib":[{"interface":"ib0","mtu":-1}]}"#,
        "request.shape",
        "/ipoib/0/mtu",
    ),
    (
        r#"{"ipoib":[{"interface":"ib0","mtu":18446744073709551616}]}"#,
        "request.shape",
        "/ipoib/0/mtu",
    ),
    (
        r#"{"ipoib":[{"interface":"../ib0"}]}"#,
        "request.shape",
        "/ipoib/0/interface",
    ),
    (
        r#"{"ipoib":[{"interface":"ib0;reboot"}]}"#,
        "request.shape",
        "/ipoib/0/interface",
    ),
    (
        r#"{"modules":[{"name":"$(reboot)"}]}"#,
        "request.shape",
        "/modules/0/name",
    ),
    (
        r#"{"modules":[{"name":"ib_umad\u0000"}]}"#,
        "request.shape",
        "/modules/0/name",
    ),
    (
        r#"{"limits":{"memlock":"unlimited","users":["a\n* - memlock 0"]}}"#,
        "request.shape",
        "/limits/users/0",
    ),
    (
        r#"{"limits":{"memlock":"unlimited","services":["../../x"]}}"#,
        "request.shape",
        "/limits/services/0",
    ),
    (
        r#"{"sysctl":{"net/../../etc/passwd":1}}"#,
        "request.shape",
        "/sysctl/net~1..~1..~1etc~1passwd",
    ),
    (r#"{"stack":{}}"#, "request.section_not_served", "/stack"),
    (r#"{"colour":1}"#, "request.unknown_field", "/colour"),
];

/// Roots that are refused by their name alone.
const ROOTS: &[&str] = &[
    "",
    ".",
    "srv/image",
    "/srv/../etc",
    "/srv/./image",
    "/srv\\u0000/image",
    "/nonexistent/image",
    "/dev/null",
];

fn refused(name: &str, input: &[u8], code: &str, path: &str, status: i32) {
    let output = run(HOST, &[], input);
    let response = response(&output);
    let found = codes(&response);
    assert!(
        found.contains(&(code, path)),
        "{name}: wanted {code} at {path}, got {found:?}"
    );
    assert_eq!(output.status.code(), Some(status), "{name}: {response}");
    assert_eq!(
        (&response["ok"], &response["changed"]),
        (&json!(false), &json!(false)),
        "{name}"
    );
    assert_eq!(output.stderr, b"", "{name}");
}

#[test]
fn every_kind_of_bad_input_has_its_code_and_status_2() {
    for (name, text, code, path) in TEXTS {
        refused(name, text, code, path, 2);
    }
    for (document, code, path) in DOCUMENTS {
        let input = format!(r#"{{"api":"ibplan/v1","operation":"plan","desired":{document}}}"#);
        refused(document, input.as_bytes(), code, path, 2);
    }
    let nested = |n: usize, step: &str| "/request".to_owned() + &step.repeat(n);
    refused(
        "deep list",
        "[".repeat(1 << 20).as_bytes(),
        "request.too_deep",
        &nested(65, "/0"),
        2,
    );
    refused(
        "deep object",
        r#"{"a":"#.repeat(1 << 16).as_bytes(),
        "request.too_deep",
        &nested(65, "/a"),
        2,
    );
}

#[test]
fn bad_roots_are_refused_with_status_3() {
    for root in ROOTS {
        let input = format!(
            r#"{{"api":"ibplan/v1","operation":"apply","desired":{{}},"options":{{"root":"{root}"}}}}"#
        );
        refused(root, input.as_bytes(), "host.root", "/request/options/root", 3);
    }
}

#[test]
fn an_endless_request_is_refused_early() {
    for limit in [64usize << 20, 1 << 30] {
        let mut child = Command::new(HOST)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let feeder = std::thread::spawn(move || {
            let block = vec![b' '; 1 << 16];
            let mut sent = 0;
            while sent < limit && stdin.write_all(&block).is_ok() {
                sent += block.len();
            }
            sent
        });
        let output = child.wait_with_output().unwrap();
        let sent = feeder.join().unwrap();
        assert_eq!(codes(&response(&output)), [("request.too_large", "/request")]);
        assert_eq!(output.status.code(), Some(2));
        // The pipe itself holds 64 KiB, or 1 MiB where an administrator says so.
        assert!(sent <= (16 << 20) + (2 << 20), "{sent} bytes were taken");
    }
}

#[test]
fn a_large_request_within_the_limit_is_read_whole() {
    let mut input = request("version", &json!({}));
    input.resize(16 << 20, b' ');
    let output = run(HOST, &[], &input);
    assert_eq!(output.status.code(), Some(0), "{}", response(&output));
}

#[test]
fn the_file_named_by_the_only_argument_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a request.json");
    std::fs::write(&file, request("version", &json!({}))).unwrap();
    for (name, program, _) in PROGRAMS {
        let output = run(program, &[file.to_str().unwrap()], b"not read");
        let response = response(&output);
        assert_eq!(output.status.code(), Some(0), "{response}");
        assert_eq!(response["operation"], "version");
        assert_eq!(response["tool"], format!("{name} {}", env!("CARGO_PKG_VERSION")));
    }
}

#[test]
fn wrong_command_lines_are_refused_with_a_response() {
    let cases: [(&[&str], &str); 4] = [
        (&["a", "b"], "request.arguments"),
        (&["--root", "/srv"], "request.arguments"),
        (&["/nonexistent/request.json"], "request.unreadable"),
        (&["/"], "request.unreadable"),
    ];
    for (args, code) in cases {
        let output = run(HOST, args, b"");
        assert_eq!(codes(&response(&output)), [(code, "/request")], "{args:?}");
        assert_eq!(output.status.code(), Some(2), "{args:?}");
    }
}

#[test]
fn version_and_help_are_for_people() {
    for (name, program, sections) in PROGRAMS {
        let version = run(program, &["--version"], b"");
        assert_eq!(
            String::from_utf8(version.stdout).unwrap(),
            format!("{name} {}\n", env!("CARGO_PKG_VERSION"))
        );
        let help = String::from_utf8(run(program, &["--help"], b"").stdout).unwrap();
        assert!(
            help.contains(&format!("sections: {}\n", sections.join(" "))),
            "{help}"
        );
    }
}

#[test]
fn narrow_programs_refuse_the_sections_of_others() {
    let documents = [
        ("modules", json!([{"name": "ib_umad"}])),
        ("subnet_manager", json!({})),
        ("ipoib", json!([{"interface": "ib0"}])),
        ("bonds", json!([])),
        ("network_backend", json!("auto")),
        ("sysctl", json!({"net.core.rmem_max": 4096})),
        ("sysctl_profile", json!("ipoib_throughput")),
        ("limits", json!({"memlock": "unlimited"})),
    ];
    let root = tempfile::tempdir().unwrap();
    for (_, program, sections) in &PROGRAMS[1..] {
        for (section, document) in &documents {
            let desired = json!({ *section: document });
            let options = json!({"root": root.path().to_str().unwrap()});
            let input =
                json!({"api": "ibplan/v1", "operation": "plan", "desired": desired, "options": options});
            let output = run(program, &[], input.to_string().as_bytes());
            let response = response(&output);
            let refused = codes(&response)
                .iter()
                .any(|(c, p)| *c == "request.section_not_served" && *p == format!("/{section}"));
            assert_eq!(
                refused,
                !sections.contains(section),
                "{program} {section}: {response}"
            );
            assert!(!refused || output.status.code() == Some(2));
        }
    }
}

#[test]
fn a_reader_that_went_away_does_no_harm() {
    // Standard output and error are pipes whose other ends are closed: SIGPIPE must not kill the program.
    let mut child = Command::new(HOST)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    drop(child.stderr.take());
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&request("version", &json!({}))).unwrap();
    drop(stdin);
    // Done, but the response was not delivered: "failed", and no signal.
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn a_full_disk_for_the_response_is_a_failure() {
    let full = std::fs::File::create("/dev/full").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("request.json");
    std::fs::write(&file, request("version", &json!({}))).unwrap();
    let status = Command::new(HOST).arg(&file).stdout(full).status().unwrap();
    assert_eq!(status.code(), Some(1));
}

fn panics() -> PathBuf {
    // Cargo builds examples together with tests, in a folder beside the programs.
    let path = Path::new(HOST).with_file_name("examples").join("panics");
    assert!(
        path.is_file(),
        "{} is missing: build with --all-targets",
        path.display()
    );
    path
}

#[test]
fn a_panic_ends_in_one_response_and_status_70() {
    for (how, said) in [
        ("fixed", "a fixed text"),
        ("thread", "in a thread"),
        ("locked", "while printing"),
        ("hunter2", "panics.rs:"),
    ] {
        let output = Command::new(panics()).arg(how).output().unwrap();
        let response = response(&output);
        assert_eq!(output.status.code(), Some(70), "{how}");
        assert_eq!(codes(&response), [("internal.bug", "/request")], "{how}");
        assert!(
            response["errors"][0]["message"].as_str().unwrap().contains(said),
            "{how}: {response}"
        );
        assert!(
            !response.to_string().contains("hunter2"),
            "a value was quoted: {response}"
        );
        assert_eq!(output.stderr, b"", "{how}");
    }
}
