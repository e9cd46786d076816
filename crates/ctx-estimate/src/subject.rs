//! What is counted: files, standard input, a request, a task.

use baton_protocol::{Part, Reserve};
use baton_tokens::{Count, Meter, Pieces, estimate_with};
use serde_json::Value;

/// One part of the subject: a file, or a part of a request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SubjectPart {
    /// A path, or `system`, `tools`, …
    pub(crate) name: String,
    /// Its length in bytes, for files.
    pub(crate) bytes: u64,
    /// One count a meter.
    pub(crate) counts: Vec<Count>,
}

/// Everything that is counted together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Subject {
    /// Its parts, in order.
    pub(crate) parts: Vec<SubjectPart>,
    /// What the reader should know.
    pub(crate) notes: Vec<String>,
    /// Why the count is not of everything that was asked for, so that no bound holds.
    pub(crate) incomplete: Option<String>,
    /// The chat request, where a server can count it.
    pub(crate) request: Option<Value>,
    /// What the request or the task itself reserves.
    pub(crate) asked: Asked,
}

/// The reserve a request or a task states.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    /// For the answer.
    pub(crate) output: Option<u64>,
    /// For thinking.
    pub(crate) thinking: Option<u64>,
    /// What the output of failing checks may add to a task's first request, in tokens.
    pub(crate) checks: u64,
}

/// The output reserve where nobody states one, in tokens.
const DEFAULT_OUTPUT: u64 = 4096;

impl Asked {
    /// What a chat request states. Servers count thinking as output, so `max_tokens` is all of it.
    pub(crate) fn of_request(request: &Value) -> Self {
        let number = |key: &str| request.get(key).and_then(Value::as_u64);
        let output = number("max_completion_tokens")
            .or_else(|| number("max_tokens"))
            .or_else(|| number("max_output_tokens"));
        Self {
            output,
            thinking: None,
            checks: 0,
        }
    }

    /// The reserve, flags first. Where nobody states an output, one is taken only to judge a fit.
    pub(crate) fn reserve(self, flags: Self, margin: u64, judging: bool) -> Reserve {
        let default = if judging { DEFAULT_OUTPUT } else { 0 };
        Reserve {
            output_tokens: flags.output.or(self.output).unwrap_or(default),
            thinking_tokens: flags.thinking.or(self.thinking).unwrap_or(0),
            margin_tokens: margin.saturating_add(self.checks),
        }
    }
}

impl Subject {
    /// The whole count by one meter.
    pub(crate) fn total(&self, meter: usize) -> Count {
        let counts = self.parts.iter().filter_map(|part| part.counts.get(meter));
        counts.copied().sum()
    }

    /// The parts as the document has them.
    pub(crate) fn breakdown(&self, meter: usize) -> Vec<Part> {
        let parts = self.parts.iter().filter_map(|part| {
            let tokens = part.counts.get(meter)?.tokens;
            Some(Part {
                part: part.name.clone(),
                tokens,
            })
        });
        parts.collect()
    }

    /// A chat request, taken apart, with one count a meter.
    pub(crate) fn of_pieces(pieces: &Pieces, meters: &[Meter]) -> Self {
        let mut parts: Vec<SubjectPart> = Vec::new();
        for meter in meters {
            let counted = estimate_with(pieces, |text| meter.count(text));
            for (name, count) in counted.parts {
                match parts.iter_mut().find(|part| part.name == name) {
                    Some(part) => part.counts.push(count),
                    None => parts.push(SubjectPart {
                        name: name.into(),
                        bytes: 0,
                        counts: vec![count],
                    }),
                }
            }
        }
        let incomplete = (pieces.attachments > 0).then(|| {
            format!(
                "{} part(s) of the content are no text (images, sound, files); their tokens cannot be told",
                pieces.attachments
            )
        });
        Self {
            parts,
            incomplete,
            ..Self::default()
        }
    }

    /// Wraps files as one user message, because that is how a model will get them.
    pub(crate) fn add_message_overhead(&mut self, meters: &[Meter]) {
        let empty = Pieces {
            messages: 1,
            templated: true,
            ..Pieces::default()
        };
        self.parts.extend(Self::of_pieces(&empty, meters).parts);
    }
}
