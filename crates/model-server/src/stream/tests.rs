//! The S rows of the bug log over raw bytes: each whole, and each one byte at a time.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Assembly, ChatAnswer, Finish, SseDecoder, SseEvent, Step, StreamEvent, ToolCall};

/// What reading a stream led to.
#[derive(Debug, PartialEq)]
struct Read {
    answer: ChatAnswer,
    events: Vec<StreamEvent>,
    error: Option<Value>,
    whole: bool,
    /// Bytes after `[DONE]` are not read.
    done_early: bool,
}

fn read_in_chunks<'a>(chunks: impl Iterator<Item = &'a [u8]>) -> Read {
    let mut decoder = SseDecoder::default();
    let mut assembly = Assembly::default();
    let mut events = Vec::new();
    let mut error = None;
    let mut done_early = false;
    let mut take = |event: &SseEvent, assembly: &mut Assembly| match assembly.push(event) {
        Step::More(more) => {
            events.extend(more);
            false
        }
        Step::Done => true,
        Step::Error(e) => {
            error = Some(e);
            true
        }
    };
    'all: for chunk in chunks {
        decoder.push(chunk);
        while let Some(event) = decoder.next_event().unwrap() {
            if take(&event, &mut assembly) {
                done_early = true;
                break 'all;
            }
        }
    }
    if !done_early && let Some(event) = decoder.finish() {
        take(&event, &mut assembly);
    }
    let whole = assembly.is_whole();
    Read {
        answer: assembly.finish(decoder.counts(), false),
        events,
        error,
        whole,
        done_early,
    }
}

/// Reads a stream whole and byte by byte; both must understand the same.
fn read(stream: impl AsRef<[u8]>) -> Read {
    let bytes = stream.as_ref();
    let whole = read_in_chunks(std::iter::once(bytes));
    let single = read_in_chunks(bytes.chunks(1));
    assert_eq!(whole, single, "one byte per chunk understands the same");
    whole
}

fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

fn delta(delta: &Value) -> String {
    data(&json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]}))
}

fn finish(reason: &str) -> String {
    data(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}))
}

const DONE: &str = "data: [DONE]\n\n";

fn text(content: &str) -> String {
    delta(&json!({"content": content}))
}

fn calls(pieces: &Value) -> String {
    delta(&json!({"tool_calls": pieces}))
}

fn names(answer: &ChatAnswer) -> Vec<(&str, &str)> {
    answer
        .tool_calls
        .iter()
        .map(|c| (c.name.as_str(), c.arguments.as_str()))
        .collect()
}

#[test]
fn s01_heartbeats_are_ignored() {
    let stream = format!(":\n{}:\n\n: ping\n{}{DONE}", text("a"), text("b"));
    let read = read(stream);
    assert_eq!(read.answer.content, "ab");
    assert!(!read.answer.repairs.contains_key("broken_event"));
}

#[test]
fn s02_an_event_without_data_is_none() {
    let stream = format!(
        "id: 1\n{}: ping\n\nevent: x\n\n{}{DONE}",
        text("a"),
        text("b")
    );
    let read = read(stream);
    assert_eq!(read.answer.content, "ab");
    assert_eq!(read.events.len(), 2);
}

#[test]
fn s03_a_comment_sent_as_data_is_counted_and_skipped() {
    let stream = format!("data: : OPENROUTER PROCESSING\n\n{}{DONE}", text("a"));
    let read = read(stream);
    assert_eq!(read.answer.content, "a");
    assert_eq!(read.answer.repairs["comment_as_data"], 1);
}

#[test]
fn s04_no_blank_after_the_colon() {
    let stream = format!("{}{}{DONE}", text("a"), finish("stop")).replace("data: ", "data:");
    let read = read(stream);
    assert_eq!(read.answer.content, "a");
    assert_eq!(read.answer.finish, Finish::Stop);
}

#[test]
fn s05_a_character_cut_by_a_chunk_border_is_whole() {
    let stream = format!(
        "{}{}{DONE}",
        text("你好🦀"),
        calls(
            &json!([{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{\"city\":\"杭州\"}"}}])
        )
    );
    let read = read(stream);
    assert_eq!(read.answer.content, "你好🦀");
    assert_eq!(names(&read.answer), [("f", "{\"city\":\"杭州\"}")]);
}

#[test]
fn s06_an_event_cut_before_its_blank_line_is_put_together() {
    let stream = format!("{}{}{DONE}", text("abc"), finish("stop"));
    for cut in 0..stream.len() {
        let (a, b) = stream.as_bytes().split_at(cut);
        let read = read_in_chunks([a, b].into_iter());
        assert_eq!(read.answer.content, "abc", "cut at {cut}");
    }
}

#[test]
fn s07_only_an_end_without_done_and_reason_is_truncated() {
    let (a, cut) = (text("a"), read(text("a")));
    assert!(!cut.whole && cut.answer.truncated);
    let null_reason = data(&json!({"choices": [{"delta": {}, "finish_reason": null}]}));
    let no_choices = data(&json!({"choices": []}));
    for stream in [
        format!("{a}{DONE}"),
        format!("{a}{null_reason}{DONE}"),
        format!("{a}{no_choices}{DONE}"),
    ] {
        let read = read(stream);
        assert!(read.whole && !read.answer.truncated);
        assert_eq!(read.answer.finish, Finish::Missing);
        assert_eq!(read.answer.repairs["no_finish_reason"], 1);
    }
    let clean = read(format!("{a}{}{DONE}", finish("stop")));
    assert!(clean.whole && clean.answer.repairs.is_empty());
}

#[test]
fn s08_a_reason_without_done_is_complete() {
    let read = read(format!("{}{}", text("a"), finish("stop")));
    assert!(read.whole && !read.answer.truncated);
    assert_eq!(read.answer.repairs["no_done_line"], 1);
}

#[test]
fn s09_reading_stops_at_done_with_or_without_its_blank_line() {
    for done in ["data: [DONE]\n\n", "data: [DONE]\n", "data:[DONE]\r\n"] {
        let read = read(format!("{}{done}", text("a")));
        assert!(read.done_early, "{done:?} ends the stream by itself");
    }
}

#[test]
fn s10_a_call_cut_by_a_clean_close_is_never_complete() {
    let piece = json!([{"index": 0, "id": "a", "function": {"name": "write", "arguments": "{\"path\":\"a.rs\",\"con"}}]);
    let read = read(calls(&piece));
    assert!(!read.whole);
    assert!(!read.answer.tool_calls[0].complete);
    // Nor is one the server calls finished.
    let told = read_in_chunks(std::iter::once(
        format!("{}{}{DONE}", calls(&piece), finish("tool_calls")).as_bytes(),
    ));
    assert!(!told.answer.tool_calls[0].complete);
}

#[test]
fn s10_a_whole_looking_call_of_a_cut_stream_is_not_complete_either() {
    let piece = json!([{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}]);
    assert!(!read(calls(&piece)).answer.tool_calls[0].complete);
}

#[test]
fn s11_thinking_alone_is_no_answer() {
    let read = read(delta(&json!({"reasoning": "hmm"})));
    assert!(!read.whole && read.answer.truncated && read.answer.is_empty());
}

#[test]
fn s12_s13_s14_chunks_without_choices() {
    let stream = format!(
        "{}{}{}{}{DONE}",
        data(&json!({"choices": []})),
        text("a"),
        finish("stop"),
        data(&json!({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 1}})),
    );
    assert_eq!(read(stream).answer.usage.unwrap().prompt, 7);
    let bare = data(&json!({"usage": {"prompt_tokens": 9, "completion_tokens": 1}}));
    let read = read(format!("{}{}{bare}{DONE}", text("a"), finish("stop")));
    assert_eq!(read.answer.usage.unwrap().prompt, 9);
}

#[test]
fn usage_that_grows_with_each_chunk_is_not_added_up() {
    let with = |n: u64| {
        data(
            &json!({"choices": [{"delta": {"content": "a"}}], "usage": {"prompt_tokens": 10, "completion_tokens": n}}),
        )
    };
    let read = read(format!("{}{}{}{DONE}", with(1), with(2), with(3)));
    assert_eq!(read.answer.usage.unwrap().completion, 3);
}

#[test]
fn s15_an_error_inside_the_stream_ends_it() {
    let error = data(&json!({"error": {"message": "quota exceeded"}}));
    let read = read(format!("{}{error}{DONE}", text("a")));
    assert_eq!(read.error, Some(json!({"message": "quota exceeded"})));
}

#[test]
fn s16_old_forms_of_an_error_are_recognised() {
    for stream in [
        "error: {\"code\":500,\"message\":\"boom\"}\n\n",
        "event: error\ndata: {\"code\":500,\"message\":\"boom\"}\n\n",
        "event: error\ndata: boom\n\n",
        "data: {\"object\":\"error\",\"message\":\"boom\"}\n\n",
    ] {
        let error = read(stream).error.unwrap();
        assert!(error.to_string().contains("boom"), "{stream}");
    }
}

#[test]
fn s17_a_broken_event_is_counted() {
    let stream = format!("{}data: {{\"cho\n\n{}{DONE}", text("a"), text("b"));
    let read = read(stream);
    assert_eq!(read.answer.content, "ab");
    assert_eq!(read.answer.repairs["broken_event"], 1);
}

#[test]
fn s18_pieces_without_id_are_joined_by_index() {
    let stream = format!(
        "{}{}{}{}{DONE}",
        calls(&json!([{"index": 0, "id": "c1", "function": {"name": "f"}}])),
        calls(&json!([{"index": 0, "function": {"arguments": "{\"a\":"}}])),
        calls(&json!([{"index": 0, "function": {"arguments": "1}"}}])),
        finish("tool_calls"),
    );
    let read = read(stream);
    assert_eq!(
        read.answer.tool_calls,
        [ToolCall {
            id: "c1".to_owned(),
            name: "f".to_owned(),
            arguments: "{\"a\":1}".to_owned(),
            complete: true
        }]
    );
    assert!(read.answer.repairs.is_empty());
}

#[test]
fn s18_interleaved_calls_are_kept_apart() {
    let piece = |index: u64, args: &str| json!([{"index": index, "function": {"arguments": args}}]);
    let stream = [
        calls(
            &json!([{"index": 0, "id": "a", "function": {"name": "f"}}, {"index": 1, "id": "b", "function": {"name": "g"}}]),
        ),
        calls(&piece(1, "{\"y\":")),
        calls(&piece(0, "{\"x\":")),
        calls(&piece(1, "2}")),
        calls(&piece(0, "1}")),
        DONE.to_owned(),
    ];
    let read = read(stream.concat());
    assert_eq!(
        names(&read.answer),
        [("f", "{\"x\":1}"), ("g", "{\"y\":2}")]
    );
}

#[test]
fn s19_pieces_without_index_go_by_id_or_to_the_open_call() {
    let by_id = format!(
        "{}{}{}{DONE}",
        calls(&json!([{"id": "a", "function": {"name": "f", "arguments": "{\"x\":"}}])),
        calls(&json!([{"id": "b", "function": {"name": "g", "arguments": "{}"}}])),
        calls(&json!([{"id": "a", "function": {"arguments": "1}"}}])),
    );
    assert_eq!(
        names(&read(by_id).answer),
        [("f", "{\"x\":1}"), ("g", "{}")]
    );
    let open = format!(
        "{}{}{DONE}",
        calls(&json!([{"id": "a", "function": {"name": "f"}}])),
        calls(&json!([{"function": {"arguments": "{}"}}])),
    );
    let read = read(open);
    assert_eq!(names(&read.answer), [("f", "{}")]);
    assert!(read.answer.tool_calls[0].complete);
}

#[test]
fn s20_two_calls_in_one_chunk_without_index_are_two() {
    let stream = format!(
        "{}{DONE}",
        calls(&json!([
            {"function": {"name": "read", "arguments": "{\"p\":1}"}},
            {"function": {"name": "read", "arguments": "{\"p\":2}"}},
        ]))
    );
    let read = read(stream);
    assert_eq!(
        names(&read.answer),
        [("read", "{\"p\":1}"), ("read", "{\"p\":2}")]
    );
    assert_ne!(read.answer.tool_calls[0].id, read.answer.tool_calls[1].id);
}

#[test]
fn s21_a_used_index_with_a_new_id_and_name_is_a_new_call() {
    let stream = format!(
        "{}{}{DONE}",
        calls(
            &json!([{"index": 0, "id": "a", "function": {"name": "read", "arguments": "{\"path\":\"a.rs\"}"}}])
        ),
        calls(
            &json!([{"index": 0, "id": "b", "function": {"name": "read", "arguments": "{\"path\":\"b.rs\"}"}}])
        ),
    );
    let read = read(stream);
    assert_eq!(
        names(&read.answer),
        [
            ("read", "{\"path\":\"a.rs\"}"),
            ("read", "{\"path\":\"b.rs\"}")
        ]
    );
    assert_eq!(read.answer.repairs["call_index_reused"], 1);
}

#[test]
fn s21_without_ids_whole_arguments_part_the_calls() {
    let piece = |path: &str| {
        calls(
            &json!([{"index": 0, "function": {"name": "read", "arguments": format!("{{\"path\":\"{path}\"}}")}}]),
        )
    };
    let read = read(format!("{}{}{DONE}", piece("a"), piece("b")));
    assert_eq!(read.answer.tool_calls.len(), 2);
}

#[test]
fn s22_a_name_in_every_chunk_is_set_once() {
    let piece = |args: &str| {
        calls(
            &json!([{"index": 0, "id": "a", "function": {"name": "read_file", "arguments": args}}]),
        )
    };
    let read = read(format!(
        "{}{}{}{DONE}",
        piece(""),
        piece("{\"p\":"),
        piece("1}")
    ));
    assert_eq!(names(&read.answer), [("read_file", "{\"p\":1}")]);
    // Also without index and id.
    let piece = |args: &str| calls(&json!([{"function": {"name": "f", "arguments": args}}]));
    let bare = read_in_chunks(std::iter::once(
        format!("{}{}{DONE}", piece("{\"p\":"), piece("1}")).as_bytes(),
    ));
    assert_eq!(names(&bare.answer), [("f", "{\"p\":1}")]);
}

#[test]
fn s23_s24_empty_and_repeated_fields_change_nothing() {
    let stream = format!(
        "{}{}{}{}{DONE}",
        calls(&json!([{"index": 0, "id": "x", "function": {"name": "f", "arguments": ""}}])),
        calls(&json!([{"index": 0, "id": "", "function": {"name": "", "arguments": "{\"a\""}}])),
        calls(&json!([{"index": 0, "id": "x", "function": {"arguments": ":1}"}}])),
        calls(&json!([{"index": 0, "id": "", "function": {"name": "", "arguments": ""}}])),
    );
    let read = read(stream);
    assert_eq!(names(&read.answer), [("f", "{\"a\":1}")]);
    assert_eq!(read.answer.tool_calls[0].id, "x");
}

#[test]
fn s25_arguments_as_an_object_are_accepted() {
    let stream = format!(
        "{}{}{DONE}",
        calls(
            &json!([{"index": 0, "id": "a", "function": {"name": "f", "arguments": {"city": "X"}}}])
        ),
        finish("stop"),
    );
    let read = read(stream);
    assert_eq!(names(&read.answer), [("f", "{\"city\":\"X\"}")]);
    assert_eq!(read.answer.finish, Finish::ToolCalls);
    assert_eq!(read.answer.repairs["arguments_as_object"], 1);
}

#[test]
fn s26_both_names_of_thinking_are_read_and_never_answer_text() {
    for field in ["reasoning", "reasoning_content"] {
        let read = read(format!(
            "{}{}{}{DONE}",
            delta(&json!({field: "let me "})),
            delta(&json!({field: "see", "content": ""})),
            text("yes"),
        ));
        assert_eq!(read.answer.reasoning, "let me see");
        assert_eq!(read.answer.content, "yes");
        assert_eq!(read.answer.reasoning_field.as_deref(), Some(field));
    }
    let twice = delta(&json!({"reasoning": "a", "reasoning_content": "a"}));
    assert_eq!(read(twice).answer.reasoning, "a");
}

#[test]
fn s28_text_before_a_lone_closing_tag_is_thinking() {
    let read = read(format!(
        "{}{}{DONE}",
        text("thoughts …\n</thi"),
        text("nk>{\"ok\":true}")
    ));
    assert_eq!(read.answer.content, "{\"ok\":true}");
    assert_eq!(read.answer.reasoning, "thoughts …");
    assert_eq!(read.answer.repairs["thinking_in_content"], 1);
}

#[test]
fn s29_only_a_leading_block_is_taken_out() {
    let lead = read(format!(
        "{}{}{DONE}",
        text("<think>some reasoning</thi"),
        text("nk>answer")
    ));
    assert_eq!(lead.answer.content, "answer");
    assert_eq!(lead.answer.reasoning, "some reasoning");
    let prose = "They write `<think>draft</think>` first.";
    let mention = read(format!("{}{DONE}", text(prose)));
    assert_eq!(mention.answer.content, prose);
    assert!(!mention.answer.repairs.contains_key("thinking_in_content"));
}

#[test]
fn s30_all_tokens_spent_on_thinking_is_said() {
    let long = "so ".repeat(6000);
    let read = read(format!(
        "{}{}{DONE}",
        delta(&json!({"reasoning": long, "content": ""})),
        finish("length")
    ));
    assert_eq!(read.answer.finish, Finish::Length);
    assert!(read.answer.spent_on_thinking());
}

#[test]
fn s31_calls_decide_not_the_reason() {
    let piece =
        calls(&json!([{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}]));
    let read = read(format!("{piece}{}{DONE}", finish("stop")));
    assert_eq!(read.answer.finish, Finish::ToolCalls);
    assert!(read.answer.tool_calls[0].complete);
}

#[test]
fn s32_the_reason_tool_calls_without_calls_is_a_stop() {
    for content in ["", "text"] {
        let read = read(format!("{}{}{DONE}", text(content), finish("tool_calls")));
        assert_eq!(read.answer.finish, Finish::Stop);
        assert_eq!(read.answer.repairs["finish_tool_calls_without_calls"], 1);
    }
}

#[test]
fn a_call_cut_by_the_token_limit_is_not_complete() {
    let stream = format!(
        "{}{}{}{DONE}",
        calls(
            &json!([{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{\"a\":1}"}}])
        ),
        calls(&json!([{"index": 1, "id": "b", "function": {"name": "g", "arguments": "{"}}])),
        finish("length"),
    );
    let read = read(stream);
    assert!(read.answer.truncated);
    let complete: Vec<bool> = read.answer.tool_calls.iter().map(|c| c.complete).collect();
    assert_eq!(complete, [true, false], "a whole object cannot be cut off");
}

#[test]
fn the_old_function_call_field_is_read() {
    let stream = format!(
        "{}{}{}{DONE}",
        delta(&json!({"function_call": {"name": "f", "arguments": "{\"a\""}})),
        delta(&json!({"function_call": {"arguments": ":1}"}})),
        finish("function_call"),
    );
    assert_eq!(names(&read(stream).answer), [("f", "{\"a\":1}")]);
}

#[test]
fn line_ends_and_a_byte_order_mark_do_not_matter() {
    let stream = format!("\u{feff}{}{}{DONE}", text("a"), text("b"));
    for ends in ["\n", "\r\n", "\r"] {
        assert_eq!(
            read(stream.replace('\n', ends)).answer.content,
            "ab",
            "{ends:?}"
        );
    }
}

#[test]
fn a_value_over_several_data_lines_is_one_event() {
    let stream =
        "data: {\"choices\": [{\"delta\":\ndata: {\"content\": \"a\"}}]}\n\ndata: [DONE]\n\n";
    assert_eq!(read(stream).answer.content, "a");
}

#[test]
fn events_parted_by_single_line_ends_are_events() {
    let stream = format!("{}{}{DONE}", text("a"), text("b")).replace("\n\n", "\n");
    assert_eq!(read(stream).answer.content, "ab");
}

#[test]
fn values_without_the_data_field_are_read_and_counted() {
    let stream = format!("{}{}", text("a"), finish("stop")).replace("data: ", "");
    let read = read(stream);
    assert_eq!(read.answer.content, "a");
    assert_eq!(read.answer.repairs["value_without_data_field"], 2);
}

#[test]
fn a_line_without_end_is_refused() {
    let mut decoder = SseDecoder::with_limit(1000);
    decoder.push(&[b'x'; 900]);
    assert_eq!(decoder.next_event(), Ok(None));
    decoder.push(&[b'x'; 200]);
    assert!(decoder.next_event().is_err());
}

fn any_line() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(":\n".to_owned()),
        Just("\n".to_owned()),
        Just("\r\n".to_owned()),
        Just("data: [DO".to_owned()),
        Just("event: error\n".to_owned()),
        Just("data: {\"cho\n\n".to_owned()),
        "[ -~]{0,20}\n".prop_map(|s| s),
        "\\PC{0,12}".prop_map(|s| text(&s)),
        "\\PC{0,12}".prop_map(|s| delta(&json!({"reasoning": s}))),
        (0u64..3, "[a-z]{0,3}", "\\PC{0,6}").prop_map(|(i, id, args)| {
            calls(&json!([{"index": i, "id": id, "function": {"name": id, "arguments": args}}]))
        }),
        ("[a-z]{0,2}", "\\PC{0,6}")
            .prop_map(|(n, args)| calls(&json!([{"function": {"name": n, "arguments": args}}]))),
        Just(finish("stop")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_split_of_a_stream_gives_the_same_events(
        lines in proptest::collection::vec(any_line(), 0..12),
        cuts in proptest::collection::vec(1usize..9, 1..40),
    ) {
        let stream = lines.concat();
        let bytes = stream.as_bytes();
        let whole = read_in_chunks(std::iter::once(bytes));
        let mut chunks = Vec::new();
        let mut rest = bytes;
        for size in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (chunk, tail) = rest.split_at((*size).min(rest.len()));
            chunks.push(chunk);
            rest = tail;
        }
        let split = read_in_chunks(chunks.into_iter());
        prop_assert_eq!(whole, split);
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let whole = read_in_chunks(std::iter::once(bytes.as_slice()));
        let single = read_in_chunks(bytes.chunks(1));
        prop_assert_eq!(whole, single);
    }

    #[test]
    fn every_call_piece_is_kept_unless_each_repeats_the_last(
        pieces in proptest::collection::vec((proptest::option::of(0u64..3), "[ab]?", "[fg]?", "[x{}\":1]{0,5}"), 1..10)
    ) {
        let sent: String = pieces.iter().map(|(_, _, _, args)| args.as_str()).collect();
        let stream: String = pieces
            .iter()
            .map(|(index, id, name, args)| {
                calls(&json!([{"index": index, "id": id, "function": {"name": name, "arguments": args}}]))
            })
            .collect();
        let read = read_in_chunks(std::iter::once(stream.as_bytes()));
        let repeats = read.answer.repairs.contains_key("arguments_repeated_in_each_piece");
        let mut kept: Vec<char> = read.answer.tool_calls.iter().flat_map(|c| c.arguments.chars()).collect();
        let mut sent: Vec<char> = sent.chars().collect();
        if repeats {
            // The last piece of such a call stands for all of them; still nothing is made up.
            for c in kept.drain(..) {
                let at = sent.iter().position(|s| *s == c);
                prop_assert!(at.is_some(), "{c} was not sent");
                sent.remove(at.unwrap_or_default());
            }
        } else {
            kept.sort_unstable();
            sent.sort_unstable();
            prop_assert_eq!(kept, sent);
        }
    }
}
