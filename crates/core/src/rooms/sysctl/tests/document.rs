//! What the document alone shows.

use super::*;

fn wrong() -> Vec<(Value, &'static str, &'static str)> {
    vec![
        (
            json!({"net.ipv4.tcp_rmem": "4096 87380"}),
            "sysctl.vector",
            "/sysctl/net.ipv4.tcp_rmem",
        ),
        (
            json!({"net.ipv4.tcp_wmem": [4096, 2, 3]}),
            "sysctl.vector",
            "/sysctl/net.ipv4.tcp_wmem",
        ),
        (
            json!({"net/ipv4/tcp_mem": "a b c"}),
            "sysctl.vector",
            "/sysctl/net~1ipv4~1tcp_mem",
        ),
        (
            json!({"net.core.rmem_max": 2_147_483_648_u64}),
            "sysctl.out_of_range",
            "/sysctl/net.core.rmem_max",
        ),
        (
            json!({"net.core.rmem_max": "128M"}),
            "sysctl.out_of_range",
            "/sysctl/net.core.rmem_max",
        ),
        (
            json!({"net.core.rmem_max": -1}),
            "sysctl.out_of_range",
            "/sysctl/net.core.rmem_max",
        ),
        (
            json!({"net.ipv4.tcp_rmem": [1, 2, 3_000_000_000_u64]}),
            "sysctl.out_of_range",
            "/sysctl/net.ipv4.tcp_rmem",
        ),
        (
            json!({"net.ipv4.neigh.default.gc_thresh1": 9, "net.ipv4.neigh.default.gc_thresh3": 9}),
            "sysctl.neighbour_thresholds",
            "/sysctl/net.ipv4.neigh.default.gc_thresh3",
        ),
        (
            json!({"vm.dirty_bytes": 1, "vm.dirty_ratio": 2}),
            "sysctl.counterparts",
            "/sysctl/vm.dirty_ratio",
        ),
        (
            json!({"net.ipv6.conf.ib0.stable_secret": "2001:db8::1"}),
            "sysctl.secret",
            "/sysctl/net.ipv6.conf.ib0.stable_secret",
        ),
        (
            json!({"net.ipv4.conf.ib0/1.x": 1, "net/ipv4/conf/ib0.1/x": 1}),
            "sysctl.key_twice",
            "/sysctl/net~1ipv4~1conf~1ib0.1~1x",
        ),
    ]
}

#[test]
fn the_document_alone_is_judged() {
    for (keys, code, path) in wrong() {
        assert_eq!(
            refused(json!({"sysctl": keys})),
            [(code, path.to_owned())],
            "{keys}"
        );
    }
    for good in [
        json!({"net.ipv4.tcp_rmem": "1 1 1", "net.core.rmem_max": 2_147_483_647, "vm.dirty_bytes": 1, "vm.dirty_ratio": 0}),
        json!({"net.ipv4.neigh.default.gc_thresh1": 1, "net.ipv6.neigh.default.gc_thresh2": 1, "net.ipv4.neigh.default.gc_thresh3": 2}),
    ] {
        assert!(
            plan::<Sysctl>(&json!({"sysctl": good}), &facts(Scope::Live), &host()).is_ok(),
            "{good}"
        );
    }
}

#[test]
fn a_bad_key_is_pointed_at() {
    let (_, mistakes) = crate::request::read_document(
        json!({"sysctl": {"rmem": 1, "net.core.x": [], "a.b": [1, "x"]}}),
        &Pointer::root(),
    );
    let paths: Vec<_> = mistakes.iter().map(|m| (m.code.id(), m.path.as_str())).collect();
    assert!(paths.contains(&("request.shape", "/sysctl/rmem")), "{paths:?}");
    assert!(
        paths.contains(&("request.shape", "/sysctl/net.core.x")),
        "{paths:?}"
    );
    assert!(paths.contains(&("request.shape", "/sysctl/a.b/1")), "{paths:?}");
    assert_eq!(paths.len(), 3, "{paths:?}");
}
