//! SIGKILL of the orchestrator, of a worker and of the server itself, with the real tools: the server
//! comes back on its port, the run is resumed, and the end is the undisturbed one.
//!
//! `BATON_CHAOS=200` kills 200 times; without it, a few times.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::chaos::Dice;
use crate::served::{done, rule, write};
use crate::support::{self, Home, Run, eventually, git, repository};

const LONG: Duration = Duration::from_secs(60);

/// A server that can be killed and started again on its port.
struct Server {
    child: Child,
    port: u64,
}

impl Server {
    fn start(script: &Path, port: u64) -> Self {
        // The port of a server that was just killed may be busy for a moment.
        eventually("the server starts", LONG, || {
            let mut child = Command::new(support::sim_server_path())
                .args(["--port", &port.to_string(), "--script"])
                .arg(script)
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let mut line = String::new();
            let stdout = child.stdout.take().unwrap();
            BufReader::new(stdout).read_line(&mut line).unwrap();
            let Ok(hello) = serde_json::from_str::<Value>(&line) else {
                let _ = child.wait();
                return None;
            };
            let url = hello["base_url"].as_str().unwrap().trim_end_matches("/v1");
            let port = url.rsplit(':').next().unwrap().parse().unwrap();
            Some(Self { child, port })
        })
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const IDS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

fn plan() -> String {
    let task = |id: &str| {
        json!({"schema": "task/1", "id": id, "prompt": format!("Write {id}.txt please."),
               "scope": {"write": [format!("{id}.txt")]},
               "verify": [{"command": format!("test -f {id}.txt")}]})
    };
    let tasks: Vec<Value> = IDS.map(task).to_vec();
    json!({"schema": "plan/1", "goal": "six files", "tasks": tasks,
           "depends": [["a", "c"], ["b", "d"], ["c", "e"], ["d", "f"]]})
    .to_string()
}

struct Scene {
    home: Home,
    repo: tempfile::TempDir,
    server: Server,
    script: std::path::PathBuf,
}

impl Scene {
    fn new() -> Self {
        let home = Home::new();
        let script = home.path().join("script.json");
        let rules: Vec<Value> = IDS
            .iter()
            .map(|id| {
                let turns = [write(&format!("{id}.txt"), "x\n"), done("written")];
                rule(id, &format!("Write {id}.txt please."), &turns)
            })
            .collect();
        std::fs::write(&script, json!({"rule": rules}).to_string()).unwrap();
        std::fs::write(home.path().join("plan.json"), plan()).unwrap();
        Self {
            server: Server::start(&script, 0),
            repo: repository(&[("README.md", "x\n")]),
            home,
            script,
        }
    }

    fn start(&self, args: &[&str]) -> Child {
        let run = Run::tool("orchestrate", &self.home)
            .args(args)
            .cwd(self.repo.path())
            .server(&self.server.url());
        let mut command = run.command();
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.spawn().unwrap()
    }

    fn journal(&self) -> String {
        let runs = self.repo.path().join(".orchestrator/runs");
        let mut folders: Vec<_> = std::fs::read_dir(runs)
            .into_iter()
            .flatten()
            .flatten()
            .map(|e| e.path().join("journal.jsonl"))
            .collect();
        folders.sort();
        folders
            .pop()
            .and_then(|file| std::fs::read_to_string(file).ok())
            .unwrap_or_default()
    }

    /// Kills the process group of a worker that runs, if there is one.
    fn kill_a_worker(&self, dice: &mut Dice) {
        let output = Command::new("find")
            .arg(self.repo.path().join(".orchestrator/runs"))
            .args(["-name", "process.json"])
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let alive: Vec<u64> = text
            .lines()
            .filter_map(|file| std::fs::read_to_string(file).ok())
            .filter_map(|text| serde_json::from_str::<Value>(&text).ok())
            .filter_map(|identity| {
                let pid = identity["pid"].as_u64()?;
                let start = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
                let field = start.rsplit(") ").next()?.split(' ').nth(19)?.to_owned();
                (Some(field) == identity["start"].as_u64().map(|s| s.to_string())).then_some(pid)
            })
            .collect();
        if alive.is_empty() {
            return;
        }
        let chosen = alive[usize::try_from(dice.roll(alive.len() as u64)).unwrap()];
        if let Some(pid) = rustix::process::Pid::from_raw(i32::try_from(chosen).unwrap()) {
            let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
        }
    }
}

#[test]
fn chaos_with_the_real_tools_and_a_server_that_dies_too() {
    let wanted: u64 = std::env::var("BATON_CHAOS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(5);
    let mut dice = Dice::new(0x5DEE_CE66_D1CE_4E5B);
    let mut kills = 0;
    while kills < wanted {
        let mut scene = Scene::new();
        let plan = scene.home.path().join("plan.json").display().to_string();
        let mut child = scene.start(&["run", "--from", &plan, "--review", "off"]);
        eventually("the run is on record", LONG, || {
            scene.journal().contains("run_started").then_some(())
        });
        let mut here = 0;
        while here < 5 && kills < wanted {
            let at = scene.journal().lines().count() + 1 + usize::try_from(dice.roll(12)).unwrap();
            let ended = eventually("the journal grows or the run ends", LONG, || {
                let ended = child.try_wait().unwrap().is_some();
                (ended || scene.journal().lines().count() >= at).then_some(ended)
            });
            if ended {
                break;
            }
            match dice.roll(3) {
                0 => {
                    child.kill().unwrap();
                    child.wait().unwrap();
                    child = scene.start(&["resume"]);
                }
                1 => scene.kill_a_worker(&mut dice),
                _ => {
                    scene.server.kill();
                    scene.server = Server::start(&scene.script, scene.server.port);
                }
            }
            kills += 1;
            here += 1;
            let main = git(scene.repo.path(), &["ls-tree", "--name-only", "main"]);
            let files = main.lines().count();
            assert!(files == 1 || files == 7, "never between: {main}");
        }
        // A server that died too often for one attempt is what a person mends; then a resume goes on.
        let mut code = child.wait().unwrap().code();
        for _ in 0..5 {
            if code == Some(0) {
                break;
            }
            code = scene.start(&["resume"]).wait().unwrap().code();
        }
        let journal = scene.journal();
        assert_eq!(code, Some(0), "{journal}");
        let files = git(scene.repo.path(), &["ls-tree", "--name-only", "main"]);
        assert_eq!(
            files.replace('\n', " "),
            "README.md a.txt b.txt c.txt d.txt e.txt f.txt"
        );
        let commits = git(scene.repo.path(), &["rev-list", "--count", "main"]);
        assert_eq!(commits, "7", "one commit a task: {journal}");
        assert_eq!(git(scene.repo.path(), &["status", "--porcelain"]), "");
        let slots = Run::tool("slot-lock", &scene.home).arg("status").run();
        let held = &slots.json()["keys"][0]["held"];
        assert!(
            held.is_null() || *held == json!([]),
            "a slot leaked: {slots:?}"
        );
    }
}
