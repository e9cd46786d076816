//! Which provider and model a command gets, and how it is told. Pure.

use baton_model_server::probe::find_model;
use baton_protocol::{Model, ModelState, Provider, Secret};

use crate::verdict::{Verdict, names};

/// The model that is meant: the named one, the preferred of the configured ones that is served,
/// the only one, or the only one that is loaded. Otherwise an error that lists them: no guess.
pub(crate) fn model<'a>(
    provider: &'a Provider,
    named: Option<&str>,
    preferred: &[String],
) -> Result<&'a Model, String> {
    if let Some(name) = named {
        return find_model(provider, name).ok_or_else(|| {
            format!(
                "the model `{name}` is not listed; listed are: {}",
                names(&provider.models)
            )
        });
    }
    if let Some(model) = preferred.iter().find_map(|name| find_model(provider, name)) {
        return Ok(model);
    }
    if let [only] = provider.models.as_slice() {
        return Ok(only);
    }
    let mut loaded = provider
        .models
        .iter()
        .filter(|m| m.state == ModelState::Loaded);
    match (loaded.next(), loaded.next()) {
        (Some(only), None) => Ok(only),
        _ if provider.models.is_empty() => {
            Err("no model is listed; name one by --model".to_owned())
        }
        _ => Err(format!(
            "several models are served ({}); name one by --model",
            names(&provider.models)
        )),
    }
}

/// The first provider that is ready, in order of preference; one with a free slot before others.
pub(crate) fn provider(providers: &[Provider], verdicts: &[Verdict]) -> Option<usize> {
    let ready = |index: &usize| verdicts.get(*index).is_some_and(|v| v.ready == Some(true));
    let is_free = |index: &usize| {
        providers
            .get(*index)
            .is_some_and(|p| p.slots.free.is_none_or(|n| n > 0))
    };
    (0..providers.len())
        .filter(ready)
        .find(is_free)
        .or_else(|| (0..providers.len()).find(ready))
}

/// The variables that tell a command the choice. A value of none is removed from its environment.
pub(crate) fn variables(
    provider: &Provider,
    model: &str,
    context: Option<u64>,
    key: Option<&Secret>,
) -> Vec<(&'static str, Option<String>)> {
    let key = key.map(|k| k.reveal().to_owned());
    vec![
        ("BATON_PROVIDER", Some(provider.id.clone())),
        ("BATON_MODEL", Some(model.to_owned())),
        ("BATON_CONTEXT", context.map(|n| n.to_string())),
        ("OPENCODE_VLLM_BASE_URL", Some(provider.base_url.clone())),
        ("OPENAI_BASE_URL", Some(provider.base_url.clone())),
        ("OPENCODE_VLLM_API_KEY", key.clone()),
        ("OPENAI_API_KEY", key),
    ]
}

#[cfg(test)]
mod tests {
    use baton_protocol::{Provider, Secret};
    use serde_json::{Value, json};

    use super::{model, provider, variables};
    use crate::verdict::Verdict;

    fn with(models: &Value, free: &Value) -> Provider {
        serde_json::from_value(json!({
            "id": "p", "base_url": "http://h/v1", "server": {"kind": "vllm", "version": null},
            "state": "idle", "state_reason": "", "models": models,
            "slots": {"total": 1, "in_flight": null, "waiting": null, "free": free, "source": "exact"},
        }))
        .unwrap()
    }

    fn entry(id: &str, state: &str) -> Value {
        json!({"id": id, "state": state, "usable_context": null})
    }

    #[test]
    fn several_models_and_none_named_is_no_guess() {
        let two = with(
            &json!([entry("a", "loaded"), entry("b", "loaded")]),
            &json!(1),
        );
        let error = model(&two, None, &[]).unwrap_err();
        assert!(
            error.contains("a, b") && error.contains("--model"),
            "{error}"
        );
        assert_eq!(model(&two, Some("b"), &[]).unwrap().id, "b");
        let preferred = ["gone".to_owned(), "b".to_owned()];
        assert_eq!(model(&two, None, &preferred).unwrap().id, "b");
        let one_loaded = with(
            &json!([entry("a", "unloaded"), entry("b", "loaded")]),
            &json!(1),
        );
        assert_eq!(model(&one_loaded, None, &[]).unwrap().id, "b");
        assert!(model(&with(&json!([]), &json!(1)), None, &[]).is_err());
    }

    #[test]
    fn a_free_slot_comes_before_the_order() {
        let yes = Verdict {
            ready: Some(true),
            reason: String::new(),
            may_change: true,
        };
        let no = Verdict {
            ready: Some(false),
            ..yes.clone()
        };
        let (full, free) = (with(&json!([]), &json!(0)), with(&json!([]), &json!(null)));
        let both = [full, free];
        assert_eq!(provider(&both, &[yes.clone(), yes.clone()]), Some(1));
        assert_eq!(provider(&both, &[yes, no.clone()]), Some(0));
        assert_eq!(provider(&both, &[no.clone(), no]), None);
    }

    #[test]
    fn a_command_never_gets_another_server_s_key_or_context() {
        let p = with(&json!([]), &json!(1));
        let without = variables(&p, "m", None, None);
        assert!(without.contains(&("OPENAI_API_KEY", None)));
        assert!(without.contains(&("BATON_CONTEXT", None)));
        let key = Secret::new("k");
        let with_key = variables(&p, "m", Some(5), Some(&key));
        assert!(with_key.contains(&("OPENCODE_VLLM_API_KEY", Some("k".to_owned()))));
        assert!(with_key.contains(&("BATON_CONTEXT", Some("5".to_owned()))));
    }
}
