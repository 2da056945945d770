//! The facts of every captured host, one snapshot each: what a change of a reader means for real trees is seen here.

#![allow(clippy::unwrap_used, clippy::panic)]

use ibplan_core::facts::{Facts, Scope, read};
use ibplan_host::Host;
use ibplan_testkit::hosts;
use serde_json::{Value, json};

fn facts(name: &str, replay: bool) -> Facts {
    let host = Host::at(&hosts::path(name), replay).unwrap();
    let scope = if replay { Scope::Replay } else { Scope::Image };
    read(&host, scope).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// The facts as they go out, with the choice that follows from them.
fn shown(facts: &Facts) -> Value {
    let mut value = serde_json::to_value(facts).unwrap();
    let choice = facts
        .default_backend()
        .map(|c| json!({ "backend": c.backend, "because": c.because }));
    value["default_backend"] = json!(choice);
    value
}

#[test]
fn facts_of_captured_hosts() {
    let names = hosts::names();
    assert!(names.len() >= 28, "{names:?}");
    for name in names {
        let value = shown(&facts(&name, true));
        insta::assert_snapshot!(name, serde_json::to_string_pretty(&value).unwrap());
    }
}

/// An image has no live side, and what is in its tree is the same as in a replay.
#[test]
fn an_image_differs_from_a_replay_only_in_its_live_side() {
    for name in hosts::names() {
        let (image, replay) = (facts(&name, false), facts(&name, true));
        assert!(
            image.backends.running.is_empty() && !image.packages.usable,
            "{name}"
        );
        for (image, replay) in [
            (json!(image.os), json!(replay.os)),
            (json!(image.kernel), json!(replay.kernel)),
            (json!(image.arch), json!(replay.arch)),
            (json!(image.hcas), json!(replay.hcas)),
            (json!(image.devices), json!(replay.devices)),
            (json!(image.links), json!(replay.links)),
        ] {
            assert_eq!(image, replay, "{name}");
        }
    }
}

/// Every IPoIB interface of every captured host belongs to a port, and no two parents to the same one.
#[test]
fn every_link_has_its_port() {
    for name in hosts::names() {
        let facts = facts(&name, true);
        let mut taken = Vec::new();
        for link in &facts.ipoib {
            assert!(link.port.is_some(), "{name}: {}", link.name);
            if link.parent.is_none() {
                assert!(!taken.contains(&link.port), "{name}: {}", link.name);
                taken.push(link.port.clone());
            }
        }
    }
}
