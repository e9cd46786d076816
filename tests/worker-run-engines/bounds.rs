//! Agents that do not end, do not listen, do not behave.

use std::io::{Read as _, Write as _};
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::kit::{CALC, Place, nobody_has, odd_seconds};
use crate::support::eventually;

#[test]
fn an_agent_that_loops_on_an_overflow_is_ended() {
    let overflow = json!({"status": 400, "body": {"error": {"message":
        "This model's maximum context length is 8192 tokens. However, you requested 9012 tokens \
         (6964 in the messages, 2048 in the completion).", "type": "BadRequestError", "code": 400}}});
    let script = json!({"rule": [{"answer": overflow}]});
    let place = Place::new(&script, &[]);
    let handoff = place
        .agent("while :; do ask again > /dev/null; done")
        .run()
        .code(1)
        .json();
    assert_eq!(handoff["status"], "overflow");
    assert!(handoff["status_reason"].as_str().unwrap().contains("8192"));
    assert!(place.requests().len() <= 4);
}

#[test]
fn what_does_not_fit_is_not_even_sent() {
    let place = Place::new(&json!({"rule": []}), &["--context", "2048"]);
    let handoff = place
        .agent("long=$(seq 1 5000); while :; do ask \"$long\" > /dev/null; done")
        .run()
        .code(1)
        .json();
    assert_eq!(handoff["status"], "overflow");
    assert_eq!(place.requests().len(), 0);
}

#[test]
fn requests_and_tokens_are_a_budget() {
    let place = Place::saying("go on").limit("requests", 4);
    let handoff = place
        .agent("while :; do ask again > /dev/null; done")
        .run()
        .code(3)
        .json();
    assert_eq!(handoff["status"], "budget_spent");
    assert_eq!(place.requests().len(), 4);
    assert_eq!(handoff["usage"]["requests"], 4);
}

#[test]
fn a_server_that_hangs_ends_the_agent_that_waits() {
    let place = Place::new(&json!({"rule": []}), &["--fault", "silent"])
        .limit("request_ms", 1000)
        .limit("idle_ms", 1000);
    let handoff = place
        .agent("while :; do ask again > /dev/null; done")
        .run()
        .code(124)
        .json();
    assert_eq!(handoff["status"], "timed_out");
    place.is_idle();
}

#[test]
fn a_server_that_is_away_is_69_and_a_wrong_key_78() {
    let away = Place::saying("ok");
    let script = "for i in 1 2 3; do ask again > /dev/null; done; exit 1";
    let ended = away.agent(script).server("http://127.0.0.1:9/v1").run();
    assert_eq!(ended.json()["status"], "failed");
    ended.code(69);
    let locked = Place::new(&json!({"rule": []}), &["--api-key", "right"]);
    let looping = "while :; do ask again > /dev/null; done";
    locked.agent(looping).run().code(78);
}

#[test]
fn an_agent_that_hangs_ignores_term_and_leaves_daemons_is_gone_at_its_limit() {
    let seconds = odd_seconds(610);
    let place = Place::saying("ok").limit("wall_ms", 3000);
    let script = format!(
        "trap '' TERM INT HUP; setsid nohup bash -c 'trap \"\" TERM; sleep {seconds}' > /dev/null 2>&1 & \
         (sleep {seconds} &); while :; do sleep {seconds}; done"
    );
    let start = Instant::now();
    let handoff = place.agent(&script).run().code(124).json();
    assert_eq!(handoff["status"], "timed_out");
    assert!(start.elapsed() < Duration::from_secs(30));
    nobody_has(&seconds);
}

#[test]
fn an_agent_that_ends_and_leaves_a_daemon_leaves_none() {
    let seconds = odd_seconds(620);
    let place = Place::saying("ok");
    let script = format!(
        "sed -i 's/a - b/a + b/' calc.py; (setsid nohup sleep {seconds} > /dev/null 2>&1 &); sleep {seconds} & exit 0"
    );
    let handoff = place.agent(&script).run().code(0).json();
    assert_eq!(handoff["status"], "completed");
    nobody_has(&seconds);
}

#[test]
fn questions_get_no_answer_and_no_hang() {
    let place = Place::saying("ok");
    let script = "cat > /dev/null; read -r answer || echo 'no stdin'; \
                  { read -r answer < /dev/tty; } 2> /dev/null || echo 'no terminal'; tty || true";
    let handoff = place.agent(script).run().code(1).json();
    let said = handoff["outcome"].as_str().unwrap();
    assert!(
        said.contains("no stdin") && said.contains("no terminal"),
        "{said}"
    );
}

#[test]
fn a_hundred_megabytes_of_output_are_no_trouble() {
    let place = Place::saying("ok");
    let script = "head -c 100000000 /dev/zero | tr '\\0' x; head -c 3000000 /dev/zero | tr '\\0' y >&2; \
                  printf '\\nthe end \\377\\033[1m\\n'; sed -i 's/a - b/a + b/' calc.py";
    let handoff = place.agent(script).run().code(0).json();
    assert!(handoff["outcome"].as_str().unwrap().len() < 20_000);
    assert!(handoff["outcome"].as_str().unwrap().contains("the end"));
    let printed = handoff["receipts"][1]["output_bytes"].as_u64().unwrap();
    assert_eq!(printed, 100_000_015);
}

#[test]
fn a_token_that_an_agent_prints_is_not_passed_on() {
    let place = Place::saying("ok");
    let ended = place
        .agent("echo 'my key is ghp_0123456789abcdefghijABCD'; echo sk-abcDEF0123456789xyz >&2; exit 1")
        .run()
        .code(1);
    assert!(!ended.stdout.contains("ghp_0123") && !ended.stdout.contains("sk-abc"));
    assert!(!ended.stderr.contains("sk-abc"), "{}", ended.stderr);
}

#[test]
fn nothing_but_the_gateway_is_reached() {
    let place = Place::saying("ok");
    let direct = format!(
        "curl -sS -m 3 {}/models; echo \"code $?\"; curl -sS -m 3 $OPENAI_BASE_URL/models | jq -r .object",
        place.sim.base_url
    );
    let handoff = place.agent(&direct).run().code(1).json();
    let said = handoff["outcome"].as_str().unwrap();
    assert!(said.ends_with("list"), "{said}");
    if handoff["sandbox"]["mode"] == "full" {
        assert!(said.starts_with("code 7"), "{said}");
    }
}

#[test]
fn without_a_border_the_gateway_wants_its_own_key() {
    let place = Place::saying("ok");
    let script = "curl -sS -o /dev/null -w '%{http_code} ' $OPENAI_BASE_URL/models; \
                  curl -sS -H \"Authorization: Bearer $OPENAI_API_KEY\" $OPENAI_BASE_URL/models | jq -r .object";
    let run = place.run().args([
        "--sandbox",
        "off",
        "--engine",
        "command",
        "--",
        "bash",
        "-c",
        script,
    ]);
    let handoff = run.run().code(1).json();
    assert_eq!(handoff["outcome"], "401 list");
    assert_eq!(handoff["sandbox"]["mode"], "off");
}

#[test]
fn signals_leave_a_hand_off_and_no_process() {
    for (at, (signal, code)) in [
        (Signal::INT, Some(130)),
        (Signal::TERM, Some(143)),
        (Signal::KILL, None),
    ]
    .into_iter()
    .enumerate()
    {
        let seconds = odd_seconds(630 + u32::try_from(at).unwrap());
        let script = json!({"rule": [{"answer": {"say": "x ".repeat(500), "pace": "200ms"}}]});
        let place = Place::new(&script, &[]);
        let run = place.agent(&format!(
            "setsid sleep {seconds} & sleep {seconds} & while :; do ask again > /dev/null; done"
        ));
        let mut child = run
            .command()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(run.input()).unwrap();
        eventually("it asks", Duration::from_secs(60), || {
            (!place.requests().is_empty()).then_some(())
        });
        let start = Instant::now();
        rustix::process::kill_process(rustix::process::Pid::from_child(&child), signal).unwrap();
        let mut out = String::new();
        child
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut out)
            .unwrap();
        assert_eq!(child.wait().unwrap().code(), code);
        assert!(start.elapsed() < Duration::from_secs(30));
        if code.is_some() {
            let handoff: Value = serde_json::from_str(&out).unwrap();
            assert_eq!(handoff["status"], "interrupted");
        }
        nobody_has(&seconds);
        place.is_idle();
        assert_eq!(place.calc(), CALC);
    }
}
