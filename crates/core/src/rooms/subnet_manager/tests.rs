use super::*;
use crate::codes as host_codes;
use crate::distro::Row;
use crate::engine;
use crate::facts::{Init, LinkLayer, Port, PortState, Rate, RdmaDevice, Scope};
use crate::fake::Fake;
use crate::ledger::{Ledger, Original, Owned, fingerprint};
use crate::plan::Claim;
use crate::problem::Code;
use crate::resource::{Of, Stage};
use crate::types::{Guid, HostPath};
use serde_json::{Value, json};

const A: u64 = 0xb83f_d203_00aa_10c5;
const B: u64 = 0xb83f_d203_00aa_10d5;
const UNIT_EL: &str =
    "[Service]\nType=forking\nExecStart=/usr/libexec/opensm-launch\n[Install]\nWantedBy=network.target\n";
const UNIT_DEB: &str = "[Service]\nType=oneshot\nEnvironmentFile=/etc/default/opensm\n[Install]\nWantedBy=network-online.target\n";

fn port(guid: u64) -> Port {
    Port {
        number: 1,
        link_layer: LinkLayer::Infiniband,
        state: PortState::Init,
        phys_state: Some("LinkUp".to_owned()),
        rate: Rate {
            gbps: 100.0,
            width: Some(4),
            speed: None,
        },
        lid: None,
        sm_lid: None,
        guid: Guid::new(guid),
        subnet_prefix: None,
        pkeys: Vec::new(),
        smi_enabled: None,
    }
}

fn device(name: &str, guid: u64) -> RdmaDevice {
    RdmaDevice {
        name: name.to_owned(),
        pci: None,
        driver: None,
        node_guid: Guid::new(guid - 1),
        fw_ver: None,
        board_id: None,
        hca_type: None,
        vf: false,
        omni_path: false,
        ports: vec![port(guid)],
    }
}

fn facts(id: &str, version: &str, scope: Scope) -> Facts {
    let mut facts = Facts::unknown(scope);
    facts.os.row = Row::find(id, version);
    facts.packages.manager = facts.os.row.map(|r| r.packages);
    facts.packages.database = true;
    facts.init = Init::Systemd { running: true };
    facts.devices = vec![device("mlx5_0", A)];
    facts
}

fn two(mut facts: Facts) -> Facts {
    facts.devices.push(device("mlx5_1", B));
    facts
}

fn document(section: Value) -> HostState {
    serde_json::from_value(json!({ "subnet_manager": section })).unwrap()
}

const STAGES: &[&dyn Stage] = &[&Of::<SubnetManager>::new()];

fn planned(section: &Value, host: &Fake, facts: &Facts) -> Plan {
    match engine::plan(STAGES, &document(section.clone()), facts, host, true) {
        Ok(plan) => plan,
        Err(refusal) => panic!("{refusal:#?}"),
    }
}

fn refused(section: &Value, host: &Fake, facts: &Facts) -> Vec<(Code, String)> {
    let refusal = engine::plan(STAGES, &document(section.clone()), facts, host, false).unwrap_err();
    refusal
        .document
        .into_iter()
        .chain(refusal.host)
        .map(|p| (p.code, p.path.to_string()))
        .collect()
}

/// Does the plan, and keeps the ledger as a host would.
fn applied(plan: &Plan, host: &Fake, facts: &Facts) -> (Fake, Facts) {
    let (mut after, mut facts) = (host.clone(), facts.clone());
    let mut ledger: Ledger = facts.ledger.clone();
    for path in &plan.forgets {
        ledger.files.remove(path);
    }
    for claim in &plan.claims {
        let Claim::File { path, section, keys } = claim else {
            continue;
        };
        let original = match ledger.files.get(path) {
            Some(owned) => owned.original.clone(),
            None => original(&mut after, path),
        };
        ledger.files.insert(
            path.clone(),
            Owned {
                section: section.clone(),
                original,
                written: String::new(),
                keys: keys.clone(),
            },
        );
    }
    for step in &plan.steps {
        after.perform(&step.action);
    }
    for (path, owned) in &mut ledger.files {
        if let Some(now) = fingerprint(&after, path).unwrap() {
            owned.written = now;
        }
    }
    facts.ledger = ledger;
    (after, facts)
}

fn original(host: &mut Fake, path: &HostPath) -> Original {
    let seen = crate::parts::file::observe(host, path).unwrap();
    match seen.present {
        crate::parts::file::Present::File { meta, bytes } => {
            let name = crate::action::digest(&bytes);
            host.put(
                &format!("{}/{name}", crate::ledger::ORIGINALS),
                &String::from_utf8(bytes).unwrap(),
            );
            Original::File {
                digest: name,
                mode: meta.mode,
                uid: meta.uid,
                gid: meta.gid,
            }
        }
        crate::parts::file::Present::Link(target) => Original::Link { target },
        _ => Original::Absent,
    }
}

/// Stillness, return, reason and calm, for one document on one host; the host afterwards.
fn laws(section: &Value, host: &Fake, facts: &Facts) -> (Plan, Fake, Facts) {
    let plan = planned(section, host, facts);
    assert_eq!(plan, planned(section, host, facts), "calm");
    let paths: Vec<&str> = plan.changes.iter().map(|c| c.path.as_str()).collect();
    for step in &plan.steps {
        assert!(!step.because.is_empty(), "{step:?}");
        for why in &step.because {
            assert!(
                paths.contains(&why.as_str()),
                "{} names {why}, not in {paths:?}",
                step.action.target()
            );
        }
    }
    for change in &plan.changes {
        assert_ne!(change.before, change.after, "{}", change.path);
        assert!(
            plan.steps.iter().any(|s| s.because.contains(&change.path)),
            "no step for {}",
            change.path
        );
    }
    let mut host = host.clone();
    host.units.clear();
    let host = &host;
    let mut moved = host.clone();
    for step in &plan.steps {
        moved.perform(&step.action);
    }
    for step in plan.steps.iter().rev() {
        if let Some(undo) = &step.undo {
            moved.perform(undo);
        }
    }
    moved.units.clear();
    assert!(moved == *host, "return: {:#?}", plan.steps);
    let (after, facts) = applied(&plan, host, facts);
    let again = planned(section, &after, &facts);
    assert!(
        again.steps.is_empty() && again.changes.is_empty(),
        "stillness: {:#?}\n{:#?}",
        again.changes,
        again.steps
    );
    (plan, after, facts)
}

fn el(active: &str) -> Fake {
    Fake::new()
        .file("/usr/lib/systemd/system/opensm.service", UNIT_EL)
        .file("/sys/module/ib_umad/initstate", "live\n")
        .file(
            "/etc/sysconfig/opensm",
            "# GUIDs\n#GUIDS=\"0x1\"\n\n# 0 to 15\nPRIORITY=5\n",
        )
        .file(
            "/etc/rdma/opensm.conf",
            "# The port\nguid 0x0000000000000000\n\n# Priority\nsm_priority 0\nlog_flags 0x03\nsite_key 1\n",
        )
        .answer("rpm-packages", "opensm\t0\t3.3.24\t1\tx86_64\n")
        .answer(
            "systemctl-show",
            &format!("Id=opensm.service\nLoadState=loaded\nActiveState={active}"),
        )
}

fn debian(parent: &str, a: &str) -> Fake {
    Fake::new()
        .file("/lib/systemd/system/opensm.service", UNIT_DEB)
        .file("/lib/systemd/system/opensm@.service", "[Service]\nExecStart=/usr/sbin/opensm --guid %I --log_file /var/log/opensm.%I.log\n")
        .file("/sys/module/ib_umad/initstate", "live\n")
        .file("/etc/default/opensm", "# Lists ports\n#PORTS=\"0x1\"\n\nPORTS=ALL\n\n")
        .file("/var/lib/dpkg/status", "Package: opensm\nStatus: install ok installed\n\n")
        .answer(
            "systemctl-show",
            &format!(
                "Id=opensm.service\nLoadState=loaded\nActiveState={parent}\n\nId=opensm@{A:#018x}.service\nLoadState=loaded\nActiveState={a}\n\nId=opensm@{B:#018x}.service\nLoadState=loaded\nActiveState={a}"
            ),
        )
}

fn acts(host: &Fake) -> Vec<String> {
    host.units
        .iter()
        .map(|(u, a)| format!("{a:?} {u}").replace(".service", ""))
        .collect()
}

mod files;
mod refusals;
mod states;
