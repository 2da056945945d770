//! A simulated InfiniBand fabric: ibsim answers the management packets, and the real opensm and diagnostics run on it through
//! a preloaded library. One fabric per test, without root, beside others.
//!
//! A program that is missing is a failed test: install ibsim-utils, opensm and infiniband-diags.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long a program may take that answers in well under a second on an idle machine.
const PATIENCE: Duration = Duration::from_secs(90);
/// Where Debian, Ubuntu and others put ibsim's library.
const PRELOAD: &[&str] = &[
    "/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so",
    "/usr/lib/aarch64-linux-gnu/umad2sim/libumad2sim.so",
    "/usr/lib64/umad2sim/libumad2sim.so",
    "/usr/lib/umad2sim/libumad2sim.so",
];

/// What a program said.
#[derive(Clone, Debug, Default)]
pub struct Said {
    /// Exit status; `None` when a signal ended it.
    pub status: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// A running simulator with its folder. Both are gone when it is dropped.
#[derive(Debug)]
pub struct Fabric {
    folder: TempDir,
    simulator: Child,
    socket: String,
    preload: PathBuf,
}

/// A running opensm.
#[derive(Debug)]
pub struct Opensm {
    child: Child,
    folder: PathBuf,
}

static COUNT: AtomicU32 = AtomicU32::new(0);

/// A topology of `tests/fabric`.
pub fn topology(name: &str) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.ancestors().nth(2).expect("the repository");
    root.join("tests/fabric").join(name)
}

/// A command with a clean environment.
fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .env("LC_ALL", "C")
        .stdin(Stdio::null());
    command
}

fn start(command: &mut Command, package: &str) -> Child {
    command
        .spawn()
        .unwrap_or_else(|e| panic!("{}: {e}; install {package}", command.get_program().display()))
}

/// Waits for something, and says what was waited for when it does not come.
fn wait(what: &str, mut ready: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !ready() {
        assert!(Instant::now() < end, "waited in vain for {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Runs a program to its end, with its output in files of a folder.
fn run(command: &mut Command, folder: &Path, package: &str) -> Said {
    let serial = COUNT.fetch_add(1, Ordering::Relaxed);
    let (out, err) = (
        folder.join(format!("out.{serial}")),
        folder.join(format!("err.{serial}")),
    );
    let name = command.get_program().display().to_string();
    command
        .current_dir(folder)
        .stdout(File::create(&out).expect("a file"))
        .stderr(File::create(&err).expect("a file"));
    let mut child = start(command, package);
    let end = Instant::now() + PATIENCE;
    let status = loop {
        if let Some(status) = child.try_wait().expect("a status") {
            break status;
        }
        if Instant::now() > end {
            child.kill().ok();
            child.wait().ok();
            panic!("{name} does not end");
        }
        thread::sleep(Duration::from_millis(5));
    };
    Said {
        status: status.code(),
        stdout: fs::read_to_string(out).unwrap_or_default(),
        stderr: fs::read_to_string(err).unwrap_or_default(),
    }
}

/// Runs a program that needs no fabric.
pub fn tool(program: &str, arguments: &[&str], folder: &Path, package: &str) -> Said {
    run(command(program).args(arguments), folder, package)
}

impl Fabric {
    /// Starts the simulator on a topology of `tests/fabric`.
    pub fn start(net: &str) -> Self {
        let preload = PRELOAD
            .iter()
            .map(PathBuf::from)
            .find(|p| p.exists())
            .expect("libumad2sim.so; install ibsim-utils");
        let folder = tempfile::tempdir().expect("a folder");
        let serial = COUNT.fetch_add(1, Ordering::Relaxed);
        let socket = format!("ibplan-{}-{serial}", std::process::id());
        let log = folder.path().join("ibsim.log");
        let file = File::create(&log).expect("a file");
        let simulator = start(
            command("ibsim")
                .args(["-s", "-n"])
                .arg(topology(net))
                .env("IBSIM_SOCKNAME", &socket)
                .current_dir(folder.path())
                .stderr(file.try_clone().expect("a file"))
                .stdout(file),
            "ibsim-utils",
        );
        let fabric = Self {
            folder,
            simulator,
            socket,
            preload,
        };
        wait("the simulator", || {
            fs::read_to_string(&log).is_ok_and(|t| t.contains("Network simulator ready"))
        });
        fabric
    }

    /// The folder that programs run in.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn on(&self, host: &str, program: &str) -> Command {
        let mut command = command(program);
        command
            .env("LD_PRELOAD", &self.preload)
            .env("IBSIM_SOCKNAME", &self.socket)
            .env("SIM_HOST", host);
        command
    }

    /// Runs a diagnostic program on a host of the fabric.
    pub fn ask(&self, host: &str, program: &str, arguments: &[&str]) -> Said {
        run(
            self.on(host, program).args(arguments),
            self.folder(),
            "infiniband-diags",
        )
    }

    /// Starts opensm on a host and waits until the subnet is up. The files are kept in a folder of its own.
    pub fn opensm(&self, host: &str, conf: &str, partitions: Option<&str>) -> Opensm {
        let serial = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = self.folder().join(format!("opensm-{serial}"));
        fs::create_dir_all(folder.join("cache")).expect("a folder");
        fs::write(folder.join("opensm.conf"), conf).expect("a file");
        if let Some(text) = partitions {
            fs::write(folder.join("partitions.conf"), text).expect("a file");
        }
        let out = File::create(folder.join("stdout")).expect("a file");
        let child = start(
            self.on(host, "opensm")
                .args(["-F", "opensm.conf", "-P", "partitions.conf", "-f", "opensm.log"])
                .args(["--dump_files_dir", "."])
                .env("OSM_TMP_DIR", &folder)
                .env("OSM_CACHE_DIR", folder.join("cache"))
                .current_dir(&folder)
                .stderr(out.try_clone().expect("a file"))
                .stdout(out),
            "opensm",
        );
        let opensm = Opensm { child, folder };
        wait("SUBNET UP in opensm's log", || {
            opensm.read("opensm.log").contains("SUBNET UP")
        });
        opensm
    }

    /// The LID of a host's port.
    pub fn lid(&self, host: &str) -> u16 {
        let said = self.ask(host, "ibstat", &[]);
        said.stdout
            .lines()
            .find_map(|l| l.trim().strip_prefix("Base lid:"))
            .and_then(|l| l.trim().parse().ok())
            .unwrap_or_else(|| panic!("no LID: {said:?}"))
    }

    /// The P_Key table of a host's port, without its empty entries, sorted.
    pub fn pkeys(&self, host: &str) -> Vec<u16> {
        let lid = self.lid(host).to_string();
        let said = self.ask(host, "smpquery", &["pkeys", &lid, "1"]);
        assert_eq!(said.status, Some(0), "{said:?}");
        let mut keys: Vec<u16> = said
            .stdout
            .lines()
            .filter_map(|l| l.split_once(':'))
            .flat_map(|(_, words)| words.split_whitespace())
            .filter_map(|w| u16::from_str_radix(w.strip_prefix("0x")?, 16).ok())
            .filter(|k| *k != 0)
            .collect();
        keys.sort_unstable();
        keys
    }

    /// IPoIB broadcast groups that a host may see: P_Key, and the numbers of MTU and rate, sorted.
    pub fn groups(&self, host: &str) -> Vec<(u16, u8, u8)> {
        let said = self.ask(host, "saquery", &["-g"]);
        assert_eq!(said.status, Some(0), "{said:?}");
        let mut out = Vec::new();
        for block in said.stdout.split("group dump:").skip(1) {
            let field = |name: &str| {
                block
                    .lines()
                    .find_map(|l| l.trim().strip_prefix(name))
                    .map(|v| v.trim_start_matches('.').to_owned())
                    .unwrap_or_else(|| panic!("no {name}: {block}"))
            };
            if !field("MGID").ends_with("::ffff:ffff") {
                continue;
            }
            let number = |name: &str| {
                u16::from_str_radix(&field(name)[2..].to_ascii_lowercase(), 16).expect("a number")
            };
            let low = |name: &str| u8::try_from(number(name) & 0x3f).expect("six bits");
            out.push((number("pkey"), low("Mtu"), low("Rate")));
        }
        out.sort_unstable();
        out
    }
}

impl Drop for Fabric {
    fn drop(&mut self) {
        self.simulator.kill().ok();
        self.simulator.wait().ok();
    }
}

impl Opensm {
    /// A file that it wrote, or `stdout`.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.join(name)).unwrap_or_default()
    }

    /// Replaces a file of its configuration.
    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.join(name), text).expect("a file");
    }

    fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).expect("a running opensm");
    }

    /// SIGHUP, and waits for the sweep that follows.
    pub fn reload(&self) {
        let ups = |log: &str| log.matches("SUBNET UP").count();
        let before = ups(&self.read("opensm.log"));
        self.signal(rustix::process::Signal::HUP);
        wait("SUBNET UP after SIGHUP", || {
            ups(&self.read("opensm.log")) > before
        });
    }
}

impl Drop for Opensm {
    fn drop(&mut self) {
        // SIGTERM, so that the simulator hears of it: a killed client keeps its slot.
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).ok();
        let end = Instant::now() + Duration::from_secs(10);
        while Instant::now() < end {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
