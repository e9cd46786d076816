//! Faults of the bytes: section S of the bug log, and the connections of section Q.

use std::time::Duration;

use super::gzip;
use crate::wire::{Body, DONE, End, Frame, Pause};

/// The frame in the middle of what the model says, where a stream is cut.
fn middle(body: &Body) -> usize {
    let spoken = body.frames.iter().filter(|frame| frame.tokens > 0).count();
    let start = body
        .frames
        .iter()
        .position(|frame| frame.tokens > 0)
        .unwrap_or(0);
    // A short answer is cut after its first token, so that there is something and not all.
    (start + usize::max(spoken / 2, 1)).min(body.frames.len())
}

/// The first frame that carries a piece of a call's arguments, and the one after half of them.
fn middle_of_call(body: &Body) -> Option<usize> {
    let has = |frame: &Frame| String::from_utf8_lossy(&frame.bytes).contains("\"tool_calls\":[");
    let first = body.frames.iter().position(has)?;
    let count = body.frames.iter().filter(|frame| has(frame)).count();
    Some(first + usize::max(count / 2, 1))
}

fn cut(body: &mut Body, at: usize, end: End) {
    if body.stream {
        body.frames.truncate(at);
    } else if let Some(frame) = body.frames.first_mut() {
        // The head still claims the whole length.
        body.declared = Some(frame.bytes.len());
        frame.bytes.truncate(frame.bytes.len() / 2);
    }
    body.end = end;
}

fn without_done(body: &mut Body) {
    body.frames.retain(|frame| frame.bytes != DONE);
}

/// Every frame that carries data, changed as a text.
fn each_text(body: &mut Body, change: impl Fn(&str) -> String) {
    if body.stream {
        for frame in &mut body.frames {
            frame.bytes = change(&String::from_utf8_lossy(&frame.bytes)).into_bytes();
        }
    }
}

fn between(body: &mut Body, make: impl Fn(usize) -> Frame) {
    if body.stream {
        let frames = std::mem::take(&mut body.frames);
        let pair = |(at, frame)| [make(at), frame];
        body.frames = frames.into_iter().enumerate().flat_map(pair).collect();
    }
}

pub(super) fn comments(body: &mut Body) {
    let lines = [":\n\n", ": ping\n\n", ":\n", ":keep-alive\n\n"];
    between(body, |at| Frame::text(lines[at % lines.len()]));
}

pub(super) fn ping_after_event(body: &mut Body) {
    each_text(body, |text| format!("id: 1\n{text}"));
    between(body, |_| Frame::text(": ping\n\n"));
}

pub(super) fn ping_event(body: &mut Body) {
    between(body, |_| Frame::text("event: ping\ndata: {}\n\n"));
}

pub(super) fn comment_as_data(body: &mut Body) {
    between(body, |_| Frame::text("data: : OPENROUTER PROCESSING\n\n"));
}

pub(super) fn no_blank(body: &mut Body) {
    each_text(body, |text| text.replacen("data: ", "data:", 1));
}

pub(super) fn crlf(body: &mut Body) {
    each_text(body, |text| text.replace('\n', "\r\n"));
}

pub(super) fn carriage_returns(body: &mut Body) {
    each_text(body, |text| text.replace('\n', "\r"));
}

pub(super) fn byte_order_mark(body: &mut Body) {
    body.frames.insert(0, Frame::text("\u{feff}"));
}

pub(super) fn one_byte(body: &mut Body) {
    body.piece = Some(1);
}

pub(super) fn odd_pieces(body: &mut Body) {
    body.piece = Some(7);
}

pub(super) fn one_write(body: &mut Body) {
    let bytes = body
        .frames
        .iter()
        .flat_map(|frame| frame.bytes.clone())
        .collect();
    let tokens = body.frames.iter().map(|frame| frame.tokens).sum();
    body.frames = vec![Frame {
        bytes,
        tokens,
        pause: Pause::None,
    }];
}

pub(super) fn eof_no_done(body: &mut Body) {
    let at = middle(body);
    cut(body, at, End::Clean);
}

pub(super) fn drop_mid_stream(body: &mut Body) {
    let at = middle(body);
    cut(body, at, End::Drop);
}

pub(super) fn reset_mid_stream(body: &mut Body) {
    let at = middle(body);
    cut(body, at, End::Reset);
}

pub(super) fn eof_mid_call(body: &mut Body) {
    let at = middle_of_call(body).unwrap_or_else(|| middle(body));
    cut(body, at, End::Clean);
}

pub(super) fn eof_mid_event(body: &mut Body) {
    let at = middle(body);
    cut(body, at + 1, End::Clean);
    if let Some(last) = body.frames.last_mut().filter(|_| body.stream) {
        last.bytes.truncate(14);
    }
}

pub(super) fn eof_after_reasoning(body: &mut Body) {
    let thinks = |frame: &Frame| String::from_utf8_lossy(&frame.bytes).contains("\"reasoning");
    let last = body.frames.iter().rposition(thinks);
    let at = last.map_or_else(|| middle(body), |last| last + 1);
    cut(body, at, End::Clean);
}

pub(super) fn no_done(body: &mut Body) {
    without_done(body);
}

/// The end mark comes, but no chunk has a finish reason.
pub(super) fn done_no_finish(body: &mut Body) {
    if body.stream {
        body.frames.retain(|frame| {
            let text = String::from_utf8_lossy(&frame.bytes);
            !text.contains("\"finish_reason\":\"")
        });
    }
}

pub(super) fn empty_choices_end(body: &mut Body) {
    done_no_finish(body);
    if !body.stream {
        return;
    }
    let at = body.done().unwrap_or(body.frames.len());
    body.frames.insert(
        at,
        Frame::text("data: {\"object\":\"chat.completion.chunk\",\"choices\":[]}\n\n"),
    );
}

pub(super) fn open_after_done(body: &mut Body) {
    body.end = End::Open;
}

pub(super) fn stall_mid_stream(body: &mut Body) {
    let at = middle(body);
    if let Some(frame) = body.frames.get_mut(at) {
        frame.pause = Pause::Forever;
    } else {
        body.end = End::Open;
    }
}

pub(super) fn stall_after_headers(body: &mut Body) {
    if let Some(frame) = body.frames.first_mut() {
        frame.pause = Pause::Forever;
    }
}

pub(super) fn stall_with_pings(body: &mut Body) {
    if !body.stream {
        return;
    }
    let at = middle(body);
    cut(body, at, End::Open);
    // As many pings as anybody's patience takes; the client ends it.
    let ping = || Frame {
        pause: Pause::For(Duration::from_millis(100)),
        ..Frame::text(": ping\n\n")
    };
    body.frames
        .extend(std::iter::repeat_with(ping).take(36_000));
}

pub(super) fn drip(body: &mut Body) {
    for frame in &mut body.frames {
        frame.pause = Pause::For(Duration::from_millis(200));
    }
}

pub(super) fn error_in_stream(body: &mut Body) {
    error_frame(
        body,
        "data: {\"error\":{\"message\":\"quota exceeded\"}}\n\n",
        true,
    );
}

pub(super) fn error_at_once(body: &mut Body) {
    body.frames = vec![Frame::text(
        "data: {\"error\":{\"message\":\"EngineCore encountered an issue. See stack trace (above) for the root \
         cause.\",\"type\":\"InternalServerError\",\"param\":null,\"code\":500}}\n\n",
    )];
    body.frames.push(Frame {
        bytes: DONE.to_vec(),
        ..Frame::default()
    });
}

pub(super) fn error_line(body: &mut Body) {
    error_frame(
        body,
        "error: {\"code\":500,\"message\":\"slot unavailable\",\"type\":\"server_error\"}\n\n",
        false,
    );
}

pub(super) fn error_event(body: &mut Body) {
    error_frame(
        body,
        "event: error\ndata: {\"message\":\"upstream failed\"}\n\n",
        false,
    );
}

pub(super) fn overflow_in_stream(body: &mut Body) {
    let line = "data: {\"error\":{\"code\":500,\"message\":\"Context size has been exceeded.\",\"type\":\"server_error\"}}\n\n";
    error_frame(body, line, false);
}

fn error_frame(body: &mut Body, line: &str, done: bool) {
    if body.stream {
        let at = middle(body);
        body.frames.truncate(at);
        body.frames.push(Frame::text(line));
        if done {
            body.frames.push(Frame {
                bytes: DONE.to_vec(),
                ..Frame::default()
            });
        }
    }
}

pub(super) fn broken_event(body: &mut Body) {
    if body.stream {
        let at = middle(body);
        body.frames.insert(at, Frame::text("data: {\"cho\n\n"));
    }
}

pub(super) fn junk_line(body: &mut Body) {
    if body.stream {
        let at = middle(body);
        body.frames.insert(
            at,
            Frame::text("llama_decode: failed to decode, ret = 1\n\n"),
        );
    }
}

pub(super) fn split_data_lines(body: &mut Body) {
    // One event whose JSON is spread over two data lines, as the SSE rules allow.
    each_text(body, |text| {
        text.replacen(",\"choices\"", ",\ndata: \"choices\"", 1)
    });
}

pub(super) fn gzip_undeclared(body: &mut Body) {
    one_write(body);
    if let Some(frame) = body.frames.first_mut() {
        frame.bytes = gzip::wrap(&frame.bytes);
    }
}

pub(super) fn gzip_declared(body: &mut Body) {
    gzip_undeclared(body);
    body.head = body.head.clone().with("content-encoding", "gzip");
}

pub(super) fn wrong_content_type(body: &mut Body) {
    for (name, value) in &mut body.head.headers {
        if name.eq_ignore_ascii_case("content-type") {
            "text/plain".clone_into(value);
        }
    }
}

/// The body comes without chunks and ends with the connection.
pub(super) fn unframed(body: &mut Body) {
    body.head = body.head.clone().with("connection", "close");
    body.unframed = true;
}

pub(super) fn html_in_200(body: &mut Body) {
    body.frames = vec![Frame::text(
        "<!DOCTYPE html>\n<html><body>Please sign in</body></html>\n",
    )];
    body.stream = false;
    body.head
        .headers
        .retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
    body.head = body.head.clone().with("content-type", "text/html");
}

pub(super) fn close_idle(body: &mut Body) {
    // The answer is complete, the connection is not kept, and nothing said so.
    body.close_after = true;
}

pub(super) fn invalid_utf8(body: &mut Body) {
    let at = middle(body).saturating_sub(1);
    if let Some(frame) = body.frames.get_mut(at) {
        let place = frame
            .bytes
            .iter()
            .rposition(u8::is_ascii_alphanumeric)
            .unwrap_or(0);
        if let Some(byte) = frame.bytes.get_mut(place) {
            *byte = 0xff;
        }
    }
}
