//! Whether what is there is what was there when the plan was made.

use super::{FileError, link_text, read_found, told};
use crate::root::{Found, Root, WalkError};
use ibplan_core::action::{Expect, digest};
use ibplan_core::probe::Kind;
use ibplan_core::types::HostPath;
use rustix::fs::{self, AtFlags};
use rustix::io::Errno;

/// Whether what is at a path is what an action expects.
///
/// # Errors
/// It is not, or cannot be read.
pub fn check(root: &Root, path: &HostPath, expect: &Expect) -> Result<(), FileError> {
    match root.find(path, false) {
        Ok(found) => check_found(&found, expect),
        Err(WalkError::Missing) => judge(expect, None, || Ok(None), || Ok(None)),
        Err(e) => Err(e.into()),
    }
}

/// The same at a place that is held open, so that what is judged is what will be replaced.
pub(super) fn check_found(found: &Found, expect: &Expect) -> Result<(), FileError> {
    let kind = match fs::statat(&found.folder, &found.name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Some(told(&stat).kind),
        Err(Errno::NOENT | Errno::NOTDIR) => None,
        Err(e) => return Err(e.into()),
    };
    judge(
        expect,
        kind,
        || read_found(found),
        || link_text(fs::readlinkat(&found.folder, &found.name, Vec::new())),
    )
}

fn judge(
    expect: &Expect,
    now: Option<Kind>,
    bytes: impl FnOnce() -> Result<Option<Vec<u8>>, FileError>,
    target: impl FnOnce() -> Result<Option<String>, FileError>,
) -> Result<(), FileError> {
    match (expect, now) {
        (Expect::Anything, None | Some(Kind::File | Kind::Link)) | (Expect::Absent, None) => Ok(()),
        (Expect::Anything, Some(_)) => Err(FileError::Changed("there is something that is no file")),
        (Expect::Absent, Some(_)) => Err(FileError::Changed("there was nothing")),
        (Expect::Digest(_) | Expect::Target(_), None) => Err(FileError::Changed("it is gone")),
        (Expect::Digest(d), Some(Kind::File)) => match bytes()? {
            Some(bytes) if digest(&bytes) == *d => Ok(()),
            _ => Err(FileError::Changed("other content")),
        },
        (Expect::Target(t), Some(Kind::Link)) => match target()? {
            Some(target) if target == *t => Ok(()),
            _ => Err(FileError::Changed("another link")),
        },
        (Expect::Digest(_) | Expect::Target(_), Some(_)) => Err(FileError::Changed("another kind of file")),
    }
}
