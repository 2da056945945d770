//! The IPoIB mode of a physical port where networkd configures it.
//!
//! networkd reads `[IPoIB]` in .netdev files only; in a .network file it is an unknown section (systemd 252 and 257,
//! seen in its log). So the mode is written by a udev rule. Why a rule and not a unit, and why it runs a command and
//! assigns no `ATTR{mode}`: docs/decisions/0003-ipoib-mode-under-networkd.md.

use crate::rooms::ipoib::backend::Files;
use crate::rooms::ipoib::model::{Compare, LinkKind, Mode, Rendered, WantedLink};
use crate::types::HostPath;
use std::collections::BTreeMap;

/// Where udev rules of the administrator lie.
pub(crate) const FOLDER: &str = "/etc/udev/rules.d";

/// The rule file of a link; `None` for links that have no `mode` attribute to write: children made over netlink take
/// theirs from the .netdev file, bonds have none.
pub(crate) fn render(wanted: &WantedLink) -> Option<Rendered> {
    let name = &wanted.link.name;
    let (LinkKind::Parent, Some(mode)) = (&wanted.link.kind, wanted.link.mode) else {
        return None;
    };
    let word = mode.word();
    Some(Rendered {
        path: HostPath::new(&format!("{FOLDER}/70-ibplan-{name}-mode.rules"))?,
        text: format!(
            "# Written by ibplan. networkd cannot set the IPoIB mode of a port; the kernel wants the line break that echo writes.\n\
             ACTION==\"add|move\", SUBSYSTEM==\"net\", KERNEL==\"{name}\", ATTR{{type}}==\"32\", \
             RUN+=\"/bin/sh -c 'echo {word} > /sys/class/net/{name}/mode'\"\n"
        ),
        mode: 0o644,
        links: vec![name.clone()],
        section: wanted.section,
        compare: Compare::Bytes,
        keys: None,
    })
}

/// The modes that rule files of this form set, by link.
pub(crate) fn read(files: &Files) -> BTreeMap<String, Mode> {
    files
        .iter()
        .filter(|(path, _)| path.as_str().starts_with(FOLDER) && path.name().ends_with("-mode.rules"))
        .flat_map(|(_, text)| text.lines())
        .filter(|line| !line.trim_start().starts_with('#'))
        .filter_map(|line| {
            let (_, rest) = line.split_once("'echo ")?;
            let (word, rest) = rest.split_once(" > /sys/class/net/")?;
            let (name, _) = rest.split_once("/mode'")?;
            let mode = [Mode::Datagram, Mode::Connected]
                .into_iter()
                .find(|m| m.word() == word)?;
            Some((name.to_owned(), mode))
        })
        .collect()
}
