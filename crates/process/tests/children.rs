//! Long-lived children.

use std::time::{Duration, Instant};

use baton_process::{Cancel, Command, ExitStatus, NextLine, Stdin, Waited};

fn shell(script: &str) -> Command {
    Command::new("sh").arg("-c").arg(script)
}

const PATIENCE: Duration = Duration::from_secs(30);

#[test]
fn lines_come_as_they_are_written() {
    let never = Cancel::new();
    let mut child = shell("echo one; printf two; sleep 300").spawn().unwrap();
    let mut lines = child.lines().unwrap();
    assert_eq!(
        lines
            .next_line(Some(Instant::now() + PATIENCE), &never)
            .unwrap(),
        NextLine::Line(b"one".to_vec())
    );
    let at_once = Some(Instant::now() + Duration::from_millis(20));
    assert_eq!(
        lines.next_line(at_once, &never).unwrap(),
        NextLine::TimedOut
    );
    child.terminate(Duration::from_secs(5)).unwrap();
    assert_eq!(
        lines
            .next_line(Some(Instant::now() + PATIENCE), &never)
            .unwrap(),
        NextLine::Line(b"two".to_vec())
    );
    assert_eq!(
        lines
            .next_line(Some(Instant::now() + PATIENCE), &never)
            .unwrap(),
        NextLine::End
    );
}

#[test]
fn waiting_ends_with_the_child_the_deadline_or_the_cancellation() {
    let cancel = Cancel::new();
    let mut child = shell("sleep 300").spawn().unwrap();
    let short = Some(Instant::now() + Duration::from_millis(20));
    assert_eq!(child.wait(short, &cancel).unwrap(), Waited::TimedOut);
    cancel.cancel();
    assert_eq!(
        child
            .wait(Some(Instant::now() + PATIENCE), &cancel)
            .unwrap(),
        Waited::Cancelled
    );
    assert_eq!(
        child.terminate(Duration::from_secs(5)).unwrap(),
        ExitStatus::Signal(15)
    );
    let mut quick = shell("exit 4").spawn().unwrap();
    assert_eq!(
        quick
            .wait(Some(Instant::now() + PATIENCE), &Cancel::new())
            .unwrap(),
        Waited::Exited(ExitStatus::Code(4))
    );
}

#[test]
fn terminate_kills_what_ignores_it() {
    let mut child = shell("trap '' TERM; echo up; while :; do sleep 1; done")
        .spawn()
        .unwrap();
    let mut lines = child.lines().unwrap();
    lines
        .next_line(Some(Instant::now() + PATIENCE), &Cancel::new())
        .unwrap();
    assert_eq!(
        child.terminate(Duration::from_millis(200)).unwrap(),
        ExitStatus::Signal(9)
    );
}

#[test]
fn dropping_a_child_kills_its_group() {
    let mut child = shell("sleep 300 & echo $!; wait").spawn().unwrap();
    let identity = child.identity().unwrap();
    let line = child
        .lines()
        .unwrap()
        .next_line(Some(Instant::now() + PATIENCE), &Cancel::new())
        .unwrap();
    let NextLine::Line(pid) = line else {
        panic!("{line:?}")
    };
    let pid: u32 = String::from_utf8(pid).unwrap().trim().parse().unwrap();
    let grandchild = baton_process::Identity::of(pid).unwrap();
    drop(child);
    assert!(!identity.is_alive() && !grandchild.is_alive());
}

#[test]
fn leftovers_of_a_child_are_named() {
    let mut child = shell("sleep 300 >/dev/null 2>&1 & exit 0").spawn().unwrap();
    assert_eq!(
        child
            .wait(Some(Instant::now() + PATIENCE), &Cancel::new())
            .unwrap(),
        Waited::Exited(ExitStatus::Code(0))
    );
    assert_eq!(child.leftovers().len(), 1);
}

#[test]
fn bytes_on_stdin_are_refused_for_a_long_lived_child() {
    assert!(
        shell("cat")
            .stdin(Stdin::Bytes(b"x".to_vec()))
            .spawn()
            .is_err()
    );
}
