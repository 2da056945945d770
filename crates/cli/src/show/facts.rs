//! Facts as tables.

use super::style::{HEAD, clean, table};
use serde_json::Value;
use std::fmt::Write;

/// The host, its ports and its IPoIB links.
pub(super) fn facts(facts: &Value) -> String {
    let mut text = host(facts);
    let ports = ports(facts);
    let _ = write!(text, "\n{HEAD}ports{HEAD:#}\n");
    if ports.len() > 1 {
        text += &table(&ports);
    } else {
        text += &no_ports(facts);
    }
    let links = links(facts);
    if links.len() > 1 {
        let _ = write!(text, "\n{HEAD}IPoIB links{HEAD:#}\n{}", table(&links));
    }
    text
}

fn host(facts: &Value) -> String {
    let os = at(facts, "/os/name");
    let row = match facts.pointer("/os/row") {
        Some(Value::String(row)) => format!("known as {}", clean(row)),
        _ => "not in ibplan's table".to_owned(),
    };
    let backends = |key: &str| list(facts.pointer(&format!("/backends/{key}")));
    let rows = [
        ("system", format!("{os} ({row})")),
        (
            "kernel",
            format!("{} {}", at(facts, "/kernel"), at(facts, "/arch")),
        ),
        (
            "packages",
            format!(
                "{}, {}",
                at(facts, "/packages/manager"),
                yes(facts, "/packages/usable", "can install", "cannot install here")
            ),
        ),
        (
            "network",
            format!(
                "installed {}; running {}",
                backends("installed"),
                backends("running")
            ),
        ),
    ];
    let mut text = format!("{HEAD}host{HEAD:#}\n");
    text += &table(&rows.map(|(name, value)| vec![name.to_owned(), value]));
    text
}

fn ports(facts: &Value) -> Vec<Vec<String>> {
    let head = [
        "DEVICE", "PORT", "LAYER", "STATE", "RATE", "LID", "GUID", "MEANING",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for device in array(facts, "/devices") {
        for port in array(device, "/ports") {
            let rate = port.pointer("/rate/gbps").and_then(Value::as_f64).unwrap_or(0.0);
            let speed = port.pointer("/rate/speed").and_then(Value::as_str).unwrap_or("");
            rows.push(vec![
                at(device, "/name"),
                at(port, "/number"),
                at(port, "/link_layer"),
                at(port, "/state").to_uppercase(),
                if rate > 0.0 {
                    format!("{rate} Gb/s {speed}").trim_end().to_owned()
                } else {
                    "-".to_owned()
                },
                at(port, "/lid"),
                at(port, "/guid"),
                meaning(device, port).to_owned() + role(device),
            ]);
        }
    }
    rows
}

/// What the state of a port says to somebody who meets it the first time.
fn meaning(device: &Value, port: &Value) -> &'static str {
    let word = |of: &Value, path: &str| {
        of.pointer(path)
            .and_then(Value::as_str)
            .unwrap_or("")
            .to_lowercase()
    };
    if device.pointer("/omni_path").and_then(Value::as_bool) == Some(true) {
        return "Omni-Path: its own fabric manager, never opensm";
    }
    if word(port, "/link_layer") == "ethernet" {
        return "Ethernet (RoCE): no subnet manager, no IPoIB";
    }
    match (word(port, "/state").as_str(), word(port, "/phys_state").as_str()) {
        ("active", _) => "up",
        ("init", _) => "the cable is good; no subnet manager has configured the port",
        ("armed", _) => "nearly up: the subnet manager is at work",
        ("down", "disabled") => "switched off",
        ("down", "polling") => "no cable, or the far end is off",
        ("down", _) => "down",
        _ => "unknown state",
    }
}

/// What a virtual function cannot do.
fn role(device: &Value) -> &'static str {
    match device.pointer("/vf").and_then(Value::as_bool) {
        Some(true) => "; a virtual function, so no subnet manager here",
        _ => "",
    }
}

fn no_ports(facts: &Value) -> String {
    let hcas = array(facts, "/hcas").len();
    if hcas == 0 {
        "  none: no RDMA device, and no adapter on the PCI bus that could be one\n".to_owned()
    } else {
        let found = super::count(hcas, "adapter");
        format!("  none: {found} on the PCI bus, and no driver has made an RDMA device of it\n")
    }
}

fn links(facts: &Value) -> Vec<Vec<String>> {
    let head = ["LINK", "PORT", "PKEY", "MODE", "MTU", "CARRIER", "OWNER"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for link in array(facts, "/ipoib") {
        let port = match link.pointer("/port").and_then(Value::as_array).map(Vec::as_slice) {
            Some([device, number]) => format!("{}/{}", plain(device), plain(number)),
            _ => "-".to_owned(),
        };
        let owners = array(link, "/owners");
        let owner = if owners.len() > 1 {
            format!("{} (more than one claims it)", list(link.pointer("/owners")))
        } else {
            at(link, "/owner")
        };
        rows.push(vec![
            at(link, "/name"),
            port,
            at(link, "/pkey"),
            at(link, "/mode"),
            at(link, "/mtu"),
            yes(
                link,
                "/carrier",
                "yes",
                "no: the link has not joined its partition's group",
            ),
            owner,
        ]);
    }
    rows
}

fn array<'a>(value: &'a Value, path: &str) -> &'a [Value] {
    value
        .pointer(path)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

fn at(value: &Value, path: &str) -> String {
    value.pointer(path).map_or_else(|| "-".to_owned(), plain)
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(word) if word.is_empty() => "-".to_owned(),
        Value::String(word) => clean(word),
        other => clean(&other.to_string()),
    }
}

fn yes(value: &Value, path: &str, yes: &str, no: &str) -> String {
    match value.pointer(path).and_then(Value::as_bool) {
        Some(true) => yes.to_owned(),
        Some(false) => no.to_owned(),
        None => "-".to_owned(),
    }
}

fn list(value: Option<&Value>) -> String {
    match value.and_then(Value::as_array).map(Vec::as_slice) {
        None | Some([]) => "none".to_owned(),
        Some(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
    }
}
