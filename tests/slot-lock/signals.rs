//! Signals reach the command, and end a wait.

use std::os::unix::process::{CommandExt, ExitStatusExt};

use rustix::process::{Signal, kill_process_group};

use crate::kit::{Holder, Slots};

const ONE: [&str; 4] = ["--key", "k", "--slots", "1"];

fn trapping(slots: &Slots, signals: &str) -> Holder {
    // `read` is interrupted by a trapped signal only in the shell itself, so the loop is the shell's.
    let script =
        format!("trap 'echo got; exit 9' {signals}; echo up; while :; do read x || exit 8; done");
    Holder::start(&slots.run(&ONE).args(["--", "bash", "-c", &script]))
}

#[test]
fn signals_are_passed_on_and_the_code_comes_back() {
    let slots = Slots::new();
    for signal in [
        Signal::TERM,
        Signal::HUP,
        Signal::USR1,
        Signal::USR2,
        Signal::INT,
        Signal::QUIT,
    ] {
        let mut holder = trapping(&slots, "TERM HUP USR1 USR2 INT QUIT");
        holder.signal(signal);
        assert_eq!(holder.line(), "got", "{signal:?}");
        assert_eq!(holder.wait().code(), Some(9), "{signal:?}");
    }
    assert_eq!(slots.try_once("1"), 0);
}

#[test]
fn a_command_that_dies_by_the_signal_is_told_as_128_plus_n() {
    let slots = Slots::new();
    let mut holder = slots.hold(&ONE);
    holder.signal(Signal::TERM);
    assert_eq!(holder.wait().code(), Some(143));
    assert_eq!(slots.try_once("1"), 0);
}

#[test]
fn a_command_that_ignores_the_signal_keeps_its_slot() {
    let slots = Slots::new();
    let script = "trap '' TERM; echo up; read x; exit 3";
    let holder = Holder::start(&slots.run(&ONE).args(["--", "sh", "-c", script]));
    holder.signal(Signal::TERM);
    assert_eq!(slots.try_once("1"), 75);
    assert_eq!(holder.finish().code(), Some(3));
}

#[test]
fn a_signal_to_the_group_ends_everything_and_frees_the_slot() {
    let slots = Slots::new();
    let run = slots.run(&ONE).args(["--", "sh", "-c", "echo up; read x"]);
    let mut command = run.command();
    command.process_group(0);
    let mut holder = Holder::launch(command);
    assert_eq!(holder.line(), "up");
    kill_process_group(holder.pid(), Signal::INT).unwrap();
    assert_eq!(holder.wait().code(), Some(130));
    assert_eq!(slots.try_once("1"), 0);
}

#[test]
fn a_signal_ends_a_wait_and_leaves_no_ticket() {
    let slots = Slots::new();
    let holder = slots.hold(&ONE);
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
        let mut waiter = Holder::launch(slots.run(&ONE).args(["--", "true"]).command());
        slots.until(1, 1);
        waiter.signal(signal);
        let status = waiter.wait();
        assert_eq!((status.code(), status.signal()), (Some(code), None));
        let left = std::fs::read_dir(slots.file("")).unwrap().flatten();
        let tickets = left.filter(|e| e.file_name().to_str().unwrap().starts_with("wait-"));
        assert_eq!(tickets.count(), 0);
    }
    holder.finish();
}

#[test]
fn an_ignored_signal_stays_ignored_by_the_command() {
    let slots = Slots::new();
    // As nohup does: HUP is ignored from outside.
    let script = "grep SigIgn /proc/self/status";
    let outer = format!(
        "trap '' HUP; exec '{}' --key k --slots 1 -- sh -c '{script}'",
        crate::support::tool_path("slot-lock").display()
    );
    let ended = crate::support::Run::program("sh", &slots.home)
        .env("BATON_LOCK_DIR", slots.directory())
        .args(["-c", &outer])
        .run()
        .code(0);
    let mask = u64::from_str_radix(ended.stdout.split_whitespace().nth(1).unwrap(), 16).unwrap();
    assert_eq!(mask & 1, 1, "SIGHUP is signal 1: {mask:x}");
}

#[test]
fn a_command_is_waited_for_where_whoever_started_us_ignores_sigchld() {
    let slots = Slots::new();
    let script =
        "trap '' CHLD; exec slot-lock --key k --slots 1 -- sh -c 'sleep 0.1 & wait $!; exit 3'";
    let run = crate::support::Run::shell(script, &slots.home);
    run.env("BATON_LOCK_DIR", slots.directory()).run().code(3);
}
