//! Placeholders in a script's texts.

use serde_json::Value;

use super::ScriptError;
use crate::chat::Chat;

/// Replaces every `{{file:PATH}}` in the strings of a tree.
pub(crate) fn insert_files(
    tree: &mut Value,
    file: &dyn Fn(&str) -> Result<String, ScriptError>,
) -> Result<(), ScriptError> {
    let mut failure = None;
    strings(tree, &mut |text| {
        replace(text, &mut |name| {
            let path = name.strip_prefix("file:")?;
            file(path).map_err(|e| failure = Some(e)).ok()
        })
    });
    failure.map_or(Ok(()), Err)
}

/// Fills the placeholders of a text from the request.
pub(crate) fn text(template: &str, chat: &Chat, number: u64) -> String {
    replace(template, &mut |name| lookup(name, chat, number))
}

/// Fills the placeholders of every string in a tree.
pub(crate) fn tree(value: &Value, chat: &Chat, number: u64) -> Value {
    let mut value = value.clone();
    strings(&mut value, &mut |template| text(template, chat, number));
    value
}

fn strings(tree: &mut Value, change: &mut dyn FnMut(&str) -> String) {
    match tree {
        Value::String(text) if text.contains("{{") => *text = change(text),
        Value::Array(items) => items.iter_mut().for_each(|item| strings(item, change)),
        Value::Object(map) => map.values_mut().for_each(|item| strings(item, change)),
        _ => {}
    }
}

/// Replaces what `lookup` knows; anything else in double braces stays.
fn replace(template: &str, lookup: &mut dyn FnMut(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, tail)) = rest.split_once("{{") {
        out.push_str(before);
        let found = tail
            .split_once("}}")
            .and_then(|(name, after)| Some((lookup(name)?, after)));
        if let Some((value, after)) = found {
            out.push_str(&value);
            rest = after;
        } else {
            out.push_str("{{");
            rest = tail;
        }
    }
    out.push_str(rest);
    out
}

fn lookup(name: &str, chat: &Chat, number: u64) -> Option<String> {
    let of = |message: Option<&crate::chat::Message>| message.map(|m| m.text.clone());
    match name.trim() {
        "system" => return Some(chat.system()),
        "user" => return Some(of(chat.last_of("user")).unwrap_or_default()),
        "first" => {
            return Some(of(chat.messages.iter().find(|m| m.role == "user")).unwrap_or_default());
        }
        "last" => return Some(of(chat.messages.last()).unwrap_or_default()),
        "model" => return Some(chat.model.clone()),
        "turn" => return Some(chat.turn().to_string()),
        "request" => return Some(number.to_string()),
        _ => {}
    }
    let newest_first = || chat.messages.iter().rev().map(|m| m.text.as_str());
    if let Some(marker) = name.strip_prefix("after:") {
        return Some(
            newest_first()
                .find_map(|text| word_after(text, marker))
                .unwrap_or_default(),
        );
    }
    let (from, to) = name.strip_prefix("between:")?.split_once('|')?;
    let between = |text: &str| {
        let inside = &text[text.find(from)? + from.len()..];
        Some(inside[..inside.find(to)?].to_owned())
    };
    Some(newest_first().find_map(between).unwrap_or_default())
}

/// The first word behind `marker`, without the quotes and brackets people put around words.
fn word_after(text: &str, marker: &str) -> Option<String> {
    let at = text.find(marker)? + marker.len();
    let dressing = |c: char| "\"'`:=,;()[]{}<>".contains(c);
    let word = |w: &str| {
        let end = |c: char| dressing(c) || c == '.';
        w.trim_start_matches(dressing)
            .trim_end_matches(end)
            .to_owned()
    };
    text[at..]
        .split_whitespace()
        .map(word)
        .find(|w| !w.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn chat() -> Chat {
        Chat::from_body(&json!({"model": "m", "messages": [
            {"role": "system", "content": "Your nonce: `a1b2`."},
            {"role": "user", "content": "Fix File: src/a.py\nnow"},
        ]}))
    }

    #[test]
    fn known_placeholders_are_filled_and_others_stay() {
        let fill = |t: &str| text(t, &chat(), 7);
        assert_eq!(
            fill("{{after:nonce}}|{{between:File: |\n}}"),
            "a1b2|src/a.py"
        );
        assert_eq!(
            fill("{{model}}{{turn}}{{request}} {{ x }} {{"),
            "m07 {{ x }} {{"
        );
    }

    proptest::proptest! {
        #[test]
        fn any_template_is_survived(template: String) {
            let _ = text(&template, &chat(), 1);
        }
    }
}
