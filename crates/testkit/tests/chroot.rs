//! The static programs run where there is nothing: no library, no loader, no `/proc`, no `/dev`.

#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const PROGRAMS: [&str; 4] = ["ibplan-host", "ibplan-sysctl", "ibplan-opensm", "ibplan-ipoib"];
const TARGET: &str = "x86_64-unknown-linux-musl";

/// The folder of the static programs: `IBPLAN_BIN_DIR` where the suite has built what is shipped, else a quick build of
/// the same sources.
fn programs() -> PathBuf {
    if let Some(folder) = std::env::var_os("IBPLAN_BIN_DIR") {
        return folder.into();
    }
    let exe = std::env::current_exe().unwrap();
    let target = exe.ancestors().nth(3).unwrap();
    let built = Command::new(env!("CARGO"))
        .args([
            "build",
            "--quiet",
            "-p",
            "ibplan-bins",
            "--target",
            TARGET,
            "--target-dir",
        ])
        .arg(target)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .unwrap();
    assert!(
        built.success(),
        "cannot build for {TARGET}: run `rustup target add {TARGET}`"
    );
    target.join(TARGET).join("debug")
}

/// Runs the program in a folder that holds nothing but it.
fn run(folder: &Path, program: &str, request: &Value) -> Output {
    let root = rustix::process::geteuid().is_root();
    let mut command = if root {
        Command::new("chroot")
    } else {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "chroot"]);
        command
    };
    let mut child = command
        .arg(folder)
        .arg(format!("/{program}"))
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|e| panic!("chroot or unshare is missing ({e}): install coreutils and util-linux"));
    child
        .stdin
        .take()
        .unwrap()
        .write_all(request.to_string().as_bytes())
        .unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn every_program_answers_in_an_empty_root() {
    let built = programs();
    for program in PROGRAMS {
        let folder = tempfile::tempdir().unwrap();
        std::fs::copy(built.join(program), folder.path().join(program)).unwrap();
        let said = |operation: &str, desired: Value| {
            let request = json!({"api": "ibplan/v1", "operation": operation, "desired": desired});
            let output = run(folder.path(), program, &request);
            let text = String::from_utf8(output.stdout).unwrap();
            let response: Value = serde_json::from_str(&text)
                .unwrap_or_else(|e| panic!("{program} {operation}: {e}: {text:?} {:?}", output.status));
            (response, output.status.code())
        };
        let (version, status) = said("version", json!({}));
        assert_eq!(status, Some(0), "{version}");
        assert_eq!(version["facts"]["name"], program);

        let (facts, status) = said("facts", json!({}));
        assert_eq!(status, Some(0), "{facts}");
        assert_eq!(facts["facts"]["devices"], json!([]), "{facts}");

        let (refused, status) = said("plan", json!({"colour": 1}));
        assert_eq!(status, Some(2), "{refused}");
        assert_eq!(refused["errors"][0]["code"], "request.unknown_field");

        // A plan of nothing is no change, even where there is nothing.
        let (plan, status) = said("plan", json!({}));
        assert_eq!((status, &plan["changed"]), (Some(0), &json!(false)), "{plan}");
        let left = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, 1, "{program} left something behind");
    }
}
