//! Every check, build and test, in order and counted. A failure does not stop the rest: all are collected.

use crate::shell::{self, cargo, command, show};
use crate::tally::{Line, Tally};
use crate::{generate, setup, static_check};
use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

/// Names the folder of the static programs to the tests that run them.
const BIN_DIR: &str = "IBPLAN_BIN_DIR";

/// Runs the whole suite.
pub(crate) fn run(long: bool) -> ExitCode {
    let mut tally = Tally::default();
    tally.step("setup", setup::run);
    tally.step("formatting", || show(cargo(&["fmt", "--all", "--check"])));
    tally.step("clippy, warnings denied", clippy);
    tally.step("licences, bans, sources", || {
        show(cargo(&["deny", "check", "licenses", "bans", "sources"]))
    });
    tally.step("Python", python);
    tally.step("generated files are current", || generate::run(true));
    tally.step("rules of the house", static_check::run);
    tally.step("static programs for x86_64", || {
        show(build_x86_64(musl_or_glibc()))
    });
    tally.step("static programs for aarch64", || {
        let wanted = [
            "build",
            "--release",
            "-p",
            "ibplan-bins",
            "--target",
            "aarch64-unknown-linux-musl",
        ];
        show(cargo(&wanted))
    });
    tally.timed("tests", |tally| tests(tally, long));
    tally.step("captured hosts are current", || {
        show(command(
            "/usr/bin/python3",
            &["tests/hosts/compose.py", "--check"],
        ))
    });
    if tally.close() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn clippy() -> Result<()> {
    let wanted = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--all-features",
        "--",
        "-D",
        "warnings",
    ];
    show(cargo(&wanted))
}

fn python() -> Result<()> {
    let ruff = setup::python_tool("ruff")?.to_string_lossy().into_owned();
    show(command(&ruff, &["check", "."]))?;
    show(command(&ruff, &["format", "--check", "."]))
}

/// Which static target this machine can build for x86_64.
#[derive(Clone, Copy)]
enum Libc {
    Musl,
    Glibc,
}

fn musl_or_glibc() -> Libc {
    if setup::has_target("x86_64-unknown-linux-musl") {
        Libc::Musl
    } else {
        println!("NOTE: no musl target here: the programs are built static with glibc instead");
        Libc::Glibc
    }
}

impl Libc {
    const fn target(self) -> &'static str {
        match self {
            Self::Musl => "x86_64-unknown-linux-musl",
            Self::Glibc => "x86_64-unknown-linux-gnu",
        }
    }
}

/// The target of the static programs on this machine.
pub(crate) fn static_target() -> &'static str {
    musl_or_glibc().target()
}

fn build_x86_64(libc: Libc) -> Command {
    let mut build = cargo(&[
        "build",
        "--release",
        "-p",
        "ibplan-bins",
        "--target",
        libc.target(),
    ]);
    if matches!(libc, Libc::Glibc) {
        build.env("RUSTFLAGS", "-C target-feature=+crt-static");
    }
    build
}

/// Builds the static programs of this machine's kind and names their folder.
pub(crate) fn static_programs() -> Result<PathBuf> {
    let libc = musl_or_glibc();
    show(build_x86_64(libc))?;
    folder_of(libc)
}

fn folder_of(libc: Libc) -> Result<PathBuf> {
    Ok(shell::target_dir()?.join(libc.target()).join("release"))
}

fn tests(tally: &mut Tally, long: bool) {
    let name = "cargo test";
    let before = tally.failed();
    let ended = run_tests(tally, long);
    match ended {
        // A failing test is counted by its own line; without one, the build or a test program itself broke.
        Err(_) if tally.failed() > before => tally.name_failure(name),
        other => drop(tally.one(name, other)),
    }
}

fn run_tests(tally: &mut Tally, long: bool) -> Result<()> {
    let folder = shell::target_dir()?
        .join(musl_or_glibc().target())
        .join("release");
    let mut tests = cargo(&["test", "--workspace", "--all-features", "--no-fail-fast"]);
    tests.env(BIN_DIR, folder).stdout(Stdio::piped());
    if long {
        tests.env("IBPLAN_LONG", "1").env("PROPTEST_CASES", "4096");
    }
    let mut child = tests.spawn().context("cannot run cargo test")?;
    let output = child.stdout.take().context("cargo test has no output")?;
    for line in BufReader::new(output).split(b'\n') {
        let line = line.context("cannot read the output of cargo test")?;
        let text = String::from_utf8_lossy(&line);
        println!("{text}");
        drop(std::io::stdout().flush());
        if let Some(counts) = Line::parse(&text) {
            tally.add(counts);
        } else if let Some(test) = text
            .strip_prefix("test ")
            .and_then(|t| t.strip_suffix(" ... FAILED"))
        {
            tally.name_failure(test);
        }
    }
    let status = child.wait().context("cargo test is lost")?;
    if status.success() {
        Ok(())
    } else {
        bail!("cargo test failed: {status}")
    }
}
