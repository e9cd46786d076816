//! Every fault of the simulated server against worker-run: each run ends in its bounds, with the
//! right status and exit code, a hand-off, and no busy slot.

mod support;

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
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

/// How a run must end where it cannot complete: statuses and exit codes.
fn expected(fault: &str) -> Option<(&'static [&'static str], &'static [i64])> {
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

/// Runs one task against one fault; the text says what is wrong, if anything is.
fn run_against(fault: &str) -> Option<String> {
    let home = Home::new();
    let repo = repository(&[("calc.py", "def add(a, b):\n    return a - b\n")]);
    let script = home.path().join("script.toml");
    std::fs::write(&script, SCRIPT).unwrap();
    let sim = Sim::start([
        "--fault".as_ref(),
        fault.as_ref(),
        "--script".as_ref(),
        script.as_os_str(),
    ]);
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
    let Ok(handoff) = serde_json::from_str::<Value>(ended.stdout.trim()) else {
        return Some(format!("{fault}: no hand-off: {ended:?}"));
    };
    let status = handoff["status"].as_str().unwrap_or_default();
    let code = i64::from(ended.code.unwrap_or(-1));
    let (statuses, codes) = expected(fault).unwrap_or((&["completed"], &[0]));
    if !statuses.contains(&status) || !codes.contains(&code) {
        return Some(format!(
            "{fault}: {status} {code}, expected {statuses:?} {codes:?}: {}",
            handoff["status_reason"]
        ));
    }
    if took > WALL {
        return Some(format!("{fault}: took {took:?}"));
    }
    // Faults that freeze the engine or ignore hang-ups keep their slot by design.
    let frozen = ["engine-dead", "engine-stalled", "deaf", "mute"].contains(&fault);
    if !frozen && !is_idle(&sim) {
        return Some(format!("{fault}: a slot is still busy"));
    }
    None
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
    let queue = Mutex::new(names.into_iter());
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().unwrap().next();
                    let Some(fault) = next else { break };
                    if let Some(problem) = run_against(&fault) {
                        wrong.lock().unwrap().push(problem);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
