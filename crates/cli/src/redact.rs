//! Keeping keys out of everything that is written.

use std::borrow::Cow;

use baton_protocol::Secret;
use serde_json::Value;

/// Prefixes of the usual tokens, with the least number of token characters that must follow.
const SHAPES: &[(&str, usize)] = &[
    ("sk-", 16),
    ("sk_live_", 16),
    ("sk_test_", 16),
    ("rk_live_", 16),
    ("whsec_", 20),
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
    ("xoxr-", 10),
    ("xoxs-", 10),
    ("xapp-", 16),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("ya29.", 20),
    ("GOCSPX-", 20),
    ("npm_", 30),
    ("pypi-", 50),
    ("gsk_", 30),
    ("nvapi-", 30),
    ("pplx-", 30),
    ("xai-", 30),
    ("tgp_v1_", 20),
    ("dop_v1_", 30),
    ("shpat_", 20),
    ("SG.", 30),
    ("AGE-SECRET-KEY-1", 30),
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
        for redact in [redact_shapes, redact_addresses, redact_key_blocks] {
            if let Some(redacted) = redact(&result) {
                result = Cow::Owned(redacted);
            }
        }
        result
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
    let is_token = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    let bytes = text.as_bytes();
    let mut redacted = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(offset) = bytes[at..].iter().position(is_token) {
        let start = at + offset;
        let length = bytes[start..].iter().position(|b| !is_token(b));
        let end = length.map_or(bytes.len(), |length| start + length);
        if BEGINS[usize::from(bytes[start])] && is_secret(&text[start..end]) {
            redacted.push_str(&text[copied..start]);
            redacted.push_str(PLACEHOLDER);
            copied = end;
        }
        at = end;
    }
    finish(text, redacted, copied)
}

/// The bytes with which a token of a usual shape may begin.
const BEGINS: [bool; 256] = {
    let mut begins = [false; 256];
    let mut i = 0;
    while i < SHAPES.len() {
        begins[SHAPES[i].0.as_bytes()[0] as usize] = true;
        i += 1;
    }
    begins
};

/// Hides the user and password of an address: `scheme://user:password@host`. A user alone
/// (`ssh://git@host`) is no secret.
fn redact_addresses(text: &str) -> Option<String> {
    let mut redacted = String::new();
    let mut copied = 0;
    for (at, mark) in text.match_indices("://") {
        let start = at + mark.len();
        let authority = text[start..]
            .split(|c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '"' | '\'' | '`'))
            .next()
            .unwrap_or_default();
        let Some((user, _)) = authority.rsplit_once('@') else {
            continue;
        };
        let has_password = user.split_once(':').is_some_and(|(_, password)| {
            !password.is_empty()
                && password != PLACEHOLDER
                && !password.starts_with(['$', '<', '{'])
        });
        if has_password {
            redacted.push_str(&text[copied..start]);
            redacted.push_str(PLACEHOLDER);
            copied = start + user.len();
        }
    }
    finish(text, redacted, copied)
}

/// Hides what stands between the first and the last line of a private key.
fn redact_key_blocks(text: &str) -> Option<String> {
    const HEAD: &str = "PRIVATE KEY-----";
    let mut redacted = String::new();
    let mut copied = 0;
    for (at, _) in text.match_indices("-----BEGIN ") {
        let line = text[at..].lines().next().unwrap_or_default();
        let Some(head) = line.find(HEAD) else {
            continue;
        };
        let start = at + head + HEAD.len();
        let end = text[start..]
            .find("-----END ")
            .map_or(text.len(), |foot| start + foot);
        let is_open = start < end && !text[start..end].contains(PLACEHOLDER);
        if at >= copied && is_open {
            redacted.push_str(&text[copied..start]);
            redacted.push_str(PLACEHOLDER);
            copied = end;
        }
    }
    finish(text, redacted, copied)
}

/// The rest of a text behind its redacted part; none where nothing was hidden.
fn finish(text: &str, mut redacted: String, copied: usize) -> Option<String> {
    if copied == 0 {
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
            (
                "origin https://me:hunter2@git.example.com/a.git (fetch)",
                "origin https://[redacted]@git.example.com/a.git (fetch)",
            ),
            (
                "`etcd://root:a@b@10.0.0.5:2379/x` and redis://:pw@h",
                "`etcd://[redacted]@10.0.0.5:2379/x` and redis://[redacted]@h",
            ),
            (
                "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----\nb",
                "a\n-----BEGIN RSA PRIVATE KEY-----[redacted]-----END RSA PRIVATE KEY-----\nb",
            ),
            (
                "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blbn",
                "-----BEGIN OPENSSH PRIVATE KEY-----[redacted]",
            ),
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
            "ssh://git@host/a.git and mailto:me@host",
            "postgres://app:$PASSWORD@db/app or https://<user>:<password>@host",
            "http://127.0.0.1:8000/v1 user@host:path",
            "a file begins with -----BEGIN PUBLIC KEY-----",
            "grep 'PRIVATE KEY-----' found nothing",
            "",
        ] {
            assert_eq!(redactor.text(text), text);
        }
    }

    #[test]
    fn what_is_redacted_stays_as_it_is() {
        let redactor = Redactor::default();
        let text = "https://a:b@h -----BEGIN PRIVATE KEY-----x-----END PRIVATE KEY----- hf_0123456789abcdefghijABCD";
        let once = redactor.text(text).into_owned();
        assert_eq!(redactor.text(&once), once);
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
