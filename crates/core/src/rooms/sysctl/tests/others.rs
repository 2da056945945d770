//! Who else sets a key, and who wins.

use super::*;

/// A host, and a part of what is told; `None`: nothing.
type Row = (Fake, Option<&'static str>);

fn with_tuned(host: Fake) -> Fake {
    host.file("/etc/tuned/active_profile", "mine\n")
        .file(
            "/etc/tuned/mine/tuned.conf",
            "[main]\ninclude=network-throughput\n[sysctl]\nvm.swappiness=10\n",
        )
        .file(
            "/usr/lib/tuned/network-throughput/tuned.conf",
            "[main]\ninclude=mine\n[sysctl]\nnet.core.rmem_max=\"7\"\n",
        )
}

fn files() -> Vec<Row> {
    vec![
        (
            host().file("/etc/sysctl.d/99-site.conf", "net/core/rmem_max = 7\n"),
            Some("/etc/sysctl.d/99-site.conf sets net.core.rmem_max to 7, and is read after"),
        ),
        (
            host().file("/etc/sysctl.d/99-site.conf", "net.core.rmem_max = 0x1388\n"),
            None,
        ),
        (
            host().file("/run/sysctl.d/10-a.conf", "-net.core.rmem_max=7\n"),
            Some("/etc/sysctl.d/90-ibplan.conf wins at boot"),
        ),
        (
            host().file("/usr/lib/sysctl.d/10-a.conf", "net.core.rmem_max=7\n"),
            None,
        ),
        (
            host().file("/usr/lib/sysctl.d/99-a.conf", "net.core.rmem_max=7\n"),
            Some("the next boot will bring 7, not 5000"),
        ),
        // Masked by a link to /dev/null, and by a file of the same name in /etc.
        (
            host()
                .file("/usr/lib/sysctl.d/99-a.conf", "net.core.rmem_max=7\n")
                .symlink("/etc/sysctl.d/99-a.conf", "/dev/null"),
            None,
        ),
        (
            host()
                .file("/usr/lib/sysctl.d/99-a.conf", "net.core.rmem_max=7\n")
                .file("/etc/sysctl.d/99-a.conf", "# mine\n"),
            None,
        ),
        // A pattern never beats our explicit key.
        (
            host().file("/etc/sysctl.d/99-a.conf", "net.core.*mem_max = 7\n"),
            Some("/etc/sysctl.d/90-ibplan.conf wins at boot"),
        ),
        // The link makes it one file, told once, at its place.
        (
            host()
                .file("/etc/sysctl.conf", "net.core.rmem_max=7\n")
                .symlink("/etc/sysctl.d/99-sysctl.conf", "../sysctl.conf"),
            Some("/etc/sysctl.d/99-sysctl.conf sets"),
        ),
        (
            host().file("/etc/sysctl.conf", "net.core.rmem_max=7\n"),
            Some("/etc/sysctl.conf sets net.core.rmem_max to 7, and is read after"),
        ),
    ]
}

fn profiles() -> Vec<Row> {
    vec![
        (
            with_tuned(host()),
            Some(
                "tuned's active profile mine (/usr/lib/tuned/network-throughput/tuned.conf) sets net.core.rmem_max to 7, but /etc/sysctl.d/90-ibplan.conf wins",
            ),
        ),
        (
            with_tuned(host()).file("/etc/tuned/tuned-main.conf", "# c\nreapply_sysctl = 0\n"),
            Some("is applied last (reapply_sysctl=0)"),
        ),
        (
            host().file("/etc/tuned/active_profile", "x").file(
                "/usr/lib/tuned/profiles/x/tuned.conf",
                "[sysctl]\nnet.core.rmem_max=>4000\n",
            ),
            None,
        ),
        (
            host().file("/etc/tuned/active_profile", "x").file(
                "/usr/lib/tuned/profiles/x/tuned.conf",
                "[sysctl]\nnet.core.rmem_max=>6000\n",
            ),
            Some("to >6000"),
        ),
    ]
}

#[test]
fn case_24_every_other_owner_is_found_and_who_wins_is_told() {
    let json = json!({"sysctl": {"net.core.rmem_max": 5000}});
    for (host, wanted) in files().into_iter().chain(profiles()) {
        let told = warnings(&json, &host);
        match wanted {
            Some(part) => assert!(told.len() == 1 && told[0].contains(part), "{told:?} lacks {part}"),
            None => assert!(told.is_empty(), "{told:?}"),
        }
    }
    let mut debian13 = facts(Scope::Live);
    debian13.os.row = crate::distro::Row::find("debian", "13");
    let host = host().file("/etc/sysctl.conf", "net.core.rmem_max=7\n");
    let plan = plan::<Sysctl>(&json, &debian13, &host).unwrap();
    assert!(plan.warnings[0].message.contains("not read at boot here"));
}
