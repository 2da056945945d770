//! Running programs: said aloud, by argument vector, never through a shell.

use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The repository.
pub(crate) fn root() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    let here = PathBuf::from(here);
    here.ancestors().nth(2).unwrap_or(&here).to_owned()
}

/// A program with its arguments, to be run in the repository.
pub(crate) fn command(program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root());
    command
}

/// A `cargo` command, with the cargo that runs this program.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    command(&cargo, arguments)
}

/// The command line, as a person would type it.
fn shown(command: &Command) -> String {
    let program = command.get_program().to_string_lossy();
    let program = program.rsplit('/').next().unwrap_or_default().to_owned();
    let words = command.get_args().map(|a| a.to_string_lossy().into_owned());
    std::iter::once(program)
        .chain(words)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Runs a command with its output shown.
pub(crate) fn show(mut command: Command) -> Result<()> {
    let line = shown(&command);
    println!("$ {line}");
    let status = command.status().with_context(|| format!("cannot run `{line}`"))?;
    if status.success() {
        Ok(())
    } else {
        bail!("`{line}` failed: {status}")
    }
}

/// Runs a command and takes its standard output.
pub(crate) fn read(mut command: Command) -> Result<String> {
    let line = shown(&command);
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot run `{line}`"))?;
    if output.status.success() {
        String::from_utf8(output.stdout).with_context(|| format!("`{line}` writes no UTF-8"))
    } else {
        bail!("`{line}` failed: {}", output.status)
    }
}

/// Whether a program can be run at all.
pub(crate) fn there(program: &str, argument: &str) -> bool {
    Command::new(program)
        .arg(argument)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|s| s.success())
}

/// What cargo knows about the workspace.
pub(crate) fn metadata(arguments: &[&str]) -> Result<serde_json::Value> {
    let line = [&["metadata", "--format-version", "1"], arguments].concat();
    serde_json::from_str(&read(cargo(&line))?).context("cargo metadata writes no JSON")
}

/// The folder that cargo builds into.
pub(crate) fn target_dir() -> Result<PathBuf> {
    let metadata = metadata(&["--no-deps"])?;
    let folder = metadata["target_directory"].as_str();
    folder
        .map(PathBuf::from)
        .context("cargo metadata names no target directory")
}
