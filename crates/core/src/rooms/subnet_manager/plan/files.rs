//! The files of the room: what differs in them, in the document's terms, and what that asks of a running opensm.

use super::{Need, SECTION};
use crate::distro::ServiceSettings;
use crate::facts::Facts;
use crate::parts::file::{self, KeptFile, Present, SeenFile};
use crate::plan::{Change, Claim, Plan};
use crate::pointer::Pointer;
use crate::rooms::subnet_manager::conf::{self, Conf};
use crate::rooms::subnet_manager::options;
use crate::rooms::subnet_manager::ports;
use crate::rooms::subnet_manager::seen::Seen;
use crate::rooms::subnet_manager::service::{self, Instance};
use crate::rooms::subnet_manager::settings::Settings;
use crate::rooms::subnet_manager::want::SubnetManagerWant;
use crate::types::Guid;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// What something asks for, and the changes that say so.
pub(super) type Asked = (Need, Vec<Pointer>);

pub(super) fn bytes(seen: &SeenFile) -> Option<&[u8]> {
    match &seen.present {
        Present::File { bytes, .. } => Some(bytes),
        _ => None,
    }
}

/// Where a key of opensm.conf comes from in the document.
fn place(index: usize, key: &str) -> Pointer {
    let instance = ports::at(index);
    match key {
        "guid" => instance.key("port"),
        "sm_priority" => instance.key("priority"),
        "subnet_prefix" => instance.key("subnet_prefix"),
        "partition_config_file" => Pointer::of(SECTION).key("partitions"),
        other => instance.key("options").key(other),
    }
}

/// Keys of opensm.conf that an instance wants, in the order of writing.
fn keys(instance: &Instance, manages_partitions: bool, now: &Conf, seen: &Seen) -> Vec<(String, String)> {
    let mut out = vec![("guid".to_owned(), instance.guid.to_string())];
    if let Some(prefix) = instance.want.subnet_prefix {
        out.push(("subnet_prefix".to_owned(), prefix.to_string()));
    }
    if let Some(priority) = instance.want.priority {
        out.push(("sm_priority".to_owned(), priority.to_string()));
    }
    // Where it is not set, the default is the file that ibplan writes.
    if manages_partitions && now.get("partition_config_file").is_some() {
        out.push((
            "partition_config_file".to_owned(),
            seen.layout.partitions.to_string(),
        ));
    }
    for (name, value) in &instance.want.options {
        if let Some(Ok(raw)) = options::find(name).map(|k| k.render(value)) {
            out.push((name.clone(), raw));
        }
    }
    // Without it "SUBNET UP" stays in a buffer until the next error, so nobody sees in the log that all is well.
    if !instance.want.options.contains_key("force_log_flush") {
        out.push(("force_log_flush".to_owned(), "TRUE".to_owned()));
    }
    if instance.many && !instance.want.options.contains_key("log_file") {
        out.push((
            "log_file".to_owned(),
            format!("/var/log/opensm.{}.log", instance.guid),
        ));
    }
    out
}

/// opensm.conf of every instance.
pub(super) fn confs(plan: &mut Plan, want: &SubnetManagerWant, seen: &Seen, facts: &Facts) -> Vec<Asked> {
    seen.instances
        .iter()
        .zip(&seen.confs)
        .map(|(instance, file)| one_conf(plan, want, seen, facts, instance, file))
        .collect()
}

fn one_conf(
    plan: &mut Plan,
    want: &SubnetManagerWant,
    seen: &Seen,
    facts: &Facts,
    instance: &Instance,
    file: &SeenFile,
) -> Asked {
    let mut conf = Conf::read(bytes(file));
    let wanted = keys(instance, want.partitions.is_some(), &conf, seen);
    let owned = facts.ledger.files.get(&file.path).map(|o| &o.keys);
    let mut former: BTreeMap<String, Option<String>> = BTreeMap::new();
    let mut edits: Vec<(String, Option<String>)> = Vec::new();
    for (name, value) in wanted {
        let before = conf.get(&name).map(str::to_owned);
        let first = owned.and_then(|k| k.get(&name)).cloned();
        former.insert(name.clone(), first.unwrap_or(before));
        edits.push((name, Some(value)));
    }
    // Keys that have left the document go back to what they were.
    for (name, before) in owned.into_iter().flatten() {
        if !former.contains_key(name) {
            edits.push((name.clone(), before.clone()));
        }
    }
    let mut asked: Asked = (Need::Nothing, Vec::new());
    for (name, value) in edits {
        let before = conf.get(&name).map(str::to_owned);
        let key = options::find(&name);
        let same = match (&before, &value) {
            (Some(a), Some(b)) => key.map_or(a == b, |k| k.same(a, b)),
            (None, None) => true,
            _ => false,
        };
        if same {
            continue;
        }
        conf.restore(&name, value.as_deref());
        let shown = |raw: Option<&String>| match (raw, key) {
            (Some(raw), Some(key)) => key.shown(raw),
            (Some(raw), None) => raw.as_str().into(),
            (None, _) => Value::Null,
        };
        let path = place(instance.index, &name);
        plan.changes.push(Change::now(
            path.clone(),
            shown(before.as_ref()),
            shown(value.as_ref()),
        ));
        asked.1.push(path);
        // Where the unit names the port on the command line, the file's word is for whoever starts opensm by hand.
        asked.0 = asked.0.max(match key {
            Some(key) if key.name == "guid" && seen.layout.instance_unit.is_some() => Need::Nothing,
            Some(key) if key.live => Need::Reload,
            _ => Need::Restart,
        });
    }
    let untouched = bytes(file).filter(|_| asked.1.is_empty());
    let content = untouched.map_or_else(|| conf.bytes(), <[u8]>::to_vec);
    let secret = former.keys().any(|k| options::SECRETS.contains(&k.as_str()));
    let mut kept = KeptFile::own(SECTION, content, ports::at(instance.index), asked.1.clone())
        .mode(if secret { 0o600 } else { 0o644 })
        .keyed(former);
    kept.mask = Some(conf::mask);
    file::keep(plan, file, kept);
    asked
}

/// Numbered files of instances that the document does not have.
pub(super) fn strays(plan: &mut Plan, seen: &Seen, facts: &Facts) -> Asked {
    // What was taken out of the way stays in the ledger: prune would give it back, and the launch script start it again.
    for (path, owned) in &facts.ledger.files {
        let numbered = seen.layout.numbered.is_some_and(|n| path.as_str().starts_with(n));
        let wanted = seen.instances.iter().any(|i| i.conf == *path);
        if numbered && !wanted && owned.section == SECTION && !seen.strays.iter().any(|s| s.path == *path) {
            plan.claims.push(Claim::File {
                path: path.clone(),
                section: SECTION.to_owned(),
                keys: BTreeMap::new(),
            });
        }
    }
    let mut asked: Asked = (Need::Nothing, Vec::new());
    let path = Pointer::of(SECTION).key("instances");
    for stray in &seen.strays {
        plan.changes.push(Change::now(
            path.clone(),
            json!({ "file": stray.path }),
            Value::Null,
        ));
        file::remove(plan, stray, SECTION, std::slice::from_ref(&path));
        asked = (Need::Restart, vec![path.clone()]);
    }
    asked
}

/// The service settings.
pub(super) fn settings(plan: &mut Plan, seen: &Seen, facts: &Facts) -> Asked {
    let (Some(file), Some((_, kind))) = (&seen.settings, &seen.layout.settings) else {
        return (Need::Nothing, Vec::new());
    };
    let mut text = Settings::read(bytes(file));
    let guids: Vec<String> = seen.instances.iter().map(|i| i.guid.to_string()).collect();
    let wanted: Vec<(&str, String)> = match kind {
        ServiceSettings::Ports => vec![("PORTS", guids.join(" "))],
        // The command line that they make would beat opensm.conf.
        ServiceSettings::Guids => vec![("GUIDS", String::new()), ("PRIORITY", String::new())],
    };
    let (mut before, mut after) = (Map::new(), Map::new());
    for (name, value) in wanted {
        let now = text.get(name);
        if same_words(now.as_deref(), &value) {
            continue;
        }
        before.insert(name.to_owned(), now.map_or(Value::Null, Value::from));
        after.insert(name.to_owned(), value.as_str().into());
        text.set(name, &value);
    }
    if after.is_empty() {
        // Already as wanted: kept in the ledger where it is, so that it is not given back.
        if facts.ledger.files.contains_key(&file.path)
            && let Some(same) = bytes(file)
        {
            keep_settings(plan, file, same.to_vec(), Vec::new());
        }
        return (Need::Nothing, Vec::new());
    }
    let path = Pointer::of(SECTION).key("instances");
    plan.changes.push(Change::now(
        path.clone(),
        Value::Object(before),
        Value::Object(after),
    ));
    keep_settings(plan, file, text.bytes(), vec![path.clone()]);
    // Debian's instances are started and stopped one by one; the launch script of the others reads them at its start.
    match kind {
        ServiceSettings::Ports => (Need::Nothing, Vec::new()),
        ServiceSettings::Guids => (Need::Restart, vec![path]),
    }
}

fn keep_settings(plan: &mut Plan, file: &SeenFile, content: Vec<u8>, because: Vec<Pointer>) {
    let pointer = Pointer::of(SECTION).key("instances");
    let kept = KeptFile::own(SECTION, content, pointer, because).keyed(BTreeMap::new());
    file::keep(plan, file, kept);
}

/// Whether a variable has these words; GUIDs are compared as numbers. Unset and empty are the same.
fn same_words(now: Option<&str>, wanted: &str) -> bool {
    let words = |text: &str| -> BTreeSet<String> {
        text.split_whitespace()
            .map(|w| Guid::parse(w).map_or_else(|_| w.to_owned(), |g| g.to_string()))
            .collect()
    };
    words(now.unwrap_or("")) == words(wanted)
}

/// Drop-ins of the units of instances.
pub(super) fn drop_ins(plan: &mut Plan, seen: &Seen) -> Vec<Asked> {
    let mut out = Vec::new();
    for (instance, file) in seen.instances.iter().zip(&seen.drop_ins) {
        let text = service::drop_in(instance);
        let steps = plan.steps.len();
        let had = file.text().unwrap_or_default();
        let command = |t: &str| -> Vec<String> {
            t.lines()
                .filter(|l| {
                    ["ExecStart", "CacheDirectory", "Environment"]
                        .iter()
                        .any(|k| l.starts_with(k))
                })
                .map(str::to_owned)
                .collect()
        };
        // systemd takes ExecReload with its own reload; a new command line needs a new process.
        let need = if command(&had) == command(&text) {
            Need::Nothing
        } else {
            Need::Restart
        };
        let path = ports::at(instance.index);
        file::keep(plan, file, KeptFile::own(SECTION, text, path.clone(), Vec::new()));
        out.push(if plan.steps.len() > steps {
            (need, vec![path])
        } else {
            (Need::Nothing, Vec::new())
        });
    }
    out
}
