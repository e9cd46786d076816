//! Streams chat answers through the client, several at once, for `benches/client.sh`.
//!
//!     streams BASE_URL STREAMS MAX_TOKENS
//!
//! Prints what came: answers, events with content, and their bytes.

use std::io::{Write, stdout};
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use baton_model_server::{Client, Clocks, Endpoint, StreamEvent};
use baton_process::Cancel;
use baton_protocol::BaseUrl;
use serde_json::json;

/// One answer: its pieces and their bytes.
fn stream(client: &Client, tokens: u64) -> Result<(u64, usize), String> {
    let request = json!({
        "model": "qwen38",
        "messages": [{"role": "user", "content": "Count."}],
        "max_tokens": tokens,
    });
    let (mut pieces, mut bytes) = (0, 0);
    let clocks = Clocks::all(Duration::from_secs(60));
    let answer = client.chat(&request, &clocks, &Cancel::new(), &mut |event| {
        if let StreamEvent::Content(text) | StreamEvent::Reasoning(text) = event {
            pieces += 1;
            bytes += text.len();
        }
        ControlFlow::Continue(())
    });
    answer.map(|_| (pieces, bytes)).map_err(|e| e.to_string())
}

fn run() -> Result<String, String> {
    let usage = "usage: streams BASE_URL STREAMS MAX_TOKENS";
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, streams, tokens] = arguments.as_slice() else {
        return Err(usage.to_owned());
    };
    let number = |text: &str| text.parse::<u64>().map_err(|_| usage.to_owned());
    let (streams, tokens) = (number(streams)?, number(tokens)?);
    let client = Client::new(Endpoint::new(BaseUrl::parse(url)?));
    let results: Vec<Result<(u64, usize), String>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..streams)
            .map(|_| scope.spawn(|| stream(&client, tokens)))
            .collect();
        threads
            .into_iter()
            .map(|t| {
                t.join()
                    .unwrap_or_else(|_| Err("a thread failed".to_owned()))
            })
            .collect()
    });
    let (mut pieces, mut bytes) = (0, 0);
    for result in results {
        let (more_pieces, more_bytes) = result?;
        pieces += more_pieces;
        bytes += more_bytes;
    }
    Ok(format!("{streams} answers, {pieces} pieces, {bytes} bytes"))
}

fn main() -> ExitCode {
    let (text, code) = match run() {
        Ok(text) => (text, ExitCode::SUCCESS),
        Err(text) => (text, ExitCode::FAILURE),
    };
    let _ = writeln!(stdout(), "{text}");
    code
}
