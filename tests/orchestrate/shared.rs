//! One server for several: two runs in two repositories, and somebody who asks it without our tools.

use std::io::Write as _;
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::served::{Pipe, chats, done, planner, rule, task, write};
use crate::support::{Run, Sim, eventually, repository};

const LONG: Duration = Duration::from_secs(60);

/// A server whose worker model takes its time, and a planner with three tasks.
fn pipe(slots: u32) -> Pipe {
    let tasks: Vec<Value> = ["a", "b", "c"]
        .map(|id| {
            let file = format!("{id}.txt");
            let check = format!("test -f {file}");
            task(
                id,
                id,
                &format!("Write {file} please."),
                &[&file],
                &[&check],
            )
        })
        .to_vec();
    let mut rules = vec![
        planner(&json!({"direct": false, "tasks": tasks})),
        json!({"name": "foreign", "when": {"first": "I am somebody else"},
               "step": [{"say": "hello", "wait": "120s"}]}),
    ];
    for id in ["a", "b", "c"] {
        let turns = [write(&format!("{id}.txt"), "x\n"), done("written")];
        let mut slow = rule(id, &format!("Write {id}.txt please."), &turns);
        for step in slow["step"].as_array_mut().unwrap() {
            step["wait"] = json!("300ms");
        }
        rules.push(slow);
    }
    let pipe = Pipe::new(&[("README.md", "x\n")], &rules);
    // The server would take more at once; the configured sweet spot counts.
    pipe.home.config(&format!(
        "[[provider]]\nid = 'arc'\nbase_url = '{}'\nslots = {slots}\n[review]\nmode = 'off'\n",
        pipe.sim.base_url
    ));
    pipe
}

fn start(pipe: &Pipe, folder: &Path) -> std::process::Child {
    let run = Run::tool("orchestrate", &pipe.home)
        .args(["run", "three files", "--max-parallel", "3"])
        .cwd(folder);
    let mut command = run.command();
    command
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    command.spawn().unwrap()
}

/// The most requests that were in flight at once, of those that `counts` names.
fn most_at_once(chats: &[Value], counts: impl Fn(&Value) -> bool) -> i32 {
    let mut edges: Vec<(u64, i32)> = Vec::new();
    for chat in chats.iter().filter(|c| counts(c)) {
        edges.push((chat["arrived_ms"].as_u64().unwrap(), 1));
        // One that is still open ends after everything else.
        edges.push((chat["ended_ms"].as_u64().unwrap_or(u64::MAX), -1));
    }
    edges.sort_unstable();
    let mut now = 0;
    let running = edges.iter().map(|(_, step)| {
        now += step;
        now
    });
    running.max().unwrap_or(0)
}

#[test]
fn q10_two_orchestrates_never_have_more_than_the_slots_in_flight() {
    let pipe = pipe(2);
    let other = repository(&[("README.md", "x\n")]);
    let mut both = [start(&pipe, pipe.path()), start(&pipe, other.path())];
    for child in &mut both {
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
    assert_eq!(most_at_once(&chats(&pipe.sim), |_| true), 2);
}

/// A chat that comes from none of our tools and stays open until it is dropped.
fn foreign(sim: &Sim) -> TcpStream {
    let host = sim.root().strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let body = json!({"model": "qwen38", "stream": true,
                      "messages": [{"role": "user", "content": "I am somebody else"}]})
    .to_string();
    write!(
        stream,
        "POST /v1/chat/completions HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    stream
}

#[test]
fn q10_two_orchestrates_wait_for_a_foreign_client() {
    let pipe = pipe(1);
    let other = repository(&[("README.md", "x\n")]);
    let stream = foreign(&pipe.sim);
    let is_foreign = |c: &Value| c["rule"] == "foreign";
    eventually("the foreign request runs", LONG, || {
        chats(&pipe.sim).iter().any(is_foreign).then_some(())
    });
    let mut both = [start(&pipe, pipe.path()), start(&pipe, other.path())];
    eventually("both wait for the one slot", LONG, || {
        let slots = Run::tool("slot-lock", &pipe.home).arg("status").run();
        let status: Value = serde_json::from_str(slots.stdout.trim()).ok()?;
        (status["keys"][0]["waiting"].as_array()?.len() == 2).then_some(())
    });
    assert!(
        chats(&pipe.sim).iter().all(is_foreign),
        "none of ours came between"
    );
    // Its client hangs up; now it is our turn, one at a time.
    drop(stream);
    for child in &mut both {
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
    assert_eq!(most_at_once(&chats(&pipe.sim), |c| !is_foreign(c)), 1);
}

#[test]
fn q10_two_orchestrates_leave_a_foreign_client_its_slot() {
    let pipe = pipe(2);
    let other = repository(&[("README.md", "x\n")]);
    let stream = foreign(&pipe.sim);
    let is_foreign = |c: &Value| c["rule"] == "foreign";
    eventually("the foreign request runs", LONG, || {
        chats(&pipe.sim).iter().any(is_foreign).then_some(())
    });
    let mut both = [start(&pipe, pipe.path()), start(&pipe, other.path())];
    for child in &mut both {
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
    assert_eq!(most_at_once(&chats(&pipe.sim), |c| !is_foreign(c)), 1);
    drop(stream);
}
