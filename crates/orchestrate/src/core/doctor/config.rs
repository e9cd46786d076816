//! The configuration as a flat list of keys, each with its origin.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Setting;

/// Flattens a configuration. Keys that no layer set have the origin `default`; keys that are not set
/// and have no default are left out.
pub(crate) fn settings(config: &Value, origins: &BTreeMap<String, String>) -> Vec<Setting> {
    let mut found = Vec::new();
    flatten(config, "", origins, &mut found);
    found
}

fn flatten(
    value: &Value,
    path: &str,
    origins: &BTreeMap<String, String>,
    found: &mut Vec<Setting>,
) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                flatten(value, &joined(path, key), origins, found);
            }
        }
        Value::Array(items) if path == "provider" => {
            for item in items {
                let id = item["id"].as_str().unwrap_or_default();
                flatten(item, &joined(path, id), origins, found);
            }
        }
        Value::Null => {}
        Value::Object(_) | Value::Array(_)
            if is_empty(value) && origin(path, origins).is_none() => {}
        value => found.push(Setting {
            key: path.to_owned(),
            value: match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            },
            origin: origin(path, origins).unwrap_or("default").to_owned(),
        }),
    }
}

fn joined(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

/// Where a key was set: itself, or the table that was given as a whole.
fn origin<'a>(path: &str, origins: &'a BTreeMap<String, String>) -> Option<&'a str> {
    let mut path = path;
    loop {
        if let Some(origin) = origins.get(path) {
            return Some(origin);
        }
        path = path.rsplit_once('.')?.0;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::settings;

    #[test]
    fn keys_are_flat_and_know_who_set_them() {
        let config = json!({
            "provider": [{"id": "arc", "slots": 2, "price": null, "request": {"a": {"b": 1}}}],
            "run": {"max_rounds": 2, "launcher": []},
        });
        let origins: BTreeMap<String, String> = [
            ("provider.arc.slots", "/etc/a.toml"),
            ("provider.arc.request", "flag"),
        ]
        .into_iter()
        .map(|(k, v)| (k.to_owned(), v.to_owned()))
        .collect();
        let found = settings(&config, &origins);
        let rows: Vec<String> = found
            .iter()
            .map(|s| format!("{}={} {}", s.key, s.value, s.origin))
            .collect();
        assert_eq!(
            rows,
            [
                "provider.arc.id=arc default",
                "provider.arc.slots=2 /etc/a.toml",
                "provider.arc.request.a.b=1 flag",
                "run.max_rounds=2 default",
            ]
        );
    }
}
