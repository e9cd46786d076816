//! A plan that was argued about: a draft, four critiques, and the final form, which code writes down so
//! that it can be worked on as it is.

use std::fmt::Write as _;

use baton_protocol::{Task, TaskId};
use serde_json::{Value, json};

use super::questions;

/// The four angles.
pub(crate) const ANGLES: [(&str, &str); 4] = [
    (
        "correctness",
        "Does each step do what it says, in an order that works? What is forgotten: error paths, data \
         that exists already, tests that would not notice a mistake?",
    ),
    (
        "simplicity",
        "What is more than the goal asks for? Which steps, files or abstractions can go? Does it stay \
         within its scope?",
    ),
    (
        "security",
        "What can be abused, leaked, injected or exhausted once this is built? Which defaults are \
         unsafe?",
    ),
    (
        "feasibility",
        "Can each step be done here: do the files, programs and interfaces it rests on exist? Can its \
         check run and really fail? Which step is too large for one worker?",
    ),
];

fn reading(
    id: &str,
    role: &str,
    title: &str,
    prompt: String,
    schema: Value,
) -> Result<Task, String> {
    let mut task = questions::reading(TaskId::new(id)?, role, title, prompt);
    task.result_schema = Some(schema);
    Ok(task)
}

fn plan_schema() -> Value {
    json!({
        "type": "object",
        "required": ["title", "steps"],
        "properties": {
            "title": {"type": "string"},
            "why": {"type": "string"},
            "steps": {"type": "array", "minItems": 1, "items": {
                "type": "object",
                "required": ["title", "details", "files", "verify"],
                "properties": {
                    "title": {"type": "string"},
                    "details": {"type": "string"},
                    "files": {"type": "array", "items": {"type": "string"}},
                    "verify": {"type": "array", "items": {"type": "string"}},
                    "depends": {"type": "array", "items": {"type": "integer"}},
                },
            }},
        },
    })
}

const FORM: &str = "\
Give the result as one JSON object: `title`; `why` (one paragraph); `steps`, each with `title`, \
`details` (all that a worker who sees only this step must know), `files` (the files or globs it may \
change, new ones included), `verify` (commands that exist here and exit with 0 exactly when the step is \
done) and `depends` (the numbers of the steps it needs, counted from 1).";

/// The task that drafts.
pub(crate) fn draft(goal: &str, role: &str) -> Result<Task, String> {
    let prompt = format!(
        "Draft a written plan for this goal in this repository. You only read; you change \
         nothing.\n\nGoal:\n{goal}\n\n{FORM}"
    );
    reading("draft", role, "Draft the plan", prompt, plan_schema())
}

/// The tasks that criticise a draft, one an angle.
pub(crate) fn critiques(goal: &str, draft: &str, role: &str) -> Result<Vec<Task>, String> {
    let one = |(angle, question): &(&str, &str)| {
        let prompt = format!(
            "Criticise this draft of a plan from one angle only: {angle}. You only read; you change \
             nothing. {question}\n\nGoal:\n{goal}\n\nDraft:\n{draft}\n\n\
             Give the result as one JSON object: `findings`, a list of precise objections, each naming \
             its step and what should be instead; empty when there is none."
        );
        let schema = json!({
            "type": "object",
            "required": ["findings"],
            "properties": {"findings": {"type": "array", "items": {"type": "string"}}},
        });
        reading(
            &format!("critique-{angle}"),
            role,
            &format!("Criticise: {angle}"),
            prompt,
            schema,
        )
    };
    ANGLES.iter().map(one).collect()
}

/// The task that decides; `faults` are what was wrong with its last form.
pub(crate) fn finalise(
    goal: &str,
    draft: &str,
    critiques: &[(String, Option<Vec<String>>)],
    faults: &[String],
    role: &str,
) -> Result<Task, String> {
    let mut prompt = format!(
        "Write the final plan for this goal from the draft and the objections to it. You only read; you \
         change nothing. Follow an objection or leave it; do not grow the plan beyond the goal.\n\n\
         Goal:\n{goal}\n\nDraft:\n{draft}\n"
    );
    for (angle, findings) in critiques {
        let _ = write!(prompt, "\nObjections, {angle}:\n");
        match findings.as_deref() {
            None => prompt.push_str("(none was given; look at this angle yourself)\n"),
            Some([]) => prompt.push_str("(none)\n"),
            Some(findings) => {
                for finding in findings {
                    let _ = writeln!(prompt, "- {finding}");
                }
            }
        }
    }
    if !faults.is_empty() {
        prompt.push_str("\nYour last answer could not be worked on; mend exactly this:\n");
        for fault in faults {
            let _ = writeln!(prompt, "- {fault}");
        }
    }
    let _ = write!(prompt, "\n{FORM}");
    let id = if faults.is_empty() {
        "final"
    } else {
        "final-2"
    };
    reading(id, role, "Write the final plan", prompt, plan_schema())
}

/// The objections of an answer; none when it is no answer.
pub(crate) fn findings(result: &Value) -> Option<Vec<String>> {
    let list = result["findings"].as_array()?;
    list.iter().map(|f| f.as_str().map(one_line)).collect()
}

/// The plan as a file. None: the answer holds no plan.
pub(crate) fn markdown(
    goal: &str,
    plan: &Value,
    critiques: &[(String, Option<Vec<String>>)],
) -> Option<String> {
    let steps = plan["steps"].as_array().filter(|s| !s.is_empty())?;
    let title = plan["title"]
        .as_str()
        .map(one_line)
        .filter(|t| !t.is_empty());
    let mut text = format!(
        "---\nstatus: open\n---\n\n# {}\n\nGoal: {}\n",
        title.unwrap_or_else(|| one_line(goal)),
        one_line(goal)
    );
    if let Some(why) = plan["why"].as_str().filter(|w| !w.trim().is_empty()) {
        let _ = write!(text, "\n{}\n", one_line(why));
    }
    text.push_str("\n## Steps\n");
    for step in steps {
        let _ = write!(text, "\n- [ ] {}\n", one_line(step["title"].as_str()?));
        for line in step["details"].as_str().unwrap_or_default().lines() {
            if !line.trim().is_empty() {
                // What could be taken for a box, a heading or a fence becomes plain words.
                let words = line
                    .trim()
                    .trim_start_matches(['#', '-', '*', '+', '`', '~', ' ']);
                let _ = writeln!(text, "  {}", words.trim_start_matches("[ ] "));
            }
        }
        let list = |key: &str| -> Vec<String> {
            let items = step[key].as_array().into_iter().flatten();
            items
                .filter_map(Value::as_str)
                .map(|s| one_line(&s.replace('`', "")))
                .filter(|s| !s.is_empty())
                .collect()
        };
        let files: Vec<String> = list("files").iter().map(|f| format!("`{f}`")).collect();
        if !files.is_empty() {
            let _ = writeln!(text, "  - files: {}", files.join(", "));
        }
        for command in list("verify") {
            let _ = writeln!(text, "  - verify: `{command}`");
        }
        let needs: Vec<String> = step["depends"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_u64)
            .map(|n| n.to_string())
            .collect();
        if !needs.is_empty() {
            let _ = writeln!(text, "  - depends: {}", needs.join(", "));
        }
    }
    text.push_str("\n## What was objected to the draft\n");
    for (angle, findings) in critiques {
        let words = match findings.as_deref() {
            None => "no answer was given; look at this angle yourself".to_owned(),
            Some([]) => "nothing".to_owned(),
            Some(findings) => findings.join(" / "),
        };
        let _ = write!(text, "\n{angle}: {words}\n");
    }
    Some(text)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A file name for a goal.
pub(crate) fn file_name(goal: &str) -> String {
    let mut name = String::new();
    for c in goal.chars() {
        if c.is_ascii_alphanumeric() {
            name.push(c.to_ascii_lowercase());
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
        if name.len() >= 48 {
            break;
        }
    }
    let name = name.trim_end_matches('-');
    if name.is_empty() {
        "plan".into()
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{critiques, draft, file_name, finalise, findings, markdown};
    use crate::core::plan_file;

    #[test]
    fn what_is_written_down_can_be_worked_on() {
        let plan = json!({"title": "Limits\n# odd", "why": "because", "steps": [
            {"title": "Add it", "details": "- [ ] not a step\n```\nfoo\n# no heading", "files": ["src/a.rs"], "verify": ["make `x`"]},
            {"title": "Use it", "details": "", "files": ["src/b.rs"], "verify": [], "depends": [1]},
        ]});
        let words = [
            ("security".to_owned(), None),
            ("simplicity".to_owned(), Some(vec!["less".into()])),
        ];
        let text = markdown("Add limits", &plan, &words).unwrap();
        let read = plan_file::read(&text, "x").unwrap();
        assert_eq!(read.title, "Limits # odd");
        assert_eq!(read.steps.len(), 2, "{text}");
        assert_eq!(read.steps[0].fields.files, ["src/a.rs"]);
        assert_eq!(read.steps[0].fields.verify, ["make x"]);
        assert_eq!(read.steps[1].fields.depends.as_deref().unwrap(), ["1"]);
        assert!(text.contains("security: no answer was given"), "{text}");
        assert_eq!(markdown("x", &json!({"steps": []}), &[]), None);
        assert_eq!(markdown("x", &json!(null), &[]), None);
    }

    #[test]
    fn the_four_angles_see_the_draft_and_the_end_sees_their_words() {
        assert!(draft("G", "planner").unwrap().prompt.contains('G'));
        let tasks = critiques("G", "DRAFT", "reviewer").unwrap();
        assert_eq!(tasks.len(), 4);
        assert!(
            tasks
                .iter()
                .all(|t| t.prompt.contains("DRAFT") && t.write_scope() == Some(&[]))
        );
        let said = [("security".to_owned(), Some(vec!["hole".to_owned()]))];
        let last = finalise("G", "DRAFT", &said, &["no files".into()], "planner").unwrap();
        assert!(last.prompt.contains("- hole") && last.prompt.contains("- no files"));
        assert_eq!(
            findings(&json!({"findings": ["a"]})),
            Some(vec!["a".into()])
        );
        assert_eq!(
            findings(&json!({"findings": "a"})),
            None,
            "not read is not `nothing`"
        );
    }

    #[test]
    fn names_of_files_are_plain() {
        assert_eq!(
            file_name("Add rate-limiting with Redis!"),
            "add-rate-limiting-with-redis"
        );
        assert_eq!(file_name("🚀"), "plan");
    }
}
