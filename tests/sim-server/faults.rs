//! The fault switchboard: each kind of fault does to the bytes what its name says.

use serde_json::{Value, json};

use crate::kit::{
    Answer, CHAT, chats, get, open, post, read, release, request, scripted, tool, wait,
};
use crate::support::{Home, Run, Sim, sim_server_path};

const TALK: &str = "
[[rule]]
when.user = 'two tools'
answer.calls = [{ read = 'a.rs' }, { read = 'b.rs' }]
[[rule]]
answer = { think = 'hm', say = 'one two three four five six' }
";

fn streamed(text: &str) -> Value {
    request(
        text,
        json!({"stream": true, "stream_options": {"include_usage": true}, "tools": [tool("read", &["path"])]}),
    )
}

fn stream(fault: &str, text: &str) -> Answer {
    let sim = scripted(TALK, &["--fault", fault]);
    post(&sim, CHAT, &streamed(text))
}

fn calls(answer: &Answer) -> Vec<Value> {
    let events = answer.events();
    let lists = events
        .iter()
        .filter_map(|e| e["choices"][0]["delta"]["tool_calls"].as_array());
    lists.flatten().cloned().collect()
}

#[test]
fn every_fault_of_the_list_can_be_switched_on_and_ends() {
    let home = Home::new();
    let list = Run::program(sim_server_path(), &home)
        .arg("--list-faults")
        .run()
        .code(0)
        .stdout;
    // These wait for the client or for a gate by design; each has a test of its own.
    let waiting = ["mute", "silent", "engine-", "stall", "open-after", "drip"];
    let lines = list.lines().filter(|line| !line.starts_with('#'));
    let names = lines.filter_map(|line| line.split_whitespace().next());
    for name in names.filter(|name| !waiting.iter().any(|w| name.starts_with(w))) {
        let sim = scripted(TALK, &["--fault", name, "--context", "4096"]);
        for body in [
            streamed("hi"),
            streamed("two tools"),
            request("hi", json!({})),
        ] {
            let _ = read(open(&sim, "POST", CHAT, "", &body.to_string()));
        }
        for path in ["/health", "/v1/models", "/metrics"] {
            let _ = read(open(&sim, "GET", path, "", ""));
        }
        wait(&sim, "running=0&waiting=0");
    }
}

#[test]
fn s05_one_byte_in_every_chunk() {
    let answer = stream("one-byte", "hi");
    assert!(answer.complete && answer.chunks.iter().all(|size| *size == 1));
    assert!(answer.text().ends_with("data: [DONE]\n\n"));
}

#[test]
fn s07_the_endings() {
    let eof = stream("eof-no-done", "hi");
    assert!(
        eof.complete
            && !eof.text().contains("[DONE]")
            && !eof.text().contains("finish_reason\":\"")
    );
    assert!(!stream("drop-mid-stream", "hi").complete);
    let done = stream("done-no-finish", "hi").text();
    assert!(
        done.contains("[DONE]") && !done.contains("finish_reason\":\""),
        "{done}"
    );
    let cut = stream("eof-mid-tool-call", "two tools").text();
    assert!(
        cut.contains("tool_calls") && !cut.contains("[DONE]"),
        "{cut}"
    );
}

#[test]
fn s08_a_finish_reason_without_the_end_mark() {
    let text = stream("no-done", "hi").text();
    assert!(text.contains("\"finish_reason\":\"stop\"") && !text.contains("[DONE]"));
}

#[test]
fn s16_an_error_line_and_an_error_event() {
    assert!(stream("error-line", "hi").text().contains("\nerror: {"));
    assert!(
        stream("error-event", "hi")
            .text()
            .contains("\nevent: error\ndata: {")
    );
}

#[test]
fn s19_to_s25_the_ways_servers_write_calls() {
    let all = |fault: &str| calls(&stream(fault, "two tools"));
    assert!(all("no-index").iter().all(|call| call["index"].is_null()));
    assert_eq!(all("no-index").len(), 2);
    assert!(all("same-index").iter().all(|call| call["index"] == 0));
    assert!(
        all("name-repeated")
            .iter()
            .all(|call| call["function"]["name"] == "read")
    );
    assert!(
        all("name-emptied")
            .iter()
            .any(|call| call["function"]["name"] == "")
    );
    assert_eq!(
        all("object-arguments")[1]["function"]["arguments"],
        json!({"path": "b.rs"})
    );
    let one_chunk = stream("no-index-one-chunk", "two tools");
    let lists = |e: &&Value| e["choices"][0]["delta"]["tool_calls"].is_array();
    assert_eq!(one_chunk.events().iter().filter(lists).count(), 1);
}

#[test]
fn s26_the_reasoning_field_has_its_other_name() {
    assert!(
        stream("reasoning-renamed", "hi")
            .text()
            .contains("\"reasoning_content\":\"hm\"")
    );
}

#[test]
fn s33_gzip_that_nobody_announced() {
    let answer = stream("gzip-undeclared", "hi");
    assert_eq!(&answer.body[..2], [0x1f, 0x8b]);
    assert!(answer.header("content-encoding").is_none());
    let declared = stream("gzip-declared", "hi");
    assert_eq!(declared.header("content-encoding").as_deref(), Some("gzip"));
}

#[test]
fn r07_r08_an_engine_that_stands_still_behind_healthy_probes() {
    for (fault, running, waiting) in [("engine-dead", 0, 1), ("engine-stalled", 1, 0)] {
        let sim = scripted(TALK, &["--fault", fault]);
        let stream = open(&sim, "POST", CHAT, "", &streamed("hi").to_string());
        wait(&sim, &format!("running={running}&waiting={waiting}"));
        assert_eq!(get(&sim, "/health").status, 200);
        drop(stream);
        wait(&sim, "running=0&waiting=0");
    }
}

#[test]
fn q02_silence_until_the_gate_opens_then_the_answer() {
    let sim = scripted(TALK, &["--fault", "silent@1"]);
    let stream = open(&sim, "POST", CHAT, "", &streamed("hi").to_string());
    wait(&sim, "held=1&running=0");
    release(&sim, "silent");
    assert!(read(stream).unwrap().text().ends_with("data: [DONE]\n\n"));
}

#[test]
fn q12_a_reset_in_mid_answer() {
    let answer = stream("reset-mid-stream", "hi");
    assert!(!answer.complete);
}

#[test]
fn s09_an_open_connection_after_the_end_frees_the_slot() {
    let sim = scripted(TALK, &["--fault", "open-after-done"]);
    let stream = open(&sim, "POST", CHAT, "", &streamed("hi").to_string());
    wait(&sim, "held=1&running=0");
    drop(stream);
    wait(&sim, "held=0");
}

#[test]
fn a_fault_can_be_switched_on_and_off_while_the_server_runs() {
    let sim = scripted(TALK, &[]);
    let on = json!({"fault": "overflow-llamacpp", "at": 2});
    assert_eq!(post(&sim, "/sim/faults", &on).status, 204);
    let statuses: Vec<u16> = (0..3)
        .map(|_| post(&sim, CHAT, &streamed("hi")).status)
        .collect();
    assert_eq!(statuses, [200, 400, 200]);
    assert_eq!(chats(&sim)[1]["faults"], json!(["overflow-llamacpp"]));
    post(
        &sim,
        "/sim/faults",
        &json!({"fault": "loading", "times": 1}),
    );
    assert_eq!(
        [get(&sim, "/health").status, get(&sim, "/health").status],
        [503, 200]
    );
    let wrong = post(&sim, "/sim/faults", &json!({"fault": "x"}));
    assert_eq!(wrong.status, 400);
}

#[test]
fn r10_a_server_that_is_mute_accepts_and_says_nothing() {
    let sim = Sim::start(["--fault", "mute"]);
    let probe = open(&sim, "GET", "/health", "", "");
    wait(&sim, "held=1");
    release(&sim, "mute");
    assert_eq!(read(probe).unwrap().status, 200);
}
