//! The assembler of tool calls: no piece is lost, and what is called whole is whole.

#![no_main]

use baton_model_server::stream::CallAssembler;
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

const WORDS: [&str; 8] = ["read", "write", "{", "}", "\"a\":1", "{}", " ", "\u{e9}\n"];

/// Chunks of pieces: from JSON where the input is JSON, else each byte adds something to a piece.
fn chunks(input: &[u8]) -> Vec<Vec<Value>> {
    if let Ok(Value::Array(chunks)) = serde_json::from_slice(input) {
        return chunks
            .into_iter()
            .map(|chunk| match chunk {
                Value::Array(pieces) => pieces,
                piece => vec![piece],
            })
            .collect();
    }
    let mut chunks = vec![Vec::new()];
    let mut piece = json!({"function": {}});
    for byte in input {
        let value = byte >> 3;
        let word = WORDS[usize::from(value) % WORDS.len()];
        match byte & 7 {
            0 => piece["index"] = json!(value % 4),
            1 => piece["id"] = json!(format!("id{}", value % 4)),
            2 => piece["function"]["name"] = json!(word),
            3 | 4 => {
                let known = piece["function"]["arguments"].as_str().unwrap_or_default();
                piece["function"]["arguments"] = json!(format!("{known}{word}"));
            }
            5 => piece["function"]["arguments"] = json!({ word: value }),
            _ => {
                let piece = std::mem::replace(&mut piece, json!({"function": {}}));
                if let Some(chunk) = chunks.last_mut() {
                    chunk.push(piece);
                }
                if byte & 7 == 7 {
                    chunks.push(Vec::new());
                }
            }
        }
    }
    if let Some(chunk) = chunks.last_mut() {
        chunk.push(piece);
    }
    chunks
}

/// The text a piece adds to the arguments of its call.
fn sent(piece: &Value) -> Option<String> {
    piece.is_object().then(|| {
        let function = piece.get("function").unwrap_or(piece);
        match function.get("arguments") {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        }
    })
}

fuzz_target!(|input: &[u8]| {
    for (whole, length) in [(true, false), (true, true), (false, false)] {
        let mut assembler = CallAssembler::default();
        let mut told: Vec<String> = Vec::new();
        for pieces in chunks(input) {
            let deltas = assembler.push(&pieces);
            let sent: Vec<String> = pieces.iter().filter_map(sent).collect();
            let got: Vec<&str> = deltas.iter().map(|d| d.arguments.as_str()).collect();
            assert_eq!(got, sent, "every piece is told, unchanged and in order");
            for delta in deltas {
                assert!(delta.position <= told.len(), "calls open one by one");
                if delta.position == told.len() {
                    told.push(String::new());
                }
                told[delta.position].push_str(&delta.arguments);
            }
        }
        let (calls, _) = assembler.finish(whole, length);
        assert_eq!(calls.len(), told.len());
        for (call, text) in calls.iter().zip(&told) {
            let filled = text.trim().is_empty() && call.arguments == "{}";
            assert!(filled || call.arguments == *text);
            assert!(!call.id.is_empty());
            if call.complete {
                assert!(whole && !call.name.is_empty());
                let parsed = serde_json::from_str::<Value>(&call.arguments);
                assert!(
                    parsed.as_ref().err().is_none_or(|e| !length && !e.is_eof()),
                    "a call that was cut off is not complete: {call:?}"
                );
            }
        }
    }
});
