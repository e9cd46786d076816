//! Scripted models: a small file says what the model answers to what.
//!
//! A script is TOML or JSON with a list of rules. The first rule whose `when` matches and whose
//! `times` are not used up gives the answer; where none does, the built-in model answers.
//!
//! ```toml
//! [[rule]]
//! name = "fixer"                              # shown in /sim/requests
//! when.system = "implementer"                 # text that must occur; `*` stands for any text
//! when.last = ["FAILED", "!Traceback"]        # a list: one must occur; `!` must not
//! [[rule.step]]                               # the answer to turn 0 (no assistant message yet)
//! think = "The sign is wrong."
//! calls = [{ edit = "calc.py", old = "a - b", new = "a + b" }]
//! [[rule.step]]                               # turn 1 and every later one
//! calls = [{ done = "add() adds now" }]
//!
//! [[rule]]
//! when = { format = "json_schema", user = "plan" }
//! times = 1                                   # used once, then passed over
//! answer.fill = { tasks = [] }                # follows the request's schema, with these values
//!
//! [[rule]]
//! answer.say = "I read: {{user}}"
//! ```
//!
//! `when` (all given must match): `system` all system text · `first`, `user` first and newest user
//! message · `last` newest message · `any` the whole conversation · `last_role` · `tool` name of
//! the tool whose result is newest · `result` the newest tool results · `turn` number of assistant
//! messages, `2` or `"1..3"` · `request` number of the chat request · `tools` are any offered ·
//! `offers` name of an offered tool · `format` text, `json_object`, `json_schema` or choice · `model`.
//!
//! `answer` and each `step`: `say` · `think` · `calls` · `dialect` how calls are written (see
//! below) · `json` exactly this JSON · `fill` JSON by the request's schema with these values ·
//! `finish` · `usage` fields to replace, or false for none · `model` name to claim · `wait` before
//! the first token and `pace` before each further one (real time, "200ms") · `hold`, `hold_end`
//! gates before the first and the last token, opened by `POST /sim/release {"gate": "…"}` ·
//! `repeat` say it that often · `status`, `body`, `retry_after` answer with an error · `faults`.
//!
//! A call is `{ tool = "name", with = { … } }`, or `raw = "…"` in place of `with` for arguments
//! that are no JSON, or one of the short forms, which fit themselves to whatever tools the client
//! offers: `read`, `list`, `search`, `bash`, `edit` (with `old`, `new`), `write` (with `content`),
//! `done`. `with` adds arguments to a short form.
//!
//! Dialects: native, hermes, qwen, qwen-unopened, invoke, fenced, fenced-parameters, bare, mistral,
//! llama, pythonic.
//!
//! Texts may hold `{{system}}`, `{{user}}`, `{{first}}`, `{{last}}`, `{{model}}`, `{{turn}}`,
//! `{{request}}`, `{{after:TEXT}}` (the word that follows TEXT, newest message first),
//! `{{between:A|B}}` and `{{file:PATH}}` (relative to the script). Anything else in double braces
//! stays as it is.

mod calls;
mod decide;
mod dialect;
mod expand;
mod pattern;
pub(crate) mod schema;
mod when;

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

pub(crate) use calls::{Verb, offered, simple as calls_simple};
pub(crate) use decide::Model;
pub(crate) use when::Range;

/// Why a script cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ScriptError {
    #[error("cannot read the script {path}: {source}")]
    Read {
        path: String,
        source: std::io::Error,
    },
    #[error("the script {name} is wrong at `{path}`: {message}")]
    Parse {
        name: String,
        path: String,
        message: String,
    },
    #[error("the script {name} is neither TOML nor JSON: {message}")]
    Syntax { name: String, message: String },
    #[error("rule {rule} of the script has {problem}")]
    Rule { rule: String, problem: String },
}

/// A whole script.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Script {
    #[serde(default)]
    pub(crate) rule: Vec<Rule>,
}

/// One rule: a condition and what is answered.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    pub(crate) name: Option<String>,
    #[serde(default)]
    pub(crate) when: when::When,
    /// How often the rule may be used; without it, always.
    pub(crate) times: Option<u64>,
    pub(crate) answer: Option<Reply>,
    /// Answers by turn; the last one also serves every later turn.
    #[serde(default)]
    pub(crate) step: Vec<Reply>,
}

/// What is answered.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Reply {
    pub(crate) say: String,
    pub(crate) think: String,
    pub(crate) calls: Vec<calls::Spec>,
    pub(crate) dialect: dialect::Dialect,
    pub(crate) json: Option<Value>,
    pub(crate) fill: Option<Map<String, Value>>,
    pub(crate) finish: Option<String>,
    pub(crate) usage: Option<Value>,
    pub(crate) model: Option<String>,
    #[serde(deserialize_with = "duration")]
    pub(crate) wait: Duration,
    #[serde(deserialize_with = "duration")]
    pub(crate) pace: Duration,
    pub(crate) hold: Option<String>,
    pub(crate) hold_end: Option<String>,
    pub(crate) repeat: Option<usize>,
    pub(crate) status: Option<u16>,
    pub(crate) body: Option<Value>,
    pub(crate) retry_after: Option<String>,
    pub(crate) faults: Vec<String>,
}

fn duration<'de, D: Deserializer<'de>>(input: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(input)?;
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    humantime::parse_duration(&text).map_err(serde::de::Error::custom)
}

impl Script {
    /// Reads a script from a file; `{{file:…}}` is filled in at once.
    pub(crate) fn load(path: &Path) -> Result<Self, ScriptError> {
        let read = |at: &Path| {
            std::fs::read_to_string(at).map_err(|source| ScriptError::Read {
                path: at.display().to_string(),
                source,
            })
        };
        let folder = path.parent().unwrap_or(Path::new("."));
        Self::parse(&read(path)?, &path.display().to_string(), &|file| {
            read(&folder.join(file))
        })
    }

    /// Reads a script from a text; `file` gives the content of a `{{file:…}}`.
    pub(crate) fn parse(
        text: &str,
        name: &str,
        file: &dyn Fn(&str) -> Result<String, ScriptError>,
    ) -> Result<Self, ScriptError> {
        let syntax = |message: String| ScriptError::Syntax {
            name: name.to_owned(),
            message,
        };
        let mut tree: Value = if text.trim_start().starts_with('{') {
            serde_json::from_str(text).map_err(|e| syntax(e.to_string()))?
        } else {
            toml::from_str(text).map_err(|e| syntax(e.to_string()))?
        };
        expand::insert_files(&mut tree, file)?;
        let script: Self =
            serde_path_to_error::deserialize(tree).map_err(|e| ScriptError::Parse {
                name: name.to_owned(),
                path: e.path().to_string(),
                message: e.inner().to_string(),
            })?;
        script.check()?;
        Ok(script)
    }

    fn check(&self) -> Result<(), ScriptError> {
        for (at, rule) in self.rule.iter().enumerate() {
            let problem = match (&rule.answer, rule.step.is_empty()) {
                (None, true) => "neither `answer` nor `step`",
                (Some(_), false) => "both `answer` and `step`; keep one",
                _ => continue,
            };
            let rule = rule
                .name
                .clone()
                .unwrap_or_else(|| format!("number {}", at + 1));
            return Err(ScriptError::Rule {
                rule,
                problem: problem.to_owned(),
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn any_text_is_a_script_or_an_error(text in "(?s).{0,80}") {
            let _ = Script::parse(&text, "test", &|_| Ok(String::new()));
        }
    }

    #[test]
    fn both_notations_mean_the_same() {
        let toml = "[[rule]]\nwhen.turn = '1..2'\nanswer = { say = 'x', wait = '20ms' }";
        let json =
            r#"{"rule": [{"when": {"turn": "1..2"}, "answer": {"say": "x", "wait": "20ms"}}]}"#;
        let parse = |text| Script::parse(text, "test", &|_| Ok(String::new())).unwrap();
        assert_eq!(format!("{:?}", parse(toml)), format!("{:?}", parse(json)));
    }

    #[test]
    fn a_rule_must_answer_and_in_one_way() {
        let error = |text| {
            Script::parse(text, "test", &|_| Ok(String::new()))
                .unwrap_err()
                .to_string()
        };
        assert!(error("[[rule]]\nname = 'a'").contains("rule a of the script has neither"));
        assert!(error("[[rule]]\nanswer.say = 'x'\n[[rule.step]]\nsay = 'y'").contains("number 1"));
    }
}
