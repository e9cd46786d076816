//! The sandbox from inside: what a command can do, and forty ways out that must not work.
//!
//! Where this kernel cannot make a border, the tests that need it say so and skip.
#![expect(clippy::unwrap_used, reason = "a test helper may panic")]
#![expect(clippy::print_stderr, reason = "a skipped test says so aloud")]

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use baton_process::sandbox::{Border, Level, Network, Policy, Surroundings, available};
use baton_process::{Cancel, Command, ExitStatus, Outcome, SpawnError};
use tempfile::TempDir;

/// A work tree with a neighbour that must stay as it is.
struct World {
    dir: TempDir,
    policy: Policy,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["work/.git/hooks", "work/src", "outside", "tmp"] {
            fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        fs::write(dir.path().join("work/.git/config"), "[core]\n").unwrap();
        fs::write(dir.path().join("work/src/a.txt"), "inside\n").unwrap();
        fs::write(dir.path().join("outside/secret"), "the secret\n").unwrap();
        fs::write(dir.path().join("outside/task.json"), "{}\n").unwrap();
        let path = std::env::var_os("PATH");
        let surroundings = Surroundings::new(std::env::var_os("HOME").as_deref(), path.as_deref());
        let policy = Policy {
            tmp: Some(dir.path().join("tmp")),
            minimum: Level::Off,
            launcher: launcher(),
            ..Policy::for_work_tree(dir.path().join("work"), &surroundings)
        };
        Self { dir, policy }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn command(&self, script: &str) -> Command {
        Command::new("sh")
            .arg("-c")
            .arg(script)
            .cwd(self.path("work"))
            .env("OUTSIDE", self.path("outside"))
            .timeout(Duration::from_secs(60))
            .sandbox(self.policy.clone())
    }

    fn run(&self, script: &str) -> Outcome {
        self.command(script).run(&Cancel::new()).unwrap()
    }

    /// Runs an attempt to break out; the neighbour must be untouched whatever it did.
    fn attempt(&self, border: Border, script: &str) -> Option<Outcome> {
        if !covers(&self.policy, border) {
            return None;
        }
        let before = picture(&self.path("outside"));
        let outcome = self.run(script);
        assert_eq!(
            picture(&self.path("outside")),
            before,
            "{script}\n{outcome:?}"
        );
        Some(outcome)
    }

    /// As `attempt`, and it must also have failed.
    fn refused(&self, border: Border, script: &str) {
        if let Some(outcome) = self.attempt(border, script) {
            assert!(!outcome.success(), "{script}\n{outcome:?}");
        }
    }
}

/// The example program of this crate that is nothing but a launcher.
fn launcher() -> PathBuf {
    let exe = std::env::current_exe().unwrap();
    let launcher = exe
        .parent()
        .unwrap()
        .parent()
        .unwrap()
        .join("examples/launcher");
    assert!(
        launcher.is_file(),
        "`cargo test` builds it; `cargo test --test` does not"
    );
    launcher
}

fn covers(policy: &Policy, border: Border) -> bool {
    let coverage = available(policy).unwrap();
    let covered = coverage.covered.contains(&border);
    if !covered {
        eprintln!("SKIPPED: {}", coverage.describe());
    }
    covered
}

/// Names, modes and contents of everything in a folder.
fn picture(dir: &Path) -> Vec<(PathBuf, u32, Vec<u8>)> {
    let mut entries: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let mode = path.symlink_metadata().unwrap().permissions().mode();
            let content = fs::read(&path).unwrap_or_default();
            (path, mode, content)
        })
        .collect();
    entries.sort();
    entries
}

fn has(program: &str) -> bool {
    let found = Command::new("sh")
        .arg("-c")
        .arg(format!("command -v {program}"));
    let found = found.run(&Cancel::new()).unwrap().success();
    if !found {
        eprintln!("SKIPPED: there is no {program}");
    }
    found
}

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

// ---- 1 to 12: changing files elsewhere ------------------------------------------------------

#[test]
fn escape_01_writing_by_an_absolute_path() {
    World::new().refused(Border::Writes, "echo bad > $OUTSIDE/new");
}

#[test]
fn escape_02_writing_by_dots() {
    World::new().refused(Border::Writes, "echo bad > ../outside/new");
}

#[test]
fn escape_03_overwriting_the_task_file() {
    World::new().refused(Border::Writes, "echo bad > $OUTSIDE/task.json");
}

#[test]
fn escape_04_truncating() {
    World::new().refused(Border::Writes, ": > $OUTSIDE/task.json");
}

#[test]
fn escape_05_deleting() {
    World::new().refused(
        Border::Writes,
        "rm -f $OUTSIDE/secret && test ! -e $OUTSIDE/secret && false",
    );
}

#[test]
fn escape_06_renaming_out() {
    World::new().refused(Border::Writes, "mv src/a.txt $OUTSIDE/a.txt");
}

#[test]
fn escape_07_through_a_link_that_was_there() {
    let world = World::new();
    symlink(world.path("outside"), world.path("work/link")).unwrap();
    world.refused(Border::Writes, "echo bad > link/new");
}

#[test]
fn escape_08_through_a_link_made_meanwhile() {
    World::new().refused(Border::Writes, "ln -s $OUTSIDE link && echo bad > link/new");
}

#[test]
fn escape_09_through_a_hard_link() {
    World::new().refused(
        Border::Writes,
        "ln $OUTSIDE/task.json here && echo bad > here",
    );
}

#[test]
fn escape_10_through_proc_self_root() {
    World::new().refused(Border::Writes, "echo bad > /proc/self/root$OUTSIDE/new");
}

#[test]
fn escape_11_through_the_directory_of_another_process() {
    let script = "for p in /proc/[0-9]*; do echo bad > $p/root$OUTSIDE/new; \
                  echo bad > $p/cwd/../outside/new; done 2>/dev/null; exit 1";
    World::new().refused(Border::Writes, script);
}

#[test]
fn escape_12_into_the_home_and_the_system() {
    let script = "for d in $HOME /etc /usr /var /opt /boot /var/tmp/.. /; do \
                  echo bad > $d/baton-escape-test && echo wrote $d; done 2>/dev/null; exit 1";
    let world = World::new();
    let Some(outcome) = world.attempt(Border::Writes, script) else {
        return;
    };
    assert_eq!(outcome.stdout.text(), "");
    assert!(!Path::new("/etc/baton-escape-test").exists());
}

// ---- 13 to 17: attributes -------------------------------------------------------------------

#[test]
fn escape_13_chmod_elsewhere() {
    World::new().refused(Border::Attributes, "chmod 777 $OUTSIDE/task.json");
}

#[test]
fn escape_14_chown_elsewhere() {
    World::new().refused(Border::Attributes, "chown 65534 $OUTSIDE/task.json");
}

#[test]
fn escape_15_times_elsewhere() {
    World::new().refused(Border::Attributes, "touch -d 2001-01-01 $OUTSIDE/task.json");
}

#[test]
fn escape_16_chmod_through_a_link() {
    World::new().refused(
        Border::Attributes,
        "ln -s $OUTSIDE/task.json l && chmod 777 l",
    );
}

#[test]
fn escape_17_making_a_system_file_run_as_root() {
    World::new().refused(Border::Attributes, "chmod u+s /bin/sh");
}

// ---- 18 to 21: reading ----------------------------------------------------------------------

#[test]
fn escape_18_reading_a_neighbour() {
    let world = World::new();
    world.refused(Border::Reads, "cat $OUTSIDE/secret");
}

#[test]
fn escape_19_reading_password_files() {
    let script = "cat /etc/shadow /etc/gshadow 2>/dev/null | grep . && exit 0; exit 1";
    World::new().refused(Border::Reads, script);
}

#[test]
fn escape_20_reading_keys_in_the_home() {
    let home = tempfile::tempdir().unwrap();
    for name in [".ssh", ".aws", ".cargo/bin"] {
        fs::create_dir_all(home.path().join(name)).unwrap();
    }
    for name in [
        ".ssh/id_rsa",
        ".aws/credentials",
        ".netrc",
        ".cargo/credentials.toml",
    ] {
        fs::write(home.path().join(name), "the key\n").unwrap();
    }
    fs::write(home.path().join(".cargo/bin/tool"), "the tool\n").unwrap();
    let mut world = World::new();
    let path = std::env::var_os("PATH");
    let surroundings = Surroundings::new(Some(home.path().as_os_str()), path.as_deref());
    world.policy = Policy {
        tmp: world.policy.tmp.clone(),
        minimum: Level::Off,
        launcher: launcher(),
        ..Policy::for_work_tree(world.path("work"), &surroundings)
    };
    let h = home.path().display();
    let script = format!(
        "cat {h}/.cargo/bin/tool; cat {h}/.ssh/id_rsa {h}/.aws/credentials {h}/.netrc {h}/.cargo/credentials.toml; true"
    );
    let Some(outcome) = world.attempt(Border::Reads, &script) else {
        return;
    };
    assert_eq!(outcome.stdout.text(), "the tool\n");
}

#[test]
fn escape_21_reading_by_a_hard_link_or_a_copy() {
    let script = "ln $OUTSIDE/secret s 2>/dev/null; cp $OUTSIDE/secret c 2>/dev/null; \
                  cat s c 2>/dev/null | grep secret";
    World::new().refused(Border::Reads, script);
}

// ---- 22 to 26: git --------------------------------------------------------------------------

#[test]
fn escape_22_a_git_hook() {
    let world = World::new();
    world.refused(Border::Protected, "echo bad > .git/hooks/post-checkout");
    assert!(!world.path("work/.git/hooks/post-checkout").exists());
}

#[test]
fn escape_23_git_configuration() {
    let world = World::new();
    world.refused(
        Border::Protected,
        "echo '[core] fsmonitor = ./bad' >> .git/config",
    );
    assert_eq!(
        fs::read_to_string(world.path("work/.git/config")).unwrap(),
        "[core]\n"
    );
}

#[test]
fn escape_24_another_git_folder_in_its_place() {
    let world = World::new();
    world.refused(
        Border::Protected,
        "mv .git old && mkdir .git && echo bad > .git/config",
    );
    assert!(world.path("work/.git/hooks").is_dir());
}

#[test]
fn escape_25_git_through_another_name_of_it() {
    world_with_link_to_git().refused(Border::Protected, "echo bad > src/g/config");
}

fn world_with_link_to_git() -> World {
    let world = World::new();
    symlink("../.git", world.path("work/src/g")).unwrap();
    world
}

#[test]
fn escape_26_a_git_file_that_points_elsewhere() {
    let world = World::new();
    fs::remove_dir_all(world.path("work/.git")).unwrap();
    fs::write(world.path("work/.git"), "gitdir: /somewhere\n").unwrap();
    // A plain file does not count against the coverage, so the mounts are asked for.
    if !covers(&world.policy, Border::Attributes) {
        return;
    }
    world.refused(Border::Writes, "echo 'gitdir: /bad' > .git");
    world.refused(Border::Writes, "rm -f .git; echo 'gitdir: /bad' > .git");
    assert_eq!(
        fs::read_to_string(world.path("work/.git")).unwrap(),
        "gitdir: /somewhere\n"
    );
}

// ---- 27 to 33: network and sockets ----------------------------------------------------------

#[test]
fn escape_27_tcp_to_our_loopback() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    if has("bash") {
        let script = format!("bash -c 'echo bad > /dev/tcp/127.0.0.1/{port}'");
        World::new().refused(Border::Network, &script);
    }
}

#[test]
fn escape_28_udp_to_our_loopback() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_nonblocking(true).unwrap();
    let port = socket.local_addr().unwrap().port();
    let world = World::new();
    if !has("bash") || !covers(&world.policy, Border::Network) {
        return;
    }
    world.run(&format!("bash -c 'echo bad > /dev/udp/127.0.0.1/{port}'"));
    assert!(socket.recv(&mut [0; 16]).is_err(), "nothing must arrive");
}

#[test]
fn escape_29_no_route_to_the_world() {
    if has("bash") {
        World::new().refused(
            Border::Network,
            "bash -c 'echo bad > /dev/tcp/192.0.2.1/80'",
        );
    }
}

#[test]
fn escape_30_network_none_has_no_loopback_either() {
    let mut world = World::new();
    world.policy.network = Network::None;
    if has("python3") {
        let serve = "import socket; s=socket.socket(); s.bind(('127.0.0.1',0)); s.listen(); \
                     c=socket.create_connection(s.getsockname(), 2)";
        world.refused(Border::Network, &format!("python3 -c \"{serve}\""));
    }
}

#[test]
fn a_loopback_of_its_own_works() {
    let world = World::new();
    if has("python3") && covers(&world.policy, Border::Network) {
        let serve = "import socket; s=socket.socket(); s.bind(('127.0.0.1',0)); s.listen(); \
                     c=socket.create_connection(s.getsockname(), 2); print('met')";
        let outcome = world.run(&format!("python3 -c \"{serve}\""));
        assert_eq!(outcome.stdout.text(), "met\n", "{outcome:?}");
    }
}

fn connects(world: &World, address: &str) -> Option<bool> {
    let client = "import socket,sys,time; s=socket.socket(socket.AF_UNIX); s.settimeout(2); \
                  a=sys.argv[1]; s.connect('\\0'+a[1:] if a[0]=='@' else a); s.send(b'bad')";
    if !has("python3") || !covers(&world.policy, Border::Sockets) {
        return None;
    }
    Some(
        world
            .run(&format!("python3 -c \"{client}\" {address}"))
            .success(),
    )
}

#[test]
fn escape_31_a_unix_socket_in_tmp() {
    let world = World::new();
    let path = world.path("outside/socket");
    let _listener = UnixListener::bind(&path).unwrap();
    if let Some(connected) = connects(&world, path.to_str().unwrap()) {
        assert!(!connected);
    }
}

#[test]
fn escape_32_an_abstract_socket() {
    use std::os::linux::net::SocketAddrExt;
    let name = format!("baton-escape-{}", std::process::id());
    let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap();
    let _listener = UnixListener::bind_addr(&address).unwrap();
    let world = World::new();
    if let Some(connected) = connects(&world, &format!("@{name}")) {
        assert!(!connected);
    }
    let shared = World {
        policy: Policy {
            network: Network::All,
            ..world.policy
        },
        dir: world.dir,
    };
    if let Some(connected) = connects(&shared, &format!("@{name}")) {
        assert!(!connected, "with our network too");
    }
}

#[test]
fn escape_33_sockets_in_run_are_not_there() {
    let world = World::new();
    let Some(outcome) = world.attempt(Border::Sockets, "find /run -type s 2>/dev/null") else {
        return;
    };
    assert_eq!(outcome.stdout.text(), "");
}

// ---- 34 to 40: processes and privileges -----------------------------------------------------

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
    let _ = std::io::stderr().flush();
}
