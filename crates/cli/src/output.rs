//! The only writer of stdout and stderr.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::io::{ErrorKind, IsTerminal, Write};

use serde::Serialize;

use crate::run::Common;
use crate::visible::{visible, visible_line};
use crate::{Failure, Redactor};

/// How an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One JSON document on one line.
    Json,
    /// For people: a table or text.
    Text,
}

/// stdout for the answer, stderr for notes, errors and (on a terminal) progress.
///
/// A closed pipe on stdout is no error: whoever closed it has seen enough. What is written is redacted,
/// and text for people holds nothing that a terminal would obey.
#[derive(Debug)]
pub struct Output {
    tool: &'static str,
    format: Format,
    quiet: bool,
    verbose: u8,
    stdout_closed: Cell<bool>,
    progress_shown: Cell<bool>,
    progress_wanted: bool,
    redactor: OnceCell<Redactor>,
}

impl Output {
    /// The output of `tool` as its common flags ask for.
    pub fn new(tool: &'static str, common: &Common) -> Self {
        let format = match (common.json, common.text) {
            (true, _) => Format::Json,
            (_, true) => Format::Text,
            _ if std::io::stdout().is_terminal() => Format::Text,
            _ => Format::Json,
        };
        Self {
            tool,
            format,
            quiet: common.quiet,
            verbose: common.verbose,
            stdout_closed: Cell::new(false),
            progress_shown: Cell::new(false),
            progress_wanted: !common.quiet && std::io::stderr().is_terminal(),
            redactor: OnceCell::new(),
        }
    }

    /// The same output, keeping these keys out of everything.
    #[must_use]
    pub fn with_redactor(mut self, redactor: Redactor) -> Self {
        self.redactor = OnceCell::from(redactor);
        self
    }

    /// Keeps these keys out of everything from now on. The first call counts: a tool says it once,
    /// when its configuration is read.
    pub fn keep_out(&self, redactor: Redactor) {
        let _ = self.redactor.set(redactor);
    }

    /// The redactor, for files a tool writes itself.
    pub fn redactor(&self) -> &Redactor {
        static USUAL: std::sync::OnceLock<Redactor> = std::sync::OnceLock::new();
        self.redactor
            .get()
            .unwrap_or_else(|| USUAL.get_or_init(Redactor::default))
    }

    /// How the answer is written.
    pub const fn format(&self) -> Format {
        self.format
    }

    /// Whether `-q` was given.
    pub const fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Whether the reader of stdout went away; a stream may then end.
    pub fn is_closed(&self) -> bool {
        self.stdout_closed.get()
    }

    /// Whether colours are welcome on stdout: a terminal, and `NO_COLOR` is not set.
    pub fn is_colour_welcome(&self) -> bool {
        std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
    }

    /// Writes the answer: one JSON line, or `text` for people. Nothing with `-q`.
    pub fn document<T: Serialize>(
        &self,
        document: &T,
        text: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        if self.quiet {
            return Ok(());
        }
        match self.format {
            Format::Json => self.json_line(document),
            Format::Text => {
                let text = text();
                let mut text = visible(&self.redactor().text(&text)).into_owned();
                if !text.ends_with('\n') && !text.is_empty() {
                    text.push('\n');
                }
                self.raw(text.as_bytes())
            }
        }
    }

    /// Writes one document as one JSON line, whatever the format, also with `-q`.
    pub fn json_line<T: Serialize>(&self, document: &T) -> Result<(), Failure> {
        let mut line = self.redacted_json(document)?;
        line.push('\n');
        self.raw(line.as_bytes())
    }

    /// The document as one line of redacted JSON, without the line feed.
    pub fn redacted_json<T: Serialize>(&self, document: &T) -> Result<String, Failure> {
        let unwritable = |e| Failure::internal(format!("cannot write the document: {e}"));
        let line = serde_json::to_string(document).map_err(unwritable)?;
        // Where nothing is escaped, a key would stand in the line just as in the texts.
        if !line.contains('\\') && matches!(self.redactor().text(&line), Cow::Borrowed(_)) {
            return Ok(line);
        }
        let value = serde_json::to_value(document).map_err(unwritable)?;
        Ok(self.redactor().value(value).to_string())
    }

    /// Writes bytes to stdout as they are.
    pub fn raw(&self, bytes: &[u8]) -> Result<(), Failure> {
        if self.stdout_closed.get() {
            return Ok(());
        }
        self.clear_progress();
        let mut stdout = std::io::stdout().lock();
        match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
            Ok(()) => Ok(()),
            Err(e) if e.kind() == ErrorKind::BrokenPipe => {
                self.stdout_closed.set(true);
                Ok(())
            }
            Err(e) => Err(Failure::internal(format!(
                "cannot write to standard output: {e}"
            ))),
        }
    }

    /// A note for people on stderr; silent with `-q`.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            self.stderr_line(text);
        }
    }

    /// A detail for people on stderr; only with `-v`.
    pub fn detail(&self, text: &str) {
        if self.verbose > 0 {
            self.stderr_line(text);
        }
    }

    /// An error for people on stderr; never silent.
    pub fn error(&self, text: &str) {
        self.stderr_line(text);
    }

    /// Shows one line that the next one replaces; only when stderr is a terminal.
    pub fn progress(&self, text: &str) {
        if self.progress_wanted {
            let text = self.redactor().text(text);
            write_stderr(&format!("\r\x1b[K{}", visible_line(&text)));
            self.progress_shown.set(true);
        }
    }

    /// Removes the progress line.
    pub fn clear_progress(&self) {
        if self.progress_shown.replace(false) {
            write_stderr("\r\x1b[K");
        }
    }

    fn stderr_line(&self, text: &str) {
        self.clear_progress();
        let text = self.redactor().text(text);
        write_stderr(&format!("{}: {}\n", self.tool, visible(&text)));
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        self.clear_progress();
    }
}

/// Nobody can be told when stderr is gone, so a failure to write there is dropped.
fn write_stderr(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}
