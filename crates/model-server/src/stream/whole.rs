//! Answers that came in one piece, from servers or gateways that do not stream.

use serde_json::Value;

use super::answer::ChatAnswer;
use super::assembly::{Assembly, Step};
use super::sse::{SseCounts, SseEvent};

/// Reads a complete (non-streamed) answer; the error is the server's error object.
pub fn whole_answer(body: &Value) -> Result<ChatAnswer, Value> {
    let mut assembly = Assembly::default();
    let event = SseEvent {
        name: None,
        data: body.to_string(),
    };
    if let Step::Error(error) = assembly.push(&event) {
        return Err(error);
    }
    assembly.push(&SseEvent {
        name: None,
        data: "[DONE]".to_owned(),
    });
    Ok(assembly.finish(SseCounts::default(), false))
}
