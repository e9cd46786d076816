//! Every key and type a real server was recorded with is there in ours.
//!
//! `vllm.json` and `llamacpp.json` hold the shapes of exchanges recorded from vLLM 0.32.0 and
//! llama-server b11434: each value is replaced by the name of its type.

use serde_json::{Map, Value, json};

use crate::kit::{Answer, CHAT, get, open, post, read, release, request, scripted, tool, wait};
use crate::support::Sim;

/// A value with everything but its shape taken away; lists become the union of their items.
fn shape(value: &Value) -> Value {
    match value {
        Value::Null => json!("null"),
        Value::Bool(_) => json!("boolean"),
        Value::Number(_) => json!("number"),
        Value::String(_) => json!("string"),
        Value::Array(items) => {
            let union = items.iter().map(shape).reduce(merge);
            Value::Array(union.into_iter().collect())
        }
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| (key.clone(), shape(value)))
            .collect::<Map<_, _>>()
            .into(),
    }
}

/// What two shapes have together.
fn merge(a: Value, b: Value) -> Value {
    match (a, b) {
        (Value::Object(mut a), Value::Object(b)) => {
            for (key, value) in b {
                let known = a.remove(&key);
                a.insert(
                    key,
                    known.map_or(value.clone(), |known| merge(known, value)),
                );
            }
            Value::Object(a)
        }
        (Value::Array(mut a), Value::Array(b)) => {
            let union = a.drain(..).chain(b).reduce(merge);
            Value::Array(union.into_iter().collect())
        }
        (a, b) if a == "null" => b,
        (a, _) => a,
    }
}

/// Adds to `missing` the paths at which `ours` lacks what was recorded.
fn compare(path: &str, recorded: &Value, ours: &Value, missing: &mut Vec<String>) {
    match (recorded, ours) {
        (Value::Object(recorded), Value::Object(ours)) => {
            for (key, value) in recorded {
                let path = format!("{path}.{key}");
                match ours.get(key) {
                    Some(ours) => compare(&path, value, ours, missing),
                    None => missing.push(path),
                }
            }
        }
        (Value::Array(recorded), Value::Array(ours)) => match (recorded.first(), ours.first()) {
            (Some(recorded), Some(ours)) => compare(&format!("{path}[]"), recorded, ours, missing),
            (Some(_), None) => missing.push(format!("{path}[]")),
            (None, _) => {}
        },
        // A key that was null once tells nothing about its type.
        (recorded, _) if recorded == "null" => {}
        (recorded, ours) if recorded == ours => {}
        (recorded, ours) => missing.push(format!("{path}: recorded {recorded}, ours {ours}")),
    }
}

/// Checks answers against the recorded shapes and fails with all differences at once.
struct Recorded {
    shapes: Value,
    missing: Vec<String>,
    checked: usize,
}

impl Recorded {
    fn new(text: &str) -> Self {
        Self {
            shapes: serde_json::from_str(text).unwrap(),
            missing: vec![],
            checked: 0,
        }
    }

    #[track_caller]
    fn check(&mut self, name: &str, answer: &Answer) {
        let recorded = &self.shapes[name];
        assert!(recorded.is_object(), "nothing recorded as {name}");
        self.checked += 1;
        if recorded["status"] != answer.status {
            self.missing.push(format!(
                "{name}: status {} for {}",
                answer.status, recorded["status"]
            ));
        }
        for header in recorded["headers"].as_array().unwrap() {
            if answer.header(header.as_str().unwrap()).is_none() {
                self.missing.push(format!("{name}: header {header}"));
            }
        }
        let ours = if recorded["events"].is_object() {
            answer
                .events()
                .iter()
                .map(shape)
                .reduce(merge)
                .unwrap_or_default()
        } else if recorded["body"].is_null() {
            return;
        } else {
            shape(&answer.json())
        };
        let part = if recorded["events"].is_object() {
            "events"
        } else {
            "body"
        };
        compare(name, &recorded[part], &ours, &mut self.missing);
    }

    #[track_caller]
    fn done(self) {
        assert!(
            self.missing.is_empty(),
            "missing:\n{}",
            self.missing.join("\n")
        );
        assert!(self.checked > 15);
    }
}

const SCRIPT: &str = "
[[rule]]
when.user = 'use a tool'
answer.calls = [{ bash = 'ls -la' }]
[[rule]]
when.user = 'held'
answer = { say = 'at last', hold = 'gate' }
[[rule]]
answer = { think = 'two plus two', say = 'four' }
";

fn bash() -> Value {
    tool("run_shell", &["cmd"])
}

#[test]
fn vllm_has_every_recorded_key() {
    let mut recorded = Recorded::new(include_str!("vllm.json"));
    let sim = scripted(
        SCRIPT,
        &["--context", "512", "--queue-limit", "0", "--slots", "1"],
    );
    for (name, target) in [
        ("health", "/health"),
        ("ping", "/ping"),
        ("version", "/version"),
        ("load", "/load"),
        ("models", "/v1/models"),
        ("unknown_route", "/v1/nope"),
        ("method", CHAT),
    ] {
        recorded.check(name, &get(&sim, target));
    }
    let hi = json!([{"role": "user", "content": "hi"}]);
    for (name, target, body) in [
        (
            "tokenize_prompt",
            "/tokenize",
            json!({"prompt": "hello", "return_token_strs": true}),
        ),
        ("tokenize_messages", "/tokenize", json!({"messages": hi})),
        (
            "count",
            "/v1/messages/count_tokens",
            json!({"messages": hi}),
        ),
        ("chat", CHAT, request("hi", json!({}))),
        (
            "stream",
            CHAT,
            request(
                "hi",
                json!({"stream": true, "stream_options": {"include_usage": true}}),
            ),
        ),
        (
            "stream_continuous",
            CHAT,
            request(
                "hi",
                json!({"stream": true, "stream_options":
                {"include_usage": true, "continuous_usage_stats": true}}),
            ),
        ),
        (
            "tools",
            CHAT,
            request("use a tool", json!({"tools": [bash()]})),
        ),
        (
            "stream_tools",
            CHAT,
            request(
                "use a tool",
                json!({"tools": [bash()], "stream": true,
                "stream_options": {"include_usage": true}}),
            ),
        ),
        ("too_long", CHAT, request(&"word ".repeat(2000), json!({}))),
        (
            "max_tokens",
            CHAT,
            request("hi", json!({"max_tokens": 100_000})),
        ),
        (
            "unknown_model",
            CHAT,
            request("hi", json!({"model": "nope"})),
        ),
        ("no_messages", CHAT, json!({"model": "qwen38"})),
    ] {
        recorded.check(name, &post(&sim, target, &body));
    }
    recorded.check(
        "malformed",
        &read(open(&sim, "POST", CHAT, "", "{\"messages\": [")).unwrap(),
    );
    let held = open(
        &sim,
        "POST",
        CHAT,
        "",
        &request("held", json!({})).to_string(),
    );
    wait(&sim, "held=1");
    recorded.check("busy", &post(&sim, CHAT, &request("hi", json!({}))));
    release(&sim, "gate");
    assert_eq!(read(held).unwrap().status, 200);
    let locked = Sim::start(["--api-key", "k", "--no-tools"]);
    recorded.check("no_key", &post(&locked, CHAT, &request("hi", json!({}))));
    let body = request("hi", json!({"tools": [bash()]})).to_string();
    recorded.check(
        "no_parser",
        &read(open(
            &locked,
            "POST",
            CHAT,
            "Authorization: Bearer k\r\n",
            &body,
        ))
        .unwrap(),
    );
    recorded.done();
}

#[test]
fn llamacpp_has_every_recorded_key() {
    let mut recorded = Recorded::new(include_str!("llamacpp.json"));
    let sim = scripted(SCRIPT, &["--kind", "llamacpp", "--context", "512"]);
    for (name, target) in [
        ("health", "/health"),
        ("models", "/v1/models"),
        ("props", "/props"),
        ("slots_idle", "/slots"),
        ("unknown", "/version"),
    ] {
        recorded.check(name, &get(&sim, target));
    }
    let hi = json!([{"role": "user", "content": "hi"}]);
    for (name, target, body) in [
        ("tokenize", "/tokenize", json!({"content": "hello"})),
        (
            "tokenize_pieces",
            "/tokenize",
            json!({"content": "hello", "with_pieces": true}),
        ),
        ("apply_template", "/apply-template", json!({"messages": hi})),
        (
            "input_tokens",
            "/v1/chat/completions/input_tokens",
            json!({"messages": hi}),
        ),
        (
            "count_tokens",
            "/v1/messages/count_tokens",
            json!({"messages": hi, "system": "s"}),
        ),
        ("chat", CHAT, request("hi", json!({}))),
        ("reasoning", CHAT, request("hi", json!({}))),
        ("stream", CHAT, request("hi", json!({"stream": true}))),
        (
            "stream_usage",
            CHAT,
            request(
                "hi",
                json!({"stream": true, "stream_options": {"include_usage": true}}),
            ),
        ),
        (
            "tools",
            CHAT,
            request("use a tool", json!({"tools": [bash()]})),
        ),
        (
            "stream_tools",
            CHAT,
            request(
                "use a tool",
                json!({"tools": [bash()], "stream": true,
                "stream_options": {"include_usage": true}}),
            ),
        ),
        ("too_long", CHAT, request(&"word ".repeat(2000), json!({}))),
        ("no_messages", CHAT, json!({"model": "x"})),
    ] {
        recorded.check(name, &post(&sim, target, &body));
    }
    recorded.check(
        "malformed",
        &read(open(&sim, "POST", CHAT, "", "{\"messages\": [")).unwrap(),
    );
    let held = [(); 2].map(|()| {
        open(
            &sim,
            "POST",
            CHAT,
            "",
            &request("held", json!({})).to_string(),
        )
    });
    wait(&sim, "held=2");
    recorded.check("slots_busy", &get(&sim, "/slots"));
    recorded.check("no_slot", &get(&sim, "/slots?fail_on_no_slot=1"));
    // Which of the two came first is not known, so both are let go before either is read.
    for _ in &held {
        release(&sim, "gate");
    }
    for stream in held {
        assert_eq!(read(stream).unwrap().status, 200);
    }
    let locked = Sim::start(["--kind", "llamacpp", "--api-key", "k"]);
    recorded.check("no_key", &get(&locked, "/v1/models"));
    let router = Sim::start(["--kind", "llamacpp-router", "--model", "a", "--model", "b"]);
    recorded.check("router_models", &get(&router, "/v1/models"));
    recorded.check("router_props", &get(&router, "/props"));
    recorded.check("router_slots", &get(&router, "/slots"));
    let loading = Sim::start(["--kind", "llamacpp", "--fault", "loading"]);
    recorded.check("loading", &get(&loading, "/health"));
    recorded.done();
}

#[test]
fn the_metrics_have_their_recorded_names() {
    let vllm = get(&Sim::start(["--slots", "2"]), "/metrics").text();
    for name in [
        "num_requests_running",
        "num_requests_waiting",
        "num_requests_waiting_by_reason",
        "kv_cache_usage_perc",
        "prefix_cache_queries_total",
        "prefix_cache_hits_total",
        "prompt_tokens_total",
        "prompt_tokens_cached_total",
        "generation_tokens_total",
        "num_preemptions_total",
        "request_success_total",
        "admission_rejections_total",
        "engine_sleep_state",
        "cache_config_info",
    ] {
        assert!(vllm.contains(&format!("\nvllm:{name}{{")), "{name}\n{vllm}");
    }
    let llama = get(&Sim::start(["--kind", "llamacpp"]), "/metrics").text();
    for name in [
        "requests_processing",
        "requests_deferred",
        "tokens_predicted_total",
    ] {
        assert!(
            llama.contains(&format!("\nllamacpp:{name} 0")),
            "{name}\n{llama}"
        );
    }
}

/// Asks a real server and ours the same and lists what ours lacks.
fn difference(real: &String, ours: &Sim, exchanges: &[(&str, Value)]) -> Vec<String> {
    let mut missing = Vec::new();
    for (target, body) in exchanges {
        let ask = |answer: Answer| {
            let events = answer.events();
            let streamed = events.iter().map(shape).reduce(merge);
            let whole = serde_json::from_slice(&answer.body)
                .ok()
                .map(|body| shape(&body));
            (answer.status, streamed.or(whole).unwrap_or_default())
        };
        let (theirs, own) = if body.is_null() {
            (ask(get(real, target)), ask(get(ours, target)))
        } else {
            (ask(post(real, target, body)), ask(post(ours, target, body)))
        };
        let name = format!(
            "{target} {}",
            body.to_string().chars().take(60).collect::<String>()
        );
        if theirs.0 != own.0 {
            missing.push(format!("{name}: status {} there, {} here", theirs.0, own.0));
        }
        compare(&name, &theirs.1, &own.1, &mut missing);
        eprintln!("{name}: {} there", theirs.0);
    }
    missing
}

/// Needs the address of a running llama-server.
#[test]
fn a_live_llama_server_has_no_key_that_ours_lacks() {
    let test = "a_live_llama_server_has_no_key_that_ours_lacks";
    let Ok(real) = std::env::var("BATON_REAL_LLAMACPP_URL") else {
        eprintln!("{test}: skipped; set BATON_REAL_LLAMACPP_URL to the address of a llama-server");
        return;
    };
    let real = real
        .trim_end_matches('/')
        .trim_end_matches("/v1")
        .to_owned();
    let ours = Sim::start(["--kind", "llamacpp", "--context", "4096"]);
    let hi = json!([{"role": "user", "content": "Say hi."}]);
    let short = |more: Value| {
        let mut body = json!({"messages": hi, "max_tokens": 3, "temperature": 0});
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        body
    };
    let tokens = json!({"include_usage": true});
    let exchanges = [
        ("/health", json!(null)),
        ("/v1/models", json!(null)),
        ("/props", json!(null)),
        ("/version", json!(null)),
        ("/tokenize", json!({"content": "hello"})),
        (
            "/tokenize",
            json!({"content": "hello", "with_pieces": true}),
        ),
        ("/tokenize", json!({"prompt": "hello"})),
        ("/apply-template", json!({"messages": hi})),
        ("/v1/chat/completions/input_tokens", json!({"messages": hi})),
        ("/v1/messages/count_tokens", json!({"messages": hi})),
        (CHAT, short(json!({}))),
        (CHAT, short(json!({"stream": true}))),
        (
            CHAT,
            short(json!({"stream": true, "stream_options": tokens})),
        ),
        (
            CHAT,
            short(json!({"stream": true, "return_progress": true})),
        ),
        (CHAT, short(json!({"max_tokens": "many"}))),
        (CHAT, short(json!({"response_format": {"type": "yaml"}}))),
        (CHAT, json!({"model": "x"})),
        (CHAT, json!({"messages": "hi"})),
        (
            CHAT,
            request(&"debug path commit trace ".repeat(40_000), json!({})),
        ),
        ("/slots", json!(null)),
    ];
    let missing = difference(&real, &ours, &exchanges);
    assert!(missing.is_empty(), "ours lacks:\n{}", missing.join("\n"));
}

/// Needs the address of a running vLLM.
#[test]
fn a_live_vllm_has_no_key_that_ours_lacks() {
    let Ok(real) = std::env::var("BATON_REAL_VLLM_URL") else {
        eprintln!("a_live_vllm_…: skipped; set BATON_REAL_VLLM_URL to the address of a vLLM");
        return;
    };
    let real = real
        .trim_end_matches('/')
        .trim_end_matches("/v1")
        .to_owned();
    let model = get(&real, "/v1/models").json()["data"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    // The real one thinks, so ours has to.
    let ours = scripted(SCRIPT, &["--model", &model, "--context", "4096"]);
    let hi = json!([{"role": "user", "content": "Say hi."}]);
    let tokens = json!({"include_usage": true});
    let exchanges = [
        ("/version", json!(null)),
        ("/load", json!(null)),
        ("/v1/models", json!(null)),
        ("/v1/nope", json!(null)),
        ("/tokenize", json!({"prompt": "hello"})),
        ("/tokenize", json!({"messages": hi})),
        ("/tokenize", json!({})),
        (CHAT, json!({"messages": hi, "max_tokens": 3})),
        (
            CHAT,
            json!({"messages": hi, "max_tokens": 3, "stream": true, "stream_options": tokens}),
        ),
        (CHAT, json!({"messages": hi, "model": "nope"})),
        (CHAT, json!({"messages": hi, "max_tokens": 0})),
        (CHAT, json!({"messages": []})),
        (CHAT, json!({"model": model})),
    ];
    let missing = difference(&real, &ours, &exchanges);
    assert!(missing.is_empty(), "ours lacks:\n{}", missing.join("\n"));
}
