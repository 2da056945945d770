//! Captured hosts: `tests/hosts/NAME`, as folders and as hosts in memory.

use ibplan_core::action::digest;
use ibplan_core::fake::{Entry, Fake};
use ibplan_core::types::HostPath;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// The folder of the captured hosts.
pub fn folder() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors()
        .nth(2)
        .expect("the repository")
        .join("tests/hosts")
}

/// Names of all captured hosts, sorted.
pub fn names() -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder())
        .expect("tests/hosts")
        .map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned())
        .filter(|n| folder().join(n).join(".ibplan/host.json").is_file())
        .collect();
    names.sort();
    assert!(names.len() >= 20, "captured hosts are missing: {names:?}");
    names
}

/// A captured host.
pub fn path(name: &str) -> PathBuf {
    folder().join(name)
}

/// Copies a tree: files, links, folders, modes.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).unwrap_or_else(|e| panic!("{}: {e}", from.display())) {
        let entry = entry.expect("an entry");
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().expect("a type");
        if kind.is_symlink() {
            symlink(fs::read_link(&source).expect("a link"), &target).expect("a link");
        } else if kind.is_dir() {
            copy(&source, &target);
        } else {
            fs::copy(&source, &target).expect("a copy");
            fs::set_permissions(&target, fs::Permissions::from_mode(0o644)).expect("a mode");
        }
    }
}

/// A folder of its own, in memory where this machine has such a place: thousands of synced files need no disk.
pub fn scratch() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() {
        tempfile::tempdir_in(memory)
    } else {
        tempfile::tempdir()
    };
    made.expect("a folder")
}

/// A copy of a captured host in a folder of its own, removed when it is dropped.
pub fn copied(name: &str) -> tempfile::TempDir {
    let dir = scratch();
    copy(&path(name), dir.path());
    dir
}

/// A captured host in memory. Recorded answers of programs answer queries.
pub fn fake(name: &str) -> Fake {
    let mut host = Fake::new();
    load(&path(name), "", &mut host);
    // git keeps no empty folder: where units were recorded, systemd was running (sd_booted(3)).
    if host.get("/.ibplan/queries/systemctl-show.txt").is_some() {
        host = host.entry("/run/systemd/system", Entry::Folder(0o755));
    }
    for record in ["rpm-packages", "systemctl-show", "simulate-install"] {
        if let Some(text) = host.get(&format!("/.ibplan/queries/{record}.txt")) {
            host = host.answer(record, &text);
        }
    }
    host
}

fn load(from: &Path, at: &str, host: &mut Fake) {
    for entry in fs::read_dir(from).unwrap_or_else(|e| panic!("{}: {e}", from.display())) {
        let entry = entry.expect("an entry");
        let place = format!("{at}/{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type().expect("a type");
        let built = std::mem::take(host);
        *host = if kind.is_symlink() {
            built.symlink(
                &place,
                &fs::read_link(entry.path()).expect("a link").to_string_lossy(),
            )
        } else if kind.is_dir() {
            let mut built = built.entry(&place, Entry::Folder(0o755));
            load(&entry.path(), &place, &mut built);
            built
        } else {
            let bytes = fs::read(entry.path()).expect("a file");
            built.entry(
                &place,
                Entry::File {
                    bytes,
                    mode: 0o644,
                    owner: (0, 0),
                },
            )
        };
    }
}

/// What a tree is, byte for byte: kind, mode, owner and content of every path. ibplan's own state is not part of it.
pub fn picture(root: &Path) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    look(root, "", &mut out);
    out
}

fn look(root: &Path, at: &str, out: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(root.join(at.trim_start_matches('/'))).expect("a folder") {
        let entry = entry.expect("an entry");
        let place = format!("{at}/{}", entry.file_name().to_string_lossy());
        if place == "/var/lib/ibplan" {
            continue;
        }
        let meta = entry.path().symlink_metadata().expect("metadata");
        let what = if meta.is_symlink() {
            format!("link {}", fs::read_link(entry.path()).expect("a link").display())
        } else if meta.is_dir() {
            look(root, &place, out);
            if matches!(place.as_str(), "/var" | "/var/lib")
                && !out.keys().any(|k| k.starts_with(&format!("{place}/")))
            {
                continue;
            }
            "folder".to_owned()
        } else {
            format!("file {}", digest(&fs::read(entry.path()).expect("a file")))
        };
        out.insert(
            place,
            format!("{what} {:o} {}:{}", meta.mode() & 0o7777, meta.uid(), meta.gid()),
        );
    }
}

/// The first differences between two pictures, for a message.
pub fn difference(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<String> {
    let mut out = Vec::new();
    for key in before.keys().chain(after.keys()) {
        let (b, a) = (before.get(key), after.get(key));
        if b != a {
            out.push(format!("{key}: {b:?} -> {a:?}"));
        }
    }
    out.sort();
    out.dedup();
    out.truncate(20);
    out
}

/// A host path from text of a test.
pub fn host_path(text: &str) -> HostPath {
    HostPath::new(text).unwrap_or_else(|| panic!("{text}"))
}
