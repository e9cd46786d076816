//! opencode as an engine: its configuration, its arguments, its events. Pure.

use serde_json::{Map, Value, json};

use super::relay::BASE_URL;

/// What its configuration and arguments are made of.
#[derive(Debug, Clone)]
pub(crate) struct Setup<'a> {
    pub(crate) model: &'a str,
    pub(crate) window: Option<u64>,
    pub(crate) output: u64,
    pub(crate) key: &'a str,
    pub(crate) title: &'a str,
    pub(crate) prompt: &'a str,
}

/// The command line.
pub(crate) fn arguments(setup: &Setup<'_>, more: &[String]) -> Vec<String> {
    let mut args: Vec<String> = ["run", "--pure", "--format", "json", "--model"]
        .map(String::from)
        .to_vec();
    args.push(format!("baton/{}", setup.model));
    // With a title of ours it need not ask the model for one.
    args.extend(["--title".into(), setup.title.into()]);
    args.extend(more.iter().cloned());
    args.extend(["--".into(), setup.prompt.into()]);
    args
}

/// The variables. The whole configuration comes this way, so no file of the user's counts.
pub(crate) fn variables(setup: &Setup<'_>) -> Vec<(String, String)> {
    let mut models = Map::new();
    let mut limit = Map::new();
    // It insists on a window; without one it would take its own idea of it.
    limit.insert("context".into(), json!(setup.window.unwrap_or(32_768)));
    limit.insert("output".into(), json!(setup.output));
    models.insert(
        setup.model.into(),
        json!({"name": setup.model, "tool_call": true, "limit": limit}),
    );
    let model = format!("baton/{}", setup.model);
    let config = json!({
        "provider": {"baton": {
            "npm": "@ai-sdk/openai-compatible", "name": "baton", "models": models,
            "options": {"baseURL": BASE_URL, "apiKey": setup.key}}},
        "model": model, "small_model": model, "enabled_providers": ["baton"],
        "autoupdate": false, "share": "disabled", "snapshot": false, "lsp": false, "formatter": false,
        // The border holds it back; nobody could answer a question.
        "permission": {"*": "allow"},
    });
    let mut out = vec![("OPENCODE_CONFIG_CONTENT".into(), config.to_string())];
    for name in [
        "OPENCODE_DISABLE_AUTOUPDATE",
        "OPENCODE_DISABLE_LSP_DOWNLOAD",
        "OPENCODE_DISABLE_MODELS_FETCH",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS",
    ] {
        out.push((name.into(), "1".into()));
    }
    out
}

/// What one line of its output means to us.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Line {
    /// A tool ran: the fields of our event.
    Tool(Value),
    /// The model said something.
    Text(String),
    /// Something went wrong.
    Error(String),
    /// Nothing for us.
    Other,
}

/// Reads a line of `opencode run --format json`.
pub(crate) fn line(bytes: &[u8]) -> Line {
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else {
        return Line::Other;
    };
    let part = &value["part"];
    match value["type"].as_str().unwrap_or_default() {
        "tool_use" => {
            let state = &part["state"];
            let error = (state["status"] == "error").then(|| state["error"].clone());
            let time = |name: &str| state["time"][name].as_u64();
            let took = time("end")
                .zip(time("start"))
                .map(|(end, start)| end.saturating_sub(start));
            Line::Tool(json!({
                "tool": part["tool"], "arguments": brief(&state["input"]), "error": error,
                "exit_code": state["metadata"]["exit"], "duration_ms": took,
                "result_bytes": state["output"].as_str().map(str::len)}))
        }
        "text" => Line::Text(part["text"].as_str().unwrap_or_default().trim().into()),
        "error" => {
            let error = &value["error"];
            let words = error["data"]["message"]
                .as_str()
                .or_else(|| error["message"].as_str())
                .or_else(|| error["name"].as_str())
                .map_or_else(|| error.to_string(), str::to_string);
            Line::Error(words.chars().take(400).collect())
        }
        _ => Line::Other,
    }
}

/// The arguments of a tool: long texts as their length.
fn brief(input: &Value) -> Value {
    let mut input = input.clone();
    if let Some(map) = input.as_object_mut() {
        for value in map.values_mut() {
            if let Some(text) = value.as_str().filter(|text| text.len() > 200) {
                *value = json!(format!("({} bytes)", text.len()));
            }
        }
    }
    input
}

#[cfg(test)]
mod tests {
    use super::{Line, Setup, arguments, line, variables};
    use serde_json::{Value, json};

    const SETUP: Setup<'static> = Setup {
        model: "Qwen/Qwen3",
        window: Some(8192),
        output: 1024,
        key: "k",
        title: "t",
        prompt: "--fix it",
    };

    #[test]
    fn the_configuration_is_whole_and_the_prompt_is_no_flag() {
        let args = arguments(&SETUP, &["--agent".into(), "plan".into()]);
        assert_eq!(args.last().unwrap(), "--fix it");
        assert_eq!(args[args.len() - 2], "--");
        assert!(args.contains(&"baton/Qwen/Qwen3".into()));
        let all = variables(&SETUP);
        let config: Value = serde_json::from_str(&all[0].1).unwrap();
        let provider = &config["provider"]["baton"];
        assert_eq!(provider["options"]["baseURL"], super::BASE_URL);
        assert_eq!(provider["models"]["Qwen/Qwen3"]["limit"]["context"], 8192);
        assert_eq!(config["small_model"], "baton/Qwen/Qwen3");
    }

    #[test]
    fn its_lines_become_our_events() {
        let tool = json!({"type": "tool_use", "part": {"type": "tool", "tool": "bash", "state": {
            "status": "completed", "input": {"command": "make"}, "output": "ok\n",
            "metadata": {"exit": 2}, "time": {"start": 5, "end": 30}}}});
        let Line::Tool(event) = line(tool.to_string().as_bytes()) else {
            panic!("no tool");
        };
        assert_eq!(event["tool"], "bash");
        assert_eq!(event["exit_code"], 2);
        assert_eq!(event["duration_ms"], 25);
        let text = json!({"type": "text", "part": {"text": " done \n"}});
        assert_eq!(line(text.to_string().as_bytes()), Line::Text("done".into()));
        let error =
            json!({"type": "error", "error": {"name": "APIError", "data": {"message": "no"}}});
        assert_eq!(line(error.to_string().as_bytes()), Line::Error("no".into()));
        assert_eq!(line(b"not json"), Line::Other);
        assert_eq!(line(b"[1]"), Line::Other);
    }
}
