//! The ledger: what ibplan owns on a host, and the original that it replaced.

use crate::action::digest;
use crate::probe::{Kind, Probe, ProbeError};
use crate::types::HostPath;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Where ibplan keeps its own state, mode 0700.
pub const STATE: &str = "/var/lib/ibplan";
/// The ledger file.
pub const LEDGER: &str = "/var/lib/ibplan/ledger.json";
/// Originals, each named by its SHA-256.
pub const ORIGINALS: &str = "/var/lib/ibplan/originals";

/// What was at a path before ibplan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Original {
    /// Nothing.
    Absent,
    /// A file; its bytes lie in [`ORIGINALS`].
    File {
        /// SHA-256 of its bytes, and the name of the copy.
        digest: String,
        /// Permission bits.
        mode: u32,
        /// Owner.
        uid: u32,
        /// Group.
        gid: u32,
    },
    /// A symbolic link.
    Link {
        /// Its text.
        target: String,
    },
}

/// A file or link that ibplan keeps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Owned {
    /// The section that keeps it.
    pub section: String,
    /// What was there before.
    pub original: Original,
    /// What ibplan wrote last: SHA-256 of a file, or `link:TARGET`.
    pub written: String,
    /// For a foreign file edited by keys: the keys and what they were before (`None`: not there).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub keys: BTreeMap<String, Option<String>>,
}

/// A live value that ibplan keeps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnedLive {
    /// The section that keeps it.
    pub section: String,
    /// What it was before.
    pub original: String,
}

/// All that ibplan owns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ledger {
    /// Files and links by path.
    #[serde(default)]
    pub files: BTreeMap<HostPath, Owned>,
    /// Live values by path.
    #[serde(default)]
    pub live: BTreeMap<HostPath, OwnedLive>,
}

impl Ledger {
    /// Reads the ledger of a host; an absent one is empty.
    ///
    /// # Errors
    /// It is there and cannot be read or understood: then ibplan must not go on as if it owned nothing.
    pub fn read(probe: &dyn Probe) -> Result<Self, ProbeError> {
        let path = HostPath::fixed(LEDGER);
        match probe.read(&path)? {
            None => Ok(Self::default()),
            Some(bytes) => serde_json::from_slice(&bytes).map_err(|e| ProbeError::Read {
                path,
                reason: e.to_string(),
            }),
        }
    }

    /// The path of the copy of an original.
    ///
    /// # Errors
    /// The digest is no plain name (the ledger was tampered with).
    pub fn original_path(digest: &str) -> Result<HostPath, ProbeError> {
        let base = HostPath::fixed(ORIGINALS);
        base.join(digest).map_err(|e| ProbeError::Read {
            path: base.clone(),
            reason: e.to_string(),
        })
    }
}

/// What is at a path now, in the ledger's terms: `None` when nothing is.
///
/// # Errors
/// It cannot be read.
pub fn fingerprint(probe: &dyn Probe, path: &HostPath) -> Result<Option<String>, ProbeError> {
    Ok(match probe.meta(path)?.map(|m| m.kind) {
        None => None,
        Some(Kind::File) => probe.read(path)?.map(|bytes| digest(&bytes)),
        Some(Kind::Link) => probe.link(path)?.map(|target| format!("link:{target}")),
        Some(Kind::Folder | Kind::Other) => Some("other".to_owned()),
    })
}
