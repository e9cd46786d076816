//! One answer of the model: bounded, retried only where that can help.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use baton_model_server::stream::{Shortfall, shortfall};
use baton_model_server::{CallError, ChatAnswer, Clock, Clocks, ErrorClass, Finish, StreamEvent};
use baton_protocol::{Exit, HandoffStatus, Timestamp};
use serde_json::{Map, Value, json};

use super::waits::first_byte;
use super::{End, Session, calibration};
use crate::files::path::without_invented_folder;
use crate::harness::space::{answer_room, summary_reserve};
use crate::text::blocks::begins_foreign_block;
use crate::text::repetition::repeating_tail;
use crate::tools::worktree::Owner;

/// How often a server that never answered is tried.
const FIRST_TRIES: u32 = 3;

/// What happened to the request, for the next try.
#[derive(Debug, Default)]
struct Tries {
    failed: u32,
    timed_out: u32,
    repeated: u32,
    waited: Duration,
}

impl Session<'_> {
    /// Asks for one answer.
    pub(crate) fn ask(&mut self) -> Result<ChatAnswer, End> {
        let mut tries = Tries::default();
        self.last_tree = None;
        loop {
            self.within_bounds()?;
            self.count_near_the_window();
            let size = self.talk.size();
            let estimate = size.tokens;
            let Some(room) = self.room(size.most) else {
                self.compact()?;
                continue;
            };
            let body = self.body(room);
            self.ledger.usage.requests += 1;
            self.events.emit(
                self.output,
                "request",
                json!({"number": self.ledger.usage.requests, "prompt_tokens": estimate, "prompt_tokens_at_most": size.most, "max_tokens": room,
                       "messages": self.talk.messages.len()}),
            );
            match self.send(&body) {
                Ok((answer, Some(period))) => self.repeats_itself(&answer, &mut tries, period)?,
                Ok((answer, None)) => return self.accept(answer, estimate),
                Err(error) => self.failed(&error, &mut tries)?,
            }
        }
    }

    fn accept(&mut self, answer: ChatAnswer, estimate: u64) -> Result<ChatAnswer, End> {
        self.ledger.usage.steps += 1;
        self.ledger.answered(self.served.kind, &answer);
        if let Some(line) = calibration::line(
            Timestamp::now(),
            self.model(),
            self.talk.pure_estimate(),
            &answer,
        ) {
            calibration::append(&self.job.calibration, &line);
        }
        self.events.emit(
            self.output,
            "answer",
            json!({"finish": answer.finish_reason, "calls": answer.tool_calls.len(),
                   "content_bytes": answer.content.len(), "reasoning_bytes": answer.reasoning.len(),
                   "usage": answer.usage.map(|u| json!({"prompt_tokens": u.prompt, "completion_tokens": u.completion,
                                                        "cached_tokens": u.cached})),
                   "first_event_ms": answer.timing.first_event_ms, "decode_ms": answer.timing.decode_ms}),
        );
        if let Some(usage) = &answer.usage {
            if cut_silently(estimate, self.talk.last_prompt(), usage.prompt) {
                return Err(End::new(
                    HandoffStatus::Overflow,
                    format!(
                        "the server silently cut the prompt: about {estimate} tokens were sent and it read {}; raise its context",
                        usage.prompt
                    ),
                ));
            }
            if let Some(Shortfall::WindowFull { window }) = shortfall(0, usage, self.window()) {
                self.ledger.note(format!(
                    "an answer filled the window of {window} tokens to the last one"
                ));
            }
        }
        self.talk.counted(answer.usage.as_ref());
        Ok(answer)
    }

    /// Tokens the answer may have; none if the prompt leaves no room.
    fn room(&self, prompt: u64) -> Option<u64> {
        answer_room(
            self.window(),
            prompt,
            self.reserve(),
            self.job.bounds.output_tokens,
        )
    }

    /// What stays free of the window for a summary; nothing where there is nothing to sum up.
    pub(crate) fn reserve(&self) -> u64 {
        if self.ledger.usage.steps == 0 || !self.talk.mode().has_tools() {
            return 0;
        }
        self.window().map_or(0, summary_reserve)
    }

    /// The model to ask for: the chosen one, else what the server serves.
    pub(crate) fn model(&self) -> Option<&str> {
        self.job
            .provider
            .model
            .as_deref()
            .or(self.served.model.as_deref())
    }

    pub(crate) fn body(&self, max_tokens: u64) -> Value {
        let provider = &self.job.provider;
        let mut body = Map::new();
        if let Some(model) = self.model() {
            body.insert("model".into(), json!(model));
        }
        body.insert("messages".into(), json!(self.talk.messages));
        if !self.talk.tools.is_empty() {
            body.insert("tools".into(), json!(self.talk.tools));
        }
        body.insert("max_tokens".into(), json!(max_tokens));
        for (key, value) in &provider.request {
            body.insert(key.clone(), value.clone());
        }
        self.thinking(&mut body);
        self.sampling(&mut body);
        if let (Some(schema), false) = (&self.job.task.result_schema, self.talk.mode().has_tools())
            && !self.job.role.writes()
        {
            body.insert(
                "response_format".into(),
                json!({"type": "json_schema", "json_schema": {"name": "result", "schema": schema}}),
            );
        }
        Value::Object(body)
    }

    fn thinking(&self, body: &mut Map<String, Value>) {
        let off = self.talk.no_thinking || self.job.bounds.thinking_tokens == Some(0);
        if off {
            let kwargs = body
                .entry("chat_template_kwargs")
                .or_insert_with(|| json!({}));
            if let Some(kwargs) = kwargs.as_object_mut() {
                kwargs.insert("enable_thinking".into(), json!(false));
            }
            body.remove("thinking_token_budget");
        } else if let Some(budget) = self.job.bounds.thinking_tokens {
            // vLLM honours this field and ignores the keyword of the same meaning.
            body.insert("thinking_token_budget".into(), json!(budget));
        }
    }

    /// Small models that reply with files work best when cold; one that repeats itself gets warmer.
    fn sampling(&self, body: &mut Map<String, Value>) {
        let given = body.get("temperature").and_then(Value::as_f64);
        let base = match given {
            Some(given) => given,
            None if self.talk.mode().has_tools() && self.talk.heat == 0 => return,
            None => 0.2,
        };
        let raised = (base + 0.3 * f64::from(self.talk.heat)).min(1.2);
        // Two digits, so that the bytes do not depend on rounding.
        body.insert(
            "temperature".into(),
            json!((raised * 100.0).round() / 100.0),
        );
    }

    /// Sends it. The number is the period of a text that repeats itself without end.
    fn send(&mut self, body: &Value) -> Result<(ChatAnswer, Option<usize>), CallError> {
        let clocks = self.clocks();
        let _raised = self.flag.raise();
        let (mut text, mut content) = (String::new(), String::new());
        let mut checked = 0;
        let mut period = None;
        let is_text = !self.talk.mode().has_tools() && self.job.role.writes();
        let (tree, known) = (&self.tree, &self.known);
        let is_own = |path: &str| {
            let path = without_invented_folder(path, known).unwrap_or_else(|| path.to_string());
            tree.owner(&baton_repo::GitPath::from(path.trim_start_matches("./"))) == Owner::Task
        };
        let started = Instant::now();
        let mut pieces = 0u64;
        let output = self.output;
        let step = self.ledger.usage.steps + 1;
        let answer = self.client.chat(body, &clocks, self.cancel, &mut |event| {
            match event {
                StreamEvent::Content(piece) => {
                    text.push_str(piece);
                    content.push_str(piece);
                }
                StreamEvent::Reasoning(piece) => text.push_str(piece),
                StreamEvent::Call { arguments, .. } => text.push_str(arguments),
                StreamEvent::Prefill { processed, total } => {
                    output.progress(&format!(
                        "step {step}: reading the prompt, {processed} of {total} tokens"
                    ));
                }
                StreamEvent::Accepted | StreamEvent::Alive => {}
            }
            pieces += 1;
            if pieces % 16 == 1 {
                output.progress(&format!(
                    "step {step}: answering, {} characters in {} s",
                    text.len(),
                    started.elapsed().as_secs()
                ));
            }
            // A small model often goes on with files it may not change; that costs minutes.
            if is_text && content.ends_with('\n') && begins_foreign_block(&content, &is_own) {
                return ControlFlow::Break(());
            }
            if text.len() >= checked + 200 {
                checked = text.len();
                period = repeating_tail(&text);
                if period.is_some() {
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        })?;
        let stopped = matches!(answer.finish, Finish::Stopped);
        Ok((answer, period.filter(|_| stopped)))
    }

    pub(crate) fn clocks(&self) -> Clocks {
        let end = self.started + self.job.bounds.wall;
        let mut clocks = self.job.provider.clocks.clone();
        if self.job.provider.scaled_first_byte {
            let request = self.job.bounds.request;
            clocks.first_byte = Some(first_byte(self.talk.estimate(), self.prefill_rate, request));
        }
        clocks.until(end)
    }

    /// An endless repetition is hung up on; once more, warmer, and then it is over.
    fn repeats_itself(
        &mut self,
        answer: &ChatAnswer,
        tries: &mut Tries,
        period: usize,
    ) -> Result<(), End> {
        tries.repeated += 1;
        self.ledger.repaired("endless_repetition_stopped");
        self.events.emit(
            self.output,
            "guard",
            json!({"what": "endless_repetition", "period_bytes": period, "time": tries.repeated}),
        );
        self.talk.heat += 1;
        let only_thinking = answer.is_empty() && !answer.reasoning.is_empty();
        if only_thinking {
            self.talk.no_thinking = true;
        }
        if tries.repeated >= 2 && only_thinking {
            return Err(End::new(
                HandoffStatus::NoAnswer,
                "the model thinks in circles and gives no answer",
            ));
        }
        if tries.repeated >= 2 {
            return Err(End::failed("the model repeats the same text without end"));
        }
        Ok(())
    }

    /// Decides what a failed request means: another try after a wait, or the end.
    fn failed(&mut self, error: &CallError, tries: &mut Tries) -> Result<(), End> {
        self.events.emit(
            self.output,
            "retry",
            json!({"error": error.message, "class": format!("{:?}", error.class), "retryable": error.retryable}),
        );
        let never_answered = self.ledger.usage.steps == 0;
        match &error.class {
            ErrorClass::Cancelled => return Err(self.interrupted()),
            ErrorClass::Overflow { limit, .. } => return self.overflowed(*limit, &error.message),
            ErrorClass::TimedOut(Clock::Deadline) => {
                return Err(End::new(
                    HandoffStatus::TimedOut,
                    "the task's time limit passed during a request",
                ));
            }
            ErrorClass::TimedOut(clock) => {
                tries.timed_out += 1;
                if tries.timed_out > 1 || *clock == Clock::Request {
                    return Err(End::new(HandoffStatus::TimedOut, error.message.clone()));
                }
            }
            // A proxy's own page for a server that is away or busy passes by itself.
            ErrorClass::NotApi if error.status.is_some_and(|s| (502..=504).contains(&s)) => {}
            ErrorClass::KeyRejected
            | ErrorClass::UnknownModel
            | ErrorClass::NotApi
            | ErrorClass::Tls => {
                return Err(End::failed(error.message.clone()).with_exit(Exit::Config));
            }
            ErrorClass::FeatureOff | ErrorClass::Deterministic | ErrorClass::TooLarge => {
                return self.deterministic(error);
            }
            ErrorClass::Refused | ErrorClass::NoSuchHost
                if never_answered && tries.failed + 1 >= FIRST_TRIES =>
            {
                return Err(End::failed(error.message.clone()).with_exit(Exit::Unavailable));
            }
            ErrorClass::Refused
            | ErrorClass::NoSuchHost
            | ErrorClass::Busy
            | ErrorClass::Loading
            | ErrorClass::Transient
            | ErrorClass::Cut => {}
        }
        tries.failed += 1;
        let cut = matches!(error.class, ErrorClass::Cut);
        if (cut && tries.failed > 3) || tries.waited >= self.job.bounds.queue {
            // Some servers close the connection on a prompt that is too long.
            let size = match (cut, self.window()) {
                (true, Some(window)) => {
                    format!(
                        " (the prompt had about {} of {window} tokens)",
                        self.talk.estimate()
                    )
                }
                (true, None) => format!(" (the prompt had about {} tokens)", self.talk.estimate()),
                (false, _) => String::new(),
            };
            return Err(
                End::failed(format!("{}{size}", error.message)).with_exit(Exit::Unavailable)
            );
        }
        let wait = error.retry_after.unwrap_or_else(|| backoff(tries.failed));
        let left = self.job.bounds.wall.saturating_sub(self.started.elapsed());
        let queue_left = self.job.bounds.queue.saturating_sub(tries.waited);
        let wait = wait.min(left).min(queue_left.max(Duration::from_millis(1)));
        self.output.note(&format!(
            "{}; trying again in {}",
            error.message,
            humantime::format_duration(Duration::from_millis(
                u64::try_from(wait.as_millis()).unwrap_or(0)
            ))
        ));
        tries.waited += wait;
        // A server that is busy or away makes us wait as a queue does.
        self.ledger
            .queued(Some(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)));
        // A recorded answer is there at once.
        if !self.shell.tape().hurries() && self.cancel.wait(wait) {
            return Err(self.interrupted());
        }
        Ok(())
    }

    /// A request that will fail again unless it is changed: a field less, or another mode.
    fn deterministic(&mut self, error: &CallError) -> Result<(), End> {
        let text = error.message.to_ascii_lowercase();
        if self.talk.tools.is_empty() || !text.contains("tool") {
            return Err(End::failed(error.message.clone()));
        }
        if self.ledger.usage.steps > 0 {
            return Err(End::failed(error.message.clone()));
        }
        self.output
            .note("the server takes no tools; the model replies with whole files instead");
        self.ledger
            .note("the server takes no tools; the model replied with files");
        self.without_tools();
        Ok(())
    }
}

/// Whether the server read so much less than was sent that it must have cut it.
///
/// The history only grows, so a prompt shorter than the last one was cut. The first one can only
/// be compared with an estimate, which another tokenizer may undercut by half.
fn cut_silently(estimate: u64, last: Option<u64>, read: u64) -> bool {
    if read == 0 {
        return false;
    }
    match last {
        Some(last) => read + 64 < last,
        None => estimate >= 512 && read * 5 < estimate * 2,
    }
}

/// 1, 2, 4, 8, 15, 15 … seconds.
fn backoff(failed: u32) -> Duration {
    let seconds = 1u64 << failed.saturating_sub(1).min(4);
    Duration::from_secs(seconds.min(15))
}

#[cfg(test)]
mod tests {
    use super::{backoff, cut_silently};

    #[test]
    fn c11_c14_c23_a_prompt_cut_by_the_server_is_seen() {
        for (sent, read) in [(14_000, 2_051), (160_000, 16_387), (12_526, 4_096)] {
            assert!(cut_silently(sent, None, read));
        }
        assert!(
            !cut_silently(3_427, None, 1_970),
            "digits are cheaper for some tokenizers"
        );
        assert!(cut_silently(5_000, Some(3_900), 2_048));
        assert!(!cut_silently(5_000, Some(3_900), 4_100));
        assert!(!cut_silently(14_000, None, 0), "no usage is no sign");
    }

    #[test]
    fn waits_grow_to_a_bound() {
        let seconds: Vec<u64> = (1..8).map(|n| backoff(n).as_secs()).collect();
        assert_eq!(seconds, [1, 2, 4, 8, 15, 15, 15]);
    }
}
