//! What a review says. Only an explicit, whole and consistent approval approves; what is missing,
//! quoted, cut or contradictory is inconclusive.

use baton_protocol::{Finding, FindingSeverity, Handoff, Review, ReviewVerdict};
use serde_json::{Value, json};

use super::planner_answer::find_object;
use super::record::ReviewFinding;

/// One reviewer's answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    /// No verdict, and why.
    Nothing(String),
    /// Good to go.
    Approve,
    /// These must change.
    Changes(Vec<ReviewFinding>),
}

/// The verdict of all parts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sum {
    pub verdict: ReviewVerdict,
    pub reason: String,
    pub findings: Vec<ReviewFinding>,
}

/// Reads one reviewer's hand-off.
pub(crate) fn read(handoff: &Handoff, nonce: &str, head: &str, base: &str) -> Answer {
    let value = if handoff.result.is_object() {
        Some(handoff.result.clone())
    } else {
        find_object(handoff.result.as_str().unwrap_or(&handoff.outcome))
    };
    let Some(Value::Object(mut map)) = value else {
        return Answer::Nothing("the answer holds no JSON object".into());
    };
    // The tag is our spelling, not a judgement; everything else must be there.
    map.entry("schema").or_insert(json!("review/1"));
    match baton_protocol::read_value::<Review>(Value::Object(map)) {
        Ok(review) => judge(&review, nonce, head, base),
        Err(error) => Answer::Nothing(format!("the answer is no review: {error}")),
    }
}

fn judge(review: &Review, nonce: &str, head: &str, base: &str) -> Answer {
    if review.nonce != nonce {
        return Answer::Nothing("the answer does not carry this run's word".into());
    }
    if review.head != head || review.base != base {
        return Answer::Nothing("the answer is about another change".into());
    }
    let checks = review.checks;
    let serious = |f: &&Finding| f.severity != FindingSeverity::Minor;
    match review.verdict {
        ReviewVerdict::Inconclusive => Answer::Nothing("the reviewer could not judge".into()),
        ReviewVerdict::Approve if !(checks.diff && checks.scope && checks.verification) => {
            Answer::Nothing(
                "it approves without having checked diff, scope and verification".into(),
            )
        }
        ReviewVerdict::Approve
            if review
                .findings
                .iter()
                .any(|f| f.severity == FindingSeverity::Blocking) =>
        {
            Answer::Nothing("it approves and names a blocking finding".into())
        }
        ReviewVerdict::Approve => Answer::Approve,
        ReviewVerdict::Changes if review.findings.is_empty() => {
            Answer::Nothing("it asks for changes and names none".into())
        }
        // Remarks alone do not hold work up, or a review could never end.
        ReviewVerdict::Changes if !review.findings.iter().any(|f| serious(&f)) => {
            if checks.diff && checks.scope && checks.verification {
                Answer::Approve
            } else {
                Answer::Nothing("it asks for changes and names only remarks".into())
            }
        }
        ReviewVerdict::Changes => Answer::Changes(
            review
                .findings
                .iter()
                .filter(serious)
                .map(|f| ReviewFinding {
                    severity: f.severity,
                    path: f.path.clone(),
                    statement: match f.line {
                        Some(line) => format!("line {line}: {}", f.statement),
                        None => f.statement.clone(),
                    },
                })
                .collect(),
        ),
    }
}

/// All parts together: one part without a verdict leaves the whole without one, unless another asks
/// for changes, which is reason enough to go on with those.
pub(crate) fn combine(answers: &[Answer]) -> Sum {
    let findings: Vec<ReviewFinding> = answers
        .iter()
        .filter_map(|a| match a {
            Answer::Changes(findings) => Some(findings.clone()),
            _ => None,
        })
        .flatten()
        .collect();
    let nothing = answers.iter().find_map(|a| match a {
        Answer::Nothing(why) => Some(why.clone()),
        _ => None,
    });
    let (verdict, reason) = if !findings.is_empty() {
        (ReviewVerdict::Changes, "changes are requested".to_owned())
    } else if let Some(why) = nothing {
        (ReviewVerdict::Inconclusive, why)
    } else if answers.is_empty() {
        (ReviewVerdict::Inconclusive, "nobody reviewed it".to_owned())
    } else {
        (ReviewVerdict::Approve, "approved".to_owned())
    };
    Sum {
        verdict,
        reason,
        findings,
    }
}

#[cfg(test)]
mod tests {
    use baton_protocol::{FindingSeverity, Handoff, ReviewVerdict};
    use serde_json::{Value, json};

    use super::{Answer, combine, read};

    fn handoff(result: Value, outcome: &str) -> Handoff {
        let text = include_str!("../../../protocol/examples/handoff-1.json");
        let mut handoff: Handoff = baton_protocol::read(text).unwrap();
        handoff.result = result;
        handoff.outcome = outcome.into();
        handoff
    }

    fn review(verdict: &str, findings: &Value) -> Value {
        json!({"schema": "review/1", "nonce": "n", "verdict": verdict, "head": "h", "base": "b",
               "checks": {"diff": true, "scope": true, "verification": true}, "findings": findings})
    }

    fn say(result: Value) -> Answer {
        read(&handoff(result, ""), "n", "h", "b")
    }

    #[test]
    fn an_explicit_and_whole_approval_approves() {
        assert_eq!(say(review("approve", &json!([]))), Answer::Approve);
        let text = format!("```json\n{}\n```", review("approve", &json!([])));
        assert_eq!(
            read(&handoff(Value::Null, &text), "n", "h", "b"),
            Answer::Approve
        );
    }

    #[test]
    fn o25_a_cut_off_answer_is_no_verdict() {
        let whole = review("approve", &json!([])).to_string();
        for cut in 0..whole.len() {
            let said = read(&handoff(Value::Null, &whole[..cut]), "n", "h", "b");
            assert!(matches!(said, Answer::Nothing(_)), "{cut}");
        }
        let prose = "I approve this.\nFINDINGS:\n";
        assert!(matches!(
            read(&handoff(Value::Null, prose), "n", "h", "b"),
            Answer::Nothing(_)
        ));
    }

    #[test]
    fn o26_a_control_token_means_the_gate_did_not_run() {
        let said = read(&handoff(Value::Null, "<|x|>"), "n", "h", "b");
        assert!(matches!(said, Answer::Nothing(_)));
    }

    #[test]
    fn another_run_s_word_or_another_head_is_no_verdict() {
        for (key, value) in [("nonce", "m"), ("head", "x"), ("base", "x")] {
            let mut other = review("approve", &json!([]));
            other[key] = json!(value);
            assert!(matches!(say(other), Answer::Nothing(_)), "{key}");
        }
    }

    #[test]
    fn a_contradiction_is_no_verdict() {
        let blocking = json!([{"severity": "blocking", "statement": "it crashes"}]);
        assert!(matches!(
            say(review("approve", &blocking)),
            Answer::Nothing(_)
        ));
        assert!(matches!(
            say(review("changes", &json!([]))),
            Answer::Nothing(_)
        ));
        let mut unchecked = review("approve", &json!([]));
        unchecked["checks"]["verification"] = json!(false);
        assert!(matches!(say(unchecked), Answer::Nothing(_)));
        let mut missing = review("approve", &json!([]));
        missing.as_object_mut().unwrap().remove("checks");
        assert!(matches!(say(missing), Answer::Nothing(_)));
    }

    #[test]
    fn o27_remarks_alone_do_not_hold_work_up() {
        let minor = json!([{"severity": "minor", "statement": "taste"}]);
        assert_eq!(say(review("changes", &minor)), Answer::Approve);
    }

    #[test]
    fn one_silent_part_leaves_the_whole_without_a_verdict() {
        let nothing = Answer::Nothing("cut".into());
        let sum = combine(&[Answer::Approve, nothing.clone()]);
        assert_eq!(sum.verdict, ReviewVerdict::Inconclusive);
        assert_eq!(combine(&[]).verdict, ReviewVerdict::Inconclusive);
        assert_eq!(combine(&[Answer::Approve]).verdict, ReviewVerdict::Approve);
        let major = json!([{"severity": "major", "path": "a", "line": 3, "statement": "wrong"}]);
        let changes = say(review("changes", &major));
        let sum = combine(&[nothing, changes]);
        assert_eq!(sum.verdict, ReviewVerdict::Changes);
        assert_eq!(sum.findings[0].severity, FindingSeverity::Major);
        assert_eq!(sum.findings[0].statement, "line 3: wrong");
    }
}
