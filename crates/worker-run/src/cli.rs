//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use baton_cli::{Common, HasCommon, parse_duration, parse_size};
use baton_protocol::{BaseUrl, TaskId};
use clap::{Parser, Subcommand, ValueEnum};
use serde::{Deserialize, Serialize};

const EXAMPLES: &str = "\
The task is a task/1 document: --task FILE, or stdin, or put together by --prompt and its flags.
The hand-off (handoff/1) goes to stdout, whatever happens.

An agent of --engine command gets its prompt on stdin, or for {prompt} or {prompt_file} in its
arguments; the server is {base_url} and {model} there, OPENAI_BASE_URL and BATON_MODEL elsewhere.

Exit codes: 0 completed; 1 not completed (failed, blocked, overflow, no answer); 2 usage;
3 a budget is spent; 69 server unavailable; 75 no slot in time; 78 configuration; 124 time limit;
130 Ctrl-C.

Examples:
  worker-run --task task.json > handoff.json
  worker-run --prompt 'Fix the off-by-one in page()' --write page.py --verify 'python3 test.py'
  worker-run --role explore --prompt 'Where is the retry logic?' | jq -r .outcome
  worker-run --task task.json --events - | jq -c 'select(.type == \"tool\")'
  worker-run --task task.json --record run/ && worker-run replay run/
  worker-run --task task.json --engine command -- my-agent --url {base_url} --model {model}
  vllm-health | slot-lock --candidates - -- worker-run --task task.json > handoff.json";

const REPLAY_EXAMPLES: &str = "\
Commands are not run again: what they printed and changed is in the recording. The work happens in
a temporary tree made from the recorded base; the repository itself is not touched.

Exit codes: 0 the same decisions; 1 it went another way (the first difference is named by request
and JSON path); 2 usage or no such recording. With --from, the task's own exit code.

Examples:
  worker-run --task task.json --record run/ > handoff.json
  worker-run replay run/ | jq .same
  worker-run replay run/ --from 3 --base-url http://127.0.0.1:8000";

const REMOTE_EXAMPLES: &str = "\
Without --folder, frames come on stdin and go to stdout; the end of stdin ends the work. A frame is
a line `baton-launch/1 KIND TOKEN BYTES`, so many bytes, a line break: launch (launch/1), variables,
bundle and alive in; launched (launched/1), event, reservation, bundle, handoff and last landed
(landed/1) out. With --folder, launch.json there says what to do, and a file `stop` ends it.

Exit codes: the worker's own; 2 what came cannot be read; 127 a tool is missing on this host.

Examples:
  orchestrate run --launcher 'ssh box2' --launcher-io stream GOAL    # starts it on box2
  f() { printf '\\nbaton-launch/1 %s t1 %d\\n' $1 $(stat -c %s $2); cat $2; }
  { f launch launch.json; f bundle base.bundle; } | ssh box2 worker-run remote";

/// Do one well-scoped task with a small local model, within bounds, and hand it off.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) action: Option<Action>,
    /// The task/1 document; `-` or nothing reads stdin.
    #[arg(long, value_name = "FILE")]
    pub(crate) task: Option<PathBuf>,
    /// What to do, instead of a document.
    #[arg(long, value_name = "TEXT", conflicts_with = "task")]
    pub(crate) prompt: Option<String>,
    /// The role: implementer, worker, explore, planner, reviewer, or your own.
    #[arg(long, value_name = "NAME", requires = "prompt")]
    pub(crate) role: Option<String>,
    /// A glob the task may change; repeat it [default: everything].
    #[arg(long, value_name = "GLOB", requires = "prompt")]
    pub(crate) write: Vec<String>,
    /// A glob worth reading first; repeat it.
    #[arg(long, value_name = "GLOB", requires = "prompt")]
    pub(crate) read: Vec<String>,
    /// A command that shows whether it is done; repeat it.
    #[arg(long, value_name = "COMMAND", requires = "prompt")]
    pub(crate) verify: Vec<String>,
    /// The task's name in the hand-off.
    #[arg(long, value_name = "ID", requires = "prompt", value_parser = task_id)]
    pub(crate) id: Option<TaskId>,
    /// The repository, or a folder in it.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) repo: PathBuf,
    /// Write events (event/1, JSON Lines) here; `-`: stdout, before the hand-off.
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,
    /// Write everything down here, so that the run can be replayed; a new folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) record: Option<PathBuf>,
    /// Show the first request, its tokens and the limits; send nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// The agent's command for --engine command; further arguments for --engine opencode.
    #[arg(last = true, value_name = "CMD", hide = true)]
    pub(crate) agent: Vec<String>,

    #[command(flatten)]
    pub(crate) model: ModelFlags,
    #[command(flatten)]
    pub(crate) way: WayFlags,
    #[command(flatten)]
    pub(crate) limits: LimitFlags,

    #[command(flatten)]
    pub(crate) common: Common,
}

/// Something else than doing a task.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum Action {
    /// Take a recorded run again, and see whether it comes to the same requests.
    #[command(after_help = REPLAY_EXAMPLES)]
    Replay(Box<ReplayFlags>),
    /// Do a task that a launcher has brought to this host, in frames on stdin or in a shared folder.
    #[command(after_help = REMOTE_EXAMPLES)]
    Remote(RemoteFlags),
}

/// Where a launched task comes from.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct RemoteFlags {
    /// The placement's folder, shared with who placed it: a path or a file:// address.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) folder: Option<String>,
    /// Where trees are made and commits kept for later tasks [default: ~/.cache/baton/remote].
    #[arg(long, value_name = "DIR", conflicts_with = "folder")]
    pub(crate) dir: Option<PathBuf>,
}

/// What a replay needs to know.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ReplayFlags {
    /// The folder that --record wrote.
    #[arg(value_name = "RUN-DIR")]
    pub(crate) dir: PathBuf,
    /// Take the answers before this request from the recording, then ask the server.
    #[arg(long, value_name = "STEP", value_parser = step)]
    pub(crate) from: Option<usize>,
    /// The repository [default: where it was recorded].
    #[arg(long, value_name = "DIR")]
    pub(crate) repo: Option<PathBuf>,
    /// Write events (event/1, JSON Lines) here; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,
    /// How much the kernel must confine commands that run live.
    #[arg(long, value_name = "HOW", default_value = "best-effort")]
    pub(crate) sandbox: SandboxFlag,

    #[command(flatten)]
    pub(crate) model: ModelFlags,
}

fn step(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("give the number of a request, from 1".into()),
        Ok(step) => Ok(step),
    }
}

/// Which server and model.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Server")]
pub(crate) struct ModelFlags {
    /// The server, instead of the configured ones.
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<BaseUrl>,
    /// The model [default: `BATON_MODEL`, the configuration's, the server's].
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// The usable context in tokens [default: `BATON_CONTEXT`, the configuration's, the server's].
    #[arg(long, value_name = "TOKENS", value_parser = parse_size)]
    pub(crate) context: Option<u64>,
    /// A health/1 or estimate/1 document, for what it says of the model: context, tool calls.
    #[arg(long, value_name = "FILE")]
    pub(crate) candidates: Option<PathBuf>,
    /// A configuration file instead of the user's.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Do not take a slot; the hand-off says so.
    #[arg(long)]
    pub(crate) no_slot: bool,
}

/// How the work is done.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Way of working")]
pub(crate) struct WayFlags {
    /// Who works: our own loop, opencode, or any agent's command, in the same bounds.
    #[arg(long, value_name = "NAME", default_value = "own")]
    pub(crate) engine: EngineFlag,
    /// How the model acts: tool calls, whole files, or search/replace blocks in its reply.
    #[arg(long, value_name = "MODE", default_value = "auto")]
    pub(crate) mode: ModeFlag,
    /// Files shown in the first message: auto, none, or paths with commas between.
    #[arg(long, value_name = "WHAT", default_value = "auto")]
    pub(crate) pack: String,
    /// When the task's checks run: after each changing call, each changing answer, or at the end.
    #[arg(long, value_name = "WHEN", default_value = "turn")]
    pub(crate) check_every: CheckEvery,
    /// How much the kernel must confine commands; what it cannot do stands in the hand-off.
    #[arg(long, value_name = "HOW", default_value = "best-effort")]
    pub(crate) sandbox: SandboxFlag,
}

/// Limits that override the task's.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Limits (before the task's own)")]
pub(crate) struct LimitFlags {
    /// Turns of the model.
    #[arg(long, value_name = "N")]
    pub(crate) steps: Option<u32>,
    /// The whole task, waiting for a slot not counted.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) wall: Option<Duration>,
    /// Tokens of one answer.
    #[arg(long, value_name = "N", value_parser = parse_size)]
    pub(crate) output_tokens: Option<u64>,
    /// Waiting for a slot.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) wait: Option<Duration>,
}

fn task_id(text: &str) -> Result<TaskId, String> {
    TaskId::new(text)
}

impl HasCommon for Cli {
    fn common(&self) -> &Common {
        &self.common
    }
}

/// How the model acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ModeFlag {
    /// By what is known of the model; one that gets stuck changes over, once.
    Auto,
    /// Tool calls only.
    Tools,
    /// Whole files in fenced blocks, for models that cannot call tools.
    Whole,
    /// Search/replace blocks, for such models and long files.
    Blocks,
}

/// Who does the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineFlag {
    /// The loop of worker-run.
    Own,
    /// A command that reads a prompt.
    Command,
    /// opencode, found in PATH.
    Opencode,
}

/// When the checks run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckEvery {
    /// After each call that changed something.
    Step,
    /// After each answer that changed something.
    Turn,
    /// When the model says it is done.
    End,
}

/// How much the kernel must confine commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SandboxFlag {
    /// All borders, or no command runs.
    Full,
    /// At least writes are held back.
    BestEffort,
    /// None.
    Off,
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::{CommandFactory as _, Parser as _};

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn flags_that_make_a_task_need_a_prompt() {
        assert!(Cli::try_parse_from(["worker-run", "--write", "src"]).is_err());
        assert!(Cli::try_parse_from(["worker-run", "--prompt", "x", "--write", "src"]).is_ok());
        assert!(Cli::try_parse_from(["worker-run", "--prompt", "x", "--task", "t"]).is_err());
    }
}
