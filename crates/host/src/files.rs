//! Files below a root: read with a bound, written atomically and durably.

mod folders;

pub use folders::{make_folder, make_folder_if_missing, remove_folder};

use crate::root::{Found, Root, WalkError};
use crate::watch::{Point, Watch};
use ibplan_core::action::{Expect, digest};
use ibplan_core::probe::{Kind, Meta};
use ibplan_core::types::HostPath;
use rustix::fs::{self, AtFlags, FileType, Gid, Mode, OFlags, Uid, XattrFlags};
use rustix::io::Errno;
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;

/// Largest file that is read: far above any configuration file or package database.
pub const MAX_FILE: u64 = 256 << 20;

/// Why a file could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The path cannot be walked.
    #[error(transparent)]
    Walk(#[from] WalkError),
    /// The system's reason.
    #[error("{0}")]
    System(#[from] std::io::Error),
    /// What is there is not what was there when the plan was made.
    #[error("it changed since it was read: {0}")]
    Changed(&'static str),
    /// Too large.
    #[error("it has more than {MAX_FILE} bytes")]
    TooLarge,
}

impl From<Errno> for FileError {
    fn from(e: Errno) -> Self {
        Self::System(e.into())
    }
}

impl FileError {
    /// Whether it only says that something is not there.
    pub const fn is_missing(&self) -> bool {
        matches!(self, Self::Walk(WalkError::Missing))
    }
}

/// Reads a whole file; links are followed inside the root. `None`: not there, or no regular file.
///
/// # Errors
/// It is there and cannot be read.
pub fn read(root: &Root, path: &HostPath) -> Result<Option<Vec<u8>>, FileError> {
    let file = match root.open_to_read(path, OFlags::RDONLY) {
        Err(WalkError::Missing) => return Ok(None),
        opened => File::from(opened?),
    };
    if !file.metadata()?.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE {
        Err(FileError::TooLarge)
    } else {
        Ok(Some(bytes))
    }
}

/// Kind, mode and owner; the last component is not followed. `None`: not there.
///
/// # Errors
/// A folder on the way cannot be searched.
pub fn meta(root: &Root, path: &HostPath) -> Result<Option<Meta>, FileError> {
    match root.open_to_read(path, OFlags::PATH | OFlags::NOFOLLOW) {
        Err(WalkError::Missing) => Ok(None),
        opened => Ok(Some(told(&fs::fstat(opened?)?))),
    }
}

fn told(stat: &fs::Stat) -> Meta {
    Meta {
        kind: match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Folder,
            FileType::Symlink => Kind::Link,
            _ => Kind::Other,
        },
        mode: stat.st_mode & 0o7777,
        uid: stat.st_uid,
        gid: stat.st_gid,
    }
}

/// The text of a link; `None`: there is none.
///
/// # Errors
/// A folder on the way cannot be searched.
pub fn link(root: &Root, path: &HostPath) -> Result<Option<String>, FileError> {
    let fd = match root.open_to_read(path, OFlags::PATH | OFlags::NOFOLLOW) {
        Err(WalkError::Missing) => return Ok(None),
        opened => opened?,
    };
    match fs::readlinkat(&fd, "", Vec::new()) {
        Ok(text) => Ok(Some(text.to_string_lossy().into_owned())),
        // No link.
        Err(Errno::NOENT | Errno::INVAL | Errno::NOTDIR) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

/// The names in a folder, sorted; empty when it is not there.
///
/// # Errors
/// It is there and cannot be listed.
pub fn list(root: &Root, folder: &HostPath) -> Result<Vec<String>, FileError> {
    let fd = match root.open_to_read(folder, OFlags::RDONLY | OFlags::DIRECTORY) {
        Err(WalkError::Missing) => return Ok(Vec::new()),
        opened => opened?,
    };
    let mut names = Vec::new();
    for entry in fs::Dir::read_from(fd)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name != "." && name != ".." {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Whether what is at a path is what an action expects.
///
/// # Errors
/// It is not, or cannot be read.
pub fn check(root: &Root, path: &HostPath, expect: &Expect) -> Result<(), FileError> {
    let now = meta(root, path)?.map(|m| m.kind);
    match (expect, now) {
        (Expect::Anything, None | Some(Kind::File | Kind::Link)) | (Expect::Absent, None) => Ok(()),
        (Expect::Anything, Some(_)) => Err(FileError::Changed("there is something that is no file")),
        (Expect::Absent, Some(_)) => Err(FileError::Changed("there was nothing")),
        (Expect::Digest(_) | Expect::Target(_), None) => Err(FileError::Changed("it is gone")),
        (Expect::Digest(d), Some(Kind::File)) => match read(root, path)? {
            Some(bytes) if digest(&bytes) == *d => Ok(()),
            _ => Err(FileError::Changed("other content")),
        },
        (Expect::Target(t), Some(Kind::Link)) => match link(root, path)? {
            Some(target) if target == *t => Ok(()),
            _ => Err(FileError::Changed("another link")),
        },
        (Expect::Digest(_) | Expect::Target(_), Some(_)) => Err(FileError::Changed("another kind of file")),
    }
}

/// The name under which a file is made before it is renamed into place. Fixed, so that a killed run leaves at most one, and
/// the next one knows it.
pub fn temporary(path: &HostPath) -> OsString {
    let name = path.name();
    // 255 bytes is the limit of a name; a long name is cut, which may only make two temporaries meet, never two files.
    let cut = name
        .char_indices()
        .map(|(i, c)| i + c.len_utf8())
        .take_while(|end| *end <= 240)
        .last()
        .unwrap_or(0);
    OsString::from(format!(".{}.ibplan-new", &name[..cut]))
}

/// How a file is to be written.
#[derive(Clone, Copy, Debug)]
pub struct NewFile<'a> {
    /// All of its bytes.
    pub content: &'a [u8],
    /// Permission bits.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// What must be there now.
    pub expect: &'a Expect,
}

/// Writes a file atomically: made beside its place, synced, renamed, folder synced. Extended attributes (the SELinux label
/// among them) of a former file are kept. Nothing is written through a link.
///
/// # Errors
/// The file is as it was before.
pub fn write(
    root: &Root,
    path: &HostPath,
    how: &NewFile<'_>,
    watch: &mut dyn Watch,
) -> Result<(), FileError> {
    check(root, path, how.expect)?;
    let found = root.find(path, false)?;
    let name = temporary(path);
    remove_entry(&found, &name)?;
    let made = make(&found, &name, how, watch).and_then(|()| {
        // Again, as late as can be: what came between is somebody's work.
        check(root, path, how.expect)?;
        watch.at(Point::BeforeRename)?;
        fs::renameat(&found.folder, &name, &found.folder, &found.name)?;
        Ok(())
    });
    if let Err(e) = made {
        remove_entry(&found, &name)?;
        return Err(e);
    }
    watch.at(Point::AfterRename)?;
    fs::fsync(&found.folder)?;
    Ok(())
}

fn make(found: &Found, name: &OsString, how: &NewFile<'_>, watch: &mut dyn Watch) -> Result<(), FileError> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = fs::openat(&found.folder, name, flags, Mode::from_raw_mode(0o600))?;
    let mut file = File::from(fd);
    watch.at(Point::BeforeWrite)?;
    file.write_all(how.content)?;
    own(&file, how.uid, how.gid)?;
    fs::fchmod(&file, Mode::from_raw_mode(how.mode & 0o7777))?;
    keep_attributes(found, &file)?;
    watch.at(Point::BeforeSync)?;
    file.sync_all()?;
    Ok(())
}

fn own(fd: impl AsFd, uid: u32, gid: u32) -> Result<(), FileError> {
    let now = fs::fstat(&fd)?;
    if (now.st_uid, now.st_gid) != (uid, gid) {
        fs::fchown(fd, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)))?;
    }
    Ok(())
}

/// Copies extended attributes of the file that is about to be replaced. A file system without them is no error.
fn keep_attributes(found: &Found, new: &File) -> Result<(), FileError> {
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
        let mut value = vec![0u8; 65536];
        let size = fs::fgetxattr(&old, name, &mut value)?;
        match fs::fsetxattr(new, name, &value[..size], XattrFlags::empty()) {
            Ok(()) | Err(Errno::NOTSUP) => {}
            Err(e) => return Err(e.into()),
        }
    }
    Ok(())
}

fn remove_entry(found: &Found, name: &OsString) -> Result<(), FileError> {
    match fs::unlinkat(&found.folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(e) => Err(e.into()),
    }
}

/// Removes what a killed run left beside a path.
///
/// # Errors
/// It cannot be removed.
pub fn sweep(root: &Root, path: &HostPath) -> Result<(), FileError> {
    match root.find(path, false) {
        Ok(found) => remove_entry(&found, &temporary(path)),
        Err(WalkError::Missing) => Ok(()),
        Err(e) => Err(e.into()),
    }
}

/// Removes a file or link.
///
/// # Errors
/// It is not what was expected, or cannot be removed.
pub fn remove(root: &Root, path: &HostPath, expect: &Expect) -> Result<(), FileError> {
    check(root, path, expect)?;
    match root.find(path, false) {
        Ok(found) => {
            remove_entry(&found, &found.name)?;
            fs::fsync(&found.folder)?;
            Ok(())
        }
        Err(WalkError::Missing) => Ok(()),
        Err(e) => Err(e.into()),
    }
}

/// Makes a symbolic link atomically.
///
/// # Errors
/// What is there is as it was before.
pub fn make_link(
    root: &Root,
    path: &HostPath,
    target: &str,
    expect: &Expect,
    watch: &mut dyn Watch,
) -> Result<(), FileError> {
    check(root, path, expect)?;
    let found = root.find(path, false)?;
    let name = temporary(path);
    remove_entry(&found, &name)?;
    fs::symlinkat(target, &found.folder, &name)?;
    watch.at(Point::BeforeRename)?;
    if let Err(e) = fs::renameat(&found.folder, &name, &found.folder, &found.name) {
        remove_entry(&found, &name)?;
        return Err(e.into());
    }
    watch.at(Point::AfterRename)?;
    fs::fsync(&found.folder)?;
    Ok(())
}

/// Writes a kernel attribute: no temporary file, no creation, one write.
///
/// # Errors
/// The kernel refuses.
pub fn write_attribute(root: &Root, path: &HostPath, text: &str) -> Result<(), FileError> {
    let found = root.find(path, false)?;
    let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(fs::openat(&found.folder, &found.name, flags, Mode::empty())?);
    file.write_all(text.as_bytes())?;
    Ok(())
}
