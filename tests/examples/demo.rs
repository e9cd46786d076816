//! `demo.sh`: records the real tools, and what is committed is such a recording.

use std::fs;

use serde_json::Value;

use crate::support::{Home, Run, tools_dir};
use crate::{examples, has};

/// A cast's text, after its form was checked: a header, and events in the order of their times.
#[track_caller]
fn text_of(cast: &str) -> String {
    let mut lines = cast
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let header = lines.next().unwrap();
    assert_eq!(header["version"], 2);
    assert!(header["width"].as_u64().unwrap() >= 80 && header["height"].as_u64().unwrap() >= 24);
    let (mut last, mut text) = (0.0, String::new());
    for event in lines {
        let [at, kind, said] = event.as_array().unwrap().as_slice() else {
            panic!("{event}");
        };
        let at = at.as_f64().unwrap();
        assert!(at >= last, "{event} comes after {last}");
        assert_eq!(kind, "o");
        last = at;
        text.push_str(said.as_str().unwrap());
    }
    assert!((10.0..60.0).contains(&last), "it takes {last} s");
    text
}

/// What is typed in it.
fn typed(text: &str) -> Vec<&str> {
    let prompts = text.split("\u{1b}[1;32m$\u{1b}[0m ").skip(1);
    prompts.map(|p| p.split("\r\n").next().unwrap()).collect()
}

#[test]
fn the_demo_can_be_recorded_again_and_played() {
    if !has("jq") {
        return;
    }
    let home = Home::new();
    let file = home.path().join("demo.cast");
    let script = || {
        Run::program(examples().join("demo.sh"), &home)
            .env("BATON_BIN_DIR", tools_dir())
            .env("TMPDIR", home.path())
    };
    script().arg(&file).run().code(0);
    let recorded = text_of(&fs::read_to_string(&file).unwrap());
    let committed = text_of(&fs::read_to_string(examples().join("demo.cast")).unwrap());
    assert_eq!(typed(&recorded), typed(&committed));
    for text in [&recorded, &committed] {
        for line in [
            "FAILED: lower case",
            "plan of 2 tasks: slug, pages",
            "review: approve",
            "# Completed: ",
            "ok: lower case",
            "ok: a page that is not full",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
        // Nothing of this machine or this run.
        assert!(!text.contains(home.path().to_str().unwrap()), "{text}");
        assert!(text.contains("127.0.0.1") == text.contains("127.0.0.1:8000"));
    }
    let left = fs::read_dir(home.path()).unwrap().flatten();
    let left: Vec<_> = left.map(|e| e.file_name()).collect();
    assert_eq!(left, ["demo.cast"], "nothing else stays");
    // A short one is played at its own pace.
    let short = "{\"version\":2,\"width\":80,\"height\":24}\n[0.01,\"o\",\"$ ls\\r\\n\"]\n[0.02,\"o\",\"a\\tb\\n\"]\n";
    fs::write(&file, short).unwrap();
    let played = script().arg("--play").arg(&file).run().code(0);
    assert_eq!(played.stdout, "$ ls\r\na\tb\n");
    script().arg("--speed").run().code(2).stderr_has("--play");
}
