//! Which server and model, from the environment a slot gives, the flags and the configuration.

use std::time::Duration;

use baton_cli::config::{FirstByte, Loaded, ProviderConfig, RoleConfig};
use baton_cli::{Environment, Failure};
use baton_model_server::{Clocks, Endpoint, ProxyRules};
use baton_protocol::BaseUrl;
use serde_json::{Map, Value};

use crate::cli::ModelFlags;
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
    Ok(Provider {
        id: config.id.clone(),
        endpoint,
        model,
        context,
        request: request(config, loaded.config.roles.get(role)),
        clocks: clocks(config, bounds),
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
