//! A written plan: Markdown that a person reads and ticks, and that orchestrate works through.
//!
//! The file is the truth about what is done. It is read anew each time, and changed only at the marks
//! of its steps and at its status; every other byte stays as it is.

pub(crate) mod convert;
pub(crate) mod fields;
pub(crate) mod head;
pub(crate) mod lines;
mod order;
mod steps;
pub(crate) mod write;

use baton_protocol::TaskId;

use fields::Fields;

/// The longest plan, in characters.
pub(crate) const MOST: usize = 120_000;

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    /// Made from the title; the second step of the same title ends in `-2`.
    pub id: TaskId,
    /// The number people call it by: its own, else its place.
    pub number: u64,
    pub title: String,
    pub body: String,
    pub done: bool,
    /// The line it begins on, counted from 1.
    pub line: usize,
    pub fields: Fields,
    mark: Mark,
}

/// Where a step is ticked.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Mark {
    /// At these bytes of these lines stand the marks of its boxes.
    Boxes(Vec<(usize, usize)>),
    /// It has none: a box is put at this byte of this line.
    Missing(usize, usize),
}

/// A plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlanFile {
    pub title: String,
    /// What stands between the head and the first step.
    pub preamble: String,
    /// In small letters; none: it does not say.
    pub status: Option<String>,
    /// Checks of every step that names none.
    pub verify: Vec<String>,
    /// Steps that name no dependency wait for the one before them.
    pub in_order: bool,
    pub steps: Vec<Step>,
}

impl PlanFile {
    /// Whether nothing is left to do: it says so, or every step is ticked.
    pub(crate) fn is_complete(&self) -> bool {
        self.says_complete() || (!self.steps.is_empty() && self.steps.iter().all(|s| s.done))
    }

    /// Whether it says so itself.
    pub(crate) fn says_complete(&self) -> bool {
        self.status.as_deref().is_some_and(head::is_complete)
    }

    pub(crate) fn done(&self) -> usize {
        self.steps.iter().filter(|s| s.done).count()
    }
}

/// Reads a plan. `name` is its title when it has none.
pub(crate) fn read(text: &str, name: &str) -> Result<PlanFile, String> {
    let characters = text.chars().count();
    if characters > MOST {
        return Err(format!(
            "it has {characters} characters, and a plan may have {MOST}; cut it into several plans"
        ));
    }
    let front = head::front(text);
    let lines = lines::read(text);
    let status = front.get("status").map(str::to_owned).or_else(|| {
        let (_, value) = head::status_section(lines.get(front.lines..)?)?;
        Some(lines[front.lines + value?].text.to_owned())
    });
    let status = status.map(|s| head::status_word(&s));
    let (steps, first) = steps::find(text, &lines, front.lines);
    if steps.is_empty() && !status.as_deref().is_some_and(head::is_complete) {
        return Err(
            "there are no steps in it; write them as `- [ ] What is to be done`, or as headings \
             `### Task 1: What is to be done`"
                .into(),
        );
    }
    if let Some(step) = steps.iter().find(|s| !s.done && s.title.trim().is_empty()) {
        return Err(format!(
            "line {}: the step has no words; say what is to be done, or take the line out",
            step.line
        ));
    }
    let in_order = match front.get("order").map(str::to_lowercase).as_deref() {
        None | Some("sequential" | "in order" | "written" | "serial") => true,
        Some("any" | "parallel" | "free") => false,
        Some(other) => {
            return Err(format!(
                "its order is `{other}`; it may be `sequential` (as written) or `any`"
            ));
        }
    };
    Ok(PlanFile {
        title: front
            .get("title")
            .or_else(|| front.get("goal"))
            .map(str::to_owned)
            .or_else(|| head::title(&lines[front.lines..]))
            .unwrap_or_else(|| name.to_owned()),
        preamble: steps::preamble(text, front.lines, first),
        status,
        verify: front
            .all("verify")
            .into_iter()
            .map(|v| v.trim_matches('`').to_owned())
            .collect(),
        in_order,
        steps,
    })
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
