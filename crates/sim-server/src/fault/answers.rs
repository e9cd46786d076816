//! Faults of what the model or its server puts into an answer.

use serde_json::{Value, json};

use crate::answer::Answer;
use crate::config::Config;
use crate::kinds::Event;
use crate::wire::Data;

// What the model says.

pub(super) fn reasoning_only(answer: &mut Answer) {
    answer.think = "Let me think about this once more. ".repeat(600);
    answer.say.clear();
    answer.calls.clear();
    answer.finish = Some("length".to_owned());
}

pub(super) fn lone_think_close(answer: &mut Answer) {
    answer.say = format!(
        "I should look at the file first.\n</think>\n\n{}",
        answer.say
    );
    answer.think.clear();
}

pub(super) fn think_tag(answer: &mut Answer) {
    let think = if answer.think.is_empty() {
        "I should look at the file first."
    } else {
        &answer.think
    };
    answer.say = format!("<think>{think}</think>\n\n{}", answer.say);
    answer.think.clear();
}

pub(super) fn think_tag_in_text(answer: &mut Answer) {
    answer
        .say
        .push_str("\nWrite `<think>draft</think>` where the model should plan.");
}

pub(super) fn wrong_model(answer: &mut Answer) {
    answer.model = Some("some-other-model".to_owned());
}

pub(super) fn no_usage(answer: &mut Answer) {
    answer.usage = Some(json!(false));
}

pub(super) fn usage_zero(answer: &mut Answer) {
    answer.usage = Some(json!({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}));
}

pub(super) fn empty(answer: &mut Answer) {
    answer.say.clear();
    answer.think.clear();
    answer.calls.clear();
}

pub(super) fn repeats_for_ever(answer: &mut Answer) {
    answer.say = "I will now fix the file. ".repeat(20_000);
    answer.calls.clear();
}

pub(super) fn garbage(answer: &mut Answer) {
    "\u{fffd}!!! 0000 \u{3042}ceil ceil ceil ,,,, of of".clone_into(&mut answer.say);
    answer.calls.clear();
}

pub(super) fn cut_arguments(answer: &mut Answer) {
    for call in &mut answer.calls {
        let half = call.arguments.len() * 2 / 3;
        let end = (0..=half)
            .rev()
            .find(|at| call.arguments.is_char_boundary(*at))
            .unwrap_or(0);
        call.arguments.truncate(end);
    }
}

pub(super) fn double_encoded(answer: &mut Answer) {
    for call in &mut answer.calls {
        call.arguments = json!(call.arguments).to_string();
    }
}

pub(super) fn unicode(answer: &mut Answer) {
    answer.say = format!("你好🦀 {}", answer.say);
    for call in &mut answer.calls {
        if let Ok(Value::Object(mut map)) = serde_json::from_str(&call.arguments) {
            map.insert("city".to_owned(), json!("杭州"));
            call.arguments = Value::Object(map).to_string();
        }
    }
}

// How the server writes it down.

/// Usage that shows a silent cut: fewer prompt tokens than were sent.
pub(super) fn truncated(data: &mut Data, config: &Config) {
    let kept = config.context / 16 + 3;
    each_usage(data, |usage| {
        usage["prompt_tokens"] = json!(kept.min(usage["prompt_tokens"].as_u64().unwrap_or(kept)));
        total(usage);
    });
}

/// Usage that adds up to exactly the window.
pub(super) fn fills_window(data: &mut Data, config: &Config) {
    each_usage(data, |usage| {
        let answered = usage["completion_tokens"].as_u64().unwrap_or(0);
        usage["prompt_tokens"] = json!(config.context.saturating_sub(answered));
        total(usage);
    });
}

pub(super) fn usage_doubled(data: &mut Data, _: &Config) {
    each_usage(data, |usage| {
        for key in ["prompt_tokens", "completion_tokens", "total_tokens"] {
            usage[key] = json!(usage[key].as_u64().unwrap_or(0) * 2);
        }
    });
}

fn each_usage(data: &mut Data, mut change: impl FnMut(&mut Value)) {
    data.each(|value| {
        if let Some(usage) = value.get_mut("usage").filter(|usage| usage.is_object()) {
            change(usage);
        }
    });
}

fn total(usage: &mut Value) {
    let sum = |key: &str| usage[key].as_u64().unwrap_or(0);
    usage["total_tokens"] = json!(sum("prompt_tokens") + sum("completion_tokens"));
}

pub(super) fn reasoning_renamed(data: &mut Data, _: &Config) {
    data.each_message(|message| {
        let Some(message) = message.as_object_mut() else {
            return;
        };
        let (from, to) = if message.contains_key("reasoning") {
            ("reasoning", "reasoning_content")
        } else {
            ("reasoning_content", "reasoning")
        };
        if let Some(text) = message.shift_remove(from) {
            message.insert(to.to_owned(), text);
        }
    });
}

pub(super) fn stop_with_calls(data: &mut Data, _: &Config) {
    data.finish(&json!("stop"));
}

pub(super) fn calls_without_calls(data: &mut Data, _: &Config) {
    data.each_message(|message| {
        if let Some(message) = message.as_object_mut() {
            message.shift_remove("tool_calls");
        }
    });
    data.finish(&json!("tool_calls"));
}

pub(super) fn finish_missing(data: &mut Data, _: &Config) {
    data.finish(&Value::Null);
}

pub(super) fn finish_unknown(data: &mut Data, _: &Config) {
    data.finish(&json!("eos_token"));
}

fn remove(value: &mut Value, key: &str) {
    if let Some(map) = value.as_object_mut() {
        map.shift_remove(key);
    }
}

pub(super) fn no_index(data: &mut Data, _: &Config) {
    data.join_calls();
    data.each_call(|call| remove(call, "index"));
}

pub(super) fn no_index_in_deltas(data: &mut Data, _: &Config) {
    data.each_call(|call| remove(call, "index"));
}

pub(super) fn no_index_one_chunk(data: &mut Data, config: &Config) {
    data.join_calls();
    if let Data::Events(events) = data {
        let calls = |event: &Event| event.data["choices"][0]["delta"]["tool_calls"].is_array();
        let all: Vec<Value> = events
            .iter()
            .filter(|event| calls(event))
            .filter_map(|event| {
                event.data["choices"][0]["delta"]["tool_calls"]
                    .as_array()
                    .cloned()
            })
            .flatten()
            .collect();
        let mut first = true;
        events.retain_mut(|event| {
            if !calls(event) {
                return true;
            }
            if first {
                event.data["choices"][0]["delta"]["tool_calls"] = json!(all);
            }
            std::mem::take(&mut first)
        });
    }
    no_index_in_deltas(data, config);
}

pub(super) fn same_index(data: &mut Data, _: &Config) {
    data.each_call(|call| call["index"] = json!(0));
}

pub(super) fn no_id(data: &mut Data, _: &Config) {
    data.each_call(|call| remove(call, "id"));
}

/// Repeats in every piece of a call what its first piece said.
fn repeat(data: &mut Data, name: bool, id: bool) {
    let mut known: Vec<(Value, Value)> = Vec::new();
    data.each_call(|call| {
        if call["function"]["name"].is_string() {
            known.push((call["function"]["name"].clone(), call["id"].clone()));
        }
        let Some((known_name, known_id)) = known.last() else {
            return;
        };
        if name {
            call["function"]["name"] = known_name.clone();
        }
        if id {
            call["id"] = known_id.clone();
        }
    });
}

pub(super) fn name_repeated(data: &mut Data, _: &Config) {
    repeat(data, true, false);
}

pub(super) fn id_repeated(data: &mut Data, _: &Config) {
    repeat(data, false, true);
}

pub(super) fn name_emptied(data: &mut Data, _: &Config) {
    data.each_call(|call| {
        if !call["function"]["name"].is_string() {
            call["function"]["name"] = json!("");
            call["id"] = json!("");
        }
    });
}

pub(super) fn object_arguments(data: &mut Data, _: &Config) {
    data.join_calls();
    data.each_call(|call| {
        let arguments = &call["function"]["arguments"];
        if let Some(object) = arguments
            .as_str()
            .and_then(|text| serde_json::from_str::<Value>(text).ok())
        {
            call["function"]["arguments"] = object;
        }
    });
    data.finish(&json!("stop"));
}

pub(super) fn null_arguments(data: &mut Data, _: &Config) {
    data.each_call(|call| {
        if call["function"]["name"].is_string()
            && call["function"]["arguments"]
                .as_str()
                .is_none_or(str::is_empty)
        {
            call["function"]["arguments"] = Value::Null;
        } else if call["function"]["name"].is_null() {
            call["function"]["name"] = Value::Null;
            call["id"] = Value::Null;
        }
    });
}

pub(super) fn one_event_calls(data: &mut Data, _: &Config) {
    data.join_calls();
}

pub(super) fn first_choices_empty(data: &mut Data, _: &Config) {
    if let Data::Events(events) = data
        && let Some(first) = events.first()
    {
        let mut empty = first.clone();
        empty.data["choices"] = json!([]);
        empty.data["prompt_filter_results"] = json!([]);
        events.insert(0, empty);
    }
}

pub(super) fn usage_without_choices(data: &mut Data, _: &Config) {
    data.each(|value| {
        if value["usage"].is_object() && value["choices"].as_array().is_some_and(Vec::is_empty) {
            *value = json!({ "usage": value["usage"] });
        }
    });
}

pub(super) fn usage_in_every_chunk(data: &mut Data, _: &Config) {
    data.each(|value| {
        if value["usage"].is_null() {
            value["usage"] = Value::Null;
        }
    });
}

pub(super) fn error_in_200(data: &mut Data, _: &Config) {
    if let Data::Document(value) = data {
        *value = json!({"error": {"message": "quota exceeded", "type": "insufficient_quota", "code": 429}});
    }
}
