use super::{Order, Ran, Shell};
use crate::cli::SandboxFlag;
use baton_cli::Environment;
use baton_process::Cancel;
use baton_protocol::{ReceiptSource, Sandbox};
use std::time::{Duration, Instant};

struct Place {
    _dir: tempfile::TempDir,
    root: std::path::PathBuf,
    shell: Shell,
}

fn place() -> Place {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let shell = Shell::new(
        &root,
        true,
        SandboxFlag::Off,
        &Sandbox::default(),
        &Environment::from_process(),
    )
    .unwrap();
    Place {
        _dir: dir,
        root,
        shell,
    }
}

impl Place {
    fn run(&mut self, command: &str) -> Ran {
        self.limited(command, 20).0
    }

    fn limited(&mut self, command: &str, seconds: u64) -> (Ran, Option<String>) {
        let order = Order {
            command,
            source: ReceiptSource::Model,
            limit: Duration::from_secs(seconds),
        };
        self.shell.run_for_model(order, &Cancel::new()).unwrap()
    }
}

#[test]
fn b01_a_background_child_does_not_hold_the_call() {
    let start = Instant::now();
    let ran = place().run("sleep 60 & echo done");
    assert!(start.elapsed() < Duration::from_secs(5));
    assert_eq!(ran.text.trim(), "done");
    assert!(ran.killed >= 1);
}

#[test]
fn b03_b04_nothing_can_be_asked() {
    let ran =
        place().run("read -r answer; echo \"got <$answer>\"; cat < /dev/tty || echo no terminal");
    assert!(
        ran.text.contains("got <>") && ran.text.contains("no terminal"),
        "{}",
        ran.text
    );
}

#[test]
fn b05_an_interactive_rebase_fails_instead_of_running() {
    let mut place = place();
    let ran = place.run(
        "git init -q . && git config user.email a@b && git config user.name a && \
         for i in 1 2 3; do git commit -q --allow-empty -m c$i; done && git rebase -i HEAD~2",
    );
    assert_ne!(ran.receipt.exit_code, Some(0), "{}", ran.text);
}

#[test]
fn b06_b07_a_time_limit_ends_everything_even_what_ignores_term() {
    let start = Instant::now();
    let (ran, _) = place().limited("trap '' TERM; while :; do sleep 1; done", 1);
    assert!(ran.receipt.timed_out && !ran.passed());
    assert!(start.elapsed() < Duration::from_secs(10));
    assert!(ran.result().contains("time limit"));
}

#[test]
fn b09_b10_floods_are_bounded_and_whole_in_a_file() {
    let mut place = place();
    let ran = place.run("head -c 2000000 /dev/zero | tr '\\0' x; echo; echo end");
    assert!(ran.text.len() < 600_000 && ran.text.contains("end"));
    assert_eq!(std::fs::metadata(&ran.log).unwrap().len(), 2_000_005);
    assert_eq!(ran.receipt.output_bytes, 2_000_005);
}

#[test]
fn b11_b12_output_that_is_no_text_keeps_its_exit_code() {
    let ran = place().run("printf '\\xf0ok'; exit 3");
    assert_eq!(
        (ran.text.as_str(), ran.receipt.exit_code),
        ("\u{fffd}ok", Some(3))
    );
}

#[test]
fn b13_a_pipe_does_not_hide_a_failure() {
    let ran = place().run("false | tail -3");
    assert_eq!(ran.receipt.exit_code, Some(1));
}

#[test]
fn b14_cd_lasts_inside_and_is_told() {
    let mut place = place();
    std::fs::create_dir(place.root.join("sub")).unwrap();
    assert_eq!(place.run("cd sub").receipt.cwd, ".");
    let ran = place.run("pwd");
    assert_eq!(ran.receipt.cwd, "sub");
    assert!(ran.text.trim().ends_with("/sub"));
    let (_, note) = place.limited("cd /", 20);
    assert!(note.unwrap().contains("out of the repository"));
    assert_eq!(place.run("true").receipt.cwd, ".");
}

#[test]
fn b15_a_folder_that_is_gone_is_said() {
    let mut place = place();
    std::fs::create_dir(place.root.join("sub")).unwrap();
    place.run("cd sub");
    std::fs::remove_dir(place.root.join("sub")).unwrap();
    let (ran, note) = place.limited("pwd", 20);
    assert!(note.unwrap().contains("does not exist any more"));
    assert!(ran.passed());
}

#[test]
fn keys_do_not_reach_commands() {
    let ran = place().run("env");
    assert!(!ran.text.contains("API_KEY"), "{}", ran.text);
    assert!(ran.text.contains("GIT_TERMINAL_PROMPT=0"));
}

#[test]
fn an_error_names_the_line_as_it_was_written() {
    let mut place = place();
    let (ran, _) = place.limited("true\nnosuchprogram", 20);
    assert!(ran.text.contains("line 2: nosuchprogram"), "{}", ran.text);
    let (ran, _) = place.limited("# first a word\ncat <<'END'\nx y\nEND", 20);
    assert_eq!(ran.text.trim(), "x y");
}
