//! The client against real sockets: clocks, cancellation, cut streams.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use baton_process::Cancel;
use baton_protocol::{BaseUrl, Secret};
use serde_json::json;

use super::Client;
use crate::clocks::Clocks;
use crate::errors::{CallError, Clock, ErrorClass};
use crate::net::{Endpoint, ProxyRules};
use crate::stream::{ChatAnswer, Finish};

/// Serves one connection: reads the request, then runs `answer` with the socket and the request.
fn serve(answer: impl FnOnce(&mut TcpStream, String) + Send + 'static) -> Client {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let request = request(&mut stream);
        answer(&mut stream, request);
    });
    client(&format!("http://{address}/v1"))
}

fn client(url: &str) -> Client {
    let mut endpoint = Endpoint::new(BaseUrl::parse(url).unwrap());
    endpoint.proxies = ProxyRules::default();
    endpoint.key = Some(Secret::new("sesame"));
    Client::new(endpoint)
}

fn request(stream: &mut TcpStream) -> String {
    let mut seen = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let n = stream.read(&mut buffer).unwrap();
        seen.extend_from_slice(&buffer[..n]);
        let text = String::from_utf8_lossy(&seen);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head
            .lines()
            .find_map(|l| {
                l.to_lowercase()
                    .strip_prefix("content-length: ")?
                    .parse()
                    .ok()
            })
            .unwrap_or(0);
        if n == 0 || body.len() >= length {
            return text.into_owned();
        }
    }
}

const HEAD: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
const HELLO: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"hel\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"lo 🦀\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

fn chunk(stream: &mut TcpStream, bytes: &[u8]) {
    stream
        .write_all(format!("{:x}\r\n", bytes.len()).as_bytes())
        .and_then(|()| stream.write_all(bytes))
        .and_then(|()| stream.write_all(b"\r\n"))
        .unwrap();
}

fn chat(client: &Client, clocks: &Clocks) -> Result<ChatAnswer, CallError> {
    let request = json!({"messages": [{"role": "user", "content": "hi"}], "max_tokens": 9});
    client.chat(&request, clocks, &Cancel::new(), &mut |_| {
        ControlFlow::Continue(())
    })
}

/// Waits until the peer has closed, so that the server does not end the test's wait.
fn wait_for_close(stream: &mut TcpStream) {
    let _ = stream.read(&mut [0; 16]);
}

#[test]
fn s05_one_byte_per_chunk_over_a_socket() {
    let client = serve(|stream, request| {
        assert!(request.starts_with("POST /v1/chat/completions HTTP/1.1"));
        assert!(request.contains("Bearer sesame"), "{request}");
        assert!(request.contains("\"stream\":true"));
        stream.write_all(HEAD.as_bytes()).unwrap();
        for byte in HELLO.as_bytes() {
            chunk(stream, &[*byte]);
        }
        wait_for_close(stream);
    });
    let answer = chat(&client, &Clocks::default()).unwrap();
    assert_eq!(answer.content, "hello 🦀");
    assert_eq!(answer.finish, Finish::Stop);
}

#[test]
fn s09_a_socket_that_stays_open_after_done_does_not_matter() {
    let client = serve(|stream, _| {
        stream.write_all(HEAD.as_bytes()).unwrap();
        chunk(stream, HELLO.as_bytes());
        wait_for_close(stream);
    });
    let started = Instant::now();
    assert!(chat(&client, &Clocks::default()).is_ok());
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn s08_s09_a_finish_reason_without_done_on_an_open_socket_is_complete() {
    let client = serve(|stream, _| {
        stream.write_all(HEAD.as_bytes()).unwrap();
        chunk(stream, HELLO.split_once("data: [").unwrap().0.as_bytes());
        wait_for_close(stream);
    });
    let answer = chat(&client, &short()).unwrap();
    assert_eq!(
        (answer.content.as_str(), answer.truncated),
        ("hello 🦀", false)
    );
    assert_eq!(answer.repairs["no_done_line"], 1);
}

#[test]
fn s10_a_stream_closed_in_the_middle_is_cut_with_what_came() {
    let client = serve(|stream, _| {
        // Close-delimited: the end of such a body looks clean to the library.
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
        stream.write_all(head.as_bytes()).unwrap();
        stream
            .write_all(HELLO.split_once("\n\n").unwrap().0.as_bytes())
            .unwrap();
    });
    let error = chat(&client, &Clocks::default()).unwrap_err();
    assert_eq!(error.class, ErrorClass::Cut);
    assert!(error.retryable);
    assert_eq!(error.partial.unwrap().content, "hel");
}

#[test]
fn c06_a_close_without_an_answer_is_named() {
    let client = serve(|_, _| {});
    let error = chat(&client, &Clocks::default()).unwrap_err();
    assert_eq!(error.class, ErrorClass::Cut);
    assert!(
        error.message.contains("without an answer"),
        "{}",
        error.message
    );
}

fn short() -> Clocks {
    Clocks {
        first_byte: Some(Duration::from_millis(150)),
        idle: Some(Duration::from_millis(150)),
        ..Clocks::default()
    }
}

#[test]
fn q02_a_queue_without_headers_or_data_runs_into_the_first_byte_clock() {
    let mute = serve(|stream, _| wait_for_close(stream));
    let error = chat(&mute, &short()).unwrap_err();
    assert_eq!(error.class, ErrorClass::TimedOut(Clock::FirstByte));
    // vLLM sends headers at once and heartbeats may follow; neither is a first token.
    let queued = serve(|stream, _| {
        stream.write_all(HEAD.as_bytes()).unwrap();
        chunk(stream, b": ping\n\n");
        wait_for_close(stream);
    });
    let error = chat(&queued, &short()).unwrap_err();
    assert_eq!(error.class, ErrorClass::TimedOut(Clock::FirstByte));
}

#[test]
fn q06_a_stalled_stream_runs_into_the_idle_clock() {
    let client = serve(|stream, _| {
        stream.write_all(HEAD.as_bytes()).unwrap();
        chunk(
            stream,
            HELLO
                .split_once("data: [")
                .unwrap()
                .0
                .split_once("\n\n")
                .unwrap()
                .0
                .as_bytes(),
        );
        chunk(stream, b"\n\n");
        wait_for_close(stream);
    });
    let error = chat(&client, &short()).unwrap_err();
    assert_eq!(error.class, ErrorClass::TimedOut(Clock::Idle));
    assert_eq!(error.partial.unwrap().content, "hel");
}

#[test]
fn a_slow_drip_runs_into_the_request_clock() {
    let client = serve(|stream, _| {
        stream.write_all(HEAD.as_bytes()).unwrap();
        let drop = b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
        for _ in 0..500 {
            let sent = stream
                .write_all(format!("{:x}\r\n", drop.len()).as_bytes())
                .and_then(|()| stream.write_all(drop))
                .and_then(|()| stream.write_all(b"\r\n"));
            if sent.is_err() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    let clocks = Clocks {
        request: Some(Duration::from_millis(200)),
        ..short()
    };
    let error = chat(&client, &clocks).unwrap_err();
    assert_eq!(error.class, ErrorClass::TimedOut(Clock::Request));
}

#[test]
fn cancelling_unblocks_a_read_at_once() {
    let client = serve(|stream, _| wait_for_close(stream));
    let cancel = Cancel::new();
    let remote = cancel.clone();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        remote.cancel();
    });
    let started = Instant::now();
    let error = client
        .chat(&json!({}), &Clocks::default(), &cancel, &mut |_| {
            ControlFlow::Continue(())
        })
        .unwrap_err();
    assert_eq!(error.class, ErrorClass::Cancelled);
    assert!(started.elapsed() < Duration::from_secs(2));
}

#[test]
fn the_caller_can_stop_a_stream() {
    let client = serve(|stream, _| {
        stream.write_all(HEAD.as_bytes()).unwrap();
        chunk(stream, HELLO.as_bytes());
        wait_for_close(stream);
    });
    let mut seen = 0;
    let answer = client
        .chat(&json!({}), &Clocks::default(), &Cancel::new(), &mut |_| {
            seen += 1;
            if seen == 2 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })
        .unwrap();
    assert_eq!((answer.finish, answer.truncated), (Finish::Stopped, true));
    assert_eq!(answer.content, "hel");
}

fn whole(response: &'static str) -> Result<ChatAnswer, CallError> {
    let client = serve(move |stream, _| stream.write_all(response.as_bytes()).unwrap());
    chat(&client, &Clocks::default())
}

#[test]
fn an_error_status_is_classified_by_its_body() {
    let error = whole("HTTP/1.1 503 Busy\r\nRetry-After: 3\r\nContent-Type: application/json\r\nContent-Length: 67\r\n\r\n{\"error\":{\"message\":\"The engine is currently busy and cannot accept\"}}").unwrap_err();
    assert_eq!(error.class, ErrorClass::Busy);
    assert_eq!(error.retry_after, Some(Duration::from_secs(3)));
}

#[test]
fn a_server_that_does_not_stream_is_understood_and_noted() {
    let answer = whole("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{\"choices\":[{\"message\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}").unwrap();
    assert_eq!(answer.content, "hi");
    assert_eq!(answer.repairs["not_streamed"], 1);
}

#[test]
fn s04_s05_s10_a_whole_document_is_read_as_liberally_as_a_stream() {
    let document = |body: &[u8]| {
        let mut response =
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
                .to_vec();
        response.extend_from_slice(body);
        let client = serve(move |stream, _| stream.write_all(&response).unwrap());
        chat(&client, &Clocks::default())
    };
    let text = r#"{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}"#;
    let marked = document(&[b"\xEF\xBB\xBF", text.as_bytes()].concat()).unwrap();
    assert_eq!(marked.content, "hi");
    let at = text.find("hi").unwrap();
    let broken = [&text.as_bytes()[..at], b"\xFF", &text.as_bytes()[at..]].concat();
    let broken = document(&broken).unwrap();
    assert!(broken.content.contains('\u{FFFD}'), "{}", broken.content);
    for end in [1, 20, text.len() - 1] {
        let error = document(&text.as_bytes()[..end]).unwrap_err();
        assert_eq!(error.class, ErrorClass::Cut, "{end}: {}", error.message);
    }
    let damaged = text.replace("\"finish", "finish");
    let error = document(damaged.as_bytes()).unwrap_err();
    assert_eq!(error.class, ErrorClass::Cut, "{}", error.message);
    let error = document(b"").unwrap_err();
    assert_ne!(error.class, ErrorClass::Cut, "{}", error.message);
}

#[test]
fn s33_a_stream_that_is_gzip_without_saying_so_is_named() {
    let client = serve(|stream, _| {
        stream.write_all(HEAD.as_bytes()).unwrap();
        chunk(stream, &[0x1f, 0x8b, 8, 0, 0, 0]);
        wait_for_close(stream);
    });
    let error = chat(&client, &Clocks::default()).unwrap_err();
    assert_eq!(error.class, ErrorClass::NotApi);
    assert!(error.message.contains("gzip"), "{}", error.message);
}

#[test]
fn s33_declared_gzip_is_decoded() {
    const ZIPPED: &[u8] = &[
        31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 75, 73, 44, 73, 180, 82, 168, 86, 74, 206, 200, 207, 76,
        78, 45, 86, 178, 138, 174, 86, 74, 73, 205, 41, 73, 84, 178, 2, 10, 230, 231, 149, 164,
        230, 149, 40, 89, 41, 101, 100, 42, 213, 234, 40, 165, 101, 230, 101, 22, 103, 196, 23,
        165, 38, 22, 231, 231, 1, 69, 139, 75, 242, 11, 148, 106, 99, 107, 185, 184, 82, 192, 198,
        68, 187, 248, 251, 185, 198, 114, 113, 1, 0, 104, 250, 234, 0, 85, 0, 0, 0,
    ];
    let client = serve(|stream, request| {
        assert!(
            request.to_lowercase().contains("accept-encoding: identity"),
            "{request}"
        );
        let head = HEAD.replace("\r\n\r\n", "\r\nContent-Encoding: gzip\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        chunk(stream, ZIPPED);
        chunk(stream, b"");
        wait_for_close(stream);
    });
    let answer = chat(&client, &Clocks::default()).unwrap();
    assert_eq!(answer.content, "hi");
}

#[test]
fn a_redirect_to_another_host_is_named_and_not_followed() {
    let error =
        whole("HTTP/1.1 302 Found\r\nLocation: http://login.example/\r\nContent-Length: 0\r\n\r\n")
            .unwrap_err();
    assert_eq!(error.class, ErrorClass::NotApi);
    assert!(
        error.message.contains("http://login.example/"),
        "{}",
        error.message
    );
}

#[test]
fn what_does_not_speak_http_is_named() {
    let error = whole("SSH-2.0-OpenSSH_9.6\r\n").unwrap_err();
    assert_eq!(error.class, ErrorClass::NotApi);
    assert!(error.message.contains("HTTP"), "{}", error.message);
}

#[test]
fn refused_names_the_addresses_that_were_tried() {
    let port = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let error = chat(
        &client(&format!("http://127.0.0.1:{port}")),
        &Clocks::default(),
    )
    .unwrap_err();
    assert_eq!(error.class, ErrorClass::Refused);
    assert!(
        error.message.contains(&format!("127.0.0.1:{port}")),
        "{}",
        error.message
    );
    // R-28: a bracketed address is an address, with a hint of its own.
    let error = chat(&client(&format!("http://[::1]:{port}")), &Clocks::default()).unwrap_err();
    assert_eq!(error.class, ErrorClass::Refused);
    assert!(
        error.message.contains("127.0.0.1 only"),
        "{}",
        error.message
    );
}

#[test]
fn r27_every_address_of_a_name_is_tried() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        request(&mut stream);
        stream.write_all(HEAD.as_bytes()).unwrap();
        chunk(&mut stream, HELLO.as_bytes());
        wait_for_close(&mut stream);
    });
    let client = client(&format!("http://localhost:{port}/v1"));
    assert_eq!(
        chat(&client, &Clocks::default()).unwrap().content,
        "hello 🦀"
    );
}
