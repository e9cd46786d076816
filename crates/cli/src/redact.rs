//! Keeping keys out of everything that is written.

use std::borrow::Cow;

use baton_protocol::Secret;
use serde_json::Value;

/// Prefixes of the usual tokens, with the least number of token characters that must follow.
const SHAPES: &[(&str, usize)] = &[
    ("sk-", 16),
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("ghr_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("hf_", 20),
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("xoxa-", 10),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("npm_", 30),
    ("eyJ", 60),
];

const PLACEHOLDER: &str = "[redacted]";

/// A known key shorter than this is not looked for: servers without keys are given words like
/// `local`, and hiding a common word would make a report unreadable and hide nothing.
const SHORTEST_KEY: usize = 8;

/// Replaces known keys and the usual token shapes by `[redacted]`.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    known: Vec<Secret>,
}

impl Redactor {
    /// A redactor that knows these keys besides the usual shapes.
    pub fn new(known: impl IntoIterator<Item = Secret>) -> Self {
        let known = known
            .into_iter()
            .filter(|s| s.reveal().len() >= SHORTEST_KEY)
            .collect();
        Self { known }
    }

    /// The text without keys.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut result = Cow::Borrowed(text);
        for secret in &self.known {
            if result.contains(secret.reveal()) {
                result = Cow::Owned(result.replace(secret.reveal(), PLACEHOLDER));
            }
        }
        match redact_shapes(&result) {
            Some(redacted) => Cow::Owned(redacted),
            None => result,
        }
    }

    /// The value with every string (keys of objects included) redacted.
    pub fn value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(&text).into_owned()),
            Value::Array(items) => items.into_iter().map(|v| self.value(v)).collect(),
            Value::Object(map) => map
                .into_iter()
                .map(|(k, v)| (self.text(&k).into_owned(), self.value(v)))
                .collect(),
            other => other,
        }
    }
}

fn redact_shapes(text: &str) -> Option<String> {
    let is_token = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let mut redacted = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(offset) = text[at..].find(is_token) {
        let start = at + offset;
        let length = text[start..]
            .find(|c| !is_token(c))
            .unwrap_or(text.len() - start);
        let word = &text[start..start + length];
        if is_secret(word) {
            redacted.push_str(&text[copied..start]);
            redacted.push_str(PLACEHOLDER);
            copied = start + length;
        }
        at = start + length;
    }
    if copied == 0 && redacted.is_empty() {
        return None;
    }
    redacted.push_str(&text[copied..]);
    Some(redacted)
}

fn is_secret(word: &str) -> bool {
    SHAPES.iter().any(|(prefix, least)| {
        word.strip_prefix(prefix).is_some_and(|rest| {
            rest.len() >= *least
                && rest
                    .bytes()
                    .any(|b| b.is_ascii_digit() || b.is_ascii_uppercase())
        })
    })
}

#[cfg(test)]
mod tests {
    use baton_protocol::Secret;
    use serde_json::json;

    use super::Redactor;

    #[test]
    fn known_keys_and_token_shapes_disappear() {
        let redactor = Redactor::new([Secret::new("correct-horse-battery")]);
        let cases = [
            ("key=correct-horse-battery.", "key=[redacted]."),
            ("Bearer sk-abcDEF0123456789xyz ok", "Bearer [redacted] ok"),
            ("ghp_0123456789abcdefghijABCD\n", "[redacted]\n"),
        ];
        for (text, expected) in cases {
            assert_eq!(redactor.text(text), expected);
        }
    }

    #[test]
    fn ordinary_text_is_left_alone() {
        let redactor = Redactor::new([Secret::new("local")]);
        for text in [
            "the local server",
            "sk-learn",
            "a task-list",
            "sk-this-is-just-a-long-name",
            "",
        ] {
            assert_eq!(redactor.text(text), text);
        }
    }

    #[test]
    fn values_are_redacted_all_the_way_down() {
        let redactor = Redactor::new([Secret::new("correct-horse-battery")]);
        let value =
            json!({"a": ["x correct-horse-battery"], "n": 1, "correct-horse-battery": null});
        assert_eq!(
            redactor.value(value),
            json!({"a": ["x [redacted]"], "n": 1, "[redacted]": null})
        );
    }
}
