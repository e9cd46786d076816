//! Answers from a recording, and watches that the loop asks the same.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use baton_cli::Redactor;
use baton_model_server::{CallError, ErrorClass, RawReply, Tap};
use baton_protocol::HandoffStatus;

use super::differ::{Difference, difference};
use super::effects::apply;
use super::folder::{Folder, RecordedCommand, RecordedReply, RecordedRun, read};
use super::tape::Place;
use crate::tools::shell::{Order, Ran};

/// The reader of a run directory.
#[derive(Debug)]
pub(crate) struct Player {
    folder: Folder,
    run: RecordedRun,
    redactor: Redactor,
    /// The first request that goes to the server; none: none does.
    from: Option<usize>,
    exchanges: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    asked: usize,
    commands: usize,
    diverged: Option<Divergence>,
    exhausted: bool,
}

/// Where the loop went another way.
#[derive(Debug, Clone)]
pub(crate) struct Divergence {
    /// The request it is about.
    pub(crate) step: usize,
    /// What differs.
    pub(crate) difference: Difference,
}

impl Player {
    pub(crate) fn open(
        dir: &Path,
        from: Option<usize>,
        redactor: Redactor,
    ) -> Result<Self, String> {
        let folder = Folder(dir.to_path_buf());
        let run: RecordedRun = read(&folder.run())?;
        if run.schema != RecordedRun::SCHEMA {
            return Err(format!(
                "{}: $.schema is {}, and this program reads {}",
                folder.run().display(),
                run.schema,
                RecordedRun::SCHEMA
            ));
        }
        Ok(Self {
            exchanges: folder.exchanges(),
            folder,
            run,
            redactor,
            from,
            state: Mutex::default(),
        })
    }

    /// What was recorded.
    pub(crate) fn run(&self) -> &RecordedRun {
        &self.run
    }

    /// Where the whole outputs are, and where the model thinks they are.
    pub(crate) fn outputs(&self) -> (PathBuf, PathBuf) {
        (self.folder.outputs(), self.run.outputs.clone())
    }

    /// How many requests were recorded.
    pub(crate) fn recorded(&self) -> usize {
        self.exchanges
    }

    /// How many were made.
    pub(crate) fn asked(&self) -> usize {
        self.lock().asked
    }

    /// Where it went another way, if it did.
    pub(crate) fn diverged(&self) -> Option<Divergence> {
        self.lock().diverged.clone()
    }

    /// Whether more was asked than a recording that was broken off has.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.lock().exhausted
    }

    /// Whether the next answer still comes from the recording.
    pub(crate) fn is_playing(&self) -> bool {
        let next = self.lock().asked + 1;
        self.from.is_none_or(|from| next < from)
    }

    /// A text with the recorded root in place of the real one.
    pub(crate) fn to_there(&self, text: &str, root: &Path) -> String {
        text.replace(&*root.to_string_lossy(), &self.run.root.to_string_lossy())
    }

    /// A text with the real root in place of the recorded one.
    pub(crate) fn to_here(&self, text: &str, root: &Path) -> String {
        text.replace(&*self.run.root.to_string_lossy(), &root.to_string_lossy())
    }

    /// The next recorded command; none where the recording does not answer any more.
    pub(crate) fn command(
        &self,
        order: Order<'_>,
        place: Place<'_>,
    ) -> Result<Option<Ran>, String> {
        let mut state = self.lock();
        // A command belongs to the answer that asked for it.
        if self.from.is_some_and(|from| state.asked >= from) {
            return Ok(None);
        }
        let n = state.commands + 1;
        let path = self.folder.command(n);
        let step = state.asked;
        let mut diverge = |recorded: String| {
            state.diverged.get_or_insert(Divergence {
                step,
                difference: Difference {
                    path: format!("commands[{}]", n - 1),
                    recorded,
                    now: order.command.to_string(),
                },
            });
            "another command than the recorded one".to_string()
        };
        if !path.exists() {
            return Err(diverge("(not there)".into()));
        }
        let recorded: RecordedCommand = read(&path)?;
        let (old, now) = (&recorded.receipt, order.command);
        if self.redactor.text(now) != old.command || old.source != order.source {
            return Err(diverge(old.command.clone()));
        }
        apply(place.root, &recorded.changes, &self.folder, n)?;
        if let Some(end) = &recorded.place {
            let end = place.root.join(end);
            std::fs::write(place.end, end.as_os_str().as_encoded_bytes())
                .map_err(|error| format!("{}: {error}", place.end.display()))?;
        }
        state.commands = n;
        let mut receipt = recorded.receipt;
        (receipt.tree_before, receipt.tree_after) = (None, None);
        Ok(Some(Ran {
            log: self.run.outputs.join(format!("{}.txt", receipt.id)),
            receipt,
            text: recorded.text,
            cancelled: recorded.cancelled,
            killed: recorded.killed,
        }))
    }

    fn refuse(message: impl Into<String>) -> RawReply {
        RawReply {
            error: Some(CallError::new(ErrorClass::Deterministic, message)),
            ..RawReply::default()
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tap for Player {
    fn request(&self, body: &[u8]) -> Option<RawReply> {
        let mut state = self.lock();
        state.asked += 1;
        let step = state.asked;
        if self.from.is_some_and(|from| step >= from) {
            return None;
        }
        let now = String::from_utf8_lossy(body);
        let now = self.redactor.text(&now);
        let mut diverge = |difference: Difference| {
            state
                .diverged
                .get_or_insert(Divergence { step, difference });
            Self::refuse("the replay went another way than the recorded run")
        };
        if step > self.exchanges {
            // Where a clock or a signal ended it, there was one more request to come.
            let broken_off = self.run.end.as_ref().is_none_or(|end| {
                matches!(
                    end.status,
                    HandoffStatus::TimedOut | HandoffStatus::Interrupted
                )
            });
            if broken_off {
                state.exhausted = true;
                return Some(Self::refuse("the recording was broken off here"));
            }
            return Some(diverge(Difference {
                path: "$".into(),
                recorded: "(no further request)".into(),
                now: format!("a request of {} bytes", now.len()),
            }));
        }
        let recorded = match std::fs::read_to_string(self.folder.request(step)) {
            Ok(text) => text,
            Err(error) => {
                return Some(Self::refuse(format!(
                    "the recording cannot be read: {error}"
                )));
            }
        };
        if let Some(found) = difference(&recorded, &now) {
            return Some(diverge(found));
        }
        let reply: RecordedReply = match read(&self.folder.reply(step)) {
            Ok(reply) => reply,
            Err(why) => return Some(Self::refuse(why)),
        };
        Some(RawReply {
            status: reply.status,
            content_type: reply.content_type,
            body: std::fs::read(self.folder.body(step)).unwrap_or_default(),
            error: reply.error.map(CallError::from),
        })
    }
}
