//! Adding what is missing to a JSONC text, and not a byte elsewhere.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::{Map, Value};

/// A configuration's new text and the paths that were added.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Filled {
    pub text: String,
    pub added: Vec<String>,
    /// Where something else than an object stands in the way of what is wanted below it.
    pub blocked: Vec<String>,
}

/// Adds every key of `wanted` that the text lacks, at every depth. What is there stays, also where it
/// is of another kind.
pub(crate) fn fill(text: &str, wanted: &Value) -> Result<Filled, String> {
    let (mark, body) = match text.strip_prefix('\u{feff}') {
        Some(body) => ("\u{feff}", body),
        None => ("", text),
    };
    let root = parse(body)?;
    let (mut added, mut blocked) = (Vec::new(), Vec::new());
    if let Some(wanted) = wanted.as_object() {
        let object = root
            .object_value_or_create()
            .ok_or("it holds something else than an object, so it was left alone")?;
        fill_object(&object, wanted, &[], &mut added, &mut blocked);
    }
    let text = if added.is_empty() {
        text.to_owned()
    } else {
        format!("{mark}{root}")
    };
    Ok(Filled {
        text,
        added,
        blocked,
    })
}

/// The text as plain JSON.
pub(crate) fn value(text: &str) -> Result<Value, String> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    Ok(parse(body)?.to_serde_value().unwrap_or(Value::Null))
}

fn parse(text: &str) -> Result<CstRootNode, String> {
    // What opencode reads: comments and commas at the end, and no more.
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        ..ParseOptions::default()
    };
    CstRootNode::parse(text, &options)
        .map_err(|e| format!("it cannot be read, so it was left alone: {e}"))
}

fn fill_object(
    object: &CstObject,
    wanted: &Map<String, Value>,
    above: &[&str],
    added: &mut Vec<String>,
    blocked: &mut Vec<String>,
) {
    for (key, value) in wanted {
        let path = [above, &[key.as_str()]].concat();
        match object.get(key) {
            None => {
                object.append(key, input(value));
                added.push(path.join("."));
            }
            Some(there) => {
                let Some(value) = value.as_object() else {
                    continue;
                };
                let Some(there) = there.object_value() else {
                    blocked.push(path.join("."));
                    continue;
                };
                if is_model(&path) {
                    // A model that somebody described is theirs, but for a limit it lacks.
                    let limit = value.get_key_value("limit");
                    let only: Map<String, Value> = limit
                        .map(|(k, v)| (k.clone(), v.clone()))
                        .into_iter()
                        .collect();
                    if there.get("limit").is_none() {
                        fill_object(&there, &only, &path, added, blocked);
                    }
                } else {
                    fill_object(&there, value, &path, added, blocked);
                }
            }
        }
    }
}

/// `provider.ID.models.MODEL`.
fn is_model(path: &[&str]) -> bool {
    matches!(path, ["provider", _, "models", _])
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(yes) => CstInputValue::Bool(*yes),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(map) => {
            CstInputValue::Object(map.iter().map(|(k, v)| (k.clone(), input(v))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{fill, value};

    #[test]
    fn comments_commas_and_values_that_are_there_stay() {
        let text = "{\n  // mine\n  \"model\": \"a/b\", /* why */\n  \"provider\": {\n    \"x\": { \"npm\": \"y\" },\n  },\n}\n";
        let wanted =
            json!({"model": "c/d", "provider": {"x": {"npm": "z", "name": "n"}}, "k": [1]});
        let filled = fill(text, &wanted).unwrap();
        assert_eq!(filled.added, ["provider.x.name", "k"]);
        for kept in [
            "// mine\n",
            "\"model\": \"a/b\", /* why */",
            "\"npm\": \"y\"",
        ] {
            assert!(filled.text.contains(kept), "{kept}: {}", filled.text);
        }
        let again = fill(&filled.text, &wanted).unwrap();
        assert_eq!(again.text, filled.text);
        assert!(again.added.is_empty());
        assert_eq!(value(&filled.text).unwrap()["k"], json!([1]));
    }

    #[test]
    fn a_model_s_options_and_limit_are_the_user_s_as_a_whole() {
        let text = "{\"provider\":{\"x\":{\"models\":{\"m\":{\"limit\":{\"context\":1},\"options\":{}}}}}}";
        let wanted = json!({"provider": {"x": {"models": {"m": {
            "limit": {"context": 2, "output": 1}, "options": {"a": 1}}}}}});
        assert_eq!(fill(text, &wanted).unwrap().text, text);
        let without = "{\"provider\":{\"x\":{\"models\":{\"m\":{\"name\": \"mine\"}}}}}";
        let added = fill(without, &wanted).unwrap().added;
        assert_eq!(added, ["provider.x.models.m.limit"]);
        // Names may hold dots.
        let dotted = text
            .replace("\"x\"", "\"gpu.box\"")
            .replace("\"m\"", "\"a.b\"");
        let mut wanted =
            json!({"provider": {"gpu.box": {"models": {"a.b": {"options": {"a": 1}}}}}});
        wanted["provider"]["gpu.box"]["models"]["a.b"]["name"] = "n".into();
        assert_eq!(fill(&dotted, &wanted).unwrap().text, dotted);
    }

    #[test]
    fn what_stands_in_the_way_is_named_and_stays() {
        let wanted = json!({"provider": {"x": {"models": {"m": {}}}}, "model": "x/m"});
        for (text, way) in [
            ("{\"provider\": null, \"model\": 1}", "provider"),
            (
                "{\"provider\": {\"x\": {\"models\": [\"m\"]}}, \"model\": 1}",
                "provider.x.models",
            ),
        ] {
            let filled = fill(text, &wanted).unwrap();
            assert_eq!(filled.blocked, [way]);
            assert_eq!(filled.text, text);
        }
    }

    #[test]
    fn empty_files_and_crlf_are_fine_and_what_is_broken_is_left_alone() {
        for text in ["", "{}", "{}\r\n", "\u{feff}{\r\n}\r\n", "// only words\n"] {
            let filled = fill(text, &json!({"a": {"b": true}})).unwrap();
            assert_eq!(
                value(&filled.text).unwrap(),
                json!({"a": {"b": true}}),
                "{text:?}"
            );
            assert_eq!(
                filled.text.starts_with('\u{feff}'),
                text.starts_with('\u{feff}')
            );
        }
        for text in ["{", "[1]", "{a: 1}", "{\"a\": 1 \"b\": 2}"] {
            assert!(
                fill(text, &json!({"a": 1}))
                    .unwrap_err()
                    .contains("left alone"),
                "{text}"
            );
        }
    }
}
