//! What a health document says about the servers, for `doctor`.

use std::collections::BTreeMap;

use baton_cli::config::{Config, ProviderConfig};
use baton_protocol::{Health, Provider, ServerKind, ServerState, SignalSource};

use super::Check;
use super::tiers;

/// The findings about every provider and the roles' models.
pub(crate) fn checks(health: &Health, config: &Config) -> Vec<Check> {
    let mut found = Vec::new();
    for provider in &health.providers {
        let configured = config.providers.iter().find(|p| p.id == provider.id);
        found.push(state(provider));
        if provider.state.is_ready() {
            found.extend(context(provider));
            found.extend(slots(provider));
            found.extend(configured.and_then(|c| thinking(provider, c)));
        }
    }
    found.extend(roles(health, config));
    found
}

fn state(provider: &Provider) -> Check {
    let name = format!("provider {}", provider.id);
    let version = provider.server.version.as_deref().unwrap_or("");
    let kind = serde_json::to_value(provider.server.kind).unwrap_or_default();
    let server = format!("{} {version}", kind.as_str().unwrap_or("unknown"));
    let server = server.trim();
    let models: Vec<&str> = provider.models.iter().map(|m| m.id.as_str()).collect();
    if provider.state.is_ready() {
        let message = format!(
            "{} at {}: {server}, serves {}",
            word(provider.state),
            provider.base_url,
            if models.is_empty() {
                "no model that it tells".to_owned()
            } else {
                models.join(", ")
            }
        );
        return Check::pass(name, message);
    }
    let message = format!(
        "{} at {}: {}",
        word(provider.state),
        provider.base_url,
        provider.state_reason
    );
    let fix = match provider.state {
        ServerState::Unreachable => "start the server, then: vllm-health --wait 5m".to_owned(),
        ServerState::Loading => "wait for it: vllm-health --wait 10m".to_owned(),
        ServerState::Rejected => match &provider.api_key_env {
            Some(variable) => format!("export {variable}=KEY"),
            None => "set api_key_env for it in the configuration".to_owned(),
        },
        ServerState::WrongApi => {
            "give the address of an OpenAI-compatible API, as in http://HOST:PORT/v1".to_owned()
        }
        _ => "vllm-health --probe --text".to_owned(),
    };
    Check::warn(name, message, fix)
}

fn word(state: ServerState) -> String {
    let value = serde_json::to_value(state).unwrap_or_default();
    value.as_str().unwrap_or("unknown").replace('_', " ")
}

fn context(provider: &Provider) -> Vec<Check> {
    let name = format!("context {}", provider.id);
    let mut checks = Vec::new();
    for model in &provider.models {
        match model.usable_context {
            Some(tokens) if tokens < 8_192 => checks.push(Check::warn(
                &name,
                format!(
                    "{}: one request may use {tokens} tokens, which is little for an agent",
                    model.id
                ),
                "serve it with a larger context or fewer slots",
            )),
            Some(tokens) => {
                let source = serde_json::to_value(model.usable_context_source).unwrap_or_default();
                checks.push(Check::pass(
                    &name,
                    format!(
                        "{}: one request may use {tokens} tokens ({})",
                        model.id,
                        source.as_str().unwrap_or("unknown").replace('_', " ")
                    ),
                ));
            }
            None => checks.push(Check::warn(
                &name,
                format!("{}: the usable context is not known", model.id),
                format!("set `context` for provider `{}`", provider.id),
            )),
        }
    }
    checks
}

fn slots(provider: &Provider) -> Option<Check> {
    let name = format!("slots {}", provider.id);
    let total = provider.slots.total?;
    Some(if provider.slots.source == SignalSource::Assumed {
        Check::warn(
            name,
            format!("{total}, assumed: neither the server nor the configuration tells"),
            format!("set `slots` for provider `{}`", provider.id),
        )
    } else {
        let source = serde_json::to_value(provider.slots.source).unwrap_or_default();
        Check::pass(
            name,
            format!("{total} ({})", source.as_str().unwrap_or("unknown")),
        )
    })
}

/// vLLM ignores a thinking budget in the template's arguments and honours the field.
fn thinking(provider: &Provider, config: &ProviderConfig) -> Option<Check> {
    let in_template = config
        .request
        .get("chat_template_kwargs")?
        .get("thinking_budget")?;
    if provider.server.kind != ServerKind::Vllm
        || config.request.contains_key("thinking_token_budget")
    {
        return None;
    }
    Some(Check::warn(
        format!("thinking {}", provider.id),
        "chat_template_kwargs.thinking_budget is not honoured by vLLM, so thinking is unbounded",
        format!("add to its request: thinking_token_budget = {in_template}"),
    ))
}

fn roles(health: &Health, config: &Config) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut chosen = BTreeMap::new();
    for (role, settings) in &config.roles {
        let mut served = false;
        for wanted in &settings.models {
            match serves(health, wanted) {
                Some(true) => {
                    served = true;
                    chosen.entry(role.clone()).or_insert_with(|| wanted.clone());
                }
                Some(false) => checks.push(Check::warn(
                    format!("role {role}"),
                    format!("`{wanted}` is not served now"),
                    format!("orchestrate init --model {role}={}", offered(health)),
                )),
                None => checks.push(Check::warn(
                    format!("role {role}"),
                    format!("no provider is called as in `{wanted}`"),
                    format!("orchestrate init --model {role}={}", offered(health)),
                )),
            }
        }
        if served {
            let model = &chosen[role];
            checks.push(Check::pass(format!("role {role}"), model.clone()));
        }
    }
    let default = health.providers.iter().find_map(|p| {
        let model = p.models.first()?;
        p.state.is_ready().then(|| format!("{}/{}", p.id, model.id))
    });
    for line in tiers::advice(&chosen, default.as_deref()) {
        checks.push(Check::warn(
            "model tiers",
            line,
            "orchestrate init --model ROLE=PROVIDER/MODEL",
        ));
    }
    checks
}

/// Whether a `PROVIDER/MODEL` is served; none when there is no such provider.
fn serves(health: &Health, wanted: &str) -> Option<bool> {
    let (id, model) = wanted.split_once('/').unwrap_or((wanted, ""));
    let provider = health.providers.iter().find(|p| p.id == id)?;
    let there = provider.models.iter().any(|m| m.id == model);
    Some(provider.state.is_ready() && (model.is_empty() || there))
}

fn offered(health: &Health) -> String {
    health
        .providers
        .iter()
        .filter(|p| p.state.is_ready())
        .find_map(|p| Some(format!("{}/{}", p.id, p.models.first()?.id)))
        .unwrap_or_else(|| "PROVIDER/MODEL".into())
}

#[cfg(test)]
mod tests {
    use baton_cli::config::Config;
    use baton_protocol::{Health, ServerKind, ServerState, SignalSource};

    use super::checks;
    use crate::core::doctor::{Check, Level};

    fn health() -> Health {
        let text = include_str!("../../../../protocol/examples/health-1.json");
        baton_protocol::read(text).unwrap()
    }

    fn config(text: &str) -> Config {
        serde_json::from_value(serde_json::from_str(text).unwrap()).unwrap()
    }

    fn find<'a>(found: &'a [Check], name: &str) -> &'a Check {
        found
            .iter()
            .find(|c| c.name.starts_with(name))
            .unwrap_or_else(|| panic!("no check {name}: {found:#?}"))
    }

    #[test]
    fn a_ready_server_is_described_and_an_absent_one_named_with_its_cure() {
        let mut health = health();
        let found = checks(&health, &Config::default());
        assert_eq!(find(&found, "provider").status, Level::Pass);
        health.providers[0].state = ServerState::Unreachable;
        health.providers[0].state_reason = "connection refused".into();
        let found = checks(&health, &Config::default());
        let check = find(&found, "provider");
        assert_eq!(check.status, Level::Warn);
        assert!(check.message.contains("connection refused"));
        assert!(check.fix.as_deref().unwrap().contains("vllm-health --wait"));
    }

    #[test]
    fn an_assumed_slot_count_and_an_unknown_context_are_said() {
        let mut health = health();
        health.providers.truncate(1);
        health.providers[0].slots.source = SignalSource::Assumed;
        health.providers[0].slots.total = Some(2);
        health.providers[0].models[0].usable_context = None;
        let found = checks(&health, &Config::default());
        assert_eq!(find(&found, "slots").status, Level::Warn);
        assert_eq!(find(&found, "context").status, Level::Warn);
    }

    #[test]
    fn a_thinking_budget_that_vllm_ignores_is_said() {
        let mut health = health();
        health.providers.truncate(1);
        health.providers[0].server.kind = ServerKind::Vllm;
        let id = health.providers[0].id.clone();
        let text = format!(
            r#"{{"provider":[{{"id":"{id}","base_url":"http://127.0.0.1:1/v1","request":
               {{"chat_template_kwargs":{{"thinking_budget":2048}}}}}}]}}"#
        );
        let found = checks(&health, &config(&text));
        let check = find(&found, "thinking");
        assert!(
            check
                .fix
                .as_deref()
                .unwrap()
                .contains("thinking_token_budget = 2048")
        );
    }

    #[test]
    fn a_role_whose_model_nobody_serves_is_told_what_is_served() {
        let health = health();
        let found = checks(
            &health,
            &config(r#"{"roles":{"reviewer":{"models":["nowhere/big"]}}}"#),
        );
        let check = find(&found, "role reviewer");
        assert_eq!(check.status, Level::Warn);
        assert!(
            check
                .fix
                .as_deref()
                .unwrap()
                .starts_with("orchestrate init --model reviewer=")
        );
    }
}
