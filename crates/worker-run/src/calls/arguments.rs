//! From the JSON of a call to the arguments of a tool: other names, other types.

use baton_prompt::{Param, ParamType, Role, Tool};
use serde_json::{Map, Value};

/// The arguments of a call, under the names of the tool's own parameters.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Arguments {
    values: Map<String, Value>,
    /// What was repaired, for the hand-off's counters.
    pub(crate) repairs: Vec<&'static str>,
}

impl Arguments {
    /// A text.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.values.get(name)?.as_str()
    }

    /// A whole number.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.values.get(name)?.as_u64()
    }

    /// Any value.
    pub(crate) fn value(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// The same arguments as JSON, for the history and the loop guard.
    pub(crate) fn json(&self) -> Value {
        Value::Object(self.values.clone())
    }
}

/// Fits an object onto the tool's parameters. The error is one line for the model.
pub(crate) fn bind(object: Value, tool: Tool, role: Role) -> Result<Arguments, String> {
    let params = tool.params(role);
    let mut repairs = Vec::new();
    let mut given = unwrap_envelope(object, params, &mut repairs);
    let mut values = Map::new();
    for param in params {
        let Some(value) = take(&mut given, param, &mut repairs) else {
            continue;
        };
        if value.is_null() && !param.required {
            continue;
        }
        let value = coerce(value, param, &mut repairs)
            .map_err(|wrong| format!("{}: {wrong}. Use {}.", param.name, tool.signature(role)))?;
        values.insert(param.name.into(), value);
    }
    if !given.is_empty() {
        repairs.push("extra_argument_ignored");
    }
    // Several edits alone are complete without a first pair.
    let has_edits = values
        .get("edits")
        .is_some_and(|e| e.as_array().is_some_and(|l| !l.is_empty()));
    let missing: Vec<&str> = params
        .iter()
        .filter(|p| p.required && !values.contains_key(p.name))
        .filter(|p| !(has_edits && matches!(p.name, "old_string" | "new_string")))
        .map(|p| p.name)
        .collect();
    if missing.is_empty() {
        return Ok(Arguments { values, repairs });
    }
    let got: Vec<&String> = given.keys().collect();
    let unknown = match got.as_slice() {
        [] => String::new(),
        names => format!(" (got {names:?})"),
    };
    Err(format!(
        "{} is missing{unknown}. Use {}.",
        missing.join(" and "),
        tool.signature(role)
    ))
}

/// `{"arguments": {…}}` and `{"name": …, "parameters": {…}}` where the arguments alone belong.
fn unwrap_envelope(
    object: Value,
    params: &[Param],
    repairs: &mut Vec<&'static str>,
) -> Map<String, Value> {
    let Value::Object(mut map) = object else {
        return Map::new();
    };
    let is_param = |key: &str| {
        params
            .iter()
            .any(|p| p.name == key || p.aliases.contains(&key))
    };
    for envelope in ["arguments", "parameters", "args", "kwargs"] {
        let alone = map
            .keys()
            .all(|k| k == envelope || matches!(k.as_str(), "name" | "tool" | "type"));
        if alone && !is_param(envelope) && map.get(envelope).is_some_and(Value::is_object) {
            repairs.push("nested_arguments");
            if let Some(Value::Object(inner)) = map.remove(envelope) {
                return inner;
            }
        }
    }
    map
}

fn take(
    given: &mut Map<String, Value>,
    param: &Param,
    repairs: &mut Vec<&'static str>,
) -> Option<Value> {
    if let Some(value) = given.remove(param.name) {
        return Some(value);
    }
    let alias = param
        .aliases
        .iter()
        .find(|alias| given.contains_key(**alias))?;
    repairs.push("argument_renamed");
    given.remove(*alias)
}

fn coerce(value: Value, param: &Param, repairs: &mut Vec<&'static str>) -> Result<Value, String> {
    let before = value.clone();
    let after = match (param.kind, value) {
        (ParamType::String, value @ Value::String(_))
        | (ParamType::Boolean, value @ Value::Bool(_))
        | (ParamType::Any, value) => value,
        (ParamType::String, Value::Number(n)) => Value::String(n.to_string()),
        (ParamType::String, Value::Bool(b)) => Value::String(b.to_string()),
        (ParamType::String, Value::Array(items)) if param.name == "command" => {
            Value::String(shell_line(&items).ok_or("must be one command line")?)
        }
        (ParamType::Integer, value) => {
            Value::from(whole_number(&value).ok_or("must be a whole number of 0 or more")?)
        }
        (ParamType::Boolean, Value::String(text)) => {
            match text.trim().to_ascii_lowercase().as_str() {
                "true" | "yes" | "1" => Value::Bool(true),
                "false" | "no" | "0" | "" => Value::Bool(false),
                _ => return Err("must be true or false".into()),
            }
        }
        (ParamType::EditList, value) => edit_list(value)?,
        (ParamType::String, _) => return Err("must be a text".into()),
        (ParamType::Boolean, _) => return Err("must be true or false".into()),
    };
    if after != before {
        repairs.push("argument_retyped");
    }
    if let (false, Some(text)) = (param.choices.is_empty(), after.as_str()) {
        let choice = param
            .choices
            .iter()
            .find(|c| c.eq_ignore_ascii_case(text.trim()));
        return match choice {
            Some(choice) => Ok(Value::from(*choice)),
            None if param.name == "status" => Ok(Value::from(status_word(text))),
            None => Err(format!("must be one of {:?}", param.choices)),
        };
    }
    Ok(after)
}

/// Models say `completed`, `success`, `failed` where `done` and `blocked` are offered.
fn status_word(text: &str) -> &'static str {
    let text = text.to_ascii_lowercase();
    let bad = [
        "block",
        "fail",
        "error",
        "stuck",
        "cannot",
        "incomplete",
        "partial",
    ];
    if bad.iter().any(|word| text.contains(word)) {
        "blocked"
    } else {
        "done"
    }
}

fn whole_number(value: &Value) -> Option<u64> {
    match value {
        Value::Number(n) => n.as_u64().or_else(|| {
            // 5.0 is 5; nothing else with a fraction is meant.
            n.to_string()
                .strip_suffix(".0")
                .and_then(|t| t.parse().ok())
        }),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// `["bash", "-lc", "make"]` is the line `make`; other lists are quoted word by word.
fn shell_line(items: &[Value]) -> Option<String> {
    let words: Vec<&str> = items.iter().map(Value::as_str).collect::<Option<_>>()?;
    match words.as_slice() {
        [] => None,
        ["bash" | "sh" | "/bin/bash" | "/bin/sh", "-c" | "-lc", line] | [line] => {
            Some((*line).to_string())
        }
        words => Some(
            words
                .iter()
                .map(|w| quoted(w))
                .collect::<Vec<_>>()
                .join(" "),
        ),
    }
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A list of pairs, also when it comes as a text or as a single pair.
fn edit_list(value: Value) -> Result<Value, String> {
    const WRONG: &str = "must be a list of {old_string, new_string}";
    let value = match value {
        Value::String(text) => serde_json::from_str(&text).map_err(|_| WRONG)?,
        other => other,
    };
    let items = match value {
        Value::Array(items) => items,
        single @ Value::Object(_) => vec![single],
        _ => return Err(WRONG.into()),
    };
    let params = Tool::Edit.params(Role::Implementer);
    let mut list = Vec::new();
    for item in items {
        let Value::Object(mut map) = item else {
            return Err(WRONG.into());
        };
        let mut pair = Map::new();
        for param in params
            .iter()
            .filter(|p| !matches!(p.name, "path" | "edits"))
        {
            if let Some(value) = take(&mut map, param, &mut Vec::new()) {
                pair.insert(param.name.into(), coerce(value, param, &mut Vec::new())?);
            }
        }
        if !pair.contains_key("old_string") || !pair.contains_key("new_string") {
            return Err(WRONG.into());
        }
        list.push(Value::Object(pair));
    }
    Ok(Value::Array(list))
}

#[cfg(test)]
mod tests {
    use super::bind;
    use baton_prompt::{Role, Tool};
    use serde_json::{Value, json};

    fn bound(tool: Tool, object: Value) -> Value {
        bind(object, tool, Role::Implementer).unwrap().json()
    }

    #[test]
    fn other_names_are_accepted() {
        assert_eq!(
            bound(
                Tool::Read,
                json!({"target_file": "a.py", "explanation": "x"})
            ),
            json!({"path": "a.py"})
        );
        assert_eq!(
            bound(
                Tool::Edit,
                json!({"filePath": "a", "oldString": "x", "newString": "y"})
            ),
            json!({"path": "a", "old_string": "x", "new_string": "y"})
        );
    }

    #[test]
    fn t12_the_schema_decides_the_type() {
        assert_eq!(
            bound(
                Tool::Read,
                json!({"path": "a", "offset": "5", "limit": 3.0})
            ),
            json!({"path": "a", "offset": 5, "limit": 3})
        );
        assert_eq!(
            bound(
                Tool::Edit,
                json!({"path": "a", "edits": "[{\"old\":\"x\",\"new\":\"y\"}]"})
            ),
            json!({"path": "a", "edits": [{"old_string": "x", "new_string": "y"}]})
        );
        assert_eq!(
            bound(Tool::Bash, json!({"command": ["bash", "-lc", "make test"]})),
            json!({"command": "make test"})
        );
        let error = bind(
            json!({"path": "a", "offset": "top"}),
            Tool::Read,
            Role::Implementer,
        );
        assert!(error.unwrap_err().contains("whole number"));
    }

    #[test]
    fn a_missing_argument_is_named_with_the_signature() {
        let error = bind(json!({"content": "x"}), Tool::Write, Role::Implementer).unwrap_err();
        assert_eq!(error, "path is missing. Use write(path, content).");
        let error = bind(json!({"pth": "x"}), Tool::Read, Role::Implementer).unwrap_err();
        assert!(error.contains("pth"), "{error}");
    }

    #[test]
    fn an_envelope_in_place_of_the_arguments_is_opened() {
        assert_eq!(
            bound(
                Tool::Read,
                json!({"name": "read", "parameters": {"path": "a"}})
            ),
            json!({"path": "a"})
        );
    }

    #[test]
    fn a_file_given_as_an_object_is_refused() {
        let error = bind(
            json!({"path": "a.json", "content": {"a": 1}}),
            Tool::Write,
            Role::Implementer,
        );
        assert!(error.unwrap_err().contains("must be a text"));
    }

    #[test]
    fn a_status_in_other_words() {
        let status = |word: &str| {
            bound(Tool::Done, json!({"status": word, "summary": "s"}))["status"].clone()
        };
        assert_eq!(status("Completed"), "done");
        assert_eq!(status("DONE"), "done");
        assert_eq!(status("failed"), "blocked");
    }
}
