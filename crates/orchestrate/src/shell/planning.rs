//! Plans: the planner's task and its answer, the checks on it, and the plans made by code.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use baton_cli::Failure;
use baton_process::{Cancel, Command};
use baton_protocol::{FitVerdict, Plan, Task, TaskId};
use baton_repo::GitPath;

use crate::core::fallback;
use crate::core::gate;
use crate::core::job::Job;
use crate::core::plan_check::{self, Rules};
use crate::core::planner_answer::{self, PlannerSays};
use crate::core::questions::{self, Facts};
use crate::core::record::{JobKind, PlanSource, Record};
use crate::core::state::State;
use crate::core::verify_check::Offer;

use super::context::{Context, Line};
use super::layout::make_folder;
use super::{acts, stage, worker};

/// Files larger than this are not looked into for checks.
const SMALL: u64 = 256 * 1024;

/// What the repository and this machine offer, gathered once for a question.
pub(crate) struct Offered {
    files: BTreeSet<String>,
    root: std::path::PathBuf,
    path: Vec<std::path::PathBuf>,
    cancel: Cancel,
}

impl Offered {
    pub(crate) fn gather(context: &Context) -> Self {
        let path = context.env.get("PATH").unwrap_or_default();
        Self {
            files: files_below(context.root()),
            root: context.root().to_owned(),
            cancel: context.pause.clone(),
            path: std::env::split_paths(path).collect(),
        }
    }

    /// Calls `ask` with the offer.
    pub(crate) fn with<T>(&self, ask: impl FnOnce(&Offer<'_>) -> T) -> T {
        let has_program = |name: &str| {
            name.contains('/') && Path::new(name).is_file()
                || self.path.iter().any(|folder| folder.join(name).is_file())
        };
        let read = |name: &str| {
            let file = self.root.join(name);
            let small = std::fs::metadata(&file).is_ok_and(|m| m.len() <= SMALL);
            small.then(|| std::fs::read_to_string(&file).ok()).flatten()
        };
        let has_module = |interpreter: &str, module: &str| {
            let look = "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)";
            Command::new(interpreter)
                .args(["-c", look, module])
                .cwd(&self.root)
                .timeout(Duration::from_secs(10))
                .run(&self.cancel)
                .is_ok_and(|outcome| outcome.success())
        };
        ask(&Offer {
            files: &self.files,
            has_program: &has_program,
            has_module: &has_module,
            read: &read,
        })
    }
}

/// The names of the files of a repository, without what belongs to git or to us and without what
/// tools build; enough to know which checks exist.
fn files_below(root: &Path) -> BTreeSet<String> {
    const BUILT: &[&str] = &[".git", ".orchestrator", "node_modules", "target", ".venv"];
    const MOST: usize = 50_000;
    let mut open = vec![root.to_owned()];
    let mut files = BTreeSet::new();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            if files.len() >= MOST {
                return files;
            }
            let path = entry.path();
            let built = BUILT.iter().any(|name| entry.file_name() == *name);
            if path.is_dir() && !path.is_symlink() {
                if !built {
                    open.push(path);
                }
            } else if let Ok(relative) = path.strip_prefix(root)
                && let Some(text) = relative.to_str()
            {
                files.insert(text.to_owned());
            }
        }
    }
    files
}

fn id(name: &str) -> Result<TaskId, Failure> {
    TaskId::new(name).map_err(Failure::internal)
}

fn add_job(line: &Line, state: &State, kind: JobKind, task: Task) -> Result<(), Failure> {
    line.record(
        None,
        Record::JobAdded {
            kind,
            round: state.round,
            document: Box::new(task),
        },
    )?;
    Ok(())
}

pub(crate) fn add_planner(context: &Context, line: &Line, state: &State) -> Result<(), Failure> {
    let number = state.of_kind(JobKind::Plan).count() + 1;
    let offered = Offered::gather(context);
    let faults = state
        .rejected
        .iter()
        .rfind(|r| r.round == state.round)
        .map(|r| r.faults.clone())
        .unwrap_or_default();
    let facts = Facts {
        checks: offered.with(fallback::found_checks),
        findings: findings(context, state),
        faults,
        gaps: if state.round > 1 {
            state.round_gaps.clone()
        } else {
            Vec::new()
        },
        at_once: state.settings.max_parallel,
    };
    let name = if state.round > 1 {
        format!("plan-r{}-{number}", state.round)
    } else {
        format!("plan-{number}")
    };
    let task = questions::planner(id(&name)?, "planner", &state.goal, &facts);
    add_job(line, state, JobKind::Plan, task)
}

/// What explorers found, each shortened: facts for the planner, not essays.
fn findings(context: &Context, state: &State) -> Vec<String> {
    state
        .jobs
        .iter()
        .filter(|j| j.kind == JobKind::Explore)
        .filter_map(|job| worker::handoff(&acts::folder(context, job)).ok())
        .map(|handoff| handoff.outcome.chars().take(4_000).collect())
        .collect()
}

pub(crate) fn add_explorers(context: &Context, line: &Line, state: &State) -> Result<(), Failure> {
    let role = context.role("explore", "planner");
    let questions = state.questions.clone().unwrap_or_default();
    for (index, question) in questions
        .iter()
        .take(state.settings.max_parallel)
        .enumerate()
    {
        let task = questions::explorer(
            id(&format!("explore-{}", index + 1))?,
            role,
            &state.goal,
            question,
        );
        add_job(line, state, JobKind::Explore, task)?;
    }
    Ok(())
}

pub(crate) fn add_answer(context: &Context, line: &Line, state: &State) -> Result<(), Failure> {
    let role = context.role("explore", "planner");
    let task = questions::answer(id("answer")?, role, &state.goal);
    add_job(line, state, JobKind::Answer, task)
}

pub(crate) fn from_goal(context: &Context, line: &Line, state: &State) -> Result<(), Failure> {
    let checks = Offered::gather(context).with(fallback::found_checks);
    let mut notes: Vec<String> = state
        .rejected
        .iter()
        .map(|r| format!("a plan was refused: {}", r.faults.join("; ")))
        .collect();
    if checks.is_empty() {
        notes.push(
            "no check was found in this repository, so only the change itself can be looked at"
                .into(),
        );
    }
    let role = context.role("implementer", "worker");
    line.record(
        None,
        Record::PlanAccepted {
            source: PlanSource::Goal,
            plan: Box::new(fallback::plan_from_goal(&state.goal, role, checks)),
            notes,
        },
    )?;
    Ok(())
}

pub(crate) fn from_gaps(line: &Line, state: &State) -> Result<(), Failure> {
    let record = match fallback::plan_from_gaps(state) {
        Some(plan) => Record::PlanAccepted {
            source: PlanSource::Gaps,
            plan: Box::new(plan),
            notes: Vec::new(),
        },
        None => Record::RoundRefused {
            reason: format!("no plan for round {} could be made", state.round),
        },
    };
    line.record(None, record)?;
    Ok(())
}

/// Reads a planner's answer, checks the plan, and writes down what was decided.
pub(crate) fn read(
    context: &Context,
    line: &Line,
    state: &State,
    job: &Job,
) -> Result<(), Failure> {
    let folder = acts::folder(context, job);
    let handoff = worker::handoff(&folder)
        .map_err(|e| Failure::internal(format!("cannot read the planner's hand-off again: {e}")))?;
    let answer = if handoff.result.is_object() {
        Some(handoff.result.clone())
    } else {
        let text = handoff.result.as_str().unwrap_or(&handoff.outcome);
        planner_answer::find_object(text)
    };
    let says = match answer {
        Some(value) => planner_answer::read(&value, &state.goal),
        None => Err(vec!["the answer holds no JSON object".into()]),
    };
    let record = match says {
        Err(faults) => Record::PlanRejected { faults },
        Ok(PlannerSays::Facts(questions)) if state.questions.is_none() && state.round == 1 => {
            Record::FactsWanted { questions }
        }
        Ok(PlannerSays::Facts(_)) => Record::PlanRejected {
            faults: vec!["it asks for facts again; plan with what is known".into()],
        },
        // A further round is for what is missing: a question answers none of it.
        Ok(PlannerSays::Plan(plan)) if plan.direct && state.round > 1 => Record::PlanRejected {
            faults: vec!["`direct` is true, but something is missing; give it to tasks".into()],
        },
        Ok(PlannerSays::Plan(plan)) => judge(context, state, &folder, *plan)?,
    };
    if context.stop.is_cancelled() {
        return Ok(());
    }
    line.record(Some(job.id()), record)?;
    Ok(())
}

fn judge(
    context: &Context,
    state: &State,
    folder: &Path,
    mut plan: Plan,
) -> Result<Record, Failure> {
    let mut notes = Vec::new();
    let offered = Offered::gather(context);
    complete(context, &offered, &mut plan, &mut notes);
    let mut faults = check(context, state, &offered, &plan, Some(questions::MOST_TASKS));
    if faults.is_empty() {
        faults = unfitting(context, folder, &plan)?;
    }
    if !faults.is_empty() {
        return Ok(Record::PlanRejected { faults });
    }
    let unknown = gate::unknown_facts(&plan.gate);
    if !unknown.is_empty() && !plan.direct {
        notes.push(format!("the planner does not know: {}", unknown.join(", ")));
    }
    Ok(Record::PlanAccepted {
        source: PlanSource::Planner,
        plan: Box::new(plan),
        notes,
    })
}

/// Fills in what a planner may leave out and code knows: the role, and, for a single task without a
/// check, the repository's own.
fn complete(context: &Context, offered: &Offered, plan: &mut Plan, notes: &mut Vec<String>) {
    let role = context.role("implementer", "worker").to_owned();
    let single = plan.tasks.len() == 1;
    for task in &mut plan.tasks {
        if task.role.is_empty() || task.role == "implementer" {
            task.role.clone_from(&role);
        }
        if single && !task.prompt.contains(plan.goal.trim()) {
            // A small planner may retell a goal wrongly; a worker that has all of it is told it as
            // the user did.
            task.prompt = format!("{}\n\nThe planner adds: {}", plan.goal, task.prompt);
        }
        if task.verify.is_empty() && single {
            task.verify = offered.with(fallback::found_checks);
            let commands: Vec<&str> = task.verify.iter().map(|v| v.command.as_str()).collect();
            if !commands.is_empty() {
                notes.push(format!(
                    "task `{}` named no check; `{}` was added",
                    task.id,
                    commands.join("`, `")
                ));
            }
        }
    }
}

/// The deterministic plan check, with what this repository and machine offer.
pub(crate) fn check(
    context: &Context,
    state: &State,
    offered: &Offered,
    plan: &Plan,
    most_tasks: Option<usize>,
) -> Vec<String> {
    let mut roles: BTreeSet<String> = ["implementer", "worker", "explore", "planner", "reviewer"]
        .map(String::from)
        .into();
    roles.extend(context.config.roles.keys().cloned());
    let taken = state.jobs.iter().map(|j| j.id().clone()).collect();
    let mut faults = offered.with(|offer| {
        plan_check::faults(
            plan,
            &Rules {
                most_tasks,
                roles: &roles,
                taken: &taken,
                offer: Offer {
                    files: offer.files,
                    has_program: offer.has_program,
                    has_module: offer.has_module,
                    read: offer.read,
                },
            },
        )
    });
    faults.extend(ignored(context, plan));
    faults
}

/// Files that tasks own by name and git ignores: what a worker writes there would never be committed,
/// and be gone with its work tree.
fn ignored(context: &Context, plan: &Plan) -> Vec<String> {
    let named = |task: &Task| -> Vec<GitPath> {
        let globs = task.write_scope().unwrap_or(&[]).iter();
        globs
            .filter(|glob| !glob.contains(['*', '?', '[', '{', '\\']) && !glob.trim().is_empty())
            .filter(|glob| !glob.starts_with(['/', '~']) && !glob.split('/').any(|s| s == ".."))
            .map(|glob| GitPath::new(glob.as_bytes()))
            .collect()
    };
    let all: Vec<GitPath> = plan.tasks.iter().flat_map(named).collect();
    // What git cannot tell is found out at the end: a change that is not there does not hold.
    let ignored = context.repo.ignored(&all).unwrap_or_default();
    if ignored.is_empty() {
        return Vec::new();
    }
    let tasks = plan.tasks.iter();
    tasks
        .flat_map(|task| named(task).into_iter().map(move |path| (task, path)))
        .filter(|(_, path)| ignored.contains(path))
        .map(|(task, path)| {
            format!(
                "task `{}` owns `{path}`, which .gitignore keeps out of every commit, so its work would \
                 be lost; name another file, or take the file in (git add -f {path})",
                task.id
            )
        })
        .collect()
}

/// Tasks that no provider can hold. Only a well-founded no counts here; what cannot be told is left
/// to the placement of each worker.
fn unfitting(context: &Context, folder: &Path, plan: &Plan) -> Result<Vec<String>, Failure> {
    let limit = Duration::from_secs(60);
    let health = stage::run(
        context,
        "vllm-health",
        &["--json"],
        None,
        folder,
        "plan-health",
        limit,
    )?;
    let mut faults = Vec::new();
    for task in &plan.tasks {
        let name = format!("{}-task.json", task.id);
        let text = serde_json::to_string(task)
            .map_err(|e| Failure::internal(format!("cannot write the task {}: {e}", task.id)))?;
        make_folder(folder)?;
        stage::write(folder, &name, &text)?;
        let path = folder.join(&name);
        let (path, root) = (path.to_string_lossy(), context.root().to_string_lossy());
        let estimate = stage::run(
            context,
            "ctx-estimate",
            &[
                "--json",
                "--task",
                &path,
                "--repo",
                &root,
                "--candidates",
                "-",
            ],
            Some(&health.stdout),
            folder,
            &format!("{}-estimate", task.id),
            Duration::from_secs(120),
        )?;
        if let Ok(estimate) = baton_protocol::read::<baton_protocol::Estimate>(&estimate.stdout)
            && estimate.verdict == FitVerdict::No
        {
            let largest = estimate
                .providers
                .iter()
                .filter_map(|p| p.fit.as_ref()?.usable_context)
                .max();
            faults.push(format!(
                "task `{}` needs {} tokens, and the largest context is {}; name fewer files in \
                 scope.read, or cut it smaller",
                task.id,
                estimate.required_tokens,
                largest.map_or("unknown".to_owned(), |n| n.to_string())
            ));
        }
    }
    Ok(faults)
}
