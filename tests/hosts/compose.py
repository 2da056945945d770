#!/usr/bin/env python3
"""Write the captured hosts: root trees that a program can read as if they were `/`.

    compose.py            write every tree below this folder
    compose.py --check    exit 1 if a tree differs from what would be written
    compose.py --list     print the names of the hosts

Each host is declared once, in a function marked with @host. The helpers above the
declarations know how a kernel, a distribution or a package spells things; the
declarations only say what is special. Files below recorded/ were read off machines
and are used as they are.

The result is deterministic: no clock, no random number, no environment.
"""

import hashlib
import json
import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
RECORDED = os.path.join(HERE, "recorded")
HOSTS = {}  # name -> function that composes the host


# --------------------------------------------------------------------------- trees


def recorded(name):
    """The text of a file below recorded/."""
    with open(os.path.join(RECORDED, name), encoding="utf-8") as stream:
        return stream.read()


def digest(*words):
    """A stable hex string made from words, for identities nobody looks at."""
    return hashlib.md5("/".join(words).encode()).hexdigest()


class Host:
    """One root tree in memory, with the counters a kernel keeps."""

    def __init__(self, name, release, about, hostname=None):
        self.name, self.release, self.about = name, release, about
        self.hostname = hostname or name
        self.files, self.links, self.mute = {}, {}, set()
        self.recorded, self.composed = [], []
        self.port_guids, self.loaded, self.netdevs = {}, [], []
        self.counts = {"ifindex": 0, "umad": 0, "uverbs": 0}

    def count(self, what):
        """The next number of a kernel counter, from 0."""
        number = self.counts[what]
        self.counts[what] += 1
        return number

    def text(self, path, content):
        """A file with exactly this content."""
        path = self.real(path)
        known = self.files.get(path)
        assert known in (None, content), f"{self.name}: {path} written twice"
        self.files[path] = content

    def attr(self, path, value=""):
        """A kernel attribute: the value and a newline."""
        self.text(path, f"{value}\n")

    def attrs(self, folder, values):
        """Several kernel attributes of one folder; None leaves one out."""
        for name, value in values.items():
            if value is not None:
                self.attr(f"{folder}/{name}", value)

    def write_only(self, path):
        """A write-only kernel attribute: an empty file stands for it."""
        path = self.real(path)
        self.mute.add(path)
        self.text(path, "")

    def link(self, path, target):
        """A relative symbolic link to target, a path from the root of the tree."""
        path = self.real(path)
        self.links[path] = os.path.relpath(target, os.path.dirname(path) or ".")

    def raw_link(self, path, target):
        """A symbolic link with exactly this relative target."""
        self.links[self.real(path)] = target

    def real(self, path):
        """A path without leading slash, below usr/lib where lib is a link to it."""
        path = path.strip("/")
        if self.release and self.release.merged_usr and path.startswith("lib/"):
            path = f"usr/{path}"
        return path

    def finish(self):
        """Add the description of the capture itself."""
        kernel = self.release.kernel if "proc/sys/kernel/osrelease" in self.files else ""
        self.text(
            ".ibplan/host.json",
            json.dumps(
                {
                    "name": self.name,
                    "arch": "x86_64",
                    "kernel": kernel,
                    "recorded": self.recorded,
                    "composed": self.composed,
                    "about": self.about,
                },
                indent=2,
            )
            + "\n",
        )

    def verify(self):
        """Rules every tree keeps: newlines, links that lead somewhere, addresses that fit."""
        everything = set(self.files) | set(self.links)
        folders = {""}
        for path in everything:
            parts = path.split("/")
            folders.update("/".join(parts[:n]) for n in range(1, len(parts)))
        for path in sorted(self.files):
            if path.startswith(("sys/", "proc/")) and path not in self.mute:
                assert self.files[path].endswith("\n"), f"{self.name}: {path} has no newline"
            assert not (set(self.links) & {path}), f"{self.name}: {path} is file and link"
        for path, target in self.links.items():
            assert not target.startswith("/"), f"{self.name}: {path} is an absolute link"
            goal = self.walk(path)
            assert goal in self.files or goal in folders, f"{self.name}: {path} -> {target} dangles"
        for path, content in self.files.items():
            match = re.fullmatch(r"sys/devices/.*/net/([^/]+)/address", path)
            if match and len(content) == 60:
                guid = content.strip().replace(":", "")[24:]
                assert guid in self.port_guids, f"{self.name}: {path} has the GUID of no port"

    def walk(self, path):
        """Follow the links of a path inside the tree."""
        for _ in range(40):
            parts, seen = path.split("/"), []
            for index, part in enumerate(parts):
                seen.append(part)
                here = "/".join(seen)
                if here in self.links:
                    rest = parts[index + 1 :]
                    joined = os.path.normpath(os.path.join(os.path.dirname(here), self.links[here]))
                    path = "/".join([joined] + rest)
                    break
            else:
                return path
        raise AssertionError(f"{self.name}: {path} is a loop")


def host(function):
    """Register a function; its name with dashes is the name of the host."""
    HOSTS[function.__name__.replace("_", "-")] = function
    return function


# ------------------------------------------------------------------- distributions


class Release:
    """What a distribution release does everywhere: the part that no host declares."""

    def __init__(self, key, family, kernel, suffix, **more):
        self.key, self.family, self.kernel, self.suffix = key, family, kernel, suffix
        self.merged_usr = more.get("merged_usr", True)
        self.srcversion = more.get("srcversion", True)  # CONFIG_MODULE_SRCVERSION_ALL
        self.optmem = more.get("optmem", 20480)
        self.tcp_rmem = more.get("tcp_rmem", "4096 131072 6291456")
        self.rp_filter = more.get("rp_filter", (0, 0, 0))  # all, default, each link
        self.renames_rdma = more.get("renames_rdma", False)
        self.sdr_word = more.get("sdr_word", True)  # old kernels print "(4X)" for SDR
        self.link_speed_tail = more.get("link_speed_tail", ".0 GT/s PCIe")
        self.link_settings = more.get("link_settings", True)  # IPoIB answers speed and duplex
        self.os_release = more["os_release"]
        self.os_release_link = more.get("os_release_link", True)
        self.cmdline = more["cmdline"]


def os_release(quote_all=False, **pairs):
    """The text of an os-release file; Debian and Ubuntu leave plain words without quotes."""
    lines = []
    for key, value in pairs.items():
        plain = not quote_all and re.fullmatch(r"[a-z]+", value)
        lines.append(f"{key}={value}" if plain else f'{key}="{value}"')
    return "\n".join(lines) + "\n"


def debian(key, number, code, kernel, suffix, **more):
    """A Debian release."""
    text = os_release(
        PRETTY_NAME=f"Debian GNU/Linux {number} ({code})",
        NAME="Debian GNU/Linux",
        VERSION_ID=number,
        VERSION=f"{number} ({code})",
        VERSION_CODENAME=code,
        ID="debian",
        HOME_URL="https://www.debian.org/",
        SUPPORT_URL="https://www.debian.org/support",
        BUG_REPORT_URL="https://bugs.debian.org/",
    )
    cmdline = f"BOOT_IMAGE=/boot/vmlinuz-{kernel} root=/dev/sda2 ro quiet"
    return Release(
        key, "debian", kernel, suffix, os_release=text, cmdline=cmdline, srcversion=False, renames_rdma=True, **more
    )


def ubuntu(key, number, code, name, kernel, suffix, **more):
    """An Ubuntu long-term release."""
    text = os_release(
        PRETTY_NAME=f"Ubuntu {number} LTS",
        NAME="Ubuntu",
        VERSION_ID=number[:5],
        VERSION=f"{number} LTS ({name})",
        VERSION_CODENAME=code,
        ID="ubuntu",
        ID_LIKE="debian",
        HOME_URL="https://www.ubuntu.com/",
        SUPPORT_URL="https://help.ubuntu.com/",
        BUG_REPORT_URL="https://bugs.launchpad.net/ubuntu/",
        UBUNTU_CODENAME=code,
    )
    cmdline = f"BOOT_IMAGE=/vmlinuz-{kernel} root=/dev/mapper/ubuntu--vg-ubuntu--lv ro"
    return Release(
        key,
        "ubuntu",
        kernel,
        suffix,
        os_release=text,
        cmdline=cmdline,
        renames_rdma=True,
        rp_filter=(2, 2, 2),
        **more,
    )


def enterprise(key, name, ident, number, code, kernel, **more):
    """A rebuild of Enterprise Linux."""
    major = number.split(".")[0]
    like = "rhel centos fedora"
    extra = {"PLATFORM_ID": f"platform:el{major}"} if int(major) >= 8 else {}
    shown = f"{number} ({code})"
    text = os_release(
        quote_all=True,
        NAME=name,
        VERSION=shown,
        ID=ident,
        ID_LIKE="rhel fedora" if ident == "centos" else like,
        VERSION_ID=number,
        **extra,
        PRETTY_NAME=f"{name} {shown}",
        ANSI_COLOR="0;32" if ident == "rocky" else "0;34",
        CPE_NAME=f"cpe:/o:{ident}:{ident}:{major}",
    )
    crash = "auto" if int(major) < 9 else "1G-4G:192M,4G-64G:256M,64G-:512M"
    boot = "/vmlinuz-" if major == "7" else "(hd0,gpt2)/vmlinuz-"
    cmdline = f"BOOT_IMAGE={boot}{kernel} root=/dev/mapper/{ident}-root ro crashkernel={crash} rd.lvm.lv={ident}/root"
    return Release(key, f"el{major}", kernel, ".ko.xz", os_release=text, cmdline=cmdline, **more)


CENTOS7 = enterprise(
    "centos7",
    "CentOS Linux",
    "centos",
    "7",
    "Core",
    "3.10.0-1160.119.1.el7.x86_64",
    tcp_rmem="4096 87380 6291456",
    rp_filter=(1, 1, 1),
    sdr_word=False,
    link_speed_tail=" GT/s",
    link_settings=False,
)
ALMA8 = enterprise(
    "alma8",
    "AlmaLinux",
    "almalinux",
    "8.10",
    "Cerulean Leopard",
    "4.18.0-553.5.1.el8_10.x86_64",
    tcp_rmem="4096 87380 6291456",
    rp_filter=(1, 0, 0),
    optmem=81920,
)
ROCKY9 = enterprise(
    "rocky9",
    "Rocky Linux",
    "rocky",
    "9.4",
    "Blue Onyx",
    "5.14.0-427.13.1.el9_4.x86_64",
    rp_filter=(0, 1, 1),
    optmem=81920,
)
ROCKY10 = enterprise(
    "rocky10",
    "Rocky Linux",
    "rocky",
    "10.0",
    "Red Quartz",
    "6.12.0-55.9.1.el10_0.x86_64",
    rp_filter=(0, 1, 1),
    optmem=81920,
)
DEBIAN12 = debian("debian12", "12", "bookworm", "6.1.0-57-amd64", ".ko", tcp_rmem="4096 131072 33554432")
DEBIAN13 = debian("debian13", "13", "trixie", "6.12.41+deb13-amd64", ".ko.xz", optmem=131072, rp_filter=(0, 2, 2))
UBUNTU2004 = ubuntu(
    "ubuntu2004", "20.04.6", "focal", "Focal Fossa", "5.4.0-169-generic", ".ko", link_speed_tail=" GT/s"
)
UBUNTU2204 = ubuntu("ubuntu2204", "22.04.4", "jammy", "Jammy Jellyfish", "5.15.0-91-generic", ".ko")
UBUNTU2404 = ubuntu("ubuntu2404", "24.04.1", "noble", "Noble Numbat", "6.8.0-45-generic", ".ko.zst", optmem=131072)
SLES15 = Release(
    "sles15",
    "suse",
    "5.14.21-150500.55.31-default",
    ".ko.zst",
    merged_usr=False,
    renames_rdma=True,
    rp_filter=(2, 0, 0),
    os_release=os_release(
        quote_all=True,
        NAME="SLES",
        VERSION="15-SP5",
        VERSION_ID="15.5",
        PRETTY_NAME="SUSE Linux Enterprise Server 15 SP5",
        ID="sles",
        ID_LIKE="suse",
        ANSI_COLOR="0;32",
        CPE_NAME="cpe:/o:suse:sles:15:sp5",
        DOCUMENTATION_URL="https://documentation.suse.com/",
    ),
    cmdline="BOOT_IMAGE=/boot/vmlinuz-5.14.21-150500.55.31-default root=UUID=5d0c7e0c-0d0f-4a52-8f5d-0a3b8e1c7711 splash=silent mitigations=auto quiet net.ifnames=0",
)

# ------------------------------------------------------------------ kernel modules

INFINIBAND = "kernel/drivers/infiniband"
# name in modules.dep: (folder, modules whose symbols it uses, size in memory)
MODULES = {
    "ib_core": (f"{INFINIBAND}/core", "", 442368),
    "ib_cm": (f"{INFINIBAND}/core", "ib_core", 131072),
    "iw_cm": (f"{INFINIBAND}/core", "ib_core", 53248),
    "rdma_cm": (f"{INFINIBAND}/core", "iw_cm ib_cm ib_core", 122880),
    "ib_uverbs": (f"{INFINIBAND}/core", "ib_core", 180224),
    "rdma_ucm": (f"{INFINIBAND}/core", "rdma_cm ib_uverbs ib_core", 32768),
    "ib_umad": (f"{INFINIBAND}/core", "ib_core", 40960),
    "ib_ipoib": (f"{INFINIBAND}/ulp/ipoib", "ib_cm ib_core", 155648),
    "ib_iser": (f"{INFINIBAND}/ulp/iser", "rdma_cm ib_core libiscsi scsi_transport_iscsi", 49152),
    "ib_isert": (f"{INFINIBAND}/ulp/isert", "rdma_cm ib_core iscsi_target_mod target_core_mod", 57344),
    "ib_srp": (f"{INFINIBAND}/ulp/srp", "rdma_cm ib_cm ib_core scsi_transport_srp", 65536),
    "ib_srpt": (f"{INFINIBAND}/ulp/srpt", "rdma_cm ib_cm ib_core target_core_mod", 65536),
    "opa_vnic": (f"{INFINIBAND}/ulp/opa_vnic", "ib_core", 32768),
    "mlx4_ib": (f"{INFINIBAND}/hw/mlx4", "mlx4_core ib_uverbs ib_core", 229376),
    "mlx5_ib": (f"{INFINIBAND}/hw/mlx5", "mlx5_core ib_uverbs ib_core", 434176),
    "hfi1": (f"{INFINIBAND}/hw/hfi1", "rdmavt ib_uverbs ib_core i2c-algo-bit", 835584),
    "irdma": (f"{INFINIBAND}/hw/irdma", "ice i40e ib_uverbs ib_core", 364544),
    "rdmavt": (f"{INFINIBAND}/sw/rdmavt", "ib_uverbs ib_core", 126976),
    "rdma_rxe": (f"{INFINIBAND}/sw/rxe", "ib_uverbs ib_core ip6_udp_tunnel udp_tunnel", 184320),
    "mlx4_core": ("kernel/drivers/net/ethernet/mellanox/mlx4", "", 405504),
    "mlx4_en": ("kernel/drivers/net/ethernet/mellanox/mlx4", "mlx4_core", 155648),
    "mlx5_core": ("kernel/drivers/net/ethernet/mellanox/mlx5/core", "mlxfw psample", 2060288),
    "mlxfw": ("kernel/drivers/net/ethernet/mellanox/mlxfw", "", 36864),
    "rpcrdma": ("kernel/net/sunrpc/xprtrdma", "rdma_cm ib_core sunrpc", 122880),
    "nvme-rdma": ("kernel/drivers/nvme/host", "rdma_cm ib_core nvme-fabrics nvme-core", 57344),
    "nvmet-rdma": ("kernel/drivers/nvme/target", "rdma_cm ib_core nvmet", 73728),
    "bonding": ("kernel/drivers/net/bonding", "tls", 241664),
    "dummy": ("kernel/drivers/net", "", 16384),
    "rds": ("kernel/net/rds", "", 172032),
    "rds_rdma": ("kernel/net/rds", "rds rdma_cm ib_core", 122880),
    "sunrpc": ("kernel/net/sunrpc", "", 692224),
    "tls": ("kernel/net/tls", "", 151552),
    "psample": ("kernel/net/psample", "", 20480),
    "nvme-core": ("kernel/drivers/nvme/host", "", 217088),
    "nvme-fabrics": ("kernel/drivers/nvme/host", "nvme-core", 36864),
    "nvmet": ("kernel/drivers/nvme/target", "nvme-core", 217088),
    "libiscsi": ("kernel/drivers/scsi", "scsi_transport_iscsi", 77824),
    "scsi_transport_iscsi": ("kernel/drivers/scsi", "", 172032),
    "scsi_transport_srp": ("kernel/drivers/scsi", "", 28672),
    "target_core_mod": ("kernel/drivers/target", "", 479232),
    "iscsi_target_mod": ("kernel/drivers/target/iscsi", "target_core_mod", 385024),
    "i2c-algo-bit": ("kernel/drivers/i2c/algos", "", 16384),
    "ip6_udp_tunnel": ("kernel/net/ipv6", "", 16384),
    "udp_tunnel": ("kernel/net/ipv4", "", 28672),
    "ice": ("kernel/drivers/net/ethernet/intel/ice", "", 1200128),
    "i40e": ("kernel/drivers/net/ethernet/intel/i40e", "", 651264),
    "igb": ("kernel/drivers/net/ethernet/intel/igb", "i2c-algo-bit", 286720),
    "ixgbe": ("kernel/drivers/net/ethernet/intel/ixgbe", "", 421888),
    "tg3": ("kernel/drivers/net/ethernet/broadcom", "", 200704),
    "virtio_net": ("kernel/drivers/net", "", 77824),
}
ABSENT_MODULES = {
    "el7": {"irdma", "psample", "tls"},
    "el10": {"mlx4_core", "mlx4_en", "mlx4_ib", "opa_vnic"},
    "suse": {"opa_vnic"},
}
BUILTIN = """kernel/arch/x86/kernel/msr
kernel/drivers/char/hw_random/rng-core
kernel/drivers/pci/hotplug/acpiphp
kernel/drivers/tty/serial/8250/8250
kernel/drivers/cpufreq/intel_pstate
kernel/net/ipv6/ipv6
kernel/net/ipv4/tcp_cubic"""
PARAMETERS = {
    "ib_ipoib": {
        "send_queue_size": 128,
        "recv_queue_size": 256,
        "max_nonsrq_conn_qp": 128,
        "debug_level": 0,
        "mcast_debug_level": 0,
    },
    "ib_core": {"send_queue_size": 128, "recv_queue_size": 512, "force_mr": "N", "netns_mode": "Y"},
    "mlx5_core": {"debug_mask": 0, "prof_sel": 2},
    "mlx4_core": {
        "debug_level": 0,
        "msi_x": 1,
        "log_num_mgm_entry_size": -10,
        "enable_64b_cqe_eqe": "Y",
        "enable_4k_uar": "N",
        "log_num_mac": 7,
        "log_num_vlan": 0,
        "use_prio": "N",
        "log_mtts_per_seg": 0,
        "port_type_array": "0,0",
        "enable_qos": "N",
        "internal_err_reset": 1,
    },
    "mlx4_ib": {"sm_guid_assign": 0},
}
VERBS = [
    "ib_core",
    "ib_uverbs",
    "iw_cm",
    "ib_cm",
    "rdma_cm",
    "rdma_ucm",
    "libiscsi",
    "scsi_transport_iscsi",
    "ib_iser",
    "sunrpc",
    "rpcrdma",
]
TARGETS = ["target_core_mod", "iscsi_target_mod", "ib_isert", "ib_srpt"]
FABRIC = ["ib_umad", "ib_ipoib"]
MLX5 = ["mlxfw", "psample", "mlx5_core", "mlx5_ib"]
MLX4 = ["mlx4_core", "mlx4_ib"]


def known_modules(release):
    """The modules of a release, in the order of MODULES."""
    return [name for name in MODULES if name not in ABSENT_MODULES.get(release.family, ())]


def needs(release, name):
    """Modules that a module uses directly."""
    available = known_modules(release)
    return [other for other in MODULES[name][1].split() if other in available]


def needs_all(release, name):
    """Modules that a module needs, direct ones first, as depmod lists them."""
    found = []
    for other in needs(release, name):
        for each in [other] + needs_all(release, other):
            if each not in found:
                found.append(each)
    return found


def module_index(h):
    """/lib/modules/KERNEL: the two lists a program needs to know what can be loaded."""
    release = h.release
    folder = f"lib/modules/{release.kernel}"
    if release.key == "debian12":
        h.text(f"{folder}/modules.dep", recorded("debian12-6.1.0-57.modules.dep"))
        h.text(f"{folder}/modules.builtin", recorded("debian12-6.1.0-57.modules.builtin"))
        h.recorded.append("/lib/modules: RDMA lines of modules.dep, modules.builtin of 6.1.0-57")
        return
    lines = []
    for name in known_modules(release):

        def path(each):
            return f"{MODULES[each][0]}/{each}{release.suffix}"

        lines.append(f"{path(name)}: {' '.join(path(each) for each in needs_all(release, name))}".rstrip())
    h.text(f"{folder}/modules.dep", "\n".join(sorted(lines)) + "\n")
    h.text(f"{folder}/modules.builtin", "".join(f"{line}.ko\n" for line in BUILTIN.split("\n")))


def load(h, names, more=None):
    """/proc/modules and /sys/module for loaded modules; more: {name: [users]} of foreign ones."""
    release = h.release
    names = [name for name in names if name in known_modules(release)]
    h.loaded = [name.replace("-", "_") for name in names]
    users = {name: [other for other in names if name in needs(release, other)] for name in names}
    lines = []
    for name in reversed(names):
        plain, busy = name.replace("-", "_"), [user.replace("-", "_") for user in users[name]]
        size, extra = MODULES[name][2], (more or {}).get(name, [])
        busy = busy + extra
        shown = "".join(f"{user}," for user in busy) or "-"
        lines.append(f"{plain} {size} {len(busy)} {shown} Live 0x0000000000000000\n")
        module(h, plain, len(busy))
    h.text("proc/modules", "".join(lines))


def module(h, name, references):
    """/sys/module/NAME of a loaded module: what tells that it is loaded, and from which file."""
    folder = f"sys/module/{name}"
    source = digest(h.release.kernel, name).upper()[:23] if h.release.srcversion else None
    if (h.release.key, name) == ("debian12", "mlx4_core"):
        source = "EA441402C0392E7664B0960"
    h.attrs(folder, {"initstate": "live", "refcnt": references, "srcversion": source})
    if name == "mlx4_core":
        h.attr(f"{folder}/version", "4.0-0")
    for key, value in PARAMETERS.get(name, {}).items():
        if (h.release.family, key) not in (("el7", "netns_mode"), ("el7", "enable_4k_uar")):
            h.attr(f"{folder}/parameters/{key}", value)


# --------------------------------------------------------------------- PCI and RDMA


class Pci:
    """A PCI function in the tree."""

    def __init__(self, path, driver):
        self.path, self.driver = path, driver
        self.address = os.path.basename(path)


LINKS = {"gen2": "5", "gen3": "8", "gen4": "16", "gen5": "32"}


def pci_path(address):
    """Where the function sits: below a port of bus 0, or of the bus before its own."""
    domain, bus = address.split(":")[:2]
    if int(bus, 16) == 0:
        return f"sys/devices/pci{domain}:00/{address}"
    if int(bus, 16) < 8:
        return f"sys/devices/pci{domain}:00/{domain}:00:01.{int(bus, 16)}/{address}"
    root = f"{domain}:{int(bus, 16) - 1:02x}"
    return f"sys/devices/pci{root}/{root}:01.1/{address}"


def pci(
    h, address, ids, kind, driver, *, numa=0, link="gen4", top=None, width=16, subsystem=None, vfs=None, physfn=None
):
    """A PCI function: ids "15b3:101b", kind "0207" (class), link speeds, SR-IOV counts."""
    path, (vendor, device) = pci_path(address), ids.split(":")
    subsystem = subsystem or f"{vendor}:0000"

    def speed(gen):
        return "Unknown" if gen == "unknown" else LINKS[gen] + h.release.link_speed_tail

    if physfn:
        path = os.path.dirname(pci_path(physfn)) + f"/{address}"
    upper = os.path.dirname(path)
    if re.search(r"/[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$", upper):
        bridge = os.path.basename(upper)
        h.attrs(upper, {"vendor": "0x8086", "device": "0x347a", "class": "0x060400", "numa_node": numa})
        h.link(f"sys/bus/pci/devices/{bridge}", upper)
        h.link(f"{upper}/driver", "sys/bus/pci/drivers/pcieport")
        h.link(f"sys/bus/pci/drivers/pcieport/{bridge}", upper)
    lone = kind.ljust(6, "0")
    h.attrs(
        path,
        {
            "vendor": f"0x{vendor}",
            "device": f"0x{device}",
            "class": f"0x{lone}",
            "subsystem_vendor": f"0x{subsystem.split(':')[0]}",
            "subsystem_device": f"0x{subsystem.split(':')[1]}",
            "revision": "0x00",
            "numa_node": numa,
            "current_link_speed": speed(link),
            "current_link_width": 0 if link == "unknown" else width,
            "max_link_speed": speed(top or link),
            "max_link_width": 0 if link == "unknown" else 16 if vendor == "15b3" else width,
            "sriov_totalvfs": vfs[1] if vfs else None,
            "sriov_numvfs": vfs[0] if vfs else None,
        },
    )
    h.text(
        f"{path}/uevent",
        (f"DRIVER={driver}\n" if driver else "")
        + f"PCI_CLASS={lone.lstrip('0').upper()}\nPCI_ID={vendor.upper()}:{device.upper()}\n"
        f"PCI_SUBSYS_ID={subsystem.upper()}\nPCI_SLOT_NAME={address}\n"
        f"MODALIAS={modalias(vendor, device, subsystem, lone)}\n",
    )
    h.link(f"sys/bus/pci/devices/{address}", path)
    h.link(f"{path}/subsystem", "sys/bus/pci")
    if driver:
        h.link(f"{path}/driver", f"sys/bus/pci/drivers/{driver}")
        h.link(f"sys/bus/pci/drivers/{driver}/{address}", path)
    if physfn:
        h.link(f"{path}/physfn", pci_path(physfn))
        number = sum(1 for link in h.links if link.startswith(f"{pci_path(physfn)}/virtfn"))
        h.link(f"{pci_path(physfn)}/virtfn{number}", path)
    return Pci(path, driver)


def modalias(vendor, device, subsystem, kind):
    """The module alias of a PCI function."""
    sub_vendor, sub_device = subsystem.upper().split(":")
    return (
        f"pci:v0000{vendor.upper()}d0000{device.upper()}sv0000{sub_vendor}sd0000{sub_device}"
        f"bc{kind[:2].upper()}sc{kind[2:4].upper()}i{kind[4:].upper()}"
    )


LINK_LOCAL = "fe80:0000:0000:0000"
NO_GID = ":".join(["0000"] * 8)
CAP, CAP_WITH_SM = "0xa651e848", "0xa651e84a"
CAP4, CAP4_WITH_SM = "0x02514868", "0x0251486a"
COUNTERS = [
    "VL15_dropped",
    "link_downed",
    "link_error_recovery",
    "port_rcv_data",
    "port_rcv_errors",
    "port_xmit_data",
    "port_xmit_discards",
    "port_xmit_wait",
    "symbol_error",
]


def ib_port(guid, state="ACTIVE", rate=None, **more):
    """An InfiniBand port. States: ACTIVE, INIT (no SM), DOWN (no cable)."""
    rate = rate or ("10 Gb/sec (4X SDR)" if state == "DOWN" else EDR)
    port = {"guid": guid, "layer": "InfiniBand", "prefix": LINK_LOCAL, "pkeys": ["0xffff"], "cap": CAP}
    if state == "ACTIVE":
        port.update(state="4: ACTIVE", phys="5: LinkUp", rate=rate, lid="0x1", sm_lid="0x1")
    elif state == "INIT":
        port.update(state="2: INIT", phys="5: LinkUp", rate=rate, lid="0xffff", sm_lid="0x0")
    else:
        port.update(state="1: DOWN", phys="2: Polling", rate=rate, lid="0xffff", sm_lid="0x0")
    port.update(more)
    return port


def eth_port(guid, netdev, rate="100 Gb/sec (4X EDR)", **more):
    """A RoCE port: no LID, no SM, GIDs that belong to a netdev."""
    port = {"guid": guid, "layer": "Ethernet", "prefix": LINK_LOCAL, "pkeys": ["0xffff"], "cap": "0x00010000"}
    port.update(state="4: ACTIVE", phys="5: LinkUp", rate=rate, lid="0x0", sm_lid="0x0", netdev=netdev)
    port.update(more)
    return port


def rdma(h, function, name, ports, *, node, image=None, fw, board, hca, hw_rev="0", desc=None, pkey_slots=8):
    """An RDMA device with its ports, its umad and uverbs nodes."""
    folder = f"{function.path}/infiniband/{name}"
    image = image or node
    h.attrs(
        folder,
        {
            "node_type": "1: CA",
            "node_guid": node,
            "sys_image_guid": image,
            "fw_ver": fw,
            "board_id": board,
            "hca_type": hca,
            "hw_rev": hw_rev,
            "node_desc": desc or f"{h.hostname.split('.')[0]} {name}",
        },
    )
    h.text(f"{folder}/uevent", f"NAME={name}\n")
    h.link(f"{folder}/device", function.path)
    h.link(f"{folder}/subsystem", "sys/class/infiniband")
    h.link(f"sys/class/infiniband/{name}", folder)
    for number, port in enumerate(ports, 1):
        rdma_port(h, function, name, number, port, pkey_slots)
    index = h.count("uverbs")
    verbs = f"{function.path}/infiniband_verbs/uverbs{index}"
    h.attrs(verbs, {"ibdev": name, "abi_version": 1, "dev": f"231:{192 + index}"})
    h.link(f"sys/class/infiniband_verbs/uverbs{index}", verbs)
    h.text("sys/class/infiniband_verbs/abi_version", "6\n")


def rdma_port(h, function, name, number, port, pkey_slots):
    """One port of an RDMA device."""
    folder = f"{function.path}/infiniband/{name}/ports/{number}"
    rate = port["rate"] if h.release.sdr_word else port["rate"].replace(" SDR", "")
    h.attrs(
        folder,
        {
            "state": port["state"],
            "phys_state": port["phys"],
            "rate": rate,
            "link_layer": port["layer"],
            "lid": port["lid"],
            "sm_lid": port["sm_lid"],
            "lid_mask_count": 0,
            "sm_sl": 0,
            "cap_mask": port["cap"],
            "smi_enabled": port.get("smi_enabled"),
        },
    )
    gid = f"{port['prefix']}:{port['guid']}"
    roce = port["layer"] == "Ethernet"
    h.attrs(f"{folder}/gids", {"0": gid, "1": gid if roce else NO_GID})
    h.attr(f"{folder}/gid_attrs/types/0", "IB/RoCE v1")
    if roce:
        h.attr(f"{folder}/gid_attrs/types/1", "RoCE v2")
        h.attrs(f"{folder}/gid_attrs/ndevs", {"0": port["netdev"], "1": port["netdev"]})
    slots = 1 if roce else pkey_slots
    for slot in range(slots):
        h.attr(f"{folder}/pkeys/{slot}", port["pkeys"][slot] if slot < len(port["pkeys"]) else "0x0000")
    if port.get("counters", True):
        busy = {"port_xmit_data": 184320, "port_rcv_data": 179712}
        for counter in COUNTERS:
            active = port["state"].startswith("4")
            h.attr(f"{folder}/counters/{counter}", busy.get(counter, 0) if active else 0)
    else:
        h.attrs(f"{folder}/hw_counters", {"lifespan": 10, "ip4InOctets": 0, "ip4OutOctets": 0})
    if not roce:
        h.port_guids[port["guid"].replace(":", "")] = f"{name}/{number}"
    if "ib_umad" in h.loaded:
        index = h.count("umad")
        for kind, minor in (("umad", index), ("issm", 64 + index)):
            node = f"{function.path}/infiniband_mad/{kind}{index}"
            h.attrs(node, {"ibdev": name, "port": number, "dev": f"231:{minor}"})
            h.link(f"sys/class/infiniband_mad/{kind}{index}", node)
        h.text("sys/class/infiniband_mad/abi_version", "5\n")


# --------------------------------------------------------------------------- netdevs


def netdev(
    h,
    folder,
    name,
    kind,
    address,
    *,
    up=True,
    carrier=True,
    mtu=1500,
    dev_id=0,
    dev_port=0,
    speed=None,
    queue=1000,
    above=None,
):
    """The attributes every netdev has. A link that is down cannot be asked for its carrier."""
    index = h.count("ifindex") + 1
    flags = {1: "0x1003", 32: "0x1003", 772: "0x9"}[kind] if up else "0x1002"
    state = "unknown" if kind == 772 else "up" if up and carrier else "down"
    settings = speed is not None and up
    h.attrs(
        folder,
        {
            "type": kind,
            "address": address,
            "addr_len": 20 if kind == 32 else 6,
            "broadcast": "00:00:00:00:00:00" if kind == 772 else None if kind == 32 else "ff:ff:ff:ff:ff:ff",
            "mtu": mtu,
            "operstate": state,
            "carrier": int(carrier) if up else None,
            "carrier_changes": (2 if kind != 772 else 0) if up and carrier else 1,
            "dev_id": f"0x{dev_id:x}",
            "dev_port": dev_port,
            "ifindex": index,
            "iflink": above or index,
            "flags": flags,
            "link_mode": 0,
            "speed": (speed if carrier else -1) if settings else None,
            "duplex": ("full" if carrier else "unknown") if settings else None,
            "tx_queue_len": queue,
        },
    )
    h.text(f"{folder}/uevent", f"INTERFACE={name}\nIFINDEX={index}\n")
    h.link(f"{folder}/subsystem", "sys/class/net")
    h.link(f"sys/class/net/{name}", folder)
    h.netdevs.append(name)
    return index


def loopback(h):
    """lo, always the first link."""
    netdev(h, "sys/devices/virtual/net/lo", "lo", 772, "00:00:00:00:00:00", mtu=65536)


def ethernet(h, function, name, mac, **more):
    """An Ethernet link of a PCI function."""
    folder = f"{function.path}/net/{name}"
    more.setdefault("speed", 1000)
    netdev(h, folder, name, 1, mac, **more)
    h.link(f"{folder}/device", function.path)


def ipoib_address(qpn, legacy, prefix, guid):
    """The 20 bytes of an IPoIB address: flag, queue pair, subnet prefix, port GUID."""
    text = f"{0x80 if legacy else 0:02x}{qpn:06x}" + (prefix + guid).replace(":", "")
    return ":".join(text[n : n + 2] for n in range(0, 40, 2))


def ipoib_broadcast(pkey):
    """The broadcast address of a partition, for pkey "0x8001"."""
    return f"00:ff:ff:ff:ff:12:40:1b:{pkey[2:4]}:{pkey[4:6]}:00:00:00:00:00:00:ff:ff:ff:ff"


def netlink_child(h, parent, guid, pkey, *, qpn, mtu=2044, speed=None):
    """A P_Key child made over netlink: it has no mode, pkey, umcast or parent file."""
    name = f"{parent}.{pkey[2:]}"
    folder = f"sys/devices/virtual/net/{name}"
    above = h.netdevs.index(parent) + 1
    address = ipoib_address(qpn, False, LINK_LOCAL, guid)
    netdev(h, folder, name, 32, address, mtu=mtu, speed=speed, queue=256, above=above)
    h.attr(f"{folder}/broadcast", ipoib_broadcast(pkey))


def ipoib(
    h,
    function,
    name,
    guid,
    *,
    qpn,
    legacy=False,
    prefix=LINK_LOCAL,
    up=False,
    carrier=True,
    mtu=None,
    mode="datagram",
    pkey="0xffff",
    port=1,
    speed=None,
):
    """An IPoIB link. legacy: the driver leaves the link to ib_ipoib, connected mode is possible."""
    folder = f"{function.path}/net/{name}"
    if mtu is None:
        mtu = (65520 if mode == "connected" else 2044) if up and carrier else 4092
    speed = speed if h.release.link_settings else None
    netdev(
        h,
        folder,
        name,
        32,
        ipoib_address(qpn, legacy, prefix, guid),
        up=up,
        carrier=carrier,
        mtu=mtu,
        dev_id=port - 1,
        dev_port=port - 1,
        speed=speed,
        queue=256,
    )
    h.attr(f"{folder}/broadcast", ipoib_broadcast(pkey))
    h.attrs(folder, {"mode": mode, "pkey": pkey, "umcast": 0})
    h.write_only(f"{folder}/create_child")
    h.write_only(f"{folder}/delete_child")
    h.link(f"{folder}/device", function.path)


# ------------------------------------------------------------------ kernel settings


def kernel_settings(h, **changes):
    """/proc/sys and the other kernel facts of a running host."""
    release = h.release
    h.attr("proc/sys/kernel/osrelease", release.kernel)
    h.attr("proc/sys/kernel/hostname", h.hostname)
    h.attr("proc/cmdline", release.cmdline)
    every, default, each = release.rp_filter
    values = {
        "net/core/rmem_max": 212992,
        "net/core/wmem_max": 212992,
        "net/core/rmem_default": 212992,
        "net/core/wmem_default": 212992,
        "net/core/netdev_max_backlog": 1000,
        "net/core/optmem_max": release.optmem,
        "net/core/busy_read": 0,
        "net/core/busy_poll": 0,
        "net/ipv4/tcp_rmem": release.tcp_rmem,
        "net/ipv4/tcp_wmem": "4096 16384 4194304",
        "net/ipv4/tcp_mem": "1525725 2034303 3051450",
        "net/ipv4/tcp_timestamps": 1,
        "net/ipv4/neigh/default/gc_thresh1": 128,
        "net/ipv4/neigh/default/gc_thresh2": 512,
        "net/ipv4/neigh/default/gc_thresh3": 1024,
        "net/ipv6/neigh/default/gc_thresh1": 128,
        "net/ipv6/neigh/default/gc_thresh2": 512,
        "net/ipv6/neigh/default/gc_thresh3": 1024,
        "vm/nr_hugepages": 0,
        "vm/zone_reclaim_mode": 0,
        "kernel/numa_balancing": 1 if h.name not in GUESTS else 0,
    }
    for link in ["all", "default"] + h.netdevs:
        values[f"net/ipv4/conf/{link}/rp_filter"] = {"all": every, "default": default}.get(link, each)
        for key in ("arp_ignore", "arp_announce", "accept_local"):
            values[f"net/ipv4/conf/{link}/{key}"] = 0
    values.update(changes)
    for key, value in values.items():
        h.attr(f"proc/sys/{key}", str(value).replace(" ", "\t"))


GUESTS = {"vf-guest", "mlx4-vf-guest", "deb12-softib-init", "deb12-softib-active", "deb12-softib-pci", "deb12-rxe"}

# -------------------------------------------------------------------- distributions


LIMITS = """# /etc/security/limits.conf
#
#This file sets the resource limits for the users logged in via PAM.
#It does not affect resource limits of the system services.
#
#<domain>      <type>  <item>         <value>
#

#*               soft    core            0
#*               hard    rss             10000
#@student        hard    nproc           20

# End of file
"""
SYSCTL_EL = """# sysctl settings are defined through files in
# /usr/lib/sysctl.d/, /run/sysctl.d/, and /etc/sysctl.d/.
#
# Vendors settings live in /usr/lib/sysctl.d/.
# To override a whole file, create a new file with the same in
# /etc/sysctl.d/ and put new settings there. To override
# only specific settings, add a file with a lexically later
# name in /etc/sysctl.d/ and put new settings there.
#
# For more information, see sysctl.conf(5) and sysctl.d(5).
"""
SYSCTL_DEBIAN = """#
# /etc/sysctl.conf - Configuration file for setting system variables
# See /etc/sysctl.d/ for additional system variables.
# See sysctl.conf (5) for information.
#

#kernel.domainname = example.com

# Uncomment the following to stop low-level messages on console
#kernel.printk = 3 4 1 3

# Uncomment the next two lines to enable Spoof protection (reverse-path filter)
#net.ipv4.conf.default.rp_filter=1
#net.ipv4.conf.all.rp_filter=1

# Uncomment the next line to enable packet forwarding for IPv4
#net.ipv4.ip_forward=1
"""
SYSCTL_DEFAULT_GLOB = """# Source route verification
net.ipv4.conf.default.rp_filter = 2
net.ipv4.conf.*.rp_filter = 2
-net.ipv4.conf.all.rp_filter

# Do not accept source routing
net.ipv4.conf.default.accept_source_route = 0
net.ipv4.conf.*.accept_source_route = 0
-net.ipv4.conf.all.accept_source_route

# Fair Queue CoDel packet scheduler to fight bufferbloat
net.core.default_qdisc = fq_codel
"""
SYSCTL_REDHAT = """kernel.kptr_restrict = 1
net.ipv4.conf.default.rp_filter = 1
net.ipv4.conf.*.rp_filter = 1
"""
SYSCTL_DEFAULT_EL8 = """kernel.sysrq = 16
kernel.core_uses_pid = 1
kernel.kptr_restrict = 1
net.ipv4.conf.all.rp_filter = 1
net.ipv4.conf.all.accept_source_route = 0
net.ipv4.conf.all.promote_secondaries = 1
net.core.default_qdisc = fq_codel
fs.protected_hardlinks = 1
fs.protected_symlinks = 1
"""
SYSCTL_DEFAULT_EL7 = """kernel.sysrq = 16
kernel.core_uses_pid = 1
net.ipv4.conf.default.rp_filter = 1
net.ipv4.conf.all.rp_filter = 1
net.ipv4.conf.default.accept_source_route = 0
net.ipv4.conf.all.accept_source_route = 0
net.ipv4.conf.default.promote_secondaries = 1
net.ipv4.conf.all.promote_secondaries = 1
fs.protected_hardlinks = 1
fs.protected_symlinks = 1
"""
SYSCTL_UBUNTU_NETWORK = """# Turn on Source Address Verification in all interfaces to
# prevent some spoofing attacks.
net.ipv4.conf.default.rp_filter=2
net.ipv4.conf.all.rp_filter=2
"""
SYSCTL_SUSE = """net.ipv4.icmp_echo_ignore_broadcasts = 1
net.ipv4.conf.all.rp_filter = 2
net.ipv4.conf.default.promote_secondaries = 1
net.ipv4.conf.all.promote_secondaries = 1
net.ipv6.conf.default.use_tempaddr = 1
"""
RDMA_CONF_EL7 = """# Load IPoIB
IPOIB_LOAD=yes
# Load SRP (SCSI Remote Protocol initiator support) module
SRP_LOAD=yes
# Load SRPT (SCSI Remote Protocol target support) module
SRPT_LOAD=yes
# Load iSER (iSCSI over RDMA initiator support) module
ISER_LOAD=yes
# Load iSERT (iSCSI over RDMA target support) module
ISERT_LOAD=yes
# Load RDS (Reliable Datagram Service) network protocol
RDS_LOAD=no
# Load NFSoRDMA client transport module
XPRTRDMA_LOAD=yes
# Load NFSoRDMA server transport module
SVCRDMA_LOAD=no
# Load Tech Preview device driver modules
TECH_PREVIEW_LOAD=no
"""
MLX4_CONF = """# Config file for mlx4 hardware port settings
# This file is read when the mlx4_core module is loaded and used to
# set the port types for any hardware found.
#
# Format:
# <pci_device_of_card> <port1_type> [port2_type]
"""
OPENSM_UNIT_EL = """[Unit]
Description=Starts the OpenSM InfiniBand fabric Subnet Manager
Documentation=man:opensm
DefaultDependencies=false
Before=network.target remote-fs-pre.target
{after}

[Service]
Type=forking
ExecStart=/usr/libexec/opensm-launch

[Install]
WantedBy=network.target
"""
OPENSM_SYSCONFIG = """# Port GUIDs to start opensm on, separated by blanks. Unset: one opensm, which
# takes the first port that is not down.
# With more than one GUID each opensm gets its own subnet prefix.
#GUIDS="0x0002c90300048ca1 0x0002c90300048ca2"

# Priority of the subnet manager, 0 to 15.
#PRIORITY=15
"""
PARTITIONS_EL = """# For reference:
# IPv4 IANA reserved multicast addresses: 224.0.0.0/24
# IPv6 IANA reserved multicast addresses: ff02::/16
#
# mtu = 1 = 256, 2 = 512, 3 = 1024, 4 = 2048, 5 = 4096
# rate = 2 = 2.5, 3 = 10, 4 = 30, 5 = 5, 6 = 20, 7 = 40, 8 = 60, 9 = 80, 10 = 120

Default=0x7fff, rate=3, mtu=4, scope=2, defmember=full:
\tALL, ALL_SWITCHES=full;
Default=0x7fff, ipoib, rate=3, mtu=4, scope=2:
\tmgid=ff12:401b::ffff:ffff\t# IPv4 Broadcast address
\tmgid=ff12:401b::1\t\t# IPv4 All Hosts group
\tmgid=ff12:401b::2\t\t# IPv4 All Routers group
\tmgid=ff12:401b::16\t\t# IPv4 IGMP group
\tmgid=ff12:401b::fb\t\t# IPv4 mDNS group
\tmgid=ff12:601b::1\t\t# IPv6 All Hosts group
\tmgid=ff12:601b::2\t\t# IPv6 All Routers group
\tmgid=ff12:601b::16\t\t# IPv6 MLDv2-capable Routers group
\tmgid=ff12:601b::fb\t\t# IPv6 mDNS group
\tALL=full, ALL_SWITCHES=full;
"""
UNIT_TEXTS = {
    "NetworkManager.service": (
        "Network Manager",
        "dbus",
        "/usr/sbin/NetworkManager --no-daemon",
        "multi-user.target",
    ),
    "systemd-networkd.service": (
        "Network Configuration",
        "notify",
        "/lib/systemd/systemd-networkd",
        "multi-user.target",
    ),
    "networking.service": (
        "Raise network interfaces",
        "oneshot",
        "/sbin/ifup -a --read-environment",
        "multi-user.target",
    ),
    "wickedd.service": (
        "wicked network management service daemon",
        "notify",
        "/usr/sbin/wickedd --systemd --foreground",
        "wicked.service",
    ),
    "wicked.service": (
        "wicked managed network interfaces",
        "oneshot",
        "/usr/sbin/wicked --systemd ifup all",
        "multi-user.target",
    ),
    "tuned.service": ("Dynamic System Tuning Daemon", "dbus", "/usr/sbin/tuned -l -P", "multi-user.target"),
    "opafm.service": ("OPA Fabric Manager", "forking", "/usr/lib/opa-fm/bin/opafmd -D", "multi-user.target"),
}
OFFICIAL_MODULE_LISTS = ("infiniband", "rdma", "roce", "opa", "iwarp")


def system(h, live=True):
    """The files every installed system has, whatever hardware is in it."""
    release = h.release
    if release.merged_usr:
        h.links["lib"] = "usr/lib"
    if release.os_release_link and release.key != "centos7":
        h.text("usr/lib/os-release", release.os_release)
        h.raw_link("etc/os-release", "../usr/lib/os-release")
    else:
        h.text("etc/os-release", release.os_release)
    h.attr("etc/machine-id", digest("machine-id", h.name) if live else "uninitialized")
    h.attr("etc/hostname", h.hostname if live else "localhost")
    h.text("etc/security/limits.conf", LIMITS)
    sysctl_files(h)
    h.composed += ["/etc", "/usr/lib"]
    if release.family in ("debian", "ubuntu"):
        h.text(
            "etc/modules",
            "# /etc/modules: kernel modules to load at boot time.\n#\n# One module name per line; lines beginning with # are ignored.\n",
        )
        h.raw_link("etc/modules-load.d/modules.conf", "../modules")


def sysctl_files(h):
    """Kernel settings files as the release ships them."""
    family, key = h.release.family, h.release.key

    def old_link():
        return h.raw_link("etc/sysctl.d/99-sysctl.conf", "../sysctl.conf")

    if family.startswith("el"):
        h.text("etc/sysctl.conf", SYSCTL_EL)
        old_link()
        default = {"el7": SYSCTL_DEFAULT_EL7, "el8": SYSCTL_DEFAULT_EL8}.get(family, SYSCTL_DEFAULT_GLOB)
        h.text("usr/lib/sysctl.d/50-default.conf", default)
        if family != "el7":
            h.text("usr/lib/sysctl.d/50-libkcapi-optmem_max.conf", "net.core.optmem_max = 81920\n")
        if family in ("el9", "el10"):
            h.text("usr/lib/sysctl.d/50-redhat.conf", SYSCTL_REDHAT)
        if family == "el7":
            h.text(
                "usr/lib/sysctl.d/00-system.conf",
                "net.bridge.bridge-nf-call-ip6tables = 0\nnet.bridge.bridge-nf-call-iptables = 0\nnet.bridge.bridge-nf-call-arptables = 0\n",
            )
    elif key == "debian13":
        h.text("etc/sysctl.d/README.sysctl", "Kernel system variables configuration files\n")
        h.text("usr/lib/sysctl.d/50-default.conf", SYSCTL_DEFAULT_GLOB)
        h.text("usr/lib/sysctl.d/50-pid-max.conf", "kernel.pid_max = 4194304\n")
    elif family in ("debian", "ubuntu"):
        h.text("etc/sysctl.conf", SYSCTL_DEBIAN)
        old_link()
        h.text("etc/sysctl.d/README.sysctl", "Kernel system variables configuration files\n")
        h.text("usr/lib/sysctl.d/50-pid-max.conf", "kernel.pid_max = 4194304\n")
        h.text(
            "usr/lib/sysctl.d/99-protect-links.conf",
            "fs.protected_fifos = 1\nfs.protected_hardlinks = 1\nfs.protected_regular = 2\nfs.protected_symlinks = 1\n",
        )
        if family == "ubuntu":
            h.text("etc/sysctl.d/10-network-security.conf", SYSCTL_UBUNTU_NETWORK)
            h.text("etc/sysctl.d/10-console-messages.conf", "kernel.printk = 4 4 1 7\n")
    else:
        h.text("etc/sysctl.conf", "# Use /etc/sysctl.d/ for own settings; see sysctl.conf(5).\n")
        h.raw_link("etc/sysctl.d/99-sysctl.conf", "../sysctl.conf")
        h.text("usr/lib/sysctl.d/50-default.conf", SYSCTL_SUSE)


def rdma_files(h):
    """What rdma-core puts below /etc."""
    family = h.release.family
    for name in OFFICIAL_MODULE_LISTS:
        text = recorded(f"debian12.rdma-modules-{name}.conf")
        if family.startswith("el") and name == "rdma":
            text = text.replace("# ib_isert", "ib_isert") + "\n# SCSI RDMA Protocol target support\nib_srpt\n"
        h.text(f"etc/rdma/modules/{name}.conf", text)
    if family == "el7":
        h.text("etc/rdma/rdma.conf", RDMA_CONF_EL7)
    if family.startswith("el"):
        h.text("etc/rdma/mlx4.conf", MLX4_CONF)
    elif family in ("debian", "ubuntu"):
        h.text("etc/modprobe.d/mlx4.conf", recorded("debian12.modprobe-mlx4.conf"))


def opensm_files(h, *, ports=None, guids=None, priority=None, keep_config_only=False):
    """opensm as the distribution packages it. ports: PORTS= of Debian; guids: GUIDS= elsewhere."""
    family = h.release.family
    if family in ("debian", "ubuntu"):
        text = recorded("debian12.default-opensm")
        if ports is not None:
            text = text.replace("PORTS=ALL", f'PORTS="{ports}"')
        h.text("etc/default/opensm", text)
        if not keep_config_only:
            h.text("lib/systemd/system/opensm.service", recorded("debian12.opensm.service"))
            h.text("lib/systemd/system/opensm@.service", recorded("debian12.opensm@.service"))
        h.recorded.append("opensm units and /etc/default/opensm: package opensm 3.3.23-2 of Debian 12")
        return
    text = OPENSM_SYSCONFIG
    if guids:
        text += f'\nGUIDS="{guids}"\n'
    if priority is not None:
        text += f"PRIORITY={priority}\n"
    h.text("etc/sysconfig/opensm", text)
    after = "Requires=rdma.service\nAfter=rdma.service" if family == "el7" else "After=rdma-hw.target"
    h.text("usr/lib/systemd/system/opensm.service", OPENSM_UNIT_EL.format(after=after))
    if family.startswith("el"):
        h.text("etc/rdma/opensm.conf", recorded("opensm-3.3.23.conf").replace("/etc/opensm/", "/etc/rdma/"))
        h.recorded.append("/etc/rdma/opensm.conf: template of opensm 3.3.23, configuration folder replaced")
        if family != "el7":
            h.text("etc/rdma/partitions.conf", PARTITIONS_EL)


def unit(h, name):
    """A short unit file, enough to see that the unit exists and who wants it."""
    words, kind, command, wanted = UNIT_TEXTS[name]
    h.text(
        f"usr/lib/systemd/system/{name}",
        f"[Unit]\nDescription={words}\n\n[Service]\nType={kind}\nExecStart={command}\n\n[Install]\nWantedBy={wanted}\n",
    )


def enable(h, name, wanted="multi-user.target"):
    """The link `systemctl enable` makes (relative here: the tree is not at /)."""
    h.link(f"etc/systemd/system/{wanted}.wants/{name}", f"usr/lib/systemd/system/{name}")


UNITS = [
    "NetworkManager.service",
    "systemd-networkd.service",
    "networking.service",
    "wickedd.service",
    "wicked.service",
    "network.service",
    "opensm.service",
    "opensmd.service",
    "opafm.service",
    "openibd.service",
    "rdma.service",
    "rdma-load-modules@infiniband.service",
    "rdma-ndd.service",
    "tuned.service",
]


def units(h, running=(), exited=(), enabled=(), disabled=(), masked=(), static=()):
    """The answer of `systemctl show` for the units that matter; all others are not-found.

    running: active daemons; exited: finished oneshots that remain active; both count as
    enabled unless named in disabled or static. enabled, disabled, masked, static: inactive
    units in that state.
    """
    order = UNITS + [name for name in (*running, *exited) if name not in UNITS]
    blocks = []
    for number, name in enumerate(order):
        active = name in running or name in exited
        found = active or name in (*enabled, *disabled, *masked, *static)
        if name in masked:
            load_state, file_state = "masked", "masked"
        elif not found:
            load_state, file_state = "not-found", ""
        else:
            load_state = "loaded"
            file_state = "static" if name in static or "@" in name else "disabled" if name in disabled else "enabled"
        sub = "running" if name in running else "exited" if name in exited else "dead"
        blocks.append(
            f"Id={name}\nLoadState={load_state}\nActiveState={'active' if active else 'inactive'}\nSubState={sub}\n"
            f"UnitFileState={file_state}\nActiveEnterTimestampMonotonic={9000000 + 512345 * number if active else 0}\n"
        )
    h.text(".ibplan/queries/systemctl-show.txt", "\n".join(blocks))


# --------------------------------------------------------------------------- packages

DPKG_STANZAS = {
    re.match(r"Package: (\S+)", text).group(1): text.strip("\n")
    for text in recorded("debian12.dpkg-status").split("\n\n")
}
RDMA_USER = "rdma-core libibverbs1 ibverbs-providers ibverbs-utils libibumad3 libibmad5 libibnetdisc5 librdmacm1 rdmacm-utils infiniband-diags"
OPENSM_DEB = "opensm libopensm9 libosmcomp5 libosmvendor5"
DPKG_VERSIONS = {
    "debian13": {
        RDMA_USER: "56.1-1",
        OPENSM_DEB: "3.3.23-3.1",
        "perftest": "25.01.0+0.80-1",
        "ifupdown": "0.8.44",
        "ifenslave": "2.14",
        "systemd udev": "257.7-1",
        "procps": "2:4.0.4-9",
        "iproute2": "6.15.0-1",
        "mstflint": "4.31.0+1-1",
        "linux-image-6.12.41+deb13-amd64": "6.12.41-1",
        "linux-sysctl-defaults": "4.12",
        "dhcpcd-base": "1:10.1.0-11",
        "kmod": "34.2-2",
        "libc6": "2.41-12",
    },
    "ubuntu2004": {
        RDMA_USER: "28.0-1ubuntu1",
        OPENSM_DEB: "3.3.22-3",
        "perftest": "4.4+0.5-1",
        "systemd udev": "245.4-4ubuntu3.22",
        "netplan.io libnetplan0": "0.104-0ubuntu2~20.04.4",
        "procps": "2:3.3.16-1ubuntu2.3",
        "iproute2": "5.5.0-1ubuntu1",
        "linux-image-5.4.0-169-generic linux-modules-5.4.0-169-generic linux-modules-extra-5.4.0-169-generic": "5.4.0-169.187",
        "kmod": "27-1ubuntu2.1",
        "libc6": "2.31-0ubuntu9.14",
    },
    "ubuntu2204": {
        RDMA_USER: "39.0-1",
        OPENSM_DEB: "3.3.23-2",
        "perftest": "4.4+0.37-1",
        "systemd udev": "249.11-0ubuntu3.12",
        "netplan.io libnetplan0": "0.106.1-7ubuntu0.22.04.2",
        "procps": "2:3.3.17-6ubuntu2",
        "iproute2": "5.15.0-1ubuntu2",
        "linux-image-5.15.0-91-generic linux-modules-5.15.0-91-generic linux-modules-extra-5.15.0-91-generic": "5.15.0-91.101",
        "kmod": "29-1ubuntu1",
        "libc6": "2.35-0ubuntu3.6",
    },
    "ubuntu2404": {
        RDMA_USER: "50.0-2build2",
        OPENSM_DEB: "3.3.23-2",
        "perftest": "24.01.0+0.38-1",
        "systemd udev": "255.4-1ubuntu8.4",
        "netplan.io libnetplan1 netplan-generator": "1.0.1-1ubuntu2~24.04.1",
        "procps": "2:4.0.4-4ubuntu3",
        "iproute2": "6.1.0-1ubuntu6",
        "linux-image-6.8.0-45-generic linux-modules-6.8.0-45-generic linux-modules-extra-6.8.0-45-generic": "6.8.0-45.45",
        "kmod": "31+20240202-2ubuntu7",
        "libc6": "2.39-0ubuntu8.3",
    },
}


def dpkg(h, names, removed=()):
    """/var/lib/dpkg/status; removed: packages of which only configuration files are left."""
    stanzas = []
    for name in names.split() + list(removed):
        stanzas.append(dpkg_stanza(h.release.key, name, name in removed))
    h.text("var/lib/dpkg/status", "\n\n".join(stanzas) + "\n\n")
    h.composed.append("/var/lib/dpkg/status")
    if h.release.key == "debian12":
        h.recorded.append("package stanzas: Debian 12 package index and dpkg status")


def dpkg_stanza(key, name, removed):
    """One stanza: Debian 12 as recorded, other releases with their own version."""
    text = DPKG_STANZAS.get(name)
    if key != "debian12":
        versions = {each: version for group, version in DPKG_VERSIONS[key].items() for each in group.split()}
        if text is None:
            section = "kernel" if name.startswith("linux-") else "net"
            arch = "all" if name == "linux-sysctl-defaults" else "amd64"
            text = (
                f"Package: {name}\nStatus: install ok installed\nPriority: optional\nSection: {section}\n"
                f"Maintainer: Distribution Developers <devel@lists.example.org>\nArchitecture: {arch}\nVersion: 0\n"
                f"Description: package {name}"
            )
        text = re.sub(r"\nSource: (\S+) \([^)]*\)", r"\nSource: \1", text)
        text = re.sub(
            r"\n(Pre-Depends|Depends|Provides|Suggests|Recommends|Breaks|Conflicts|Replaces): [^\n]*", "", text
        )
        text = re.sub(r"\nConffiles:(\n [^\n]*)+", "", text)
        text = re.sub(r"\nVersion: [^\n]*", lambda _: f"\nVersion: {versions[name]}", text)
    if removed:
        text = text.replace("Status: install ok installed", "Status: deinstall ok config-files")
    return text


def evr(text):
    """Split "1:1.46.0-1.el9" into epoch, version and release."""
    epoch, _, rest = text.rpartition(":")
    version, _, release = rest.partition("-")
    return epoch or "0", version, release


RPM_RDMA_EL = "rdma-core libibverbs libibverbs-utils libibumad librdmacm librdmacm-utils infiniband-diags"
RPM_VERSIONS = {
    "centos7": {
        "rdma-core libibverbs libibverbs-utils libibumad librdmacm librdmacm-utils": "22.4-6.el7_9",
        "infiniband-diags": "2.1.0-1.el7",
        "opensm opensm-libs": "3.3.21-2.el7",
        "perftest": "4.2-3.el7",
        "NetworkManager": "1:1.18.8-2.el7_9",
        "initscripts": "9.49.53-1.el7_9.1",
        "systemd": "219-78.el7_9.9",
        "iproute": "4.11.0-30.el7",
        "procps-ng": "3.3.10-28.el7",
        "kernel": "3.10.0-1160.119.1.el7",
        "centos-release": "7-9.2009.2.el7.centos",
        "tuned": "2.11.0-12.el7_9",
        "kmod": "20-28.el7",
    },
    "alma8": {
        RPM_RDMA_EL: "48.0-1.el8",
        "opensm opensm-libs": "3.3.24-1.el8",
        "perftest": "24.01.0-0.38.el8",
        "NetworkManager": "1:1.40.16-15.el8_9",
        "initscripts": "10.00.18-1.el8",
        "systemd": "239-82.el8",
        "iproute": "6.2.0-6.el8_10",
        "procps-ng": "3.3.15-14.el8",
        "kernel kernel-core kernel-modules": "4.18.0-553.5.1.el8_10",
        "almalinux-release": "8.10-1.el8",
        "tuned": "2.22.1-4.el8_10",
        "kmod": "25-20.el8",
    },
    "rocky9": {
        RPM_RDMA_EL: "48.0-1.el9",
        "opensm opensm-libs": "3.3.24-2.el9",
        "perftest": "24.01.0-0.38.el9",
        "mstflint": "4.26.0-1.el9",
        "NetworkManager": "1:1.46.0-1.el9",
        "systemd": "252-32.el9_4",
        "iproute": "6.2.0-6.el9_4",
        "procps-ng": "3.3.17-14.el9",
        "kernel kernel-core kernel-modules-core kernel-modules": "5.14.0-427.13.1.el9_4",
        "rocky-release": "9.4-1.7.el9",
        "tuned": "2.22.1-1.el9",
        "kmod": "28-9.el9",
        "opa-fm": "10.12.1.0.6-2.el9",
    },
    "rocky10": {
        RPM_RDMA_EL: "55.0-2.el10",
        "perftest": "25.01.0-1.el10",
        "NetworkManager": "1:1.52.0-3.el10",
        "systemd": "257-9.el10",
        "iproute": "6.11.0-1.el10",
        "procps-ng": "4.0.4-7.el10",
        "kernel kernel-core kernel-modules-core kernel-modules": "6.12.0-55.9.1.el10_0",
        "rocky-release": "10.0-1.6.el10",
        "tuned": "2.25.1-1.el10",
        "kmod": "31-11.el10",
    },
    "sles15": {
        "rdma-core libibverbs libibverbs1 libibverbs-utils libmlx5-1 libmlx4-1 libibumad3 librdmacm1 librdmacm-utils infiniband-diags rdma-ndd": "42.0-150500.1.1",
        "opensm libopensm9": "3.3.24-150400.1.12",
        "perftest": "4.5.0.20-150500.1.1",
        "wicked wicked-service": "0.6.73-150500.3.10.1",
        "systemd udev": "249.16-150400.8.35.5",
        "iproute2": "5.14-150400.1.8",
        "procps": "3.3.17-150000.7.34.1",
        "kernel-default": "5.14.21-150500.55.31.1",
        "sles-release": "15.5-150500.61.4.1",
        "kmod": "29-4.15.1",
    },
}
RPM_BASE = {
    "centos7": "centos-release kernel systemd initscripts iproute procps-ng kmod",
    "alma8": "almalinux-release kernel kernel-core kernel-modules NetworkManager initscripts systemd iproute procps-ng kmod tuned",
    "rocky9": "rocky-release kernel kernel-core kernel-modules-core kernel-modules NetworkManager systemd iproute procps-ng kmod",
    "rocky10": "rocky-release kernel kernel-core kernel-modules-core kernel-modules NetworkManager systemd iproute procps-ng kmod",
    "sles15": "sles-release kernel-default wicked wicked-service systemd udev iproute2 procps kmod",
}


def rpm(h, names):
    """The recorded answer of `rpm -qa`: the base of the release and these packages."""
    key = h.release.key
    versions = {each: text for group, text in RPM_VERSIONS[key].items() for each in group.split()}
    lines = []
    for name in RPM_BASE[key].split() + names.split():
        arch = "noarch" if name in ("rocky-release", "tuned") else "x86_64"
        lines.append("\t".join((name, *evr(versions[name]), arch)))
    h.text(".ibplan/queries/rpm-packages.txt", "\n".join(sorted(set(lines))) + "\n")
    h.composed.append("package list")


# ---------------------------------------------------------------- network configuration


def uuid(*words):
    """A stable UUID for a profile."""
    text = digest("uuid", *words)
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-a{text[17:20]}-{text[20:]}"


NM_CONF_EL = """# Configuration file for NetworkManager.
#
# See "man 5 NetworkManager.conf" for details.

[main]
#plugins={plugins}

[logging]
#level=DEBUG
#domains=ALL
"""


def keyfile(h, name, kind, interface, body):
    """A NetworkManager keyfile profile (root only on a real host)."""
    h.text(
        f"etc/NetworkManager/system-connections/{name}.nmconnection",
        f"[connection]\nid={name}\nuuid={uuid(h.name, name)}\ntype={kind}\ninterface-name={interface}\n\n{body}",
    )


def network_manager(h, management=None, plugins="keyfile,ifcfg-rh"):
    """NetworkManager as backend; the management link gets a keyfile."""
    h.text("etc/NetworkManager/NetworkManager.conf", NM_CONF_EL.format(plugins=plugins))
    unit(h, "NetworkManager.service")
    enable(h, "NetworkManager.service")
    if management:
        keyfile(
            h,
            management,
            "ethernet",
            management,
            "[ethernet]\n\n[ipv4]\nmethod=auto\n\n[ipv6]\naddr-gen-mode=eui64\nmethod=auto\n\n[proxy]\n",
        )


def ifcfg(h, name, **pairs):
    """An ifcfg file of the Red Hat dialect."""
    h.text(f"etc/sysconfig/network-scripts/ifcfg-{name}", "".join(f"{key}={value}\n" for key, value in pairs.items()))


def netplan(h, management, extra=None):
    """netplan with the networkd renderer, as cloud-init leaves it."""
    h.text(
        "etc/netplan/50-cloud-init.yaml",
        "# This file is generated from information provided by the datasource.  Changes\n"
        "# to it will not persist across an instance reboot.  To disable cloud-init's\n"
        "# network configuration capabilities, write a file\n"
        "# /etc/cloud/cloud.cfg.d/99-disable-network-config.cfg with the following:\n"
        "# network: {config: disabled}\n"
        f"network:\n    ethernets:\n        {management}:\n            dhcp4: true\n    version: 2\n",
    )
    h.text(
        f"run/systemd/network/10-netplan-{management}.network",
        f"[Match]\nName={management}\n\n[Network]\nDHCP=ipv4\nLinkLocalAddressing=ipv6\n\n[DHCP]\nRouteMetric=100\nUseMTU=true\n",
    )
    for name, text in (extra or {}).items():
        h.text(f"etc/netplan/{name}", text)
    unit(h, "systemd-networkd.service")
    enable(h, "systemd-networkd.service")


def ifupdown(h, management, source=True):
    """ifupdown as the Debian installer leaves it."""
    text = "# This file describes the network interfaces available on your system\n# and how to activate them. For more information, see interfaces(5).\n\n"
    text += "source /etc/network/interfaces.d/*\n\n" if source else ""
    text += f"# The loopback network interface\nauto lo\niface lo inet loopback\n\n# The primary network interface\nallow-hotplug {management}\niface {management} inet dhcp\n"
    h.text("etc/network/interfaces", text)
    unit(h, "networking.service")
    unit(h, "systemd-networkd.service")
    enable(h, "networking.service")


# -------------------------------------------------------------------- host skeletons

MAC_NUMBERS = {}


def mac(h):
    """A management MAC address of its own for each host."""
    number = MAC_NUMBERS.setdefault(h.name, len(MAC_NUMBERS) + 1)
    return f"3c:ec:ef:4a:10:{number:02x}"


def management(h, name="eno1", driver="igb"):
    """lo and the Ethernet link that carries the host."""
    loopback(h)
    ids = {"igb": "8086:1521", "tg3": "14e4:165f", "ixgbe": "8086:1563"}[driver]
    function = pci(
        h,
        "0000:01:00.0",
        ids,
        "0200",
        driver,
        link="gen2",
        width=4,
        subsystem="15d9:1521",
        vfs=(0, 7) if driver == "igb" else None,
    )
    ethernet(h, function, name, mac(h))


def virtio_management(h, name="enp1s0", address="0000:01:00.0"):
    """lo and the virtio link of a guest."""
    loopback(h)
    function = pci(h, address, "1af4:1041", "0200", "virtio-pci", numa=-1, link="unknown", subsystem="1af4:1100")
    folder = f"{function.path}/virtio0"
    h.attrs(folder, {"device": "0x0001", "vendor": "0x1af4"})
    ethernet(h, Pci(folder, "virtio_net"), name, f"52:54:00:5e:10:{int(mac(h)[-2:], 16):02x}", speed=-1)


CX5 = {"fw": "16.35.3006", "board": "MT_0000000010", "hca": "MT4119"}
CX6 = {"fw": "20.39.3004", "board": "MT_0000000223", "hca": "MT4123"}
CX7 = {"fw": "28.39.3004", "board": "MT_0000000838", "hca": "MT4129"}
CX6DX = {"fw": "22.39.3004", "board": "MT_0000000359", "hca": "MT4125"}
CX3 = {"fw": "2.42.5000", "board": "MT_1090120019", "hca": "MT4099", "hw_rev": "1"}
SUB = {"101b": "15b3:0007", "1017": "15b3:0007", "1021": "15b3:0041", "101d": "15b3:0016", "1003": "15b3:0024"}
HDR, EDR, NDR = "200 Gb/sec (4X HDR)", "100 Gb/sec (4X EDR)", "400 Gb/sec (4X NDR)"


def mlx5(h, address, device, kind="0207", **more):
    """The PCI function of a ConnectX-4 or later."""
    more.setdefault("vfs", (0, 16))
    return pci(h, address, f"15b3:{device}", kind, "mlx5_core", subsystem=SUB.get(device, "15b3:0007"), **more)


def close(h, modules, **settings):
    """What can only be written when all links are known."""
    kernel_settings(h, **settings)
    h.composed += ["the rest of /sys" if "/sys/class/infiniband" in h.recorded else "/sys", "/proc"]
    module_index(h)
    assert h.loaded == [name.replace("-", "_") for name in modules if name in known_modules(h.release)]
    return h


def el_modules(h, *groups, driver="igb"):
    """Load the management driver and groups of modules."""
    names = ["i2c-algo-bit"] if driver == "igb" else []
    names += [driver]
    for group in groups:
        names += [name for name in group if name not in names]
    load(h, names)
    return names


# ------------------------------------------------------------------------ the hosts


@host
def rocky9_cx6():
    """EL 9 with a keyfile backend: fresh link, opensm installed and idle."""
    h = Host(
        "rocky9-cx6",
        ROCKY9,
        "Rocky 9 with one ConnectX-6 (HDR, ACTIVE); the IPoIB link has no profile yet; opensm is installed and disabled",
    )
    system(h)
    names = el_modules(h, VERBS, TARGETS, MLX5, FABRIC)
    management(h)
    card = mlx5(h, "0000:41:00.0", "101b", numa=1)
    guid = "b83f:d203:00aa:10c4"
    rdma(h, card, "mlx5_0", [ib_port(guid, rate=HDR, lid="0xc", pkeys=["0xffff", "0x8001"])], node=guid, **CX6)
    ipoib(h, card, "ibp65s0", guid, qpn=0x001029)
    rdma_files(h)
    opensm_files(h)
    network_manager(h, "eno1")
    rpm(h, RPM_RDMA_EL + " opensm opensm-libs mstflint tuned")
    unit(h, "tuned.service")
    units(
        h,
        running=["NetworkManager.service", "tuned.service", "rdma-ndd.service"],
        exited=["rdma-load-modules@infiniband.service"],
        disabled=["opensm.service"],
        static=["rdma-ndd.service"],
    )
    return close(h, names)


@host
def alma8_cx5():
    """EL 8: NetworkManager with the ifcfg dialect, link up and configured."""
    h = Host(
        "alma8-cx5",
        ALMA8,
        "AlmaLinux 8 with one ConnectX-5 (EDR); NetworkManager reads ifcfg files; ib0 is up in datagram mode with MTU 2044",
    )
    system(h)
    names = el_modules(h, VERBS, TARGETS, MLX5, FABRIC)
    management(h)
    card = mlx5(h, "0000:3b:00.0", "1017", link="gen3")
    guid = "506b:4b03:00b2:4d10"
    rdma(h, card, "mlx5_0", [ib_port(guid, lid="0x12")], node=guid, **CX5)
    ipoib(h, card, "ib0", guid, qpn=0x000A32, up=True, speed=100000)
    rdma_files(h)
    network_manager(h, plugins="ifcfg-rh")
    ifcfg(
        h,
        "eno1",
        TYPE="Ethernet",
        BOOTPROTO="dhcp",
        DEFROUTE="yes",
        NAME="eno1",
        UUID=uuid(h.name, "eno1"),
        DEVICE="eno1",
        ONBOOT="yes",
    )
    ifcfg(
        h,
        "ib0",
        TYPE="InfiniBand",
        DEVICE="ib0",
        NAME="ib0",
        ONBOOT="yes",
        BOOTPROTO="none",
        CONNECTED_MODE="no",
        MTU="2044",
        IPADDR="192.168.10.8",
        PREFIX="24",
        DEFROUTE="no",
    )
    rpm(h, RPM_RDMA_EL)
    unit(h, "tuned.service")
    units(
        h,
        running=["NetworkManager.service", "tuned.service", "rdma-ndd.service"],
        exited=["rdma-load-modules@infiniband.service"],
        static=["rdma-ndd.service"],
    )
    return close(h, names)


@host
def rocky10_cx7():
    """EL 10: keyfile only."""
    h = Host(
        "rocky10-cx7",
        ROCKY10,
        "Rocky 10 with one ConnectX-7 (NDR, ACTIVE), link named after its slot; NetworkManager reads keyfiles only",
    )
    system(h)
    names = el_modules(h, VERBS, TARGETS, MLX5, FABRIC, driver="tg3")
    management(h, driver="tg3")
    card = mlx5(h, "0000:c1:00.0", "1021", link="gen5", numa=1)
    guid = "a088:c203:0055:31f2"
    rdma(h, card, "mlx5_0", [ib_port(guid, rate=NDR, lid="0x2b", sm_lid="0x5")], node=guid, **CX7)
    ipoib(h, card, "ibs4", guid, qpn=0x0010A4)
    rdma_files(h)
    network_manager(h, "eno1", plugins="keyfile")
    rpm(h, RPM_RDMA_EL + " perftest")
    units(
        h,
        running=["NetworkManager.service", "rdma-ndd.service"],
        exited=["rdma-load-modules@infiniband.service"],
        static=["rdma-ndd.service"],
    )
    return close(h, names)


def centos7_mlx4(name, about, node, ports, links, *, opensm_active, device="1003"):
    """The common part of the CentOS 7 hosts with mlx4 hardware."""
    h = Host(name, CENTOS7, about)
    system(h)
    names = el_modules(h, VERBS, TARGETS, MLX4, FABRIC)
    management(h)
    card = pci(
        h,
        "0000:03:00.0",
        f"15b3:{device}",
        "0280",
        "mlx4_core",
        link="gen3",
        width=8,
        subsystem=SUB["1003"],
        vfs=(0, 8),
    )
    h.attrs(card.path, {"mlx4_port1": "ib", "mlx4_port2": "ib"})
    image = node[:-1] + f"{int(node[-1], 16) + 3:x}"
    rdma(h, card, "mlx4_0", ports, node=node, image=image, **CX3)
    for number, (port, link) in enumerate(zip(ports, links)):
        ipoib(h, card, f"ib{number}", port["guid"], qpn=0x000208 + number, legacy=True, port=number + 1, **link)
    rdma_files(h)
    opensm_files(h)
    h.text("etc/sysconfig/network", "# Created by anaconda\n")
    unit_state = {"running": ["opensm.service"]} if opensm_active else {"disabled": ["opensm.service"]}
    if opensm_active:
        enable(h, "opensm.service", "network.target")
    rpm(h, RPM_RDMA_EL + " opensm opensm-libs perftest")
    units(
        h, exited=["network.service", "rdma-load-modules@infiniband.service"], static=["rdma.service"], **unit_state
    )
    ifcfg(
        h,
        "lo",
        DEVICE="lo",
        IPADDR="127.0.0.1",
        NETMASK="255.0.0.0",
        NETWORK="127.0.0.0",
        BROADCAST="127.255.255.255",
        ONBOOT="yes",
        NAME="loopback",
    )
    ifcfg(
        h,
        "eno1",
        TYPE="Ethernet",
        BOOTPROTO="dhcp",
        DEFROUTE="yes",
        NAME="eno1",
        UUID=uuid(h.name, "eno1"),
        DEVICE="eno1",
        ONBOOT="yes",
        NM_CONTROLLED="no",
    )
    return h, names


@host
def centos7_cx3():
    """EL 7 initscripts, connected mode, its own SM."""
    ports = [
        ib_port("0002:c903:00a1:b2c1", rate="56 Gb/sec (4X FDR)", lid="0x1", sm_lid="0x1", cap=CAP4_WITH_SM),
        ib_port("0002:c903:00a1:b2c2", "DOWN", lid="0x0", cap=CAP4),
    ]
    h, names = centos7_mlx4(
        "centos7-cx3",
        "CentOS 7 with initscripts and one ConnectX-3 with two ports: port 1 ACTIVE with an opensm on this host, ib0 in connected mode; port 2 without a cable",
        "0002:c903:00a1:b2c0",
        ports,
        [{"up": True, "mode": "connected"}, {}],
        opensm_active=True,
    )
    ifcfg(
        h,
        "ib0",
        DEVICE="ib0",
        TYPE="InfiniBand",
        ONBOOT="yes",
        BOOTPROTO="none",
        CONNECTED_MODE="yes",
        MTU="65520",
        IPADDR="192.168.10.7",
        PREFIX="24",
        NM_CONTROLLED="no",
    )
    return close(h, names)


@host
def init_no_sm():
    """Field case: both ports INIT because nobody runs an SM."""
    ports = [
        ib_port(f"0002:c903:007b:e0e{n}", "INIT", rate="40 Gb/sec (4X QDR)", lid="0x0", cap=CAP4) for n in (1, 2)
    ]
    h, names = centos7_mlx4(
        "init-no-sm",
        "CentOS 7 with a ConnectX-3 whose two ports stay INIT with LinkUp: no subnet manager; opensm is installed and stopped",
        "0002:c903:007b:e0e0",
        ports,
        [{"up": True, "carrier": False, "mtu": 4092}, {}],
        opensm_active=False,
    )
    ifcfg(
        h,
        "ib0",
        DEVICE="ib0",
        TYPE="InfiniBand",
        ONBOOT="yes",
        BOOTPROTO="none",
        CONNECTED_MODE="no",
        IPADDR="192.168.10.9",
        PREFIX="24",
        NM_CONTROLLED="no",
    )
    return close(h, names)


@host
def mlx4_vf_guest():
    """A guest with a ConnectX-3 VF: smi_enabled 0."""
    h = Host(
        "mlx4-vf-guest",
        CENTOS7,
        "CentOS 7 guest with a ConnectX-3 virtual function; smi_enabled says that no subnet manager can run here",
    )
    system(h)
    names = ["virtio_net"] + VERBS + TARGETS + MLX4 + FABRIC
    load(h, names)
    virtio_management(h, "eth0", "0000:00:03.0")
    card = pci(h, "0000:00:06.0", "15b3:1004", "0280", "mlx4_core", numa=-1, link="unknown", subsystem="15b3:61b0")
    guid = "0014:0500:2c7b:7701"
    port = ib_port(guid, rate="56 Gb/sec (4X FDR)", lid="0x4", sm_lid="0x1", cap=CAP4, smi_enabled="0")
    rdma(
        h,
        card,
        "mlx4_0",
        [port],
        node="0014:0500:2c7b:7700",
        image="0002:c903:00a1:b2c3",
        **{**CX3, "board": "MT_1090120019", "hca": "MT4100", "hw_rev": "0"},
    )
    ipoib(h, card, "ib0", guid, qpn=0x000A14, legacy=True)
    rdma_files(h)
    network_manager(h, plugins="ifcfg-rh,ibft")
    ifcfg(h, "eth0", TYPE="Ethernet", BOOTPROTO="dhcp", DEVICE="eth0", ONBOOT="yes")
    rpm(h, "rdma-core libibverbs NetworkManager")
    units(
        h,
        running=["NetworkManager.service"],
        enabled=["network.service"],
        exited=["rdma-load-modules@infiniband.service"],
        static=["rdma.service"],
    )
    return close(h, names)


UBUNTU_BASE = {
    "ubuntu2004": "netplan.io libnetplan0 linux-image-5.4.0-169-generic linux-modules-5.4.0-169-generic linux-modules-extra-5.4.0-169-generic",
    "ubuntu2204": "netplan.io libnetplan0 linux-image-5.15.0-91-generic linux-modules-5.15.0-91-generic linux-modules-extra-5.15.0-91-generic",
    "ubuntu2404": "netplan.io libnetplan1 netplan-generator linux-image-6.8.0-45-generic linux-modules-6.8.0-45-generic linux-modules-extra-6.8.0-45-generic",
}
DEB_BASE = "systemd udev iproute2 procps kmod libc6"


@host
def ubuntu2204_cx6():
    """Ubuntu: netplan and networkd 249; RDMA device and netdev share a name."""
    h = Host(
        "ubuntu2204-cx6",
        UBUNTU2204,
        "Ubuntu 22.04 with one ConnectX-6; netplan renders for networkd 249, which has no [IPoIB]; RDMA device and link are both called ibp65s0",
    )
    system(h)
    names = el_modules(h, VERBS, MLX5, FABRIC)
    management(h)
    card = mlx5(h, "0000:41:00.0", "101b", numa=1)
    guid = "b83f:d203:00aa:20d0"
    rdma(h, card, "ibp65s0", [ib_port(guid, rate=HDR, lid="0x1f")], node=guid, **CX6)
    ipoib(h, card, "ibp65s0", guid, qpn=0x001131)
    rdma_files(h)
    netplan(h, "eno1")
    dpkg(h, f"{DEB_BASE} {UBUNTU_BASE['ubuntu2204']} {RDMA_USER}")
    units(
        h,
        running=["systemd-networkd.service", "rdma-ndd.service"],
        exited=["rdma-load-modules@infiniband.service"],
        static=["rdma-ndd.service"],
    )
    return close(h, names)


@host
def ubuntu2404_cx7():
    """Ubuntu with a configured link and an opensm of its own."""
    h = Host(
        "ubuntu2404-cx7",
        UBUNTU2404,
        "Ubuntu 24.04 with one ConnectX-7; netplan already configures the IPoIB link (MTU 4092), networkd a P_Key child made over netlink; opensm runs on this port and is the master",
    )
    system(h)
    names = el_modules(h, VERBS, MLX5, FABRIC)
    management(h)
    card = mlx5(h, "0000:c1:00.0", "1021", link="gen5")
    guid = "a088:c203:0061:7c40"
    rdma(
        h, card, "ibp193s0", [ib_port(guid, rate=NDR, cap=CAP_WITH_SM, pkeys=["0xffff", "0x8001"])], node=guid, **CX7
    )
    ipoib(h, card, "ibp193s0", guid, qpn=0x0011C8, up=True, mtu=4092, speed=400000)
    netlink_child(h, "ibp193s0", guid, "0x8001", qpn=0x0011D0, speed=400000)
    folder = "etc/systemd/network"
    h.text(
        f"{folder}/20-ibp193s0.8001.netdev",
        "[NetDev]\nName=ibp193s0.8001\nKind=ipoib\n\n[IPoIB]\nPartitionKey=0x8001\nMode=datagram\n",
    )
    h.text(
        f"{folder}/21-ibp193s0.8001.network", "[Match]\nName=ibp193s0.8001\n\n[Network]\nAddress=192.168.11.24/24\n"
    )
    h.text(f"{folder}/10-netplan-ibp193s0.network.d/pkey.conf", "[Network]\nIPoIB=ibp193s0.8001\n")
    h.text(
        "run/systemd/network/10-netplan-ibp193s0.network",
        "[Match]\nName=ibp193s0\n\n[Link]\nMTUBytes=4092\n\n[Network]\nLinkLocalAddressing=ipv6\nAddress=192.168.10.24/24\n\n[IPoIB]\nMode=datagram\n",
    )
    rdma_files(h)
    ports = "0x" + guid.replace(":", "")
    opensm_files(h, ports=ports)
    enable(h, "opensm.service", "network-online.target")
    extra = "network:\n  version: 2\n  ethernets:\n    ibp193s0:\n      infiniband-mode: datagram\n      mtu: 4092\n      addresses:\n        - 192.168.10.24/24\n"
    netplan(h, "eno1", {"60-ipoib.yaml": extra})
    h.text(
        "etc/opensm/partitions.conf",
        "Default=0x7fff, ipoib, mtu=5, rate=7, defmember=full : ALL=full, SELF=full ;\nstorage=0x0001, ipoib, mtu=4, defmember=full : ALL=full, SELF=full ;\n",
    )
    dpkg(h, f"{DEB_BASE} {UBUNTU_BASE['ubuntu2404']} {RDMA_USER} {OPENSM_DEB} perftest")
    units(
        h,
        running=["systemd-networkd.service", "rdma-ndd.service", f"opensm@{ports}.service"],
        exited=["rdma-load-modules@infiniband.service", "opensm.service"],
        static=["rdma-ndd.service"],
    )
    return close(h, names)


@host
def ubuntu2004_cx5():
    """Ubuntu with a netplan that does not know infiniband-mode."""
    h = Host(
        "ubuntu2004-cx5",
        UBUNTU2004,
        "Ubuntu 20.04 with one ConnectX-5; netplan 0.104 rejects a file with infiniband-mode; an address is already configured without it",
    )
    system(h)
    names = el_modules(h, VERBS, MLX5, FABRIC)
    management(h)
    card = mlx5(h, "0000:5e:00.0", "1017", link="gen3")
    guid = "506b:4b03:00f0:1170"
    rdma(h, card, "ibp94s0", [ib_port(guid, lid="0x9")], node=guid, **CX5)
    ipoib(h, card, "ibp94s0", guid, qpn=0x000B44, up=True, speed=100000)
    rdma_files(h)
    netplan(
        h,
        "eno1",
        {"60-ib.yaml": "network:\n  version: 2\n  ethernets:\n    ibp94s0:\n      addresses: [192.168.10.20/24]\n"},
    )
    dpkg(h, f"{DEB_BASE} {UBUNTU_BASE['ubuntu2004']} {RDMA_USER}")
    units(
        h,
        running=["systemd-networkd.service", "rdma-ndd.service"],
        exited=["rdma-load-modules@infiniband.service"],
        static=["rdma-ndd.service"],
    )
    return close(h, names)


DEBIAN_BASE = f"{DEB_BASE} ifupdown isc-dhcp-client linux-image-6.1.0-57-amd64 linux-image-amd64"


def debian12(name, about, names, packages=f"{DEBIAN_BASE} {RDMA_USER}", removed=(), **kwargs):
    """The common part of a Debian 12 host with ifupdown on eno1."""
    h = Host(name, DEBIAN12, about)
    system(h)
    names = el_modules(h, *names)
    management(h)
    ifupdown(h, "eno1", **kwargs)
    dpkg(h, packages, removed)
    if "rdma-core" in packages:
        rdma_files(h)
    return h, names


def debian_units(h, fabric=True, **more):
    """Units of a Debian host with ifupdown."""
    running = ["rdma-ndd.service"] if fabric else []
    exited = ["networking.service"] + (["rdma-load-modules@infiniband.service"] if fabric else [])
    units(
        h,
        running=running,
        exited=exited,
        disabled=["systemd-networkd.service"],
        static=["rdma-ndd.service"] if fabric else [],
        **more,
    )


@host
def debian12_cx6():
    """Debian 12 with ifupdown, fresh link, remains of a removed opensm."""
    h, names = debian12(
        "debian12-cx6",
        "Debian 12 with one ConnectX-6 and ifupdown; fresh link; opensm was removed and left /etc/default/opensm behind",
        (VERBS, MLX5, FABRIC),
        f"{DEBIAN_BASE} ifenslave {RDMA_USER}",
        ["opensm"],
    )
    card = mlx5(h, "0000:41:00.0", "101b", numa=1)
    guid = "b83f:d203:00aa:30e8"
    rdma(h, card, "ibp65s0", [ib_port(guid, rate=HDR, lid="0x7")], node=guid, **CX6)
    ipoib(h, card, "ibp65s0", guid, qpn=0x0010E2)
    opensm_files(h, keep_config_only=True)
    debian_units(h)
    return close(h, names)


@host
def debian12_cx3():
    """Debian 12 with a card that can still do connected mode, both ports ACTIVE."""
    h, names = debian12(
        "debian12-cx3",
        "Debian 12 with one two-port ConnectX-3 and ifupdown; port 1 ACTIVE, port 2 without a cable; opensm not installed, no package tool in the tree",
        (VERBS, MLX4, FABRIC),
    )
    card = pci(
        h, "0000:03:00.0", "15b3:1003", "0280", "mlx4_core", link="gen3", width=8, subsystem=SUB["1003"], vfs=(0, 8)
    )
    h.attrs(card.path, {"mlx4_port1": "ib", "mlx4_port2": "ib"})
    ports = [
        ib_port("0002:c903:00b7:5d11", rate="56 Gb/sec (4X FDR)", lid="0x5", sm_lid="0x1", cap=CAP4),
        ib_port("0002:c903:00b7:5d12", "DOWN", lid="0x0", cap=CAP4),
    ]
    rdma(h, card, "mlx4_0", ports, node="0002:c903:00b7:5d10", image="0002:c903:00b7:5d13", **CX3)
    for number, port in enumerate(ports):
        link = {"up": True} if number == 0 else {}
        ipoib(h, card, f"ib{number}", port["guid"], qpn=0x000218 + number, legacy=True, port=number + 1, **link)
    debian_units(h)
    return close(h, names)


@host
def debian13_cx7():
    """Debian 13: no /etc/sysctl.conf, no source line in interfaces, a card in a slower slot."""
    h = Host(
        "debian13-cx7",
        DEBIAN13,
        "Debian 13 with one ConnectX-7 in a slot that runs at half its speed; no /etc/sysctl.conf; interfaces has no source line",
    )
    system(h)
    names = el_modules(h, VERBS, MLX5, FABRIC)
    management(h)
    ifupdown(h, "eno1", source=False)
    card = mlx5(h, "0000:61:00.0", "1021", link="gen4", top="gen5")
    guid = "a088:c203:0070:0b16"
    rdma(h, card, "ibp97s0", [ib_port(guid, rate=NDR, lid="0x44", sm_lid="0x2")], node=guid, **CX7)
    ipoib(h, card, "ibp97s0", guid, qpn=0x0010B6)
    rdma_files(h)
    dpkg(h, f"{DEB_BASE} ifupdown dhcpcd-base linux-sysctl-defaults linux-image-6.12.41+deb13-amd64 {RDMA_USER}")
    debian_units(h)
    return close(h, names)


@host
def sles15_cx5():
    """SLES 15: wicked."""
    h = Host(
        "sles15-cx5",
        SLES15,
        "SLES 15 SP5 with one ConnectX-5 and wicked; the RDMA device is renamed, the link is not; /lib is a real directory",
    )
    system(h)
    names = el_modules(h, VERBS, MLX5, FABRIC)
    management(h, "eth0")
    card = mlx5(h, "0000:3b:00.0", "1017", link="gen3")
    guid = "506b:4b03:00d1:9e34"
    rdma(h, card, "ibp59s0", [ib_port(guid, lid="0x15", sm_lid="0x3")], node=guid, **CX5)
    ipoib(h, card, "ib0", guid, qpn=0x000A5E)
    rdma_files(h)
    opensm_files(h)
    folder = "etc/sysconfig/network"
    h.text(
        f"{folder}/config",
        'AUTO6_WAIT_AT_BOOT=""\nAUTO6_UPDATE=""\nLINK_REQUIRED="auto"\nWICKED_DEBUG=""\nWICKED_LOG_LEVEL=""\nCHECK_DUPLICATE_IP="yes"\nSEND_GRATUITOUS_ARP="auto"\nDEBUG="no"\nWAIT_FOR_INTERFACES="30"\nFIREWALL="yes"\nNETCONFIG_MODULES_ORDER="dns-resolver dns-bind dns-dnsmasq nis ntp-runtime"\nNETCONFIG_DNS_POLICY="auto"\n',
    )
    h.text(
        f"{folder}/ifcfg-lo",
        "IPADDR=127.0.0.1/8\nNETMASK=255.0.0.0\nNETWORK=127.0.0.0\nSTARTMODE=nfsroot\nBOOTPROTO=static\nUSERCONTROL=no\nFIREWALL=no\n",
    )
    h.text(f"{folder}/ifcfg-eth0", "BOOTPROTO='dhcp'\nSTARTMODE='auto'\nZONE=public\n")
    unit(h, "wicked.service")
    unit(h, "wickedd.service")
    enable(h, "wicked.service")
    rpm(
        h,
        "rdma-core libibverbs libibverbs1 libibverbs-utils libmlx5-1 libibumad3 librdmacm1 infiniband-diags rdma-ndd opensm libopensm9",
    )
    units(
        h,
        running=["wickedd.service", "rdma-ndd.service"],
        exited=["wicked.service", "rdma-load-modules@infiniband.service"],
        disabled=["opensm.service"],
        static=["rdma-ndd.service"],
    )
    return close(h, names)


@host
def ethernet_only_cx6dx():
    """Only Ethernet cards: nothing for IPoIB or an SM."""
    h, names = debian12(
        "ethernet-only-cx6dx",
        "Debian 12 with a two-port ConnectX-6 Dx: RoCE only, no InfiniBand port, ib_umad and ib_ipoib not loaded",
        (VERBS, MLX5),
    )
    image = "b83f:d203:00bb:20d8"
    for number, (port, node, address) in enumerate(
        (
            ("ba3f:d2ff:febb:20d8", image, "b8:3f:d2:bb:20:d8"),
            ("ba3f:d2ff:febb:20d9", "b83f:d203:00bb:20d9", "b8:3f:d2:bb:20:d9"),
        )
    ):
        card = mlx5(h, f"0000:81:00.{number}", "101d", "0200", numa=1)
        link = f"enp129s0f{number}np{number}"
        down = {"state": "1: DOWN", "phys": "3: Disabled", "rate": "40 Gb/sec (4X QDR)"} if number else {}
        rdma(h, card, f"rocep129s0f{number}", [eth_port(port, link, **down)], node=node, image=image, **CX6DX)
        ethernet(h, card, link, address, up=not number, speed=100000)
    debian_units(h, fabric=False)
    return close(h, names)


@host
def vpi_mixed():
    """A VPI pair: one port InfiniBand, one port Ethernet."""
    h = Host(
        "vpi-mixed",
        ROCKY9,
        "Rocky 9 with a two-port VPI ConnectX-5: function 0 InfiniBand, function 1 configured as Ethernet",
    )
    system(h)
    names = el_modules(h, VERBS, TARGETS, MLX5, FABRIC)
    management(h)
    board = {**CX5, "board": "MT_0000000008"}
    guid = "506b:4b03:00e4:6680"
    card = mlx5(h, "0000:17:00.0", "1017", link="gen3")
    rdma(h, card, "mlx5_0", [ib_port(guid, lid="0x21")], node=guid, **board)
    ipoib(h, card, "ibp23s0f0", guid, qpn=0x000C11)
    card = mlx5(h, "0000:17:00.1", "1017", "0200", link="gen3")
    rdma(
        h,
        card,
        "mlx5_1",
        [eth_port("526b:4bff:fee4:6681", "enp23s0f1np1")],
        node="506b:4b03:00e4:6681",
        image=guid,
        **board,
    )
    ethernet(h, card, "enp23s0f1np1", "50:6b:4b:e4:66:81", speed=100000)
    rdma_files(h)
    opensm_files(h)
    network_manager(h, "eno1")
    rpm(h, RPM_RDMA_EL + " opensm opensm-libs")
    units(
        h,
        running=["NetworkManager.service", "rdma-ndd.service"],
        exited=["rdma-load-modules@infiniband.service"],
        disabled=["opensm.service"],
        static=["rdma-ndd.service"],
    )
    return close(h, names)


@host
def no_hca():
    """A plain host."""
    h, names = debian12("no-hca", "Debian 12 without any RDMA hardware, module or package", (), DEBIAN_BASE)
    debian_units(h, fabric=False)
    return close(h, names)


def two_cards(h, second, prefix2=LINK_LOCAL, **links):
    """Two ConnectX-6 in one host."""
    guids, slots = second
    for number, (guid, slot, prefix) in enumerate(zip(guids, slots, (LINK_LOCAL, prefix2))):
        card = mlx5(h, f"0000:{slot}:00.0", "101b", numa=number)
        lid = ("0xc", "0x3")[number]
        pkeys = ["0xffff", "0x8001"]
        rdma(
            h,
            card,
            f"mlx5_{number}",
            [ib_port(guid, rate=HDR, lid=lid, prefix=prefix, pkeys=pkeys)],
            node=guid,
            **CX6,
        )
        ipoib(
            h,
            card,
            f"ibp{int(slot, 16)}s0",
            guid,
            qpn=0x001029 + 0x100 * number,
            prefix=prefix,
            **links.get(f"link{number}", {}),
        )


@host
def two_hca_two_subnets():
    """Two fabrics; the second profile has the wrong type."""
    h = Host(
        "two-hca-two-subnets",
        ROCKY9,
        "Rocky 9 with two ConnectX-6 on two fabrics with different subnet prefixes; the profile of the second link has the wrong type ethernet, so the link stays down",
    )
    system(h)
    names = el_modules(h, VERBS, TARGETS, MLX5, FABRIC)
    management(h)
    two_cards(
        h,
        (("b83f:d203:00aa:41a0", "b83f:d203:00aa:42b4"), ("41", "a1")),
        "fe80:0000:0000:0001",
        link0={"up": True, "mtu": 4092, "speed": 200000},
    )
    rdma_files(h)
    network_manager(h, "eno1")
    keyfile(
        h,
        "ibp65s0",
        "infiniband",
        "ibp65s0",
        "[infiniband]\nmtu=4092\ntransport-mode=datagram\n\n[ipv4]\naddress1=192.168.10.32/24\nmethod=manual\nnever-default=true\n\n[ipv6]\nmethod=link-local\n",
    )
    keyfile(
        h,
        "ibp161s0",
        "ethernet",
        "ibp161s0",
        "[ethernet]\n\n[ipv4]\naddress1=192.168.20.32/24\nmethod=manual\n\n[ipv6]\nmethod=disabled\n",
    )
    rpm(h, RPM_RDMA_EL)
    units(
        h,
        running=["NetworkManager.service", "rdma-ndd.service"],
        exited=["rdma-load-modules@infiniband.service"],
        static=["rdma-ndd.service"],
    )
    return close(h, names)


@host
def bond_rocky9():
    """Two cards on one fabric, nothing configured."""
    h = Host(
        "bond-rocky9",
        ROCKY9,
        "Rocky 9 with two ConnectX-6 on one fabric, both links down and without profile: ready for an active-backup bond",
    )
    system(h)
    names = el_modules(h, VERBS, TARGETS, MLX5, FABRIC)
    management(h)
    two_cards(h, (("b83f:d203:00aa:9010", "b83f:d203:00aa:9024"), ("41", "81")))
    rdma_files(h)
    network_manager(h, "eno1")
    rpm(h, RPM_RDMA_EL)
    units(
        h,
        running=["NetworkManager.service", "rdma-ndd.service"],
        exited=["rdma-load-modules@infiniband.service"],
        static=["rdma-ndd.service"],
    )
    return close(h, names)


@host
def vf_guest():
    """A guest with a virtual function."""
    h = Host(
        "vf-guest",
        UBUNTU2204,
        "Ubuntu 22.04 guest with a ConnectX-6 virtual function (15b3:101c): IPoIB works, a subnet manager cannot run",
    )
    system(h)
    names = ["virtio_net"] + VERBS + MLX5 + FABRIC
    load(h, names)
    virtio_management(h)
    card = pci(h, "0000:06:00.0", "15b3:101c", "0207", "mlx5_core", numa=-1, link="unknown", subsystem=SUB["101b"])
    guid = "b83f:d203:00aa:5101"
    rdma(
        h,
        card,
        "ibp6s0",
        [ib_port(guid, rate=HDR, lid="0x19")],
        node="b83f:d203:00aa:5100",
        image="b83f:d203:00aa:5000",
        **{**CX6, "hca": "MT4124"},
    )
    ipoib(h, card, "ibp6s0", guid, qpn=0x000412)
    rdma_files(h)
    netplan(h, "enp1s0")
    dpkg(h, f"{DEB_BASE} {UBUNTU_BASE['ubuntu2204']} {RDMA_USER}")
    units(
        h,
        running=["systemd-networkd.service", "rdma-ndd.service"],
        exited=["rdma-load-modules@infiniband.service"],
        static=["rdma-ndd.service"],
    )
    return close(h, names)


@host
def sriov_hypervisor():
    """A physical function with two virtual ones."""
    h = Host(
        "sriov-hypervisor",
        ROCKY9,
        "Rocky 9 with a ConnectX-6 whose two virtual functions are bound on the host (physfn links): three RDMA devices, one of them able to run a subnet manager",
    )
    system(h)
    names = el_modules(h, VERBS, TARGETS, MLX5, FABRIC)
    management(h)
    card = mlx5(h, "0000:41:00.0", "101b", vfs=(2, 16))
    image = "b83f:d203:00aa:a030"
    rdma(h, card, "mlx5_0", [ib_port(image, rate=HDR, lid="0x2")], node=image, **CX6)
    ipoib(h, card, "ibp65s0", image, qpn=0x001029)
    for number in (0, 1):
        card = pci(
            h,
            f"0000:41:00.{number + 1}",
            "15b3:101c",
            "0207",
            "mlx5_core",
            link="unknown",
            subsystem=SUB["101b"],
            physfn="0000:41:00.0",
        )
        guid = f"b83f:d203:00aa:52{number}1"
        rdma(
            h,
            card,
            f"mlx5_{number + 1}",
            [ib_port(guid, rate=HDR, lid=f"0x{3 + number:x}")],
            node=guid[:-1] + "0",
            image=image,
            **{**CX6, "hca": "MT4124"},
        )
        ipoib(h, card, f"ibp65s0v{number}", guid, qpn=0x001140 + number)
    rdma_files(h)
    network_manager(h, "eno1")
    rpm(h, RPM_RDMA_EL)
    units(
        h,
        running=["NetworkManager.service", "rdma-ndd.service"],
        exited=["rdma-load-modules@infiniband.service"],
        static=["rdma-ndd.service"],
    )
    return close(h, names)


@host
def irdma_mixed():
    """Field case: devices with fewer attributes next to a real HCA."""
    h = Host(
        "irdma-mixed",
        ROCKY9,
        "Rocky 9 with three Intel irdma devices (Ethernet; no counters, no board_id, no hca_type) next to one ConnectX-6",
    )
    system(h)
    names = el_modules(h, VERBS, TARGETS, ["ice", "i40e", "irdma"], MLX5, FABRIC)
    management(h)
    for number, (address, link, tail) in enumerate(
        (
            ("0000:17:00.0", "ens1f0", "4c:20"),
            ("0000:17:00.1", "ens1f1", "4c:21"),
            ("0000:ca:00.0", "ens2f0", "51:88"),
        )
    ):
        card = pci(h, address, "8086:1592", "0200", "ice", subsystem="8086:0002", vfs=(0, 128), numa=int(number == 2))
        low = tail.replace(":", "")
        port = eth_port(f"b696:91ff:feae:{low}", link, counters=False)
        rdma(
            h,
            card,
            f"irdma{number}",
            [port],
            node=f"b696:91ff:feae:{low}",
            fw="1.65",
            board=None,
            hca=None,
            hw_rev=None,
        )
        ethernet(h, card, link, f"b4:96:91:ae:{tail}", speed=100000)
    card = mlx5(h, "0000:41:00.0", "101b")
    guid = "b83f:d203:00aa:60c0"
    rdma(h, card, "mlx5_0", [ib_port(guid, rate=HDR, lid="0x30")], node=guid, **CX6)
    ipoib(h, card, "ibp65s0", guid, qpn=0x001029)
    rdma_files(h)
    network_manager(h, "eno1")
    rpm(h, RPM_RDMA_EL)
    units(
        h,
        running=["NetworkManager.service", "rdma-ndd.service"],
        exited=["rdma-load-modules@infiniband.service"],
        static=["rdma-ndd.service"],
    )
    return close(h, names)


@host
def empty_cage():
    """Field case: nothing plugged in, and a rate no parser expects."""
    h, names = debian12(
        "empty-cage",
        "Debian 12 with a two-port ConnectX-6 without cables: state DOWN, phys_state Polling and Disabled, rate `0 GB/sec`",
        (VERBS, MLX5, FABRIC),
    )
    board = {**CX6, "board": "MT_0000000225"}
    for number, phys in enumerate(("2: Polling", "3: Disabled")):
        card = mlx5(h, f"0000:41:00.{number}", "101b")
        guid = f"b83f:d203:00aa:70f{4 + number}"
        rdma(
            h,
            card,
            f"ibp65s0f{number}",
            [ib_port(guid, "DOWN", phys=phys, rate="0 GB/sec")],
            node=guid,
            image="b83f:d203:00aa:70f4",
            **board,
        )
        ipoib(h, card, f"ibp65s0f{number}", guid, qpn=0x001029 + 0x40 * number)
    debian_units(h)
    return close(h, names)


@host
def mixed_opa():
    """Omni-Path next to InfiniBand."""
    h = Host(
        "mixed-opa",
        ROCKY9,
        "Rocky 9 with an Intel Omni-Path adapter (hfi1_0, managed by opafm, never by opensm) next to one ConnectX-6",
    )
    system(h)
    names = el_modules(h, VERBS, TARGETS, ["rdmavt", "hfi1", "opa_vnic"], MLX5, FABRIC)
    management(h)
    card = pci(h, "0000:05:00.0", "8086:24f0", "0208", "hfi1", link="gen3", subsystem="8086:2628")
    guid = "0011:7501:0165:b2f3"
    port = ib_port(guid, lid="0xb", cap="0x00410022", sm_lid="0xb")
    rdma(
        h,
        card,
        "hfi1_0",
        [port],
        node=guid,
        fw="1.27.0",
        board="Intel Omni-Path Host Fabric Interface Adapter 100 Series",
        hca=None,
        hw_rev="11",
    )
    ipoib(h, card, "ibp5s0", guid, qpn=0x000004, legacy=True, up=True, speed=100000)
    card = mlx5(h, "0000:41:00.0", "101b")
    guid = "b83f:d203:00aa:80a8"
    rdma(h, card, "mlx5_0", [ib_port(guid, "INIT", rate=HDR)], node=guid, **CX6)
    ipoib(h, card, "ibp65s0", guid, qpn=0x001029)
    rdma_files(h)
    opensm_files(h)
    unit(h, "opafm.service")
    enable(h, "opafm.service")
    network_manager(h, "eno1")
    keyfile(
        h,
        "ibp5s0",
        "infiniband",
        "ibp5s0",
        "[infiniband]\ntransport-mode=datagram\n\n[ipv4]\naddress1=192.168.30.5/24\nmethod=manual\n\n[ipv6]\nmethod=disabled\n",
    )
    rpm(h, RPM_RDMA_EL + " opensm opensm-libs opa-fm")
    units(
        h,
        running=["NetworkManager.service", "rdma-ndd.service", "opafm.service"],
        exited=["rdma-load-modules@infiniband.service"],
        disabled=["opensm.service"],
        static=["rdma-ndd.service"],
    )
    return close(h, names)


@host
def bare_debian12_image():
    """An image for diskless hosts: configuration only."""
    h = Host(
        "bare-debian12-image",
        DEBIAN12,
        "the unpacked root of a Debian 12 image for diskless hosts: no /sys, no /proc, no package database, no unit files",
    )
    system(h, live=False)
    h.text(
        "etc/network/interfaces",
        "# interfaces(5) file used by ifup(8) and ifdown(8)\n# Include files from /etc/network/interfaces.d:\nsource /etc/network/interfaces.d/*\n",
    )
    return h


@host
def bare_rocky9_image():
    """An image for diskless hosts: configuration only."""
    h = Host(
        "bare-rocky9-image",
        ROCKY9,
        "the unpacked root of a Rocky 9 image for diskless hosts: no /sys, no /proc, no package database, no unit files",
    )
    system(h, live=False)
    h.text("etc/NetworkManager/NetworkManager.conf", NM_CONF_EL.format(plugins="keyfile,ifcfg-rh"))
    return h


# -------------------------------------------------------------------- recorded states

LEFT_OUT = re.compile(r"/(cm_[rt]x_[a-z]+|statistics|queues)/")


def replay(h, capture):
    """Lay out the recorded sysfs of one kernel state.

    Lines are `path mode = value`, `path -> target`, `path mode ! error` or `path/ `. A
    file whose reading failed is left out (write-only ones become empty files); CM
    counters, netdev statistics and queues are left out to keep the tree small.
    """
    for name in sorted(os.listdir(RECORDED)):
        if not re.fullmatch(re.escape(capture) + r"\.sysfs-(infiniband|net)-.+\.txt", name):
            continue
        for line in recorded(name).splitlines():
            if LEFT_OUT.search(line):
                continue
            value = re.fullmatch(r"(/\S+) [0-7]+ = ?(.*)", line)
            link = re.fullmatch(r"(/\S+) -> (\S+)", line)
            mute = re.fullmatch(r"(/\S+) 200 ! .*", line)
            if value:
                text = value.group(2)
                text = text.replace("|", "\n") if value.group(1).endswith("/uevent") else text
                h.attr(value.group(1), text)
            elif link:
                h.raw_link(link.group(1), link.group(2))
            elif mute:
                h.write_only(mute.group(1))
    section = None
    nodes = []
    for line in recorded(f"{capture}.sysfs-class.txt").splitlines():
        if line.startswith("/"):
            section = line.rstrip(":")
        match = re.search(r" (\S+) -> (\S+)$", line)
        if match:
            h.raw_link(f"{section}/{match.group(1)}", match.group(2))
            nodes.append((section, match.group(1), os.path.normpath(f"{section}/{match.group(2)}").strip("/")))
    character_nodes(h, nodes)
    management_from_json(h, json.loads(recorded(f"{capture}.ip-j-d-link.json")))
    for path, content in h.files.items():
        match = re.fullmatch(r"sys/devices/.*/infiniband/([^/]+)/ports/(\d+)/gids/0", path)
        if match:
            h.port_guids[content.strip().replace(":", "")[16:]] = f"{match.group(1)}/{match.group(2)}"
    h.text(".ibplan/queries/ip-link.json", recorded(f"{capture}.ip-j-d-link.json"))
    h.recorded += ["/sys/class/infiniband"]
    if capture != "rxe":
        h.recorded.append("IPoIB links of /sys/class/net")
    h.recorded += ["links of /sys/class", "ip -j -d link"]
    h.composed += ["attributes of the other links (from ip -j -d link)", "ibdev and port of umad and uverbs nodes"]


def character_nodes(h, nodes):
    """The attributes of umad, issm and uverbs nodes: the listing shows only their links."""
    ports = {}
    devices = {}
    for section, name, path in nodes:
        if section == "/sys/class/infiniband":
            parent = os.path.dirname(os.path.dirname(path))
            devices[parent] = name
            ports[parent] = sorted(
                {int(m.group(1)) for m in (re.match(re.escape(path) + r"/ports/(\d+)/", f) for f in h.files) if m}
            )
    seen = {}
    for section, name, path in nodes:
        parent = os.path.dirname(os.path.dirname(path))
        if section == "/sys/class/infiniband_mad":
            kind = re.match("[a-z]+", name).group(0)
            turn = seen.setdefault((kind, parent), [])
            turn.append(name)
            h.attrs(path, {"ibdev": devices[parent], "port": ports[parent][len(turn) - 1]})
        elif section == "/sys/class/infiniband_verbs":
            h.attrs(path, {"ibdev": devices[parent], "abi_version": 1})
    h.text("sys/class/infiniband_mad/abi_version", "5\n")
    h.text("sys/class/infiniband_verbs/abi_version", "6\n")


def management_from_json(h, links):
    """lo, enp0s1 and dummies, whose sysfs was not recorded, from the recorded link list."""
    for link in links:
        name = link["ifname"]
        h.netdevs.append(name)
        if link["link_type"] == "infiniband":
            continue
        folder = h.walk(f"sys/class/net/{name}")
        flags = link["flags"]
        up, carrier = "UP" in flags, "LOWER_UP" in flags
        bits = {"UP": 0x1, "BROADCAST": 0x2, "LOOPBACK": 0x8, "NOARP": 0x80, "MULTICAST": 0x1000}
        h.attrs(
            folder,
            {
                "type": {"loopback": 772, "ether": 1}[link["link_type"]],
                "address": link["address"],
                "addr_len": 6,
                "broadcast": link["broadcast"],
                "mtu": link["mtu"],
                "operstate": link["operstate"].lower(),
                "carrier": int(carrier) if up else None,
                "carrier_changes": 2 if name == "enp0s1" else 0,
                "dev_id": "0x0",
                "dev_port": 0,
                "ifindex": link["ifindex"],
                "iflink": link["ifindex"],
                "flags": hex(sum(bits.get(flag, 0) for flag in flags)),
                "link_mode": 0,
                "tx_queue_len": link["txqlen"],
            },
        )
        h.text(f"{folder}/uevent", f"INTERFACE={name}\nIFINDEX={link['ifindex']}\n")
        h.link(f"{folder}/subsystem", "sys/class/net")
        if link.get("parentdev"):
            h.link(f"{folder}/device", os.path.dirname(os.path.dirname(folder)))


SOFTIB_ABOUT = {
    "init": "recorded kernel state: two software HCAs with two ports each, no subnet manager, all ports INIT, links down",
    "active": "recorded kernel state: opensm has run; ib0 up, ib1 connected, the P_Key child ib0.8001, other links down",
    "pci": "recorded kernel state: three PCI functions driven as mlx5_core and two VFs; RDMA devices and links renamed by udev",
    "rxe": "recorded kernel state: only a software RoCE device, no InfiniBand port",
}


def softib(name, capture, about):
    """A recorded Debian 12 kernel state with a composed system around it."""
    h = Host(name, DEBIAN12, about, hostname="softhost")
    system(h)
    modules = ["virtio_net"] + VERBS[:6] + ["udp_tunnel", "ip6_udp_tunnel", "rdma_rxe", "ib_umad", "ib_ipoib"]
    soft = capture != "rxe"
    users = {"ib_core": ["softib"], "ib_uverbs": ["softib"], "rdma_rxe": []} if soft else {}
    if not soft:
        modules.append("dummy")
    load(h, modules, users)
    if soft:
        h.files["proc/modules"] = "softib 131072 0 - Live 0x0000000000000000 (OE)\n" + h.files["proc/modules"]
        h.attrs("sys/module/softib", {"initstate": "live", "refcnt": 0, "taint": "OE"})
    replay(h, capture)
    virtual_pci(h, capture)
    ifupdown(h, "enp0s1")
    rdma_files(h)
    packages = f"{DEBIAN_BASE} {RDMA_USER} {OPENSM_DEB}"
    dpkg(h, packages)
    opensm_files(h)
    debian_units(h, fabric=False, enabled=["opensm.service"])
    return close(h, modules)


def virtual_pci(h, capture):
    """PCI functions of the recorded virtual machine (ids from lspci)."""
    functions = {"0000:00:01.0": ("1af4:1000", "0200", "virtio-pci", None)}
    if capture == "softib-pci-active":
        functions["0000:00:05.0"] = ("1b36:0005", "00ff", "mlx5_core", None)
        functions["0000:00:06.0"] = ("1b36:0005", "00ff", "mlx5_core", None)
        functions["0000:01:00.0"] = ("1b36:0010", "010802", "mlx5_core", (2, 2))
        functions["0000:01:00.1"] = ("1b36:0010", "010802", "mlx5_core", "0000:01:00.0")
        functions["0000:01:00.2"] = ("1b36:0010", "010802", "mlx5_core", "0000:01:00.0")
    for address, (ids, kind, driver, more) in functions.items():
        path = (
            f"sys/devices/pci0000:00/{address}"
            if address.startswith("0000:00")
            else f"sys/devices/pci0000:00/0000:00:07.0/{address}"
        )
        vendor, device = ids.split(":")
        numbers = more if isinstance(more, tuple) else (None, None)
        h.attrs(
            path,
            {
                "vendor": f"0x{vendor}",
                "device": f"0x{device}",
                "class": "0x" + kind.ljust(6, "0"),
                "numa_node": -1,
                "sriov_numvfs": numbers[0],
                "sriov_totalvfs": numbers[1],
            },
        )
        h.link(f"sys/bus/pci/devices/{address}", path)
        h.link(f"{path}/subsystem", "sys/bus/pci")
        h.link(f"{path}/driver", f"sys/bus/pci/drivers/{driver}")
        h.link(f"sys/bus/pci/drivers/{driver}/{address}", path)
        if isinstance(more, str):
            parent = f"sys/devices/pci0000:00/0000:00:07.0/{more}"
            h.link(f"{path}/physfn", parent)
            h.link(f"{parent}/virtfn{int(address[-1]) - 1}", path)
    h.composed.append("PCI attributes (identifiers from a recorded lspci)")


@host
def deb12_softib_init():
    """Recorded: no SM."""
    return softib("deb12-softib-init", "softib-bus-init", SOFTIB_ABOUT["init"])


@host
def deb12_softib_active():
    """Recorded: opensm has run, a child exists."""
    return softib("deb12-softib-active", "softib-bus-active", SOFTIB_ABOUT["active"])


@host
def deb12_softib_pci():
    """Recorded: PCI parents and VFs."""
    return softib("deb12-softib-pci", "softib-pci-active", SOFTIB_ABOUT["pci"])


@host
def deb12_rxe():
    """Recorded: RoCE only."""
    return softib("deb12-rxe", "rxe", SOFTIB_ABOUT["rxe"])


# ------------------------------------------------------------------------------ main


def compose():
    """All hosts, verified."""
    result, owners = {}, {}
    for name, function in HOSTS.items():
        h = function()
        assert h.name == name, f"{function.__name__} makes {h.name}"
        h.finish()
        h.verify()
        for guid in h.port_guids:
            if not name.startswith("deb12-"):
                assert guid not in owners, f"{name}: port GUID {guid} belongs to {owners.get(guid)}"
                owners[guid] = name
        result[name] = h
    return result


def present(folder):
    """What a host folder holds now: path -> content, or ("link", target)."""
    found = {}
    for base, folders, files in os.walk(folder):
        for name in sorted(folders + files):
            path = os.path.join(base, name)
            key = os.path.relpath(path, folder)
            if os.path.islink(path):
                found[key] = ("link", os.readlink(path))
            elif os.path.isfile(path):
                with open(path, "rb") as stream:
                    found[key] = stream.read()
    return found


def wanted(h):
    """What a host folder is to hold, in the form of present()."""
    result = {path: content.encode() for path, content in h.files.items()}
    result.update({path: ("link", target) for path, target in h.links.items()})
    return result


def stale(hosts):
    """Host folders that no function makes any more."""
    return [
        name
        for name in sorted(os.listdir(HERE))
        if name not in hosts and os.path.exists(os.path.join(HERE, name, ".ibplan", "host.json"))
    ]


def differences(hosts):
    """Lines that say how the trees differ from the declarations."""
    lines = [f"{name}: no declaration makes this host" for name in stale(hosts)]
    for name, h in hosts.items():
        now, goal = present(os.path.join(HERE, name)), wanted(h)
        for path in sorted(set(now) | set(goal)):
            if now.get(path) != goal.get(path):
                word = "missing" if path not in now else "not wanted" if path not in goal else "differs"
                lines.append(f"{name}/{path}: {word}")
    return lines


def write(hosts):
    """Write the trees; files that already fit are left alone."""
    for name in stale(hosts):
        shutil.rmtree(os.path.join(HERE, name))
    for name, h in hosts.items():
        root = os.path.join(HERE, name)
        now, goal = present(root), wanted(h)
        for path in sorted(now):
            if now[path] != goal.get(path):
                os.remove(os.path.join(root, path))
        for path, content in goal.items():
            if now.get(path) == content:
                continue
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            if isinstance(content, tuple):
                os.symlink(content[1], full)
            else:
                with open(full, "wb") as stream:
                    stream.write(content)
        for base, _, _ in os.walk(root, topdown=False):
            if not os.listdir(base):
                os.rmdir(base)


def main(arguments):
    """Command line."""
    if arguments not in ([], ["--check"], ["--list"]):
        print(__doc__, file=sys.stderr)
        return 2
    if arguments == ["--list"]:
        print("\n".join(sorted(HOSTS)))
        return 0
    hosts = compose()
    if arguments == ["--check"]:
        lines = differences(hosts)
        for line in lines[:40]:
            print(line)
        if len(lines) > 40:
            print(f"... and {len(lines) - 40} more")
        print(f"{len(hosts)} hosts, {len(lines)} differences")
        return 1 if lines else 0
    write(hosts)
    print(f"{len(hosts)} hosts written")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
