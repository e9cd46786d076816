//! From a script and a request to an answer.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::{Reply, Script, calls, dialect, expand, schema};
use crate::agent;
use crate::answer::{Answer, Refusal};
use crate::chat::{Chat, Format};

/// A script and how often each rule was used.
#[derive(Debug, Default)]
pub(crate) struct Model {
    script: Script,
    used: HashMap<usize, u64>,
}

impl Model {
    pub(crate) fn new(script: Script) -> Self {
        Self {
            script,
            used: HashMap::new(),
        }
    }

    /// The answer to the `number`-th chat request.
    pub(crate) fn answer(&mut self, chat: &Chat, number: u64) -> Answer {
        let used = |at: usize| self.used.get(&at).copied().unwrap_or(0);
        let rules = self.script.rule.iter().enumerate();
        let mut open = rules.filter(|(at, rule)| rule.times.is_none_or(|most| used(*at) < most));
        let Some((at, rule)) = open.find(|(_, rule)| rule.when.matches(chat, number)) else {
            return agent::answer(chat);
        };
        *self.used.entry(at).or_default() += 1;
        let step = chat.turn().min(rule.step.len().saturating_sub(1));
        let Some(reply) = rule.answer.as_ref().or_else(|| rule.step.get(step)) else {
            return agent::answer(chat);
        };
        let name = rule
            .name
            .clone()
            .unwrap_or_else(|| format!("rule {}", at + 1));
        Answer {
            rule: name,
            ..resolve(reply, chat, number)
        }
    }
}

fn resolve(reply: &Reply, chat: &Chat, number: u64) -> Answer {
    let text = |template: &str| expand::text(template, chat, number);
    let mut calls: Vec<_> = reply
        .calls
        .iter()
        .map(|spec| calls::call(spec, chat))
        .collect();
    for call in &mut calls {
        // Filling the tree keeps quotes and line ends of a filled-in text escaped.
        match serde_json::from_str::<Value>(&call.arguments) {
            Ok(tree) => call.arguments = expand::tree(&tree, chat, number).to_string(),
            Err(_) => call.arguments = text(&call.arguments),
        }
    }
    let mut say = match (&reply.json, &reply.fill) {
        (Some(json), _) => expand::tree(json, chat, number).to_string(),
        (None, Some(wish)) => filled(chat, wish, number).to_string(),
        (None, None) => text(&reply.say).repeat(reply.repeat.unwrap_or(1)),
    };
    if let Some(written) = dialect::write(reply.dialect, &calls).filter(|_| !calls.is_empty()) {
        if !say.is_empty() {
            say.push('\n');
        }
        say.push_str(&written);
        calls.clear();
    }
    let refusal = reply.status.map(|status| Refusal {
        status,
        body: reply.body.clone().unwrap_or_else(|| {
            json!({"error": {"message": "scripted error", "type": "scripted", "param": null, "code": status}})
        }),
        retry_after: reply.retry_after.clone(),
    });
    Answer {
        rule: String::new(),
        think: text(&reply.think),
        say,
        calls,
        finish: reply.finish.clone(),
        usage: reply.usage.clone(),
        model: reply.model.clone(),
        wait: reply.wait,
        pace: reply.pace,
        hold: reply.hold.clone(),
        hold_end: reply.hold_end.clone(),
        refusal,
        faults: reply.faults.clone(),
    }
}

fn filled(chat: &Chat, wish: &Map<String, Value>, number: u64) -> Value {
    let wish = expand::tree(&Value::Object(wish.clone()), chat, number);
    let wish = wish.as_object().cloned().unwrap_or_default();
    match &chat.format {
        Format::Schema(schema) => schema::fill(schema, &wish),
        _ => Value::Object(wish),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(script: &str) -> Model {
        Model::new(Script::parse(script, "test", &|_| Ok(String::new())).unwrap())
    }

    fn ask(text: &str, turns: usize) -> Chat {
        let mut messages = vec![json!({"role": "user", "content": text})];
        for _ in 0..turns {
            messages.push(json!({"role": "assistant", "content": "x"}));
            messages.push(json!({"role": "user", "content": text}));
        }
        Chat::from_body(&json!({"messages": messages}))
    }

    #[test]
    fn rules_are_used_up_in_order() {
        let mut model =
            model("[[rule]]\ntimes = 1\nanswer.say = 'one'\n[[rule]]\nanswer.say = 'two'");
        let said: Vec<_> = (1..=3)
            .map(|n| model.answer(&ask("hi", 0), n).say)
            .collect();
        assert_eq!(said, ["one", "two", "two"]);
    }

    #[test]
    fn steps_follow_the_turns_and_the_last_one_stays() {
        let mut model =
            model("[[rule]]\n[[rule.step]]\nsay = 'a {{user}}'\n[[rule.step]]\nsay = 'b'");
        let said: Vec<_> = (0..3)
            .map(|turns| model.answer(&ask("hi", turns), 1).say)
            .collect();
        assert_eq!(said, ["a hi", "b", "b"]);
    }

    #[test]
    fn a_filled_in_text_cannot_break_the_arguments() {
        let mut model = model("[[rule]]\nanswer.calls = [{ bash = 'echo {{user}}' }]");
        let answer = model.answer(&ask("\"a\"\nb", 0), 1);
        assert_eq!(answer.calls[0].arguments, r#"{"command":"echo \"a\"\nb"}"#);
    }

    #[test]
    fn an_unknown_key_is_refused_and_named() {
        let error = Script::parse("[[rule]]\nanswer.sya = 'x'", "s.toml", &|_| {
            Ok(String::new())
        });
        let text = error.unwrap_err().to_string();
        assert!(
            text.contains("rule[0].answer") && text.contains("sya"),
            "{text}"
        );
    }
}
