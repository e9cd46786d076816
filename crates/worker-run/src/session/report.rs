//! The hand-off: facts from the harness, only words from the model.

use baton_protocol::{
    Claim, CommandStatus, FileNote, Handoff, HandoffStatus, Risk, RiskSeverity, SchemaTag,
    Timestamp,
};

use super::{End, Session};
use crate::harness::stop::Colour;
use crate::tools::worktree::Owner;

/// Writes down what happened. Git may fail here too; the hand-off is written all the same.
pub(crate) fn handoff(session: &mut Session<'_>, end: &End, started_at: Timestamp) -> Handoff {
    let mut usage = session.ledger.usage.clone();
    usage.wall_ms = u64::try_from(session.started.elapsed().as_millis()).unwrap_or(u64::MAX);
    // Right after a check nothing can have changed.
    let tree = match session.last_tree.take() {
        Some(tree) => Ok(tree),
        None => session.tree.snapshot(),
    };
    let mut changed = Vec::new();
    let mut risks = Vec::new();
    match tree
        .as_ref()
        .map_err(Clone::clone)
        .and_then(|tree| session.tree.changed(tree))
    {
        Ok(paths) => {
            for path in paths {
                if session.tree.owner(&path) != Owner::Task {
                    risks.push(risk(
                        RiskSeverity::High,
                        format!("{path} is changed, which the task does not allow"),
                    ));
                }
                changed.push(FileNote {
                    path: path.to_string(),
                    scope: String::new(),
                });
            }
        }
        Err(error) => session
            .ledger
            .note(format!("the changed files are not known: {error}")),
    }
    let current = tree
        .as_ref()
        .ok()
        .is_some_and(|tree| session.checks.is_current(tree));
    let verification: Vec<Claim> = session
        .checks
        .now()
        .iter()
        .map(|run| Claim {
            command: run.command.clone(),
            status: match run.colour {
                _ if !current => CommandStatus::NotRun,
                Colour::Green => CommandStatus::Pass,
                Colour::Red => CommandStatus::Fail,
            },
            result: run.result.clone(),
            evidence: vec![run.receipt.clone()],
        })
        .collect();
    if end.status == HandoffStatus::Completed
        && session.job.role.writes()
        && verification.is_empty()
    {
        risks.push(risk(
            RiskSeverity::Medium,
            "the task names no check, so nothing but the model's word says that the change is right".into(),
        ));
    }
    for (kind, to) in [
        ("switched_to_files", "files in its replies"),
        ("switched_to_tools", "tool calls"),
    ] {
        if session.ledger.repairs.contains_key(kind) {
            risks.push(risk(
                RiskSeverity::Low,
                format!("the model got stuck and was changed over to {to}; look at the change with more care"),
            ));
        }
    }
    let outcome = match session.ledger.outcome.trim() {
        "" => end.reason.clone(),
        words => words.to_string(),
    };
    let follow_up = if end.status == HandoffStatus::Completed {
        String::new()
    } else {
        open_ends(session)
    };
    let files_read = session
        .ledger
        .files_read
        .iter()
        .map(|path| FileNote {
            path: path.clone(),
            scope: String::new(),
        })
        .collect();
    Handoff {
        schema: SchemaTag::new(),
        task_id: session.job.task.id.clone(),
        role: session.job.task.role.clone(),
        status: end.status,
        status_reason: end.reason.clone(),
        outcome,
        facts: Vec::new(),
        assumptions: Vec::new(),
        files_read,
        files_changed: changed,
        verification,
        risks,
        follow_up,
        artifacts: Vec::new(),
        review_state: baton_protocol::ReviewState::NotRequested,
        result: session.ledger.result.clone(),
        receipts: session.ledger.receipts.clone(),
        usage,
        repairs: session.ledger.repairs.clone(),
        sandbox: session.shell.confinement(),
        notes: session.ledger.notes.clone(),
        base: Some(session.tree.base.clone()),
        tree: tree.ok().map(|tree| tree.as_str().to_string()),
        provider: Some(session.job.provider.id.clone()),
        model: session
            .model()
            .map(ToString::to_string)
            .or_else(|| session.ledger.model.clone()),
        started_at: Some(started_at),
        ended_at: Some(Timestamp::now()),
    }
}

/// What is still open, from the checks.
fn open_ends(session: &Session<'_>) -> String {
    let red: Vec<String> = session
        .checks
        .now()
        .iter()
        .filter(|run| run.colour == Colour::Red)
        .map(|run| format!("`{}` fails: {}", run.command, run.result))
        .collect();
    red.join("; ")
}

fn risk(severity: RiskSeverity, statement: String) -> Risk {
    Risk {
        severity,
        statement,
    }
}
