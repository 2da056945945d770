//! Problem codes of the room `sysctl`.

use crate::codes;

codes! {
    /// A link's name with a dot in the spelling with dots.
    LINK_WITH_DOT = "sysctl.link_with_dot": "The key is one of a link whose name has a dot, such as the P_Key child ib0.8001, and is spelt with dots: net.ipv4.conf.ib0.8001.rp_filter. There the dot in the name cannot be told from the dots between the words, and sysctl.d(5) reads another key, which does not exist. Spell it with slashes: net/ipv4/conf/ib0.8001/rp_filter.",
    /// Two spellings of one key.
    KEY_TWICE = "sysctl.key_twice": "One kernel parameter stands in the document twice, in two spellings: net.ipv4.conf.ib0/8001.rp_filter and net/ipv4/conf/ib0.8001/rp_filter are the same file below /proc/sys. Which of the two would win is chance, so the document is refused. Remove one.",
    /// A vector with the wrong number of values, or not ascending.
    VECTOR = "sysctl.vector": "This parameter is a vector of three integers that must not descend: least, first and largest size for tcp_rmem and tcp_wmem (bytes), low, pressure and high for tcp_mem and udp_mem (pages). The kernel takes a descending vector without a word and then behaves oddly, so ibplan refuses it.",
    /// Not an integer that the kernel takes.
    OUT_OF_RANGE = "sysctl.out_of_range": "The kernel keeps this parameter as a signed 32-bit integer: 0 to 2147483647. A larger number is refused by the kernel with EINVAL, at boot without anybody noticing; and so is a socket buffer limit below its smallest buffer (2304 bytes to receive, 4608 to send). 134217728 (128 MiB) is ample for socket buffers.",
    /// gc_thresh1 < gc_thresh2 < gc_thresh3 does not hold.
    NEIGHBOUR_THRESHOLDS = "sysctl.neighbour_thresholds": "The thresholds of the neighbour table must ascend: gc_thresh1 < gc_thresh2 < gc_thresh3. Otherwise entries are collected too early or the table is full too soon (\"neighbour table overflow\"). For fabrics of more than some hundred hosts 4096, 8192 and 16384 are usual.",
    /// Two keys of which each clears the other.
    COUNTERPARTS = "sysctl.counterparts": "The two parameters are two ways to say one thing, and the kernel sets one to 0 when the other is written (vm.dirty_bytes and vm.dirty_ratio, likewise the background pair). Both with a value other than 0 can never be true together. Keep one of them.",
    /// A parameter that holds a secret.
    SECRET = "sysctl.secret": "This parameter holds a key (net.ipv6.conf.*.stable_secret, net.ipv4.tcp_fastopen_key). Files below /etc/sysctl.d are readable by everyone and diffs are shown to people, so ibplan does not carry it. Set it by a means made for secrets.",
    /// arp_filter and arp_ignore together.
    ARP_CONTRADICTION = "sysctl.arp_contradiction": "arp_filter and arp_ignore are both on for one link. With several ports in one IP subnet the route to the asker leaves by the first port only: arp_filter then forbids the other ports to answer, and arp_ignore forbids the first port to answer for the addresses of the others. Nobody answers for them. Use arp_ignore 1 with arp_announce 2 and leave arp_filter 0, or better one subnet for each port. The kernel takes the larger of `all` and the link for both.",
    /// No such parameter in this kernel.
    NO_SUCH_KEY = "sysctl.no_such_key": "The running kernel has no such parameter. It was removed (tcp_low_latency, tcp_tw_recycle), its module is not loaded, it does not exist in this network namespace, or it is misspelt. It is written to the drop-in all the same, and nothing is set now.",
    /// The parameter cannot be written.
    READ_ONLY = "sysctl.read_only": "The parameter exists but the kernel lets nobody write it (no write permission bit), as for values that only tell something, or for host-wide values seen from a container. The wanted value is in the drop-in; the running value stays as it is.",
    /// The parameter cannot be read back.
    NOT_READABLE = "sysctl.not_readable": "The parameter can be written but not read: it triggers something (net.ipv4.route.flush, vm.compact_memory) instead of having a value. ibplan keeps states, and a trigger has none: it would be pulled on every run or never.",
    /// Somebody else sets the key.
    OTHER_OWNER = "sysctl.other_owner": "Another file (or tuned's active profile) gives the same kernel parameter another value. The message says which, and who wins at the next boot. Files of all sysctl.d folders are worked in the order of their names, whatever folder they are in, and the last assignment wins; a file of the same name in /etc/sysctl.d replaces one in /usr/lib/sysctl.d. ibplan does not edit what others own: remove the line there, or take the key out of the document.",
}
