//! Operations on what was done before: taking it back, and telling of it.

use super::ended;
use crate::apply::journal_problem;
use crate::host::Host;
use crate::journal::{Journal, Phase};
use crate::watch::Watch;
use ibplan_core::codes;
use ibplan_core::pointer::Pointer;
use ibplan_core::protocol::{Exit, Response, Status, StepReport};
use ibplan_core::request::{OnFailure, Request};
use serde_json::json;

/// Takes the wanted transaction and all later ones back, the newest first.
///
/// What was interrupted has been taken back already: where that is what was asked for, nothing more is done.
pub(super) fn rollback(
    host: &mut Host,
    request: &Request,
    recovered: &[u32],
    watch: &mut dyn Watch,
    response: &mut Response,
) -> Exit {
    let journal = Journal::of(&host.root);
    let mut live = Vec::new();
    for id in journal.list().unwrap_or_default() {
        if matches!(journal.head(id), Ok(Some(head)) if matches!(head.phase, Phase::Committed | Phase::Kept))
        {
            live.push(id);
        }
    }
    let asked = request
        .options
        .transaction
        .map(|n| u32::try_from(n.get()).unwrap_or(0));
    let oldest = recovered.iter().copied().min();
    if let Some(done) = asked
        .filter(|n| recovered.contains(n))
        .or(oldest.filter(|_| asked.is_none()))
    {
        response.transaction = Some(done);
        return Exit::Done;
    }
    let wanted = match request.options.transaction {
        Some(number) => u32::try_from(number.get()).ok().filter(|n| live.contains(n)),
        None => live.last().copied(),
    };
    let Some(wanted) = wanted else {
        let problem = codes::HOST_NO_TRANSACTION.at(
            Pointer::of("request").key("options").key("transaction"),
            "there is no such transaction that could be taken back",
            "`ibplan last` lists those that are kept",
        );
        return ended(response, vec![problem], Exit::HostRefused);
    };
    response.transaction = Some(wanted);
    let give_up = request.options.on_failure == OnFailure::Keep;
    for id in live.into_iter().rev().take_while(|id| *id >= wanted) {
        match host.take_transaction_back(id, give_up, watch) {
            Err(e) => return ended(response, vec![journal_problem(&e)], Exit::Failed),
            Ok((records, taken)) => {
                for (record, undone) in records.iter().zip(&taken.undone).rev() {
                    response.steps.push(StepReport {
                        section: record.section.clone(),
                        action: record.action.verb(),
                        target: record.action.target(),
                        disturbs: Vec::new(),
                        status: if *undone { Status::Undone } else { Status::Failed },
                    });
                }
                response.changed |= taken.acted;
                response.errors.extend(taken.problems);
                // A later transaction that is not wholly back must be finished before an older one.
                if taken.failed && !give_up {
                    return Exit::Failed;
                }
            }
        }
    }
    if response.errors.is_empty() {
        Exit::Done
    } else {
        Exit::Failed
    }
}

/// The transactions that are kept.
pub(super) fn last(host: &Host, request: &Request, response: &mut Response) -> Exit {
    let journal = Journal::of(&host.root);
    let ids = match journal.list() {
        Ok(ids) => ids,
        Err(e) => return ended(response, vec![journal_problem(&e)], Exit::HostRefused),
    };
    let wanted = request
        .options
        .transaction
        .and_then(|n| u32::try_from(n.get()).ok());
    let mut rows = Vec::new();
    for id in ids.into_iter().filter(|id| wanted.is_none_or(|w| w == *id)) {
        let Ok(Some(head)) = journal.head(id) else {
            continue;
        };
        let steps: Vec<String> = journal
            .records(id)
            .unwrap_or_default()
            .iter()
            .map(|(r, done)| {
                format!(
                    "{} {}{}",
                    r.action.verb(),
                    r.action.target(),
                    if *done { "" } else { " (not done)" }
                )
            })
            .collect();
        rows.push(json!({ "transaction": id, "phase": head.phase, "began": head.began, "sections": head.sections, "steps": steps }));
    }
    if rows.is_empty() && wanted.is_some() {
        let path = Pointer::of("request").key("options").key("transaction");
        return ended(
            response,
            vec![codes::HOST_NO_TRANSACTION.at(
                path,
                "there is no such transaction",
                "`ibplan last` lists those that are kept",
            )],
            Exit::HostRefused,
        );
    }
    response.facts = json!({ "transactions": rows });
    Exit::Done
}
