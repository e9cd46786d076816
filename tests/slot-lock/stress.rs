//! Never more than N holders, whatever is killed, stopped, removed or renumbered.
//!
//! `BATON_STRESS=64x2000` runs the whole; without it a part, larger where `CI` is set.
//! `benches/slot-lock-storm.sh` runs it with an observer that costs next to nothing (a compiled
//! `BATON_STRESS_WITNESS`) and a release build (`BATON_STRESS_TOOL`).

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

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

/// The slot-lock that is stressed.
fn tool() -> PathBuf {
    std::env::var_os("BATON_STRESS_TOOL").map_or_else(|| tool_path("slot-lock"), Into::into)
}

/// Who watches from outside: a server every command is connected to, or a program that is the command
/// and finds out by locks of its own who else is there.
enum Outside {
    Server(Observer),
    Witness(PathBuf, TempDir),
}

impl Outside {
    fn start() -> Self {
        match std::env::var_os("BATON_STRESS_WITNESS") {
            Some(program) => Self::Witness(program.into(), TempDir::new().unwrap()),
            None => Self::Server(Observer::start()),
        }
    }

    /// The command that stays in its slot for some milliseconds; `group` as a shell says it.
    fn job(&self, group: &str, limit: &str, millis: u32) -> Vec<OsString> {
        match self {
            Self::Server(observer) => {
                let seconds = (f64::from(millis) / 1e3).to_string();
                let job = observer.job(group, limit, &seconds);
                ["bash", "-c", &job].map(Into::into).to_vec()
            }
            Self::Witness(program, folder) => vec![
                program.into(),
                folder.path().into(),
                limit.into(),
                millis.to_string().into(),
            ],
        }
    }

    /// How many commands came, and what was wrong.
    fn finish(self) -> (usize, Vec<String>) {
        match self {
            Self::Server(observer) => {
                let seen = observer.finish();
                (seen.jobs, seen.violations)
            }
            Self::Witness(_, folder) => {
                let read = |name: &str| std::fs::read_to_string(folder.path().join(name));
                let violations = read("violations").unwrap_or_default();
                let violations = violations.lines().map(str::to_owned).collect();
                (read("count").unwrap_or_default().len(), violations)
            }
        }
    }
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
    let observer = Outside::start();
    let running = Running::default();
    let done = AtomicBool::new(false);
    let served = AtomicUsize::new(0);
    let start_of_chance = u64::from(std::process::id()) * 7919 + 1;
    eprintln!("{processes} x {each}, seed {start_of_chance}");
    let tool = tool();
    let began = Instant::now();
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
            command.args(observer.job("k", &limit, 2));
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
    let (jobs, violations) = observer.finish();
    eprintln!(
        "served {}, seen {jobs}, violations {}, {} s",
        served.into_inner(),
        violations.len(),
        began.elapsed().as_secs()
    );
    assert_eq!(violations, Vec::<String>::new());
    assert!(jobs >= processes * each / 4, "{jobs}");
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
    let observer = Outside::start();
    let (a, b) = (
        provider("a", 1, &serde_json::json!({})),
        provider("b", 2, &serde_json::json!({})),
    );
    let forth = slots.home.path().join("forth.json");
    let back = slots.home.path().join("back.json");
    std::fs::write(&forth, health(&[a.clone(), b.clone()])).unwrap();
    std::fs::write(&back, health(&[b, a])).unwrap();
    let job = observer.job("$BATON_PROVIDER", "1", 1);
    let began = Instant::now();
    let chooser = |candidates: &std::path::Path| {
        for _ in 0..rounds {
            let mut command = Command::new(tool());
            command.arg("--candidates").arg(candidates);
            command.args(["--ignore-server", "--wait", "120s", "--"]);
            command.args(&job).stdout(Stdio::null());
            command
                .env("BATON_LOCK_DIR", slots.directory())
                .env("HOME", slots.home.path());
            assert_eq!(command.status().unwrap().code(), Some(0));
        }
    };
    std::thread::scope(|scope| {
        // Three for two slots, in opposite orders: one of them always waits in both queues.
        for candidates in [&forth, &back, &forth] {
            scope.spawn(|| chooser(candidates));
        }
    });
    let (jobs, violations) = observer.finish();
    eprintln!("{rounds} rounds, {} s", began.elapsed().as_secs());
    assert_eq!(violations, Vec::<String>::new());
    assert_eq!(jobs, 3 * rounds);
}
