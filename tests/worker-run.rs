//! worker-run end to end, against the simulated server.

#[path = "worker-run/served.rs"]
mod served;
#[path = "worker-run/spared.rs"]
mod spared;
mod support;
#[path = "worker-run/ways.rs"]
mod ways;

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::{Home, Run, Sim, git, repository, write};

const CALC: &str = "def add(a, b):\n    return a - b\n\n\ndef mul(a, b):\n    return a * b\n";
const TEST: &str = "from calc import add, mul\nassert add(2, 3) == 5, f'add gives {add(2, 3)}'\nassert mul(2, 3) == 6\n";

/// The four steps of one small task.
const FOUR_STEPS: &str = r#"
[[rule]]
[[rule.step]]
calls = [{ read = "calc.py" }]
[[rule.step]]
calls = [{ edit = "calc.py", old = "    return a - b", new = "    return a + b" }]
[[rule.step]]
calls = [{ bash = "python3 test.py" }]
[[rule.step]]
calls = [{ done = "add() adds now" }]
"#;

struct Place {
    home: Home,
    repo: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self::with(&[("calc.py", CALC), ("test.py", TEST)])
    }

    fn with(files: &[(&str, &str)]) -> Self {
        Self {
            home: Home::new(),
            repo: repository(files),
        }
    }

    fn sim(&self, script: &str) -> Sim {
        let file = self.home.path().join("script.toml");
        std::fs::write(&file, script).unwrap();
        Sim::start(["--script".into(), file.into_os_string()])
    }

    fn run(&self, url: &str) -> Run {
        Run::tool("worker-run", &self.home)
            .server(url)
            .cwd(self.repo.path())
            .arg("--no-slot")
    }

    /// The usual task, against the server at `url`.
    fn fix(&self, url: &str) -> Run {
        self.run(url).args([
            "--prompt",
            "Fix add() in calc.py",
            "--write",
            "calc.py",
            "--verify",
            "python3 test.py",
        ])
    }

    fn calc(&self) -> String {
        std::fs::read_to_string(self.repo.path().join("calc.py")).unwrap()
    }

    fn is_clean(&self) -> bool {
        git(self.repo.path(), &["status", "--porcelain"]).is_empty()
    }
}

fn requests(sim: &Sim) -> Vec<Value> {
    let body = support_get(&format!("{}/sim/requests", sim.root()));
    let value: Value = serde_json::from_str(&body).unwrap();
    let list = value.get("requests").cloned().unwrap_or(value);
    list.as_array().unwrap().clone()
}

/// A plain GET without a client library.
fn support_get(url: &str) -> String {
    asked("GET", url, "")
}

/// A plain POST.
fn post(url: &str, body: &Value) -> String {
    asked("POST", url, &body.to_string())
}

fn asked(method: &str, url: &str, body: &str) -> String {
    use std::io::{Read as _, Write as _};
    let rest = url.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_once('/').unwrap();
    let mut stream = std::net::TcpStream::connect(host).unwrap();
    write!(
        stream,
        "{method} /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    if !head
        .to_ascii_lowercase()
        .contains("transfer-encoding: chunked")
    {
        return body.to_string();
    }
    let mut out = String::new();
    let mut rest = body;
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap();
        if size == 0 {
            break;
        }
        out.push_str(&after[..size]);
        rest = &after[size + 2..];
    }
    out
}

#[test]
fn a_red_check_that_turns_green_ends_the_task_whatever_the_model_says() {
    let place = Place::new();
    let sim = place.sim(FOUR_STEPS);
    let handoff = place.fix(&sim.base_url).run().code(0).json();
    assert_eq!(handoff["schema"], "handoff/1");
    assert_eq!(handoff["status"], "completed");
    assert_eq!(
        handoff["files_changed"],
        json!([{"path": "calc.py", "scope": ""}])
    );
    assert_eq!(handoff["verification"][0]["status"], "pass");
    assert_eq!(
        handoff["usage"]["requests"], 2,
        "the two steps after it are not needed"
    );
    let sources: Vec<&str> = handoff["receipts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["source"].as_str().unwrap())
        .collect();
    assert_eq!(sources, ["baseline", "check"]);
    assert!(place.calc().contains("a + b"));
}

#[test]
fn the_task_comes_on_stdin_as_well() {
    let place = Place::new();
    let sim = place.sim(FOUR_STEPS);
    let task = json!({"schema": "task/1", "id": "fix-add", "prompt": "Fix add()", "scope": {"write": ["calc.py"]},
                      "verify": [{"command": "python3 test.py"}]});
    let handoff = place
        .run(&sim.base_url)
        .stdin(task.to_string())
        .run()
        .code(0)
        .json();
    assert_eq!(handoff["task_id"], "fix-add");
}

#[test]
fn the_history_only_grows_and_the_system_text_names_no_place() {
    let place = Place::new();
    let sim = place.sim(FOUR_STEPS);
    place
        .fix(&sim.base_url)
        .args(["--check-every", "end"])
        .run()
        .code(0);
    let bodies: Vec<Value> = requests(&sim)
        .into_iter()
        .filter(|r| {
            r["path"]
                .as_str()
                .is_some_and(|p| p.ends_with("/chat/completions"))
        })
        .map(|r| r["body"].clone())
        .collect();
    assert_eq!(bodies.len(), 4, "no hidden request");
    for pair in bodies.windows(2) {
        let (old, new) = (
            pair[0]["messages"].as_array().unwrap(),
            pair[1]["messages"].as_array().unwrap(),
        );
        assert_eq!(&new[..old.len()], &old[..], "append-only");
        assert_eq!(pair[0]["tools"], pair[1]["tools"]);
    }
    let system = bodies[0]["messages"][0]["content"].as_str().unwrap();
    assert!(!system.contains(place.repo.path().to_str().unwrap()));
    let systems = bodies[3]["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|m| m["role"] == "system")
        .count();
    assert_eq!(systems, 1);
}

#[test]
fn a_missing_dependency_blocks_before_any_request() {
    let place = Place::new();
    let sim = place.sim(FOUR_STEPS);
    let handoff = place
        .run(&sim.base_url)
        .args([
            "--prompt",
            "Fix add()",
            "--verify",
            "pytset-not-installed -q",
        ])
        .run()
        .code(1)
        .json();
    assert_eq!(handoff["status"], "blocked");
    assert!(
        handoff["status_reason"]
            .as_str()
            .unwrap()
            .contains("not installed")
    );
    assert_eq!(handoff["usage"]["requests"], 0);
}

#[test]
fn a_dead_server_is_69_with_a_hand_off() {
    let place = Place::new();
    let handoff = place.fix("http://127.0.0.1:9/v1").run().code(69).json();
    assert_eq!(handoff["status"], "failed");
    assert!(place.is_clean());
}

#[test]
fn a_rejected_key_is_78() {
    let place = Place::new();
    let sim = Sim::start(["--api-key", "right"]);
    let ended = place
        .fix(&sim.base_url)
        .env("OPENCODE_VLLM_API_KEY", "sk-mistaken")
        .run()
        .code(78);
    assert_eq!(ended.json()["status"], "failed");
    assert!(!ended.stdout.contains("sk-mistaken") && !ended.stderr.contains("sk-mistaken"));
}

#[test]
fn dry_run_sends_nothing_and_shows_the_parts() {
    let place = Place::new();
    let document = place
        .fix("http://127.0.0.1:9/v1")
        .args(["--dry-run", "--pack", "none"])
        .run()
        .code(0)
        .json();
    assert!(
        document["prompt_tokens"].as_u64().unwrap() <= 1000,
        "{document}"
    );
    let parts: Vec<&str> = document["parts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p["part"].as_str().unwrap())
        .collect();
    assert_eq!(parts, ["system", "tools", "workplace", "task"]);
}

#[test]
fn whole_files_from_a_model_without_tools() {
    let place = Place::new();
    let fixed = CALC.replace("a - b", "a + b");
    let script = format!(
        "[[rule]]\ntimes = 1\nanswer.say = '''calc.py\n```python\n{}```'''\n[[rule]]\nanswer.say = '''calc.py\n```python\n{fixed}```'''\n",
        CALC.replace("a - b", "b - a")
    );
    let sim = place.sim(&script);
    let handoff = place
        .fix(&sim.base_url)
        .args(["--mode", "whole"])
        .run()
        .code(0)
        .json();
    assert_eq!(handoff["usage"]["requests"], 2);
    assert_eq!(place.calc(), fixed);
}

#[test]
fn a_changed_test_is_refused_and_a_claim_of_success_is_not_believed() {
    let place = Place::new();
    let script = r#"
[[rule]]
[[rule.step]]
calls = [{ bash = "echo pass > test.py" }]
[[rule.step]]
calls = [{ done = "all tests pass" }]
"#;
    let sim = place.sim(script);
    let handoff = place.fix(&sim.base_url).run().code(1).json();
    assert_eq!(handoff["status"], "failed");
    assert!(
        handoff["status_reason"]
            .as_str()
            .unwrap()
            .contains("nothing is changed")
    );
    assert!(handoff["notes"].to_string().contains("test.py"));
    assert!(place.is_clean());
}

#[test]
fn the_same_call_for_ever_ends() {
    let place = Place::new();
    let sim = place.sim("[[rule]]\nanswer.calls = [{ read = 'calc.py' }]\n");
    let handoff = place.fix(&sim.base_url).run().code(1).json();
    assert!(
        handoff["status_reason"]
            .as_str()
            .unwrap()
            .contains("circles"),
        "{handoff}"
    );
    // Five in tools mode, then three refusals to reply with files.
    assert!(handoff["usage"]["steps"].as_u64().unwrap() <= 8);
}

#[test]
fn text_without_a_call_is_no_end_and_is_bounded() {
    let place = Place::new();
    let sim = place.sim("[[rule]]\nanswer.say = 'I will now fix it.'\n");
    let handoff = place.fix(&sim.base_url).run().code(1).json();
    assert_eq!(handoff["status"], "no_answer");
    assert_eq!(
        handoff["usage"]["steps"], 6,
        "three with tools, three with files"
    );
}

#[test]
fn a_model_that_never_calls_a_tool_is_asked_for_files() {
    let place = Place::new();
    let fixed = CALC.replace("a - b", "a + b");
    let script = format!(
        "[[rule]]\nwhen.system = 'replying with their complete'\nanswer.say = '''calc.py\n```python\n{fixed}```'''\n[[rule]]\nanswer.say = 'Let me think.'\n"
    );
    let sim = place.sim(&script);
    let handoff = place.fix(&sim.base_url).run().code(0).json();
    assert_eq!(handoff["usage"]["steps"], 4);
    assert_eq!(handoff["repairs"]["switched_to_files"], 1);
}

#[test]
fn a_reading_role_answers_and_changes_nothing() {
    let place = Place::new();
    let script = r#"
[[rule]]
[[rule.step]]
calls = [{ bash = "echo x > new.txt" }]
[[rule.step]]
calls = [{ done = "add is in calc.py:1" }]
"#;
    let sim = place.sim(script);
    let handoff = place
        .run(&sim.base_url)
        .args(["--role", "explore", "--prompt", "Where is add?"])
        .run()
        .code(0)
        .json();
    assert_eq!(handoff["outcome"], "add is in calc.py:1");
    assert_eq!(handoff["files_changed"], json!([]));
    assert!(place.is_clean());
}

#[test]
fn a_step_limit_is_3_and_a_time_limit_124() {
    let place = Place::new();
    let sim = place.sim("[[rule]]\nanswer.calls = [{ bash = 'echo {{n}}; date +%N' }]\n");
    let handoff = place
        .fix(&sim.base_url)
        .args(["--steps", "2"])
        .run()
        .code(3)
        .json();
    assert_eq!(handoff["status"], "budget_spent");
    let slow = place.sim("[[rule]]\nanswer.calls = [{ bash = 'sleep 30' }]\n");
    let start = Instant::now();
    let handoff = place
        .fix(&slow.base_url)
        .args(["--wall", "3s"])
        .run()
        .code(124)
        .json();
    assert_eq!(handoff["status"], "timed_out");
    assert!(start.elapsed() < Duration::from_secs(8));
}

/// How many processes sleep for exactly so long.
fn sleeping(seconds: &str) -> usize {
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| std::fs::read(entry.ok()?.path().join("cmdline")).ok())
        .filter(|cmdline| cmdline == format!("sleep\0{seconds}\0").as_bytes())
        .count()
}

#[test]
fn ctrl_c_and_term_leave_a_hand_off_and_no_child() {
    for (signal, code) in [
        (rustix::process::Signal::INT, 130),
        (rustix::process::Signal::TERM, 143),
    ] {
        let place = Place::new();
        // A length that no other process sleeps for.
        let seconds = format!("77{}", std::process::id());
        let sim = place.sim(&format!(
            "[[rule]]\nanswer.calls = [{{ bash = 'touch started; setsid sleep {seconds} & sleep {seconds}' }}]\n"
        ));
        let mut command = place.fix(&sim.base_url).command();
        let child = command
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        support::eventually("the command runs", Duration::from_secs(20), || {
            place.repo.path().join("started").exists().then_some(())
        });
        let start = Instant::now();
        rustix::process::kill_process(rustix::process::Pid::from_child(&child), signal).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(start.elapsed() < Duration::from_secs(8));
        assert_eq!(
            output.status.code(),
            Some(code),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let handoff: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(handoff["status"], "interrupted");
        assert_eq!(sleeping(&seconds), 0, "no child is left");
    }
}

#[test]
fn events_are_json_lines_and_the_hand_off_comes_last() {
    let place = Place::new();
    let sim = place.sim(FOUR_STEPS);
    let ended = place
        .fix(&sim.base_url)
        .args(["--events", "-"])
        .run()
        .code(0);
    let lines: Vec<Value> = ended
        .stdout
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    let types: Vec<&str> = lines.iter().filter_map(|l| l["type"].as_str()).collect();
    for kind in [
        "start", "check", "prompt", "request", "answer", "tool", "end",
    ] {
        assert!(types.contains(&kind), "{kind} in {types:?}");
    }
    assert_eq!(lines.last().unwrap()["schema"], "handoff/1");
}

#[test]
fn uncommitted_work_of_the_user_is_not_the_workers() {
    let place = Place::new();
    write(place.repo.path(), "notes.txt", "mine\n");
    write(place.repo.path(), "test.py", &format!("{TEST}# mine\n"));
    let sim = place.sim(FOUR_STEPS);
    let handoff = place.fix(&sim.base_url).run().code(0).json();
    assert_eq!(
        handoff["files_changed"],
        json!([{"path": "calc.py", "scope": ""}])
    );
}

#[test]
fn wrong_usage_says_what_is_wanted() {
    let place = Place::new();
    place
        .run("http://127.0.0.1:9/v1")
        .run()
        .code(2)
        .stderr_has("task/1");
    let bad = json!({"schema": "task/1", "id": "t", "prompt": "x", "scop": {}});
    place
        .run("http://127.0.0.1:9/v1")
        .stdin(bad.to_string())
        .run()
        .code(2)
        .stderr_has("scope");
    let outside = tempfile::tempdir().unwrap();
    place
        .fix("http://127.0.0.1:9/v1")
        .cwd(outside.path())
        .run()
        .code(2)
        .stderr_has("git");
}

/// Attempts to leave the work tree; `OUT` is a folder outside, `PORT` the model server's.
const ESCAPES: &[&str] = &[
    "echo x > OUT/a1",
    "cd OUT && touch a2",
    "ln -s OUT link; echo x > link/a3",
    "mkdir d; mv d OUT/a4",
    "cp calc.py OUT/a5",
    "python3 -c \"open('OUT/a6', 'w')\"",
    "ln OUT/secret hard; echo changed > hard",
    "mv OUT/secret moved",
    "rm -f OUT/secret",
    "chmod 777 OUT/secret",
    "touch -d 2001-01-01 OUT/secret",
    "truncate -s 0 OUT/secret",
    "echo x > /proc/self/root/OUT/a7",
    "echo x > /proc/1/root/OUT/a8",
    "echo x > /proc/$PPID/cwd/a9",
    "printf '#!/bin/sh\\ntouch OUT/a10\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; git commit -qam x",
    "git config core.fsmonitor 'touch OUT/a11'; git status",
    "git config core.hooksPath . ; git config alias.st '!touch OUT/a12'; git st",
    "git commit -qam sneaked",
    "git branch sneaked",
    "setsid sh -c 'sleep 1; touch OUT/a13' & disown",
    "nohup sh -c 'sleep 1; touch OUT/a14' > /dev/null 2>&1 &",
    "kill -9 -1",
    "kill -9 $PPID",
    "exec 3<>/dev/tcp/127.0.0.1/PORT && touch connected",
    "cat HOME/.ssh/id > leak; test -s leak || rm -f leak",
    "cat HOME/secret-key > leak; test -s leak || rm -f leak",
    "mount --bind OUT . && touch a15",
    "mount -t tmpfs none OUT",
    "unshare -Ur touch OUT/a16",
    "unshare -m sh -c 'touch OUT/a17'",
    "nsenter -t 1 -m touch OUT/a18",
    "chroot /proc/1/root touch OUT/a19",
    "tar cf - calc.py | tar xf - -C OUT",
    "dd if=calc.py of=OUT/a20",
    "mkfifo OUT/a21",
    "mknod OUT/a22 c 1 3",
    "echo '{}' > HOME/task.json",
];

#[test]
fn no_command_leaves_the_work_tree() {
    let place = Place::new();
    let out = place.home.path().join("outside");
    std::fs::create_dir_all(&out).unwrap();
    std::fs::write(out.join("secret"), "secret").unwrap();
    std::fs::create_dir(place.home.path().join(".ssh")).unwrap();
    std::fs::write(place.home.path().join(".ssh/id"), "key").unwrap();
    std::fs::write(place.home.path().join("secret-key"), "key").unwrap();
    std::fs::write(place.home.path().join("task.json"), "task").unwrap();
    let before = std::fs::metadata(out.join("secret")).unwrap();
    let head = git(place.repo.path(), &["rev-parse", "HEAD"]);
    let config = std::fs::read_to_string(place.repo.path().join(".git/config")).unwrap();
    let sim = place.sim("");
    let port = sim.root().rsplit(':').next().unwrap().to_owned();
    let calls: Vec<Value> = ESCAPES
        .iter()
        .map(|line| {
            let line = line
                .replace("OUT", out.to_str().unwrap())
                .replace("HOME", place.home.path().to_str().unwrap())
                .replace("PORT", &port);
            json!({"bash": line})
        })
        .chain([
            json!({"write": "../escaped", "content": "x"}),
            json!({"write": out.join("b1").to_str().unwrap(), "content": "x"}),
            json!({"write": "link/b2", "content": "x"}),
            json!({"write": ".git/hooks/post-commit", "content": "x"}),
            json!({"write": "notes/../../b3", "content": "x"}),
        ])
        .collect();
    let script = json!({"rule": [{"step": [{"calls": calls}, {"calls": [{"done": "all done"}]}]}]});
    let file = place.home.path().join("script.json");
    std::fs::write(&file, script.to_string()).unwrap();
    let sim = Sim::start(["--script".into(), file.into_os_string()]);
    // Every attempt runs: the loop guard looks at them only after the last one.
    let ended = place
        .run(&sim.base_url)
        .args(["--prompt", "Leave", "--write", "**"])
        .run();
    let handoff = ended.json();
    assert_eq!(
        handoff["usage"]["tool_calls"].as_u64().unwrap(),
        u64::try_from(ESCAPES.len() + 5).unwrap() + 1
    );

    std::thread::sleep(Duration::from_millis(1200));
    let names: Vec<String> = std::fs::read_dir(&out)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names, ["secret"]);
    let after = std::fs::metadata(out.join("secret")).unwrap();
    assert_eq!(std::fs::read(out.join("secret")).unwrap(), b"secret");
    assert_eq!(
        std::fs::read(place.home.path().join("task.json")).unwrap(),
        b"task"
    );
    assert!(
        !place.repo.path().join("leak").exists() && !place.repo.path().join("connected").exists()
    );
    assert!(!place.repo.path().parent().unwrap().join("escaped").exists());
    assert_eq!(git(place.repo.path(), &["rev-parse", "HEAD"]), head);
    assert!(git(place.repo.path(), &["branch", "--list", "sneaked"]).is_empty());
    if handoff["sandbox"]["mode"] == "full" {
        assert_eq!(after.permissions(), before.permissions());
        assert_eq!(after.modified().unwrap(), before.modified().unwrap());
        assert_eq!(
            std::fs::read_to_string(place.repo.path().join(".git/config")).unwrap(),
            config
        );
    } else {
        eprintln!(
            "modes and git metadata were not checked: the kernel gives only {}",
            handoff["sandbox"]
        );
    }
}
