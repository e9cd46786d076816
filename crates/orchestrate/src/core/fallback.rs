//! Plans made by code: one worker with the goal verbatim, and the next round's tasks from gaps.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use baton_protocol::{Plan, SchemaTag, Scope, Task, TaskId, VerifyCommand};
use serde_json::Value;

use super::closing::{Missing, Remedy, missing_of};
use super::names;
use super::record::JobKind;
use super::state::{Reviewed, State};
use super::verify_check::{Offer, fault};

/// The checks a repository offers, found without a model: its test runner, else its Makefile, else
/// what its CI runs.
pub(crate) fn found_checks(offer: &Offer<'_>) -> Vec<VerifyCommand> {
    let sources = [runners, make_checks, ci_checks];
    let usable = |source: fn(&Offer<'_>) -> Vec<String>| -> Vec<String> {
        let mut commands = source(offer);
        commands.retain(|command| fault(command, offer).is_none());
        commands
    };
    let found = sources
        .into_iter()
        .map(usable)
        .find(|found| !found.is_empty());
    found
        .unwrap_or_default()
        .into_iter()
        .map(|command| VerifyCommand {
            command,
            timeout_ms: None,
        })
        .collect()
}

fn runners(offer: &Offer<'_>) -> Vec<String> {
    let has = |name: &str| offer.files.contains(name);
    let mut found = Vec::new();
    if has("Cargo.toml") {
        found.push("cargo test".to_owned());
    }
    if has("go.mod") {
        found.push("go test ./...".to_owned());
    }
    if has("package.json") && npm_has_tests(offer) {
        let runner = if has("pnpm-lock.yaml") {
            "pnpm"
        } else if has("yarn.lock") {
            "yarn"
        } else {
            "npm"
        };
        found.push(format!("{runner} test"));
    }
    found.extend(python_check(offer));
    found
}

/// npm's placeholder script is no test.
fn npm_has_tests(offer: &Offer<'_>) -> bool {
    (offer.read)("package.json")
        .and_then(|text| serde_json::from_str::<Value>(&text).ok())
        .and_then(|package| package["scripts"]["test"].as_str().map(str::to_owned))
        .is_some_and(|script| !script.contains("no test specified"))
}

fn python_check(offer: &Offer<'_>) -> Option<String> {
    let tests: Vec<&String> = offer
        .files
        .iter()
        .filter(|path| {
            let name = path.rsplit('/').next().unwrap_or(path);
            name.strip_suffix(".py")
                .is_some_and(|stem| stem.starts_with("test_") || stem.ends_with("_test"))
        })
        .collect();
    let first = *tests.first()?;
    if (offer.has_program)("pytest") {
        return Some("pytest -q".into());
    }
    let unittest = (offer.read)(first).is_some_and(|text| text.contains("unittest"));
    if !unittest {
        return Some("python3 -m pytest -q".into());
    }
    let folder = first.rsplit_once('/').map_or(".", |(folder, _)| folder);
    Some(format!("python3 -m unittest discover -s {folder}"))
}

fn make_checks(offer: &Offer<'_>) -> Vec<String> {
    ["make test", "make check"]
        .into_iter()
        .filter(|command| fault(command, offer).is_none())
        .map(str::to_owned)
        .take(1)
        .collect()
}

/// Single-line `run:` steps of GitHub workflows that speak of tests.
fn ci_checks(offer: &Offer<'_>) -> Vec<String> {
    let workflows = offer.files.iter().filter(|path| {
        path.starts_with(".github/workflows/")
            && path
                .rsplit_once('.')
                .is_some_and(|(_, kind)| matches!(kind, "yml" | "yaml"))
    });
    let steps = workflows
        .filter_map(|path| (offer.read)(path))
        .flat_map(|text| {
            text.lines()
                .filter_map(|line| {
                    let line = line.trim().trim_start_matches("- ");
                    line.strip_prefix("run:").map(|c| c.trim().to_owned())
                })
                .filter(|c| c.contains("test") && !c.contains("${{") && !c.starts_with('|'))
                .collect::<Vec<_>>()
        });
    let unique: BTreeSet<String> = steps.collect();
    unique.into_iter().take(2).collect()
}

/// One worker with the goal verbatim; it owns everything but what is protected from everybody.
pub(crate) fn plan_from_goal(goal: &str, role: &str, checks: Vec<VerifyCommand>) -> Plan {
    let id = TaskId::new("goal").unwrap_or_else(|_| unreachable!("`goal` is a task id"));
    let mut task = Task::new(id, goal);
    role.clone_into(&mut task.role);
    task.title = first_line(goal, 60);
    task.scope = Some(Scope {
        write: Some(vec!["**".into()]),
        read: None,
    });
    task.verify = checks;
    task.narrower = Some(format!(
        "Do the smallest change that serves this goal and keeps every check passing: {goal}"
    ));
    Plan {
        schema: SchemaTag::new(),
        goal: goal.to_owned(),
        gate: baton_protocol::Gate::default(),
        direct: false,
        tasks: vec![task],
        depends: Vec::new(),
        notes: String::new(),
    }
}

/// The next round's plan, where code can make one: tasks that conflicted or broke on the run's
/// branch are asked again on what is there now, and the findings of a review become one task.
pub(crate) fn plan_from_gaps(state: &State) -> Option<Plan> {
    let (before, open): (Vec<Missing<'_>>, Vec<Missing<'_>>) = state
        .jobs
        .iter()
        .filter(|j| j.kind == JobKind::Work && j.round + 1 == state.round)
        .filter_map(|j| missing_of(state, j))
        .filter(|m| matches!(m.remedy, Remedy::Redo | Remedy::FollowUp))
        .partition(|m| m.remedy == Remedy::Redo);
    let mut tasks: Vec<Task> = before.iter().map(|m| redo(m, state.round)).collect();
    if !open.is_empty() {
        tasks.push(follow_up_task(state, &open));
    }
    let mut depends = Vec::new();
    for gap in &before {
        for need in state.needs(gap.job.id()) {
            if before.iter().any(|m| m.job.id() == need) {
                depends.push((
                    names::in_round(need, state.round),
                    names::in_round(gap.job.id(), state.round),
                ));
            }
        }
    }
    if tasks.is_empty()
        && let Some(review) = state.reviews.last()
        && review.round + 1 == state.round
    {
        tasks.push(findings_task(state, review));
    }
    // Tasks of one round may meet in files after a conflict; then they go one after the other.
    if depends.is_empty() {
        depends = tasks
            .windows(2)
            .map(|pair| (pair[0].id.clone(), pair[1].id.clone()))
            .collect();
    }
    (!tasks.is_empty()).then(|| Plan {
        schema: SchemaTag::new(),
        goal: state.goal.clone(),
        gate: baton_protocol::Gate::default(),
        direct: false,
        tasks,
        depends,
        notes: format!("round {}: what the round before left undone", state.round),
    })
}

fn redo(gap: &Missing<'_>, round: u32) -> Task {
    let mut task = gap.job.task.clone();
    task.id = names::in_round(gap.job.id(), round);
    task.round = round;
    task.attempt = 1;
    task.base = None;
    task.prompt = format!(
        "{}\n\nAn earlier version of this work was thrown away ({}). The files have changed since: \
         read them first, then do the task on what is there now.",
        gap.job.task.prompt, gap.statement
    );
    task
}

/// One task for what workers that are done left open. It may touch every file: a worker that kept to
/// its own often could not do just this.
fn follow_up_task(state: &State, open: &[Missing<'_>]) -> Task {
    let id = TaskId::new(format!("left-open-r{}", state.round))
        .unwrap_or_else(|_| unreachable!("fixed words and a number are a task id"));
    let mut list = String::new();
    for gap in open {
        let _ = writeln!(list, "- {}", gap.statement);
    }
    let mut task = Task::new(
        id,
        format!(
            "The work on this goal is done but for the points below.\n\nGoal: {}\n\nStill open:\n\
             {list}\nDo exactly these, as far as the goal asks for them.",
            state.goal
        ),
    );
    task.title = "Do what was left open".into();
    if let Some(gap) = open.first() {
        task.role.clone_from(&gap.job.task.role);
    }
    task.scope = Some(Scope {
        write: Some(vec!["**".into()]),
        read: None,
    });
    task.verify = all_checks(state);
    task.narrower = Some(format!("Do only the first of these points:\n{list}"));
    task
}

/// Every check of the work so far, each command once.
fn all_checks(state: &State) -> Vec<VerifyCommand> {
    let mut seen = BTreeSet::new();
    let work = state.jobs.iter().filter(|j| j.kind == JobKind::Work);
    work.flat_map(|j| j.task.verify.clone())
        .filter(|v| seen.insert(v.command.clone()))
        .collect()
}

fn findings_task(state: &State, review: &Reviewed) -> Task {
    let id = TaskId::new(format!("review-findings-r{}", state.round))
        .unwrap_or_else(|_| unreachable!("a fixed word and a number are a task id"));
    let mut list = String::new();
    for finding in &review.findings {
        let place = finding.path.as_deref().unwrap_or("no file named");
        let _ = writeln!(list, "- {place}: {}", finding.statement);
    }
    let mut task = Task::new(
        id,
        format!(
            "A review of the work on this goal asked for changes.\n\nGoal: {}\n\nFindings:\n{list}\n\
             Make exactly these changes.",
            state.goal
        ),
    );
    task.title = "Address the findings of the review".into();
    let work = state.jobs.iter().filter(|j| j.kind == JobKind::Work);
    let mut write: BTreeSet<String> = work.flat_map(|j| j.write_scope().to_vec()).collect();
    write.extend(review.findings.iter().filter_map(|f| f.path.clone()));
    task.scope = Some(Scope {
        write: Some(write.into_iter().collect()),
        read: None,
    });
    task.verify = all_checks(state);
    task.narrower = Some(format!(
        "Change only what the first finding asks for:\n{list}"
    ));
    task
}

/// The first line of a text, shortened at a word.
pub(crate) fn first_line(text: &str, most: usize) -> String {
    let line = text
        .lines()
        .map(str::trim)
        .find(|l| !l.is_empty())
        .unwrap_or("");
    if line.chars().count() <= most {
        return line.to_owned();
    }
    let cut: String = line.chars().take(most.saturating_sub(1)).collect();
    let cut = cut.rsplit_once(' ').map_or(cut.as_str(), |(head, _)| head);
    format!("{}…", cut.trim_end())
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::{first_line, found_checks, plan_from_goal};
    use crate::core::verify_check::Offer;

    fn checks(files: &[(&str, &str)], programs: &[&str]) -> Vec<String> {
        let texts: BTreeMap<&str, &str> = files.iter().copied().collect();
        let files: BTreeSet<String> = texts.keys().map(ToString::to_string).collect();
        let offer = Offer {
            files: &files,
            has_program: &|name| programs.contains(&name),
            has_module: &|_, module| module == "unittest" || programs.contains(&module),
            read: &|name| texts.get(name).map(ToString::to_string),
        };
        found_checks(&offer)
            .into_iter()
            .map(|v| v.command)
            .collect()
    }

    #[test]
    fn a_runner_that_cannot_run_here_leaves_the_makefile() {
        let files = [
            ("test_text.py", "assert 1\n"),
            ("Makefile", "test:\n\tpython3 test_text.py\n"),
        ];
        assert_eq!(checks(&files, &["python3", "make"]), ["make test"]);
    }

    #[test]
    fn the_repository_s_own_runner_is_found() {
        assert_eq!(checks(&[("Cargo.toml", "")], &["cargo"]), ["cargo test"]);
        assert_eq!(
            checks(
                &[
                    ("package.json", r#"{"scripts":{"test":"vitest"}}"#),
                    ("pnpm-lock.yaml", "")
                ],
                &["pnpm"]
            ),
            ["pnpm test"]
        );
        assert_eq!(
            checks(&[("tests/test_a.py", "import unittest\n")], &["python3"]),
            ["python3 -m unittest discover -s tests"]
        );
        assert_eq!(
            checks(&[("t/test_a.py", "")], &["python3", "pytest"]),
            ["pytest -q"]
        );
    }

    #[test]
    fn the_makefile_comes_next_and_then_ci() {
        assert_eq!(
            checks(&[("Makefile", "check: x\n")], &["make"]),
            ["make check"]
        );
        let ci = "jobs:\n  t:\n    steps:\n      - run: ./run.sh --test\n      - run: echo hi\n";
        assert_eq!(
            checks(&[(".github/workflows/ci.yml", ci), ("run.sh", "")], &[]),
            ["./run.sh --test"]
        );
    }

    #[test]
    fn what_cannot_run_here_is_no_check() {
        assert_eq!(checks(&[("Cargo.toml", "")], &[]), [""; 0]);
        let placeholder = r#"{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}"#;
        assert_eq!(checks(&[("package.json", placeholder)], &["npm"]), [""; 0]);
        assert_eq!(checks(&[], &["cargo", "npm"]), [""; 0]);
    }

    #[test]
    fn the_goal_is_asked_verbatim() {
        let goal = "Make `id` safe: $(x) \"q\"\nand more";
        let plan = plan_from_goal(goal, "worker", Vec::new());
        assert_eq!(plan.tasks[0].prompt, goal);
        assert_eq!(plan.tasks[0].write_scope().unwrap(), ["**"]);
        assert!(plan.tasks[0].narrower.is_some());
    }

    #[test]
    fn a_title_is_one_short_line() {
        assert_eq!(first_line("\n  Fix it \nmore", 20), "Fix it");
        assert_eq!(first_line("one two three four", 10), "one two…");
    }
}
