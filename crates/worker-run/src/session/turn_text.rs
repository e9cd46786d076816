//! A turn of a model that replies with files.

use baton_model_server::{ChatAnswer, Finish};
use baton_prompt::{Mode, fenced_file};
use baton_protocol::HandoffStatus;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::act::Finished;
use super::{End, Session, tokens};
use crate::cli::ModeFlag;
use crate::files::path::without_invented_folder;
use crate::harness::guard::{Action, Judgement};
use crate::harness::stop::Verdict;
use crate::text::blocks::{Change, parse_reply};
use crate::text::feedback::{NUDGE_FILE, NUDGE_TEXT, cut_off};
use crate::text::splice::splice;
use crate::tools::edits::{Made, edit, write};
use crate::tools::worktree::Owner;

/// Whether a reply names files with their content.
pub(crate) fn has_files(content: &str) -> bool {
    !parse_reply(content, None).changes.is_empty()
}

/// Tokens of a file that is shown again after a failed reply.
const SHOW_TOKENS: u64 = 1500;

impl Session<'_> {
    /// Applies a reply, runs the checks, says what is left.
    pub(crate) fn text_turn(&mut self, answer: &ChatAnswer) -> Result<(), End> {
        if !self.job.role.writes() {
            return self.read_reply(answer);
        }
        let only = self.only_file();
        let mut reply = parse_reply(&answer.content, only.as_deref());
        if answer.finish == Finish::Stopped {
            // We hung up when a block for a file of others began; what came before is whole.
            reply.problems.clear();
            self.ledger.repaired("foreign_block_not_awaited");
        }
        self.talk.push_answer(answer, &[]);
        if answer.finish == Finish::Length && reply.changes.is_empty() {
            let used = answer
                .usage
                .map_or(self.job.bounds.output_tokens, |u| u.completion);
            if self.talk.mode() == Mode::WholeFile {
                self.talk.push_user(&format!(
                    "{} Reply with search/replace blocks instead of the whole file.",
                    cut_off(used)
                ));
                self.talk.mode = Some(Mode::Blocks);
                return Ok(());
            }
            return self.nudge(&cut_off(used));
        }
        let red = !self.checks.all_green();
        if reply.done && red {
            return self.not_done_yet();
        }
        if reply.done {
            self.talk.push_user("It is not done.");
            return self.finish(&Finished {
                blocked: false,
                summary: reply.words.clone(),
                result: None,
            });
        }
        if reply.changes.is_empty() && reply.problems.is_empty() {
            return self.nudge(if red { NUDGE_FILE } else { NUDGE_TEXT });
        }
        self.acted();
        let mut said = Vec::new();
        let mut changed = false;
        let mut error = None;
        for change in &reply.changes {
            match self.apply_change(change) {
                Ok(made) => {
                    changed |= made.changed;
                    said.push(
                        made.text
                            .lines()
                            .next()
                            .unwrap_or_default()
                            .trim_end_matches(':')
                            .to_string(),
                    );
                }
                Err(problem) => {
                    said.push(self.with_content(change, &problem));
                    error = Some(problem);
                }
            }
        }
        said.extend(reply.problems.iter().cloned());
        if !reply.words.is_empty() {
            self.ledger.outcome = reply.words.chars().take(2000).collect();
        }
        self.talk.push_user(&said.join("\n"));
        let digest = Sha256::digest(answer.content.as_bytes());
        let action = Action {
            identity: baton_process::hex(&digest),
            changed,
            error,
        };
        self.events.emit(
            self.output,
            "tool",
            json!({"tool": "reply", "files": reply.changes.len(), "changed": changed, "error": action.error}),
        );
        self.settle_reply(action)
    }

    /// "DONE" although a check fails is an attempt that failed, not a question of faith: asked again
    /// whether it is done, a small model says so again.
    fn not_done_yet(&mut self) -> Result<(), End> {
        self.acted();
        self.ledger.repaired("done_though_red");
        let feedback = self.checks.feedback();
        self.talk
            .push_user(format!("It is not done.\n{feedback}").trim_end());
        self.next_attempt(false)
    }

    fn settle_reply(&mut self, action: Action) -> Result<(), End> {
        self.seen_attempt |= action.changed;
        let refused = action.error.is_some();
        // A reply that brings nothing new is the model's way to say that it is finished.
        let says_done = !action.changed && !refused && self.checks.all_green();
        let stop = match self.guard.judge(action) {
            Judgement::Stop(why) => Some(why),
            Judgement::Warn(words) => {
                self.talk.append(words);
                self.talk.heat = (self.talk.heat + 1).min(3);
                None
            }
            Judgement::Fine => None,
        };
        match self.judge(says_done)? {
            Verdict::Completed(why) => return Err(End::new(HandoffStatus::Completed, why)),
            Verdict::NotYet(why) => {
                let feedback = self.checks.feedback();
                let text = if feedback.is_empty() { why } else { feedback };
                self.talk.append(&text);
            }
        }
        if let Some(why) = stop {
            return Err(End::failed(format!("the model goes round in circles: {why}")).stuck());
        }
        if refused || self.repeated || self.talk.mode() == Mode::WholeFile {
            self.next_attempt(refused)?;
        }
        Ok(())
    }

    /// The file a reply means.
    fn meant(&mut self, asked: &str) -> Result<String, String> {
        let path = self.inside(asked)?;
        if let Some(known) = without_invented_folder(&path, &self.known) {
            self.ledger.repaired("invented_folder");
            return Ok(known);
        }
        let owner = self.tree.owner(&baton_repo::GitPath::from(path.as_str()));
        let invented = owner == Owner::Nobody && !self.known.contains(&path);
        match self.only_file() {
            // There is only one file it can mean, and what it named does not exist.
            Some(only) if invented => {
                self.ledger.repaired("invented_file");
                Ok(only)
            }
            _ => Ok(path),
        }
    }

    fn apply_change(&mut self, change: &Change) -> Result<Made, String> {
        let (path, made) = match change {
            Change::Whole { path, text } => {
                let path = self.meant(path)?;
                let spliced = self.whole_of(&path, text);
                let text = spliced.as_deref().unwrap_or(text);
                let made = write(&self.tree, &mut self.seen, &path, text)?;
                (path, made)
            }
            Change::Edits { path, edits } => {
                let path = self.meant(path)?;
                let made = edit(&self.tree, &mut self.seen, &path, edits)?;
                (path, made)
            }
        };
        self.made(&path, &made);
        Ok(made)
    }

    /// The whole file, where the reply holds only the definitions that change. The same reply once
    /// more is meant as it stands.
    fn whole_of(&mut self, path: &str, text: &str) -> Option<String> {
        if self.repeated {
            return None;
        }
        let old = String::from_utf8(self.tree.beneath.read(path).ok()?).ok()?;
        let whole = splice(path, &old, text)?;
        self.ledger.repaired("fragment_put_in_its_place");
        Some(whole)
    }

    /// A refusal, with the file as it is if the model cannot have it right.
    fn with_content(&mut self, change: &Change, problem: &str) -> String {
        let (Change::Whole { path, .. } | Change::Edits { path, .. }) = change;
        let Ok(path) = self.inside(path) else {
            return problem.to_string();
        };
        let Ok(bytes) = self.tree.beneath.read(&path) else {
            return problem.to_string();
        };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if tokens(&text) > SHOW_TOKENS {
            return problem.to_string();
        }
        self.seen.note(&path, &bytes);
        format!("{problem}\nThe file is now:\n{}", fenced_file(&path, &text))
    }

    /// The one file that is meant where a block names none.
    fn only_file(&self) -> Option<String> {
        let scope = self.job.task.write_scope()?;
        match scope {
            [one] if self.known.contains(one) => Some(one.clone()),
            _ => {
                let mut own = self.ledger.files_read.iter().filter(|path| {
                    let path = baton_repo::GitPath::from(path.as_str());
                    self.tree.owner(&path) == Owner::Task
                });
                let first = own.next()?;
                own.next().is_none().then(|| first.clone())
            }
        }
    }

    /// The reply of a reading role is its answer.
    fn read_reply(&mut self, answer: &ChatAnswer) -> Result<(), End> {
        self.talk.push_answer(answer, &[]);
        if answer.is_empty() {
            return self.nudge("Your answer was empty. Answer the task.");
        }
        self.ledger.outcome = answer.content.trim().to_string();
        if self.job.task.result_schema.is_some() {
            self.ledger.result = serde_json::Value::Null;
        }
        match self.answer_is_valid() {
            Ok(()) => Err(End::new(HandoffStatus::Completed, "the answer is there")),
            Err(why) => self.nudge(&format!("{why}. Answer again.")),
        }
    }

    /// Starts over without tools, because the server takes none.
    pub(crate) fn without_tools(&mut self) {
        self.way = ModeFlag::Whole;
        self.may_change_over = false;
        self.begin(None);
    }
}
