//! Folders: made as root's, removed when empty.

use super::{FileError, meta, own};
use crate::root::{Root, WalkError};
use ibplan_core::probe::Kind;
use ibplan_core::types::HostPath;
use rustix::fs::{self, AtFlags, Mode, OFlags};
use rustix::io::Errno;

/// Makes a folder, root's. One that is there already is left as it is.
///
/// # Errors
/// It cannot be made, or something else is there.
pub fn make_folder(root: &Root, path: &HostPath, mode: u32) -> Result<(), FileError> {
    let found = root.find(path, false)?;
    match fs::mkdirat(&found.folder, &found.name, Mode::from_raw_mode(0o700)) {
        Ok(()) => {}
        Err(Errno::EXIST) => {
            return match meta(root, path)?.map(|m| m.kind) {
                Some(Kind::Folder) => Ok(()),
                _ => Err(FileError::Changed("there is something that is no folder")),
            };
        }
        Err(e) => return Err(e.into()),
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = fs::openat(&found.folder, &found.name, flags, Mode::empty())?;
    own(&fd, 0, 0)?;
    fs::fchmod(&fd, Mode::from_raw_mode(mode & 0o7777))?;
    fs::fsync(&fd)?;
    fs::fsync(&found.folder)?;
    Ok(())
}

/// Makes a folder unless one is there; it may be one through a link inside the root.
///
/// # Errors
/// It cannot be made, or something else is there.
pub fn make_folder_if_missing(root: &Root, path: &HostPath, mode: u32) -> Result<(), FileError> {
    match meta(root, path)?.map(|m| m.kind) {
        Some(Kind::Folder | Kind::Link) => Ok(()),
        _ => make_folder(root, path, mode),
    }
}

/// Removes a folder when it is empty; one that others use by now stays.
///
/// # Errors
/// It cannot be removed for another reason.
pub fn remove_folder(root: &Root, path: &HostPath) -> Result<(), FileError> {
    let found = match root.find(path, false) {
        Err(WalkError::Missing) => return Ok(()),
        found => found?,
    };
    match fs::unlinkat(&found.folder, &found.name, AtFlags::REMOVEDIR) {
        Ok(()) => {
            fs::fsync(&found.folder)?;
            Ok(())
        }
        Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST) => Ok(()),
        Err(e) => Err(e.into()),
    }
}
