//! The loop: decide, write down, do. It owns the journal and the state; acts run on threads of their
//! own and come back as messages.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use baton_cli::{Failure, Output};
use baton_process::Cancel;
use baton_protocol::{TaskId, Timestamp};

use crate::core::decide::{Act, Step, decide};
use crate::core::record::{Entry, Record};
use crate::core::state::{State, Stop};

use super::context::{Context, Line, Message};
use super::desk::Watch;
use super::journal::Journal;
use super::{acts, finishing, halt, progress};

/// How often the halt file is looked at.
const LOOK: Duration = Duration::from_millis(250);

/// A run that is being worked on.
pub(crate) struct Engine<'a> {
    pub context: Arc<Context>,
    pub journal: Journal,
    pub state: State,
    pub output: &'a Output,
    /// Where the journal's lines also go, for machines.
    pub events: Option<std::fs::File>,
    /// The signals that reach this process.
    pub signals: Cancel,
    /// Who looks on.
    pub watch: Option<Watch<'a>>,
}

impl Engine<'_> {
    /// Writes a record down, takes it in, and tells people.
    pub(crate) fn write(&mut self, task: Option<TaskId>, record: Record) -> Result<(), Failure> {
        let entry = Entry {
            at: Timestamp::now(),
            task,
            record,
        };
        let line = self.journal.append(&entry)?;
        if let Some(events) = &mut self.events {
            // A reader that went away does not stop the run.
            let _ = std::io::Write::write_all(events, line.as_bytes());
        }
        self.state.apply(&entry);
        if let Some(watch) = &mut self.watch {
            watch(&self.state, &entry);
        }
        if let Some(text) = progress::line(entry.task.as_ref(), &entry.record, &self.state) {
            self.output.note(&text);
        }
        Ok(())
    }

    /// Works until the run has ended.
    pub(crate) fn work(&mut self) -> Result<(), Failure> {
        let (sender, receiver) = channel();
        let line = Line(sender);
        let wake = line.clone();
        let _guard = self.signals.on_cancel(Box::new(move || {
            let _ = wake.0.send(Message::Wake);
        }));
        let mut threads = Vec::new();
        let mut busy: BTreeSet<Act> = BTreeSet::new();
        let result = self.turn(&receiver, &line, &mut busy, &mut threads);
        if result.is_err() {
            // Whatever still runs is ended in order; its files are there for a resume.
            self.context.stop.cancel();
        }
        drop(receiver);
        for thread in threads {
            // A thread that panicked has told so itself; the journal is whole either way.
            let _ = thread.join();
        }
        result
    }

    fn turn(
        &mut self,
        receiver: &Receiver<Message>,
        line: &Line,
        busy: &mut BTreeSet<Act>,
        threads: &mut Vec<std::thread::JoinHandle<()>>,
    ) -> Result<(), Failure> {
        loop {
            self.look_for_a_stop()?;
            let wall_ms = finishing::wall_ms(&self.state, Timestamp::now());
            let mut noted = false;
            for step in decide(&self.state, busy, wall_ms) {
                match step {
                    Step::Note(task, record) => {
                        noted = true;
                        self.write(task, *record)?;
                    }
                    Step::Do(act) => {
                        busy.insert(act.clone());
                        threads.push(self.begin(line.clone(), act));
                    }
                }
            }
            if noted {
                continue;
            }
            if busy.is_empty() {
                return if self.state.status.is_some() {
                    Ok(())
                } else {
                    Err(Failure::internal(
                        "the run has nothing to do and no end; this is a bug of orchestrate",
                    ))
                };
            }
            match receiver.recv_timeout(LOOK) {
                Ok(Message::Record(task, record, ack)) => {
                    self.write(task, *record)?;
                    if let Some(ack) = ack {
                        let _ = ack.send(());
                    }
                }
                Ok(Message::Done(act, result)) => {
                    busy.remove(&act);
                    threads.retain(|t| !t.is_finished());
                    result?;
                }
                Ok(Message::Wake) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Failure::internal("the run's acts have gone"));
                }
            }
        }
    }

    fn begin(&self, line: Line, act: Act) -> std::thread::JoinHandle<()> {
        let context = Arc::clone(&self.context);
        let state = self.state.clone();
        std::thread::spawn(move || {
            let result = acts::perform(&context, &line, &state, &act);
            // The engine is gone when it does not listen: it has its error already.
            let _ = line.0.send(Message::Done(act, result));
        })
    }

    fn look_for_a_stop(&mut self) -> Result<(), Failure> {
        if self.state.status.is_some() {
            return Ok(());
        }
        let interrupted = matches!(self.state.stop, Some(Stop::Interrupt(_)));
        if self.signals.is_cancelled() && !interrupted {
            let signal = self.signals.signal().unwrap_or(2);
            self.write(None, Record::InterruptAsked { signal })?;
            // The signal itself has reached the workers' token as well; to ask twice would take the
            // time away in which they hand over.
            if !self.context.stop.is_cancelled() {
                self.context.stop.cancel_by_signal(signal);
            }
        }
        let file = self.context.layout.halt_file();
        let at_once = matches!(
            self.state.stop,
            Some(Stop::Interrupt(_) | Stop::Halt { now: true })
        );
        if !at_once
            && let Some(halt) = halt::asked(&file, &self.context.run)
            && self.state.stop != Some(Stop::Halt { now: halt.now })
        {
            self.write(None, Record::HaltAsked { now: halt.now })?;
            if halt.now {
                self.context.stop.cancel();
            }
        }
        if self.state.stop.is_some() {
            self.context.pause.cancel();
        }
        if self.signals.is_urgent() && !self.context.stop.is_urgent() {
            self.context.stop.cancel();
        }
        Ok(())
    }
}
