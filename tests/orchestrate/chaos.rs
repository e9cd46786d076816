//! SIGKILL at random points of the journal; a resume always leads to the undisturbed end.
//!
//! `BATON_CHAOS=200` kills 200 times; without it, 40 times.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::stage::Stage;

/// Small, fast and the same everywhere: the numbers only choose where to kill.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn roll(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

/// Six tasks in three waves; each also looks at what it depends on.
fn plan() -> String {
    let task = |id: &str| {
        json!({"schema": "task/1", "id": id, "prompt": format!("Write {id}.txt."),
               "scope": {"write": [format!("{id}.txt")]},
               "verify": [{"command": format!("test -f {id}.txt")}]})
    };
    let tasks: Vec<Value> = ["a", "b", "c", "d", "e", "f"].map(task).to_vec();
    json!({"schema": "plan/1", "goal": "six files", "tasks": tasks,
           "depends": [["a", "c"], ["b", "d"], ["c", "e"], ["d", "f"]]})
    .to_string()
}

fn stage() -> Stage {
    let stage = Stage::new();
    for (task, needs) in [
        ("a", ""),
        ("b", ""),
        ("c", "a"),
        ("d", "b"),
        ("e", "c"),
        ("f", "d"),
    ] {
        let needs = if needs.is_empty() {
            String::new()
        } else {
            format!("test -f {needs}.txt || handoff failed 'too early'; ")
        };
        let script = format!("{needs}sleep 0.05; echo {task} > {task}.txt; handoff completed done");
        stage.work(task, &script);
    }
    stage
}

fn start(stage: &Stage, args: &[&str], plan: &Path) -> Child {
    let mut command = stage.tool(args).command();
    command.stdin(std::fs::File::open(plan).unwrap());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

fn lines(path: &Path) -> usize {
    std::fs::read_to_string(path).map_or(0, |text| text.matches('\n').count())
}

/// Waits until the journal has this many lines, or the child has ended.
fn reaches(stage: &Stage, child: &mut Child, wanted: usize) -> bool {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let journal = stage.run_folder_if_any().map(|f| f.join("journal.jsonl"));
        if journal.is_some_and(|j| lines(&j) >= wanted) {
            return true;
        }
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        assert!(
            Instant::now() < end,
            "the journal does not reach {wanted} lines"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Kills one of the running workers, if there is one.
fn kill_a_worker(stage: &Stage, dice: &mut Dice) -> bool {
    let folders: Vec<_> = std::fs::read_dir(stage.run_folder().join("tasks"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.path().join("process.json"))
        .filter(|p| {
            p.exists()
                && !p
                    .with_file_name("handoff.json")
                    .metadata()
                    .is_ok_and(|m| m.len() > 0)
        })
        .collect();
    if folders.is_empty() {
        return false;
    }
    let chosen = &folders[usize::try_from(dice.roll(folders.len() as u64)).unwrap()];
    let Ok(identity) = serde_json::from_str::<Value>(&std::fs::read_to_string(chosen).unwrap())
    else {
        return false;
    };
    let pid = i32::try_from(identity["pid"].as_u64().unwrap()).unwrap();
    if let Some(pid) = rustix::process::Pid::from_raw(pid) {
        let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
    }
    true
}

#[test]
fn o21_o22_chaos_a_killed_run_resumes_to_the_undisturbed_end() {
    let wanted: u64 = std::env::var("BATON_CHAOS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(40);
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    let mut kills = 0;
    while kills < wanted {
        let stage = stage();
        let file = stage.stub("plan.json");
        std::fs::write(&file, plan()).unwrap();
        let mut child = start(&stage, &["run", "--from", "-", "--review", "off"], &file);
        let mut at = 1 + usize::try_from(dice.roll(12)).unwrap();
        let (mut killed_here, mut workers_killed) = (0, false);
        while killed_here < 6 && reaches(&stage, &mut child, at) {
            if dice.roll(4) == 0 {
                workers_killed |= kill_a_worker(&stage, &mut dice);
            } else {
                child.kill().unwrap();
                child.wait().unwrap();
                // Whatever was done, the target is as it was or as it will be, never between.
                let main = stage.files("main");
                assert!(main.len() == 1 || main.len() == 7, "{main:?}");
                child = start(&stage, &["resume"], &file);
            }
            kills += 1;
            killed_here += 1;
            at = lines(&stage.run_folder().join("journal.jsonl"))
                + 1
                + usize::try_from(dice.roll(10)).unwrap();
        }
        let code = child.wait().unwrap().code();
        let journal = stage.journal();
        if code == Some(2) {
            // Killed before the run was on record at all: nothing was begun.
            assert!(!journal.contains("run_started"), "{journal}");
            continue;
        }
        assert_eq!(code, Some(0), "{journal}");
        assert_eq!(
            stage.files("main"),
            [
                "README.md",
                "a.txt",
                "b.txt",
                "c.txt",
                "d.txt",
                "e.txt",
                "f.txt"
            ]
        );
        assert_eq!(
            stage.git(&["rev-list", "--count", "main"]),
            "7",
            "one commit a task"
        );
        assert_eq!(stage.git(&["status", "--porcelain"]), "");
        // Each task has one commit; and where no worker was killed, each was also started once.
        let mut starts: BTreeMap<String, usize> = BTreeMap::new();
        for worker in stage.workers() {
            *starts.entry(worker).or_default() += 1;
        }
        let once = starts.len() == 6 && starts.values().all(|n| *n == 1);
        assert!(once || workers_killed, "{starts:?}\n{journal}");
        stage.no_process_left();
    }
}
