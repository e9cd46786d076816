//! What `orchestrate init --opencode` writes, as the real opencode takes it: it starts with each, and
//! the completion options reach the server.
//!
//! These need opencode on the `PATH` (or named by `BATON_OPENCODE`); without it they say so.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::opencode::{init, shapes};
use crate::support::{Home, Run, Sim, get, repository};

/// The real program, when it is here.
fn real_opencode(test: &str) -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("BATON_OPENCODE") {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&path)
        .map(|folder| folder.join("opencode"))
        .find(|program| program.is_file());
    if found.is_none() {
        eprintln!("{test}: skipped, opencode is not installed (npm install opencode-ai)");
    }
    found
}

fn opencode(program: &Path, home: &Home, dir: &Path, sim: &Sim, args: &[&str]) -> Run {
    Run::program(program, home)
        .args(args)
        .cwd(dir)
        .server(&sim.base_url)
        .env("OPENCODE_VLLM_API_KEY", "local")
        .env("OPENCODE_DISABLE_AUTOUPDATE", "1")
}

/// A server whose model answers by this script.
fn scripted(home: &Home, script: &Value) -> Sim {
    let file = home.path().join("script.json");
    std::fs::write(&file, script.to_string()).unwrap();
    Sim::start(["--script".as_ref(), file.as_os_str()])
}

/// The chat requests the server saw.
fn chats(sim: &Sim) -> Vec<Value> {
    let seen: Value = serde_json::from_str(&get(&format!("{}/sim/requests", sim.root()))).unwrap();
    let list = seen.get("requests").cloned().unwrap_or(seen);
    let chats = list.as_array().unwrap().iter();
    chats.filter(|r| !r["chat"].is_null()).cloned().collect()
}

#[test]
fn the_real_opencode_starts_with_each() {
    let Some(program) = real_opencode("the_real_opencode_starts_with_each") else {
        return;
    };
    let sim = Sim::start([""; 0]);
    for (name, stand, given) in shapes() {
        let home = Home::new();
        let repo = repository(&given);
        let dir = repo.path().join(stand);
        std::fs::create_dir_all(&dir).unwrap();
        init(&home, &dir, &sim, &[]).code(0);
        let start = opencode(&program, &home, &dir, &sim, &["debug", "config"]);
        let config = start.run().code(0).json();
        let has = |kind: &str, wanted: &[&str]| {
            for key in wanted {
                assert!(
                    !config[kind][key].is_null(),
                    "{name}: {kind} {key}: {config:#}"
                );
            }
        };
        let agents = [
            "orchestrator",
            "qwen-worker",
            "planner",
            "explore",
            "implementer",
            "reviewer",
        ];
        has("agent", &agents);
        let commands = [
            "orchestrate",
            "goal",
            "run-plan",
            "stress-plan",
            "restructure",
            "polish",
        ];
        has("command", &commands);
        has("command", &["halt", "handover", "doctor"]);
        let ours = config["provider"].as_object().unwrap().values();
        let addresses = ours.filter(|p| p["options"]["baseURL"] == sim.base_url.as_str());
        assert_eq!(addresses.count(), 1, "{name}: {config:#}");
        // What was the user's is the user's.
        match name {
            "commented" => assert_eq!(config["model"], "anthropic/claude-sonnet-4-5"),
            "agents" => assert_eq!(config["agent"]["planner"]["prompt"], "Plan with care."),
            "commands" => has("command", &["test"]),
            "monorepo" => assert_eq!(config["share"], "disabled"),
            _ => {}
        }
    }
}

#[test]
fn the_completion_options_reach_the_server() {
    let Some(program) = real_opencode("the_completion_options_reach_the_server") else {
        return;
    };
    let usual = json!({"chat_template_kwargs": {"enable_thinking": true, "thinking_budget": 2048},
        "thinking_token_budget": 2048});
    let seed = json!({"chat_template_kwargs": {"enable_thinking": true, "thinking_budget": 2048}});
    let own = json!({"chat_template_kwargs": {"enable_thinking": false}, "top_k": 20});
    let seeds = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/opencode/seed.json"),
    )
    .unwrap();
    // What is usual, what the user's own file says, and what our configuration says.
    let cases: [(&[(&str, &str)], &Value); 3] = [
        (&[], &usual),
        (&[("opencode.json", &seeds)], &seed),
        (&[], &own),
    ];
    for (files, wanted) in cases {
        let home = Home::new();
        let sim = scripted(&home, &json!({"rule": [{"answer": {"say": "Hello."}}]}));
        if wanted == &own {
            home.config(&format!(
                "[[provider]]\nid = 'arc'\nbase_url = '{}'\nrequest = {{ chat_template_kwargs = \
                 {{ enable_thinking = false }}, top_k = 20 }}\n",
                sim.base_url
            ));
        }
        let repo = repository(files);
        init(&home, repo.path(), &sim, &[]).code(0);
        let said = opencode(&program, &home, repo.path(), &sim, &["run", "Say hello."]);
        said.run().code(0).stdout_has("Hello.");
        let chats = chats(&sim);
        assert!(!chats.is_empty());
        for chat in &chats {
            for (key, value) in wanted.as_object().unwrap() {
                assert_eq!(&chat["body"][key], value, "{key}: {:#}", chat["body"]);
            }
            let extra = chat["body"].get("thinking_token_budget");
            assert_eq!(extra, wanted.get("thinking_token_budget"));
        }
    }
}

#[test]
fn the_limit_of_a_request_is_the_one_that_was_written() {
    let Some(program) = real_opencode("the_limit_of_a_request_is_the_one_that_was_written") else {
        return;
    };
    let home = Home::new();
    let late = json!({"rule": [{"answer": {"say": "Too late.", "wait": "100s"}}]});
    let sim = scripted(&home, &late);
    let repo = repository(&[]);
    init(&home, repo.path(), &sim, &[]).code(0);
    // Ten minutes are too long for a test; that this is the key opencode goes by is what counts.
    let file = repo.path().join("opencode.jsonc");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("\"timeout\": 600000"), "{text}");
    std::fs::write(&file, text.replace("600000", "2500")).unwrap();
    let said = opencode(&program, &home, repo.path(), &sim, &["run", "Say hello."]).run();
    assert!(said.stderr.contains("timed out"), "{said:#?}");
    let chats = chats(&sim);
    assert!(!chats.is_empty());
    assert!(
        chats.iter().all(|c| c["outcome"] == "hung_up"),
        "{chats:#?}"
    );
}
