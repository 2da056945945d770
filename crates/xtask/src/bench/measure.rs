//! Time, system calls and memory of one program, with strace where a number is to be exact.

use crate::shell;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What strace counted over a program and its children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counts {
    /// System calls.
    pub(super) syscalls: u64,
    /// Programs started, the first included.
    pub(super) programs: u64,
}

fn quiet(program: &Path, argument: Option<&Path>) -> Command {
    let mut command = Command::new(program);
    command.args(argument).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Median wall time in milliseconds, from start to end, process creation included.
pub(super) fn median_ms(program: &Path, argument: Option<&Path>, runs: usize) -> Result<f64> {
    let mut times = Vec::with_capacity(runs);
    for _ in 0..runs {
        let start = Instant::now();
        let status = quiet(program, argument).status();
        let took = start.elapsed();
        let status = status.with_context(|| format!("cannot run {}", program.display()))?;
        if !status.success() {
            bail!("{} failed: {status}", program.display());
        }
        times.push(took.as_secs_f64() * 1000.0);
    }
    times.sort_by(f64::total_cmp);
    times.get(runs / 2).copied().context("no run")
}

/// Counts system calls and programs.
pub(super) fn counts(program: &Path, argument: &Path) -> Result<Counts> {
    let mut strace = Command::new("strace");
    strace
        .args(["-f", "-c", "-o", "/dev/stdout"])
        .arg(program)
        .arg(argument);
    // strace follows the program's own output with its table.
    let table = shell::read(strace)?;
    parse_counts(&table).context("cannot read the table of strace")
}

/// Reads the table of `strace -c`: `% time, seconds, usecs/call, calls, [errors], syscall`.
fn parse_counts(table: &str) -> Option<Counts> {
    let calls = |name: &str| {
        let line = table
            .lines()
            .rfind(|l| l.split_whitespace().next_back() == Some(name))?;
        line.split_whitespace().nth(3)?.parse().ok()
    };
    Some(Counts {
        syscalls: calls("total")?,
        programs: calls("execve")?,
    })
}

/// Peak resident memory in KiB. strace holds the program at its end for half a second, so that the kernel's own high-water
/// mark (VmHWM, proc_pid_status(5)) can be read; a parent's `ru_maxrss` would include the parent itself.
pub(super) fn peak_kib(program: &Path, argument: &Path) -> Result<u64> {
    let mut strace = Command::new("strace");
    strace.args([
        "-qq",
        "-e",
        "trace=exit_group",
        "-e",
        "inject=exit_group:delay_enter=500000",
    ]);
    strace.arg(program).arg(argument);
    strace.stdout(Stdio::null()).stderr(Stdio::null());
    let mut strace = strace.spawn().context("cannot run strace")?;
    let peak = watch(&mut strace);
    strace.wait().context("strace is lost")?;
    peak.context("the program was gone before its memory could be read")
}

fn watch(strace: &mut Child) -> Option<u64> {
    let children = format!("/proc/{0}/task/{0}/children", strace.id());
    let mut peak = None;
    while let Ok(None) = strace.try_wait() {
        let listed = fs::read_to_string(&children).unwrap_or_default();
        for pid in listed.split_whitespace() {
            let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
            // The mark only rises while a program runs, and starts anew with exec: the last reading is the program's own.
            peak = high_water(&status).or(peak);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    peak
}

fn high_water(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_read() {
        let table = "{\"ok\":true}\n% time     seconds  usecs/call     calls    errors syscall\n\
            ------ ----------- ----------- --------- --------- ----------------\n \
            60.00    0.000010          10        12         3 openat\n \
            40.00    0.000005           5         2           execve\n\
            ------ ----------- ----------- --------- --------- ----------------\n\
            100.00    0.000015           1        14         3 total\n";
        let counts = parse_counts(table).unwrap();
        assert_eq!((counts.syscalls, counts.programs), (14, 2));
        assert_eq!(parse_counts("{}"), None);
        assert_eq!(high_water("VmPeak:\t 9 kB\nVmHWM:\t     700 kB\n"), Some(700));
    }
}
