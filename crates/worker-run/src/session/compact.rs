//! When the window is full: what is known is kept, the rest becomes a summary.
//!
//! The summary request is the same system text, tools and history with one message more, so that
//! the server's prefix cache serves all of it. Facts that the harness knows itself (changed files,
//! checks) are added by code and not left to the model.

use std::ops::ControlFlow;

use baton_protocol::HandoffStatus;
use serde_json::{Value, json};

use super::{End, Session, tokens};
use crate::harness::space::{kept_room, summary_room};
use crate::harness::stop::Colour;

/// Steps that must lie between two compactions.
const STEPS_BETWEEN: u32 = 3;

const ASK: &str = "The context is full. Write a summary for yourself to go on from: what you found out, what you did, what does not work, what is left to do. Text only, no tool call.";

/// What compaction needs to remember.
#[derive(Debug, Default)]
pub(crate) struct Window {
    /// A window that an error told.
    learned: Option<u64>,
    /// The server's words about it.
    message: Option<String>,
    /// The step at which it was last compacted.
    last: Option<u32>,
}

impl Session<'_> {
    /// The window, in tokens: told by the slot, the configuration, the server, or learned from an
    /// error. The smallest counts.
    pub(crate) fn window(&self) -> Option<u64> {
        [
            self.window.learned,
            self.job.provider.context,
            self.served.context,
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// The server says that the request is too long: learn its window and make room.
    pub(crate) fn overflowed(&mut self, limit: Option<u64>, message: &str) -> Result<(), End> {
        self.window.message = Some(message.to_string());
        // Without a number, what was sent is too much; nine tenths of it may fit.
        let limit = limit.unwrap_or_else(|| self.talk.estimate() * 9 / 10);
        self.window.learned = Some(self.window().map_or(limit, |w| w.min(limit)));
        self.compact()
    }

    /// Makes room, or ends the task: once without enough progress in between is the end.
    pub(crate) fn compact(&mut self) -> Result<(), End> {
        let step = self.ledger.usage.steps;
        let before = self.talk.estimate();
        let too_soon = self
            .window
            .last
            .is_some_and(|last| step < last + STEPS_BETWEEN);
        self.events.emit(
            self.output,
            "compact",
            json!({"prompt_tokens": before, "window_tokens": self.window()}),
        );
        if too_soon {
            return Err(self.overflow(before));
        }
        self.window.last = Some(step);
        self.ledger.repaired("context_compacted");
        if step == 0 || !self.talk.mode().has_tools() {
            // Nothing is lost: the files and checks are shown as they are now.
            self.begin(Some(self.talk.mode()));
        } else {
            let summary = self.summary();
            let facts = self.facts()?;
            let mut messages: Vec<Value> = self.talk.messages.iter().take(2).cloned().collect();
            messages.push(json!({"role": "assistant", "content": summary}));
            messages.push(json!({"role": "user", "content": facts}));
            let head = self.talk.counted_here(&messages, &self.talk.tools).most;
            let kept = last_turns(&self.talk.messages, kept_room(self.window(), head));
            messages.extend(kept);
            self.talk.replace(messages);
        }
        let after = self.talk.estimate();
        self.events
            .emit(self.output, "compacted", json!({"prompt_tokens": after}));
        if after * 100 > before * 95 {
            return Err(self.overflow(after));
        }
        Ok(())
    }

    fn overflow(&self, estimate: u64) -> End {
        let reason = self.window.message.clone().unwrap_or_else(|| {
            format!(
                "the next request has about {estimate} tokens and the window {}; give a smaller task or more context",
                self.window().unwrap_or(0)
            )
        });
        End::new(HandoffStatus::Overflow, reason)
    }

    /// The model's own summary, of all turns or of as many as leave room to ask for one: the
    /// newest stay as they are anyway.
    fn summary(&mut self) -> String {
        let messages = self.talk.messages.len();
        let turns = (3..messages).filter(|at| self.talk.messages[*at]["role"] == "assistant");
        let ends: Vec<usize> = turns.chain([messages]).collect();
        let fitting = ends.into_iter().rev().find_map(|end| {
            let prompt = self.talk.size_of(end).most;
            summary_room(self.window(), prompt).map(|room| (end, room))
        });
        fitting
            .and_then(|(end, room)| self.ask_summary(end, room))
            .unwrap_or_else(|| "(The steps so far are left out; what they came to follows.)".into())
    }

    /// Asks with the first messages only, which the server has read already.
    fn ask_summary(&mut self, first: usize, room: u64) -> Option<String> {
        let later = self.talk.messages.split_off(first);
        self.talk.push_user(ASK);
        let body = self.body(room);
        self.talk.messages.pop();
        self.talk.messages.extend(later);
        self.ledger.usage.requests += 1;
        self.events.emit(
            self.output,
            "request",
            json!({"purpose": "summary", "max_tokens": room}),
        );
        let clocks = self.clocks();
        let _raised = self.flag.raise();
        let answer = self
            .client
            .chat(&body, &clocks, self.cancel, &mut |_| {
                ControlFlow::Continue(())
            })
            .ok()?;
        self.ledger.answered(self.served.kind, &answer);
        let text = answer.content.trim();
        (!text.is_empty()).then(|| text.to_string())
    }

    /// What the harness knows by itself.
    fn facts(&mut self) -> Result<String, End> {
        let now = self.tree.snapshot().map_err(End::failed)?;
        let changed = self.tree.changed(&now).map_err(End::failed)?;
        let mut lines = vec!["The conversation before this was shortened. Facts:".to_string()];
        let names: Vec<String> = changed.iter().map(ToString::to_string).collect();
        lines.push(if names.is_empty() {
            "- no file is changed yet".into()
        } else {
            format!("- changed so far: {}", names.join(", "))
        });
        for run in self.checks.now() {
            let state = if run.colour == Colour::Green {
                "passes"
            } else {
                "fails"
            };
            lines.push(format!(
                "- the check `{}` {state}: {}",
                run.command, run.result
            ));
        }
        lines.push("Your last steps follow; go on from there.".into());
        Ok(lines.join("\n"))
    }
}

/// The newest whole turns (an answer and the results of its calls) within `budget` tokens, two at
/// most.
fn last_turns(messages: &[Value], budget: u64) -> Vec<Value> {
    let mut kept = messages.len();
    let mut turns = 0;
    let mut used = 0;
    for at in (2..messages.len()).rev() {
        used += tokens(&messages[at].to_string());
        if used > budget {
            break;
        }
        if messages[at]["role"] == "assistant" {
            kept = at;
            turns += 1;
            if turns == 2 {
                break;
            }
        }
    }
    messages[kept..].to_vec()
}

#[cfg(test)]
mod tests {
    use super::{ASK, last_turns};
    use crate::harness::space::QUESTION;
    use baton_tokens::{Family, estimate_for};
    use serde_json::json;

    #[test]
    fn the_question_for_a_summary_is_as_short_as_is_counted_on() {
        let around = 32;
        for family in Family::KNOWN {
            assert!(estimate_for(family, ASK).upper_bound + around <= QUESTION);
        }
    }

    #[test]
    fn only_whole_turns_are_kept() {
        let turn = |n: usize| {
            vec![
                json!({"role": "assistant", "content": "", "tool_calls": [{"id": n.to_string()}]}),
                json!({"role": "tool", "tool_call_id": n.to_string(), "content": "x ".repeat(50)}),
            ]
        };
        let mut messages = vec![json!({"role": "system"}), json!({"role": "user"})];
        messages.extend((0..4).flat_map(turn));
        assert_eq!(last_turns(&messages, 10_000), messages[6..]);
        let one = last_turns(&messages, 120);
        assert_eq!(
            one.first().map(|m| m["role"].clone()),
            Some(json!("assistant"))
        );
        assert_eq!(one.len(), 2);
        assert!(last_turns(&messages, 10).is_empty());
    }
}
