//! A cluster of three members under mischief while three hosts share its slots.
//!
//! `BATON_STRESS=20x500` runs 20 takers with 500 acquisitions each; without it a part. Wherever a
//! member, a host or a network is, an observer outside counts who works at once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::kit::Slots;
use crate::members::Cluster;
use crate::observer::Observer;
use crate::support::eventually;

/// Seconds a lease lives. What is to take longer than that takes this and half of it again.
const TTL: u32 = 3;
const LONGER: Duration = Duration::from_millis(4_500);

/// How many takers, and how many acquisitions each has at the least.
fn size() -> (usize, usize) {
    let text = std::env::var("BATON_STRESS").unwrap_or_else(|_| "6x6".into());
    let (takers, each) = text.split_once('x').unwrap();
    (takers.parse().unwrap(), each.parse().unwrap())
}

fn is_big() -> bool {
    std::env::var_os("BATON_STRESS").is_some()
}

/// Kinds of mischief.
const KINDS: usize = 6;

/// One round of it.
fn mischief(cluster: &mut Cluster, round: usize) {
    let member = round / KINDS % 3;
    let others = [(member + 1) % 3, (member + 2) % 3];
    let end = |member: usize| format!("m{member}");
    match round % KINDS {
        // It is killed and comes back, and has forgotten its tokens.
        0 => cluster.restart(member),
        1 => {
            // Whoever leads is frozen for longer than a lease lives.
            let leader = cluster.leader().unwrap_or(member);
            cluster.signal(leader, Signal::STOP);
            std::thread::sleep(LONGER);
            cluster.signal(leader, Signal::CONT);
        }
        2 => {
            let answer = cluster.etcdctl(&["get", "x", "-w", "json"]);
            let answer = answer.unwrap_or_default();
            let answer: serde_json::Value = serde_json::from_str(&answer).unwrap_or_default();
            let revision = answer["header"]["revision"].to_string();
            drop(cluster.etcdctl(&["compact", &revision]));
        }
        3 => {
            // A member is cut off from the others, and every host still reaches it.
            for other in others {
                cluster.wires().cut(&end(member), &end(other));
            }
            std::thread::sleep(LONGER);
            cluster.wires().mend();
        }
        4 => {
            // A member and a host are together on the smaller side of a network that fell apart.
            for other in others {
                cluster.wires().cut(&end(member), &end(other));
                cluster.wires().cut(&format!("h{member}"), &end(other));
                cluster.wires().cut(&format!("h{other}"), &end(member));
            }
            std::thread::sleep(LONGER);
            cluster.wires().mend();
        }
        // Every token given so far is refused from now on.
        _ => drop(cluster.etcdctl(&["role", "add", &format!("r{round}")])),
    }
}

/// A cluster whose users must log in, and three hosts, each with wires and files of its own.
struct Scene {
    cluster: Cluster,
    hosts: Vec<Slots>,
}

impl Scene {
    fn set(prefix: &str) -> Option<Self> {
        let mut cluster = Cluster::start_wired(3)?;
        cluster.want_users("root", "rootpw");
        let store = |host| cluster.wired_store(&format!("h{host}"), prefix, TTL);
        let hosts = (0..3).map(|host| Slots::on(&store(host))).collect();
        Some(Self { cluster, hosts })
    }
}

/// One acquisition; its exit code. What it says goes to a file.
fn take(slots: &Slots, options: &[&str], job: &str, said: &Path) -> i32 {
    let run = slots.run(&["--key", "k", "--slots", "2", "--wait", "120s"]);
    let run = run.args(options).args(["--", "bash", "-c", job]);
    let mut command: Command = run.env("ETCDCTL_USER", "root:rootpw").command();
    let status = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(fs::File::create(said).unwrap())
        .status()
        .unwrap();
    status.code().unwrap()
}

#[test]
fn never_more_than_n_holders_on_three_hosts_whatever_happens_to_the_members() {
    let Some(scene) = Scene::set("storm") else {
        return;
    };
    let Scene { mut cluster, hosts } = scene;
    let (takers, each) = size();
    let observer = Observer::start();
    let (served, done, rounds) = (
        AtomicUsize::new(0),
        AtomicBool::new(false),
        AtomicUsize::new(0),
    );
    let job = observer.job("k", "2", "0.02");
    let long_job = observer.job("k", "2", "3");
    // Halves of seconds between two rounds.
    let (long_every, rest) = if is_big() { (100, 10) } else { (10, 1) };
    let codes = std::sync::Mutex::new(std::collections::BTreeMap::<i32, usize>::new());
    let taker = |number: usize| {
        let host = &hosts[number % 3];
        let said = host.home.path().join(format!("said-{number}"));
        for turn in 0.. {
            if turn >= each && rounds.load(Ordering::Relaxed) >= KINDS {
                break;
            }
            // Most are brief; some are there for the whole of a round.
            let job = if turn % long_every == 9 {
                &long_job
            } else {
                &job
            };
            let code = take(host, &["--on-lost", "end"], job, &said);
            *codes.lock().unwrap().entry(code).or_default() += 1;
            match code {
                0 => drop(served.fetch_add(1, Ordering::Relaxed)),
                // The cluster was away, or the slot was lost.
                69 | 75 => {}
                other => panic!("{other}: {}", fs::read_to_string(&said).unwrap()),
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
                rounds.store(round + 1, Ordering::Relaxed);
                if is_big() {
                    let served = served.load(Ordering::Relaxed);
                    eprintln!("{served} served after round {round}");
                }
                std::thread::sleep(Duration::from_millis(500) * rest);
            }
        });
        let failed = workers.into_iter().filter_map(|w| w.join().err()).count();
        done.store(true, Ordering::Relaxed);
        mischief_maker.join().unwrap();
        assert_eq!(failed, 0);
    });
    let seen = observer.finish();
    let served = served.into_inner();
    eprintln!(
        "{served} served, {} seen, most at once {:?}, rounds {}, exit codes {:?}",
        seen.jobs,
        seen.most,
        rounds.into_inner(),
        codes.into_inner().unwrap()
    );
    assert_eq!(seen.violations, Vec::<String>::new());
    assert!(served >= takers * each / 4, "{served}: {seen:?}");
}

#[test]
fn whoever_works_beside_more_than_n_says_so() {
    let Some(Scene { cluster, hosts }) = Scene::set("warned") else {
        return;
    };
    let observer = Observer::start();
    let done = AtomicBool::new(false);
    let turns = AtomicUsize::new(0);
    let rounds = if is_big() { 12 } else { 1 };
    let said = |name: &str| -> PathBuf { hosts[0].home.path().join(name) };
    let taker = |number: usize| {
        let host = number % 3;
        while !done.load(Ordering::Relaxed) {
            let turn = turns.fetch_add(1, Ordering::Relaxed);
            let name = format!("said-{turn}");
            // From shorter than a keep-alive to longer than a lease, and then a file tells of it. Some
            // end while their host is still cut off, some after that.
            let long = if is_big() && turn % 2 == 1 { "8" } else { "5" };
            let seconds = ["0.3", "2", long][number / 3 % 3];
            let mut job = observer.named_job("k", "2", &name, seconds);
            if seconds == long {
                let there = said(&format!("there-{host}"));
                let there = there.display();
                job = format!("touch {there}; {job}; rm {there}");
            }
            take(&hosts[host], &["--on-lost", "warn"], &job, &said(&name));
        }
    };
    let start = Instant::now();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..9).map(|n| scope.spawn(move || taker(n))).collect();
        for round in 0..rounds {
            let host = round % 3;
            // The host's holder works on while its slot is given to others.
            eventually("a long job", Duration::from_secs(120), || {
                said(&format!("there-{host}")).exists().then_some(())
            });
            for member in 0..3 {
                cluster
                    .wires()
                    .cut(&format!("h{host}"), &format!("m{member}"));
            }
            std::thread::sleep(LONGER + LONGER / 2);
            cluster.wires().mend();
        }
        done.store(true, Ordering::Relaxed);
        let failed = workers.into_iter().filter_map(|w| w.join().err()).count();
        assert_eq!(failed, 0);
    });
    let seen = observer.finish();
    let is_announced = |name: &String| {
        let text = fs::read_to_string(said(name)).unwrap();
        text.contains("overbooked") || text.contains("could not be kept")
    };
    eprintln!(
        "{} seen, most at once {:?}, {} overbooked, {:?}",
        seen.jobs,
        seen.most,
        seen.meetings.len(),
        start.elapsed()
    );
    for (names, too_many) in &seen.meetings {
        let announced = names.iter().filter(|name| is_announced(name)).count();
        let texts = || names.iter().map(|name| fs::read_to_string(said(name)));
        assert!(
            announced >= *too_many,
            "{names:?}: {:?}",
            texts().collect::<Vec<_>>()
        );
    }
}
