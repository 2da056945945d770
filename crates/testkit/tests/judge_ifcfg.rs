//! The shell judges ifcfg files: initscripts source them, so `sh -n` must take them and sourcing must set every key.
//! No program outside EL parses them any further; golden files in the room's tests stand in for one.

use ibplan_core::distro::Row;
use ibplan_core::facts::{Facts, Scope};
use ibplan_core::resource::Resource;
use ibplan_core::rooms::ipoib::Ipoib;
use ibplan_core::rooms::ipoib::backend::ifcfg::{Ifcfg, shell};
use ibplan_core::rooms::ipoib::backend::{Context, Dialect, Files};
use ibplan_core::rooms::ipoib::entry::{entries, wanted_links};
use ibplan_core::rooms::ipoib::model::Rendered;
use ibplan_core::state::HostState;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::Command;

fn files(desired: Value, version: &str) -> Vec<Rendered> {
    let state: HostState = serde_json::from_value(desired).expect("a document");
    let want = Ipoib::wanted(&state).expect("a section");
    let links = wanted_links(
        &want,
        &entries(&want, |_, l| l.interface.as_ref().map(ToString::to_string)),
    );
    let facts = Facts::unknown(Scope::Image);
    let there = Files::new();
    let context = Context {
        facts: &facts,
        row: Row::find("rhel", version),
        files: &there,
    };
    Ifcfg.render(&links, &context).expect("files")
}

fn documents() -> Vec<Value> {
    vec![
        json!({ "ipoib": [{ "interface": "ib0", "mode": "connected", "mtu": 65520, "addresses": ["192.168.10.1/24", "10.0.0.1/8", "fd00::1/64", "fd01::1/64"],
            "gateway": "192.168.10.254", "routes": [{ "to": "10.20.0.0/16", "via": "192.168.10.253", "metric": 7 }, { "to": "fd02::/64", "via": "fd00::2" }] }] }),
        json!({ "ipoib": [{ "interface": "ib0", "dhcp4": true, "dhcp6": true, "partitions": [{ "pkey": 10, "addresses": ["10.1.0.1/16"] }] }] }),
        json!({ "bonds": [{ "name": "bond0", "ports": ["ib0", "ib1"], "primary": "ib1", "mtu": 2044, "addresses": ["10.0.0.1/24"] }] }),
    ]
}

/// What the shell has in its variables after sourcing, one `KEY<TAB>VALUE` a line.
fn sourced(text: &str, keys: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("ifcfg");
    std::fs::write(&file, text).expect("a file");
    let checked = Command::new("sh").arg("-n").arg(&file).status().expect("sh");
    assert!(checked.success(), "sh -n refuses\n{text}");
    let prints: Vec<String> = keys
        .keys()
        .map(|k| format!("printf '%s\\t%s\\n' {k} \"${k}\""))
        .collect();
    let script = format!("set -eu\n. \"$1\"\n{}\n", prints.join("\n"));
    let answer = Command::new("sh")
        .args(["-c", &script, "sh"])
        .arg(&file)
        .env_clear()
        .output()
        .expect("sh");
    let said = String::from_utf8(answer.stdout).expect("text");
    assert!(
        answer.status.success(),
        "{text}\n{}",
        String::from_utf8_lossy(&answer.stderr)
    );
    said.lines()
        .filter_map(|l| l.split_once('\t'))
        .map(|(k, v)| (k.to_owned(), v.to_owned()))
        .collect()
}

#[test]
fn the_shell_reads_what_we_read() {
    let mut judged = 0;
    for version in ["7", "8", "9"] {
        for file in documents().into_iter().flat_map(|d| files(d, version)) {
            if file.path.name().starts_with("ifcfg-") {
                let keys = shell::parse(&file.text);
                assert!(keys.len() >= 6, "{}", file.text);
                assert_eq!(sourced(&file.text, &keys), keys, "{}", file.text);
                judged += 1;
            }
        }
    }
    assert_eq!(judged, 18);
}

#[test]
fn route_files_are_arguments_of_ip_route() {
    let routes: Vec<String> = documents()
        .into_iter()
        .flat_map(|d| files(d, "8"))
        .filter(|f| f.path.name().starts_with("route"))
        .flat_map(|f| {
            f.text
                .lines()
                .filter(|l| !l.starts_with('#'))
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(
        routes,
        [
            "10.20.0.0/16 via 192.168.10.253 dev ib0 metric 7",
            "fd02::/64 via fd00::2 dev ib0"
        ]
    );
}

#[test]
fn a_missing_quote_is_seen() {
    let file = files(documents().remove(2), "8").remove(0);
    assert!(file.text.contains("BONDING_OPTS=\""));
    let broken = file.text.replacen('"', "", 1);
    assert!(std::panic::catch_unwind(|| sourced(&broken, &shell::parse(&file.text))).is_err());
}
