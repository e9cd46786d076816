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
