//! What the host says: the modules, our two files, and what others write for modprobe.

use super::want::ModuleWant;
use crate::facts::Facts;
use crate::parts::dropin;
use crate::parts::file::{self, SeenFile};
use crate::parts::kmod::{self, SeenModule};
use crate::probe::{Probe, ProbeError};
use crate::types::HostPath;

/// The options that ibplan keeps.
pub const OPTIONS: &str = "/etc/modprobe.d/ibplan.conf";

/// Folders of modprobe.d(5), the highest precedence first.
const FOLDERS: &[&str] = &[
    "/etc/modprobe.d",
    "/run/modprobe.d",
    "/usr/local/lib/modprobe.d",
    "/usr/lib/modprobe.d",
    "/lib/modprobe.d",
];

/// Everything.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The wanted modules, in the order of the document.
    pub modules: Vec<SeenModule>,
    /// The list that loads them at boot.
    pub list: SeenFile,
    /// Our options file.
    pub options: SeenFile,
    /// What others say.
    pub others: Vec<Other>,
}

/// Another file for modprobe, or the kernel's command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    /// Which.
    pub file: HostPath,
    /// It comes after our file, so that its options win.
    pub after: bool,
    /// What it says.
    pub lines: Vec<Line>,
}

/// A line that matters here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// `options MODULE NAME=VALUE`, one for each.
    Option {
        /// Module, with `_`.
        module: String,
        /// Parameter.
        name: String,
        /// Value.
        value: String,
    },
    /// `blacklist MODULE`
    Blacklist(String),
    /// `install MODULE` with a command that loads nothing.
    Never(String),
}

/// Reads everything.
///
/// # Errors
/// A file or folder is there and cannot be read.
pub fn observe(want: &[ModuleWant], facts: &Facts, probe: &dyn Probe) -> Result<Seen, ProbeError> {
    let modules = if want.is_empty() {
        Vec::new()
    } else {
        kmod::observe_all(probe, facts, want.iter().map(|m| m.name.as_str()))?
    };
    Ok(Seen {
        modules,
        list: kmod::observe_list(probe, kmod::MODULES_LIST)?,
        options: file::observe(probe, &HostPath::fixed(OPTIONS))?,
        others: others(facts, probe)?,
    })
}

fn others(facts: &Facts, probe: &dyn Probe) -> Result<Vec<Other>, ProbeError> {
    let files = dropin::files(probe, FOLDERS)?;
    let own = HostPath::fixed(OPTIONS);
    let mut out = Vec::new();
    for (name, file) in files {
        if file == own {
            continue;
        }
        let lines = parse(&probe.text(&file)?.unwrap_or_default());
        if !lines.is_empty() {
            let after = name.as_str() > own.name();
            out.push(Other { file, after, lines });
        }
    }
    let file = HostPath::fixed("/proc/cmdline");
    if facts.scope.live()
        && let Some(text) = probe.attribute(&file)
    {
        let lines = command_line(&text);
        out.push(Other {
            file,
            after: true,
            lines,
        });
    }
    Ok(out)
}

/// The lines of a file of modprobe.d(5): `\` at the end of a line continues it, `#` begins a comment.
pub fn parse(text: &str) -> Vec<Line> {
    let joined = text.replace("\\\n", " ");
    let mut out = Vec::new();
    for line in joined.lines() {
        let mut words = line.split_whitespace();
        match (words.next(), words.next()) {
            (Some("options"), Some(module)) => out.extend(words.map(|word| option(module, word))),
            (Some("blacklist"), Some(module)) => out.push(Line::Blacklist(kmod::normal(module))),
            (Some("install"), Some(module)) => {
                let command = words.next().unwrap_or_default();
                if matches!(command.rsplit('/').next(), Some("false" | "true" | ":")) {
                    out.push(Line::Never(kmod::normal(module)));
                }
            }
            _ => {}
        }
    }
    out
}

fn option(module: &str, word: &str) -> Line {
    // A parameter without a value is a boolean set (linux: kernel/params.c, param_set_bool).
    let (name, value) = word.split_once('=').unwrap_or((word, "1"));
    Line::Option {
        module: kmod::normal(module),
        name: kmod::normal(name),
        value: value.trim_matches('"').to_owned(),
    }
}

/// What modprobe takes from the kernel's command line (modprobe(8), "kernel command line"; kernel-parameters.txt,
/// `module_blacklist=`).
fn command_line(text: &str) -> Vec<Line> {
    let mut out = Vec::new();
    for word in text.split_whitespace() {
        let Some((key, value)) = word.split_once('=') else {
            continue;
        };
        match (key, key.split_once('.')) {
            ("modprobe.blacklist" | "module_blacklist", _) => {
                out.extend(value.split(',').map(|m| Line::Blacklist(kmod::normal(m))));
            }
            (_, Some((module, name))) => out.push(option(module, &format!("{name}={value}"))),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_line_that_matters() {
        let text = "# options x a=1\noptions ib-ipoib send_queue_size=64 \\\n  debug_level\nblacklist ib-umad\ninstall a /bin/false\ninstall b /sbin/modprobe --ignore-install b\nalias c d\nsoftdep a pre: b\n";
        let set = |module: &str, name: &str, value: &str| Line::Option {
            module: module.into(),
            name: name.into(),
            value: value.into(),
        };
        assert_eq!(
            parse(text),
            [
                set("ib_ipoib", "send_queue_size", "64"),
                set("ib_ipoib", "debug_level", "1"),
                Line::Blacklist("ib_umad".into()),
                Line::Never("a".into()),
            ]
        );
        assert_eq!(
            command_line(
                "root=/dev/sda1 quiet modprobe.blacklist=a,ib-umad mlx4_core.log_num_vlan=3 module_blacklist=z"
            ),
            [
                Line::Blacklist("a".into()),
                Line::Blacklist("ib_umad".into()),
                set("mlx4_core", "log_num_vlan", "3"),
                Line::Blacklist("z".into()),
            ]
        );
    }
}
