//! What routes answer, judged: nothing is out of nothing, and unknown is never zero.

#![no_main]

use std::time::Duration;

use baton_model_server::probe::{Answer, Answers, Asked, Metrics, Reply, judge};
use baton_protocol::{Provider, ServerKind, ServerState};
use libfuzzer_sys::fuzz_target;

/// The routes, in the order in which an input gives their answers.
const ROUTES: [&str; 16] = [
    "/health",
    "/v1/models",
    "/metrics",
    "/props",
    "/slots",
    "/version",
    "/api/ps",
    "/api/tags",
    "/api/v0/models",
    "/api/v1/models",
    "/running",
    "/info",
    "/get_server_info",
    "/api/hardware",
    "/api/fit",
    "/model/info",
];

const KINDS: [Option<ServerKind>; 12] = [
    None,
    Some(ServerKind::Vllm),
    Some(ServerKind::LlamaCpp),
    Some(ServerKind::LlamaCppRouter),
    Some(ServerKind::Ollama),
    Some(ServerKind::LmStudio),
    Some(ServerKind::SgLang),
    Some(ServerKind::Tgi),
    Some(ServerKind::LlamaSwap),
    Some(ServerKind::Skein),
    Some(ServerKind::LiteLlm),
    Some(ServerKind::OpenAi),
];

/// Records end with the byte FF, which is in no UTF-8: a status, then a body. None: not asked.
fn answers(records: &[u8]) -> Answers {
    let mut answers = Answers::default();
    for (route, record) in ROUTES.iter().zip(records.split(|b| *b == 0xff)) {
        let [status, body @ ..] = record else {
            continue;
        };
        let status = match status {
            b'o' => 200,
            b'l' => 503,
            b'u' => 401,
            b'n' => 404,
            other => 200 + u16::from(*other),
        };
        let reply = Reply {
            status,
            content_type: "application/json".to_owned(),
            body: body.to_vec(),
            ..Reply::default()
        };
        let answer = Answer {
            result: Ok(reply),
            took: Duration::from_millis(2),
            age: Duration::from_millis(1),
        };
        answers.insert(*route, answer);
    }
    answers
}

fn check(provider: &Provider, asked: &Asked) {
    for model in &provider.models {
        assert_ne!(model.usable_context, Some(0), "0 is no window: {model:?}");
        assert_eq!(
            model.usable_context.is_some(),
            model.usable_context_source.is_some()
        );
        if let (Some(usable), Some(told)) = (model.usable_context, asked.context) {
            assert!(usable <= told, "a configured window lowers");
        }
    }
    let slots = &provider.slots;
    assert_ne!(slots.total, Some(0), "0 slots is not known");
    if let Some(free) = slots.free {
        assert!(slots.total.is_some_and(|total| free <= total));
        assert!(slots.in_flight.is_some(), "free is never out of nothing");
    }
    assert!(!provider.state_reason.is_empty());
    if provider.state == ServerState::Idle {
        assert_eq!(slots.in_flight, Some(0), "idle is seen, never assumed");
    }
    let text = serde_json::to_string(provider).unwrap_or_default();
    let again: Provider = serde_json::from_str(&text).expect("it is a document");
    assert_eq!(serde_json::to_string(&again).unwrap_or_default(), text);
}

fuzz_target!(|input: &[u8]| {
    let [choice, records @ ..] = input else {
        return;
    };
    let asked = Asked {
        id: "p".to_owned(),
        base_url: "http://127.0.0.1:1/v1".to_owned(),
        kind: KINDS[usize::from(*choice) % KINDS.len()],
        context: (choice & 0x40 != 0).then_some(8192),
        slots: (choice & 0x80 != 0).then_some(4),
        ..Asked::default()
    };
    let answers = answers(records);
    if let Some(text) = answers.text("/metrics") {
        Metrics::parse(&text);
    }
    check(
        &judge(&asked, std::slice::from_ref(&answers), Duration::ZERO),
        &asked,
    );
    let twice = [answers.clone(), answers];
    check(&judge(&asked, &twice, Duration::from_secs(3)), &asked);
});
