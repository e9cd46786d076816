//! Launchers that work: what goes there and what comes back.

use std::time::Duration;

use serde_json::{Value, json};

use crate::kit::{WAYS, Yard, rule, slow, task};
use crate::support::{eventually, git};

#[test]
fn a_task_goes_there_and_its_work_comes_back_through_banners() {
    for io in WAYS {
        let yard = Yard::simple();
        let launcher = yard.launcher(
            "banner",
            "echo 'Welcome to box2!'; echo 'all is logged' >&2; printf 'prompt> '\n\
             run \"$@\"\ncode=$?; echo logout; exit $code",
        );
        yard.one(&launcher, io).run().code(0);
        yard.is_done();
        let placed = yard.records("placed");
        assert_eq!(placed.len(), 2, "{io}: {placed:?}");
        assert_eq!(placed[0]["host"], Value::Null);
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        assert_eq!(placed[1]["host"], host.trim());
        // status/1 and trace/1 say where it was.
        let status = yard.tool(&["status"]).run().code(0).json();
        let row = &status["runs"][0]["tasks"][0];
        assert_eq!(row["host"], host.trim(), "{row:#}");
        assert_eq!(row["launcher"], launcher.display().to_string().as_str());
        assert_eq!((&row["attempt"], &row["placement"]), (&json!(1), &json!(1)));
        let trace = std::fs::read_to_string(yard.run_folder().unwrap().join("trace.json"));
        let trace: Value = serde_json::from_str(&trace.unwrap()).unwrap();
        assert_eq!(trace["tasks"][0]["host"], host.trim(), "{trace:#}");
        // Its events were kept on the way, and the slot was held here for it.
        assert!(
            trace["tasks"][0]["events"]["request"].as_u64() >= Some(1),
            "{trace:#}"
        );
        let attempt = yard.run_folder().unwrap().join("tasks/a.1");
        let launch = std::fs::read_to_string(attempt.join("launch.json")).unwrap();
        let launch: Value = serde_json::from_str(&launch).unwrap();
        assert_eq!(launch["slot_held"], true);
        assert_eq!(launch["tree"].is_null(), io == "shared");
    }
}

#[test]
fn no_key_stands_in_a_file_or_in_an_argument() {
    for io in WAYS {
        let yard = Yard::simple();
        let launcher = yard.launcher("plain", "echo \"$*\" >> \"$there/argv\"; run \"$@\"");
        yard.one(&launcher, io)
            .env("OPENCODE_VLLM_API_KEY", "sk-very-secret-key-1234567890")
            .run()
            .code(0);
        yard.is_done();
        let found = std::process::Command::new("grep")
            .args(["-rl", "very-secret-key"])
            .args([yard.path(), yard.there.path()])
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&found.stdout), "", "{io}");
    }
}

#[test]
fn a_stream_host_sees_nothing_of_the_repository_but_what_travels() {
    let yard = Yard::new(
        &[
            ("README.md", "x\n"),
            (".gitignore", "*.env\nmade\n"),
            ("old.txt", "old\n"),
        ],
        &[
            json!({"name": "a", "when": {"first": "Write a.txt please."}, "step": [
                {"calls": [{"bash": "cat deep/t.env made old.txt > a.txt; rm old.txt; pwd >> a.txt"}]},
                {"calls": [{"done": "written"}]},
            ]}),
        ],
    );
    crate::support::write(yard.path(), "deep/t.env", "K=1\n");
    crate::support::write(yard.path(), "other.env", "not named\n");
    yard.home.config(
        "[worktree]\ncopy = ['deep/*.env']\nsetup = ['echo set up > made; test ! -e other.env']\n",
    );
    let launcher = yard.launcher("plain", "run \"$@\"");
    let mut wide = task("a", "a.txt");
    wide["scope"]["write"] = json!(["a.txt", "old.txt"]);
    yard.through(&launcher, "stream", &[wide]).run().code(0);
    let text = git(yard.path(), &["show", "main:a.txt"]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(&lines[..3], ["K=1", "set up", "old"]);
    assert!(
        !lines[3].contains(&yard.path().display().to_string()),
        "{text}"
    );
    let files = git(yard.path(), &["ls-tree", "-r", "--name-only", "main"]);
    assert_eq!(files, ".gitignore\nREADME.md\na.txt");
    // Nothing stays there but the commits for the next time.
    let kept = yard.there.path().join(".cache/baton/remote");
    let work = std::fs::read_dir(kept.join("work")).unwrap().count();
    assert_eq!(work, 0);
    assert_eq!(git(yard.path(), &["for-each-ref", "refs/baton"]), "");
}

#[test]
fn planner_workers_and_reviewer_all_go_through_a_stream() {
    let plan = json!({"direct": false, "tasks": [task("a", "a.txt"), task("b", "b.txt")]});
    let rules = [
        json!({"name": "planner", "when": {"first": "Plan the work on this goal"}, "step": [
            {"calls": [{"done": "planned", "with": {"result": plan}}]}]}),
        json!({"name": "reviewer", "when": {"first": "Review this change"}, "step": [
            {"calls": [{"done": "fine", "with": {"result": {
                "schema": "review/1", "nonce": "{{between:`nonce` \"|\"}}",
                "head": "{{between:`head` \"|\"}}", "base": "{{between:`base` \"|\"}}",
                "verdict": "approve", "findings": [],
                "checks": {"diff": true, "scope": true, "verification": true}}}}]}]}),
        rule("a", "a.txt"),
        rule("b", "b.txt"),
    ];
    let yard = Yard::new(&[("README.md", "x\n")], &rules);
    let launcher = yard.launcher("plain", "run \"$@\"");
    let config = format!(
        "[run]\nlauncher = ['{}']\nlauncher_io = 'stream'\n",
        launcher.display()
    );
    yard.home.config(&config);
    let report = yard.tool(&["run", "Write two files"]).run().code(0).json();
    assert_eq!(report["status"], "completed", "{report:#}");
    yard.is_done();
    let placements = yard.records("placed").len();
    assert_eq!(
        placements, 8,
        "planner, two workers and a reviewer, twice each"
    );
}

#[test]
fn a_role_may_have_a_launcher_of_its_own_and_a_flag_wins() {
    let yard = Yard::simple();
    let launcher = yard.launcher("plain", "run \"$@\"");
    yard.home.config(&format!(
        "[roles.worker]\nlauncher = ['{}']\n[roles.implementer]\nlauncher = ['{}']\n",
        launcher.display(),
        launcher.display()
    ));
    let plan = yard.plan(&[task("a", "a.txt")]);
    let run = yard
        .tool(&["run", "--review", "off", "--rounds", "1", "--from"])
        .arg(&plan);
    run.clone().args(["--launcher", ""]).run().code(0);
    yard.is_done();
    assert_eq!(yard.records("placed").len(), 0);
    git(yard.path(), &["rm", "-q", "a.txt"]);
    git(yard.path(), &["commit", "-q", "-m", "again"]);
    run.run().code(0);
    yard.is_done();
    assert_eq!(yard.records("placed").len(), 2);
}

#[test]
fn history_travels_once_to_a_host() {
    let yard = Yard::simple();
    let bytes: String = (0..60_000_u32)
        .map(|n| n.wrapping_mul(2_654_435_761).to_string())
        .collect();
    crate::support::write(yard.path(), "large", &bytes);
    git(yard.path(), &["add", "large"]);
    git(yard.path(), &["commit", "-q", "-m", "large"]);
    let launcher = yard.launcher("counting", "tee >(wc -c >> \"$there/bytes\") | run \"$@\"");
    for _ in 0..2 {
        yard.one(&launcher, "stream").run().code(0);
        yard.is_done();
        git(yard.path(), &["rm", "-q", "a.txt"]);
        git(yard.path(), &["commit", "-q", "-m", "again"]);
    }
    let counts = eventually("both were counted", Duration::from_secs(60), || {
        let text = std::fs::read_to_string(yard.there.path().join("bytes")).unwrap_or_default();
        let counts: Vec<u64> = text.lines().map(|l| l.trim().parse().unwrap()).collect();
        (counts.len() == 2).then_some(counts)
    });
    assert!(counts[1] * 4 < counts[0], "{counts:?}");
}

#[test]
fn a_shallow_clone_travels_and_what_does_not_is_said_beforehand() {
    let yard = Yard::simple();
    let commit = git(yard.path(), &["rev-parse", "HEAD"]);
    let link = format!("160000,{},lib", commit.trim());
    git(
        yard.path(),
        &["update-index", "--add", "--cacheinfo", &link],
    );
    let modules = "[submodule \"lib\"]\n\tpath = lib\n\turl = https://box2/lib.git\n";
    crate::support::write(yard.path(), ".gitmodules", modules);
    std::fs::create_dir(yard.path().join("lib")).unwrap();
    git(yard.path(), &["add", ".gitmodules"]);
    git(yard.path(), &["commit", "-q", "-m", "a submodule"]);
    // The history before this commit is not here.
    let edge = git(yard.path(), &["rev-parse", "HEAD"]);
    crate::support::write(yard.path(), ".git/shallow", &format!("{}\n", edge.trim()));
    let launcher = yard.launcher("plain", "run \"$@\"");
    for _ in 0..2 {
        yard.one(&launcher, "stream")
            .run()
            .code(0)
            .stderr_has("submodules do not travel")
            .stderr_has("empty there: lib");
        yard.is_done();
        git(yard.path(), &["rm", "-q", "a.txt"]);
        git(yard.path(), &["commit", "-q", "-m", "again"]);
    }
}

#[test]
fn two_workers_at_once_share_a_host() {
    let yard = Yard::new(
        &[("README.md", "x\n")],
        &[rule("a", "a.txt"), slow("b", "b.txt", "1s")],
    );
    let launcher = yard.launcher("plain", "run \"$@\"");
    yard.through(
        &launcher,
        "stream",
        &[task("a", "a.txt"), task("b", "b.txt")],
    )
    .run()
    .code(0);
    yard.is_done();
    assert_eq!(git(yard.path(), &["show", "main:b.txt"]), "by b");
}

#[test]
fn a_store_of_several_hosts_is_asked_where_the_worker_is() {
    for io in WAYS {
        let yard = Yard::simple();
        // Nobody listens there: the worker's own slot-lock says so.
        yard.home
            .config("[slots]\nstore = 'etcd://127.0.0.1:1/baton'\n");
        let launcher = yard.launcher("plain", "run \"$@\"");
        let ended = yard.one(&launcher, io).run();
        assert_eq!(ended.code, Some(69), "{ended:#?}");
        let attempt = yard.run_folder().unwrap().join("tasks/a.1");
        let launch = std::fs::read_to_string(attempt.join("launch.json")).unwrap();
        assert!(launch.contains("\"slot_held\": false"), "{launch}");
        let command = std::fs::read_to_string(attempt.join("command.txt")).unwrap();
        assert!(!command.contains("slot-lock"), "{command}");
        assert!(yard.journal().contains("etcd"), "{}", yard.journal());
    }
}

#[test]
fn doctor_shows_the_launcher_and_looks_for_its_program() {
    let yard = Yard::simple();
    let launcher = yard.launcher("plain", "run \"$@\"");
    yard.home.config(&format!(
        "[run]\nlauncher = ['{}', 'x']\n",
        launcher.display()
    ));
    let report = yard.tool(&["doctor"]).run().json();
    let check = |report: &Value| -> Value {
        let checks = report["checks"].as_array().unwrap();
        let found = checks.iter().find(|c| c["name"] == "launcher");
        found.unwrap_or(&Value::Null).clone()
    };
    let found = check(&report);
    assert_ne!(found["status"], "fail", "{found:#}");
    assert!(
        found["message"].as_str().unwrap().contains("plain x"),
        "{found:#}"
    );
    yard.home
        .config("[run]\nlauncher = ['no-such-launcher', '-N1']\n");
    let found = check(&yard.tool(&["doctor"]).run().json());
    assert_eq!(found["status"], "fail", "{found:#}");
    assert!(
        found["message"]
            .as_str()
            .unwrap()
            .contains("no-such-launcher")
    );
}

/// An etcd of one member, in a temporary folder; it ends with the test.
struct Etcd {
    process: std::process::Child,
    port: u16,
    _dir: tempfile::TempDir,
}

impl Drop for Etcd {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Etcd {
    /// None, said aloud, where it is not installed.
    fn start(test: &str) -> Option<Self> {
        if crate::real::program("etcd").is_none() {
            eprintln!("{test}: skipped: etcd is not installed");
            return None;
        }
        let ports = [(); 2].map(|()| std::net::TcpListener::bind("127.0.0.1:0").unwrap());
        let [client, peer] = ports.map(|p| p.local_addr().unwrap().port());
        let dir = tempfile::tempdir().unwrap();
        let url = |port: u16| format!("http://127.0.0.1:{port}");
        let child = std::process::Command::new("etcd")
            .arg("--data-dir")
            .arg(dir.path().join("data"))
            .args(["--name", "m", "--log-level", "error", "--logger", "zap"])
            .args(["--initial-cluster", &format!("m={}", url(peer))])
            .args(["--listen-client-urls", &url(client)])
            .args(["--advertise-client-urls", &url(client)])
            .args(["--listen-peer-urls", &url(peer)])
            .args(["--initial-advertise-peer-urls", &url(peer)])
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        eventually("etcd listens", Duration::from_secs(60), || {
            std::net::TcpStream::connect(("127.0.0.1", client)).ok()
        });
        Some(Self {
            process: child,
            port: client,
            _dir: dir,
        })
    }
}

#[test]
fn a_slot_of_several_hosts_is_taken_where_the_worker_is() {
    let Some(etcd) = Etcd::start("slots in etcd") else {
        return;
    };
    let yard = Yard::simple();
    let store = format!("etcd://127.0.0.1:{}/baton", etcd.port);
    yard.home.config(&format!("[slots]\nstore = '{store}'\n"));
    let launcher = yard.launcher("plain", "run \"$@\"");
    yard.one(&launcher, "stream").run().code(0);
    yard.is_done();
    let attempt = yard.run_folder().unwrap().join("tasks/a.1");
    let reservation = std::fs::read_to_string(attempt.join("reservation.json")).unwrap();
    let reservation: Value = serde_json::from_str(&reservation).unwrap();
    assert_eq!(reservation["acquired"], true, "{reservation:#}");
    let holder = reservation["holder"]["command"].as_str().unwrap();
    assert!(holder.contains("worker-run"), "{reservation:#}");
    let command = std::fs::read_to_string(attempt.join("command.txt")).unwrap();
    assert!(!command.contains("slot-lock"), "{command}");
}
