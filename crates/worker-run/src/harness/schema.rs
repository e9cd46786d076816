//! Checking a result against the parts of JSON Schema that tasks use.

use serde_json::Value;

/// The first thing that is wrong, with its JSON path. Keywords beyond these are not judged:
/// type, enum, const, required, properties, additionalProperties, items, minItems, anyOf, oneOf.
pub(crate) fn check(schema: &Value, value: &Value) -> Result<(), String> {
    at(schema, value, "$", 0)
}

fn at(schema: &Value, value: &Value, path: &str, depth: usize) -> Result<(), String> {
    let Some(rules) = schema.as_object() else {
        return Ok(());
    };
    if depth > 64 {
        return Err(format!("{path}: nested too deeply"));
    }
    if let Some(wanted) = rules.get("type") {
        let names: Vec<&str> = match wanted {
            Value::String(name) => vec![name],
            Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        if !names.is_empty() && !names.iter().any(|name| is_type(name, value)) {
            return Err(format!(
                "{path} must be {}, not {}",
                names.join(" or "),
                type_of(value)
            ));
        }
    }
    if let Some(allowed) = rules.get("enum").and_then(Value::as_array)
        && !allowed.contains(value)
    {
        return Err(format!(
            "{path} must be one of {}",
            Value::Array(allowed.clone())
        ));
    }
    if rules.get("const").is_some_and(|only| only != value) {
        return Err(format!("{path} must be {}", rules["const"]));
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(options) = rules.get(key).and_then(Value::as_array)
            && !options
                .iter()
                .any(|option| at(option, value, path, depth + 1).is_ok())
        {
            return Err(format!("{path} follows none of its alternatives"));
        }
    }
    if let Some(map) = value.as_object() {
        for name in rules
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            if let Some(name) = name.as_str()
                && !map.contains_key(name)
            {
                return Err(format!("{path}.{name} is missing"));
            }
        }
        let properties = rules.get("properties").and_then(Value::as_object);
        for (name, inner) in map {
            match properties.and_then(|p| p.get(name)) {
                Some(rule) => at(rule, inner, &format!("{path}.{name}"), depth + 1)?,
                None if rules.get("additionalProperties") == Some(&Value::Bool(false)) => {
                    return Err(format!("{path}.{name} is not allowed"));
                }
                None => {}
            }
        }
    }
    if let Some(list) = value.as_array() {
        let least = rules.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        if u64::try_from(list.len()).unwrap_or(0) < least {
            return Err(format!("{path} needs at least {least} items"));
        }
        if let Some(rule) = rules.get("items") {
            for (n, item) in list.iter().enumerate() {
                at(rule, item, &format!("{path}[{n}]"), depth + 1)?;
            }
        }
    }
    Ok(())
}

fn is_type(name: &str, value: &Value) -> bool {
    match name {
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        other => other == type_of(value),
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use serde_json::json;

    #[test]
    fn the_first_wrong_place_is_named() {
        let schema = json!({"type": "object", "required": ["tasks"], "properties": {
            "tasks": {"type": "array", "minItems": 1, "items": {"type": "object", "required": ["id"],
                "properties": {"id": {"type": "string"}, "kind": {"enum": ["a", "b"]}}}}}});
        assert_eq!(
            check(&schema, &json!({"tasks": [{"id": "x", "kind": "a"}]})),
            Ok(())
        );
        let wrong = |value| check(&schema, &value).unwrap_err();
        assert_eq!(wrong(json!({})), "$.tasks is missing");
        assert_eq!(
            wrong(json!({"tasks": []})),
            "$.tasks needs at least 1 items"
        );
        assert_eq!(
            wrong(json!({"tasks": [{"id": 1}]})),
            "$.tasks[0].id must be string, not number"
        );
        assert!(wrong(json!({"tasks": [{"id": "x", "kind": "c"}]})).contains("one of"));
        assert_eq!(wrong(json!(null)), "$ must be object, not null");
    }

    #[test]
    fn alternatives_and_closed_objects() {
        let schema =
            json!({"anyOf": [{"type": "null"}, {"type": "object", "additionalProperties": false}]});
        assert_eq!(check(&schema, &json!(null)), Ok(()));
        assert!(check(&schema, &json!({"x": 1})).is_err());
    }
}
