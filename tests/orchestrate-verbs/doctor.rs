//! `orchestrate doctor`: what is there, what is missing, and what mends it.

use serde_json::Value;

use crate::support::{Home, Run, Sim, repository, write};

fn find<'a>(report: &'a Value, name: &str) -> &'a Value {
    report["checks"]
        .as_array()
        .unwrap()
        .iter()
        .find(|c| c["name"].as_str().unwrap().starts_with(name))
        .unwrap_or_else(|| panic!("no check {name}: {report:#}"))
}

#[test]
fn a_ready_server_and_a_sound_repository_pass() {
    let (home, sim) = (Home::new(), Sim::start([""; 0]));
    let repo = repository(&[("README.md", "hello\n")]);
    let ended = Run::tool("orchestrate", &home)
        .args(["doctor", "--json"])
        .cwd(repo.path())
        .server(&sim.base_url)
        .run()
        .code(0);
    let report = ended.json();
    assert_eq!(report["schema"], "doctor/1");
    assert_eq!(
        find(&report, "provider default")["status"],
        "pass",
        "{report:#}"
    );
    for name in [
        "git",
        "repository",
        "tools",
        "disk",
        "slot locks",
        "state folder",
        "work trees",
        "run lock",
    ] {
        assert_eq!(find(&report, name)["status"], "pass", "{name}: {report:#}");
    }
    let url = report["config"]
        .as_array()
        .unwrap()
        .iter()
        .find(|s| s["key"] == "provider.default.base_url")
        .unwrap();
    assert_eq!(url["origin"], "OPENCODE_VLLM_BASE_URL");
}

#[test]
fn advice_never_fails_the_report_and_names_its_cure() {
    let home = Home::new();
    let repo = repository(&[]);
    let ended = Run::tool("orchestrate", &home)
        .args(["doctor", "--text"])
        .cwd(repo.path())
        .server("http://127.0.0.1:9/v1")
        .run()
        .code(0);
    ended
        .stdout_has("warn  provider default")
        .stdout_has("mend it: start the server, then: vllm-health --wait 5m");
}

#[test]
fn a_wrong_configuration_fails_it_with_file_and_line_and_the_rest_is_still_looked_at() {
    let home = Home::new();
    let repo = repository(&[]);
    write(
        repo.path(),
        ".orchestrator/config.toml",
        "[run]\nmax_paralel = 3\n",
    );
    let ended = Run::tool("orchestrate", &home)
        .args(["doctor", "--json"])
        .cwd(repo.path())
        .run()
        .code(78);
    let report = ended.json();
    let message = find(&report, "configuration")["message"].as_str().unwrap();
    assert!(
        message.contains("config.toml:2") && message.contains("max_parallel"),
        "{message}"
    );
    assert_eq!(find(&report, "git")["status"], "pass");
}

#[test]
fn strict_roles_that_are_missing_fail_it() {
    let home = Home::new();
    home.config("[commands]\nstrict_roles = true\n");
    let repo = repository(&[]);
    let ended = Run::tool("orchestrate", &home)
        .args(["doctor", "--json"])
        .cwd(repo.path())
        .run()
        .code(78);
    let report = ended.json();
    let check = find(&report, "configuration");
    assert_eq!(check["status"], "fail");
    assert!(check["message"].as_str().unwrap().contains("reviewer"));
}

#[test]
fn it_works_outside_a_repository_and_without_any_configuration() {
    let home = Home::new();
    let ended = Run::tool("orchestrate", &home)
        .args(["doctor", "--json"])
        .cwd(home.path())
        .run()
        .code(0);
    let report = ended.json();
    assert_eq!(find(&report, "repository")["status"], "warn");
    let fix = find(&report, "providers")["fix"].as_str().unwrap();
    assert!(fix.starts_with("export OPENCODE_VLLM_BASE_URL="), "{fix}");
}

#[test]
fn no_key_appears_in_it() {
    let home = Home::new();
    let repo = repository(&[]);
    let key = "sk-0123456789abcdef0123456789";
    let ended = Run::tool("orchestrate", &home)
        .args(["doctor", "--json"])
        .cwd(repo.path())
        .server("http://127.0.0.1:9/v1")
        .env("OPENCODE_VLLM_API_KEY", key)
        .run()
        .code(0);
    assert!(!ended.stdout.contains(key) && !ended.stderr.contains(key));
    assert!(ended.stdout.contains("OPENCODE_VLLM_API_KEY"));
}

#[test]
fn a_state_folder_that_cannot_be_written_fails_the_report() {
    let (home, sim) = (Home::new(), Sim::start([""; 0]));
    let repo = repository(&[("README.md", "hello\n")]);
    // Not even root can make a folder below a file.
    write(repo.path(), ".orchestrator", "in the way\n");
    let doctor = Run::tool("orchestrate", &home)
        .arg("doctor")
        .cwd(repo.path())
        .server(&sim.base_url)
        .run()
        .code(78)
        .json();
    let state = find(&doctor, "state folder");
    assert_eq!(state["status"], "fail", "{doctor:#}");
    assert!(state["fix"].as_str().unwrap().contains("ls -ld"));
}

#[test]
fn a_key_that_is_not_set_is_mended_by_setting_it() {
    let home = Home::new();
    let repo = repository(&[]);
    home.config("[[provider]]\nid = 'arc'\nbase_url = 'http://127.0.0.1:9'\napi_key_env = 'ARC_KEY'\n[worktree]\nroot = '/proc/trees'\n");
    let ended = Run::tool("orchestrate", &home)
        .arg("doctor")
        .cwd(repo.path())
        .run()
        .code(1);
    let report = ended.json();
    assert_eq!(find(&report, "providers")["fix"], "export ARC_KEY=KEY");
    assert_eq!(find(&report, "work trees")["status"], "fail", "{report:#}");
}
