//! Problem codes of the room `ipoib`: the sections `ipoib`, `bonds` and `network_backend`.

use crate::codes;

codes! {
    /// A back end cannot say what is wanted.
    BACKEND_CANNOT = "ipoib.backend_cannot": "The network back end of this host cannot express what the document wants of this link: netplan has no type for a P_Key child, for example, and versions before 0.105 know no IPoIB mode. ibplan refuses rather than write half of it. Choose another back end with `network_backend`, or take the field out that the message names.",
    /// A child without its parent.
    CHILD_WITHOUT_PARENT = "ipoib.child_without_parent": "networkd makes a P_Key child while it configures the parent interface, because the parent's own file names the child. Without the parent among the interfaces of the document nobody would name it, and the child would never appear. Add the parent interface to the section `ipoib`.",
    /// A foreign file configures more than the wanted links.
    FOREIGN_SHARED = "ipoib.foreign_file_shared": "A configuration file that ibplan does not own configures the interface and also something that the document does not mention: other interfaces, a pattern of names, or the global renderer. Its settings would win over the wanted ones or be mixed into them. ibplan takes over a file only when all of it is wanted: taking this one away would cut off whatever else it carries. Remove the interface from that file, or split the file in two.",
    /// A stanza of a wanted link in /etc/network/interfaces itself.
    STANZA_IN_MAIN_FILE = "ipoib.stanza_in_main_file": "A link of the document is already configured in /etc/network/interfaces, otherwise than the document wants. ifupdown would run those lines and the file that ibplan writes, one after the other, and the second would fail or win by chance. ibplan never rewrites the main file beyond its include line, because the way into the host is often configured there. Remove the lines that the message names, or move them to a file of their own in /etc/network/interfaces.d; there ibplan takes them over, and gives them back when the link leaves the document.",
    /// Both or neither.
    INTERFACE_OR_PORT = "ipoib.interface_or_port": "An entry of `ipoib` names its link in exactly one way: `interface` (a name such as ib0) or `port` (a GUID, a PCI address, or an RDMA device and port number). With both, the two could mean different links; with neither, none is meant.",
    /// A port named in several ways, or in none.
    PORT_SELECTOR = "ipoib.port_selector": "A `port` is named in exactly one way: `guid`, or `device`, or `pci`; the last two take a port number (1 where it is left out). Several ways at once could contradict each other.",
    /// A child listed as an interface.
    CHILD_AS_INTERFACE = "ipoib.child_as_interface": "The name given as `interface` has the form PARENT.XXXX, which is how P_Key children are called. A child is made by writing its key to its parent, so it has to stand under `partitions` of that parent; the kernel refuses children of children with EINVAL (linux: ipoib_vlan.c).",
    /// A name stands twice.
    DUPLICATE_NAME = "ipoib.duplicate_name": "Two places of the document describe the same interface name. Only one of them could become the link's configuration, and it would depend on their order which.",
    /// The child's name does not fit.
    NAME_TOO_LONG = "ipoib.name_too_long": "A P_Key child is called PARENT.XXXX, and an interface name has at most 15 characters. Longer names are cut, and not by everybody in the same way: older kernels cut the end (the key), the newest cut the parent, NetworkManager expects the former. Rename the parent so that the child's name fits.",
    /// A key stands twice.
    DUPLICATE_PKEY = "ipoib.duplicate_pkey": "Two children of one interface have the same P_Key. Bit 15 is the membership, not a part of the key: 10, 0x000a and 0x800a are one partition. The kernel refuses the second child with ENOTUNIQ.",
    /// The parent's own key.
    DEFAULT_PKEY = "ipoib.default_pkey": "P_Key 0x7fff (0xffff) is the default partition. The interface of the port itself is in it, so a child with this key would be a second interface in the same partition; the kernel refuses it with ENOTUNIQ (linux: ipoib_vlan.c).",
    /// Too large for datagram mode.
    MTU_ABOVE_DATAGRAM = "ipoib.mtu_above_datagram": "In datagram mode an IP packet travels in one InfiniBand packet, which carries 4096 bytes at most; 4 of them are IPoIB's header. 4092 is therefore the largest MTU, and 2044 on fabrics whose broadcast group has the usual 2048. `mode: auto` means datagram. 65520 needs connected mode, which ConnectX-4 and later adapters do not have.",
    /// Too small for IPv6.
    MTU_BELOW_IPV6 = "ipoib.mtu_below_ipv6": "IPv6 needs an MTU of at least 1280 bytes (RFC 8200). On a link with less the kernel removes all IPv6 addresses, so the document asks for two things that exclude each other.",
    /// A child above its parent.
    CHILD_MTU_ABOVE_PARENT = "ipoib.child_mtu_above_parent": "A P_Key child uses its parent's port, so it cannot carry more than the parent is allowed to. Give the child the parent's MTU or less, or leave it at auto.",
    /// The partition carries less.
    MTU_ABOVE_PARTITION = "ipoib.mtu_above_partition": "The same document describes the partition at the subnet manager, with an IPoIB group whose MTU is smaller than the link's. The kernel accepts the number, reports success, and clamps the link to the group's MTU less 4.",
    /// The key is in no partition.
    PKEY_NOT_IN_PARTITIONS = "ipoib.pkey_not_in_partitions": "The document has a P_Key child, and a list of partitions for the subnet manager without that key. A key that no subnet manager gives to the port leaves the child without carrier for ever.",
    /// Several default routes.
    GATEWAYS = "ipoib.gateways": "A host has one default route of each family. With several, the one whose link came up first or has the lower metric wins, and answers to remote hosts leave by the wrong link. Keep one `gateway`; reach other networks by `routes`.",
    /// A default route with a metric.
    DEFAULT_ROUTE_METRIC = "ipoib.default_route_metric": "A route to `default` is the same as `gateway`. Only some back ends can give it a metric of its own, so the document has none; a host has one default route of each family, which needs none.",
    /// The router is elsewhere.
    GATEWAY_UNREACHABLE = "ipoib.gateway_unreachable": "The router lies in none of the networks of the link's own addresses, so the kernel cannot resolve it on this link. Usually the address, the prefix length or the router has a wrong digit.",
    /// A router without an address.
    NO_ADDRESS = "ipoib.no_address": "A gateway or route needs an address of its family on the same link, from which the router is reached. Where DHCP gives the address, the DHCP server (or the router's own advertisement) gives the default route too, and a `gateway` beside it would contradict it.",
    /// Families mixed.
    ROUTE_FAMILY = "ipoib.route_family": "A route to an IPv4 network needs an IPv4 router, and one to an IPv6 network an IPv6 router.",
    /// A route stands twice.
    DUPLICATE_ROUTE = "ipoib.duplicate_route": "Two routes of one link go to the same network with the same metric. The kernel keeps one of them (the second is refused with EEXIST), and back ends differ in which.",
    /// An address stands twice.
    DUPLICATE_ADDRESS = "ipoib.duplicate_address": "The same address stands twice on one host. Two links with one address answer each other's ARP requests, and the kernel picks either as the source.",
    /// Networks overlap.
    SUBNETS_OVERLAP = "ipoib.subnets_overlap": "Two links of the host are in the same network. Linux answers ARP requests for an address on every link of the network, and sends replies by the first route, so traffic lands on the wrong port or is dropped by the reverse path filter. Give each link a network of its own, or bond them. Where two rails must share one network, arp_ignore=1, arp_announce=2 and rp_filter=2 belong together.",
    /// Connected mode is impossible.
    CONNECTED_IMPOSSIBLE = "ipoib.connected_impossible": "Connected mode is wanted and this adapter, driver or kernel cannot do it. Bit 0x80 in the first byte of the interface's hardware address tells: only where it is set does the kernel accept the mode (linux: ipoib_cm.c). ConnectX-4 and later have enhanced IPoIB, which is datagram only; the vendor stack can switch that off (ipoib_enhanced=0) at the price of the offloads. A NetworkManager profile with this mode would never activate, and the link would lose its address.",
    /// Connected mode cannot be judged.
    CONNECTED_UNPROVEN = "ipoib.connected_unproven": "Connected mode is wanted, and nothing on this host tells whether the adapter can do it: the interface is not there, and the adapter is unknown. The files are written; if the kernel refuses the mode later, some back ends leave the link without its address.",
    /// The fabric has less MTU.
    MTU_CLAMPED = "ipoib.mtu_clamped_by_fabric": "In datagram mode a link carries no more than its broadcast group, whose MTU the subnet manager sets. The kernel accepts a larger MTU, reports success and clamps it, so a link that has carrier and less MTU than wanted is most often at the fabric's limit. ibplan reports it and does not try again and again.",
    /// Something else has the name.
    NOT_IPOIB = "ipoib.not_ipoib": "An interface of this name exists and is no IPoIB interface: its hardware type (/sys/class/net/NAME/type) is not 32. An IPoIB profile for it would never activate, and its own configuration would be replaced.",
    /// Nothing has the name.
    INTERFACE_ABSENT = "ipoib.interface_absent": "No interface of this name exists. Often the name is the one of another system: systemd 240 and later call IPoIB interfaces after their slot (ibp65s0), EL 7 and 8 call them ib0. The files are written for the name that was given.",
    /// The port's interface cannot be told.
    PORT_UNRESOLVED = "ipoib.port_unresolved": "A `port` has to be turned into the name of its IPoIB interface, since that is what configuration files carry. The port is not on this host, or it has no IPoIB interface yet (ib_ipoib is not loaded), or this is an image of which no hardware is known.",
    /// All ports are Ethernet.
    NO_INFINIBAND_PORT = "ipoib.no_infiniband_port": "IPoIB runs over InfiniBand (and Omni-Path) ports. A port with link layer Ethernet (RoCE, iWARP) has an ordinary Ethernet interface and no IPoIB; the vendor of the card does not matter, its link layer does.",
    /// Two back ends for one link.
    TWO_OWNERS = "ipoib.two_owners": "More than one network back end has a configuration for the same link, the commonest fault in the field: they undo each other's work, and which of them wins depends on the order of the boot. Take the link out of all but one. With `network_backend` given, ibplan obeys it and warns.",
    /// No hardware is known.
    HARDWARE_UNKNOWN = "ipoib.hardware_unknown": "No RDMA device is recorded on this host, as in an image or where the driver is not loaded. Interface names are taken as given, and what depends on the adapter (connected mode, MTU, P_Keys) is not checked.",
    /// The port lacks the key.
    PKEY_NOT_IN_TABLE = "ipoib.pkey_not_in_table": "The port is ACTIVE and the subnet manager has not given it the P_Key of a wanted child. Such a child is made and has no carrier, until the subnet manager adds the port to the partition; then it comes up by itself.",
    /// A member of a bond that is not managed.
    ENSLAVED = "ipoib.enslaved": "The link is a member of a bond, the document gives it an IP configuration, and it has no section `bonds`. A section that is absent is not managed, so the link stays in its bond, and a member of a bond carries no IP. Describe the bond in `bonds`, or give an empty list to dissolve it.",
    /// A profile that fits every interface.
    PROFILE_FOR_ALL = "ipoib.profile_for_all": "A NetworkManager profile of type infiniband names neither an interface nor an address nor a P_Key, so it fits every IPoIB interface of the host. Of two profiles that fit, NetworkManager takes the one with the higher autoconnect-priority, then the one that was used last, which may well be this one: the interface then comes up with its addresses or with DHCP, not with those of the document. Remove the profile, or say which interface it is for.",
    /// Written, not in force.
    NOT_ACTIVATED = "ipoib.not_activated": "The configuration of a link was written, and the running link keeps its former one until its back end brings it up again: that takes the link down for a moment, which ibplan does not do by itself. `pending.links` has the command for each link.",
    /// The bonding mode is impossible.
    BOND_MODE = "bonds.mode": "The kernel bonds IPoIB interfaces in active-backup mode only (linux: bond_main.c, bond_enslave answers EOPNOTSUPP else), with fail_over_mac=active. More throughput over two rails comes from applications that use both, not from a bond.",
    /// Members are wrong.
    BOND_PORTS = "bonds.ports": "The members of a bond are IPoIB interfaces or P_Key children, at least one, each in one bond only. A bond is no member of a bond.",
    /// The preferred member is none.
    BOND_PRIMARY = "bonds.primary": "The preferred member (`primary`) of an active-backup bond is the one that carries the traffic whenever it can, so it has to be one of the bond's members.",
    /// A member with an IP configuration.
    PORT_WITH_ADDRESS = "bonds.port_with_address": "A member of a bond carries no IP: addresses, routes and DHCP belong to the bond. An address on a member would be reachable by one rail only, and most back ends refuse it.",
    /// Children of a bond.
    CHILD_OF_BOND = "bonds.child_of_bond": "A bond has no P_Key children: the kernel makes children on IPoIB interfaces only. Make the child on each member and bond the children; such a bond is legal.",
    /// A bond without an MTU.
    BOND_MTU_DEFAULT = "bonds.mtu_default": "A bond begins with MTU 1500 and gives it to every member that joins (linux: bond_main.c, bond_enslave), whatever the fabric carries. That works and is slower than the members alone. Give the bond the fabric's MTU.",
    /// The named back end is not there.
    NOT_INSTALLED = "network_backend.not_installed": "The document names a network back end that is not installed on this host. Its files would be read by nobody, and the links would come up as before. In an image the name is obeyed.",
    /// Nobody reads ifcfg files.
    NOT_READ = "network_backend.not_read": "ifcfg files in /etc/sysconfig/network-scripts are read by initscripts (EL 7) and by NetworkManager's ifcfg-rh plugin (EL 8 and 9). EL 10 dropped the plugin, and Debian, Ubuntu and SUSE never had it: such a file would change nothing.",
}
