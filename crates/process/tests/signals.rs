//! A real process and real signals.
#![expect(clippy::unwrap_used, reason = "a test helper may panic")]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use baton_process::{Cancel, Child, Command, ExitStatus, NextLine, Waited};

fn program() -> PathBuf {
    let exe = std::env::current_exe().unwrap();
    exe.parent()
        .unwrap()
        .parent()
        .unwrap()
        .join("examples/signalled")
}

/// Starts the waiting program behind a line of shell, and waits until it is ready.
fn start(prelude: &str) -> Child {
    let line = format!("{prelude} exec \"$0\" wait");
    let mut child = Command::new("sh")
        .arg("-c")
        .arg(line)
        .arg(program())
        .spawn()
        .unwrap();
    let deadline = Some(Instant::now() + Duration::from_secs(30));
    let line = child
        .lines()
        .unwrap()
        .next_line(deadline, &Cancel::new())
        .unwrap();
    assert_eq!(line, NextLine::Line(b"ready".to_vec()));
    child
}

fn end(mut child: Child) -> ExitStatus {
    let deadline = Some(Instant::now() + Duration::from_secs(30));
    match child.wait(deadline, &Cancel::new()).unwrap() {
        Waited::Exited(exit) => exit,
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_signal_is_told_by_its_number() {
    for signal in [2, 15, 1] {
        let child = start("");
        child.signal(signal);
        assert_eq!(end(child), ExitStatus::Code(128 + signal));
    }
}

#[test]
fn an_interrupt_counts_although_a_shell_started_us_with_it_ignored() {
    let child = start("trap '' INT;");
    child.signal(2);
    assert_eq!(end(child), ExitStatus::Code(130));
}

#[test]
fn a_hang_up_ignored_by_nohup_stays_ignored() {
    let child = start("trap '' HUP;");
    child.signal(1);
    child.signal(15);
    assert_eq!(end(child), ExitStatus::Code(143));
}

#[test]
fn exec_becomes_the_program_or_says_why_not() {
    let never = Cancel::new();
    let outcome = Command::new(program())
        .args(["exec", "echo", "hi"])
        .run(&never)
        .unwrap();
    assert_eq!(
        (outcome.exit, outcome.stdout.text().as_str()),
        (ExitStatus::Code(0), "hi\n")
    );
    let outcome = Command::new(program())
        .args(["exec", "no-such-program-here"])
        .run(&never);
    assert_eq!(outcome.unwrap().exit, ExitStatus::Code(127));
}

#[test]
fn a_killed_tool_takes_its_command_with_it() {
    // The program in the middle runs a command; when it is killed the kernel ends the command.
    if !std::path::Path::new("/proc/self/stat").exists() {
        return;
    }
    let mut outer = Command::new(program()).arg("run").spawn().unwrap();
    let deadline = Some(Instant::now() + Duration::from_secs(30));
    let line = outer
        .lines()
        .unwrap()
        .next_line(deadline, &Cancel::new())
        .unwrap();
    let NextLine::Line(pid) = line else {
        panic!("{line:?}")
    };
    let pid = String::from_utf8(pid).unwrap().parse().unwrap();
    let inner = baton_process::Identity::of(pid).unwrap();
    outer.signal(9);
    end(outer);
    let deadline = Instant::now() + Duration::from_secs(30);
    while inner.is_alive() {
        assert!(Instant::now() < deadline, "the command lives on");
        Cancel::new().wait(Duration::from_millis(5));
    }
}
