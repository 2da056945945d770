//! Everything ibplan can do to a host. Closed on purpose: a reader of this file knows the worst.

use crate::types::HostPath;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;

/// Bytes of a file; in the journal as text where they are text, else as hexadecimal digits.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Content(pub Vec<u8>);

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Stored {
    Text(String),
    Hex(String),
}

impl From<Content> for Stored {
    fn from(content: Content) -> Self {
        match String::from_utf8(content.0) {
            Ok(text) => Self::Text(text),
            Err(e) => Self::Hex(hex(&e.into_bytes())),
        }
    }
}

impl TryFrom<Stored> for Content {
    type Error = String;

    fn try_from(stored: Stored) -> Result<Self, String> {
        match stored {
            Stored::Text(text) => Ok(Self(text.into_bytes())),
            Stored::Hex(digits) => (0..digits.len())
                .step_by(2)
                .map(|at| {
                    digits
                        .get(at..at + 2)
                        .and_then(|pair| u8::from_str_radix(pair, 16).ok())
                })
                .collect::<Option<Vec<u8>>>()
                .map(Self)
                .ok_or_else(|| "bytes are not in hexadecimal digits".to_owned()),
        }
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(&self.0))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// SHA-256 of bytes, in hexadecimal digits.
pub fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// What must be at a path just before an action, so that a file changed between reading and writing is not lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expect {
    /// Nothing.
    Absent,
    /// A file with this SHA-256.
    Digest(String),
    /// A link with this text.
    Target(String),
    /// Whatever is there (undo, and files whose former content does not matter).
    Anything,
}

/// What to do to a unit of the running systemd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnitDo {
    /// `systemctl start`
    Start,
    /// `systemctl stop`
    Stop,
    /// `systemctl restart`
    Restart,
    /// `systemctl reload` (SIGHUP for opensm)
    Reload,
}

/// One effect on a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Action {
    /// Makes a folder, owned by root.
    MakeFolder {
        /// Where.
        path: HostPath,
        /// Permission bits.
        mode: u32,
    },
    /// Removes a folder if it is empty. Only as an undo.
    RemoveFolder {
        /// Which.
        path: HostPath,
    },
    /// Writes a file atomically; label and extended attributes of a former file are kept.
    WriteFile {
        /// Where.
        path: HostPath,
        /// All of its bytes.
        content: Content,
        /// Permission bits.
        mode: u32,
        /// Owner.
        uid: u32,
        /// Group.
        gid: u32,
        /// What was there when the plan was made.
        expect: Expect,
    },
    /// Removes a file or link.
    RemoveFile {
        /// Which.
        path: HostPath,
        /// What was there when the plan was made.
        expect: Expect,
    },
    /// Makes a symbolic link (unit enablement), atomically.
    MakeLink {
        /// Where.
        path: HostPath,
        /// Its text.
        target: String,
        /// What was there when the plan was made.
        expect: Expect,
    },
    /// Installs packages with the distribution's package manager; refuses to remove any.
    InstallPackages {
        /// Package names.
        names: Vec<String>,
    },
    /// Removes packages that ibplan installed. Only as an undo.
    RemovePackages {
        /// Package names.
        names: Vec<String>,
    },
    /// Loads a kernel module with the parameters that modprobe.d gives it.
    LoadModule {
        /// Its name.
        name: String,
    },
    /// Unloads a kernel module that ibplan loaded, if nothing uses it. Only as an undo.
    UnloadModule {
        /// Its name.
        name: String,
    },
    /// Writes a value below /proc/sys and reads it back.
    Sysctl {
        /// The file, such as `/proc/sys/net/core/rmem_max`.
        path: HostPath,
        /// The value; a vector is separated by blanks.
        value: String,
    },
    /// Tells systemd to read its unit files again.
    ReloadUnits,
    /// Starts, stops or restarts a unit.
    Unit {
        /// Its name, with suffix.
        unit: String,
        /// What.
        act: UnitDo,
    },
}

impl Action {
    /// The name of the action, as in the journal.
    pub const fn verb(&self) -> &'static str {
        match self {
            Self::MakeFolder { .. } => "make_folder",
            Self::RemoveFolder { .. } => "remove_folder",
            Self::WriteFile { .. } => "write_file",
            Self::RemoveFile { .. } => "remove_file",
            Self::MakeLink { .. } => "make_link",
            Self::InstallPackages { .. } => "install_packages",
            Self::RemovePackages { .. } => "remove_packages",
            Self::LoadModule { .. } => "load_module",
            Self::UnloadModule { .. } => "unload_module",
            Self::Sysctl { .. } => "sysctl",
            Self::ReloadUnits => "reload_units",
            Self::Unit { act, .. } => match act {
                UnitDo::Start => "start_unit",
                UnitDo::Stop => "stop_unit",
                UnitDo::Restart => "restart_unit",
                UnitDo::Reload => "reload_unit",
            },
        }
    }

    /// What it acts on.
    pub fn target(&self) -> String {
        match self {
            Self::MakeFolder { path, .. }
            | Self::RemoveFolder { path }
            | Self::WriteFile { path, .. }
            | Self::RemoveFile { path, .. }
            | Self::MakeLink { path, .. }
            | Self::Sysctl { path, .. } => path.to_string(),
            Self::InstallPackages { names } | Self::RemovePackages { names } => names.join(" "),
            Self::LoadModule { name } | Self::UnloadModule { name } => name.clone(),
            Self::ReloadUnits => "systemd".to_owned(),
            Self::Unit { unit, .. } => unit.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bytes_survive_the_journal() {
        for bytes in [b"text\n".to_vec(), vec![0xff, 0, 0x80], Vec::new()] {
            let json = serde_json::to_string(&Content(bytes.clone())).unwrap();
            assert_eq!(serde_json::from_str::<Content>(&json).unwrap().0, bytes);
        }
        assert!(serde_json::from_str::<Content>(r#"{"hex":"f"}"#).is_err());
    }
}
