//! Which server and model, from the environment a slot gives, the flags and the configuration.

use std::path::Path;
use std::time::Duration;

use baton_cli::config::{FirstByte, Loaded, ProviderConfig, RoleConfig, WorkMode};
use baton_cli::{Environment, Failure};
use baton_model_server::{Clocks, Endpoint, ProxyRules};
use baton_protocol::BaseUrl;
use serde_json::{Map, Value};

use crate::cli::{ModeFlag, ModelFlags};
use crate::harness::budget::Bounds;

/// Everything needed to ask the model.
#[derive(Debug, Clone)]
pub(crate) struct Provider {
    /// Its name.
    pub(crate) id: String,
    /// Its address and key.
    pub(crate) endpoint: Endpoint,
    /// The model; none = whatever the server serves.
    pub(crate) model: Option<String>,
    /// The usable context in tokens, if known.
    pub(crate) context: Option<u64>,
    /// Merged into every request.
    pub(crate) request: Map<String, Value>,
    /// The clocks.
    pub(crate) clocks: Clocks,
    /// How its models act, if the configuration says so.
    pub(crate) mode: Option<ModeFlag>,
    /// Whether a probe got a tool call from its model.
    pub(crate) calls_tools: Option<bool>,
    /// Whether the clock to the first byte follows the length of the prompt.
    pub(crate) scaled_first_byte: bool,
}

/// Chooses the provider. What slot-lock decided comes first, then flags, then configuration.
pub(crate) fn choose(
    env: &Environment,
    flags: &ModelFlags,
    loaded: &Loaded,
    role: &str,
    bounds: &Bounds,
) -> Result<Provider, Failure> {
    let wished = loaded.config.roles.get(role).and_then(|r| r.models.first());
    let (wished_provider, wished_model) = match wished.map(|w| w.split_once('/').unwrap_or((w, "")))
    {
        Some((provider, model)) => (Some(provider), Some(model).filter(|m| !m.is_empty())),
        None => (None, None),
    };
    let providers = loaded.providers()?;
    let under_lock = env.get("BATON_SLOT").is_some();
    let locked_url = env
        .get("OPENCODE_VLLM_BASE_URL")
        .filter(|_| under_lock && flags.base_url.is_none())
        .and_then(|text| BaseUrl::parse(text).ok());
    let named = |id: Option<&str>| id.and_then(|id| providers.iter().find(|p| p.id == id));
    let by_url = |url: &Option<BaseUrl>| {
        let url = url.as_ref()?;
        providers
            .iter()
            .find(|p| p.base_url.origin() == url.origin())
    };
    let config = by_url(&locked_url)
        .or_else(|| named(env.get("BATON_PROVIDER").filter(|_| under_lock)))
        .or_else(|| named(wished_provider))
        .or_else(|| providers.first())
        .ok_or_else(|| Failure::config("no provider is configured"))?;
    let locked = |name: &str| env.get(name).filter(|_| under_lock).map(str::to_string);
    let model = flags
        .model
        .clone()
        .or_else(|| locked("BATON_MODEL"))
        .or_else(|| {
            wished_model
                .filter(|_| Some(config.id.as_str()) == wished_provider)
                .map(str::to_string)
        })
        .or_else(|| config.models.first().cloned());
    let context = match flags.context.or(config.context) {
        Some(given) => Some(given),
        None => locked("BATON_CONTEXT").and_then(|text| text.parse().ok()),
    };
    let mut endpoint = Endpoint {
        base: config.base_url.clone(),
        key: config.api_key(env)?,
        ca_file: config.ca_file.clone(),
        insecure: config.insecure,
        proxies: ProxyRules::from_variables(|name| env.get(name).map(str::to_string)),
    };
    if let Some(url) = locked_url {
        endpoint.base = url;
    }
    let told = match &flags.candidates {
        Some(path) => told(path, &config.id, &endpoint.base, model.as_deref())?,
        None => Told::default(),
    };
    Ok(Provider {
        id: config.id.clone(),
        endpoint,
        model,
        context: [context, told.context].into_iter().flatten().min(),
        request: request(config, loaded.config.roles.get(role)),
        clocks: clocks(config, bounds),
        mode: match config.mode {
            WorkMode::Auto => None,
            WorkMode::Tools => Some(ModeFlag::Tools),
            WorkMode::Whole => Some(ModeFlag::Whole),
            WorkMode::Blocks => Some(ModeFlag::Blocks),
        },
        calls_tools: told.calls_tools,
        scaled_first_byte: config.timeouts.first_byte == FirstByte::Auto,
    })
}

/// What is merged into every request: the provider's, and the effort this role's model shall make.
fn request(config: &ProviderConfig, role: Option<&RoleConfig>) -> Map<String, Value> {
    let mut request = config.request.clone();
    if let Some(effort) = role.and_then(|r| r.effort.as_deref()) {
        request.insert("reasoning_effort".into(), effort.into());
    }
    request
}

/// What a document about candidates tells of one provider.
#[derive(Debug, Default, PartialEq, Eq)]
struct Told {
    context: Option<u64>,
    calls_tools: Option<bool>,
}

fn told(path: &Path, id: &str, base: &BaseUrl, model: Option<&str>) -> Result<Told, Failure> {
    let name = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("--candidates {name}: {error}")))?;
    let document: Value = serde_json::from_str(&text)
        .map_err(|error| Failure::input(format!("--candidates {name}: not JSON: {error}")))?;
    let entries = document
        .get("providers")
        .and_then(Value::as_array)
        .ok_or_else(|| {
            Failure::input(format!(
                "--candidates {name}: $.providers is missing; give what vllm-health or ctx-estimate wrote"
            ))
        })?;
    let same_server = |entry: &&Value| {
        let url = entry["base_url"].as_str().map(BaseUrl::parse);
        entry["id"].as_str() == Some(id)
            || url.is_some_and(|url| url.is_ok_and(|url| url.origin() == base.origin()))
    };
    let Some(entry) = entries.iter().find(same_server) else {
        return Ok(Told::default());
    };
    let models = entry["models"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let own = match model {
        Some(name) => models.iter().find(|m| m["id"].as_str() == Some(name)),
        None => models.first().filter(|_| models.len() == 1),
    };
    let probe = &entry["probe"];
    let asked = probe["kind"] == "tools"
        && probe["skipped"] != true
        && probe["may_change"] != true
        && (model.is_none() || probe["model"].as_str() == model);
    Ok(Told {
        context: own
            .and_then(|m| m["usable_context"].as_u64())
            .filter(|n| *n > 0),
        // A text where a call was asked for proves nothing, and bodes ill.
        calls_tools: asked.then(|| probe["ok"] == true),
    })
}

/// The task's limits where it has some, else the provider's.
fn clocks(config: &ProviderConfig, bounds: &Bounds) -> Clocks {
    let first_byte = match config.timeouts.first_byte {
        // Waiting in a server's queue is no fault: only the whole request bounds it.
        FirstByte::Auto => bounds.request,
        FirstByte::After(limit) => limit,
    };
    Clocks {
        connect: config.timeouts.connect.0,
        first_byte: Some(first_byte.min(bounds.request)),
        idle: Some(
            bounds
                .idle
                .min(config.timeouts.idle.0.max(Duration::from_millis(1))),
        ),
        request: Some(bounds.request),
        deadline: None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Told, told};
    use baton_protocol::BaseUrl;
    use serde_json::{Value, json};

    fn read(document: &Value, model: Option<&str>) -> Result<Told, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), document.to_string()).unwrap();
        let base = BaseUrl::parse("http://h:1/v1").unwrap();
        told(file.path(), "x", &base, model).map_err(|failure| failure.message)
    }

    #[test]
    fn a_probe_without_a_call_speaks_against_tools_and_an_unmade_one_says_nothing() {
        let with = |ok: Value, skipped: bool| {
            json!({"providers": [{"id": "p", "base_url": "http://h:1/v1/",
                "models": [{"id": "m", "usable_context": 4096}],
                "probe": {"kind": "tools", "model": "m", "ok": ok, "skipped": skipped, "may_change": false}}]})
        };
        for (ok, want) in [
            (json!(true), true),
            (json!(false), false),
            (Value::Null, false),
        ] {
            let told = read(&with(ok, false), Some("m")).unwrap();
            assert_eq!((told.calls_tools, told.context), (Some(want), Some(4096)));
        }
        assert_eq!(
            read(&with(Value::Null, true), None).unwrap().calls_tools,
            None
        );
        assert_eq!(
            read(&with(json!(true), false), Some("n")).unwrap(),
            Told::default()
        );
    }

    #[test]
    fn a_document_of_another_kind_is_named() {
        assert!(
            read(&json!({"tasks": []}), None)
                .unwrap_err()
                .contains("$.providers")
        );
        assert_eq!(
            read(&json!({"providers": []}), None).unwrap(),
            Told::default()
        );
    }
}
