//! A plain call and the work its server does for others.

use std::fs;

use serde_json::{Value, json};

use crate::kit::{Holder, SOON, Slots};
use crate::support::{Ended, Home, Run, Sim, eventually, get, post};

/// A server that answers nobody until the gate is opened.
fn held_server(options: &[&str]) -> (Sim, Home) {
    let home = Home::new();
    let script = home.path().join("hold.toml");
    fs::write(
        &script,
        "[[rule]]\nanswer = { hold = \"gate\", say = \"x\" }\n",
    )
    .unwrap();
    let mut words = vec!["--script", script.to_str().unwrap()];
    words.extend(options);
    (Sim::start(words), home)
}

/// Sends a request that is in flight until the gate is opened.
fn ask(sim: &Sim) -> std::thread::JoinHandle<String> {
    let url = format!("{}/chat/completions", sim.base_url);
    let asking = std::thread::spawn(move || {
        let body = json!({"model": "qwen38", "messages": [{"role": "user", "content": "x"}]});
        post(&url, &body.to_string())
    });
    let url = format!("{}/sim/wait?held=1&timeout_ms=20000", sim.root());
    assert!(get(&url).contains("held"));
    asking
}

fn open_gate(sim: &Sim) {
    post(
        &format!("{}/sim/release", sim.root()),
        r#"{"gate": "gate"}"#,
    );
}

fn once(slots: &Slots, words: &[&str]) -> Run {
    slots.run(words).args(["--wait", "0", "--", "echo", "ran"])
}

fn is_refused(ended: Ended) {
    let ended = ended.code(75);
    assert_eq!(ended.stdout, "");
    ended.stderr_has("the server works on 1 request of others");
}

#[test]
fn q10_a_plain_call_counts_what_its_server_does_for_others() {
    let slots = Slots::new();
    let (sim, _script) = held_server(&["--kind", "llamacpp", "--slots", "2"]);
    let asking = ask(&sim);
    let of_two = |words: &[&str]| once(&slots, words).server(&sim.base_url);
    // One of two is the other's.
    of_two(&[]).run().code(0).stdout_has("ran");
    is_refused(of_two(&["--slots", "1"]).run());
    of_two(&["--slots", "1", "--ignore-server"]).run().code(0);
    let holder = slots.run(&[]).server(&sim.base_url);
    let holder = Holder::start(&holder.args(["--", "sh", "-c", "echo up; read x"]));
    // The holder does not say whether it asks the server right now, so it may be the one who does.
    of_two(&[]).run().code(0);
    drop(holder);
    open_gate(&sim);
    asking.join().unwrap();
    of_two(&["--slots", "1"]).run().code(0);
}

#[test]
fn a_url_as_the_key_is_asked_and_a_name_is_not() {
    let slots = Slots::new();
    let (sim, _script) = held_server(&["--kind", "llamacpp", "--slots", "1"]);
    let asking = ask(&sim);
    is_refused(once(&slots, &["--key", sim.root(), "--slots", "1"]).run());
    once(&slots, &["--key", "gpu0", "--slots", "1"])
        .run()
        .code(0);
    open_gate(&sim);
    asking.join().unwrap();
}

#[test]
fn a_call_waits_until_the_server_is_done_with_others() {
    let slots = Slots::new();
    let (sim, _script) = held_server(&["--kind", "llamacpp", "--slots", "1"]);
    let asking = ask(&sim);
    let run = slots.run(&["--wait", "60s", "--", "echo", "ran"]);
    let mut waiting = Holder::launch(run.server(&sim.base_url).command());
    // It is the first in line, and waits for the server alone.
    let key = sim.root().to_owned();
    eventually("its place", SOON, || {
        let ended = slots.run(&["status", &key]).run();
        let status = &ended.json()["keys"][0];
        let count = |key: &str| Some(status[key].as_array()?.len());
        (count("held")? == 0 && count("waiting")? == 1).then_some(())
    });
    open_gate(&sim);
    asking.join().unwrap();
    assert_eq!(waiting.line(), "ran");
    assert_eq!(waiting.wait().code(), Some(0));
}

#[test]
fn the_servers_own_number_lowers_the_one_that_was_told_and_says_so() {
    let slots = Slots::new();
    let sim = Sim::start(["--kind", "llamacpp", "--slots", "2"]);
    let report = slots.home.path().join("r.json");
    let counted = |words: &[&str]| {
        let run = slots.run(words).arg("--report").arg(&report);
        let ended = run.args(["--", "true"]).server(&sim.base_url).run().code(0);
        let text = fs::read_to_string(&report).unwrap();
        let document: Value = serde_json::from_str(&text).unwrap();
        (document["slots"].as_u64().unwrap(), ended.stderr)
    };
    let (count, said) = counted(&["--slots", "9"]);
    assert_eq!(count, 2);
    assert!(said.contains("the server has 2 slots"), "{said}");
    assert_eq!(counted(&["--slots", "1"]), (1, String::new()));
    let (count, said) = counted(&["--slots", "9", "--ignore-server"]);
    assert_eq!((count, said.as_str()), (9, ""));
}

#[test]
fn a_server_that_cannot_be_asked_lowers_nothing() {
    let slots = Slots::new();
    // Nobody listens there.
    let gone = "http://127.0.0.1:1/v1";
    let run = once(&slots, &["--slots", "2"]).server(gone);
    run.run().code(0).stdout_has("ran");
}

#[test]
fn status_tells_what_the_server_says_of_slots_that_are_used() {
    let slots = Slots::new();
    let (sim, _script) = held_server(&["--kind", "llamacpp", "--slots", "2"]);
    let asking = ask(&sim);
    let run = slots.run(&["--", "sh", "-c", "echo up; read x"]);
    let holder = Holder::start(&run.server(&sim.base_url));
    let said = |words: &[&str]| {
        let document = slots.run(&["status"]).args(words).run().json();
        document["keys"][0]["server"].clone()
    };
    let server = said(&[]);
    assert_eq!(
        (&server["total"], &server["in_flight"]),
        (&json!(2), &json!(1))
    );
    let text = slots.run(&["status", "--text"]).run();
    text.stdout_has("server says: 1 in flight, 0 waiting, 2 slots");
    assert_eq!(said(&["--ignore-server"]), Value::Null);
    drop(holder);
    eventually("the slot is free", SOON, || {
        let document = slots.run(&["status", "--ignore-server"]).run().json();
        let held = document["keys"][0]["held"].as_array()?;
        held.is_empty().then_some(())
    });
    assert_eq!(said(&[]), Value::Null);
    assert_eq!(said(&["--server"])["total"], 2);
    open_gate(&sim);
    asking.join().unwrap();
}

#[test]
fn a_server_that_takes_long_to_say_anything_is_waited_for_aloud() {
    let slots = Slots::new();
    let sim = Sim::start(["--fault", "mute"]);
    let run = once(&slots, &["--slots", "2"]).server(&sim.base_url);
    let ended = run.run().code(0).stdout_has("ran");
    ended.stderr_has("waiting for what the server says of its slots");
}
