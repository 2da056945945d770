//! Real tools read what the rooms sysctl, modules and limits write: procps, systemd and kmod are the judges.

use ibplan_core::action::Action;
use ibplan_core::engine;
use ibplan_core::facts::{Facts, Scope};
use ibplan_core::fake::Fake;
use ibplan_core::pointer::Pointer;
use ibplan_core::request::read_document;
use ibplan_core::rooms::HOST;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The files that a document brings to a bare image: path, text.
fn files(document: Value) -> BTreeMap<String, String> {
    let (state, mistakes) = read_document(document, &Pointer::root());
    assert!(mistakes.is_empty(), "{mistakes:?}");
    let facts = Facts::unknown(Scope::Image);
    let plan = engine::plan(HOST, &state.unwrap(), &facts, &Fake::new(), false).unwrap();
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

/// Puts one file of a document where a judge can read it.
fn put(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

fn run(package: &str, command: &mut Command) -> Output {
    command
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .env("LC_ALL", "C")
        .output()
        .unwrap_or_else(|e| panic!("{:?}: {e}; install {package}", command.get_program()))
}

fn both(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// A program of systemd that is not on the path: /usr/lib on merged systems, /lib before. It tells what it does.
fn systemd(name: &str) -> Command {
    let path = ["/usr/lib/systemd", "/lib/systemd"]
        .iter()
        .map(|folder| Path::new(folder).join(name))
        .find(|path| path.exists())
        .unwrap_or_else(|| panic!("{name} is missing; install systemd"));
    let mut command = Command::new(path);
    command.env("SYSTEMD_LOG_LEVEL", "debug");
    command
}

/// Links of this name are on no machine, so that a judge that would set a value finds nothing to set.
const SYSCTL: &str = "/etc/sysctl.d/90-ibplan.conf";

fn sysctl_document() -> Value {
    json!({"sysctl_profile": "ipoib_throughput", "sysctl": {
        "net/ipv4/conf/ibplanno.8001/rp_filter": 2,
        "net.ipv4.conf.ibplanno.arp_ignore": 1,
    }})
}

#[test]
fn procps_reads_the_drop_in() {
    let folder = tempfile::tempdir().unwrap();
    let file = put(folder.path(), "90-ibplan.conf", &files(sysctl_document())[SYSCTL]);
    let output = run(
        "procps",
        Command::new("sysctl").args(["--dry-run", "-p"]).arg(&file),
    );
    let said = both(&output);
    for line in [
        "net.ipv4.tcp_rmem = 4096 87380 134217728",
        "net.ipv4.tcp_wmem = 4096 65536 134217728",
    ] {
        assert!(said.lines().any(|l| l == line), "{line} is not in\n{said}");
    }
    // A link that is not there is named by the path that procps made of the key: dot and slash have been swapped back.
    for path in ["ibplanno.8001/rp_filter", "ibplanno/arp_ignore"] {
        let wanted = format!("cannot stat /proc/sys/net/ipv4/conf/{path}: No such file");
        assert!(said.contains(&wanted), "{wanted} is not in\n{said}");
    }
    assert!(!said.contains("ignoring") && !said.contains("syntax"), "{said}");
}

#[test]
fn systemd_sysctl_reads_the_drop_in() {
    let folder = tempfile::tempdir().unwrap();
    let file = put(folder.path(), "90-ibplan.conf", &files(sysctl_document())[SYSCTL]);
    for (prefix, key, value) in [
        ("/net/ipv4/conf/ibplanno.8001", "ibplanno.8001/rp_filter", 2),
        ("/net/ipv4/conf/ibplanno", "ibplanno/arp_ignore", 1),
    ] {
        let output = run(
            "systemd",
            systemd("systemd-sysctl")
                .arg(format!("--prefix={prefix}"))
                .arg(&file),
        );
        let said = both(&output);
        let wanted = format!("Setting '/proc/sys/net/ipv4/conf/{key}' to '{value}'");
        assert!(said.contains(&wanted), "{wanted} is not in\n{said}");
        assert!(output.status.success(), "{said}");
    }
    // The judge does judge: a line without `=` is refused.
    let broken = put(folder.path(), "broken.conf", "net.core.rmem_max 1\n");
    let output = run(
        "systemd",
        systemd("systemd-sysctl").arg("--prefix=/nothing").arg(&broken),
    );
    assert!(!output.status.success(), "{}", both(&output));
}

/// An object file with the `.modinfo` of a module: all that depmod and modprobe look at.
fn module(root: &Path, release: &str, name: &str) {
    let source = put(
        root,
        &format!("src/{name}.c"),
        &format!(
            "static const char info[] __attribute__((section(\".modinfo\"), used)) = \"name={name}\\0license=GPL\";\n"
        ),
    );
    let object = root.join(format!(
        "lib/modules/{release}/kernel/drivers/infiniband/{name}.ko"
    ));
    fs::create_dir_all(object.parent().unwrap()).unwrap();
    let built = run(
        "gcc",
        Command::new("gcc").arg("-c").arg(&source).arg("-o").arg(&object),
    );
    assert!(built.status.success(), "{}", both(&built));
}

#[test]
fn modprobe_reads_the_options() {
    let written = files(json!({"modules": [
        {"name": "ib-ipoib", "parameters": {"send_queue_size": 512, "recv_queue_size": 1024}},
        {"name": "ib_umad"},
        {"name": "mlx4_core", "parameters": {"port_type_array": "1,2"}},
    ]}));
    let root = tempfile::tempdir().unwrap();
    let release = "6.1.0-judge";
    for name in ["ib_ipoib", "ib_umad", "mlx4_core"] {
        module(root.path(), release, name);
    }
    let depmod = run(
        "kmod",
        Command::new("depmod").arg("-b").arg(root.path()).arg(release),
    );
    assert!(depmod.status.success(), "{}", both(&depmod));
    let config = root.path().join("config");
    put(&config, "ibplan.conf", &written["/etc/modprobe.d/ibplan.conf"]);
    for (name, options) in [
        ("ib_ipoib", "recv_queue_size=1024 send_queue_size=512"),
        ("mlx4_core", "port_type_array=1,2"),
        ("ib_umad", ""),
    ] {
        let output = run(
            "kmod",
            Command::new("modprobe")
                .arg("-d")
                .arg(root.path())
                .args(["-S", release, "-C"])
                .arg(&config)
                .args(["--show-depends", name]),
        );
        let said = both(&output);
        let line = said.trim();
        assert!(
            line.starts_with("insmod ") && line.ends_with(format!("/{name}.ko {options}").trim_end()),
            "{name}: {said}"
        );
    }
    let shown = run("kmod", Command::new("modprobe").arg("-c").arg("-C").arg(&config));
    assert!(
        both(&shown).contains("options ib_ipoib recv_queue_size=1024 send_queue_size=512\n"),
        "{}",
        both(&shown)
    );
}

#[test]
fn systemd_modules_load_reads_the_list() {
    let written = files(json!({"modules": [{"name": "ibplan-judge-one"}, {"name": "ibplan_judge_two"}]}));
    let folder = tempfile::tempdir().unwrap();
    let file = put(
        folder.path(),
        "ibplan.conf",
        &written["/etc/modules-load.d/ibplan.conf"],
    );
    // Modules of these names are in no kernel: each is looked for and not found, and nothing else is.
    let said = both(&run("systemd", systemd("systemd-modules-load").arg(&file)));
    let looked: Vec<&str> = said
        .lines()
        .filter(|l| l.contains("ibplan_judge") || l.contains("Load module"))
        .collect();
    assert!(
        said.contains("ibplan_judge_one") && said.contains("ibplan_judge_two"),
        "{said}"
    );
    assert!(
        looked.iter().all(|l| !l.contains('#')),
        "a comment was taken for a module: {said}"
    );
}

#[test]
fn systemd_takes_the_drop_ins() {
    for (memlock, value) in [(json!("unlimited"), "infinity"), (json!(65536), "67108864")] {
        let written = files(json!({"limits": {"memlock": memlock, "services": ["ibplanjudge"]}}));
        let text = &written["/etc/systemd/system/ibplanjudge.service.d/90-ibplan.conf"];
        assert!(text.ends_with(&format!("LimitMEMLOCK={value}\n")));
        let said = verify(text);
        assert!(said.is_empty(), "{said}");
        // The judge reads the drop-in: a broken one is told.
        assert!(verify(&text.replace(value, "banana")).contains("banana"));
    }
}

/// What `systemd-analyze verify` says of a service with this drop-in.
fn verify(drop_in: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let unit = put(
        folder.path(),
        "ibplanjudge.service",
        "[Unit]\nDescription=judge\nDefaultDependencies=no\n[Service]\nExecStart=/bin/true\n",
    );
    put(folder.path(), "ibplanjudge.service.d/90-ibplan.conf", drop_in);
    let mut command = Command::new("systemd-analyze");
    command.args(["verify", "--man=no"]).arg(&unit);
    both(&run("systemd", &mut command))
}
