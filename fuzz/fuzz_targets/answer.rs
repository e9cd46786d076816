//! A whole stream, from bytes to the answer: nothing that was streamed is missing from it.

#![no_main]

use baton_model_server::stream::{Assembly, SseDecoder, Step, StreamEvent};
use libfuzzer_sys::fuzz_target;

/// What a reader of the events saw.
#[derive(Default)]
struct Seen {
    content: String,
    reasoning: String,
    arguments: Vec<String>,
}

impl Seen {
    fn take(&mut self, event: StreamEvent) {
        match event {
            StreamEvent::Content(text) => self.content.push_str(&text),
            StreamEvent::Reasoning(text) => self.reasoning.push_str(&text),
            StreamEvent::Call {
                position,
                arguments,
                ..
            } => {
                if position == self.arguments.len() {
                    self.arguments.push(String::new());
                }
                self.arguments[position].push_str(&arguments);
            }
            _ => {}
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    let mut decoder = SseDecoder::with_limit(1 << 16);
    let mut assembly = Assembly::default();
    let mut seen = Seen::default();
    decoder.push(bytes);
    loop {
        let event = match decoder.next_event() {
            Ok(Some(event)) => event,
            Ok(None) => match decoder.finish() {
                Some(event) => event,
                None => break,
            },
            Err(_) => return,
        };
        match assembly.push(&event) {
            Step::More(events) => events.into_iter().for_each(|event| seen.take(event)),
            Step::Done => break,
            Step::Error(_) => return,
        }
    }
    let whole = assembly.is_whole();
    let answer = assembly.finish(decoder.counts(), false);
    assert_eq!(answer.tool_calls.len(), seen.arguments.len());
    assert!(whole || answer.truncated, "an answer without an end is cut");
    assert!(
        whole || answer.tool_calls.iter().all(|call| !call.complete),
        "no call of a cut answer may run"
    );
    // A closing tag that nothing opened moves text to the thinking and drops the tag; else all that
    // was streamed is there, in order.
    if answer.content.starts_with(&seen.content) {
        assert!(answer.reasoning.starts_with(&seen.reasoning));
    } else {
        assert!(answer.repairs.contains_key("thinking_in_content"));
    }
});
