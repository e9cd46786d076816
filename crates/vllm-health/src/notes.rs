//! What is said beside the answer: assumptions, each once, with what settles it. Pure.

use std::collections::BTreeMap;

use baton_protocol::{Provider, SignalSource};
use serde_json::Value;

/// How many are named before the rest is counted.
const NAMED: usize = 3;

/// The notes about providers that are ready.
pub(crate) fn notes(providers: &[Provider]) -> Vec<String> {
    let ready = || providers.iter().filter(|p| p.state.is_ready());
    let mut assumed: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
    for provider in ready().filter(|p| p.slots.source == SignalSource::Assumed) {
        if let Some(total) = provider.slots.total {
            assumed.entry(total).or_default().push(&provider.id);
        }
    }
    let mut notes: Vec<String> = assumed
        .iter()
        .map(|(total, ids)| {
            format!(
                "{}: how many requests the server works on at once is not told; {total} {} \
                 assumed (settle it by --slots N, or `slots = N` in the configuration)",
                some_of(ids),
                if *total == 1 { "is" } else { "are" },
            )
        })
        .collect();
    let mut shared: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
    for provider in ready() {
        let pool = provider
            .models
            .iter()
            .filter(|m| m.other.get("pool_may_be_shared") == Some(&Value::Bool(true)))
            .find_map(|m| m.pool_tokens);
        if let Some(pool) = pool {
            shared.entry(pool).or_default().push(&provider.id);
        }
    }
    notes.extend(shared.iter().map(|(pool, ids)| {
        format!(
            "{}: four slots, as llama-server makes them without --parallel: they may share one \
             pool of {pool} tokens, and are taken to (start it with --parallel N for shares of \
             their own)",
            some_of(ids)
        )
    }));
    notes
}

fn some_of(ids: &[&str]) -> String {
    let named = ids.iter().take(NAMED).copied().collect::<Vec<_>>();
    match ids.len() - named.len() {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use baton_protocol::Provider;
    use serde_json::{Value, json};

    use super::notes;

    fn provider(id: &str, total: u32, source: &str, model: &Value) -> Provider {
        serde_json::from_value(json!({
            "id": id, "base_url": "http://h/v1", "server": {"kind": "vllm", "version": null},
            "state": "idle", "state_reason": "", "models": [model],
            "slots": {"total": total, "in_flight": 0, "waiting": null, "free": 1, "source": source},
        }))
        .unwrap()
    }

    #[test]
    fn an_assumption_is_said_once_for_all_it_concerns() {
        let model = json!({"id": "m", "state": "loaded", "usable_context": 4096});
        let many: Vec<Provider> = (0..120)
            .map(|n| provider(&format!("p{n}"), 2, "assumed", &model))
            .chain([provider("x", 1, "assumed", &model)])
            .chain([provider("y", 4, "exact", &model)])
            .collect();
        let said = notes(&many);
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said[0].starts_with("x: ") && said[0].contains("1 is assumed"));
        assert!(said[1].starts_with("p0, p1, p2 and 117 more: ") && said[1].contains("2 are"));
        assert!(said.iter().all(|note| note.contains("--slots")));
    }

    #[test]
    fn r36_a_pool_that_may_be_shared_is_said() {
        let model = json!({"id": "m", "state": "loaded", "usable_context": 8192,
                           "pool_tokens": 8192, "pool_may_be_shared": true});
        let said = notes(&[provider("p", 4, "exact", &model)]);
        assert_eq!(said.len(), 1);
        assert!(said[0].contains("pool of 8192") && said[0].contains("--parallel"));
    }
}
