//! The command line.

use std::path::PathBuf;

use baton_cli::{Common, HasCommon, parse_size};
use clap::{ArgGroup, Parser, ValueEnum};

/// How many tokens does this need, and which server can really hold it?
///
/// Counts files, folders (what .gitignore names is left out), standard input, a chat request or a
/// task's first request. With --window or --candidates it also judges whether that fits, and the
/// exit code is the verdict.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES, group = ArgGroup::new("input").args(["paths", "request", "task"]))]
#[command(max_term_width = 100)]
pub struct Cli {
    /// Files and folders to count; `-` or none: standard input.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Count a chat request: its messages, tools and template.
    #[arg(long, value_name = "FILE")]
    pub request: Option<PathBuf>,
    /// Count the first request of a task/1 document.
    #[arg(long, value_name = "FILE")]
    pub task: Option<PathBuf>,
    /// The repository the task is about.
    #[arg(long, value_name = "DIR", default_value = ".", requires = "task")]
    pub repo: PathBuf,

    /// Judge the providers of a health/1 document (`-`: standard input).
    #[arg(long, value_name = "FILE", help_heading = "Fit")]
    pub candidates: Option<PathBuf>,
    /// Judge one window of this many tokens.
    #[arg(long, value_name = "TOKENS", value_parser = parse_size, help_heading = "Fit")]
    #[arg(conflicts_with = "candidates")]
    pub window: Option<u64>,
    /// Tokens kept for the answer [default: what the request or task says, else 4096].
    #[arg(long, value_name = "TOKENS", value_parser = parse_size, help_heading = "Fit")]
    pub output: Option<u64>,
    /// Tokens kept for thinking [default: what the task says, else 0].
    #[arg(long, value_name = "TOKENS", value_parser = parse_size, help_heading = "Fit")]
    pub thinking: Option<u64>,
    /// Tokens kept for what the count may miss.
    #[arg(long, value_name = "TOKENS", value_parser = parse_size, help_heading = "Fit")]
    #[arg(default_value = "0")]
    pub margin: u64,

    /// The model: which candidate to judge, and a hint at the tokenizer family.
    #[arg(long, value_name = "NAME", help_heading = "Counting")]
    pub model: Option<String>,
    /// The tokenizer family: qwen, llama3, gpt-oss, deepseek, gemma.
    #[arg(long, value_name = "FAMILY", help_heading = "Counting")]
    pub tokenizer: Option<String>,
    /// How to count.
    #[arg(long, value_enum, default_value_t = MethodChoice::Auto, help_heading = "Counting")]
    pub method: MethodChoice,
    /// Ask no server.
    #[arg(long, help_heading = "Counting")]
    pub offline: bool,
    /// Count files that .gitignore names, and hidden ones, too.
    #[arg(long, help_heading = "Counting")]
    pub all: bool,

    /// Show only the N largest files (or folders).
    #[arg(long, value_name = "N", help_heading = "Showing")]
    pub top: Option<usize>,
    /// Add up by folder, like du.
    #[arg(long, help_heading = "Showing")]
    pub tree: bool,
    /// Write JSON Lines: one object a file, then the total.
    #[arg(long, help_heading = "Showing", conflicts_with_all = ["tree", "text"])]
    pub lines: bool,

    /// Print the longest part of the text that has at most this many tokens, at line borders.
    #[arg(long, value_name = "TOKENS", value_parser = parse_size, help_heading = "Trimming")]
    #[arg(conflicts_with_all = ["request", "task", "candidates", "window", "top", "tree", "lines"])]
    pub trim: Option<u64>,
    /// Keep the beginning (the default).
    #[arg(long, requires = "trim", help_heading = "Trimming", group = "end")]
    pub head: bool,
    /// Keep the end.
    #[arg(long, requires = "trim", help_heading = "Trimming", group = "end")]
    pub tail: bool,
    /// Keep beginning and end, cut the middle out.
    #[arg(long, requires = "trim", help_heading = "Trimming", group = "end")]
    pub middle: bool,

    /// The flags every tool has.
    #[command(flatten)]
    pub common: Common,
}

/// How to count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MethodChoice {
    /// The best there is.
    Auto,
    /// The server's own count, or nothing.
    Server,
    /// The class model or the bytes.
    Heuristic,
}

impl Cli {
    /// Whether a server may be asked for its own count.
    pub(crate) fn asks_servers(&self) -> bool {
        !self.offline && self.method != MethodChoice::Heuristic
    }
}

impl HasCommon for Cli {
    fn common(&self) -> &Common {
        &self.common
    }
}

const EXAMPLES: &str = "\
Exit codes: 0 counted, or something fits; 1 nothing fits; 2 wrong usage or input; 3 cannot tell.

Examples:
  ctx-estimate prompt.md src/                        tokens per file and in all
  ctx-estimate --top 20 --tree .                     where the tokens go
  ctx-estimate --model qwen3 --window 32Ki notes.md  does it fit? (exit code)
  ctx-estimate --request req.json                    a whole chat request
  vllm-health | ctx-estimate --task t.json --candidates -
  ctx-estimate --trim 6k --tail build.log            the last 6,000 tokens";
