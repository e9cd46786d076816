//! The server's own count, where it has one and may be asked.

use std::cell::RefCell;
use std::collections::HashMap;

use baton_cli::config::{Loaded, ProviderConfig};
use baton_cli::{Environment, Failure, Output};
use baton_model_server::probe::{ProbeOptions, probe};
use baton_model_server::{Client, Endpoint};
use baton_process::Cancel;
use baton_protocol::{BaseUrl, Method, Provider, ServerKind, ServerState};
use baton_tokens::Count;
use serde_json::Value;

use crate::judgement::Sourced;

/// Asks servers, each (provider, model) once.
pub(crate) struct ServerCounts<'a> {
    env: &'a Environment,
    config: &'a Loaded,
    request: &'a Value,
    answers: RefCell<HashMap<(String, String), Result<Sourced, String>>>,
}

impl<'a> ServerCounts<'a> {
    pub(crate) fn new(env: &'a Environment, config: &'a Loaded, request: &'a Value) -> Self {
        Self {
            env,
            config,
            request,
            answers: RefCell::default(),
        }
    }

    /// What the server counts for the request to this model, or why it does not.
    pub(crate) fn count(&self, provider: &Provider, model: &str) -> Result<Sourced, String> {
        let key = (provider.base_url.clone(), model.to_owned());
        if let Some(answer) = self.answers.borrow().get(&key) {
            return answer.clone();
        }
        let answer = self.ask(provider, model);
        self.answers.borrow_mut().insert(key, answer.clone());
        answer
    }

    fn ask(&self, provider: &Provider, model: &str) -> Result<Sourced, String> {
        let base = BaseUrl::parse(&provider.base_url)?;
        let mut known = self.config.config.providers.iter();
        let configured = known.find(|known| known.base_url.origin() == base.origin());
        // The key of a server we know by its address. A candidates document is data: it may name a
        // variable, but not make us send its value to an address the user did not configure.
        let endpoint = match configured {
            Some(known) => endpoint(known, self.env)?,
            None => Endpoint::new(base),
        };
        let mut request = self.request.clone();
        if let Some(object) = request.as_object_mut() {
            object.insert("model".into(), model.into());
            for (key, value) in configured.into_iter().flat_map(|known| &known.request) {
                object.entry(key.as_str()).or_insert_with(|| value.clone());
            }
        }
        let count = Client::new(endpoint)
            .count_tokens(provider.server.kind, &request)
            .map_err(|e| e.message)?;
        Ok(Sourced {
            count: Count::exact(count, Method::Server),
            source: format!("{} at {}", route(provider.server.kind), provider.base_url),
        })
    }
}

/// Asks the configured servers what they are; those that cannot be reached are said and left out.
pub(crate) fn probe_configured(
    config: &Loaded,
    env: &Environment,
    output: &Output,
) -> Vec<Provider> {
    let mut found = Vec::new();
    for known in &config.config.providers {
        let provider = match endpoint(known, env) {
            Ok(endpoint) => {
                let mut options = ProbeOptions::new(&*known.id, known.base_url.api());
                options.asked.context = known.context;
                options.asked.api_key_env.clone_from(&known.api_key_env);
                let mut provider = probe(&endpoint, &options, &Cancel::new());
                prefer(&known.models, &mut provider);
                provider
            }
            Err(why) => {
                output.note(&format!("{}: {why}", known.id));
                continue;
            }
        };
        if provider.state.is_ready() || provider.state == ServerState::Loading {
            found.push(provider);
        } else {
            output.note(&format!(
                "{}: not asked: {}",
                provider.id, provider.state_reason
            ));
        }
    }
    found
}

/// A model and where its server has it from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Served {
    pub(crate) url: String,
    pub(crate) model: String,
    /// A path on the server's machine, or a name on a hub.
    pub(crate) origin: Option<String>,
}

/// The models of one server, or of all that are configured, and where they come from.
pub(crate) fn served(
    url: Option<&str>,
    config: &Loaded,
    env: &Environment,
    output: &Output,
) -> Result<Vec<Served>, Failure> {
    let endpoints = if let Some(url) = url {
        let base = BaseUrl::parse(url).map_err(Failure::usage)?;
        vec![endpoint_of(&base, config, env).map_err(Failure::config)?]
    } else {
        let known = config.config.providers.iter();
        let all: Result<_, _> = known.map(|known| endpoint(known, env)).collect();
        all.map_err(Failure::config)?
    };
    if endpoints.is_empty() {
        return Err(Failure::config(
            "no server is configured: set OPENCODE_VLLM_BASE_URL, or give the server's URL",
        ));
    }
    let mut found = Vec::new();
    for endpoint in endpoints {
        let url = endpoint.base.to_string();
        let provider = probe(
            &endpoint,
            &ProbeOptions::new("server", endpoint.base.api()),
            &Cancel::new(),
        );
        if provider.models.is_empty() {
            output.note(&format!("{url}: {}", provider.state_reason));
        }
        let client = Client::new(endpoint);
        for model in &provider.models {
            let origin = client.model_origin(provider.server.kind, &model.id);
            found.push(Served {
                url: url.clone(),
                model: model.id.clone(),
                origin: origin.unwrap_or_else(|e| {
                    output.note(&e.message);
                    None
                }),
            });
        }
    }
    if found.is_empty() {
        return Err(Failure::unavailable(
            "no server told which models it has; give the tokenizer's folder or GGUF file instead",
        ));
    }
    Ok(found)
}

/// The endpoint of an address, with the key of a configured server of the same origin.
fn endpoint_of(base: &BaseUrl, config: &Loaded, env: &Environment) -> Result<Endpoint, String> {
    let mut known = config.config.providers.iter();
    match known.find(|known| known.base_url.origin() == base.origin()) {
        Some(known) => endpoint(known, env),
        None => Ok(Endpoint::new(base.clone())),
    }
}

/// Keeps the configured models, in the configured order; all where none are.
fn prefer(configured: &[String], provider: &mut Provider) {
    if !configured.is_empty() {
        let place = |id: &str| configured.iter().position(|name| name == id);
        provider.models.retain(|model| place(&model.id).is_some());
        provider.models.sort_by_key(|model| place(&model.id));
    }
}

fn endpoint(known: &ProviderConfig, env: &Environment) -> Result<Endpoint, String> {
    let key = known.api_key(env).map_err(|e| e.message)?;
    let mut endpoint = Endpoint::new(known.base_url.clone()).with_key(key);
    endpoint.ca_file.clone_from(&known.ca_file);
    endpoint.insecure = known.insecure;
    Ok(endpoint)
}

const fn route(kind: ServerKind) -> &'static str {
    match kind {
        ServerKind::Vllm => "vLLM's POST /tokenize",
        ServerKind::LlamaCpp | ServerKind::LlamaCppRouter => {
            "llama.cpp's POST /chat/completions/input_tokens"
        }
        ServerKind::SgLang => "SGLang's POST /tokenize",
        ServerKind::Tgi => "TGI's POST /chat_tokenize",
        _ => "the server's own count",
    }
}
