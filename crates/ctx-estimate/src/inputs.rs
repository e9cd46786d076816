//! Reading what is to be counted.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use baton_cli::input::main_document;
use baton_cli::{Failure, Output};
use baton_protocol::{Health, Provider, Task, read, read_strict};
use baton_tokens::{Date, Meter};
use serde_json::{Value, json};

use crate::files::{find, measure_all, reason};
use crate::reader::{Content, Reader, Text};
use crate::responses::as_chat;
use crate::subject::{Asked, Subject, SubjectPart};

/// Larger texts are not kept for a server to count, in bytes.
const MOST_SENT: u64 = 8 << 20;

/// What to do about a text that a server would not get as it is.
const UTF16: &str = "UTF-16 text; convert it first (iconv -f UTF-16 -t UTF-8)";

/// The providers of a health/1 document (or of an estimate/1, to judge again).
pub(crate) fn candidates(file: &Path) -> Result<Vec<Provider>, Failure> {
    let what = "a health/1 document (--candidates FILE)";
    let text = main_document(Some(file), what)?;
    let health: Health = read(&text).map_err(|e| Failure::from(e).at(place(file)))?;
    if health.providers.is_empty() {
        return Err(Failure::input(format!(
            "{}: names no providers, so there is nothing to judge",
            place(file)
        )));
    }
    Ok(health.providers)
}

/// How a file is called in messages.
fn place(file: &Path) -> String {
    if file == Path::new("-") {
        "standard input".into()
    } else {
        file.display().to_string()
    }
}

/// What a chat request is counted with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counting<'a> {
    pub(crate) meters: &'a [Meter],
    /// The template that stands in for the models' own.
    pub(crate) template: Option<&'a str>,
    pub(crate) today: Date,
}

/// A chat request from a file.
pub(crate) fn request(file: &Path, counting: Counting<'_>) -> Result<Subject, Failure> {
    let text = main_document(Some(file), "a chat request (--request FILE)")?;
    let request: Value = serde_json::from_str(&text)
        .map_err(|e| Failure::input(format!("{}: not JSON: {e}", place(file))))?;
    of_request(as_chat(request), counting).map_err(|e| e.at(place(file)))
}

/// A chat request, counted.
pub(crate) fn of_request(request: Value, counting: Counting<'_>) -> Result<Subject, Failure> {
    let Counting {
        meters,
        template,
        today,
    } = counting;
    let mut subject = Subject::of_request(&request, meters, template, today)
        .map_err(|e| Failure::input(e.to_string()))?;
    subject.asked = Asked::of_request(&request);
    subject.notes.extend(Asked::problem(&request));
    // Servers count chats; a bare prompt has no messages.
    let is_chat = request.get("messages").is_some();
    subject.request = is_chat.then_some(request);
    Ok(subject)
}

/// A task/1 document.
pub(crate) fn task(file: &Path) -> Result<Task, Failure> {
    let text = main_document(Some(file), "a task/1 document (--task FILE)")?;
    read_strict(&text).map_err(|e| Failure::from(e).at(place(file)))
}

/// Files, folders, or standard input. `as_message`: as one user message that a server can count.
pub(crate) fn texts(
    paths: &[PathBuf],
    all: bool,
    as_message: bool,
    meters: &[Meter],
    output: &Output,
) -> Result<Subject, Failure> {
    let mut subject = if paths.is_empty() || paths == [PathBuf::from("-")] {
        standard_input(meters)?
    } else {
        files(paths, all, meters, output)?
    };
    if subject.parts.is_empty() {
        return Err(Failure::input(match subject.notes.first() {
            Some(first) => format!("nothing to count: {first}"),
            None => {
                "nothing to count: no files there (use --all for hidden and ignored ones)".into()
            }
        }));
    }
    if as_message {
        subject.request = as_request(paths, &subject);
        subject.add_message_overhead(meters);
    }
    Ok(subject)
}

fn standard_input(meters: &[Meter]) -> Result<Subject, Failure> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return Err(Failure::usage(
            "expects text on standard input, which is a terminal; name files or give a pipe",
        ));
    }
    let content = Reader::new(meters)
        .measure(stdin.lock())
        .map_err(|e| Failure::input(format!("standard input: {}", reason(&e))))?;
    let mut subject = Subject::default();
    match content {
        Content::Binary => return Err(Failure::input("standard input is binary, not text")),
        Content::Utf16 => return Err(Failure::input(format!("standard input: {UTF16}"))),
        Content::Text(text) if text.bytes == 0 => {
            return Err(Failure::input(
                "standard input is empty; give files, folders or a text (see ctx-estimate --help)",
            ));
        }
        Content::Text(text) => add(&mut subject, "standard input".into(), text),
    }
    Ok(subject)
}

fn files(
    paths: &[PathBuf],
    all: bool,
    meters: &[Meter],
    output: &Output,
) -> Result<Subject, Failure> {
    let found = find(paths, all)?;
    for pipe in &found.pipes {
        output.note(&format!(
            "{}: a pipe; reading until whoever writes it has ended",
            pipe.display()
        ));
    }
    let count = found.files.len();
    let results = measure_all(&found.files, meters, |done| {
        if count > 100 {
            output.progress(&format!("counted {done} of {count} files"));
        }
    });
    output.clear_progress();
    let mut subject = Subject::default();
    let mut unreadable = found.unreadable;
    for (path, result) in found.files.iter().zip(results) {
        // A mangled name would name another file.
        let Some(name) = path.to_str() else {
            unreadable.push(format!("{}: its name is not UTF-8", path.display()));
            continue;
        };
        match result {
            Ok(Content::Binary) => subject.notes.push(format!("{name}: binary, skipped")),
            Ok(Content::Utf16) => subject.notes.push(format!("{name}: {UTF16}, skipped")),
            Ok(Content::Text(text)) => add(&mut subject, name.into(), text),
            Err(e) => unreadable.push(format!("{name}: {}", reason(&e))),
        }
    }
    if let Some(first) = unreadable.first() {
        subject.incomplete = Some(format!(
            "{} could not be read, so the count is not of everything: {first}",
            unreadable.len()
        ));
    }
    subject.notes = few(subject.notes, "more files are binary");
    Ok(subject)
}

/// The first notes, and how many more there are.
fn few(mut notes: Vec<String>, more: &str) -> Vec<String> {
    const SHOWN: usize = 10;
    let left = notes.len().saturating_sub(SHOWN);
    notes.truncate(SHOWN);
    if left > 0 {
        notes.push(format!("{left} {more}, skipped"));
    }
    notes
}

fn add(subject: &mut Subject, name: String, text: Text) {
    if let Some(broken) = text.broken {
        subject.notes.push(format!(
            "{name}: {} bytes are not UTF-8 (the first at byte {}); they are counted as bytes",
            broken.bytes, broken.first_at
        ));
    }
    subject.parts.push(SubjectPart {
        name,
        bytes: text.bytes,
        counts: text.counts,
    });
}

/// The texts as one user message, where they are few enough to be read again and sent.
fn as_request(paths: &[PathBuf], subject: &Subject) -> Option<Value> {
    let bytes: u64 = subject.parts.iter().map(|part| part.bytes).sum();
    if paths.is_empty() || bytes > MOST_SENT || subject.incomplete.is_some() {
        return None;
    }
    let mut text = String::new();
    for part in &subject.parts {
        // A pipe gives its text once: opened again it waits for ever, or is empty and fits everywhere.
        let facts = std::fs::metadata(&part.name).ok()?;
        if !facts.is_file() || facts.len() != part.bytes {
            return None;
        }
        io::Read::read_to_string(&mut File::open(&part.name).ok()?, &mut text).ok()?;
    }
    Some(json!({"messages": [{"role": "user", "content": text}]}))
}
