//! Choosing among candidates.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::kit::{Holder, SOON, Slots};
use crate::support::{Run, copy_program, eventually, tool_path};

/// A provider entry as vllm-health and ctx-estimate write it.
pub fn provider(id: &str, port: u16, changes: &Value) -> Value {
    let mut value = json!({
        "id": id, "base_url": format!("http://127.0.0.1:{port}/v1"), "api_key_env": null,
        "server": {"kind": "vllm", "version": null}, "state": "idle", "state_reason": "idle",
        "signals": [], "latency_ms": 1, "key_ok": null,
        "models": [{"id": "m", "state": "loaded", "last_error": null, "max_model_len": 8192,
            "usable_context": 8192, "usable_context_source": "served_window", "pool_tokens": null}],
        "slots": {"total": 1, "in_flight": 0, "waiting": 0, "free": 1, "source": "configured"},
        "speed": {"prefill_tokens_per_s": null, "decode_tokens_per_s": null}, "error": null,
        "fit": null
    });
    for (key, new) in changes.as_object().unwrap() {
        value[key] = new.clone();
    }
    value
}

pub fn health(providers: &[Value]) -> String {
    json!({"schema": "health/1", "ready": true, "checked_at": "2026-11-30T10:00:00Z",
        "providers": providers})
    .to_string()
}

fn estimate(providers: &[Value]) -> String {
    json!({"schema": "estimate/1", "fits": true, "verdict": "fits", "prompt_tokens": 10,
        "upper_bound_tokens": 10, "method": "server", "error_band": 0.0,
        "reserve": {"output_tokens": 1, "thinking_tokens": 0, "margin_tokens": 0},
        "required_tokens": 11, "breakdown": [], "providers": providers, "notes": []})
    .to_string()
}

fn fit(verdict: &str) -> Value {
    json!({"fit": {"model": "m", "usable_context": 4096, "verdict": verdict,
        "headroom_tokens": 5, "largest_output_tokens": 5}})
}

const CHOOSE: [&str; 4] = ["--candidates", "-", "--wait", "0"];
const SHOW: [&str; 4] = [
    "--",
    "sh",
    "-c",
    "echo $BATON_PROVIDER $BATON_MODEL $BATON_CONTEXT $OPENAI_BASE_URL",
];

#[test]
fn the_first_that_fits_and_is_free_is_taken_and_the_command_is_told() {
    let slots = Slots::new();
    let document = estimate(&[
        provider("small", 1, &fit("no")),
        provider(
            "down",
            2,
            &json!({"state": "unreachable", "state_reason": "refused"}),
        ),
        provider("good", 3, &fit("fits")),
        provider("other", 4, &fit("tight")),
    ]);
    let ended = slots
        .run(&CHOOSE)
        .args(SHOW)
        .stdin(document.clone())
        .run()
        .code(0);
    assert_eq!(ended.stdout, "good m 4096 http://127.0.0.1:3/v1\n");
    // With `good` held, the next best is taken.
    let file = slots.home.path().join("candidates.json");
    fs::write(&file, &document).unwrap();
    let from_file = ["--candidates", file.to_str().unwrap(), "--wait", "0"];
    let holder = Holder::start(
        &slots
            .run(&from_file)
            .args(["--", "sh", "-c", "echo up; read x"]),
    );
    let ended = slots
        .run(&CHOOSE)
        .args(SHOW)
        .stdin(document.clone())
        .run()
        .code(0);
    assert_eq!(ended.stdout, "other m 4096 http://127.0.0.1:4/v1\n");
    let second = Holder::start(
        &slots
            .run(&from_file)
            .args(["--", "sh", "-c", "echo up; read x"]),
    );
    let busy = slots.run(&CHOOSE).args(SHOW).stdin(document).run().code(75);
    busy.stderr_has("127.0.0.1:3").stderr_has("127.0.0.1:4");
    holder.finish();
    second.finish();
}

#[test]
fn stdin_belongs_to_the_command_when_the_candidates_come_from_a_file() {
    let slots = Slots::new();
    let file = slots.home.path().join("candidates.json");
    fs::write(&file, health(&[provider("a", 1, &json!({}))])).unwrap();
    let words = ["--candidates", file.to_str().unwrap(), "--", "cat"];
    let ended = slots.run(&words).stdin("mine").run().code(0);
    assert_eq!(ended.stdout, "mine");
}

#[test]
fn no_candidate_is_told_by_exit_code_and_report() {
    let slots = Slots::new();
    let report = slots.home.path().join("r.json");
    let down = json!({"state": "loading", "state_reason": "loading weights"});
    for (document, code, word) in [
        (estimate(&[provider("a", 1, &fit("no"))]), 1, "does not fit"),
        (
            estimate(&[provider("a", 1, &fit("unknown"))]),
            3,
            "cannot be told",
        ),
        (
            estimate(&[provider("a", 1, &json!({}))]),
            3,
            "set `context`",
        ),
        (
            health(&[provider("a", 1, &json!({"state": "unknown"}))]),
            3,
            "unknown",
        ),
        (health(&[provider("a", 1, &down)]), 69, "loading weights"),
        (
            health(&[provider("a", 1, &json!({"key_ok": false}))]),
            69,
            "key was rejected",
        ),
        (health(&[]), 69, "names no provider"),
    ] {
        let run = slots
            .run(&CHOOSE)
            .args(["--on-unknown", "skip", "--report"])
            .arg(&report);
        let ended = run
            .args(["--", "echo", "ran"])
            .stdin(document)
            .run()
            .code(code)
            .stderr_has(word);
        assert_eq!(ended.stdout, "");
        let document: Value = serde_json::from_str(&fs::read_to_string(&report).unwrap()).unwrap();
        assert_eq!(document["acquired"], false);
    }
}

#[test]
fn q01_unknown_is_not_free_unless_the_caller_says_go() {
    let slots = Slots::new();
    let document = health(&[provider("a", 1, &json!({"state": "unknown"}))]);
    let run = |how: &str| {
        slots
            .run(&CHOOSE)
            .args(["--on-unknown", how, "--", "echo", "ran"])
    };
    run("skip").stdin(document.clone()).run().code(3);
    run("go")
        .stdin(document.clone())
        .run()
        .code(0)
        .stdout_has("ran");
    // Also then the slot is gated.
    let file = slots.home.path().join("c.json");
    fs::write(&file, &document).unwrap();
    let words = ["--candidates", file.to_str().unwrap(), "--on-unknown", "go"];
    let holder = slots.hold(&words);
    run("go").stdin(document).run().code(75);
    holder.finish();
}

#[test]
fn bad_candidates_are_refused_with_125_and_a_relayed_error_too() {
    let slots = Slots::new();
    let error = json!({"schema": "error/1", "tool": "vllm-health", "kind": "config",
        "message": "OPENCODE_VLLM_BASE_URL is not set", "retryable": false, "detail": null});
    for (document, word) in [
        (String::new(), "empty"),
        ("{".into(), "not JSON"),
        ("[]".into(), "schema"),
        (json!({"schema": "health/2"}).to_string(), "health/2"),
        (
            error.to_string(),
            "vllm-health failed before: OPENCODE_VLLM_BASE_URL is not set",
        ),
    ] {
        let run = slots
            .run(&CHOOSE)
            .args(["--", "true"])
            .stdin(document.clone());
        run.run().code(125).stderr_has(word);
    }
}

#[test]
fn a_foreign_key_is_not_sent_to_the_chosen_server() {
    let slots = Slots::new();
    let show = [
        "--",
        "sh",
        "-c",
        "echo \"${OPENAI_API_KEY-none} ${OPENCODE_VLLM_API_KEY-none}\"",
    ];
    let run = |document: String| {
        let run = slots.run(&CHOOSE).args(show).stdin(document);
        run.env("OPENAI_BASE_URL", "http://elsewhere:9/v1")
            .env("OPENAI_API_KEY", "sk-elsewhere")
    };
    let ended = run(health(&[provider("a", 1, &json!({}))])).run().code(0);
    assert_eq!(ended.stdout, "none none\n");
    let keyed = health(&[provider("a", 1, &json!({"api_key_env": "BOX_KEY"}))]);
    let ended = run(keyed.clone()).env("BOX_KEY", "sk-box").run().code(0);
    assert_eq!(ended.stdout, "sk-box sk-box\n");
    run(keyed).run().code(78).stderr_has("BOX_KEY");
}

#[test]
fn q10_the_assumed_number_of_slots_is_said() {
    let slots = Slots::new();
    let none = json!({"slots": {"total": null, "in_flight": null, "waiting": null, "free": null,
        "source": "none"}});
    let document = health(&[provider("a", 1, &none)]);
    let ended = slots
        .run(&CHOOSE)
        .args(["--", "true"])
        .stdin(document)
        .run()
        .code(0);
    ended.stderr_has("assuming 2");
}

#[test]
fn q10_without_a_document_the_server_itself_is_asked_for_its_slots() {
    let said = |total: u32, source: &str| {
        let slots = json!({"slots": {"total": total, "in_flight": 0, "waiting": 0, "free": total,
            "source": source}});
        health(&[provider("a", 1, &slots)])
    };
    let report = |slots: &Slots, answer: &str, words: &[&str]| {
        let file = slots.home.path().join("r.json");
        let run = with_health(slots, &[answer.to_owned()]);
        let run = run.env("OPENCODE_VLLM_BASE_URL", "http://127.0.0.1:1/v1");
        let run = run.args(words);
        let ended = run
            .args(["--report", file.to_str().unwrap(), "--", "true"])
            .run()
            .code(0);
        let document: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        (document["slots"].as_u64().unwrap(), ended)
    };
    let slots = Slots::new();
    let (count, ended) = report(&slots, &said(2, "assumed"), &[]);
    assert_eq!(count, 2);
    ended.stderr_has("assuming 2");
    let (count, ended) = report(&slots, &said(4, "exact"), &[]);
    assert_eq!((count, ended.stderr.as_str()), (4, ""));
    // Nobody to ask: what was last counted with, which an assumption is not.
    assert_eq!(report(&slots, "", &[]).0, 4);
    assert_eq!(report(&slots, &said(4, "exact"), &["--slots", "3"]).0, 3);
    assert_eq!(report(&slots, &said(2, "assumed"), &[]).0, 3);
    let (count, ended) = report(&Slots::new(), "", &[]);
    assert_eq!(count, 1);
    ended.stderr_has("assuming 1");
}

/// slot-lock beside a stand-in for vllm-health that gives these answers in turn, the last for ever.
fn with_health(slots: &Slots, answers: &[String]) -> Run {
    let dir = slots.home.path().join("tools");
    fs::create_dir_all(&dir).unwrap();
    for (index, answer) in answers.iter().enumerate() {
        fs::write(dir.join(format!("answer-{index}")), answer).unwrap();
    }
    let script = format!(
        "#!/bin/sh\ncd '{}'\nn=$(cat asked 2>/dev/null || echo 0)\necho $((n + 1)) > asked\n\
         [ -e answer-$n ] || n={}\ncat answer-$n\n",
        dir.display(),
        answers.len() - 1
    );
    let written = dir.join("vllm-health.text");
    fs::write(&written, script).unwrap();
    fs::set_permissions(&written, Permissions::from_mode(0o755)).unwrap();
    copy_program(&written, &dir.join("vllm-health"));
    let tool = dir.join("slot-lock");
    copy_program(&tool_path("slot-lock"), &tool);
    Run::program(tool, &slots.home).env("BATON_LOCK_DIR", slots.directory())
}

fn with_load(in_flight: u32) -> Value {
    json!({"slots": {"total": 1, "in_flight": in_flight, "waiting": 0, "free": 0, "source": "exact"}})
}

#[test]
fn q05_q06_a_slot_is_not_used_while_the_server_works_for_somebody_else() {
    let slots = Slots::new();
    let busy = health(&[provider("a", 1, &with_load(1))]);
    let idle = health(&[provider("a", 1, &with_load(0))]);
    let run = with_health(&slots, &[busy.clone(), busy.clone(), idle]);
    let run = run.args([
        "-v",
        "--candidates",
        "-",
        "--wait",
        "30s",
        "--",
        "echo",
        "ran",
    ]);
    let ended = run.stdin(busy.clone()).run().code(0).stdout_has("ran");
    ended.stderr_has("1 request of others");
    let run = with_health(&slots, std::slice::from_ref(&busy));
    let run = run.args(["--candidates", "-", "--wait", "0", "--", "echo", "ran"]);
    run.stdin(busy.clone()).run().code(75);
    let run = with_health(&slots, std::slice::from_ref(&busy));
    let run = run.args(["--candidates", "-", "--wait", "1s", "--", "echo", "ran"]);
    run.stdin(busy.clone()).run().code(75);
    let run = with_health(&slots, std::slice::from_ref(&busy));
    let run = run.args([
        "--candidates",
        "-",
        "--ignore-server",
        "--wait",
        "0",
        "--",
        "echo",
        "ran",
    ]);
    run.stdin(busy).run().code(0);
}

#[test]
fn q05_q06_the_server_is_asked_again_right_before_a_slot_that_was_waited_for_is_used() {
    let slots = Slots::new();
    let busy = health(&[provider("a", 1, &with_load(1))]);
    let idle = health(&[provider("a", 1, &with_load(0))]);
    let key = "http://127.0.0.1:1";
    let holder = slots.hold(&["--key", key, "--slots", "1", "--ignore-server"]);
    let document = slots.home.path().join("candidates.json");
    fs::write(&document, &idle).unwrap();
    let run = with_health(&slots, &[idle.clone(), busy, idle]);
    let run = run.arg("--candidates").arg(&document);
    let mut waiting = Holder::launch(run.args(["--", "echo", "ran"]).command());
    eventually("it waits", SOON, || {
        let status = slots.run(&["status", key, "--ignore-server"]).run().json();
        (status["keys"][0]["waiting"].as_array()?.len() == 1).then_some(())
    });
    // What was read before is too old by then.
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(300) {
        std::thread::yield_now();
    }
    holder.finish();
    assert_eq!(waiting.line(), "ran");
    let asked = fs::read_to_string(slots.home.path().join("tools/asked")).unwrap();
    assert!(asked.trim().parse::<u32>().unwrap() >= 3, "{asked}");
}

#[test]
fn another_candidate_is_taken_when_the_first_is_busy_with_others() {
    let slots = Slots::new();
    let document = health(&[
        provider("a", 1, &with_load(1)),
        provider("b", 2, &with_load(0)),
    ]);
    let busy = health(&[provider("a", 1, &with_load(1))]);
    let idle = health(&[provider("b", 2, &with_load(0))]);
    let run = with_health(&slots, &[busy, idle]);
    let run = run.args([
        "--candidates",
        "-",
        "--wait",
        "10s",
        "--",
        "sh",
        "-c",
        "echo $BATON_PROVIDER",
    ]);
    assert_eq!(run.stdin(document).run().code(0).stdout, "b\n");
}

#[test]
fn a_candidate_of_which_nothing_is_known_is_asked_again() {
    let slots = Slots::new();
    let unknown = health(&[provider("a", 1, &json!({"state": "unknown"}))]);
    let idle = health(&[provider("a", 1, &with_load(0))]);
    let run = with_health(&slots, &[unknown.clone(), idle]);
    let run = run.args(["--candidates", "-", "--wait", "30s", "--", "echo", "ran"]);
    let ended = run.stdin(unknown.clone()).run().code(0).stdout_has("ran");
    ended.stderr_has("waiting until a candidate is known to do");
    let run = with_health(&slots, std::slice::from_ref(&unknown));
    let run = run.args(["--candidates", "-", "--wait", "1s", "--", "echo", "ran"]);
    run.stdin(unknown).run().code(3);
}

#[test]
fn among_equals_the_least_recently_used_is_taken() {
    let slots = Slots::new();
    let document = health(&[provider("a", 1, &json!({})), provider("b", 2, &json!({}))]);
    let words = ["--candidates", "-", "--prefer", "fastest", "--wait", "0"];
    let take = || {
        slots
            .run(&words)
            .args(SHOW)
            .stdin(document.clone())
            .run()
            .code(0)
            .stdout
    };
    let takes: Vec<String> = (0..4).map(|_| take()[..1].to_owned()).collect();
    assert_eq!(takes, ["a", "b", "a", "b"]);
    let fast = json!({"speed": {"prefill_tokens_per_s": null, "decode_tokens_per_s": 50.0}});
    let document = health(&[provider("a", 1, &json!({})), provider("b", 2, &fast)]);
    let take = || {
        slots
            .run(&words)
            .args(SHOW)
            .stdin(document.clone())
            .run()
            .code(0)
            .stdout
    };
    assert!(take().starts_with('b') && take().starts_with('b'));
}

#[test]
fn q12_a_server_that_swaps_models_serves_one_at_a_time() {
    let slots = Slots::new();
    let with = |model: &str| {
        let changes = json!({
            "server": {"kind": "llama-swap", "version": null},
            "models": [{"id": model, "state": "loaded", "usable_context": 8192}],
            "slots": {"total": 4, "in_flight": 0, "waiting": 0, "free": 4, "source": "configured"},
        });
        let file = slots.home.path().join(format!("{model}.json"));
        fs::write(&file, health(&[provider("a", 1, &changes)])).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let (a, b) = (with("a"), with("b"));
    let words =
        |file: &str| ["--ignore-server", "--wait", "0", "--candidates", file].map(str::to_owned);
    let take = |file: &str| slots.run(&[]).args(words(file)).args(["--", "true"]).run();
    let first = slots.hold(&["--ignore-server", "--candidates", &a]);
    take(&a).code(0);
    take(&b).code(75);
    first.finish();
    take(&b).code(0);
}

#[test]
fn tokens_are_reserved_in_the_pool_besides_the_slot() {
    let slots = Slots::new();
    let changes = json!({
        "models": [{"id": "m", "state": "loaded", "usable_context": 8192, "pool_tokens": 10_000}],
        "slots": {"total": 4, "in_flight": 0, "waiting": 0, "free": 4, "source": "configured"},
    });
    let file = slots.home.path().join("c.json");
    fs::write(&file, health(&[provider("a", 1, &changes)])).unwrap();
    let with = |tokens: &'static str| {
        [
            "--ignore-server",
            "--wait",
            "0",
            "--candidates",
            file.to_str().unwrap(),
            "--tokens",
            tokens,
        ]
    };
    let first = slots.hold(&with("6k"));
    slots.run(&with("5k")).args(["--", "true"]).run().code(75);
    slots.run(&with("4k")).args(["--", "true"]).run().code(0);
    let status = slots.run(&["status"]).run().json();
    assert_eq!(status["keys"][0]["held"][0]["tokens"], 6000);
    first.finish();
    slots.run(&with("9k")).args(["--", "true"]).run().code(0);
}
