//! Capture: packs what ibplan reads of a host into a folder that `root` can point to.

use crate::host::Host;
use crate::serve::Program;
use crate::survey;
use ibplan_core::codes;
use ibplan_core::engine;
use ibplan_core::facts::{self, Scope};
use ibplan_core::pointer::Pointer;
use ibplan_core::probe::{Kind, Meta, Output, Probe, ProbeError, Query, RECORDS};
use ibplan_core::protocol::{Exit, Response};
use ibplan_core::request::Request;
use ibplan_core::rooms::subnet_manager::conf::mask;
use ibplan_core::types::HostPath;
use serde_json::json;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// A probe that notes what is looked at.
struct Recorder<'a> {
    host: &'a Host,
    /// What was looked at.
    paths: RefCell<BTreeSet<HostPath>>,
    /// What was read; a file that was only looked for (a program, say) is captured empty.
    contents: RefCell<BTreeSet<HostPath>>,
    answers: RefCell<BTreeMap<&'static str, String>>,
}

impl Recorder<'_> {
    fn note(&self, path: &HostPath) {
        self.paths.borrow_mut().insert(path.clone());
    }
}

impl Probe for Recorder<'_> {
    fn read(&self, path: &HostPath) -> Result<Option<Vec<u8>>, ProbeError> {
        self.note(path);
        self.contents.borrow_mut().insert(path.clone());
        self.host.read(path)
    }

    fn meta(&self, path: &HostPath) -> Result<Option<Meta>, ProbeError> {
        self.note(path);
        self.host.meta(path)
    }

    fn link(&self, path: &HostPath) -> Result<Option<String>, ProbeError> {
        self.note(path);
        self.host.link(path)
    }

    fn list(&self, folder: &HostPath) -> Result<Vec<String>, ProbeError> {
        self.note(folder);
        let names = self.host.list(folder)?;
        for name in &names {
            if let Ok(path) = folder.join(name) {
                self.note(&path);
            }
        }
        Ok(names)
    }

    fn query(&self, query: &Query) -> Result<Option<Output>, ProbeError> {
        let answer = self.host.query(query)?;
        if let Some(output) = &answer {
            let mut answers = self.answers.borrow_mut();
            answers
                .entry(query.record())
                .or_default()
                .push_str(&output.stdout);
        }
        Ok(answer)
    }
}

/// What a capture may not hold, whatever it was asked for: lines of configuration files that carry a secret. The keys of
/// opensm.conf are hidden as a plan hides them, so that a capture plans as its host does.
const SECRET_WORDS: &[&str] = &[
    "m_key=",
    "sm_key=",
    "sa_key=",
    "cc_key=",
    "psk",
    "password",
    "secret",
    "private-key",
    "wep-key",
    "passphrase",
    "pin=",
    "token",
];

/// Serves the operation `capture`.
pub(crate) fn capture(
    host: &mut Host,
    request: &Request,
    program: &Program,
    response: &mut Response,
) -> Exit {
    let at = Pointer::of("request").key("options").key("output");
    let Some(output) = request
        .options
        .output
        .as_deref()
        .map(PathBuf::from)
        .filter(|p| p.is_absolute())
    else {
        response.errors.push(codes::REQUEST_OPTION.at(
            at,
            "`output` is not an absolute path",
            "give a folder that is not there yet",
        ));
        return Exit::RequestRefused;
    };
    let recorder = Recorder {
        host,
        paths: RefCell::default(),
        contents: RefCell::default(),
        answers: RefCell::default(),
    };
    let facts = match facts::read(&recorder, host.scope()) {
        Ok(facts) => facts,
        Err(e) => {
            response.errors.push(engine::unreadable(&e));
            return Exit::HostRefused;
        }
    };
    look_around(&recorder, request, program, host.scope());
    let about = json!({
        "name": "captured",
        "arch": facts.arch,
        "kernel": facts.kernel,
        "recorded": ["everything"],
        "composed": [],
        "about": format!("captured by {} {}", program.name, program.version),
    });
    let names = Names::of(host, request.options.scrub);
    match write(&recorder, &output, &about.to_string(), &names) {
        Ok(files) => {
            response.facts = json!({ "folder": output, "files": files });
            Exit::Done
        }
        Err(e) => {
            response.errors.push(codes::REQUEST_OPTION.at(
                at,
                format!("{}: {e}", output.display()),
                "give a folder that is not there yet",
            ));
            Exit::Failed
        }
    }
}

/// Looks at what a plan of this document, and of one with every section, would read: of an image and of a replayed host. Its
/// refusals do not matter here.
fn look_around(recorder: &Recorder<'_>, request: &Request, program: &Program, scope: Scope) {
    for scope in [scope, Scope::Replay] {
        let Ok(facts) = facts::read(recorder, scope) else {
            continue;
        };
        for document in [&request.desired, &survey::document(&facts)] {
            for stage in program.stages {
                let _ = stage.plan(document, &facts, recorder);
            }
        }
    }
    survey::values(recorder);
}

fn write(recorder: &Recorder<'_>, output: &Path, about: &str, names: &Names) -> std::io::Result<usize> {
    std::fs::DirBuilder::new().mode(0o700).create(output)?;
    let mut files = 0;
    let mut done: BTreeMap<HostPath, bool> = BTreeMap::new();
    let contents = recorder.contents.borrow();
    let paths = recorder.paths.borrow();
    let mut todo: Vec<(HostPath, bool)> = paths.iter().map(|p| (p.clone(), contents.contains(p))).collect();
    while let Some((path, whole)) = todo.pop() {
        let before = done.get(&path).copied();
        if path.as_str().starts_with("/var/lib/ibplan/") || before.is_some_and(|b| b >= whole) {
            continue;
        }
        done.insert(path.clone(), whole);
        // A link on the way is captured as a link, and the way goes on behind it.
        if let Some((link, target, onward)) = first_link(recorder.host, &path) {
            let place = below(output, &link);
            if place.symlink_metadata().is_err() {
                parents(&place)?;
                symlink(&target, &place)?;
            }
            todo.extend(onward.map(|path| (path, whole)));
        } else if put(recorder.host, &path, whole, &below(output, &path), names)? && before.is_none() {
            files += 1;
        }
    }
    let records = output.join(&RECORDS[1..]);
    std::fs::create_dir_all(&records)?;
    for (name, text) in recorder.answers.borrow().iter() {
        std::fs::write(records.join(format!("{name}.txt")), names.clean(text.as_bytes()))?;
    }
    std::fs::write(output.join(".ibplan/host.json"), format!("{about}\n"))?;
    Ok(files)
}

/// Puts one file or folder; `false` where nothing was put. A file that was only looked for stays empty.
fn put(host: &Host, path: &HostPath, whole: bool, place: &Path, names: &Names) -> std::io::Result<bool> {
    let Some(meta) = host.meta(path).ok().flatten() else {
        return Ok(false);
    };
    match meta.kind {
        Kind::Folder => std::fs::create_dir_all(place).map(|()| false),
        Kind::File => {
            // An attribute that answers with an error is one that the reader must be able to do without.
            let Ok(Some(bytes)) = (if whole {
                host.read(path)
            } else {
                Ok(Some(Vec::new()))
            }) else {
                return Ok(false);
            };
            parents(place)?;
            std::fs::write(place, names.clean(&bytes))?;
            let mode = (meta.mode & 0o777) | 0o600;
            std::fs::set_permissions(place, std::fs::Permissions::from_mode(mode))?;
            Ok(true)
        }
        Kind::Link | Kind::Other => Ok(false),
    }
}

fn below(output: &Path, path: &HostPath) -> PathBuf {
    output.join(&path.as_str()[1..])
}

fn parents(place: &Path) -> std::io::Result<()> {
    place.parent().map_or(Ok(()), std::fs::create_dir_all)
}

/// The first link on the way to a path (or the path itself), its text, and the path behind it.
fn first_link(host: &Host, path: &HostPath) -> Option<(HostPath, String, Option<HostPath>)> {
    let mut at = String::new();
    let words: Vec<&str> = path.components().collect();
    for (i, word) in words.iter().enumerate() {
        let here = HostPath::new(&format!("{at}/{word}"))?;
        if let Some(target) = host.link(&here).ok().flatten() {
            let start = if target.starts_with('/') {
                Vec::new()
            } else {
                at.split('/').filter(|w| !w.is_empty()).collect()
            };
            let mut onward: Vec<&str> = start;
            for part in target.split('/').chain(words[i + 1..].iter().copied()) {
                match part {
                    "" | "." => {}
                    ".." => drop(onward.pop()),
                    word => onward.push(word),
                }
            }
            let behind = HostPath::new(&format!("/{}", onward.join("/")));
            return Some((here, target, behind));
        }
        at = here.as_str().to_owned();
    }
    None
}

/// Names and addresses to replace.
struct Names {
    scrub: bool,
    host: Option<String>,
    machine: Option<String>,
    addresses: RefCell<BTreeMap<String, String>>,
}

impl Names {
    fn of(host: &Host, scrub: bool) -> Self {
        Self {
            scrub,
            host: host
                .attribute(&HostPath::fixed("/etc/hostname"))
                .filter(|h| h.len() > 2),
            machine: host
                .attribute(&HostPath::fixed("/etc/machine-id"))
                .filter(|m| m.len() == 32),
            addresses: RefCell::default(),
        }
    }

    /// A file without its secrets, and where asked for without names and addresses.
    fn clean(&self, bytes: &[u8]) -> Vec<u8> {
        let Ok(text) = std::str::from_utf8(bytes) else {
            return bytes.to_vec();
        };
        let text = mask(text);
        let mut out = String::with_capacity(text.len());
        for line in text.split_inclusive('\n') {
            let lower = line.to_ascii_lowercase();
            if !line.trim_start().starts_with('#')
                && SECRET_WORDS.iter().any(|w| lower.trim_start().starts_with(w))
            {
                out.push_str("# a line with a secret was left out\n");
            } else if self.scrub {
                out.push_str(&self.scrubbed(line));
            } else {
                out.push_str(line);
            }
        }
        out.into_bytes()
    }

    fn scrubbed(&self, line: &str) -> String {
        let mut line = line.to_owned();
        if let Some(machine) = &self.machine {
            line = line.replace(machine.as_str(), "00000000000000000000000000000001");
        }
        if let Some(host) = &self.host {
            line = line.replace(host.as_str(), "host");
        }
        let mut out = String::with_capacity(line.len());
        let is_part = |c: char| c.is_ascii_hexdigit() || c == '.' || c == ':';
        let mut rest = line.as_str();
        while let Some(start) = rest.find(is_part) {
            let end = rest[start..]
                .find(|c| !is_part(c))
                .map_or(rest.len(), |n| start + n);
            out.push_str(&rest[..start]);
            let word = &rest[start..end];
            match word.parse::<std::net::IpAddr>() {
                Ok(ip) if !ip.is_unspecified() && !ip.is_loopback() => {
                    out.push_str(&self.stand_in(word, ip.is_ipv4()))
                }
                _ => out.push_str(word),
            }
            rest = &rest[end..];
        }
        out.push_str(rest);
        out
    }

    /// The same stand-in for the same address, from the blocks for documentation (RFC 5737, RFC 3849).
    fn stand_in(&self, word: &str, v4: bool) -> String {
        let mut known = self.addresses.borrow_mut();
        let next = known.len() + 1;
        let stand_in = || {
            if v4 {
                format!("198.51.{}.{}", 100 + next / 250, next % 250 + 1)
            } else {
                format!("2001:db8::{next:x}")
            }
        };
        known.entry(word.to_owned()).or_insert_with(stand_in).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_never_leave_and_addresses_only_unscrubbed() {
        let names = Names {
            scrub: true,
            host: Some("node17".into()),
            machine: None,
            addresses: RefCell::default(),
        };
        let text = "m_key 0x1234\n cc_key 0x1234\nsa_key=0x1234\nm_key_lease_period 60\nsm_priority 3\naddress1=192.168.10.1/24,192.168.10.254\nbits 80:00:00:48:fe\nname node17 5.14.0\n  psk=hush\nfd00::1\n";
        let clean = String::from_utf8(names.clean(text.as_bytes())).unwrap();
        assert!(
            !clean.contains("1234")
                && !clean.contains("hush")
                && !clean.contains("192.168")
                && !clean.contains("node17")
                && !clean.contains("fd00"),
            "{clean}"
        );
        assert!(
            clean.contains("sm_priority 3")
                && clean.contains("m_key_lease_period 60")
                && clean.contains("80:00:00:48:fe")
                && clean.contains("5.14.0"),
            "{clean}"
        );
        let names = Names {
            scrub: false,
            ..names
        };
        assert!(
            String::from_utf8(names.clean(text.as_bytes()))
                .unwrap()
                .contains("192.168.10.1/24")
        );
    }
}
