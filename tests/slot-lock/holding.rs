//! A slot is held exactly as long as the command lives.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};

use crate::kit::{Holder, SOON, Slots, children, descriptors_below, is_alive};
use crate::support::eventually;

const ONE: [&str; 4] = ["--key", "k", "--slots", "1"];

#[test]
fn the_commands_code_and_streams_are_its_own() {
    let slots = Slots::new();
    let words = [
        "--key",
        "k",
        "--slots",
        "1",
        "--",
        "sh",
        "-c",
        "cat; echo err >&2; exit 42",
    ];
    let ended = slots.run(&words).stdin("through\n").run().code(42);
    assert_eq!(ended.stdout, "through\n");
    assert_eq!(ended.stderr, "err\n");
    let killed = ["--key", "k", "--slots", "1", "--", "sh", "-c", "kill -9 $$"];
    slots.run(&killed).run().code(137);
}

#[test]
fn a_command_that_cannot_start_leaves_nothing_held() {
    let slots = Slots::new();
    let run = |command: &str| slots.run(&ONE).args(["--", command]).run();
    run("/no/such/program").code(127).stderr_has("not found");
    run("/etc/passwd")
        .code(126)
        .stderr_has("cannot be executed");
    run("/").code(126);
    slots.until(0, 0);
    assert_eq!(slots.try_once("1"), 0);
}

#[test]
fn l01_a_daemon_the_command_leaves_behind_holds_nothing() {
    let slots = Slots::new();
    let script = "sleep 300 </dev/null >/dev/null 2>&1 & echo $!";
    let ended = slots
        .run(&ONE)
        .args(["--", "sh", "-c", script])
        .run()
        .code(0);
    let daemon = Pid::from_raw(ended.stdout.trim().parse().unwrap()).unwrap();
    assert!(is_alive(daemon));
    assert_eq!(slots.try_once("1"), 0);
    kill_process(daemon, Signal::KILL).unwrap();
    // Nor where nobody is left who could give the lock back: it is gone with the command.
    let script = "sleep 300 </dev/null >/dev/null 2>&1 & echo $!; read x";
    let run = slots.run(&ONE).args(["--", "sh", "-c", script]);
    let mut holder = Holder::launch(run.command());
    let daemon = Pid::from_raw(holder.line().parse().unwrap()).unwrap();
    holder.signal(Signal::KILL);
    holder.wait();
    assert_eq!(slots.try_once("1"), 75);
    holder.close();
    eventually("the slot is free", SOON, || {
        (slots.try_once("1") == 0).then_some(())
    });
    assert!(is_alive(daemon));
    kill_process(daemon, Signal::KILL).unwrap();
}

#[test]
fn l02_l03_the_command_has_no_descriptor_it_could_unlock() {
    let slots = Slots::new();
    let holder = slots.hold(&ONE);
    let command = u32::try_from(holder.command_pid().as_raw_nonzero().get()).unwrap();
    assert_eq!(
        descriptors_below(command, &slots.directory()),
        Vec::<std::path::PathBuf>::new()
    );
    // slot-lock and its keeper share the one that counts.
    let keeper = u32::try_from(holder.keeper_pid().as_raw_nonzero().get()).unwrap();
    assert_eq!(
        descriptors_below(keeper, &slots.directory()),
        [slots.file("slot-0")]
    );
    assert_eq!(slots.try_once("1"), 75);
    assert_eq!(holder.finish().code(), Some(5));
}

#[test]
fn killing_slot_lock_frees_nothing_while_its_command_lives() {
    let slots = Slots::new();
    let mut holder = slots.hold(&ONE);
    let command = holder.command_pid();
    holder.signal(Signal::KILL);
    assert_eq!(holder.wait().signal(), Some(9));
    assert!(is_alive(command));
    assert_eq!(slots.try_once("1"), 75);
    assert_eq!(slots.status()["held"][0]["life"], "ended");
    kill_process(command, Signal::KILL).unwrap();
    eventually("the slot is free", SOON, || {
        (slots.try_once("1") == 0).then_some(())
    });
}

#[test]
fn killing_the_keeper_frees_nothing_while_slot_lock_lives() {
    let slots = Slots::new();
    let holder = slots.hold(&ONE);
    kill_process(holder.keeper_pid(), Signal::KILL).unwrap();
    assert_eq!(slots.try_once("1"), 75);
    assert_eq!(holder.finish().code(), Some(5));
    assert_eq!(slots.try_once("1"), 0);
}

#[test]
fn no_process_is_left_behind() {
    let slots = Slots::new();
    let holder = slots.hold(&ONE);
    let keeper = holder.keeper_pid();
    assert_eq!(holder.finish().code(), Some(5));
    assert!(!is_alive(keeper));
}

#[test]
fn l04_a_label_that_names_a_living_process_holds_nothing() {
    let slots = Slots::new();
    let two = ["--key", "k", "--slots", "2"];
    let (first, second) = (slots.hold(&two), slots.hold(&two));
    assert_eq!(second.finish().code(), Some(5));
    // To the letter the label of one that lives, and holds the other slot.
    let label = fs::read_to_string(slots.file("slot-0")).unwrap();
    fs::write(slots.file("slot-1"), label).unwrap();
    assert_eq!(slots.try_once("2"), 0);
    assert_eq!(slots.try_once("1"), 75);
    first.finish();
}

#[test]
fn l05_an_empty_or_garbled_label_without_a_lock_is_a_free_slot() {
    let slots = Slots::new();
    for text in [
        "",
        "\0\0\0",
        "{\"v\":99,\"token\":1}",
        "999999\n",
        "displaced\n",
    ] {
        fs::create_dir_all(slots.file("")).unwrap();
        fs::write(slots.file("slot-0"), text).unwrap();
        assert_eq!(slots.try_once("1"), 0, "{text:?}");
    }
}

#[test]
fn l05_a_lock_with_a_garbled_label_is_a_held_slot() {
    let slots = Slots::new();
    fs::create_dir_all(slots.file("")).unwrap();
    fs::write(slots.file("slot-0"), "garbage").unwrap();
    let mut flock = Command::new("flock");
    flock
        .arg(slots.file("slot-0"))
        .args(["sh", "-c", "echo up; read x"]);
    let mut holder = Holder::launch(flock);
    assert_eq!(holder.line(), "up");
    assert_eq!(slots.try_once("1"), 75);
    let words = ["--key", "k", "--slots", "1", "--wait", "0", "--", "true"];
    slots
        .run(&words)
        .run()
        .code(75)
        .stderr_has("somebody unnamed");
    holder.finish();
    assert_eq!(slots.try_once("1"), 0);
}

#[test]
fn l06_l08_slot_files_are_never_removed_or_replaced() {
    let slots = Slots::new();
    assert_eq!(slots.try_once("1"), 0);
    let inode = || fs::metadata(slots.file("slot-0")).unwrap().ino();
    let before = inode();
    let mut holder = slots.hold(&ONE);
    holder.signal(Signal::KILL);
    holder.wait();
    drop(holder);
    eventually("the slot is free", SOON, || {
        (slots.try_once("1") == 0).then_some(())
    });
    assert_eq!(inode(), before);
}

#[test]
fn l07_l11_the_slots_of_killed_holders_are_free_at_once() {
    let slots = Slots::new();
    let holders: Vec<Holder> = (0..8)
        .map(|_| slots.hold(&["--key", "k", "--slots", "8"]))
        .collect();
    assert_eq!(slots.try_once("8"), 75);
    for holder in &holders {
        let (command, keeper) = (holder.command_pid(), holder.keeper_pid());
        for pid in [holder.pid(), keeper, command] {
            kill_process(pid, Signal::KILL).unwrap();
        }
    }
    let words = ["--key", "k", "--slots", "8", "--wait", "2s", "--", "true"];
    slots.run(&words).run().code(0);
    drop(holders);
}

#[test]
fn l12_status_names_the_process_that_holds() {
    let slots = Slots::new();
    let holder = slots.hold(&ONE);
    let status = slots.until(1, 0);
    let held = &status["held"][0];
    assert_eq!(held["holder"]["pid"], holder.child.id());
    assert_eq!(held["life"], "running");
    assert!(
        held["holder"]["command"]
            .as_str()
            .unwrap()
            .starts_with("sh -c echo up")
    );
    assert!(held["holder"]["start"].as_str().unwrap().contains(':'));
    holder.finish();
    // A wrapper that starts its work in the background and exits: its own life counts.
    let script = "(read x) & exit 0";
    slots
        .run(&ONE)
        .args(["--", "sh", "-c", script])
        .run()
        .code(0);
    slots.until(0, 0);
}

/// How a process has a file open, as open(2) names it, in octal digits.
fn open_flags(pid: u32, file: &std::path::Path) -> String {
    let entries = fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
    let fd = entries
        .flatten()
        .find(|e| fs::read_link(e.path()).is_ok_and(|l| l == file))
        .unwrap();
    let info = format!("/proc/{pid}/fdinfo/{}", fd.file_name().to_str().unwrap());
    let info = fs::read_to_string(info).unwrap();
    let flags = info.lines().find_map(|l| l.strip_prefix("flags:"));
    flags.unwrap().trim().to_owned()
}

#[test]
fn l16_slot_files_are_opened_for_reading_and_writing() {
    let slots = Slots::new();
    for how in ["made", "found"] {
        let holder = slots.hold(&ONE);
        let flags = open_flags(holder.child.id(), &slots.file("slot-0"));
        assert!(flags.ends_with('2'), "{how}: no O_RDWR: {flags}");
        holder.finish();
    }
}

#[test]
fn q09_the_slot_is_free_however_the_command_ends() {
    let slots = Slots::new();
    for script in [
        "exit 0",
        "exit 1",
        "kill -TERM $$",
        "kill -KILL $$",
        "exec /no/such",
    ] {
        let _ = slots.run(&ONE).args(["--", "sh", "-c", script]).run();
        assert_eq!(slots.try_once("1"), 0, "{script}");
    }
}

#[test]
fn a_removed_slot_file_does_not_let_a_second_one_in() {
    let slots = Slots::new();
    let holder = slots.hold(&ONE);
    fs::remove_file(slots.file("slot-0")).unwrap();
    assert_eq!(slots.try_once("1"), 75);
    // Not even after somebody made the file anew, nor with the whole directory gone.
    assert_eq!(slots.try_once("1"), 75);
    fs::remove_dir_all(slots.directory()).unwrap();
    assert_eq!(slots.try_once("1"), 75);
    holder.finish();
    assert_eq!(slots.try_once("1"), 0);
}

#[test]
fn a_keeper_outlives_slot_lock_and_then_ends() {
    let slots = Slots::new();
    let mut holder = slots.hold(&ONE);
    let (command, keeper) = (holder.command_pid(), holder.keeper_pid());
    holder.signal(Signal::KILL);
    holder.wait();
    assert!(is_alive(keeper));
    kill_process(command, Signal::KILL).unwrap();
    eventually("the keeper ends", SOON, || {
        (!is_alive(keeper)).then_some(())
    });
}

#[test]
fn below_a_holder_of_the_same_slots_its_slot_is_shared() {
    let slots = Slots::new();
    let inner = format!(
        "'{}' --key k --slots 1 --wait 0",
        crate::support::tool_path("slot-lock").display()
    );
    let outer = |script: &str| slots.run(&ONE).args(["--", "sh", "-c", script]).run();
    let shared = outer(&format!(
        "echo $BATON_SLOT_TOKEN; {inner} -- sh -c 'echo $BATON_SLOT_TOKEN'"
    ));
    let shared = shared.code(0);
    let tokens: Vec<&str> = shared.stdout.lines().collect();
    assert_eq!(tokens[0], tokens[1]);
    outer(&format!("{inner} --nested refuse -- true"))
        .code(75)
        .stderr_has("above this one");
    outer(&format!("{inner} --nested queue -- true")).code(75);
    // A token that was only inherited, of a slot that is free by now, shares nothing.
    let stale = slots
        .run(&ONE)
        .env("BATON_SLOTS_HELD", format!("{}@0@k", tokens[0]));
    let stale = stale
        .args(["--", "sh", "-c", "echo $BATON_SLOT_TOKEN"])
        .run()
        .code(0);
    assert_ne!(stale.stdout.trim(), tokens[0]);
}

#[test]
fn the_keeper_is_hidden_and_small() {
    let slots = Slots::new();
    let holder = slots.hold(&ONE);
    let keeper = holder.keeper_pid().as_raw_nonzero();
    assert_eq!(
        children(holder.child.id()).len(),
        2,
        "the command and one keeper"
    );
    let environment = fs::read(format!("/proc/{keeper}/environ")).unwrap();
    assert!(
        environment.is_empty(),
        "no key is kept in the keeper's environment"
    );
    holder.finish();
}

#[test]
fn a_removed_or_replaced_slot_file_is_found_again_by_its_second_name() {
    let slots = Slots::new();
    // The holder lives where the others cannot see it, so only the files can tell of it.
    let mut command = std::process::Command::new("unshare");
    command
        .args(["--pid", "--fork", "--mount-proc"])
        .arg(crate::support::tool_path("slot-lock"))
        .args(ONE)
        .args(["--", "sh", "-c", "echo up; read x"])
        .env("BATON_LOCK_DIR", slots.directory())
        .env("HOME", slots.home.path());
    let possible = std::process::Command::new("unshare")
        .args(["--pid", "--fork", "--mount-proc", "true"])
        .status();
    if !possible.is_ok_and(|status| status.success()) {
        eprintln!("skipped: needs unshare(1) and the right to make a PID namespace");
        return;
    }
    let mut holder = Holder::launch(command);
    assert_eq!(holder.line(), "up");
    // The takers live in a namespace of their own as well.
    let try_once = || {
        let mut command = std::process::Command::new("unshare");
        command
            .args(["--pid", "--fork", "--mount-proc"])
            .arg(crate::support::tool_path("slot-lock"))
            .args(ONE)
            .args(["--wait", "0", "-q", "--", "true"])
            .env("BATON_LOCK_DIR", slots.directory())
            .env("HOME", slots.home.path());
        command.status().unwrap().code()
    };
    fs::remove_file(slots.file("slot-0")).unwrap();
    assert_eq!(try_once(), Some(75), "removed");
    assert_eq!(try_once(), Some(75), "removed, and asked again");
    fs::write(slots.file("new"), "").unwrap();
    fs::rename(slots.file("new"), slots.file("slot-0")).unwrap();
    assert_eq!(try_once(), Some(75), "replaced");
    assert_eq!(try_once(), Some(75), "replaced, and asked again");
    holder.finish();
    assert_eq!(try_once(), Some(0));
    assert_eq!(slots.try_once("1"), 0);
}
