//! vllm-health from the outside: documents, exit codes, waiting, probing, becoming a command.

#[path = "vllm-health/odd.rs"]
mod odd;
mod support;
#[path = "vllm-health/words.rs"]
mod words;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;
use support::{Ended, Home, Run, Sim, eventually, real_server_wanted};

fn health(home: &Home) -> Run {
    Run::tool("vllm-health", home)
}

/// Asks one server, with its URL as the argument.
fn ask(url: &str, args: &[&str]) -> Ended {
    health(&Home::new()).arg(url).args(args).run()
}

fn sim(args: &[&str]) -> Sim {
    Sim::start(args)
}

fn only(document: &Value) -> &Value {
    assert_eq!(document["schema"], "health/1");
    let providers = document["providers"].as_array().unwrap();
    assert_eq!(providers.len(), 1, "{document}");
    &providers[0]
}

fn state_of(args: &[&str], flags: &[&str]) -> (String, i32) {
    let server = sim(args);
    let ended = ask(&server.base_url, flags);
    let state = only(&ended.json())["state"].as_str().unwrap().to_owned();
    (state, ended.code.unwrap())
}

/// A port nobody listens on.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

/// Answers every request with the same bytes, for as long as the test runs.
fn raw_server(answer: &'static str) -> String {
    format!(
        "http://127.0.0.1:{}/v1",
        raw_server_at("127.0.0.1:0", answer)
    )
}

fn raw_server_at(address: &str, answer: &'static str) -> u16 {
    let listener = TcpListener::bind(address).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                // The whole head is read: closing over unread bytes would reset the connection.
                let mut request = Vec::new();
                let mut piece = [0; 2048];
                while !request.windows(4).any(|w| w == b"\r\n\r\n") {
                    match stream.read(&mut piece) {
                        Ok(0) | Err(_) => break,
                        Ok(n) => request.extend_from_slice(&piece[..n]),
                    }
                }
                let _ = stream.write_all(answer.as_bytes());
            });
        }
    });
    port
}

/// Accepts connections and never answers. Gives the listener to keep it alive.
fn mute_server() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    (listener, url)
}

#[test]
fn a_ready_server_is_yes_with_its_facts() {
    let server = sim(&["--context", "8192", "--slots", "2"]);
    let ended = ask(&server.base_url, &[]).code(0);
    let document = ended.json();
    assert_eq!(document["ready"], true);
    let provider = only(&document);
    assert_eq!(provider["server"]["kind"], "vllm");
    assert_eq!(provider["state"], "idle");
    assert_eq!(provider["models"][0]["usable_context"], 8192);
    assert_eq!(
        provider["models"][0]["usable_context_source"],
        "served_window"
    );
    assert_eq!(provider["slots"]["total"], 2);
    assert_eq!(provider["slots"]["source"], "assumed");
    assert!(
        ended.stderr.contains("--slots"),
        "the assumption is said: {}",
        ended.stderr
    );
}

#[test]
fn every_document_follows_the_schema() {
    let server = sim(&[]);
    let document = ask(&server.base_url, &["--probe"]).code(0).json();
    let text = ask(&server.base_url, &["--schema"]).code(0);
    let schemas: Value = serde_json::from_str(text.stdout.trim()).unwrap();
    let properties = schemas["writes"]["health/1"]["properties"]
        .as_object()
        .unwrap();
    for key in document.as_object().unwrap().keys() {
        assert!(properties.contains_key(key), "{key}");
    }
}

#[test]
fn llama_cpp_s_slots_and_shares_are_exact() {
    let server = sim(&["--kind", "llamacpp", "--context", "4096", "--slots", "3"]);
    let document = ask(&server.base_url, &[]).code(0).json();
    let provider = only(&document);
    assert_eq!(provider["server"]["kind"], "llamacpp");
    assert_eq!(provider["models"][0]["usable_context"], 4096);
    assert_eq!(provider["models"][0]["usable_context_source"], "slot_share");
    assert_eq!(provider["slots"]["free"], 3);
    assert_eq!(provider["slots"]["source"], "exact");
}

#[test]
fn nothing_configured_is_78_with_the_line_to_write() {
    let ended = health(&Home::new()).run().code(78);
    assert!(
        ended.stderr.contains("export OPENCODE_VLLM_BASE_URL=http"),
        "{}",
        ended.stderr
    );
    assert_eq!(ended.json()["kind"], "config");
}

#[test]
fn wrong_usage_is_2_and_names_the_right_flag() {
    let home = Home::new();
    health(&home)
        .args(["--modle", "x"])
        .run()
        .code(2)
        .stderr_has("--model");
    health(&home)
        .arg("127.0.0.1:8000")
        .run()
        .code(2)
        .stderr_has("http://");
    health(&home)
        .args(["--wait", "5"])
        .run()
        .code(2)
        .stderr_has("--wait");
    // A chain loader's own failures are 125, so that they cannot be taken for the command's.
    health(&home)
        .args(["--modle", "x", "--", "true"])
        .run()
        .code(125);
}

#[test]
fn a_missing_ca_file_is_named_before_any_request() {
    let home = Home::new();
    health(&home)
        .args(["https://127.0.0.1:1/v1", "--cacert", "/no/such.pem"])
        .run()
        .code(78)
        .stderr_has("/no/such.pem");
}

/// A server with a certificate of its own, by openssl. None where that is not installed.
fn tls_server(folder: &std::path::Path) -> Option<(std::process::Child, String)> {
    let made = std::process::Command::new("openssl")
        .args([
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
        ])
        .args([
            "-keyout",
            "key.pem",
            "-out",
            "cert.pem",
            "-subj",
            "/CN=localhost",
        ])
        .args(["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .current_dir(folder)
        .output();
    if !made.is_ok_and(|output| output.status.success()) {
        eprintln!("r31: skipped; openssl is not installed");
        return None;
    }
    support::write(
        folder,
        "v1/models",
        r#"{"data":[{"id":"m","owned_by":"vllm","max_model_len":100}]}"#,
    );
    support::write(folder, "health", "ok");
    let port = free_port();
    let child = std::process::Command::new("openssl")
        .args([
            "s_server", "-WWW", "-quiet", "-cert", "cert.pem", "-key", "key.pem",
        ])
        .args(["-accept", &port.to_string()])
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    eventually("openssl listens", Duration::from_secs(10), || {
        TcpStream::connect(("127.0.0.1", port)).ok()
    });
    Some((child, format!("https://localhost:{port}/v1")))
}

#[test]
fn r31_a_certificate_of_its_own_needs_its_authority_or_a_word() {
    let folder = tempfile::tempdir().unwrap();
    let Some((mut server, url)) = tls_server(folder.path()) else {
        return;
    };
    let refused = ask(&url, &[]).code(69);
    let document = refused.json();
    assert_eq!(only(&document)["error"]["kind"], "tls");
    assert!(
        only(&document)["state_reason"]
            .as_str()
            .unwrap()
            .contains("--cacert")
    );
    let certificate = folder.path().join("cert.pem");
    let certificate = certificate.to_str().unwrap();
    ask(&url, &["--cacert", certificate]).code(0);
    ask(&url, &["--insecure"]).code(0);
    health(&Home::new())
        .arg(&url)
        .env("SSL_CERT_FILE", certificate)
        .run()
        .code(0);
    let _ = server.kill();
    let _ = server.wait();
}

#[test]
fn the_environment_and_the_configuration_name_servers() {
    let (one, two) = (sim(&[]), sim(&["--kind", "llamacpp"]));
    let home = Home::new();
    home.config(&format!(
        "[[provider]]\nid = 'arc'\nbase_url = '{}'\nslots = 4\n",
        two.root()
    ));
    let document = health(&home).server(&one.base_url).run().code(0).json();
    let ids: Vec<&str> = document["providers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["default", "arc"]);
    assert_eq!(
        document["providers"][1]["slots"]["total"], 2,
        "never above the server's own"
    );
}

#[test]
fn r01_r05_r32_states_have_their_own_codes() {
    for (args, state, code) in [
        (&["--fault", "loading"][..], "loading", 1),
        (&["--fault", "loading-200"], "loading", 1),
        (&["--fault", "no-models"], "loading", 1),
        (&["--fault", "key-rejected"], "rejected", 1),
        (&["--fault", "forbidden"], "rejected", 1),
        (&["--fault", "html"], "wrong_api", 1),
        (&["--fault", "redirect-login"], "wrong_api", 1),
        (&["--fault", "proxy-503"], "unreachable", 69),
        (&["--fault", "bad-gateway"], "unreachable", 69),
        (&["--kind", "llamacpp", "--fault", "loading"], "loading", 1),
        (
            &["--kind", "llamacpp", "--fault", "meta-null"],
            "loading",
            1,
        ),
        (
            &["--kind", "llamacpp", "--fault", "sleeping"],
            "sleeping",
            0,
        ),
        (&["--kind", "llamacpp", "--fault", "slots-old"], "idle", 0),
    ] {
        assert_eq!(state_of(args, &[]), (state.to_owned(), code), "{args:?}");
    }
}

#[test]
fn refused_is_69_and_told_from_loading() {
    let url = format!("http://127.0.0.1:{}/v1", free_port());
    let document = ask(&url, &[]).code(69).json();
    let provider = only(&document);
    assert_eq!(provider["state"], "unreachable");
    assert_eq!(provider["error"]["kind"], "refused");
    assert_eq!(document["ready"], false);
}

#[test]
fn r10_a_server_that_accepts_and_is_silent_is_unknown_within_the_limit() {
    let (_listener, url) = mute_server();
    let started = Instant::now();
    let ended = ask(&url, &["--timeout", "500ms"]).code(3);
    assert!(
        started.elapsed() < Duration::from_secs(3),
        "{:?}",
        started.elapsed()
    );
    let document = ended.json();
    assert_eq!(document["ready"], Value::Null);
    assert_eq!(only(&document)["state"], "unknown");
    assert_eq!(only(&document)["slots"]["free"], Value::Null);
}

#[test]
fn r21_to_r24_every_form_of_the_address_means_the_same() {
    let server = sim(&[]);
    for form in ["", "/", "/v1", "/v1/"] {
        let url = format!("{}{form}", server.root());
        let document = ask(&url, &["--probe"]).code(0).json();
        assert_eq!(
            only(&document)["base_url"],
            server.base_url.as_str(),
            "{form:?}"
        );
    }
}

#[test]
fn r26_a_web_page_is_shown_with_its_beginning() {
    let url = raw_server(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<!DOCTYPE html><html><title>Portal</title>",
    );
    let document = ask(&url, &[]).code(1).json();
    let provider = only(&document);
    assert_eq!(provider["state"], "wrong_api");
    let message = provider["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("<title>Portal") && message.contains("base URL"),
        "{message}"
    );
}

#[test]
fn r26_what_does_not_speak_http_is_a_wrong_api() {
    let url = raw_server("SSH-2.0-OpenSSH_9.6\r\n");
    assert_eq!(only(&ask(&url, &[]).code(1).json())["state"], "wrong_api");
}

#[test]
fn r27_localhost_is_found_on_whichever_address_answers() {
    let server = sim(&[]);
    let url = server.base_url.replace("127.0.0.1", "localhost");
    ask(&url, &[]).code(0);
}

#[test]
fn r28_a_bracketed_address_is_refused_with_a_hint() {
    let url = format!("http://[::1]:{}/v1", free_port());
    let document = ask(&url, &[]).code(69).json();
    let message = only(&document)["error"]["message"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(message.contains("127.0.0.1"), "{message}");
}

#[test]
fn r29_r30_loopback_never_goes_through_a_proxy() {
    let server = sim(&[]);
    let proxy = raw_server(
        "HTTP/1.1 503 Service Unavailable\r\nX-Squid-Error: ERR_CONNECT_FAIL\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<html>squid</html>",
    );
    let run = |url: &str, no_proxy: &str| {
        health(&Home::new())
            .arg(url)
            .env("http_proxy", proxy.trim_end_matches("/v1"))
            .env("NO_PROXY", no_proxy)
            .args(["--timeout", "2s"])
            .run()
    };
    for no_proxy in [
        "",
        "example.com",
        "localhost,127.0.0.1,::1",
        "10.0.0.0/8, lan, fd00::/64",
    ] {
        run(&server.base_url, no_proxy).code(0);
    }
    // Others do, and the proxy's refusal is named as the proxy's.
    let ended = run("http://192.0.2.7:8000/v1", "").code(69);
    let message = only(&ended.json())["state_reason"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(message.contains("proxy"), "{message}");
}

#[test]
fn r33_the_key_is_checked_apart_from_health() {
    let server = sim(&["--api-key", "sesame"]);
    let home = Home::new();
    let ask = |key: Option<&str>| {
        let run = health(&home).server(&server.base_url);
        match key {
            Some(key) => run.env("OPENCODE_VLLM_API_KEY", key),
            None => run,
        }
        .run()
    };
    for wrong in [None, Some("nope")] {
        let document = ask(wrong).code(1).json();
        assert_eq!(only(&document)["state"], "rejected");
        assert_eq!(only(&document)["key_ok"], false);
    }
    let right = ask(Some("sesame")).code(0);
    assert_eq!(only(&right.json())["key_ok"], true);
    assert_eq!(only(&right.json())["api_key_env"], "OPENCODE_VLLM_API_KEY");
    assert!(!right.stdout.contains("sesame") && !right.stderr.contains("sesame"));
}

#[test]
fn a_wanted_model_is_matched_by_its_name_and_nothing_else() {
    let server = sim(&["--model", "qwen38"]);
    ask(&server.base_url, &["--model", "qwen38"]).code(0);
    ask(&server.base_url, &["--model", "qwen"])
        .code(1)
        .stderr_has("listed are: qwen38");
    ask(&server.base_url, &["--model", "Qwen38"]).code(1);
}

#[test]
fn r20_a_model_that_is_not_listed_is_decided_by_a_probe() {
    let server = sim(&["--fault", "not-listed"]);
    ask(&server.base_url, &["--model", "qwen38"])
        .code(1)
        .stderr_has("--probe");
    ask(&server.base_url, &["--model", "qwen38", "--probe"]).code(0);
}

#[test]
fn min_context_is_a_hard_filter_with_three_answers() {
    let server = sim(&["--context", "16384"]);
    ask(&server.base_url, &["--min-context", "16k"]).code(0);
    ask(&server.base_url, &["--min-context", "16Ki"]).code(0);
    ask(&server.base_url, &["--min-context", "17k"])
        .code(1)
        .stderr_has("16384");
    let untold = sim(&["--fault", "no-context"]);
    ask(&untold.base_url, &["--min-context", "1k"]).code(3);
}

#[test]
fn r06_r16_r34_a_probe_proves_more_than_health() {
    let probed = |args: &[&str], flag: &str| {
        let server = sim(args);
        ask(&server.base_url, &[flag])
    };
    for flag in ["--probe", "--probe=json"] {
        let ended = probed(&[], flag).code(0);
        assert_eq!(only(&ended.json())["probe"]["ok"], true, "{flag}");
    }
    probed(&["--fault", "chat-503"], "--probe").code(1);
    let wrong = probed(&["--fault", "wrong-model"], "--probe").code(1);
    assert!(wrong.stderr.contains("answered"), "{}", wrong.stderr);
    let tools = probed(&["--no-tools"], "--probe=tools").code(1);
    assert!(
        tools.stderr.contains("--tool-call-parser"),
        "{}",
        tools.stderr
    );
}

#[test]
fn r07_an_engine_that_answers_nothing_is_stalled() {
    let server = sim(&["--fault", "engine-dead"]);
    let ended = ask(&server.base_url, &["--probe", "--timeout", "1s"]).code(1);
    assert_eq!(only(&ended.json())["state"], "stalled");
}

/// Starts a chat that stays in work, and gives its socket to hold.
fn long_chat(server: &Sim) -> TcpStream {
    let address = server.root().trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).unwrap();
    let body = r#"{"model":"qwen38","stream":true,"max_tokens":4000,"messages":[{"role":"user","content":"hold on"}]}"#;
    write!(
        stream,
        "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    stream
}

fn running(server: &Sim) -> u64 {
    let document = ask(&server.base_url, &[]).json();
    only(&document)["slots"]["in_flight"].as_u64().unwrap_or(0)
}

#[test]
fn r08_counters_that_stand_still_while_a_request_runs_are_a_stall() {
    let server = sim(&["--fault", "engine-stalled"]);
    let _chat = long_chat(&server);
    eventually("the request runs", Duration::from_secs(10), || {
        (running(&server) == 1).then_some(())
    });
    let ended = ask(&server.base_url, &["--samples", "3", "--interval", "200ms"]).code(1);
    assert_eq!(only(&ended.json())["state"], "stalled");
    // One look cannot tell.
    ask(&server.base_url, &[]).code(0);
}

#[test]
fn a_probe_queues_behind_nobody() {
    let server = sim(&[
        "--kind",
        "llamacpp",
        "--slots",
        "1",
        "--fault",
        "engine-stalled",
    ]);
    let _chat = long_chat(&server);
    eventually("the request runs", Duration::from_secs(10), || {
        (running(&server) == 1).then_some(())
    });
    let ended = ask(&server.base_url, &["--probe"]).code(0);
    let document = ended.json();
    assert_eq!(only(&document)["state"], "saturated");
    assert_eq!(only(&document)["probe"]["skipped"], true);
}

#[test]
fn any_and_all_over_several_servers() {
    let server = sim(&[]);
    let dead = format!("http://127.0.0.1:{}/v1", free_port());
    let both = |flag: &[&str]| {
        health(&Home::new())
            .args([server.base_url.as_str(), &dead])
            .args(flag)
            .run()
    };
    assert_eq!(
        both(&[]).code(0).json()["providers"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    both(&["--any"]).code(0);
    both(&["--all"]).code(1);
}

#[test]
fn the_table_is_for_people_and_quiet_is_the_code_alone() {
    let server = sim(&[]);
    let table = ask(&server.base_url, &["--text"]).code(0);
    assert!(table.stdout.starts_with("PROVIDER "), "{}", table.stdout);
    assert!(table.stdout.contains("qwen38"));
    let quiet = ask(&server.base_url, &["-q"]).code(0);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
}

#[test]
fn when_ready_it_becomes_the_command_with_the_choice_in_its_environment() {
    let server = sim(&["--context", "8192", "--api-key", "sesame"]);
    let script = r#"printf '%s %s %s %s %s %s' "$BATON_PROVIDER" "$BATON_MODEL" "$BATON_CONTEXT" "$OPENCODE_VLLM_BASE_URL" "$OPENAI_BASE_URL" "$OPENAI_API_KEY"; cat; exit 7"#;
    let ended = health(&Home::new())
        .server(&server.base_url)
        .env("OPENCODE_VLLM_API_KEY", "sesame")
        .args(["--", "sh", "-c", script])
        .stdin(" and stdin")
        .run()
        .code(7);
    let url = &server.base_url;
    assert_eq!(
        ended.stdout,
        format!("default qwen38 8192 {url} {url} sesame and stdin")
    );
}

#[test]
fn when_not_ready_the_command_does_not_run() {
    let home = Home::new();
    let dead = format!("http://127.0.0.1:{}/v1", free_port());
    let ended = health(&home)
        .arg(&dead)
        .args(["--", "echo", "ran"])
        .run()
        .code(69);
    assert_eq!(ended.stdout, "");
    let loading = sim(&["--fault", "loading"]);
    health(&home)
        .arg(&loading.base_url)
        .args(["--", "echo", "ran"])
        .run()
        .code(69);
    let ready = sim(&[]);
    health(&home)
        .arg(&ready.base_url)
        .args(["--", "no-such-program"])
        .run()
        .code(127);
    health(&home)
        .arg(&ready.base_url)
        .args(["--", "/etc/passwd"])
        .run()
        .code(126);
}

#[test]
fn wait_returns_soon_after_the_server_is_there() {
    let port = free_port();
    let home = Home::new();
    let mut child = health(&home)
        .args([&format!("http://127.0.0.1:{port}/v1"), "--wait", "60s"])
        .command()
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Long enough for the first look to be over, so that it really waits.
    std::thread::sleep(Duration::from_millis(400));
    let port = port.to_string();
    let mut server = std::process::Command::new(support::sim_server_path())
        .args(["--port", &port, "--until-eof"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = [0; 8];
    server.stdout.take().unwrap().read_exact(&mut line).unwrap();
    let up = Instant::now();
    let output = child.wait_with_output_bounded();
    let late = up.elapsed();
    let _ = server.kill();
    let _ = server.wait();
    assert_eq!(output.0, Some(0), "{}", output.1);
    assert!(output.1.contains("waiting up to"), "{}", output.1);
    assert!(late < Duration::from_secs(2), "{late:?}");
}

#[test]
fn wait_ends_at_its_limit_and_at_once_when_waiting_is_useless() {
    let dead = format!("http://127.0.0.1:{}/v1", free_port());
    let started = Instant::now();
    ask(&dead, &["--wait", "700ms"])
        .code(69)
        .stderr_has("waiting up to");
    assert!(started.elapsed() >= Duration::from_millis(700));
    let rejected = sim(&["--fault", "key-rejected"]);
    let started = Instant::now();
    ask(&rejected.base_url, &["--wait", "60s"]).code(1);
    assert!(
        started.elapsed() < Duration::from_secs(20),
        "a wrong key does not mend itself"
    );
}

#[test]
fn ctrl_c_ends_a_wait_at_once_with_130() {
    let dead = format!("http://127.0.0.1:{}/v1", free_port());
    let mut child = health(&Home::new())
        .args([dead.as_str(), "--wait", "60s"])
        .command()
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 12];
    child
        .stderr
        .as_mut()
        .unwrap()
        .read_exact(&mut first)
        .unwrap();
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let started = Instant::now();
    assert_eq!(child.wait_with_output_bounded().0, Some(130));
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn watch_writes_one_line_a_look_and_ends_with_its_reader() {
    let server = sim(&[]);
    let script = format!("vllm-health {} --watch 50ms | head -n 3", server.base_url);
    let ended = Run::shell(&script, &Home::new()).run().code(0);
    let lines: Vec<Value> = ended
        .stdout
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert_eq!(lines.len(), 3);
    assert!(lines.iter().all(|l| l["ready"] == true));
}

#[test]
fn two_hundred_servers_are_asked_side_by_side() {
    // 127.0.0.1 to 127.0.0.200 all lead to a listener on every address, so each is a server.
    let live = raw_server_at(
        "0.0.0.0:0",
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{\"data\":[{\"id\":\"m\",\"owned_by\":\"vllm\",\"max_model_len\":4096}]}",
    );
    let mute = TcpListener::bind("0.0.0.0:0").unwrap();
    let ports = [live, mute.local_addr().unwrap().port(), free_port()];
    let mut config = String::new();
    for n in 1..=200 {
        let port = match n % 10 {
            0 => ports[1],
            5 => ports[2],
            _ => ports[0],
        };
        config += &format!("[[provider]]\nid = 'p{n}'\nbase_url = 'http://127.0.0.{n}:{port}'\n");
    }
    let home = Home::new();
    home.config(&config);
    let started = Instant::now();
    let ended = health(&home).args(["--timeout", "3s"]).run().code(0);
    // The bound is 50 ms over the limit; a loaded test machine gets more.
    assert!(
        started.elapsed() < Duration::from_secs(8),
        "{:?}",
        started.elapsed()
    );
    let document = ended.json();
    let count = |state: &str| {
        let providers = document["providers"].as_array().unwrap();
        providers.iter().filter(|p| p["state"] == state).count()
    };
    assert_eq!(
        (count("busy"), count("unknown"), count("unreachable")),
        (160, 20, 20)
    );
}

/// The checks that hold for every real server, whatever it is.
#[test]
fn a_real_server_is_understood() {
    if !real_server_wanted("a_real_server_is_understood") {
        return;
    }
    let url =
        std::env::var("OPENCODE_VLLM_BASE_URL").expect("BATON_REAL=1 needs OPENCODE_VLLM_BASE_URL");
    let ended = ask(&url, &["--wait", "120s", "--probe", "--timeout", "60s"]).code(0);
    let document = ended.json();
    let provider = only(&document);
    assert!(
        ["vllm", "llamacpp", "llamacpp-router"]
            .contains(&provider["server"]["kind"].as_str().unwrap())
    );
    assert!(provider["server"]["version"].is_string());
    assert_eq!(provider["probe"]["ok"], true);
    for model in provider["models"].as_array().unwrap() {
        if model["state"] == "loaded" {
            assert!(model["usable_context"].as_u64().unwrap() > 0, "{model}");
        }
    }
    assert!(provider["slots"]["total"].as_u64().unwrap() >= 1);
    assert!(provider["slots"]["in_flight"].is_u64());
}

/// A child's end within a bound.
trait Bounded {
    fn wait_with_output_bounded(&mut self) -> (Option<i32>, String);
}

impl Bounded for std::process::Child {
    fn wait_with_output_bounded(&mut self) -> (Option<i32>, String) {
        let status = eventually("the tool ends", Duration::from_secs(60), || {
            self.try_wait().unwrap()
        });
        let mut text = String::new();
        if let Some(mut stderr) = self.stderr.take() {
            stderr.read_to_string(&mut text).unwrap();
        }
        (status.code(), text)
    }
}
