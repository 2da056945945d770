//! All that may be read of a host. Nothing here can change one.

use crate::types::HostPath;
use serde::{Deserialize, Serialize};

/// What could not be read, and why. A thing that is simply not there is never an error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProbeError {
    /// A file or folder exists and cannot be read.
    #[error("cannot read {path}: {reason}")]
    Read {
        /// Which.
        path: HostPath,
        /// The system's reason.
        reason: String,
    },
    /// A file is larger than any file of its kind can be.
    #[error("{path} has more than {limit} bytes")]
    TooLarge {
        /// Which.
        path: HostPath,
        /// The limit in bytes.
        limit: u64,
    },
    /// A query could not be asked, or its answer makes no sense.
    #[error("{program}: {reason}")]
    Query {
        /// The program.
        program: String,
        /// What went wrong.
        reason: String,
    },
}

/// What kind of thing a path names (the last component is not followed).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A device, FIFO or socket.
    Other,
}

/// Kind, mode and owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    /// File, folder, link or other.
    pub kind: Kind,
    /// Permission bits, 0o7777.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
}

/// A question to a program that must not change the host. Closed, so that what a plan may run is known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Query {
    /// Which of these packages are installed: `rpm -q`, one line `NAME\tEPOCH\tVERSION\tRELEASE\tARCH` for each that is.
    RpmPackages(Vec<String>),
    /// Properties of units: `systemctl show`, blocks of `Name=value` lines separated by an empty line.
    Units(Vec<String>),
    /// What an installation would also remove, from the package manager's own simulation (`apt-get -s`, `dnf --assumeno`, `zypper --dry-run`).
    SimulateInstall(Vec<String>),
}

impl Query {
    /// The name under which a captured host keeps the answer: `.ibplan/queries/NAME.txt`.
    pub const fn record(&self) -> &'static str {
        match self {
            Self::RpmPackages(_) => "rpm-packages",
            Self::Units(_) => "systemctl-show",
            Self::SimulateInstall(_) => "simulate-install",
        }
    }
}

/// Where a captured host keeps what only a program could tell.
pub const RECORDS: &str = "/.ibplan/queries";

/// A program's answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// Exit status; `None` when a signal ended it.
    pub status: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// The eyes of ibplan: a live host, a folder, a captured host, or a fake in memory.
pub trait Probe {
    /// The bytes of a file (links are followed inside the root); `None` when it is not there.
    ///
    /// # Errors
    /// The file is there and cannot be read.
    fn read(&self, path: &HostPath) -> Result<Option<Vec<u8>>, ProbeError>;

    /// Kind, mode and owner of a path, its last component not followed; `None` when it is not there.
    ///
    /// # Errors
    /// A folder on the way cannot be searched.
    fn meta(&self, path: &HostPath) -> Result<Option<Meta>, ProbeError>;

    /// The text of a symbolic link; `None` when there is no link.
    ///
    /// # Errors
    /// As for [`Probe::meta`].
    fn link(&self, path: &HostPath) -> Result<Option<String>, ProbeError>;

    /// The names in a folder, sorted; empty when it is not there.
    ///
    /// # Errors
    /// The folder is there and cannot be listed.
    fn list(&self, folder: &HostPath) -> Result<Vec<String>, ProbeError>;

    /// Asks a program. A program that is not there is an answer (`None`), not an error.
    ///
    /// # Errors
    /// The program ran too long, said too much, or could not be started for another reason.
    fn query(&self, query: &Query) -> Result<Option<Output>, ProbeError>;

    /// A file as text; bytes that are not UTF-8 become U+FFFD.
    ///
    /// # Errors
    /// As for [`Probe::read`].
    fn text(&self, path: &HostPath) -> Result<Option<String>, ProbeError> {
        Ok(self
            .read(path)?
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// A sysfs or procfs attribute, trimmed. Missing and unreadable are the same: such files come and go, and some
    /// answer EINVAL by design (linux: drivers/infiniband/core/sysfs.c, gid_attrs).
    fn attribute(&self, path: &HostPath) -> Option<String> {
        let text = self.text(path).ok().flatten()?;
        Some(text.trim().to_owned())
    }

    /// Whether something is at the path.
    ///
    /// # Errors
    /// As for [`Probe::meta`].
    fn exists(&self, path: &HostPath) -> Result<bool, ProbeError> {
        Ok(self.meta(path)?.is_some())
    }
}
