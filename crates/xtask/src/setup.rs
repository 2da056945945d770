//! Installs by name what tests need, and says what it does.

use crate::shell::{self, command, show};
use anyhow::{Context, Result, bail};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Debian packages whose programs judge what ibplan writes, or build and trace it.
const PACKAGES: &[&str] = &[
    "opensm",
    "infiniband-diags",
    "ibsim-utils",
    "rdma-core",
    "network-manager",
    "netplan.io",
    "ifupdown",
    "ifenslave",
    "systemd",
    "kmod",
    "iproute2",
    "procps",
    "gcc",
    "strace",
    "udev",
    "python3",
    "python3-venv",
];

/// Targets of the programs that are shipped: fully static, for any distribution.
pub(crate) const TARGETS: &[&str] = &["x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl"];

/// The cargo-deny that deny.toml is written for.
const CARGO_DENY: &str = "0.20.2";

/// The ruff that ruff.toml is written for.
const RUFF: &str = "ruff==0.17.6";

/// Everything; what one part cannot get does not keep the others from trying.
pub(crate) fn run() -> Result<()> {
    let mut failed = Vec::new();
    for done in [packages(), components(), targets(), cargo_deny(), python()] {
        if let Err(error) = done {
            println!("setup: {error:#}");
            failed.push(format!("{error:#}"));
        }
    }
    if failed.is_empty() {
        Ok(())
    } else {
        bail!("setup is incomplete: {}", failed.join("; "))
    }
}

/// Whether the standard library of a target is installed.
pub(crate) fn has_target(target: &str) -> bool {
    let mut rustc = command("rustc", &["--print", "target-libdir", "--target", target]);
    rustc.stderr(std::process::Stdio::null());
    shell::read(rustc).is_ok_and(|folder| Path::new(folder.trim()).is_dir())
}

fn installed(package: &str) -> bool {
    let mut query = command("dpkg-query", &["-W", "-f", "${db:Status-Status}", package]);
    query.stderr(std::process::Stdio::null());
    query.output().is_ok_and(|o| o.stdout == b"installed")
}

fn packages() -> Result<()> {
    let missing: Vec<&str> = PACKAGES.iter().copied().filter(|p| !installed(p)).collect();
    if missing.is_empty() {
        println!("setup: packages: all {} are installed", PACKAGES.len());
        return Ok(());
    }
    println!("setup: packages: missing {}", missing.join(" "));
    let by_hand = format!(
        "run as root: apt-get update && apt-get install --no-install-recommends {}",
        missing.join(" ")
    );
    if !shell::there("apt-get", "--version") {
        bail!(
            "there is no apt-get here; install the equivalents of {}",
            missing.join(" ")
        );
    }
    let root = shell::read(command("id", &["-u"]))?.trim() == "0";
    if !root && !shell::there("sudo", "-V") {
        bail!("not root, and there is no sudo; {by_hand}");
    }
    let _quiet = if root { Some(Quiet::new()?) } else { None };
    let apt = |arguments: &[&str]| {
        let line = [&["DEBIAN_FRONTEND=noninteractive", "apt-get", "-y"], arguments].concat();
        if root {
            command("env", &line)
        } else {
            command("sudo", &[&["env"], &line[..]].concat())
        }
    };
    show(apt(&["update"])).context(by_hand.clone())?;
    let install = [&["install", "--no-install-recommends"], &missing[..]].concat();
    show(apt(&install)).context(by_hand)
}

/// While it lives, packages that are installed start no service (policy-rc.d; invoke-rc.d(8)).
struct Quiet {
    before: Option<PathBuf>,
}

const POLICY: &str = "/usr/sbin/policy-rc.d";

impl Quiet {
    fn new() -> Result<Self> {
        let kept = PathBuf::from(format!("{POLICY}.before-xtask"));
        let before = Path::new(POLICY).exists().then_some(kept);
        if let Some(kept) = &before {
            fs::rename(POLICY, kept).context("cannot set policy-rc.d aside")?;
        }
        let quiet = Self { before };
        fs::write(POLICY, "#!/bin/sh\nexit 101\n").context("cannot write policy-rc.d")?;
        fs::set_permissions(POLICY, Permissions::from_mode(0o755))
            .context("cannot make policy-rc.d runnable")?;
        println!("setup: {POLICY} forbids services to start until the packages are installed");
        Ok(quiet)
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        let done = match &self.before {
            Some(kept) => fs::rename(kept, POLICY),
            None => fs::remove_file(POLICY),
        };
        match done {
            Ok(()) => println!("setup: {POLICY} is as it was"),
            Err(error) => println!("setup: {POLICY} could not be put back: {error}; look at it by hand"),
        }
    }
}

fn components() -> Result<()> {
    for (component, program) in [("clippy", "cargo-clippy"), ("rustfmt", "cargo-fmt")] {
        if shell::there(program, "--version") {
            println!("setup: {component} is installed");
        } else {
            show(command("rustup", &["component", "add", component]))?;
        }
    }
    Ok(())
}

pub(crate) fn targets() -> Result<()> {
    let missing: Vec<&str> = TARGETS.iter().copied().filter(|t| !has_target(t)).collect();
    if missing.is_empty() {
        println!("setup: targets {} are installed", TARGETS.join(", "));
        return Ok(());
    }
    let line = [&["target", "add"], &missing[..]].concat();
    if let Err(error) = show(command("rustup", &line)) {
        println!("setup: {error:#}");
    }
    for target in missing {
        if has_target(target) {
            println!("setup: target {target} is installed");
        } else if target.starts_with("x86_64") {
            println!(
                "setup: NOTE: {target} is not to be had here; programs are built for x86_64-unknown-linux-gnu with \
                 -C target-feature=+crt-static instead: static too, but larger, and with glibc's name service inside"
            );
        } else {
            bail!("target {target} is not to be had here, so its programs cannot be built");
        }
    }
    Ok(())
}

fn cargo_deny() -> Result<()> {
    if shell::there("cargo-deny", "--version") {
        println!("setup: cargo-deny is installed");
        return Ok(());
    }
    let wanted = ["install", "--locked", "cargo-deny", "--version", CARGO_DENY];
    show(shell::cargo(&wanted))
}

/// A program of the project's own Python environment below the target folder.
pub(crate) fn python_tool(name: &str) -> Result<PathBuf> {
    Ok(shell::target_dir()?.join("python/bin").join(name))
}

/// Python tools live in an environment of the project's own, so that nothing is put into the system's.
fn python() -> Result<()> {
    let wanted = RUFF.replace("==", " ");
    let ruff = python_tool("ruff")?;
    if ruff.is_file() && shell::read(command(&ruff.to_string_lossy(), &["--version"]))?.trim() == wanted {
        println!("setup: {wanted} is installed");
        return Ok(());
    }
    let folder = shell::target_dir()?.join("python");
    show(command(
        "/usr/bin/python3",
        &["-m", "venv", "--clear", &folder.to_string_lossy()],
    ))?;
    show(command(
        &python_tool("pip")?.to_string_lossy(),
        &["install", "--quiet", "--disable-pip-version-check", RUFF],
    ))
}
