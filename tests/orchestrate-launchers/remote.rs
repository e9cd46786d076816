//! `worker-run remote` by hand.

use serde_json::{Value, json};

use crate::kit::{Yard, task};
use crate::support::{Run, git};

fn launch(yard: &Yard) -> Value {
    let commit = git(yard.path(), &["rev-parse", "HEAD"]);
    let mut task = task("a", "a.txt");
    task["schema"] = json!("task/1");
    json!({"schema": "launch/1", "token": "t1", "task": task,
           "tree": {"commit": commit, "repository": "by-hand"}})
}

/// Frames as the manual says to write them, in shell.
const FRAMES: &str =
    "f() { printf '\\nbaton-launch/1 %s t1 %d\\n' $1 $(stat -c %s $2); cat $2; }\n";

#[test]
fn a_task_can_be_sent_by_hand() {
    let yard = Yard::simple();
    let order = yard.home.path().join("launch.json");
    std::fs::write(&order, launch(&yard).to_string()).unwrap();
    let bundle = yard.home.path().join("base.bundle");
    git(
        yard.path(),
        &["bundle", "create", "-q", bundle.to_str().unwrap(), "HEAD"],
    );
    let script = format!(
        "{FRAMES}{{ f launch {}; f bundle {}; }} | worker-run remote",
        order.display(),
        bundle.display()
    );
    let ended = Run::shell(&script, &yard.home)
        .server(&yard.sim.base_url)
        .run()
        .code(0)
        .stdout_has("baton-launch/1 launched t1 ")
        .stdout_has("baton-launch/1 handoff t1 ")
        .stdout_has("baton-launch/1 landed t1 ");
    assert!(ended.stdout.contains("\"exit\":0"), "{ended:#?}");
    // A second time the commits are there already.
    let again = format!("{FRAMES}f launch {} | worker-run remote", order.display());
    Run::shell(&again, &yard.home)
        .server(&yard.sim.base_url)
        .run()
        .code(0)
        .stdout_has("baton-launch/1 bundle t1 ");
}

#[test]
fn what_is_no_order_is_refused_at_once() {
    let yard = Yard::simple();
    let remote = || Run::tool("worker-run", &yard.home).arg("remote");
    remote()
        .run()
        .code(2)
        .stderr_has("stdin ended without a task");
    for (input, said) in [
        ("hello\n", "stdin ended without a task"),
        ("\nbaton-launch/9 launch t 2\n{}\n", "another version"),
        ("\nbaton-launch/1 launch t 2\r\n{}\r\n", "a terminal"),
        ("\nbaton-launch/1 launch t 2\n{}\n", "launch/1"),
        ("\nbaton-launch/1 launch t 99\n{}\n", "the stream ends"),
    ] {
        remote().stdin(input).run().code(2).stderr_has(said);
    }
    let mut order = launch(&yard);
    order["schema"] = json!("launch/2");
    let text = order.to_string();
    let frame = format!("\nbaton-launch/1 launch t1 {}\n{text}\n", text.len());
    remote().stdin(frame).run().code(2).stderr_has("launch/1");
    remote()
        .args(["--folder", "/no/such/folder"])
        .run()
        .code(2)
        .stderr_has("is the folder shared with this host");
}
