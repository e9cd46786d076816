//! From the report and the facts to the verdict: pure, and in one place.

use baton_protocol::{
    Check, CheckVerdict, Exit, SchemaTag, Task, Verdict, VerdictKind, VerificationResult,
};
use baton_repo::{Change, ChangeSet, Globs};

use crate::admission;
use crate::checks::changes::{BaseSource, Unfinished};
use crate::checks::claims::Compared;
use crate::checks::verification::{Evidence, RunResult, judge as judge_command, receipt};
use crate::checks::{basis, changes, claims, report as reporting, scope, verification};
use crate::report::{NoReport, Report};

/// Everything that is known.
pub(crate) struct Known<'a> {
    pub(crate) task: &'a Task,
    pub(crate) owned: &'a Globs,
    pub(crate) protected: &'a Globs,
    pub(crate) report: Result<&'a Report, &'a NoReport>,
    pub(crate) facts: &'a ChangeSet,
    pub(crate) base: BaseSource,
    /// What git has not finished in this work tree.
    pub(crate) unfinished: Option<Unfinished>,
    /// The paths `.gitmodules` declares.
    pub(crate) submodules: &'a [String],
    /// What git cannot tell of claimed and of deleted names.
    pub(crate) untold: claims::Untold<'a>,
    /// Files outside the scope that ignore rules changed by the worker hide from git.
    pub(crate) hidden: &'a [String],
    /// Named artefacts that are not there.
    pub(crate) absent: &'a [String],
    /// Whether the report is free of keys.
    pub(crate) clean: bool,
    /// For each command of the task, how a file of the repository keeps it from failing.
    pub(crate) forgiven: &'a [Option<String>],
    /// For each command, its runs; none when we ran nothing.
    pub(crate) runs: Option<&'a [Vec<RunResult>]>,
    /// The commands on the base with only the tests of the end; none: not asked for.
    pub(crate) red_first: Option<RedFirst<'a>>,
    pub(crate) strict: bool,
    pub(crate) review_required: bool,
}

/// What `--red-first` found.
pub(crate) struct RedFirst<'a> {
    /// How many test files the work adds or changes.
    pub(crate) tests: usize,
    pub(crate) runs: Option<&'a [RunResult]>,
}

/// The verdict and the exit code. `compared`: the claims against the facts; nothing without a report.
pub(crate) fn judge(known: &Known<'_>, compared: Compared) -> (Verdict, Exit) {
    let names = known.facts.names();
    let touched = names.touched();
    let outside = scope::outside(touched.iter().copied(), known.owned);
    let mut summary = changes::summary(&names);
    summary.outside_scope = outside.iter().map(ToString::to_string).collect();

    let mut worker = vec![reporting::found(known.report)];
    if let Ok(report) = known.report {
        let handoff = &report.handoff;
        worker.push(reporting::task(report, &known.task.id));
        worker.push(reporting::status(handoff));
        worker.push(reporting::content(handoff));
        worker.push(reporting::secrets(known.clean));
        worker.push(reporting::artifacts(handoff, known.absent));
        let mut files = claims::files(&compared, known.untold);
        // What a branch holds cannot be told while HEAD stands elsewhere, so nobody is accused.
        if known.unfinished.is_some_and(Unfinished::moves_head)
            && files.verdict == CheckVerdict::Fail
        {
            files.verdict = CheckVerdict::Unknown;
        }
        worker.push(files);
        compared.put(&mut summary);
    } else {
        worker.push(reporting::secrets(known.clean));
        summary.unclaimed = touched.iter().map(ToString::to_string).collect();
    }

    let (results, verified) = commands(known);
    let mut own = vec![
        changes::base(known.base, known.facts),
        changes::state(known.facts, &summary, known.unfinished),
        changes::names(touched),
        changes::embedded(known.facts, known.submodules),
        scope::scope(&outside, touched.len(), known.owned),
        scope::hidden(known.hidden),
        scope::protected(touched, known.protected),
    ];
    if let Ok(report) = known.report {
        let required: Vec<String> = known
            .task
            .verify
            .iter()
            .map(|v| v.command.clone())
            .collect();
        own.push(reporting::tree(&report.handoff, report.alone, tree(known)));
        own.push(reporting::unsupported(
            &report.handoff,
            &required,
            report.alone,
        ));
    }
    own.push(basis(known));
    let is_shown = verified.verdict == CheckVerdict::Pass;
    own.push(changes::effect(
        touched.len(),
        !known.owned.patterns().is_empty(),
        is_shown,
    ));
    own.push(verified);
    if let Some(red) = &known.red_first {
        own.push(verification::red_first(red.runs, red.tests));
    }
    conclude(known, worker, own, summary, results)
}

fn basis(known: &Known<'_>) -> Check {
    let all: Vec<&Change> = known
        .facts
        .net
        .iter()
        .chain(&known.facts.committed)
        .collect();
    let commands: Vec<String> = known
        .task
        .verify
        .iter()
        .map(|v| v.command.clone())
        .collect();
    basis::basis(&all, &commands, known.owned.patterns())
}

/// The tree at the end; empty, like no recorded one, where nothing needed it.
fn tree<'a>(known: &Known<'a>) -> &'a str {
    known.facts.tree.as_ref().map_or("", |t| t.as_str())
}

/// Every command of the task, judged by our run or by its receipt.
fn commands(known: &Known<'_>) -> (Vec<VerificationResult>, Check) {
    // Only a document that is nothing else can come from worker-run itself.
    let receipts = match known.report {
        Ok(report) if report.alone => report.handoff.receipts.as_slice(),
        _ => &[],
    };
    let mut results = Vec::new();
    let mut judged = Vec::new();
    for (i, command) in known.task.verify.iter().enumerate() {
        let evidence = match known.runs.and_then(|runs| runs.get(i)) {
            Some(runs) => Evidence::Runs(runs),
            None => receipt(&command.command, receipts, tree(known)),
        };
        let hidden = known.forgiven.get(i).and_then(Option::as_deref);
        let (verdict, detail, result) = judge_command(command, &evidence, hidden);
        judged.push((verdict, detail));
        results.push(result);
    }
    let check = verification::verification(&judged);
    (results, check)
}

fn conclude(
    known: &Known<'_>,
    mut worker: Vec<Check>,
    mut own: Vec<Check>,
    changes: baton_protocol::Changes,
    verification: Vec<VerificationResult>,
) -> (Verdict, Exit) {
    if known.strict {
        for check in worker.iter_mut().chain(&mut own) {
            if check.verdict == CheckVerdict::Warning {
                check.verdict = CheckVerdict::Fail;
            }
        }
    }
    let own_verdict = known.runs.is_some().then(|| worst(&own));
    let worker_verdict = if known.runs.is_some() {
        worst(&worker)
    } else {
        worst(&worker.iter().chain(&own).cloned().collect::<Vec<_>>())
    };
    let admission = admission::state(worker_verdict, own_verdict, known.review_required);
    worker.append(&mut own);
    let verdict = match worst(&worker) {
        CheckVerdict::Fail => VerdictKind::Fail,
        CheckVerdict::Unknown => VerdictKind::Unknown,
        _ => VerdictKind::Pass,
    };
    let exit = match (verdict, known.report) {
        (_, Err(_)) => Exit::Usage,
        (VerdictKind::Pass, _) => Exit::Yes,
        (VerdictKind::Fail, _) => Exit::No,
        (VerdictKind::Unknown, _) => Exit::Unknown,
    };
    let document = Verdict {
        schema: SchemaTag::new(),
        pass: match verdict {
            VerdictKind::Pass => Some(true),
            VerdictKind::Fail => Some(false),
            VerdictKind::Unknown => None,
        },
        verdict,
        task_id: Some(known.task.id.clone()),
        checks: worker,
        changes,
        verification,
        admission,
    };
    (document, exit)
}

/// Fail before unknown before pass; a warning is a pass.
fn worst(checks: &[Check]) -> CheckVerdict {
    let order = [CheckVerdict::Fail, CheckVerdict::Unknown];
    let found = order
        .into_iter()
        .find(|v| checks.iter().any(|c| c.verdict == *v));
    found.unwrap_or(CheckVerdict::Pass)
}
