//! Problem codes of the room `subnet_manager`.

use crate::codes;

codes! {
    /// Not a key of opensm.conf.
    UNKNOWN_OPTION = "subnet_manager.unknown_option": "`options` has a key that opensm.conf does not know. opensm would print one line on its standard output, ignore the key, and run with its default. Keys are checked against opensm 3.3.x; NVIDIA's own subnet manager 5.x, as MLNX_OFED and DOCA ship it, has more, and those cannot be set here.",
    /// The key has a field of its own.
    OPTION_HAS_FIELD = "subnet_manager.option_has_field": "The key of opensm.conf is kept by a field of the document, or by the service unit, so it must not stand in `options` too: two places could contradict each other. The hint names the field.",
    /// A value that opensm would not take.
    OPTION_VALUE = "subnet_manager.option_value": "The value has the wrong type for this key of opensm.conf or is out of its range. opensm would go on with its default and exit status 0; a boolean that is not exactly TRUE would silently count as false. The hint says what is right.",
    /// The console is open.
    CONSOLE_OPEN = "subnet_manager.console_open": "`console: socket` opens opensm's command console on every address of the host, without a password: whoever reaches the port commands the subnet manager. An opensm that is built without it (Debian's) takes it for `off`. Use `loopback`, or leave the console off.",
    /// Two masters.
    IGNORES_OTHERS = "subnet_manager.ignores_others": "With `ignore_other_sm` opensm does not look for other subnet managers and does not go to standby. Where another one runs, both assign LIDs and routes to the same ports, and the fabric flaps.",
    /// A port is named in no way or in two.
    PORT_SELECTOR = "subnet_manager.port_selector": "A port is named in exactly one way: by `guid`, by `device`, or by `pci`; `port` is the port number on a device or PCI function, and means nothing beside a GUID.",
    /// No instance was given, and no port would do.
    NO_ELIGIBLE_PORT = "subnet_manager.no_eligible_port": "The document names no port, and this host has no port on which a subnet manager could run. It needs a port whose link layer is InfiniBand, of a physical function, not of an Omni-Path adapter. A port of a VPI adapter that is set to Ethernet must be switched to InfiniBand first.",
    /// No instance was given, and several ports would do.
    SEVERAL_PORTS = "subnet_manager.several_ports": "The document names no port, and more than one would do. Which subnet gets a subnet manager is not guessed: name the port under `instances`, one instance for each subnet that this host shall serve. Two ports in the same subnet need one instance only.",
    /// No such GUID.
    UNKNOWN_GUID = "subnet_manager.unknown_guid": "No port of this host has this GUID. opensm would fail to bind, say that another instance may be running, and exit with status 0, so the service would look fine. `ibstat -p` lists the port GUIDs.",
    /// A node GUID.
    NODE_GUID = "subnet_manager.node_guid": "The GUID is that of an adapter (node GUID), not of one of its ports. opensm, partitions.conf and IPoIB addresses use port GUIDs, which often differ from it by one. The message names the port GUID.",
    /// No such device.
    UNKNOWN_DEVICE = "subnet_manager.unknown_device": "No RDMA device, PCI function or port of this name or number is on this host. `rdma dev` lists the devices; udev may have renamed them (mlx5_0 or ibp65s0).",
    /// An Ethernet port.
    ETHERNET_PORT = "subnet_manager.ethernet_port": "The link layer of the port is Ethernet (RoCE or iWARP). There is nothing to manage there: a subnet manager belongs to InfiniBand. A VPI adapter's port can be set to InfiniBand with mlxconfig or mstconfig.",
    /// A virtual function.
    VIRTUAL_FUNCTION = "subnet_manager.virtual_function": "The port belongs to a virtual function. Its management packets of class SMI are blocked or answered by the physical function, so a subnet manager cannot run on it. Run it on a host that owns the physical function.",
    /// Omni-Path.
    OMNI_PATH = "subnet_manager.omni_path": "The adapter is of the Omni-Path family (hfi1). opensm cannot manage that fabric; its own fabric manager (opafm) does.",
    /// The same port twice.
    DUPLICATE_PORT = "subnet_manager.duplicate_port": "Two instances are bound to the same port. One opensm serves one port; the second would fail to bind and exit with status 0.",
    /// Instances share a prefix.
    PREFIX_SHARED = "subnet_manager.prefix_shared": "With more than one instance each needs its own `subnet_prefix`: two fabrics with the same prefix on one host make GIDs ambiguous, and programs connect over the wrong one.",
    /// No hardware is recorded.
    HARDWARE_UNKNOWN = "subnet_manager.hardware_unknown": "No RDMA device is recorded in this image, so the GUID is taken as given and cannot be checked. Whether it belongs to an InfiniBand port shows when the image is started.",
    /// No hardware, and no GUID.
    NEEDS_GUID = "subnet_manager.needs_guid": "No RDMA device is recorded in this image, so a port can only be named by its GUID: a device name or PCI address says nothing before the hardware is there.",
    /// The document has no Default rule.
    DEFAULT_RULE_ADDED = "subnet_manager.default_rule_added": "The document lists partitions, and none of them is the default partition (0x7fff). A partitions.conf without a rule for it makes every other port a limited member of the default partition and removes its IPoIB broadcast group, so IP over InfiniBand stops everywhere. The rule `Default=0x7fff, ipoib, defmember=full : ALL=full, SELF=full ;` is therefore written, which is what opensm does without a file. List the partition `Default` to decide yourself.",
    /// Default without IPoIB.
    DEFAULT_WITHOUT_IPOIB = "subnet_manager.default_without_ipoib": "The partition Default has no `ipoib`. opensm then makes no broadcast group for it, and every IPoIB interface on the default partition (ib0 and the like) stays without carrier. Add `ipoib: {}` unless that is what you want.",
    /// Default without ALL.
    DEFAULT_WITHOUT_ALL = "subnet_manager.default_without_all": "The partition Default does not have ALL among its members. opensm makes every port that it does not name a limited member, and limited members cannot talk to each other.",
    /// Two partitions with one key or name.
    DUPLICATE_PARTITION = "subnet_manager.duplicate_partition": "Two partitions have the same P_Key or the same name. opensm would quietly merge them into the first: rules for one would act on the other. The membership bit is no part of a P_Key's identity: 0x0010 and 0x8010 are one partition.",
    /// Default is 0x7fff.
    DEFAULT_NAME = "subnet_manager.default_name": "The name Default belongs to P_Key 0x7fff and to nothing else, in opensm and here. A partition of that name with another key, or that key under another name, would be read by people as something that it is not.",
    /// `both` without the option.
    BOTH_NEEDS_OPTION = "subnet_manager.both_needs_option": "Membership `both` gives a port the full and the limited key of a partition. opensm does that only with `allow_both_pkeys`; without it, it would quietly become full membership.",
    /// Nobody is in it.
    EMPTY_PARTITION = "subnet_manager.empty_partition": "The partition has no members, so opensm removes it again right after reading it. List port GUIDs, or ALL.",
    /// Nobody can talk.
    ONLY_LIMITED = "subnet_manager.only_limited": "Every member of the partition is limited. Limited members talk to full members only, so nobody in this partition can talk to anybody.",
    /// A service level without QoS.
    SL_WITHOUT_QOS = "subnet_manager.sl_without_qos": "The IPoIB group of a partition has a service level, and `qos` is not set in the options of every instance. opensm then uses service level 0.",
    /// The group is faster than the port.
    RATE_ABOVE_PORT = "subnet_manager.rate_above_port": "The rate of a partition's IPoIB group is above that of a port of this host. Group parameters are a floor: a port below them cannot join, so its IPoIB interface stays without carrier. Set the rate to that of the slowest member, or leave it out (10 Gb/s as the floor is no limit on the traffic).",
    /// The file that is there would be dropped.
    PARTITIONS_BROKEN = "subnet_manager.partitions_broken": "The partitions file on the host has a mistake, so opensm drops it whole and goes on with the default partition and everybody as full member: none of its partitions exist. It is replaced by what the document says.",
    /// The unit is masked.
    MASKED = "subnet_manager.masked": "The service unit is masked: somebody linked it to /dev/null so that nothing starts it. ibplan does not overrule that. Unmask it (`systemctl unmask`), or set the state to stopped.",
    /// Another subnet manager is master.
    OTHER_MASTER = "subnet_manager.other_master": "The port says that another subnet manager is master of its subnet (SM LID; it may be stale after that one died, `sminfo` tells). An opensm with a higher priority than that one takes over, and its partitions and routes replace the other's. Managed switches and UFM often run the subnet manager already. Set `take_over: true` when that is meant; else give this one a lower priority, so that it waits as standby.",
    /// systemd is not running.
    NO_SYSTEMD = "subnet_manager.no_systemd": "systemd is not running here, or could not be asked, so the service was neither started nor stopped. Files and enablement are as wanted; the next boot of systemd takes them.",
    /// MLNX_OFED's service runs one.
    ONE_INSTANCE_ONLY = "subnet_manager.one_instance_only": "The service of MLNX_OFED and DOCA (opensmd) starts one opensm. Several instances need the distribution's own opensm, or hosts of their own.",
    /// No ib_umad.
    NO_UMAD = "subnet_manager.no_umad": "opensm sends and receives management packets through the kernel module ib_umad. This kernel does not have it: cloud flavours of distribution kernels leave it out, and some distributions put it into a package of its own (kernel-modules-extra, linux-modules-extra). Without it opensm finds no port and ends with exit status 0.",
    /// Two daemons, one cache.
    SHARED_CACHE = "subnet_manager.shared_cache": "The launch script of this distribution starts all instances with the same /var/cache/opensm. Each writes guid2lid there for its own subnet, so LIDs may be assigned anew when they are started again. Traffic recovers by itself; hosts of their own for each subnet avoid it.",
}
