//! Round trips, limits, and texts nobody expects.

use baton_protocol::TaskId;
use baton_protocol::markdown::{Headings, write as to_markdown};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Form, NoReport, envelope, find, from_markdown};

fn task() -> TaskId {
    TaskId::new("t1").unwrap()
}

/// A word as people and programs write it; no control characters, not empty.
fn text() -> impl Strategy<Value = String> {
    "[a-zA-Zé`#|{}\"\\\\. -]{0,20}[a-z]"
}

fn path() -> impl Strategy<Value = String> {
    proptest::collection::vec("[a-zé][a-z0-9_. -]{0,6}", 1..4).prop_map(|s| s.join("/"))
}

fn evidence() -> impl Strategy<Value = String> {
    prop_oneof![
        path(),
        path().prop_map(|p| p + "#L3"),
        Just("https://example.com/x?y=1".to_owned())
    ]
}

fn list<T: Strategy<Value = Value>>(of: T) -> impl Strategy<Value = Value> {
    proptest::collection::vec(of, 0..3).prop_map(Value::Array)
}

fn one_of(words: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    proptest::sample::select(words)
}

fn note() -> impl Strategy<Value = Value> {
    (path(), text()).prop_map(|(path, scope)| json!({"path": path, "scope": scope}))
}

/// Any good envelope, keys in the schema's order.
fn any_envelope() -> impl Strategy<Value = Value> {
    let fact = (text(), proptest::collection::vec(evidence(), 1..3))
        .prop_map(|(s, e)| json!({"statement": s, "evidence": e}));
    let assumption = (
        text(),
        text(),
        one_of(&[
            "Verified",
            "Partially verified",
            "Unverified",
            "Not supported",
        ]),
        proptest::collection::vec(evidence(), 1..3),
    )
        .prop_map(|(i, s, w, e)| json!({"id": i, "statement": s, "status": w, "evidence": e}));
    let claim = (
        text(),
        one_of(&["not-run", "blocked", "fail", "pass"]),
        text(),
        proptest::option::of(proptest::collection::vec(evidence(), 0..3)),
    )
        .prop_map(|(c, s, r, e)| match e {
            Some(e) => json!({"command": c, "status": s, "result": r, "evidence": e}),
            None => json!({"command": c, "status": s, "result": r}),
        });
    let risk = (one_of(&["low", "medium", "high", "critical"]), text())
        .prop_map(|(s, t)| json!({"severity": s, "statement": t}));
    let artifact = (one_of(&["file", "url"]), evidence(), text())
        .prop_map(|(k, r, d)| json!({"kind": k, "reference": r, "description": d}));
    let review = one_of(&[
        "not-requested",
        "pending",
        "approved",
        "changes-requested",
        "blocked",
    ]);
    let status = one_of(&["in-progress", "blocked", "completed", "failed"]);
    (
        (prop_oneof![
            "[a-z][a-z0-9_-]{0,5}[a-z]".boxed(),
            "[a-zA-Z0-9./: _é#-]{1,40}".boxed(),
            "[.é/ ]{1,128}".boxed(),
        ], status, text(), list(fact), list(assumption)),
        (list(note()), list(note()), list(claim), list(risk), text(), list(artifact), review),
    )
        .prop_map(|((id, status, outcome, facts, assumptions), rest)| {
            let (read, changed, verification, risks, follow_up, artifacts, review) = rest;
            json!({"version": 1, "taskId": id, "status": status, "outcome": outcome,
                "facts": facts, "assumptions": assumptions, "filesRead": read, "filesChanged": changed,
                "verification": verification, "risks": risks, "followUp": follow_up,
                "artifactRefs": artifacts, "reviewState": review})
        })
}

proptest! {
    #[test]
    fn an_envelope_comes_back_byte_by_byte(envelope in any_envelope()) {
        prop_assert_eq!(envelope::issues(&envelope), []);
        let report = find(&envelope.to_string(), &task()).unwrap();
        prop_assert_eq!(report.form, Form::Envelope);
        let written = serde_json::to_string(&report.handoff).unwrap();
        let reread = find(&written, &task()).unwrap();
        prop_assert_eq!(reread.form, Form::Handoff);
        let (back, lost) = envelope::from_handoff(&reread.handoff);
        prop_assert_eq!(back.to_string(), envelope.to_string());
        prop_assert!(lost.is_empty());
    }

    #[test]
    fn an_envelope_is_found_between_any_sentences(
        envelope in any_envelope(), before in "[a-zA-Z .,\n#*]{0,60}", after in "[a-zA-Z .,}\n#*]{0,60}",
    ) {
        let text = format!("{before}\n```json\n{envelope:#}\n```\n{after}");
        prop_assert_eq!(find(&text, &task()).unwrap().form, Form::Envelope);
        let bare = format!("{before}{envelope}{after}");
        prop_assert_eq!(find(&bare, &task()).unwrap().form, Form::Envelope);
    }

    #[test]
    fn h15_a_cut_envelope_is_never_a_report(envelope in any_envelope(), cut in 0.02_f64..0.99) {
        let whole = envelope.to_string();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss,
            reason = "a position inside a short text")]
        let mut at = (whole.len() as f64 * cut) as usize;
        while !whole.is_char_boundary(at) {
            at -= 1;
        }
        prop_assert!(find(&whole[..at], &task()).is_err());
    }

    #[test]
    fn no_text_makes_it_panic(text in "(\\PC|[{}\\[\\]\":,\n`#*-]){0,120}") {
        let _ = find(&text, &task());
    }

    #[test]
    fn headings_written_by_us_are_read_again(envelope in any_envelope(), files in
        proptest::collection::vec(odd_path(), 0..4), outcome in prose(), follow_up in prose(),
    ) {
        let mut handoff = find(&envelope.to_string(), &task()).unwrap().handoff;
        handoff.outcome = outcome;
        handoff.follow_up = follow_up;
        let mut files = files;
        files.sort();
        files.dedup();
        handoff.files_changed = files.iter()
            .map(|f| baton_protocol::FileNote { path: f.clone(), scope: "new (yes)".into() }).collect();
        for headings in [Headings::Four, Headings::Five] {
            let text = to_markdown(&handoff, headings);
            let read = from_markdown(&text, &task()).unwrap();
            prop_assert_eq!(read.form, Form::Markdown);
            let again = read.handoff;
            prop_assert_eq!(&again.files_changed, &handoff.files_changed, "{}", text);
            prop_assert_eq!(again.status, handoff.status, "{}", text);
            prop_assert_eq!(again.outcome.trim(), handoff.outcome.trim(), "{}", text);
            prop_assert_eq!(again.risks.len(), handoff.risks.len(), "{}", text);
            for (a, b) in again.risks.iter().zip(&handoff.risks) {
                prop_assert_eq!(a.severity, b.severity);
            }
            let commands = |h: &baton_protocol::Handoff| -> Vec<_> {
                h.verification.iter().map(|c| {
                    let words: Vec<&str> = c.command.split_whitespace().collect();
                    (words.join(" "), c.status)
                }).collect()
            };
            prop_assert_eq!(commands(&again), commands(&handoff), "{}", text);
            prop_assert_eq!(to_markdown(&again, headings), text);
        }
    }
}

/// Names that a list might mangle.
fn odd_path() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        "[a-zé][a-z0-9_. -]{0,6}".boxed(),
        "[a-z`\"\\\\ :>(#L0-9\n\t-]{0,6}[a-z0-9]".boxed(),
        Just("none".to_owned()).boxed(),
    ];
    proptest::collection::vec(part, 1..4).prop_map(|s| s.join("/"))
}

/// Free text that looks like parts of a report.
fn prose() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "[A-Z][a-z ]{3,30}\\.".boxed(),
        proptest::sample::select(vec![
            "## Files",
            "Verification:",
            "```",
            "~~~",
            "- `a`: b",
            "Summary",
            "\\## Files",
            "",
            "Failed so far.",
            "Blocked.",
            "Status: failed",
            "**Outcome**",
            "| a | b |",
            "> quote",
        ])
        .prop_map(str::to_owned)
        .boxed(),
    ];
    proptest::collection::vec(line, 0..5).prop_map(|l| l.join("\n"))
}

fn good() -> Value {
    json!({"version": 1, "taskId": "t1", "status": "completed", "outcome": "x",
        "facts": [{"statement": "s", "evidence": ["a#b"]}],
        "assumptions": [{"id": "a", "statement": "s", "status": "Unverified", "evidence": []}],
        "filesRead": [{"path": "a", "scope": ""}], "filesChanged": [],
        "verification": [{"command": "c", "status": "pass", "result": ""}],
        "risks": [{"severity": "low", "statement": "s"}], "followUp": "none",
        "artifactRefs": [{"kind": "file", "reference": "a", "description": ""}],
        "reviewState": "not-requested"})
}

#[test]
fn every_limit_and_word_of_the_envelope_is_enforced() {
    assert_eq!(envelope::issues(&good()), []);
    let long = |n: usize| Value::from("x".repeat(n));
    let cases: [(&str, Value); 29] = [
        ("/version", json!(2)),
        ("/version", json!("1")),
        ("/taskId", long(129)),
        ("/taskId", json!("")),
        ("/status", json!("done")),
        ("/outcome", long(8001)),
        ("/outcome", json!("")),
        ("/facts/0/statement", long(2001)),
        ("/facts/0/evidence", json!([])),
        ("/facts/0/evidence/0", json!("http://example.com")),
        ("/facts/0/evidence/0", json!("/etc/passwd")),
        ("/facts/0/evidence/0", json!("a/../b")),
        ("/facts/0/evidence/0", json!("a\"b")),
        ("/facts/0/evidence/0", long(2049)),
        ("/assumptions/0/id", long(129)),
        ("/assumptions/0/status", json!("verified")),
        ("/assumptions/0/status", json!("Verified")),
        ("/filesRead/0/path", long(1025)),
        ("/filesRead/0/path", json!("./a")),
        ("/filesRead/0/path", json!("a\nb")),
        ("/filesRead/0/scope", long(2001)),
        ("/verification/0/command", long(501)),
        ("/verification/0/status", json!("passed")),
        ("/verification/0/result", long(4001)),
        ("/risks/0/severity", json!("none")),
        ("/followUp", long(4001)),
        ("/followUp", json!("")),
        ("/artifactRefs/0/kind", json!("dir")),
        ("/reviewState", json!("not_requested")),
    ];
    for (place, value) in cases {
        let mut wrong = good();
        *wrong.pointer_mut(place).unwrap() = value.clone();
        let issues = envelope::issues(&wrong);
        assert_eq!(issues.len(), 1, "{place} = {value}: {issues:?}");
        let last = place.rsplit('/').next().unwrap();
        let key = if last.parse::<u32>().is_ok() || place.ends_with("status") {
            ""
        } else {
            last
        };
        assert!(issues[0].path.contains(key), "{place}: {issues:?}");
    }
    for key in good().as_object().unwrap().keys() {
        let mut without = good();
        without.as_object_mut().unwrap().shift_remove(key);
        assert_eq!(envelope::issues(&without)[0].path, format!("$.{key}"));
    }
    for place in ["", "/facts/0", "/verification/0", "/risks/0"] {
        let mut extra = good();
        extra.pointer_mut(place).unwrap()["extra"] = json!(1);
        assert_eq!(envelope::issues(&extra).len(), 1, "{place}");
    }
}

#[test]
fn a_key_that_stands_twice_says_two_things() {
    let text = good().to_string().replacen(
        "\"status\":\"completed\"",
        "\"status\":\"failed\",\"status\":\"completed\"",
        1,
    );
    let error = find(&text, &task()).unwrap_err();
    assert!(
        matches!(&error, NoReport::Invalid { issues, .. } if issues[0].message.contains("`status` stands twice")),
        "{error}"
    );
}

#[test]
fn headings_as_models_write_them() {
    for text in [
        "# Summary\nDid it.\n# Files changed\n- `src/a.rs`\n# Verification\nNone\n# Open issues\nNone",
        "**Summary**\nDid it.\n\n**Files changed**\n- `src/a.rs`\n\n**Verification**\nNone\n\n**Open issues**\nNone",
        "**Summary:** Did it.\n**Files changed:** `src/a.rs`\n**Verification:** none\n**Open issues:** none",
        "Summary: Did it.\nFiles changed: src/a.rs\nVerification: none\nOpen issues: none",
        "### 1. Summary\nDid it.\n### 2. Files changed\nsrc/a.rs\n### 3. Verification\nNone\n### 4. Open issues\nNone",
        "Work is done.\n\n## Outcome\nDid it.\n## Files\n- src/a.rs\n## Verification\nnone\n## Risks\n- low: x\n## Follow-up\nnone",
        "## 📝 Summary\nDid it.\n## Files changed (1)\n- `src/a.rs`\n## ✅ Verification\nAll fine.\n## Open issues\nNone",
        "\u{feff}## Summary\r\nDid it.\r\n## Files changed\r\n- `src/a.rs`\r\n## Verification\r\nNone\r\n## Open issues\r\nNone\r\n",
        "## I. Summary\nDid it.\n## II. Files changed\n- src/a.rs\n## III. Verification\nNone\n## IV. Open issues\nNone",
        "A) Summary\nDid it.\nB) Files changed\n- src/a.rs\nC) Verification\nNone\n(D) Open issues\nNone",
        "Summary\n=======\nDid it.\n\nFiles changed\n-------------\n- src/a.rs\n\nVerification\n---\nNone\n\nOpen issues\n---\nNone",
        "## Summary ##\nDid it.\n## Files changed ##\n- src/a.rs\n## Verification ##\nNone\n## Open issues ##\nNone",
        "<h2>Summary</h2>\nDid it.\n<h2>Files changed</h2>\n- src/a.rs\n<h2>Verification</h2>\nNone\n<h2>Open issues</h2>\nNone",
        "> ## Summary\n> Did it.\n>\n> ## Files changed\n> - src/a.rs\n>\n> ## Verification\n> None\n>\n> ## Open issues\n> None",
        "## What was done\nDid it.\n## Modified files\n- src/a.rs\n## Tests\nNone\n## Remaining work\nNone",
        "## Zusammenfassung\nDid it.\n## Geänderte Dateien\n- src/a.rs\n## Überprüfung\nKeine\n## Offene Punkte\nKeine",
        "**Résumé :** Did it.\n**Fichiers modifiés :** src/a.rs\n**Vérification :** aucune\n**Points ouverts :** aucun",
        "## 总结\nDid it.\n## 修改的文件\n- src/a.rs\n## 验证\n无\n## 未解决问题\n无",
        "\u{1b}[1m## Summary\u{1b}[0m\nDid it.\n\u{1b}[1m## Files changed\u{1b}[0m\n- src/a.rs\n## Verification\nNone\n## Open issues\nNone",
        "## Summary\rDid it.\r## Files changed\r- src/a.rs\r## Verification\rNone\r## Open issues\rNone",
        "## Open issues\nNone\n## Verification\nNone\n## Files changed\n- src/a.rs\n## Summary\nDid it.",
        "<think>## Summary\nNot yet.\n## Files changed\nNone</think>\n## Summary\nDid it.\n## Files changed\n- src/a.rs\n## Verification\nNone\n## Open issues\nNone",
        "- **Summary**: Did it.\n- **Files changed**:\n  - src/a.rs\n- **Verification**: none\n- **Open issues**: none",
        "## Summary of changes\nDid it.\n## Files modified\n- src/a.rs\n## Testing\nNone\n## Known issues\nNone",
        "## Summary\nDid it.\n## Files changed\n### Files modified\n- src/a.rs\n### New files\nNone\n## Verification\nNone\n## Open issues\nNone",
        "```markdown\n## Summary\nDid it.\n## Files changed\n- `src/a.rs`\n## Verification\nNone\n## Open issues\nNone\n```",
    ] {
        let report = find(text, &task()).unwrap_or_else(|e| panic!("{e}: {text}"));
        assert_eq!(report.handoff.outcome, "Did it.", "{text}");
        let files: Vec<&str> = report
            .handoff
            .files_changed
            .iter()
            .map(|f| f.path.as_str())
            .collect();
        assert_eq!(files, ["src/a.rs"], "{text}");
    }
}

#[test]
fn a_missing_or_doubled_heading_is_named() {
    let error = find(
        "## Summary\nx\n## Files changed\nNone\n## Open issues\nNone",
        &task(),
    )
    .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("heading Verification: is missing"),
        "{error}"
    );
    let twice = "## Summary\nx\n## Files changed\nNone\n## Verification\nNone\n## Open issues\nNone\n## Summary\ny";
    assert!(matches!(find(twice, &task()), Err(NoReport::Ambiguous(places)) if places.len() == 2));
}

#[test]
fn a_report_in_a_text_of_json_or_after_thoughts_is_found() {
    let report = good().to_string();
    let draft = report.replace("\"outcome\":\"x\"", "\"outcome\":\"a draft\"");
    for text in [
        json!(report).to_string(),
        format!("<think>{draft}</think>\n{report}"),
        format!("{draft} no, better:</think>{report}"),
    ] {
        let found = find(&text, &task()).unwrap_or_else(|e| panic!("{e}: {text}"));
        assert_eq!(found.handoff.outcome, "x");
        assert!(!found.alone);
    }
    // What stands inside the report is no thought.
    let report = report.replace("\"outcome\":\"x\"", "\"outcome\":\"</think> is cut now\"");
    assert_eq!(
        find(&report, &task()).unwrap().handoff.outcome,
        "</think> is cut now"
    );
}

#[test]
fn h18_headings_that_begin_by_telling_of_no_success_are_none() {
    use baton_protocol::HandoffStatus::{Blocked, Completed, Failed, Interrupted};
    for (outcome, status) in [
        ("I could not fix it. Tests still fail.", Failed),
        ("❌ Not done: the tests fail.", Failed),
        ("**Status:** Blocked\n\nNo npm.", Blocked),
        (
            "Unable to complete the task because npm is missing.",
            Failed,
        ),
        ("Partially done: the parser is left.", Failed),
        ("Failed to find the cause.", Failed),
        ("Blocked by the proxy.", Blocked),
        ("WIP", Interrupted),
        ("Failed uploads are retried now.", Completed),
        ("Blocked users cannot log in any more.", Completed),
        ("Partial pages are returned as they are.", Completed),
        ("Status codes are checked now.", Completed),
        (
            "Fixed page(), which could not return the last row.",
            Completed,
        ),
    ] {
        let text = format!(
            "## Summary\n{outcome}\n## Files changed\nNone\n## Verification\nNone\n## Open issues\nNone"
        );
        assert_eq!(
            find(&text, &task()).unwrap().handoff.status,
            status,
            "{outcome}"
        );
    }
}
