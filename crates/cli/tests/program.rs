//! The real `ibplan`, driven from outside.

#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const IBPLAN: &str = env!("CARGO_BIN_EXE_ibplan");

/// Runs `ibplan` in a folder.
fn run(folder: &Path, args: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(IBPLAN)
        .args(args)
        .current_dir(folder)
        .env_remove("CLICOLOR_FORCE")
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

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// A folder with these files.
fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        std::fs::write(folder.path().join(name), content).unwrap();
    }
    folder
}

/// Output and status, as a person sees them.
fn seen(output: &Output) -> String {
    assert_eq!(text(&output.stderr), "");
    format!("{}[exit {}]", text(&output.stdout), output.status.code().unwrap())
}

/// The codes of errors, from the protocol's answer.
fn codes(folder: &Path, args: &[&str], input: &[u8]) -> (Vec<String>, i32) {
    let output = run(folder, &[args, &["--json"]].concat(), input);
    let response: Value = serde_json::from_slice(&output.stdout).unwrap();
    let codes = response["errors"].as_array().unwrap();
    (
        codes
            .iter()
            .map(|e| e["code"].as_str().unwrap().to_owned())
            .collect(),
        output.status.code().unwrap(),
    )
}

const GOOD: &str = "api: ibplan/v1\nmodules:\n  - name: ib_umad\nsysctl: {net.core.rmem_max: 134217728}\n";

const MISTAKES: &str = r#"# Every mistake is told, with its place.
api: ibplan/v1
defaults: &link {mtu: auto, dhcp4: yes}
ipoib:
  - interface: ib0
    mode: conected
    mtu: 99999
  - interface: "ib0;reboot"
    partitions:
      - pkey: 0x8000
      - pkey: 0x0010
        pkey: 0x0011
subnet_manger:
  state: running
stack: {source: inbox}
limits: {}
"#;

#[test]
fn validate_tells_every_mistake_of_every_file() {
    let json = br#"{
  "api": "ibplan/v1",
  "subnet_manager": {
    "instances": [{"priority": 16}],
    "colour": "red"
  }
}"#;
    let folder = folder(&[
        ("good.yaml", GOOD.as_bytes()),
        ("bad.yaml", MISTAKES.as_bytes()),
        ("bad.json", json),
        (
            "broken.yaml",
            b"api: ibplan/v1\nipoib:\n  - interface: ib0\n   mtu: 5\n",
        ),
        ("broken.json", b"{\"api\": \"ibplan/v1\",}"),
    ]);
    let args = [
        "validate",
        "good.yaml",
        "bad.yaml",
        "bad.json",
        "broken.yaml",
        "broken.json",
        "missing.yaml",
    ];
    insta::assert_snapshot!(seen(&run(folder.path(), &args, b"")));
}

#[test]
fn validate_says_when_all_is_good() {
    let folder = folder(&[("a.yaml", GOOD.as_bytes())]);
    let one = run(folder.path(), &["validate", "a.yaml"], b"");
    assert_eq!(one.status.code(), Some(0), "{}", text(&one.stdout));
    let two = run(folder.path(), &["validate", "a.yaml", "-"], GOOD.as_bytes());
    assert!(
        text(&two.stdout).starts_with("All 2 documents are good"),
        "{}",
        text(&two.stdout)
    );
}

#[test]
fn validate_in_json_gives_line_and_column() {
    let folder = folder(&[
        ("a.yaml", GOOD.as_bytes()),
        ("b.yaml", b"api: ibplan/v1\nlimits:\n  memlock: 1\n"),
    ]);
    let output = run(folder.path(), &["validate", "--json", "a.yaml", "b.yaml"], b"");
    let lines: Vec<Value> = text(&output.stdout)
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        lines[0],
        json!({"file": "a.yaml", "ok": true, "errors": [], "warnings": []})
    );
    let error = &lines[1]["errors"][0];
    assert_eq!((&error["line"], &error["column"]), (&json!(3), &json!(12)));
    assert_eq!(error["path"], "/limits/memlock");
}

/// Documents that are refused: name, text, code.
const BAD: &[(&str, &[u8], &str)] = &[
    ("empty", b"", "request.api"),
    ("comment", b"# nothing\n", "request.api"),
    ("word", b"hello", "request.shape"),
    ("no api", b"modules: []", "request.api"),
    ("other api", b"api: ibplan/v9", "request.api"),
    ("not UTF-8", b"api: \xff", "request.syntax"),
    ("NUL", b"api: \0", "request.syntax"),
    ("deep", &[b'['; 1 << 16], "request.too_deep"),
    (
        "twice",
        b"api: ibplan/v1\nmodules: []\nmodules: []\n",
        "request.duplicate_key",
    ),
    (
        "two documents",
        b"api: ibplan/v1\n---\napi: ibplan/v1\n",
        "request.syntax",
    ),
    ("vault", b"api: ibplan/v1\nmodules: !vault x\n", "request.syntax"),
    (
        "octal",
        b"api: ibplan/v1\nlimits: {memlock: 0644}\n",
        "request.syntax",
    ),
    (
        "range",
        b"api: ibplan/v1\nlimits: {memlock: 99999999999999999999}\n",
        "request.shape",
    ),
    (
        "slash",
        b"api: ibplan/v1\nipoib: [{interface: a/../b}]\n",
        "request.shape",
    ),
    (
        "shell",
        b"api: ibplan/v1\nmodules: [{name: $(reboot)}]\n",
        "request.shape",
    ),
    (
        "JSON twice",
        br#"{"api":"ibplan/v1","limits":{"memlock":64,"memlock":65}}"#,
        "request.duplicate_key",
    ),
];

#[test]
fn bad_documents_are_refused_by_every_command_with_the_same_codes() {
    let root = tempfile::tempdir().unwrap();
    let at = root.path().to_str().unwrap();
    for (name, input, wanted) in BAD {
        for command in ["plan", "apply", "verify"] {
            let (found, exit) = codes(root.path(), &[command, "-", "--root", at], input);
            assert_eq!((found, exit), (vec![(*wanted).to_owned()], 2), "{name} {command}");
        }
    }
    let left = std::fs::read_dir(root.path()).unwrap().count();
    assert_eq!(left, 0, "a refused document touched the root");
}

#[test]
fn an_endless_document_is_refused_early() {
    let mut child = Command::new(IBPLAN)
        .args(["validate", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let feeder = std::thread::spawn(move || {
        let block = b"a: 1\n".repeat(1 << 13);
        let mut sent = 0;
        while sent < 64 << 20 && stdin.write_all(&block).is_ok() {
            sent += block.len();
        }
        sent
    });
    let output = child.wait_with_output().unwrap();
    assert!(
        text(&output.stdout).contains("request.too_large"),
        "{}",
        text(&output.stdout)
    );
    assert_eq!(output.status.code(), Some(2));
    let sent = feeder.join().unwrap();
    assert!(sent < (16 << 20) + (2 << 20), "{sent} bytes were taken");
}

#[test]
fn options_are_refused_by_their_own_names() {
    let folder = folder(&[("a.yaml", GOOD.as_bytes())]);
    let refused = |args: &[&str]| {
        let output = run(folder.path(), args, b"");
        (text(&output.stdout).to_owned(), output.status.code().unwrap())
    };
    for (args, option, code, exit) in [
        (
            &["plan", "a.yaml", "--root", "missing"][..],
            "--root",
            "host.root",
            3,
        ),
        (&["plan", "a.yaml", "--root", "a.yaml"], "--root", "host.root", 3),
        (&["plan", "a.yaml", "--replay"], "--replay", "request.option", 2),
        (
            &["apply", "a.yaml", "--replay", "--root", "."],
            "--replay",
            "request.option",
            2,
        ),
        (
            &["plan", "a.yaml", "--root", ".", "--deadline", "0"],
            "--deadline",
            "request.shape",
            2,
        ),
        (
            &["last", "--root", ".", "--lock-timeout", "soon"],
            "--lock-timeout",
            "request.shape",
            2,
        ),
        (
            &["rollback", "--root", ".", "--transaction", "0"],
            "--transaction",
            "request.shape",
            2,
        ),
        (
            &["last", "--root", ".", "--transaction", "5"],
            "--transaction",
            "host.no_transaction",
            3,
        ),
    ] {
        let (said, status) = refused(args);
        assert_eq!(status, exit, "{args:?}: {said}");
        assert!(
            said.contains(&format!("--> option {option}\n")),
            "{args:?}: {said}"
        );
        assert!(said.contains(&format!("error[{code}]")), "{args:?}: {said}");
    }
    let (_, status) = refused(&["plan", "a.yaml", "--no-such-option"]);
    assert_eq!(status, 2);
}

#[test]
fn json_is_the_protocol_unchanged() {
    let root = folder(&[]);
    let at = root.path().to_str().unwrap();
    let output = run(
        root.path(),
        &["plan", "-", "--root", at, "--json"],
        GOOD.as_bytes(),
    );
    assert_eq!(text(&output.stdout).lines().count(), 1);
    let response: Value = serde_json::from_slice(&output.stdout).unwrap();
    let names: Vec<&str> = response.as_object().unwrap().keys().map(String::as_str).collect();
    let mut wanted = [
        "api",
        "tool",
        "operation",
        "ok",
        "changed",
        "changes",
        "diff",
        "steps",
        "warnings",
        "pending",
        "errors",
        "facts",
        "verify",
        "transaction",
    ];
    wanted.sort_unstable();
    assert_eq!(names, wanted);
    assert_eq!(response["operation"], "plan");
}

#[test]
fn colours_are_for_terminals_and_for_those_who_ask() {
    let folder = folder(&[("bad.yaml", MISTAKES.as_bytes())]);
    let shown = |color: &str| run(folder.path(), &["--color", color, "validate", "bad.yaml"], b"").stdout;
    assert!(!text(&shown("auto")).contains('\x1b'));
    assert!(!text(&shown("never")).contains('\x1b'));
    let coloured = shown("always");
    assert!(text(&coloured).contains("\x1b["));
    assert_eq!(
        anstream::adapter::strip_str(text(&coloured)).to_string(),
        text(&shown("auto"))
    );
}

#[test]
fn explain_wraps_a_paragraph() {
    let here = std::env::temp_dir();
    insta::assert_snapshot!(seen(&run(&here, &["explain", "request.unknown_field"], b"")));
    let listed = run(&here, &["explain"], b"");
    let lines: Vec<&str> = text(&listed.stdout).lines().collect();
    assert!(lines.is_sorted());
    assert!(lines.iter().any(|l| l.starts_with("request.shape ")));
    for line in &lines {
        assert!(line.chars().count() <= 80, "{line}");
        let code = line.split(' ').next().unwrap();
        let told = run(&here, &["explain", code], b"");
        assert_eq!(told.status.code(), Some(0), "{code}");
        for line in text(&told.stdout).lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}

#[test]
fn explain_knows_what_was_meant() {
    let here = std::env::temp_dir();
    for (said, near) in [
        ("host.buzy", "host.busy"),
        ("busy", "host.busy"),
        ("request.duplicatekey", "request.duplicate_key"),
        ("unknown_feild", "request.unknown_field"),
    ] {
        let output = run(&here, &["explain", said], b"");
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(text(&output.stdout), "");
        assert!(
            text(&output.stderr).contains(near),
            "{said}: {}",
            text(&output.stderr)
        );
    }
    let output = run(&here, &["explain", "[request.shape]"], b"");
    assert_eq!(output.status.code(), Some(0), "copied with its brackets");
}

#[test]
fn schemas_are_printed_as_checked_in() {
    let here = std::env::temp_dir();
    for (args, file) in [
        (&["schema"][..], "host"),
        (&["schema", "host"], "host"),
        (&["schema", "request"], "request"),
        (&["schema", "response"], "response"),
    ] {
        let path = format!(
            "{}/../../schemas/v1/{file}.schema.json",
            env!("CARGO_MANIFEST_DIR")
        );
        let output = run(&here, args, b"");
        assert_eq!(text(&output.stdout), std::fs::read_to_string(path).unwrap());
        assert_eq!(output.status.code(), Some(0));
    }
}

#[test]
fn a_reader_that_went_away_is_no_failure() {
    let mut child = Command::new(IBPLAN)
        .arg("schema")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
    let full = std::fs::File::create("/dev/full").unwrap();
    let status = Command::new(IBPLAN).arg("schema").stdout(full).status().unwrap();
    assert_eq!(status.code(), Some(1), "a full disk is one");
}

#[test]
fn a_fresh_root_has_no_transactions() {
    let root = tempfile::tempdir().unwrap();
    let at = root.path().to_str().unwrap();
    let last = run(root.path(), &["last", "--root", at], b"");
    assert_eq!(text(&last.stdout), "No transaction is kept on this host.\n");
    let facts = run(root.path(), &["facts", "--root", at], b"");
    assert!(
        text(&facts.stdout).contains("none: no RDMA device"),
        "{}",
        text(&facts.stdout)
    );
    let (found, exit) = codes(root.path(), &["rollback", "--root", at], b"");
    assert_eq!((found, exit), (vec!["host.no_transaction".to_owned()], 3));
}

/// An image of which only the distribution is known.
fn image() -> tempfile::TempDir {
    let root = folder(&[]);
    std::fs::create_dir(root.path().join("etc")).unwrap();
    let release = "ID=debian\nVERSION_ID=\"12\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n";
    std::fs::write(root.path().join("etc/os-release"), release).unwrap();
    root
}

#[test]
fn an_image_is_planned_changed_kept_and_given_back() {
    let root = image();
    let here = folder(&[(
        "host.yaml",
        b"api: ibplan/v1\nsysctl:\n  net.core.rmem_max: 134217728\n",
    )]);
    let at = root.path().to_str().unwrap();
    let file = root.path().join("etc/sysctl.d/90-ibplan.conf");
    let ask = |args: &[&str]| run(here.path(), &[args, &["--root", at]].concat(), b"");

    let plan = ask(&["plan", "host.yaml"]);
    let said = text(&plan.stdout);
    assert!(
        said.contains("  + /sysctl/net.core.rmem_max: nothing → 134217728\n"),
        "{said}"
    );
    assert!(said.contains("+net.core.rmem_max = 134217728\n"), "{said}");
    assert!(
        said.contains(". write file /etc/sysctl.d/90-ibplan.conf\n"),
        "{said}"
    );
    assert!(said.ends_with("; nothing was touched.\n"), "{said}");
    assert!(!file.exists());

    let apply = ask(&["apply", "host.yaml"]);
    let said = text(&apply.stdout);
    assert!(
        said.contains("write file /etc/sysctl.d/90-ibplan.conf  done\n"),
        "{said}"
    );
    assert!(
        said.ends_with(&format!(
            "Transaction 1; take it back with: ibplan rollback --transaction 1 --root {at}\n"
        )),
        "{said}"
    );
    assert!(
        text(&apply.stderr).contains("] write file /etc/sysctl.d/90-ibplan.conf\n"),
        "{}",
        text(&apply.stderr)
    );
    assert!(file.exists());

    assert_eq!(
        text(&ask(&["plan", "host.yaml"]).stdout),
        "No change: the host is as wanted.\n"
    );
    assert_eq!(ask(&["verify", "host.yaml"]).status.code(), Some(0));
    let last = ask(&["last"]);
    assert!(
        text(&last.stdout).lines().nth(1).unwrap().starts_with("  1 "),
        "{}",
        text(&last.stdout)
    );

    let rollback = ask(&["rollback"]);
    let said = text(&rollback.stdout);
    assert!(said.contains("Transaction 1 was taken back: "), "{said}");
    assert!(!file.exists());
    assert_eq!(ask(&["verify", "host.yaml"]).status.code(), Some(1));
}

/// Plans a document on a captured host.
fn replayed(host: &str, document: &str) -> String {
    let root = format!("{}/../../tests/hosts/{host}", env!("CARGO_MANIFEST_DIR"));
    let here = folder(&[("host.yaml", document.as_bytes())]);
    let args = ["plan", "host.yaml", "--replay", "--root", &root];
    seen(&run(here.path(), &args, b""))
}

#[test]
fn a_plan_on_a_captured_host() {
    let document = "api: ibplan/v1\nsysctl:\n  net.core.rmem_max: 134217728\n  net.ipv4.tcp_rmem: [4096, 87380, 134217728]\n";
    insta::assert_snapshot!(replayed("rocky9-cx6", document));
}

#[test]
fn a_rule_that_needs_the_host_is_shown_in_the_file() {
    let document = "api: ibplan/v1\nsubnet_manager:\n  instances:\n    - port: {guid: 0xb83fd20300aa10c4}\n      priority: 14\n";
    insta::assert_snapshot!(replayed("debian12-cx6", document));
}
