//! Servers that are in nobody's list, and ways of asking that are not in the manual.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc;

use crate::support::{Home, Run};

/// A server that answers every request alike and passes on what it was sent.
fn server(answer: String) -> (u16, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, heard) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut buffer = [0; 16 << 10];
            let read = stream.read(&mut buffer).unwrap_or(0);
            let _ = sender.send(String::from_utf8_lossy(&buffer[..read]).into_owned());
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    (port, heard)
}

fn reply(status: &str, more: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\n{more}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn health(url: &str) -> Run {
    Run::tool("vllm-health", &Home::new()).arg(url)
}

#[test]
fn a_key_follows_no_redirect_to_another_port_of_the_host() {
    let list = r#"{"object":"list","data":[{"id":"m"}]}"#;
    let (other, heard) = server(reply("200 OK", "", list));
    let to = format!("Location: http://127.0.0.1:{other}/v1/models\r\n");
    let (port, _) = server(reply("307 Temporary Redirect", &to, ""));
    let ended = health(&format!("http://127.0.0.1:{port}/v1"))
        .env("OPENCODE_VLLM_API_KEY", "sk-secret-of-the-first")
        .run()
        .code(1);
    let reason = &ended.json()["providers"][0]["state_reason"];
    assert!(
        reason.as_str().unwrap().contains("set the base URL to it"),
        "{reason}"
    );
    assert!(heard.try_recv().is_err(), "nothing was sent there");
}

#[test]
fn a_key_that_no_header_can_hold_is_a_fault_of_the_configuration() {
    let ended = health("http://127.0.0.1:9/v1")
        .env("OPENCODE_VLLM_API_KEY", "schl\u{fc}ssel-geheim")
        .run()
        .code(78)
        .stderr_has("the key cannot be sent");
    assert!(!ended.stderr.contains("geheim"), "{}", ended.stderr);
}

#[test]
fn what_a_server_calls_its_model_cannot_speak_to_the_terminal() {
    let list = r#"{"object":"list","data":[{"id":"a\u001b]0;title\u0007\nb\u202ec"}]}"#;
    let (port, _) = server(reply("200 OK", "Content-Type: application/json\r\n", list));
    let ended = health(&format!("http://127.0.0.1:{port}/v1"))
        .arg("--text")
        .run();
    let text = &ended.stdout;
    assert!(
        !text.contains(['\x1b', '\x07', '\u{202e}']) && text.contains("a\\u{1b}]0;title\\u{7}\\nb"),
        "{text:?}"
    );
    assert_eq!(text.lines().count(), 2, "{text}");
}
