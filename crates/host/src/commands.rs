//! Programs run by argument vector: no shell, an empty environment, a deadline, bounded output.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ibplan_core::probe::Output;
use nix::sys::signal::SigSet;
use rustix::process::{self, Pid, Signal};
use std::collections::BTreeSet;

/// Where programs are looked for; the caller's PATH is never believed.
const FOLDERS: &[&str] = &["/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// Most bytes kept of each output stream.
const MAX_OUTPUT: usize = 4 << 20;

/// Why a program gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// It is not on the host.
    #[error("{0} is not installed")]
    Missing(String),
    /// It could not be started.
    #[error("{0} cannot be started: {1}")]
    Start(String, std::io::Error),
    /// It ran too long and was killed with all of its children.
    #[error("{0} was killed after {1} seconds")]
    Deadline(String, u64),
}

/// The path of a program.
pub fn find(program: &str) -> Option<PathBuf> {
    FOLDERS
        .iter()
        .map(|f| Path::new(f).join(program))
        .find(|p| p.is_file())
}

/// Runs a program and waits for it.
///
/// # Errors
/// See [`CommandError`]; an exit status is an answer, not an error.
pub fn run(program: &str, arguments: &[String], limit: Duration) -> Result<Output, CommandError> {
    let path = find(program).ok_or_else(|| CommandError::Missing(program.to_owned()))?;
    let mut command = Command::new(path);
    command
        .args(arguments)
        .env_clear()
        .env("PATH", FOLDERS.join(":"))
        .env("LC_ALL", "C")
        .env("DEBIAN_FRONTEND", "noninteractive")
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    let mut child = spawn(&mut command).map_err(|e| CommandError::Start(program.to_owned(), e))?;
    let out = child.stdout.take().map(collect);
    let err = child.stderr.take().map(collect);
    let end = Instant::now() + limit;
    let mut pause = Duration::from_micros(200);
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() >= end => {
                kill_all(i32::try_from(child.id()).unwrap_or(0));
                let _ = child.wait();
                return Err(CommandError::Deadline(program.to_owned(), limit.as_secs()));
            }
            Ok(None) => {
                std::thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(20));
            }
            Err(e) => return Err(CommandError::Start(program.to_owned(), e)),
        }
    };
    let end = Instant::now() + LINGER;
    Ok(Output {
        status: status.code(),
        stdout: text(out, end),
        stderr: text(err, end),
    })
}

/// Starts a program with no signal held back: a child inherits the mask of the thread that starts it, and a daemon that is
/// deaf to SIGTERM could not be stopped. What has arrived is noted first, so that it does not end this program instead.
fn spawn(command: &mut Command) -> std::io::Result<Child> {
    std::thread::scope(|scope| {
        let starter = scope.spawn(|| {
            crate::signals::note_pending();
            SigSet::empty().thread_set_mask()?;
            command.spawn()
        });
        starter
            .join()
            .unwrap_or_else(|_| Err(std::io::Error::other("the thread that starts programs failed")))
    })
}

/// Kills a process, its group, and everything below it: apt gives dpkg a session of its own, and dpkg would go on.
///
/// All are stopped first, and looked for again until no new one is found, so that none can have children meanwhile.
fn kill_all(top: i32) {
    let mut found = BTreeSet::from([top]);
    loop {
        for pid in &found {
            tell(*pid, Signal::STOP);
        }
        let before = found.len();
        add_children(&mut found);
        if found.len() == before {
            break;
        }
    }
    if let Some(group) = Pid::from_raw(top) {
        // It may have ended just now; then there is nothing to kill.
        let _ = process::kill_process_group(group, Signal::KILL);
    }
    for pid in &found {
        tell(*pid, Signal::KILL);
    }
}

fn tell(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid).filter(|_| pid > 1) {
        // As above.
        let _ = process::kill_process(pid, signal);
    }
}

/// Adds all processes whose parent is among them (proc_pid_stat(5): the second field behind the name in brackets).
fn add_children(found: &mut BTreeSet<i32>) {
    let parent = |pid: i32| -> Option<i32> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    };
    let all: Vec<(i32, i32)> = std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(|pid| Some((pid, parent(pid)?)))
        .collect();
    loop {
        let before = found.len();
        found.extend(
            all.iter()
                .filter(|(_, above)| found.contains(above))
                .map(|(pid, _)| *pid)
                .collect::<Vec<_>>(),
        );
        if found.len() == before {
            break;
        }
    }
}

/// How long an output may stay open after its program has ended. A daemon that was started by an installation keeps the
/// stream of its parent for as long as it lives, and says nothing that we wait for.
const LINGER: Duration = Duration::from_secs(2);

/// What was read so far, and a word when the stream has ended.
struct Collector {
    kept: Arc<Mutex<Vec<u8>>>,
    ended: Receiver<()>,
}

/// Reads a stream to its end, so that the program never blocks, and keeps the beginning.
fn collect(mut stream: impl Read + Send + 'static) -> Collector {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let (tell, ended) = mpsc::channel();
    let mine = Arc::clone(&kept);
    std::thread::spawn(move || {
        let mut part = [0u8; 16 << 10];
        while let Ok(length @ 1..) = read_some(&mut stream, &mut part) {
            if let Ok(mut kept) = mine.lock() {
                let room = MAX_OUTPUT.saturating_sub(kept.len());
                kept.extend_from_slice(&part[..length.min(room)]);
            }
        }
        // Nobody may be listening any more.
        let _ = tell.send(());
    });
    Collector { kept, ended }
}

fn read_some(stream: &mut impl Read, part: &mut [u8]) -> std::io::Result<usize> {
    loop {
        match stream.read(part) {
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

fn text(collector: Option<Collector>, end: Instant) -> String {
    let Some(collector) = collector else {
        return String::new();
    };
    let _ = collector
        .ended
        .recv_timeout(end.saturating_duration_since(Instant::now()));
    let bytes = collector.kept.lock().map(|k| k.clone()).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(list: &[&str]) -> Vec<String> {
        list.iter().map(|w| (*w).to_owned()).collect()
    }

    #[test]
    fn an_empty_environment_and_both_streams() {
        let out = run("env", &[], Duration::from_secs(60)).unwrap();
        let mut names: Vec<&str> = out.stdout.lines().filter_map(|l| l.split('=').next()).collect();
        names.sort_unstable();
        assert_eq!(names, ["DEBIAN_FRONTEND", "LC_ALL", "PATH"]);
        let out = run("ls", &words(&["/nowhere-at-all"]), Duration::from_secs(60)).unwrap();
        assert_eq!(out.status, Some(2));
        assert!(out.stderr.contains("nowhere"));
    }

    #[test]
    fn a_program_that_hangs_is_killed_with_its_children() {
        let e = run(
            "sh",
            &words(&["-c", "sleep 1000 & sleep 1000"]),
            Duration::from_millis(200),
        )
        .unwrap_err();
        assert!(matches!(e, CommandError::Deadline(..)), "{e}");
    }

    #[test]
    fn a_child_with_a_session_of_its_own_is_killed_too() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("pid");
        let script = format!("setsid sh -c 'echo $$ >{}; exec sleep 100000'", file.display());
        let e = run(
            "sh",
            &words(&["-c", &format!("{script}; true")]),
            Duration::from_secs(1),
        )
        .unwrap_err();
        assert!(matches!(e, CommandError::Deadline(..)), "{e}");
        let pid: i32 = std::fs::read_to_string(&file).unwrap().trim().parse().unwrap();
        // Dead, or a zombie that nobody has waited for yet; a signal takes its time.
        let alive = || {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            !(stat.is_empty() || stat.contains(") Z ") || stat.contains(") X "))
        };
        let soon = (0..3000).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            !alive()
        });
        assert!(soon, "process {pid} lives on");
    }

    #[test]
    fn a_daemon_that_keeps_the_stream_does_not_hold_us_up() {
        let out = run(
            "sh",
            &words(&["-c", "sleep 100000 & echo $!"]),
            Duration::from_secs(600),
        )
        .unwrap();
        let pid: i32 = out.stdout.trim().parse().unwrap();
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    }

    #[test]
    fn output_is_bounded_and_a_missing_program_is_named() {
        let out = run(
            "head",
            &words(&["-c", "9000000", "/dev/zero"]),
            Duration::from_secs(60),
        )
        .unwrap();
        assert_eq!(out.stdout.len(), MAX_OUTPUT);
        assert!(
            run("no-such-program", &[], Duration::from_secs(1))
                .unwrap_err()
                .to_string()
                .contains("not installed")
        );
    }
}
