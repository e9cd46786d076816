//! The shape of handoff/1, for naming every fault at once. The types of `protocol` are the contract;
//! a test below holds the two together.

use baton_protocol::{RelPath, TaskId};
use serde_json::Value;

use super::shape::{Issue, Record, Shape};

/// Every fault of a handoff/1 object, by path.
pub(crate) fn issues(value: &Value) -> Vec<Issue> {
    Shape::Record(&HANDOFF).issues(value)
}

const ANY_TEXT: Shape = Shape::Text {
    min: 0,
    max: usize::MAX,
};
const SOME_TEXT: Shape = Shape::Text {
    min: 1,
    max: usize::MAX,
};
const TEXTS: Shape = Shape::List {
    of: &ANY_TEXT,
    min: 0,
};
const ID: Shape = Shape::Special(|id| TaskId::new(id).map(|_| ()));
const PATH: Shape = Shape::Special(|path| RelPath::new(path).map(|_| ()));

static HANDOFF: Record = Record {
    keys: &[
        ("schema", true, Shape::Word(&["handoff/1"])),
        ("task_id", true, ID),
        ("role", true, ANY_TEXT),
        (
            "status",
            true,
            Shape::Word(&[
                "completed",
                "blocked",
                "failed",
                "timed_out",
                "interrupted",
                "budget_spent",
                "overflow",
                "no_answer",
            ]),
        ),
        ("status_reason", false, ANY_TEXT),
        ("outcome", true, ANY_TEXT),
        ("facts", false, Shape::List { of: &FACT, min: 0 }),
        (
            "assumptions",
            false,
            Shape::List {
                of: &ASSUMPTION,
                min: 0,
            },
        ),
        ("files_read", false, Shape::List { of: &NOTE, min: 0 }),
        ("files_changed", true, Shape::List { of: &NOTE, min: 0 }),
        ("verification", true, Shape::List { of: &CLAIM, min: 0 }),
        ("risks", false, Shape::List { of: &RISK, min: 0 }),
        ("follow_up", false, ANY_TEXT),
        (
            "artifacts",
            false,
            Shape::List {
                of: &ARTIFACT,
                min: 0,
            },
        ),
        (
            "review_state",
            false,
            Shape::Word(&[
                "not_requested",
                "pending",
                "approved",
                "changes_requested",
                "blocked",
            ]),
        ),
        ("base", false, Shape::OrNull(&ANY_TEXT)),
        ("tree", false, Shape::OrNull(&ANY_TEXT)),
        ("provider", false, Shape::OrNull(&ANY_TEXT)),
        ("model", false, Shape::OrNull(&ANY_TEXT)),
        ("notes", false, TEXTS),
        (
            "receipts",
            false,
            Shape::List {
                of: &RECEIPT,
                min: 0,
            },
        ),
        ("result", false, Shape::Any),
    ],
    closed: false,
};

static FACT: Shape = Shape::Record(&Record {
    keys: &[("statement", true, ANY_TEXT), ("evidence", true, TEXTS)],
    closed: false,
});

static ASSUMPTION: Shape = Shape::Record(&Record {
    keys: &[
        ("id", true, ANY_TEXT),
        ("statement", true, ANY_TEXT),
        (
            "status",
            true,
            Shape::Word(&[
                "verified",
                "partially_verified",
                "unverified",
                "not_supported",
            ]),
        ),
        ("evidence", false, TEXTS),
    ],
    closed: false,
});

static NOTE: Shape = Shape::Record(&Record {
    keys: &[("path", true, PATH), ("scope", false, ANY_TEXT)],
    closed: false,
});

static CLAIM: Shape = Shape::Record(&Record {
    keys: &[
        ("command", true, SOME_TEXT),
        (
            "status",
            true,
            Shape::Word(&["not_run", "blocked", "fail", "pass"]),
        ),
        ("result", false, ANY_TEXT),
        ("evidence", false, TEXTS),
    ],
    closed: false,
});

static RISK: Shape = Shape::Record(&Record {
    keys: &[
        (
            "severity",
            true,
            Shape::Word(&["low", "medium", "high", "critical"]),
        ),
        ("statement", true, ANY_TEXT),
    ],
    closed: false,
});

static ARTIFACT: Shape = Shape::Record(&Record {
    keys: &[
        ("kind", true, Shape::Word(&["file", "url"])),
        ("reference", true, SOME_TEXT),
        ("description", false, ANY_TEXT),
    ],
    closed: false,
});

static RECEIPT: Shape = Shape::Record(&Record {
    keys: &[
        ("id", true, ANY_TEXT),
        ("source", true, Shape::Word(&["baseline", "check", "model"])),
        ("command", true, ANY_TEXT),
        ("output_sha256", true, ANY_TEXT),
    ],
    closed: false,
});

#[cfg(test)]
mod tests {
    use baton_protocol::{Handoff, read};
    use serde_json::Value;

    use super::issues;

    const EXAMPLE: &str = include_str!("../../../protocol/examples/handoff-1.json");

    /// Whatever the types refuse when one key is taken away or replaced, the shape refuses too.
    #[test]
    fn the_shape_is_as_strict_as_the_types() {
        let example: Value = serde_json::from_str(EXAMPLE).unwrap();
        assert_eq!(issues(&example), []);
        let keys: Vec<String> = example.as_object().unwrap().keys().cloned().collect();
        for key in keys {
            let mut without = example.clone();
            without.as_object_mut().unwrap().shift_remove(&key);
            let typed = read::<Handoff>(&without.to_string()).is_ok();
            assert_eq!(issues(&without).is_empty(), typed, "without {key}");
            if matches!(
                key.as_str(),
                "usage" | "repairs" | "sandbox" | "started_at" | "ended_at"
            ) {
                continue;
            }
            let mut wrong = example.clone();
            wrong[&key] = Value::Bool(true);
            let typed = read::<Handoff>(&wrong.to_string()).is_ok();
            assert_eq!(issues(&wrong).is_empty(), typed, "{key} = true");
        }
    }
}
