//! NetworkManager's own parser judges the keyfiles: `nmcli --offline connection modify` reads a profile from standard input,
//! verifies it, and writes it in its own form. What it does not know it drops without a word and with exit 0, so every key
//! that was written must come back.

use ibplan_core::facts::{Facts, Scope};
use ibplan_core::resource::Resource;
use ibplan_core::rooms::ipoib::Ipoib;
use ibplan_core::rooms::ipoib::backend::networkmanager::{NetworkManager, keyfile};
use ibplan_core::rooms::ipoib::backend::{Context, Dialect, Files};
use ibplan_core::rooms::ipoib::entry::{entries, wanted_links};
use ibplan_core::rooms::ipoib::model::{Link, LinkKind, Rendered, WantedLink};
use ibplan_core::state::HostState;
use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Output, Stdio};

/// Runs the judge; a machine without it fails the test.
fn nmcli(profile: &str) -> Output {
    let mut child = Command::new("nmcli")
        .args([
            "--offline",
            "connection",
            "modify",
            "connection.autoconnect",
            "yes",
        ])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("nmcli does not start: install network-manager (1.40 or later)");
    child
        .stdin
        .take()
        .expect("its input")
        .write_all(profile.as_bytes())
        .expect("a profile to be read");
    child.wait_with_output().expect("its answer")
}

/// The links and profiles of a document.
fn profiles(desired: Value) -> (Vec<WantedLink>, Vec<Rendered>) {
    let state: HostState = serde_json::from_value(desired).expect("a document");
    let want = Ipoib::wanted(&state).expect("a section");
    let mut found = ibplan_core::problem::Findings::default();
    Ipoib::check(&want, &state, &mut found);
    assert_eq!(found.errors, [], "the document is refused: {state:#?}");
    let links = wanted_links(
        &want,
        &entries(&want, |_, l| l.interface.as_ref().map(ToString::to_string)),
    );
    let facts = Facts::unknown(Scope::Image);
    let files = Files::new();
    let context = Context {
        facts: &facts,
        row: None,
        files: &files,
    };
    let rendered = NetworkManager.render(&links, &context).expect("profiles");
    (links, rendered)
}

/// Every key that we wrote, as NetworkManager writes it: with addresses the gateway stands behind the first of them.
fn expected(profile: &str) -> Vec<(String, String, String)> {
    let groups = keyfile::parse(profile);
    let mut out = Vec::new();
    for (group, keys) in &groups {
        for (key, value) in keys {
            match (key.as_str(), keys.get("gateway")) {
                ("gateway", _) => {}
                ("address1", Some(gateway)) => {
                    out.push((group.clone(), key.clone(), format!("{value},{gateway}")));
                }
                _ => out.push((group.clone(), key.clone(), value.clone())),
            }
        }
    }
    out
}

fn judge(profile: &Rendered) {
    let answer = nmcli(&profile.text);
    assert!(
        answer.status.success(),
        "{}\n{}{}",
        profile.path,
        profile.text,
        String::from_utf8_lossy(&answer.stderr)
    );
    let theirs = String::from_utf8(answer.stdout).expect("text");
    let back = keyfile::parse(&theirs);
    for (group, key, value) in expected(&profile.text) {
        assert_eq!(
            keyfile::get(&back, &group, &key),
            Some(value.as_str()),
            "{}: [{group}] {key} did not come back\nours:\n{}\ntheirs:\n{theirs}",
            profile.path,
            profile.text
        );
    }
    assert!(
        NetworkManager.same(&theirs, &profile.text),
        "NetworkManager's own form counts as a difference\nours:\n{}\ntheirs:\n{theirs}",
        profile.text
    );
}

/// IP configurations that a link can have.
fn configurations() -> Vec<Value> {
    vec![
        json!({}),
        json!({ "addresses": ["192.168.10.1/24"] }),
        json!({ "addresses": ["192.168.10.1/24"], "gateway": "192.168.10.254" }),
        json!({ "addresses": ["192.168.10.1/24", "192.168.11.1/26", "10.9.8.7/8"], "gateway": "192.168.11.2" }),
        json!({ "addresses": ["fd00:10::1/64"] }),
        json!({ "addresses": ["fd00:10::1/64", "fd00:11::1/48"], "gateway": "fe80::1" }),
        json!({ "addresses": ["192.168.10.1/24", "fd00:10::1/64"], "gateway": "192.168.10.254",
                "routes": [{ "to": "default", "via": "fd00:10::ff" }] }),
        json!({ "dhcp4": true }),
        json!({ "dhcp6": true }),
        json!({ "dhcp4": true, "dhcp6": true }),
        json!({ "dhcp4": true, "addresses": ["192.168.10.1/24", "fd00:10::1/64"] }),
        json!({ "addresses": ["192.168.10.1/24"],
                "routes": [{ "to": "10.20.0.0/16", "via": "192.168.10.254" }, { "to": "10.30.0.0/16", "via": "192.168.10.253", "metric": 50 }] }),
        json!({ "addresses": ["fd00:10::1/64"], "routes": [{ "to": "fd00:20::/48", "via": "fd00:10::2", "metric": 1024 }] }),
        json!({ "addresses": ["10.0.0.0/31"] }),
    ]
}

fn with(mut link: Value, more: &Value) -> Value {
    for (key, value) in more.as_object().into_iter().flatten() {
        link[key] = value.clone();
    }
    link
}

/// Links of every kind, mode and MTU, with every IP configuration.
fn documents() -> Vec<Value> {
    let mut out = Vec::new();
    for (mode, mtu) in [
        ("auto", json!("auto")),
        ("datagram", json!(2044)),
        ("datagram", json!(4092)),
        ("connected", json!(65520)),
        ("connected", json!("auto")),
    ] {
        for ip in configurations() {
            let link = json!({ "interface": "ib0", "mode": mode, "mtu": mtu });
            out.push(json!({ "ipoib": [with(link, &ip)] }));
        }
    }
    for (key, ip) in [json!("0x8001"), json!(10), json!("0x7ffe")]
        .iter()
        .cycle()
        .zip(configurations())
    {
        let child = with(json!({ "pkey": key, "mtu": 2044 }), &ip);
        out.push(json!({ "ipoib": [{ "interface": "ibp65s0", "partitions": [child] }] }));
        let bond =
            json!({ "name": "bond0", "ports": ["ib0", "ib1"], "primary": "ib1", "mtu": 2044, "miimon": 50 });
        out.push(json!({ "bonds": [with(bond, &ip)] }));
    }
    out.push(json!({
        "ipoib": [{ "interface": "ib0", "partitions": [{ "pkey": 1 }] }, { "interface": "ib1", "partitions": [{ "pkey": 1 }] }],
        "bonds": [{ "name": "bond-ib.1", "ports": ["ib0.8001", "ib1.8001"], "addresses": ["10.1.2.3/24"] }],
    }));
    out
}

#[test]
fn every_key_comes_back() {
    let documents = documents();
    assert!(documents.len() >= 40);
    let mut profiles_judged = std::collections::BTreeSet::new();
    for desired in documents {
        for profile in profiles(desired).1 {
            if profiles_judged.insert(profile.text.clone()) {
                judge(&profile);
            }
        }
    }
    assert!(profiles_judged.len() >= 90, "{}", profiles_judged.len());
}

#[test]
fn what_is_written_is_what_is_read() {
    for desired in documents() {
        let (links, rendered) = profiles(desired);
        let files: Files = rendered.into_iter().map(|r| (r.path, r.text)).collect();
        let read = NetworkManager.read(&files);
        for wanted in &links {
            let back = read.iter().map(|(_, l)| l).find(|l| l.name == wanted.link.name);
            let sorted = |link: &Link| {
                let mut link = link.clone();
                link.addresses.sort();
                if let LinkKind::Bond { ports, .. } = &mut link.kind {
                    ports.sort();
                }
                link
            };
            assert_eq!(back.map(sorted), Some(sorted(&wanted.link)));
        }
    }
}

#[test]
fn the_judge_knows_the_rules_of_children() {
    let good = profiles(json!({ "ipoib": [{ "interface": "ib0", "partitions": [{ "pkey": "0x0001" }] }] })).1;
    let child = &good[1].text;
    assert!(
        child.contains("p-key=32769") && child.contains("parent=ib0"),
        "{child}"
    );
    assert!(nmcli(child).status.success());
    for (from, to, reason) in [
        (
            "interface-name=ib0.8001",
            "interface-name=ib0.8002",
            "interface name",
        ),
        (
            "interface-name=ib0.8001",
            "interface-name=ib0.0001",
            "interface name",
        ),
        ("parent=ib0\n", "", "parent interface"),
        ("transport-mode=datagram\n", "", "transport-mode"),
        (
            "transport-mode=datagram",
            "transport-mode=bogus",
            "transport-mode",
        ),
    ] {
        assert!(child.contains(from), "{from}");
        let answer = nmcli(&child.replace(from, to));
        let said = String::from_utf8_lossy(&answer.stderr).to_lowercase();
        assert!(
            !answer.status.success() && said.contains(reason),
            "{from} -> {to}: {said}"
        );
    }
}

#[test]
fn a_dropped_key_is_seen() {
    let profile = profiles(json!({ "ipoib": [{ "interface": "ib0", "mtu": 2044 }] }))
        .1
        .remove(0);
    for (from, to) in [("mtu=2044", "mtu=abc"), ("mtu=2044", "mtuu=2044")] {
        let broken = Rendered {
            text: profile.text.replace(from, to),
            ..profile.clone()
        };
        assert!(
            std::panic::catch_unwind(|| judge(&broken)).is_err(),
            "nmcli takes {to} with exit 0, and the judge did not see it"
        );
    }
}
