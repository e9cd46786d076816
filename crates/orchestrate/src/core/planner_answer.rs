//! Reading a planner's answer: liberal in form, strict in what comes out of it.
//!
//! Small models write plans with half the keys of `plan/1`, checks as plain strings, or file lists in
//! place of scopes. Everything that has one clear meaning is taken; what has none is a fault that the
//! second planner is told.

use baton_protocol::{Gate, Plan, SchemaTag, Scope, Task, TaskId, VerifyCommand};
use serde_json::Value;

/// What the planner wants.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PlannerSays {
    /// This plan.
    Plan(Box<Plan>),
    /// It needs facts first.
    Facts(Vec<String>),
}

/// Reads the answer. The goal is the user's, whatever the planner made of it.
pub(crate) fn read(answer: &Value, goal: &str) -> Result<PlannerSays, Vec<String>> {
    let Some(map) = answer.as_object() else {
        return Err(vec![
            "the answer is not a JSON object with `direct`, `gate` and `tasks`".into(),
        ]);
    };
    // Some models wrap the plan once more.
    if let (1, Some(inner @ Value::Object(_))) = (map.len(), map.get("plan")) {
        return read(inner, goal);
    }
    let mut faults = Vec::new();
    let questions = strings(map.get("questions"));
    let empty = Vec::new();
    let listed = map.get("tasks").and_then(Value::as_array).unwrap_or(&empty);
    // A small model may say `direct` and list tasks all the same; the tasks say what it means.
    let direct = listed.is_empty() && map.get("direct").and_then(Value::as_bool) == Some(true);
    if !questions.is_empty() && listed.is_empty() && !direct {
        return Ok(PlannerSays::Facts(questions));
    }
    if map.get("tasks").is_none() && !direct {
        faults.push("there is no `tasks`, and `direct` is not true".into());
    }
    let mut depends = pairs(map.get("depends"), &mut faults);
    let mut tasks = Vec::new();
    for (index, value) in listed.iter().enumerate() {
        match task(value, index) {
            Ok((task, needs)) => {
                depends.extend(needs.into_iter().map(|need| (need, task.id.clone())));
                tasks.push(task);
            }
            Err(fault) => faults.push(format!("task {}: {fault}", index + 1)),
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    depends.dedup();
    Ok(PlannerSays::Plan(Box::new(Plan {
        schema: SchemaTag::new(),
        goal: goal.to_owned(),
        gate: gate(map.get("gate")),
        direct,
        tasks,
        depends,
        notes: map
            .get("notes")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
    })))
}

/// Finds the answer in a text: the whole of it, its last fenced block, or its outermost braces.
pub(crate) fn find_object(text: &str) -> Option<Value> {
    let trimmed = text.trim();
    let fenced = trimmed.rsplit("```").nth(1).map(|block| {
        let (first, rest) = block.split_once('\n').unwrap_or(("", block));
        if first.trim_start().starts_with('{') {
            block
        } else {
            rest
        }
    });
    let braced = trimmed
        .find('{')
        .zip(trimmed.rfind('}'))
        .filter(|(start, end)| start < end)
        .map(|(start, end)| &trimmed[start..=end]);
    [Some(trimmed), fenced, braced]
        .into_iter()
        .flatten()
        .filter_map(|candidate| serde_json::from_str::<Value>(candidate.trim()).ok())
        .find(Value::is_object)
}

/// Each fact on its own: one that is misspelt or of the wrong type is unknown, the others count.
fn gate(value: Option<&Value>) -> Gate {
    let Some(map) = value.and_then(Value::as_object) else {
        return Gate::default();
    };
    let mut known = serde_json::Map::new();
    for (key, value) in map {
        let mut one = serde_json::Map::new();
        one.insert(key.clone(), value.clone());
        if serde_json::from_value::<Gate>(Value::Object(one)).is_ok() {
            known.insert(key.clone(), value.clone());
        }
    }
    serde_json::from_value(Value::Object(known)).unwrap_or_default()
}

fn task(value: &Value, index: usize) -> Result<(Task, Vec<TaskId>), String> {
    let map = value.as_object().ok_or("it is not a JSON object")?;
    let text = |keys: &[&str]| {
        keys.iter()
            .filter_map(|key| map.get(*key).and_then(Value::as_str))
            .map(str::trim)
            .find(|text| !says_nothing(text))
            .map(str::to_owned)
    };
    let title = text(&["title", "name", "summary"]).unwrap_or_default();
    let id = text(&["id"]).unwrap_or_else(|| title.clone());
    let id = task_id(&id, index);
    let prompt = text(&["prompt", "instructions", "description", "task"])
        .ok_or("it has no `prompt`; write all the worker must know into it")?;
    let mut task = Task::new(id, prompt);
    task.title = title;
    if let Some(role) = text(&["role"]) {
        task.role = role;
    }
    let scope = map.get("scope").unwrap_or(&Value::Null);
    let write = [
        scope.get("write"),
        map.get("write"),
        map.get("files"),
        scope.as_array().map(|_| scope),
    ]
    .into_iter()
    .flatten()
    .next()
    .map(|v| strings(Some(v)));
    let read = scope.get("read").or_else(|| map.get("read"));
    task.scope = write.map(|write| Scope {
        write: Some(write.iter().map(|g| normal_glob(g)).collect()),
        read: read
            .filter(|v| !v.is_null())
            .map(|v| strings(Some(v)).iter().map(|g| normal_glob(g)).collect()),
    });
    task.must = strings(map.get("must"));
    task.must_not = strings(map.get("must_not"));
    task.done_when = strings(map.get("done_when"));
    task.verify = verify(map.get("verify").or_else(|| map.get("verification")));
    task.narrower = text(&["narrower"]);
    let needs = strings(map.get("depends_on").or_else(|| map.get("depends")))
        .iter()
        .map(|name| task_id(name, usize::MAX))
        .collect();
    Ok((task, needs))
}

/// Small models fill every field of a form: a word for "nothing" is not text for a worker.
fn says_nothing(text: &str) -> bool {
    let word = text.trim_matches(|c: char| !c.is_alphanumeric() && c != '/');
    word.is_empty() || ["none", "null", "nil", "n/a", "na"].contains(&word.to_lowercase().as_str())
}

fn normal_glob(glob: &str) -> String {
    glob.trim().trim_start_matches("./").to_owned()
}

fn verify(value: Option<&Value>) -> Vec<VerifyCommand> {
    let one = |v: &Value| {
        let command = v
            .as_str()
            .or_else(|| v.get("command").and_then(Value::as_str))?;
        let command = command.trim().trim_matches('`').trim();
        (!command.is_empty()).then(|| VerifyCommand {
            command: command.to_owned(),
            timeout_ms: v.get("timeout_ms").and_then(Value::as_u64),
        })
    };
    match value {
        Some(Value::Array(list)) => list.iter().filter_map(one).collect(),
        Some(other) => one(other).into_iter().collect(),
        None => Vec::new(),
    }
}

fn strings(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::Array(list)) => list
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        Some(Value::String(one)) if !one.trim().is_empty() => vec![one.clone()],
        _ => Vec::new(),
    }
}

fn pairs(value: Option<&Value>, faults: &mut Vec<String>) -> Vec<(TaskId, TaskId)> {
    let empty = Vec::new();
    let list = value.and_then(Value::as_array).unwrap_or(&empty);
    list.iter()
        .filter_map(|pair| {
            let names = strings(Some(pair));
            if let [a, b] = names.as_slice() {
                Some((task_id(a, usize::MAX), task_id(b, usize::MAX)))
            } else {
                faults.push(format!(
                    "depends: {pair} is not a pair [before, after] of task ids"
                ));
                None
            }
        })
        .collect()
}

/// A name that is safe as a folder and a branch.
fn task_id(name: &str, index: usize) -> TaskId {
    let mut slug = String::new();
    for c in name.chars() {
        if c.is_ascii_alphanumeric() || matches!(c, '_' | '.') {
            slug.push(c);
        } else if !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug: String = slug.replace("..", "-").chars().take(48).collect();
    let slug = slug.trim_matches(['-', '.', '_']).to_owned();
    let fallback = format!("task-{}", index.wrapping_add(1));
    TaskId::new(slug)
        .or_else(|_| TaskId::new(fallback))
        .unwrap_or_else(|_| unreachable!("`task-N` is a task id"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::{PlannerSays, find_object, read};

    fn plan(value: &Value) -> baton_protocol::Plan {
        match read(value, "g").unwrap() {
            PlannerSays::Plan(plan) => *plan,
            PlannerSays::Facts(questions) => panic!("{questions:?}"),
        }
    }

    #[test]
    fn a_short_form_is_understood() {
        let plan = plan(&json!({
            "tasks": [
                {"id": "Fix paging!", "prompt": "Fix it.", "files": ["./src/page.rs"], "verify": ["`cargo test`"]},
                {"title": "Docs", "prompt": "Write it.", "scope": {"write": "docs/x.md"}, "depends_on": ["Fix paging!"]}
            ]
        }));
        assert_eq!(plan.goal, "g");
        assert_eq!(plan.tasks[0].id.as_str(), "Fix-paging");
        assert_eq!(plan.tasks[0].write_scope().unwrap(), ["src/page.rs"]);
        assert_eq!(plan.tasks[0].verify[0].command, "cargo test");
        assert_eq!(plan.tasks[1].write_scope().unwrap(), ["docs/x.md"]);
        assert_eq!(plan.depends.len(), 1);
    }

    #[test]
    fn a_whole_plan_document_is_understood() {
        let text = include_str!("../../../protocol/examples/plan-1.json");
        let value: Value = serde_json::from_str(text).unwrap();
        let plan = plan(&value);
        assert_eq!(plan.tasks.len(), 2);
        assert_eq!(plan.gate.files_modules, Some(2));
        assert_eq!(plan.tasks[0].verify[0].timeout_ms, Some(120_000));
    }

    #[test]
    fn a_wrong_fact_is_unknown_and_the_others_count() {
        let plan = plan(&json!({
            "direct": true,
            "gate": {"files_modules": "many", "independent_review": true, "mood": 3}
        }));
        assert_eq!(plan.gate.files_modules, None);
        assert_eq!(plan.gate.independent_review, Some(true));
    }

    #[test]
    fn a_word_for_nothing_is_no_narrower_form() {
        for nothing in ["None", "null", "N/A", "-", "(none)", " none. "] {
            let plan = plan(&json!({"tasks": [{"prompt": "Fix it.", "narrower": nothing}]}));
            assert_eq!(plan.tasks[0].narrower, None, "{nothing:?}");
        }
        let plan =
            plan(&json!({"tasks": [{"prompt": "Fix it.", "narrower": "None of it twice."}]}));
        assert!(plan.tasks[0].narrower.is_some());
    }

    #[test]
    fn questions_ask_for_facts() {
        let says = read(
            &json!({"tasks": [], "questions": ["Where is paging?"]}),
            "g",
        )
        .unwrap();
        assert_eq!(says, PlannerSays::Facts(vec!["Where is paging?".into()]));
    }

    #[test]
    fn o26_a_control_token_or_nothing_is_a_fault_and_no_empty_plan() {
        assert!(read(&Value::Null, "g").is_err());
        assert!(read(&json!("<|im_end|>"), "g").is_err());
        assert!(read(&json!({}), "g").is_err());
        assert!(read(&json!({"tasks": [{"id": "a"}]}), "g").is_err());
        assert_eq!(find_object("<|im_end|>"), None);
        assert_eq!(find_object("{\"tasks\": ["), None);
    }

    #[test]
    fn the_object_is_found_in_prose_and_fences() {
        let want = json!({"a": 1});
        for text in [
            "{\"a\":1}",
            "Here it is:\n```json\n{\"a\": 1}\n```\nDone.",
            "The plan {\"a\":1} is good",
        ] {
            assert_eq!(find_object(text), Some(want.clone()), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_reader(text in ".{0,200}") {
            if let Some(value) = find_object(&text) {
                let _ = read(&value, "g");
            }
        }

        #[test]
        fn any_id_becomes_a_safe_one(id in ".{0,60}") {
            let plan = plan(&json!({"tasks": [{"id": id, "prompt": "x"}]}));
            prop_assert!(baton_protocol::TaskId::new(plan.tasks[0].id.as_str()).is_ok());
        }
    }
}
