//! Making Baton at home in opencode: what its configuration is to hold, and its agents and commands.
//!
//! Only what is missing is added. A value that is there is the user's and stays, whatever it is.

pub(crate) mod files;
pub(crate) mod jsonc;

use serde_json::{Map, Value, json};

/// The name of our provider in opencode's configuration, where none is found.
pub(crate) const PROVIDER: &str = "openai-compatible";

/// The address, as opencode fills it in when it starts: never the address itself.
const ADDRESS: &str = "{env:OPENCODE_VLLM_BASE_URL}";
const KEY: &str = "{env:OPENCODE_VLLM_API_KEY}";

/// A model that is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Served {
    pub id: String,
    /// What one request may use; none: not known, and then no limit is written.
    pub context: Option<u64>,
}

/// What `opencode.jsonc` is to hold, for models of which the first is preferred.
pub(crate) fn wanted(provider: &str, models: &[Served], request: &Map<String, Value>) -> Value {
    let entries: Map<String, Value> = models
        .iter()
        .map(|model| (model.id.clone(), entry(model, request)))
        .collect();
    let mut wanted = json!({
        "$schema": "https://opencode.ai/config.json",
        "provider": {
            provider: {
                "npm": "@ai-sdk/openai-compatible",
                "name": "Local model server",
                "options": {"baseURL": ADDRESS, "apiKey": KEY, "timeout": 600_000},
                "models": entries,
            },
        },
    });
    if let Some(first) = models.first() {
        wanted["model"] = format!("{provider}/{}", first.id).into();
    }
    wanted["default_agent"] = "orchestrator".into();
    wanted
}

/// What of a configuration keeps opencode from our provider, in words.
pub(crate) fn left_out(config: &Value, provider: &str) -> Option<String> {
    let names = |key: &str| config[key].as_array();
    let has = |all: &Vec<Value>| all.iter().any(|v| v.as_str() == Some(provider));
    if names("disabled_providers").is_some_and(has) {
        return Some(format!(
            "opencode will not use `{provider}`: disabled_providers names it; take it out there"
        ));
    }
    let missing = names("enabled_providers").is_some_and(|all| !has(all));
    missing.then(|| {
        format!(
            "opencode will not use `{provider}`: add it to enabled_providers, which leaves it out"
        )
    })
}

fn entry(model: &Served, request: &Map<String, Value>) -> Value {
    let mut entry = json!({"name": model.id, "tool_call": true, "options": request});
    if let Some(context) = model.context {
        // Without an output limit opencode keeps 32k free for the answer, which leaves a small window
        // nothing to work with.
        let output = (context / 4).clamp(1, 8_192);
        entry["limit"] = json!({"context": context, "output": output});
    }
    entry
}

/// What goes into every completion where the configuration says nothing else: thinking, within bounds.
pub(crate) fn usual_request() -> Map<String, Value> {
    let usual = json!({
        "chat_template_kwargs": {"enable_thinking": true, "thinking_budget": 2048},
        "thinking_token_budget": 2048,
    });
    usual.as_object().cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Served, left_out, usual_request, wanted};

    #[test]
    fn a_provider_that_is_left_out_is_told() {
        for (config, says) in [
            (json!({}), None),
            (json!({"enabled_providers": ["x", "arc"]}), None),
            (
                json!({"enabled_providers": ["x"]}),
                Some("add it to enabled_providers"),
            ),
            (json!({"disabled_providers": ["arc"]}), Some("take it out")),
        ] {
            let told = left_out(&config, "arc");
            assert_eq!(told.is_some(), says.is_some(), "{config}");
            assert!(told.unwrap_or_default().contains(says.unwrap_or_default()));
        }
    }

    #[test]
    fn the_address_is_never_written_down_and_an_unknown_window_gets_no_limit() {
        let models = [
            Served {
                id: "qwen38".into(),
                context: Some(16_384),
            },
            Served {
                id: "org/other".into(),
                context: None,
            },
        ];
        let value = wanted("arc", &models, &usual_request());
        let options = &value["provider"]["arc"]["options"];
        assert_eq!(options["baseURL"], "{env:OPENCODE_VLLM_BASE_URL}");
        assert_eq!(options["timeout"], 600_000);
        let model = &value["provider"]["arc"]["models"]["qwen38"];
        assert_eq!(model["limit"]["output"], 4_096);
        assert_eq!(
            model["options"]["chat_template_kwargs"]["thinking_budget"],
            2_048
        );
        assert!(
            value["provider"]["arc"]["models"]["org/other"]
                .get("limit")
                .is_none()
        );
        assert_eq!(value["model"], "arc/qwen38");
    }
}
