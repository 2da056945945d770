//! The main job on real input: two captured hosts brought to the host of the CentOS guide, and back.

use crate::shell::{self, cargo, command, root, show};
use crate::{setup, suite};
use anyhow::{Context, Result, ensure};
use ibplan_testkit::hosts::{difference, picture};
use std::path::Path;
use std::process::Stdio;

/// A captured host of the demo.
struct Stop {
    /// Its folder below `tests/hosts`.
    host: &'static str,
    /// Its IPoIB interface.
    link: &'static str,
    /// Its port GUID.
    guid: &'static str,
    /// For people.
    about: &'static str,
    /// Whether its adapter can do connected mode.
    connected: bool,
}

const STOPS: &[Stop] = &[
    Stop {
        host: "debian12-cx3",
        link: "ib0",
        guid: "0x0002c90300b75d11",
        about: "Debian 12, ifupdown, ConnectX-3",
        connected: true,
    },
    Stop {
        host: "rocky9-cx6",
        link: "ibp65s0",
        guid: "0xb83fd20300aa10c4",
        about: "Rocky 9, NetworkManager, ConnectX-6",
        connected: false,
    },
];

/// Builds, lays out the hosts, and goes through the whole job on each.
pub(crate) fn run() -> Result<()> {
    setup::targets()?;
    println!("\nThe demo works on copies of captured hosts below target/demo, never on this machine.\n");
    show(cargo(&[
        "build",
        "--release",
        "-p",
        "ibplan",
        "--target",
        suite::static_target(),
    ]))?;
    let program = shell::target_dir()?
        .join(suite::static_target())
        .join("release/ibplan");
    let folder = shell::target_dir()?.join("demo");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| format!("cannot clear {}", folder.display()))?;
    }
    for stop in STOPS {
        visit(&program, &folder, stop).with_context(|| format!("on {}", stop.about))?;
    }
    println!(
        "\nBoth hosts were brought to the document, found unchanged by a second run, and taken back byte for byte."
    );
    Ok(())
}

fn visit(program: &Path, folder: &Path, stop: &Stop) -> Result<()> {
    heading(&format!("{} (tests/hosts/{})", stop.about, stop.host));
    let place = folder.join(stop.host);
    std::fs::create_dir_all(folder)?;
    let source = format!("{}/.", root().join("tests/hosts").join(stop.host).display());
    std::fs::create_dir(&place)?;
    show(command("cp", &["-a", &source, &place.to_string_lossy()]))?;
    let text = std::fs::read_to_string(root().join("tests/demo/centos-guide.yaml"))?;
    let text = text.replace("GUID", stop.guid).replace("LINK", stop.link);
    let mut document = folder.join(format!("{}.yaml", stop.host));
    std::fs::write(&document, &text)?;
    if !stop.connected {
        heading("connected mode is refused, with the reason");
        run_ibplan(
            program,
            &[
                "plan",
                &document.to_string_lossy(),
                "--root",
                &place.to_string_lossy(),
            ],
            3,
        )?;
        let datagram = text
            .replace("mode: connected", "mode: auto")
            .replace("mtu: 65520", "mtu: auto");
        document = folder.join(format!("{}-datagram.yaml", stop.host));
        std::fs::write(&document, datagram)?;
        println!("\nThe same document with `mode: auto`:");
    }
    converge(program, &place, &document)
}

fn converge(program: &Path, place: &Path, document: &Path) -> Result<()> {
    let (at, file) = (place.to_string_lossy(), document.to_string_lossy());
    let before = picture(place);
    heading("plan");
    run_ibplan(program, &["plan", &file, "--root", &at], 0)?;
    ensure!(picture(place) == before, "the plan wrote something");
    heading("apply");
    run_ibplan(program, &["apply", &file, "--root", &at], 0)?;
    let after = picture(place);
    ensure!(after != before, "the apply wrote nothing");
    heading("apply again");
    let said = run_ibplan(program, &["apply", &file, "--root", &at, "--json"], 0)?;
    let said: serde_json::Value = serde_json::from_str(&said).context("no JSON")?;
    ensure!(
        said["changed"] == false && picture(place) == after,
        "the second run changed something: {said}"
    );
    heading("rollback");
    run_ibplan(program, &["rollback", "--root", &at], 0)?;
    let back = picture(place);
    ensure!(
        back == before,
        "not as before: {}",
        difference(&before, &back).join(", ")
    );
    println!(
        "\n{} files, folders and links are byte for byte as before.",
        back.len()
    );
    Ok(())
}

/// Runs ibplan, shows what it says, and demands an exit status. Returns its standard output.
fn run_ibplan(program: &Path, arguments: &[&str], wanted: i32) -> Result<String> {
    println!("$ ibplan {}", arguments.join(" "));
    let mut command = command(&program.to_string_lossy(), arguments);
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .context("cannot run ibplan")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    print!("{text}");
    ensure!(
        output.status.code() == Some(wanted),
        "ibplan ended with {}, wanted {wanted}",
        output.status
    );
    Ok(text)
}

fn heading(text: &str) {
    println!("\n== {text}\n");
}
