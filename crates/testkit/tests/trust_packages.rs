//! apt and dpkg themselves, in a mount namespace of its own with overlays over what they write, and a repository of packages
//! made here: installing, taking back, refusing to take others along, and a signal in the middle of a slow installation.

use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Stdio};

/// Makes the packages and the repository, then runs the scenes; each prints `SCENE name`, then what it has to tell.
const STAGE: &str = r#"
set -eu
mount --make-rprivate /
for place in etc var usr; do
    mkdir -p "$WORK/$place.up" "$WORK/$place.work"
    mount -t overlay overlay -o "lowerdir=/$place,upperdir=$WORK/$place.up,workdir=$WORK/$place.work" "/$place"
done
mkdir "$WORK/repo"
make_deb() { # name, more control lines, postinst
    tree="$WORK/tree-$1"
    mkdir -p "$tree/DEBIAN"
    printf 'Package: %s\nVersion: 1\nArchitecture: all\nMaintainer: nobody <nobody@localhost>\nDescription: stub\n%s' "$1" "$2" >"$tree/DEBIAN/control"
    printf '#!/bin/sh\n%s\n' "$3" >"$tree/DEBIAN/postinst"
    chmod 755 "$tree/DEBIAN/postinst"
    dpkg-deb --root-owner-group -Zgzip -b "$tree" "$WORK/repo/$1.deb" >/dev/null
    {
        printf 'Package: %s\nVersion: 1\nArchitecture: all\nMaintainer: nobody <nobody@localhost>\nDescription: stub\n%s' "$1" "$2"
        printf 'Filename: ./%s.deb\nSize: %s\nSHA256: %s\n\n' "$1" "$(stat -c %s "$WORK/repo/$1.deb")" "$(sha256sum "$WORK/repo/$1.deb" | cut -d' ' -f1)"
    } >>"$WORK/repo/Packages"
}
make_deb ibplan-stub '' 'true'
make_deb ibplan-stub-user 'Depends: ibplan-stub
' 'true'
make_deb ibplan-stub-rival 'Conflicts: ibplan-stub
' 'true'
# A daemon that keeps the streams of its installer, as a service started without systemd does.
make_deb ibplan-stub-daemon '' 'sleep 100000 & echo $! >"'"$WORK"'/daemon"'
make_deb ibplan-stub-slow '' 'touch "'"$WORK"'/started"; until [ -e "'"$WORK"'/go" ]; do sleep 0.05; done; grep SigBlk /proc/self/status >"'"$WORK"'/mask" & wait'
rm -rf /etc/apt/sources.list /etc/apt/sources.list.d /etc/apt/apt.conf.d
mkdir -p /etc/apt/sources.list.d /etc/apt/apt.conf.d
echo 'APT::Sandbox::User "root";' >/etc/apt/apt.conf.d/00sandbox
echo "deb [trusted=yes] file:$WORK/repo ./" >/etc/apt/sources.list
apt-get -qq update >&2
ask() { # operation, options, steps
    desired=''
    [ "$1" = rollback ] || desired=',"desired":{}'
    printf '{"api":"ibplan/v1","operation":"%s","options":%s%s}' "$1" "$2" "$desired" | STEPS="$3" "$AGENT" || true
}
state() { dpkg-query -W -f '${Package} ${db:Status-Status}\n' 'ibplan-stub*' 2>/dev/null | grep ' installed' || true; }
STUB='{"packages":["ibplan-stub"],"then":{"/etc/ibplan-after":"x"}}'

echo "SCENE installed"; ask apply '{}' "$STUB"; state
echo "SCENE again"; ask plan '{}' "$STUB"
echo "SCENE back"; ask rollback '{}' '{}'; state
echo "SCENE held"; ask apply '{}' "$STUB"; apt-mark hold ibplan-stub >/dev/null; ask plan '{}' "$STUB"; apt-mark unhold ibplan-stub >/dev/null
apt-get -qq install -y ibplan-stub-user >/dev/null 2>&1
echo "SCENE needed"; ask rollback '{}' '{}'; state
echo "SCENE stuck"; ask apply '{}' "$STUB"
echo "SCENE given-up"; ask rollback '{"on_failure":"keep"}' '{}'; state
echo "SCENE usable"; ask apply '{}' "$STUB"; state
dpkg --purge ibplan-stub-user ibplan-stub >/dev/null 2>&1
apt-get -qq install -y ibplan-stub-rival >/dev/null 2>&1
echo "SCENE rival"; ask apply '{}' '{"first":{"/etc/ibplan-first":"x"},"packages":["ibplan-stub"]}'; state; ls /etc/ibplan-first 2>/dev/null || true
dpkg --purge ibplan-stub-rival >/dev/null 2>&1
echo "SCENE unknown"; ask apply '{}' '{"packages":["ibplan-no-such-package"]}'
echo "SCENE daemon"; ask apply '{}' '{"packages":["ibplan-stub-daemon"]}'; state; kill "$(cat "$WORK/daemon")"; ask rollback '{}' '{}'
echo "SCENE deadline"; rm -f "$WORK/go" /etc/ibplan-first /etc/ibplan-after; ask apply '{"deadline_s":2}' '{"first":{"/etc/ibplan-first":"x"},"packages":["ibplan-stub-slow"]}'; state; ls /etc/ibplan-first 2>/dev/null || true
dpkg-query -W -f '${Package} ${db:Status-Status}\n' ibplan-stub-slow 2>/dev/null || true
for signal in TERM HUP INT; do
    rm -f "$WORK/started" "$WORK/go" "$WORK/mask" /etc/ibplan-after
    echo "SCENE signal-$signal"
    # Without a shell between, so that the number is that of the program. A shell lets its background ignore SIGINT: env undoes that.
    printf '{"api":"ibplan/v1","operation":"apply","desired":{}}' >"$WORK/request"
    STEPS='{"first":{"/etc/ibplan-first":"x"},"packages":["ibplan-stub-slow"],"then":{"/etc/ibplan-after":"x"}}' \
        env --default-signal=INT "$AGENT" <"$WORK/request" &
    agent=$!
    until [ -e "$WORK/started" ] || ! kill -0 $agent; do sleep 0.05; done
    kill -s $signal $agent || true
    # Twice: an impatient administrator.
    kill -s $signal $agent || true
    touch "$WORK/go"
    wait $agent && echo "status 0" || echo "status $?"
    cat "$WORK/mask"
    state
    ls /etc/ibplan-first /etc/ibplan-after 2>/dev/null || true
done
"#;

struct Scene {
    name: String,
    responses: Vec<Value>,
    rest: Vec<String>,
}

fn play() -> Vec<Scene> {
    let dir = tempfile::tempdir().unwrap();
    let work = dir.path().join("work");
    std::fs::create_dir(&work).unwrap();
    let mut child = Command::new("unshare")
        .args(["--mount", "sh"])
        .env("WORK", &work)
        .env("AGENT", env!("CARGO_BIN_EXE_ibplan-steps"))
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("unshare of util-linux (root needed)");
    child.stdin.take().unwrap().write_all(STAGE.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "the stage failed (root, apt-get and dpkg-deb needed): {text}\n{told}"
    );
    text.split("SCENE ")
        .skip(1)
        .map(|part| {
            let mut lines = part.lines();
            let name = lines.next().unwrap().to_owned();
            let (responses, rest): (Vec<&str>, Vec<&str>) = lines.partition(|l| l.starts_with('{'));
            Scene {
                name,
                responses: responses
                    .iter()
                    .map(|r| serde_json::from_str(r).unwrap())
                    .collect(),
                rest: rest.into_iter().map(str::to_owned).collect(),
            }
        })
        .collect()
}

fn codes(response: &Value) -> Vec<&str> {
    response["errors"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|e| e["code"].as_str())
        .collect()
}

#[test]
fn packages_come_and_go_and_take_nothing_along() {
    let scenes = play();
    let scene = |name: &str| {
        let found = scenes
            .iter()
            .find(|s| s.name == name)
            .unwrap_or_else(|| panic!("no scene {name}"));
        (&found.responses[0], &found.rest, &found.responses)
    };
    let done = |name: &str| assert_eq!(scene(name).0["ok"], true, "{name}: {:#}", scene(name).0);

    done("installed");
    assert_eq!(scene("installed").1, &["ibplan-stub installed"]);
    assert_eq!(scene("again").0["changed"], false, "{:#}", scene("again").0);
    done("back");
    assert!(scene("back").1.is_empty(), "{:?}", scene("back").1);
    let held = scene("held").2;
    assert_eq!(
        (&held[0]["ok"], &held[1]["changed"]),
        (&json!(true), &json!(false)),
        "{held:#?}"
    );

    let (needed, left, _) = scene("needed");
    assert_eq!(codes(needed), ["host.undo_failed"], "{needed:#}");
    let message = needed["errors"][0]["message"].as_str().unwrap();
    assert!(
        message.contains("would also remove ibplan-stub-user"),
        "{message}"
    );
    assert_eq!(left, &["ibplan-stub installed", "ibplan-stub-user installed"]);
    assert_eq!(
        codes(scene("stuck").0),
        ["host.undo_failed"],
        "an unfinished rollback comes first"
    );
    assert_eq!(scene("given-up").1, left);
    done("usable");

    let (rival, left, _) = scene("rival");
    assert_eq!(
        (codes(rival), &rival["changed"]),
        (vec!["host.collateral_removal"], &json!(false)),
        "{rival:#}"
    );
    assert!(
        rival["errors"][0]["message"]
            .as_str()
            .unwrap()
            .contains("ibplan-stub-rival"),
        "{rival:#}"
    );
    assert_eq!(
        left,
        &["ibplan-stub-rival installed"],
        "something was done before the refusal"
    );
    assert_eq!(codes(scene("unknown").0), ["host.package_unavailable"]);
    done("daemon");
    assert_eq!(scene("daemon").1, &["ibplan-stub-daemon installed"]);

    let (late, left, _) = scene("deadline");
    assert_eq!(
        (codes(late), &late["changed"]),
        (vec!["host.step_failed"], &json!(false)),
        "{late:#}"
    );
    assert!(
        late["errors"][0]["message"]
            .as_str()
            .unwrap()
            .contains("was killed after"),
        "{late:#}"
    );
    assert!(
        left.iter()
            .all(|l| l.ends_with("not-installed") || l.ends_with("config-files")),
        "{left:?}"
    );

    for signal in ["TERM", "HUP", "INT"] {
        let (response, rest, _) = scene(&format!("signal-{signal}"));
        assert_eq!(codes(response), ["host.step_failed"], "{response:#}");
        let message = response["errors"][0]["message"].as_str().unwrap();
        assert!(
            message.contains(&format!("asked to end by SIG{signal}")),
            "{message}"
        );
        assert_eq!(response["changed"], false, "{response:#}");
        // The slow step was finished, then everything was taken back; the program inside it was deaf to nothing.
        assert_eq!(rest, &["status 1", "SigBlk:\t0000000000000000"], "{response:#}");
    }
}
