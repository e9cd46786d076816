//! SIGKILL at random points of a goal's and a plan's life: starting the same command again leads to
//! the undisturbed end.
//!
//! `BATON_CHAOS=50` kills each 50 times; without it, 6 times.

use std::process::Child;
use std::time::{Duration, Instant};

use crate::stage::Stage;
use crate::support::write;

/// Small, fast and the same everywhere: the numbers only choose when to kill.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

fn wanted() -> u64 {
    std::env::var("BATON_CHAOS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(6)
}

/// What is on record: all lines of all journals, and whether the loop's own file is there.
fn progress(stage: &Stage) -> usize {
    let runs = stage.repo.path().join(".orchestrator/runs");
    std::fs::read_dir(runs)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|run| std::fs::read_to_string(run.path().join("journal.jsonl")).ok())
        .map(|journal| journal.matches('\n').count())
        .sum()
}

/// Waits until so much is on record; false when the child has ended before.
fn reaches(stage: &Stage, child: &mut Child, wanted: usize) -> bool {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        if progress(stage) >= wanted {
            return true;
        }
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        assert!(Instant::now() < end, "not {wanted} records within a minute");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Starts `args` again and again, each time killed some records later, until it ends by itself.
fn kill_and_restart(stage: &Stage, args: &[&str], dice: &mut Dice, kills: &mut u64) -> Option<i32> {
    let mut at = usize::try_from(dice.roll(12)).unwrap();
    let mut child = stage.start(args);
    for _ in 0..8 {
        if !reaches(stage, &mut child, at) {
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        *kills += 1;
        at = progress(stage) + usize::try_from(dice.roll(12)).unwrap();
        child = stage.start(args);
    }
    child.wait().unwrap().code()
}

#[test]
fn a_plan_that_is_killed_ends_as_if_it_had_not_been() {
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    let mut kills = 0;
    while kills < wanted() {
        let stage = Stage::new();
        stage.home.config("[review]\nmode = \"off\"\n");
        let steps = ["one", "two", "three", "four"].map(|step| {
            stage.work(
                step,
                &format!("sleep 0.05; echo {step} > {step}.txt; handoff completed done"),
            );
            format!("- [ ] {step}\n  - files: `{step}.txt`\n  - verify: `test -f {step}.txt`\n")
        });
        let text = format!("---\norder: any\n---\n{}", steps.concat());
        write(stage.repo.path(), ".orchestrator/plans/p.md", &text);
        let code = kill_and_restart(&stage, &["run-plan", "p"], &mut dice, &mut kills);
        assert_eq!(code, Some(0), "{}", stage.journal());
        let plan = std::fs::read_to_string(stage.repo.path().join(".orchestrator/plans/p.md"));
        let expected = text
            .replace("[ ]", "[x]")
            .replace("---\n-", "status: complete\n---\n-");
        assert_eq!(plan.unwrap(), expected);
        let files = ["README.md", "four.txt", "one.txt", "three.txt", "two.txt"];
        assert_eq!(stage.files("main"), files);
        assert_eq!(
            stage.git(&["rev-list", "--count", "main"]),
            "5",
            "one commit a step"
        );
        let mut workers = stage.workers();
        workers.sort();
        assert_eq!(
            workers,
            ["four.1", "one.1", "three.1", "two.1"],
            "each step once"
        );
        stage.no_process_left();
    }
}

#[test]
fn a_goal_that_is_killed_ends_as_if_it_had_not_been() {
    let mut dice = Dice(0xD1B5_4A32_D192_ED03);
    let mut kills = 0;
    while kills < wanted() {
        let stage = Stage::new();
        stage
            .home
            .config("[review]\nmode = \"off\"\n[goal]\ncooldown = \"0s\"\n");
        for plan in ["plan-1", "plan-2"] {
            stage.work(plan, "handoff failed 'no plan'");
        }
        stage.work(
            "goal",
            "n=$(ls | grep -c '^f' || true); echo x > f$n.txt; handoff completed wrote",
        );
        stage.work(
            "assess",
            "n=$(git ls-files | grep -c '^f' || true)\n\
             if [ $n -ge 2 ]; then done=true missing=null; else done=false missing='\"more\"'; fi\n\
             handoff completed looked '{\"done\":'$done',\"reason\":\"r\",\"missing\":'$missing',\"question\":null}'",
        );
        // Set first, so that each start is the same command.
        let id = "{\"schema\":\"goal/1\",\"id\":\"g\",\"objective\":\"write two files\",\"status\":\"active\",\
                  \"reason\":null,\"created_at\":\"2026-11-30T10:00:00Z\",\"updated_at\":\"2026-11-30T10:00:00Z\",\
                  \"start\":null,\"continuations\":0,\"without_progress\":0,\"missing\":null,\"current\":null,\
                  \"spent\":{},\"runs\":[]}";
        write(stage.repo.path(), ".orchestrator/goal.json", id);
        let code = kill_and_restart(&stage, &["goal", "run"], &mut dice, &mut kills);
        let goal =
            std::fs::read_to_string(stage.repo.path().join(".orchestrator/goal.json")).unwrap();
        let goal: serde_json::Value = serde_json::from_str(&goal).unwrap();
        // Killed after the goal was reached, the next start finds nothing to do.
        assert_eq!(code, Some(0), "{goal:#}\n{}", stage.journal());
        assert_eq!(goal["status"], "done", "{goal:#}");
        assert_eq!(goal["continuations"], 2, "{goal:#}");
        assert_eq!(stage.files("main"), ["README.md", "f0.txt", "f1.txt"]);
        assert_eq!(
            stage.git(&["rev-list", "--count", "main"]),
            "3",
            "one commit a continuation"
        );
        stage.no_process_left();
    }
}
