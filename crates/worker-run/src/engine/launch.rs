//! Which program is started, with which arguments and variables.

use std::path::{Path, PathBuf};

use baton_cli::{Environment, Failure};
use baton_process::Command;
use baton_protocol::HandoffStatus;

use super::opencode;
use super::program::locate;
use super::relay::{BASE_URL, RELAY};
use crate::cli::EngineFlag;
use crate::session::{End, Session};

/// A prompt longer than this does not go into an argument (the kernel's limit for one is 128 KiB).
const LONGEST_ARGUMENT: usize = 120_000;

/// An agent program and how it is spoken to.
#[derive(Debug, Clone)]
pub(crate) struct Engine {
    pub(crate) kind: EngineFlag,
    /// The program's file.
    pub(crate) file: PathBuf,
    /// The name it was asked for by.
    name: String,
    /// Its arguments; for opencode, further ones.
    args: Vec<String>,
}

/// One agent about to run.
pub(crate) struct Agent<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) prompt: &'a str,
    pub(crate) prompt_file: &'a Path,
    pub(crate) place: &'a Path,
    pub(crate) token: &'a str,
    pub(crate) title: String,
}

impl Engine {
    /// The engine of a command line; none for our own loop.
    pub(crate) fn new(
        kind: EngineFlag,
        words: &[String],
        env: &Environment,
    ) -> Result<Option<Self>, Failure> {
        let (name, args) = match (kind, words.split_first()) {
            (EngineFlag::Own, None) => return Ok(None),
            (EngineFlag::Own, Some(_)) => {
                return Err(Failure::usage(
                    "a command after `--` needs --engine command",
                ));
            }
            (EngineFlag::Command, None) => {
                return Err(Failure::usage(
                    "--engine command needs the agent's command after `--`",
                ));
            }
            (EngineFlag::Command, Some((name, args))) => (name.clone(), args),
            (EngineFlag::Opencode, _) => ("opencode".to_string(), words),
        };
        let file = locate(name.as_ref(), env.get("PATH")).ok_or_else(|| {
            let hint = match kind {
                EngineFlag::Opencode => "; install it (npm install -g opencode-ai)",
                _ => "",
            };
            Failure::usage(format!("--engine: {name}: command not found{hint}"))
        })?;
        Ok(Some(Self {
            kind,
            file: std::path::absolute(&file).unwrap_or(file),
            name,
            args: args.to_vec(),
        }))
    }

    /// For a receipt: the command without the prompt.
    pub(crate) fn describe(&self) -> String {
        let mut words = vec![self.name.clone()];
        if self.kind == EngineFlag::Opencode {
            words.push("run".into());
        }
        words.extend(self.args.iter().cloned());
        words.join(" ")
    }
}

impl Session<'_> {
    pub(crate) fn agent_command(&self, agent: &Agent<'_>) -> Result<Command, End> {
        let own = std::env::current_exe()
            .map_err(|error| End::failed(format!("cannot find my own program: {error}")))?;
        let engine = agent.engine;
        let mut stdin = String::new();
        let args = if engine.kind == EngineFlag::Opencode {
            opencode::arguments(&self.opencode_setup(agent), &engine.args)
        } else {
            let takes = |mark: &str| engine.args.iter().any(|arg| arg.contains(mark));
            let file = agent.prompt_file.display().to_string();
            if !takes("{prompt}") && !takes("{prompt_file}") {
                stdin.clone_from(&file);
            }
            let model = self.model().unwrap_or("default");
            let filled = |arg: &String| {
                arg.replace("{base_url}", BASE_URL)
                    .replace("{model}", model)
                    .replace("{prompt_file}", &file)
                    .replace("{prompt}", agent.prompt)
            };
            engine.args.iter().map(filled).collect()
        };
        if args.iter().any(|arg| arg.len() > LONGEST_ARGUMENT) {
            return Err(End::new(
                HandoffStatus::Blocked,
                "the prompt is too long for an argument; use {prompt_file}, or let it come on stdin",
            ));
        }
        Ok(Command::new(own)
            .arg(RELAY)
            .arg(agent.place.join("gateway"))
            .arg(stdin)
            .arg(&engine.file)
            .args(args)
            .env_clear())
    }

    pub(crate) fn opencode_setup<'a>(&'a self, agent: &'a Agent<'_>) -> opencode::Setup<'a> {
        opencode::Setup {
            model: self.model().unwrap_or("default"),
            window: self.window(),
            output: self.job.bounds.output_tokens,
            key: agent.token,
            title: &agent.title,
            prompt: agent.prompt,
        }
    }

    /// What the agent sees besides the usual variables: folders of its own, and where the model is.
    pub(crate) fn agent_env(&self, agent: &Agent<'_>, env: &Environment) -> Vec<(String, String)> {
        let folder = |name: &str| agent.place.join(name).display().to_string();
        let mut out: Vec<(String, String)> = [
            ("HOME", "home"),
            ("XDG_CONFIG_HOME", "config"),
            ("XDG_DATA_HOME", "data"),
            ("XDG_STATE_HOME", "state"),
            ("XDG_CACHE_HOME", "cache"),
            ("XDG_RUNTIME_DIR", "run"),
        ]
        .map(|(name, place)| (name.to_string(), folder(place)))
        .to_vec();
        for name in [
            "OPENAI_BASE_URL",
            "OPENAI_API_BASE",
            "OPENCODE_VLLM_BASE_URL",
        ] {
            out.push((name.into(), BASE_URL.into()));
        }
        for name in ["OPENAI_API_KEY", "OPENCODE_VLLM_API_KEY"] {
            out.push((name.into(), agent.token.into()));
        }
        let window = self.window().map(|n| n.to_string());
        for (name, value) in [
            ("BATON_MODEL", self.model().map(str::to_string)),
            ("BATON_CONTEXT", window),
            // Our own tools, called by the agent, must not wait for the slot it works in.
            ("BATON_SLOT", env.get("BATON_SLOT").map(str::to_string)),
            ("BATON_TASK", Some(self.job.task.id.to_string())),
        ] {
            out.extend(value.map(|value| (name.to_string(), value)));
        }
        if agent.engine.kind == EngineFlag::Opencode {
            out.extend(opencode::variables(&self.opencode_setup(agent)));
        }
        out
    }
}
