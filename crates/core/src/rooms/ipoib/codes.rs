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
}
