//! The program itself: its first line, its end, its words.

use std::io::Read;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::kit::{CHAT, chats, get, post, request};
use crate::support::{Home, Run, Sim, sim_server_path};

#[test]
fn the_first_line_tells_where_it_is() {
    let sim = Sim::start(["--kind", "llamacpp", "--model", "a", "--model", "b"]);
    assert!(sim.base_url.starts_with("http://127.0.0.1:") && sim.base_url.ends_with("/v1"));
    assert_eq!(get(&sim, "/health").json(), json!({"status": "ok"}));
}

#[test]
fn it_ends_at_once_when_told_to_even_with_a_request_running() {
    let mut child = Command::new(sim_server_path())
        .args(["--fault", "stall-after-headers"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = child.stdout.take().unwrap();
    let mut byte = [0];
    out.read_exact(&mut byte).unwrap();
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn it_ends_when_its_input_closes_if_that_was_asked_for() {
    let home = Home::new();
    let ended = Run::program(sim_server_path(), &home)
        .arg("--until-eof")
        .run()
        .code(0);
    assert!(ended.stdout.contains("\"base_url\""));
}

#[test]
fn faults_are_listed_with_their_cases() {
    let home = Home::new();
    Run::program(sim_server_path(), &home)
        .arg("--list-faults")
        .run()
        .code(0)
        .stdout_has("eof-mid-tool-call")
        .stdout_has("S-10");
}

#[test]
fn wrong_arguments_and_scripts_are_refused_with_a_reason() {
    let home = Home::new();
    let run = |args: &[&str]| {
        Run::program(sim_server_path(), &home)
            .args(args)
            .run()
            .code(2)
    };
    assert!(
        run(&["--fault", "no-don"])
            .stderr
            .contains("did you mean `no-done`")
    );
    assert!(
        run(&["--script", "/nowhere.toml"])
            .stderr
            .contains("cannot read the script")
    );
    let file = home.path().join("s.toml");
    std::fs::write(&file, "[[rule]]\nwhen.usr = 'x'\nanswer.say = 'y'\n").unwrap();
    let stderr = run(&["--script", file.to_str().unwrap()]).stderr;
    assert!(
        stderr.contains("rule[0].when") && stderr.contains("usr"),
        "{stderr}"
    );
}

#[test]
fn a_request_is_recorded_whole() {
    let sim = Sim::start(["--slots", "1"]);
    post(&sim, CHAT, &request("hi", json!({"max_tokens": 3})));
    let record = &chats(&sim)[0];
    assert_eq!(record["body"]["max_tokens"], 3);
    assert_eq!(record["finish"], "length");
    assert_eq!(
        (&record["outcome"], &record["slot"]),
        (&json!("answered"), &json!(0))
    );
    assert_eq!(record["completion_tokens"], 3);
}

#[test]
fn r31_https_with_a_certificate_nobody_knows() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("ca.pem");
    let sim = Sim::start(["--tls".as_ref(), file.as_os_str()]);
    assert!(
        sim.base_url.starts_with("https://127.0.0.1:"),
        "{}",
        sim.base_url
    );
    let url = format!("{}/models", sim.base_url);
    let curl = |more: &[&str]| {
        let home = Home::new();
        Run::program("curl", &home)
            .args(["-sS", "--max-time", "20"])
            .args(more)
            .arg(&url)
            .run()
    };
    if Command::new("curl").arg("--version").output().is_err() {
        eprintln!("r31: skipped; there is no curl");
        return;
    }
    assert_eq!(curl(&[]).code, Some(60));
    let known = curl(&["--cacert", file.to_str().unwrap()]).code(0);
    assert_eq!(known.json()["data"][0]["id"], "qwen38");
}
