//! `quickstart.sh`: to its report, with your server, and interrupted anywhere.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::examples;
use crate::support::{Ended, Home, Run, Sim, eventually, tools_dir};

/// The processes whose environment holds this text; zombies hold none.
fn processes_with(mark: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        if String::from_utf8_lossy(&environment).contains(mark) {
            let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            found.push(String::from_utf8_lossy(&line).replace('\0', " "));
        }
    }
    found
}

/// `quickstart.sh` with a home and a temporary folder of its own, and a mark to find what it left.
struct Quickstart {
    home: Home,
    mark: String,
}

impl Quickstart {
    fn new(name: &str) -> Self {
        let home = Home::new();
        fs::create_dir(home.path().join("tmp")).unwrap();
        Self {
            mark: format!("QUICKSTART_MARK={name}-{}", std::process::id()),
            home,
        }
    }

    fn script(&self) -> Run {
        self.behind(&[])
    }

    /// The script as the last argument of another program.
    fn behind(&self, words: &[&str]) -> Run {
        let (name, value) = self.mark.split_once('=').unwrap();
        let script = examples().join("quickstart.sh");
        let run = match words {
            [] => Run::program(script, &self.home),
            [program, args @ ..] => Run::program(program, &self.home).args(args).arg(script),
        };
        run.env("BATON_BIN_DIR", tools_dir())
            .env("TMPDIR", self.home.path().join("tmp"))
            .env(name, value)
    }

    fn left_nothing(&self) {
        let limit = Duration::from_secs(10);
        let gone = || processes_with(&self.mark).is_empty().then_some(());
        let last = processes_with(&self.mark).join("\n");
        eventually(
            &format!("everything has ended, but there was:\n{last}"),
            limit,
            gone,
        );
    }
}

#[test]
fn the_quickstart_ends_completed_with_two_integrated_tasks() {
    let quickstart = Quickstart::new("whole");
    // As on the machine of someone who signs all commits, with a key that asks for a person.
    let demanding = quickstart.home.path().join("gitconfig");
    let settings = "[commit]\n\tgpgsign = true\n[gpg]\n\tprogram = false\n";
    fs::write(&demanding, settings).unwrap();
    let ended = quickstart
        .script()
        .env("GIT_CONFIG_GLOBAL", &demanding)
        .run()
        .code(0);
    let first = ended.stdout.lines().next().unwrap_or_default();
    assert!(
        first.starts_with("Server: simulated, with a scripted model"),
        "{ended:#?}"
    );
    let (before, after) = ended
        .stdout
        .split_once("== The tests of the sample")
        .unwrap();
    assert!(
        before.contains("FAILED: "),
        "it starts with failing tests: {ended:#?}"
    );
    assert!(
        !after.contains("FAILED: "),
        "they pass afterwards: {ended:#?}"
    );
    assert_eq!(after.matches("ok: ").count(), 6, "{ended:#?}");
    let report = report_of(&ended);
    assert_eq!(report["status"], "completed", "{report:#}");
    let integrated = report["rounds"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|round| round["tasks"].as_array().unwrap())
        .filter(|task| task["merge"]["state"] == "integrated")
        .count();
    assert_eq!(integrated, 2, "{report:#}");
    quickstart.left_nothing();
}

/// The `report.json` of the run that the quickstart names at its end.
fn report_of(ended: &Ended) -> serde_json::Value {
    let line = ended
        .stdout
        .lines()
        .find_map(|line| line.strip_prefix("run:"));
    let folder = line.unwrap().trim().split(" (").next().unwrap();
    serde_json::from_str(&fs::read_to_string(Path::new(folder).join("report.json")).unwrap())
        .unwrap()
}

#[test]
fn the_quickstart_uses_your_server_when_it_is_ready() {
    let script = examples().join("quickstart-model.toml");
    let sim = Sim::start(["--script", script.to_str().unwrap()]);
    let quickstart = Quickstart::new("yours");
    let ended = quickstart.script().server(&sim.base_url).run().code(0);
    assert_eq!(
        ended.stdout.lines().next(),
        Some(&*format!("Server: yours, {}", sim.base_url))
    );
    quickstart.left_nothing();
}

#[test]
fn the_quickstart_says_why_it_does_not_use_your_server() {
    let quickstart = Quickstart::new("unready");
    // A port that nothing listens on.
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let url = format!("http://127.0.0.1:{port}/v1");
    let ended = quickstart.script().server(&url).run().code(0);
    let first = ended.stdout.lines().next().unwrap_or_default();
    assert!(first.contains(&format!("({url} is not ready)")), "{first}");
}

#[test]
fn an_interrupted_quickstart_leaves_no_process_and_exits_130() {
    let stages = [
        "Server: ",
        "== A repository",
        "== One task by a pipe",
        "== orchestrate run",
        "orchestrate: plan-1: started",
        "orchestrate: slug: started",
        "orchestrate: slug: integrated",
    ];
    for stage in stages {
        let quickstart = Quickstart::new("interrupted");
        // As a shell without job control starts `quickstart.sh &`: with SIGINT ignored.
        let script = "trap '' INT; exec \"$0\" 2>&1";
        let mut child: Child = quickstart
            .behind(&["sh", "-c", script])
            .command()
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let reached = lines
            .by_ref()
            .map_while(Result::ok)
            .any(|line| line.starts_with(stage));
        assert!(reached, "{stage}");
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        let status = eventually("it ends", Duration::from_secs(30), || {
            child.try_wait().unwrap()
        });
        assert_eq!(status.code(), Some(130), "{stage}");
        quickstart.left_nothing();
    }
}

#[test]
fn a_wrong_argument_of_the_quickstart_names_the_right_one() {
    Quickstart::new("wrong")
        .script()
        .arg("--realmodel")
        .run()
        .code(2)
        .stderr_has("--real-model");
}
