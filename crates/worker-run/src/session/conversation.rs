//! The history: append-only, so that every request shares its prefix with the one before.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use baton_model_server::{ChatAnswer, Usage};
use baton_prompt::Mode;
use baton_tokens::{Count, Family, estimate_for, estimate_with, pieces};
use serde_json::{Map, Value, json};

use crate::harness::space::Size;

/// Everything said so far.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    /// The messages, in order; the first is the system text.
    pub(crate) messages: Vec<Value>,
    /// The tools offered.
    pub(crate) tools: Vec<Value>,
    /// How the model acts.
    pub(crate) mode: Option<Mode>,
    /// How far the sampling temperature is raised, because it repeated itself.
    pub(crate) heat: u32,
    /// Whether thinking is switched off for the rest.
    pub(crate) no_thinking: bool,
    /// What the server counted, and for how many messages.
    known: Option<(usize, u64)>,
    /// The prompt of the last request, as the server counted it.
    last_prompt: Option<u64>,
    /// The model's tokenizer, as far as its name tells.
    family: Family,
    /// Texts that were counted before, by hash and length: a history only grows.
    texts: RefCell<HashMap<(u64, usize), Count>>,
}

/// One call as it goes into the history.
#[derive(Debug, Clone)]
pub(crate) struct PastCall {
    /// The server's id.
    pub(crate) id: String,
    /// The name of the tool that ran.
    pub(crate) name: String,
    /// A JSON object as text.
    pub(crate) arguments: String,
}

impl Conversation {
    /// A conversation that begins with these messages.
    pub(crate) fn new(messages: Vec<Value>, tools: Vec<Value>, mode: Mode, family: Family) -> Self {
        Self {
            messages,
            tools,
            mode: Some(mode),
            family,
            ..Self::default()
        }
    }

    /// The mode.
    pub(crate) fn mode(&self) -> Mode {
        self.mode.unwrap_or(Mode::Tools)
    }

    /// Adds what the model said. Text is never null, and only whole calls are kept: broken
    /// arguments in the history make some servers fail on every later turn.
    pub(crate) fn push_answer(&mut self, answer: &ChatAnswer, calls: &[PastCall]) {
        let content = if answer.content.is_empty() && calls.is_empty() {
            "(no answer)"
        } else {
            &answer.content
        };
        let mut message = Map::new();
        message.insert("role".into(), json!("assistant"));
        message.insert("content".into(), json!(content));
        if let (Some(field), false) = (&answer.reasoning_field, answer.reasoning.is_empty()) {
            message.insert(field.clone(), json!(answer.reasoning));
        }
        if !calls.is_empty() {
            let list: Vec<Value> = calls
                .iter()
                .map(|call| {
                    json!({"id": call.id, "type": "function",
                           "function": {"name": call.name, "arguments": call.arguments}})
                })
                .collect();
            message.insert("tool_calls".into(), Value::Array(list));
        }
        self.messages.push(Value::Object(message));
    }

    /// Adds the result of a call.
    pub(crate) fn push_result(&mut self, id: &str, text: &str) {
        self.messages
            .push(json!({"role": "tool", "tool_call_id": id, "content": text}));
    }

    /// Adds a word of the harness.
    pub(crate) fn push_user(&mut self, text: &str) {
        self.messages.push(json!({"role": "user", "content": text}));
    }

    /// Adds to the last message, which must be one of ours that was not sent yet.
    pub(crate) fn append(&mut self, text: &str) {
        if let Some(content) = self.messages.last_mut().and_then(|m| m.get_mut("content"))
            && let Some(old) = content.as_str()
        {
            *content = json!(format!("{old}\n\n{text}"));
        }
    }

    /// Remembers what the server counted for the messages so far; the newest is its own answer.
    pub(crate) fn counted(&mut self, usage: Option<&Usage>) {
        if let Some(usage) = usage {
            self.known = Some((self.messages.len() + 1, usage.total()));
            self.last_prompt = Some(usage.prompt);
        }
    }

    /// The size of the next request: the server's own count, plus what the library counts of what
    /// is new.
    pub(crate) fn size(&self) -> Size {
        self.size_of(self.messages.len())
    }

    /// The same for the first messages only.
    pub(crate) fn size_of(&self, first: usize) -> Size {
        match self.known {
            Some((messages, known)) if messages == first => Size::exact(known),
            Some((messages, known)) if messages < first => {
                Size::exact(known) + self.counted_here(&self.messages[messages..first], &[])
            }
            _ => self.counted_here(&self.messages[..first], &self.tools),
        }
    }

    /// The best estimate of the next request.
    pub(crate) fn estimate(&self) -> u64 {
        self.size().tokens
    }

    /// Messages and tools as the library counts them, with what a template adds.
    ///
    /// Of a tokenizer that is not known only the number of bytes is a bound for any text at all;
    /// twice the estimate bounds those in use.
    pub(crate) fn counted_here(&self, messages: &[Value], tools: &[Value]) -> Size {
        if messages.is_empty() {
            return Size::exact(0);
        }
        let request = json!({"messages": messages, "tools": tools});
        let counted = pieces(&request).map(|found| estimate_with(&found, |text| self.text(text)));
        let Ok(count) = counted else {
            let bytes = request.to_string().len() as u64;
            return Size {
                tokens: bytes / 3,
                most: bytes,
            };
        };
        let (tokens, most) = (count.total.tokens, count.total.upper_bound);
        let most = match self.family {
            Family::Unknown => most.min(2 * tokens),
            _ => most,
        };
        Size { tokens, most }
    }

    /// One text, counted once.
    fn text(&self, text: &str) -> Count {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let key = (hasher.finish(), text.len());
        let mut texts = self.texts.borrow_mut();
        *texts
            .entry(key)
            .or_insert_with(|| estimate_for(self.family, text))
    }

    /// Remembers what the server counts for all messages so far.
    pub(crate) fn counted_exactly(&mut self, prompt: u64) {
        self.known = Some((self.messages.len(), prompt));
    }

    /// The same without what the server counted.
    pub(crate) fn pure_estimate(&self) -> u64 {
        self.counted_here(&self.messages, &self.tools).tokens
    }

    /// The prompt of the last request, as the server counted it.
    pub(crate) fn last_prompt(&self) -> Option<u64> {
        self.last_prompt
    }

    /// Goes on from a shorter history.
    pub(crate) fn replace(&mut self, messages: Vec<Value>) {
        self.messages = messages;
        self.known = None;
        self.last_prompt = None;
    }
}

#[cfg(test)]
mod tests {
    use super::{Conversation, PastCall};
    use baton_model_server::stream::whole_answer;
    use baton_prompt::Mode;
    use baton_tokens::Family;
    use serde_json::json;

    fn answer(message: &serde_json::Value) -> baton_model_server::ChatAnswer {
        whole_answer(&json!({"choices": [{"message": message, "finish_reason": "stop"}]})).unwrap()
    }

    #[test]
    fn s34_s27_content_is_a_text_and_thinking_keeps_its_name() {
        let mut talk = Conversation::new(vec![], vec![], Mode::Tools, Family::Unknown);
        let call = PastCall {
            id: "c1".into(),
            name: "read".into(),
            arguments: "{}".into(),
        };
        talk.push_answer(
            &answer(&json!({"content": null, "reasoning": "hm"})),
            &[call],
        );
        assert_eq!(talk.messages[0]["content"], "");
        assert_eq!(talk.messages[0]["reasoning"], "hm");
        assert_eq!(talk.messages[0]["tool_calls"][0]["id"], "c1");
        talk.push_answer(&answer(&json!({"content": ""})), &[]);
        assert_eq!(talk.messages[1]["content"], "(no answer)");
        assert!(talk.messages[1].get("tool_calls").is_none());
    }

    #[test]
    fn an_estimate_builds_on_what_the_server_counted() {
        let mut talk = Conversation::new(
            vec![json!({"role": "user", "content": "x".repeat(4000)})],
            vec![],
            Mode::Tools,
            Family::Qwen,
        );
        let before = talk.estimate();
        assert!(before > 100);
        talk.counted(Some(&baton_model_server::Usage {
            prompt: 50,
            completion: 10,
            ..Default::default()
        }));
        talk.push_answer(&answer(&json!({"content": "y"})), &[]);
        assert_eq!(talk.estimate(), 60);
        talk.push_user("more words");
        assert!(talk.estimate() > 60 && talk.estimate() < before);
    }

    #[test]
    fn what_the_server_did_not_count_is_bounded_by_the_library() {
        let text = "let x = 12345; // 日本語 \u{1F600} été\n".repeat(40);
        let first = vec![json!({"role": "user", "content": text})];
        for (family, least, most) in [(Family::Qwen, 100, 150), (Family::Unknown, 199, 200)] {
            let mut talk = Conversation::new(first.clone(), vec![], Mode::Tools, family);
            let size = talk.size();
            assert!(size.is_uncertain());
            let percent = size.most * 100 / size.tokens;
            assert!((least..=most).contains(&percent), "{family:?} {percent}");
            talk.counted_exactly(size.tokens + 7);
            assert_eq!(talk.size().most, size.tokens + 7);
            assert!(!talk.size().is_uncertain());
            talk.push_user(&text);
            assert!(talk.size().is_uncertain());
            assert_eq!(talk.size_of(1).most, size.tokens + 7);
        }
    }
}
