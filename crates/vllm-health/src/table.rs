//! The table for people: one row a provider and model. Pure.

use baton_protocol::{Model, Provider, SignalSource};

use crate::verdict::Verdict;

/// The longest reason in a row.
const REASON: usize = 100;

/// Renders the table.
pub(crate) fn table(providers: &[Provider], verdicts: &[Verdict]) -> String {
    let mut rows = vec![
        [
            "PROVIDER", "KIND", "STATE", "READY", "KEY", "MODEL", "LOADED", "CONTEXT", "FREE",
            "REASON",
        ]
        .map(ToOwned::to_owned)
        .to_vec(),
    ];
    for (provider, verdict) in providers.iter().zip(verdicts) {
        if provider.models.is_empty() {
            rows.push(row(provider, verdict, None, true));
        }
        for (index, model) in provider.models.iter().enumerate() {
            rows.push(row(provider, verdict, Some(model), index == 0));
        }
    }
    let columns = rows.first().map_or(0, Vec::len);
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            rows.iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
        })
        .collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(cell);
            line.push_str(&" ".repeat(width.saturating_sub(cell.chars().count()) + 2));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn row(provider: &Provider, verdict: &Verdict, model: Option<&Model>, first: bool) -> Vec<String> {
    let dash = || "-".to_owned();
    let once = |text: String| if first { text } else { String::new() };
    let key = match provider.key_ok {
        Some(true) => "ok",
        Some(false) => "rejected",
        None => "-",
    };
    let ready = match verdict.ready {
        Some(true) => "yes",
        Some(false) => "no",
        None => "unknown",
    };
    let cells = vec![
        once(provider.id.clone()),
        once(word(&provider.server.kind)),
        once(word(&provider.state)),
        once(ready.to_owned()),
        once(key.to_owned()),
        model.map_or_else(dash, |m| m.id.clone()),
        model.map_or_else(dash, |m| word(&m.state)),
        model.map_or_else(dash, context),
        once(slots(provider)),
        once(short(&verdict.reason)),
    ];
    cells
        .into_iter()
        .map(|cell| baton_cli::visible_line(&cell).into_owned())
        .collect()
}

/// A value's word in JSON.
fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|v| v.as_str().map(ToOwned::to_owned))
        .unwrap_or_default()
}

fn context(model: &Model) -> String {
    let Some(usable) = model.usable_context else {
        return "unknown".to_owned();
    };
    if model.other.get("pool_may_be_shared") == Some(&serde_json::Value::Bool(true)) {
        return format!("{usable} (pool shared?)");
    }
    match model.pool_tokens {
        Some(pool) if pool != usable => format!("{usable} of a pool of {pool}"),
        _ => usable.to_string(),
    }
}

fn slots(provider: &Provider) -> String {
    let slots = &provider.slots;
    let Some(total) = slots.total else {
        return "-".to_owned();
    };
    let mark = match slots.source {
        SignalSource::Assumed => " (assumed)",
        SignalSource::Configured => " (configured)",
        _ => "",
    };
    match slots.free {
        Some(free) => format!("{free}/{total}{mark}"),
        None => format!("?/{total}{mark}"),
    }
}

fn short(reason: &str) -> String {
    let mut text: String = reason.chars().take(REASON).collect();
    if text.len() < reason.len() {
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use baton_protocol::Provider;
    use serde_json::json;

    use super::table;
    use crate::verdict::Verdict;

    #[test]
    fn a_name_with_a_line_break_or_an_escape_sequence_stays_in_its_cell() {
        let provider: Provider = serde_json::from_value(json!({
            "id": "p", "base_url": "http://h/v1", "server": {"kind": "vllm", "version": null},
            "state": "idle", "state_reason": "", "models": [{"id": "a\n\u{1b}[2Jb", "state": "loaded"}],
            "slots": {"total": 1, "in_flight": 0, "waiting": null, "free": 1, "source": "exact"},
        }))
        .unwrap();
        let verdict = Verdict {
            ready: Some(true),
            reason: "x".to_owned(),
            may_change: true,
        };
        let text = table(&[provider], &[verdict]);
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(text.contains("a\\n\\u{1b}[2Jb"), "{text}");
    }

    #[test]
    fn one_row_a_provider_and_model() {
        let provider: Provider = serde_json::from_value(json!({
            "id": "arc", "base_url": "http://h/v1", "server": {"kind": "llamacpp-router", "version": null},
            "state": "busy", "state_reason": "", "key_ok": true, "models": [
                {"id": "a", "state": "loaded", "usable_context": 4096, "pool_tokens": 8192},
                {"id": "b", "state": "unloaded", "usable_context": null},
            ],
            "slots": {"total": 2, "in_flight": 1, "waiting": 0, "free": 1, "source": "assumed"},
        }))
        .unwrap();
        let verdict = Verdict {
            ready: Some(true),
            reason: "1 running".to_owned(),
            may_change: true,
        };
        assert_eq!(
            table(&[provider], &[verdict]),
            "\
PROVIDER  KIND             STATE  READY  KEY  MODEL  LOADED    CONTEXT                 FREE           REASON
arc       llamacpp-router  busy   yes    ok   a      loaded    4096 of a pool of 8192  1/2 (assumed)  1 running
                                              b      unloaded  unknown
"
        );
    }
}
