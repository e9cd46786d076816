//! JSON that satisfies a schema, as a structured-output engine would force it.

use serde_json::{Map, Value, json};

/// How deep nested schemas are followed before `null` ends it.
const DEPTH: usize = 24;

/// The shortest sensible value a schema allows; `wish` gives values for top-level keys.
pub(crate) fn fill(schema: &Value, wish: &Map<String, Value>) -> Value {
    let mut value = make(schema, schema, "value", DEPTH);
    if let Some(object) = value.as_object_mut() {
        for (key, wanted) in wish {
            object.insert(key.clone(), wanted.clone());
        }
    }
    value
}

/// A type name in a schema that no engine knows, if there is one.
pub(crate) fn unknown_type(schema: &Value) -> Option<String> {
    const KNOWN: [&str; 7] = [
        "object", "array", "string", "number", "integer", "boolean", "null",
    ];
    let kind = schema.get("type").and_then(Value::as_str);
    if let Some(kind) = kind.filter(|kind| !KNOWN.contains(kind)) {
        return Some(kind.to_owned());
    }
    let properties = schema["properties"].as_object();
    let nested = properties
        .into_iter()
        .flat_map(Map::values)
        .chain(schema.get("items"));
    nested.filter(|s| s.is_object()).find_map(unknown_type)
}

fn make(root: &Value, schema: &Value, name: &str, depth: usize) -> Value {
    if depth == 0 {
        return Value::Null;
    }
    let next = |schema: &Value, name: &str| make(root, schema, name, depth - 1);
    if let Some(target) = schema["$ref"].as_str() {
        let found = target
            .strip_prefix('#')
            .and_then(|pointer| root.pointer(pointer));
        return found.map_or(Value::Null, |schema| next(schema, name));
    }
    for fixed in [
        &schema["const"],
        &schema["default"],
        &schema["enum"][0],
        &schema["examples"][0],
    ] {
        if !fixed.is_null() {
            return fixed.clone();
        }
    }
    if let Some(choices) = schema["anyOf"]
        .as_array()
        .or_else(|| schema["oneOf"].as_array())
    {
        let real = choices.iter().find(|choice| choice["type"] != "null");
        return real.map_or(Value::Null, |choice| next(choice, name));
    }
    if let Some(parts) = schema["allOf"].as_array() {
        let mut whole = Map::new();
        for part in parts {
            if let Value::Object(more) = next(part, name) {
                whole.extend(more);
            }
        }
        return Value::Object(whole);
    }
    match kind(schema) {
        "object" => {
            let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
            let member = |key: &Value| {
                let key = key.as_str()?;
                Some((key.to_owned(), next(&schema["properties"][key], key)))
            };
            Value::Object(required.iter().filter_map(member).collect())
        }
        "array" => {
            let least = schema["minItems"].as_u64().unwrap_or(0).min(64);
            (0..least).map(|_| next(&schema["items"], name)).collect()
        }
        "integer" => schema["minimum"]
            .as_i64()
            .map_or(json!(0), |least| json!(least)),
        "number" => schema["minimum"]
            .as_f64()
            .map_or(json!(0), |least| json!(least)),
        "boolean" => json!(true),
        "null" => Value::Null,
        _ => json!(string(schema, name)),
    }
}

fn kind(schema: &Value) -> &str {
    let of_list = || {
        schema["type"]
            .as_array()?
            .iter()
            .filter_map(Value::as_str)
            .find(|k| *k != "null")
    };
    let implied = if schema["properties"].is_object() {
        "object"
    } else {
        "string"
    };
    schema["type"].as_str().or_else(of_list).unwrap_or(implied)
}

fn string(schema: &Value, name: &str) -> String {
    let text = match schema["format"].as_str() {
        Some("date-time") => "2026-01-01T00:00:00Z".to_owned(),
        Some("date") => "2026-01-01".to_owned(),
        Some("uri") => "https://example.invalid/".to_owned(),
        _ => format!("simulated {}", name.replace('_', " ")),
    };
    let most = schema["maxLength"]
        .as_u64()
        .and_then(|n| usize::try_from(n).ok())
        .unwrap_or(usize::MAX);
    let least = schema["minLength"]
        .as_u64()
        .and_then(|n| usize::try_from(n).ok())
        .unwrap_or(0)
        .min(4096);
    let mut text: String = text.chars().take(most).collect();
    while text.chars().count() < least {
        text.push('.');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_required_is_there_and_wishes_win() {
        let schema = json!({
            "type": "object", "required": ["verdict", "score", "items", "who"],
            "properties": {
                "verdict": {"enum": ["approve", "changes"]},
                "score": {"type": "integer", "minimum": 3},
                "items": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/item"}},
                "who": {"type": ["null", "string"], "maxLength": 4},
            },
            "$defs": {"item": {"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean"}}}},
        });
        let wish = Map::from_iter([("verdict".to_owned(), json!("changes"))]);
        assert_eq!(
            fill(&schema, &wish),
            json!({"verdict": "changes", "score": 3, "items": [{"ok": true}], "who": "simu"})
        );
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let schema = json!({"$ref": "#"});
        assert_eq!(fill(&schema, &Map::new()), Value::Null);
    }

    #[test]
    fn an_unknown_type_is_named() {
        let schema = json!({"type": "object", "properties": {"a": {"type": "wat"}}});
        assert_eq!(unknown_type(&schema).as_deref(), Some("wat"));
    }
}
