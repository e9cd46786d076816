//! The verdict of `scope`: two checks and nothing else.

use baton_protocol::{Admission, Changes, Check, CheckVerdict, SchemaTag, Verdict, VerdictKind};
use baton_repo::GitPath;

/// A verdict about ownership alone.
pub(crate) fn verdict(checks: &[Check], outside: &[&GitPath]) -> Verdict {
    let pass = checks.iter().all(|c| c.verdict == CheckVerdict::Pass);
    Verdict {
        schema: SchemaTag::new(),
        pass: Some(pass),
        verdict: if pass {
            VerdictKind::Pass
        } else {
            VerdictKind::Fail
        },
        task_id: None,
        checks: checks.to_vec(),
        changes: Changes {
            outside_scope: outside.iter().map(ToString::to_string).collect(),
            ..Changes::default()
        },
        verification: Vec::new(),
        admission: Admission::Candidate,
    }
}
