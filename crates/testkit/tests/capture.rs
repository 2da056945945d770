//! A capture is a host: what a plan says of the capture is what it says of the host.

use ibplan_core::facts::{self, Scope};
use ibplan_core::protocol::Exit;
use ibplan_testkit::{documents, hosts, laws};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::json;

#[test]
fn a_captured_host_plans_as_the_host_does() {
    for name in hosts::names() {
        let host = facts::read(&hosts::fake(&name), Scope::Replay).expect("facts");
        let mut runner = TestRunner::new_with_rng(
            Config::default(),
            TestRng::deterministic_rng(RngAlgorithm::ChaCha),
        );
        for _ in 0..3 {
            let document = documents::document(&host)
                .new_tree(&mut runner)
                .expect("a document")
                .current();
            let dir = tempfile::tempdir().unwrap();
            let output = dir.path().join("capture");
            let options = json!({ "output": output });
            let (response, exit) = laws::serve("capture", &hosts::path(&name), &document, &options);
            assert_eq!(exit, Exit::Done, "{name}: {:#?}", response.errors);
            let replay = json!({ "replay": true });
            let of_host = laws::serve("plan", &hosts::path(&name), &document, &replay);
            let of_capture = laws::serve("plan", &output, &document, &replay);
            assert_eq!(of_host, of_capture, "{name}: {document:#}");
        }
    }
}

/// Taken without a document, a capture still answers for documents that came later.
#[test]
fn a_capture_without_a_document_answers_for_one() {
    let document = json!({
        "modules": [{ "name": "ib_umad" }],
        "sysctl": { "net.core.rmem_max": 134217728, "net/ipv4/conf/ibp65s0/rp_filter": 2, "vm.zone_reclaim_mode": 0 },
        "limits": { "memlock": "unlimited", "services": ["slurmd"] },
        "ipoib": [{ "interface": "ibp65s0", "addresses": ["192.168.10.1/24"] }],
        "subnet_manager": { "instances": [{ "priority": 3 }] },
    });
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("capture");
    let root = hosts::path("rocky9-cx6");
    let (response, exit) = laws::serve("capture", &root, &json!({}), &json!({ "output": output }));
    assert_eq!(exit, Exit::Done, "{:#?}", response.errors);
    let replay = json!({ "replay": true });
    let of_host = laws::serve("plan", &root, &document, &replay);
    assert!(!of_host.0.changes.is_empty());
    assert_eq!(of_host, laws::serve("plan", &output, &document, &replay));
}

#[test]
fn a_capture_goes_to_a_new_folder_of_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("capture");
    let root = hosts::path("rocky9-cx6");
    let (_, exit) = laws::serve("capture", &root, &json!({}), &json!({ "output": output }));
    assert_eq!(exit, Exit::Done);
    assert_eq!(
        std::fs::metadata(&output).unwrap().permissions().mode() & 0o777,
        0o700
    );
    let (response, exit) = laws::serve("capture", &root, &json!({}), &json!({ "output": output }));
    assert_eq!(
        (response.errors[0].code.id(), exit),
        ("request.option", Exit::Failed),
        "a folder that is there is not written to"
    );
    let (response, exit) = laws::serve("capture", &root, &json!({}), &json!({ "output": "relative" }));
    assert_eq!(
        (response.errors[0].code.id(), exit),
        ("request.option", Exit::RequestRefused)
    );
}
