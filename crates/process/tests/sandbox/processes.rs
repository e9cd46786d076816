//! Escapes 34 to 40: processes, privileges, open files.

use std::fs;
use std::io::Read;
use std::time::Duration;

use baton_process::sandbox::Border;
use baton_process::{Cancel, Command, ExitStatus};

use crate::world::{World, covers, has, launcher};

#[test]
fn escape_34_a_daemon_in_a_session_of_its_own() {
    let world = World::new();
    if !covers(&world.policy, Border::Survivors) {
        return;
    }
    let script = "setsid sh -c 'while :; do echo x >> alive; sleep 0.01; done' >/dev/null 2>&1 & \
                  while [ ! -s alive ]; do sleep 0.01; done";
    let outcome = world.run(script);
    assert!(!outcome.leftovers.is_empty(), "{outcome:?}");
    let size = || fs::metadata(world.path("work/alive")).unwrap().len();
    let before = size();
    assert!(!Cancel::new().wait(Duration::from_millis(100)));
    assert_eq!(size(), before, "the daemon is dead");
}

#[test]
fn escape_35_nothing_survives_our_own_sudden_death() {
    let world = World::new();
    if !covers(&world.policy, Border::Survivors) {
        return;
    }
    // A tool of ours is killed while its command runs with a daemon.
    let mut args = vec!["__baton-sandbox".to_owned()];
    for read in ["/usr", "/bin", "/lib", "/lib64", "/dev", "/proc"] {
        args.extend(["--read".to_owned(), read.to_owned()]);
    }
    args.extend([
        "--write".to_owned(),
        world.path("work").display().to_string(),
    ]);
    args.extend(
        [
            "--network",
            "none",
            "--minimum",
            "off",
            "--report",
            "9",
            "--",
        ]
        .map(String::from),
    );
    let script = "setsid sh -c 'while :; do echo x >> alive; sleep 0.01; done' & wait";
    args.extend(["sh", "-c", script].map(String::from));
    let quoted: Vec<String> = args
        .iter()
        .map(|a| format!("'{}'", a.replace('\'', r"'\''")))
        .collect();
    let line = format!(
        "exec {} {} 9>/dev/null",
        launcher().display(),
        quoted.join(" ")
    );
    let mut child = Command::new("sh")
        .arg("-c")
        .arg(line)
        .cwd(world.path("work"))
        .spawn()
        .unwrap();
    let alive = world.path("work/alive");
    let tick = Cancel::new();
    for _ in 0..500 {
        if fs::metadata(&alive).is_ok_and(|data| data.len() > 0) {
            break;
        }
        tick.wait(Duration::from_millis(10));
    }
    assert!(alive.exists(), "the daemon never started");
    child.signal(9);
    child.wait(None, &Cancel::new()).unwrap();
    tick.wait(Duration::from_millis(200));
    let before = fs::metadata(&alive).unwrap().len();
    tick.wait(Duration::from_millis(200));
    assert_eq!(
        fs::metadata(&alive).unwrap().len(),
        before,
        "the daemon is dead"
    );
}

#[test]
fn escape_36_killing_a_process_outside() {
    let world = World::new();
    let mut victim = Command::new("sleep").arg("300").spawn().unwrap();
    world.attempt(
        Border::Processes,
        &format!("kill -9 {}; kill -9 -1; true", victim.pid()),
    );
    assert_eq!(victim.try_wait().unwrap(), None);
    victim.terminate(Duration::from_secs(5)).unwrap();
}

#[test]
fn escape_37_reading_our_environment() {
    let world = World::new();
    let own = std::process::id();
    let script = format!("cat /proc/{own}/environ /proc/$PPID/environ 2>/dev/null | grep -a CARGO");
    world.refused(Border::Processes, &script);
}

#[test]
fn escape_38_mounting_and_device_nodes() {
    let world = World::new();
    world.refused(Border::Writes, "mknod disk b 254 0");
    world.refused(
        Border::Writes,
        "mount --bind $OUTSIDE src && echo bad > src/new",
    );
    world.refused(Border::Writes, "umount $PWD && echo bad > $OUTSIDE/new");
    if has("unshare") {
        world.refused(
            Border::Writes,
            "unshare -Urm sh -c 'mount -o remount,rw / ; echo bad > $OUTSIDE/new'",
        );
    }
}

#[test]
fn escape_39_an_open_file_that_our_caller_left_to_us() {
    let world = World::new();
    if !covers(&world.policy, Border::Writes) {
        return;
    }
    // The shell plays a caller that has file 7 open; the launcher must not pass it on.
    let args = [
        "--read",
        "/",
        "--network",
        "none",
        "--minimum",
        "off",
        "--report",
        "9",
        "--",
    ];
    let line = format!(
        "exec 7>{0}/leaked 9>/dev/null; exec {1} __baton-sandbox {2} sh -c 'echo bad >&7'",
        world.path("outside").display(),
        launcher().display(),
        args.join(" "),
    );
    Command::new("sh")
        .arg("-c")
        .arg(line)
        .run(&Cancel::new())
        .unwrap();
    let mut content = String::new();
    fs::File::open(world.path("outside/leaked"))
        .unwrap()
        .read_to_string(&mut content)
        .unwrap();
    assert_eq!(content, "");
}

#[test]
fn escape_40_kernel_settings() {
    let world = World::new();
    let script = "for f in /proc/sys/kernel/core_pattern /proc/sys/vm/drop_caches \
                  /proc/sysrq-trigger /sys/kernel/uevent_helper; do \
                  [ -e $f ] && cat $f > $TMPDIR/old 2>/dev/null; \
                  (cat $TMPDIR/old > $f) 2>/dev/null && echo wrote $f; done; exit 1";
    let Some(outcome) = world.attempt(Border::Writes, script) else {
        return;
    };
    assert_eq!(outcome.stdout.text(), "");
}

#[test]
fn the_hidden_argument_is_of_no_use_by_hand() {
    let outcome = Command::new(launcher())
        .args(["__baton-sandbox", "--network", "all", "--", "sh"])
        .run(&Cancel::new())
        .unwrap();
    assert_eq!(outcome.exit, ExitStatus::Code(2));
    assert!(outcome.stderr.text().contains("internal use"));
}
