//! Deviations of real servers' streams: each solves the task as if nothing was odd.

use serde_json::json;

use super::kit::{Scenario, four};

#[track_caller]
fn solved(name: &'static str, faults: &[&str]) {
    Scenario::new(name)
        .faults(faults)
        .ends("completed", 0)
        .solved(4);
}

#[test]
fn quirk_sameindex() {
    let mut steps = four();
    steps[0] = json!({"calls": [{"read": "calc.py"}, {"read": "test.py"}]});
    let ended = Scenario::new("quirk_sameindex")
        .steps(steps)
        .faults(&["same-index"])
        .ends("completed", 0)
        .solved(4);
    let results = ended.requests[1]["body"]["messages"].as_array().unwrap();
    assert_eq!(results.iter().filter(|m| m["role"] == "tool").count(), 2);
}

#[test]
fn quirk_noid() {
    solved("quirk_noid", &["no-id"]);
}

#[test]
fn quirk_noindex() {
    solved("quirk_noindex", &["no-index"]);
}

#[test]
fn quirk_objargs() {
    solved("quirk_objargs", &["object-arguments"]);
}

#[test]
fn quirk_nullargs() {
    solved("quirk_nullargs", &["null-arguments"]);
}

#[test]
fn quirk_nameagain() {
    solved("quirk_nameagain", &["name-repeated"]);
}

#[test]
fn quirk_dblenc() {
    solved("quirk_dblenc", &["double-encoded"]);
}

#[test]
fn quirk_ping() {
    solved("quirk_ping", &["comments", "ping-event"]);
}

#[test]
fn quirk_split() {
    solved("quirk_split", &["crlf", "one-byte"]);
}

#[test]
fn quirk_finishstop() {
    solved("quirk_finishstop", &["stop-with-calls"]);
}

#[test]
fn a_call_in_the_notation_of_another_family_is_run() {
    let mut steps = four();
    steps[0] = json!({"say": "[TOOL_CALLS]read[ARGS]{\"path\": \"calc.py\"}"});
    steps[2] = json!({"say": "<|channel|>commentary to=functions.bash <|constrain|>json<|message|>{\"command\": \"python3 test.py\"}<|call|>"});
    let ended = Scenario::new("a_call_in_the_notation_of_another_family")
        .steps(steps)
        .ends("completed", 0)
        .solved(4);
    let repairs = &ended.handoff["repairs"];
    assert_eq!(
        (&repairs["salvaged_mistral"], &repairs["salvaged_harmony"]),
        (&json!(1), &json!(1)),
        "{repairs}"
    );
}

#[test]
fn a_call_left_in_the_thought_is_run() {
    let mut steps = four();
    steps[0] = json!({"say": "", "think": "I read it first. <tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\": \"calc.py\"}}\n</tool_call>"});
    Scenario::new("a_call_left_in_the_thought")
        .steps(steps)
        .ends("completed", 0)
        .solved(4);
}
