//! Doing one call of the model.

use baton_model_server::{Finish, ToolCall};
use baton_prompt::Tool;
use serde_json::{Value, json};

use super::{End, Session, tokens};
use crate::calls::arguments::{Arguments, bind};
use crate::calls::json_repair::parse_object;
use crate::calls::names;
use crate::edit::apply::Edit;
use crate::files::beneath::FileError;
use crate::files::path::{resolve, similar};
use crate::harness::guard::Action;
use crate::harness::space::result_room;
use crate::text::shape::{Favour, shape};
use crate::tools::edits::{Made, edit, write};
use crate::tools::look;

/// What a call came to.
#[derive(Debug, Default)]
pub(crate) struct Done {
    /// The result, for the model.
    pub(crate) text: String,
    /// Whether a file changed.
    pub(crate) changed: bool,
    /// The error, if it failed.
    pub(crate) error: Option<String>,
    /// The model says it is finished: `(status, summary, result)`.
    pub(crate) finish: Option<Finished>,
    /// What the guard compares.
    pub(crate) identity: String,
    /// The arguments as they ran, for the history.
    pub(crate) arguments: Option<String>,
    /// The tool that ran.
    pub(crate) tool: Option<Tool>,
}

/// What the model said when it called `done`.
#[derive(Debug, Clone)]
pub(crate) struct Finished {
    pub(crate) blocked: bool,
    pub(crate) summary: String,
    pub(crate) result: Option<Value>,
}

impl Done {
    pub(crate) fn error(text: String) -> Self {
        Self {
            error: Some(text.clone()),
            text,
            ..Self::default()
        }
    }

    pub(crate) fn action(&self) -> Action {
        Action {
            identity: self.identity.clone(),
            changed: self.changed,
            error: self.error.clone(),
        }
    }
}

impl Session<'_> {
    /// Does a call. Only whole calls of offered tools with arguments that fit run at all.
    pub(crate) fn act(&mut self, call: &ToolCall, finish: &Finish) -> Result<Done, End> {
        let role = self.job.role;
        let offered = Tool::offered(role, self.talk.mode());
        let Some((tool, renamed)) = names::resolve(&call.name, offered) else {
            let list: Vec<&str> = offered.iter().map(|t| t.name()).collect();
            self.ledger.repaired("unknown_tool");
            let text = format!(
                "There is no tool `{}`. The tools are: {}.",
                call.name,
                list.join(", ")
            );
            let mut done = Done::error(text);
            done.identity = format!("unknown {}", call.name);
            return Ok(done);
        };
        if renamed {
            self.ledger.repaired("tool_renamed");
        }
        let parsed = if call.arguments.trim().is_empty() && call.complete {
            Ok((json!({}), false))
        } else {
            parse_object(&call.arguments)
        };
        let (object, repaired) = match parsed {
            Ok(parsed) => parsed,
            Err(error) => {
                self.ledger.repaired("arguments_refused");
                let mut done =
                    Done::error(format!("Not run: {error}. Use {}.", tool.signature(role)));
                done.identity = format!("{} {}", tool.name(), call.arguments);
                return Ok(done);
            }
        };
        if !call.complete || (repaired && *finish == Finish::Length) {
            self.ledger.repaired("cut_call_refused");
            let mut done =
                Done::error("Not run: the call was cut off. Do it in smaller pieces.".into());
            done.identity = format!("{} cut", tool.name());
            return Ok(done);
        }
        if repaired {
            self.ledger.repaired("arguments_repaired");
        }
        let arguments = match bind(object, tool, role) {
            Ok(arguments) => arguments,
            Err(error) => {
                self.ledger.repaired("arguments_refused");
                let mut done = Done::error(format!("Not run: {error}"));
                done.identity = format!("{} {}", tool.name(), call.arguments);
                return Ok(done);
            }
        };
        for kind in &arguments.repairs {
            self.ledger.repaired(kind);
        }
        self.ledger.usage.tool_calls += 1;
        let canonical = arguments.json().to_string();
        let mut done = self.perform(tool, &arguments)?;
        done.identity = format!("{} {canonical}", tool.name());
        done.tool = Some(tool);
        done.arguments = Some(if repaired || renamed || !arguments.repairs.is_empty() {
            canonical
        } else {
            call.arguments.clone()
        });
        let budget = self.result_budget();
        if tokens(&done.text) > budget * 2 {
            done.text = shape(&done.text, budget, Favour::Tail, &tokens).text;
        }
        self.unsent += tokens(&done.text);
        self.events.emit(
            self.output,
            "tool",
            json!({"tool": tool.name(), "arguments": brief(&arguments), "changed": done.changed,
                   "error": done.error, "result_tokens": tokens(&done.text)}),
        );
        Ok(done)
    }

    /// How long a result may be, beside those of the same answer that are not sent yet.
    pub(crate) fn result_budget(&self) -> u64 {
        result_room(self.window(), self.talk.size().most + self.unsent)
    }

    fn perform(&mut self, tool: Tool, arguments: &Arguments) -> Result<Done, End> {
        if tool == Tool::Bash {
            return self.bash(arguments);
        }
        if tool == Tool::Done {
            return Ok(Done {
                finish: Some(Finished {
                    blocked: arguments.text("status") == Some("blocked"),
                    summary: arguments.text("summary").unwrap_or_default().to_string(),
                    result: arguments.value("result").filter(|v| !v.is_null()).cloned(),
                }),
                ..Done::default()
            });
        }
        let result = match tool {
            Tool::Read => self.read(arguments).map(Looked::into_done),
            Tool::List => self.list(arguments).map(Looked::into_done),
            Tool::Search => self.search(arguments).map(Looked::into_done),
            Tool::Edit | Tool::Write => self.change(tool, arguments),
            Tool::Bash | Tool::Done => Err(String::new()),
        };
        Ok(result.unwrap_or_else(Done::error))
    }

    /// The path inside the work tree that a model means.
    pub(crate) fn inside(&self, asked: &str) -> Result<String, String> {
        let given = self.tree.repo.root().to_path_buf();
        let roots = [self.tree.root(), &given, self.tree.shown()];
        resolve(asked, &roots, &self.known).map_err(|error| error.to_string())
    }

    fn folder(&self, arguments: &Arguments) -> Result<String, String> {
        self.inside(
            arguments
                .text("path")
                .filter(|p| !p.trim().is_empty())
                .unwrap_or("."),
        )
    }

    fn read(&mut self, arguments: &Arguments) -> Result<Looked, String> {
        let asked = arguments.text("path").unwrap_or_default();
        let (offset, limit) = (arguments.number("offset"), arguments.number("limit"));
        let budget = self.result_budget();
        let outputs = self.shell.outputs();
        if let Ok(name) = std::path::Path::new(asked).strip_prefix(self.shell.outputs_as_told()) {
            // Whole outputs of commands; only plain names, so nothing else is reachable this way.
            if name.components().count() == 1
                && let Ok(bytes) = std::fs::read(outputs.join(name))
            {
                let text = crate::text::clean::clean(&bytes);
                return look::numbered(asked, text.as_bytes(), offset, limit, budget, &tokens)
                    .map(Looked);
            }
        }
        let path = self.inside(asked)?;
        let bytes = self.tree.beneath.read(&path).map_err(|error| match error {
            FileError::Missing(_) => look::missing(&path, &self.known),
            FileError::NotAFile(_) => look::list(&self.known, &path, None).map_or_else(
                |e| e,
                |list| format!("{path} is a folder; it holds:\n{list}"),
            ),
            other => other.to_string(),
        })?;
        let text = look::numbered(&path, &bytes, offset, limit, budget, &tokens)?;
        self.seen.note(&path, &bytes);
        self.ledger.files_read.insert(path);
        Ok(Looked(text))
    }

    fn list(&self, arguments: &Arguments) -> Result<Looked, String> {
        let folder = self.folder(arguments)?;
        look::list(&self.known, &folder, arguments.text("pattern")).map(Looked)
    }

    fn search(&self, arguments: &Arguments) -> Result<Looked, String> {
        let folder = self.folder(arguments)?;
        let pattern = arguments.text("pattern").unwrap_or_default();
        look::search(
            self.tree.root(),
            &self.known,
            pattern,
            &folder,
            arguments.text("glob"),
        )
        .map(Looked)
    }

    fn change(&mut self, tool: Tool, arguments: &Arguments) -> Result<Done, String> {
        let path = self.inside(arguments.text("path").unwrap_or_default())?;
        let made = if tool == Tool::Write {
            let text = arguments.text("content").unwrap_or_default();
            write(&self.tree, &mut self.seen, &path, text)?
        } else {
            let made = edit(&self.tree, &mut self.seen, &path, &edits_of(arguments));
            made.map_err(|why| self.with_the_meant_file(&path, why))?
        };
        self.made(&path, &made);
        Ok(Done {
            text: made.text,
            changed: made.changed,
            ..Done::default()
        })
    }

    /// A refusal, with the file of the same name that is there instead of the one that is not.
    fn with_the_meant_file(&self, path: &str, why: String) -> String {
        if self.known.iter().any(|known| known == path) {
            return why;
        }
        match similar(path, &self.known) {
            Some(found) => format!("{why}; did you mean {found}?"),
            None => why,
        }
    }

    /// Notes a change in the ledger and the file list.
    pub(crate) fn made(&mut self, path: &str, made: &Made) {
        if let Some(kind) = made.tolerance {
            self.ledger.repaired(kind);
        }
        if made.changed && !self.known.iter().any(|k| k == path) {
            self.known.push(path.to_string());
            self.known.sort();
        }
    }
}

/// What a looking tool found.
struct Looked(String);

impl Looked {
    fn into_done(self) -> Done {
        Done {
            text: self.0,
            ..Done::default()
        }
    }
}

fn edits_of(arguments: &Arguments) -> Vec<Edit> {
    let from = |get: &dyn Fn(&str) -> Option<Value>| -> Option<Edit> {
        Some(Edit {
            old: get("old_string")?.as_str()?.to_string(),
            new: get("new_string")?.as_str()?.to_string(),
            all: get("replace_all").and_then(|v| v.as_bool()) == Some(true),
            line: get("line").and_then(|v| v.as_u64()),
        })
    };
    let mut edits: Vec<Edit> = from(&|name| arguments.value(name).cloned())
        .into_iter()
        .collect();
    if let Some(list) = arguments.value("edits").and_then(Value::as_array) {
        edits.extend(
            list.iter()
                .filter_map(|item| from(&|name| item.get(name).cloned())),
        );
    }
    edits
}

/// The arguments for an event: long texts as their length.
fn brief(arguments: &Arguments) -> Value {
    let mut value = arguments.json();
    if let Some(map) = value.as_object_mut() {
        for item in map.values_mut() {
            if item.as_str().is_some_and(|text| text.len() > 200) {
                *item = json!(format!("({} bytes)", item.as_str().map_or(0, str::len)));
            }
        }
    }
    value
}
