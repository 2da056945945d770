//! What systemd and the package managers of a fake host do.

use super::Fake;
use crate::action::UnitDo;
use crate::probe::Query;

impl Fake {
    /// Changes `ActiveState` in the recorded answer of systemctl, as systemd would.
    pub(super) fn act(&mut self, unit: &str, act: UnitDo) {
        self.units.push((unit.to_owned(), act));
        let state = if act == UnitDo::Stop { "inactive" } else { "active" };
        let record = Query::Units(Vec::new()).record();
        let Some(output) = self.answers.get_mut(record) else {
            return;
        };
        // An instance of a template has no state until it is acted on.
        if !output.stdout.lines().any(|l| l == format!("Id={unit}")) {
            let block = format!("\n\nId={unit}\nLoadState=loaded\nActiveState=inactive\nSubState=dead\n");
            output.stdout = output.stdout.trim_end().to_owned() + &block;
        }
        let blocks: Vec<String> = output
            .stdout
            .split("\n\n")
            .map(|block| {
                if !block.lines().any(|l| l == format!("Id={unit}")) {
                    return block.to_owned();
                }
                block
                    .lines()
                    .map(|l| {
                        if l.starts_with("ActiveState=") {
                            format!("ActiveState={state}")
                        } else {
                            l.to_owned()
                        }
                    })
                    .collect::<Vec<_>>()
                    .join("\n")
            })
            .collect();
        output.stdout = blocks.join("\n\n");
    }

    pub(super) fn install(&mut self, names: &[String]) {
        let status = "/var/lib/dpkg/status";
        if let Some(mut text) = self.get(status) {
            for name in names {
                text.push_str(&format!(
                    "Package: {name}\nStatus: install ok installed\nVersion: 1\n\n"
                ));
            }
            self.put(status, &text);
        }
        let output = self.answers.entry("rpm-packages").or_default();
        for name in names {
            output.stdout.push_str(&format!("{name}\t0\t1\t1\tx86_64\n"));
        }
    }

    pub(super) fn uninstall(&mut self, names: &[String]) {
        let status = "/var/lib/dpkg/status";
        if let Some(text) = self.get(status) {
            let keep: Vec<&str> = text
                .split_inclusive("\n\n")
                .filter(|stanza| {
                    !names
                        .iter()
                        .any(|n| stanza.starts_with(&format!("Package: {n}\n")))
                })
                .collect();
            self.put(status, &keep.concat());
        }
        if let Some(output) = self.answers.get_mut("rpm-packages") {
            output.stdout = output
                .stdout
                .lines()
                .filter(|l| !names.iter().any(|n| l.starts_with(&format!("{n}\t"))))
                .map(|l| format!("{l}\n"))
                .collect();
        }
    }
}
