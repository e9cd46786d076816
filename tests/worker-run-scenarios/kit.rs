//! One scenario: what the server does, how the run must end.

use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Home, Run, Sim, repository};

pub const CALC: &str = "\"\"\"Small calculator.\"\"\"\n\n\ndef add(a, b):\n    return a - b\n\n\ndef mul(a, b):\n    return a * b\n";
const TEST: &str = "from calc import add, mul\n\nassert add(2, 3) == 5, add(2, 3)\nassert mul(2, 3) == 6\nprint(\"ok\")\n";

pub fn read() -> Value {
    json!({"say": "I read the file.", "calls": [{"read": "calc.py"}]})
}

pub fn edit() -> Value {
    edit_of("    return a - b", "    return a + b")
}

pub fn edit_of(old: &str, new: &str) -> Value {
    json!({"say": "I fix it.", "calls": [{"edit": "calc.py", "old": old, "new": new}]})
}

pub fn bash(command: &str) -> Value {
    json!({"say": "I run it.", "calls": [{"bash": command}]})
}

pub fn done() -> Value {
    json!({"calls": [{"done": "Done: I changed `a - b` to `a + b` in calc.py and `python3 test.py` passes."}]})
}

/// Read, edit, run the test, done.
pub fn four() -> Vec<Value> {
    vec![read(), edit(), bash("python3 test.py"), done()]
}

/// A scenario, put together step by step.
#[must_use]
pub struct Scenario {
    name: &'static str,
    rules: Vec<Value>,
    server: Vec<OsString>,
    limits: Value,
    files: Vec<(&'static str, String)>,
    window: Option<&'static str>,
}

/// How a run ended.
pub struct Ended {
    pub handoff: Value,
    pub requests: Vec<Value>,
    pub calc: String,
}

impl Scenario {
    /// The four steps against a server without any fault.
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            rules: vec![json!({"step": four()})],
            server: Vec::new(),
            limits: json!({"wall_ms": 60_000, "idle_ms": 20_000, "request_ms": 30_000, "queue_ms": 1500}),
            files: Vec::new(),
            window: None,
        }
    }

    /// These answers by turn; the last one also serves every later turn.
    pub fn steps(mut self, steps: Vec<Value>) -> Self {
        self.rules = vec![json!({"step": Value::Array(steps)})];
        self
    }

    /// This rule before the others.
    pub fn first(mut self, rule: Value) -> Self {
        self.rules.insert(0, rule);
        self
    }

    /// Faults of the server, `NAME` or `NAME@2..`.
    pub fn faults(mut self, faults: &[&str]) -> Self {
        for fault in faults {
            self.server.extend(["--fault".into(), fault.into()]);
        }
        self
    }

    pub fn server(mut self, args: &[&str]) -> Self {
        self.server.extend(args.iter().map(OsString::from));
        self
    }

    /// Tells the worker the window, as slot-lock would.
    pub fn window(mut self, tokens: &'static str) -> Self {
        self.window = Some(tokens);
        self
    }

    pub fn limit(mut self, name: &str, value: u64) -> Self {
        self.limits[name] = json!(value);
        self
    }

    pub fn file(mut self, path: &'static str, text: String) -> Self {
        self.files.push((path, text));
        self
    }

    /// The place and the server, before the run.
    pub fn set(self) -> Set {
        let mut files = vec![("calc.py", CALC), ("test.py", TEST)];
        files.extend(self.files.iter().map(|(path, text)| (*path, text.as_str())));
        let (home, repo) = (Home::new(), repository(&files));
        let script = home.path().join("script.json");
        std::fs::write(&script, json!({"rule": self.rules}).to_string()).unwrap();
        let mut server = self.server;
        server.extend(["--script".into(), script.into_os_string()]);
        let sim = Sim::start(server);
        let task = json!({
            "schema": "task/1", "id": self.name, "scope": {"write": ["**"]}, "limits": self.limits,
            "prompt": "The function add in calc.py is wrong. Fix it so that `python3 test.py` passes, then say done.",
            "verify": [{"command": "python3 test.py"}],
        });
        let run = Run::tool("worker-run", &home)
            .server(&sim.base_url)
            .cwd(repo.path())
            .args(["--no-slot", "--check-every", "end", "--pack", "none"])
            .args(self.window.iter().flat_map(|tokens| ["--context", tokens]))
            .stdin(task.to_string());
        Set {
            name: self.name,
            home,
            repo,
            sim,
            run,
        }
    }

    /// Runs it to its end, which must be this one.
    #[track_caller]
    pub fn ends(self, status: &str, code: i32) -> Ended {
        self.set().ends(status, code)
    }
}

/// A scenario ready to run.
pub struct Set {
    pub name: &'static str,
    pub home: Home,
    pub repo: tempfile::TempDir,
    pub sim: Sim,
    pub run: Run,
}

impl Set {
    #[track_caller]
    pub fn ends(self, status: &str, code: i32) -> Ended {
        let start = Instant::now();
        let run = self.run.run();
        let wall = start.elapsed();
        let handoff: Value = serde_json::from_str(run.stdout.trim())
            .unwrap_or_else(|e| panic!("{}: no hand-off: {e}: {run:#?}", self.name));
        let requests = requests(&self.sim);
        eprintln!(
            "{:<16} {:<13} {:>4} {:>6.2} s {:>3} requests",
            self.name,
            handoff["status"].as_str().unwrap_or("?"),
            run.code.unwrap_or(-1),
            wall.as_secs_f64(),
            requests.len(),
        );
        assert_eq!(handoff["status"], status, "{}: {handoff:#}", self.name);
        let run = run.code(code);
        assert!(run.stderr.lines().count() < 20, "{}: {run:#?}", self.name);
        Ended {
            handoff,
            requests,
            calc: text(&self.repo.path().join("calc.py")),
        }
    }
}

impl Ended {
    /// The task is solved, with so many requests.
    #[track_caller]
    pub fn solved(self, requests: usize) -> Self {
        assert!(self.calc.contains("return a + b"), "{}", self.calc);
        assert_eq!(self.requests.len(), requests, "{:#}", self.handoff);
        self
    }

    /// Nothing of the user's changed.
    #[track_caller]
    pub fn untouched(self) -> Self {
        assert_eq!(self.calc, CALC);
        assert_eq!(self.handoff["files_changed"], json!([]));
        self
    }

    /// The newest tool result of a request, or its last message.
    pub fn last_message(&self, request: usize) -> &str {
        let messages = self.requests[request]["body"]["messages"]
            .as_array()
            .unwrap();
        messages.last().unwrap()["content"].as_str().unwrap()
    }

    /// The tokens of a request's prompt, as the server counted them.
    pub fn prompt_tokens(&self, request: usize) -> u64 {
        self.requests[request]["prompt_tokens"].as_u64().unwrap()
    }
}

pub fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// The chat requests the server saw.
pub fn requests(sim: &Sim) -> Vec<Value> {
    let body = crate::support::get(&format!("{}/sim/requests", sim.root()));
    let value: Value = serde_json::from_str(&body).unwrap();
    let list = value.get("requests").cloned().unwrap_or(value);
    let chats = list.as_array().unwrap().iter();
    chats.filter(|r| !r["chat"].is_null()).cloned().collect()
}

/// A length that no other process sleeps for.
pub fn odd_seconds(seed: u32) -> String {
    format!("{seed}{}", std::process::id())
}

/// Waits until no process sleeps for exactly so long.
#[track_caller]
pub fn nobody_sleeps(seconds: &str) {
    let line = format!("sleep\0{seconds}\0");
    crate::support::eventually("no child is left", Duration::from_secs(30), || {
        let asleep = std::fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| std::fs::read(entry.ok()?.path().join("cmdline")).ok())
            .any(|cmdline| cmdline == line.as_bytes());
        (!asleep).then_some(())
    });
}
