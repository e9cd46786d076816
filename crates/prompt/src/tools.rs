//! The tools a role gets, as data: the same table makes the request and checks the model's calls.

use serde_json::{Map, Value, json};

use crate::role::{Mode, Role};

/// A tool of the worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tool {
    /// Show a file, numbered.
    Read,
    /// Find files by glob.
    List,
    /// Find text by regular expression.
    Search,
    /// Replace text in a file.
    Edit,
    /// Create or overwrite a file.
    Write,
    /// Run a shell command.
    Bash,
    /// Hand over.
    Done,
}

/// The JSON type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamType {
    /// Text.
    String,
    /// A whole number.
    Integer,
    /// True or false.
    Boolean,
    /// A list of `{old_string, new_string}`.
    EditList,
    /// Any JSON value.
    Any,
}

/// A parameter of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Param {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub kind: ParamType,
    /// Whether a call without it is refused.
    pub required: bool,
    /// What the model is told; may be empty.
    pub note: &'static str,
    /// The allowed values; empty = any.
    pub choices: &'static [&'static str],
    /// Other names models use for it.
    pub aliases: &'static [&'static str],
}

const fn param(
    name: &'static str,
    kind: ParamType,
    required: bool,
    note: &'static str,
    aliases: &'static [&'static str],
) -> Param {
    Param {
        name,
        kind,
        required,
        note,
        choices: &[],
        aliases,
    }
}

const PATH_ALIASES: &[&str] = &[
    "filePath",
    "file_path",
    "filepath",
    "absolute_path",
    "target_file",
    "file",
    "filename",
    "file_name",
    "relative_path",
];

const PATH: Param = param("path", ParamType::String, true, "", PATH_ALIASES);

const READ: &[Param] = &[
    PATH,
    param(
        "offset",
        ParamType::Integer,
        false,
        "first line, 1-based",
        &["start_line", "start", "line", "from", "line_start"],
    ),
    param(
        "limit",
        ParamType::Integer,
        false,
        "",
        &["lines", "count", "num_lines", "max_lines"],
    ),
];

const LIST: &[Param] = &[
    param(
        "pattern",
        ParamType::String,
        false,
        "e.g. src/**/*.py",
        &["glob", "include", "query"],
    ),
    param(
        "path",
        ParamType::String,
        false,
        "",
        &[
            "dir",
            "directory",
            "folder",
            "root",
            "dir_path",
            "file_path",
            "filePath",
        ],
    ),
];

const SEARCH: &[Param] = &[
    param(
        "pattern",
        ParamType::String,
        true,
        "",
        &[
            "regex",
            "query",
            "search",
            "text",
            "search_term",
            "regexp",
            "search_pattern",
        ],
    ),
    param(
        "path",
        ParamType::String,
        false,
        "",
        &[
            "dir",
            "directory",
            "folder",
            "file",
            "file_path",
            "filePath",
        ],
    ),
    param(
        "glob",
        ParamType::String,
        false,
        "only these files",
        &["include", "file_pattern", "files"],
    ),
];

const EDIT: &[Param] = &[
    PATH,
    param(
        "old_string",
        ParamType::String,
        true,
        "",
        &[
            "oldString",
            "old_str",
            "oldText",
            "old_text",
            "old",
            "search",
            "find",
            "original",
        ],
    ),
    param(
        "new_string",
        ParamType::String,
        true,
        "",
        &[
            "newString",
            "new_str",
            "newText",
            "new_text",
            "new",
            "replace",
            "replacement",
            "updated",
        ],
    ),
    param(
        "replace_all",
        ParamType::Boolean,
        false,
        "",
        &["replaceAll", "all", "global"],
    ),
    param(
        "line",
        ParamType::Integer,
        false,
        "where old_string starts, if it occurs more than once",
        &["line_number", "start_line", "at_line"],
    ),
    param(
        "edits",
        ParamType::EditList,
        false,
        "more {old_string, new_string} for the same file",
        &["changes", "replacements"],
    ),
];

const WRITE: &[Param] = &[
    PATH,
    param(
        "content",
        ParamType::String,
        true,
        "",
        &[
            "contents",
            "text",
            "file_text",
            "data",
            "file_content",
            "fileContent",
            "body",
            "code",
        ],
    ),
];

const BASH: &[Param] = &[
    param(
        "command",
        ParamType::String,
        true,
        "",
        &["cmd", "script", "code", "shell_command", "input"],
    ),
    param(
        "timeout",
        ParamType::Integer,
        false,
        "seconds, default 120",
        &["timeout_s", "timeout_seconds", "time_limit"],
    ),
];

const DONE_STATUS: Param = Param {
    name: "status",
    kind: ParamType::String,
    required: true,
    note: "",
    choices: &["done", "blocked"],
    aliases: &["state"],
};

const DONE: &[Param] = &[
    DONE_STATUS,
    param(
        "summary",
        ParamType::String,
        true,
        "what changed, how checked, what is left",
        &["message", "text", "answer", "report", "outcome"],
    ),
];

const DONE_READER: &[Param] = &[
    DONE_STATUS,
    param(
        "summary",
        ParamType::String,
        true,
        "the answer, with path:line",
        &["message", "text", "answer", "report", "outcome"],
    ),
    param(
        "result",
        ParamType::Any,
        false,
        "only if the task gives a JSON Schema",
        &["output", "json", "plan", "findings"],
    ),
];

impl Tool {
    /// Its name in requests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::List => "list",
            Self::Search => "search",
            Self::Edit => "edit",
            Self::Write => "write",
            Self::Bash => "bash",
            Self::Done => "done",
        }
    }

    const fn description(self, role: Role) -> &'static str {
        match self {
            Self::Read => {
                "Read a text file, with line numbers. Shows up to 300 lines; use offset to continue."
            }
            Self::List => "List files matching a glob. Respects .gitignore.",
            Self::Search => "Search file contents with a regex. Returns path:line:text.",
            Self::Edit => {
                "Replace text in a file. old_string must be copied exactly from the file (without line numbers) and occur once."
            }
            Self::Write => "Create or overwrite a file.",
            Self::Bash if role.writes() => {
                "Run a bash command in the repository. No stdin. Background processes are killed when it returns."
            }
            Self::Bash => "Run a bash command in the repository, read-only. No stdin.",
            Self::Done if role.writes() => "Finish the task and hand over.",
            Self::Done => "Hand over the answer.",
        }
    }

    /// Its parameters, in the order they are shown.
    pub const fn params(self, role: Role) -> &'static [Param] {
        match self {
            Self::Read => READ,
            Self::List => LIST,
            Self::Search => SEARCH,
            Self::Edit => EDIT,
            Self::Write => WRITE,
            Self::Bash => BASH,
            Self::Done if role.writes() => DONE,
            Self::Done => DONE_READER,
        }
    }

    /// The tools a role gets, in the order they are sent.
    pub const fn offered(role: Role, mode: Mode) -> &'static [Self] {
        match (mode, role) {
            (Mode::WholeFile | Mode::Blocks, _) => &[],
            (Mode::Tools, Role::Implementer) => &[
                Self::Read,
                Self::List,
                Self::Search,
                Self::Edit,
                Self::Write,
                Self::Bash,
                Self::Done,
            ],
            (Mode::Tools, _) => &[Self::Read, Self::List, Self::Search, Self::Bash, Self::Done],
        }
    }

    /// Its signature on one line, for an error to the model: `read(path, offset?, limit?)`.
    pub fn signature(self, role: Role) -> String {
        let params: Vec<String> = self
            .params(role)
            .iter()
            .map(|p| format!("{}{}", p.name, if p.required { "" } else { "?" }))
            .collect();
        format!("{}({})", self.name(), params.join(", "))
    }

    fn json(self, role: Role) -> Value {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for param in self.params(role) {
            properties.insert(param.name.into(), param.json());
            if param.required {
                required.push(param.name);
            }
        }
        json!({"type": "function", "function": {
            "name": self.name(),
            "description": self.description(role),
            "parameters": {"type": "object", "properties": properties, "required": required},
        }})
    }
}

impl Param {
    fn json(&self) -> Value {
        let mut schema = match self.kind {
            ParamType::String => json!({"type": "string"}),
            ParamType::Integer => json!({"type": "integer"}),
            ParamType::Boolean => json!({"type": "boolean"}),
            ParamType::EditList => json!({"type": "array", "items": {"type": "object"}}),
            ParamType::Any => json!({}),
        };
        if let Value::Object(map) = &mut schema {
            if !self.choices.is_empty() {
                map.insert("enum".into(), json!(self.choices));
            }
            if !self.note.is_empty() {
                map.insert("description".into(), json!(self.note));
            }
        }
        schema
    }
}

/// The `tools` of a request; empty for models that cannot call tools.
pub fn tool_list(role: Role, mode: Mode) -> Vec<Value> {
    Tool::offered(role, mode)
        .iter()
        .map(|tool| tool.json(role))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Mode, Role, Tool, tool_list};

    #[test]
    fn read_only_roles_get_no_writing_tool() {
        for role in [Role::Explore, Role::Planner, Role::Reviewer] {
            let offered = Tool::offered(role, Mode::Tools);
            assert!(!offered.contains(&Tool::Edit) && !offered.contains(&Tool::Write));
            assert!(offered.contains(&Tool::Done));
        }
    }

    #[test]
    fn the_list_is_the_same_bytes_every_time() {
        let once = serde_json::to_string(&tool_list(Role::Implementer, Mode::Tools)).unwrap();
        let twice = serde_json::to_string(&tool_list(Role::Implementer, Mode::Tools)).unwrap();
        assert_eq!(once, twice);
        assert!(once.len() < 3000, "{} bytes", once.len());
    }

    #[test]
    fn a_signature_names_what_may_be_left_out() {
        assert_eq!(
            Tool::Read.signature(Role::Implementer),
            "read(path, offset?, limit?)"
        );
    }

    #[test]
    fn no_alias_is_another_parameter_of_the_same_tool() {
        for tool in Tool::offered(Role::Implementer, Mode::Tools) {
            let params = tool.params(Role::Implementer);
            let mut seen: Vec<&str> = params.iter().map(|p| p.name).collect();
            for alias in params.iter().flat_map(|p| p.aliases) {
                assert!(!seen.contains(alias), "{} {alias}", tool.name());
                seen.push(alias);
            }
        }
    }
}
