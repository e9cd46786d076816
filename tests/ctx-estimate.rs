//! ctx-estimate from the outside.

mod support;

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use serde_json::{Value, json};
use support::{Ended, Home, Run, Sim, write};

fn estimate(home: &Home) -> Run {
    Run::tool("ctx-estimate", home)
}

/// A health/1 document with one provider per (id, kind, address, model, window).
fn health(providers: &[(&str, &str, &str, &str, Value)]) -> String {
    let provider = |(id, kind, url, model, window): &(&str, &str, &str, &str, Value)| {
        json!({
            "id": id, "base_url": url, "server": {"kind": kind, "version": null},
            "state": "idle", "state_reason": "ready",
            "models": [{"id": model, "state": "loaded", "usable_context": window}],
        })
    };
    json!({
        "schema": "health/1", "ready": true, "checked_at": "2026-11-30T12:00:00Z",
        "providers": providers.iter().map(provider).collect::<Vec<_>>(),
    })
    .to_string()
}

/// A provider nobody can reach, so that nothing is asked over the network.
fn local(model: &str, window: impl Into<Value>) -> String {
    health(&[(
        "local",
        "vllm",
        "http://127.0.0.1:9/v1",
        model,
        window.into(),
    )])
}

#[test]
fn files_and_folders_are_counted_and_what_is_ignored_is_not() {
    let home = Home::new();
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "src/a.rs", "fn main() {}\n");
    write(dir.path(), "src/deep/b.rs", "// a comment\n");
    write(dir.path(), "target/c.rs", "ignored\n");
    write(dir.path(), ".gitignore", "target/\n");
    std::fs::write(dir.path().join("src/logo.png"), b"\x89PNG\0\0").unwrap();
    std::os::unix::fs::symlink("..", dir.path().join("src/loop")).unwrap();
    let ended = estimate(&home).cwd(dir.path()).arg(".").run().code(0);
    let found = ended.json();
    let parts: Vec<&str> = found["breakdown"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| part["part"].as_str().unwrap())
        .collect();
    assert_eq!(parts, ["src/a.rs", "src/deep/b.rs"]);
    assert_eq!(found["notes"], json!(["src/logo.png: binary, skipped"]));
    let sum: u64 = found["breakdown"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| part["tokens"].as_u64().unwrap())
        .sum();
    assert_eq!(found["prompt_tokens"], sum);
    assert_eq!(found["required_tokens"], found["upper_bound_tokens"]);
    ended.stderr_has("src/logo.png: binary, skipped");

    let tree = estimate(&home)
        .cwd(dir.path())
        .args([".", "--tree", "--text"])
        .run()
        .code(0);
    tree.stdout_has("src/deep/").stdout_has("./");
    let top = estimate(&home)
        .cwd(dir.path())
        .args([".", "--top", "1", "--text"])
        .run()
        .code(0);
    top.stdout_has("(1 others)");
    let lines = estimate(&home)
        .cwd(dir.path())
        .args([".", "--lines"])
        .run()
        .code(0);
    assert_eq!(lines.stdout.lines().count(), 3);
    for line in lines.stdout.lines() {
        serde_json::from_str::<Value>(line).unwrap();
    }
}

#[test]
fn an_unknown_family_is_bounded_by_its_bytes() {
    let home = Home::new();
    let text = "x".repeat(1_000);
    let found = estimate(&home).stdin(text.clone()).run().code(0).json();
    assert_eq!(found["upper_bound_tokens"], 1_001);
    assert_eq!(found["method"], "heuristic");
    let fits = |window: &str, model: &str| {
        estimate(&home)
            .stdin("a few words ".repeat(100))
            .args(["--output", "0", "--window", window, "--model", model])
            .run()
    };
    // 1,200 bytes: the class model knows that 500 tokens are enough, the bytes do not.
    fits("700", "qwen3").code(0);
    fits("700", "mystery").code(3);
    fits("1500", "mystery").code(0);
}

#[test]
fn standard_input_must_be_text_and_not_empty() {
    let home = Home::new();
    estimate(&home)
        .run()
        .code(2)
        .stderr_has("standard input is empty");
    estimate(&home)
        .stdin(vec![0, 1, 2])
        .run()
        .code(2)
        .stderr_has("binary");
    estimate(&home)
        .args(["--request", "-", "--candidates", "-"])
        .run()
        .code(2)
        .stderr_has("only one thing can come on standard input");
    estimate(&home)
        .args(["--candidates", "-"])
        .run()
        .code(2)
        .stderr_has("standard input");
}

#[test]
fn broken_utf8_is_counted_and_said() {
    let home = Home::new();
    let found = estimate(&home)
        .stdin(b"caf\xe9 au lait".to_vec())
        .run()
        .code(0);
    found.stderr_has("1 bytes are not UTF-8 (the first at byte 3)");
}

#[test]
fn what_cannot_be_read_is_an_error_or_makes_the_answer_unknown() {
    let home = Home::new();
    estimate(&home)
        .arg("/no/such/file")
        .run()
        .code(2)
        .stderr_has("/no/such/file: no such file");
    let dir = tempfile::tempdir().unwrap();
    estimate(&home)
        .arg(dir.path())
        .run()
        .code(2)
        .stderr_has("nothing to count");
    let name = std::ffi::OsStr::from_bytes(b"bad\xff.txt");
    std::fs::write(dir.path().join(name), "text").unwrap();
    write(dir.path(), "good.txt", "text");
    let found = estimate(&home)
        .arg(dir.path())
        .args(["--window", "100k"])
        .run()
        .code(3);
    found.stderr_has("not UTF-8");
}

#[test]
fn a_request_that_is_none_names_the_place() {
    let home = Home::new();
    let refused = |text: &str| {
        estimate(&home)
            .args(["--request", "-"])
            .stdin(text)
            .run()
            .code(2)
    };
    refused("{")
        .stderr_has("standard input: not JSON")
        .stderr_has("line 1");
    refused("[]").stderr_has("`$` is a list");
    refused(r#"{"messages":[{"role":"user","content":7}]}"#).stderr_has("$.messages[0].content");
}

#[test]
fn a_request_with_tools_counts_more_than_its_text() {
    let home = Home::new();
    let request = json!({
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}],
        "tools": [{"type": "function", "function": {"name": "bash", "parameters": {}}}],
        "max_tokens": 100,
    });
    let found = estimate(&home)
        .args(["--request", "-", "--model", "qwen3"])
        .stdin(request.to_string())
        .run()
        .code(0)
        .json();
    let parts: Vec<&str> = found["breakdown"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| part["part"].as_str().unwrap())
        .collect();
    assert_eq!(parts, ["system", "history", "tools", "template"]);
    assert_eq!(found["reserve"]["output_tokens"], 100);
}

#[test]
fn the_verdict_is_the_exit_code() {
    let home = Home::new();
    let judged = |health: String, output: &str| -> Ended {
        let dir = tempfile::tempdir().unwrap();
        write(
            dir.path(),
            "prompt.md",
            &"A line of plain prose.\n".repeat(100),
        );
        estimate(&home)
            .cwd(dir.path())
            .args([
                "prompt.md",
                "--offline",
                "--candidates",
                "-",
                "--output",
                output,
            ])
            .stdin(health)
            .run()
    };
    let fits = judged(local("qwen3", 8192), "1000").code(0).json();
    assert_eq!(fits["fits"], true);
    assert_eq!(fits["providers"][0]["fit"]["verdict"], "fits");
    let tight = judged(local("qwen3", 2048), "2000").code(0).json();
    assert_eq!(tight["verdict"], "tight");
    let largest = tight["providers"][0]["fit"]["largest_output_tokens"]
        .as_u64()
        .unwrap();
    let upper = tight["providers"][0]["fit"]["upper_bound_tokens"]
        .as_u64()
        .unwrap();
    assert_eq!(largest + upper, 2048);
    let no = judged(local("qwen3", 300), "100").code(1).json();
    assert_eq!((&no["fits"], &no["verdict"]), (&json!(false), &json!("no")));
    let unknown = judged(local("qwen3", Value::Null), "100").code(3);
    assert_eq!(unknown.json()["fits"], Value::Null);
    unknown.stderr_has("usable context of qwen3 is not known");
}

#[test]
fn c10_the_default_window_of_ollama_is_what_counts() {
    let home = Home::new();
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "prompt.md", &"word ".repeat(8_942));
    let ollama = health(&[(
        "o",
        "ollama",
        "http://127.0.0.1:9/v1",
        "qwen2.5",
        json!(4096),
    )]);
    let args = ["prompt.md", "--candidates", "-", "--offline"];
    estimate(&home)
        .cwd(dir.path())
        .args(args)
        .stdin(ollama)
        .run()
        .code(1);
}

#[test]
fn an_error_document_is_passed_on() {
    let home = Home::new();
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "p", "text");
    let error = json!({"schema": "error/1", "tool": "vllm-health", "kind": "config",
        "message": "OPENCODE_VLLM_BASE_URL is not set", "retryable": false, "detail": null});
    let args = ["p", "--candidates", "-"];
    let ended = estimate(&home)
        .cwd(dir.path())
        .args(args)
        .stdin(error.to_string())
        .run()
        .code(2);
    ended.stderr_has("vllm-health failed before: OPENCODE_VLLM_BASE_URL is not set");
}

#[test]
fn c15_the_servers_own_count_is_used_where_there_is_one() {
    let home = Home::new();
    let sim = Sim::start(["--kind", "vllm"]);
    let dir = tempfile::tempdir().unwrap();
    let request = json!({"messages": [{"role": "user", "content": "how many tokens is this?"}]});
    write(dir.path(), "req.json", &request.to_string());
    let model = "qwen38";
    let run = |extra: &[&str]| {
        estimate(&home)
            .cwd(dir.path())
            .args(["--request", "req.json", "--candidates", "-"])
            .args(extra)
            .stdin(health(&[(
                "sim",
                "vllm",
                &sim.base_url,
                model,
                json!(32_768),
            )]))
            .run()
            .code(0)
            .json()
    };
    let by_server = run(&[]);
    assert_eq!(by_server["method"], "server", "{by_server}");
    assert_eq!(by_server["prompt_tokens"], by_server["upper_bound_tokens"]);
    assert_eq!(by_server["error_band"], 0.0);
    assert_eq!(run(&["--offline"])["method"], "heuristic");
}

#[test]
fn c15_every_kind_of_server_that_counts_chats_is_asked_and_one_that_does_not_is_not_believed() {
    let home = Home::new();
    let dir = tempfile::tempdir().unwrap();
    let request = json!({"messages": [{"role": "user", "content": "how many tokens is this?"}]});
    write(dir.path(), "req.json", &request.to_string());
    // SGLang's route counts bare texts, which a chat is not.
    for (kind, method) in [
        ("llamacpp", "server"),
        ("tgi", "server"),
        ("sglang", "heuristic"),
    ] {
        let sim = Sim::start(["--kind", kind]);
        let found = estimate(&home)
            .cwd(dir.path())
            .args(["--request", "req.json", "--candidates", "-"])
            .stdin(health(&[(
                "sim",
                kind,
                &sim.base_url,
                "qwen38",
                json!(32_768),
            )]))
            .run()
            .code(0)
            .json();
        assert_eq!(found["method"], method, "{kind}: {found}");
        let exact = found["prompt_tokens"] == found["upper_bound_tokens"];
        assert_eq!(exact, method == "server", "{kind}: {found}");
    }
}

#[test]
fn a_task_is_counted_with_system_text_tools_and_files() {
    let home = Home::new();
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "calc.py", "def add(a, b):\n    return a - b\n");
    let task = json!({"schema": "task/1", "id": "t1", "prompt": "Fix add() in calc.py.",
        "scope": {"write": ["calc.py"]}, "limits": {"output_tokens": 500}});
    write(dir.path(), "task.json", &task.to_string());
    let found = estimate(&home)
        .cwd(dir.path())
        .args(["--task", "task.json", "--candidates", "-", "--offline"])
        .stdin(local("qwen3", 32_768))
        .run()
        .code(0)
        .json();
    assert!(found["prompt_tokens"].as_u64().unwrap() > 500, "{found}");
    assert_eq!(found["reserve"]["output_tokens"], 500);
    let wrong = json!({"schema": "task/1", "id": "t1", "promt": "x"});
    estimate(&home)
        .args(["--task", "-"])
        .stdin(wrong.to_string())
        .run()
        .code(2)
        .stderr_has("prompt");
}

#[test]
fn trimming_keeps_whole_lines_within_the_budget() {
    let home = Home::new();
    let lines: Vec<String> = (0..500)
        .map(|n| format!("line {n} of a long log\n"))
        .collect();
    let text = lines.concat();
    for (flag, first) in [
        ("--head", "line 0 "),
        ("--tail", "line "),
        ("--middle", "line 0 "),
    ] {
        let args = ["--trim", "300", flag, "--model", "qwen3"];
        let ended = estimate(&home).args(args).stdin(text.clone()).run().code(0);
        assert!(
            ended.stdout.starts_with(first) && ended.stdout.ends_with('\n'),
            "{ended:?}"
        );
        let again = estimate(&home)
            .arg("--tokenizer=qwen")
            .stdin(ended.stdout.clone())
            .run();
        assert!(again.json()["upper_bound_tokens"].as_u64().unwrap() <= 300);
        ended.stderr_has("of 500 lines");
    }
    estimate(&home)
        .args(["--trim", "0"])
        .stdin("text")
        .run()
        .code(1)
        .stderr_has("nothing fits");
    estimate(&home)
        .arg("--tail")
        .stdin("text")
        .run()
        .code(2)
        .stderr_has("--trim");
}

#[test]
fn a_wrong_flag_names_the_right_one() {
    let home = Home::new();
    estimate(&home)
        .arg("--tokeniser")
        .run()
        .code(2)
        .stderr_has("did you mean `--tokenizer`");
    estimate(&home)
        .args(["--tokenizer", "gpt2"])
        .stdin("x")
        .run()
        .code(2)
        .stderr_has("qwen");
    estimate(&home)
        .args(["--output", "1.5k"])
        .stdin("x")
        .run()
        .code(2)
        .stderr_has("16Ki");
}

#[test]
fn past_answers_narrow_the_estimate_and_show_a_server_that_cuts() {
    let home = Home::new();
    let dir = tempfile::tempdir().unwrap();
    write(
        dir.path(),
        "prompt.md",
        &"plain words in a row\n".repeat(50),
    );
    let answer = |estimated: u64, real: u64| {
        json!({"model": "mystery", "estimated_tokens": estimated, "prompt_tokens": real})
            .to_string()
    };
    let judged = || {
        estimate(&home)
            .cwd(dir.path())
            .args(["prompt.md", "--offline", "--candidates", "-"])
            .stdin(local("mystery", 100_000))
            .run()
            .code(0)
    };
    let before = judged().json();
    let mut lines: Vec<String> = (0..30).map(|n| answer(1_000, 900 + n)).collect();
    lines.push(answer(14_000, 2_051));
    let state = ".local/state/baton/calibration/local.jsonl";
    write(home.path(), state, &(lines.join("\n") + "\n"));
    let after = judged();
    let band = |document: &Value| document["error_band"].as_f64().unwrap();
    assert!(band(&after.json()) < band(&before) / 3.0);
    assert!(after.json()["prompt_tokens"].as_u64() < before["prompt_tokens"].as_u64());
    assert_eq!(
        after.json()["upper_bound_tokens"],
        before["upper_bound_tokens"]
    );
    after.stderr_has("counted 2051 tokens of a prompt of about 14000: it may cut prompts silently");
}

/// A model folder whose tokenizer knows the bytes and joins `he`; its template is `[role]content`.
fn small_model(folder: &Path) {
    // A vocabulary of the 256 bytes and one merge.
    let alphabet = (0..=255_u32).scan(256, |moved, byte| {
        let printable = matches!(byte, 33..=126 | 161..=172 | 174..);
        let code = if printable {
            byte
        } else {
            *moved += 1;
            *moved - 1
        };
        char::from_u32(code)
    });
    let mut vocabulary: serde_json::Map<String, Value> = alphabet
        .zip(0..)
        .map(|(c, id)| (c.to_string(), json!(id)))
        .collect();
    vocabulary.insert("he".into(), json!(256));
    let pattern = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
    let tokenizer = json!({
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": false},
            {"type": "ByteLevel", "add_prefix_space": false, "use_regex": false}]},
        "model": {"type": "BPE", "vocab": vocabulary, "merges": ["h e"]},
    });
    write(folder, "tokenizer.json", &tokenizer.to_string());
    let template = "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}";
    let config = json!({"chat_template": template});
    write(folder, "tokenizer_config.json", &config.to_string());
}

#[test]
fn a_local_tokenizer_counts_exactly_and_its_cache_is_kept_in_order() {
    let home = Home::new();
    let dir = tempfile::tempdir().unwrap();
    small_model(&dir.path().join("model"));
    let run = || {
        estimate(&home)
            .cwd(dir.path())
            .args(["--tokenizer", "model"])
    };
    let found = run().stdin("hehe").run().code(0).json();
    assert_eq!(
        (&found["prompt_tokens"], &found["method"]),
        (&json!(2), &json!("tokenizer"))
    );
    // A request is rendered: `[user]hehe` is 6 + 2 tokens.
    let request = json!({"messages": [{"role": "user", "content": "hehe"}]}).to_string();
    let found = run()
        .args(["--request", "-"])
        .stdin(request)
        .run()
        .code(0)
        .json();
    assert_eq!(
        (&found["prompt_tokens"], &found["method"]),
        (&json!(8), &json!("tokenizer"))
    );
    assert_eq!(found["error_band"], 0.0);

    let cache = |action: &str| estimate(&home).args(["--cache", action]).run();
    let listed = cache("list").code(0).json();
    let file = listed["tokenizers"][0]["file"].as_str().unwrap().to_owned();
    cache("verify").code(0);
    std::fs::write(&file, "damaged").unwrap();
    cache("verify").code(1);
    assert_eq!(run().stdin("hehe").run().code(0).json()["prompt_tokens"], 2);
    cache("verify").code(0);
    std::fs::remove_dir_all(dir.path().join("model")).unwrap();
    assert_eq!(
        cache("prune").code(0).json()["tokenizers"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    run()
        .stdin("x")
        .run()
        .code(2)
        .stderr_has("neither a file or folder nor a known family");
    estimate(&home)
        .args(["--method", "tokenizer"])
        .stdin("x")
        .run()
        .code(2);
}

#[test]
fn a_servers_tokenizer_is_built_from_where_the_server_has_its_model() {
    let home = Home::new();
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("model");
    small_model(&folder);
    let path = folder.to_str().unwrap();
    let build = |source: &str| estimate(&home).args(["--cache", "build", source]).run();
    for kind in ["vllm", "llamacpp", "sglang"] {
        let sim = Sim::start(["--kind", kind, "--model", path, "--model", "alias"]);
        build(&sim.base_url).code(0).stdout_has("tokenizer.json");
    }
    // From now on the server's name for it is enough.
    let counted = || {
        estimate(&home)
            .args(["--model", "alias"])
            .stdin("hehe")
            .run()
    };
    let found = counted().code(0).json();
    assert_eq!(
        (&found["prompt_tokens"], &found["method"]),
        (&json!(2), &json!("tokenizer"))
    );
    let sim = Sim::start(["--kind", "vllm", "--model", "Nobody/Nowhere"]);
    build(&sim.base_url)
        .code(2)
        .stderr_has("Nobody/Nowhere, which is not on this machine")
        .stderr_has("--cache build PATH");
    build("server")
        .code(78)
        .stderr_has("OPENCODE_VLLM_BASE_URL");
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(counted().json()["method"], "heuristic");
    estimate(&home).args(["--cache", "prune"]).run().code(0);
}

#[test]
fn a_text_that_comes_through_a_pipe_is_never_counted_as_empty() {
    let home = Home::new();
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    let sim = Sim::start(["--kind", "vllm", "--context", "4096"]);
    let writer = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::write(pipe, "word ".repeat(9_000)).unwrap()
    });
    let health = health(&[("sim", "vllm", &sim.base_url, "qwen38", json!(4096))]);
    let judged = estimate(&home)
        .arg(&pipe)
        .args(["--candidates", "-"])
        .stdin(health)
        .run()
        .code(1);
    writer.join().unwrap();
    assert_eq!(judged.json()["method"], "heuristic");
}

#[test]
fn utf16_is_said_and_not_guessed() {
    let home = Home::new();
    estimate(&home)
        .stdin(b"\xff\xfeh\0i\0".to_vec())
        .run()
        .code(2)
        .stderr_has("UTF-16")
        .stderr_has("iconv");
}

#[test]
fn requests_of_other_shapes_are_counted_or_named() {
    let home = Home::new();
    let request = |request: Value| {
        estimate(&home)
            .args(["--request", "-", "--model", "qwen3", "--window", "32k"])
            .stdin(request.to_string())
            .run()
    };
    let parts = |ended: &Ended| ended.json()["breakdown"].to_string();
    let responses = request(json!({
        "instructions": "Be brief.",
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "List the files."}]},
            {"type": "function_call", "call_id": "1", "name": "ls", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "1", "output": "a.rs b.rs"},
        ],
        "tools": [{"type": "function", "name": "ls", "parameters": {"type": "object"}}],
        "max_output_tokens": 500,
    }))
    .code(0);
    for part in ["system", "history", "tools"] {
        assert!(parts(&responses).contains(part), "{responses:?}");
    }
    assert_eq!(responses.json()["reserve"]["output_tokens"], 500);
    let hi = json!([{"role": "user", "content": "hi"}]);
    for wrong in [json!("100"), json!(-5), json!(1.5)] {
        request(json!({"messages": hi, "max_tokens": wrong}))
            .code(0)
            .stderr_has("`$.max_tokens`");
    }
    request(json!({"messages": [{"role": "user", "content": [
        {"type": "text", "text": "what is this?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}]}]}))
    .code(3)
    .stderr_has("no text");
}

#[test]
fn a_negative_size_is_named_as_no_size() {
    let home = Home::new();
    for flag in ["--window", "--output", "--margin", "--trim"] {
        estimate(&home)
            .args([flag, "-1"])
            .stdin("x")
            .run()
            .code(2)
            .stderr_has("`-1` is not a size");
    }
}

#[test]
fn the_configured_text_of_a_role_is_what_is_counted() {
    let home = Home::new();
    let dir = tempfile::tempdir().unwrap();
    let task = json!({"schema": "task/1", "id": "t", "role": "explore", "prompt": "Where is it?"});
    write(dir.path(), "task.json", &task.to_string());
    let system = || {
        let found = estimate(&home)
            .cwd(dir.path())
            .args(["--task", "task.json", "--model", "qwen3", "--offline"])
            .run()
            .code(0)
            .json();
        found["breakdown"][0]["tokens"].as_u64().unwrap()
    };
    assert!(system() < 1_000);
    let text = home.path().join("explore.md");
    std::fs::write(&text, "Look everywhere. ".repeat(1_000)).unwrap();
    let config = format!("[roles.explore]\nprompt = {:?}\n", text.to_str().unwrap());
    write(home.path(), ".config/baton/config.toml", &config);
    assert!(system() > 2_000);
}
