//! The store of several hosts, over real etcd processes.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::kit::{Holder, SOON, STORE, Slots};
use crate::members::Cluster;
use crate::support::eventually;

/// Tests of the local store that say nothing about its files: they hold for every store.
const SUITE: [&str; 37] = [
    "choosing::the_first_that_fits_and_is_free_is_taken_and_the_command_is_told",
    "choosing::stdin_belongs_to_the_command_when_the_candidates_come_from_a_file",
    "choosing::no_candidate_is_told_by_exit_code_and_report",
    "choosing::q01_unknown_is_not_free_unless_the_caller_says_go",
    "choosing::a_foreign_key_is_not_sent_to_the_chosen_server",
    "choosing::q10_the_assumed_number_of_slots_is_said",
    "choosing::q05_q06_a_slot_is_not_used_while_the_server_works_for_somebody_else",
    "choosing::another_candidate_is_taken_when_the_first_is_busy_with_others",
    "choosing::among_equals_the_least_recently_used_is_taken",
    "choosing::q12_a_server_that_swaps_models_serves_one_at_a_time",
    "choosing::tokens_are_reserved_in_the_pool_besides_the_slot",
    "holding::the_commands_code_and_streams_are_its_own",
    "holding::a_command_that_cannot_start_leaves_nothing_held",
    "holding::l01_a_daemon_the_command_leaves_behind_holds_nothing",
    "holding::killing_slot_lock_frees_nothing_while_its_command_lives",
    "holding::killing_the_keeper_frees_nothing_while_slot_lock_lives",
    "holding::q09_the_slot_is_free_however_the_command_ends",
    "holding::a_keeper_outlives_slot_lock_and_then_ends",
    "holding::below_a_holder_of_the_same_slots_its_slot_is_shared",
    "holding::the_keeper_is_hidden_and_small",
    "leases::a_lease_is_held_without_a_process_of_ours_and_given_back_by_its_token",
    "leases::a_lease_ends_with_its_holder",
    "leases::a_lease_for_the_parent_ends_with_the_shell_that_took_it",
    "leases::until_eof_ends_by_signal_and_by_time",
    "leases::the_slot_of_a_living_command_is_not_given_back_by_its_token",
    "leases::acquire_answers_75_with_a_document_when_nothing_is_free",
    "leases::q08_q09_max_hold_ends_the_command_and_what_it_started",
    "leases::the_keeper_enforces_max_hold_when_slot_lock_is_killed",
    "leases::l02_exec_becomes_the_command_and_the_slot_is_held_all_the_same",
    "waiting::a_wait_is_bounded_and_says_who_is_in_the_way",
    "waiting::q08_the_time_waited_is_in_the_report",
    "waiting::l20_the_third_of_three_takers_waits_and_then_gets_the_slot_at_once",
    "waiting::waiters_of_a_class_are_served_in_order",
    "waiting::interactive_goes_before_worker_before_batch",
    "waiting::slots_kept_for_people_are_not_given_to_workers",
    "waiting::one_try_never_overtakes_a_queue",
    "waiting::lowering_the_number_drains_and_raising_it_admits_at_once",
];

#[test]
fn the_suite_of_the_local_store_holds_over_etcd() {
    let Some(cluster) = Cluster::start(1) else {
        return;
    };
    let store = cluster.store("suite", 10);
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--test-threads=4"])
        .args(SUITE)
        .env(STORE, store.split('?').next().unwrap())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert!(text.contains(&format!("{} passed", SUITE.len())), "{text}");
}

/// A holder whose complaints go to a file.
fn hold(slots: &Slots, options: &[&str], script: &str) -> (Holder, PathBuf) {
    let said = slots.home.path().join(format!(
        "said-{}",
        fs::read_dir(slots.home.path()).unwrap().count()
    ));
    let run = slots.run(&["--key", "k", "--slots", "1"]).args(options);
    let run = run.args(["--", "sh", "-c", script]);
    let inner = run.command();
    let mut command = Command::new("sh");
    command
        .args(["-c", "said=$1; shift; exec \"$@\" 2> \"$said\"", "sh"])
        .arg(&said)
        .arg(inner.get_program())
        .args(inner.get_args());
    command.env_clear();
    for (name, value) in inner.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    let mut holder = Holder::launch(command);
    assert_eq!(holder.line(), "up");
    (holder, said)
}

fn until_said(file: &PathBuf, words: &str) {
    eventually(words, Duration::from_secs(60), || {
        let text = fs::read_to_string(file).unwrap();
        text.contains(words).then_some(())
    });
}

pub const WAIT: &str = "echo up; read x; exit 5";

#[test]
fn a_lost_lease_is_told_and_the_same_slot_is_taken_again() {
    let Some(cluster) = Cluster::start(1) else {
        return;
    };
    let slots = Slots::on(&cluster.store("a", 6));
    let (holder, said) = hold(&slots, &[], WAIT);
    cluster.revoke_all_leases();
    until_said(&said, "slot 0 was free and is ours again");
    assert_eq!(slots.try_once("1"), 75);
    assert_eq!(holder.finish().code(), Some(5), "the command went on");
    assert_eq!(slots.try_once("1"), 0);
}

#[test]
fn a_slot_that_another_has_by_now_is_told_as_overbooked() {
    let Some(cluster) = Cluster::start(1) else {
        return;
    };
    let slots = Slots::on(&cluster.store("b", 6));
    let (first, said) = hold(&slots, &[], WAIT);
    let waiting = slots.run(&["--key", "k", "--slots", "1", "--wait", "60s"]);
    let mut second = Holder::launch(waiting.args(["--", "sh", "-c", WAIT]).command());
    slots.until(1, 1);
    // The slot's own lease, not the waiter's.
    let key = cluster
        .etcdctl(&["get", "--prefix", "b/k/slot/", "-w", "json"])
        .unwrap();
    let key: serde_json::Value = serde_json::from_str(&key).unwrap();
    let lease = format!("{:x}", key["kvs"][0]["lease"].as_i64().unwrap());
    cluster.etcdctl(&["lease", "revoke", &lease]).unwrap();
    assert_eq!(second.line(), "up");
    until_said(&said, "overbooked");
    assert_eq!(first.finish().code(), Some(5));
    assert_eq!(
        slots.try_once("1"),
        75,
        "the end of the first freed nothing"
    );
    second.finish();
    assert_eq!(slots.try_once("1"), 0);
}

#[test]
fn a_command_is_ended_before_another_can_have_its_slot() {
    let Some(cluster) = Cluster::start(1) else {
        return;
    };
    let slots = Slots::on(&cluster.store("c", 3));
    let (mut holder, said) = hold(
        &slots,
        &["--on-lost", "end"],
        "trap '' TERM; echo up; sleep 600",
    );
    cluster.signal(0, Signal::STOP);
    let start = Instant::now();
    let ended = holder.wait();
    let took = start.elapsed();
    cluster.signal(0, Signal::CONT);
    assert_eq!(ended.code(), Some(75));
    until_said(&said, "--on-lost end");
    assert!(took < SOON, "{took:?}");
}

#[test]
fn the_keeper_keeps_the_lease_when_slot_lock_is_killed_or_stopped() {
    let Some(cluster) = Cluster::start(1) else {
        return;
    };
    // Both at once, for it takes longer than a lease lives.
    std::thread::scope(|scope| {
        for signal in [Signal::KILL, Signal::STOP] {
            let slots = Slots::on(&cluster.store(&format!("keep{}", signal.as_raw()), 12));
            scope.spawn(move || outlive(&slots, signal));
        }
    });
}

fn outlive(slots: &Slots, signal: Signal) {
    let (mut holder, _) = hold(slots, &[], WAIT);
    holder.signal(signal);
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(15) {
        assert_eq!(slots.try_once("1"), 75, "{signal:?}");
    }
    if signal == Signal::STOP {
        holder.signal(Signal::CONT);
        assert_eq!(holder.finish().code(), Some(5));
    } else {
        holder.close();
    }
    eventually("the slot is free", SOON, || {
        (slots.try_once("1") == 0).then_some(())
    });
}

#[test]
fn a_cluster_that_is_away_is_69_or_this_host_alone_by_choice() {
    let slots = Slots::on("etcd://127.0.0.1:1/x");
    let words = ["--key", "k", "--slots", "1", "--", "true"];
    slots
        .run(&words)
        .run()
        .code(69)
        .stderr_has("etcd cannot be reached");
    let report = slots.home.path().join("r.json");
    let local = [
        "--on-unavailable",
        "local",
        "--report",
        report.to_str().unwrap(),
    ];
    let words: Vec<&str> = local.into_iter().chain(words).collect();
    slots
        .run(&words)
        .run()
        .code(0)
        .stderr_has("this host alone");
    let document = fs::read_to_string(report).unwrap();
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    assert_eq!(document["directory"], slots.directory().to_str().unwrap());
    assert!(
        document["notes"][0]
            .as_str()
            .unwrap()
            .contains("this host alone"),
        "{document}"
    );
}
