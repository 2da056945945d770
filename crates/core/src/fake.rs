//! A host in memory, for tests: the same eyes as a real one, and hands for the same actions.

mod programs;

use crate::action::{Action, Content, Expect, UnitDo, digest};
use crate::probe::{Kind, Meta, Output, Probe, ProbeError, Query};
use crate::types::HostPath;
use std::collections::BTreeMap;

/// What lies at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A file.
    File {
        /// Its bytes.
        bytes: Vec<u8>,
        /// Permission bits.
        mode: u32,
        /// Owner and group.
        owner: (u32, u32),
    },
    /// A symbolic link.
    Link(String),
    /// A folder with its permission bits.
    Folder(u32),
    /// Something that is neither.
    Other,
}

/// A host in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fake {
    entries: BTreeMap<HostPath, Entry>,
    answers: BTreeMap<&'static str, Output>,
    unreadable: Vec<HostPath>,
    /// Units that were acted on, in order.
    pub units: Vec<(String, UnitDo)>,
}

#[allow(clippy::panic)]
fn path(text: &str) -> HostPath {
    HostPath::new(text).unwrap_or_else(|| panic!("{text} is no host path"))
}

#[allow(clippy::panic, clippy::missing_panics_doc)]
impl Fake {
    /// An empty host.
    pub fn new() -> Self {
        Self::default()
    }

    /// With a file, mode 0644, and the folders above it.
    #[must_use]
    pub fn file(mut self, at: &str, text: &str) -> Self {
        self.put(at, text);
        self
    }

    /// Puts a file, mode 0644, and the folders above it.
    pub fn put(&mut self, at: &str, text: &str) {
        let at = path(at);
        self.parents(&at);
        self.entries.insert(
            at,
            Entry::File {
                bytes: text.as_bytes().to_vec(),
                mode: 0o644,
                owner: (0, 0),
            },
        );
    }

    /// With any entry.
    #[must_use]
    pub fn entry(mut self, at: &str, entry: Entry) -> Self {
        let at = path(at);
        self.parents(&at);
        self.entries.insert(at, entry);
        self
    }

    /// With a symbolic link.
    #[must_use]
    pub fn symlink(self, at: &str, target: &str) -> Self {
        self.entry(at, Entry::Link(target.to_owned()))
    }

    /// With an answer to every query of one kind (see [`Query::record`]).
    #[must_use]
    pub fn answer(mut self, record: &'static str, stdout: &str) -> Self {
        self.answers.insert(
            record,
            Output {
                status: Some(0),
                stdout: stdout.to_owned(),
                stderr: String::new(),
            },
        );
        self
    }

    /// With a file that is there and cannot be read.
    #[must_use]
    pub fn unreadable(mut self, at: &str) -> Self {
        self = self.file(at, "");
        self.unreadable.push(path(at));
        self
    }

    /// The text of a file; `None` when there is none.
    pub fn get(&self, at: &str) -> Option<String> {
        match self.entries.get(&path(at)) {
            Some(Entry::File { bytes, .. }) => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        }
    }

    /// Whether two hosts are the same; the order in which packages are recorded does not count.
    pub fn same_as(&self, other: &Self) -> bool {
        self.differences(other).is_empty()
    }

    /// What differs between two hosts, for a message.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let mut out: Vec<String> = self
            .entries
            .keys()
            .chain(other.entries.keys())
            .filter(|k| self.entries.get(*k) != other.entries.get(*k))
            // A running kernel always has these two; a bare image gets them with its first module.
            .filter(|k| !matches!(k.as_str(), "/sys" | "/sys/module"))
            .map(|k| format!("{k}: {:?} and {:?}", self.entries.get(k), other.entries.get(k)))
            .collect();
        let answers = |host: &Self| -> Vec<(&str, String)> {
            host.answers
                .iter()
                .map(|(k, o)| (*k, active_only(k, &o.stdout)))
                .filter(|(_, text)| !text.is_empty())
                .collect()
        };
        if answers(self) != answers(other) {
            out.push(format!("answers: {:?} and {:?}", answers(self), answers(other)));
        }
        out.dedup();
        out
    }

    fn parents(&mut self, at: &HostPath) {
        let mut up = at.parent();
        while let Some(folder) = up {
            self.entries.entry(folder.clone()).or_insert(Entry::Folder(0o755));
            up = folder.parent();
        }
    }

    /// Follows links, also on the way, at most 40 of them.
    fn resolve(&self, at: &HostPath, follow_last: bool) -> Option<HostPath> {
        let mut todo: Vec<String> = at.components().rev().map(str::to_owned).collect();
        let mut done: Vec<String> = Vec::new();
        let mut links = 0;
        while let Some(word) = todo.pop() {
            match word.as_str() {
                "" | "." => continue,
                ".." => {
                    done.pop();
                    continue;
                }
                _ => done.push(word),
            }
            let here = HostPath::new(&format!("/{}", done.join("/")))?;
            if let Some(Entry::Link(target)) = self.entries.get(&here)
                && (follow_last || !todo.is_empty())
            {
                links += 1;
                if links > 40 {
                    return None;
                }
                done.pop();
                if target.starts_with('/') {
                    done.clear();
                }
                todo.extend(target.split('/').rev().map(str::to_owned));
            }
        }
        HostPath::new(&format!("/{}", done.join("/")))
    }

    fn at(&self, p: &HostPath, follow_last: bool) -> Option<(HostPath, &Entry)> {
        let real = self.resolve(p, follow_last)?;
        let entry = self.entries.get(&real)?;
        Some((real, entry))
    }

    fn check(&self, p: &HostPath, expect: &Expect) {
        let now = self.at(p, false).map(|(_, e)| e.clone());
        let ok = match expect {
            Expect::Anything => true,
            Expect::Absent => now.is_none(),
            Expect::Digest(d) => matches!(&now, Some(Entry::File { bytes, .. }) if digest(bytes) == *d),
            Expect::Target(t) => matches!(&now, Some(Entry::Link(l)) if l == t),
        };
        assert!(ok, "{p}: expected {expect:?}, found {now:?}");
    }

    /// Does an action, with the meaning that it has on a real host. Panics where a real host would fail.
    #[allow(clippy::too_many_lines)]
    pub fn perform(&mut self, action: &Action) {
        match action {
            Action::MakeFolder { path, mode } => {
                assert!(
                    path.parent().is_none_or(|p| self.at(&p, true).is_some()),
                    "{path}: no folder above it"
                );
                assert!(self.at(path, false).is_none(), "{path} is there already");
                self.insert(path, Entry::Folder(*mode));
            }
            Action::RemoveFolder { path } => {
                let real = self.resolve(path, false).unwrap_or_else(|| panic!("{path}"));
                let inside = format!("{real}/");
                if !self.entries.keys().any(|k| k.as_str().starts_with(&inside)) {
                    self.entries.remove(&real);
                }
            }
            Action::WriteFile {
                path,
                content,
                mode,
                uid,
                gid,
                expect,
            } => {
                self.check(path, expect);
                assert!(
                    path.parent().is_none_or(|p| self.at(&p, true).is_some()),
                    "{path}: no folder above it"
                );
                let Content(bytes) = content.clone();
                self.insert(
                    path,
                    Entry::File {
                        bytes,
                        mode: *mode,
                        owner: (*uid, *gid),
                    },
                );
            }
            Action::RemoveFile { path, expect } => {
                self.check(path, expect);
                if let Some(real) = self.resolve(path, false) {
                    self.entries.remove(&real);
                }
            }
            Action::MakeLink { path, target, expect } => {
                self.check(path, expect);
                self.insert(path, Entry::Link(target.clone()));
            }
            Action::Sysctl { path, value } => {
                assert!(self.at(path, true).is_some(), "{path}: no such kernel value");
                // The kernel prints vectors with tabs.
                self.put(
                    path.as_str(),
                    &format!("{}\n", value.split_whitespace().collect::<Vec<_>>().join("\t")),
                );
            }
            Action::LoadModule { name } => self.put(&format!("/sys/module/{name}/initstate"), "live\n"),
            Action::UnloadModule { name } => {
                let (here, inside) = (format!("/sys/module/{name}"), format!("/sys/module/{name}/"));
                self.entries
                    .retain(|k, _| k.as_str() != here && !k.as_str().starts_with(&inside));
            }
            Action::Unit { unit, act } => self.act(unit, *act),
            Action::ReloadUnits => {}
            Action::InstallPackages { names } => self.install(names),
            Action::RemovePackages { names } => self.uninstall(names),
        }
    }

    fn insert(&mut self, at: &HostPath, entry: Entry) {
        let real = self
            .resolve(at, false)
            .unwrap_or_else(|| panic!("{at}: links in circles"));
        self.entries.insert(real, entry);
    }
}

/// Of the recorded units only those that are active: one that was started and stopped again leaves no other trace.
fn active_only(record: &str, text: &str) -> String {
    if record != "systemctl-show" {
        return text.trim().to_owned();
    }
    let active: Vec<&str> = text
        .split("\n\n")
        .filter(|b| b.contains("ActiveState=active"))
        .map(str::trim)
        .collect();
    active.join("\n\n")
}

impl Probe for Fake {
    fn read(&self, p: &HostPath) -> Result<Option<Vec<u8>>, ProbeError> {
        if self.unreadable.contains(p) {
            return Err(ProbeError::Read {
                path: p.clone(),
                reason: "Input/output error".to_owned(),
            });
        }
        Ok(match self.at(p, true) {
            Some((_, Entry::File { bytes, .. })) => Some(bytes.clone()),
            _ => None,
        })
    }

    fn meta(&self, p: &HostPath) -> Result<Option<Meta>, ProbeError> {
        Ok(self.at(p, false).map(|(_, entry)| match entry {
            Entry::File { mode, owner, .. } => Meta {
                kind: Kind::File,
                mode: *mode,
                uid: owner.0,
                gid: owner.1,
            },
            Entry::Link(_) => Meta {
                kind: Kind::Link,
                mode: 0o777,
                uid: 0,
                gid: 0,
            },
            Entry::Folder(mode) => Meta {
                kind: Kind::Folder,
                mode: *mode,
                uid: 0,
                gid: 0,
            },
            Entry::Other => Meta {
                kind: Kind::Other,
                mode: 0o644,
                uid: 0,
                gid: 0,
            },
        }))
    }

    fn link(&self, p: &HostPath) -> Result<Option<String>, ProbeError> {
        Ok(match self.at(p, false) {
            Some((_, Entry::Link(target))) => Some(target.clone()),
            _ => None,
        })
    }

    fn list(&self, folder: &HostPath) -> Result<Vec<String>, ProbeError> {
        let Some((real, _)) = self.at(folder, true) else {
            return Ok(Vec::new());
        };
        let inside = format!("{real}/");
        Ok(self
            .entries
            .keys()
            .filter_map(|k| k.as_str().strip_prefix(&inside))
            .filter(|rest| !rest.contains('/'))
            .map(str::to_owned)
            .collect())
    }

    fn query(&self, query: &Query) -> Result<Option<Output>, ProbeError> {
        Ok(self.answers.get(query.record()).cloned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_links_inside_and_lists() {
        let host = Fake::new()
            .file("/sys/devices/pci0/mlx5_0/node_guid", "x\n")
            .symlink("/sys/class/infiniband/mlx5_0", "../../devices/pci0/mlx5_0")
            .symlink("/loop", "/loop");
        assert_eq!(
            host.attribute(&path("/sys/class/infiniband/mlx5_0/node_guid"))
                .as_deref(),
            Some("x")
        );
        assert_eq!(host.list(&path("/sys/class/infiniband")).unwrap(), ["mlx5_0"]);
        assert_eq!(host.read(&path("/loop")).unwrap(), None);
        assert_eq!(host.list(&path("/nowhere")).unwrap(), Vec::<String>::new());
    }
}
