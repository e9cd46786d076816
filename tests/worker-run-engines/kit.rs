//! A small repository, a simulated server, and agents that are shell scripts.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{self, Home, Run, Sim, repository};

pub const CALC: &str = "def add(a, b):\n    return a - b\n";
const TEST: &str = "from calc import add\nassert add(2, 3) == 5, add(2, 3)\n";

/// `ask TEXT` in an agent's script: one request that is not streamed; prints the answer's body.
const ASK: &str = r#"
ask() {
    jq -n --arg text "$1" '{model: "whatever", messages: [{role: "user", content: $text}]}' |
        curl -sS --max-time 100 -H "Authorization: Bearer $OPENAI_API_KEY" \
            -H 'Content-Type: application/json' -d @- "$OPENAI_BASE_URL/chat/completions"
}
"#;

/// A place with a task in it.
pub struct Place {
    pub home: Home,
    pub repo: tempfile::TempDir,
    pub sim: Sim,
    limits: Value,
    write: Vec<&'static str>,
    role: &'static str,
}

impl Place {
    /// A server whose model answers by this script.
    pub fn new(script: &Value, server: &[&str]) -> Self {
        let home = Home::new();
        let file = home.path().join("script.json");
        std::fs::write(&file, script.to_string()).unwrap();
        let mut args: Vec<std::ffi::OsString> = vec!["--script".into(), file.into_os_string()];
        args.extend(server.iter().map(Into::into));
        Self {
            home,
            repo: repository(&[
                ("calc.py", CALC),
                ("test.py", TEST),
                ("other.txt", "mine\n"),
            ]),
            sim: Sim::start(args),
            limits: json!({"wall_ms": 60_000, "idle_ms": 20_000, "request_ms": 30_000, "queue_ms": 1500}),
            write: vec!["calc.py"],
            role: "implementer",
        }
    }

    /// A server whose model always says the same.
    pub fn saying(text: &str) -> Self {
        Self::new(&json!({"rule": [{"answer": {"say": text}}]}), &[])
    }

    pub fn limit(mut self, name: &str, value: u64) -> Self {
        self.limits[name] = json!(value);
        self
    }

    pub fn role(mut self, role: &'static str) -> Self {
        self.role = role;
        self
    }

    /// worker-run on the task, without an engine yet.
    pub fn run(&self) -> Run {
        let verify = if self.role == "implementer" {
            json!([{"command": "python3 test.py"}])
        } else {
            json!([])
        };
        let task = json!({
            "schema": "task/1", "id": "t", "role": self.role, "limits": self.limits, "verify": verify,
            "scope": {"write": self.write}, "prompt": "Fix add() in calc.py."});
        Run::tool("worker-run", &self.home)
            .server(&self.sim.base_url)
            .cwd(self.repo.path())
            .arg("--no-slot")
            .stdin(task.to_string())
    }

    /// The same with an agent that is a bash script.
    pub fn agent(&self, script: &str) -> Run {
        let script = format!("set -u\n{ASK}\n{script}");
        self.run()
            .args(["--engine", "command", "--", "bash", "-c", &script])
    }

    pub fn calc(&self) -> String {
        std::fs::read_to_string(self.repo.path().join("calc.py")).unwrap()
    }

    /// The chat requests the server saw.
    pub fn requests(&self) -> Vec<Value> {
        let body = support::get(&format!("{}/sim/requests", self.sim.root()));
        let value: Value = serde_json::from_str(&body).unwrap();
        let list = value.get("requests").cloned().unwrap_or(value);
        let chats = list.as_array().unwrap().iter();
        chats.filter(|r| !r["chat"].is_null()).cloned().collect()
    }

    /// Waits until the server runs no request any more.
    pub fn is_idle(&self) {
        support::eventually("the slot is free", Duration::from_secs(30), || {
            let state = support::get(&format!("{}/sim/state", self.sim.root()));
            let state: Value = serde_json::from_str(&state).unwrap();
            (state["running"] == 0).then_some(())
        });
    }
}

/// A length that no other process sleeps for.
pub fn odd_seconds(seed: u32) -> String {
    format!("{seed}{}", std::process::id())
}

/// Waits until no process has this word in its command line.
#[track_caller]
pub fn nobody_has(word: &str) {
    support::eventually("no process is left", Duration::from_secs(30), || {
        let left = std::fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| std::fs::read(entry.ok()?.path().join("cmdline")).ok())
            .any(|cmdline| String::from_utf8_lossy(&cmdline).contains(word));
        (!left).then_some(())
    });
}
