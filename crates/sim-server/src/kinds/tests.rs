//! No body a client can send makes a kind panic.

use clap::ValueEnum;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Kind, Stamp, Visit};
use crate::config::Config;
use crate::engine::{Engine, Pace};
use crate::http::Request;

/// Any JSON, with the keys of a chat request more often than chance would have them.
fn body() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        Just(json!("m")),
    ];
    let key = prop_oneof![
        Just("messages"),
        Just("role"),
        Just("content"),
        Just("tool_calls"),
        Just("function"),
        Just("name"),
        Just("arguments"),
        Just("tools"),
        Just("parameters"),
        Just("tool_choice"),
        Just("stream"),
        Just("stream_options"),
        Just("response_format"),
        Just("type"),
        Just("json_schema"),
        Just("schema"),
        Just("max_tokens"),
        Just("model"),
        Just("prompt"),
        Just("input"),
        Just("inputs"),
        Just("text"),
        Just("thinking_token_budget"),
        Just("temperature"),
        Just("structured_outputs"),
        Just("choice"),
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..8).prop_map(|pairs| {
                pairs
                    .into_iter()
                    .map(|(k, v)| (k.to_owned(), v))
                    .collect::<serde_json::Map<_, _>>()
                    .into()
            }),
        ]
    })
}

proptest! {
    #[test]
    fn every_kind_survives_every_body(body in body(), raw: Vec<u8>) {
        let config = Config { models: vec!["m".to_owned()], ..Config::default() };
        for kind in Kind::value_variants() {
            let server = kind.server();
            let engine = Engine::new(server.rules(&config), Pace { scale: 0.0 });
            let stamp = Stamp { id: "0".to_owned(), created: 0 };
            for bytes in [body.to_string().into_bytes(), raw.clone()] {
                for path in ["/v1/chat/completions", "/tokenize", "/apply-template", "/v1/messages/count_tokens"] {
                    let request = Request {
                        method: "POST".to_owned(), path: path.to_owned(), body: bytes.clone(), ..Request::default()
                    };
                    let now = engine.snapshot();
                    let visit = Visit { config: &config, request: &request, now: &now, stamp: &stamp };
                    let _ = server.route(&visit);
                    if let Ok(chat) = server.admit(&config, &request) {
                        let prompt = crate::tokens::count(&chat.prompt());
                        let limit = server.limit(&config, &chat, prompt);
                        let answer = crate::agent::answer(&chat);
                        if let Ok(limit) = limit {
                            let output = crate::generate::write(&answer, &chat, limit);
                            let reply = super::Reply {
                                chat: &chat, output: &output, stamp: &stamp, model: "m", prompt, cached: 0,
                                usage: None, prompt_ms: 0.0, answer_ms: 0.0,
                            };
                            let _ = server.document(&reply);
                            prop_assert!(!server.events(&reply).is_empty());
                        }
                    }
                }
            }
        }
    }
}
