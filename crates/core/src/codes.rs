//! The codes of requests, of hosts, and of ibplan itself; the rooms have their own. [`all`] lists every one.

use crate::codes;
use crate::problem::Code;

codes! {
    /// The request is not JSON.
    REQUEST_SYNTAX = "request.syntax": "The request (or file) is not well-formed JSON or YAML: the message gives line and column. Nothing was touched. A trailing comma, a missing quote, bytes that are not UTF-8, a number too large to hold, or text behind the end of the document are the usual causes.",
    /// A key stands twice.
    REQUEST_DUPLICATE_KEY = "request.duplicate_key": "The same key stands twice in one object. Most readers would silently take the last one, so the document that you see is not the document that would be obeyed. Remove one of the two.",
    /// Too large.
    REQUEST_TOO_LARGE = "request.too_large": "The request has more bytes (16 MiB) or values (100 000, the aliases of a YAML file unfolded) than any host document needs, or a key of more than 4096 bytes. It is refused before it is understood, to bound time and memory. Check what was sent to standard input.",
    /// Too deep.
    REQUEST_TOO_DEEP = "request.too_deep": "The request is nested deeper than 64 levels; a host document needs about 6. It is refused to bound the memory that parsing takes.",
    /// Wrong type or form.
    REQUEST_SHAPE = "request.shape": "A value has the wrong type or form for its field. The pointer names the field, the message says what is wrong with the value, and the hint says what would be right. `ibplan schema` prints the schema that editors use to show such mistakes while you type.",
    /// Unknown field.
    REQUEST_UNKNOWN_FIELD = "request.unknown_field": "The document has a field that ibplan does not know. It is refused rather than ignored: a misspelt field would otherwise be a wish that nobody hears. The hint names the nearest field that exists.",
    /// Missing field.
    REQUEST_MISSING_FIELD = "request.missing_field": "A field that has no default is missing. Add it; `ibplan schema` tells what it means.",
    /// Wrong version of the contract.
    REQUEST_API = "request.api": "The request or document names another version of the contract than ibplan/v1, or none where one is required. Write `api: ibplan/v1`.",
    /// The operation is not known.
    REQUEST_OPERATION = "request.operation": "The operation is not one that this program has. See docs/protocol.md for the list.",
    /// A section that this program or version does not manage.
    REQUEST_SECTION_NOT_SERVED = "request.section_not_served": "The document has a section that this program does not manage: a narrow program such as ibplan-sysctl serves only its own, and a section of a later version is refused rather than half obeyed. Use ibplan-host for the whole document, or take the section out.",
    /// An option does not fit.
    REQUEST_OPTION = "request.option": "An option of the request cannot be used together with the operation or with another option; the message says which. For example, a replayed host cannot be applied to.",
    /// The command line makes no sense.
    REQUEST_ARGUMENTS = "request.arguments": "The program was started with arguments that it does not take. An agent program takes its request from standard input, or from the file named by its only argument; everything else stands in the request. `--help` tells more.",
    /// The request cannot be read.
    REQUEST_UNREADABLE = "request.unreadable": "The file that was named, or standard input, cannot be read; the message gives the system's reason. Check the name and whether this user may read it. Nothing was touched.",
    /// Not root.
    HOST_NOT_ROOT = "host.not_root": "Applying needs root: files are written as root's and kernel values are set. Planning does not. Run the program as root (with Ansible: `become: true`).",
    /// Another run holds the lock.
    HOST_BUSY = "host.busy": "Another ibplan run holds the lock of this host. The message names its process. Wait for it, or raise `lock_timeout_s`.",
    /// Unknown distribution.
    HOST_UNSUPPORTED = "host.unsupported": "The os-release of this host names a distribution or version that is not in ibplan's table, so paths and service names would be guesses. Nothing was touched.",
    /// The root folder is unusable.
    HOST_ROOT = "host.root": "The folder given as `root` is not there, is not a folder, or cannot be opened. Nothing was touched.",
    /// Something cannot be read.
    HOST_UNREADABLE = "host.unreadable": "Something that must be known cannot be read; the message gives the file or program and the system's reason. ibplan does not plan on guesses. Nothing was touched.",
    /// A link at a target.
    HOST_LINK_AT_TARGET = "host.link_at_target": "A symbolic link lies where ibplan keeps a file. ibplan runs as root and writes through no link: whoever planted it would choose which file is overwritten. Nothing was touched.",
    /// Something else at a target.
    HOST_IN_THE_WAY = "host.in_the_way": "A folder, device, FIFO or socket (or a file where a link belongs) lies where ibplan keeps something. It is not removed, since ibplan did not put it there. Nothing was touched.",
    /// A path leads out of the root.
    HOST_OUTSIDE_ROOT = "host.outside_root": "A symbolic link on the way to a file leads out of the root folder, or in circles. Nothing is written through it.",
    /// A file changed between reading and writing.
    HOST_CHANGED_MEANWHILE = "host.changed_meanwhile": "Something else changed a file between the moment ibplan read it and the moment it was to be written. The run stopped and took its own steps back, and the other's change was kept. Run again.",
    /// Changed by hand since.
    HOST_CHANGED_BY_HAND = "host.changed_by_hand": "A file that ibplan owns was changed by hand since ibplan wrote it, so ibplan neither removes it nor gives the original back: the hand-made change would be lost. Decide which content is wanted.",
    /// A step failed.
    HOST_STEP_FAILED = "host.step_failed": "A step of the apply failed; the message gives the step and the system's reason. The steps done before it were taken back in reverse order (unless `on_failure: keep` was given); `steps` in the response says which. The host is as it was before, except for what the message names.",
    /// A step could not be undone.
    HOST_UNDO_FAILED = "host.undo_failed": "Taking a step back failed. The message says which and why. What was there before lies in the transaction's folder below /var/lib/ibplan/transactions; mend the cause and run `ibplan rollback`, which finishes what was begun; until then nothing else is applied. `ibplan rollback --on-failure keep` leaves what cannot be taken back as it is and closes the transaction.",
    /// The state was not reached.
    HOST_NOT_SETTLED = "host.not_settled": "All steps were done and none reported a failure, but reading back shows that the host is not as wanted. No exit status is believed: this is a failure, and the steps were taken back.",
    /// An earlier run was interrupted.
    HOST_RECOVERED = "host.recovered": "An earlier run was killed or the power failed in the middle of its transaction. Its steps were taken back first, then this run went on; where the run was itself a rollback, that was what it had to do. Nothing has to be done.",
    /// The journal is damaged.
    HOST_JOURNAL = "host.journal": "The journal or ledger below /var/lib/ibplan cannot be read or written, or was written by a later version; the message says why. ibplan does not change a host without keeping its previous state first. Nothing was touched. Make room, mend the file system, or look at the named file by hand.",
    /// No such transaction.
    HOST_NO_TRANSACTION = "host.no_transaction": "There is no transaction with this number to show or roll back. `ibplan last` lists those that are kept (the last ten).",
    /// A file came after the transaction that is rolled back.
    HOST_ROLLBACK_CONFLICT = "host.rollback_conflict": "A file was changed by hand after the transaction that is to be rolled back wrote it. It is left alone, and everything else comes back; its former content lies in the transaction's folder. Nothing is left open: the next run goes on, and prune leaves the file alone too.",
    /// No package manager that could install.
    HOST_NO_PACKAGE_MANAGER = "host.no_package_manager": "A package is wanted and not installed, and the image has no package manager that could install it here. The package is listed under `pending.packages` for whoever builds the image; everything else was written.",
    /// Installing would remove packages.
    HOST_COLLATERAL = "host.collateral_removal": "The package manager's own simulation says that installing the wanted package would remove others. ibplan installs nothing that way. Resolve the conflict by hand first.",
    /// The package cannot be installed.
    HOST_PACKAGE_UNAVAILABLE = "host.package_unavailable": "A package is wanted and not installed, and the package manager's own simulation says that it cannot be installed: no repository has it, or what it needs is not there. The message gives its reason. Nothing was touched.",
    /// A bug.
    INTERNAL_BUG = "internal.bug": "ibplan itself failed. Nothing more was done after the point of failure; the next run takes back what was half done. Please report it, with the output of `ibplan capture`.",
}

/// Every code of every room.
pub fn all() -> Vec<Code> {
    [
        ALL,
        crate::rooms::modules::codes::ALL,
        crate::rooms::subnet_manager::codes::ALL,
        crate::rooms::ipoib::codes::ALL,
        crate::rooms::sysctl::codes::ALL,
        crate::rooms::limits::codes::ALL,
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_dotted_and_explained() {
        let mut seen = std::collections::BTreeSet::new();
        for code in all() {
            let id = code.id();
            assert!(seen.insert(id), "{id} stands twice");
            let sections = ["request", "host", "internal"]
                .iter()
                .chain(crate::state::SECTIONS);
            assert!(
                sections.into_iter().any(|s| id.starts_with(&format!("{s}."))),
                "{id}: first word is no section"
            );
            assert!(code.explain().len() > 80, "{id} is not explained");
        }
    }
}
