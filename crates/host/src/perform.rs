//! The one place with effects: every action, done and read back. No exit status is believed.

use crate::commands;
use crate::files::{self, FileError, NewFile};
use crate::host::Host;
use crate::packages;
use crate::watch::Watch;
use ibplan_core::action::{Action, UnitDo};
use ibplan_core::facts::Scope;
use ibplan_core::probe::{Probe, Query};
use ibplan_core::rooms::sysctl::want::SysctlValue;
use ibplan_core::types::HostPath;

/// Why an action failed.
#[derive(Debug, thiserror::Error)]
pub enum PerformError {
    /// A file.
    #[error("{0}: {1}")]
    File(HostPath, FileError),
    /// A program.
    #[error(transparent)]
    Command(#[from] commands::CommandError),
    /// A program ended well or badly, and the host is not as the action wanted it.
    #[error("{0}")]
    Without(String),
    /// A captured host is not changed.
    #[error("a replayed host is not changed")]
    Replay,
    /// A live effect on an image.
    #[error("{0} has an effect on the running system only")]
    NotLive(&'static str),
}

impl PerformError {
    /// Somebody else changed the file meanwhile.
    pub const fn is_change(&self) -> bool {
        matches!(self, Self::File(_, FileError::Changed(_)))
    }
}

impl Host {
    /// Does one action.
    ///
    /// # Errors
    /// See [`PerformError`]. A file action that fails has changed nothing.
    pub fn perform(&mut self, action: &Action, watch: &mut dyn Watch) -> Result<(), PerformError> {
        match (self.scope, action) {
            (Scope::Replay, _) => return Err(PerformError::Replay),
            (
                Scope::Image,
                Action::LoadModule { .. }
                | Action::UnloadModule { .. }
                | Action::Sysctl { .. }
                | Action::ReloadUnits
                | Action::Unit { .. },
            ) => return Err(PerformError::NotLive(action.verb())),
            _ => {}
        }
        match action {
            Action::InstallPackages { names } => self.packages(names, true),
            Action::RemovePackages { names } => self.packages(names, false),
            Action::LoadModule { name } => self.module(name, true),
            Action::UnloadModule { name } => self.module(name, false),
            Action::Sysctl { path, value } => self.sysctl(path, value),
            Action::ReloadUnits => self.systemctl(&["daemon-reload"]),
            Action::Unit { unit, act } => self.unit(unit, *act),
            file => self.file(file, watch),
        }
    }

    fn file(&self, action: &Action, watch: &mut dyn Watch) -> Result<(), PerformError> {
        let (path, done) = match action {
            Action::MakeFolder { path, mode } => (path, files::make_folder(&self.root, path, *mode)),
            Action::RemoveFolder { path } => (path, files::remove_folder(&self.root, path)),
            Action::WriteFile {
                path,
                content,
                mode,
                uid,
                gid,
                expect,
            } => {
                let how = NewFile {
                    content: &content.0,
                    mode: *mode,
                    uid: *uid,
                    gid: *gid,
                    expect,
                };
                (path, files::write(&self.root, path, &how, watch))
            }
            Action::RemoveFile { path, expect } => (path, files::remove(&self.root, path, expect)),
            Action::MakeLink { path, target, expect } => {
                (path, files::make_link(&self.root, path, target, expect, watch))
            }
            _ => return Ok(()),
        };
        done.map_err(|e| PerformError::File(path.clone(), e))
    }

    fn packages(&self, names: &[String], install: bool) -> Result<(), PerformError> {
        if names.iter().all(|n| self.has(n, install)) {
            return Ok(());
        }
        if !install {
            self.nothing_else_goes(names)?;
        }
        let command = if install {
            packages::install(self, names)
        } else {
            packages::remove(self, names)
        };
        let Some((program, arguments)) = command else {
            return Err(PerformError::Without(
                "the package manager of this host is not known".to_owned(),
            ));
        };
        let mut output = commands::run(program, &arguments, self.limit)?;
        let wrong = |host: &Self| -> Vec<String> {
            let wrong = names.iter().filter(|n| !host.has(n, install));
            wrong.cloned().collect()
        };
        let mut left = wrong(self);
        if !left.is_empty()
            && !install
            && let Some((program, arguments)) = packages::remove_by_dpkg(self, &left)
        {
            output = commands::run(program, &arguments, self.limit)?;
            left = wrong(self);
        }
        if left.is_empty() {
            return Ok(());
        }
        let verb = if install {
            "not installed"
        } else {
            "still installed"
        };
        Err(PerformError::Without(format!(
            "{} {verb} after {program} ended with status {}: {}",
            left.join(", "),
            output
                .status
                .map_or_else(|| "(signal)".to_owned(), |s| s.to_string()),
            last_lines(&output.stderr, &output.stdout)
        )))
    }

    /// Refuses a removal that would take along what was installed since and needs these packages.
    fn nothing_else_goes(&self, names: &[String]) -> Result<(), PerformError> {
        let Some((program, arguments)) = packages::simulate_removal(self, names) else {
            return Ok(());
        };
        let output = commands::run(program, &arguments, self.limit)?;
        let others: Vec<String> = packages::would_remove(&output.stdout)
            .into_iter()
            .filter(|n| !names.contains(n))
            .collect();
        if others.is_empty() {
            return Ok(());
        }
        Err(PerformError::Without(format!(
            "removing {} would also remove {}, which needs it by now",
            names.join(", "),
            others.join(", ")
        )))
    }

    /// Whether a package is as it should be, read from its database.
    fn has(&self, name: &str, install: bool) -> bool {
        if install {
            packages::installed(self, name)
        } else {
            packages::gone(self, name)
        }
    }

    fn module(&self, name: &str, load: bool) -> Result<(), PerformError> {
        let arguments: Vec<String> = if load {
            vec!["--".into(), name.into()]
        } else {
            vec!["-r".into(), "--".into(), name.into()]
        };
        let here = HostPath::new(&format!("/sys/module/{}", name.replace('-', "_")));
        let loaded = || here.as_ref().is_some_and(|p| self.exists(p).unwrap_or(false));
        if loaded() == load {
            return Ok(());
        }
        let output = commands::run("modprobe", &arguments, self.limit)?;
        if loaded() == load {
            return Ok(());
        }
        let verb = if load { "not loaded" } else { "still loaded" };
        Err(PerformError::Without(format!(
            "{name} is {verb} after modprobe: {}",
            last_lines(&output.stderr, &output.stdout)
        )))
    }

    fn sysctl(&self, path: &HostPath, value: &str) -> Result<(), PerformError> {
        files::write_attribute(&self.root, path, &format!("{value}\n"))
            .map_err(|e| PerformError::File(path.clone(), e))?;
        let now = self.attribute(path).unwrap_or_default();
        if SysctlValue::from_text(value).is_some_and(|wanted| wanted.same(&now)) {
            Ok(())
        } else {
            Err(PerformError::Without(format!(
                "{path} reads {now:?} after {value:?} was written without an error"
            )))
        }
    }

    fn systemctl(&self, words: &[&str]) -> Result<(), PerformError> {
        let arguments: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
        let output = commands::run("systemctl", &arguments, self.limit)?;
        if output.status == Some(0) {
            return Ok(());
        }
        Err(PerformError::Without(format!(
            "systemctl {}: {}",
            words.join(" "),
            last_lines(&output.stderr, &output.stdout)
        )))
    }

    fn unit_state(&self, unit: &str) -> String {
        self.query(&Query::Units(vec![unit.to_owned()]))
            .ok()
            .flatten()
            .and_then(|o| {
                o.stdout
                    .lines()
                    .find_map(|l| l.strip_prefix("ActiveState=").map(str::to_owned))
            })
            .unwrap_or_default()
    }

    /// Acts on a unit and reads its state back. A unit that ends well at once (`inactive`) after a start did not start.
    fn unit(&self, unit: &str, act: UnitDo) -> Result<(), PerformError> {
        let word = match act {
            UnitDo::Start => "start",
            UnitDo::Stop => "stop",
            UnitDo::Restart => "restart",
            UnitDo::Reload => "reload",
        };
        let stopped = |state: &str| state == "inactive" || state == "failed";
        if act == UnitDo::Stop && stopped(&self.unit_state(unit)) {
            // A unit that is gone with its package cannot be stopped, and need not be.
            return Ok(());
        }
        self.systemctl(&[word, "--", unit])?;
        let state = self.unit_state(unit);
        let ok = if act == UnitDo::Stop {
            stopped(&state)
        } else {
            state == "active"
        };
        if ok {
            Ok(())
        } else {
            Err(PerformError::Without(format!(
                "systemctl {word} {unit} reported success, and the unit is {state}; see journalctl -u {unit}"
            )))
        }
    }
}

/// The end of what a program said, on one line.
fn last_lines(stderr: &str, stdout: &str) -> String {
    let text = if stderr.trim().is_empty() { stdout } else { stderr };
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    lines[lines.len().saturating_sub(4)..].join("; ")
}
