//! Rules that the document alone decides.

use super::{document, told};
use crate::problem::Findings;
use serde_json::{Value, json};

#[test]
fn documents_that_are_sound() {
    for desired in [
        json!({ "ipoib": [] }),
        json!({ "bonds": [] }),
        json!({ "ipoib": [{ "interface": "ib0", "mode": "connected", "mtu": 65520 }] }),
        json!({ "ipoib": [{ "interface": "ib0", "mtu": 4092, "partitions": [{ "pkey": 1, "mtu": 4092 }, { "pkey": 2 }] }] }),
        json!({ "ipoib": [{ "interface": "ib0", "addresses": ["10.0.0.1/24"], "gateway": "10.0.0.254", "dhcp6": true }] }),
        json!({ "ipoib": [{ "interface": "ib0", "addresses": ["fd00::1/64"], "gateway": "fe80::1" }] }),
        json!({ "ipoib": [{ "interface": "ib0", "dhcp4": true, "addresses": ["10.0.0.1/24"], "gateway": "10.9.9.9" }] }),
        json!({ "ipoib": [{ "port": { "guid": "0x1" } }, { "port": { "device": "mlx5_0", "port": 2 } }] }),
        json!({ "ipoib": [{ "interface": "ib0" }], "bonds": [{ "name": "bond0", "ports": ["ib0", "ib1"], "mtu": 2044 }] }),
        json!({ "bonds": [{ "name": "bond0", "ports": ["ib0.8001", "ib1.8001"], "mtu": 2044, "primary": "ib1.8001" }] }),
    ] {
        let found = document(&desired);
        assert_eq!(found, Findings::default(), "{desired}");
    }
}

/// A document, its errors, its warnings.
type Case = (Value, &'static [&'static str], &'static [&'static str]);

fn check_all(cases: &[Case]) {
    for (desired, errors, warnings) in cases {
        let found = document(desired);
        assert_eq!(told(&found.errors), *errors, "{desired}\n{:#?}", found.errors);
        assert_eq!(
            told(&found.warnings),
            *warnings,
            "{desired}\n{:#?}",
            found.warnings
        );
        for problem in found.errors.iter().chain(&found.warnings) {
            assert!(
                problem.message.len() > 15 && problem.hint.len() > 10,
                "{problem:?}"
            );
        }
    }
}

#[test]
fn names_and_keys() {
    check_all(&[
        (
            json!({ "ipoib": [{}] }),
            &["ipoib.interface_or_port /ipoib/0"],
            &[],
        ),
        (
            json!({ "ipoib": [{ "interface": "ib0", "port": { "guid": "0x1" } }] }),
            &["ipoib.interface_or_port /ipoib/0"],
            &[],
        ),
        (
            json!({ "ipoib": [{ "port": {} }, { "port": { "guid": "0x1", "port": 1 } }, { "port": { "device": "mlx5_0", "pci": "0000:41:00.0" } }] }),
            &[
                "ipoib.port_selector /ipoib/0/port",
                "ipoib.port_selector /ipoib/1/port/port",
                "ipoib.port_selector /ipoib/2/port",
            ],
            &[],
        ),
        (
            json!({ "ipoib": [{ "interface": "ib0" }, { "interface": "ib0" }] }),
            &["ipoib.duplicate_name /ipoib/1"],
            &[],
        ),
        (
            json!({ "ipoib": [{ "interface": "ib0.8001", "partitions": [{ "pkey": 2 }] }] }),
            &["ipoib.child_as_interface /ipoib/0/interface"],
            &[],
        ),
        (
            json!({ "ipoib": [{ "interface": "ibp129s0f0d1", "partitions": [{ "pkey": 16 }] }] }),
            &["ipoib.name_too_long /ipoib/0/partitions/0/pkey"],
            &[],
        ),
        (
            json!({ "ipoib": [{ "interface": "ib0", "partitions": [{ "pkey": 10 }, { "pkey": "0x800a" }, { "pkey": "0xffff" }] }] }),
            &[
                "ipoib.duplicate_pkey /ipoib/0/partitions/1/pkey",
                "ipoib.default_pkey /ipoib/0/partitions/2/pkey",
                "ipoib.duplicate_name /ipoib/0/partitions/1",
            ],
            &[],
        ),
    ]);
}

#[test]
fn mtus_against_mode_and_family() {
    check_all(&[
        (
            json!({ "ipoib": [{ "interface": "ib0", "mtu": 65520 }, { "interface": "ib1", "mode": "datagram", "mtu": "4093" }] }),
            &[
                "ipoib.mtu_above_datagram /ipoib/0/mtu",
                "ipoib.mtu_above_datagram /ipoib/1/mtu",
            ],
            &[],
        ),
        (
            json!({ "ipoib": [{ "interface": "ib0", "mode": "connected", "mtu": 65520,
                "partitions": [{ "pkey": 1, "mode": "datagram", "mtu": 65520 }] }] }),
            &["ipoib.mtu_above_datagram /ipoib/0/partitions/0/mtu"],
            &[],
        ),
        (
            json!({ "ipoib": [{ "interface": "ib0", "mtu": 1200, "addresses": ["fd00::1/64"] }] }),
            &["ipoib.mtu_below_ipv6 /ipoib/0/mtu"],
            &[],
        ),
    ]);
}

#[test]
fn case_37_child_mtu_stays_below_parent_and_partition() {
    let partitions = json!([{ "name": "Default", "pkey": "0x7fff", "ipoib": {}, "members": { "ALL": "full" } },
        { "name": "a", "pkey": 1, "ipoib": { "mtu": 4096 }, "members": { "ALL": "full" } }]);
    check_all(&[
        (
            json!({ "ipoib": [{ "interface": "ib0", "mtu": 2044, "partitions": [{ "pkey": 1, "mtu": 4092 }] }] }),
            &["ipoib.child_mtu_above_parent /ipoib/0/partitions/0/mtu"],
            &[],
        ),
        (
            json!({ "subnet_manager": { "partitions": partitions }, "ipoib": [{ "interface": "ib0", "mtu": 4092,
                "partitions": [{ "pkey": 1, "mtu": 4092 }, { "pkey": 3 }] }] }),
            &[],
            &[
                "ipoib.mtu_above_partition /ipoib/0/mtu",
                "ipoib.pkey_not_in_partitions /ipoib/0/partitions/1/pkey",
            ],
        ),
    ]);
}

#[test]
fn addresses_and_routes() {
    check_all(&[
        (
            json!({ "ipoib": [
                { "interface": "ib0", "addresses": ["10.0.0.1/24"], "gateway": "10.0.0.254" },
                { "interface": "ib1", "addresses": ["10.1.0.1/24"], "routes": [{ "to": "default", "via": "10.1.0.254" }] },
            ] }),
            &["ipoib.gateways /ipoib/1/routes/0"],
            &[],
        ),
        (
            json!({ "ipoib": [{ "interface": "ib0", "addresses": ["10.0.0.1/24"], "gateway": "10.0.1.254" }] }),
            &[],
            &["ipoib.gateway_unreachable /ipoib/0/gateway"],
        ),
        (
            json!({ "ipoib": [{ "interface": "ib0", "dhcp4": true, "gateway": "10.0.1.254" }] }),
            &["ipoib.no_address /ipoib/0/gateway"],
            &[],
        ),
        (
            json!({ "ipoib": [{ "interface": "ib0", "addresses": ["10.0.0.1/24"], "routes": [
                { "to": "fd00::/64", "via": "10.0.0.2" }, { "to": "fd01::/64", "via": "fd00::1" },
                { "to": "default", "via": "10.0.0.3", "metric": 5 },
                { "to": "10.8.0.0/16", "via": "10.0.0.3" }, { "to": "10.8.0.0/16", "via": "10.0.0.4" },
                { "to": "10.8.0.0/16", "via": "10.0.0.4", "metric": 7 },
            ] }] }),
            &[
                "ipoib.route_family /ipoib/0/routes/0/via",
                "ipoib.default_route_metric /ipoib/0/routes/2/metric",
                "ipoib.duplicate_route /ipoib/0/routes/4",
                "ipoib.no_address /ipoib/0/routes/1/via",
            ],
            &[],
        ),
        (
            json!({ "ipoib": [{ "interface": "ib0", "addresses": ["10.0.0.1/24", "fe80::1/64"] },
                { "interface": "ib1", "addresses": ["10.0.0.1/24", "fe80::1/64"] }] }),
            &["ipoib.duplicate_address /ipoib/1/addresses/0"],
            &["ipoib.subnets_overlap /ipoib/1/addresses/0"],
        ),
        (
            json!({ "ipoib": [{ "interface": "ib0", "addresses": ["10.0.0.1/16"] },
                { "interface": "ib1", "partitions": [{ "pkey": 1, "addresses": ["10.0.3.1/24"] }] }] }),
            &[],
            &["ipoib.subnets_overlap /ipoib/1/partitions/0/addresses/0"],
        ),
    ]);
}

#[test]
fn bonds_that_the_kernel_would_refuse() {
    check_all(&[
        (
            json!({ "bonds": [{ "name": "bond0", "ports": ["ib0"], "mode": "802.3ad", "mtu": 2044 }] }),
            &["bonds.mode /bonds/0/mode"],
            &[],
        ),
        (
            json!({ "bonds": [{ "name": "bond0", "ports": ["ib1"], "primary": "ib0", "mtu": 2044 }] }),
            &["bonds.primary /bonds/0/primary"],
            &[],
        ),
        (
            json!({ "bonds": [{ "name": "bond0", "ports": ["ib0", "ib0", "bond0"], "mtu": 2044 },
                { "name": "bond1", "ports": ["ib0", "bond0"] }] }),
            &[
                "bonds.ports /bonds/0/ports/1",
                "bonds.ports /bonds/0/ports/2",
                "bonds.ports /bonds/1/ports/0",
                "bonds.ports /bonds/1/ports/1",
                "bonds.ports /bonds/1/ports/1",
            ],
            &["bonds.mtu_default /bonds/1/mtu"],
        ),
        (
            json!({ "ipoib": [{ "interface": "ib0", "addresses": ["10.0.0.1/24"], "gateway": "10.0.0.254", "partitions": [{ "pkey": 1 }] }],
                "bonds": [{ "name": "bond0", "ports": ["ib0"], "mtu": 65520 }] }),
            &[
                "ipoib.mtu_above_datagram /bonds/0/mtu",
                "bonds.port_with_address /ipoib/0/addresses",
                "bonds.port_with_address /ipoib/0/gateway",
            ],
            &[],
        ),
        (
            json!({ "ipoib": [{ "interface": "bond0", "partitions": [{ "pkey": 1 }] }],
                "bonds": [{ "name": "bond0", "ports": ["ib0"], "mtu": 2044 }] }),
            &[
                "ipoib.duplicate_name /bonds/0",
                "bonds.child_of_bond /ipoib/0/partitions",
            ],
            &[],
        ),
    ]);
}
