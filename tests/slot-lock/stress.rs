//! Never more than N holders, whatever is killed, stopped, removed or renumbered.
//!
//! `BATON_STRESS=64x2000` runs the whole; without it a part, larger where `CI` is set.

use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::choosing::{health, provider};
use crate::kit::Slots;
use crate::observer::Observer;
use crate::support::tool_path;

/// How many processes at once, and how many acquisitions each.
fn size() -> (usize, usize) {
    let ci = std::env::var_os("CI").is_some();
    let text = std::env::var("BATON_STRESS");
    let text = text.unwrap_or_else(|_| if ci { "64x50" } else { "32x8" }.into());
    let (processes, each) = text.split_once('x').unwrap();
    (processes.parse().unwrap(), each.parse().unwrap())
}

/// A small generator of chance (xorshift); the seed is printed, so a run can be repeated.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(limit).unwrap()).unwrap()
    }
}

/// The slot-locks that run now; the one who does mischief picks among them.
#[derive(Default)]
struct Running(Mutex<Vec<Pid>>);

impl Running {
    /// Runs a command to its end; its exit code, or none when it was killed.
    fn run(&self, command: &mut Command) -> Option<i32> {
        let mut child: Child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let pid = Pid::from_child(&child);
        self.0.lock().unwrap().push(pid);
        // Out of the list before it is reaped, so that no signal meets another process.
        let _ = rustix::process::waitid(
            rustix::process::WaitId::Pid(pid),
            rustix::process::WaitIdOptions::EXITED | rustix::process::WaitIdOptions::NOWAIT,
        );
        self.0.lock().unwrap().retain(|p| *p != pid);
        child.wait().unwrap().code()
    }

    fn signal_any(&self, chance: &mut Chance, signal: Signal) -> Option<Pid> {
        let running = self.0.lock().unwrap();
        let pid = *running.get(chance.below(running.len().max(1)))?;
        let _ = kill_process(pid, signal);
        Some(pid)
    }

    fn signal(&self, pid: Pid, signal: Signal) {
        if self.0.lock().unwrap().contains(&pid) {
            let _ = kill_process(pid, signal);
        }
    }
}

/// What the mischief does besides signals.
#[derive(Clone, Copy, PartialEq)]
enum Mischief {
    /// Removes files of the key's folder.
    Removing,
    /// Every third caller lives in a PID namespace of its own.
    Namespaces,
}

fn storm(mischief: Mischief, processes: usize, each: usize) {
    let slots = Slots::new();
    let observer = Observer::start();
    let running = Running::default();
    let done = AtomicBool::new(false);
    let served = AtomicUsize::new(0);
    let start_of_chance = u64::from(std::process::id()) * 7919 + 1;
    eprintln!("{processes} x {each}, seed {start_of_chance}");
    let tool = tool_path("slot-lock");
    let worker = |number: usize| {
        let mut chance =
            Chance(start_of_chance ^ (0x9e37_79b9 * (u64::try_from(number).unwrap() + 1)));
        for _ in 0..each {
            let limit = (2 + chance.below(2)).to_string();
            let inside = mischief == Mischief::Namespaces && number.is_multiple_of(3);
            let mut command = if inside {
                let mut command = Command::new("unshare");
                command.args(["--pid", "--fork", "--mount-proc"]).arg(&tool);
                command
            } else {
                Command::new(&tool)
            };
            command.args([
                "--key", "k", "--slots", &limit, "--wait", "120s", "-q", "--",
            ]);
            command.args(["bash", "-c", &observer.job("k", &limit, "0.002")]);
            command
                .env("BATON_LOCK_DIR", slots.directory())
                .env("HOME", slots.home.path());
            match running.run(&mut command) {
                Some(0) => drop(served.fetch_add(1, Ordering::Relaxed)),
                // Killed, or its command was.
                None | Some(130 | 137 | 143) => {}
                Some(code) => panic!("exit code {code}"),
            }
        }
    };
    let mischief_maker = || {
        let mut chance = Chance(start_of_chance);
        while !done.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(10));
            match chance.below(16) {
                0 => drop(running.signal_any(&mut chance, Signal::KILL)),
                1 => drop(running.signal_any(&mut chance, Signal::TERM)),
                2 => {
                    if let Some(pid) = running.signal_any(&mut chance, Signal::STOP) {
                        let millis = u64::try_from(chance.below(30)).unwrap();
                        std::thread::sleep(Duration::from_millis(millis));
                        running.signal(pid, Signal::CONT);
                    }
                }
                3 if mischief == Mischief::Removing => {
                    let entries = std::fs::read_dir(slots.file("")).into_iter().flatten();
                    let files: Vec<_> = entries.flatten().map(|e| e.path()).collect();
                    if let Some(file) = files.get(chance.below(files.len().max(1))) {
                        let _ = std::fs::remove_file(file);
                    }
                }
                _ => {}
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(mischief_maker);
        let workers: Vec<_> = (0..processes)
            .map(|n| scope.spawn(move || worker(n)))
            .collect();
        let failed = workers.into_iter().filter_map(|w| w.join().err()).count();
        done.store(true, Ordering::Relaxed);
        assert_eq!(failed, 0);
    });
    slots.until(0, 0);
    let seen = observer.finish();
    eprintln!(
        "served {}, seen {}, most at once {:?}",
        served.into_inner(),
        seen.jobs,
        seen.most
    );
    assert_eq!(seen.violations, Vec::<String>::new());
    assert!(seen.jobs >= processes * each / 4, "{seen:?}");
}

#[test]
fn l19_never_more_than_n_holders_under_kills_stops_and_removed_files() {
    let (processes, each) = size();
    storm(Mischief::Removing, processes, each);
}

#[test]
fn l19_never_more_than_n_holders_across_pid_namespaces() {
    let possible = Command::new("unshare")
        .args(["--pid", "--fork", "--mount-proc", "true"])
        .status();
    if !possible.is_ok_and(|s| s.success()) {
        eprintln!("skipped: needs unshare(1) and the right to make a PID namespace");
        return;
    }
    let (processes, each) = size();
    storm(Mischief::Namespaces, processes / 2, each);
}

#[test]
fn q01_two_choosers_at_the_same_instant_never_share_a_single_slot() {
    let rounds: usize = match std::env::var("BATON_STRESS") {
        Ok(_) => 10_000,
        Err(_) => 100,
    };
    let slots = Slots::new();
    let observer = Observer::start();
    let (a, b) = (
        provider("a", 1, &serde_json::json!({})),
        provider("b", 2, &serde_json::json!({})),
    );
    let forth = slots.home.path().join("forth.json");
    let back = slots.home.path().join("back.json");
    std::fs::write(&forth, health(&[a.clone(), b.clone()])).unwrap();
    std::fs::write(&back, health(&[b, a])).unwrap();
    let job = observer.job("$BATON_PROVIDER", "1", "0.001");
    let chooser = |candidates: &std::path::Path| {
        for _ in 0..rounds {
            let run = slots.run(&[
                "--candidates",
                candidates.to_str().unwrap(),
                "--ignore-server",
            ]);
            run.args(["--wait", "60s", "--", "bash", "-c", &job])
                .run()
                .code(0);
        }
    };
    std::thread::scope(|scope| {
        // Three for two slots, in opposite orders: one of them always waits in both queues.
        for candidates in [&forth, &back, &forth] {
            scope.spawn(|| chooser(candidates));
        }
    });
    let seen = observer.finish();
    assert_eq!(seen.violations, Vec::<String>::new());
    assert_eq!(seen.jobs, 3 * rounds, "{seen:?}");
}
