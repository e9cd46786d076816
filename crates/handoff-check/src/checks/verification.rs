//! The task's commands: run again by us, or shown by receipts of exactly this tree.

use baton_process::line;
use baton_protocol::{Check, CheckVerdict, Receipt, VerificationResult, VerifyCommand};

use super::{check, list, skipped};
use crate::verify::vacuous;

/// One run of a command, as it was.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RunResult {
    pub(crate) exit_code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) timed_out: bool,
    pub(crate) duration_ms: u64,
    pub(crate) output: String,
    /// Why it could not be started.
    pub(crate) not_started: Option<String>,
}

impl RunResult {
    pub(crate) fn passed(&self) -> bool {
        self.exit_code == Some(0) && !self.timed_out
    }
}

/// What is known about a command.
#[derive(Debug, Clone)]
pub(crate) enum Evidence<'a> {
    /// We ran it, once or more.
    Runs(&'a [RunResult]),
    /// A receipt of exactly the tree that was handed over.
    Receipt(&'a Receipt),
    /// A receipt, but of an earlier tree.
    Stale(&'a Receipt),
    /// Nothing.
    None,
}

/// The newest receipt of a command on the tree at the end, else the newest of any tree.
pub(crate) fn receipt<'a>(command: &str, receipts: &'a [Receipt], tree: &str) -> Evidence<'a> {
    let same = || {
        receipts
            .iter()
            .rev()
            .filter(|r| r.command.trim() == command.trim())
    };
    let at_end = |r: &&Receipt| r.tree_before.as_deref() == Some(tree) && r.cwd == ".";
    match (same().find(at_end), same().next()) {
        (Some(receipt), _) => Evidence::Receipt(receipt),
        (None, Some(receipt)) => Evidence::Stale(receipt),
        (None, None) => Evidence::None,
    }
}

/// Judges one command; `hidden` says how a file of the repository keeps it from failing.
pub(crate) fn judge(
    command: &VerifyCommand,
    evidence: &Evidence<'_>,
    hidden: Option<&str>,
) -> (CheckVerdict, String, VerificationResult) {
    let text = command.command.trim();
    let masked = line::masked(text).or_else(|| hidden.map(str::to_owned));
    let mut result = VerificationResult {
        command: text.to_owned(),
        exit_code: None,
        duration_ms: None,
        vacuous: None,
        masked: masked.is_some(),
    };
    let (verdict, detail) = match evidence {
        Evidence::Runs(runs) => judge_runs(runs, &mut result),
        Evidence::Receipt(receipt) => judge_receipt(receipt, &mut result),
        Evidence::Stale(receipt) => (
            CheckVerdict::Unknown,
            format!(
                "receipt {} is of an earlier tree: the last edit came after it",
                receipt.id
            ),
        ),
        Evidence::None => (CheckVerdict::Unknown, "not run; use --rerun".into()),
    };
    let (verdict, detail) = match (verdict, masked) {
        (CheckVerdict::Fail, _) | (_, None) => (verdict, detail),
        (_, Some(why)) => (CheckVerdict::Unknown, format!("refused as evidence: {why}")),
    };
    (verdict, format!("`{text}`: {detail}"), result)
}

fn judge_runs(runs: &[RunResult], result: &mut VerificationResult) -> (CheckVerdict, String) {
    let Some(last) = runs.last() else {
        return (CheckVerdict::Unknown, "not run".into());
    };
    let worst = runs.iter().find(|r| !r.passed()).unwrap_or(last);
    result.exit_code = worst.exit_code;
    result.duration_ms = Some(worst.duration_ms);
    let passed = runs.iter().filter(|r| r.passed()).count();
    if passed > 0 && passed < runs.len() {
        return (
            CheckVerdict::Unknown,
            format!("flaky: passed {passed} of {} runs", runs.len()),
        );
    }
    if passed == 0 {
        return judge_failed(worst, result);
    }
    let times = if runs.len() > 1 {
        format!(", {} times", runs.len())
    } else {
        String::new()
    };
    match vacuous::ran(&worst.output) {
        vacuous::Ran::None => {
            result.vacuous = Some(true);
            (
                CheckVerdict::Unknown,
                "exit 0, but vacuous: no test was run".into(),
            )
        }
        // Whatever swallowed the failure, a wrapper or a setting, the exit code is not the tests'.
        vacuous::Ran::Some { failed, .. } if failed > 0 => {
            result.vacuous = Some(false);
            result.masked = true;
            (
                CheckVerdict::Unknown,
                format!(
                    "refused as evidence: exit 0, but its own output counts {failed} failed; something on the way hides failures"
                ),
            )
        }
        vacuous::Ran::Some { .. } => {
            result.vacuous = Some(false);
            (CheckVerdict::Pass, format!("exit 0, tests were run{times}"))
        }
        vacuous::Ran::Unknown => (
            CheckVerdict::Pass,
            format!("exit 0{times}; judged by the exit code, its output tells no count of tests"),
        ),
    }
}

fn judge_failed(run: &RunResult, result: &mut VerificationResult) -> (CheckVerdict, String) {
    if let Some(why) = &run.not_started {
        return (
            CheckVerdict::Unknown,
            format!("could not be started: {why}"),
        );
    }
    if run.timed_out {
        return (
            CheckVerdict::Fail,
            format!("did not end within {} ms", run.duration_ms),
        );
    }
    if let Some(signal) = run.signal {
        return (CheckVerdict::Fail, format!("killed by signal {signal}"));
    }
    let code = run.exit_code.unwrap_or(-1);
    let last = last_line(&run.output);
    match code {
        126 | 127 => (
            CheckVerdict::Unknown,
            format!("exit {code}: something it needs is not installed here{last}"),
        ),
        // With pipefail, a filter that stops reading early ends the command before it.
        141 => (
            CheckVerdict::Unknown,
            format!("exit 141: a pipe was closed early, which hides the result{last}"),
        ),
        _ => {
            if vacuous::ran(&run.output) == vacuous::Ran::None {
                result.vacuous = Some(true);
            }
            (CheckVerdict::Fail, format!("exit {code}{last}"))
        }
    }
}

fn last_line(output: &str) -> String {
    let line = output.lines().map(str::trim).rfind(|l| !l.is_empty());
    line.map_or_else(String::new, |l| {
        format!(" ({})", l.chars().take(160).collect::<String>())
    })
}

fn judge_receipt(receipt: &Receipt, result: &mut VerificationResult) -> (CheckVerdict, String) {
    result.exit_code = receipt.exit_code;
    result.duration_ms = Some(receipt.duration_ms);
    let id = &receipt.id;
    if receipt.timed_out {
        return (
            CheckVerdict::Fail,
            format!("receipt {id}: did not end in time"),
        );
    }
    match (receipt.exit_code, receipt.signal) {
        (Some(0), _) => (
            CheckVerdict::Pass,
            format!("receipt {id}: exit 0 on this tree"),
        ),
        (Some(code @ (126 | 127)), _) => (
            CheckVerdict::Unknown,
            format!("receipt {id}: exit {code}, something it needs was not installed"),
        ),
        (Some(code), _) => (
            CheckVerdict::Fail,
            format!("receipt {id}: exit {code} on this tree"),
        ),
        (None, Some(signal)) => (
            CheckVerdict::Fail,
            format!("receipt {id}: killed by signal {signal}"),
        ),
        (None, None) => (
            CheckVerdict::Unknown,
            format!("receipt {id} tells no exit code"),
        ),
    }
}

/// `verification`: all commands together; the worst counts.
pub(crate) fn verification(judged: &[(CheckVerdict, String)]) -> Check {
    if judged.is_empty() {
        return skipped(
            "verification",
            "the task has no command that could show anything",
        );
    }
    let worst = [
        CheckVerdict::Fail,
        CheckVerdict::Unknown,
        CheckVerdict::Pass,
    ];
    let worst = worst
        .into_iter()
        .find(|v| judged.iter().any(|(j, _)| j == v));
    let worst = worst.unwrap_or(CheckVerdict::Unknown);
    check(
        "verification",
        worst,
        list(judged.iter().map(|(_, detail)| detail)),
    )
}

/// `red_first`: on the base, with only the tests of the end, the commands fail.
pub(crate) fn red_first(before: Option<&[RunResult]>, tests: usize) -> Check {
    let id = "red_first";
    match before {
        None if tests == 0 => check(id, CheckVerdict::Fail, "no test was added or changed"),
        None => skipped(id, "the task has no verification command"),
        Some(runs) if runs.iter().all(RunResult::passed) => check(
            id,
            CheckVerdict::Fail,
            "the changed tests pass without the work: they do not show what was wrong",
        ),
        Some(runs)
            if runs
                .iter()
                .any(|r| r.not_started.is_some() || matches!(r.exit_code, Some(126 | 127))) =>
        {
            check(
                id,
                CheckVerdict::Unknown,
                "a command could not be run on the base",
            )
        }
        Some(_) => check(
            id,
            CheckVerdict::Pass,
            "the changed tests fail without the work",
        ),
    }
}
