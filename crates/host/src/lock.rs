//! One lock for each root.

use crate::files;
use crate::root::Root;
use ibplan_core::ledger::STATE;
use ibplan_core::types::HostPath;
use rustix::fs::{self, Mode, OFlags};
use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::time::{Duration, Instant};

/// The lock, held until it is dropped.
#[derive(Debug)]
pub struct Lock(File);

/// Why the lock is not held.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another run holds it.
    #[error("another run holds the lock ({0})")]
    Busy(String),
    /// It cannot be made.
    #[error("{STATE}: {0}")]
    State(String),
}

impl Lock {
    /// Takes the lock, waiting for at most `patience`. Makes the state folder (0700) when it is missing.
    ///
    /// # Errors
    /// See [`LockError`].
    pub fn take(root: &Root, patience: Duration) -> Result<Self, LockError> {
        let state = |e: &dyn std::fmt::Display| LockError::State(e.to_string());
        let folder = HostPath::fixed(STATE);
        let mut above: Vec<HostPath> = std::iter::successors(folder.parent(), HostPath::parent).collect();
        above.reverse();
        for path in above {
            files::make_folder_if_missing(root, &path, 0o755).map_err(|e| state(&e))?;
        }
        files::make_folder_if_missing(root, &folder, 0o700).map_err(|e| state(&e))?;
        let path = HostPath::fixed("/var/lib/ibplan/lock");
        let found = root.find(&path, false).map_err(|e| state(&e))?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(
            fs::openat(&found.folder, &found.name, flags, Mode::from_raw_mode(0o600))
                .map_err(|e| state(&e))?,
        );
        let end = Instant::now() + patience;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::Error(e)) => return Err(state(&e)),
                Err(TryLockError::WouldBlock) if Instant::now() >= end => {
                    let mut holder = String::new();
                    // Who holds it is told for the reader's sake only.
                    let _ = file.read_to_string(&mut holder);
                    return Err(LockError::Busy(holder.trim().to_owned()));
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(50)),
            }
        }
        file.set_len(0)
            .and_then(|()| file.rewind())
            .map_err(|e| state(&e))?;
        writeln!(file, "process {}", std::process::id()).map_err(|e| state(&e))?;
        Ok(Self(file))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing releases it as well; this says so.
        let _ = self.0.unlock();
    }
}
