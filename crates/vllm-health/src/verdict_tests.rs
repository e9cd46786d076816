use baton_protocol::{Exit, Provider, ServerState};
use serde_json::{Value, json};

use super::{exit, judge, overall};
use crate::plan::Wants;

fn provider(state: &str, more: &Value) -> Provider {
    let mut entry = json!({
        "id": "p", "base_url": "http://h/v1", "server": {"kind": "vllm", "version": null},
        "state": state, "state_reason": "because", "models": [
            {"id": "a", "state": "loaded", "usable_context": 4096},
        ],
    });
    for (key, value) in more.as_object().unwrap() {
        entry[key] = value.clone();
    }
    serde_json::from_value(entry).unwrap()
}

fn ready(provider: &Provider, wants: &Wants) -> Option<bool> {
    judge(provider, wants).ready
}

fn model(name: &str) -> Wants {
    Wants {
        model: Some(name.to_owned()),
        ..Wants::default()
    }
}

fn tokens(n: u64) -> Wants {
    Wants {
        min_context: Some(n),
        ..Wants::default()
    }
}

#[test]
fn states_lead_to_yes_no_and_unknown() {
    for (state, expected) in [
        ("idle", Some(true)),
        ("busy", Some(true)),
        ("saturated", Some(true)),
        ("sleeping", Some(true)),
        ("loading", Some(false)),
        ("stalled", Some(false)),
        ("failed", Some(false)),
        ("rejected", Some(false)),
        ("wrong_api", Some(false)),
        ("unreachable", Some(false)),
        ("unknown", None),
    ] {
        assert_eq!(
            ready(&provider(state, &json!({})), &Wants::default()),
            expected,
            "{state}"
        );
    }
    let dormant = provider("sleeping", &json!({"wakes_on_request": false}));
    assert_eq!(ready(&dormant, &Wants::default()), Some(false));
}

#[test]
fn r17_r20_a_wanted_model_must_be_listed_or_have_answered() {
    let idle = provider("idle", &json!({}));
    assert_eq!(ready(&idle, &model("a")), Some(true));
    let verdict = judge(&idle, &model("b"));
    assert_eq!(verdict.ready, Some(false));
    assert!(
        verdict.reason.contains("listed are: a"),
        "{}",
        verdict.reason
    );
    let probed = provider(
        "idle",
        &json!({"probe": {"ok": true, "message": "came back"}}),
    );
    assert_eq!(ready(&probed, &model("b")), Some(true));
    let unread = provider(
        "busy",
        &json!({"models": [], "error": {"kind": "http", "message": "500"}}),
    );
    assert_eq!(ready(&unread, &model("a")), None);
}

#[test]
fn r12_a_failed_or_loading_model_is_not_ready_although_its_server_is() {
    for state in ["failed", "loading"] {
        let models = json!({"models": [{"id": "a", "state": state, "usable_context": 1}, {"id": "b", "state": "loaded", "usable_context": 1}]});
        assert_eq!(ready(&provider("idle", &models), &model("a")), Some(false));
        assert_eq!(ready(&provider("idle", &models), &model("b")), Some(true));
    }
}

#[test]
fn r14_r40_unknown_context_is_unknown() {
    assert_eq!(
        ready(&provider("idle", &json!({})), &tokens(4096)),
        Some(true)
    );
    assert_eq!(
        ready(&provider("idle", &json!({})), &tokens(4097)),
        Some(false)
    );
    let unknown = provider(
        "idle",
        &json!({"models": [{"id": "a", "state": "loaded", "usable_context": null}]}),
    );
    assert_eq!(ready(&unknown, &tokens(1)), None);
    let two = provider(
        "idle",
        &json!({"models": [
            {"id": "a", "state": "loaded", "usable_context": 100},
            {"id": "b", "state": "loaded", "usable_context": 9000},
        ]}),
    );
    assert_eq!(
        ready(&two, &tokens(5000)),
        None,
        "several models and none named: no guess"
    );
    assert_eq!(ready(&two, &tokens(50)), Some(true));
    assert_eq!(
        ready(
            &two,
            &Wants {
                model: Some("b".to_owned()),
                ..tokens(5000)
            }
        ),
        Some(true)
    );
}

#[test]
fn a_probe_decides_and_a_skipped_one_does_not() {
    let with = |state: &str, probe: Value| {
        ready(
            &provider(state, &json!({"probe": probe})),
            &Wants::default(),
        )
    };
    assert_eq!(
        with("idle", json!({"ok": false, "message": "no"})),
        Some(false)
    );
    assert_eq!(
        with("unknown", json!({"ok": true, "message": "yes"})),
        Some(true)
    );
    assert_eq!(with("idle", json!({"ok": null, "message": "?"})), None);
    assert_eq!(
        with("saturated", json!({"ok": null, "skipped": true})),
        Some(true)
    );
}

#[test]
fn any_and_all_have_three_answers() {
    let verdict = |ready| super::Verdict {
        ready,
        reason: String::new(),
        may_change: true,
    };
    let of = |list: &[Option<bool>], all| {
        let verdicts: Vec<_> = list.iter().map(|r| verdict(*r)).collect();
        overall(&verdicts, all)
    };
    let (yes, no) = (Some(true), Some(false));
    assert_eq!(of(&[no, yes, None], false), yes);
    assert_eq!(of(&[no, None], false), None);
    assert_eq!(of(&[no, no], false), no);
    assert_eq!(of(&[yes, None], true), None);
    assert_eq!(of(&[yes, None, no], true), no);
    assert_eq!(of(&[yes, yes], true), yes);
}

#[test]
fn nothing_reachable_has_a_code_of_its_own() {
    let down = provider("unreachable", &json!({}));
    let loading = provider("loading", &json!({}));
    assert_eq!(
        exit(Some(false), std::slice::from_ref(&down)),
        Exit::Unavailable
    );
    assert_eq!(exit(Some(false), &[down, loading]), Exit::No);
    assert_eq!(exit(None, &[]), Exit::Unknown);
    assert_eq!(provider("?", &json!({})).state, ServerState::Unknown);
}
