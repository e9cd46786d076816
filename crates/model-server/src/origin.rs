//! Where a server has its model from: a path on its machine or a name on a hub. No server hands out
//! its vocabulary; what is at that path or under that name on this machine is the same one.

use std::time::Duration;

use baton_process::Cancel;
use baton_protocol::ServerKind;
use serde_json::{Value, json};

use crate::client::Client;
use crate::clocks::Clocks;
use crate::errors::{CallError, ErrorClass};

/// These routes answer from memory.
const LIMIT: Duration = Duration::from_secs(10);

impl Client {
    /// The path or hub name of a model, as the server tells it; none where it does not.
    pub fn model_origin(&self, kind: ServerKind, model: &str) -> Result<Option<String>, CallError> {
        let endpoint = self.endpoint();
        let (url, body) = match kind {
            ServerKind::LlamaCpp => (endpoint.at_root("/props"), None),
            ServerKind::Vllm => (endpoint.at_api("/models"), None),
            ServerKind::SgLang => (endpoint.at_root("/get_model_info"), None),
            ServerKind::Tgi => (endpoint.at_root("/info"), None),
            ServerKind::Ollama => (endpoint.at_root("/api/show"), Some(json!({"model": model}))),
            _ => return Ok(None),
        };
        let whole = self.whole(
            url.clone(),
            body.as_ref(),
            &Clocks::all(LIMIT),
            &Cancel::new(),
        )?;
        if whole.head.status != 200 {
            let message = format!("{url} answered with status {}", whole.head.status);
            let error = CallError::new(ErrorClass::FeatureOff, message);
            return Err(error.with_status(whole.head.status));
        }
        let answer: Value = serde_json::from_slice(&whole.body).unwrap_or_default();
        Ok(origin(kind, model, &answer))
    }
}

/// The origin in a route's answer.
fn origin(kind: ServerKind, model: &str, answer: &Value) -> Option<String> {
    let text = |value: &Value| {
        value
            .as_str()
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    };
    match kind {
        ServerKind::LlamaCpp => text(&answer["model_path"]),
        ServerKind::Vllm => {
            let mut listed = answer["data"].as_array()?.iter();
            text(&listed.find(|entry| entry["id"] == model)?["root"])
        }
        ServerKind::SgLang => {
            text(&answer["tokenizer_path"]).or_else(|| text(&answer["model_path"]))
        }
        ServerKind::Tgi => text(&answer["model_id"]),
        // The first FROM of the model file is the blob, a GGUF file.
        ServerKind::Ollama => {
            let file = answer["modelfile"].as_str()?;
            let from = file.lines().find_map(|line| line.strip_prefix("FROM "))?;
            text(&Value::from(from.trim()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use baton_protocol::ServerKind;
    use serde_json::{Value, json};

    use super::origin;

    #[test]
    fn each_server_tells_it_its_own_way() {
        let of = |kind, answer: Value| origin(kind, "m", &answer);
        let gguf = json!({"model_path": "/models/m.gguf", "total_slots": 1});
        assert_eq!(
            of(ServerKind::LlamaCpp, gguf).as_deref(),
            Some("/models/m.gguf")
        );
        let listed =
            json!({"data": [{"id": "lora", "root": "x"}, {"id": "m", "root": "Org/Name"}]});
        assert_eq!(of(ServerKind::Vllm, listed).as_deref(), Some("Org/Name"));
        let info = json!({"model_path": "/a", "tokenizer_path": "/b", "is_generation": true});
        assert_eq!(of(ServerKind::SgLang, info).as_deref(), Some("/b"));
        assert_eq!(
            of(ServerKind::Tgi, json!({"model_id": "Org/Name"})).as_deref(),
            Some("Org/Name")
        );
        let show = json!({"modelfile": "# comment\nFROM /o/blobs/sha256-12\nTEMPLATE x\n"});
        assert_eq!(
            of(ServerKind::Ollama, show).as_deref(),
            Some("/o/blobs/sha256-12")
        );
    }

    #[test]
    fn what_is_not_told_is_none() {
        for kind in [
            ServerKind::LlamaCpp,
            ServerKind::Vllm,
            ServerKind::Ollama,
            ServerKind::LmStudio,
        ] {
            assert_eq!(origin(kind, "m", &json!({})), None);
        }
        let listed = json!({"data": [{"id": "m", "root": null}]});
        assert_eq!(origin(ServerKind::Vllm, "m", &listed), None);
    }
}
