//! From `main` to an exit code.

use std::ffi::OsString;
use std::mem::ManuallyDrop;
use std::process::ExitCode;

use baton_protocol::{Exit, schema_text};
use clap::error::{ContextKind, ContextValue, ErrorKind as ClapKind};
use clap::{Arg, ArgAction, Args, Command, Parser};
use serde_json::{Map, Value};

use crate::{Failure, Output};

/// What kind of tool it is; the exit codes depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolKind {
    /// Answers a question: 0 yes, 1 no, 3 could not judge.
    Question,
    /// Does something: 0 completed, 1 not, 3 needs a person.
    Doer,
    /// Runs a command: its code is passed through, 125 is our own failure.
    ChainLoader,
}

/// What `run` must know of a tool.
#[derive(Debug, Clone, Copy)]
pub struct Tool {
    /// The program's name.
    pub name: &'static str,
    /// Its kind. A question tool that is given a command after `--` ends as a chain loader.
    pub kind: ToolKind,
    /// The schemas of the documents it reads.
    pub reads: &'static [&'static str],
    /// The schemas of the documents it writes.
    pub writes: &'static [&'static str],
}

/// Under which heading help shows the flags that every tool has.
const COMMON: &str = "Common options";

/// The flags every tool has.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = COMMON)]
pub struct Common {
    /// Write JSON, also on a terminal.
    #[arg(long, global = true, conflicts_with = "text")]
    pub json: bool,
    /// Write text for people, also into a pipe or file.
    #[arg(long, global = true)]
    pub text: bool,
    /// Say more on stderr.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// Say nothing but errors; the exit code is the answer.
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Print the JSON Schemas of the documents this tool reads and writes.
    #[arg(long)]
    pub schema: bool,
}

/// A command line that carries the common flags.
pub trait HasCommon {
    /// Its common flags.
    fn common(&self) -> &Common;
}

/// The tool's clap command with its name and its version with the commit.
pub fn command_with_version<C: Parser>(tool: &Tool) -> Command {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("BATON_COMMIT"), ")");
    compact_help(C::command())
        .name(tool.name)
        .bin_name(tool.name)
        .version(VERSION)
}

/// Makes `--help` print what `-h` prints, which fits a screen or two; the man page has the rest.
fn compact_help(command: Command) -> Command {
    let names: Vec<String> = command
        .get_subcommands()
        .map(|s| s.get_name().to_owned())
        .collect();
    let help = Arg::new("help").short('h').long("help");
    let help = help.action(ArgAction::HelpShort).help("Print this help");
    // A verb's last heading would take it in otherwise.
    let help = help.help_heading(COMMON);
    let command = command.disable_help_flag(true).arg(help);
    names.into_iter().fold(command, |command, name| {
        command.mut_subcommand(name, compact_help)
    })
}

/// Runs a tool: parses the command line, calls `body`, reports a failure, returns the exit code.
pub fn run<C: Parser + HasCommon>(
    tool: &Tool,
    body: impl FnOnce(C, &Output) -> Result<Exit, Failure>,
) -> ExitCode {
    // Every tool is also the launcher of its own sandboxes; that must come before any thread.
    if let Some(code) = baton_process::sandbox::launcher_main_if_asked() {
        return code;
    }
    baton_process::wait_for_own_children();
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let before_command = || arguments.iter().skip(1).take_while(|a| *a != "--");
    let chain = arguments.iter().skip(1).any(|a| a == "--");
    let kind = if chain && tool.kind == ToolKind::Question {
        ToolKind::ChainLoader
    } else {
        tool.kind
    };
    let json_asked = before_command().any(|a| a == "--json");
    let quiet = before_command().any(|a| a == "-q" || a == "--quiet");

    let early = Common {
        json: json_asked,
        quiet,
        ..Common::default()
    };
    if before_command().any(|a| a == "--schema") {
        let output = Output::new(tool.name, &early);
        let written = output.json_line(&schemas(tool));
        return finish(tool, kind, &output, written.map(|()| Exit::Yes));
    }
    // Taking the definition apart again would cost a chain loader a noticeable part of its time.
    let mut command = ManuallyDrop::new(command_with_version::<C>(tool));
    let parsed = command
        .try_get_matches_from_mut(arguments.iter())
        .and_then(|mut matches| C::from_arg_matches_mut(&mut matches));
    match parsed {
        Ok(cli) => {
            let output = Output::new(tool.name, cli.common());
            let result = body(cli, &output);
            finish(tool, kind, &output, result)
        }
        Err(error) if !error.use_stderr() => {
            let output = Output::new(tool.name, &early);
            let written = output.raw(error.render().to_string().as_bytes());
            finish(tool, kind, &output, written.map(|()| Exit::Yes))
        }
        Err(error) => {
            let output = Output::new(tool.name, &early);
            finish(tool, kind, &output, Err(usage_failure(tool, &error)))
        }
    }
}

fn finish(tool: &Tool, kind: ToolKind, output: &Output, result: Result<Exit, Failure>) -> ExitCode {
    match result {
        Ok(exit) => exit.into(),
        Err(mut failure) => {
            // What was typed is repeated in errors, and may hold a key or a password.
            failure.message = output.redactor().text(&failure.message).into_owned();
            let promised = kind != ToolKind::ChainLoader && output.format() == crate::Format::Json;
            if promised && !output.is_quiet() {
                // A second failure to write has no better place to be told than the line below.
                let _ = output.json_line(&failure.document(tool.name));
            }
            output.error(&failure.message);
            failure.exit_code(kind).into()
        }
    }
}

fn schemas(tool: &Tool) -> Value {
    let group = |names: &[&str]| -> Value {
        let entry = |name: &&str| {
            let text = schema_text(name)?;
            Some(((*name).to_owned(), serde_json::from_str(text).ok()?))
        };
        Value::Object(names.iter().filter_map(entry).collect())
    };
    let mut all = Map::new();
    all.insert("reads".into(), group(tool.reads));
    all.insert("writes".into(), group(tool.writes));
    Value::Object(all)
}

/// clap's message in one line: what is wrong, the nearest right flag, where to look.
fn usage_failure(tool: &Tool, error: &clap::Error) -> Failure {
    let rendered = error.render().to_string();
    let mut paragraphs = rendered.split("\n\n");
    let first = paragraphs.next().unwrap_or_default();
    let first = first.strip_prefix("error: ").unwrap_or(first);
    let mut message = first.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    if error.kind() == ClapKind::DisplayHelpOnMissingArgumentOrSubcommand {
        message = "a subcommand or argument is missing".into();
    }
    let suggestion = [
        ContextKind::SuggestedArg,
        ContextKind::SuggestedSubcommand,
        ContextKind::SuggestedValue,
    ]
    .into_iter()
    .find_map(|kind| error.get(kind))
    .and_then(|value| match value {
        ContextValue::String(s) => Some(s.clone()),
        ContextValue::Strings(s) => s.first().cloned(),
        _ => None,
    });
    if let Some(suggestion) = suggestion {
        message = format!("{message}; did you mean `{suggestion}`?");
    }
    let stray = error.kind() == ClapKind::UnknownArgument
        && matches!(error.get(ContextKind::InvalidArg),
            Some(ContextValue::String(word)) if !word.starts_with('-'));
    if stray {
        message.push_str("; put quotes around words that belong together");
    }
    let verb = verb(&rendered).unwrap_or_else(|| tool.name.to_owned());
    Failure::usage(format!("{message} (see {verb} --help)"))
}

/// The command whose usage clap shows: the tool, and its verb where one was given.
fn verb(rendered: &str) -> Option<String> {
    let usage = rendered
        .lines()
        .find_map(|line| line.trim().strip_prefix("Usage: "))?;
    let words: Vec<&str> = usage
        .split(' ')
        .take_while(|word| word.starts_with(|c: char| c.is_ascii_lowercase()))
        .collect();
    (!words.is_empty()).then(|| words.join(" "))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::{Common, HasCommon, Tool, ToolKind, command_with_version, schemas, usage_failure};

    #[derive(Parser)]
    struct Cli {
        #[arg(long)]
        _candidates: Option<String>,
        #[command(flatten)]
        common: Common,
    }

    impl HasCommon for Cli {
        fn common(&self) -> &Common {
            &self.common
        }
    }

    const TOOL: Tool = Tool {
        name: "tool",
        kind: ToolKind::Question,
        reads: &["task/1"],
        writes: &["health/1"],
    };

    #[test]
    fn a_wrong_flag_names_the_right_one_in_one_line() {
        let mut command = command_with_version::<Cli>(&TOOL);
        let error = command
            .try_get_matches_from_mut(["tool", "--candidate", "-"])
            .unwrap_err();
        assert_eq!(
            usage_failure(&TOOL, &error).message,
            "unexpected argument '--candidate' found; did you mean `--candidates`? (see tool --help)"
        );
    }

    #[test]
    fn help_is_looked_for_where_the_verb_has_it() {
        #[derive(Parser)]
        enum Verbs {
            Run { _goal: Option<String> },
            Clean,
        }
        #[derive(Parser)]
        struct Cli {
            #[command(subcommand)]
            _verb: Verbs,
            #[command(flatten)]
            common: Common,
        }
        impl HasCommon for Cli {
            fn common(&self) -> &Common {
                &self.common
            }
        }
        let said = |words: &[&str]| {
            let mut command = command_with_version::<Cli>(&TOOL);
            let error = command.try_get_matches_from_mut(words).unwrap_err();
            usage_failure(&TOOL, &error).message
        };
        let message = said(&["tool", "run", "make", "it"]);
        assert!(
            message.contains("quotes around") && message.ends_with("(see tool run --help)"),
            "{message}"
        );
        let message = said(&["tool", "clean", "--now"]);
        assert!(
            !message.contains("quotes") && message.ends_with("(see tool clean --help)"),
            "{message}"
        );
        assert!(said(&["tool", "nosuch"]).ends_with("(see tool --help)"));
    }

    #[test]
    fn the_schemas_are_those_the_tool_reads_and_writes() {
        let all = schemas(&TOOL);
        assert!(all["reads"]["task/1"]["properties"]["prompt"].is_object());
        assert!(all["writes"]["health/1"]["properties"]["ready"].is_object());
    }

    #[test]
    fn the_version_names_a_commit() {
        let version = command_with_version::<Cli>(&TOOL).render_version();
        assert!(
            version.starts_with("tool 0.") && version.contains(" ("),
            "{version}"
        );
    }
}
