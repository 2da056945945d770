//! Problem codes of the back ends networkd and netplan.

use crate::codes;

codes! {
    /// networkd cannot make P_Key children here.
    CHILD_NEEDS_NEWER = "ipoib.networkd_no_children": "systemd-networkd makes IPoIB P_Key children (`Kind=ipoib`) from version 250 on; the systemd of this distribution release is older and would log the file as unknown and go on without the link. Choose another back end that the host has (`network_backend`), run a newer release, or take the partition out of the document.",
    /// A child without its parent.
    CHILD_WITHOUT_PARENT = "ipoib.child_without_parent": "networkd makes a P_Key child while it configures the parent interface, because the parent's own file names the child. Without the parent among the interfaces of the document nobody would name it, and the child would never appear. Add the parent interface to the section `ipoib`.",
    /// A foreign file configures more than the wanted links.
    FOREIGN_SHARED = "ipoib.foreign_file_shared": "A configuration file that ibplan does not own configures the interface and also something that the document does not mention: other interfaces, a pattern of names, or the global renderer. Its settings would win over, or be mixed into, the wanted ones. ibplan takes over a file only when all of it is wanted: taking this one away would cut off whatever else it carries. Remove the interface from that file, or split the file in two.",
    /// netplan cannot express the link.
    NETPLAN_CANNOT = "ipoib.netplan_cannot": "netplan has no words for this link on this host. It has no P_Key children at all: with the renderer networkd ibplan writes networkd files beside netplan's, with the renderer NetworkManager there is nothing to put beside. And before version 0.105 it has no `infiniband-mode`, without which its NetworkManager profiles are of type Ethernet and never bind to an IPoIB interface. Give `network_backend: networkmanager` (or `networkd`) so that the files are written for that program itself.",
}
