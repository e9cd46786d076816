//! Runs an agent from the baseline to the verdict.

use std::io::PipeReader;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use baton_cli::Environment;
use baton_process::sandbox::Network;
use baton_process::{Cancel, Command, ExitStatus, Outcome, Output, SpawnError};
use baton_prompt::gather;
use baton_protocol::{Exit, HandoffStatus, Receipt, ReceiptSource, Timestamp};
use serde_json::json;

use super::allowance::Allowance;
use super::brief::brief;
use super::clamp::Frame;
use super::gateway::{Gateway, News, Upstream};
use super::launch::{Agent, Engine};
use super::opencode;
use super::outlet::{Outlet, Printed};
use super::program::homes;
use crate::cli::EngineFlag;
use crate::flag::Flag;
use crate::harness::stop::Verdict;
use crate::session::{End, Session};
use crate::text::clean::clean;

/// The most of an agent's last words that goes into the hand-off, in characters.
const WORDS: usize = 4000;
/// Stray files that are named one by one.
const STRAYS: usize = 20;
/// Between TERM and KILL; the relay gives the agent a little less.
const GRACE: Duration = Duration::from_secs(2);
/// What a run of an agent came to.
struct Ended {
    outcome: Result<Outcome, SpawnError>,
    printed: Printed,
    /// Why the gateway ended it.
    stopped: Option<End>,
    requests: u32,
    failing: bool,
    /// What its events said last.
    words: Option<String>,
}

/// How the process ended, what it printed, what its events said last.
type Heard = (Result<Outcome, SpawnError>, Printed, Option<String>);

impl Session<'_> {
    /// Does the task by an agent program. There is always an end.
    pub(crate) fn run_engine(&mut self, engine: &Engine, env: &Environment) -> End {
        let end = match self.by_engine(engine, env) {
            Ok(end) | Err(end) => end,
        };
        self.events.emit(
            self.output,
            "end",
            json!({"status": end.status, "reason": end.reason}),
        );
        self.output.clear_progress();
        end
    }

    fn by_engine(&mut self, engine: &Engine, env: &Environment) -> Result<End, End> {
        self.within_bounds()?;
        self.events.emit(
            self.output,
            "start",
            json!({"role": self.job.task.role, "base": self.tree.base, "provider": self.job.provider.id,
                   "model": self.job.provider.model, "context_tokens": self.job.provider.context,
                   "engine": engine.describe()}),
        );
        self.known = gather(self.tree.root(), &self.job.task).paths;
        let before = self.tree.snapshot().map_err(End::failed)?;
        if self.job.role.writes() && !self.job.task.verify.is_empty() {
            self.run_baseline(&before)?;
        }
        self.listen();
        let started_at = Timestamp::now();
        let ended = self.with_agent(engine, env)?;
        self.ledger.usage.requests = ended.requests;
        let settled = self.tree.settle(&before).map_err(End::failed)?;
        for (path, why) in settled.undone.iter().take(STRAYS) {
            self.ledger
                .note(format!("the agent changed {path}, which was undone: {why}"));
        }
        if settled.undone.len() > STRAYS {
            let more = settled.undone.len() - STRAYS;
            self.ledger.note(format!(
                "the agent changed {more} further files, which was undone"
            ));
        }
        let words = ended.words.clone().unwrap_or_else(|| said(&ended.printed));
        let surplus = words.chars().count().saturating_sub(WORDS);
        self.ledger.outcome = words.chars().skip(surplus).collect();
        let outcome = match &ended.outcome {
            Ok(outcome) => outcome.clone(),
            Err(error) => return Err(End::failed(format!("the agent could not be run: {error}"))),
        };
        self.shell.covered_by(outcome.sandbox.clone());
        let (exit_code, signal) = match outcome.exit {
            ExitStatus::Code(code) => (Some(code), None),
            ExitStatus::Signal(signal) => (None, Some(signal)),
        };
        let id = self.shell.next_id();
        self.ledger.receipts.push(Receipt {
            id,
            source: ReceiptSource::Model,
            command: engine.describe(),
            cwd: ".".into(),
            exit_code,
            signal,
            timed_out: outcome.timed_out,
            started_at,
            duration_ms: u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX),
            tree_before: Some(before.as_str().into()),
            tree_after: settled.tree.clone(),
            output_sha256: ended.printed.sha256.clone(),
            output_bytes: ended.printed.total,
        });
        self.verdict(&ended, &outcome)
    }

    /// What the facts say, whatever the agent says.
    fn verdict(&mut self, ended: &Ended, outcome: &Outcome) -> Result<End, End> {
        if self.cancel.is_cancelled() {
            return Err(self.interrupted());
        }
        let limit = humantime::format_duration(self.job.bounds.wall);
        if outcome.timed_out {
            return Ok(End::new(
                HandoffStatus::TimedOut,
                format!("the task's time limit of {limit} passed, and the agent was ended"),
            ));
        }
        let printed = [outcome.stderr.head.as_slice(), &outcome.stderr.tail].concat();
        let stderr = last_line(&clean(&printed));
        let how = match (&ended.stopped, outcome.exit) {
            (Some(end), _) => end.reason.clone(),
            (None, ExitStatus::Code(0)) => "the agent ended with exit code 0".into(),
            (None, ExitStatus::Code(code)) => format!("the agent ended with exit code {code}"),
            (None, ExitStatus::Signal(signal)) => {
                format!("the agent was killed by signal {signal}")
            }
        };
        let good = ended.stopped.is_none() && outcome.success();
        let why = if self.job.role.writes() {
            match self.judge(good)? {
                Verdict::Completed(why) => {
                    if !good {
                        self.ledger.note(format!("{how}, but the facts count"));
                    }
                    return Ok(End::new(HandoffStatus::Completed, why));
                }
                Verdict::NotYet(why) => why,
            }
        } else if good {
            match self.answer_is_valid() {
                Ok(()) => return Ok(End::new(HandoffStatus::Completed, "the answer is there")),
                Err(why) => why,
            }
        } else {
            "there is no answer".into()
        };
        if let Some(end) = &ended.stopped {
            return Ok(end.clone());
        }
        let asked = match ended.requests {
            0 => "; it asked the model nothing",
            _ => "",
        };
        let words = if stderr.is_empty() || outcome.success() {
            String::new()
        } else {
            format!(" ({stderr})")
        };
        let end = End::failed(format!("{how}{words}, but {why}{asked}"));
        Ok(if ended.failing && !outcome.success() {
            end.with_exit(Exit::Unavailable)
        } else {
            end
        })
    }

    /// Starts the agent with its gateway and listens until it has ended.
    fn with_agent(&mut self, engine: &Engine, env: &Environment) -> Result<Ended, End> {
        let failed = |what: &str| {
            let what = what.to_string();
            move |error: std::io::Error| End::failed(format!("{what}: {error}"))
        };
        let (variables, policy, scratch) = self.shell.surroundings();
        let place = scratch.join("agent");
        for folder in ["home", "config", "data", "state", "cache", "run"] {
            std::fs::create_dir_all(place.join(folder))
                .map_err(failed("cannot make the agent's folders"))?;
        }
        let baseline = self.red_checks();
        let prompt = brief(&self.job.task, self.job.role.writes(), &baseline);
        let prompt_file = place.join("prompt.md");
        std::fs::write(&prompt_file, &prompt).map_err(failed("cannot write the prompt"))?;

        // Where nothing parts the agent from the machine's own network, others could use the gateway.
        let token = new_token().map_err(failed("cannot make a key"))?;
        let alone = policy.is_some();
        let (stop, (news, heard)) = (self.cancel.child(), sync_channel(1024));
        let end = self.started + self.job.bounds.wall;
        let gateway = Gateway::open(
            &place.join("gateway"),
            Upstream {
                client: self.client.clone(),
                frame: Frame {
                    model: self.model().map(str::to_string),
                    extra: self.job.provider.request.clone(),
                    window: self.window(),
                    output: self.job.bounds.output_tokens,
                },
                clocks: self.job.provider.clocks.clone().until(end),
                flag: Flag::open(env.get("BATON_SLOT_FILE").map(Path::new)),
                token: (!alone).then(|| token.clone()),
            },
            Allowance::new(self.job.bounds.clone()),
            stop.clone(),
            news.clone(),
        )
        .map_err(failed("cannot open the gateway"))?;

        let agent = Agent {
            engine,
            prompt: &prompt,
            prompt_file: &prompt_file,
            place: &place,
            token: &token,
            title: self.job.task.id.to_string(),
        };
        let (pipe, writer) = std::io::pipe().map_err(failed("cannot make a pipe"))?;
        let mut command = self.agent_command(&agent)?;
        command = command
            .cwd(self.tree.root())
            .stdout(Output::File(Arc::new(std::fs::File::from(
                std::os::fd::OwnedFd::from(writer),
            ))))
            .timeout(self.job.bounds.wall.saturating_sub(self.started.elapsed()))
            .grace(GRACE)
            .hunt();
        for (name, value) in variables.iter().cloned().chain(self.agent_env(&agent, env)) {
            command = command.env(name, value);
        }
        if let Some(mut policy) = policy {
            policy
                .read
                .extend(homes(&engine.file, env.get("HOME").map(Path::new)));
            policy.read.extend(std::env::current_exe().ok());
            policy.reach.push(place.join("gateway"));
            if policy.network == Network::None {
                // The model itself is reached over the loopback.
                policy.network = Network::Loopback;
            }
            command = command.sandbox(policy);
        }
        let lines = (engine.kind == EngineFlag::Opencode).then(|| news.clone());
        let ended = self.listen_to(command, &stop, pipe, &news, heard, lines)?;
        let (requests, steps, failing) = gateway.counts();
        self.ledger.usage.steps = steps;
        let (outcome, printed, words) = ended;
        Ok(Ended {
            outcome,
            printed,
            stopped: gateway.end(),
            requests,
            failing,
            words,
        })
    }

    /// Runs the command on a thread of its own and hears what happens until it has ended.
    fn listen_to(
        &mut self,
        command: Command,
        stop: &Cancel,
        pipe: PipeReader,
        news: &SyncSender<News>,
        heard: Receiver<News>,
        lines: Option<SyncSender<News>>,
    ) -> Result<Heard, End> {
        let log = self.shell.outputs().join("agent.txt");
        let outlet = Outlet::open(pipe, &log, lines)
            .map_err(|error| End::failed(format!("cannot read the agent's output: {error}")))?;
        let (cancel, sender) = (stop.clone(), news.clone());
        let runner = std::thread::spawn(move || {
            let outcome = command.run(&cancel);
            // Our end of its output must be gone before the reader can see the end.
            drop(command);
            let _ = sender.send(News::Ended(Box::new(outcome)));
        });
        let mut words = None;
        let mut outcome = None;
        loop {
            match heard.recv_timeout(Duration::from_millis(50)) {
                Ok(News::Ended(ended)) => {
                    outlet.drain();
                    outcome = Some(*ended);
                }
                Ok(news) => self.hear(news, &mut words),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    let over = outcome.is_some() || runner.is_finished();
                    if over && outlet.is_finished() {
                        break;
                    }
                    if over {
                        outlet.drain();
                    }
                }
            }
        }
        drop(heard);
        let _ = runner.join();
        let printed = outlet.finish();
        let outcome =
            outcome.ok_or_else(|| End::failed("the thread that ran the agent ended early"))?;
        Ok((outcome, printed, words))
    }

    /// Takes in what happened.
    fn hear(&mut self, news: News, words: &mut Option<String>) {
        match news {
            News::Request(data) => {
                self.output
                    .progress(&format!("the agent asks, request {}", data["number"]));
                self.events.emit(self.output, "request", data);
            }
            News::Answer(answer) => {
                self.ledger.answered(self.served.kind, &answer);
                self.events.emit(
                    self.output,
                    "answer",
                    json!({"finish": answer.finish_reason, "calls": answer.tool_calls.len(),
                           "content_bytes": answer.content.len(), "reasoning_bytes": answer.reasoning.len(),
                           "usage": answer.usage.map(|u| json!({"prompt_tokens": u.prompt,
                               "completion_tokens": u.completion, "cached_tokens": u.cached})),
                           "first_event_ms": answer.timing.first_event_ms,
                           "decode_ms": answer.timing.decode_ms}),
                );
            }
            News::Failed(message) => {
                self.events
                    .emit(self.output, "retry", json!({"error": message}));
            }
            News::Line(line) => match opencode::line(&line) {
                opencode::Line::Tool(event) => {
                    self.ledger.usage.tool_calls += 1;
                    self.output
                        .progress(&format!("the agent runs {}", event["tool"]));
                    self.events.emit(self.output, "tool", event);
                }
                opencode::Line::Text(text) if !text.is_empty() => *words = Some(text),
                opencode::Line::Error(why) => {
                    self.ledger.note(format!("the agent says: {why}"));
                    self.events
                        .emit(self.output, "agent_error", json!({"error": why}));
                }
                opencode::Line::Text(_) | opencode::Line::Other => {}
            },
            News::Ended(_) => {}
        }
    }
}

/// A key that only this task's agent knows.
fn new_token() -> std::io::Result<String> {
    use std::io::Read as _;
    let mut bytes = [0_u8; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(format!("baton-{}", baton_process::hex(&bytes)))
}

/// What an agent printed, as its last words.
fn said(printed: &Printed) -> String {
    clean(&printed.tail).trim().to_string()
}

fn last_line(text: &str) -> String {
    let line = text.lines().rev().find(|line| !line.trim().is_empty());
    line.unwrap_or_default().trim().chars().take(300).collect()
}
