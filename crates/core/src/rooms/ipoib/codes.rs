//! Problem codes of the room `ipoib`: the sections `ipoib`, `bonds` and `network_backend`.

use crate::codes;

codes! {
    /// A back end cannot say what is wanted.
    BACKEND_CANNOT = "ipoib.backend_cannot": "The network back end of this host cannot express what the document wants of this link: netplan has no type for a P_Key child, for example, and versions before 0.105 know no IPoIB mode. ibplan refuses rather than write half of it. Choose another back end with `network_backend`, or take the field out that the message names.",
}
