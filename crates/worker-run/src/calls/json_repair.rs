//! Repairing the JSON of a tool call without ever inventing what was cut off.

use std::fmt::Write as _;

use serde_json::Value;

/// Why a text is not the JSON object of a call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum JsonError {
    /// It ends before the object does. Such a call must never run.
    #[error("the arguments are cut off after `{tail}`")]
    CutOff {
        /// The last characters that arrived.
        tail: String,
    },
    /// It holds two different objects.
    #[error("there are two objects; give one")]
    Ambiguous,
    /// It is broken in another way.
    #[error("the arguments are not valid JSON: {message}, near `{near}`")]
    Broken {
        /// What the parser says.
        message: String,
        /// The text around the place.
        near: String,
    },
    /// It is JSON, but no object.
    #[error("the arguments must be a JSON object, not {found}")]
    NotAnObject {
        /// What it is.
        found: &'static str,
    },
}

/// Reads one JSON value; `true` in the result says that something was repaired.
///
/// Repaired are: code fences and words around the object, raw control characters in strings,
/// structural trailing commas, an empty value before the real one, `\n` written out between tokens, quotes escaped once too often, and
/// double encoding (at most twice). Nothing is ever closed or guessed.
pub(crate) fn parse_object(text: &str) -> Result<(Value, bool), JsonError> {
    let mut text = text.trim().to_string();
    let mut repaired = false;
    // Some gateways send an empty value before the pieces of the real one.
    if let Some(rest) = text.strip_prefix("null")
        && rest.trim_start().starts_with('{')
    {
        (text, repaired) = (rest.trim_start().to_string(), true);
    }
    for _ in 0..3 {
        match parse_value(&text)? {
            (Value::String(inner), _) => {
                repaired = true;
                text = inner.trim().to_string();
            }
            (value @ Value::Object(_), fixed) => return Ok((value, repaired || fixed)),
            (other, _) => {
                return Err(JsonError::NotAnObject {
                    found: kind_of(&other),
                });
            }
        }
    }
    Err(JsonError::NotAnObject { found: "a string" })
}

fn parse_value(text: &str) -> Result<(Value, bool), JsonError> {
    let strict = match serde_json::from_str::<Value>(text) {
        Ok(value) => return Ok((value, false)),
        Err(error) => error,
    };
    let inner = without_fence(text);
    let scan = scan(inner);
    let Some(end) = scan.end else {
        if inner.starts_with(['{', '[', '"']) {
            return Err(JsonError::CutOff { tail: tail(inner) });
        }
        return Err(broken(inner, &strict));
    };
    let value = serde_json::from_str::<Value>(&scan.clean).map_err(|e| broken(&scan.clean, &e))?;
    let rest = inner[end..].trim();
    if rest.starts_with('{') {
        if value.as_object().is_some_and(serde_json::Map::is_empty) {
            return parse_value(rest).map(|(value, _)| (value, true));
        }
        let again = parse_value(rest).map(|(value, _)| value);
        if again.as_ref() != Ok(&value) {
            return Err(JsonError::Ambiguous);
        }
    } else if rest.starts_with(['}', ']', ',', '"', ':']) {
        // The scanner and the writer disagree about where the object ends, for example because of
        // an unescaped quote; what follows would be lost.
        return Err(broken(inner, &strict));
    }
    Ok((value, true))
}

struct Scan {
    /// The first value, with repairs.
    clean: String,
    /// Where it ends in the input; none = it does not.
    end: Option<usize>,
}

/// Walks over the first value, keeping track of strings and nesting.
fn scan(text: &str) -> Scan {
    let mut clean = String::with_capacity(text.len());
    let mut closers: Vec<char> = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => {
                if !copy_string(&mut chars, &mut clean, false) {
                    return Scan { clean, end: None };
                }
                if closers.is_empty() {
                    let end = chars.peek().map_or(text.len(), |(next, _)| *next);
                    return Scan {
                        clean,
                        end: Some(end),
                    };
                }
            }
            '\\' => match chars.peek() {
                // A quote escaped once too often starts a string that ends the same way.
                Some((_, '"')) => {
                    chars.next();
                    if !copy_string(&mut chars, &mut clean, true) {
                        return Scan { clean, end: None };
                    }
                }
                // White space written out as an escape, outside of any string.
                Some((_, 'n' | 't' | 'r')) => {
                    chars.next();
                    clean.push(' ');
                }
                _ => clean.push(c),
            },
            '{' | '[' => {
                closers.push(if c == '{' { '}' } else { ']' });
                clean.push(c);
            }
            '}' | ']' => {
                drop_trailing_comma(&mut clean);
                clean.push(c);
                if closers.pop() != Some(c) || closers.is_empty() {
                    return Scan {
                        clean,
                        end: Some(at + 1),
                    };
                }
            }
            _ => clean.push(c),
        }
    }
    Scan { clean, end: None }
}

type Chars<'a> = std::iter::Peekable<std::str::CharIndices<'a>>;

/// Copies a string whose opening quote was read; false if it never ends.
fn copy_string(chars: &mut Chars<'_>, clean: &mut String, over_escaped: bool) -> bool {
    clean.push('"');
    while let Some((_, c)) = chars.next() {
        match c {
            '"' => {
                clean.push('"');
                return true;
            }
            '\\' if over_escaped && matches!(chars.peek(), Some((_, '"'))) => {
                chars.next();
                clean.push('"');
                return true;
            }
            '\\' => {
                clean.push('\\');
                if let Some((_, escaped)) = chars.next() {
                    clean.push(escaped);
                }
            }
            '\n' => clean.push_str("\\n"),
            '\r' => clean.push_str("\\r"),
            '\t' => clean.push_str("\\t"),
            c if u32::from(c) < 0x20 => {
                // Writing to a string cannot fail.
                let _ = write!(clean, "\\u{:04x}", u32::from(c));
            }
            c => clean.push(c),
        }
    }
    false
}

fn drop_trailing_comma(clean: &mut String) {
    let kept = clean.trim_end();
    if kept.ends_with(',') {
        let length = kept.len() - 1;
        clean.truncate(length);
    }
}

/// The inside of a code fence that holds everything, else the text itself.
pub(crate) fn without_fence(text: &str) -> &str {
    let text = text.trim();
    let Some(inner) = text.strip_prefix("```") else {
        return text;
    };
    let Some((_language, body)) = inner.split_once('\n') else {
        return inner.strip_suffix("```").unwrap_or(text).trim();
    };
    match body.rfind("```") {
        Some(end) => body[..end].trim(),
        None => body.trim(),
    }
}

fn broken(text: &str, error: &serde_json::Error) -> JsonError {
    let line = text
        .lines()
        .nth(error.line().saturating_sub(1))
        .unwrap_or("");
    let column = error.column();
    let near: String = line
        .chars()
        .skip(column.saturating_sub(20))
        .take(40)
        .collect();
    let message = error.to_string();
    let message = message.split(" at line").next().unwrap_or("").to_string();
    JsonError::Broken { message, near }
}

fn tail(text: &str) -> String {
    let count = text.chars().count();
    text.chars().skip(count.saturating_sub(40)).collect()
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::{JsonError, parse_object};
    use proptest::prelude::{any, prop_assert_eq, proptest};
    use serde_json::{Value, json};

    fn repaired(text: &str) -> Value {
        let (value, fixed) = parse_object(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert!(fixed, "{text} counts as repaired");
        value
    }

    #[test]
    fn t07_a_written_out_newline_between_tokens_is_white_space() {
        let text = "{\"view_range\": \\n[1, 2]\\n\\n}";
        assert_eq!(repaired(text), json!({"view_range": [1, 2]}));
    }

    #[test]
    fn t08_nesting_is_counted_outside_strings_only() {
        assert!(matches!(
            parse_object(r#"{"items": [1, 2, 3"#),
            Err(JsonError::CutOff { .. })
        ));
        assert_eq!(repaired("{\"a\": \"{ [\",}"), json!({"a": "{ ["}));
        let digits = format!("{{\"n\": {}}}", "9".repeat(5000));
        assert!(parse_object(&digits).is_err(), "an error, never a panic");
        assert!(parse_object(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn t09_a_fence_or_words_around_the_object_do_not_cost_it() {
        assert_eq!(
            repaired("```json\n{\"path\":\"a\"}\n```"),
            json!({"path": "a"})
        );
        assert_eq!(
            repaired("{\"path\":\"a\"} now reading"),
            json!({"path": "a"})
        );
    }

    #[test]
    fn t10_a_raw_newline_is_repaired_and_a_cut_is_not() {
        assert_eq!(
            repaired("{\"content\":\"a\nb\tc\"}"),
            json!({"content": "a\nb\tc"})
        );
        for cut in [
            "{\"cmd\":\"a, b,",
            "{\"path\": ",
            "{\"path\":\"a.rs\",\"con",
            "{\"path\":\"a.rs\"",
            "{",
            "\"{\\\"a\\\":1",
        ] {
            assert!(
                matches!(parse_object(cut), Err(JsonError::CutOff { .. })),
                "{cut}"
            );
        }
    }

    #[test]
    fn an_empty_value_before_the_real_one_is_dropped() {
        for text in [
            "{}{\"a\":1}",
            "null{\"a\":1}",
            "null {\"a\":1}",
            "{} \n{\"a\":1}",
        ] {
            assert_eq!(repaired(text), json!({"a": 1}), "{text}");
        }
        for text in ["{}{\"a\":", "null", "nullify{\"a\":1}", "{\"a\":1}{}"] {
            assert!(parse_object(text).is_err(), "{text}");
        }
    }

    #[test]
    fn t12_double_encoding_and_over_escaping() {
        assert_eq!(repaired(r#""{\"a\":1}""#), json!({"a": 1}));
        assert_eq!(repaired(r#""\"{\\\"a\\\":1}\"""#), json!({"a": 1}));
        assert_eq!(repaired(r#"{"query": \"foo\"}"#), json!({"query": "foo"}));
    }

    #[test]
    fn t13_unescaped_quotes_are_an_error_that_loses_nothing() {
        let error = parse_object(r#"{"path":"a","content":"env("KEY")"}"#).unwrap_err();
        assert!(matches!(error, JsonError::Broken { .. }), "{error:?}");
        assert!(error.to_string().contains("KEY"), "{error}");
    }

    #[test]
    fn t14_only_the_structural_comma_goes() {
        assert_eq!(repaired("{\"a\":\"x,]\",}"), json!({"a": "x,]"}));
        assert_eq!(repaired("{\"a\":[1,2,],}"), json!({"a": [1, 2]}));
    }

    #[test]
    fn two_different_objects_are_ambiguous() {
        let glued = r#"{"path":"a.rs"}{"path":"b.rs"}"#;
        assert_eq!(parse_object(glued), Err(JsonError::Ambiguous));
        assert_eq!(repaired(r#"{"a":1}{"a":1}"#), json!({"a": 1}));
    }

    #[test]
    fn what_is_no_object_says_so() {
        assert!(matches!(
            parse_object("[1]"),
            Err(JsonError::NotAnObject { .. })
        ));
        assert!(parse_object("").is_err());
        assert!(parse_object("reading now").is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in any::<String>()) {
            let _ = parse_object(&text);
        }

        #[test]
        fn no_proper_prefix_of_an_object_is_ever_read(key in "[a-z]{1,4}", value in any::<String>(), cut in 0usize..200) {
            let whole = json!({key: value, "n": [1, {"k": "v"}]}).to_string();
            let cut = cut.min(whole.len() - 1);
            if let Some(prefix) = whole.get(..cut) {
                prop_assert_eq!(parse_object(prefix).ok(), None);
            }
        }

        #[test]
        fn valid_objects_pass_unchanged(text in any::<String>()) {
            let whole = json!({"content": text});
            prop_assert_eq!(parse_object(&whole.to_string()).unwrap(), (whole, false));
        }
    }
}
