use super::*;

fn s(text: &str) -> Node {
    Node::Scalar(text.to_owned())
}

#[test]
fn reads_block_and_flow() {
    let doc = parse(
        "# c\n---\nnetwork:\n  version: 2 # two\n  ethernets:\n    ib0: {mtu: 2044, addresses: [10.0.0.1/24, \"fd00::1/64\"], on:}\n    'ib 1':\n      addresses:\n      - 10.0.0.2/24\n      - fd00::2/64: {lifetime: 0}\n      routes:\n        - to: default\n          via: 10.0.0.254\n        -\n          to: 10.1.0.0/16\n      nameservers: {addresses: [1.1.1.1,\n         2.2.2.2]}\n    ib2: &x\n      mtu: 5\n    ib3: *x\n    ib4:\n    \"ib5\": \"a \\\"#\\\" 'b'\"\n  renderer: |\n    networkd\n  x: y\n",
    );
    let net = doc.get("network").unwrap();
    let ethernets = net.get("ethernets").unwrap();
    let names: Vec<&str> = ethernets.pairs().iter().map(|(k, _)| k.as_str()).collect();
    assert_eq!(names, ["ib0", "ib 1", "ib2", "ib3", "ib4", "ib5"]);
    let ib0 = ethernets.get("ib0").unwrap();
    assert_eq!(ib0.get("mtu"), Some(&s("2044")));
    assert_eq!(
        ib0.get("addresses").unwrap().items(),
        [s("10.0.0.1/24"), s("fd00::1/64")]
    );
    assert_eq!(ib0.get("on"), Some(&s("")));
    let ib1 = ethernets.get("ib 1").unwrap();
    assert_eq!(
        ib1.get("addresses").unwrap().items()[1].pairs()[0].0,
        "fd00::2/64"
    );
    assert_eq!(
        ib1.get("routes").unwrap().items()[0].get("via"),
        Some(&s("10.0.0.254"))
    );
    assert_eq!(
        ib1.get("routes").unwrap().items()[1].get("to"),
        Some(&s("10.1.0.0/16"))
    );
    assert_eq!(
        ib1.get("nameservers").unwrap().get("addresses").unwrap().items(),
        [s("1.1.1.1"), s("2.2.2.2")]
    );
    assert_eq!(ethernets.get("ib2"), Some(&Node::Unknown));
    assert_eq!(ethernets.get("ib3"), Some(&Node::Unknown));
    assert_eq!(ethernets.get("ib4"), Some(&s("")));
    assert_eq!(ethernets.get("ib5"), Some(&s("a \"#\" 'b'")));
    assert_eq!(net.get("version"), Some(&s("2")));
    assert_eq!(
        (net.get("renderer"), net.get("x")),
        (Some(&Node::Unknown), Some(&s("y")))
    );
}

#[test]
fn scalars_come_back() {
    for text in [
        "ib0",
        "0x1",
        "on",
        "1e5",
        "a: b",
        "it's",
        "a\"b\\c",
        "x#y",
        "- z",
        "",
        "fd00::1/64",
        "ib0.8001",
        "a@1+x",
    ] {
        let doc = parse(&format!("k: {}\nl: [{}]\n", scalar(text), scalar(text)));
        assert_eq!(doc.get("k"), Some(&s(text)), "{text}");
        assert_eq!(doc.get("l"), Some(&Node::List(vec![s(text)])), "{text}");
    }
}

proptest::proptest! {
    /// Whatever a foreign file holds, reading ends and nothing breaks.
    #[test]
    fn never_fails(text in "([ \\t]{0,4}(- ?|[a-c]{1,2}:? ?|[\\[\\]{}\"',:#&|é]|\\n){0,6}\\n?){0,12}") {
        let _ = parse(&text);
    }
}

#[test]
fn depth_is_bounded() {
    let _ = parse(&"- ".repeat(100_000));
    let _ = parse(&"[".repeat(100_000));
    let _ = parse(&"{a: ".repeat(50_000));
    let deep: String = (0..3000).map(|n| format!("{}a:\n", " ".repeat(n))).collect();
    let _ = parse(&deep);
}
