//! A host: the running machine, a folder, or a captured host.

use crate::commands::{self, CommandError};
use crate::files::{self, FileError};
use crate::root::Root;
use crate::signals::Held;
use ibplan_core::distro::PackageManager;
use ibplan_core::facts::Scope;
use ibplan_core::probe::{Meta, Output, Probe, ProbeError, Query, RECORDS};
use ibplan_core::types::HostPath;
use std::path::Path;
use std::time::{Duration, Instant};

/// Longest that one program may run where no deadline says less, and always when something is taken back: an undo that is
/// cut short by the deadline of the run would leave the host between two states.
pub(crate) const PATIENCE: Duration = Duration::from_secs(600);

/// A host that can be read, and (through [`crate::perform`]) changed.
#[derive(Debug)]
pub struct Host {
    pub(crate) root: Root,
    pub(crate) scope: Scope,
    /// Known once the facts are read.
    pub(crate) manager: Option<PackageManager>,
    /// Longest that one program may run.
    pub(crate) limit: Duration,
    /// Signals, while the lock is held.
    held: Option<Held>,
}

impl Host {
    /// Opens a host at a root folder. Any root but `/` is an image, or with `replay` a captured host.
    ///
    /// # Errors
    /// The folder is not there or is none.
    pub fn at(root: &Path, replay: bool) -> std::io::Result<Self> {
        let root = Root::open(root)?;
        let scope = match (root.is_live(), replay) {
            (true, _) => Scope::Live,
            (false, true) => Scope::Replay,
            (false, false) => Scope::Image,
        };
        Ok(Self {
            root,
            scope,
            manager: None,
            limit: PATIENCE,
            held: None,
        })
    }

    /// Which sides count.
    pub const fn scope(&self) -> Scope {
        self.scope
    }

    /// Tells how packages are kept, once that is known, and how long one program may run.
    pub const fn prepare(&mut self, manager: Option<PackageManager>, limit: Duration) {
        self.manager = manager;
        self.limit = limit;
    }

    /// Holds signals back from now on, until the host is dropped.
    pub(crate) fn hold_signals(&mut self) {
        self.held = Some(Held::new());
    }

    /// The name of a signal that asked the run to end.
    pub(crate) fn interrupted(&self) -> Option<&'static str> {
        self.held.as_ref()?.arrived()
    }

    /// Gives every program until `deadline`, and a second at least.
    pub(crate) fn until(&mut self, deadline: Instant) {
        self.limit = deadline
            .saturating_duration_since(Instant::now())
            .max(Duration::from_secs(1));
    }

    /// Whether this folder is a captured host that keeps answers of programs.
    fn record(&self, query: &Query) -> Result<Option<Output>, ProbeError> {
        let path = HostPath::fixed(RECORDS).join(&format!("{}.txt", query.record()));
        let Ok(path) = path else { return Ok(None) };
        Ok(self.text(&path)?.map(|stdout| Output {
            status: Some(0),
            stdout,
            stderr: String::new(),
        }))
    }

    /// The program and its arguments for a query on this host; `None`: no program can answer it here.
    fn question(&self, query: &Query) -> Option<(&'static str, Vec<String>)> {
        let words = |list: &[&str]| list.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
        match query {
            Query::RpmPackages(names) => {
                let mut arguments = match self.scope {
                    Scope::Live => Vec::new(),
                    _ => vec![
                        "--root".to_owned(),
                        self.root.path().to_string_lossy().into_owned(),
                    ],
                };
                arguments.extend(words(&[
                    "-q",
                    "--qf",
                    "%{NAME}\\t%{EPOCHNUM}\\t%{VERSION}\\t%{RELEASE}\\t%{ARCH}\\n",
                    "--",
                ]));
                arguments.extend(names.iter().cloned());
                Some(("rpm", arguments))
            }
            Query::Units(names) if self.scope == Scope::Live => {
                let properties =
                    "Id,LoadState,ActiveState,SubState,UnitFileState,MainPID,ActiveEnterTimestampMonotonic";
                let mut arguments = words(&["show", "--no-pager", "-p", properties, "--"]);
                arguments.extend(names.iter().cloned());
                Some(("systemctl", arguments))
            }
            Query::Units(_) => None,
            Query::SimulateInstall(names) => crate::packages::simulate(self, names),
        }
    }
}

/// The system's reason for a file that cannot be read.
fn failed(path: &HostPath, e: FileError) -> ProbeError {
    match e {
        FileError::TooLarge => ProbeError::TooLarge {
            path: path.clone(),
            limit: files::MAX_FILE,
        },
        e => ProbeError::Read {
            path: path.clone(),
            reason: e.to_string(),
        },
    }
}

impl Probe for Host {
    fn read(&self, path: &HostPath) -> Result<Option<Vec<u8>>, ProbeError> {
        files::read(&self.root, path).map_err(|e| failed(path, e))
    }

    fn meta(&self, path: &HostPath) -> Result<Option<Meta>, ProbeError> {
        files::meta(&self.root, path).map_err(|e| failed(path, e))
    }

    fn link(&self, path: &HostPath) -> Result<Option<String>, ProbeError> {
        files::link(&self.root, path).map_err(|e| failed(path, e))
    }

    fn list(&self, folder: &HostPath) -> Result<Vec<String>, ProbeError> {
        files::list(&self.root, folder).map_err(|e| failed(folder, e))
    }

    fn query(&self, query: &Query) -> Result<Option<Output>, ProbeError> {
        if self.scope != Scope::Live
            && let Some(answer) = self.record(query)?
        {
            return Ok(Some(answer));
        }
        if self.scope == Scope::Replay {
            return Ok(None);
        }
        let Some((program, arguments)) = self.question(query) else {
            return Ok(None);
        };
        match commands::run(program, &arguments, self.limit.min(Duration::from_secs(120))) {
            Ok(output) => Ok(Some(output)),
            Err(CommandError::Missing(_)) => Ok(None),
            Err(e) => Err(ProbeError::Query {
                program: program.to_owned(),
                reason: e.to_string(),
            }),
        }
    }
}
