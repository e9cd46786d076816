//! The event stream.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use baton_cli::{Failure, Output};
use baton_protocol::{Event, SchemaTag, TaskId, Timestamp};
use serde_json::{Map, Value};

/// Where events go.
#[derive(Debug)]
enum Sink {
    None,
    Stdout,
    File(File),
}

/// Writes events, one JSON line each, flushed at once.
#[derive(Debug)]
pub(crate) struct Events {
    sink: Sink,
    /// The file of a recording.
    also: Option<File>,
    task: TaskId,
    run: Option<String>,
}

impl Events {
    /// Opens the stream; `-` is stdout.
    pub(crate) fn open(
        path: Option<&Path>,
        task: TaskId,
        run: Option<String>,
    ) -> Result<Self, Failure> {
        let sink = match path {
            None => Sink::None,
            Some(path) if path.as_os_str() == "-" => Sink::Stdout,
            Some(path) => Sink::File(File::create(path).map_err(|error| {
                Failure::usage(format!("--events {}: {error}", path.display()))
            })?),
        };
        Ok(Self {
            sink,
            also: None,
            task,
            run,
        })
    }

    /// Writes them to this file as well.
    pub(crate) fn also(&mut self, path: &Path) -> std::io::Result<()> {
        self.also = Some(File::create(path)?);
        Ok(())
    }

    /// Writes one event. A full disk or a closed pipe must not end the work, so errors are dropped.
    pub(crate) fn emit(&mut self, output: &Output, kind: &str, data: Value) {
        if matches!(self.sink, Sink::None) && self.also.is_none() {
            return;
        }
        let event = Event {
            schema: SchemaTag::new(),
            at: Timestamp::now(),
            run: self.run.clone(),
            task: Some(self.task.clone()),
            kind: kind.into(),
            data: match data {
                Value::Object(map) => map,
                _ => Map::new(),
            },
        };
        if let (Some(file), Ok(line)) = (&mut self.also, output.redacted_json(&event)) {
            let _ = writeln!(file, "{line}");
        }
        match &mut self.sink {
            Sink::None => {}
            Sink::Stdout => drop(output.json_line(&event)),
            Sink::File(file) => {
                if let Ok(line) = output.redacted_json(&event) {
                    let _ = writeln!(file, "{line}");
                }
            }
        }
    }
}
