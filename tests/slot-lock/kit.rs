//! What the tests of slot-lock share: a slot that is held until told, looks through `/proc`.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::{Home, Run, eventually};

/// Long enough for anything that should happen at once on a loaded machine.
pub const SOON: Duration = Duration::from_secs(20);

/// The store this run of the suite is about, where it is not the local one; each test has a part of
/// it for itself.
pub const STORE: &str = "BATON_TEST_STORE";

/// A home with a directory of slot files and one key, `k`.
pub struct Slots {
    pub home: Home,
    store: Option<String>,
}

impl Slots {
    pub fn new() -> Self {
        let home = Home::new();
        let store = std::env::var(STORE).ok();
        let store = store.map(|root| {
            let part = home.path().file_name().unwrap().to_str().unwrap();
            format!("{root}/{}?ttl=10s", part.trim_start_matches('.'))
        });
        Self { home, store }
    }

    /// One more host of a cluster: a home of its own, and the same slots.
    pub fn on(store: &str) -> Self {
        Self {
            home: Home::new(),
            store: Some(store.to_owned()),
        }
    }

    /// What answers name as the place of the slots.
    pub fn place(&self) -> String {
        match &self.store {
            Some(store) => store.split('?').next().unwrap().to_owned(),
            None => self.directory().to_str().unwrap().to_owned(),
        }
    }

    /// The directory of slot files.
    pub fn directory(&self) -> PathBuf {
        self.home.path().join("locks")
    }

    /// A file of the key's folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.directory().join("k").join(name)
    }

    /// `slot-lock` with these words, in this directory.
    pub fn run(&self, words: &[&str]) -> Run {
        let run = Run::tool("slot-lock", &self.home).env("BATON_LOCK_DIR", self.directory());
        let run = match &self.store {
            Some(store) => run.env("BATON_STORE", store),
            None => run,
        };
        run.args(words)
    }

    /// One try to take a slot of `k` and run `true`: 0 or 75.
    pub fn try_once(&self, slots: &str) -> i32 {
        let words = ["--key", "k", "--slots", slots, "--wait", "0", "--", "true"];
        let ended = self.run(&words).run();
        let code = ended.code.unwrap();
        assert!(code == 0 || code == 75, "{ended:#?}");
        code
    }

    /// Takes a slot of `k` and holds it until told to stop.
    pub fn hold(&self, options: &[&str]) -> Holder {
        Holder::start(
            &self
                .run(options)
                .args(["--", "sh", "-c", "echo up; read x; exit 5"]),
        )
    }

    /// What `slot-lock status` says of `k`.
    pub fn status(&self) -> Value {
        let ended = self.run(&["status", "k"]).run();
        ended.json()["keys"][0].clone()
    }

    /// Waits until so many slots are held and so many wait.
    #[track_caller]
    pub fn until(&self, held: usize, waiting: usize) -> Value {
        eventually("the status", SOON, || {
            let status = self.status();
            let count = |key: &str| status[key].as_array().unwrap().len();
            (count("held") == held && count("waiting") == waiting).then_some(status)
        })
    }
}

/// A slot-lock whose command runs.
pub struct Holder {
    pub child: Child,
    stdin: Option<ChildStdin>,
    pub stdout: BufReader<ChildStdout>,
}

impl Holder {
    pub fn start(run: &Run) -> Self {
        let mut waiter = Self::launch(run.command());
        assert_eq!(waiter.line(), "up");
        waiter
    }

    /// Starts it without waiting for its slot.
    pub fn launch(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self {
            child,
            stdin,
            stdout,
        }
    }

    /// The next line the command prints.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Sends the command a line.
    pub fn tell(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// Tells the command to end and waits for slot-lock.
    pub fn finish(mut self) -> ExitStatus {
        drop(self.stdin.take().unwrap().write_all(b"\n"));
        self.child.wait().unwrap()
    }

    /// Closes the command's stdin, which ends it.
    pub fn close(&mut self) {
        self.stdin = None;
    }

    /// Closes the command's stdin and waits for whatever is left of slot-lock.
    pub fn wait(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    /// The command's process: the child that is not the keeper.
    pub fn command_pid(&self) -> Pid {
        self.child_where(|words| !words.contains("__keeper"))
    }

    /// The keeper's process.
    pub fn keeper_pid(&self) -> Pid {
        self.child_where(|words| words.contains("__keeper"))
    }

    /// The list of children is only right while none of them starts or ends.
    fn child_where(&self, is_it: impl Fn(&str) -> bool) -> Pid {
        eventually("the child", SOON, || {
            let own = cmdline(self.child.id());
            let found = children(self.child.id()).into_iter().find(|child| {
                let words = cmdline(*child);
                // A child that has not become its program yet has our own words.
                !words.is_empty() && words != own && is_it(&words)
            });
            Pid::from_raw(i32::try_from(found?).unwrap())
        })
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // The command ends by itself when its stdin closes.
        self.stdin = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn children(pid: u32) -> Vec<u32> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_whitespace()
        .map(|p| p.parse().unwrap())
        .collect()
}

pub fn cmdline(pid: u32) -> String {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace('\0', " ")
}

/// Whether the process lives and is no zombie.
pub fn is_alive(pid: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    stat.is_ok_and(|s| !s.rsplit_once(')').unwrap().1.trim_start().starts_with('Z'))
}

/// The descriptors of a process that lead below a directory.
pub fn descriptors_below(pid: u32, dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/fd")) else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| fs::read_link(entry.ok()?.path()).ok())
        .filter(|target| target.starts_with(dir))
        .collect()
}
