//! Waiting: bounded, in order, past the dead and the stopped.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::kit::{Holder, SOON, Slots};
use crate::support::eventually;

const ONE: [&str; 4] = ["--key", "k", "--slots", "1"];

/// A waiter that appends its name to a file when it gets its slot.
fn waiter(slots: &Slots, options: &[&str], name: &str) -> Holder {
    let script = format!(
        "echo {name} >> '{}'; sleep 0.05",
        slots.home.path().join("order").display()
    );
    let run = slots.run(options).args(["--", "sh", "-c", &script]);
    Holder::launch(run.command())
}

fn order(slots: &Slots) -> String {
    fs::read_to_string(slots.home.path().join("order"))
        .unwrap_or_default()
        .replace('\n', " ")
}

#[test]
fn a_wait_is_bounded_and_says_who_is_in_the_way() {
    let slots = Slots::new();
    let holder = slots.hold(&ONE);
    let report = slots.home.path().join("report.json");
    let words = ["--key", "k", "--slots", "1", "--wait", "1500ms", "--report"];
    let start = Instant::now();
    let ended = slots
        .run(&words)
        .arg(&report)
        .args(["--", "echo", "never"])
        .run()
        .code(75);
    assert!(start.elapsed() >= Duration::from_millis(1500));
    assert_eq!(ended.stdout, "");
    let pid = holder.child.id();
    let ended = ended
        .stderr_has("waiting for a slot")
        .stderr_has("no slot within 1s 500ms");
    ended
        .stderr_has(&format!("pid {pid}"))
        .stderr_has(&slots.place());
    let document: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(report).unwrap()).unwrap();
    assert_eq!(document["acquired"], false);
    assert_eq!(document["holder"]["pid"], pid);
    assert_eq!(document["directory"], slots.place());
    assert!(document["waited_ms"].as_u64().unwrap() >= 1500);
    holder.finish();
}

#[test]
fn q08_the_time_waited_is_in_the_report() {
    let slots = Slots::new();
    let holder = slots.hold(&ONE);
    let report = slots.home.path().join("report.json");
    let run =
        slots
            .run(&ONE)
            .arg("--report")
            .arg(&report)
            .args(["--", "sh", "-c", "echo up; read x"]);
    let mut waiting = Holder::launch(run.command());
    slots.until(1, 1);
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(100) {
        std::thread::yield_now();
    }
    holder.finish();
    assert_eq!(waiting.line(), "up");
    let document: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(report).unwrap()).unwrap();
    assert_eq!(document["acquired"], true);
    assert!(document["waited_ms"].as_u64().unwrap() >= 100, "{document}");
    assert_eq!(document["slot"], 0);
    assert!(document["token"].as_str().unwrap().len() >= 32);
}

#[test]
fn l20_the_third_of_three_takers_waits_and_then_gets_the_slot_at_once() {
    let slots = Slots::new();
    let two = ["--key", "k", "--slots", "2"];
    let mut holders = vec![slots.hold(&two), slots.hold(&two)];
    // On a busy machine a single hand-over may take long.
    let is_quick = (0..5).any(|_| {
        let run = slots.run(&two).args(["--", "sh", "-c", "echo up; read x"]);
        let mut third = Holder::launch(run.command());
        slots.until(2, 1);
        let start = Instant::now();
        holders.remove(0).finish();
        assert_eq!(third.line(), "up");
        let waited = start.elapsed();
        assert_eq!(slots.try_once("2"), 75);
        holders.push(third);
        waited < Duration::from_secs(1)
    });
    assert!(is_quick);
}

#[test]
fn waiters_of_a_class_are_served_in_order() {
    let slots = Slots::new();
    let holder = slots.hold(&ONE);
    let mut waiters = Vec::new();
    for name in ["a", "b", "c", "d", "e"] {
        waiters.push(waiter(&slots, &ONE, name));
        slots.until(1, waiters.len());
    }
    holder.finish();
    for mut waiter in waiters {
        assert_eq!(waiter.wait().code(), Some(0));
    }
    assert_eq!(order(&slots), "a b c d e ");
}

#[test]
fn interactive_goes_before_worker_before_batch() {
    let slots = Slots::new();
    let holder = slots.hold(&ONE);
    let mut waiters = Vec::new();
    for class in ["batch", "worker", "interactive"] {
        waiters.push(waiter(
            &slots,
            &["--key", "k", "--slots", "1", "--class", class],
            class,
        ));
        slots.until(1, waiters.len());
    }
    let status = slots.status();
    let classes: Vec<&str> = (0..3)
        .map(|i| status["waiting"][i]["class"].as_str().unwrap())
        .collect();
    assert_eq!(classes, ["interactive", "worker", "batch"]);
    holder.finish();
    for mut waiter in waiters {
        assert_eq!(waiter.wait().code(), Some(0));
    }
    assert_eq!(order(&slots), "interactive worker batch ");
}

#[test]
fn slots_kept_for_people_are_not_given_to_workers() {
    let slots = Slots::new();
    let keep = [
        "--key",
        "k",
        "--slots",
        "2",
        "--reserve-interactive",
        "1",
        "--wait",
        "0",
    ];
    let worker = slots.hold(&keep);
    slots.run(&keep).args(["--", "true"]).run().code(75);
    slots
        .run(&keep)
        .args(["--class", "interactive", "--", "true"])
        .run()
        .code(0);
    worker.finish();
}

#[test]
fn one_try_never_overtakes_a_queue() {
    let slots = Slots::new();
    let two = ["--key", "k", "--slots", "2"];
    let holder = slots.hold(&["--key", "k", "--slots", "1"]);
    // It waits because it counts with one slot; another one, counting with two, sees a free slot.
    let first = Holder::launch(slots.run(&ONE).args(["--", "true"]).command());
    slots.until(1, 1);
    slots
        .run(&two)
        .args(["--wait", "0", "--", "true"])
        .run()
        .code(75);
    slots
        .run(&two)
        .args(["--wait", "0", "--class", "interactive", "--", "true"])
        .run()
        .code(0);
    drop(first);
    holder.finish();
}

#[test]
fn a_killed_waiter_is_passed_and_its_ticket_removed() {
    let slots = Slots::new();
    let holder = slots.hold(&ONE);
    let mut dead = waiter(&slots, &ONE, "dead");
    slots.until(1, 1);
    let mut next = waiter(&slots, &ONE, "next");
    slots.until(1, 2);
    dead.signal(Signal::KILL);
    dead.wait();
    holder.finish();
    assert_eq!(next.wait().code(), Some(0));
    assert_eq!(order(&slots), "next ");
    let tickets = fs::read_dir(slots.file("")).unwrap().flatten();
    let tickets = tickets.filter(|e| e.file_name().to_str().unwrap().starts_with("wait-"));
    assert_eq!(tickets.count(), 0);
}

#[test]
fn a_stopped_head_is_passed_and_served_when_it_continues() {
    let slots = Slots::new();
    let holder = slots.hold(&ONE);
    let mut stopped = waiter(&slots, &ONE, "stopped");
    slots.until(1, 1);
    let mut next = waiter(&slots, &ONE, "next");
    slots.until(1, 2);
    stopped.signal(Signal::STOP);
    eventually("the status shows it", SOON, || {
        (slots.status()["waiting"][0]["life"] == "stopped").then_some(())
    });
    holder.finish();
    assert_eq!(next.wait().code(), Some(0));
    assert_eq!(order(&slots), "next ");
    stopped.signal(Signal::CONT);
    assert_eq!(stopped.wait().code(), Some(0));
    assert_eq!(order(&slots), "next stopped ");
}

#[test]
fn lowering_the_number_drains_and_raising_it_admits_at_once() {
    let slots = Slots::new();
    let three = ["--key", "k", "--slots", "3"];
    let (a, b, c) = (slots.hold(&three), slots.hold(&three), slots.hold(&three));
    assert_eq!(slots.try_once("1"), 75);
    a.finish();
    b.finish();
    // One above the new limit is still held.
    assert_eq!(slots.try_once("1"), 75);
    assert_eq!(slots.try_once("2"), 0);
    c.finish();
    assert_eq!(slots.try_once("1"), 0);
}

#[test]
fn a_full_disk_costs_the_order_but_not_the_slot() {
    let slots = Slots::new();
    if !rustix::process::getuid().is_root() {
        eprintln!("skipped: needs root to mount a small file system");
        return;
    }
    let dir = slots.directory();
    fs::create_dir_all(&dir).unwrap();
    let mount = |args: &[&str]| {
        std::process::Command::new("mount")
            .args(args)
            .arg(&dir)
            .status()
    };
    if !mount(&["-t", "tmpfs", "-o", "size=16k,nr_inodes=5,mode=700", "none"])
        .is_ok_and(|s| s.success())
    {
        eprintln!("skipped: cannot mount here");
        return;
    }
    assert_eq!(slots.try_once("1"), 0);
    let inodes = fs::write(dir.join("filler"), vec![0u8; 20_000]);
    assert!(inodes.is_err());
    let mut holder = slots.hold(&ONE);
    let mut waiting = Holder::launch(slots.run(&ONE).args(["--", "echo", "up"]).command());
    holder.signal(Signal::TERM);
    holder.wait();
    assert_eq!(waiting.line(), "up");
    waiting.wait();
    let _ = std::process::Command::new("umount")
        .arg("-l")
        .arg(&dir)
        .status();
}

#[test]
fn a_refusal_counts_by_the_number_this_call_has() {
    let slots = Slots::new();
    let holder = slots.hold(&["--key", "k", "--slots", "2"]);
    let words = ["--key", "k", "--slots", "1", "--wait", "0", "--", "true"];
    let ended = slots.run(&words).run().code(75);
    ended.stderr_has("1 of 1 slots held");
    holder.finish();
}
