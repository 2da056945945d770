use super::*;
use crate::facts::Scope;
use crate::fake::Fake;

fn facts(manager: PackageManager, usable: bool) -> Facts {
    let mut facts = Facts::unknown(Scope::Live);
    facts.packages.manager = Some(manager);
    facts.packages.database = true;
    facts.packages.usable = usable;
    facts
}

fn plan(host: &Fake, facts: &Facts) -> (Plan, SeenPackages) {
    let seen = observe(host, facts, &["opensm"]).unwrap();
    let mut plan = Plan::default();
    keep(
        &mut plan,
        &seen,
        "subnet_manager",
        &Pointer::of("x"),
        &[Pointer::of("x")],
    );
    (plan, seen)
}

#[test]
fn dpkg_counts_only_what_is_installed() {
    let status = "Package: opensm-doc\nStatus: install ok installed\n\nPackage: opensm\nStatus: STATE\nVersion: 1\n\nPackage: z\nStatus: install ok installed\n";
    for (state, there) in [
        ("install ok installed", true),
        ("hold ok installed", true),
        ("deinstall ok config-files", false),
        ("install ok half-configured", false),
        ("install ok unpacked", false),
    ] {
        let found = dpkg_installed(&status.replace("STATE", state), &["opensm"]);
        assert_eq!(found.contains("opensm"), there, "{state}");
    }
}

#[test]
fn installs_with_an_undo() {
    for (manager, host) in [
        (
            PackageManager::Apt,
            Fake::new()
                .file(
                    "/var/lib/dpkg/status",
                    "Package: a\nStatus: install ok installed\n\n",
                )
                .answer(
                    "simulate-install",
                    "Inst opensm (3.3.23-2 Debian:12 [amd64])\nConf opensm\n",
                ),
        ),
        (
            PackageManager::Dnf,
            Fake::new()
                .answer("rpm-packages", "rdma-core\t0\t46.0\t1\tx86_64\n")
                .answer(
                    "simulate-install",
                    "Installing:\n opensm x86_64 3.3.24 appstream 1 M\n\nOperation aborted.\n",
                ),
        ),
    ] {
        let facts = facts(manager, true);
        let (made, _) = plan(&host, &facts);
        let mut after = host.clone();
        after.perform(&made.steps[0].action);
        assert_eq!(plan(&after, &facts).0, Plan::default(), "{manager:?}");
        let mut back = after;
        back.perform(made.steps[0].undo.as_ref().unwrap());
        assert_eq!(plan(&back, &facts).0.steps.len(), 1);
    }
}

#[test]
fn collateral_removals_are_refused() {
    let apt = "Reading package lists...\nThe following packages will be REMOVED:\n  mlnx-opensm\nRemv mlnx-opensm [5.1]\nInst opensm (3.3.23-2 Debian:12 [amd64])\n";
    let dnf = "Dependencies resolved.\n====\n Package Arch\n====\nInstalling:\n opensm  x86_64  3.3.24  repo  1 M\nRemoving:\n mlnx-opensm   x86_64   5.1   @System   1 M\nRemoving dependent packages:\n ufm-tools   noarch   1   @System   1 k\n\nTransaction Summary\nOperation aborted.\n";
    let zypper = "The following NEW package is going to be installed:\n  opensm\n\nThe following 2 packages are going to be REMOVED:\n  mlnx-opensm ufm-tools\n\n1 new package to install, 2 to remove.\n";
    for (manager, text, removed) in [
        (PackageManager::Apt, apt, vec!["mlnx-opensm"]),
        (PackageManager::Dnf, dnf, vec!["mlnx-opensm", "ufm-tools"]),
        (PackageManager::Zypper, zypper, vec!["mlnx-opensm", "ufm-tools"]),
    ] {
        let host = Fake::new().answer("simulate-install", text);
        let (made, seen) = plan(&host, &facts(manager, true));
        assert_eq!(seen.simulation.removes, removed, "{manager:?}");
        assert_eq!(made.errors[0].code, codes::HOST_COLLATERAL);
        assert!(made.steps.is_empty());
    }
}

#[test]
fn a_package_that_no_repository_has_is_an_error() {
    let simulated = read_simulation(
        PackageManager::Apt,
        Some(100),
        "Reading package lists...\nE: Unable to locate package opensm\n",
    );
    assert_eq!(
        simulated.fails.as_deref(),
        Some("E: Unable to locate package opensm")
    );
    let dnf = read_simulation(
        PackageManager::Dnf,
        Some(1),
        "No match for argument: opensm\nError: Unable to find a match: opensm\n",
    );
    assert!(dnf.fails.is_some());
    let fine = read_simulation(
        PackageManager::Dnf,
        Some(1),
        "Installing:\n opensm x\nOperation aborted.\n",
    );
    assert_eq!(fine, Simulation::default());
}

#[test]
fn without_a_package_manager_it_is_pending_and_no_change() {
    let (made, _) = plan(&Fake::new(), &facts(PackageManager::Apt, false));
    assert_eq!(made.pending.packages, ["opensm"]);
    assert_eq!(made.warnings[0].code, codes::HOST_NO_PACKAGE_MANAGER);
    assert!(made.steps.is_empty() && made.changes.is_empty() && made.errors.is_empty());
}
