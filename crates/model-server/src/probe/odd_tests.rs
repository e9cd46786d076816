//! Servers that are in no list of known ones, and answers that nobody would write down.

use std::time::Duration;

use baton_protocol::{Provider, ServerKind, ServerState, SignalSource};

use super::answers::Answers;
use super::judge::{Asked, judge};
use super::routes;

fn of(table: &[(&str, u16, &str)]) -> Provider {
    let asked = Asked {
        base_url: "http://h:1/v1".to_owned(),
        ..Asked::default()
    };
    judge(&asked, &[Answers::of(table)], Duration::ZERO)
}

const OK: (&str, u16, &str) = ("/health", 200, "OK");
const LIST: &str = r#"{"object":"list","data":[{"id":"m","object":"model","owned_by":"x"}]}"#;
const VERSION: (&str, u16, &str) = ("/version", 200, r#"{"version":"1.0"}"#);

#[test]
fn a_version_route_alone_makes_no_vllm() {
    let other = of(&[OK, ("/v1/models", 200, LIST), VERSION]);
    assert_eq!(
        other.server.kind,
        ServerKind::OpenAi,
        "LocalAI, TensorRT-LLM"
    );
    assert_eq!(
        other.slots.total,
        Some(1),
        "an unknown server is not taken to do two"
    );
    let fork = r#"{"data":[{"id":"m","owned_by":"aphrodite","max_model_len":8192}]}"#;
    let fork = of(&[OK, ("/v1/models", 200, fork), VERSION]);
    assert_eq!(fork.server.kind, ServerKind::Vllm);
    let without_list = of(&[OK, ("/v1/models", 500, "{}"), VERSION]);
    assert_eq!(without_list.server.kind, ServerKind::Vllm);
}

#[test]
fn sglang_s_new_routes_and_the_limit_its_engine_settled_on_are_read() {
    let list = r#"{"data":[{"id":"m","owned_by":"sglang","max_model_len":40960}]}"#;
    let info = r#"{"max_total_num_tokens":90000,"max_running_requests":null,"version":"0.5.9",
        "internal_states":[{"effective_max_running_requests_per_dp":16},{"effective_max_running_requests_per_dp":16}]}"#;
    let loads = r#"{"dp_rank_count":2,"loads":[{"num_running_reqs":3,"num_waiting_reqs":0},{"num_running_reqs":1,"num_waiting_reqs":0}]}"#;
    let table = [
        ("/health", 200, ""),
        ("/v1/models", 200, list),
        ("/get_server_info", 404, "{}"),
        ("/get_load", 404, "{}"),
        ("/server_info", 200, info),
        ("/v1/loads", 200, loads),
    ];
    let provider = of(&table);
    assert_eq!(provider.server.version.as_deref(), Some("0.5.9"));
    assert_eq!(provider.models[0].pool_tokens, Some(90_000));
    assert_eq!(provider.slots.source, SignalSource::Exact);
    assert_eq!(
        (
            provider.slots.total,
            provider.slots.in_flight,
            provider.slots.free
        ),
        (Some(32), Some(4), Some(28))
    );
    // They are only asked where the old names are gone.
    let asked = routes::next(Some(ServerKind::SgLang), &Answers::of(&table[..4]));
    assert!(asked.contains(&"/server_info".to_owned()), "{asked:?}");
    let old = routes::next(Some(ServerKind::SgLang), &Answers::of(&table[..2]));
    assert!(!old.contains(&"/server_info".to_owned()), "{old:?}");
}

#[test]
fn r32_the_route_that_counts_most_is_named_with_a_rejected_key() {
    for status in [401, 403] {
        let page = "<html><title>no</title></html>";
        let table = ["/api/ps", "/health", "/props", "/v1/models"].map(|r| (r, status, page));
        let provider = of(&table);
        assert_eq!(provider.state, ServerState::Rejected);
        assert!(
            provider.state_reason.contains("(/v1/models says"),
            "{}",
            provider.state_reason
        );
    }
}

#[test]
fn q11_a_server_that_asks_for_fewer_requests_is_no_wrong_address() {
    let page = "<html><title>429 Too Many Requests</title></html>";
    let provider = of(&[("/health", 429, page), ("/v1/models", 429, page)]);
    assert_eq!(provider.state, ServerState::Unknown);
    assert!(
        provider.state_reason.contains("fewer requests"),
        "{}",
        provider.state_reason
    );
    // One that says that it is well is believed.
    let provider = of(&[OK, ("/v1/models", 429, "{}"), VERSION]);
    assert!(
        provider.state_reason.contains("/health says ok"),
        "{}",
        provider.state_reason
    );
}

#[test]
fn r26_the_address_that_was_asked_is_shown_whole() {
    for (status, body, part) in [
        (404, r#"{"detail":"Not Found"}"#, "answers 404"),
        (200, "<html>hello</html>", "web page"),
        (200, "", "its answer is empty"),
        (200, r#"{"object":"list","data":["#, "no model list"),
        (200, r#"{"error":{"message":"db down"}}"#, "db down"),
        (307, "", "no other address"),
    ] {
        let provider = of(&[("/health", 404, ""), ("/v1/models", status, body)]);
        let reason = provider.state_reason;
        assert_eq!(provider.state, ServerState::WrongApi, "{reason}");
        assert!(reason.contains("GET http://h:1/v1/models"), "{reason}");
        assert!(reason.contains(part), "{reason}");
    }
}

#[test]
fn r03_entries_that_name_nothing_are_not_called_an_empty_list() {
    let list = r#"{"data":[{"id":7,"max_model_len":4096},{"id":"","max_model_len":4096}]}"#;
    let provider = of(&[OK, ("/v1/models", 200, list), VERSION]);
    assert_eq!(provider.state, ServerState::Unknown);
    assert!(
        provider.state_reason.contains("none of the 2 entries"),
        "{}",
        provider.state_reason
    );
    let only_embeds = r#"{"data":[{"id":"e","type":"embedding"}]}"#;
    let provider = of(&[OK, ("/v1/models", 200, only_embeds)]);
    assert_eq!(
        provider.state,
        ServerState::Unknown,
        "{}",
        provider.state_reason
    );
}

#[test]
fn a_health_route_that_is_not_passed_on_is_not_called_silent() {
    let list = r#"{"data":[{"id":"m","owned_by":"vllm","max_model_len":4096}]}"#;
    for (status, words) in [
        (404, "no health route"),
        (401, "/health says 401"),
        (429, "/health says 429"),
    ] {
        let provider = of(&[("/health", status, "x"), ("/v1/models", 200, list)]);
        assert_eq!(provider.state, ServerState::Unknown);
        assert!(
            provider.state_reason.contains(words),
            "{}",
            provider.state_reason
        );
        assert!(
            provider.state_reason.contains("--probe"),
            "{}",
            provider.state_reason
        );
    }
}
