//! Rows of the bug log about queues and limits that no measured scenario covers. A test is named
//! after its row.

use crate::kit::{Scenario, Set, bash, done, edit, read};

/// A run whose server may say nothing for a second and a half before it begins to answer.
fn impatient(name: &'static str, fault: &str) -> Set {
    let set = Scenario::new(name).faults(&[fault]).set();
    let url = &set.sim.base_url;
    set.home.config(&format!(
        "[[provider]]\nid = \"sim\"\nbase_url = \"{url}\"\ntimeouts = {{ first_byte = \"1500ms\" }}\n"
    ));
    set
}

#[test]
fn q07_a_request_that_is_never_scheduled_is_asked_once_more() {
    // The server accepts it, has its slots idle, and says nothing.
    for (name, fault) in [
        ("q07-silent", "silent@2"),
        ("q07-headers", "stall-after-headers@2"),
    ] {
        let ended = impatient(name, fault).ends("completed", 0).solved(5);
        let body = |n: usize| &ended.requests[n]["body"]["messages"];
        assert_eq!(body(1), body(2));
    }
    // Not again and again.
    let set = impatient("q07-for-ever", "silent");
    let ended = set.ends("timed_out", 124).untouched();
    assert_eq!(ended.requests.len(), 2);
}

#[test]
fn q13_a_connection_that_the_server_closed_between_requests_costs_nothing() {
    // Kept alive by what the answer says, and closed behind it.
    Scenario::new("q13-idle")
        .steps(vec![read(), bash("sleep 1"), edit(), done()])
        .faults(&["close-idle"])
        .ends("completed", 0)
        .solved(4);
    // No byte came back, so it is safe to ask once more.
    Scenario::new("q13-close")
        .faults(&["close@2"])
        .ends("completed", 0)
        .solved(5);
}

#[test]
fn q14_the_limit_that_was_set_is_kept_and_the_partial_work_is_told() {
    let ended = Scenario::new("q14")
        .steps(vec![read(), edit(), read(), done()])
        .limit("wall_ms", 6000)
        .faults(&["silent@3.."])
        .ends("timed_out", 124);
    assert!(ended.calc.contains("return a + b"), "{}", ended.calc);
    assert_eq!(ended.handoff["files_changed"][0]["path"], "calc.py");
}
