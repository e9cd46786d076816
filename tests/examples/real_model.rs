//! `real-model.sh` with a stand-in for the server, and what it says of itself.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::support::{Home, Run, eventually, write};
use crate::{examples, has};

#[test]
fn the_real_model_script_starts_a_server_and_ends_it() {
    if !has("python3") {
        return;
    }
    let home = Home::new();
    // A stand-in that does not build for ten minutes: it says its arguments and waits.
    let server = home.path().join("llama-server");
    write(
        home.path(),
        "llama-server",
        "#!/bin/sh\necho \"$@\" > \"$0.args\"\nexec sleep 300\n",
    );
    write(home.path(), "model.gguf", "");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&server, mode).unwrap();
    let script = Run::program(examples().join("real-model.sh"), &home);
    let mut child = script
        .arg("serve")
        .env("LLAMA_SERVER", &server)
        .env("LLAMA_MODEL", home.path().join("model.gguf"))
        .env("SLOTS", "2")
        .command()
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let hello: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert!(
        hello["base_url"].as_str().unwrap().ends_with("/v1"),
        "{hello}"
    );
    let args = eventually("the server started", Duration::from_secs(10), || {
        fs::read_to_string(home.path().join("llama-server.args"))
            .ok()
            .filter(|a| !a.is_empty())
    });
    assert!(args.contains("--parallel 2 --ctx-size 16384"), "{args}");
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let server_pid = hello["pid"].as_u64().unwrap();
    eventually("the server ended", Duration::from_secs(10), || {
        (!Path::new(&format!("/proc/{server_pid}/exe")).exists()).then_some(())
    });
}

#[test]
fn the_real_model_script_explains_itself() {
    let home = Home::new();
    let script = || Run::program(examples().join("real-model.sh"), &home);
    script()
        .arg("--help")
        .run()
        .code(0)
        .stdout_has("LLAMA_SERVER");
    script().run().code(2);
}
