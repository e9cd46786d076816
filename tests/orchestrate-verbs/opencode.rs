//! `orchestrate init --opencode`: added to what people have, and the second time not a byte.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::support::{Ended, Home, Run, Sim, repository};

/// A name, where to stand, and the files.
pub type Shape = (
    &'static str,
    &'static str,
    Vec<(&'static str, &'static str)>,
);

/// Configurations as people have them, each in its own repository: where to stand, and the files.
pub fn shapes() -> Vec<Shape> {
    let read = |name: &str| -> &'static str {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/fixtures/opencode")
            .join(name);
        std::fs::read_to_string(path).unwrap().leak()
    };
    vec![
        ("fresh", ".", vec![]),
        (
            "commented",
            ".",
            vec![("opencode.jsonc", read("commented.jsonc"))],
        ),
        (
            "seed",
            ".",
            vec![
                ("opencode.json", read("seed.json")),
                ("agent/note.md", "mine\n"),
            ],
        ),
        (
            "agents",
            ".",
            vec![
                ("opencode.json", read("agents.json")),
                (
                    ".opencode/agents/reviewer.md",
                    "---\ndescription: mine\nmode: subagent\n---\nMine.\n",
                ),
            ],
        ),
        (
            "commands",
            ".",
            vec![("opencode.jsonc", read("commands.jsonc"))],
        ),
        (
            "monorepo",
            "packages/app",
            vec![
                (".opencode/opencode.jsonc", read("monorepo.jsonc")),
                ("packages/app/package.json", "{}\n"),
            ],
        ),
    ]
}

pub fn init(home: &Home, dir: &Path, sim: &Sim, more: &[&str]) -> Ended {
    Run::tool("orchestrate", home)
        .args(["init", "--opencode"])
        .args(more)
        .cwd(dir)
        .server(&sim.base_url)
        .run()
}

/// Every file below a folder but git's.
fn files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut open = vec![root.to_owned()];
    let mut found = BTreeMap::new();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                if entry.file_name() != ".git" {
                    open.push(path);
                }
            } else {
                let bytes = std::fs::read(&path).unwrap();
                found.insert(path.strip_prefix(root).unwrap().to_owned(), bytes);
            }
        }
    }
    found
}

#[test]
fn the_second_time_changes_no_byte_and_everything_that_was_there_stays() {
    let sim = Sim::start([""; 0]);
    for (name, stand, given) in shapes() {
        let home = Home::new();
        let repo = repository(&given);
        let dir = repo.path().join(stand);
        std::fs::create_dir_all(&dir).unwrap();
        let before = files(repo.path());
        init(&home, &dir, &sim, &[]).code(0);
        let after = files(repo.path());
        for (path, old) in &before {
            let new = &after[path];
            if path.extension().is_some_and(|e| e == "md") {
                assert_eq!(new, old, "{name}: {}", path.display());
                continue;
            }
            // Every line that was there is there, in its order, but for a comma behind it.
            let text = String::from_utf8_lossy(new).into_owned();
            let mut lines = text.lines().map(|l| l.trim_end_matches(','));
            for line in String::from_utf8_lossy(old).lines() {
                let line = line.trim_end_matches(',');
                assert!(lines.any(|l| l == line), "{name}: lost {line:?} of\n{text}");
            }
            if new != old {
                let kept = after.keys().any(|p| p.to_string_lossy().contains(".bak-"));
                assert!(kept, "{name}: no backup");
            }
        }
        let config = after
            .iter()
            .find(|(path, _)| {
                path.file_name()
                    .is_some_and(|n| n == "opencode.jsonc" || n == "opencode.json")
            })
            .map(|(_, text)| String::from_utf8_lossy(text).into_owned())
            .unwrap();
        assert!(
            config.contains("{env:OPENCODE_VLLM_BASE_URL}"),
            "{name}: {config}"
        );
        assert!(
            !config.contains(sim.root()),
            "{name}: the address itself is in it"
        );
        for agent in [
            "orchestrator",
            "qwen-worker",
            "planner",
            "explore",
            "implementer",
        ] {
            let there = after.keys().any(|p| p.ends_with(format!("{agent}.md")));
            assert!(
                there || config.contains(&format!("\"{agent}\"")),
                "{name}: {agent}"
            );
        }
        init(&home, &dir, &sim, &[]).code(0);
        let again = files(repo.path());
        for (path, text) in &after {
            assert_eq!(&again[path], text, "{name}: {}", path.display());
        }
        assert_eq!(again.len(), after.len(), "{name}");
    }
}

#[test]
fn what_cannot_be_read_is_left_alone_and_links_are_not_followed() {
    let sim = Sim::start([""; 0]);
    let home = Home::new();
    let repo = repository(&[("opencode.json", "{ broken")]);
    init(&home, repo.path(), &sim, &[])
        .code(78)
        .stderr_has("left alone");
    assert_eq!(
        std::fs::read_to_string(repo.path().join("opencode.json")).unwrap(),
        "{ broken"
    );
    let outside = home.path().join("outside.json");
    std::fs::write(&outside, "{}").unwrap();
    let repo = repository(&[]);
    std::os::unix::fs::symlink(&outside, repo.path().join("opencode.json")).unwrap();
    init(&home, repo.path(), &sim, &[])
        .code(2)
        .stderr_has("no plain file");
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "{}");
}

#[test]
fn models_of_agents_are_written_where_they_are_asked_for() {
    let sim = Sim::start([""; 0]);
    let home = Home::new();
    let repo = repository(&[]);
    let models = [
        "--model",
        "orchestrator=default/big#high",
        "--model",
        "explore=hub/small",
    ];
    init(&home, repo.path(), &sim, &models).code(0);
    let read = |name: &str| {
        std::fs::read_to_string(repo.path().join(format!(".opencode/agent/{name}.md"))).unwrap()
    };
    assert!(read("orchestrator").contains("model: openai-compatible/big\nreasoningEffort: high\n"));
    assert!(read("explore").contains("model: hub/small\n"));
    assert!(!read("planner").contains("model:"));
}

#[test]
fn without_a_server_and_without_a_model_it_says_what_is_missing() {
    let home = Home::new();
    let repo = repository(&[]);
    Run::tool("orchestrate", &home)
        .args(["init", "--opencode"])
        .cwd(repo.path())
        .server("http://127.0.0.1:9/v1")
        .run()
        .code(69)
        .stderr_has("start the server");
    assert!(!repo.path().join("opencode.jsonc").exists());
    home.config("[[provider]]\nid = 'arc'\nbase_url = 'http://127.0.0.1:9/v1'\nmodels = ['qwen38']\ncontext = 16384\n");
    Run::tool("orchestrate", &home)
        .args(["init", "--opencode"])
        .cwd(repo.path())
        .run()
        .code(0);
    let text = std::fs::read_to_string(repo.path().join("opencode.jsonc")).unwrap();
    assert!(
        text.contains("\"context\": 16384") && text.contains("\"output\": 4096"),
        "{text}"
    );
}
