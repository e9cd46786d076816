//! What must work as usual behind the border.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use baton_process::sandbox::{Level, Policy, available};
use baton_process::{Cancel, Command, ExitStatus, Outcome, SpawnError};

use crate::world::{World, launcher};

#[test]
fn this_kernel_gives_what_is_said_here() {
    let world = World::new();
    let coverage = available(&world.policy).unwrap();
    eprintln!("{}", coverage.describe());
    assert_eq!(
        coverage.level == Level::Full,
        coverage.not_covered.is_empty()
    );
}

#[test]
fn work_goes_on_as_usual_inside() {
    let world = World::new();
    let script = "cat src/a.txt && echo new > src/b.txt && mkdir d && mv src/b.txt d && ls d \
                  && rm -r d && ln -s src link && echo $TMPDIR > $TMPDIR/x && cat $TMPDIR/x \
                  && echo hi > /tmp/y && cat /tmp/y && echo x > /dev/null && chmod 600 src/a.txt \
                  && : > src/a.txt && exit 5";
    let outcome = world.run(script);
    assert_eq!(outcome.exit, ExitStatus::Code(5), "{outcome:?}");
    let tmp = world.path("tmp");
    assert_eq!(
        outcome.stdout.text(),
        format!("inside\nb.txt\n{}\nhi\n", tmp.display())
    );
    assert!(world.path("work/link").is_symlink());
    assert!(outcome.leftovers.is_empty(), "{outcome:?}");
}

#[test]
fn exit_codes_and_signals_come_through() {
    let world = World::new();
    assert_eq!(world.run("exit 0").exit, ExitStatus::Code(0));
    assert_eq!(world.run("exit 77").exit, ExitStatus::Code(77));
    assert_eq!(world.run("kill -SEGV $$").exit, ExitStatus::Signal(11));
    assert_eq!(world.run("kill -TERM $$").exit, ExitStatus::Signal(15));
}

#[test]
fn a_missing_program_is_still_127() {
    let world = World::new();
    let command = Command::new("no-such-program-here")
        .cwd(world.path("work"))
        .sandbox(world.policy.clone());
    let error = command.run(&Cancel::new()).unwrap_err();
    assert_eq!(error.exit_code(), 127, "{error}");
}

#[test]
fn a_missing_working_directory_is_still_named() {
    let world = World::new();
    let command = Command::new("true")
        .cwd(world.path("gone"))
        .sandbox(world.policy.clone());
    let error = command.run(&Cancel::new()).unwrap_err();
    assert!(
        matches!(error, SpawnError::WorkingDirectory { .. }),
        "{error:?}"
    );
}

#[test]
fn a_program_that_is_no_launcher_is_an_error_and_not_a_sandbox() {
    let world = World::new();
    let policy = Policy {
        launcher: "true".into(),
        ..world.policy.clone()
    };
    let error = Command::new("sh")
        .sandbox(policy)
        .run(&Cancel::new())
        .unwrap_err();
    assert!(
        error.to_string().contains("launcher_main_if_asked"),
        "{error}"
    );
}

#[test]
fn too_little_coverage_refuses_to_run() {
    let world = World::new();
    let coverage = available(&world.policy).unwrap();
    if coverage.level == Level::Full {
        eprintln!("SKIPPED: this kernel covers everything, so nothing is refused");
        return;
    }
    let policy = Policy {
        minimum: Level::Full,
        ..world.policy.clone()
    };
    let script = format!("echo ran > {}", world.path("work/ran").display());
    let error = Command::new("sh")
        .args(["-c", &script])
        .sandbox(policy)
        .run(&Cancel::new());
    assert!(
        matches!(error, Err(SpawnError::Sandbox { .. })),
        "{error:?}"
    );
    assert!(!world.path("work/ran").exists());
}

/// Runs the launcher by hand behind another program, as a tool of another user would: script in,
/// outcome and report out. `work` must be writable for that user.
fn by_hand(behind: &[&str], launcher: &Path, work: &Path, script: &str) -> (Outcome, String) {
    let line = "exec \"$0\" __baton-sandbox --read / --cover /tmp --cover /run --cover /dev/shm \
                --write \"$1\" --network loopback --minimum off --report 9 -- sh -c \"$2\" 9>report";
    let mut words: Vec<String> = behind.iter().map(|word| (*word).to_owned()).collect();
    words.extend(["sh", "-c", line].map(String::from));
    words.extend([launcher, work].map(|path| path.display().to_string()));
    words.push(script.to_owned());
    let command = Command::new(&words[0]).args(&words[1..]).cwd(work);
    let outcome = command
        .timeout(Duration::from_secs(60))
        .run(&Cancel::new())
        .unwrap();
    (
        outcome,
        fs::read_to_string(work.join("report")).unwrap_or_default(),
    )
}

#[test]
fn an_unprivileged_user_has_the_sandbox_too() {
    let works = Command::new("setpriv")
        .args([
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            "unshare",
            "-Ur",
            "true",
        ])
        .run(&Cancel::new());
    if !works.is_ok_and(|outcome| outcome.success()) {
        eprintln!("SKIPPED: cannot become another user who may have a user namespace");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (program, work) = (dir.path().join("launcher"), dir.path().join("work"));
    fs::copy(launcher(), &program).unwrap();
    fs::create_dir(&work).unwrap();
    for path in [dir.path(), &program] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
    }
    std::os::unix::fs::chown(&work, Some(65534), Some(65534)).unwrap();
    let script = "id -u; echo in > in; echo out > ../out; echo $$";
    let behind = [
        "setpriv",
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
        "--",
    ];
    let (outcome, report) = by_hand(&behind, &program, &work, script);
    assert_eq!(outcome.stdout.text(), "65534\n2\n", "{outcome:?}");
    assert!(
        report.contains(":1111"),
        "all namespaces are its own: {report}"
    );
    assert!(work.join("in").exists() && !dir.path().join("out").exists());
}

#[test]
fn without_namespaces_landlock_still_holds_the_files() {
    // A user namespace has limits of its own, so one without further namespaces can be made.
    let limits = "for f in user pid mnt net ipc; do echo 0 > /proc/sys/user/max_${f}_namespaces; \
                  done; exec \"$@\"";
    let behind = ["unshare", "-Ur", "sh", "-c", limits, "sh"];
    let works = Command::new(behind[0])
        .args(&behind[1..])
        .arg("true")
        .run(&Cancel::new());
    if !works.is_ok_and(|outcome| outcome.success()) {
        eprintln!("SKIPPED: cannot make a place without namespaces");
        return;
    }
    let world = World::new();
    let script = "echo in > in; echo out > ../outside/new; echo $(($$ > 100)); exit 7";
    let (outcome, report) = by_hand(&behind, &launcher(), &world.path("work"), script);
    if !report.contains("facts ") || report.contains("facts 0:") {
        eprintln!("SKIPPED: this kernel has no Landlock ({report})");
        return;
    }
    assert!(report.contains(":0000"), "{report}");
    assert_eq!(
        outcome.exit,
        ExitStatus::Code(7),
        "the launcher became the command"
    );
    assert!(world.path("work/in").exists() && !world.path("outside/new").exists());
}

#[test]
fn a_time_limit_ends_everything_inside() {
    let world = World::new();
    let script = "trap '' TERM; (trap '' TERM; sleep 300) & setsid sleep 301 & sleep 302";
    let command = world.command(script);
    let command = command
        .timeout(Duration::from_millis(500))
        .grace(Duration::from_millis(200));
    let outcome = command.run(&Cancel::new()).unwrap();
    assert!(outcome.timed_out, "{outcome:?}");
    assert!(outcome.duration < Duration::from_secs(10));
}

#[test]
fn term_reaches_the_command() {
    let world = World::new();
    let script = "trap 'echo asked; exit 3' TERM; while :; do sleep 0.05; done";
    let outcome = world
        .command(script)
        .timeout(Duration::from_secs(2))
        .run(&Cancel::new())
        .unwrap();
    assert_eq!(
        (outcome.exit, outcome.stdout.text().as_str()),
        (ExitStatus::Code(3), "asked\n")
    );
}
