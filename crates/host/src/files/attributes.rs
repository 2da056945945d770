//! Extended attributes (the SELinux label and access lists among them) that outlive the replacement of a file.

use super::FileError;
use crate::root::Found;
use rustix::fs::{self, Mode, OFlags, XattrFlags};
use rustix::io::Errno;
use std::fs::File;
use std::os::fd::OwnedFd;

/// Copies extended attributes of the file that is about to be replaced. A file system without them is no error.
pub(super) fn keep(found: &Found, new: &File) -> Result<(), FileError> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let Ok(old) = fs::openat(&found.folder, &found.name, flags, Mode::empty()) else {
        return Ok(());
    };
    let mut names = vec![0u8; 65536];
    let length = match fs::flistxattr(&old, &mut names) {
        Ok(length) => length,
        Err(Errno::NOTSUP) => return Ok(()),
        Err(e) => return Err(e.into()),
    };
    for name in names[..length].split(|b| *b == 0).filter(|n| !n.is_empty()) {
        if !BOUND.contains(&name) {
            keep_attribute(&old, new, name)?;
        }
    }
    Ok(())
}

/// Attributes that are a seal on the former bytes: on others they would make the file unreadable (evmctl(1)).
const BOUND: &[&[u8]] = &[b"security.ima", b"security.evm"];

fn keep_attribute(old: &OwnedFd, new: &File, name: &[u8]) -> Result<(), FileError> {
    let mut value = vec![0u8; 65536];
    let size = match fs::fgetxattr(old, name, &mut value) {
        Ok(size) => size,
        Err(Errno::NODATA) => return Ok(()),
        Err(e) => return Err(e.into()),
    };
    let wanted = &value[..size];
    match fs::fsetxattr(new, name, wanted, XattrFlags::empty()) {
        Ok(()) | Err(Errno::NOTSUP) => Ok(()),
        Err(e) => {
            // A label that may not be set in a container is mostly there already, inherited from the folder.
            let mut now = vec![0u8; 65536];
            match fs::fgetxattr(new, name, &mut now) {
                Ok(size) if &now[..size] == wanted => Ok(()),
                _ => Err(e.into()),
            }
        }
    }
}
