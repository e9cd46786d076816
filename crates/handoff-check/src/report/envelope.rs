//! The version-1 envelope of the orchestrator plugin: its shape, and the way to handoff/1 and back.
//!
//! The shape (13 keys, the enums, the limits, no other key at any depth) is the recorded contract
//! of cldmnky/opencode-orchestrator, `docs/phase-1/d2-handoff.schema.json`.

use baton_protocol::markdown::IN_PROGRESS;
use baton_protocol::{
    Artifact, ArtifactKind, Assumption, AssumptionStatus, Claim, CommandStatus, Fact, FileNote,
    Handoff, HandoffStatus, ReviewState, Risk, RiskSeverity,
};
use serde_json::{Map, Value, json};

use super::foreign_id::{FOREIGN_ID, foreign_id, our_id};
use super::shape::{Issue, Record, Shape};

/// Every fault of an envelope, by path.
pub(crate) fn issues(value: &Value) -> Vec<Issue> {
    let mut issues = Shape::Record(&ENVELOPE).issues(value);
    issues.extend(unsupported_assumptions(value));
    issues.sort();
    issues
}

const fn text(min: usize, max: usize) -> Shape {
    Shape::Text { min, max }
}

const PATH: Shape = Shape::Special(path);
const EVIDENCE: Shape = Shape::Special(evidence);
const NOTE: Shape = Shape::Record(&Record {
    keys: &[("path", true, PATH), ("scope", true, text(0, 2000))],
    closed: true,
});

static ENVELOPE: Record = Record {
    keys: &[
        ("version", true, Shape::Number(1)),
        ("taskId", true, text(1, 128)),
        (
            "status",
            true,
            Shape::Word(&["in-progress", "blocked", "completed", "failed"]),
        ),
        ("outcome", true, text(1, 8000)),
        ("facts", true, Shape::List { of: &FACT, min: 0 }),
        (
            "assumptions",
            true,
            Shape::List {
                of: &ASSUMPTION,
                min: 0,
            },
        ),
        ("filesRead", true, Shape::List { of: &NOTE, min: 0 }),
        ("filesChanged", true, Shape::List { of: &NOTE, min: 0 }),
        ("verification", true, Shape::List { of: &CLAIM, min: 0 }),
        ("risks", true, Shape::List { of: &RISK, min: 0 }),
        ("followUp", true, text(1, 4000)),
        (
            "artifactRefs",
            true,
            Shape::List {
                of: &ARTIFACT,
                min: 0,
            },
        ),
        (
            "reviewState",
            true,
            Shape::Word(&[
                "not-requested",
                "pending",
                "approved",
                "changes-requested",
                "blocked",
            ]),
        ),
    ],
    closed: true,
};

static FACT: Shape = Shape::Record(&Record {
    keys: &[
        ("statement", true, text(1, 2000)),
        (
            "evidence",
            true,
            Shape::List {
                of: &EVIDENCE,
                min: 1,
            },
        ),
    ],
    closed: true,
});

static ASSUMPTION: Shape = Shape::Record(&Record {
    keys: &[
        ("id", true, text(1, 128)),
        ("statement", true, text(1, 2000)),
        (
            "status",
            true,
            Shape::Word(&[
                "Verified",
                "Partially verified",
                "Unverified",
                "Not supported",
            ]),
        ),
        (
            "evidence",
            true,
            Shape::List {
                of: &EVIDENCE,
                min: 0,
            },
        ),
    ],
    closed: true,
});

static CLAIM: Shape = Shape::Record(&Record {
    keys: &[
        ("command", true, text(1, 500)),
        (
            "status",
            true,
            Shape::Word(&["not-run", "blocked", "fail", "pass"]),
        ),
        ("result", true, text(0, 4000)),
        (
            "evidence",
            false,
            Shape::List {
                of: &EVIDENCE,
                min: 0,
            },
        ),
    ],
    closed: true,
});

static RISK: Shape = Shape::Record(&Record {
    keys: &[
        (
            "severity",
            true,
            Shape::Word(&["low", "medium", "high", "critical"]),
        ),
        ("statement", true, text(1, 2000)),
    ],
    closed: true,
});

static ARTIFACT: Shape = Shape::Record(&Record {
    keys: &[
        ("kind", true, Shape::Word(&["file", "url"])),
        ("reference", true, EVIDENCE),
        ("description", true, text(0, 2000)),
    ],
    closed: true,
});

/// Relative, no `.` or `..` segment, no URL, no quotes or control characters, at most 1024.
fn path(name: &str) -> Result<(), String> {
    let fault = if name.is_empty() {
        "is empty"
    } else if name.chars().count() > 1024 {
        "has more than 1024 characters"
    } else if name.starts_with('/') {
        "is absolute; paths are relative to the repository root"
    } else if name.contains("://") {
        "is a URL, expected a path"
    } else if name.split('/').any(|s| s == "." || s == "..") {
        "has a `.` or `..` segment"
    } else if name
        .chars()
        .any(|c| c.is_control() || matches!(c, '"' | '\'' | '`'))
    {
        "has quotes or control characters"
    } else {
        return Ok(());
    };
    Err(fault.into())
}

/// A path with an optional `#anchor`, or an https URL, at most 2048.
fn evidence(text: &str) -> Result<(), String> {
    if text.chars().count() > 2048 {
        return Err("has more than 2048 characters".into());
    }
    if let Some(rest) = text.strip_prefix("https://") {
        let plain = !rest.is_empty() && !rest.chars().any(|c| c.is_whitespace() || c.is_control());
        return if plain {
            Ok(())
        } else {
            Err("is not a URL".into())
        };
    }
    path(text.split('#').next().unwrap_or(text))
}

/// The one semantic rule that is an error: what is called verified names what shows it.
fn unsupported_assumptions(value: &Value) -> Vec<Issue> {
    let assumptions = value.get("assumptions").and_then(Value::as_array);
    let entries = assumptions.into_iter().flatten().enumerate();
    entries
        .filter(|(_, a)| {
            let verified = matches!(
                a["status"].as_str(),
                Some("Verified" | "Partially verified")
            );
            verified && a["evidence"].as_array().is_some_and(Vec::is_empty)
        })
        .map(|(i, _)| Issue {
            path: format!("$.assumptions[{i}].evidence"),
            message: "is empty, but the assumption is called verified".into(),
        })
        .collect()
}

/// Marks, in `notes`, the claims whose evidence list is there but empty.
const EMPTY_EVIDENCE: &str = "envelope: empty evidence list at verification ";

/// An envelope without faults, as handoff/1.
pub(crate) fn to_handoff(value: &Value) -> Result<Handoff, String> {
    let string = |v: &Value, key: &str| v[key].as_str().unwrap_or_default().to_owned();
    let list = |v: &Value, key: &str| v[key].as_array().cloned().unwrap_or_default();
    let strings = |v: &Value, key: &str| -> Vec<String> {
        list(v, key)
            .iter()
            .filter_map(|e| e.as_str().map(str::to_owned))
            .collect()
    };
    let notes_of = |key: &str| -> Vec<FileNote> {
        let note = |v: &Value| FileNote {
            path: string(v, "path"),
            scope: string(v, "scope"),
        };
        list(value, key).iter().map(note).collect()
    };
    let (status, status_reason) = match value["status"].as_str() {
        Some("completed") => (HandoffStatus::Completed, ""),
        Some("blocked") => (HandoffStatus::Blocked, ""),
        Some("in-progress") => (HandoffStatus::Interrupted, IN_PROGRESS),
        _ => (HandoffStatus::Failed, ""),
    };
    let claims = list(value, "verification");
    let empty: Vec<String> = claims
        .iter()
        .enumerate()
        .filter(|(_, c)| {
            c.get("evidence")
                .and_then(Value::as_array)
                .is_some_and(Vec::is_empty)
        })
        .map(|(i, _)| i.to_string())
        .collect();
    let theirs = string(value, "taskId");
    let task_id = our_id(&theirs)?;
    let mut notes = Vec::new();
    if !empty.is_empty() {
        notes.push(format!("{EMPTY_EVIDENCE}{}", empty.join(", ")));
    }
    if task_id.as_str() != theirs {
        notes.push(format!("{FOREIGN_ID}{}", Value::from(theirs)));
    }
    Ok(Handoff {
        status,
        status_reason: status_reason.into(),
        outcome: string(value, "outcome"),
        facts: list(value, "facts")
            .iter()
            .map(|f| Fact {
                statement: string(f, "statement"),
                evidence: strings(f, "evidence"),
            })
            .collect(),
        assumptions: list(value, "assumptions")
            .iter()
            .map(|a| Assumption {
                id: string(a, "id"),
                statement: string(a, "statement"),
                status: word(ASSUMPTION_WORDS, &string(a, "status")),
                evidence: strings(a, "evidence"),
            })
            .collect(),
        files_read: notes_of("filesRead"),
        files_changed: notes_of("filesChanged"),
        verification: claims
            .iter()
            .map(|c| Claim {
                command: string(c, "command"),
                status: word(COMMAND_WORDS, &string(c, "status")),
                result: string(c, "result"),
                evidence: strings(c, "evidence"),
            })
            .collect(),
        risks: list(value, "risks")
            .iter()
            .map(|r| Risk {
                severity: word(SEVERITY_WORDS, &string(r, "severity")),
                statement: string(r, "statement"),
            })
            .collect(),
        follow_up: string(value, "followUp"),
        artifacts: list(value, "artifactRefs")
            .iter()
            .map(|a| Artifact {
                kind: word(KIND_WORDS, &string(a, "kind")),
                reference: string(a, "reference"),
                description: string(a, "description"),
            })
            .collect(),
        review_state: word(REVIEW_WORDS, &string(value, "reviewState")),
        notes,
        ..super::blank(task_id)
    })
}

/// A hand-off as an envelope, with the schema's key order; the list says what was lost on the way.
pub(crate) fn from_handoff(handoff: &Handoff) -> (Value, Vec<String>) {
    let mut lost = Vec::new();
    let mut clip = |what: &str, text: &str, max: usize| clip(what, text, max, &mut lost);
    let empty: Vec<usize> = handoff
        .notes
        .iter()
        .filter_map(|n| n.strip_prefix(EMPTY_EVIDENCE))
        .flat_map(|n| n.split(", ").filter_map(|i| i.parse().ok()))
        .collect();
    let mut facts = Vec::new();
    let mut assumptions = Vec::new();
    for (i, fact) in handoff.facts.iter().enumerate() {
        let statement = clip("a fact", &fact.statement, 2000);
        if fact.evidence.is_empty() {
            // The envelope calls a statement without evidence an assumption.
            assumptions.push(
                json!({"id": format!("fact-{}", i + 1), "statement": statement,
                "status": "Unverified", "evidence": []}),
            );
        } else {
            facts.push(json!({"statement": statement, "evidence": fact.evidence}));
        }
    }
    for a in &handoff.assumptions {
        assumptions.push(json!({"id": clip("an assumption's id", &a.id, 128),
            "statement": clip("an assumption", &a.statement, 2000),
            "status": of(ASSUMPTION_WORDS, a.status), "evidence": a.evidence}));
    }
    let mut notes = |files: &[FileNote]| -> Vec<Value> {
        let note =
            |f: &FileNote| json!({"path": f.path, "scope": clip("a file's scope", &f.scope, 2000)});
        files.iter().map(note).collect()
    };
    let files_read = notes(&handoff.files_read);
    let files_changed = notes(&handoff.files_changed);
    let mut claims = Vec::new();
    for (i, claim) in handoff.verification.iter().enumerate() {
        let mut entry = json!({"command": clip("a command", &claim.command, 500),
            "status": of(COMMAND_WORDS, claim.status),
            "result": clip("a command's result", &claim.result, 4000)});
        if !claim.evidence.is_empty() || empty.contains(&i) {
            entry["evidence"] = json!(claim.evidence);
        }
        claims.push(entry);
    }
    let mut risks = Vec::new();
    for risk in &handoff.risks {
        risks.push(json!({"severity": of(SEVERITY_WORDS, risk.severity),
            "statement": clip("a risk", &risk.statement, 2000)}));
    }
    let mut artifacts = Vec::new();
    for a in &handoff.artifacts {
        artifacts.push(
            json!({"kind": of(KIND_WORDS, a.kind), "reference": a.reference,
            "description": clip("an artefact's description", &a.description, 2000)}),
        );
    }
    let status = match handoff.status {
        HandoffStatus::Completed => "completed",
        HandoffStatus::Blocked => "blocked",
        HandoffStatus::Interrupted if handoff.status_reason == IN_PROGRESS => "in-progress",
        _ => "failed",
    };
    let or = |text: String, other: &str| {
        if text.is_empty() {
            other.to_owned()
        } else {
            text
        }
    };
    let outcome = or(
        clip("the outcome", &handoff.outcome, 8000),
        "(no outcome given)",
    );
    let follow_up = or(clip("the follow-up", &handoff.follow_up, 4000), "none");
    let mut envelope = Map::new();
    for (key, value) in [
        ("version", json!(1)),
        (
            "taskId",
            json!(foreign_id(handoff).unwrap_or_else(|| handoff.task_id.to_string())),
        ),
        ("status", json!(status)),
        ("outcome", json!(outcome)),
        ("facts", json!(facts)),
        ("assumptions", json!(assumptions)),
        ("filesRead", json!(files_read)),
        ("filesChanged", json!(files_changed)),
        ("verification", json!(claims)),
        ("risks", json!(risks)),
        ("followUp", json!(follow_up)),
        ("artifactRefs", json!(artifacts)),
        ("reviewState", json!(of(REVIEW_WORDS, handoff.review_state))),
    ] {
        envelope.insert(key.into(), value);
    }
    (Value::Object(envelope), lost)
}

fn clip(what: &str, text: &str, max: usize, lost: &mut Vec<String>) -> String {
    let length = text.chars().count();
    if length <= max {
        return text.to_owned();
    }
    lost.push(format!("{what} was cut from {length} to {max} characters"));
    text.chars().take(max - 1).chain(['…']).collect()
}

const ASSUMPTION_WORDS: &[(&str, AssumptionStatus)] = &[
    ("Unverified", AssumptionStatus::Unverified),
    ("Verified", AssumptionStatus::Verified),
    ("Partially verified", AssumptionStatus::PartiallyVerified),
    ("Not supported", AssumptionStatus::NotSupported),
];
const COMMAND_WORDS: &[(&str, CommandStatus)] = &[
    ("not-run", CommandStatus::NotRun),
    ("blocked", CommandStatus::Blocked),
    ("fail", CommandStatus::Fail),
    ("pass", CommandStatus::Pass),
];
const SEVERITY_WORDS: &[(&str, RiskSeverity)] = &[
    ("low", RiskSeverity::Low),
    ("medium", RiskSeverity::Medium),
    ("high", RiskSeverity::High),
    ("critical", RiskSeverity::Critical),
];
const KIND_WORDS: &[(&str, ArtifactKind)] =
    &[("file", ArtifactKind::File), ("url", ArtifactKind::Url)];
const REVIEW_WORDS: &[(&str, ReviewState)] = &[
    ("not-requested", ReviewState::NotRequested),
    ("pending", ReviewState::Pending),
    ("approved", ReviewState::Approved),
    ("changes-requested", ReviewState::ChangesRequested),
    ("blocked", ReviewState::Blocked),
];

/// The value of a word; the first (weakest) one where the word was not checked before.
fn word<T: Copy>(table: &[(&str, T)], word: &str) -> T {
    let found = table.iter().find(|(w, _)| *w == word);
    found.unwrap_or(&table[0]).1
}

fn of<T: Copy + PartialEq>(table: &[(&'static str, T)], value: T) -> &'static str {
    let found = table.iter().find(|(_, v)| *v == value);
    found.unwrap_or(&table[0]).0
}
