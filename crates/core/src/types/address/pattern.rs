//! Regular expressions for addresses, as exact as they can be, so that a JSON Schema validator and serde agree.
//!
//! What they cannot see: host bits behind a prefix, and the network's own or broadcast address.

/// An octet without leading zeros.
const OCTET: &str = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
/// A group of IPv6.
const GROUP: &str = "[0-9a-fA-F]{1,4}";

fn v4() -> String {
    format!("{OCTET}(\\.{OCTET}){{3}}")
}

/// Every spelling of RFC 4291, section 2.2, without a zone.
fn v6() -> String {
    let v4 = v4();
    let mut forms = vec![
        format!("({GROUP}:){{7}}{GROUP}"),
        format!("({GROUP}:){{6}}{v4}"),
        format!("({GROUP}:){{1,7}}:"),
        format!(":((:{GROUP}){{1,7}}|:)"),
        format!("::({GROUP}:){{0,5}}{v4}"),
        format!("({GROUP}:){{1,5}}:{v4}"),
    ];
    // `::` in the middle, `behind` groups after it at most; with IPv4 at the end two fewer.
    for behind in 1..=6 {
        forms.push(format!("({GROUP}:){{1,{}}}(:{GROUP}){{1,{behind}}}", 7 - behind));
    }
    for behind in 1..=4 {
        forms.push(format!(
            "({GROUP}:){{1,{}}}(:{GROUP}){{1,{behind}}}:{v4}",
            5 - behind
        ));
    }
    format!("({})", forms.join("|"))
}

/// Refuses unspecified, loopback and multicast addresses; `end` is what follows the address.
fn of_a_link(end: &str) -> String {
    format!(
        "(?!0\\.0\\.0\\.0{end}|127\\.|22[4-9]\\.|23[0-9]\\.)(?![0:]*:0{{0,3}}1?{end}|[0:]*:0\\.0\\.0\\.[01]{end}|[fF]{{2}}[0-9a-fA-F]{{2}}:)"
    )
}

/// An address of a link with its prefix length.
pub(super) fn address() -> String {
    let (v4, v6) = (v4(), v6());
    format!(
        "^{}({v4}/([1-9]|[12][0-9]|3[0-2])|{v6}/([1-9]|[1-9][0-9]|1[01][0-9]|12[0-8]))$",
        of_a_link("/")
    )
}

/// A network, or `default`.
pub(super) fn network() -> String {
    let (v4, v6) = (v4(), v6());
    format!("^(default|{v4}/([0-9]|[12][0-9]|3[0-2])|{v6}/([0-9]|[1-9][0-9]|1[01][0-9]|12[0-8]))$")
}

/// The address of a router.
pub(super) fn gateway() -> String {
    format!("^{}({}|{})$", of_a_link("$"), v4(), v6())
}
