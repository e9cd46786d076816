//! Finding the report in what a worker left: pure functions from text to a hand-off.

pub(crate) mod content;
pub(crate) mod envelope;
mod files;
pub(crate) mod foreign_id;
mod handoff_shape;
mod json;
mod listing;
mod markdown;
pub(crate) mod plain;
mod shape;
mod synonyms;
#[cfg(test)]
mod tests;
mod verification;

use baton_protocol::{Handoff, HandoffStatus, SchemaTag, TaskId, read_value};
use serde_json::Value;

pub(crate) use shape::Issue;

/// How a report was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// handoff/1.
    Handoff,
    /// The plugin's version-1 envelope.
    Envelope,
    /// Headings, four or five.
    Markdown,
}

impl std::fmt::Display for Form {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Handoff => "handoff/1",
            Self::Envelope => "version-1 envelope",
            Self::Markdown => "Markdown report",
        })
    }
}

/// A report that was found and is whole.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Report {
    pub(crate) handoff: Handoff,
    pub(crate) form: Form,
    /// Whether it is the whole input. Only then may it carry receipts: worker-run writes the whole
    /// document, while a model's text around an object means that a model wrote the object.
    pub(crate) alone: bool,
}

impl Report {
    /// People and models write absolute names, where the other forms forbid them.
    pub(crate) fn relative_to(mut self, root: &str) -> Self {
        if self.form == Form::Markdown {
            for note in &mut self.handoff.files_changed {
                let inside = note
                    .path
                    .strip_prefix(root)
                    .and_then(|p| p.strip_prefix('/'));
                if let Some(inside) = inside.map(str::to_owned) {
                    note.path = inside;
                }
            }
        }
        self
    }

    /// This report, if it has the one form that was asked for.
    pub(crate) fn only(self, form: Form) -> Result<Self, NoReport> {
        if self.form == form {
            Ok(self)
        } else {
            Err(NoReport::NotFound)
        }
    }
}

/// Why there is no report.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoReport {
    #[error("the input is empty; a report was expected")]
    Empty,
    #[error("the text only points elsewhere ({0:?}); the report itself is needed")]
    Pointer(String),
    #[error(
        "no report found: neither a handoff/1 object, nor a version-1 envelope, nor the headings \
         Summary / Files changed / Verification / Open issues \
         (or Outcome / Files / Verification / Risks / Follow-up)"
    )]
    NotFound,
    #[error("the report at line {line} is cut off ({message})")]
    CutOff { line: usize, message: String },
    #[error("the report at line {line} is not JSON ({message})")]
    Broken { line: usize, message: String },
    #[error("two reports ({}); which one counts cannot be told", .0.join(" and "))]
    Ambiguous(Vec<String>),
    #[error("the {form} at line {line} is not complete: {}", join(issues))]
    Invalid {
        form: Form,
        line: usize,
        issues: Vec<Issue>,
    },
}

fn join(issues: &[Issue]) -> String {
    let all: Vec<String> = issues.iter().map(ToString::to_string).collect();
    all.join("; ")
}

/// Finds the one report in a text.
///
/// JSON goes before headings: the plugin's workers write both, and the envelope is the contract.
/// `task` names the task for a form that does not (headings).
pub(crate) fn find(text: &str, task: &TaskId) -> Result<Report, NoReport> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Err(NoReport::Empty);
    }
    let found = find_in(text, task);
    // What a model only thought of reporting is no report, and no second one.
    match (&found, plain::without_thoughts(text)) {
        (Err(_), Some(answer)) => find_in(&answer, task)
            .map(|report| Report {
                alone: false,
                ..report
            })
            .or(found),
        _ => found,
    }
}

fn find_in(text: &str, task: &TaskId) -> Result<Report, NoReport> {
    // A report that was put into a text of JSON, quotes and all.
    if text.starts_with('"')
        && let Ok(inner) = serde_json::from_str::<String>(text)
    {
        return find_in(inner.trim(), task).map(|report| Report {
            alone: false,
            ..report
        });
    }
    if let Some(report) = from_json(text, task, 0)? {
        return Ok(report);
    }
    from_markdown(text, task)
}

/// The report written with headings.
pub(crate) fn from_markdown(text: &str, task: &TaskId) -> Result<Report, NoReport> {
    let text = plain::without_colours(text);
    let text = &plain::with_line_feeds(&text);
    match markdown::parse(text) {
        Ok(sections) => Ok(Report {
            handoff: sections.into_handoff(task),
            form: Form::Markdown,
            alone: true,
        }),
        Err(NoReport::NotFound) => match content::points_elsewhere(text) {
            Some(pointer) => Err(NoReport::Pointer(pointer)),
            None => Err(NoReport::NotFound),
        },
        Err(other) => Err(other),
    }
}

/// How deep a report may be wrapped, in objects or in texts inside objects.
const DEEPEST: usize = 3;

fn from_json(text: &str, task: &TaskId, depth: usize) -> Result<Option<Report>, NoReport> {
    let mut found = json::objects(text);
    // Places in the list of objects.
    let mut good: Vec<(usize, Form)> = Vec::new();
    let mut bad: Vec<NoReport> = Vec::new();
    for (i, (line, value)) in found.objects.iter().enumerate() {
        let Some(form) = form_of(value) else { continue };
        let mut issues = match form {
            Form::Envelope => envelope::issues(value),
            _ => handoff_shape::issues(value),
        };
        let doubled = found.doubled.iter().filter(|(at, _)| at == line);
        issues.extend(doubled.map(|(_, message)| Issue {
            path: "$".into(),
            message: message.clone(),
        }));
        if issues.is_empty() {
            // Models repeat themselves; the same object twice is one report.
            if !good.iter().any(|(i, _)| found.objects[*i].1 == *value) {
                good.push((i, form));
            }
        } else {
            bad.push(NoReport::Invalid {
                form,
                line: *line,
                issues,
            });
        }
    }
    if good.len() > 1 {
        let places = good
            .iter()
            .map(|(i, form)| format!("{form} at line {}", found.objects[*i].0));
        return Err(NoReport::Ambiguous(places.collect()));
    }
    if let Some((i, form)) = good.pop() {
        let alone = depth == 0 && found.is_whole;
        return read(found.objects.swap_remove(i).1, form, alone).map(Some);
    }
    let fewest = |r: &NoReport| match r {
        NoReport::Invalid { issues, .. } => issues.len(),
        _ => usize::MAX,
    };
    if let Some(nearest) = bad.into_iter().min_by_key(fewest) {
        return Err(nearest);
    }
    if let Some(broken) = found.broken {
        return Err(broken);
    }
    if depth < DEEPEST {
        return unwrap(&found.objects, task, depth);
    }
    Ok(None)
}

/// Looks into objects that are no report for one that is: `{"result": {…}}`, `{"text": "…"}`.
fn unwrap(
    objects: &[(usize, Value)],
    task: &TaskId,
    depth: usize,
) -> Result<Option<Report>, NoReport> {
    let mut reports: Vec<Report> = Vec::new();
    let mut pointer = None;
    let inner = objects
        .iter()
        .filter_map(|(_, v)| v.as_object())
        .flat_map(|o| o.values());
    for value in inner {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Object(_) | Value::Array(_) => value.to_string(),
            _ => continue,
        };
        if let Some(report) = from_json(&text, task, depth + 1)? {
            if !reports.contains(&report) {
                reports.push(report);
            }
        } else if value.is_string() {
            match from_markdown(&text, task) {
                Ok(report) => reports.push(Report {
                    alone: false,
                    ..report
                }),
                Err(NoReport::Pointer(text)) => pointer = Some(text),
                Err(_) => {}
            }
        }
    }
    match (reports.len(), pointer) {
        (0, Some(text)) if depth == 0 => Err(NoReport::Pointer(text)),
        (0 | 1, _) => Ok(reports.pop()),
        _ => Err(NoReport::Ambiguous(
            reports
                .iter()
                .map(|r| format!("{} inside an object", r.form))
                .collect(),
        )),
    }
}

/// Whether an object means to be a report. Not yet whether it is a good one.
fn form_of(value: &Value) -> Option<Form> {
    let has = |key: &str| value.get(key).is_some();
    let schema = value.get("schema").and_then(Value::as_str);
    if schema.is_some_and(|s| s.starts_with("handoff/"))
        || (has("task_id") && has("outcome") && (has("files_changed") || has("status")))
    {
        return Some(Form::Handoff);
    }
    let envelope_keys = [
        "taskId",
        "filesChanged",
        "followUp",
        "reviewState",
        "outcome",
        "artifactRefs",
    ];
    let known = envelope_keys.iter().filter(|k| has(k)).count();
    (schema.is_none() && (known >= 3 || (has("version") && has("taskId"))))
        .then_some(Form::Envelope)
}

fn read(value: Value, form: Form, alone: bool) -> Result<Report, NoReport> {
    let fault = |message: String| NoReport::Invalid {
        form,
        line: 1,
        issues: vec![Issue {
            path: "$".into(),
            message,
        }],
    };
    let handoff = match form {
        Form::Envelope => envelope::to_handoff(&value).map_err(fault)?,
        _ => read_value::<Handoff>(value).map_err(|e| fault(e.to_string()))?,
    };
    Ok(Report {
        handoff,
        form,
        alone,
    })
}

/// A hand-off of a task in which nothing is said.
pub(crate) fn blank(task_id: TaskId) -> Handoff {
    Handoff {
        schema: SchemaTag::new(),
        task_id,
        role: String::new(),
        status: HandoffStatus::NoAnswer,
        status_reason: String::new(),
        outcome: String::new(),
        facts: Vec::new(),
        assumptions: Vec::new(),
        files_read: Vec::new(),
        files_changed: Vec::new(),
        verification: Vec::new(),
        risks: Vec::new(),
        follow_up: String::new(),
        artifacts: Vec::new(),
        review_state: baton_protocol::ReviewState::default(),
        result: Value::Null,
        receipts: Vec::new(),
        usage: baton_protocol::Usage::default(),
        repairs: std::collections::BTreeMap::new(),
        sandbox: baton_protocol::Confinement::default(),
        notes: Vec::new(),
        base: None,
        tree: None,
        provider: None,
        model: None,
        started_at: None,
        ended_at: None,
    }
}
