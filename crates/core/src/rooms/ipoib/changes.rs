//! What differs between a link as wanted and as its files say, field by field, in the document's terms.

use super::model::{Link, LinkKind, Mode, WantedLink};
use crate::plan::{Change, When};
use crate::pointer::Pointer;
use serde_json::{Map, Value, json};
use std::net::IpAddr;

/// The changes of one link; all take effect when it is next brought up.
pub fn of(wanted: &WantedLink, before: Option<&Link>) -> Vec<Change> {
    let link = &wanted.link;
    let Some(before) = before else {
        return vec![change(&wanted.at, Value::Null, summary(link))];
    };
    let fields = fields(before, link);
    let member = wanted.section == "bonds" && !matches!(link.kind, LinkKind::Bond { .. });
    if member && !fields.is_empty() {
        // The document says no more of it than its name.
        return vec![change(&wanted.at, summary(before), summary(link))];
    }
    fields
        .into_iter()
        .map(|(field, before, after)| {
            let at = if field.is_empty() {
                wanted.at.clone()
            } else {
                wanted.at.key(field)
            };
            change(&at, before, after)
        })
        .collect()
}

fn change(at: &Pointer, before: Value, after: Value) -> Change {
    Change::now(at.clone(), before, after).later(When::LinkUp)
}

/// Name of the field (empty: the link itself), before and after.
type Field = (&'static str, Value, Value);

fn fields(before: &Link, after: &Link) -> Vec<Field> {
    let mut out: Vec<Field> = vec![
        ("", kind(before), kind(after)),
        ("", bond(before), bond(after)),
        ("mode", mode(before), mode(after)),
        ("mtu", mtu(before), mtu(after)),
        ("addresses", addresses(before), addresses(after)),
        ("gateway", gateway(before), gateway(after)),
        ("dhcp4", json!(before.dhcp4), json!(after.dhcp4)),
        ("dhcp6", json!(before.dhcp6), json!(after.dhcp6)),
        ("routes", routes(before), routes(after)),
    ];
    if let (
        LinkKind::Bond {
            ports: p,
            primary: q,
            miimon: m,
        },
        LinkKind::Bond {
            ports,
            primary,
            miimon,
        },
    ) = (&before.kind, &after.kind)
    {
        let sorted = |list: &[String]| {
            let mut list = list.to_vec();
            list.sort();
            json!(list)
        };
        out.push(("ports", sorted(p), sorted(ports)));
        out.push(("primary", json!(q), json!(primary)));
        out.push(("miimon", json!(m), json!(miimon)));
    }
    out.retain(|(field, before, after)| before != after && !(*field == "mode" && after.is_null()));
    out
}

fn kind(link: &Link) -> Value {
    match &link.kind {
        LinkKind::Parent => json!({ "type": "infiniband" }),
        LinkKind::Child { parent, pkey } => {
            json!({ "type": "infiniband", "parent": parent, "pkey": pkey })
        }
        LinkKind::Bond { .. } => json!({ "type": "bond" }),
        LinkKind::Ethernet => json!({ "type": "ethernet" }),
    }
}

fn bond(link: &Link) -> Value {
    json!({ "bond": link.bond })
}

/// A file that does not say means datagram; a bond has none.
fn mode(link: &Link) -> Value {
    match link.kind {
        LinkKind::Bond { .. } => Value::Null,
        _ => json!(link.mode.unwrap_or(Mode::Datagram).word()),
    }
}

fn mtu(link: &Link) -> Value {
    link.mtu.map_or_else(|| json!("auto"), |mtu| json!(mtu))
}

/// In order within a family; the order of the families among each other means nothing.
fn addresses(link: &Link) -> Value {
    let (four, six): (Vec<_>, Vec<_>) = link.addresses.iter().partition(|a| a.is_v4());
    let all: Vec<String> = four.into_iter().chain(six).map(ToString::to_string).collect();
    json!(all)
}

fn gateway(link: &Link) -> Value {
    let all: Vec<IpAddr> = link.gateway4.into_iter().chain(link.gateway6).collect();
    match all.as_slice() {
        [] => Value::Null,
        [one] => json!(one),
        more => json!(more),
    }
}

fn routes(link: &Link) -> Value {
    let mut sorted = link.routes.clone();
    sorted.sort();
    let all: Vec<Value> = sorted
        .iter()
        .map(|r| {
            let mut route = Map::new();
            route.insert("to".to_owned(), json!(r.to.to_string()));
            route.insert("via".to_owned(), json!(r.via));
            if let Some(metric) = r.metric {
                route.insert("metric".to_owned(), json!(metric));
            }
            Value::Object(route)
        })
        .collect();
    json!(all)
}

/// A whole link: its name, its kind, and what is not empty.
fn summary(link: &Link) -> Value {
    let mut out = Map::new();
    out.insert("interface".to_owned(), json!(link.name));
    if let Value::Object(kind) = kind(link) {
        out.extend(kind);
    }
    if let LinkKind::Bond { ports, primary, .. } = &link.kind {
        out.insert("ports".to_owned(), json!(ports));
        out.insert("primary".to_owned(), json!(primary));
    }
    out.insert("bond".to_owned(), json!(link.bond));
    out.insert("mode".to_owned(), mode(link));
    out.insert("mtu".to_owned(), mtu(link));
    out.insert("addresses".to_owned(), addresses(link));
    out.insert("gateway".to_owned(), gateway(link));
    for (word, on) in [("dhcp4", link.dhcp4), ("dhcp6", link.dhcp6)] {
        if on {
            out.insert(word.to_owned(), json!(true));
        }
    }
    out.insert("routes".to_owned(), routes(link));
    out.retain(|_, v| !(v.is_null() || v.as_array().is_some_and(Vec::is_empty)));
    Value::Object(out)
}
