//! A window that fills up: counted before every request, shortened early enough that a summary can
//! be asked for, and never passed.

use serde_json::{Value, json};

use super::kit::{Ended, Scenario, bash, done, edit};

/// Thirty long outputs, then the work; a summary where one is asked for.
fn filling(name: &'static str, kind: &str, window: &'static str) -> Ended {
    let output = |n: usize| {
        bash(&format!(
            "for i in $(seq 1 200); do echo \"step {n} line $i: the quick brown fox jumps over the lazy dog\"; done"
        ))
    };
    let mut scenario = Scenario::new(name).steps(vec![done()]);
    // A compaction begins the count of turns anew, so each answer is used once.
    let answers: Vec<Value> = (1..=30).map(output).chain([edit()]).collect();
    for answer in answers.into_iter().rev() {
        scenario = scenario.first(json!({"times": 1, "answer": answer}));
    }
    let summary = json!({"say": "Outputs looked at; nothing changed yet."});
    scenario
        .server(&["--kind", kind, "--context", window])
        .limit("wall_ms", 180_000)
        .limit("output_tokens", 400)
        .first(json!({"when": {"last": "Write a summary"}, "answer": summary}))
        .ends("completed", 0)
}

fn is_summary(request: &Value) -> bool {
    let messages = request["body"]["messages"].as_array().unwrap();
    let last = messages.last().unwrap()["content"].as_str().unwrap();
    last.contains("Write a summary")
}

/// Nothing was refused, and each summary was asked for over what the server had read already, with
/// room for its answer.
fn bounded(ended: &Ended, window: u64) {
    let requests = &ended.requests;
    for request in requests {
        assert_eq!(request["status"], 200, "{request:#}");
        let prompt = request["prompt_tokens"].as_u64().unwrap();
        let output = request["body"]["max_tokens"].as_u64().unwrap();
        assert!(prompt + output <= window, "{prompt} and {output}");
    }
    let summaries: Vec<usize> = (0..requests.len())
        .filter(|at| is_summary(&requests[*at]))
        .collect();
    assert!(!summaries.is_empty(), "the window was never full");
    for at in summaries {
        let (before, now) = (&requests[at - 1]["body"], &requests[at]["body"]);
        let (before_list, list) = (
            before["messages"].as_array().unwrap(),
            now["messages"].as_array().unwrap(),
        );
        let common = list.len().min(before_list.len() + 1) - 1;
        assert_eq!(list[..common], before_list[..common]);
        assert_eq!(now["tools"], before["tools"]);
        assert!(now["max_tokens"].as_u64().unwrap() >= 128, "{now:#}");
        assert!(requests[at]["cached_tokens"].as_u64().unwrap() > 0);
    }
    assert!(ended.calc.contains("return a + b"));
    assert_eq!(ended.handoff["status"], "completed");
    assert!(
        ended.handoff["repairs"]["context_compacted"]
            .as_u64()
            .unwrap()
            >= 1
    );
}

#[test]
fn c21_a_window_of_4k_is_never_passed() {
    bounded(&filling("w4k", "vllm", "4096"), 4096);
}

#[test]
fn a_window_of_8k_is_never_passed() {
    bounded(&filling("w8k", "llamacpp", "8192"), 8192);
}

/// This server counts nothing, so the library's bound decides.
#[test]
fn a_window_of_8k_is_never_passed_where_the_server_does_not_count() {
    bounded(&filling("w8ko", "sglang", "8192"), 8192);
}

/// The room of the last request that fits is the room that is asked for, to the token: the server
/// counts near the window, and a window one token smaller gives an answer one token shorter.
#[test]
fn near_the_window_the_servers_count_decides_to_the_token() {
    let first = |window: String| {
        let window: &'static str = window.leak();
        let ended = Scenario::new("exact")
            .server(&["--kind", "vllm", "--context", window])
            .limit("output_tokens", 4096)
            .ends("completed", 0);
        let body = &ended.requests[0];
        (
            body["prompt_tokens"].as_u64().unwrap(),
            body["body"]["max_tokens"].as_u64().unwrap(),
        )
    };
    let (prompt, _) = first("32768".into());
    for window in [prompt + 4096 - 1, prompt + 4096, prompt + 4096 + 1] {
        // The folder's name makes the prompt a few tokens longer or shorter.
        let (prompt, room) = first(window.to_string());
        // 96 tokens stay free for what no count knows.
        assert_eq!(room, window - prompt - 96, "{window}");
    }
}

/// A first message that fills the window cannot be shortened: that is said before anything is sent.
#[test]
fn c22_what_cannot_fit_is_never_sent() {
    let ended = Scenario::new("tiny")
        .server(&["--kind", "vllm", "--context", "600"])
        .ends("overflow", 1);
    assert!(ended.requests.is_empty(), "{:#?}", ended.requests);
}
