//! Problem codes of the room `modules`.

use crate::codes;

codes! {
    /// One module twice.
    NAMED_TWICE = "modules.named_twice": "The module stands in the list twice. To the kernel `-` and `_` are the same in a module's name, so ib-ipoib and ib_ipoib are one module. Which parameters would win is not clear, so the document is refused: join the two entries.",
    /// A parameter outside what the module takes.
    PARAMETER_RANGE = "modules.parameter_range": "The module does not take this value as it is given: ib_ipoib's send_queue_size and recv_queue_size go from 2 to 8192, max_nonsrq_conn_qp from 0 to 4096. The kernel would silently use the nearest limit, so the document would never be true.",
    /// The kernel rounds the value.
    ROUNDED = "modules.rounded": "ib_ipoib rounds its queue sizes up to powers of two (and its send queue up to a minimum of 32, or 128 in newer kernels). The host will have the rounded value, which ibplan counts as equal. Write the rounded value to have document and host agree to the letter.",
    /// The kernel lacks the module.
    NOT_FOR_THIS_KERNEL = "modules.not_for_this_kernel": "Neither modules.dep nor modules.builtin of this host's kernel lists the module, so it can be loaded neither now nor at boot. Usual causes: a misspelt name, a package of extra modules that is not installed (linux-modules-extra, kernel-modules-extra), or a driver stack that was not rebuilt for this kernel.",
    /// The module is kept from being loaded.
    BLOCKED = "modules.blocked": "A `blacklist` line (or modprobe.blacklist= on the kernel's command line) keeps systemd-modules-load and udev from loading the module at boot, though `modprobe NAME` still works. An `install NAME /bin/false` (or /bin/true) line keeps everybody from loading it. ibplan does not edit files of others: remove the line if the module is wanted.",
    /// Another file sets the parameter.
    OTHER_OWNER = "modules.other_owner": "Another file of modprobe.d(5), or the kernel's command line, gives the same parameter another value. modprobe joins the options of all files in the order of the file names, then those of the command line, and the kernel takes the last. The message says who wins. Remove the line there, or take the parameter out of the document.",
    /// A parameter that only vendor stacks have.
    VENDOR_PARAMETER = "modules.vendor_parameter": "ipoib_enhanced exists only in the ib_ipoib of vendor stacks (MLNX_OFED, DOCA). The kernel's own module logs \"unknown parameter 'ipoib_enhanced' ignored\" and loads; enhanced IPoIB is then chosen by the mlx5 driver itself. The line does no harm and no good.",
    /// Parameters of a built-in module.
    BUILT_IN = "modules.built_in": "The module is built into this kernel. modprobe.d(5) does not reach it: its parameters come from the kernel's command line as NAME.PARAMETER=VALUE. The file is written, and takes effect only with a kernel that has it as a module.",
}
