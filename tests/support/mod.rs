//! What the end-to-end tests share: running a tool, a simulated server, a sample repository.
//!
//! Each test binary uses the part it needs.
#![expect(dead_code, reason = "each test binary uses a part of this module")]

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// The longest a tool may run in a test before the test fails instead of hanging.
const LONGEST: Duration = Duration::from_secs(120);

/// The path of one of the six tools, built by this `cargo test`.
pub fn tool_path(name: &str) -> PathBuf {
    match name {
        "vllm-health" => env!("CARGO_BIN_EXE_vllm-health"),
        "ctx-estimate" => env!("CARGO_BIN_EXE_ctx-estimate"),
        "slot-lock" => env!("CARGO_BIN_EXE_slot-lock"),
        "worker-run" => env!("CARGO_BIN_EXE_worker-run"),
        "handoff-check" => env!("CARGO_BIN_EXE_handoff-check"),
        "orchestrate" => env!("CARGO_BIN_EXE_orchestrate"),
        _ => panic!("no tool is called {name}"),
    }
    .into()
}

/// The folder of the six tools, to be put in front of `PATH`.
pub fn tools_dir() -> PathBuf {
    tool_path("orchestrate").parent().unwrap().to_owned()
}

/// The simulated server's program, built as an example by the same `cargo test`.
pub fn sim_server_path() -> PathBuf {
    tools_dir().join("examples/sim-server")
}

/// A private home: no test sees the user's configuration, state or keys.
pub struct Home(tempfile::TempDir);

impl Home {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes the user's configuration file.
    pub fn config(&self, text: &str) {
        let dir = self.path().join(".config/baton");
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("config.toml"), text).unwrap();
    }

    /// The environment a tool is given: almost nothing.
    pub fn env(&self) -> BTreeMap<OsString, OsString> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path =
            std::env::join_paths(std::iter::once(tools_dir()).chain(std::env::split_paths(&path)))
                .unwrap();
        let mut env: BTreeMap<OsString, OsString> = BTreeMap::new();
        env.insert("PATH".into(), path);
        env.insert("HOME".into(), self.path().into());
        env.insert("LC_ALL".into(), "C.UTF-8".into());
        env.insert("GIT_CONFIG_NOSYSTEM".into(), "1".into());
        env
    }
}

/// One run of a program, put together step by step.
#[must_use]
#[derive(Clone)]
pub struct Run {
    program: PathBuf,
    args: Vec<OsString>,
    env: BTreeMap<OsString, OsString>,
    cwd: Option<PathBuf>,
    stdin: Vec<u8>,
}

impl Run {
    /// A run of a tool at home.
    pub fn tool(name: &str, home: &Home) -> Self {
        Self::program(tool_path(name), home)
    }

    /// A run of any program at home.
    pub fn program(program: impl Into<PathBuf>, home: &Home) -> Self {
        Self {
            program: program.into(),
            args: vec![],
            env: home.env(),
            cwd: None,
            stdin: vec![],
        }
    }

    /// A shell script with the tools in its `PATH`.
    pub fn shell(script: &str, home: &Home) -> Self {
        Self::program("bash", home).args(["-euo", "pipefail", "-c", script])
    }

    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().into());
        self
    }

    pub fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args
            .extend(args.into_iter().map(|a| a.as_ref().to_owned()));
        self
    }

    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.env.insert(name.into(), value.as_ref().into());
        self
    }

    /// Uses this server as the one of the environment.
    pub fn server(self, url: &str) -> Self {
        self.env("OPENCODE_VLLM_BASE_URL", url)
    }

    pub fn cwd(mut self, dir: impl Into<PathBuf>) -> Self {
        self.cwd = Some(dir.into());
        self
    }

    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    /// What it is given on stdin, for tests that feed a running process themselves.
    pub fn input(&self) -> &[u8] {
        &self.stdin
    }

    /// The command, for tests that need the running process.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args).env_clear().envs(&self.env);
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd);
        }
        command
    }

    /// Runs it to its end; a test that would hang is ended and fails.
    pub fn run(self) -> Ended {
        let mut command = self.command();
        command.stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        // A program that a test has just written is busy while another thread's child, between its
        // fork and its exec, still holds a copy of the descriptor it was written through.
        let mut child = eventually(
            "the program is free",
            Duration::from_secs(10),
            || match command.spawn() {
                Err(e) if e.kind() == std::io::ErrorKind::ExecutableFileBusy => None,
                other => Some(other),
            },
        )
        .unwrap_or_else(|e| panic!("{}: {e}", self.program.display()));
        let mut stdin = child.stdin.take().unwrap();
        let input = self.stdin;
        // A tool need not read its stdin; a closed pipe is then no error.
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let pid = rustix::process::Pid::from_child(&child);
        let (done, waited) = std::sync::mpsc::channel();
        let reader = std::thread::spawn(move || {
            let output = child.wait_with_output().unwrap();
            let _ = done.send(());
            output
        });
        let hung = waited.recv_timeout(LONGEST).is_err();
        if hung {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
        let output = reader.join().unwrap();
        writer.join().unwrap();
        let ended = Ended {
            what: format!("{} {:?}", self.program.display(), self.args),
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        };
        assert!(!hung, "did not end within {LONGEST:?}: {ended:#?}");
        ended
    }
}

/// What a run left behind.
#[derive(Debug)]
pub struct Ended {
    pub what: String,
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    /// Asserts the exit code, showing everything when it is another.
    #[track_caller]
    pub fn code(self, expected: i32) -> Self {
        assert_eq!(self.code, Some(expected), "{self:#?}");
        self
    }

    /// The one JSON document on stdout.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(self.stdout.trim())
            .unwrap_or_else(|e| panic!("stdout is not one JSON document: {e}\n{self:#?}"))
    }

    /// Asserts that stderr holds these words.
    #[track_caller]
    pub fn stderr_has(self, words: &str) -> Self {
        assert!(
            self.stderr.contains(words),
            "stderr lacks {words:?}: {self:#?}"
        );
        self
    }

    /// Asserts that stdout holds these words.
    #[track_caller]
    pub fn stdout_has(self, words: &str) -> Self {
        assert!(
            self.stdout.contains(words),
            "stdout lacks {words:?}: {self:#?}"
        );
        self
    }
}

/// A running simulated server; it ends with the test.
pub struct Sim {
    child: Child,
    _until_eof: ChildStdin,
    pub base_url: String,
}

impl Sim {
    /// Starts one on a port of the kernel's choice; `args` as on its command line.
    pub fn start<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Self {
        let mut child = Command::new(sim_server_path())
            .args(["--port", "0", "--until-eof"])
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|e| panic!("{}: {e}", sim_server_path().display()));
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let hello: Value = serde_json::from_str(&line)
            .unwrap_or_else(|e| panic!("sim-server's first line is not JSON: {e}: {line:?}"));
        let base_url = hello["base_url"].as_str().unwrap().to_owned();
        let until_eof = child.stdin.take().unwrap();
        Self {
            child,
            _until_eof: until_eof,
            base_url,
        }
    }

    /// The address without `/v1`.
    pub fn root(&self) -> &str {
        self.base_url.trim_end_matches("/v1")
    }
}

impl Drop for Sim {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The body of a GET, without a client library.
pub fn get(url: &str) -> String {
    exchange("GET", url, "")
}

/// The body a POST is answered with.
pub fn post(url: &str, body: &str) -> String {
    exchange("POST", url, body)
}

fn exchange(method: &str, url: &str, body: &str) -> String {
    let rest = url.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_once('/').unwrap();
    let mut stream = std::net::TcpStream::connect(host).unwrap();
    write!(
        stream,
        "{method} /{path} HTTP/1.0\r\nHost: {host}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut text = String::new();
    std::io::Read::read_to_string(&mut stream, &mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let chunked = head
        .to_ascii_lowercase()
        .contains("transfer-encoding: chunked");
    let mut out = String::new();
    let mut rest = if chunked {
        body
    } else {
        out.push_str(body);
        ""
    };
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap();
        out.push_str(&after[..size]);
        rest = after.get(size + 2..).unwrap_or_default();
        if size == 0 {
            break;
        }
    }
    out
}

/// Runs git in a folder and returns what it printed.
#[track_caller]
pub fn git(dir: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=Test",
            "-c",
            "user.email=test@example.invalid",
        ])
        .args([
            "-c",
            "init.defaultBranch=main",
            "-c",
            "commit.gpgsign=false",
        ])
        .args(args)
        .current_dir(dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "git {args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout)
        .trim_end()
        .to_owned()
}

/// A fresh repository with one commit that holds these files.
pub fn repository(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    git(dir.path(), &["init", "-q"]);
    git(dir.path(), &["config", "user.name", "Test"]);
    git(
        dir.path(),
        &["config", "user.email", "test@example.invalid"],
    );
    for (path, content) in files {
        write(dir.path(), path, content);
    }
    git(dir.path(), &["add", "-A"]);
    git(
        dir.path(),
        &["commit", "-q", "--allow-empty", "-m", "start"],
    );
    dir
}

/// Copies a program by a process of its own: a descriptor of ours that writes it could live on in a
/// child of another thread for a moment, and the program would then be busy when it is started.
pub fn copy_program(from: &Path, to: &Path) {
    let copied = Command::new("cp")
        .arg("--")
        .args([from, to])
        .status()
        .unwrap();
    assert!(copied.success(), "cp {} {}", from.display(), to.display());
}

/// Writes a file and the folders above it.
pub fn write(root: &Path, path: &str, content: &str) {
    let file = root.join(path);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, content).unwrap();
}

/// Waits until `probe` gives a value, looking every few milliseconds; fails after `limit`.
#[track_caller]
pub fn eventually<T>(what: &str, limit: Duration, mut probe: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + limit;
    loop {
        if let Some(value) = probe() {
            return value;
        }
        assert!(Instant::now() < end, "not within {limit:?}: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether a real server is to be used (`BATON_REAL=1`); says so aloud when not.
pub fn real_server_wanted(test: &str) -> bool {
    let wanted = std::env::var("BATON_REAL").is_ok_and(|v| v == "1");
    if !wanted {
        eprintln!("{test}: skipped; set BATON_REAL=1 to run it against a real server");
    }
    wanted
}
