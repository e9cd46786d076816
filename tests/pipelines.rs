//! The tools composed, in real shells, as people compose them.

use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use support::{Home, Run, Sim, eventually, git, repository};

mod support;

const TOOLS: [&str; 6] = [
    "vllm-health",
    "ctx-estimate",
    "slot-lock",
    "worker-run",
    "handoff-check",
    "orchestrate",
];

/// A repository with one wrong function and the check that shows it.
fn sample() -> tempfile::TempDir {
    repository(&[
        ("add.sh", "add() { echo $(($1 - $2)); }\n"),
        (
            "check.sh",
            ". ./add.sh\ntest \"$(add 2 3)\" = 5 || { echo \"2 + 3 is $(add 2 3)\"; exit 1; }\n",
        ),
    ])
}

const TASK: &str = r#"{"schema":"task/1","id":"add","prompt":"add() in add.sh subtracts; make it add.",
    "scope":{"write":["add.sh"]},"verify":[{"command":"sh check.sh","timeout_ms":20000}]}"#;

/// What the simulated model answers to that task.
const SCRIPT: &str = r#"
[[rule]]
when.user = "add.sh subtracts"
[[rule.step]]
calls = [{ edit = "add.sh", old = "$1 - $2", new = "$1 + $2" }]
[[rule.step]]
calls = [{ done = "add() adds now" }]
"#;

fn sim_with_script(home: &Home) -> Sim {
    let script = home.path().join("script.toml");
    std::fs::write(&script, SCRIPT).unwrap();
    Sim::start([std::ffi::OsStr::new("--script"), script.as_os_str()])
}

#[test]
fn the_pipe_of_the_readme_does_a_task_and_the_hand_off_is_true() {
    let home = Home::new();
    let sim = sim_with_script(&home);
    let repo = sample();
    let script = r#"
        t=$(mktemp -d "$HOME/t.XXXXXX"); cat > $t/task.json
        vllm-health |
            ctx-estimate --task $t/task.json --candidates - |
            slot-lock --candidates - --wait 60s -- worker-run --task $t/task.json > $t/handoff.json
        handoff-check --task $t/task.json --repo . --rerun < $t/handoff.json
    "#;
    let ended = Run::shell(script, &home)
        .server(&sim.base_url)
        .cwd(repo.path())
        .stdin(TASK)
        .run();
    let ended = ended.code(0);
    let verdict = ended.json();
    assert_eq!(verdict["schema"], "verdict/1");
    assert_eq!(verdict["pass"], true);
    assert_eq!(verdict["changes"]["matched"], serde_json::json!(["add.sh"]));
    assert_eq!(git(repo.path(), &["status", "--porcelain"]), " M add.sh");
}

#[test]
fn below_a_parent_that_ignores_sigchld_every_tool_learns_how_its_children_end() {
    let home = Home::new();
    let sim = sim_with_script(&home);
    let repo = sample();
    // Bash sets the signal back for itself, not for what it becomes.
    let script = r#"
        t=$(mktemp -d "$HOME/t.XXXXXX"); cat > $t/task.json
        deaf() { (trap '' CHLD; exec "$@"); }
        deaf worker-run --task $t/task.json > $t/handoff.json
        deaf handoff-check --task $t/task.json --repo . --rerun < $t/handoff.json
        deaf orchestrate doctor > $t/doctor || test $? -lt 100
    "#;
    let run = Run::shell(script, &home).server(&sim.base_url);
    let ended = run.cwd(repo.path()).stdin(TASK).run().code(0);
    assert_eq!(ended.json()["pass"], true);
}

#[test]
fn the_first_failure_of_a_pipe_reaches_its_end_in_words() {
    let home = Home::new();
    let repo = sample();
    let script = r#"
        cat > "$HOME/task.json"; set +o pipefail
        vllm-health | ctx-estimate --task "$HOME/task.json" --candidates - |
            slot-lock --candidates - -- worker-run --task "$HOME/task.json"
    "#;
    let ended = Run::shell(script, &home).cwd(repo.path()).stdin(TASK).run();
    let ended = ended
        .code(125)
        .stderr_has("vllm-health failed before: OPENCODE_VLLM_BASE_URL is not set");
    assert_eq!(ended.stdout, "", "the command was not run");
    assert_eq!(git(repo.path(), &["status", "--porcelain"]), "");
}

#[test]
fn a_server_that_is_gone_is_an_answer_not_an_error() {
    let home = Home::new();
    let script = "vllm-health http://127.0.0.1:9/v1 | jq -r '.schema, .providers[0].state'; echo \"${PIPESTATUS[0]}\"";
    if std::process::Command::new("jq")
        .arg("--version")
        .output()
        .is_err()
    {
        eprintln!("a_server_that_is_gone_is_an_answer_not_an_error: skipped, jq is not installed");
        return;
    }
    let ended = Run::shell(&format!("set +e; {script}"), &home)
        .run()
        .code(0);
    assert_eq!(ended.stdout, "health/1\nunreachable\n69\n");
}

#[test]
fn a_quiet_question_is_an_exit_code() {
    let home = Home::new();
    let sim = Sim::start::<&str>([]);
    let ended = Run::shell("vllm-health -q && echo go", &home)
        .server(&sim.base_url)
        .run()
        .code(0);
    assert_eq!(ended.stdout, "go\n");
    let ended = Run::shell("vllm-health -q || echo \"no: $?\"", &home)
        .server("http://127.0.0.1:9/v1")
        .run()
        .code(0);
    assert_eq!(ended.stdout, "no: 69\n");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let home = Home::new();
    let sim = Sim::start::<&str>([]);
    let script = "set +o pipefail; vllm-health | true; echo ${PIPESTATUS[0]}; ctx-estimate --schema | true; echo ${PIPESTATUS[0]}";
    let ended = Run::shell(script, &home)
        .server(&sim.base_url)
        .run()
        .code(0);
    assert_eq!(ended.stdout, "0\n0\n");
    assert!(!ended.stderr.contains("panicked"), "{ended:#?}");
}

#[test]
fn without_input_every_tool_says_what_it_wants() {
    let home = Home::new();
    let repo = sample();
    let cases = [
        ("ctx-estimate", "", 2, "empty"),
        ("worker-run", "", 2, "task"),
        ("handoff-check", "", 2, "report"),
        ("slot-lock", "", 125, "command"),
        ("slot-lock", "--candidates - -- true", 125, "health/1"),
        ("orchestrate", "run --from -", 2, "plan/1"),
        ("orchestrate", "run", 2, "goal"),
        ("vllm-health", "", 78, "export OPENCODE_VLLM_BASE_URL="),
    ];
    for (tool, arguments, code, word) in cases {
        let run = Run::tool(tool, &home)
            .args(arguments.split_whitespace())
            .cwd(repo.path());
        let ended = run.run();
        // A chain loader without its command is wrong usage all the same.
        let codes = if tool == "slot-lock" {
            vec![2, 125]
        } else {
            vec![code]
        };
        assert!(
            ended.code.is_some_and(|c| codes.contains(&c)),
            "{tool} {arguments}: {ended:#?}"
        );
        let line = ended.stderr.to_lowercase();
        assert!(
            line.contains(&word.to_lowercase()),
            "{tool} {arguments} does not say {word}: {ended:#?}"
        );
    }
}

#[test]
fn a_wrong_flag_names_the_right_one() {
    let home = Home::new();
    let cases = [
        ("vllm-health", "--min-contxt", "--min-context", 2),
        ("ctx-estimate", "--candidate", "--candidates", 2),
        ("worker-run", "--promt", "--prompt", 2),
        ("handoff-check", "--re-run", "--rerun", 2),
        ("orchestrate", "--versio", "--version", 2),
    ];
    for (tool, wrong, right, code) in cases {
        Run::tool(tool, &home)
            .arg(wrong)
            .run()
            .code(code)
            .stderr_has(right);
    }
    let chain = Run::tool("slot-lock", &home)
        .args(["--slot", "2", "--", "true"])
        .run();
    chain.code(125).stderr_has("--slots");
}

#[test]
fn every_tool_tells_its_version_with_the_commit_and_its_schemas() {
    let home = Home::new();
    for tool in TOOLS {
        let version = Run::tool(tool, &home).arg("--version").run().code(0).stdout;
        let start = format!("{tool} {} (", env!("CARGO_PKG_VERSION"));
        assert!(
            version.starts_with(&start) && version.ends_with(")\n"),
            "{version}"
        );
        let schemas = Run::tool(tool, &home).arg("--schema").run().code(0).json();
        let written = schemas["writes"].as_object().unwrap();
        assert!(!written.is_empty(), "{tool} writes no document");
        for (name, schema) in written {
            assert_eq!(
                schema["properties"]["schema"]["const"],
                name.as_str(),
                "{tool}"
            );
        }
    }
}

/// Whether any process still carries this mark in its environment.
fn marked_processes(mark: &str) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|n| n.parse::<u32>().ok())
        else {
            continue;
        };
        if std::fs::read(entry.path().join("environ"))
            .is_ok_and(|env| env.windows(mark.len()).any(|w| w == mark.as_bytes()))
        {
            found.push(pid);
        }
    }
    found
}

/// Starts a tool in a process group of its own, sends SIGINT once the server works for it, and
/// asserts 130 and that nothing is left.
fn interrupted(tool: &str, arguments: &[&str], mark: &str, whole_group: bool) {
    let home = Home::new();
    // Ten simulated minutes for an answer: it is surely at work when the signal comes.
    let script = home.path().join("slow.toml");
    std::fs::write(
        &script,
        "[[rule]]\nanswer = { say = \"slow\", wait = \"600s\" }\n",
    )
    .unwrap();
    let sim = Sim::start([
        std::ffi::OsStr::new("--time-scale"),
        "1".as_ref(),
        "--script".as_ref(),
        script.as_os_str(),
    ]);
    let repo = sample();
    let task = home.path().join("task.json");
    std::fs::write(&task, TASK).unwrap();
    let task = task.display().to_string();
    let arguments = arguments.iter().map(|a| a.replace("TASK", &task));
    let run = Run::tool(tool, &home)
        .args(arguments)
        .server(&sim.base_url)
        .env("BATON_TEST_MARK", mark)
        .cwd(repo.path());
    let mut command = run.command();
    let mut child = command
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    eventually("a request is running", Duration::from_secs(60), || {
        let metrics = Run::program("curl", &home)
            .args(["-s", &format!("{}/metrics", sim.root())])
            .run()
            .stdout;
        metrics
            .lines()
            .any(|l| {
                l.starts_with("vllm:num_requests_running")
                    && !l.ends_with(" 0")
                    && !l.ends_with(" 0.0")
            })
            .then_some(())
    });
    let pid = Pid::from_child(&child);
    if whole_group {
        kill_process_group(pid, Signal::INT).unwrap();
    } else {
        kill_process(pid, Signal::INT).unwrap();
    }
    let status = eventually("it ends", Duration::from_secs(30), || {
        child.try_wait().unwrap()
    });
    assert_eq!(status.code(), Some(130), "{tool}: {status:?}");
    eventually("no process is left", Duration::from_secs(10), || {
        marked_processes(mark).is_empty().then_some(())
    });
    assert_eq!(
        git(repo.path(), &["status", "--porcelain"]),
        "",
        "the work tree is clean"
    );
    assert_eq!(
        git(repo.path(), &["rev-list", "--count", "HEAD"]),
        "1",
        "nothing was integrated"
    );
}

#[test]
fn ctrl_c_ends_a_worker_and_leaves_nothing() {
    interrupted(
        "worker-run",
        &["--task", "TASK"],
        "BATON_TEST_MARK=worker",
        true,
    );
}

#[test]
fn sigint_to_a_worker_alone_leaves_nothing() {
    interrupted(
        "worker-run",
        &["--task", "TASK"],
        "BATON_TEST_MARK=alone",
        false,
    );
}

#[test]
fn ctrl_c_ends_a_slot_and_its_worker_and_leaves_nothing() {
    let arguments = ["--slots", "1", "--", "worker-run", "--task", "TASK"];
    interrupted("slot-lock", &arguments, "BATON_TEST_MARK=slot", true);
}

#[test]
fn ctrl_c_ends_a_run_while_it_plans_and_leaves_nothing() {
    interrupted(
        "orchestrate",
        &["run", "Make add() add and describe it"],
        "BATON_TEST_MARK=plan",
        true,
    );
}

#[test]
fn ctrl_c_ends_a_run_while_a_worker_works_and_leaves_nothing() {
    interrupted(
        "orchestrate",
        &["run", "--one", "Make add() add"],
        "BATON_TEST_MARK=one",
        false,
    );
}
