//! A cluster of three members that are killed, stopped and compacted while three hosts share slots.
//!
//! `BATON_STRESS=20x500` runs 20 takers with 500 acquisitions each; without it a part.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rustix::process::Signal;

use crate::etcd::Cluster;
use crate::kit::Slots;
use crate::observer::Observer;

fn size() -> (usize, usize) {
    let text = std::env::var("BATON_STRESS").unwrap_or_else(|_| "6x6".into());
    let (takers, each) = text.split_once('x').unwrap();
    (takers.parse().unwrap(), each.parse().unwrap())
}

/// One round of mischief with a member: it is killed and comes back, or is frozen for longer than a
/// lease lives, or the history is compacted.
fn mischief(cluster: &mut Cluster, round: usize) {
    let member = round % 3;
    match round % 4 {
        0 => cluster.restart(member),
        1 => {
            cluster.signal(member, Signal::STOP);
            std::thread::sleep(Duration::from_secs(4));
            cluster.signal(member, Signal::CONT);
        }
        2 => {
            let answer = cluster
                .etcdctl(&["get", "x", "-w", "json"])
                .unwrap_or_default();
            let answer: serde_json::Value = serde_json::from_str(&answer).unwrap_or_default();
            let revision = answer["header"]["revision"].to_string();
            drop(cluster.etcdctl(&["compact", &revision]));
        }
        _ => {}
    }
}

#[test]
fn never_more_than_n_holders_on_three_hosts_while_members_die() {
    let Some(mut cluster) = Cluster::start(3) else {
        return;
    };
    let (takers, each) = size();
    let observer = Observer::start();
    let store = cluster.store("storm", 9);
    let hosts = [Slots::on(&store), Slots::on(&store), Slots::on(&store)];
    let (served, done) = (AtomicUsize::new(0), AtomicBool::new(false));
    let job = observer.job("k", "2", "0.02");
    let taker = |number: usize| {
        for _ in 0..each {
            let words = [
                "--key",
                "k",
                "--slots",
                "2",
                "--wait",
                "120s",
                "--on-lost",
                "end",
                "-q",
                "--",
                "bash",
                "-c",
                &job,
            ];
            let run = hosts[number % 3].run(&words);
            let mut command: Command = run.command();
            let status = command
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .unwrap();
            match status.code() {
                Some(0) => drop(served.fetch_add(1, Ordering::Relaxed)),
                // The cluster was away, or the slot was lost.
                Some(69 | 75) => {}
                other => panic!("exit code {other:?}"),
            }
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..takers).map(|n| scope.spawn(move || taker(n))).collect();
        let mischief_maker = scope.spawn(|| {
            for round in 0.. {
                if done.load(Ordering::Relaxed) {
                    break;
                }
                mischief(&mut cluster, round);
                std::thread::sleep(Duration::from_millis(500));
            }
        });
        let failed = workers.into_iter().filter_map(|w| w.join().err()).count();
        done.store(true, Ordering::Relaxed);
        mischief_maker.join().unwrap();
        assert_eq!(failed, 0);
    });
    let seen = observer.finish();
    let served = served.into_inner();
    eprintln!("served {served}, seen {}, most {:?}", seen.jobs, seen.most);
    assert_eq!(seen.violations, Vec::<String>::new());
    assert!(served >= takers * each / 4, "{served}: {seen:?}");
}
