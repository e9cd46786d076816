//! Running commands: the model's and the harness's own checks, with a receipt for each.

use std::path::{Path, PathBuf};
use std::time::Duration;

use baton_cli::Environment;
use baton_process::sandbox::{self, Coverage, Policy};
use baton_process::{Cancel, Capture, Command, ExitStatus, Space, confined_variables};
use baton_protocol::{Confinement, Receipt, ReceiptSource, Sandbox, Timestamp};

use super::confine::{self, policy, reach};
use crate::cli::SandboxFlag;
use crate::replay::{Place, Tape};
use crate::text::clean::clean;

/// Bytes kept of either end of an output; the whole of it goes to a file.
const KEPT: usize = 256 << 10;
/// What one command may take of the disk, and what must stay free.
const MOST_DISK: u64 = 16 << 30;
const SPARE_DISK: u64 = 512 << 20;

/// Runs commands in the work tree.
#[derive(Debug)]
pub(crate) struct Shell {
    root: PathBuf,
    tmp: tempfile::TempDir,
    env: Vec<(String, String)>,
    policy: Option<Policy>,
    coverage: Option<Coverage>,
    /// The folder the model's next command starts in.
    cwd: PathBuf,
    next: u32,
    tape: Tape,
}

/// What came of a command.
#[derive(Debug, Clone)]
pub(crate) struct Ran {
    /// The proof; the trees are filled in by whoever took them.
    pub(crate) receipt: Receipt,
    /// Its output as a terminal would show it.
    pub(crate) text: String,
    /// Where the whole output is.
    pub(crate) log: PathBuf,
    /// Whether we were told to end.
    pub(crate) cancelled: bool,
    /// Processes it left behind, which were killed.
    pub(crate) killed: usize,
}

impl Ran {
    /// Whether it ended by itself with code 0.
    pub(crate) fn passed(&self) -> bool {
        self.receipt.exit_code == Some(0) && !self.receipt.timed_out
    }

    /// How it ended, in words.
    pub(crate) fn result(&self) -> String {
        let seconds = self.receipt.duration_ms / 1000;
        match (
            self.receipt.timed_out,
            self.receipt.exit_code,
            self.receipt.signal,
        ) {
            (true, _, _) => format!("ended by the time limit after {seconds} s"),
            (_, Some(code), _) => format!("exit code {code}"),
            (_, None, Some(signal)) => format!("killed by signal {signal}"),
            (_, None, None) => "ended in an unknown way".into(),
        }
    }
}

/// One command to run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Order<'a> {
    /// The line for bash.
    pub(crate) command: &'a str,
    /// Who wants it.
    pub(crate) source: ReceiptSource,
    /// Its time limit.
    pub(crate) limit: Duration,
}

impl Shell {
    /// A shell for the work tree at `root`, behind the border that `flag` and the task ask for.
    pub(crate) fn new(
        root: &Path,
        writes: bool,
        flag: SandboxFlag,
        task: &Sandbox,
        env: &Environment,
    ) -> std::io::Result<Self> {
        let tmp = tempfile::Builder::new().prefix("baton-worker-").tempdir()?;
        std::fs::create_dir(tmp.path().join("tmp"))?;
        std::fs::create_dir(tmp.path().join("output"))?;
        let scratch = tmp.path().canonicalize()?.join("tmp");
        std::fs::create_dir(scratch.join("home"))?;
        let policy = policy(flag, root, writes, task, &scratch, env);
        let mut variables = confined_variables(env.iter(), &task.env, reach(task.network));
        for name in ["TMPDIR", "TMP", "TEMP"] {
            variables.push((name.into(), scratch.display().to_string()));
        }
        if policy.is_some() {
            variables.extend(confine::variables(env, &scratch));
        }
        Ok(Self {
            root: root.to_path_buf(),
            env: variables,
            policy,
            coverage: None,
            cwd: root.to_path_buf(),
            tmp,
            next: 1,
            tape: Tape::None,
        })
    }

    /// Has the commands written down, or answered from a recording.
    pub(crate) fn set_tape(&mut self, tape: Tape) {
        self.tape = tape;
    }

    /// Who sees the commands.
    pub(crate) fn tape(&self) -> &Tape {
        &self.tape
    }

    /// Lets commands read these places as well.
    pub(crate) fn also_read(&mut self, places: impl IntoIterator<Item = PathBuf>) {
        if let Some(policy) = &mut self.policy {
            policy.read.extend(places);
        }
    }

    /// What a command gets: its variables, its border, the folder it may write besides the tree.
    pub(crate) fn surroundings(&self) -> (Vec<(String, String)>, Option<Policy>, PathBuf) {
        let scratch = self.policy.as_ref().and_then(|policy| policy.tmp.clone());
        let scratch = scratch.unwrap_or_else(|| self.tmp.path().join("tmp"));
        (self.env.clone(), self.policy.clone(), scratch)
    }

    /// A command that ran elsewhere stood behind this border.
    pub(crate) fn covered_by(&mut self, coverage: Option<Coverage>) {
        self.coverage = self.coverage.take().or(coverage);
    }

    /// The id of the next receipt.
    pub(crate) fn next_id(&mut self) -> String {
        let id = format!("r{}", self.next);
        self.next += 1;
        id
    }

    /// What confines the commands: as seen with the first one, else found by trying.
    pub(crate) fn confinement(&self) -> Confinement {
        let tried = match (&self.coverage, &self.policy) {
            (Some(coverage), _) => Some(coverage.clone()),
            (None, Some(policy)) => sandbox::available(policy).ok(),
            (None, None) => None,
        };
        confine::confinement(tried.as_ref())
    }

    /// The folder with the whole outputs.
    pub(crate) fn outputs(&self) -> PathBuf {
        match self.tape.outputs() {
            Some((here, _)) => here,
            None => self.tmp.path().join("output"),
        }
    }

    /// The same as the model is told of it.
    pub(crate) fn outputs_as_told(&self) -> PathBuf {
        match self.tape.outputs() {
            Some((_, told)) => told,
            None => self.outputs(),
        }
    }

    /// How much of the disk one command may use up, in the work tree and the private folder.
    fn space(&self) -> Space {
        Space {
            folders: vec![self.root.clone(), self.tmp.path().to_path_buf()],
            most_bytes: MOST_DISK,
            spare_bytes: SPARE_DISK,
        }
    }

    /// Where a shell tells the folder it ended in.
    fn place_file(&self) -> PathBuf {
        self.tmp.path().join("tmp/.cwd")
    }

    /// Where the model's next command starts, relative to the root.
    pub(crate) fn place(&self) -> String {
        relative(&self.root, &self.cwd)
    }

    /// Runs a command of the model: its `cd` lasts, as long as it stays inside the work tree.
    /// The second value says so if the folder had to be changed.
    pub(crate) fn run_for_model(
        &mut self,
        order: Order<'_>,
        cancel: &Cancel,
    ) -> Result<(Ran, Option<String>), String> {
        let mut note = None;
        if !self.cwd.is_dir() {
            note = Some(format!(
                "{} does not exist any more; this ran in the root",
                self.place()
            ));
            self.cwd.clone_from(&self.root);
        }
        let place_file = self.place_file();
        let _ = std::fs::remove_file(&place_file);
        let line = format!(
            // On one line, so that bash counts the lines of an error as the model wrote them.
            "trap 'pwd -P > {} 2>/dev/null' EXIT; {}",
            shell_word(&place_file.display().to_string()),
            order.command
        );
        let ran = self.run_line(order, &line, &self.cwd.clone(), cancel)?;
        if let Ok(text) = std::fs::read_to_string(&place_file) {
            let new = PathBuf::from(text.trim_end_matches('\n'));
            if new.starts_with(&self.root) {
                self.cwd = new;
            } else if !new.as_os_str().is_empty() {
                note = Some(
                    "cd led out of the repository; the next command starts in its root".into(),
                );
                self.cwd.clone_from(&self.root);
            }
        }
        Ok((ran, note))
    }

    /// Runs a check, always from the root.
    pub(crate) fn run_check(&mut self, order: Order<'_>, cancel: &Cancel) -> Result<Ran, String> {
        self.run_line(order, order.command, &self.root.clone(), cancel)
    }

    fn run_line(
        &mut self,
        order: Order<'_>,
        line: &str,
        cwd: &Path,
        cancel: &Cancel,
    ) -> Result<Ran, String> {
        let id = self.next_id();
        let end = self.place_file();
        let place = Place {
            root: &self.root,
            end: &end,
        };
        if let Some(ran) = self.tape.play(order, place)? {
            return Ok(ran);
        }
        self.tape.before();
        let line = &self.tape.line(line, &self.root);
        let log = self.outputs().join(format!("{id}.txt"));
        let started_at = Timestamp::now();
        let capture = Capture {
            head: KEPT,
            tail: KEPT,
            ..Capture::default()
        }
        .to_file(&log);
        let mut command = Command::shell(line)
            .cwd(cwd)
            .env_clear()
            .capture(capture)
            .merge_stderr()
            .timeout(order.limit)
            .grace(Duration::from_millis(500))
            .sandbox(self.policy.clone())
            .space(self.space())
            .hunt();
        for (name, value) in &self.env {
            command = command.env(name, value);
        }
        let outcome = command
            .run(cancel)
            .map_err(|error| format!("cannot run a shell in {}: {error}", cwd.display()))?;
        if self.coverage.is_none() {
            self.coverage.clone_from(&outcome.sandbox);
        }
        let mut bytes = outcome.stdout.head.clone();
        if outcome.stdout.omitted() > 0 {
            let hole = format!("\n[… {} bytes left out …]\n", outcome.stdout.omitted());
            bytes.extend_from_slice(hole.as_bytes());
        }
        bytes.extend_from_slice(&outcome.stdout.tail);
        if let Some(why) = &outcome.no_space {
            let told = format!("\n[ended, because the disk fills up: {why}; write less]\n");
            bytes.extend_from_slice(told.as_bytes());
        }
        let (exit_code, signal) = match outcome.exit {
            ExitStatus::Code(code) => (Some(code), None),
            ExitStatus::Signal(signal) => (None, Some(signal)),
        };
        let ran = Ran {
            receipt: Receipt {
                id,
                source: order.source,
                command: order.command.to_string(),
                cwd: relative(&self.root, cwd),
                exit_code,
                signal,
                timed_out: outcome.timed_out,
                started_at,
                duration_ms: u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX),
                tree_before: None,
                tree_after: None,
                output_sha256: outcome.stdout.sha256.clone(),
                output_bytes: outcome.stdout.total,
            },
            text: self.tape.text(clean(&bytes), &self.root),
            log: self
                .outputs_as_told()
                .join(log.file_name().unwrap_or_default()),
            cancelled: outcome.cancelled,
            killed: outcome.leftovers.len(),
        };
        self.tape.after(&ran, place);
        Ok(ran)
    }
}

fn relative(root: &Path, path: &Path) -> String {
    match path.strip_prefix(root) {
        Ok(inside) if inside.as_os_str().is_empty() => ".".into(),
        Ok(inside) => inside.display().to_string(),
        Err(_) => path.display().to_string(),
    }
}

fn shell_word(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
#[path = "shell_tests.rs"]
mod tests;
