//! The running kernel: the agent on `/`, in a mount and network namespace of its own, so that `net.ipv4` values and files below
//! /etc and /var/lib are real and private.

use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Sets the stage, then runs each request file in turn, printing the response and the kernel's values after each.
const STAGE: &str = r#"
set -eu
mount --make-rprivate /
for place in etc var/lib; do
    name=$(echo $place | tr / -)
    mkdir -p "$WORK/$name.up" "$WORK/$name.work"
    mount -t overlay overlay -o "lowerdir=/$place,upperdir=$WORK/$name.up,workdir=$WORK/$name.work" "/$place"
done
for request in "$WORK"/request-*; do
    "$AGENT" 1000000 <"$request" || true
    echo "--"
    cat /proc/sys/net/ipv4/tcp_rmem /proc/sys/net/ipv4/conf/lo/arp_ignore
    cat /etc/sysctl.d/90-ibplan.conf 2>/dev/null || echo "no drop-in"
    echo "=="
done
"#;

struct Seen {
    response: Value,
    tcp_rmem: String,
    arp_ignore: String,
    file: String,
}

fn run(requests: &[Value]) -> Vec<Seen> {
    let dir = tempfile::tempdir().unwrap();
    // An overlay needs an upper folder on a file system that can be one.
    let work = dir.path().join("work");
    std::fs::create_dir(&work).unwrap();
    for (n, request) in requests.iter().enumerate() {
        std::fs::write(work.join(format!("request-{n:02}")), request.to_string()).unwrap();
    }
    let mut child = Command::new("unshare")
        .args(["--mount", "--net", "sh"])
        .env("WORK", &work)
        .env("AGENT", Path::new(env!("CARGO_BIN_EXE_ibplan-crash")))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("unshare of util-linux (root needed)");
    child.stdin.take().unwrap().write_all(STAGE.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success(),
        "the stage failed (root needed): {output:?}"
    );
    let text = String::from_utf8(output.stdout).unwrap();
    let seen: Vec<Seen> = text
        .split("==\n")
        .filter(|part| !part.trim().is_empty())
        .map(|part| {
            let (response, rest) = part.split_once("--\n").expect("a response and values");
            let mut lines = rest.lines();
            let mut line = || lines.next().unwrap_or_default().replace('\t', " ");
            let (tcp_rmem, arp_ignore) = (line(), line());
            let file = lines.collect::<Vec<_>>().join("\n");
            Seen {
                response: serde_json::from_str(response).expect("JSON"),
                tcp_rmem,
                arp_ignore,
                file,
            }
        })
        .collect();
    assert_eq!(seen.len(), requests.len(), "{text}");
    seen
}

fn request(operation: &str, desired: Value, options: Value) -> Value {
    let mut request = json!({ "api": "ibplan/v1", "operation": operation, "options": options });
    if !desired.is_null() {
        request["desired"] = desired;
    }
    request
}

#[test]
fn kernel_values_are_set_read_back_and_taken_back() {
    let wanted = json!({ "sysctl": { "net.ipv4.tcp_rmem": [4096, 87381, 33_554_431], "net/ipv4/conf/lo/arp_ignore": 1 } });
    let less = json!({ "sysctl": { "net.ipv4.tcp_rmem": [4096, 87381, 33_554_431] } });
    let seen = run(&[
        request("plan", wanted.clone(), json!({})),
        request("apply", wanted.clone(), json!({})),
        request("apply", wanted.clone(), json!({})),
        request("apply", less, json!({ "prune": true })),
        request("rollback", Value::Null, json!({})),
        request("rollback", Value::Null, json!({})),
    ]);
    let [planned, applied, again, pruned, back, first] = &seen[..] else {
        unreachable!()
    };
    for one in &seen {
        assert_eq!(one.response["ok"], true, "{:#}", one.response);
    }
    assert_eq!(planned.file, "no drop-in");
    assert_ne!(planned.tcp_rmem, "4096 87381 33554431");
    assert_eq!(
        planned.response["changes"], applied.response["changes"],
        "check and apply list other changes"
    );
    assert_eq!(
        (applied.tcp_rmem.as_str(), applied.arp_ignore.as_str()),
        ("4096 87381 33554431", "1")
    );
    assert!(
        applied.file.contains("net.ipv4.tcp_rmem = 4096 87381 33554431"),
        "{}",
        applied.file
    );
    assert_eq!(
        (&again.response["changed"], &again.response["transaction"]),
        (&json!(false), &Value::Null)
    );
    assert_eq!(
        pruned.arp_ignore, planned.arp_ignore,
        "prune gives the former kernel value back"
    );
    assert!(
        !pruned.file.contains("arp_ignore") && pruned.file.contains("tcp_rmem"),
        "{}",
        pruned.file
    );
    assert_eq!(
        (&back.tcp_rmem, &back.arp_ignore, &back.file),
        (&applied.tcp_rmem, &applied.arp_ignore, &applied.file)
    );
    assert_eq!(
        (&first.tcp_rmem, &first.arp_ignore, &first.file),
        (&planned.tcp_rmem, &planned.arp_ignore, &planned.file)
    );
}

#[test]
fn a_value_that_the_kernel_refuses_takes_everything_back() {
    // More digits than an int holds: the kernel answers EINVAL (linux: kernel/sysctl.c, proc_dointvec).
    let wanted = json!({ "sysctl": { "net/ipv4/conf/lo/arp_ignore": "99999999999999999999", "net.ipv4.tcp_rmem": [4096, 87381, 33_554_431] } });
    let seen = run(&[
        request("plan", wanted.clone(), json!({})),
        request("apply", wanted, json!({})),
    ]);
    let (planned, applied) = (&seen[0], &seen[1]);
    assert_eq!(applied.response["ok"], false, "{:#}", applied.response);
    assert_eq!(
        applied.response["errors"][0]["code"], "host.step_failed",
        "{:#}",
        applied.response["errors"]
    );
    assert_eq!(applied.response["changed"], false);
    assert_eq!(
        (&applied.tcp_rmem, &applied.arp_ignore, &applied.file),
        (&planned.tcp_rmem, &planned.arp_ignore, &planned.file)
    );
}
