use super::*;
use crate::problem::Problem;

fn problems(json: &str) -> (Vec<Problem>, Vec<Problem>) {
    let options = serde_json::from_str(json).unwrap();
    let mut found = Findings::default();
    check(
        &options,
        &Pointer::of("subnet_manager").key("options"),
        &mut found,
    );
    (found.errors, found.warnings)
}

#[test]
fn values_are_written_as_opensm_reads_them() {
    for (name, json, raw) in [
        ("qos", "true", "TRUE"),
        ("qos", "\"False\"", "FALSE"),
        ("sweep_interval", "10", "10"),
        ("sweep_interval", "\"10\"", "10"),
        ("log_flags", "3", "0x03"),
        ("log_flags", "\"0x43\"", "0x43"),
        ("m_key", "\"0x1234\"", "0x0000000000001234"),
        ("m_key", "\"0xffffffffffffffff\"", "0xffffffffffffffff"),
        ("qos_high_limit", "-1", "-1"),
        ("force_link_width", "255", "255"),
        ("routing_engine", "[\"ftree\", \"updn\"]", "ftree,updn"),
        ("routing_engine", "\"ftree,updn\"", "ftree,updn"),
        ("routing_engine", "\"(null)\"", "(null)"),
        ("part_enforce", "\"off\"", "off"),
        ("console", "false", "off"),
        ("log_file", "\"/var/log/sm.log\"", "/var/log/sm.log"),
        ("qos_sl2vl", "\"0,1,2\"", "0,1,2"),
    ] {
        let value = serde_json::from_str(json).unwrap();
        assert_eq!(
            find(name).unwrap().render(&value).as_deref(),
            Ok(raw),
            "{name} {json}"
        );
    }
}

#[test]
fn wrong_values_are_refused() {
    for (name, json) in [
        ("qos", "1"),
        ("qos", "\"yes\""),
        ("lmc", "8"),
        ("lmc", "\"banana\""),
        ("sweep_interval", "-1"),
        ("sweep_interval", "\"010\""),
        ("sweep_interval", "true"),
        ("log_flags", "256"),
        ("force_link_speed", "8"),
        ("force_link_width", "32"),
        ("m_key", "\"0x1ffffffffffffffff\""),
        ("routing_engine", "[\"nosuch\"]"),
        ("routing_engine", "true"),
        ("part_enforce", "true"),
        ("console", "\"remote\""),
        ("log_file", "\"opensm.log\""),
        ("cc_ca_cong_setting_ccti_min", "\"0\""),
    ] {
        let (errors, _) = problems(&format!("{{\"{name}\": {json}}}"));
        assert_eq!(errors.len(), 1, "{name} {json}");
        assert_eq!(errors[0].code, codes::OPTION_VALUE, "{name} {json}");
        assert_eq!(errors[0].path.as_str(), format!("/subnet_manager/options/{name}"));
    }
}

#[test]
fn unknown_keys_get_the_right_hint() {
    for (name, hint) in [
        ("log_level", "log_flags"),
        ("MR_CACHE_SIZE", "no setting of a subnet manager"),
        ("sweep_intervall", "did you mean `sweep_interval`"),
        ("Routing_Engine", "did you mean `routing_engine`"),
        ("dimn_ports_file", "port_search_ordering_file"),
        ("xyzzy", "template"),
    ] {
        let (errors, _) = problems(&format!("{{\"{name}\": 1}}"));
        assert_eq!(errors[0].code, codes::UNKNOWN_OPTION);
        assert!(errors[0].hint.contains(hint), "{name}: {}", errors[0].hint);
        assert!(errors[0].hint.contains("3.3.x"));
    }
}

#[test]
fn keys_with_a_field_are_refused_and_all_mistakes_are_collected() {
    let (errors, _) = problems(
        r#"{"guid": "0x1", "sm_priority": 3, "subnet_prefix": "0x1", "partition_config_file": "/x", "daemon": true, "nope": 1}"#,
    );
    assert_eq!(errors.len(), 6);
    assert_eq!(
        errors
            .iter()
            .filter(|e| e.code == codes::OPTION_HAS_FIELD)
            .count(),
        5
    );
}

#[test]
fn a_secret_is_in_no_message() {
    let (errors, _) = problems(r#"{"m_key": "hunter2", "sm_key": "0xsecret"}"#);
    assert_eq!(errors.len(), 2);
    for e in errors {
        assert!(!format!("{e:?}").contains("hunter2") && !format!("{e:?}").contains("0xsecret"));
    }
    assert_eq!(find("m_key").unwrap().shown("0x12"), HIDDEN);
}

#[test]
fn an_open_console_is_a_warning() {
    let (errors, warnings) = problems(r#"{"console": "socket", "ignore_other_sm": true}"#);
    assert!(errors.is_empty());
    assert_eq!(warnings.len(), 2);
    assert!(problems(r#"{"console": "loopback"}"#).1.is_empty());
}

#[test]
fn values_are_compared_by_meaning() {
    for (name, a, b, same) in [
        ("log_flags", "0x03", "3", true),
        ("log_flags", "0x03", "03", true),
        ("log_flags", "0x10", "010", false),
        ("qos", "true", "FALSE", true),
        ("qos", "TRUE", "true", false),
        ("routing_engine", "ftree,updn", "ftree, updn", true),
        ("routing_engine", "ftree,updn", "updn,ftree", false),
        ("guid", "0xB83FD20300AA10C4", "0xb83fd20300aa10c4", true),
        ("dump_files_dir", "/var/log", "/var/log/", true),
        ("cc_sw_cong_setting_victim_mask", "0x00ff", "0xFF", true),
        ("sweep_interval", "abc", "10", false),
    ] {
        assert_eq!(find(name).unwrap().same(a, b), same, "{name} {a} {b}");
    }
}

#[test]
fn the_table_is_sound() {
    let mut names = std::collections::BTreeSet::new();
    for key in KEYS {
        assert!(names.insert(key.name), "{} stands twice", key.name);
        if !matches!(key.kind, Kind::PerSl) && !key.default.starts_with("CONFDIR") {
            let value = OptionValue::Text(key.default.to_owned());
            let raw = key
                .render(&value)
                .unwrap_or_else(|e| panic!("{}: {e:?}", key.name));
            assert!(key.same(&raw, key.default), "{}", key.name);
        }
    }
    for name in OWN.iter().map(|(n, _)| n).chain(SECRETS) {
        assert!(find(name).is_some(), "{name}");
    }
    for (wrong, _) in MISTAKEN {
        assert!(find(wrong).is_none(), "{wrong}");
    }
}
