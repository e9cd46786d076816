//! The whole pipe: orchestrate, the real tools, and a simulated server with a scripted model.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Ended, Home, Run, Sim, git, repository};

/// A repository, a home, and a server whose model follows a script.
pub struct Pipe {
    pub home: Home,
    repo: tempfile::TempDir,
    pub sim: Sim,
}

/// A rule for one task, found by its words: the calls of each turn.
pub fn rule(name: &str, first: &str, turns: &[Value]) -> Value {
    let steps: Vec<Value> = turns.iter().map(|calls| json!({"calls": calls})).collect();
    json!({"name": name, "when": {"first": first}, "step": steps})
}

pub fn done(outcome: &str) -> Value {
    json!([{"done": outcome}])
}

fn result(outcome: &str, result: &Value) -> Value {
    json!([{"done": outcome, "with": {"result": result}}])
}

pub fn write(path: &str, content: &str) -> Value {
    json!([{"write": path, "content": content}])
}

pub fn planner(plan: &Value) -> Value {
    rule(
        "planner",
        "Plan the work on this goal",
        &[result("planned", plan)],
    )
}

fn approve() -> Value {
    let mut rule = rule("reviewer", "Review this change", &[json!([])]);
    rule["step"][0]["calls"] = result(
        "fine",
        &json!({
            "schema": "review/1", "nonce": "{{between:`nonce` \"|\"}}",
            "head": "{{between:`head` \"|\"}}", "base": "{{between:`base` \"|\"}}",
            "verdict": "approve", "findings": [],
            "checks": {"diff": true, "scope": true, "verification": true}
        }),
    );
    rule
}

impl Pipe {
    pub fn new(files: &[(&str, &str)], rules: &[Value]) -> Self {
        let home = Home::new();
        let script = home.path().join("script.json");
        std::fs::write(&script, json!({"rule": rules}).to_string()).unwrap();
        let sim = Sim::start(["--script".into(), script.into_os_string()]);
        Self {
            home,
            repo: repository(files),
            sim,
        }
    }

    fn run(&self, goal: &str) -> Ended {
        self.orchestrate(&["run", goal])
    }

    fn orchestrate(&self, args: &[&str]) -> Ended {
        Run::tool("orchestrate", &self.home)
            .args(args)
            .cwd(self.repo.path())
            .server(&self.sim.base_url)
            .run()
    }

    pub fn path(&self) -> &Path {
        self.repo.path()
    }

    fn main(&self) -> Vec<String> {
        let subjects = git(self.path(), &["log", "--format=%s", "main"]);
        subjects.lines().map(str::to_owned).collect()
    }

    fn check(&self, command: &str) {
        let status = std::process::Command::new("bash")
            .args(["-c", command])
            .current_dir(self.path())
            .status();
        assert!(status.unwrap().success(), "{command}");
    }
}

pub fn task(id: &str, title: &str, prompt: &str, write: &[&str], verify: &[&str]) -> Value {
    let verify: Vec<Value> = verify.iter().map(|c| json!({"command": c})).collect();
    json!({"id": id, "title": title, "prompt": prompt, "scope": {"write": write},
           "verify": verify, "narrower": format!("Only the first half of {id}.")})
}

#[test]
fn the_seed_s_parse_refactor_with_tests() {
    let before = "count() { cat \"$1\" > all; wc -l < all; rm all; }\n";
    let after = "count() { wc -l < \"$1\"; }\n";
    let plan = json!({"direct": false, "tasks": [
        task("stream", "Stream instead of buffering", "Refactor parse.sh to stream.",
             &["parse.sh"], &["test -z \"$(grep 'cat ' parse.sh)\""]),
        task("tests", "Tests for parse.sh", "Write test.sh for count() in parse.sh.",
             &["test.sh"], &["sh test.sh"]),
    ]});
    let test = ". ./parse.sh\nprintf 'a\\nb\\n' > in.tmp\n[ \"$(count in.tmp)\" -eq 2 ]\nr=$?\nrm in.tmp\nexit $r\n";
    let pipe = Pipe::new(
        &[("parse.sh", before)],
        &[
            planner(&plan),
            approve(),
            rule(
                "stream",
                "Refactor parse.sh to stream",
                &[write("parse.sh", after), done("it streams")],
            ),
            rule(
                "tests",
                "Write test.sh",
                &[write("test.sh", test), done("tests written")],
            ),
        ],
    );
    let report = pipe
        .run("Refactor parse.sh to stream instead of buffering, add tests for it")
        .code(0)
        .json();
    assert_eq!(report["status"], "completed", "{report:#}");
    pipe.check("sh test.sh");
    assert_eq!(git(pipe.path(), &["status", "--porcelain"]), "");
    assert_eq!(pipe.main().len(), 3);
}

#[test]
fn the_seed_s_race_fix_reproduces_first() {
    let plan = json!({"direct": false, "depends": [["reproduce", "fix"]], "tasks": [
        task("reproduce", "A test that shows the race", "Write race.sh that fails while lock.sh does not lock.",
             &["race.sh"], &["test -f race.sh"]),
        task("fix", "Lock", "Make lock.sh lock so that race.sh passes.",
             &["lock.sh"], &["sh race.sh"]),
    ]});
    let pipe = Pipe::new(
        &[("lock.sh", "echo open\n")],
        &[
            planner(&plan),
            approve(),
            rule(
                "reproduce",
                "Write race.sh that fails",
                &[
                    write("race.sh", "[ \"$(sh lock.sh)\" = locked ]\n"),
                    done("reproduced"),
                ],
            ),
            rule(
                "fix",
                "Make lock.sh lock",
                &[write("lock.sh", "echo locked\n"), done("fixed")],
            ),
        ],
    );
    pipe.run("Fix the race in session locking and add a regression test first")
        .code(0);
    assert_eq!(pipe.main(), ["Lock", "A test that shows the race", "start"]);
    pipe.check("sh race.sh");
}

#[test]
fn the_seed_s_trivial_question_fans_out_to_nobody() {
    let pipe = Pipe::new(
        &[("README.md", "Port 8080.\n")],
        &[
            planner(&json!({"direct": true, "tasks": []})),
            rule(
                "answer",
                "Answer this about the repository",
                &[
                    json!([{"read": "README.md"}]),
                    done("It listens on port 8080 (README.md:1)."),
                ],
            ),
        ],
    );
    let ended = pipe
        .orchestrate(&["run", "Which port does it listen on?", "--text"])
        .code(0);
    ended.stdout_has("port 8080");
    assert_eq!(pipe.main(), ["start"]);
    assert!(!pipe.path().join(".orchestrator/worktrees").exists());
}

#[test]
fn a_failing_worker_one_narrower_retry_and_a_gap_that_stays() {
    let plan = json!({"direct": false, "tasks": [
        task("good", "Good", "Write good.txt.", &["good.txt"], &["test -f good.txt"]),
        task("bad", "Bad", "Write bad.txt.", &["bad.txt"], &["test -f bad.txt"]),
    ]});
    let pipe = Pipe::new(
        &[("README.md", "x\n")],
        &[
            planner(&plan),
            rule(
                "good",
                "Write good.txt.",
                &[write("good.txt", "x\n"), done("written")],
            ),
            rule("bad", "Write bad.txt.", &[done("I wrote it, trust me")]),
        ],
    );
    let ended = pipe
        .orchestrate(&["run", "Write good.txt and bad.txt", "--rounds", "1"])
        .code(1);
    let report = ended.json();
    assert_eq!(report["status"], "incomplete", "{report:#}");
    let attempts = report["rounds"][0]["tasks"].as_array().unwrap().iter();
    assert_eq!(attempts.filter(|t| t["task"] == "bad").count(), 2);
    assert_eq!(pipe.main(), ["start"], "nothing reaches the branch");
    assert_eq!(git(pipe.path(), &["status", "--porcelain"]), "");
}

#[test]
fn a_gap_is_planned_again_in_round_two() {
    let first = json!({"direct": false, "tasks": [
        task("page", "Cursor paging", "Write page.txt with cursor.", &["page.txt"], &["grep -q cursor page.txt"]),
        task("docs", "Docs", "Write docs.txt the hard way.", &["docs.txt"], &["grep -q cursor docs.txt"]),
    ]});
    let second = json!({"direct": false, "tasks": [
        task("docs-again", "Docs", "Write docs.txt the easy way.", &["docs.txt"], &["grep -q cursor docs.txt"]),
    ]});
    let mut replan = rule(
        "replan",
        "Missing after the first round",
        &[result("planned", &second)],
    );
    replan["when"] = json!({"first": "Missing after the first round"});
    let pipe = Pipe::new(
        &[("README.md", "x\n")],
        &[
            replan,
            planner(&first),
            approve(),
            rule(
                "page",
                "Write page.txt with cursor",
                &[write("page.txt", "cursor\n"), done("paged")],
            ),
            rule(
                "easy",
                "Write docs.txt the easy way",
                &[write("docs.txt", "cursor\n"), done("documented")],
            ),
            rule("hard", "Write docs.txt the hard way", &[done("cannot")]),
            rule("half", "Only the first half of docs", &[done("cannot")]),
        ],
    );
    let report = pipe
        .run("Add cursor pagination to GET /api/items, keep offset working, update the docs")
        .code(0)
        .json();
    assert_eq!(report["rounds"].as_array().unwrap().len(), 2, "{report:#}");
    assert_eq!(pipe.main(), ["Docs", "Cursor paging", "start"]);
}

#[test]
fn a_model_that_says_nothing_useful_ends_honestly() {
    // The built-in model reads a file and reports that it changed nothing.
    let pipe = Pipe::new(&[("calc.py", "def add(a, b):\n    return a - b\n")], &[]);
    let ended = pipe.run("Fix add() in calc.py").code(1);
    let report = ended.json();
    assert_eq!(report["status"], "failed", "{report:#}");
    assert_eq!(pipe.main(), ["start"]);
    assert_eq!(git(pipe.path(), &["status", "--porcelain"]), "");
}

/// What the server was asked, as it kept it.
pub fn chats(sim: &Sim) -> Vec<Value> {
    use std::io::{Read as _, Write as _};
    let host = sim.root().strip_prefix("http://").unwrap();
    let mut stream = std::net::TcpStream::connect(host).unwrap();
    write!(
        stream,
        "GET /sim/requests?path=chat HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let start = answer.find("{\"requests\"").unwrap();
    let end = answer.rfind('}').unwrap();
    let body: Value = serde_json::from_str(&answer[start..=end]).unwrap();
    body["requests"].as_array().unwrap().clone()
}

#[test]
fn o23_a_task_past_its_limit_is_ended_and_leaves_no_request_behind() {
    let mut task = task("a", "A", "Write a.txt.", &["a.txt"], &["test -f a.txt"]);
    task["schema"] = json!("task/1");
    task["limits"] = json!({"wall_ms": 2000, "queue_ms": 60_000});
    let plan = json!({"schema": "plan/1", "goal": "a", "tasks": [task]});
    let mut slow = rule("a", "Write a.txt.", &[write("a.txt", "x\n")]);
    slow["step"][0]["wait"] = json!("600s");
    let pipe = Pipe::new(&[("README.md", "x\n")], &[slow]);
    let report = Run::tool("orchestrate", &pipe.home)
        .args(["run", "--from", "-", "--review", "off"])
        .cwd(pipe.path())
        .server(&pipe.sim.base_url)
        .stdin(plan.to_string())
        .run()
        .code(1)
        .json();
    assert_eq!(report["status"], "failed", "{report:#}");
    assert_eq!(pipe.main(), ["start"]);
    assert!(!chats(&pipe.sim).is_empty());
    // The server needs a moment to notice who hung up.
    crate::support::eventually(
        "no request runs",
        std::time::Duration::from_secs(60),
        || {
            let state = crate::support::get(&format!("{}/sim/state", pipe.sim.root()));
            let state: Value = serde_json::from_str(&state).unwrap();
            (state["running"] == 0 && state["waiting"] == 0).then_some(())
        },
    );
}

#[test]
fn a_server_that_dies_in_the_middle_ends_the_run_honestly_and_a_resume_finishes_it() {
    let plan = json!({"direct": false, "tasks": [
        task("a", "A", "Write a.txt please.", &["a.txt"], &["test -f a.txt"]),
    ]});
    let mut never = rule(
        "a",
        "Write a.txt please.",
        &[write("a.txt", "x\n"), done("written")],
    );
    never["step"][0]["wait"] = json!("60s");
    let mut pipe = Pipe::new(&[("README.md", "x\n")], &[planner(&plan), approve(), never]);
    let run = Run::tool("orchestrate", &pipe.home)
        .args(["run", "Write a"])
        .cwd(pipe.path())
        .server(&pipe.sim.base_url);
    let mut command = run.command();
    command
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    let mut child = command.spawn().unwrap();
    crate::support::eventually(
        "the worker asks",
        std::time::Duration::from_secs(60),
        || {
            chats(&pipe.sim)
                .iter()
                .any(|c| c["rule"] == "a" && c["outcome"] == "open")
                .then_some(())
        },
    );
    // Ctrl-C in the middle of a request: everything ends, nothing is lost.
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(pipe.main(), ["start"]);
    // The server dies and comes back elsewhere, with a model that answers.
    let script = pipe.home.path().join("better.json");
    let better = rule(
        "a",
        "Write a.txt please.",
        &[write("a.txt", "x\n"), done("written")],
    );
    std::fs::write(&script, json!({"rule": [better, approve()]}).to_string()).unwrap();
    let gone = std::mem::replace(
        &mut pipe.sim,
        Sim::start(["--script".into(), script.into_os_string()]),
    );
    let dead = gone.base_url.clone();
    drop(gone);
    let resumed = Run::tool("orchestrate", &pipe.home)
        .arg("resume")
        .cwd(pipe.path())
        .server(&dead)
        .run();
    assert_ne!(resumed.code, Some(0), "the old server is dead");
    pipe.orchestrate(&["resume"]).code(0);
    assert_eq!(pipe.main(), ["A", "start"]);
}

#[test]
fn o30_a_burst_of_refusals_costs_neither_the_attempt_nor_the_run() {
    let plan = json!({"direct": false, "tasks": [
        task("a", "A", "Write a.txt please.", &["a.txt"], &["test -f a.txt"]),
    ]});
    let busy = "server busy, please try again. maximum pending requests exceeded";
    let burst = json!({"name": "burst", "times": 3, "when": {"first": "Write a.txt please."},
                       "answer": {"status": 503, "body": {"error": {"message": busy}}}});
    let turns = [write("a.txt", "x\n"), done("written")];
    let pipe = Pipe::new(
        &[("README.md", "x\n")],
        &[
            planner(&plan),
            approve(),
            burst,
            rule("a", "Write a.txt please.", &turns),
        ],
    );
    let report = pipe.run("Write a").code(0).json();
    let tasks = report["rounds"][0]["tasks"].as_array().unwrap();
    assert_eq!(tasks.len(), 1, "one attempt: {report:#}");
    let refused = chats(&pipe.sim)
        .iter()
        .filter(|c| c["rule"] == "burst")
        .count();
    assert_eq!(refused, 3);
}
