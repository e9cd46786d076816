//! Every fault of the simulated server against worker-run, with a streamed answer and with one
//! document: each run ends in its bounds, with the right status and exit code, a hand-off, no
//! process and no busy slot. `FAULT_TABLE=faults.md cargo test --test faults` writes the table.

mod support;

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::{Home, Run, Sim, repository, sim_server_path};

const SCRIPT: &str = r#"
[[rule]]
[[rule.step]]
calls = [{ read = "calc.py" }]
[[rule.step]]
calls = [{ edit = "calc.py", old = "    return a - b", new = "    return a + b" }]
"#;

/// The longest a run may take: its wall limit, and a second to end.
const WALL: Duration = Duration::from_secs(20);

/// Faults after which the server counts as unavailable.
const UNAVAILABLE: &[&str] = &[
    "loading",
    "chat-503",
    "proxy-503",
    "bad-gateway",
    "eof-no-done",
    "drop-mid-stream",
    "eof-mid-event",
    "eof-mid-tool-call",
    "error-in-stream",
    "error-first",
    "error-line",
    "error-event",
    "busy-503",
    "busy-429",
    "error-500",
    "error-empty",
    "load-failed",
    "reset-mid-stream",
    "close",
    "reset",
];

/// Faults of a stream that leave one document whole.
const STREAMS_ALONE: &[&str] = &[
    "overflow-in-stream",
    "error-in-stream",
    "error-line",
    "error-event",
    "stall-mid-stream",
    "stall-with-pings",
    "drip",
];

/// How a run must end where it cannot complete: statuses and exit codes.
fn expected(fault: &str, whole: bool) -> Option<(&'static [&'static str], &'static [i64])> {
    if whole && STREAMS_ALONE.contains(&fault) {
        return None;
    }
    match (fault, whole) {
        // The broken byte lies outside of the texts, so that there is no document any more.
        ("error-in-200" | "invalid-utf8", true) => return Some((&["failed"], &[69])),
        ("repeats-for-ever", true) => return Some((&["no_answer"], &[1])),
        // More was announced than comes, and the connection stays open: that is waiting, no cut.
        ("eof-no-done" | "eof-mid-event" | "eof-mid-tool-call" | "eof-after-reasoning", true) => {
            return Some((&["timed_out"], &[124]));
        }
        _ => {}
    }
    let by_name: BTreeMap<&str, (&[&str], &[i64])> = BTreeMap::from([
        ("garbage", (&["no_answer"][..], &[1][..])),
        ("empty", (&["no_answer"], &[1])),
        ("calls-without-calls", (&["no_answer"], &[1])),
        ("reasoning-only", (&["no_answer"], &[1])),
        ("no-tool-parser", (&["no_answer"], &[1])),
        ("repeats-for-ever", (&["failed"], &[1])),
        ("cut-arguments", (&["failed"], &[1])),
        ("invalid-utf8", (&["failed", "completed"], &[0, 1])),
        ("fills-window", (&["overflow", "completed"], &[0, 1])),
        ("model-not-loaded", (&["failed"], &[78])),
        ("html", (&["failed"], &[78])),
        ("html-in-200", (&["failed"], &[78])),
        ("key-rejected", (&["failed"], &[78])),
        ("forbidden", (&["failed"], &[78])),
        ("redirect-login", (&["failed"], &[78])),
        ("gzip-undeclared", (&["failed"], &[78])),
        ("overflow-closed", (&["failed"], &[69])),
        ("engine-dead", (&["timed_out"], &[124])),
        ("engine-stalled", (&["timed_out"], &[124])),
        ("mute", (&["timed_out"], &[124])),
        ("silent", (&["timed_out"], &[124])),
        ("stall-after-headers", (&["timed_out"], &[124])),
        ("stall-mid-stream", (&["timed_out"], &[124])),
        ("stall-with-pings", (&["timed_out"], &[124])),
        ("drip", (&["timed_out"], &[124])),
    ]);
    if let Some(found) = by_name.get(fault) {
        return Some(*found);
    }
    if UNAVAILABLE.contains(&fault) {
        return Some((&["failed"], &[69]));
    }
    fault
        .starts_with("overflow-")
        .then_some((&["overflow"], &[1]))
}

fn faults() -> Vec<String> {
    let output = Command::new(sim_server_path())
        .arg("--list-faults")
        .output()
        .unwrap();
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()))
        .map(|line| line.split_whitespace().next().unwrap().to_owned())
        .collect()
}

/// How one run against one fault went.
struct Row {
    fault: String,
    /// Whether the server answered with one document in place of a stream.
    whole: bool,
    status: String,
    code: i64,
    took: Duration,
    requests: u64,
    reason: String,
    /// What is wrong with that, if anything is.
    problem: Option<String>,
}

/// Runs one task against one fault.
fn run_against(fault: &str, whole: bool) -> Row {
    let home = Home::new();
    let repo = repository(&[("calc.py", "def add(a, b):\n    return a - b\n")]);
    let script = home.path().join("script.toml");
    std::fs::write(&script, SCRIPT).unwrap();
    let mut flags = vec!["--script", script.to_str().unwrap()];
    if whole {
        flags.extend(["--fault", "ignores-stream"]);
    }
    flags.extend(["--fault", fault]);
    let sim = Sim::start(flags);
    let task = json!({
        "schema": "task/1", "id": "t", "prompt": "Fix add().", "scope": {"write": ["calc.py"]},
        "verify": [{"command": "grep -q 'a + b' calc.py"}],
        "limits": {"wall_ms": 19_000, "idle_ms": 2000, "request_ms": 4000, "queue_ms": 1000},
    });
    let start = Instant::now();
    // Where the list does not name what the server answers to, only a model that was asked for by
    // name can work: it is believed, whatever the list says.
    let is_listed_wrong = ["id-is-path", "not-listed"].contains(&fault);
    let model: &[&str] = if is_listed_wrong {
        &["--model", "qwen38"]
    } else {
        &[]
    };
    let ended = Run::tool("worker-run", &home)
        .server(&sim.base_url)
        .cwd(repo.path())
        .args(["--no-slot", "--context", "32768"])
        .args(model)
        .stdin(task.to_string())
        .run();
    let took = start.elapsed();
    let handoff: Value = serde_json::from_str(ended.stdout.trim()).unwrap_or_default();
    let mut row = Row {
        fault: fault.to_owned(),
        whole,
        status: handoff["status"].as_str().unwrap_or_default().to_owned(),
        code: i64::from(ended.code.unwrap_or(-1)),
        took,
        requests: handoff["usage"]["requests"].as_u64().unwrap_or_default(),
        reason: handoff["status_reason"]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
        problem: None,
    };
    row.problem = if handoff.is_null() {
        Some(format!("no hand-off: {ended:?}"))
    } else {
        wrong_with(&row, &sim, repo.path())
    };
    row
}

fn wrong_with(row: &Row, sim: &Sim, repo: &Path) -> Option<String> {
    let Row {
        fault,
        status,
        code,
        ..
    } = row;
    let usual: (&[&str], &[i64]) = (&["completed"], &[0]);
    let (statuses, codes) = expected(fault, row.whole).unwrap_or(usual);
    if !statuses.contains(&status.as_str()) || !codes.contains(code) {
        return Some(format!(
            "{status} {code}, expected {statuses:?} {codes:?}: {}",
            row.reason
        ));
    }
    if row.took > WALL {
        return Some(format!("took {:?}", row.took));
    }
    let left = processes_in(repo);
    if !left.is_empty() {
        return Some(format!("processes are left: {left:?}"));
    }
    // Faults that freeze the engine or ignore hang-ups keep their slot by design.
    let frozen = ["engine-dead", "engine-stalled", "deaf", "mute"].contains(&fault.as_str());
    (!frozen && !is_idle(sim)).then(|| "a slot is still busy".to_owned())
}

/// The command lines of all processes that work in this folder.
fn processes_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter(|entry| {
            std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder))
        })
        .map(|entry| std::fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default())
        .collect()
}

/// Whether no request runs any more; the server may need a moment to notice a hang-up.
fn is_idle(sim: &Sim) -> bool {
    let host = sim.root().trim_start_matches("http://");
    let end = Instant::now() + Duration::from_secs(3);
    loop {
        let asked = std::net::TcpStream::connect(host).and_then(|mut stream| {
            write!(
                stream,
                "GET /sim/state HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
            )?;
            let mut text = String::new();
            stream.read_to_string(&mut text)?;
            Ok(text)
        });
        let body = asked.unwrap_or_default();
        let state: Value = body
            .split_once("\r\n\r\n")
            .and_then(|(_, body)| serde_json::from_str(body).ok())
            .unwrap_or_default();
        if state["running"] == 0 {
            return true;
        }
        if Instant::now() > end {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn every_fault_ends_in_bounds_with_the_right_status() {
    let names = faults();
    assert!(names.len() > 100, "{names:?}");
    let both = names
        .iter()
        .flat_map(|name| [(name.clone(), false), (name.clone(), true)]);
    let queue = Mutex::new(both);
    let rows = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().unwrap().next();
                    let Some((fault, whole)) = next else { break };
                    let row = run_against(&fault, whole);
                    rows.lock().unwrap().push(row);
                }
            });
        }
    });
    let mut rows = rows.into_inner().unwrap();
    let place = |row: &Row| names.iter().position(|name| *name == row.fault);
    rows.sort_by_key(|row| (place(row), row.whole));
    if let Some(file) = std::env::var_os("FAULT_TABLE") {
        std::fs::write(file, table(&rows)).unwrap();
    }
    let wrong: Vec<String> = rows
        .iter()
        .filter_map(|row| {
            let problem = row.problem.as_ref()?;
            Some(format!("{} whole={}: {problem}", row.fault, row.whole))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The matrix as a table: `FAULT_TABLE=faults.md cargo test --test faults`.
fn table(rows: &[Row]) -> String {
    let cell = |row: &Row| {
        format!(
            "{} {} | {:.1} s, {}",
            row.status,
            row.code,
            row.took.as_secs_f64(),
            row.requests
        )
    };
    let mut text = String::from(
        "| fault | streamed | time, requests | one document | time, requests |\n|---|---|---|---|---|\n",
    );
    for pair in rows.chunks(2) {
        if let [streamed, whole] = pair {
            let line = format!(
                "| {} | {} | {} |\n",
                streamed.fault,
                cell(streamed),
                cell(whole)
            );
            text.push_str(&line);
        }
    }
    text
}
