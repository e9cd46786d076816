//! The command line.

use std::path::PathBuf;

use baton_cli::{Common, HasCommon, parse_size};
use baton_protocol::Method;
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
    #[arg(long, value_name = "TOKENS", value_parser = parse_size, allow_negative_numbers = true, help_heading = "Fit")]
    #[arg(conflicts_with = "candidates")]
    pub window: Option<u64>,
    /// Tokens kept for the answer [default: what the request or task says, else 4096].
    #[arg(long, value_name = "TOKENS", value_parser = parse_size, allow_negative_numbers = true, help_heading = "Fit")]
    pub output: Option<u64>,
    /// Tokens kept for thinking [default: what the task says, else 0].
    #[arg(long, value_name = "TOKENS", value_parser = parse_size, allow_negative_numbers = true, help_heading = "Fit")]
    pub thinking: Option<u64>,
    /// Tokens kept for what the count may miss.
    #[arg(long, value_name = "TOKENS", value_parser = parse_size, allow_negative_numbers = true, help_heading = "Fit")]
    #[arg(default_value = "0")]
    pub margin: u64,

    /// The model: which candidate to judge, and a hint at the tokenizer family.
    #[arg(long, value_name = "NAME", help_heading = "Counting")]
    pub model: Option<String>,
    /// A tokenizer.json, model folder or GGUF file to count with; or a family to estimate by: qwen,
    /// llama3, gpt-oss, deepseek, gemma.
    #[arg(long, value_name = "PATH|FAMILY", help_heading = "Counting")]
    pub tokenizer: Option<String>,
    /// The chat template (Jinja) in place of the one that comes with the tokenizer.
    #[arg(long, value_name = "FILE", help_heading = "Counting")]
    pub template: Option<PathBuf>,
    /// How to count.
    #[arg(long, value_enum, default_value_t = MethodChoice::Auto, help_heading = "Counting")]
    pub method: MethodChoice,
    /// Ask no server.
    #[arg(long, help_heading = "Counting")]
    pub offline: bool,
    /// Count files that .gitignore names, and hidden ones, too.
    #[arg(long, help_heading = "Counting")]
    pub all: bool,

    /// Compiled tokenizers: build them from the given paths (or from what a server has its model
    /// from: its URL, or `server`), list, verify or prune them.
    #[arg(long, value_enum, value_name = "ACTION", help_heading = "Counting")]
    #[arg(conflicts_with_all = ["request", "task", "candidates", "window", "trim", "tokenizer"])]
    pub cache: Option<CacheAction>,

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
    #[arg(long, value_name = "TOKENS", value_parser = parse_size, allow_negative_numbers = true, help_heading = "Trimming")]
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

/// What to do with the compiled tokenizers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CacheAction {
    /// Compile the named tokenizers anew.
    Build,
    /// Say which there are.
    List,
    /// The same; the exit code is 1 when one is damaged.
    Verify,
    /// Remove what is damaged or out of date.
    Prune,
}

/// How to count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MethodChoice {
    /// The best there is: the server's count, the model's tokenizer, its family, the bytes.
    Auto,
    /// The server's own count, or nothing.
    Server,
    /// A tokenizer on this machine, or nothing.
    Tokenizer,
    /// The class model or the bytes.
    Heuristic,
}

impl Cli {
    /// Whether a server may be asked for its own count.
    pub(crate) fn asks_servers(&self) -> bool {
        !self.offline && matches!(self.method, MethodChoice::Auto | MethodChoice::Server)
    }
}

impl Cli {
    /// Whether the configured servers are asked without being named as candidates: a request or a
    /// task is about a server; a text need not be.
    pub(crate) fn asks_configured_servers(&self) -> bool {
        let about_a_server = self.request.is_some() || self.task.is_some();
        let wanted = about_a_server || self.method == MethodChoice::Server;
        self.asks_servers() && wanted && self.candidates.is_none() && self.window.is_none()
    }
}

impl MethodChoice {
    /// Whether a count by this method is an answer.
    pub(crate) fn allows(self, method: Method) -> bool {
        match self {
            Self::Auto => true,
            Self::Server => method == Method::Server,
            Self::Tokenizer => method == Method::Tokenizer,
            Self::Heuristic => method == Method::Heuristic,
        }
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
  ctx-estimate --trim 6k --tail build.log            the last 6,000 tokens
  ctx-estimate --tokenizer ~/models/Qwen3-8B src/    exact, by the model's own tokenizer
  ctx-estimate --cache list                          compiled tokenizers";
