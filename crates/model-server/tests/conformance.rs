//! Replays recorded chat answers of a real vLLM 0.32 and a real llama-server b11434 through the client,
//! over a socket, and compares what it understands with what was reviewed.
//!
//! `fixtures/*-chat.jsonl` holds the recordings (long streams shortened, paths neutral), one JSON
//! object a line; `fixtures/*-chat.understood` what the client makes of them. After a change that is
//! meant, `SNAPSHOTS=overwrite cargo test -p baton-model-server --test conformance` rewrites the
//! latter; look at the difference.

#![expect(clippy::unwrap_used, reason = "a test helper may panic")]

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use baton_model_server::{CallError, ChatAnswer, Client, Clocks, Endpoint};
use baton_process::Cancel;
use baton_protocol::BaseUrl;
use serde_json::{Value, json};

/// How the server cuts an answer into writes.
#[derive(Clone, Copy)]
enum Cut {
    Whole,
    SingleBytes,
}

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name)
}

fn recordings(server: &str) -> Arc<Vec<Value>> {
    let text = std::fs::read_to_string(fixture(&format!("{server}-chat.jsonl"))).unwrap();
    Arc::new(
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect(),
    )
}

/// Serves recording N at `/N/v1/chat/completions`.
fn serve(recordings: &Arc<Vec<Value>>, cut: Cut) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let recordings = Arc::clone(recordings);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let number = requested(&mut stream);
            let _ = answer(&mut stream, &recordings[number], cut);
        }
    });
    format!("http://{address}")
}

fn requested(stream: &mut TcpStream) -> usize {
    let mut seen = Vec::new();
    let mut buffer = [0; 4096];
    while !seen.ends_with(b"}") {
        let n = stream.read(&mut buffer).unwrap();
        assert_ne!(n, 0, "the request ended early");
        seen.extend_from_slice(&buffer[..n]);
    }
    let text = String::from_utf8_lossy(&seen);
    text.split('/').nth(1).unwrap().parse().unwrap()
}

fn answer(stream: &mut TcpStream, recording: &Value, cut: Cut) -> std::io::Result<()> {
    let body = recording["body"].as_str().unwrap().as_bytes();
    write!(
        stream,
        "HTTP/1.1 {} Recorded\r\nContent-Type: {}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n",
        recording["status"],
        recording["content_type"].as_str().unwrap()
    )?;
    let size = match cut {
        Cut::Whole => body.len().max(1),
        Cut::SingleBytes => 1,
    };
    let mut framed = Vec::new();
    for piece in body.chunks(size) {
        write!(framed, "{:x}\r\n", piece.len())?;
        framed.extend_from_slice(piece);
        framed.extend_from_slice(b"\r\n");
    }
    framed.extend_from_slice(b"0\r\n\r\n");
    stream.write_all(&framed)
}

fn understood(result: &Result<ChatAnswer, CallError>) -> String {
    let short = |text: &str| {
        let head: String = text.chars().take(60).collect();
        if head.len() < text.len() {
            format!("{head}… ({} characters)", text.chars().count())
        } else {
            head
        }
    };
    match result {
        Ok(answer) => {
            let calls: Vec<Value> = answer
                .tool_calls
                .iter()
                .map(|c| json!([c.name, short(&c.arguments), c.complete]))
                .collect();
            let usage = answer
                .usage
                .map(|u| json!([u.prompt, u.completion, u.cached, u.reasoning]));
            format!(
                "{:?} truncated={} content={} reasoning={} ({}) calls={} usage={} repairs={}",
                answer.finish,
                answer.truncated,
                json!(short(&answer.content)),
                json!(short(&answer.reasoning)),
                answer.reasoning_field.as_deref().unwrap_or("-"),
                Value::Array(calls),
                json!(usage),
                json!(answer.repairs),
            )
        }
        Err(error) => format!(
            "error {:?} retryable={} partial={}",
            error.class,
            error.retryable,
            error.partial.is_some()
        ),
    }
}

fn replay(server: &str) {
    let recordings = recordings(server);
    let mut text = String::new();
    for cut in [Cut::Whole, Cut::SingleBytes] {
        let base = serve(&recordings, cut);
        let mut now = String::new();
        for (number, recording) in recordings.iter().enumerate() {
            let url = BaseUrl::parse(&format!("{base}/{number}")).unwrap();
            let client = Client::new(Endpoint::new(url));
            let result = client.chat(
                &json!({"messages": []}),
                &Clocks::default(),
                &Cancel::new(),
                &mut |_| ControlFlow::Continue(()),
            );
            let name = recording["name"].as_str().unwrap();
            writeln!(now, "{name}: {}", understood(&result)).unwrap();
        }
        if let Cut::SingleBytes = cut {
            assert_eq!(text, now, "one byte per chunk understands the same");
        }
        text = now;
    }
    let file = fixture(&format!("{server}-chat.understood"));
    if std::env::var("SNAPSHOTS").is_ok_and(|v| v == "overwrite") {
        std::fs::write(&file, &text).unwrap();
    }
    let reviewed = std::fs::read_to_string(&file).unwrap_or_default();
    for (reviewed, now) in reviewed.lines().zip(text.lines()) {
        assert_eq!(reviewed, now);
    }
    assert_eq!(reviewed, text);
}

#[test]
fn every_recorded_vllm_answer_is_understood() {
    replay("vllm");
}

#[test]
fn every_recorded_llama_cpp_answer_is_understood() {
    replay("llamacpp");
}
