//! Calls as Python: `[read(path="a"), list()]`.

use serde_json::{Map, Number, Value};

use crate::calls::salvage::{Found, TextCall};

/// Marks around calls in Python. Without marks the whole message must be calls.
const MARKS: [(&str, &str); 3] = [
    ("<|python_start|>", "<|python_end|>"),
    ("<|tool_call_start|>", "<|tool_call_end|>"),
    ("<tool_call>", "</tool_call>"),
];

/// `[read(path="a"), list()]`, bare, between marks or in a fence. Arguments without names are not
/// understood: which parameter is meant would be a guess.
pub(super) fn calls(text: &str) -> Found {
    for (open, close) in MARKS {
        if let Some((before, rest)) = text.split_once(open) {
            let body = rest.split(close).next().unwrap_or_default().trim();
            let is_call = body.starts_with('[') || name_and_bracket(body);
            return match Reader::new(body).all() {
                Some(calls) => Found::Calls(calls, before.trim().to_string()),
                None if is_call => Found::Incomplete,
                None => Found::Nothing,
            };
        }
    }
    Reader::new(unfenced(text))
        .all()
        .map_or(Found::Nothing, |calls| Found::Calls(calls, String::new()))
}

fn name_and_bracket(body: &str) -> bool {
    let end = body.find(|c: char| !is_name(c)).unwrap_or(body.len());
    end > 0 && body[end..].starts_with('(')
}

/// The inside of a fence that is the whole text, as Gemma and others write it.
fn unfenced(text: &str) -> &str {
    ["```tool_code\n", "```python\n", "```\n"]
        .iter()
        .find_map(|fence| text.strip_prefix(fence)?.strip_suffix("```"))
        .map_or(text, str::trim)
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.')
}

/// Reads the few forms of Python that stand in a call: names, strings, numbers, lists and dicts.
struct Reader<'a> {
    rest: &'a str,
}

/// Deeper nesting is not an argument any more.
const DEEPEST: usize = 16;

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        Self { rest: text.trim() }
    }

    /// All calls of the text, if it holds nothing else.
    fn all(mut self) -> Option<Vec<TextCall>> {
        let is_list = self.eat('[');
        let mut calls = Vec::new();
        loop {
            calls.push(self.call()?);
            let more = self.eat(',') || self.eat(';');
            if is_list && self.eat(']') {
                break;
            }
            if is_list && !more {
                return None;
            }
            if !is_list && self.rest.is_empty() {
                break;
            }
        }
        self.rest.is_empty().then_some(calls)
    }

    fn call(&mut self) -> Option<TextCall> {
        let name = self.name()?.to_string();
        if !self.eat('(') {
            return None;
        }
        let mut arguments = Map::new();
        while !self.eat(')') {
            let key = self.name()?.to_string();
            if !self.eat('=') {
                return None;
            }
            let value = self.value(0)?;
            arguments.insert(key, value);
            if !self.eat(',') && !self.rest.starts_with(')') {
                return None;
            }
        }
        Some(TextCall {
            name,
            arguments: Value::Object(arguments).to_string(),
            dialect: "python",
        })
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > DEEPEST {
            return None;
        }
        match self.rest.chars().next()? {
            '"' | '\'' => self.string().map(Value::String),
            '[' | '(' => {
                let close = if self.rest.starts_with('[') { ']' } else { ')' };
                self.skip(1);
                let mut items = Vec::new();
                while !self.eat(close) {
                    items.push(self.value(depth + 1)?);
                    if !self.eat(',') && !self.rest.starts_with(close) {
                        return None;
                    }
                }
                Some(Value::Array(items))
            }
            '{' => {
                self.skip(1);
                let mut map = Map::new();
                while !self.eat('}') {
                    let key = self.string()?;
                    if !self.eat(':') {
                        return None;
                    }
                    let value = self.value(depth + 1)?;
                    map.insert(key, value);
                    if !self.eat(',') && !self.rest.starts_with('}') {
                        return None;
                    }
                }
                Some(Value::Object(map))
            }
            _ => self.word(),
        }
    }

    /// A number or one of Python's and JSON's three words.
    fn word(&mut self) -> Option<Value> {
        let end = self
            .rest
            .find(|c: char| !(is_name(c) || matches!(c, '-' | '+')))
            .unwrap_or(self.rest.len());
        let word = &self.rest[..end];
        let value = match word {
            "True" | "true" => Value::Bool(true),
            "False" | "false" => Value::Bool(false),
            "None" | "null" => Value::Null,
            _ => Value::Number(word.parse::<Number>().ok()?),
        };
        self.skip(end);
        Some(value)
    }

    /// A string in one or three quotes of either kind.
    fn string(&mut self) -> Option<String> {
        let quote = self
            .rest
            .chars()
            .next()
            .filter(|c| matches!(c, '"' | '\''))?;
        let triple = quote.to_string().repeat(3);
        let mark = if self.rest.starts_with(&triple) {
            triple
        } else {
            quote.to_string()
        };
        let mut text = String::new();
        let inside = &self.rest[mark.len()..];
        let mut chars = inside.char_indices();
        while let Some((at, c)) = chars.next() {
            if inside[at..].starts_with(&mark) {
                self.skip(mark.len() * 2 + at);
                return Some(text);
            }
            match c {
                '\\' => unescape(&mut chars, &mut text)?,
                c => text.push(c),
            }
        }
        None
    }

    fn name(&mut self) -> Option<&'a str> {
        let end = self
            .rest
            .find(|c: char| !is_name(c))
            .unwrap_or(self.rest.len());
        let name = &self.rest[..end];
        self.skip(end);
        (!name.is_empty()).then_some(name)
    }

    fn eat(&mut self, c: char) -> bool {
        let found = self.rest.starts_with(c);
        if found {
            self.skip(c.len_utf8());
        }
        found
    }

    /// Goes on behind so many bytes and the white space after them.
    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest[bytes..].trim_start();
    }
}

/// The character behind a backslash; one that Python does not know keeps its backslash.
fn unescape(chars: &mut std::str::CharIndices<'_>, text: &mut String) -> Option<()> {
    match chars.next()?.1 {
        'n' => text.push('\n'),
        't' => text.push('\t'),
        'r' => text.push('\r'),
        '\n' => {}
        c @ ('\\' | '"' | '\'') => text.push(c),
        kind @ ('x' | 'u') => {
            let digits = if kind == 'x' { 2 } else { 4 };
            let code: String = chars.by_ref().take(digits).map(|(_, c)| c).collect();
            text.push(char::from_u32(u32::from_str_radix(&code, 16).ok()?)?);
        }
        other => {
            text.push('\\');
            text.push(other);
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::{Found, calls};
    use proptest::prelude::{any, proptest};
    use serde_json::{Value, json};

    fn arguments(text: &str) -> Value {
        match calls(text) {
            Found::Calls(calls, _) => serde_json::from_str(&calls[0].arguments).unwrap(),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn values_of_every_form_are_read() {
        assert_eq!(
            arguments(
                r#"edit(path = 'a b.py', n=-3, all=True, none=None, l=["x", 2.5,], d={"k": ("t",)})"#
            ),
            json!({"path": "a b.py", "n": -3, "all": true, "none": null, "l": ["x", 2.5], "d": {"k": ["t"]}})
        );
        assert_eq!(
            arguments(
                "write(content=\"\"\"a \"quoted\"\n  line\\n\"\"\", path='it\\'s \\u00e9 \\d')"
            ),
            json!({"content": "a \"quoted\"\n  line\n", "path": "it's é \\d"})
        );
    }

    #[test]
    fn white_space_inside_strings_is_kept() {
        assert_eq!(
            arguments("bash(command='  ls ')"),
            json!({"command": "  ls "})
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in any::<String>()) {
            let _ = calls(&text);
            let _ = calls(&format!("read({text}"));
        }
    }
}
