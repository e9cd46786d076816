//! The task's own checks: at the start, after changes, never twice for the same tree.

use std::time::Duration;

use baton_prompt::CHECK_OUTPUT_TOKENS;
use baton_protocol::{HandoffStatus, ReceiptSource, VerifyCommand};
use baton_repo::ObjectId;
use serde_json::json;

use super::{End, Session, tokens};
use crate::harness::environment::{missing, missing_python_module};
use crate::harness::stop::Colour;
use crate::text::expected::expected_and_got;
use crate::text::feedback::{CheckText, checks};
use crate::text::shape::{Favour, shape};
use crate::tools::shell::Order;

/// One run of one check.
#[derive(Debug, Clone)]
pub(crate) struct CheckRun {
    /// The command line.
    pub(crate) command: String,
    /// Whether it passed.
    pub(crate) colour: Colour,
    /// How it ended, in words.
    pub(crate) result: String,
    /// The part of its output that matters.
    pub(crate) output: String,
    /// Its receipt.
    pub(crate) receipt: String,
}

/// The checks of a task.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    commands: Vec<VerifyCommand>,
    start: Vec<Colour>,
    first: Vec<CheckRun>,
    now: Vec<CheckRun>,
    /// The tree `now` belongs to.
    tree: Option<ObjectId>,
    /// What the model was last told.
    told: Option<String>,
}

impl Checks {
    pub(crate) fn new(commands: Vec<VerifyCommand>) -> Self {
        Self {
            commands,
            ..Self::default()
        }
    }

    /// The colours at the start.
    pub(crate) fn start(&self) -> &[Colour] {
        &self.start
    }

    /// The newest runs.
    pub(crate) fn now(&self) -> &[CheckRun] {
        &self.now
    }

    /// The files are again as they were before any work: so are the checks.
    pub(crate) fn rewind(&mut self, tree: &ObjectId) {
        self.now.clone_from(&self.first);
        self.tree = Some(tree.clone());
        self.told = None;
    }

    /// Whether none fails; also where there is none.
    pub(crate) fn all_green(&self) -> bool {
        self.now.iter().all(|run| run.colour == Colour::Green)
    }

    /// Whether the newest runs are of this tree.
    pub(crate) fn is_current(&self, tree: &ObjectId) -> bool {
        self.tree.as_ref() == Some(tree)
    }

    /// What the model should hear of the newest runs.
    pub(crate) fn feedback(&mut self) -> String {
        let runs: Vec<CheckText<'_>> = self
            .now
            .iter()
            .map(|run| CheckText {
                command: &run.command,
                result: &run.result,
                output: &run.output,
                green: run.colour == Colour::Green,
            })
            .collect();
        let text = checks(&runs, self.told.as_deref());
        if !text.contains("exactly as before") {
            self.told = Some(text.clone());
        }
        text
    }
}

impl Session<'_> {
    /// Runs the checks before any work, so that what was red can be told from what became red. A
    /// check that fails because of the machine blocks the task before any request is sent.
    pub(crate) fn run_baseline(&mut self, tree: &ObjectId) -> Result<(), End> {
        self.run_commands(tree, ReceiptSource::Baseline)?;
        self.checks.start = self.checks.now.iter().map(|run| run.colour).collect();
        self.checks.first.clone_from(&self.checks.now);
        for run in &self.checks.now {
            let code = self
                .ledger
                .receipts
                .iter()
                .find(|r| r.id == run.receipt)
                .and_then(|r| r.exit_code);
            let lacks = (run.colour == Colour::Red)
                .then(|| {
                    missing(code, &run.output)
                        .or_else(|| missing_python_module(&run.output, &self.known))
                })
                .flatten();
            if let Some(what) = lacks {
                return Err(End::new(
                    HandoffStatus::Blocked,
                    format!("the check `{}` cannot work here: {what}", run.command),
                ));
            }
        }
        Ok(())
    }

    /// Runs the checks unless they ran for this tree already.
    pub(crate) fn run_checks(&mut self, tree: &ObjectId) -> Result<(), End> {
        if self.checks.tree.as_ref() == Some(tree) {
            return Ok(());
        }
        self.run_commands(tree, ReceiptSource::Check)
    }

    fn run_commands(&mut self, tree: &ObjectId, source: ReceiptSource) -> Result<(), End> {
        let mut runs = Vec::new();
        for check in self.checks.commands.clone() {
            self.output.progress(&format!("check: {}", check.command));
            let limit = check
                .timeout_ms
                .map_or(self.job.bounds.command, Duration::from_millis);
            let left = self.job.bounds.wall.saturating_sub(self.started.elapsed());
            let order = Order {
                command: &check.command,
                source,
                limit: limit.min(left.max(Duration::from_secs(1))),
            };
            let mut ran = self
                .shell
                .run_check(order, self.cancel)
                .map_err(End::failed)?;
            self.ledger.usage.tools_ms += ran.receipt.duration_ms;
            ran.receipt.tree_before = Some(tree.as_str().into());
            // What a check leaves behind is nobody's work.
            let left = self.tree.undo_all(tree).map_err(End::failed)?;
            if !left.is_empty() {
                self.ledger.note(format!(
                    "`{}` left files behind, which were removed: {}",
                    check.command,
                    left.join(", ")
                ));
            }
            ran.receipt.tree_after = Some(tree.as_str().into());
            let green = ran.passed();
            self.events.emit(
                self.output,
                "check",
                json!({"command": check.command, "green": green, "result": ran.result(),
                       "duration_ms": ran.receipt.duration_ms, "receipt": ran.receipt.id}),
            );
            let output = if green {
                String::new()
            } else {
                let shaped = shape(&ran.text, CHECK_OUTPUT_TOKENS, Favour::Tail, &tokens).text;
                match expected_and_got(&ran.text) {
                    Some(sentence) => format!("{shaped}\n{sentence}"),
                    None => shaped,
                }
            };
            runs.push(CheckRun {
                command: check.command,
                colour: if green { Colour::Green } else { Colour::Red },
                result: ran.result(),
                output,
                receipt: ran.receipt.id.clone(),
            });
            let cancelled = ran.cancelled;
            self.ledger.receipts.push(ran.receipt);
            if cancelled {
                return Err(self.interrupted());
            }
        }
        self.last_tree = (!runs.is_empty()).then(|| tree.clone());
        self.checks.now = runs;
        self.checks.tree = Some(tree.clone());
        Ok(())
    }
}
