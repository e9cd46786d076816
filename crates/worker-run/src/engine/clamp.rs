//! An agent's request as it may be sent. Pure.

use serde_json::{Map, Value, json};

/// Kept free of the window, for what a template adds and an estimate misses.
const MARGIN: u64 = 96;
/// An answer shorter than this is not worth a request.
const LEAST_OUTPUT: u64 = 128;

/// What every request must keep to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Frame {
    /// The model of the slot.
    pub(crate) model: Option<String>,
    /// What the configuration adds where the agent does not say.
    pub(crate) extra: Map<String, Value>,
    /// The window in tokens, if known.
    pub(crate) window: Option<u64>,
    /// Tokens of one answer, at most.
    pub(crate) output: u64,
}

/// The body to send, or the sentence that it cannot fit.
pub(crate) fn clamp(
    mut body: Map<String, Value>,
    prompt_tokens: u64,
    frame: &Frame,
) -> Result<Value, String> {
    if let Some(model) = &frame.model {
        body.insert("model".into(), json!(model));
    }
    for (key, value) in &frame.extra {
        body.entry(key).or_insert_with(|| value.clone());
    }
    let names = ["max_tokens", "max_completion_tokens"];
    let wished = names
        .iter()
        .filter_map(|name| body.get(*name)?.as_u64())
        .filter(|n| *n > 0)
        .min();
    let mut most = wished.map_or(frame.output, |n| n.min(frame.output));
    if let Some(window) = frame.window {
        let room = window.saturating_sub(prompt_tokens + MARGIN);
        if room < LEAST_OUTPUT.min(most) {
            // The words of vLLM, which agents know.
            return Err(format!(
                "This model's maximum context length is {window} tokens. However, your request has about \
                 {prompt_tokens} input tokens. Please reduce the length of the input messages."
            ));
        }
        most = most.min(room);
    }
    body.remove("max_completion_tokens");
    body.insert("max_tokens".into(), json!(most));
    // One answer at a time: more would take more of the slot's pool than was reserved.
    body.remove("n");
    body.remove("best_of");
    Ok(Value::Object(body))
}

#[cfg(test)]
mod tests {
    use super::{Frame, clamp};
    use serde_json::{Value, json};

    fn clamped(body: &Value, prompt: u64, window: Option<u64>) -> Result<Value, String> {
        let frame = Frame {
            model: Some("m".into()),
            extra: json!({"top_k": 5, "temperature": 0.1})
                .as_object()
                .unwrap()
                .clone(),
            window,
            output: 4096,
        };
        clamp(body.as_object().unwrap().clone(), prompt, &frame)
    }

    #[test]
    fn the_slots_model_and_the_least_of_all_limits_are_asked_for() {
        let body =
            json!({"model": "other", "temperature": 0.7, "max_completion_tokens": 32768, "n": 4});
        let sent = clamped(&body, 1000, Some(32768)).unwrap();
        assert_eq!(
            sent,
            json!({"model": "m", "temperature": 0.7, "top_k": 5, "max_tokens": 4096})
        );
        let tight = clamped(&body, 30_000, Some(32768)).unwrap();
        assert_eq!(tight["max_tokens"], 32768 - 30_000 - 96);
        let short = clamped(&json!({"max_tokens": 8}), 1000, None).unwrap();
        assert_eq!(short["max_tokens"], 8);
    }

    #[test]
    fn what_cannot_fit_is_never_sent() {
        let error = clamped(&json!({}), 32_700, Some(32768)).unwrap_err();
        assert!(error.contains("maximum context length is 32768"), "{error}");
        assert!(clamped(&json!({}), 40_000, Some(32768)).is_err());
        assert!(clamped(&json!({}), 40_000, None).is_ok());
    }
}
