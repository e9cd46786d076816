//! The server's own count, where it has one and may be asked.

use std::cell::RefCell;
use std::collections::HashMap;

use baton_cli::Environment;
use baton_cli::config::{Loaded, ProviderConfig};
use baton_model_server::{Client, Endpoint};
use baton_protocol::{BaseUrl, Method, Provider, Secret, ServerKind};
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
        let mut endpoint = Endpoint::new(base).with_key(key(configured, self.env)?);
        if let Some(known) = configured {
            endpoint.ca_file.clone_from(&known.ca_file);
            endpoint.insecure = known.insecure;
        }
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

/// The key of a server we know by its address. A candidates document is data: it may name a variable,
/// but not make us send its value to an address the user did not configure.
fn key(configured: Option<&ProviderConfig>, env: &Environment) -> Result<Option<Secret>, String> {
    configured.map_or(Ok(None), |known| known.api_key(env).map_err(|e| e.message))
}

const fn route(kind: ServerKind) -> &'static str {
    match kind {
        ServerKind::Vllm => "vLLM's POST /tokenize",
        ServerKind::LlamaCpp | ServerKind::LlamaCppRouter => {
            "llama.cpp's POST /chat/completions/input_tokens"
        }
        _ => "the server's own count",
    }
}
