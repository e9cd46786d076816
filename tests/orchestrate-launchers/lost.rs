//! Launchers that fail: each loss is a new placement within the task's bounds, never a hang, and
//! never a second writer.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::kit::{WAYS, Yard, given_up, rule, slow};
use crate::support::{eventually, git};

/// The launcher does this the first time, and its work at every other.
fn first(what: &str) -> String {
    format!("if mkdir \"$there/first\" 2>/dev/null; then\n{what}\nfi\nrun \"$@\"")
}

#[test]
fn a_lost_connection_is_another_placement() {
    for io in WAYS {
        for (name, what) in [
            ("refused", "echo 'Connection refused' >&2; exit 255"),
            ("nothing", "exit 0"),
            ("killed", "kill -9 $$"),
            ("cancelled", "kill -TERM $$"),
            ("garbage", "head -c 3000 /dev/urandom; exit 1"),
        ] {
            // What a launcher writes is nobody's business where files travel.
            if io == "shared" && !["nothing", "killed"].contains(&name) {
                continue;
            }
            let yard = Yard::simple();
            let launcher = yard.launcher(name, &first(what));
            let ended = yard.one(&launcher, io).run().code(0);
            yard.is_done();
            let replaced = yard.records("replaced");
            assert_eq!(replaced.len(), 1, "{io} {name}: {ended:#?}");
            let placed = yard.records("placed");
            let last = placed.last().unwrap();
            assert_eq!(
                (&last["attempt"], &last["placement"]),
                (&1.into(), &2.into())
            );
            assert_eq!(
                yard.records("retry").len(),
                0,
                "{io} {name}: no attempt was used up"
            );
        }
    }
}

#[test]
fn a_connection_that_is_lost_in_the_middle_leaves_no_half_result() {
    // The stream is cut after so many bytes, within or between frames.
    for bytes in [60, 400, 2_000] {
        let yard = Yard::simple();
        let launcher = yard.launcher(
            "cut",
            // (dd passes each byte on at once.)
            &first(&format!(
                "run \"$@\" | dd bs=1 count={bytes} status=none; exit 255"
            )),
        );
        yard.one(&launcher, "stream").run().code(0);
        yard.is_done();
        assert_eq!(
            yard.records("replaced").len(),
            1,
            "{bytes}: {}",
            yard.journal()
        );
    }
    // With files the worker itself is killed, once it is at work.
    let yard = Yard::new(&[("README.md", "x\n")], &[slow("a", "a.txt", "1s")]);
    let launcher = yard.launcher(
        "killed",
        &first(
            "run \"$@\" &\n\
             folder=${*: -1}; folder=${folder#file://}\n\
             until [ -e \"$folder/launched.json\" ]; do sleep 0.05; done\n\
             pkill -KILL -P $!; kill -9 $! ; exit 137",
        ),
    );
    yard.one(&launcher, "shared").run().code(0);
    yard.is_done();
    assert_eq!(yard.records("replaced").len(), 1, "{}", yard.journal());
}

#[test]
fn a_launcher_that_never_starts_is_given_up_within_its_limit() {
    for io in WAYS {
        let yard = Yard::simple();
        yard.home.config("[run]\nlauncher_start = '1s'\n");
        let launcher = yard.launcher("asleep", "exec sleep 1000");
        // No place could be had: the code says that another try may find one.
        let ended = yard.one(&launcher, io).run().code(69);
        let reason = given_up(&yard, &ended);
        assert!(reason.contains("launcher_start"), "{reason}");
        assert!(reason.contains("3 places tried"), "{reason}");
        yard.no_process_left();
    }
}

#[test]
fn a_launcher_that_does_not_end_is_ended_once_the_work_is_there() {
    for io in WAYS {
        let yard = Yard::simple();
        let launcher = yard.launcher("lingering", "run \"$@\"; sleep 1000");
        yard.one(&launcher, io).run().code(0);
        yard.is_done();
        assert_eq!(yard.records("replaced").len(), 0);
    }
}

#[test]
fn a_host_that_falls_silent_is_given_up() {
    for io in WAYS {
        let yard = Yard::new(&[("README.md", "x\n")], &[slow("a", "a.txt", "2s")]);
        yard.home.config("[run]\nlauncher_silence = '8s'\n");
        // A frozen host: the process stands still, and its connection stays.
        let launcher = yard.launcher(
            "frozen",
            &first(
                "run \"$@\" <&0 & until [ -e \"$there/freeze\" ]; do sleep 0.1; done\n\
                 pkill -STOP -P $!; kill -STOP $!; exec sleep 1000",
            ),
        );
        let mut child = Yard::start(&yard.one(&launcher, io));
        eventually("the worker has reported", Duration::from_secs(60), || {
            (yard.records("placed").len() >= 2).then_some(())
        });
        std::fs::write(yard.there.path().join("freeze"), "").unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0), "{io}");
        let replaced = yard.records("replaced");
        assert_eq!(replaced.len(), 1, "{io}: {}", yard.journal());
        let reason = replaced[0]["reason"].as_str().unwrap();
        assert!(reason.contains("launcher_silence"), "{reason}");
        yard.is_done();
    }
}

#[test]
fn a_worker_that_starts_late_does_nothing() {
    for io in WAYS {
        let yard = Yard::simple();
        // The launcher is gone, and what it queued starts when everybody has given it up.
        let launcher = yard.launcher(
            "late",
            &first(
                "( until [ -e \"$there/go\" ]; do sleep 0.1; done; \
                   run \"$@\" > \"$there/late.out\" 2> \"$there/late.err\"; \
                   echo $? > \"$there/late.code\" ) < /dev/null > /dev/null 2>&1 & disown\n\
                 exit 255",
            ),
        );
        let script = format!("exec setsid {} \"$@\"", launcher.display());
        let outer = yard.launcher("outer", &script);
        let run = yard.one(&outer, io);
        run.run().code(0);
        assert_eq!(git(yard.path(), &["show", "main:a.txt"]), "by a");
        std::fs::write(yard.there.path().join("go"), "").unwrap();
        let code = yard.there.path().join("late.code");
        if let Ok(code) = std::fs::read_to_string(&code) {
            assert_ne!(code.trim(), "0");
        }
        // Its process was ended with the launcher, or it ended by itself; its folder has no result.
        yard.no_process_left();
        let folder = yard.run_folder().unwrap().join("tasks/a.1");
        assert!(!folder.join("handoff.json").exists());
        assert_eq!(git(yard.path(), &["status", "--porcelain"]), "");
    }
}

#[test]
fn frames_of_another_placement_do_not_count() {
    let yard = Yard::simple();
    let launcher = yard.launcher(
        "stale",
        "frame() { printf '\\nbaton-launch/1 %s %s %d\\n%s\\n' \"$1\" \"$2\" \"${#3}\" \"$3\"; }\n\
         end='{\"schema\":\"landed/1\",\"token\":\"old\",\"exit\":0,\"handoff\":true}'\n\
         frame handoff old '{\"schema\":\"handoff/1\"}'; frame landed old \"$end\"\n\
         run \"$@\"",
    );
    yard.one(&launcher, "stream").run().code(0);
    yard.is_done();
    assert_eq!(yard.records("replaced").len(), 0);
}

#[test]
fn what_another_try_would_not_mend_is_said_and_not_tried_again() {
    for (name, what, said) in [
        (
            "newer",
            "printf '\\nbaton-launch/2 launched x 2\\n{}\\n'; exec sleep 100",
            "another version",
        ),
        (
            "older",
            "echo \"error: unrecognized subcommand 'remote'\" >&2; exit 2",
            "of this version",
        ),
        (
            "terminal",
            "run \"$@\" | sed -u 's/$/\\r/'",
            "a terminal stands between",
        ),
        (
            "no-tools",
            "exec env -i PATH=/usr/bin:/bin \"$@\"",
            "install the six tools there",
        ),
        (
            "no-git",
            "mkdir -p \"$there/only\"; for t in worker-run slot-lock; do \
             ln -sf \"$tools/$t\" \"$there/only/$t\"; done\n\
             exec env -i HOME=\"$there\" PATH=\"$there/only\" \"$there/only/worker-run\" remote",
            "needs git",
        ),
    ] {
        let yard = Yard::simple();
        let launcher = yard.launcher(name, what);
        let ended = yard.one(&launcher, "stream").run().code(1);
        let reason = given_up(&yard, &ended);
        assert!(reason.contains(said), "{name}: {reason}");
        assert_eq!(yard.records("replaced").len(), 0, "{name}: {reason}");
        yard.no_process_left();
    }
    let yard = Yard::simple();
    let ended = yard.one("/no/such/launcher", "shared").run().code(1);
    let reason = given_up(&yard, &ended);
    assert!(reason.contains("/no/such/launcher"), "{reason}");
}

#[test]
fn a_folder_that_is_not_shared_after_all_is_said() {
    let yard = Yard::simple();
    let launcher = yard.launcher(
        "elsewhere",
        "folder=${*: -1}; set -- \"${@:1:$#-1}\" \"file://$there/none\"; run \"$@\"",
    );
    let ended = yard.one(&launcher, "shared").run().code(1);
    let reason = given_up(&yard, &ended);
    assert!(reason.contains("shared with this host"), "{reason}");
}

#[test]
fn a_signal_ends_launcher_and_worker_in_order() {
    for io in WAYS {
        let yard = Yard::new(&[("README.md", "x\n")], &[slow("a", "a.txt", "600s")]);
        let launcher = yard.launcher("plain", "run \"$@\"");
        let mut child = Yard::start(&yard.one(&launcher, io));
        // Its worker is there and has asked the model.
        let events = eventually("the worker's request", Duration::from_secs(60), || {
            let folder = yard.run_folder()?.join("tasks/a.1/events.jsonl");
            let text = std::fs::read_to_string(&folder).ok()?;
            text.contains("\"prompt\"").then_some(folder)
        });
        let _ = kill_process(Pid::from_child(&child), Signal::INT);
        let status = child.wait().unwrap();
        assert_eq!(status.code(), Some(130), "{io}: {}", yard.journal());
        yard.no_process_left();
        assert_eq!(git(yard.path(), &["status", "--porcelain"]), "");
        // It was asked to stop, and had the time to say how far it was.
        let handoff = events.parent().unwrap().join("handoff.json");
        let handoff = std::fs::read_to_string(handoff).unwrap_or_default();
        assert!(handoff.contains("interrupted"), "{io}: {handoff}");
    }
}

#[test]
fn a_killed_orchestrate_finds_its_worker_or_places_it_again() {
    for io in WAYS {
        let yard = Yard::new(&[("README.md", "x\n")], &[slow("a", "a.txt", "3s")]);
        let launcher = yard.launcher("plain", "run \"$@\"");
        let mut child = Yard::start(&yard.one(&launcher, io));
        eventually("the worker has reported", Duration::from_secs(60), || {
            (yard.records("placed").len() >= 2).then_some(())
        });
        child.kill().unwrap();
        child.wait().unwrap();
        let ended = yard.tool(&["resume"]).run().code(0);
        yard.is_done();
        let again = yard.records("replaced").len();
        // With files it is found again; with a stream it ended when nobody read any more.
        assert_eq!(again, usize::from(io == "stream"), "{io}: {ended:#?}");
    }
}

#[test]
fn a_failing_worker_is_a_failing_worker_wherever_it_is() {
    for io in WAYS {
        let mut gives_up = rule("a", "a.txt");
        gives_up["step"] = serde_json::json!([{"calls": [
            {"done": "it cannot be done", "with": {"status": "blocked"}}]}]);
        let yard = Yard::new(&[("README.md", "x\n")], &[gives_up]);
        let launcher = yard.launcher("plain", "run \"$@\"");
        let ended = yard.one(&launcher, io).run().code(1);
        assert_eq!(yard.records("replaced").len(), 0, "{io}: {ended:#?}");
    }
}
