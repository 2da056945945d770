//! Files below a root: read with a bound, written atomically and durably.

mod attributes;
mod expected;
mod folders;

pub use expected::check;
pub use folders::{make_folder, make_folder_if_missing, remove_folder};

use crate::root::{Found, Root, WalkError};
use crate::watch::{Point, Watch};
use ibplan_core::action::Expect;
use ibplan_core::probe::{Kind, Meta};
use ibplan_core::types::HostPath;
use rustix::fs::{self, AtFlags, FileType, Gid, Mode, OFlags, RenameFlags, Uid};
use rustix::io::Errno;
use std::ffi::{CString, OsString};
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
    // A device in a foreign image is not even opened.
    if !root.is_live() && kind_behind(root, path)? != Some(Kind::File) {
        return Ok(None);
    }
    match root.open_to_read(path, OFlags::RDONLY) {
        Err(WalkError::Missing) => Ok(None),
        opened => whole(File::from(opened?)),
    }
}

/// What a path leads to, links followed.
fn kind_behind(root: &Root, path: &HostPath) -> Result<Option<Kind>, FileError> {
    match root.open_to_read(path, OFlags::PATH) {
        Err(WalkError::Missing) => Ok(None),
        opened => Ok(Some(told(&fs::fstat(opened?)?).kind)),
    }
}

/// Reads the file at a place; a link there is not followed.
fn read_found(found: &Found) -> Result<Option<Vec<u8>>, FileError> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOFOLLOW;
    match fs::openat(&found.folder, &found.name, flags, Mode::empty()) {
        Ok(fd) => whole(File::from(fd)),
        Err(Errno::NOENT | Errno::NXIO) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

/// All bytes of a file that was opened, if it is a regular one.
fn whole(file: File) -> Result<Option<Vec<u8>>, FileError> {
    let about = file.metadata()?;
    if !about.is_file() {
        return Ok(None);
    }
    if about.len() > MAX_FILE {
        return Err(FileError::TooLarge);
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
    link_text(fs::readlinkat(&fd, "", Vec::new()))
}

fn link_text(read: Result<CString, Errno>) -> Result<Option<String>, FileError> {
    match read {
        // A text that could not be written back as it was must not be taken for known.
        Ok(text) => text.into_string().map(Some).map_err(|_| {
            std::io::Error::new(
                std::io::ErrorKind::InvalidData,
                "the text of the link is not UTF-8",
            )
            .into()
        }),
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
    let found = root.find(path, false)?;
    expected::check_found(&found, how.expect)?;
    let name = temporary(path);
    remove_entry(&found, &name)?;
    let made = make(&found, &name, how, watch).and_then(|()| put_in_place(&found, &name, how.expect, watch));
    finish(&found, &name, made, watch)
}

/// Gives a finished file its name, after a last look: what came between is somebody's work.
fn put_in_place(
    found: &Found,
    name: &OsString,
    expect: &Expect,
    watch: &mut dyn Watch,
) -> Result<(), FileError> {
    expected::check_found(found, expect)?;
    watch.at(Point::BeforeRename)?;
    if *expect == Expect::Absent {
        // The kernel itself sees to it that nothing is replaced.
        match fs::renameat_with(
            &found.folder,
            name,
            &found.folder,
            &found.name,
            RenameFlags::NOREPLACE,
        ) {
            Ok(()) => return Ok(()),
            Err(Errno::EXIST) => return Err(FileError::Changed("there was nothing")),
            // A file system that does not know the flag.
            Err(Errno::INVAL | Errno::NOSYS) => {}
            Err(e) => return Err(e.into()),
        }
    }
    fs::renameat(&found.folder, name, &found.folder, &found.name)?;
    Ok(())
}

/// Makes the new name durable, or removes what was made.
fn finish(
    found: &Found,
    name: &OsString,
    made: Result<(), FileError>,
    watch: &mut dyn Watch,
) -> Result<(), FileError> {
    if let Err(e) = made {
        // The first reason is the one to tell; what is left over the next run knows by its name.
        let _ = remove_entry(found, name);
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
    attributes::keep(found, &file)?;
    // Last: an access list that was kept has changed the bits of the group (acl(5)).
    fs::fchmod(&file, Mode::from_raw_mode(how.mode & 0o7777))?;
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
    match root.find(path, false) {
        Ok(found) => {
            expected::check_found(&found, expect)?;
            remove_entry(&found, &found.name)?;
            fs::fsync(&found.folder)?;
            Ok(())
        }
        Err(WalkError::Missing) => check(root, path, expect),
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
    let found = root.find(path, false)?;
    expected::check_found(&found, expect)?;
    let name = temporary(path);
    remove_entry(&found, &name)?;
    fs::symlinkat(target, &found.folder, &name)?;
    let made = put_in_place(&found, &name, expect, watch);
    finish(&found, &name, made, watch)
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
