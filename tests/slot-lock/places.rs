//! Where slot files are, and who may use them.

use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use crate::kit::Slots;
use crate::support::{Home, Run, copy_program, tool_path};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

/// Runs slot-lock as another user; none (said aloud) when this is not root.
fn as_nobody(home: &Home, dir: &Path, words: &[&str]) -> Option<Run> {
    if !rustix::process::getuid().is_root() {
        eprintln!("skipped: needs root to run as another user");
        return None;
    }
    // The build directory may be closed to other users; a copy in a public place is not.
    let copy = home.path().join("slot-lock");
    copy_program(&tool_path("slot-lock"), &copy);
    fs::set_permissions(home.path(), Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&copy, Permissions::from_mode(0o755)).unwrap();
    let drop = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    Some(
        Run::program("setpriv", home)
            .env("BATON_LOCK_DIR", dir)
            .args(drop)
            .arg(copy)
            .args(words),
    )
}

const TRY: [&str; 8] = ["--key", "k", "--slots", "1", "--wait", "0", "--", "true"];

#[test]
fn the_default_directory_is_private_and_in_the_state_folder() {
    let home = Home::new();
    let ended = Run::tool("slot-lock", &home).args(TRY).run().code(0);
    assert_eq!(ended.stderr, "");
    let dir = home.path().join(".local/state/baton/slots");
    assert_eq!(mode(&dir), 0o700);
    assert_eq!(mode(&dir.join("k")), 0o700);
    assert_eq!(mode(&dir.join("k/slot-0")), 0o600);
    let status = Run::tool("slot-lock", &home).arg("status").run().json();
    assert_eq!(status["directory"], dir.to_str().unwrap());
    let state = home.path().join("state");
    Run::tool("slot-lock", &home)
        .env("XDG_STATE_HOME", &state)
        .args(TRY)
        .run()
        .code(0);
    assert!(state.join("baton/slots/k/slot-0").exists());
}

#[test]
fn l13_a_group_directory_gives_the_group_its_rights_whatever_the_umask() {
    let slots = Slots::new();
    fs::create_dir(slots.directory()).unwrap();
    fs::set_permissions(slots.directory(), Permissions::from_mode(0o2770)).unwrap();
    let inner = format!(
        "umask 077; exec '{}' {}",
        tool_path("slot-lock").display(),
        TRY.join(" ")
    );
    let run = Run::program("sh", &slots.home).env("BATON_LOCK_DIR", slots.directory());
    run.args(["-c", &inner]).run().code(0);
    assert_eq!(mode(&slots.file("")), 0o2770);
    assert_eq!(mode(&slots.file("slot-0")), 0o660);
    assert_eq!(mode(&slots.file("gate")), 0o660);
}

#[test]
fn l13_a_file_of_another_user_is_told_about_with_the_way_out() {
    let slots = Slots::new();
    let Some(run) = as_nobody(&slots.home, &slots.directory(), &TRY) else {
        return;
    };
    assert_eq!(slots.try_once("1"), 0);
    fs::set_permissions(slots.directory(), Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(slots.file(""), Permissions::from_mode(0o755)).unwrap();
    let ended = run
        .run()
        .code(125)
        .stderr_has("Permission denied")
        .stderr_has("belongs to user 0");
    ended.stderr_has("2770").stderr_has("BATON_LOCK_DIR");
}

#[test]
fn l14_root_and_another_user_share_slots_in_a_sticky_directory() {
    let slots = Slots::new();
    let Some(run) = as_nobody(&slots.home, &slots.directory(), &TRY) else {
        return;
    };
    let rule = fs::read_to_string("/proc/sys/fs/protected_regular").unwrap_or_default();
    if rule.trim() == "0" {
        eprintln!("fs.protected_regular is off here: how a file is opened makes no difference");
    }
    fs::create_dir(slots.directory()).unwrap();
    fs::set_permissions(slots.directory(), Permissions::from_mode(0o1777)).unwrap();
    run.run().code(0);
    assert_eq!(fs::metadata(slots.file("slot-0")).unwrap().uid(), 65534);
    let holder = slots.hold(&["--key", "k", "--slots", "1"]);
    as_nobody(&slots.home, &slots.directory(), &TRY)
        .unwrap()
        .run()
        .code(75)
        .stderr_has("pid");
    holder.finish();
    as_nobody(&slots.home, &slots.directory(), &TRY)
        .unwrap()
        .run()
        .code(0);
}

#[test]
fn a_directory_where_everybody_may_remove_files_is_refused() {
    let slots = Slots::new();
    fs::create_dir(slots.directory()).unwrap();
    fs::set_permissions(slots.directory(), Permissions::from_mode(0o777)).unwrap();
    slots.run(&TRY).run().code(78).stderr_has("sticky bit");
}

#[test]
fn a_place_that_cannot_be_used_is_named_and_left_as_it_was() {
    let slots = Slots::new();
    fs::write(slots.directory(), "a file").unwrap();
    slots
        .run(&TRY)
        .run()
        .code(78)
        .stderr_has("is not a directory");
    assert_eq!(fs::read_to_string(slots.directory()).unwrap(), "a file");
    let below = slots.directory().join("below");
    slots
        .run(&TRY)
        .env("BATON_LOCK_DIR", &below)
        .run()
        .code(125)
        .stderr_has("BATON_LOCK_DIR");
    slots
        .run(&TRY)
        .env("BATON_LOCK_DIR", "/proc/nowhere")
        .run()
        .code(125)
        .stderr_has("/proc/nowhere");
}

#[test]
fn a_symbolic_link_in_place_of_a_slot_file_is_not_followed() {
    let slots = Slots::new();
    fs::create_dir_all(slots.file("")).unwrap();
    let victim = slots.home.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    std::os::unix::fs::symlink(&victim, slots.file("slot-0")).unwrap();
    slots.run(&TRY).run().code(125).stderr_has("symbolic link");
    assert_eq!(fs::read_to_string(victim).unwrap(), "precious");
}

#[test]
fn l18_the_key_does_not_depend_on_the_terminal_or_the_nickname() {
    let slots = Slots::new();
    let url = ["--slots", "1"];
    let with = |name: &str, value: &str| slots.run(&url).env(name, value);
    let script = [
        "--",
        "sh",
        "-c",
        "echo $BATON_PROVIDER; setsid true; ls \"$BATON_LOCK_DIR\"",
    ];
    let ended = with("OPENCODE_VLLM_BASE_URL", "http://Box:8000/v1/")
        .args(script)
        .run()
        .code(0);
    assert_eq!(ended.stdout, "default\nhttp%3A%2F%2Fbox%3A8000\n");
    slots
        .home
        .config("[[provider]]\nid = \"arc\"\nbase_url = \"http://box:8000\"\nslots = 3\n");
    let ended = slots.run(&["--"]).args(&script[1..]).run().code(0);
    assert_eq!(ended.stdout, "arc\nhttp%3A%2F%2Fbox%3A8000\n");
    let status = slots.run(&["status", "http://box:8000/v1"]).run().json();
    assert_eq!(status["keys"][0]["slots"], 3);
}

#[test]
fn a_key_with_slashes_stays_inside_the_directory() {
    let slots = Slots::new();
    for key in [
        "../../escape",
        "a/b/../c",
        ".",
        "..",
        "é 中 \n",
        &"x".repeat(3000),
    ] {
        slots
            .run(&["--key", key, "--slots", "1", "--", "true"])
            .run()
            .code(0);
    }
    let entries = fs::read_dir(slots.directory()).unwrap().count();
    assert_eq!(entries, 6);
    assert_eq!(fs::read_dir(slots.home.path()).unwrap().count(), 1);
    slots
        .run(&["--key", " ", "--slots", "1", "--", "true"])
        .run()
        .code(125)
        .stderr_has("empty");
}

#[test]
fn no_server_named_is_a_configuration_error_that_says_what_to_do() {
    let slots = Slots::new();
    slots
        .run(&["--", "true"])
        .run()
        .code(78)
        .stderr_has("OPENCODE_VLLM_BASE_URL")
        .stderr_has("--key");
    slots
        .run(&["--provider", "x", "--", "true"])
        .run()
        .code(125)
        .stderr_has("no provider `x`");
}

#[test]
fn wrong_use_is_told_in_one_line() {
    let slots = Slots::new();
    for (words, code, text) in [
        (vec!["--slots", "0", "--", "true"], 125, "1..=1024"),
        (vec!["--slots", "10000", "--", "true"], 125, "1..=1024"),
        (
            vec!["--slot", "1", "--", "true"],
            125,
            "did you mean `--slots`",
        ),
        (vec!["--wait", "5", "--", "true"], 125, "examples: 250ms"),
        (
            vec!["--class", "boss", "--", "true"],
            125,
            "interactive, worker, batch",
        ),
        (vec!["status", "--bogus"], 2, "--bogus"),
    ] {
        let ended = slots.run(&words).run().code(code).stderr_has(text);
        assert_eq!(ended.stderr.lines().count(), 1, "{ended:#?}");
    }
    assert!(!slots.directory().exists(), "nothing is left behind");
}

#[test]
fn l17_that_locks_hold_on_one_host_is_told() {
    let home = Home::new();
    let help = Run::tool("slot-lock", &home).arg("--help").run().code(0);
    let words: Vec<&str> = help.stdout.split_whitespace().collect();
    let said =
        "--allow-network-fs Allow a network file system, whose locks may hold on one host only";
    assert!(words.join(" ").contains(said));
}

#[test]
fn status_tells_of_other_places_with_slots_of_the_same_key() {
    let slots = Slots::new();
    Run::tool("slot-lock", &slots.home).args(TRY).run().code(0);
    assert_eq!(slots.try_once("1"), 0);
    let status = slots.run(&["status"]).run().code(0).json();
    let note = status["notes"][0].as_str().unwrap();
    assert!(
        note.contains(".local/state/baton/slots") && note.contains("as well"),
        "{note}"
    );
    slots
        .run(&["status", "--text"])
        .run()
        .code(0)
        .stdout_has("note: ");
}

#[test]
fn a_watched_status_tells_each_change() {
    let slots = Slots::new();
    assert_eq!(slots.try_once("1"), 0);
    let mut watching = crate::kit::Holder::launch(slots.run(&["status", "--watch"]).command());
    assert!(watching.line().contains("\"held\":[]"));
    let holder = slots.hold(&["--key", "k", "--slots", "1"]);
    assert!(watching.line().contains("\"slot\":0"));
    watching.signal(rustix::process::Signal::INT);
    assert_eq!(watching.wait().code(), Some(130));
    holder.finish();
}

#[test]
fn a_directory_that_would_be_another_for_everybody_is_refused() {
    let slots = Slots::new();
    let run = |value: &std::ffi::OsStr| {
        let mut command = slots.run(&TRY).command();
        command.env("BATON_LOCK_DIR", value);
        command.output().unwrap()
    };
    for (value, said) in [
        (&b"locks"[..], "absolute"),
        (b"./locks", "absolute"),
        (b"~/locks", "absolute"),
        (b"/tmp/\xff", "UTF-8"),
    ] {
        let output = run(std::ffi::OsStr::from_bytes(value));
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(78), "{stderr}");
        assert!(
            stderr.contains(said) && stderr.contains("BATON_LOCK_DIR"),
            "{stderr}"
        );
    }
    assert_eq!(fs::read_dir(slots.home.path()).unwrap().count(), 0);
}

#[test]
fn without_a_home_variable_the_users_own_home_is_used() {
    let slots = Slots::new();
    let mut command = slots.run(&["status"]).command();
    command.env_remove("HOME").env_remove("BATON_LOCK_DIR");
    command.env_remove("XDG_STATE_HOME");
    let output = command.output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let document: serde_json::Value = serde_json::from_str(stdout.lines().next().unwrap()).unwrap();
    let passwd = fs::read_to_string("/etc/passwd").unwrap();
    let uid = rustix::process::getuid().as_raw().to_string();
    let line = passwd.lines().find(|l| l.split(':').nth(2) == Some(&uid));
    match line.and_then(|l| l.split(':').nth(5)) {
        Some(home) => assert_eq!(
            document["directory"],
            format!("{home}/.local/state/baton/slots")
        ),
        None => assert_eq!(output.status.code(), Some(78)),
    }
}

/// A FUSE mount, unmounted on drop; none (said aloud) where that is not possible.
struct Fuse(std::path::PathBuf);

impl Fuse {
    fn mount(home: &Home) -> Option<Self> {
        let (from, to) = (home.path().join("from"), home.path().join("to"));
        fs::create_dir(&from).unwrap();
        fs::create_dir(&to).unwrap();
        let mounted = std::process::Command::new("bindfs")
            .args([&from, &to])
            .status();
        if mounted.is_ok_and(|status| status.success()) {
            return Some(Self(to));
        }
        eprintln!("skipped: needs bindfs and the right to mount with it");
        None
    }
}

impl Drop for Fuse {
    fn drop(&mut self) {
        for tool in [&["fusermount3", "-uz"], &["umount", "-l"]] {
            let ended = std::process::Command::new(tool[0])
                .arg(tool[1])
                .arg(&self.0)
                .status();
            if ended.is_ok_and(|status| status.success()) {
                return;
            }
        }
    }
}

#[test]
fn l15_a_file_system_whose_locks_may_be_local_is_refused_unless_allowed() {
    let home = Home::new();
    let Some(mount) = Fuse::mount(&home) else {
        return;
    };
    let directory = mount.0.join("slots");
    let run = |words: &[&str]| {
        let run = Run::tool("slot-lock", &home).env("BATON_LOCK_DIR", &directory);
        run.args(words).run()
    };
    run(&TRY)
        .code(78)
        .stderr_has("FUSE")
        .stderr_has("--allow-network-fs");
    assert!(!directory.exists(), "nothing is left behind");
    let allowed: Vec<&str> = ["--allow-network-fs"].into_iter().chain(TRY).collect();
    run(&allowed).code(0);
    // The locks do hold among the processes of this host.
    let words = [
        "--allow-network-fs",
        "--key",
        "k",
        "--slots",
        "1",
        "--",
        "sh",
        "-c",
    ];
    let held = Run::tool("slot-lock", &home)
        .env("BATON_LOCK_DIR", &directory)
        .args(words)
        .arg("echo up; read x");
    let holder = crate::kit::Holder::start(&held);
    run(&allowed).code(75);
    holder.finish();
    run(&allowed).code(0);
}

#[test]
fn the_slots_of_a_very_long_key_are_listed_and_released() {
    let slots = Slots::new();
    let key = "é".repeat(300);
    let ended = slots.run(&["acquire", "--slots", "1", "--key", &key]).run();
    let token = ended.code(0).json()["token"].as_str().unwrap().to_owned();
    let listed = slots.run(&["status"]).run().json();
    assert_eq!(listed["keys"][0]["held"].as_array().unwrap().len(), 1);
    slots.run(&["release", &token]).run().code(0);
    slots.run(&["status", &key]).run().code(0);
}
