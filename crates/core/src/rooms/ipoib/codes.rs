//! Problem codes of the room `ipoib`: the sections `ipoib`, `bonds` and `network_backend`.

use crate::codes;

codes! {
    /// A back end cannot say what is wanted.
    BACKEND_CANNOT = "ipoib.backend_cannot": "The network back end of this host cannot express what the document wants of this link: netplan has no type for a P_Key child, for example, and versions before 0.105 know no IPoIB mode. ibplan refuses rather than write half of it. Choose another back end with `network_backend`, or take the field out that the message names.",
    /// A child without its parent.
    CHILD_WITHOUT_PARENT = "ipoib.child_without_parent": "networkd makes a P_Key child while it configures the parent interface, because the parent's own file names the child. Without the parent among the interfaces of the document nobody would name it, and the child would never appear. Add the parent interface to the section `ipoib`.",
    /// A foreign file configures more than the wanted links.
    FOREIGN_SHARED = "ipoib.foreign_file_shared": "A configuration file that ibplan does not own configures the interface and also something that the document does not mention: other interfaces, a pattern of names, or the global renderer. Its settings would win over the wanted ones or be mixed into them. ibplan takes over a file only when all of it is wanted: taking this one away would cut off whatever else it carries. Remove the interface from that file, or split the file in two.",
}
