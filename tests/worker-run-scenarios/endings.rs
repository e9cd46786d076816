//! Signals in the middle of a scenario: INT and TERM leave a hand-off, KILL leaves no process.

use std::io::{Read as _, Write as _};
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::kit::{Scenario, Set, bash, nobody_sleeps, odd_seconds, read, requests};
use crate::support::eventually;

/// Starts it, waits until `ready`, sends the signal; the exit code (none: killed) and the hand-off.
fn signalled(set: &Set, signal: Signal, ready: impl Fn() -> bool) -> (Option<i32>, Value) {
    let mut child = set
        .run
        .command()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(set.run.input())
        .unwrap();
    eventually("it is in the middle", Duration::from_secs(60), || {
        ready().then_some(())
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
    let code = child.wait().unwrap().code();
    assert!(start.elapsed() < Duration::from_secs(30));
    eprintln!(
        "{:<16} {signal:?} -> {code:?} after {:?}",
        set.name,
        start.elapsed()
    );
    (code, serde_json::from_str(&out).unwrap_or_default())
}

const SIGNALS: [(Signal, Option<i32>); 3] = [
    (Signal::INT, Some(130)),
    (Signal::TERM, Some(143)),
    (Signal::KILL, None),
];

/// A command with a child, a child in its own session, and an orphan of that.
#[test]
fn longbash_under_signals() {
    for (at, (signal, code)) in SIGNALS.into_iter().enumerate() {
        let seconds = odd_seconds(310 + u32::try_from(at).unwrap());
        let line = format!(
            "sleep {seconds} & (setsid sleep {seconds} &) ; nohup setsid bash -c 'trap \"\" TERM INT HUP; sleep {seconds}' > /dev/null 2>&1 & touch started; sleep {seconds}"
        );
        let set = Scenario::new("longbash").steps(vec![bash(&line)]).set();
        let started = set.repo.path().join("started");
        let (ended, handoff) = signalled(&set, signal, || started.exists());
        assert_eq!(ended, code);
        if code.is_some() {
            assert_eq!(handoff["status"], "interrupted");
            assert_eq!(handoff["schema"], "handoff/1");
        }
        nobody_sleeps(&seconds);
    }
}

/// A server that never answers, one that stalls, one that talks for ever.
#[test]
fn hang_stall_and_repeattext_under_signals() {
    let slow = json!({"say": "I will now fix word by word. ", "repeat": 500, "pace": "200ms"});
    for (name, fault, step) in [
        ("hang", Some("silent"), read()),
        ("hang_hdr", Some("stall-after-headers"), read()),
        ("stall", Some("stall-mid-stream"), read()),
        ("repeattext", None, slow),
    ] {
        for (signal, code) in SIGNALS {
            let mut scenario = Scenario::new(name)
                .steps(vec![step.clone()])
                .limit("idle_ms", 60_000)
                .limit("request_ms", 60_000);
            if let Some(fault) = fault {
                scenario = scenario.faults(&[fault]);
            }
            let set = scenario.set();
            let (ended, handoff) = signalled(&set, signal, || !requests(&set.sim).is_empty());
            assert_eq!(ended, code, "{name}");
            if code.is_some() {
                assert_eq!(handoff["status"], "interrupted", "{name}");
            }
            // The server sees the hang-up: no slot stays busy.
            eventually("the slot is free", Duration::from_secs(30), || {
                let state = crate::support::get(&format!("{}/sim/state", set.sim.root()));
                let state: Value = serde_json::from_str(&state).unwrap();
                (state["running"] == 0).then_some(())
            });
        }
    }
}
