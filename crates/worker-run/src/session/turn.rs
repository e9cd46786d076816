//! One turn: an answer, what it does, what the harness says to it.

use baton_model_server::{ChatAnswer, Finish, ToolCall};
use baton_protocol::HandoffStatus;
use serde_json::Value;

use super::act::{Done, Finished};
use super::conversation::PastCall;
use super::turn_text::has_files;
use super::{End, Session};
use crate::calls::salvage::{Found, in_thought, salvage};
use crate::cli::{CheckEvery, ModeFlag};
use crate::harness::guard::Judgement;
use crate::harness::stop::Verdict;
use crate::text::feedback::{NUDGE_TOOLS, REPEATED, cut_off};
use baton_prompt::Tool;

/// Nudges in a row, and in all.
const NUDGES_IN_A_ROW: u32 = 2;
const NUDGES: u32 = 5;
/// How often `done` is refused before the task ends.
const REFUSALS: u32 = 3;

/// How often the model had to be reminded of something.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    nudges_in_a_row: u32,
    nudges: u32,
    refusals: u32,
    /// How often the question was put anew.
    pub(crate) anew: u32,
    /// The last answer, to notice a repetition.
    last: Option<String>,
}

impl Session<'_> {
    /// One turn; an error is the end of the task.
    pub(crate) fn turn(&mut self) -> Result<(), End> {
        let answer = self.ask()?;
        self.unsent = 0;
        self.notice_repetition(&answer);
        if !self.talk.mode().has_tools() {
            return self.text_turn(&answer);
        }
        if !answer.tool_calls.is_empty() {
            return self.call_turn(&answer);
        }
        let offered = Tool::offered(self.job.role, self.talk.mode());
        let found = if answer.content.trim().is_empty() && answer.finish != Finish::Length {
            in_thought(&answer.reasoning, offered)
        } else {
            salvage(&answer.content, offered)
        };
        match found {
            Found::Calls(calls, _) => self.salvaged_turn(&answer, calls),
            Found::Incomplete => {
                self.ledger.repaired("cut_call_refused");
                self.talk.push_answer(&answer, &[]);
                self.nudge("Your call was not complete and was not run. Call the tool again.")
            }
            Found::Nothing => self.wordy_turn(&answer),
        }
    }

    /// An answer equal to the last one gets a warmer next try.
    fn notice_repetition(&mut self, answer: &ChatAnswer) {
        let calls: Vec<String> = answer
            .tool_calls
            .iter()
            .map(|c| format!("{} {}", c.name, c.arguments))
            .collect();
        let now = format!("{}\n{}", answer.content, calls.join("\n"));
        let same = self.patience.last.as_deref() == Some(now.as_str());
        self.talk.heat = if same { (self.talk.heat + 1).min(3) } else { 0 };
        self.repeated = same;
        if same {
            self.ledger.repaired("repeated_answer");
        }
        self.patience.last = Some(now);
    }

    fn call_turn(&mut self, answer: &ChatAnswer) -> Result<(), End> {
        let mut past = Vec::new();
        let mut results = Vec::new();
        let mut not_run = Vec::new();
        let mut done_all = Vec::new();
        for call in &answer.tool_calls {
            let done = self.act(call, &answer.finish)?;
            if call.complete {
                past.push(PastCall {
                    id: call.id.clone(),
                    name: done
                        .tool
                        .map_or_else(|| call.name.clone(), |t| t.name().to_string()),
                    arguments: done.arguments.clone().unwrap_or_else(|| "{}".into()),
                });
                results.push((call.id.clone(), done.text.clone()));
            } else {
                not_run.push(format!("[{}] {}", call.name, done.text));
            }
            if done.changed
                && self.job.check_every == CheckEvery::Step
                && let Verdict::Completed(why) = self.judge(false)?
            {
                return Err(End::new(HandoffStatus::Completed, why));
            }
            done_all.push(done);
        }
        self.talk.push_answer(answer, &past);
        for (id, text) in &results {
            self.talk.push_result(id, text);
        }
        // Broken calls are not in the history, so what was wrong with them is said apart.
        let why = not_run.join("\n");
        if !results.is_empty() && !why.is_empty() {
            self.talk.append(&why);
        } else if results.is_empty() && answer.finish == Finish::Length {
            let used = answer
                .usage
                .map_or(self.job.bounds.output_tokens, |u| u.completion);
            self.talk.push_user(&cut_off(used));
        } else if results.is_empty() {
            self.talk.push_user(&why);
        }
        self.after(&done_all)
    }

    /// Calls that were written as text: their results go back as text, because the template of such
    /// a server knows no tool messages.
    fn salvaged_turn(
        &mut self,
        answer: &ChatAnswer,
        calls: Vec<crate::calls::salvage::TextCall>,
    ) -> Result<(), End> {
        self.talk.push_answer(answer, &[]);
        let mut texts = Vec::new();
        let mut done_all = Vec::new();
        for (at, call) in calls.into_iter().enumerate() {
            self.ledger.repaired(&format!("salvaged_{}", call.dialect));
            let call = ToolCall {
                id: format!("text_{at}"),
                name: call.name,
                arguments: call.arguments,
                complete: true,
            };
            let done = self.act(&call, &answer.finish)?;
            texts.push(format!("Result of {}:\n{}", call.name, done.text));
            done_all.push(done);
        }
        self.talk.push_user(&texts.join("\n\n"));
        self.after(&done_all)
    }

    /// After the calls of an answer: guard, `done`, checks.
    fn after(&mut self, done_all: &[Done]) -> Result<(), End> {
        self.patience.nudges_in_a_row = 0;
        let mut changed = false;
        let mut finished = None;
        for done in done_all {
            changed |= done.changed;
            if done.finish.is_some() {
                finished.clone_from(&done.finish);
                continue;
            }
            self.guarded(done)?;
        }
        if let Some(finished) = finished {
            return self.finish(&finished);
        }
        if changed {
            self.patience.refusals = 0;
            if self.job.check_every != CheckEvery::End {
                self.settle_turn()?;
            }
        }
        Ok(())
    }

    fn guarded(&mut self, done: &Done) -> Result<(), End> {
        match self.guard.judge(done.action()) {
            Judgement::Fine => Ok(()),
            Judgement::Warn(words) => {
                self.events
                    .emit(self.output, "guard", serde_json::json!({"warned": words}));
                self.talk.append(&format!("[{words}]"));
                self.talk.heat = (self.talk.heat + 1).min(3);
                Ok(())
            }
            Judgement::Stop(why) => {
                self.events
                    .emit(self.output, "guard", serde_json::json!({"stopped": why}));
                Err(End::failed(format!("the model goes round in circles: {why}")).stuck())
            }
        }
    }

    /// Runs the checks after a change, ends the task if they say so, tells the model otherwise.
    pub(crate) fn settle_turn(&mut self) -> Result<(), End> {
        if !self.job.role.writes() {
            return Ok(());
        }
        match self.judge(false)? {
            Verdict::Completed(why) => Err(End::new(HandoffStatus::Completed, why)),
            Verdict::NotYet(_) => {
                let feedback = self.checks.feedback();
                if !feedback.is_empty() {
                    self.talk.append(&feedback);
                }
                Ok(())
            }
        }
    }

    /// The model says that it is finished.
    pub(crate) fn finish(&mut self, finished: &Finished) -> Result<(), End> {
        self.ledger.outcome.clone_from(&finished.summary);
        if let Some(result) = &finished.result {
            self.ledger.result = result.clone();
        }
        if finished.blocked {
            let end = End::new(
                HandoffStatus::Blocked,
                "the model says that it cannot go on; see outcome",
            );
            // Said after an attempt that failed, it is the attempt that did not work.
            return Err(if self.has_tried()? { end.stuck() } else { end });
        }
        let why = if self.job.role.writes() {
            match self.judge(true)? {
                Verdict::Completed(why) => return Err(End::new(HandoffStatus::Completed, why)),
                Verdict::NotYet(why) => why,
            }
        } else {
            match self.answer_is_valid() {
                Ok(()) => {
                    return Err(End::new(HandoffStatus::Completed, "the answer is there"));
                }
                Err(why) => why,
            }
        };
        self.patience.refusals += 1;
        if self.patience.refusals >= REFUSALS {
            return Err(End::failed(format!("the model says it is done, but {why}")).stuck());
        }
        let feedback = self.checks.feedback();
        self.talk
            .append(format!("Not done: {why}.\n{feedback}").trim_end());
        Ok(())
    }

    /// Whether a reading role's answer is what the task asks for.
    pub(crate) fn answer_is_valid(&mut self) -> Result<(), String> {
        let Some(schema) = &self.job.task.result_schema else {
            return if self.ledger.outcome.trim().is_empty() {
                Err("the answer is empty".into())
            } else {
                Ok(())
            };
        };
        if self.ledger.result.is_null() {
            // The answer may stand where only a summary belongs.
            if let Ok((value, _)) = crate::calls::json_repair::parse_object(&self.ledger.outcome) {
                self.ledger.result = value;
                self.ledger.repaired("result_in_summary");
            }
        }
        if let Value::String(text) = &self.ledger.result
            && let Ok(value) = serde_json::from_str::<Value>(text)
        {
            self.ledger.result = value;
            self.ledger.repaired("result_double_encoded");
        }
        crate::harness::schema::check(schema, &self.ledger.result)
            .map_err(|why| format!("the result does not follow the schema: {why}"))
    }

    /// An answer without any call.
    fn wordy_turn(&mut self, answer: &ChatAnswer) -> Result<(), End> {
        if answer.spent_on_thinking() {
            self.talk.no_thinking = true;
            self.ledger.repaired("spent_on_thinking");
            if self.patience.nudges_in_a_row >= 1 {
                return Err(End::new(
                    HandoffStatus::NoAnswer,
                    "all tokens of an answer went into thinking; give more output_tokens or fewer thinking_tokens",
                ));
            }
        }
        let speaks_files = self.job.mode == ModeFlag::Auto && self.job.role.writes();
        if speaks_files && has_files(&answer.content) {
            self.ledger.repaired("files_in_text");
            return self.text_turn(answer);
        }
        self.talk.push_answer(answer, &[]);
        // Many models stop with words when they are finished: facts decide, not the missing call.
        if self.job.role.writes()
            && let Verdict::Completed(why) = self.judge(false)?
        {
            self.ledger.outcome = answer.content.trim().to_string();
            return Err(End::new(HandoffStatus::Completed, why));
        }
        if answer.finish == Finish::Length {
            let used = answer
                .usage
                .map_or(self.job.bounds.output_tokens, |u| u.completion);
            self.talk.no_thinking = true;
            return self.nudge(&cut_off(used));
        }
        // A reader that only talks has answered all the same, once it was asked to use the tool.
        if !self.job.role.writes() && self.patience.nudges_in_a_row >= NUDGES_IN_A_ROW {
            self.ledger.outcome = answer.content.trim().to_string();
            if self.answer_is_valid().is_ok() {
                self.ledger.repaired("answer_in_text");
                return Err(End::new(
                    HandoffStatus::Completed,
                    "the answer came as text",
                ));
            }
        }
        self.nudge(NUDGE_TOOLS)
    }

    /// Reminds the model of what to do, a bounded number of times.
    pub(crate) fn nudge(&mut self, words: &str) -> Result<(), End> {
        self.patience.nudges_in_a_row += 1;
        self.patience.nudges += 1;
        let too_often =
            self.patience.nudges_in_a_row > NUDGES_IN_A_ROW || self.patience.nudges > NUDGES;
        if too_often {
            if self.ledger.outcome.is_empty()
                && let Some(last) = &self.patience.last
            {
                self.ledger.outcome = last.trim().chars().take(2000).collect();
            }
            return Err(End::new(
                HandoffStatus::NoAnswer,
                "the model talks and does nothing, though it was reminded",
            )
            .stuck());
        }
        let words = if self.repeated {
            format!("{words}\n{REPEATED}")
        } else {
            words.to_string()
        };
        self.talk.push_user(&words);
        Ok(())
    }

    /// Whether the model changed something, and a check that failed at the start fails still.
    fn has_tried(&self) -> Result<bool, End> {
        if !self.job.role.writes() || self.checks.now().is_empty() {
            return Ok(false);
        }
        let now = self.tree.snapshot().map_err(End::failed)?;
        Ok(self.start.as_ref().is_some_and(|start| *start != now))
    }

    /// The model acted: reminders count from zero again.
    pub(crate) fn acted(&mut self) {
        self.patience.nudges_in_a_row = 0;
    }
}
