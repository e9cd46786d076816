//! Writes a run down while it happens.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use baton_cli::Redactor;
use baton_model_server::{CallError, RawReply, Tap};
use baton_repo::{ObjectId, Repo};
use serde::Serialize;

use super::effects::{keep, write};
use super::fault::RecordedFault;
use super::folder::{Folder, RecordedCommand, RecordedReply, RecordedRun};
use super::tape::Place;
use crate::tools::shell::Ran;

/// The writer of a run directory.
#[derive(Debug)]
pub(crate) struct Recorder {
    folder: Folder,
    redactor: Redactor,
    repo: Repo,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    exchanges: usize,
    commands: usize,
    reply: RecordedReply,
    body: Vec<u8>,
    before: Option<ObjectId>,
    /// Whether a file's content is not kept as it was.
    redacted: bool,
    /// The first thing that could not be written.
    trouble: Option<String>,
}

impl Recorder {
    /// Makes the run directory, which must be empty or not there yet, and outside the work tree.
    pub(crate) fn create(dir: &Path, repo: Repo, redactor: Redactor) -> Result<Self, String> {
        let said = |error: std::io::Error| format!("{}: {error}", dir.display());
        std::fs::create_dir_all(dir).map_err(said)?;
        let dir = dir.canonicalize().map_err(said)?;
        if dir.starts_with(repo.root()) {
            return Err(format!(
                "{} lies in the repository, whose changes are watched; choose a folder outside",
                dir.display()
            ));
        }
        if std::fs::read_dir(&dir).map_err(said)?.next().is_some() {
            return Err(format!("{} is not empty; give a new folder", dir.display()));
        }
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(&dir, private).map_err(said)?;
        std::fs::create_dir(dir.join("output")).map_err(said)?;
        Ok(Self {
            folder: Folder(dir),
            redactor,
            repo,
            state: Mutex::default(),
        })
    }

    /// The folder of the whole outputs.
    pub(crate) fn outputs(&self) -> PathBuf {
        self.folder.outputs()
    }

    /// The file of the events.
    pub(crate) fn events(&self) -> PathBuf {
        self.folder.0.join("events.jsonl")
    }

    /// Keeps what earlier tasks taught of the model, which decides how it is spoken to.
    pub(crate) fn calibration(&self, file: &Path) -> Result<(), String> {
        match std::fs::read(file) {
            Ok(bytes) => write(&self.folder.calibration(), &self.clean(&bytes)),
            Err(_) => Ok(()),
        }
    }

    /// Writes `run.json`: at the start, and again when the end is known.
    pub(crate) fn run(&self, run: &RecordedRun) -> Result<(), String> {
        self.json(&self.folder.run(), run)
    }

    /// Writes the hand-off.
    pub(crate) fn handoff(&self, handoff: &impl Serialize) -> Result<(), String> {
        self.json(&self.folder.0.join("handoff.json"), handoff)
    }

    /// What could not be written, if anything.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.lock().trouble.clone()
    }

    /// Whether a file held a key, so that a replay cannot come to the same bytes.
    pub(crate) fn has_redacted(&self) -> bool {
        self.lock().redacted
    }

    /// Looks at the tree, so that a command's changes can be told.
    pub(crate) fn before_command(&self) {
        let tree = self.repo.snapshot();
        let mut state = self.lock();
        match tree {
            Ok(tree) => state.before = Some(tree),
            Err(error) => state.note(error.to_string()),
        }
    }

    /// Writes a command down.
    pub(crate) fn command(&self, ran: &Ran, place: Place<'_>) {
        let mut state = self.lock();
        state.commands += 1;
        let n = state.commands;
        let redacted = Cell::new(state.redacted);
        let changes = match state.before.take() {
            Some(before) => keep(&self.repo, &before, &self.folder, n, &|bytes| {
                let clean = self.clean(bytes);
                redacted.set(redacted.get() || clean != bytes);
                clean
            }),
            None => Ok(Vec::new()),
        };
        let changes = changes.unwrap_or_else(|why| {
            state.note(why);
            Vec::new()
        });
        state.redacted = redacted.get();
        self.clean_file(&ran.log);
        let end = std::fs::read_to_string(place.end).ok();
        let end = end.map(|text| PathBuf::from(text.trim_end_matches('\n')));
        let command = RecordedCommand {
            after: state.exchanges,
            receipt: ran.receipt.clone(),
            text: ran.text.clone(),
            cancelled: ran.cancelled,
            killed: ran.killed,
            place: end.map(|p| {
                p.strip_prefix(place.root)
                    .map(Path::to_path_buf)
                    .unwrap_or(p)
            }),
            changes,
        };
        if let Err(why) = self.json(&self.folder.command(n), &command) {
            state.note(why);
        }
    }

    fn json(&self, path: &Path, value: &impl Serialize) -> Result<(), String> {
        let value = serde_json::to_value(value).map_err(|e| e.to_string())?;
        let mut text = self.redactor.value(value).to_string();
        text.push('\n');
        write(path, text.as_bytes())
    }

    /// Bytes without keys; what is no text is kept as it is.
    fn clean(&self, bytes: &[u8]) -> Vec<u8> {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.redactor.text(text).into_owned().into_bytes(),
            Err(_) => bytes.to_vec(),
        }
    }

    /// Takes keys out of a whole output.
    fn clean_file(&self, path: &Path) {
        if let Ok(bytes) = std::fs::read(path) {
            let clean = self.clean(&bytes);
            if clean != bytes && std::fs::write(path, clean).is_err() {
                let _ = std::fs::remove_file(path);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn note(&mut self, why: String) {
        self.trouble.get_or_insert(why);
    }
}

impl Tap for Recorder {
    fn request(&self, body: &[u8]) -> Option<RawReply> {
        let mut state = self.lock();
        state.exchanges += 1;
        state.reply = RecordedReply::default();
        state.body.clear();
        let path = self.folder.request(state.exchanges);
        if let Err(why) = write(&path, &self.clean(body)) {
            state.note(why);
        }
        None
    }

    fn head(&self, status: u16, content_type: &str) {
        let mut state = self.lock();
        state.reply.status = status;
        state.reply.content_type = content_type.into();
    }

    fn bytes(&self, bytes: &[u8]) -> ControlFlow<()> {
        self.lock().body.extend_from_slice(bytes);
        ControlFlow::Continue(())
    }

    fn end(&self, error: Option<&CallError>) {
        let mut state = self.lock();
        state.reply.error = error.map(RecordedFault::from);
        let n = state.exchanges;
        let body = self.clean(&std::mem::take(&mut state.body));
        let written = write(&self.folder.body(n), &body)
            .and_then(|()| self.json(&self.folder.reply(n), &state.reply));
        if let Err(why) = written {
            state.note(why);
        }
    }
}
