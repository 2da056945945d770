use super::*;
use crate::types::Guid;

fn want(json: &str) -> Vec<PartitionWant> {
    serde_json::from_str(json).unwrap()
}

fn text(json: &str) -> String {
    render(&wanted(&want(json)), &BTreeMap::new())
}

#[test]
fn case_04_partitions_without_default_keep_ip_for_everybody() {
    let file = text(r#"[{"name": "storage", "pkey": "0x0010", "members": {"0xb8599f0300fc6de4": "full"}}]"#);
    assert!(file.contains("\nDefault=0x7fff, ipoib, defmember=full : ALL=full, SELF=full ;\n"));
    let empty = read(&text("[]")).unwrap();
    assert_eq!(empty[&0x7fff].group, Some(GROUP));
}

#[test]
fn renders_numbers_of_human_units() {
    let file = text(
        r#"[{"name": "storage", "pkey": 16, "ipoib": {"mtu": 4096, "rate": 100, "sl": 3, "scope": 5},
             "members": {"0xb8599f0300fc6de4": "full", "ALL": "limited"}},
            {"name": "Default", "pkey": "0xffff", "ipoib": {}, "members": {"ALL": "full"}}]"#,
    );
    let rules: Vec<&str> = file
        .lines()
        .filter(|l| !l.is_empty() && !l.starts_with('#'))
        .collect();
    assert_eq!(
        rules,
        [
            "Default=0x7fff, ipoib, defmember=full : ALL=full, SELF=full ;",
            "storage=0x0010, ipoib, mtu=5, rate=16, sl=3, scope=5, defmember=limited : ALL=limited, 0xb8599f0300fc6de4=full ;",
        ]
    );
}

#[test]
fn many_members_go_on_over_short_lines_and_read_back() {
    let members: Vec<String> = (1..=500).map(|n| format!("\"{n:#018x}\": \"full\"")).collect();
    let json = format!(
        r#"[{{"name": "big", "pkey": 1, "members": {{{}}}}}]"#,
        members.join(",")
    );
    let file = text(&json);
    assert!(file.lines().all(|l| l.len() < 1023));
    assert_eq!(read(&file).unwrap(), wanted(&want(&json)));
}

#[test]
fn what_is_rendered_reads_back_equal() {
    for json in [
        "[]",
        r#"[{"name": "a", "pkey": 1, "members": {"ALL_CAS": "full", "SELF": "limited", "0x2": "both", "0x1": "limited"}}]"#,
        r#"[{"name": "Default", "pkey": 32767, "members": {"0x2": "limited"}}]"#,
        r#"[{"name": "a.b-c_d", "pkey": 2, "ipoib": {"rate": 2.5, "mtu": 256}, "members": {"ALL": "full", "ALL_SWITCHES": "limited"}}]"#,
    ] {
        assert_eq!(read(&text(json)).unwrap(), wanted(&want(json)), "{json}");
    }
}

#[test]
fn spellings_of_one_meaning_compare_equal() {
    let wanted = wanted(&want(
        r#"[{"name": "s", "pkey": 16, "ipoib": {"mtu": 4096}, "members": {"0x1": "full", "0x2": "limited", "ALL": "limited"}}]"#,
    ));
    for text in [
        "Default=0x7fff,ipoib,defmember=full:ALL,SELF;\ns=0x8010,ipoib,mtu=5:ALL,0x2,0x1=full;",
        "# c\nDefault = 0xffff , ipoib , mtu=4,rate=3 , defmember=full :\n\tALL,\n\tSELF = full ;\n\ns=16,ipoib,mtu=0x5:0x9=full,ALL=limited,\n 0x1=full,0x2=limited\n",
        "s=0x10,ipoib,mtu=5:ALL; Default=0x7fff,ipoib:ALL=full; Default=0x7fff:SELF=full; s=0x10:0x2,0x1=full;",
    ] {
        assert_eq!(read(text).unwrap(), wanted, "{text}");
    }
    for text in [
        "Default=0x7fff,ipoib:ALL=full,SELF=full; s=0x10,ipoib,mtu=5:0x1=full,0x2,ALL;",
        "Default=0x7fff,ipoib:ALL=full,SELF=full; s=0x10,ipoib,mtu=4:ALL,0x1=full,0x2;",
        "Default=0x7fff,ipoib:ALL=full,SELF=full; s=0x10,ipoib,mtu=5,indx0:ALL,0x1=full,0x2;",
        "Default=0x7fff:ALL=full,SELF=full; s=0x10,ipoib,mtu=5:ALL,0x1=full,0x2;",
    ] {
        assert_ne!(read(text).unwrap(), wanted, "{text}");
    }
}

#[test]
fn what_opensm_drops_is_a_fault() {
    for (text, line) in [
        ("", 0),
        ("# only a comment\n", 0),
        ("garbage\n", 1),
        ("Default=0x7fff, ipoib\n : ALL=full ;\n", 1),
        ("Default=zzz : ALL=full ;\n", 1),
        (
            "Default=0x7fff, ipoib : ALL=full ;\nstorage=0x10 : 0xnoguid=full ;\n",
            2,
        ),
        ("Default=0x7fff : ALL=full, 0 ;\n", 1),
    ] {
        assert_eq!(read(text).map_err(|f| f.line), Err(line), "{text:?}");
    }
}

#[test]
fn a_rule_without_a_key_is_read_and_never_equal() {
    let table = read("foo : ALL=full ;\nDefault, ipoib : ALL=full, SELF=full ;\n").unwrap();
    assert_eq!(table[&0].odd.len(), 1);
    assert_eq!(table[&0x7fff], wanted(&[])[&0x7fff]);
}

#[test]
fn the_file_of_the_packages_reads() {
    let shipped = "Default=0x7fff, rate=3, mtu=4, scope=2, defmember=full:\n\tALL, ALL_SWITCHES=full;\nDefault=0x7fff, ipoib, rate=3, mtu=4, scope=2:\n\tmgid=ff12:401b::ffff:ffff\t# IPv4 Broadcast address\n\tmgid=ff12:601b::1,Q_Key=1\n\tALL=full, ALL_SWITCHES=full;\n";
    let table = read(shipped).unwrap();
    let default = &table[&0x7fff];
    assert_eq!(default.group, Some(GROUP));
    assert_eq!(
        default.members,
        [
            (Member::All, Membership::Full),
            (Member::AllSwitches, Membership::Full)
        ]
    );
    assert_eq!(default.odd.len(), 2);
}

#[test]
fn later_members_overwrite_earlier_ones() {
    let guid = Guid::new(1).unwrap();
    let table = read("a=1:0x1=full,ALL=limited,0x1=full,0x1=limited;").unwrap();
    assert_eq!(
        table[&1].members,
        [
            (Member::All, Membership::Limited),
            (Member::Guid(guid), Membership::Limited)
        ]
    );
}
