//! Calls of a script, fitted to the tools the client offers.
//!
//! A script that says `edit = "calc.py"` works with any agent: the tool and its parameters are
//! found by the names that agents give them.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::schema;
use crate::answer::Call;
use crate::chat::{Chat, Tool};

/// A call as a script writes it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Spec {
    tool: Option<String>,
    with: Map<String, Value>,
    raw: Option<String>,
    read: Option<String>,
    list: Option<String>,
    search: Option<String>,
    edit: Option<String>,
    write: Option<String>,
    bash: Option<String>,
    done: Option<String>,
    old: Option<String>,
    new: Option<String>,
    content: Option<String>,
}

/// What a call does, whatever its tool is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Read,
    List,
    Search,
    Edit,
    Write,
    Bash,
    Done,
}

impl Verb {
    /// Our own name for it, and the names agents give it.
    const fn names(self) -> &'static [&'static str] {
        match self {
            Self::Read => &["read", "read_file", "view", "Read", "cat", "open_file"],
            Self::List => &[
                "list",
                "ls",
                "list_files",
                "list_dir",
                "list_directory",
                "glob",
                "LS",
            ],
            Self::Search => &[
                "search",
                "grep",
                "search_files",
                "search_file_content",
                "Grep",
            ],
            Self::Edit => &[
                "edit",
                "replace",
                "edit_file",
                "str_replace",
                "Edit",
                "str_replace_editor",
            ],
            Self::Write => &["write", "write_file", "create", "create_file", "Write"],
            Self::Bash => &[
                "bash",
                "run_shell_command",
                "shell",
                "run_shell",
                "shell_command",
                "exec_command",
                "Bash",
            ],
            Self::Done => &[
                "done",
                "finish",
                "complete",
                "submit",
                "attempt_completion",
                "report",
            ],
        }
    }

    /// The names of its main parameter.
    const fn parameters(self) -> &'static [&'static str] {
        match self {
            Self::Bash => BASH,
            Self::Search => &["pattern", "query", "regex", "text"],
            Self::Done => &["outcome", "summary", "result", "message", "text"],
            _ => PATH,
        }
    }
}

const PATH: &[&str] = &[
    "path",
    "file_path",
    "filePath",
    "absolute_path",
    "file",
    "directory",
    "dir",
];
const BASH: &[&str] = &["command", "cmd", "script", "code"];
const OLD: &[&str] = &[
    "old",
    "old_string",
    "oldString",
    "old_text",
    "oldText",
    "old_str",
    "search",
];
const NEW: &[&str] = &[
    "new",
    "new_string",
    "newString",
    "new_text",
    "newText",
    "new_str",
    "replace",
];
const CONTENT: &[&str] = &["content", "file_text", "text", "contents"];

/// The offered tool that does it.
pub(crate) fn offered(chat: &Chat, verb: Verb) -> Option<&Tool> {
    verb.names()
        .iter()
        .find_map(|name| chat.tools.iter().find(|tool| tool.name == *name))
}

/// The call a script's line means for this request.
pub(crate) fn call(spec: &Spec, chat: &Chat) -> Call {
    let Some((verb, main)) = short_form(spec) else {
        let name = spec.tool.clone().unwrap_or_default();
        let arguments = spec
            .raw
            .clone()
            .unwrap_or_else(|| json!(spec.with).to_string());
        return Call { name, arguments };
    };
    let tool = offered(chat, verb);
    let name = tool.map_or(verb.names()[0], |tool| tool.name.as_str());
    let mut arguments = verb_arguments(verb, main, spec, tool);
    for (key, value) in &spec.with {
        arguments.insert(key.clone(), value.clone());
    }
    let arguments = spec
        .raw
        .clone()
        .unwrap_or_else(|| Value::Object(arguments).to_string());
    Call {
        name: name.to_owned(),
        arguments,
    }
}

/// A call of the built-in model: `main` is the path, command, pattern or outcome.
pub(crate) fn simple(chat: &Chat, verb: Verb, main: &str) -> Call {
    let spec = match verb {
        Verb::Read => Spec {
            read: Some(main.into()),
            ..Spec::default()
        },
        Verb::List => Spec {
            list: Some(main.into()),
            ..Spec::default()
        },
        Verb::Search => Spec {
            search: Some(main.into()),
            ..Spec::default()
        },
        Verb::Bash => Spec {
            bash: Some(main.into()),
            ..Spec::default()
        },
        Verb::Edit | Verb::Write | Verb::Done => Spec {
            done: Some(main.into()),
            ..Spec::default()
        },
    };
    call(&spec, chat)
}

fn short_form(spec: &Spec) -> Option<(Verb, &str)> {
    let forms = [
        (Verb::Read, &spec.read),
        (Verb::List, &spec.list),
        (Verb::Search, &spec.search),
        (Verb::Edit, &spec.edit),
        (Verb::Write, &spec.write),
        (Verb::Bash, &spec.bash),
        (Verb::Done, &spec.done),
    ];
    forms
        .into_iter()
        .find_map(|(verb, main)| Some((verb, main.as_deref()?)))
}

fn verb_arguments(verb: Verb, main: &str, spec: &Spec, tool: Option<&Tool>) -> Map<String, Value> {
    // `done` often carries a whole report; what the script does not say, the schema does.
    let mut arguments = match (verb, tool) {
        (Verb::Done, Some(tool)) => {
            let filled = schema::fill(&tool.parameters, &Map::new());
            filled.as_object().cloned().unwrap_or_default()
        }
        _ => Map::new(),
    };
    let mut put = |names: &[&str], text: &str| {
        arguments.insert(parameter(tool, names), json!(text));
    };
    put(verb.parameters(), main);
    let named = [(OLD, &spec.old), (NEW, &spec.new), (CONTENT, &spec.content)];
    for (names, text) in named {
        if let Some(text) = text {
            put(names, text);
        }
    }
    arguments
}

/// The first of these names that the tool has, else the first of them.
fn parameter(tool: Option<&Tool>, names: &[&str]) -> String {
    let properties = tool.and_then(Tool::properties);
    let known = |name: &&&str| properties.is_some_and(|map| map.contains_key(**name));
    names.iter().find(known).unwrap_or(&names[0]).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chat(tool: &str, parameters: &[&str]) -> Chat {
        let properties: Map<String, Value> = parameters
            .iter()
            .map(|p| ((*p).to_owned(), json!({"type": "string"})))
            .collect();
        Chat::from_body(&json!({"tools": [
            {"type": "function", "function": {"name": tool, "parameters": {"properties": properties}}}
        ]}))
    }

    #[test]
    fn a_short_form_fits_the_offered_tool() {
        let spec = Spec {
            edit: Some("a.py".into()),
            old: Some("x".into()),
            new: Some("y".into()),
            ..Spec::default()
        };
        let call = call(
            &spec,
            &chat("str_replace", &["filePath", "oldString", "newString"]),
        );
        assert_eq!(call.name, "str_replace");
        assert_eq!(
            call.arguments,
            r#"{"filePath":"a.py","oldString":"x","newString":"y"}"#
        );
    }

    #[test]
    fn raw_arguments_stay_as_they_are() {
        let spec = Spec {
            tool: Some("bash".into()),
            raw: Some("{\"cmd\": ".into()),
            ..Spec::default()
        };
        assert_eq!(call(&spec, &Chat::default()).arguments, "{\"cmd\": ");
    }
}
