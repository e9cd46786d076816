//! acquire, renew, release; --max-hold; --exec.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::kit::{Holder, SOON, Slots, children, is_alive};
use crate::support::eventually;

const ONE: [&str; 4] = ["--key", "k", "--slots", "1"];

/// `slot-lock acquire` of the only slot; its document.
fn acquire(slots: &Slots, options: &[&str]) -> Value {
    let run = slots
        .run(&["acquire"])
        .args(ONE)
        .args(["--wait", "0"])
        .args(options);
    run.run().code(0).json()
}

fn token(document: &Value) -> String {
    document["token"].as_str().unwrap().to_owned()
}

#[test]
fn a_lease_is_held_without_a_process_of_ours_and_given_back_by_its_token() {
    let slots = Slots::new();
    let document = acquire(&slots, &[]);
    assert_eq!(document["acquired"], true);
    assert_eq!(document["directory"], slots.place());
    assert!(
        document["expires_at"].is_string(),
        "never for ever: {document}"
    );
    assert_eq!(slots.try_once("1"), 75);
    let release = || slots.run(&["release", &token(&document)]).run().code(0);
    assert!(
        release().json()["notes"][0]
            .as_str()
            .unwrap()
            .contains("given back")
    );
    assert_eq!(slots.try_once("1"), 0);
    assert!(
        release().json()["notes"][0]
            .as_str()
            .unwrap()
            .contains("nobody holds")
    );
}

#[test]
fn the_keeper_of_a_lease_keeps_nothing_else_open() {
    let slots = Slots::new();
    // A pipe and a lock the caller inherited must end with the caller.
    let lock = slots.home.path().join("other.lock");
    let script = format!(
        "exec 9>'{}'; flock 9; exec 8>&1; slot-lock acquire --key k --slots 1 >/dev/null",
        lock.display()
    );
    let run = crate::support::Run::shell(&script, &slots.home);
    run.env("BATON_LOCK_DIR", slots.directory()).run().code(0);
    let free = Command::new("flock")
        .arg("-n")
        .arg(&lock)
        .arg("true")
        .status()
        .unwrap();
    assert!(free.success(), "the keeper holds the caller's lock");
    let keeper = slots.status()["held"][0]["holder"]["pid"].as_i64().unwrap();
    let cwd = fs::read_link(format!("/proc/{keeper}/cwd")).unwrap();
    assert_eq!(cwd.to_str(), Some("/"));
    eventually("a session of its own", SOON, || {
        let stat = fs::read_to_string(format!("/proc/{keeper}/stat")).unwrap();
        let session = stat
            .rsplit_once(')')
            .unwrap()
            .1
            .split_whitespace()
            .nth(3)
            .unwrap()
            .to_owned();
        (session == keeper.to_string()).then_some(())
    });
    kill_process(
        Pid::from_raw(i32::try_from(keeper).unwrap()).unwrap(),
        Signal::KILL,
    )
    .unwrap();
}

#[test]
fn l09_a_lease_ends_by_itself_but_a_living_command_keeps_its_slot() {
    let slots = Slots::new();
    let document = acquire(&slots, &["--ttl", "300ms"]);
    assert_eq!(slots.try_once("1"), 75);
    eventually("the lease ends", SOON, || {
        (slots.try_once("1") == 0).then_some(())
    });
    // The end is a hard one only for keepers: a command may run as long as it likes.
    let holder = slots.hold(&ONE);
    let release = slots.run(&["release", &token(&document)]).run().code(0);
    drop(release);
    assert_eq!(slots.try_once("1"), 75);
    assert_eq!(holder.finish().code(), Some(5));
}

#[test]
fn a_renewed_lease_lives_on() {
    let slots = Slots::new();
    let document = acquire(&slots, &["--ttl", "700ms"]);
    let start = Instant::now();
    let token = token(&document);
    let renewed = slots
        .run(&["renew", &token, "--ttl", "1h"])
        .run()
        .code(0)
        .json();
    assert_eq!(renewed["acquired"], true);
    assert_ne!(renewed["expires_at"], document["expires_at"]);
    eventually("the first end is past", SOON, || {
        (start.elapsed() > Duration::from_millis(1200)).then_some(())
    });
    assert_eq!(slots.try_once("1"), 75);
    slots.run(&["release", &token]).run().code(0);
    assert_eq!(slots.try_once("1"), 0);
}

#[test]
fn l10_a_lease_that_was_lost_cannot_be_renewed_and_is_told() {
    let slots = Slots::new();
    let document = acquire(&slots, &["--ttl", "100ms"]);
    let keeper = document["holder"]["pid"].as_u64();
    assert!(keeper.is_some());
    eventually("another one has it", SOON, || {
        let run = slots
            .run(&["acquire"])
            .args(ONE)
            .args(["--wait", "0"])
            .run();
        (run.code == Some(0)).then_some(())
    });
    let lost = slots
        .run(&["renew", &token(&document)])
        .run()
        .code(1)
        .stderr_has("lost");
    assert_eq!(lost.json()["acquired"], false);
    // The late one gives back nothing of the other's.
    slots.run(&["release", &token(&document)]).run().code(0);
    assert_eq!(slots.try_once("1"), 75);
    let second = slots.status()["held"][0]["holder"]["pid"].as_i64().unwrap();
    kill_process(
        Pid::from_raw(i32::try_from(second).unwrap()).unwrap(),
        Signal::KILL,
    )
    .unwrap();
}

#[test]
fn l10_a_stopped_keeper_can_be_released() {
    let slots = Slots::new();
    let document = acquire(&slots, &[]);
    let keeper = slots.status()["held"][0]["holder"]["pid"].as_i64().unwrap();
    let keeper = Pid::from_raw(i32::try_from(keeper).unwrap()).unwrap();
    kill_process(keeper, Signal::STOP).unwrap();
    slots.run(&["release", &token(&document)]).run().code(0);
    assert_eq!(slots.try_once("1"), 0);
}

#[test]
fn a_lease_ends_with_its_holder() {
    let slots = Slots::new();
    let mut sleeper = Command::new("sleep").arg("300").spawn().unwrap();
    let pid = sleeper.id().to_string();
    acquire(&slots, &["--holder-pid", &pid]);
    assert_eq!(slots.try_once("1"), 75);
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
    eventually("the slot is free", SOON, || {
        (slots.try_once("1") == 0).then_some(())
    });
    let gone = slots
        .run(&["acquire", "--holder-pid", &pid])
        .args(ONE)
        .run();
    gone.code(2).stderr_has("no such process");
}

#[test]
fn a_lease_for_the_parent_ends_with_the_shell_that_took_it() {
    let slots = Slots::new();
    let script = "slot-lock acquire --key k --slots 1 --holder-pid parent >/dev/null; \
                  slot-lock --key k --slots 1 --wait 0 -- true && exit 9; exit 0";
    let run = crate::support::Run::shell(&format!("set +e; {script}"), &slots.home);
    run.env("BATON_LOCK_DIR", slots.directory()).run().code(0);
    eventually("the slot is free", SOON, || {
        (slots.try_once("1") == 0).then_some(())
    });
}

#[test]
fn a_script_holds_a_slot_until_it_closes_the_descriptor() {
    let slots = Slots::new();
    let script = "
        exec 9> >(slot-lock acquire --key k --slots 1 --until-eof --report r.json)
        for i in $(seq 500); do [ -e r.json ] && break; sleep 0.02; done
        grep -q '\"acquired\":true' r.json
        ! slot-lock --key k --slots 1 --wait 0 -q -- true || exit 9
        exec 9>&-
        slot-lock --key k --slots 1 --wait 10s -- echo free";
    let run = crate::support::Run::shell(script, &slots.home).cwd(slots.home.path());
    let ended = run.env("BATON_LOCK_DIR", slots.directory()).run().code(0);
    assert_eq!(ended.stdout, "free\n");
}

#[test]
fn until_eof_ends_by_signal_and_by_time() {
    let slots = Slots::new();
    let words = ["acquire", "--until-eof", "--key", "k", "--slots", "1"];
    let mut holder = Holder::launch(slots.run(&words).command());
    assert!(holder.line().contains("\"acquired\":true"));
    assert_eq!(slots.try_once("1"), 75);
    holder.signal(Signal::TERM);
    assert_eq!(holder.wait().code(), Some(143));
    assert_eq!(slots.try_once("1"), 0);
    let mut holder = Holder::launch(slots.run(&words).args(["--ttl", "200ms"]).command());
    assert!(holder.line().contains("\"acquired\":true"));
    assert_eq!(holder.wait().code(), Some(124));
    assert_eq!(slots.try_once("1"), 0);
}

#[test]
fn the_slot_of_a_living_command_is_not_given_back_by_its_token() {
    let slots = Slots::new();
    let report = slots.home.path().join("r.json");
    let holder = slots.hold(&[
        "--key",
        "k",
        "--slots",
        "1",
        "--report",
        report.to_str().unwrap(),
    ]);
    let document: Value = serde_json::from_str(&fs::read_to_string(&report).unwrap()).unwrap();
    let ended = slots.run(&["release", &token(&document)]).run().code(1);
    ended.stderr_has("a living command holds this slot");
    assert_eq!(slots.try_once("1"), 75);
    holder.finish();
}

#[test]
fn acquire_answers_75_with_a_document_when_nothing_is_free() {
    let slots = Slots::new();
    let holder = slots.hold(&ONE);
    let run = slots
        .run(&["acquire"])
        .args(ONE)
        .args(["--wait", "0"])
        .run()
        .code(75);
    let document = run.json();
    assert_eq!(document["schema"], "reservation/1");
    assert_eq!(document["acquired"], false);
    assert_eq!(document["holder"]["pid"], holder.child.id());
    holder.finish();
}

#[test]
fn q08_q09_max_hold_ends_the_command_and_what_it_started() {
    let slots = Slots::new();
    let script = "sleep 300 & echo $!; wait";
    let run = slots
        .run(&ONE)
        .args(["--max-hold", "200ms", "--", "sh", "-c", script]);
    let ended = run.run().code(124).stderr_has("--max-hold");
    let child = Pid::from_raw(ended.stdout.trim().parse().unwrap()).unwrap();
    eventually("the background child ends", SOON, || {
        (!is_alive(child)).then_some(())
    });
    assert_eq!(slots.try_once("1"), 0);
}

#[test]
fn max_hold_kills_a_command_that_ignores_the_request() {
    let slots = Slots::new();
    let start = Instant::now();
    let script = "trap '' TERM; while :; do sleep 0.05; done";
    slots
        .run(&ONE)
        .args(["--max-hold", "100ms", "--", "sh", "-c", script])
        .run()
        .code(124);
    assert!(start.elapsed() > Duration::from_secs(5));
    assert_eq!(slots.try_once("1"), 0);
    // A command that ends in time is not disturbed.
    slots
        .run(&ONE)
        .args(["--max-hold", "1h", "--", "sh", "-c", "exit 3"])
        .run()
        .code(3);
}

#[test]
fn the_keeper_enforces_max_hold_when_slot_lock_is_killed() {
    let slots = Slots::new();
    let mut options = ONE.to_vec();
    options.extend(["--max-hold", "4s"]);
    let mut holder = slots.hold(&options);
    let command = holder.command_pid();
    holder.signal(Signal::KILL);
    holder.wait();
    assert_eq!(slots.try_once("1"), 75);
    eventually("the command is ended", SOON, || {
        (!is_alive(command)).then_some(())
    });
    eventually("the slot is free", SOON, || {
        (slots.try_once("1") == 0).then_some(())
    });
}

#[test]
fn l02_exec_becomes_the_command_and_the_slot_is_held_all_the_same() {
    let slots = Slots::new();
    let mut options = ONE.to_vec();
    options.push("--exec");
    let holder = slots.hold(&options);
    let name = fs::read_to_string(format!("/proc/{}/comm", holder.child.id())).unwrap();
    assert_eq!(name.trim(), "sh");
    assert_eq!(
        children(holder.child.id()),
        Vec::<u32>::new(),
        "no child it did not start"
    );
    assert_eq!(slots.try_once("1"), 75);
    assert_eq!(
        slots.status()["held"][0]["holder"]["pid"],
        holder.child.id()
    );
    assert_eq!(holder.finish().code(), Some(5));
    eventually("the slot is free", SOON, || {
        (slots.try_once("1") == 0).then_some(())
    });
    slots
        .run(&ONE)
        .args(["--exec", "--", "/no/such"])
        .run()
        .code(127);
    eventually("the slot is free", SOON, || {
        (slots.try_once("1") == 0).then_some(())
    });
}
