//! What is counted: files, standard input, a request, a task.

use baton_protocol::{Part, Reserve};
use baton_tokens::{
    Count, Date, Meter, Pieces, RequestError, TemplateUse, count_request, estimate_with,
};
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
    /// The whole counts, one a meter, where they are not the sums of the parts: a template may add
    /// to the texts and leave some out.
    pub(crate) totals: Vec<Count>,
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

/// Where a request states its output, the newest name first.
const OUTPUT_KEYS: [&str; 3] = ["max_completion_tokens", "max_tokens", "max_output_tokens"];

impl Asked {
    /// What a chat request states. Servers count thinking as output, so `max_tokens` is all of it.
    pub(crate) fn of_request(request: &Value) -> Self {
        let number = |key: &&str| request.get(*key).and_then(Value::as_u64);
        Self {
            output: OUTPUT_KEYS.iter().find_map(number),
            thinking: None,
            checks: 0,
        }
    }

    /// Why the output a request states is none, if so: `"100"`, `-5`, `1.5`.
    pub(crate) fn problem(request: &Value) -> Option<String> {
        OUTPUT_KEYS.iter().find_map(|key| {
            let value = request.get(*key).filter(|value| !value.is_null())?;
            value.as_u64().is_none().then(|| {
                format!("`$.{key}` is {value}, which is no number of tokens: it is not counted on")
            })
        })
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
        if let Some(total) = self.totals.get(meter) {
            return *total;
        }
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

    /// A chat request, with one count a meter. `template` stands in for the models' own.
    pub(crate) fn of_request(
        request: &Value,
        meters: &[Meter],
        template: Option<&str>,
        today: Date,
    ) -> Result<Self, RequestError> {
        let mut subject = Self::default();
        for meter in meters {
            let counted = count_request(meter, request, template, today)?;
            subject.add_parts(&counted.parts);
            subject.totals.push(counted.total);
            match counted.template {
                TemplateUse::Failed(why) => subject.notes.push(format!(
                    "{why}; the template's share is estimated by the formula"
                )),
                TemplateUse::Formula if meter.tokenizer().is_some() && counted.attachments == 0 => subject.notes.push(
                    "the tokenizer comes without a chat template; its share is estimated by the formula".into(),
                ),
                _ => {}
            }
            subject.incomplete = (counted.attachments > 0).then(|| {
                format!(
                    "{} part(s) of the content are no text (images, sound, files); their tokens cannot be told",
                    counted.attachments
                )
            });
        }
        Ok(subject)
    }

    fn add_parts(&mut self, counted: &[(&str, Count)]) {
        for (name, count) in counted {
            match self.parts.iter_mut().find(|part| part.name == *name) {
                Some(part) => part.counts.push(*count),
                None => self.parts.push(SubjectPart {
                    name: (*name).into(),
                    bytes: 0,
                    counts: vec![*count],
                }),
            }
        }
    }

    /// Wraps files as one user message, because that is how a model will get them.
    pub(crate) fn add_message_overhead(&mut self, meters: &[Meter]) {
        let empty = Pieces {
            messages: 1,
            templated: true,
            ..Pieces::default()
        };
        for meter in meters {
            self.add_parts(&estimate_with(&empty, |text| meter.count(text)).parts);
        }
    }
}
