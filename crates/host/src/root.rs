//! Paths below a root folder, walked component by component, so that no link leads out.

use ibplan_core::types::HostPath;
use rustix::fs::{self, CWD, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::ffi::OsString;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Most links on one way, as in the kernel (path_resolution(7)).
const MAX_LINKS: usize = 40;

/// A root folder, opened once.
#[derive(Debug)]
pub struct Root {
    fd: OwnedFd,
    path: PathBuf,
}

/// Why a path cannot be walked.
#[derive(Debug, thiserror::Error)]
pub enum WalkError {
    /// A component is missing; that is mostly no error to the caller.
    #[error("not there")]
    Missing,
    /// Links in circles.
    #[error("more than {MAX_LINKS} symbolic links on the way")]
    Circles,
    /// The system's reason.
    #[error(transparent)]
    System(#[from] Errno),
}

/// A path found: the folder that holds it, opened, and its name there. The name is no link unless links were left alone.
#[derive(Debug)]
pub struct Found {
    /// The folder.
    pub folder: OwnedFd,
    /// The name in it.
    pub name: OsString,
}

impl Root {
    /// Opens a root folder.
    ///
    /// # Errors
    /// It is not there or is no folder.
    pub fn open(path: &Path) -> Result<Self, Errno> {
        let fd = fs::openat(
            CWD,
            path,
            OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        Ok(Self {
            fd,
            path: path.to_owned(),
        })
    }

    /// Its path on this machine.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is the machine's own root.
    pub fn is_live(&self) -> bool {
        self.path == Path::new("/")
    }

    /// Finds the folder that holds the last component of a path. With `follow`, a link at the end is followed too. The last
    /// component itself may be missing; the folders above it may not.
    ///
    /// # Errors
    /// See [`WalkError`].
    pub fn find(&self, path: &HostPath, follow: bool) -> Result<Found, WalkError> {
        let mut todo: Vec<OsString> = path.components().rev().map(OsString::from).collect();
        let mut folders: Vec<OwnedFd> = Vec::new();
        let mut links = 0;
        while let Some(name) = todo.pop() {
            if name == ".." {
                folders.pop();
                continue;
            }
            if name.is_empty() || name == "." {
                continue;
            }
            let here = folders.last().unwrap_or(&self.fd);
            let last = todo.iter().all(|n| n.is_empty() || n == ".");
            if last && !follow {
                return Ok(Found {
                    folder: self.again(here)?,
                    name,
                });
            }
            let kind = match fs::statat(here, &name, fs::AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                Err(Errno::NOENT) if last => {
                    return Ok(Found {
                        folder: self.again(here)?,
                        name,
                    });
                }
                Err(Errno::NOENT | Errno::NOTDIR) => return Err(WalkError::Missing),
                Err(e) => return Err(e.into()),
            };
            if kind == FileType::Symlink {
                links += 1;
                if links > MAX_LINKS {
                    return Err(WalkError::Circles);
                }
                let target = fs::readlinkat(here, &name, Vec::new())?.into_bytes();
                if target.first() == Some(&b'/') {
                    folders.clear();
                }
                todo.extend(
                    target
                        .split(|b| *b == b'/')
                        .rev()
                        .map(|w| OsString::from_vec(w.to_vec())),
                );
            } else if last {
                return Ok(Found {
                    folder: self.again(here)?,
                    name,
                });
            } else {
                folders.push(open_folder(here, &name)?);
            }
        }
        // The path led to a folder by `..` or to the root itself.
        let here = folders.last().unwrap_or(&self.fd);
        Ok(Found {
            folder: self.again(here)?,
            name: OsString::from("."),
        })
    }

    /// Opens what a path names, for reading. With `NOFOLLOW` in the flags a link at the end is not followed.
    ///
    /// The kernel walks, held inside the root by openat2(2) `RESOLVE_IN_ROOT` (Linux 5.6); where it cannot, [`Root::find`] does.
    /// A FIFO must not hold a reader up, so everything is opened without waiting.
    ///
    /// # Errors
    /// See [`WalkError`].
    pub fn open_to_read(&self, path: &HostPath, flags: OFlags) -> Result<OwnedFd, WalkError> {
        static WITHOUT_OPENAT2: AtomicBool = AtomicBool::new(false);
        let waits = !flags.contains(OFlags::PATH);
        let flags = flags
            | OFlags::CLOEXEC
            | if waits {
                OFlags::NONBLOCK | OFlags::NOCTTY
            } else {
                OFlags::empty()
            };
        if !WITHOUT_OPENAT2.load(Ordering::Relaxed) {
            let relative = &path.as_str()[1..];
            match fs::openat2(&self.fd, relative, flags, Mode::empty(), ResolveFlags::IN_ROOT) {
                Ok(fd) => return Ok(fd),
                // An old kernel, or a sandbox that forbids the call.
                Err(Errno::NOSYS | Errno::PERM) => WITHOUT_OPENAT2.store(true, Ordering::Relaxed),
                // Something was renamed meanwhile: the slow walk decides.
                Err(Errno::AGAIN | Errno::XDEV) => {}
                Err(e) => return Err(walk_error(e)),
            }
        }
        self.walk_to_read(path, flags)
    }

    /// The same where the kernel cannot hold the walk inside a root.
    fn walk_to_read(&self, path: &HostPath, flags: OFlags) -> Result<OwnedFd, WalkError> {
        let found = self.find(path, !flags.contains(OFlags::NOFOLLOW))?;
        let flags = flags | OFlags::NOFOLLOW;
        fs::openat(&found.folder, &found.name, flags, Mode::empty()).map_err(walk_error)
    }

    /// The same folder, opened for reading as well (a path-only descriptor cannot be synced or listed).
    fn again(&self, fd: &OwnedFd) -> Result<OwnedFd, Errno> {
        fs::openat(
            fd.as_fd(),
            ".",
            OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
            Mode::empty(),
        )
        .or_else(|_| rustix::io::fcntl_dupfd_cloexec(fd, 0))
    }

    /// A path for a program that runs on this machine: the root folder and the path, by text. Never for writing.
    pub fn outside(&self, path: &HostPath) -> PathBuf {
        self.path.join(Path::new(std::ffi::OsStr::from_bytes(
            &path.as_str().as_bytes()[1..],
        )))
    }
}

fn walk_error(e: Errno) -> WalkError {
    match e {
        // NXIO: a socket, which nobody reads.
        Errno::NOENT | Errno::NOTDIR | Errno::NXIO => WalkError::Missing,
        Errno::LOOP => WalkError::Circles,
        e => e.into(),
    }
}

/// Opens a folder below another; no link is followed.
fn open_folder(above: &OwnedFd, name: &OsString) -> Result<OwnedFd, WalkError> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match fs::openat(above, name, flags, Mode::empty()) {
        Ok(fd) => Ok(fd),
        Err(Errno::NOENT | Errno::NOTDIR) => Err(WalkError::Missing),
        Err(e) => Err(e.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files;
    use crate::watch::Nothing;
    use ibplan_core::action::Expect;
    use std::os::unix::fs::symlink;

    fn path(text: &str) -> HostPath {
        HostPath::new(text).unwrap()
    }

    fn new_file(expect: &Expect) -> files::NewFile<'_> {
        let meta = (
            rustix::process::geteuid().as_raw(),
            rustix::process::getegid().as_raw(),
        );
        files::NewFile {
            content: b"x",
            mode: 0o644,
            uid: meta.0,
            gid: meta.1,
            expect,
        }
    }

    #[test]
    fn no_link_leads_out_of_the_root() {
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("secret"), "s").unwrap();
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("etc")).unwrap();
        symlink(outside.path(), dir.path().join("etc/absolute")).unwrap();
        symlink("../../../../../../../..", dir.path().join("etc/up")).unwrap();
        symlink("round", dir.path().join("etc/round")).unwrap();
        let root = Root::open(dir.path()).unwrap();
        assert_eq!(files::read(&root, &path("/etc/absolute/secret")).unwrap(), None);
        let up = format!("/etc/up{}/secret", outside.path().display());
        assert_eq!(files::read(&root, &path(&up)).unwrap(), None);
        assert!(files::read(&root, &path("/etc/round")).is_err());
        assert!(
            files::write(
                &root,
                &path("/etc/absolute/new"),
                &new_file(&Expect::Absent),
                &mut Nothing
            )
            .is_err()
        );
        assert!(!outside.path().join("new").exists());
        // `up` is clamped at the root, as in a chroot.
        assert_eq!(files::list(&root, &path("/etc/up")).unwrap(), ["etc"]);
    }

    #[test]
    fn the_kernel_and_our_own_walk_find_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let make = |folder: &str| std::fs::create_dir_all(dir.path().join(folder)).unwrap();
        make("etc/a/b");
        make("sys/devices/pci0/mlx5_0");
        make("sys/class/infiniband");
        std::fs::write(dir.path().join("sys/devices/pci0/mlx5_0/node_guid"), "x").unwrap();
        std::fs::write(dir.path().join("etc/file"), "f").unwrap();
        for (text, at) in [
            ("../../devices/pci0/mlx5_0", "sys/class/infiniband/mlx5_0"),
            ("/etc/file", "etc/absolute"),
            ("../../../../../etc/file", "etc/a/far"),
            ("gone", "etc/dangling"),
            ("round", "etc/round"),
            ("/", "etc/top"),
        ] {
            symlink(text, dir.path().join(at)).unwrap();
        }
        let root = Root::open(dir.path()).unwrap();
        let places = [
            "/etc",
            "/etc/file",
            "/etc/absolute",
            "/etc/a/far",
            "/etc/dangling",
            "/etc/round",
            "/etc/top",
            "/etc/top/etc/file",
            "/sys/class/infiniband/mlx5_0",
            "/sys/class/infiniband/mlx5_0/node_guid",
            "/etc/file/below",
            "/nowhere/at/all",
        ];
        for place in places {
            for flags in [
                OFlags::RDONLY,
                OFlags::PATH | OFlags::NOFOLLOW,
                OFlags::RDONLY | OFlags::DIRECTORY,
            ] {
                let what = |opened: Result<OwnedFd, WalkError>| {
                    opened
                        .map(|fd| fs::fstat(fd).map(|s| (s.st_ino, s.st_mode)).unwrap())
                        .map_err(|e| e.to_string())
                };
                let (kernel, own) = (
                    root.open_to_read(&path(place), flags),
                    root.walk_to_read(&path(place), flags),
                );
                assert_eq!(what(kernel), what(own), "{place} {flags:?}");
            }
        }
    }

    #[test]
    fn a_link_at_the_target_is_never_written_through() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("victim"), "v").unwrap();
        symlink("victim", dir.path().join("target")).unwrap();
        let root = Root::open(dir.path()).unwrap();
        for expect in [Expect::Absent, Expect::Digest(ibplan_core::action::digest(b"v"))] {
            assert!(files::write(&root, &path("/target"), &new_file(&expect), &mut Nothing).is_err());
        }
        assert_eq!(std::fs::read(dir.path().join("victim")).unwrap(), b"v");
        // Undo may replace the link itself, never what it points to.
        files::write(
            &root,
            &path("/target"),
            &new_file(&Expect::Anything),
            &mut Nothing,
        )
        .unwrap();
        assert_eq!(std::fs::read(dir.path().join("victim")).unwrap(), b"v");
        assert_eq!(std::fs::read(dir.path().join("target")).unwrap(), b"x");
    }

    #[test]
    fn a_fifo_does_not_hold_the_reader_up() {
        let dir = tempfile::tempdir().unwrap();
        rustix::fs::mknodat(
            CWD,
            dir.path().join("fifo"),
            FileType::Fifo,
            Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        let root = Root::open(dir.path()).unwrap();
        assert_eq!(files::read(&root, &path("/fifo")).unwrap(), None);
    }

    #[test]
    fn the_kind_of_file_that_was_read_is_the_kind_that_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), "old").unwrap();
        let root = Root::open(dir.path()).unwrap();
        let stale = Expect::Digest(ibplan_core::action::digest(b"older"));
        let e = files::write(&root, &path("/file"), &new_file(&stale), &mut Nothing).unwrap_err();
        assert!(matches!(e, files::FileError::Changed(_)), "{e}");
        assert_eq!(std::fs::read(dir.path().join("file")).unwrap(), b"old");
        assert_eq!(
            std::fs::read_dir(dir.path()).unwrap().count(),
            1,
            "a temporary file was left"
        );
    }
}
