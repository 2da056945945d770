//! Problem codes of the room `limits`.

use crate::codes;

codes! {
    /// No limit.
    NO_MEMLOCK = "limits.no_memlock": "The section names users or services and no limit that they should have. There is no default for it: `unlimited` is usual where programs use verbs, and a number of KiB where memory must be kept for others. A section that is altogether empty (`limits: {}`) is allowed: with prune, what ibplan wrote for it goes.",
    /// One user or service twice.
    NAMED_TWICE = "limits.named_twice": "The same user or service stands in its list twice (slurmd and slurmd.service are one service). That does no harm by itself, but in a document made from templates it is a sign that two sources both believe to own the entry. Remove one.",
    /// Not a service.
    NOT_A_SERVICE = "limits.not_a_service": "Only a service has processes whose limits a [Service] drop-in can set; slices, targets, scopes and sockets do not take LimitMEMLOCK= there. Name the service that runs the program.",
    /// root is not covered by *.
    ROOT_NOT_COVERED = "limits.root_not_covered": "In limits.conf(5) `*` means everyone but root. Programs started by root in a login session keep the old limit, and `ibv_reg_mr` fails for root alone, which is hard to find. Add root to the list of users.",
    /// The unit is not there.
    NO_SUCH_UNIT = "limits.no_such_unit": "No unit file of this name is on the host, so the drop-in has nothing to act on. It is written all the same and counts as soon as the service is installed. If the service is known by another name, name that one: a drop-in for an alias counts only while the alias exists.",
    /// Somebody else sets the limit.
    OTHER_OWNER = "limits.other_owner": "Another file sets the locked-memory limit for the same user or service, and it is read after ibplan's, so its value counts. limits.d is read in the C order of file names after limits.conf; drop-ins of a unit are joined in the order of their names, whatever folder they are in (`systemctl edit` writes override.conf, which sorts after 90-ibplan.conf). Remove the line there, or give the same value in both places.",
}
