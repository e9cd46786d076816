//! The R rows of the bug log: answers of routes, and what is concluded from them.

use std::time::Duration;

use baton_protocol::{
    ContextSource, ModelState, Provider, ServerKind, ServerState, Signal, SignalSource,
};

use super::answers::Answers;
use super::find_model;
use super::judge::{Asked, judge};
use crate::errors::{Clock, ErrorClass};

fn judged(answers: &Answers) -> Provider {
    judge(
        &Asked::default(),
        std::slice::from_ref(answers),
        Duration::ZERO,
    )
}

fn of(table: &[(&str, u16, &str)]) -> Provider {
    judged(&Answers::of(table))
}

const OK: (&str, u16, &str) = ("/health", 200, r#"{"status":"ok"}"#);
const LOADING: &str =
    r#"{"error":{"message":"Loading model","type":"unavailable_error","code":503}}"#;
const VLLM_MODELS: &str = r#"{"object":"list","data":[{"id":"qwen38","object":"model","owned_by":"vllm","root":"/models/q","parent":null,"max_model_len":4096}]}"#;
const LLAMA_MODELS: &str = r#"{"object":"list","data":[{"id":"qwen","aliases":["qwen"],"object":"model","owned_by":"llamacpp","meta":{"n_ctx":4096,"n_ctx_train":32768}}]}"#;
const PROPS: &str = r#"{"default_generation_settings":{"n_ctx":4096},"total_slots":2,"build_info":"b11434-x","is_sleeping":false}"#;

fn vllm_metrics(running: u32, waiting: u32, generated: u32) -> String {
    format!(
        "vllm:num_requests_running{{engine=\"0\",model_name=\"qwen38\"}} {running}.0\n\
         vllm:num_requests_waiting{{engine=\"0\",model_name=\"qwen38\"}} {waiting}.0\n\
         vllm:generation_tokens_total{{engine=\"0\",model_name=\"qwen38\"}} {generated}.0\n\
         vllm:engine_sleep_state{{engine=\"0\",sleep_state=\"awake\"}} 1.0\n\
         vllm:engine_sleep_state{{engine=\"0\",sleep_state=\"discard_all\"}} 0.0\n\
         vllm:cache_config_info{{block_size=\"128\",kv_cache_size_tokens=\"2097152\",num_gpu_blocks=\"16384\"}} 1.0\n"
    )
}

fn vllm(running: u32, waiting: u32, generated: u32) -> Answers {
    Answers::of(&[
        ("/health", 200, ""),
        ("/v1/models", 200, VLLM_MODELS),
        ("/version", 200, r#"{"version":"0.32.0"}"#),
        ("/metrics", 200, &vllm_metrics(running, waiting, generated)),
    ])
}

fn slot(n_ctx: u32, busy: bool) -> String {
    format!(r#"{{"id":0,"n_ctx":{n_ctx},"is_processing":{busy}}}"#)
}

fn llama(slots: &[String]) -> Provider {
    of(&[
        OK,
        ("/v1/models", 200, LLAMA_MODELS),
        ("/props", 200, PROPS),
        ("/slots", 200, &format!("[{}]", slots.join(","))),
    ])
}

#[test]
fn r01_r05_a_server_that_loads_is_neither_down_nor_ready() {
    for table in [
        &[("/health", 503, LOADING), ("/v1/models", 503, LOADING)][..],
        &[
            ("/health", 200, r#"{"status":"loading model"}"#),
            ("/v1/models", 200, LLAMA_MODELS),
        ],
        &[
            ("/health", 503, r#"{"status":"loading model"}"#),
            ("/v1/models", 404, "File Not Found"),
        ],
    ] {
        let provider = of(table);
        assert_eq!(provider.state, ServerState::Loading, "{table:?}");
    }
}

#[test]
fn r02_a_list_without_model_data_is_a_model_being_loaded() {
    let models = r#"{"data":[{"id":"x","owned_by":"llamacpp","meta":null}]}"#;
    for health in [("/health", 503, LOADING), OK] {
        let provider = of(&[health, ("/v1/models", 200, models)]);
        assert_eq!(provider.state, ServerState::Loading, "{health:?}");
    }
}

#[test]
fn r03_an_empty_list_is_no_model_loaded_yet() {
    let provider = of(&[OK, ("/v1/models", 200, r#"{"object":"list","data":[]}"#)]);
    assert_eq!(provider.state, ServerState::Loading);
    assert!(
        provider.state_reason.contains("no model is loaded"),
        "{}",
        provider.state_reason
    );
}

#[test]
fn r04_a_static_list_does_not_outweigh_health() {
    let models = r#"{"data":[{"id":"m","owned_by":"sglang","max_model_len":8192}]}"#;
    let warming = of(&[("/health", 503, ""), ("/v1/models", 200, models)]);
    assert_eq!(
        (warming.state, warming.server.kind),
        (ServerState::Loading, ServerKind::SgLang)
    );
    let ready = of(&[("/health", 200, ""), ("/v1/models", 200, models)]);
    assert!(ready.state.is_ready());
}

#[test]
fn r05_refused_is_unreachable_and_not_loading() {
    let mut answers = Answers::default();
    answers.fail("/health", ErrorClass::Refused);
    answers.fail("/v1/models", ErrorClass::Refused);
    let provider = judged(&answers);
    assert_eq!(provider.state, ServerState::Unreachable);
    assert_eq!(provider.error.unwrap().kind, "refused");
}

#[test]
fn r06_health_alone_is_said_to_be_not_probed() {
    let provider = judged(&vllm(0, 0, 0));
    assert_eq!(provider.state, ServerState::Idle);
    assert!(
        provider.state_reason.contains("not probed"),
        "{}",
        provider.state_reason
    );
}

#[test]
fn r07_waiting_requests_while_none_runs_are_a_stall_over_two_samples() {
    let samples = [vllm(0, 3, 5), vllm(0, 3, 5)];
    let provider = judge(&Asked::default(), &samples, Duration::from_secs(1));
    assert_eq!(provider.state, ServerState::Stalled);
    let moved = [vllm(0, 3, 5), vllm(2, 1, 5)];
    let provider = judge(&Asked::default(), &moved, Duration::from_secs(1));
    assert_eq!(
        provider.state,
        ServerState::Saturated,
        "a gauge lags one step behind"
    );
}

#[test]
fn r08_a_counter_that_stands_still_while_something_runs_is_a_stall() {
    let frozen = [vllm(1, 0, 909), vllm(1, 0, 909)];
    let provider = judge(&Asked::default(), &frozen, Duration::from_secs(3));
    assert_eq!(provider.state, ServerState::Stalled);
    assert!(
        provider.state_reason.contains("3.0 s"),
        "{}",
        provider.state_reason
    );
    let works = [vllm(1, 0, 909), vllm(1, 0, 910)];
    let provider = judge(&Asked::default(), &works, Duration::from_secs(3));
    assert_eq!(provider.state, ServerState::Busy);
    let done = [vllm(1, 0, 909), vllm(0, 0, 909)];
    let provider = judge(&Asked::default(), &done, Duration::from_secs(3));
    assert_eq!(provider.state, ServerState::Idle);
}

#[test]
fn r10_reading_a_long_prompt_is_no_stall() {
    let reading = |decoded: u32| {
        let slot = format!(
            r#"[{{"id":0,"n_ctx":4096,"is_processing":true,"n_prompt_tokens_processed":256,"next_token":[{{"n_decoded":{decoded}}}]}}]"#
        );
        Answers::of(&[
            OK,
            ("/v1/models", 200, LLAMA_MODELS),
            ("/props", 200, PROPS),
            ("/slots", 200, &slot),
        ])
    };
    let state = |decoded: u32, seconds: u64| {
        let samples = [reading(decoded), reading(decoded)];
        judge(&Asked::default(), &samples, Duration::from_secs(seconds)).state
    };
    assert_eq!(
        state(0, 4),
        ServerState::Saturated,
        "one slot, and it works"
    );
    assert_eq!(state(0, 200), ServerState::Stalled);
    assert_eq!(state(7, 4), ServerState::Stalled);
}

#[test]
fn r09_the_signals_are_listed() {
    let provider = judged(&vllm(1, 0, 5));
    for name in [
        "GET /health",
        "GET /v1/models",
        "GET /metrics",
        "vllm:num_requests_running",
    ] {
        assert!(provider.signals.iter().any(|s| s.name == name), "{name}");
    }
}

#[test]
fn r10_a_server_that_says_nothing_is_not_down_and_not_free() {
    let mut answers = Answers::default();
    for route in ["/health", "/v1/models"] {
        answers.fail(route, ErrorClass::TimedOut(Clock::Deadline));
    }
    let provider = judged(&answers);
    assert_eq!(provider.state, ServerState::Unknown);
    assert_eq!(provider.slots.free, None);
    assert_eq!(provider.error.unwrap().kind, "timed_out");
    // Where others answer and only the slots are silent, it reads a long prompt.
    let mut answers = Answers::of(&[
        OK,
        ("/v1/models", 200, LLAMA_MODELS),
        ("/props", 200, PROPS),
    ]);
    answers.fail("/slots", ErrorClass::TimedOut(Clock::Deadline));
    let provider = judged(&answers);
    assert_eq!(provider.state, ServerState::Busy);
    assert_eq!(
        (provider.slots.in_flight, provider.slots.free),
        (None, None)
    );
}

#[test]
fn r10_a_connection_that_never_stands_is_unreachable_and_not_refused() {
    let mut answers = Answers::default();
    answers.fail("/health", ErrorClass::TimedOut(Clock::Connect));
    let provider = judged(&answers);
    assert_eq!(provider.state, ServerState::Unreachable);
    assert_eq!(provider.error.unwrap().kind, "timed_out");
}

#[test]
fn r11_a_sleeping_server_says_so_in_its_props() {
    let props = PROPS.replace("\"is_sleeping\":false", "\"is_sleeping\":true");
    let provider = of(&[
        OK,
        ("/v1/models", 200, LLAMA_MODELS),
        ("/props", 200, &props),
    ]);
    assert_eq!(provider.state, ServerState::Sleeping);
    assert_eq!(provider.models[0].state, ModelState::Sleeping);
    assert_eq!(provider.models[0].usable_context, Some(4096));
    assert_eq!(
        provider.slots.total,
        Some(2),
        "its slots are known without waking it"
    );
}

const ROUTER_PROPS: &str = r#"{"role":"router","max_instances":1,"models_autoload":true,"build_info":"b1","default_generation_settings":{"params":null,"n_ctx":0}}"#;

fn router(models: &str) -> Answers {
    Answers::of(&[
        OK,
        ("/v1/models", 200, models),
        ("/props", 200, ROUTER_PROPS),
    ])
}

fn child(id: &str, status: &str, meta: &str) -> String {
    format!(r#"{{"id":"{id}","owned_by":"llamacpp","status":{status}{meta}}}"#)
}

#[test]
fn r12_a_router_s_listed_models_are_not_loaded_models() {
    let a = child("a", r#"{"value":"unloaded"}"#, "");
    let b = child(
        "b",
        r#"{"value":"unloaded","failed":true,"exit_code":9}"#,
        "",
    );
    let provider = judged(&router(&format!(r#"{{"data":[{a},{b}]}}"#)));
    assert_eq!(provider.server.kind, ServerKind::LlamaCppRouter);
    assert_eq!(provider.state, ServerState::Sleeping);
    assert_eq!(provider.models[0].state, ModelState::Unloaded);
    assert_eq!(provider.models[0].usable_context, None);
    assert_eq!(provider.models[1].state, ModelState::Failed);
    assert!(
        provider.models[1]
            .last_error
            .as_deref()
            .unwrap()
            .contains('9')
    );
    // Where requests do not load models, none loaded means not ready.
    let fixed = ROUTER_PROPS.replace("\"models_autoload\":true", "\"models_autoload\":false");
    let mut answers = router(&format!(r#"{{"data":[{a}]}}"#));
    answers.reply_with("/props", 200, "application/json", "", &fixed);
    assert_eq!(judged(&answers).other["wakes_on_request"], false);
}

#[test]
fn r38_a_router_child_s_window_is_already_divided() {
    let loaded = child(
        "a",
        r#"{"value":"loaded"}"#,
        r#","meta":{"n_ctx":262144,"n_ctx_train":1048576}"#,
    );
    let mut answers = router(&format!(r#"{{"data":[{loaded}]}}"#));
    let slots: Vec<String> = (0..4).map(|_| slot(262_144, false)).collect();
    let route = "/slots?model=a&autoload=false";
    answers.reply_with(
        route,
        200,
        "application/json",
        "",
        &format!("[{}]", slots.join(",")),
    );
    let provider = judged(&answers);
    assert_eq!(provider.state, ServerState::Idle);
    assert_eq!(provider.models[0].usable_context, Some(262_144));
    assert_eq!(
        provider.models[0].usable_context_source,
        Some(ContextSource::SlotShare)
    );
    assert_eq!(provider.slots.total, Some(4));
}

#[test]
fn r13_lm_studio_s_loaded_length_counts_and_embeddings_do_not() {
    let native = r#"{"object":"list","data":[
        {"id":"m","type":"llm","state":"loaded","max_context_length":131072,"loaded_context_length":4096},
        {"id":"e","type":"embeddings","state":"not-loaded","max_context_length":2048}]}"#;
    let provider = of(&[
        (
            "/health",
            200,
            r#"{"error":"Unexpected endpoint or method. (GET /health)"}"#,
        ),
        (
            "/v1/models",
            200,
            r#"{"data":[{"id":"m","object":"model","owned_by":"organization_owner"}]}"#,
        ),
        ("/api/v0/models", 200, native),
    ]);
    assert_eq!(provider.server.kind, ServerKind::LmStudio);
    assert_eq!(provider.models.len(), 1);
    let model = &provider.models[0];
    assert_eq!(
        (model.usable_context, model.max_model_len),
        (Some(4096), Some(131_072))
    );
    assert_eq!(
        model.usable_context_source,
        Some(ContextSource::LoadedLength)
    );
    assert_eq!(
        provider.state,
        ServerState::Busy,
        "ready; how busy cannot be seen"
    );
}

#[test]
fn r14_an_unloaded_model_s_window_is_unknown_never_a_family_default() {
    let native = r#"{"models":[{"type":"llm","key":"m","loaded_instances":[],"max_context_length":131072}]}"#;
    let provider = of(&[
        (
            "/v1/models",
            200,
            r#"{"data":[{"id":"m","owned_by":"organization_owner"}]}"#,
        ),
        ("/api/v1/models", 200, native),
    ]);
    assert_eq!(provider.models[0].usable_context, None);
    assert_eq!(provider.models[0].max_model_len, Some(131_072));
    assert_eq!(provider.state, ServerState::Sleeping);
    let loaded = native.replace("[]", r#"[{"id":"m:1","config":{"context_length":8192}}]"#);
    let provider = of(&[
        (
            "/v1/models",
            200,
            r#"{"data":[{"id":"m","owned_by":"organization_owner"}]}"#,
        ),
        ("/api/v1/models", 200, &loaded),
    ]);
    assert_eq!(provider.models[0].usable_context, Some(8192));
}

#[test]
fn r15_a_list_without_a_window_leaves_it_unknown() {
    let provider = of(&[(
        "/v1/models",
        200,
        r#"{"data":[{"id":"g-4-12b","object":"model","owned_by":"organization_owner"}]}"#,
    )]);
    assert_eq!(provider.models[0].usable_context, None);
    assert_eq!(
        provider.state,
        ServerState::Unknown,
        "a list proves nothing"
    );
}

#[test]
fn r26_a_web_page_in_place_of_the_list_is_named() {
    let mut answers = Answers::default();
    let page = "<!DOCTYPE html><html><head><title>Sign in</title></head></html>";
    answers.reply_with("/health", 200, "text/html", "", page);
    answers.reply_with("/v1/models", 200, "text/html", "", page);
    let provider = judged(&answers);
    assert_eq!(provider.state, ServerState::WrongApi);
    let error = provider.error.unwrap();
    assert_eq!(error.kind, "html");
    assert!(
        error.message.contains("<title>Sign in") && error.message.contains("base URL"),
        "{}",
        error.message
    );
}

#[test]
fn r25_a_wrong_path_is_a_wrong_base_url() {
    let provider = of(&[
        ("/health", 404, "404 page not found"),
        ("/v1/models", 404, r#"{"detail":"Not Found"}"#),
    ]);
    assert_eq!(provider.state, ServerState::WrongApi);
    let provider = of(&[("/health", 200, "OK"), ("/v1/models", 200, "\"hello\"")]);
    assert_eq!(provider.state, ServerState::WrongApi);
}

#[test]
fn r22_a_failed_list_is_an_error_and_no_empty_list() {
    let provider = of(&[
        ("/health", 200, ""),
        ("/v1/models", 500, "oops"),
        ("/metrics", 200, &vllm_metrics(0, 0, 0)),
    ]);
    assert_eq!(provider.server.kind, ServerKind::Vllm);
    assert!(
        provider
            .error
            .unwrap()
            .message
            .contains("model list could not be read")
    );
}

#[test]
fn r29_a_proxy_s_error_page_is_named_as_such() {
    let mut answers = Answers::default();
    for route in ["/health", "/v1/models"] {
        answers.reply_with(
            route,
            503,
            "text/html",
            "squid",
            "<html>ERR_CONNECT_FAIL</html>",
        );
    }
    let provider = judged(&answers);
    assert_eq!(provider.state, ServerState::Unreachable);
    assert!(
        provider.state_reason.contains("NO_PROXY"),
        "{}",
        provider.state_reason
    );
}

#[test]
fn r31_a_certificate_that_is_not_trusted_is_a_class_of_its_own() {
    let mut answers = Answers::default();
    answers.fail("/health", ErrorClass::Tls);
    let provider = judged(&answers);
    assert_eq!(
        (provider.state, provider.error.unwrap().kind.as_str()),
        (ServerState::Unreachable, "tls")
    );
}

#[test]
fn r32_r33_a_rejected_key_is_up_and_rejected() {
    let vllm = of(&[
        ("/health", 200, ""),
        ("/v1/models", 401, r#"{"error":"Unauthorized"}"#),
    ]);
    assert_eq!(
        (vllm.state, vllm.key_ok),
        (ServerState::Rejected, Some(false))
    );
    let invalid =
        r#"{"error":{"message":"Invalid API Key","type":"authentication_error","code":401}}"#;
    let llama = of(&[OK, ("/v1/models", 401, invalid)]);
    assert_eq!(llama.state, ServerState::Rejected);
    // Older builds list models without a key.
    let older = of(&[
        OK,
        ("/v1/models", 200, LLAMA_MODELS),
        ("/props", 401, invalid),
    ]);
    assert_eq!(older.state, ServerState::Rejected);
    let fine = judged(&self::vllm(0, 0, 0));
    assert_eq!(fine.key_ok, Some(true));
}

#[test]
fn r35_the_window_is_one_slot_s_share() {
    let provider = llama(&[slot(1024, false), slot(1024, true)]);
    assert_eq!(provider.models[0].usable_context, Some(1024));
    assert_eq!(provider.models[0].pool_tokens, Some(2048));
    assert_eq!(
        provider.models[0].usable_context_source,
        Some(ContextSource::SlotShare)
    );
    assert_eq!(
        (provider.slots.total, provider.slots.free),
        (Some(2), Some(1))
    );
    assert_eq!(provider.slots.source, SignalSource::Exact);
}

#[test]
fn r36_four_slots_may_share_one_pool() {
    let provider = llama(&[
        slot(1024, true),
        slot(1024, true),
        slot(1024, false),
        slot(1024, false),
    ]);
    let model = &provider.models[0];
    assert_eq!(model.usable_context, Some(1024));
    assert_eq!(model.pool_tokens, Some(1024));
    assert_eq!(model.other["guaranteed_context"], 512);
    assert_eq!(provider.slots.free, Some(2));
}

#[test]
fn r37_a_slot_s_own_number_beats_that_of_props() {
    let provider = llama(&[slot(2048, false)]);
    assert_eq!(provider.models[0].usable_context, Some(2048));
    let only_props = of(&[
        OK,
        ("/v1/models", 200, LLAMA_MODELS),
        ("/props", 200, PROPS),
    ]);
    assert_eq!(only_props.models[0].usable_context, Some(4096));
}

#[test]
fn r39_unknown_slots_are_unknown_and_both_fields_are_read() {
    for (status, body) in [
        (
            501,
            r#"{"error":{"code":501,"message":"x","type":"not_supported_error"}}"#,
        ),
        (404, "File Not Found"),
    ] {
        let provider = of(&[
            OK,
            ("/v1/models", 200, LLAMA_MODELS),
            (
                "/props",
                200,
                r#"{"default_generation_settings":{"n_ctx":4096}}"#,
            ),
            ("/slots", status, body),
        ]);
        assert_eq!(provider.slots.in_flight, None);
        assert_eq!(provider.slots.free, None);
        assert_eq!(
            (provider.slots.total, provider.slots.source),
            (Some(1), SignalSource::Assumed)
        );
    }
    let older = |state: u32| llama(&[format!(r#"{{"id":0,"n_ctx":4096,"state":{state}}}"#)]);
    assert_eq!(older(0).slots.in_flight, Some(0));
    assert_eq!(older(1).slots.in_flight, Some(1));
    let neither = llama(&[r#"{"id":0,"n_ctx":4096}"#.to_owned()]);
    assert_eq!(
        (neither.slots.total, neither.slots.in_flight),
        (Some(1), None)
    );
    // What a slot did last stays in it; only `is_processing` says that it works.
    let idle = r#"{"id":0,"n_ctx":4096,"is_processing":false,"id_task":7,"next_token":[{"n_decoded":12}]}"#;
    assert_eq!(llama(&[idle.to_owned()]).slots.in_flight, Some(0));
}

#[test]
fn r40_zero_is_unusable_and_never_unlimited() {
    let provider = llama(&[slot(0, false)]);
    assert_eq!(
        provider.models[0].usable_context,
        Some(4096),
        "the next source tells"
    );
    let nothing = r#"{"data":[{"id":"m","owned_by":"llamacpp","meta":{"n_ctx":0}}]}"#;
    let provider = of(&[OK, ("/v1/models", 200, nothing), ("/slots", 200, "[]")]);
    assert_eq!(provider.models[0].usable_context, None);
    assert_ne!(provider.slots.total, Some(0));
}

#[test]
fn vllm_does_not_tell_its_slots_so_two_are_assumed() {
    let provider = judged(&vllm(1, 0, 5));
    assert_eq!(provider.state, ServerState::Busy);
    assert_eq!(
        (provider.slots.total, provider.slots.free),
        (Some(2), Some(1))
    );
    assert_eq!(provider.slots.source, SignalSource::Assumed);
    assert_eq!(provider.server.version.as_deref(), Some("0.32.0"));
    let asked = Asked {
        slots: Some(4),
        ..Asked::default()
    };
    let provider = judge(&asked, &[vllm(1, 0, 5)], Duration::ZERO);
    assert_eq!(
        (provider.slots.free, provider.slots.source),
        (Some(3), SignalSource::Configured)
    );
    let queue = judged(&vllm(2, 2, 5));
    assert_eq!(
        (queue.state, queue.slots.free),
        (ServerState::Saturated, Some(0))
    );
}

#[test]
fn configured_slots_never_exceed_the_server_s() {
    let with = |slots| {
        let asked = Asked {
            slots: Some(slots),
            ..Asked::default()
        };
        let answers = Answers::of(&[
            OK,
            ("/v1/models", 200, LLAMA_MODELS),
            ("/props", 200, PROPS),
            (
                "/slots",
                200,
                &format!("[{},{}]", slot(4096, false), slot(4096, true)),
            ),
        ]);
        judge(&asked, &[answers], Duration::ZERO).slots
    };
    assert_eq!(
        (with(8).total, with(8).source),
        (Some(2), SignalSource::Exact)
    );
    assert_eq!((with(1).total, with(1).free), (Some(1), Some(0)));
    assert_eq!(with(1).source, SignalSource::Configured);
}

#[test]
fn a_pool_smaller_than_the_window_is_what_one_request_may_use() {
    let metrics = vllm_metrics(0, 0, 0)
        .replace("kv_cache_size_tokens=\"2097152\",", "")
        .replace("16384", "16");
    let provider = of(&[
        ("/health", 200, ""),
        ("/v1/models", 200, VLLM_MODELS),
        ("/metrics", 200, &metrics),
    ]);
    let model = &provider.models[0];
    assert_eq!(
        (model.usable_context, model.pool_tokens),
        (Some(2048), Some(2048))
    );
    assert_eq!(model.usable_context_source, Some(ContextSource::KvPool));
}

#[test]
fn a_configured_window_lowers_or_stands_in() {
    let asked = Asked {
        context: Some(1000),
        ..Asked::default()
    };
    let provider = judge(&asked, &[vllm(0, 0, 0)], Duration::ZERO);
    assert_eq!(provider.models[0].usable_context, Some(1000));
    assert_eq!(
        provider.models[0].usable_context_source,
        Some(ContextSource::Configured)
    );
}

#[test]
fn a_dead_or_sleeping_vllm_engine_is_seen() {
    let dead = of(&[
        ("/health", 503, ""),
        ("/v1/models", 200, VLLM_MODELS),
        ("/metrics", 200, &vllm_metrics(1, 0, 5)),
    ]);
    assert_eq!(dead.state, ServerState::Failed);
    let asleep = vllm_metrics(0, 0, 0)
        .replace("\"awake\"} 1.0", "\"awake\"} 0.0")
        .replace("\"discard_all\"} 0.0", "\"discard_all\"} 1.0");
    let provider = of(&[
        ("/health", 200, ""),
        ("/v1/models", 200, VLLM_MODELS),
        ("/metrics", 200, &asleep),
    ]);
    assert_eq!(provider.state, ServerState::Sleeping);
    assert_eq!(
        provider.other["wakes_on_request"], false,
        "a request does not wake vLLM"
    );
}

#[test]
fn skein_s_health_is_always_ok_and_its_models_tell_the_truth() {
    let health = r#"{"status":"ok","any_model_resident":true,"busy":true,"in_flight":3,"models":{
        "a":{"state":"ready","last_error":{"message":"old","class":"gpu-oom"}},
        "b":{"state":"failed","last_error":{"message":"no shard","class":"missing-shard","category":"start"}},
        "c":{"state":"stopped"}}}"#;
    let fit = r#"{"models":[{"model":"a","fit_level":"good","max_safe_ctx":11000,"configured_ctx":32768},{"model":"c","fit_level":"unknown","max_safe_ctx":0}]}"#;
    let provider = of(&[
        ("/health", 200, health),
        (
            "/v1/models",
            200,
            r#"{"data":[{"id":"a","context_length":32768},{"id":"b"},{"id":"c"}]}"#,
        ),
        (
            "/api/hardware",
            200,
            r#"{"inference":{"in_flight":3,"slots_total":2,"busy":true}}"#,
        ),
        ("/api/fit", 200, fit),
    ]);
    assert_eq!(provider.server.kind, ServerKind::Skein);
    assert_eq!(provider.state, ServerState::Saturated);
    assert_eq!(
        (
            provider.slots.total,
            provider.slots.in_flight,
            provider.slots.waiting
        ),
        (Some(2), Some(2), Some(1))
    );
    let a = find_model(&provider, "a").unwrap();
    assert_eq!(
        (a.usable_context, a.usable_context_source),
        (Some(11_000), Some(ContextSource::MaxSafeCtx))
    );
    let b = find_model(&provider, "b").unwrap();
    assert_eq!(b.state, ModelState::Failed);
    assert_eq!(b.last_error.as_deref(), Some("missing-shard: no shard"));
    assert_eq!(
        find_model(&provider, "c").unwrap().usable_context,
        None,
        "max_safe_ctx 0 is unknown"
    );
}

#[test]
fn ollama_s_window_is_the_loaded_one_else_its_default() {
    let provider = of(&[
        (
            "/v1/models",
            200,
            r#"{"data":[{"id":"a:latest","owned_by":"library"},{"id":"b:latest","owned_by":"library"}]}"#,
        ),
        (
            "/api/tags",
            200,
            r#"{"models":[{"name":"a:latest","model":"a:latest"},{"name":"b:latest"}]}"#,
        ),
        (
            "/api/ps",
            200,
            r#"{"models":[{"name":"a:latest","context_length":16384}]}"#,
        ),
        ("/api/version", 200, r#"{"version":"0.20.0"}"#),
    ]);
    assert_eq!(provider.server.kind, ServerKind::Ollama);
    let a = find_model(&provider, "a:latest").unwrap();
    assert_eq!(
        (a.usable_context, a.state),
        (Some(16_384), ModelState::Loaded)
    );
    let b = find_model(&provider, "b:latest").unwrap();
    assert_eq!(
        (b.usable_context, b.state),
        (Some(4096), ModelState::Unloaded)
    );
    assert_eq!(provider.state, ServerState::Busy);
}

#[test]
fn llama_swap_s_constant_health_proves_nothing() {
    let models =
        r#"{"data":[{"id":"a","owned_by":"llama-swap"},{"id":"b","owned_by":"llama-swap"}]}"#;
    let idle = of(&[
        ("/health", 200, "OK"),
        ("/v1/models", 200, models),
        ("/running", 200, r#"{"running":[]}"#),
    ]);
    assert_eq!(
        (idle.server.kind, idle.state),
        (ServerKind::LlamaSwap, ServerState::Sleeping)
    );
    let running = of(&[
        ("/health", 200, "OK"),
        ("/v1/models", 200, models),
        (
            "/running",
            200,
            r#"{"running":[{"model":"a","state":"ready"}]}"#,
        ),
        ("/upstream/a/props", 200, PROPS),
        (
            "/upstream/a/slots",
            200,
            &format!("[{}]", slot(4096, false)),
        ),
    ]);
    assert_eq!(running.state, ServerState::Idle);
    assert_eq!(
        find_model(&running, "a").unwrap().usable_context,
        Some(4096)
    );
    assert_eq!(
        find_model(&running, "b").unwrap().state,
        ModelState::Unloaded
    );
}

#[test]
fn sglang_and_tgi_tell_their_windows_pools_and_slots() {
    let sglang = of(&[
        ("/health", 200, ""),
        (
            "/v1/models",
            200,
            r#"{"data":[{"id":"m","owned_by":"sglang","max_model_len":32768}]}"#,
        ),
        (
            "/get_server_info",
            200,
            r#"{"version":"0.5","max_total_num_tokens":20000,"max_running_requests":8,"context_length":32768}"#,
        ),
        (
            "/get_load",
            200,
            r#"[{"dp_rank":0,"num_reqs":3,"num_waiting_reqs":1}]"#,
        ),
    ]);
    let model = &sglang.models[0];
    assert_eq!(
        (model.usable_context, model.pool_tokens),
        (Some(20_000), Some(20_000))
    );
    assert_eq!(
        (sglang.slots.in_flight, sglang.slots.waiting),
        (Some(2), Some(1))
    );
}

#[test]
fn tgi_s_admission_limit_is_no_number_of_slots() {
    let tgi = |more: &str| {
        let info = format!(
            r#"{{"model_id":"m","max_total_tokens":4096,"max_concurrent_requests":128,"version":"3"{more}}}"#
        );
        of(&[
            ("/health", 200, ""),
            ("/v1/models", 200, r#"{"data":[{"id":"m","owned_by":"m"}]}"#),
            ("/info", 200, &info),
            (
                "/metrics",
                200,
                "tgi_queue_size 0\ntgi_batch_current_size 1\n",
            ),
        ])
    };
    let untold = tgi("");
    assert_eq!(untold.server.kind, ServerKind::Tgi);
    assert_eq!(
        (untold.slots.total, untold.slots.source),
        (Some(1), SignalSource::Assumed)
    );
    assert_eq!(
        (untold.slots.in_flight, untold.slots.free),
        (Some(1), Some(0))
    );
    assert_eq!(untold.models[0].usable_context, Some(4096));
    // The number is shown all the same, under its own name.
    let shown = |s: &Signal| s.name == "max_concurrent_requests" && s.value == 128;
    assert!(untold.signals.iter().any(shown));
    // What bounds a batch is told by some versions.
    let told = tgi(r#","max_batch_size":8,"max_batch_total_tokens":2048"#);
    assert_eq!(
        (told.slots.total, told.slots.source, told.slots.free),
        (Some(8), SignalSource::Exact, Some(7))
    );
    assert_eq!(
        (told.models[0].usable_context, told.models[0].pool_tokens),
        (Some(2048), Some(2048))
    );
    let unset = tgi(r#","max_batch_size":null,"max_batch_total_tokens":16000"#);
    assert_eq!(
        (unset.slots.total, unset.models[0].usable_context),
        (Some(1), Some(4096))
    );
}

#[test]
fn a_gateway_proves_nothing_about_the_servers_behind_it() {
    let provider = of(&[
        (
            "/v1/models",
            200,
            r#"{"data":[{"id":"m","owned_by":"openai"}]}"#,
        ),
        (
            "/health/readiness",
            200,
            r#"{"status":"healthy","litellm_version":"1.80.0"}"#,
        ),
        (
            "/model/info",
            200,
            r#"{"data":[{"model_name":"m","model_info":{"max_input_tokens":8192}}]}"#,
        ),
    ]);
    assert_eq!(
        (provider.server.kind, provider.state),
        (ServerKind::LiteLlm, ServerState::Unknown)
    );
    assert_eq!(provider.models[0].usable_context, Some(8192));
}

#[test]
fn rates_come_from_counters() {
    let metrics = "llamacpp:prompt_tokens_total 310\nllamacpp:prompt_seconds_total 2\nllamacpp:tokens_predicted_total 60\nllamacpp:tokens_predicted_seconds_total 3\nllamacpp:requests_processing 0\nllamacpp:requests_deferred 2\n";
    let provider = of(&[
        OK,
        ("/v1/models", 200, LLAMA_MODELS),
        ("/props", 200, PROPS),
        (
            "/slots",
            200,
            &format!("[{},{}]", slot(4096, true), slot(4096, true)),
        ),
        ("/metrics", 200, metrics),
    ]);
    assert_eq!(provider.speed.prefill_tokens_per_s, Some(155.0));
    assert_eq!(provider.speed.decode_tokens_per_s, Some(20.0));
    assert_eq!(
        (provider.slots.waiting, provider.state),
        (Some(2), ServerState::Saturated)
    );
}

mod routes {
    use baton_protocol::ServerKind;

    use super::super::answers::Answers;
    use super::super::routes::next;
    use super::{OK, PROPS, ROUTER_PROPS};

    #[test]
    fn r11_nothing_that_is_asked_wakes_a_sleeping_server() {
        let llama = Some(ServerKind::LlamaCpp);
        let first = next(llama, &Answers::of(&[OK]));
        assert!(!first.contains(&"/slots".to_owned()));
        let asleep = PROPS.replace("false", "true");
        let answers = Answers::of(&[OK, ("/props", 200, &asleep), ("/metrics", 200, "")]);
        assert!(next(llama, &answers).is_empty());
        let awake = Answers::of(&[OK, ("/props", 200, PROPS), ("/metrics", 200, "")]);
        assert_eq!(next(llama, &awake), ["/slots"]);
    }

    #[test]
    fn only_loaded_children_of_a_router_are_asked_and_never_loaded() {
        let models = r#"{"data":[{"id":"a b","status":{"value":"loaded"}},{"id":"c","status":{"value":"unloaded"}},{"id":"d","status":{"value":"sleeping"}}]}"#;
        let answers = Answers::of(&[("/v1/models", 200, models), ("/props", 200, ROUTER_PROPS)]);
        let routes = next(Some(ServerKind::LlamaCppRouter), &answers);
        assert_eq!(
            routes,
            [
                "/slots?model=a%20b&autoload=false",
                "/metrics?model=a%20b&autoload=false"
            ]
        );
    }

    #[test]
    fn a_model_that_does_not_run_is_not_asked_through_llama_swap() {
        let answers = Answers::of(&[
            ("/v1/models", 200, r#"{"data":[{"id":"a"},{"id":"b"}]}"#),
            (
                "/running",
                200,
                r#"{"running":[{"model":"a","state":"ready"},{"model":"b","state":"starting"}]}"#,
            ),
        ]);
        let routes = next(Some(ServerKind::LlamaSwap), &answers);
        assert_eq!(routes, ["/upstream/a/props", "/upstream/a/slots"]);
    }
}

#[test]
fn r09_what_stands_at_the_door_counts_although_the_engine_s_gauges_know_nothing_of_it() {
    let sample = |load: u32| {
        Answers::of(&[
            OK,
            ("/v1/models", 200, VLLM_MODELS),
            ("/metrics", 200, &vllm_metrics(0, 0, 7)),
            ("/load", 200, &format!("{{\"server_load\":{load}}}")),
        ])
    };
    let one = judged(&sample(1));
    assert_eq!(
        (one.state, one.slots.in_flight),
        (ServerState::Busy, Some(1))
    );
    // An engine that was stopped before the request came: its counters stand still.
    let span = Duration::from_secs(4);
    let stopped = judge(&Asked::default(), &[sample(1), sample(1)], span);
    assert_eq!(stopped.state, ServerState::Stalled);
    // Not switched on, it always says 0.
    let off = judge(&Asked::default(), &[sample(0), sample(0)], span);
    assert_eq!(off.state, ServerState::Idle);
}

#[test]
fn r01_a_health_body_counts_more_than_its_200() {
    let with = |body: &str| {
        let list = r#"{"object":"list","data":[{"id":"m","object":"model","owned_by":"x"}]}"#;
        of(&[("/health", 200, body), ("/v1/models", 200, list)])
    };
    for word in [
        "starting",
        "Initializing",
        "warming up",
        "not ready",
        "loading model",
    ] {
        let provider = with(&format!("{{\"status\":\"{word}\"}}"));
        assert_eq!(provider.state, ServerState::Loading, "{word}");
        assert!(provider.state_reason.contains(word), "{provider:?}");
    }
    for body in [
        r#"{"status":"unhealthy"}"#,
        r#"{"status":"error","detail":"CUDA"}"#,
        r#"{"status":"DOWN"}"#,
        r#"{"healthy":false}"#,
        r#"{"ok":false,"reason":"gpu lost"}"#,
        r#"{"state":"draining"}"#,
    ] {
        let provider = with(body);
        assert_eq!(provider.state, ServerState::Failed, "{body}");
    }
    assert_eq!(with(r#"{"ready":false}"#).state, ServerState::Loading);
    for body in [
        r#"{"status":"ok"}"#,
        r#"{"status":"UP"}"#,
        "true",
        "",
        r#"{"status":"no slot available"}"#,
    ] {
        assert!(with(body).state.is_ready(), "{body}");
    }
}

#[test]
fn r03_no_entries_are_no_entries_however_they_are_written() {
    for list in [
        r#"{"object":"list","data":[]}"#,
        r#"{"object":"list","data":null}"#,
        "\u{feff}{\"object\":\"list\",\"data\":[]}",
    ] {
        let provider = of(&[OK, ("/v1/models", 200, list)]);
        assert_eq!(provider.state, ServerState::Loading, "{list}");
    }
    let twice = of(&[
        OK,
        ("/v1/models", 200, r#"{"data":[{"id":"m"},{"id":"m"}]}"#),
    ]);
    assert_eq!(twice.models.len(), 1);
    let refused = of(&[("/health", 404, ""), ("/v1/models", 407, "proxy")]);
    assert!(
        !refused.state_reason.contains("are listed"),
        "{}",
        refused.state_reason
    );
}

#[test]
fn of_several_engines_the_smallest_pool_counts_and_their_requests_add_up() {
    let provider = of(&[
        OK,
        ("/v1/models", 200, VLLM_MODELS),
        (
            "/metrics",
            200,
            "vllm:num_requests_running{engine=\"0\"} 1.0\n\
             vllm:num_requests_running{engine=\"1\"} 2.0\n\
             vllm:cache_config_info{engine=\"0\",kv_cache_size_tokens=\"3000\"} 1.0\n\
             vllm:cache_config_info{engine=\"1\",kv_cache_size_tokens=\"2000\"} 1.0\n",
        ),
    ]);
    assert_eq!(provider.slots.in_flight, Some(3));
    assert_eq!(provider.models[0].usable_context, Some(2000));
}

#[test]
fn ollama_s_latest_needs_no_tag_and_its_embeddings_do_not_chat() {
    let provider = of(&[
        ("/", 200, "Ollama is running"),
        (
            "/v1/models",
            200,
            r#"{"object":"list","data":[{"id":"q:latest","owned_by":"library"}]}"#,
        ),
        (
            "/api/tags",
            200,
            r#"{"models":[{"name":"q:latest","details":{"family":"qwen3"}},{"name":"e:latest","details":{"family":"nomic-bert"}}]}"#,
        ),
        ("/api/ps", 200, r#"{"models":[]}"#),
    ]);
    assert_eq!(provider.models.len(), 1);
    assert_eq!(
        find_model(&provider, "q").map(|m| m.id.as_str()),
        Some("q:latest")
    );
    assert!(find_model(&provider, "q:7b").is_none());
}

#[test]
fn r36_a_shared_pool_is_seen_without_slots_too() {
    let provider = of(&[
        OK,
        ("/v1/models", 200, LLAMA_MODELS),
        (
            "/props",
            200,
            r#"{"default_generation_settings":{"n_ctx":4096},"total_slots":4,"build_info":"b1","is_sleeping":false}"#,
        ),
        (
            "/slots",
            501,
            r#"{"error":{"code":501,"type":"not_supported_error"}}"#,
        ),
    ]);
    assert_eq!(provider.models[0].pool_tokens, Some(4096));
    assert_eq!(provider.models[0].other["pool_may_be_shared"], true);
}

#[test]
fn a_gateway_before_a_server_that_is_not_up_is_no_api_and_no_failure() {
    let behind = |status: u16, body: &str| {
        of(&[
            ("/health", status, body),
            ("/v1/models", status, body),
            // It passes two paths on and has an answer of its own for the others.
            ("/metrics", 404, "not found"),
        ])
    };
    for (status, body) in [
        (502, "<html><h1>502 Bad Gateway</h1><hr>nginx</html>"),
        (502, "Bad Gateway"),
        (502, ""),
        (504, r#"{"message":"Endpoint request timed out"}"#),
        (503, "no available server"),
        (
            503,
            "upstream connect error or disconnect/reset before headers",
        ),
        (521, "error code: 521"),
    ] {
        let provider = behind(status, body);
        assert_eq!(
            provider.state,
            ServerState::Unreachable,
            "{status} {body}: {}",
            provider.state_reason
        );
        assert!(provider.state_reason.contains("not up yet"));
    }
    // The server's own 503 says something about the server.
    assert_eq!(behind(503, LOADING).state, ServerState::Loading);
}

#[test]
fn slots_that_old_llama_servers_count_in_health_are_read() {
    let body = r#"{"status":"no slot available","slots_idle":0,"slots_processing":2}"#;
    for status in [200, 503] {
        let provider = of(&[
            ("/health", status, body),
            ("/v1/models", 200, r#"{"data":[{"id":"m"}]}"#),
        ]);
        assert_eq!(
            (provider.server.kind, provider.state, provider.slots.free),
            (ServerKind::LlamaCpp, ServerState::Saturated, Some(0)),
            "{status}"
        );
    }
    let body = r#"{"status":"ok","slots_idle":1,"slots_processing":1}"#;
    let provider = of(&[
        ("/health", 200, body),
        ("/v1/models", 200, r#"{"data":[{"id":"m"}]}"#),
    ]);
    assert_eq!(
        (provider.state, provider.slots.free),
        (ServerState::Busy, Some(1))
    );
}

#[test]
fn r22_a_list_that_cannot_be_read_leaves_readiness_open_and_is_said() {
    let provider = of(&[("/health", 200, "OK"), ("/v1/models", 500, "oops")]);
    assert_eq!(provider.state, ServerState::Unknown);
    assert!(
        provider
            .state_reason
            .contains("GET /v1/models answers 500: oops"),
        "{}",
        provider.state_reason
    );
}
