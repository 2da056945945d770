//! What every operation that changes a host begins with: the lock, and what an interrupted run left.

use super::ended;
use crate::apply::journal_problem;
use crate::host::{Host, PATIENCE};
use crate::lock::{Lock, LockError};
use crate::watch::Watch;
use ibplan_core::codes;
use ibplan_core::facts;
use ibplan_core::pointer::Pointer;
use ibplan_core::protocol::{Exit, Response};
use ibplan_core::request::{OnFailure, Operation, Request};
use std::time::Duration;

/// Takes the lock, as root, and recovers what an interrupted run left.
pub(super) fn with_lock(
    host: &mut Host,
    request: &Request,
    response: &mut Response,
    watch: &mut dyn Watch,
    work: impl FnOnce(&mut Host, &[u32], &mut dyn Watch, &mut Response) -> Exit,
) -> Exit {
    if !rustix::process::geteuid().is_root() {
        let problem = codes::HOST_NOT_ROOT.at(
            Pointer::of("request"),
            format!(
                "the user id is {}, and applying needs root",
                rustix::process::geteuid().as_raw()
            ),
            "run it as root; `plan` needs no root",
        );
        return ended(response, vec![problem], Exit::HostRefused);
    }
    let patience = request
        .options
        .lock_timeout_s
        .map_or(0, ibplan_core::types::Num::get);
    let lock = Lock::take(
        &host.root,
        Duration::from_secs(u64::try_from(patience).unwrap_or(0)),
    );
    let _lock = match lock {
        Ok(lock) => lock,
        Err(e) => {
            let code = if matches!(e, LockError::Busy(_)) {
                codes::HOST_BUSY
            } else {
                codes::HOST_JOURNAL
            };
            let hint = "wait for the other run, raise `lock_timeout_s`, or mend the file system";
            return ended(
                response,
                vec![code.at(Pointer::of("request"), e.to_string(), hint)],
                Exit::HostRefused,
            );
        }
    };
    host.hold_signals();
    host.prepare(
        facts::read(host, host.scope())
            .ok()
            .and_then(|f| f.packages.manager),
        PATIENCE,
    );
    recover_first(host, request, response, watch, work)
}

/// Takes back what an interrupted run left, then does the work.
fn recover_first(
    host: &mut Host,
    request: &Request,
    response: &mut Response,
    watch: &mut dyn Watch,
    work: impl FnOnce(&mut Host, &[u32], &mut dyn Watch, &mut Response) -> Exit,
) -> Exit {
    let rollback = request.operation == Operation::Rollback;
    let give_up = rollback && request.options.on_failure == OnFailure::Keep;
    let recovered = match host.recover(give_up, watch) {
        Err(e) => return ended(response, vec![journal_problem(&e)], Exit::HostRefused),
        Ok(recovered) => recovered,
    };
    let acted = recovered.iter().any(|(_, taken)| taken.acted);
    let stuck = recovered.iter().any(|(_, taken)| taken.failed) && !give_up;
    let mut ids = Vec::new();
    let mut problems = Vec::new();
    for (id, taken) in recovered {
        let but = if taken.problems.is_empty() {
            ""
        } else {
            ", except for what is told beside this"
        };
        response.warnings.push(codes::HOST_RECOVERED.at(
            Pointer::of("request"),
            format!("transaction {id} had been interrupted; its steps were taken back{but}"),
            "nothing has to be done",
        ));
        ids.push(id);
        problems.extend(taken.problems);
    }
    response.changed = acted;
    if stuck || (rollback && !problems.is_empty()) {
        response.transaction = ids.last().copied();
        return ended(response, problems, Exit::Failed);
    }
    // A file that somebody changed since is theirs now; that keeps nobody from going on.
    response.warnings.extend(problems);
    let exit = work(host, &ids, watch, response);
    response.changed |= acted;
    exit
}
