//! The shell: reads the documents, asks git, runs commands, prints the verdict.

use std::io::Read as _;
use std::path::Path;
use std::thread;
use std::time::UNIX_EPOCH;

use baton_cli::config::{ConfigFlags, Loaded, load};
use baton_cli::{Environment, Failure, Output, Outside, Redactor, input};
use baton_process::Cancel;
use baton_protocol::markdown::{self, Headings};
use baton_protocol::{ArtifactKind, Exit, Handoff, Secret, Task, TaskId, Timestamp, read_strict};
use baton_repo::{Change, ChangeKind, ChangeSet, Depth, GitPath, Globs, Mode, Repo, RepoError};

use crate::checks::changes::{BaseSource, UNFINISHED};
use crate::checks::claims::Compared;
use crate::checks::verification::RunResult;
use crate::checks::{basis, claims, scope};
use crate::cli::{Cli, Command, Emit, From, Protect};
use crate::judge::{Known, RedFirst, judge};
use crate::report::{self, NoReport, Report, envelope};
use crate::rerun::Setup;
use crate::{explain, hiding, only_scope, text};

const REPORT: &str = "a report (handoff/1, a version-1 envelope, or Markdown headings)";

/// Does what the command line says.
pub(crate) fn run(cli: &Cli, output: &Output) -> Result<Exit, Failure> {
    if cli.explain {
        output.raw(explain::text().as_bytes())?;
        return Ok(Exit::Yes);
    }
    if let Some(Command::Scope(asked)) = &cli.command {
        return only_scope::run(asked, output);
    }
    let task = cli.task.as_deref().map(read_task).transpose()?;
    if let Some(form) = cli.emit {
        return convert(cli, task.as_ref(), form, output);
    }
    match task {
        Some(task) => check(cli, &task, output),
        None if cli.from.is_some() => convert(cli, None, Emit::Handoff, output),
        None => Err(Failure::usage(
            "which task does the report answer? Give --task FILE (or --emit, --from, --explain, scope)",
        )),
    }
}

fn read_task(file: &Path) -> Result<Task, Failure> {
    let text = input::main_document(Some(file), "a task/1 document (--task FILE)")?;
    read_strict::<Task>(&text).map_err(|e| Failure::from(e).at(file.display()))
}

/// What was handed in, whole: only then is the worker surely done.
fn report_text(cli: &Cli) -> Result<String, Failure> {
    let text = input::main_document(cli.report.as_deref(), REPORT)?;
    // The tool before us in the pipe failed: that is no report, and its own words are better.
    if text.contains("error/1")
        && let Err(relayed @ baton_protocol::ReadError::Relayed(_)) =
            baton_protocol::read::<Handoff>(&text)
    {
        return Err(relayed.into());
    }
    Ok(text)
}

fn find_report(cli: &Cli, text: &str, task: &TaskId) -> Result<Report, NoReport> {
    match cli.from {
        Some(From::Markdown) => report::from_markdown(text, task),
        Some(From::Handoff) => report::find(text, task).and_then(|r| r.only(report::Form::Handoff)),
        Some(From::Envelope) => {
            report::find(text, task).and_then(|r| r.only(report::Form::Envelope))
        }
        Some(From::Auto) | None => report::find(text, task),
    }
}

/// `--emit` and `--from`: another form of the same report.
fn convert(cli: &Cli, task: Option<&Task>, form: Emit, output: &Output) -> Result<Exit, Failure> {
    let unnamed = TaskId::new("unnamed").map_err(Failure::internal)?;
    let id = task.map_or(&unnamed, |t| &t.id);
    let found = find_report(cli, &report_text(cli)?, id);
    let report = found.map_err(|e| Failure::input(e.to_string()))?;
    match form {
        Emit::Handoff => output.json_line(&report.handoff)?,
        Emit::Markdown | Emit::MarkdownFour => {
            let headings = if form == Emit::Markdown {
                Headings::Five
            } else {
                Headings::Four
            };
            let text = markdown::write(&report.handoff, headings);
            output.raw(output.redactor().text(&text).as_bytes())?;
        }
        Emit::Envelope => {
            let (value, lost) = envelope::from_handoff(&report.handoff);
            let faults = envelope::issues(&value);
            if let Some(fault) = faults.first() {
                return Err(Failure::input(format!(
                    "cannot be written as an envelope: {fault}"
                )));
            }
            for note in lost {
                output.note(&note);
            }
            output.json_line(&value)?;
        }
    }
    Ok(Exit::Yes)
}

/// The whole judgement.
fn check(cli: &Cli, task: &Task, output: &Output) -> Result<Exit, Failure> {
    let owned = task.write_scope().ok_or_else(|| {
        Failure::input(
            "$.scope.write of the task is missing: say which files it may change (`[]`: none)",
        )
    })?;
    let owned = globs(owned, "$.scope.write of the task")?;
    let guarded = protected(&cli.protect)?;
    let cancel = Cancel::install()
        .map_err(|e| Failure::internal(format!("cannot listen for signals: {e}")))?;
    let env = Environment::from_process();
    let repo = Repo::discover(&cli.repo)
        .map_err(repo_failure)?
        .with_cancel(&cancel);
    let mut task = task.clone();
    if reruns(cli) {
        let places = [repo.root(), repo.git_dir(), repo.common_dir()];
        task.sandbox = Outside::new(&env, places).of_task(&task.sandbox)?;
    }
    let task = &task;
    let loaded = configuration(&env, &repo, reruns(cli), output);

    let text = report_text(cli)?;
    // Git looks through the work tree while the report is read.
    let (look, found, source, start) = thread::scope(|scope| {
        let look = scope.spawn(|| repo.look());
        let found = find_report(cli, &text, &task.id);
        let (base, source) = base(cli, task, found.as_ref().ok());
        let start = base.map_or_else(|| repo.base_of_head(), |b| repo.base(&b));
        (look.join(), found, source, start)
    });
    let look = look
        .map_err(|_| Failure::internal("the look at the work tree broke off"))?
        .map_err(repo_failure)?;
    let found = found.map(|r| r.relative_to(&repo.root().to_string_lossy()));
    let depth = depth(cli, found.as_ref().ok());
    let mut facts = start
        .and_then(|b| repo.changes_seen(look, b, depth))
        .map_err(repo_failure)?;
    if let Ok(report) = &found {
        // One name of a rename is enough, so who left out a name may have meant a rename.
        let claimed = &report.handoff.files_changed;
        repo.pair_renames(&mut facts, |facts| claims::name_all(claimed, facts))
            .map_err(repo_failure)?;
    }

    let runs = Runs::make(cli, &repo, task, &facts, &env, &cancel, loaded.as_ref())?;
    for path in &runs.empty_submodules {
        output.note(&format!(
            "the commands ran without the submodule {path}, which is not on this machine; git submodule update --init {path}"
        ));
    }
    let handoff = found.as_ref().ok().map(|r| &r.handoff);
    let submodules = declared_submodules(&repo, &facts)?;
    let claimed = handoff.map(|h| claims::compare(&h.files_changed, &facts));
    let compared = claimed.unwrap_or_default();
    let missing: Vec<GitPath> = compared
        .missing
        .iter()
        .filter(|name| is_inside(name))
        .map(|name| GitPath::from(name.as_str()))
        .collect();
    let ignored = repo.ignored(&missing).map_err(repo_failure)?;
    let modes = repo.modes_untold(&missing).map_err(repo_failure)?;
    let renamed = renamed_unseen(&repo, &facts, &compared);
    // Only worker-run's own clock counts; a model may write any time.
    let alone = found.as_ref().ok().filter(|r| r.alone);
    let since = alone.and_then(|r| seconds(r.handoff.started_at?));
    let hidden = hiding::hidden(&repo, &facts, &owned, since.or(facts.base.at))?;
    let absent = handoff.map(|h| absent(h, repo.root())).unwrap_or_default();
    let redactor = redactor(loaded.as_ref(), &env);
    let known = Known {
        task,
        owned: &owned,
        protected: &guarded,
        report: found.as_ref(),
        facts: &facts,
        base: source,
        unfinished: UNFINISHED
            .into_iter()
            .find(|u| repo.git_dir().join(u.trace).exists()),
        submodules: &submodules,
        untold: claims::Untold {
            ignored: &texts(&ignored),
            modes: &texts(&modes),
            renamed: &renamed,
        },
        hidden: &hidden,
        absent: &absent,
        clean: is_clean(&redactor, &text, handoff),
        forgiven: &forgiven(task, repo.root()),
        runs: runs.end.as_deref(),
        red_first: cli.red_first.then_some(RedFirst {
            tests: runs.tests,
            runs: runs.before.as_deref(),
        }),
        strict: cli.strict,
        review_required: cli.review_required,
    };
    let (verdict, exit) = judge(&known, compared);
    if let Err(why) = &found {
        output.note(&why.to_string());
    }
    output.document(&verdict, || text::verdict(&verdict))?;
    Ok(exit)
}

/// Whether the commands are to be run again.
fn reruns(cli: &Cli) -> bool {
    cli.rerun || cli.red_first || cli.repeat.is_some()
}

/// How much must be known of the work tree: all of it to run commands on it, its name where the
/// report speaks of a tree.
fn depth(cli: &Cli, report: Option<&Report>) -> Depth {
    let names_a_tree = |report: &Report| {
        report.alone && (report.handoff.tree.is_some() || !report.handoff.receipts.is_empty())
    };
    if reruns(cli) {
        Depth::Tree
    } else if report.is_some_and(names_a_tree) {
        Depth::TreeName
    } else {
        Depth::Names
    }
}

/// The submodules that `.gitmodules` of the work tree declares; asked only when there is a new one.
fn declared_submodules(repo: &Repo, facts: &ChangeSet) -> Result<Vec<String>, Failure> {
    let mut modes = facts.net.iter().chain(&facts.committed).map(|c| c.new_mode);
    if !modes.any(|m| m == Mode::Submodule) {
        return Ok(Vec::new());
    }
    let tree = match &facts.tree {
        Some(tree) => tree.clone(),
        None => repo.snapshot().map_err(repo_failure)?,
    };
    let paths = repo.submodule_paths(tree.as_str()).map_err(repo_failure)?;
    Ok(paths.iter().map(ToString::to_string).collect())
}

fn texts(names: &[GitPath]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

/// Deleted names without a claim that may be the old ones of new files, where a partial clone has
/// not the contents that would tell.
fn renamed_unseen(repo: &Repo, facts: &ChangeSet, compared: &Compared) -> Vec<String> {
    let is = |kind| move |c: &&Change| c.kind == kind;
    let mut changes = facts.net.iter().chain(&facts.committed);
    if !repo.lacks_contents() || !changes.any(|c| c.kind == ChangeKind::Added) {
        return Vec::new();
    }
    let changes = facts.net.iter().chain(&facts.committed);
    let deleted = changes.filter(is(ChangeKind::Deleted));
    let names = deleted.map(|c| c.path.to_string());
    names.filter(|n| compared.unclaimed.contains(n)).collect()
}

/// `--base`, else the task's, else what worker-run recorded, else HEAD.
fn base(cli: &Cli, task: &Task, report: Option<&Report>) -> (Option<String>, BaseSource) {
    let recorded = report
        .filter(|r| r.alone)
        .and_then(|r| r.handoff.base.clone());
    if let Some(base) = &cli.base {
        (Some(base.clone()), BaseSource::Flag)
    } else if let Some(base) = &task.base {
        (Some(base.clone()), BaseSource::Task)
    } else if let Some(base) = recorded {
        (Some(base), BaseSource::Handoff)
    } else {
        (None, BaseSource::Head)
    }
}

/// The runs we made.
struct Runs {
    end: Option<Vec<Vec<RunResult>>>,
    before: Option<Vec<RunResult>>,
    tests: usize,
    empty_submodules: Vec<GitPath>,
}

impl Runs {
    fn make(
        cli: &Cli,
        repo: &Repo,
        task: &Task,
        facts: &ChangeSet,
        env: &Environment,
        cancel: &Cancel,
        loaded: Option<&Loaded>,
    ) -> Result<Self, Failure> {
        let mut runs = Self {
            end: None,
            before: None,
            tests: 0,
            empty_submodules: Vec::new(),
        };
        let Some(tree) = facts.tree.as_ref().filter(|_| reruns(cli)) else {
            return Ok(runs);
        };
        let worktree = loaded
            .map(|l| l.config.worktree.clone())
            .unwrap_or_default();
        let copied = worktree.copy.iter().map(std::path::PathBuf::from);
        let copied = copied.filter(|p| repo.root().join(p).exists());
        let with: Vec<_> = cli.with.iter().cloned().chain(copied).collect();
        let setup = Setup {
            repo,
            task,
            env,
            cancel,
            sandboxed: !cli.no_sandbox,
            with: &with,
            prepare: &worktree.setup,
        };
        let scratch = setup.scratch(tree.as_str())?;
        runs.empty_submodules = scratch.empty_submodules().to_vec();
        runs.end = Some(scratch.run_all(cli.repeat.unwrap_or(1))?);
        drop(scratch);
        if cli.red_first {
            let mut tests: Vec<GitPath> = facts
                .net
                .iter()
                .flat_map(Change::touched)
                .filter(|p| basis::is_test(p))
                .cloned()
                .collect();
            tests.sort();
            tests.dedup();
            runs.tests = tests.len();
            if !tests.is_empty() && !task.verify.is_empty() {
                let scratch = setup.scratch(facts.base.tree.as_str())?;
                scratch.overlay(tree.as_str(), &tests)?;
                runs.before = Some(scratch.run_all(1)?.into_iter().flatten().collect());
            }
        }
        Ok(runs)
    }
}

/// For each command, how a makefile, a script or a setting of the work tree hides its failures.
fn forgiven(task: &Task, root: &Path) -> Vec<Option<String>> {
    const LARGEST: u64 = 256 << 10;
    let read = |name: &str| {
        let file = root.join(name);
        let small = std::fs::metadata(&file).is_ok_and(|m| m.is_file() && m.len() <= LARGEST);
        let mut bytes = Vec::new();
        let file = small.then(|| std::fs::File::open(&file).ok()).flatten()?;
        // It may grow while it is read, and need never end.
        file.take(LARGEST).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    };
    let read = |name: &str| Some(String::from_utf8_lossy(&read(name)?).into_owned());
    let commands = task.verify.iter().map(|v| v.command.as_str());
    commands
        .map(|c| baton_process::line::hidden_in_files(c, &read))
        .collect()
}

/// Files named as produced that are not in the work tree. A URL cannot be looked up.
fn absent(handoff: &Handoff, root: &Path) -> Vec<String> {
    let files = handoff
        .artifacts
        .iter()
        .filter(|a| a.kind == ArtifactKind::File);
    files
        .map(|a| a.reference.split('#').next().unwrap_or(&a.reference))
        .filter(|name| !is_inside(name) || !lies_within(root, name))
        .map(str::to_owned)
        .collect()
}

/// Whether the file exists and does not lead out of the work tree by a link.
fn lies_within(root: &Path, name: &str) -> bool {
    let inside = || {
        Ok::<_, std::io::Error>(
            root.join(name)
                .canonicalize()?
                .starts_with(root.canonicalize()?),
        )
    };
    inside().unwrap_or(false)
}

fn is_inside(name: &str) -> bool {
    baton_protocol::RelPath::new(name).is_ok()
}

pub(crate) fn globs<S: AsRef<str>>(patterns: &[S], place: &str) -> Result<Globs, Failure> {
    Globs::new(patterns).map_err(|e| Failure::input(format!("{place}: {e}")))
}

pub(crate) fn protected(asked: &Protect) -> Result<Globs, Failure> {
    let ci = scope::CI_FILES.iter().filter(|_| asked.protect_ci);
    let own = asked.protect.iter().map(String::as_str);
    let all: Vec<&str> = scope::ALWAYS_PROTECTED
        .iter()
        .chain(ci)
        .copied()
        .chain(own)
        .collect();
    globs(&all, "--protect")
}

/// The configuration, for the keys to keep out and for preparing scratch copies. The repository's
/// file is the worker's to break, so a broken one is said and no more: the verdict still stands.
fn configuration(env: &Environment, repo: &Repo, needed: bool, output: &Output) -> Option<Loaded> {
    match load(env, repo.root(), &ConfigFlags::default()) {
        Ok(loaded) => {
            for note in loaded.notes.iter().filter(|_| needed) {
                output.note(note);
            }
            Some(loaded)
        }
        Err(failure) => {
            output.note(&format!("judging without the configuration: {failure}"));
            None
        }
    }
}

fn redactor(loaded: Option<&Loaded>, env: &Environment) -> Redactor {
    let names = ["OPENCODE_VLLM_API_KEY", "OPENAI_API_KEY"];
    let known = || names.iter().filter_map(|n| env.get(n)).map(Secret::new);
    loaded.map_or_else(|| Redactor::new(known()), |l| l.redactor(env))
}

/// Seconds since 1970.
fn seconds(time: Timestamp) -> Option<i64> {
    let since = time.system_time().duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_secs()).ok()
}

/// Whether no key stands in the report, as it was written and as it reads.
fn is_clean(redactor: &Redactor, text: &str, handoff: Option<&Handoff>) -> bool {
    let holds_none = |text: &str| redactor.text(text) == text;
    // Letters of JSON may be written as numbers.
    let read = handoff.filter(|_| text.contains("\\u"));
    let read = read.and_then(|handoff| serde_json::to_string(handoff).ok());
    holds_none(text) && read.is_none_or(|read| holds_none(&read))
}

/// What a git error means for the exit code: bad input, or a question without an answer.
pub(crate) fn repo_failure(error: RepoError) -> Failure {
    match error {
        RepoError::NotARepository(_) | RepoError::Bare(_) | RepoError::UnknownRevision(_) => {
            Failure::input(error.to_string())
        }
        RepoError::Cancelled => Failure::interrupted(2),
        other => Failure::internal(other.to_string()),
    }
}
