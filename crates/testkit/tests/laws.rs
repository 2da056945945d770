//! The laws over random documents and every captured host: in memory with the live side, and as folders through the agent.

use ibplan_core::facts::{self, Scope};
use ibplan_core::pointer::Pointer;
use ibplan_core::request::read_document;
use ibplan_testkit::{documents, hosts, laws};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

/// Cases for each host: few in a usual run, many in a long one.
fn cases(usual: u32, long: u32) -> u32 {
    if std::env::var_os("IBPLAN_LONG").is_some() {
        long
    } else {
        usual
    }
}

/// The same cases in every run, so that a failure can be seen again.
fn runner(cases: u32) -> TestRunner {
    let config = Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 300,
        ..Config::default()
    };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

#[test]
fn on_hosts_in_memory_with_their_live_side() {
    let mut taken = 0;
    let mut all = 0;
    for name in hosts::names() {
        let host = hosts::fake(&name);
        let facts = facts::read(&host, Scope::Live).expect("facts");
        let counted = std::cell::Cell::new((0, 0));
        let ran = runner(cases(40, 2000)).run(&documents::document(&facts), |document| {
            let (state, errors) = read_document(document.clone(), &Pointer::root());
            assert!(
                errors.is_empty(),
                "the generator wrote a wrong document: {errors:#?}\n{document:#}"
            );
            let ok = laws::on_fake(&host, &state.expect("a state"));
            let (all, yes) = counted.get();
            counted.set((all + 1, yes + usize::from(ok)));
            Ok(())
        });
        if let Err(e) = ran {
            panic!("{name}: {e}");
        }
        all += counted.get().0;
        taken += counted.get().1;
    }
    println!("{taken} of {all} documents were taken");
    assert!(
        taken * 4 > all,
        "only {taken} of {all} random documents were taken: the laws were hardly tried"
    );
}

#[test]
fn on_folders_through_the_whole_agent() {
    let mut taken = 0;
    for name in hosts::names() {
        let dir = hosts::copied(&name);
        let host = hosts::fake(&name);
        let facts = facts::read(&host, Scope::Image).expect("facts");
        let counted = std::cell::Cell::new(0);
        let ran = runner(cases(12, 400)).run(&documents::document(&facts), |document| {
            let (_, exit) = laws::on_root(dir.path(), &document, &json!({}));
            counted.set(counted.get() + usize::from(exit == ibplan_core::protocol::Exit::Done));
            Ok(())
        });
        if let Err(e) = ran {
            panic!("{name}: {e}");
        }
        taken += counted.get();
    }
    assert!(taken > 50, "only {taken} documents were taken");
}

/// Planning a captured host with its recorded live side writes nothing, and says the same twice.
#[test]
fn on_captured_hosts_replayed() {
    for name in hosts::names() {
        let root = hosts::path(&name);
        let facts = facts::read(&hosts::fake(&name), Scope::Replay).expect("facts");
        let ran = runner(cases(10, 200)).run(&documents::document(&facts), |document| {
            let options = json!({ "replay": true });
            let before = hosts::picture(&root);
            let (first, _) = laws::serve("plan", &root, &document, &options);
            let (second, _) = laws::serve("plan", &root, &document, &options);
            assert_eq!(first, second);
            assert_eq!(before, hosts::picture(&root));
            Ok(())
        });
        if let Err(e) = ran {
            panic!("{name}: {e}");
        }
    }
}

/// A document, then a smaller one with prune, then rollback of both: prune gives the originals back.
#[test]
fn prune_gives_the_originals_back() {
    let tried = std::cell::Cell::new(0);
    for name in hosts::names() {
        let dir = hosts::copied(&name);
        let facts = facts::read(&hosts::fake(&name), Scope::Image).expect("facts");
        let ran = runner(cases(6, 200)).run(&documents::document(&facts), |document| {
            let before = hosts::picture(dir.path());
            let (applied, exit) = laws::serve("apply", dir.path(), &document, &json!({}));
            if exit != ibplan_core::protocol::Exit::Done || !applied.changed {
                return Ok(());
            }
            tried.set(tried.get() + 1);
            let empty = emptied(&document);
            let (pruned, exit) = laws::serve("apply", dir.path(), &empty, &json!({ "prune": true }));
            assert_eq!(exit, ibplan_core::protocol::Exit::Done, "{:#?}", pruned.errors);
            assert!(
                !pruned
                    .warnings
                    .iter()
                    .any(|w| w.code.id() == "host.changed_by_hand"),
                "{:#?}",
                pruned.warnings
            );
            let after = files_only(&hosts::picture(dir.path()));
            assert_eq!(
                files_only(&before),
                after,
                "{document:#}\n{:#?}",
                hosts::difference(&files_only(&before), &after)
            );
            let number = applied.transaction;
            let (undone, exit) = laws::serve(
                "rollback",
                dir.path(),
                &Value::Null,
                &json!({ "transaction": number }),
            );
            assert_eq!(exit, ibplan_core::protocol::Exit::Done, "{:#?}", undone.errors);
            assert_eq!(before, hosts::picture(dir.path()));
            Ok(())
        });
        if let Err(e) = ran {
            panic!("{name}: {e}");
        }
    }
    assert!(tried.get() > 20, "{}", tried.get());
}

/// The same sections with nothing in them.
fn emptied(document: &Value) -> Value {
    let empty = |key: &str| match key {
        "subnet_manager" => json!({ "state": "absent" }),
        "limits" => json!({}),
        "sysctl" => json!({}),
        _ => json!([]),
    };
    let keep = ["network_backend", "sysctl_profile"];
    document
        .as_object()
        .expect("an object")
        .iter()
        .filter(|(k, _)| !keep.contains(&k.as_str()))
        .map(|(k, _)| (k.clone(), empty(k)))
        .chain(
            document
                .get("network_backend")
                .map(|b| ("network_backend".to_owned(), b.clone())),
        )
        .chain(
            document
                .get("sysctl_profile")
                .map(|_| ("sysctl".to_owned(), json!({}))),
        )
        .collect()
}

/// Without folders (prune leaves those that it made), and without the enablement of opensm: `state: absent` disables it, also
/// where it was enabled before.
fn files_only(
    picture: &std::collections::BTreeMap<String, String>,
) -> std::collections::BTreeMap<String, String> {
    picture
        .iter()
        .filter(|(k, v)| !v.starts_with("folder") && !k.ends_with(".wants/opensm.service"))
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect()
}
