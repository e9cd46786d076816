//! A client that hides nothing: it shows the head, the decoded body and how the connection ended.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::Sim;

/// What came back.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    /// The body, without the framing of its chunks.
    pub body: Vec<u8>,
    /// Whether the body ended as its head had announced.
    pub complete: bool,
    /// The sizes of the chunks.
    pub chunks: Vec<usize>,
}

impl Answer {
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("no JSON: {e}\n{self:?}"))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The JSON of every `data:` line of a stream.
    pub fn events(&self) -> Vec<Value> {
        let text = self.text();
        let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
        data.filter_map(|json| serde_json::from_str(json).ok())
            .collect()
    }

    pub fn header(&self, name: &str) -> Option<String> {
        let lines = self.head.lines().filter_map(|line| line.split_once(':'));
        lines
            .filter(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim().to_owned())
            .next()
    }
}

/// A server that can be asked: ours, or a real one by its address.
pub trait Served {
    fn url(&self) -> &str;
}

impl Served for Sim {
    fn url(&self) -> &str {
        self.root()
    }
}

impl Served for String {
    fn url(&self) -> &str {
        self
    }
}

/// Opens a connection and sends a request on it.
pub fn open(
    server: &impl Served,
    method: &str,
    target: &str,
    headers: &str,
    body: &str,
) -> TcpStream {
    let address = server.url().trim_start_matches("http://");
    // A server behind a path is reached at its address all the same.
    let address = address.split('/').next().unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(120)))
        .unwrap();
    let length = body.len();
    let kind = if body.is_empty() {
        ""
    } else {
        "Content-Type: application/json\r\n"
    };
    let request = format!(
        "{method} {target} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{kind}{headers}Content-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

/// Reads all that comes until the connection ends; `None` when not a byte came.
pub fn read(mut stream: TcpStream) -> Option<Answer> {
    let mut bytes = Vec::new();
    // A reset ends the reading too; what came before it counts.
    let _ = stream.read_to_end(&mut bytes);
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let rest = &bytes[end + 4..];
    let mut answer = Answer {
        status,
        head,
        body: rest.to_vec(),
        complete: true,
        chunks: vec![],
    };
    if answer.header("transfer-encoding").is_some() {
        unchunk(rest, &mut answer);
    } else if let Some(length) = answer.header("content-length") {
        answer.complete = length.parse() == Ok(rest.len());
    }
    Some(answer)
}

fn unchunk(mut rest: &[u8], answer: &mut Answer) {
    answer.body.clear();
    answer.complete = false;
    while let Some(at) = rest.windows(2).position(|window| window == b"\r\n") {
        let size = std::str::from_utf8(&rest[..at]).unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            answer.complete = true;
            return;
        }
        let data = &rest[at + 2..];
        if data.len() < size + 2 {
            return;
        }
        answer.body.extend_from_slice(&data[..size]);
        answer.chunks.push(size);
        rest = &data[size + 2..];
    }
}

#[track_caller]
pub fn get(server: &impl Served, target: &str) -> Answer {
    read(open(server, "GET", target, "", "")).expect("an answer")
}

#[track_caller]
pub fn post(server: &impl Served, target: &str, body: &Value) -> Answer {
    read(open(server, "POST", target, "", &body.to_string())).expect("an answer")
}

pub const CHAT: &str = "/v1/chat/completions";

/// A chat request with one user message and whatever else is given.
pub fn request(text: &str, more: impl Into<Value>) -> Value {
    let mut body = json!({"model": "qwen38", "messages": [{"role": "user", "content": text}]});
    let more = more.into().as_object().cloned().unwrap_or_default();
    body.as_object_mut().unwrap().extend(more);
    body
}

/// A tool with string parameters, all required.
pub fn tool(name: &str, parameters: &[&str]) -> Value {
    let properties: serde_json::Map<String, Value> = parameters
        .iter()
        .map(|p| ((*p).to_owned(), json!({"type": "string"})))
        .collect();
    json!({"type": "function", "function": {"name": name, "description": "does it", "parameters":
        {"type": "object", "properties": properties, "required": parameters}}})
}

/// Starts a server that has this script.
pub fn scripted(script: &str, args: &[&str]) -> Sim {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("script.toml");
    std::fs::write(&file, script).unwrap();
    let mut all = vec!["--script", file.to_str().unwrap()];
    all.extend(args);
    // The script is read before the first line is printed, so the folder may go.
    Sim::start(all)
}

/// Waits until the engine is in a state; the query is that of `/sim/wait`.
#[track_caller]
pub fn wait(sim: &Sim, query: &str) {
    let answer = get(sim, &format!("/sim/wait?{query}"));
    assert_eq!(
        answer.status,
        200,
        "not reached: {query}: {}",
        answer.text()
    );
}

pub fn release(sim: &Sim, gate: &str) {
    assert_eq!(
        post(sim, "/sim/release", &json!({ "gate": gate })).status,
        204
    );
}

/// The records of all chat requests.
pub fn chats(sim: &Sim) -> Vec<Value> {
    let all = get(sim, "/sim/requests?path=/chat/").json();
    all["requests"].as_array().unwrap().clone()
}
