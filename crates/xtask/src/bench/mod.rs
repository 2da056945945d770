//! Speed and size, measured and printed beside the budget. No test asserts a time; this is for people.

mod measure;

use crate::shell::{self, command, show};
use crate::suite;
use anyhow::{Context, Result, bail};
use measure::{Counts, counts, median_ms, peak_kib};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// How often a program is started for a median.
const RUNS: usize = 30;

/// A captured host, its link, and what a plan may cost there.
struct Host {
    name: &'static str,
    link: &'static str,
    device: &'static str,
    most_ms: f64,
    most_children: u64,
}

/// The budget of hosts with dpkg, and of hosts with rpm (a program must be asked).
const HOSTS: &[Host] = &[
    Host {
        name: "debian12-cx6",
        link: "ibp65s0",
        device: "ibp65s0",
        most_ms: 4.0,
        most_children: 1,
    },
    Host {
        name: "rocky9-cx6",
        link: "ibp65s0",
        device: "mlx5_0",
        most_ms: 15.0,
        most_children: 2,
    },
];

/// Most resident memory of a plan in KiB.
const MOST_KIB: u64 = 8 * 1024;
/// Largest static program in bytes.
const MOST_BYTES: u64 = 3 << 20;

/// Builds, measures, prints.
pub(crate) fn run() -> Result<()> {
    let programs = suite::static_programs()?;
    let agent = programs.join("ibplan-host");
    let scratch = tempfile::tempdir().context("cannot make a temporary folder")?;
    let empty = empty_program(scratch.path())?;
    let mut table = Table::default();
    let start = median_ms(&empty, None, RUNS)?;
    table.row(
        "start of an empty static program",
        format!("{start:.2} ms"),
        "",
        true,
    );
    for host in HOSTS {
        plan_on(host, &agent, scratch.path(), start, &mut table)?;
    }
    sizes(&programs, &mut table)?;
    table.print();
    println!(
        "\nHosts are captured trees in image mode: everything is read, nothing live is asked. Medians of {RUNS} starts."
    );
    Ok(())
}

fn plan_on(host: &Host, agent: &Path, scratch: &Path, start: f64, table: &mut Table) -> Result<()> {
    let root = scratch.join(host.name);
    let tree = shell::root().join("tests/hosts").join(host.name);
    show(command(
        "cp",
        &["-a", &tree.to_string_lossy(), &root.to_string_lossy()],
    ))?;
    let request = |operation: &str| -> Result<PathBuf> {
        let file = scratch.join(format!("{}.{operation}.json", host.name));
        let request = json!({
            "api": "ibplan/v1", "operation": operation, "desired": document(host), "options": {"root": root},
        });
        fs::write(&file, request.to_string())?;
        Ok(file)
    };
    answer(agent, &request("apply")?)?;
    let plan = request("plan")?;
    if answer(agent, &plan)?["changed"] != false {
        bail!("{}: not converged after an apply", host.name);
    }
    let wall = median_ms(agent, Some(&plan), RUNS)?;
    let Counts { syscalls, programs } = counts(agent, &plan)?;
    let peak = peak_kib(agent, &plan)?;
    let name = |what: &str| format!("plan, {}: {what}", host.name);
    let most = host.most_ms;
    table.row(
        &name("wall"),
        format!("{wall:.2} ms"),
        &format!("{most} ms"),
        wall <= most,
    );
    table.row(
        &name("wall above an empty program"),
        format!("{:.2} ms", wall - start),
        "",
        true,
    );
    let children = programs.saturating_sub(1);
    let most = host.most_children;
    table.row(
        &name("child processes"),
        children.to_string(),
        &most.to_string(),
        children <= most,
    );
    table.row(&name("system calls"), syscalls.to_string(), "", true);
    table.row(
        &name("peak resident"),
        format!("{peak} KiB"),
        &format!("{MOST_KIB} KiB"),
        peak <= MOST_KIB,
    );
    Ok(())
}

/// A document with every section that a host of a cluster has.
fn document(host: &Host) -> Value {
    json!({
        "modules": [{"name": "ib_umad"}, {"name": "ib_ipoib", "parameters": {"send_queue_size": 512}}],
        "subnet_manager": {
            "instances": [{"port": {"device": host.device, "port": 1}, "priority": 14,
                "options": {"routing_engine": ["ftree", "updn"], "log_flags": 3, "sweep_interval": 10}}],
            "partitions": [
                {"name": "Default", "pkey": "0x7fff", "ipoib": {"mtu": 4096}, "members": {"ALL": "full"}},
                {"name": "storage", "pkey": "0x0010", "ipoib": {"mtu": 4096}, "members": {"ALL": "full"}},
            ],
        },
        "ipoib": [{"interface": host.link, "addresses": ["192.168.10.1/24"],
            "partitions": [{"pkey": "0x8010", "addresses": ["192.168.20.1/24"]}]}],
        "sysctl": {"net.core.rmem_max": 134217728, "net.ipv4.tcp_rmem": [4096, 87380, 134217728]},
        "sysctl_profile": "ipoib_throughput",
        "limits": {"memlock": "unlimited", "services": ["slurmd"]},
    })
}

/// The response to a request that must go well.
fn answer(agent: &Path, request: &Path) -> Result<Value> {
    let output = command(&agent.to_string_lossy(), &[&request.to_string_lossy()])
        .output()
        .with_context(|| format!("cannot run {}", agent.display()))?;
    let response: Value = serde_json::from_slice(&output.stdout).context("the agent wrote no JSON")?;
    if response["ok"] == true {
        Ok(response)
    } else {
        bail!("{}: {:#}", request.display(), response["errors"])
    }
}

fn empty_program(folder: &Path) -> Result<PathBuf> {
    let program = folder.join("empty");
    let source = shell::root().join("crates/xtask/bench/empty.rs");
    let mut rustc = command(
        "rustc",
        &["--edition", "2024", "--target", suite::static_target()],
    );
    rustc.args(["-C", "opt-level=s", "-C", "panic=abort", "-C", "strip=symbols"]);
    rustc
        .args(["-C", "target-feature=+crt-static", "-o"])
        .args([&program, &source]);
    show(rustc)?;
    Ok(program)
}

fn sizes(folder: &Path, table: &mut Table) -> Result<()> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .with_context(|| format!("cannot list {}", folder.display()))?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.starts_with("ibplan-") && !name.contains('.'))
        .collect();
    names.sort();
    for name in names {
        let bytes = fs::metadata(folder.join(&name))?.len();
        let shown = |b: u64| format!("{} KiB", b >> 10);
        table.row(
            &format!("size of {name}"),
            shown(bytes),
            &shown(MOST_BYTES),
            bytes <= MOST_BYTES,
        );
    }
    Ok(())
}

/// What was measured, its budget, and whether it is kept.
#[derive(Default)]
struct Table {
    rows: Vec<[String; 4]>,
}

impl Table {
    fn row(&mut self, what: &str, measured: String, budget: &str, kept: bool) {
        let verdict = match (budget, kept) {
            ("", _) => "",
            (_, true) => "kept",
            (_, false) => "OVER",
        };
        let (what, budget) = (what.to_owned(), budget.to_owned());
        self.rows.push([what, measured, budget, verdict.to_owned()]);
    }

    fn print(&self) {
        let head = ["what", "measured", "budget", ""].map(str::to_owned);
        let rows = || std::iter::once(&head).chain(&self.rows);
        let wide = |column: usize| rows().map(|r| r[column].chars().count()).max().unwrap_or(0);
        let (a, b, c) = (wide(0), wide(1), wide(2));
        println!();
        for [what, measured, budget, verdict] in rows() {
            println!("{what:<a$}  {measured:>b$}  {budget:>c$}  {verdict}");
        }
    }
}
