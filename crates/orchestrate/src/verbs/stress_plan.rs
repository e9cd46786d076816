//! `orchestrate stress-plan`: a draft, four critiques, and a plan's file.

use baton_cli::{Failure, Output};
use baton_protocol::{Exit, Handoff, Task};
use serde_json::{Value, json};

use crate::cli_verbs::StressPlan;
use crate::core::plan_file::convert::{self, Around};
use crate::core::{plan_file, stress};
use crate::shell::desk::Desk;
use crate::shell::layout::make_folder;
use crate::shell::{ask, planning};

use super::{run, settings, upkeep};

/// Has a goal planned and the plan argued about.
pub(crate) fn stress_plan(cli: &StressPlan, output: &Output) -> Result<Exit, Failure> {
    let goal = cli.goal.join(" ").trim().to_owned();
    if goal.is_empty() {
        return Err(Failure::usage(
            "the goal is empty; say in plain words what is to be planned",
        ));
    }
    let desk = upkeep::desk(output, "stress-plan", |c| c.stress_plan, &cli.launch, false)?;
    let context = desk.looking()?;
    let planner = context.role("planner", "explore").to_owned();
    let critic = context.role("reviewer", "planner").to_owned();

    output.note("drafting");
    let draft = one(&desk, &goal, stress::draft(&goal, &planner))?
        .and_then(|h| plan_of(&h))
        .ok_or_else(|| no_plan("the draft"))?;
    let shown = serde_json::to_string_pretty(&draft).unwrap_or_default();

    output.note("four critiques");
    let tasks = stress::critiques(&goal, &shown, &critic).map_err(Failure::internal)?;
    let said = all(&desk, &goal, tasks)?;
    let critiques: Vec<(String, Option<Vec<String>>)> = stress::ANGLES
        .iter()
        .zip(said)
        .map(|((angle, _), handoff)| {
            let findings = handoff.and_then(|h| stress::findings(&h.result));
            ((*angle).to_owned(), findings)
        })
        .collect();

    output.note("the final plan");
    let text = finalise(&desk, &goal, &shown, &critiques, &planner)?;
    let file = store(&desk, &goal, &text)?;
    let silent: Vec<&str> = critiques
        .iter()
        .filter(|(_, findings)| findings.is_none())
        .map(|(angle, _)| angle.as_str())
        .collect();
    for angle in &silent {
        output.note(&format!(
            "no answer was given on {angle}; look at that angle yourself"
        ));
    }
    let objections: usize = critiques
        .iter()
        .map(|(_, f)| f.as_ref().map_or(0, Vec::len))
        .sum();
    let document = json!({
        "schema": "stress-plan/1", "file": file, "objections": objections, "unanswered": silent,
    });
    output.document(&document, || {
        format!(
            "{text}\n{}\nwork on it: orchestrate run-plan\n",
            file.display()
        )
    })?;
    Ok(if silent.is_empty() {
        Exit::Yes
    } else {
        Exit::Unknown
    })
}

fn no_plan(what: &str) -> Failure {
    Failure::internal(format!(
        "{what} was not given in a form that can be read; see the last run: orchestrate show"
    ))
}

fn all(desk: &Desk<'_>, goal: &str, tasks: Vec<Task>) -> Result<Vec<Option<Handoff>>, Failure> {
    let answers = ask::ask(
        desk,
        run::run_name()?,
        run::nonce()?,
        goal,
        tasks,
        settings::of_given_plan(&desk.config)?,
    )?;
    if answers.handoffs.iter().all(Option::is_none) {
        return Err(Failure::internal(format!(
            "no answer was given; see why: orchestrate show {}",
            answers.run
        ))
        .with_exit(upkeep::exit(&answers.state)));
    }
    Ok(answers.handoffs)
}

fn one(
    desk: &Desk<'_>,
    goal: &str,
    task: Result<Task, String>,
) -> Result<Option<Handoff>, Failure> {
    let task = task.map_err(Failure::internal)?;
    Ok(all(desk, goal, vec![task])?.swap_remove(0))
}

/// The object a planner answered with, in its result or in its words.
fn plan_of(handoff: &Handoff) -> Option<Value> {
    if handoff.result.is_object() {
        return Some(handoff.result.clone());
    }
    let text = handoff.result.as_str().unwrap_or(&handoff.outcome);
    crate::core::planner_answer::find_object(text)
}

/// The final plan's text; one that could not be worked on is asked for once more.
fn finalise(
    desk: &Desk<'_>,
    goal: &str,
    draft: &str,
    critiques: &[(String, Option<Vec<String>>)],
    planner: &str,
) -> Result<String, Failure> {
    let mut faults = Vec::new();
    for _ in 0..2 {
        let task = stress::finalise(goal, draft, critiques, &faults, planner);
        let plan = one(desk, goal, task)?.and_then(|h| plan_of(&h));
        let text = plan.and_then(|p| stress::markdown(goal, &p, critiques));
        let Some(text) = text else {
            faults = vec!["it held no plan in the asked form".into()];
            continue;
        };
        faults = faults_of(desk, &text)?;
        if faults.is_empty() {
            return Ok(text);
        }
    }
    Err(no_plan("the final plan").with_detail(json!({"faults": faults})))
}

/// What stands in the way of working on a plan.
fn faults_of(desk: &Desk<'_>, text: &str) -> Result<Vec<String>, Failure> {
    let context = desk.looking()?;
    let file = match plan_file::read(text, "plan") {
        Ok(file) => file,
        Err(fault) => return Ok(vec![fault]),
    };
    let around = Around {
        role: context.role("implementer", "worker"),
        checks: &[],
        is_command: &|_| true,
    };
    let plan = match convert::plan(&file, &around) {
        Ok(plan) => plan,
        Err(fault) => return Ok(vec![fault]),
    };
    let offered = planning::Offered::gather(&context);
    let empty = crate::core::state::State::empty();
    Ok(planning::check(&context, &empty, &offered, &plan, None))
}

/// Writes the plan's file under a name that is free.
fn store(desk: &Desk<'_>, goal: &str, text: &str) -> Result<std::path::PathBuf, Failure> {
    let folder = desk.layout.plans();
    make_folder(&folder)?;
    let stem = stress::file_name(goal);
    let fail = |e: std::io::Error| {
        Failure::internal(format!(
            "cannot write a plan into {}: {e}",
            folder.display()
        ))
    };
    for number in 1..1_000 {
        let name = if number == 1 {
            format!("{stem}.md")
        } else {
            format!("{stem}-{number}.md")
        };
        let file = folder.join(name);
        let mut draft = tempfile::NamedTempFile::new_in(&folder).map_err(fail)?;
        std::io::Write::write_all(&mut draft, text.as_bytes()).map_err(fail)?;
        match draft.persist_noclobber(&file) {
            Ok(_) => return Ok(file),
            Err(e) if e.error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(fail(e.error)),
        }
    }
    Err(Failure::usage(format!(
        "there are a thousand plans called {stem} in {}",
        folder.display()
    )))
}
