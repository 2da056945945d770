use super::*;
use serde_json::json;

fn value(text: &str) -> Value {
    let read = read(text).unwrap();
    assert!(read.mistakes.is_empty(), "{text}: {:?}", read.mistakes);
    read.root.value(read.written).unwrap()
}

/// The code, place and pointer of every mistake.
fn mistakes(text: &str) -> Vec<(&'static str, usize, usize, String)> {
    let all = match read(text) {
        Err(one) => vec![*one],
        Ok(read) => match read.root.value(read.written) {
            Err(one) => vec![*one],
            Ok(_) => read.mistakes,
        },
    };
    all.iter()
        .map(|m| {
            let place = m.place.unwrap();
            (
                m.problem.code.id(),
                place.line,
                place.column,
                m.problem.path.to_string(),
            )
        })
        .collect()
}

#[test]
fn plain_words_mean_what_yaml_1_2_says() {
    for (text, wanted) in [
        ("", json!(null)),
        ("# a comment\n", json!(null)),
        ("~", json!(null)),
        ("true", json!(true)),
        ("False", json!(false)),
        ("5", json!(5)),
        ("-5", json!(-5)),
        ("+5", json!(5)),
        ("0", json!(0)),
        ("0x7fff", json!(0x7fff)),
        ("0x0010", json!(16)),
        ("0xffffffff", json!(0xffff_ffff_u32)),
        ("0xb8599f0300fc6de4", json!("0xb8599f0300fc6de4")),
        ("0x0002c903000e0b72", json!("0x0002c903000e0b72")),
        ("0xg", json!("0xg")),
        ("0o17", json!(15)),
        ("18446744073709551615", json!(18_446_744_073_709_551_615_u64)),
        ("-9223372036854775808", json!(-9_223_372_036_854_775_808_i64)),
        ("2.5", json!(2.5)),
        ("1e3", json!(1000.0)),
        (".5", json!(0.5)),
        ("1.2.3.4", json!("1.2.3.4")),
        ("192.168.10.1/24", json!("192.168.10.1/24")),
        ("fe80:0000:0000:0000", json!("fe80:0000:0000:0000")),
        ("0000:65:00.0", json!("0000:65:00.0")),
        ("12:30:45", json!("12:30:45")),
        ("24.10-4.1.4.0", json!("24.10-4.1.4.0")),
        ("y", json!("y")),
        ("e5", json!("e5")),
        (".", json!(".")),
        ("-", json!([null])),
        ("_5", json!("_5")),
        ("'yes'", json!("yes")),
        ("\"010\"", json!("010")),
        ("!!str 010", json!("010")),
        ("!!int 7", json!(7)),
        ("|\n a\n b\n", json!("a\nb\n")),
    ] {
        assert_eq!(value(text), wanted, "{text:?}");
    }
}

#[test]
fn what_yaml_1_1_reads_otherwise_is_refused() {
    for text in [
        "yes",
        "No",
        "ON",
        "off",
        "010",
        "-007",
        "1_000",
        ".inf",
        "-.INF",
        ".nan",
        "1e999",
        "0o7777777777777777777777777",
    ] {
        assert_eq!(
            mistakes(&format!("a: {text}")),
            [("request.syntax", 1, 4, "/a".to_owned())],
            "{text}"
        );
    }
    // Keys are always text, so that a partition may be called `no`.
    assert_eq!(
        value("{no: 1, 5: 2, true: 3}"),
        json!({"no": 1, "5": 2, "true": 3})
    );
}

#[test]
fn every_duplicate_key_is_found_with_its_place() {
    let text = "a: 1\nb:\n  - {x: 1, x: 2}\n  - y: 1\n    'y': 2\na: 3\n";
    assert_eq!(
        mistakes(text),
        [
            ("request.duplicate_key", 3, 12, "/b/0/x".to_owned()),
            ("request.duplicate_key", 5, 5, "/b/1/y".to_owned()),
            ("request.duplicate_key", 6, 1, "/a".to_owned()),
        ]
    );
}

#[test]
fn unreadable_text_is_refused_where_it_goes_wrong() {
    for (text, line, column) in [
        ("ipoib:\n  - interface: ib0\n   mtu: 5\n", 3, 4),
        ("a: [1, 2\nb: 3\n", 2, 2),
        ("a:\n\tb: 1\n", 2, 2),
        ("a: \"x\n", 1, 4),
        ("a: *b\n", 1, 4),
        ("a: 1\n---\nb: 1\n", 2, 1),
        ("? [1]\n: 2\n", 1, 3),
        (": 2\n", 1, 1),
        ("a: &x [*x]\n", 1, 8),
        ("a: {<<: 5}\n", 1, 5),
        ("a: !vault |\n  abc\n", 1, 4),
        ("a: !!int x\n", 1, 4),
    ] {
        let found = mistakes(text);
        assert_eq!(found.len(), 1, "{text:?}: {found:?}");
        let (code, l, c, _) = &found[0];
        assert_eq!((*code, *l), ("request.syntax", line), "{text:?}: column {c}");
        let _ = column;
        assert_eq!(*c, column, "{text:?}");
    }
}

#[test]
fn aliases_and_merges_unfold() {
    assert_eq!(
        value(
            "base: &b {mode: datagram, mtu: 1}\nipoib:\n  - {<<: *b, mtu: 2}\n  - <<: [*b, {mode: x, z: 0}]\n"
        ),
        json!({
            "base": {"mode": "datagram", "mtu": 1},
            "ipoib": [{"mode": "datagram", "mtu": 2}, {"mode": "datagram", "mtu": 1, "z": 0}],
        })
    );
}

#[test]
fn bombs_are_refused() {
    let mut lists = "a: &a [x,x,x,x,x,x,x,x,x]\n".to_owned();
    let mut maps = format!(
        "a: &a {{{}}}\n",
        (0..1000)
            .map(|i| format!("k{i}: 1"))
            .collect::<Vec<_>>()
            .join(", ")
    );
    for pair in "abcdefghijklmnop".as_bytes().windows(2) {
        let (from, to) = (char::from(pair[0]), char::from(pair[1]));
        lists += &format!("{to}: &{to} [{}]\n", vec![format!("*{from}"); 9].join(","));
        maps += &format!(
            "{to}: &{to} {{<<: [{}]}}\n",
            vec![format!("*{from}"); 9].join(",")
        );
    }
    for text in [lists, maps] {
        let found = mistakes(&text);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].0, "request.too_large");
    }
    for text in ["[".repeat(100_000), "{a: ".repeat(10_000), "- ".repeat(10_000)] {
        assert_eq!(mistakes(&text)[0].0, "request.too_deep");
    }
    // Deep only once its alias is unfolded.
    let text = format!(
        "a: &a {}{}\nb: {}*a{}\n",
        "[".repeat(40),
        "]".repeat(40),
        "[".repeat(40),
        "]".repeat(40)
    );
    assert_eq!(mistakes(&text)[0].0, "request.too_deep");
}

#[test]
fn a_pointer_is_found_in_the_text() {
    let text = "api: ibplan/v1\nipoib:\n  - interface: ib0\n    mtu: 9000\n    partitions:\n      - pkey: 5\nsysctl:\n  net/core/x: 1\n";
    let read = read(text).unwrap();
    let at = |pointer: Pointer, key: bool| {
        let place = read.root.locate(&pointer, key);
        (place.line, place.column, place.width)
    };
    let first = Pointer::of("ipoib").index(0);
    assert_eq!(at(Pointer::root(), false), (1, 1, 1));
    assert_eq!(at(Pointer::of("ipoib"), false), (2, 1, 5));
    assert_eq!(at(first.clone(), false), (3, 5, 1));
    assert_eq!(at(first.key("mtu"), false), (4, 10, 4));
    assert_eq!(at(first.key("mtu"), true), (4, 5, 3));
    assert_eq!(
        at(first.key("mode"), false),
        (3, 5, 1),
        "what is not there is shown at what holds it"
    );
    assert_eq!(
        at(first.key("partitions").index(0).key("pkey"), false),
        (6, 15, 1)
    );
    assert_eq!(at(Pointer::of("sysctl").key("net/core/x"), false), (8, 15, 1));
}
