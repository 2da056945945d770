//! The section subnet_manager through its life on captured hosts: it comes, it changes, it goes.

use ibplan_core::protocol::Exit;
use ibplan_testkit::hosts::{copied, difference, picture};
use ibplan_testkit::laws::serve;
use serde_json::json;

#[test]
fn what_absent_gives_back_is_what_was_there() {
    for (name, guid) in [
        ("rocky9-cx6", "0xb83fd20300aa10c4"),
        ("debian12-cx6", "0xb83fd20300aa30e8"),
        ("sles15-cx5", "0x506b4b0300d19e34"),
        ("deb12-softib-init", "0x5054000000100001"),
    ] {
        let root = copied(name);
        let before = picture(root.path());
        let apply = |section: serde_json::Value| {
            let (response, exit) = serve(
                "apply",
                root.path(),
                &json!({ "subnet_manager": section }),
                &json!({"prune": true}),
            );
            assert_eq!(exit, Exit::Done, "{name}: {:#?}", response.errors);
            response
        };
        let with = |priority: u8| {
            json!({
                "instances": [{"port": {"guid": guid}, "priority": priority, "options": {"log_flags": 7, "lmc": 1}}],
                "partitions": [{"name": "storage", "pkey": 16, "ipoib": {}, "members": {"ALL": "full"}}],
            })
        };
        apply(with(14));
        apply(with(3));
        apply(json!({"instances": [{"port": {"guid": guid}, "priority": 3}]}));
        apply(json!({"state": "absent"}));
        let after = picture(root.path());
        // Folders that were made for files may stay, empty.
        let left: Vec<_> = difference(&before, &after)
            .into_iter()
            .filter(|line| !line.contains("None -> Some(\"folder"))
            .collect();
        assert!(left.is_empty(), "{name}: {left:#?}");
        let still = apply(json!({"state": "absent"}));
        assert!(!still.changed, "{name}: {:#?}", still.changes);
    }
}
