//! How long an answer may take, and how much of its time was the server's queue.

use std::time::Duration;

use baton_model_server::ChatAnswer;
use baton_protocol::ServerKind;

/// Room for a neighbour's prefill, a model that is loaded, a cold cache.
const LEAST_FIRST_BYTE: Duration = Duration::from_secs(60);
/// How many times the expected reading time is still no fault.
const SLOWER: u64 = 4;

/// The limit to the first byte: what reading the prompt took before, several times over. Where no
/// rate is known yet, only the whole request is bounded.
pub(crate) fn first_byte(tokens: u64, rate: Option<u64>, request: Duration) -> Duration {
    match rate {
        Some(rate) if rate > 0 => {
            let reading = Duration::from_secs(tokens.saturating_mul(SLOWER) / rate);
            LEAST_FIRST_BYTE.saturating_add(reading).min(request)
        }
        _ => request,
    }
}

/// How long an answer waited in the server's own queue, in milliseconds; none where that cannot be
/// told from reading the prompt.
pub(crate) fn server_queue(kind: Option<ServerKind>, answer: &ChatAnswer) -> Option<u64> {
    let first = answer.timing.first_event_ms;
    // llama-server says how long it read.
    let read = answer
        .timings
        .as_ref()
        .and_then(|t| t.get("prompt_ms")?.as_f64())
        .and_then(|ms| Duration::try_from_secs_f64(ms / 1000.0).ok());
    if let Some(read) = read {
        let read = u64::try_from(read.as_millis()).unwrap_or(u64::MAX);
        return Some(first.saturating_sub(read));
    }
    match kind {
        // It sends its headers when a slot is free.
        Some(ServerKind::LlamaCpp) => Some(answer.timing.headers_ms),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{first_byte, server_queue};
    use baton_model_server::stream::whole_answer;
    use baton_protocol::ServerKind;
    use serde_json::json;
    use std::time::Duration;

    #[test]
    fn q02_q03_the_first_byte_scales_with_the_prompt_and_never_exceeds_the_request() {
        let request = Duration::from_secs(600);
        assert_eq!(first_byte(8000, None, request), request);
        assert_eq!(first_byte(8000, Some(0), request), request);
        assert_eq!(first_byte(8000, Some(1800), request).as_secs(), 60 + 17);
        assert_eq!(first_byte(8000, Some(20), request), request);
        assert_eq!(first_byte(u64::MAX, Some(1), request), request);
    }

    #[test]
    fn a_queue_is_measured_or_unknown_and_never_a_false_zero() {
        let mut answer = whole_answer(
            &json!({"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}]}),
        )
        .unwrap();
        answer.timing.first_event_ms = 9000;
        answer.timing.headers_ms = 4000;
        assert_eq!(server_queue(Some(ServerKind::Vllm), &answer), None);
        assert_eq!(server_queue(None, &answer), None);
        assert_eq!(
            server_queue(Some(ServerKind::LlamaCpp), &answer),
            Some(4000)
        );
        answer.timings = Some(json!({"prompt_ms": 5100.5}));
        assert_eq!(server_queue(None, &answer), Some(3900));
        answer.timings = Some(json!({"prompt_ms": -1.0}));
        assert_eq!(server_queue(None, &answer), None);
    }
}
