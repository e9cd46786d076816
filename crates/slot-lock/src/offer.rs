//! The document of candidates: read once, refreshed from the servers where it is not fresh enough.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use baton_cli::{Failure, Output};
use baton_process::{Cancel, Capture, Command, sibling};
use baton_protocol::{
    BaseUrl, Document, Estimate, FitVerdict, Health, Provider, Timestamp, read, read_value,
};

use crate::clock::boot_ms;

/// How long a server may take to say how it is.
const PROBE_LIMIT: Duration = Duration::from_secs(10);

/// After this long it is said what is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// More than any health document holds.
const LARGEST_ANSWER: usize = 8 << 20;

/// One provider of the document.
#[derive(Debug, Clone)]
pub(crate) struct Offered {
    pub(crate) provider: Provider,
    /// When its numbers were read, in milliseconds since boot; none: nobody knows.
    pub(crate) read_at_ms: Option<u64>,
    /// The slots whose holders had a request in flight all through that reading; none: nobody looked.
    pub(crate) busy: Option<Vec<u32>>,
}

/// What is on offer.
#[derive(Debug, Clone)]
pub(crate) struct Offer {
    pub(crate) offered: Vec<Offered>,
    /// Whether the document judges if the request fits (an estimate).
    pub(crate) is_judged: bool,
    /// The tokens the request needs at most.
    pub(crate) required_tokens: Option<u64>,
}

impl Offer {
    /// Reads a health/1 or estimate/1.
    pub(crate) fn parse(text: &str, now: Timestamp, now_ms: u64) -> Result<Self, Failure> {
        if text.trim().is_empty() {
            return Err(Failure::input(
                "the candidates are empty; expected a health/1 or estimate/1 document (did the tool before fail?)",
            ));
        }
        let value: serde_json::Value = serde_json::from_str(text)
            .map_err(|e| Failure::input(format!("the candidates are not JSON: {e}")))?;
        if value.get("schema").and_then(|s| s.as_str()) == Some(Estimate::SCHEMA) {
            let estimate: Estimate = read_value(value)?;
            return Ok(Self {
                offered: undated(estimate.providers),
                is_judged: true,
                required_tokens: Some(estimate.required_tokens),
            });
        }
        let health: Health = read_value(value)?;
        // A time in the future (another machine's clock) says nothing about the age.
        let age = now
            .system_time()
            .duration_since(health.checked_at.system_time());
        let age = age.ok().and_then(|age| u64::try_from(age.as_millis()).ok());
        let read_at_ms = age.and_then(|age| now_ms.checked_sub(age));
        let mut offered = undated(health.providers);
        for one in &mut offered {
            one.read_at_ms = read_at_ms;
        }
        Ok(Self {
            offered,
            is_judged: false,
            required_tokens: None,
        })
    }

    /// The one server a call names, as it was just read.
    pub(crate) fn of_one(provider: Provider, busy: Vec<u32>) -> Self {
        let one = Offered {
            provider,
            read_at_ms: Some(boot_ms()),
            busy: Some(busy),
        };
        Self {
            offered: vec![one],
            is_judged: false,
            required_tokens: None,
        }
    }

    /// Asks one server again; its fit is judged anew where it was unknown.
    pub(crate) fn refresh(&mut self, index: usize, output: &Output) -> Result<(), String> {
        let required = self.required_tokens;
        let Some(one) = self.offered.get_mut(index) else {
            return Ok(());
        };
        let fresh = ask(&one.provider.base_url, output)?;
        one.provider = merged(&one.provider, fresh, required);
        one.read_at_ms = Some(boot_ms());
        one.busy = None;
        Ok(())
    }

    /// The index of the provider with this address.
    pub(crate) fn index_of(&self, url: &BaseUrl) -> Option<usize> {
        self.offered
            .iter()
            .position(|one| BaseUrl::parse(&one.provider.base_url).is_ok_and(|other| other == *url))
    }
}

fn undated(providers: Vec<Provider>) -> Vec<Offered> {
    let undated = |provider| Offered {
        provider,
        read_at_ms: None,
        busy: None,
    };
    providers.into_iter().map(undated).collect()
}

/// The document's entry with what the server says now. The name, the key and a known fit stay.
fn merged(old: &Provider, fresh: Provider, required: Option<u64>) -> Provider {
    let mut new = Provider {
        id: old.id.clone(),
        api_key_env: old.api_key_env.clone(),
        fit: old.fit.clone(),
        other: old.other.clone(),
        ..fresh
    };
    let Some(fit) = &mut new.fit else { return new };
    if fit.verdict != FitVerdict::Unknown {
        return new;
    }
    let model = fit.model.as_deref();
    let named = new.models.iter().find(|m| Some(m.id.as_str()) == model);
    let usable = named.or(new.models.first()).and_then(|m| m.usable_context);
    if let (Some(usable), Some(required)) = (usable, required) {
        fit.usable_context = Some(usable);
        fit.verdict = if required <= usable {
            FitVerdict::Fits
        } else {
            FitVerdict::No
        };
        fit.headroom_tokens = i64::try_from(usable)
            .ok()
            .zip(i64::try_from(required).ok())
            .map(|(usable, required)| usable - required);
    }
    new
}

/// Asks a server through vllm-health: tools meet as processes. When that takes long it is said.
pub(crate) fn ask(base_url: &str, output: &Output) -> Result<Provider, String> {
    let (answered, answer) = mpsc::channel();
    std::thread::scope(|scope| {
        let asking = move || drop(answered.send(ask_quietly(base_url)));
        let thread = std::thread::Builder::new().spawn_scoped(scope, asking);
        if thread.is_err() {
            return ask_quietly(base_url);
        }
        let first = answer.recv_timeout(PATIENCE);
        if first == Err(RecvTimeoutError::Timeout) {
            output.note(&format!(
                "{base_url}: waiting for what the server says of its slots, {PROBE_LIMIT:?} at most \
                 (--ignore-server asks nobody)"
            ));
        }
        let answer = first.or_else(|_| answer.recv());
        answer.unwrap_or_else(|_| Err(format!("{base_url}: nobody asked it")))
    })
}

fn ask_quietly(base_url: &str) -> Result<Provider, String> {
    let command = Command::new(sibling("vllm-health"))
        .args(["--json", base_url])
        .stdout(baton_process::Output::Capture(Capture::all(LARGEST_ANSWER)))
        .timeout(PROBE_LIMIT);
    let outcome = command
        .run(&Cancel::new())
        .map_err(|e| format!("{base_url}: cannot be asked: {e}"))?;
    let health: Health = read(&outcome.stdout.text())
        .map_err(|e| format!("{base_url}: vllm-health gave no usable answer: {e}"))?;
    let mut providers = health.providers.into_iter();
    providers
        .next()
        .ok_or_else(|| format!("{base_url}: vllm-health named no provider"))
}

#[cfg(test)]
mod tests {
    use baton_protocol::{FitVerdict, Provider, Timestamp};
    use serde_json::{Value, json};

    use super::{Offer, merged};

    fn provider(usable: Option<u64>, fit: &Value) -> Provider {
        let value = json!({
            "id": "a", "base_url": "http://box:1/v1", "server": {"kind": "vllm", "version": null},
            "state": "idle", "state_reason": "", "fit": fit,
            "models": [{"id": "m", "state": "loaded", "usable_context": usable}],
        });
        serde_json::from_value(value).unwrap()
    }

    fn fit(verdict: &str) -> Value {
        json!({"model": "m", "usable_context": null, "verdict": verdict,
            "headroom_tokens": null, "largest_output_tokens": null})
    }

    #[test]
    fn a_fit_that_was_unknown_is_judged_when_the_context_becomes_known() {
        let old = provider(None, &fit("unknown"));
        let verdict = |usable, required| {
            let fresh = provider(usable, &Value::Null);
            merged(&old, fresh, Some(required)).fit.unwrap().verdict
        };
        assert_eq!(verdict(Some(4096), 4096), FitVerdict::Fits);
        assert_eq!(verdict(Some(4096), 4097), FitVerdict::No);
        assert_eq!(verdict(None, 10), FitVerdict::Unknown);
        let known = provider(None, &fit("no"));
        let fresh = provider(Some(1 << 20), &Value::Null);
        assert_eq!(
            merged(&known, fresh, Some(1)).fit.unwrap().verdict,
            FitVerdict::No
        );
    }

    #[test]
    fn the_age_of_a_health_document_is_known() {
        let text = json!({"schema": "health/1", "ready": true,
            "checked_at": "2026-11-30T10:00:00.000Z", "providers": [provider(None, &Value::Null)]});
        let now = |text: &str| {
            let time: Timestamp = serde_json::from_value(json!(text)).unwrap();
            time
        };
        let at = |time: &str| Offer::parse(&text.to_string(), now(time), 60_000).unwrap();
        let one = at("2026-11-30T10:00:01.500Z").offered;
        assert_eq!(one[0].read_at_ms, Some(58_500));
        // Older than the boot, or from the future: unknown.
        assert_eq!(at("2026-11-30T11:00:00Z").offered[0].read_at_ms, None);
        assert_eq!(at("2026-11-30T09:00:00Z").offered[0].read_at_ms, None);
    }
}
