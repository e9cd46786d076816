//! What the server tells of itself, asked once while git and the first checks run.

use std::thread::JoinHandle;
use std::time::Duration;

use baton_model_server::Endpoint;
use baton_model_server::probe::{ProbeOptions, find_model, probe};
use baton_process::Cancel;
use baton_protocol::{Model, ModelState, Provider, ServerKind};
use serde::{Deserialize, Serialize};

/// A server that is busy may be slow to answer; the task can start without this.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is known of the server and its model; none where it does not tell.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Served {
    /// The kind of server.
    pub(crate) kind: Option<ServerKind>,
    /// The model to ask for.
    pub(crate) model: Option<String>,
    /// How many other models it could have been.
    pub(crate) others: usize,
    /// What one request may use, in tokens.
    pub(crate) context: Option<u64>,
    /// The size of the model, in parameters.
    pub(crate) parameters: Option<u64>,
}

impl Served {
    /// Reads a provider entry for the wanted model.
    pub(crate) fn read(provider: &Provider, wanted: Option<&str>) -> Self {
        let model = match wanted {
            Some(name) => find_model(provider, name),
            None => preferred(&provider.models),
        };
        let kind = provider.server.kind;
        Self {
            kind: (kind != ServerKind::Unknown).then_some(kind),
            model: wanted
                .map(ToString::to_string)
                .or_else(|| model.map(|m| m.id.clone())),
            others: match wanted {
                Some(_) => 0,
                None => provider.models.len().saturating_sub(1),
            },
            context: model.and_then(|m| m.usable_context).filter(|n| *n > 0),
            parameters: model
                .and_then(|m| m.other.get("parameters")?.as_u64())
                .or_else(|| parameters_in_name(wanted?))
                .or_else(|| parameters_in_name(&model?.id)),
        }
    }
}

/// A loaded model first, a base model before those that only adapt it.
fn preferred(models: &[Model]) -> Option<&Model> {
    models.iter().min_by_key(|m| {
        (
            m.state != ModelState::Loaded,
            m.other.contains_key("parent"),
        )
    })
}

/// The size that a model's name tells: `qwen2.5-coder-1.5b-instruct`, `Llama-3-70B`, `x-0.6B`.
/// A mixture of experts (`30b-a3b`) tells the size of all of it first, and that one counts.
pub(crate) fn parameters_in_name(name: &str) -> Option<u64> {
    name.rsplit('/')
        .next()?
        .split(['-', '_', ':', ' '])
        .find_map(|word| {
            let digits = word.strip_suffix(['b', 'B'])?;
            let (whole, part) = digits.split_once('.').unwrap_or((digits, "0"));
            let whole: u64 = whole.parse().ok()?;
            let tenths: u64 = part.get(..1)?.parse().ok()?;
            Some(whole * 1_000_000_000 + tenths * 100_000_000)
        })
        .filter(|n| (100_000_000..10_000_000_000_000).contains(n))
}

/// Begins to ask.
pub(crate) fn look(
    endpoint: Endpoint,
    id: &str,
    wanted: Option<String>,
    wall: Duration,
    cancel: Cancel,
) -> JoinHandle<Served> {
    let mut options = ProbeOptions::new(id, endpoint.base.to_string());
    // A mute server must not cost a short task its time.
    options.timeout = PATIENCE.min(wall / 4);
    options.load = false;
    std::thread::spawn(move || {
        let provider = probe(&endpoint, &options, &cancel);
        Served::read(&provider, wanted.as_deref())
    })
}

#[cfg(test)]
mod tests {
    use super::{Served, parameters_in_name};
    use baton_protocol::{Provider, ServerKind};
    use serde_json::json;

    fn provider(models: &serde_json::Value) -> Provider {
        serde_json::from_value(json!({
            "id": "p", "base_url": "http://h/v1", "server": {"kind": "vllm", "version": null},
            "state": "idle", "state_reason": "", "signals": [], "latency_ms": 1, "key_ok": true,
            "models": models,
            "slots": {"total": null, "in_flight": null, "waiting": null, "free": null, "source": "none"},
            "speed": {"prefill_tokens_per_s": null, "decode_tokens_per_s": null}, "error": null,
        }))
        .unwrap()
    }

    #[test]
    fn the_base_model_is_preferred_and_a_missing_window_is_unknown() {
        let provider = provider(&json!([
            {"id": "lora", "state": "unknown", "usable_context": 0, "parent": "base-7b"},
            {"id": "base-7b", "state": "unknown", "usable_context": 4096},
        ]));
        let served = Served::read(&provider, None);
        assert_eq!(served.model.as_deref(), Some("base-7b"));
        assert_eq!((served.context, served.others), (Some(4096), 1));
        assert_eq!(served.kind, Some(ServerKind::Vllm));
        assert_eq!(served.parameters, Some(7_000_000_000));
        assert_eq!(Served::read(&provider, Some("lora")).context, None);
        assert_eq!(
            Served::read(&provider, Some("gone")).model.as_deref(),
            Some("gone")
        );
    }

    #[test]
    fn sizes_are_read_from_names() {
        for (name, size) in [
            ("qwen2.5-coder-1.5b-instruct-q4_k_m.gguf", Some(15)),
            ("Qwen/Qwen3-32B", Some(320)),
            ("qwen3:0.6b", Some(6)),
            ("Qwen3-30B-A3B", Some(300)),
            ("qwen38", None),
            ("gpt-4b-ish", Some(40)),
            ("b", None),
            ("x-9999999b", None),
        ] {
            assert_eq!(
                parameters_in_name(name),
                size.map(|n: u64| n * 100_000_000),
                "{name}"
            );
        }
    }
}
