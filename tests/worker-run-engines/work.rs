//! Agents that work: what they get, what comes of it, what is not theirs.

use serde_json::{Value, json};

use super::kit::{CALC, Place};
use crate::support::git;

/// Asks for the change and makes it.
const FIXER: &str = r#"
prompt=$(cat)
[ -n "$prompt" ] || exit 9
change=$(ask "$prompt" | jq -r '.choices[0].message.content')
sed -i "$change" calc.py
echo "I changed calc.py."
"#;

#[test]
fn an_agent_solves_a_task_and_never_sees_the_key() {
    let script = json!({"rule": [{"answer": {"say": "s/a - b/a + b/"}}]});
    let place = Place::new(&script, &["--api-key", "correct-horse-battery"]);
    let spy = format!("env > env.log; {FIXER}; cat env.log; rm env.log");
    let ended = place
        .agent(&spy)
        .env("OPENCODE_VLLM_API_KEY", "correct-horse-battery")
        .run()
        .code(0);
    let handoff = ended.json();
    assert_eq!(handoff["status"], "completed");
    assert_eq!(handoff["files_changed"][0]["path"], "calc.py");
    assert_eq!(handoff["verification"][0]["status"], "pass");
    let sources: Vec<&str> = handoff["receipts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["source"].as_str().unwrap())
        .collect();
    assert_eq!(sources, ["baseline", "model", "check"]);
    assert_eq!(handoff["usage"]["requests"], 1);
    assert!(handoff["usage"]["prompt_tokens"].as_u64().unwrap() > 50);
    assert!(place.calc().contains("a + b"));
    assert!(
        !ended.stdout.contains("correct-horse-battery"),
        "{ended:#?}"
    );
    let request = &place.requests()[0];
    assert_eq!(request["status"], 200, "the key was added on the way");
    let prompt = request["body"]["messages"][0]["content"].as_str().unwrap();
    for part in ["Fix add() in calc.py.", "python3 test.py", "fails now"] {
        assert!(prompt.contains(part), "{part} in {prompt}");
    }
    assert_eq!(request["body"]["model"], "qwen38", "the slot's model");
    assert_eq!(request["body"]["max_tokens"], 4096, "the task's limit");
}

#[test]
fn the_prompt_comes_where_the_command_wants_it() {
    let place = Place::saying("ok");
    let words = |how: &str, args: &[&str]| {
        let mut run = place.run().args(["--engine", "command", "--"]);
        run = run.args(["bash", "-c", how, "agent"]).args(args);
        run.run().json()["outcome"].as_str().unwrap().to_string()
    };
    assert!(words("cat", &[]).contains("Fix add()"));
    let file = words("wc -c < \"$1\"; cat", &["{prompt_file}"]);
    assert!(file.trim().parse::<u32>().unwrap() > 100, "{file}");
    let argument = words("echo \"$1\"; cat; echo end", &["--p={prompt}"]);
    assert!(argument.starts_with("--p=Fix add()") && argument.ends_with("end"));
    let place = words(
        "echo \"$1 $2 $OPENAI_BASE_URL\"",
        &["{model}", "{base_url}"],
    );
    let parts: Vec<&str> = place.split_whitespace().collect();
    assert_eq!(parts[0], "qwen38");
    assert_eq!(parts[1], parts[2]);
    assert!(parts[1].starts_with("http://127.0.0.1:") && parts[1].ends_with("/v1"));
}

#[test]
fn an_agent_that_does_nothing_is_not_believed() {
    let place = Place::saying("ok");
    for (script, words) in [
        (
            "exit 0",
            "nothing is changed yet; it asked the model nothing",
        ),
        ("echo 'All tests pass. Done!'", "nothing is changed"),
        ("ask hi > /dev/null; exit 0", "nothing is changed yet"),
        (
            "echo 'no such option --foo' >&2; exit 2",
            "exit code 2 (no such option --foo)",
        ),
        ("kill -9 $$", "137"),
    ] {
        let handoff = place.agent(script).run().code(1).json();
        assert_eq!(handoff["status"], "failed", "{script}");
        let reason = handoff["status_reason"].as_str().unwrap();
        assert!(reason.contains(words), "{script}: {reason}");
    }
}

#[test]
fn what_is_not_the_agents_is_undone_and_told() {
    let place = Place::saying("ok");
    let outside = place.home.path().join("outside.txt");
    let script = format!(
        "sed -i 's/a - b/a + b/' calc.py; echo stray > stray.txt; echo x >> other.txt; rm test.py; \
         echo x > {}; echo x > /etc/baton-was-here; git commit -qam sneaked; git config user.name evil",
        outside.display()
    );
    let head = git(place.repo.path(), &["rev-parse", "HEAD"]);
    let handoff = place.agent(&script).run().code(0).json();
    assert_eq!(handoff["status"], "completed");
    let notes = handoff["notes"].to_string();
    for path in ["stray.txt", "other.txt", "test.py"] {
        assert!(notes.contains(path), "{path} in {notes}");
    }
    assert_eq!(
        git(place.repo.path(), &["status", "--porcelain"]),
        " M calc.py"
    );
    assert_eq!(git(place.repo.path(), &["rev-parse", "HEAD"]), head);
    assert!(!outside.exists() && !std::path::Path::new("/etc/baton-was-here").exists());
}

#[test]
fn thousands_of_stray_files_do_not_flood_the_hand_off() {
    let place = Place::saying("ok");
    let script =
        "mkdir d; for i in $(seq 1 500); do echo $i > d/$i; done; mkfifo d/pipe; ln -s / d/root";
    let handoff = place.agent(script).run().code(1).json();
    let notes = handoff["notes"].as_array().unwrap();
    assert!(notes.len() < 30, "{}", notes.len());
    let last = notes.last().unwrap().as_str().unwrap();
    assert!(last.contains("further files"), "{last}");
    assert!(git(place.repo.path(), &["status", "--porcelain"]).is_empty());
}

#[test]
fn a_changed_check_is_put_back_before_it_is_believed() {
    let place = Place::saying("ok");
    let handoff = place
        .agent("echo 'print(\"ok\")' > test.py")
        .run()
        .code(1)
        .json();
    assert_eq!(handoff["status"], "failed");
    assert!(handoff["notes"].to_string().contains("test.py"));
    assert_eq!(place.calc(), CALC);
}

#[test]
fn a_reader_answers_with_its_last_words_and_writes_nothing() {
    let place = Place::saying("add is in calc.py:1").role("explore");
    let script = "echo x > new.txt; ask 'where?' | jq -r '.choices[0].message.content'";
    let handoff = place.agent(script).run().code(0).json();
    assert_eq!(handoff["outcome"], "add is in calc.py:1");
    assert_eq!(handoff["files_changed"], json!([]));
    let empty = place.agent("true").run().code(1).json();
    assert_eq!(empty["status"], "failed");
}

#[test]
fn streams_pass_as_they_come_and_only_what_was_asked_for() {
    let place = Place::saying("one two three");
    let script = r#"
body='{"messages": [{"role": "user", "content": "hi"}], "stream": true'
for more in '' ', "stream_options": {"include_usage": true}'; do
    curl -sSN -d "$body$more}" "$OPENAI_BASE_URL/chat/completions" | grep -c usage.*prompt_tokens
done
curl -sS "$OPENAI_BASE_URL/models" | jq -r '.data[0].id, .data[0].max_model_len'
curl -sS -o /dev/null -w '%{http_code}\n' -d '{}' "$OPENAI_BASE_URL/responses"
curl -sS -o /dev/null -w '%{http_code}\n' -d 'no json' "$OPENAI_BASE_URL/chat/completions"
"#;
    let handoff = place.agent(script).run().code(1).json();
    let said: Vec<&str> = handoff["outcome"].as_str().unwrap().lines().collect();
    assert_eq!(said, ["0", "1", "qwen38", "32768", "404", "400"]);
}

#[test]
fn requests_of_one_agent_never_overlap() {
    let script = json!({"rule": [{"answer": {"say": "ok", "wait": "100ms"}}]});
    let place = Place::new(&script, &["--slots", "8"]);
    place
        .agent("for i in 1 2 3 4 5; do ask $i > /dev/null & done; wait")
        .run()
        .code(1);
    let mut times: Vec<(u64, u64)> = place
        .requests()
        .iter()
        .map(|r| {
            (
                r["arrived_ms"].as_u64().unwrap(),
                r["ended_ms"].as_u64().unwrap(),
            )
        })
        .collect();
    times.sort_unstable();
    assert_eq!(times.len(), 5);
    for pair in times.windows(2) {
        assert!(pair[0].1 <= pair[1].0, "{times:?}");
    }
}

#[test]
fn events_tell_what_the_agent_asks() {
    let place = Place::saying("s/a - b/a + b/");
    let ended = place
        .run()
        .args(["--events", "-", "--engine", "command", "--", "bash", "-c"]);
    let ended = ended
        .arg("curl -sS -d '{\"messages\": [{\"role\": \"user\", \"content\": \"x\"}]}' $OPENAI_BASE_URL/chat/completions > /dev/null")
        .run()
        .code(1);
    let lines: Vec<Value> = ended
        .stdout
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    let wanted = ["start", "check", "request", "answer", "end"];
    let types: Vec<&str> = lines
        .iter()
        .filter_map(|l| l["type"].as_str())
        .filter(|kind| wanted.contains(kind))
        .collect();
    assert_eq!(types, wanted);
    assert_eq!(lines.last().unwrap()["schema"], "handoff/1");
}

#[test]
fn wrong_usage_says_what_is_wanted() {
    let place = Place::saying("ok");
    for (args, words) in [
        (&["--engine", "command"][..], "needs the agent's command"),
        (&["--", "bash"], "needs --engine command"),
        (
            &["--engine", "command", "--", "no-such-agent-here"],
            "command not found",
        ),
        (
            &["--engine", "command", "--record", "x", "--", "true"],
            "--record",
        ),
        (&["--engine", "codex"], "possible values"),
    ] {
        place.run().args(args).run().code(2).stderr_has(words);
    }
}
