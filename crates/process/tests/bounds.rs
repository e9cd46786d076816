//! Commands in bounds: what the shell part of the bug log asks of the process layer.
#![expect(clippy::unwrap_used, reason = "a test helper may panic")]

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use baton_process::{
    Cancel, Capture, Command, ExitStatus, Outcome, Output, Space, SpawnError, Stdin,
};

fn shell(script: &str) -> Command {
    Command::new("sh").arg("-c").arg(script)
}

fn run(command: &Command) -> Outcome {
    command.run(&Cancel::new()).unwrap()
}

/// Whether the process named by this pid file still runs (a zombie does not).
fn runs(pid_file: &Path) -> bool {
    let pid = fs::read_to_string(pid_file).unwrap();
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit(')')
        .next()
        .and_then(|r| r.trim().chars().next())
        .is_some_and(|s| s != 'Z')
}

#[test]
fn b01_a_background_child_that_holds_the_pipe_does_not_hold_us() {
    let dir = tempfile::tempdir().unwrap();
    let outcome = run(&shell("sleep 60 & echo $! > pid; echo done").cwd(dir.path()));
    assert_eq!(outcome.stdout.text(), "done\n");
    assert!(outcome.duration < Duration::from_secs(5));
    assert_eq!(outcome.leftovers.len(), 1);
    assert_eq!(outcome.leftovers[0].command, "sleep 60");
    assert!(
        !runs(&dir.path().join("pid")),
        "the background child is killed"
    );
}

#[test]
fn b02_the_group_is_killed_although_its_leader_has_ended() {
    let dir = tempfile::tempdir().unwrap();
    let script =
        "(trap '' TERM; echo $$ > /dev/null; exec sleep 300) >/dev/null 2>&1 & echo $! > pid";
    let outcome = run(&shell(script)
        .cwd(dir.path())
        .timeout(Duration::from_secs(30)));
    assert!(outcome.success());
    assert!(!runs(&dir.path().join("pid")));
    assert_eq!(outcome.leftovers.len(), 1);
}

#[test]
fn b03_a_question_on_stdin_gets_an_end_of_file() {
    let outcome = run(&shell(
        "printf 'Ok to proceed? (y) '; read answer; echo \"[$answer]$?\"",
    ));
    assert_eq!(outcome.stdout.text(), "Ok to proceed? (y) []1\n");
}

#[test]
fn b04_there_is_no_terminal_to_ask_on() {
    let outcome = run(&shell("read answer < /dev/tty"));
    assert!(!outcome.success());
    assert!(outcome.duration < Duration::from_secs(5));
    // Where there is none anyway, only the session of its own shows that none could be had.
    let leads = "read -r line < /proc/$$/stat; set -- ${line##*) }; test \"$4\" = $$";
    if cfg!(target_os = "linux") {
        assert!(run(&shell(leads)).success());
    }
}

#[test]
fn b06_the_time_limit_ends_the_whole_group() {
    let dir = tempfile::tempdir().unwrap();
    let script = "sleep 300 & echo $! > pid; wait";
    let outcome = run(&shell(script)
        .cwd(dir.path())
        .timeout(Duration::from_millis(300)));
    assert!(outcome.timed_out && !outcome.cancelled);
    assert!(!runs(&dir.path().join("pid")));
}

#[test]
fn b07_a_child_that_ignores_term_is_killed_after_the_grace() {
    let command = shell("trap '' TERM; while :; do sleep 1; done")
        .timeout(Duration::from_millis(200))
        .grace(Duration::from_millis(300));
    let outcome = run(&command);
    assert!(outcome.timed_out);
    assert_eq!(outcome.exit, ExitStatus::Signal(9));
    assert!(outcome.duration < Duration::from_secs(10));
}

#[test]
fn b08_a_setsid_child_is_found_reported_and_killed() {
    let dir = tempfile::tempdir().unwrap();
    let script = "setsid sh -c 'echo $$ > pid; exec sleep 300' & while [ ! -s pid ]; do :; done";
    let outcome = run(&shell(script).cwd(dir.path()).hunt());
    assert!(outcome.success());
    assert!(!runs(&dir.path().join("pid")));
    assert!(
        outcome.leftovers.iter().any(|l| l.command == "sleep 300"),
        "{outcome:?}"
    );
}

#[test]
fn a_job_in_a_group_of_its_own_is_found_by_its_session() {
    let dir = tempfile::tempdir().unwrap();
    let script = "set -m; sleep 300 & echo $! > pid; set +m";
    let outcome = run(&shell(script).cwd(dir.path()).hunt());
    assert!(!runs(&dir.path().join("pid")), "{outcome:?}");
}

#[test]
fn b09_endless_output_stays_in_bounds() {
    let command = shell("yes 'a line of output'")
        .capture(Capture {
            head: 1000,
            tail: 1000,
            ..Capture::default()
        })
        .timeout(Duration::from_millis(400));
    let outcome = run(&command);
    assert_eq!(
        (outcome.stdout.head.len(), outcome.stdout.tail.len()),
        (1000, 1000)
    );
    assert!(outcome.stdout.total > 100_000);
    assert!(outcome.stdout.text().contains("bytes left out"));
}

#[test]
fn b10_the_whole_output_is_in_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("full.log");
    let capture = Capture {
        head: 10,
        tail: 10,
        ..Capture::default()
    }
    .to_file(&path);
    let outcome = run(
        &shell("i=0; while [ $i -lt 5000 ]; do echo $i; i=$((i+1)); done")
            .stdout(Output::Capture(capture)),
    );
    assert_eq!(fs::read(&path).unwrap().len() as u64, outcome.stdout.total);
    assert!(outcome.stdout.text().contains(path.to_str().unwrap()));
}

#[test]
fn b11_output_that_is_not_utf8_keeps_the_exit_code() {
    let outcome = run(&shell(r"printf '\360ok'; exit 7"));
    assert_eq!(outcome.stdout.text(), "\u{fffd}ok");
    assert_eq!(outcome.exit, ExitStatus::Code(7));
}

#[test]
fn b13_a_pipe_does_not_hide_a_failure() {
    let outcome = run(&Command::shell("false | cat"));
    if Path::new("/bin/bash").exists() || Path::new("/usr/bin/bash").exists() {
        assert_eq!(outcome.exit, ExitStatus::Code(1));
    } else {
        eprintln!("SKIPPED: there is no bash, so there is no pipefail");
    }
}

#[test]
fn b15_a_working_directory_that_is_gone_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let gone = dir.path().join("gone");
    let error = shell("true").cwd(&gone).run(&Cancel::new()).unwrap_err();
    assert!(
        matches!(error, SpawnError::WorkingDirectory { .. }),
        "{error:?}"
    );
    assert!(
        error.to_string().contains(gone.to_str().unwrap()),
        "{error}"
    );
}

#[test]
fn a_missing_program_is_127_and_a_file_that_is_no_program_126() {
    let dir = tempfile::tempdir().unwrap();
    let error = Command::new("no-such-program-here")
        .run(&Cancel::new())
        .unwrap_err();
    assert_eq!(
        (error.exit_code(), error.to_string().as_str()),
        (127, "no-such-program-here: command not found")
    );
    let file = dir.path().join("file");
    fs::write(&file, "text").unwrap();
    assert_eq!(
        Command::new(&file)
            .run(&Cancel::new())
            .unwrap_err()
            .exit_code(),
        126
    );
}

#[test]
fn a_script_without_its_interpreter_is_not_called_missing() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("script");
    fs::write(&file, "#!/no/such/interpreter\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    let error = Command::new(&file).run(&Cancel::new()).unwrap_err();
    assert!(error.to_string().contains("interpreter"), "{error}");
}

#[test]
fn a_big_input_and_a_big_output_do_not_block_each_other() {
    let bytes = vec![b'x'; 1 << 20];
    let command = Command::new("cat")
        .stdin(Stdin::Bytes(bytes.clone()))
        .stdout(Output::Capture(Capture::all(2 << 20)))
        .timeout(Duration::from_secs(60));
    assert_eq!(run(&command).stdout.bytes(), Some(bytes));
}

#[test]
fn a_command_that_does_not_read_its_input_is_no_error() {
    let command = shell("exit 3").stdin(Stdin::Bytes(vec![b'x'; 1 << 20]));
    assert_eq!(run(&command).exit, ExitStatus::Code(3));
}

#[test]
fn merged_output_keeps_its_order() {
    let outcome = run(&shell("echo one; echo two >&2; echo three").merge_stderr());
    assert_eq!(outcome.stdout.text(), "one\ntwo\nthree\n");
    assert_eq!(outcome.stderr.total, 0);
}

#[test]
fn output_can_go_to_an_open_file() {
    let dir = tempfile::tempdir().unwrap();
    let file = Arc::new(fs::File::create(dir.path().join("log")).unwrap());
    run(&shell("echo out; echo err >&2")
        .stdout(Output::File(Arc::clone(&file)))
        .stderr(Output::File(file)));
    assert_eq!(
        fs::read_to_string(dir.path().join("log")).unwrap(),
        "out\nerr\n"
    );
}

#[test]
fn the_environment_is_what_was_asked_for() {
    let command = shell("echo \"$A$B$HOME\"")
        .env("A", "1")
        .env("B", "2")
        .env_remove("HOME");
    assert_eq!(run(&command).stdout.text(), "12\n");
    let clean = Command::new("/usr/bin/env").env_clear().env("ONLY", "this");
    assert_eq!(run(&clean).stdout.text(), "ONLY=this\n");
}

#[test]
fn a_cancellation_ends_the_command_at_once() {
    let cancel = Cancel::new();
    let other = cancel.clone();
    let started = Instant::now();
    let outcome = std::thread::scope(|scope| {
        let running = scope.spawn(|| shell("echo up; sleep 300").run(&cancel).unwrap());
        other.cancel_by_signal(2);
        running.join().unwrap()
    });
    assert!(outcome.cancelled && !outcome.timed_out && !outcome.success());
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_stopped_command_still_ends_at_its_limit() {
    let command = shell("kill -STOP $$").timeout(Duration::from_millis(300));
    let outcome = run(&command);
    assert!(outcome.timed_out);
    assert_eq!(outcome.exit, ExitStatus::Signal(15));
}

#[test]
fn no_zombie_is_left() {
    run(&shell("exit 0"));
    let own = std::process::id();
    let children =
        fs::read_to_string(format!("/proc/{own}/task/{own}/children")).unwrap_or_default();
    for pid in children.split_whitespace() {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        assert!(!stat.contains("(sh) Z"), "{stat}");
    }
}

#[test]
fn a_command_that_fills_the_disk_is_ended_and_says_so() {
    // A file system in memory, so that nobody else's files count.
    let Ok(dir) = tempfile::tempdir_in("/dev/shm") else {
        eprintln!("SKIPPED: there is no /dev/shm");
        return;
    };
    let outcome = Command::new("sh")
        .args(["-c", "while :; do head -c 1000000 /dev/zero >> big; done"])
        .cwd(dir.path())
        .timeout(Duration::from_secs(60))
        .space(Space {
            folders: vec![dir.path().to_path_buf()],
            most_bytes: 8 << 20,
            spare_bytes: 0,
        })
        .run(&Cancel::new())
        .unwrap();
    assert!(!outcome.success() && !outcome.timed_out, "{outcome:?}");
    let why = outcome.no_space.unwrap();
    assert!(why.contains("MiB of disk space went in /dev/shm"), "{why}");
}
