//! The real opensm reads what the room subnet_manager writes, alone and on a simulated fabric.

use ibplan_core::action::Action;
use ibplan_core::distro::Row;
use ibplan_core::engine;
use ibplan_core::facts::{Facts, Scope};
use ibplan_core::fake::Fake;
use ibplan_core::pointer::Pointer;
use ibplan_core::request::read_document;
use ibplan_core::rooms::HOST;
use ibplan_core::rooms::subnet_manager::conf::Conf;
use ibplan_core::rooms::subnet_manager::options::{KEYS, Key, Kind, find};
use ibplan_core::rooms::subnet_manager::partitions::{self, Table};
use ibplan_core::rooms::subnet_manager::want::{Member, Membership};
use ibplan_core::types::Guid;
use ibplan_testkit::fabric::{Fabric, tool};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Ports of tests/fabric/one-leaf.net.
const A: u64 = 0x0002_c903_00e0_0011;
const B: u64 = 0x0002_c903_00e0_0021;
const C: u64 = 0x0002_c903_00e0_0031;
const HOSTS: [(&str, u64); 3] = [("node-a", A), ("node-b", B), ("node-c", C)];

/// The files that a section brings to a bare Debian image: path, text.
fn files(section: &Value) -> BTreeMap<String, String> {
    let (state, mistakes) = read_document(json!({ "subnet_manager": section }), &Pointer::root());
    assert!(mistakes.is_empty(), "{mistakes:?}");
    let mut facts = Facts::unknown(Scope::Image);
    facts.os.row = Row::find("debian", "12");
    let plan = engine::plan(HOST, &state.unwrap(), &facts, &Fake::new(), false)
        .unwrap_or_else(|r| panic!("{section}: {r:#?}"));
    plan.steps
        .into_iter()
        .filter_map(|step| match step.action {
            Action::WriteFile { path, content, .. } => {
                Some((path.to_string(), String::from_utf8(content.0).unwrap()))
            }
            _ => None,
        })
        .collect()
}

fn conf_of(section: &Value) -> String {
    files(section)["/etc/opensm/opensm.conf"].clone()
}

/// opensm's own check of a configuration file: what it complains about, and what it would run with.
fn lint(conf: &str) -> (Vec<String>, Conf) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in.conf"), conf).unwrap();
    let said = tool(
        "opensm",
        &["-F", "in.conf", "-c", "out.conf"],
        folder.path(),
        "opensm",
    );
    let complaints = said
        .stdout
        .lines()
        .filter(|l| {
            [
                "Unrecognized token",
                "Invalid Cached Option",
                "-E- ",
                "Warning:",
                "Illegal",
                "Setting",
            ]
            .iter()
            .any(|w| l.contains(w))
        })
        .map(str::to_owned)
        .collect();
    let out = fs::read(folder.path().join("out.conf")).expect("opensm wrote no file");
    (complaints, Conf::read(Some(&out)))
}

/// Each key of ours reads back as meant.
fn same(ours: &str, effective: &Conf) {
    let ours = Conf::read(Some(ours.as_bytes()));
    for key in KEYS {
        if let Some(written) = ours.get(key.name) {
            let read = effective.get(key.name);
            assert!(
                read.is_some_and(|r| key.same(r, written)),
                "{}: wrote {written:?}, opensm has {read:?}",
                key.name
            );
        }
    }
}

/// Two values for each key that a document can set: the lowest and the highest.
fn extremes(key: &Key) -> Option<[Value; 2]> {
    let keep = |v: &str| [json!(v), json!(v)];
    Some(match (key.name, key.kind) {
        ("guid" | "sm_priority" | "subnet_prefix" | "partition_config_file" | "daemon", _)
        | (_, Kind::PerSl) => return None,
        // 0 means "no limit" to opensm, which then shows the number that it uses.
        ("max_wire_smps", _) => [json!(1), json!(2_147_483_647)],
        // Turns part_enforce off, whatever that says.
        ("no_partition_enforcement", _) => [json!(false), json!(false)],
        // Debian builds without the console on an open socket.
        ("console", _) => [json!("off"), json!("loopback")],
        // Corrected where they contradict each other.
        ("sweep_interval", _) => [json!(0), json!(60)],
        ("m_key_lease_period", _) => [json!(0), json!(65535)],
        ("transaction_timeout", _) => [json!(0), json!(200)],
        (name, Kind::List(_)) if name.contains("vlarb") => keep("0:4,1:64"),
        (name, Kind::List(_)) if name.contains("sl2vl") => keep("0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7"),
        ("cc_cct", _) => keep("0:0,1:5,2:3"),
        ("cc_sw_cong_setting_credit_starvation_return_delay", _) => keep("1:2"),
        (_, Kind::Bool) => [json!(false), json!(true)],
        (_, Kind::Int(min, max)) => [json!(min), json!(max)],
        (_, Kind::OneOf(all)) => [json!(all[0]), json!(all[all.len() - 1])],
        (_, Kind::Hex(_, max)) => [json!("0x0"), json!(format!("{max:#x}"))],
        (_, Kind::Word(all)) => [json!(all[0]), json!(all[all.len() - 1])],
        (_, Kind::List(all)) => [json!([all[0]]), json!(all)],
        (_, Kind::Text) => keep("word"),
        (_, Kind::Path) => keep("/var/tmp/x"),
        (_, Kind::Mask) => keep("0x00000000000000000000000000000000000000000000000000000000000000fe"),
    })
}

#[test]
fn opensm_takes_every_key_at_both_ends_of_its_range() {
    for end in 0..2 {
        let options: Map<String, Value> = KEYS
            .iter()
            .filter_map(|k| Some((k.name.to_owned(), extremes(k)?[end].clone())))
            .collect();
        assert!(options.len() > 140);
        let section = json!({"instances": [{"port": {"guid": format!("{A:#x}")}, "priority": 15 * end, "subnet_prefix": "fe80:0000:0000:00ff", "options": options}]});
        let conf = conf_of(&section);
        let (complaints, effective) = lint(&conf);
        assert!(complaints.is_empty(), "{complaints:#?}");
        same(&conf, &effective);
    }
}

#[test]
fn opensm_takes_the_documents_that_people_write() {
    let guid = format!("{A:#x}");
    for section in [
        json!({"instances": [{"port": {"guid": guid}}]}),
        json!({"instances": [{"port": {"guid": guid}, "priority": 14, "options": {"routing_engine": ["ftree", "updn"], "log_flags": 3, "log_max_size": 100, "sweep_interval": 10}}]}),
        json!({"instances": [{"port": {"guid": guid}, "priority": "0", "subnet_prefix": "0xfe80000000000001", "options": {"routing_engine": ["nue", "no_fallback"], "qos": true, "console": "loopback", "m_key": "0x1234", "log_flags": "0x43"}}]}),
        json!({"instances": [{"port": {"guid": guid}, "options": {"force_log_flush": false, "log_file": "/var/log/sm.log", "dump_files_dir": "/var/tmp"}}]}),
    ] {
        let conf = conf_of(&section);
        let (complaints, effective) = lint(&conf);
        assert!(complaints.is_empty(), "{section}: {complaints:#?}");
        same(&conf, &effective);
    }
}

#[test]
fn the_lint_would_see_a_mistake() {
    for wrong in ["log_level 3\n", "sm_priority 16\n", "lmc banana\n"] {
        assert_eq!(lint(wrong).0.len(), 1, "{wrong}");
    }
}

#[test]
fn the_table_of_keys_is_that_of_the_installed_opensm() {
    let (_, template) = lint("");
    let text = String::from_utf8(template.bytes()).unwrap();
    let names: BTreeSet<&str> = text
        .lines()
        .filter(|l| !l.starts_with('#'))
        .filter_map(|l| l.split_whitespace().next())
        .collect();
    let ours: BTreeSet<&str> = KEYS.iter().map(|k| k.name).collect();
    assert_eq!(ours, names);
    let folder = template.get("partition_config_file").unwrap();
    let folder = folder.rsplit_once('/').unwrap().0;
    for key in KEYS.iter().filter(|k| k.kind != Kind::PerSl) {
        let theirs = template.get(key.name).unwrap();
        let default = key.default.replace("CONFDIR", folder);
        assert!(
            key.same(theirs, &default),
            "{}: {default:?} here, {theirs:?} there",
            key.name
        );
    }
}

/// The P_Keys that a port has by a table: opensm begins with everybody as limited and itself as full member of the default
/// partition, and later members overwrite earlier ones.
fn keys(table: &Table, guid: u64, manager: bool) -> Vec<u16> {
    let mut out = Vec::new();
    let mut all = table.clone();
    all.entry(0x7fff).or_default();
    for (pkey, partition) in &all {
        let mut how = (*pkey == 0x7fff).then_some(if manager {
            Membership::Full
        } else {
            Membership::Limited
        });
        for (member, membership) in &partition.members {
            let here = match member {
                Member::All | Member::AllCas => true,
                Member::AllSwitches | Member::AllRouters => false,
                Member::SelfPort => manager,
                Member::Guid(g) => Some(*g) == Guid::new(guid),
            };
            if here {
                how = Some(*membership);
            }
        }
        match how {
            Some(Membership::Full | Membership::Both) => out.push(pkey | 0x8000),
            Some(Membership::Limited) => out.push(*pkey),
            None => {}
        }
    }
    out.sort_unstable();
    out
}

/// The IPoIB groups of a table.
fn groups(table: &Table) -> Vec<(u16, u8, u8)> {
    let mut out: Vec<_> = table
        .iter()
        .filter_map(|(k, p)| p.group.map(|g| (k | 0x8000, g.mtu, g.rate)))
        .collect();
    out.sort_unstable();
    out
}

/// What opensm makes of a partitions file is what the table says.
fn judge(fabric: &Fabric, text: &str, table: &Table) {
    let conf = conf_of(&json!({"instances": [{"port": {"guid": format!("{A:#x}")}}]}));
    let opensm = fabric.opensm("node-a", &conf, Some(text));
    let said = opensm.read("stdout") + &opensm.read("opensm.log");
    assert!(
        !said.contains("PARSE") && !said.contains("ERR 1B"),
        "{text}\n{said}"
    );
    for (host, guid) in HOSTS {
        assert_eq!(
            fabric.pkeys(host),
            keys(table, guid, guid == A),
            "P_Keys of {host} by\n{text}"
        );
    }
    assert_eq!(fabric.groups("node-a"), groups(table), "groups by\n{text}");
}

fn partitions_of(list: Value) -> (String, Table) {
    let section = json!({"instances": [{"port": {"guid": format!("{A:#x}")}}], "partitions": list});
    let text = files(&section)["/etc/opensm/partitions.conf"].clone();
    let table = partitions::wanted(&serde_json::from_value::<Vec<_>>(section["partitions"].clone()).unwrap());
    (text, table)
}

#[test]
fn case_04_a_file_without_a_default_of_its_own_keeps_ip_for_everybody() {
    let fabric = Fabric::start("one-leaf.net");
    let (text, table) = partitions_of(json!([
        {"name": "storage", "pkey": "0x0010", "members": {format!("{B:#x}"): "full"}},
    ]));
    judge(&fabric, &text, &table);
    assert_eq!(fabric.pkeys("node-c"), [0xffff]);
    assert_eq!(fabric.pkeys("node-b"), [0x8010, 0xffff]);
    let (text, table) = partitions_of(json!([]));
    judge(&fabric, &text, &table);
    assert_eq!(fabric.pkeys("node-c"), [0xffff]);
}

#[test]
fn partitions_of_a_document_come_to_exist_as_written() {
    let fabric = Fabric::start("one-leaf.net");
    let (b, c) = (format!("{B:#x}"), format!("{C:#x}"));
    for list in [
        json!([
            {"name": "Default", "pkey": "0x7fff", "ipoib": {"mtu": 4096, "rate": 100}, "members": {"ALL": "full"}},
            {"name": "storage", "pkey": "0x0010", "ipoib": {"mtu": 4096}, "members": {"ALL": "limited", b.as_str(): "full"}},
            {"name": "scratch", "pkey": 0x123, "ipoib": {"mtu": 2048, "rate": 40}, "members": {"SELF": "full", c.as_str(): "full", b.as_str(): "limited"}},
        ]),
        json!([
            {"name": "Default", "pkey": "0x7fff", "ipoib": {}, "members": {"ALL": "limited", b.as_str(): "full"}},
            {"name": "cas", "pkey": 1, "members": {"ALL_CAS": "full", c.as_str(): "limited", "ALL_SWITCHES": "limited"}},
        ]),
        json!([{"name": "Default", "pkey": "0x7fff", "members": {"ALL": "full"}}]),
    ] {
        let (text, table) = partitions_of(list);
        judge(&fabric, &text, &table);
        assert_eq!(partitions::read(&text).as_ref(), Ok(&table));
    }
}

#[test]
fn the_reader_reads_as_opensm_does() {
    let fabric = Fabric::start("one-leaf.net");
    for text in [
        "Default=0x7fff,ipoib:ALL=full;\ns=0x8010:0x0002c90300e00021=full,ALL=limited;\n",
        "Default=0x7fff,ipoib:ALL=full;\ns=0x8010:ALL=limited,0x0002c90300e00021=full;\n",
        "Default=0x7fff,ipoib,defmember=full:ALL,SELF ; a=1:ALL ; a=1:0x0002c90300e00031=full\n",
        "Default=0x7fff , ipoib, mtu=5 , rate=16 :\n ALL=full ,\n SELF=full ;\nb=0x22,defmember=both:ALL,\n0x0002c90300e00031;\n",
        "storage=0x10,ipoib:ALL=full;\n",
        "Default=0x7fff,ipoib:ALL=full;\nd=0x18011:ALL=full;\ne=17:0x0002c90300e00021=f;\n",
    ] {
        let table = partitions::read(text).unwrap_or_else(|f| panic!("{text}: {f}"));
        judge(&fabric, text, &table);
    }
}

#[test]
fn what_the_reader_calls_a_fault_makes_opensm_drop_the_file() {
    let fabric = Fabric::start("one-leaf.net");
    let conf = conf_of(&json!({"instances": [{"port": {"guid": format!("{A:#x}")}}]}));
    for text in [
        "# nothing\n",
        "garbage\n",
        "s=0x10 : ALL=full, 0xnoguid=full ;\n",
        "s=0x10, ipoib\n : ALL=full ;\n",
        "s=zz : ALL=full ;\n",
        "s=0x10 : ALL=full ;\nt=0x11 : 0=full ;\n",
    ] {
        assert!(partitions::read(text).is_err(), "{text:?}");
        let opensm = fabric.opensm("node-a", &conf, Some(text));
        assert!(
            opensm.read("opensm.log").contains("retrying with default config"),
            "{text:?}"
        );
        assert_eq!(fabric.pkeys("node-b"), [0xffff], "{text:?}");
    }
}

#[test]
fn sighup_takes_members_and_live_keys() {
    let fabric = Fabric::start("one-leaf.net");
    let guid = format!("{A:#x}");
    let section = |priority: u8| json!({"instances": [{"port": {"guid": guid}, "priority": priority}]});
    let (before, _) =
        partitions_of(json!([{"name": "s", "pkey": 16, "members": {format!("{B:#x}"): "full"}}]));
    let (after, table) = partitions_of(
        json!([{"name": "s", "pkey": 16, "members": {format!("{B:#x}"): "limited", format!("{C:#x}"): "full"}}]),
    );
    let opensm = fabric.opensm("node-a", &conf_of(&section(3)), Some(&before));
    assert_eq!(fabric.pkeys("node-b"), [0x8010, 0xffff]);
    opensm.write("partitions.conf", &after);
    opensm.write("opensm.conf", &conf_of(&section(9)));
    opensm.reload();
    for (host, guid) in HOSTS {
        assert_eq!(fabric.pkeys(host), keys(&table, guid, guid == A), "{host}");
    }
    assert!(find("sm_priority").unwrap().live);
    let lid = fabric.lid("node-a").to_string();
    let said = fabric.ask("node-b", "sminfo", &[&lid]);
    assert!(said.stdout.contains("priority 9 "), "{said:?}");
}

#[test]
fn systemd_takes_the_drop_ins_of_instances() {
    let units = ibplan_testkit::hosts::folder().join("recorded");
    let folder = tempfile::tempdir().unwrap();
    for unit in ["opensm.service", "opensm@.service"] {
        fs::copy(units.join(format!("debian12.{unit}")), folder.path().join(unit)).unwrap();
    }
    let log = json!({"instances": [{"port": {"guid": format!("{A:#x}")}, "options": {"log_file": "/var/log/sm.log"}}]});
    let many = json!({"instances": [
        {"port": {"guid": format!("{A:#x}")}, "subnet_prefix": "fe80:0000:0000:0000"},
        {"port": {"guid": format!("{B:#x}")}, "subnet_prefix": "fe80:0000:0000:0001"},
    ]});
    for section in [
        json!({"instances": [{"port": {"guid": format!("{A:#x}")}}]}),
        log,
        many,
    ] {
        let drop_ins: Vec<(String, String)> = files(&section)
            .into_iter()
            .filter(|(path, _)| path.contains(".service.d/"))
            .collect();
        assert!(!drop_ins.is_empty());
        for (path, text) in drop_ins {
            let place = path.strip_prefix("/etc/systemd/system/").unwrap();
            let (unit, _) = place.split_once(".d/").unwrap();
            let target = folder.path().join(place);
            fs::create_dir_all(target.parent().unwrap()).unwrap();
            let verify = |text: &str| {
                fs::write(&target, text).unwrap();
                // The trailing colon adds systemd's own folders.
                let path = format!("SYSTEMD_UNIT_PATH={}:", folder.path().display());
                tool(
                    "env",
                    &[&path, "systemd-analyze", "verify", "--man=no", unit],
                    folder.path(),
                    "systemd",
                )
            };
            let said = verify(&text);
            assert_eq!((said.status, said.stderr.as_str()), (Some(0), ""), "{text}");
            assert!(verify(&format!("{text}Nonsense=1\n")).stderr.contains("Nonsense"));
        }
    }
}
