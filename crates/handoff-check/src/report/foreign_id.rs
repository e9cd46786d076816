//! Task ids of envelopes: any text, where ours are names that git can take.

use baton_protocol::{Handoff, TaskId};

/// Begins, in `notes`, the envelope's own task id where ours cannot be written so.
pub(super) const FOREIGN_ID: &str = "envelope: its task id is ";

/// The task id of an envelope, which may be any text, in our letters.
pub(super) fn our_id(theirs: &str) -> Result<TaskId, String> {
    if let Ok(id) = TaskId::new(theirs) {
        return Ok(id);
    }
    let mut ours = String::new();
    for c in theirs.chars() {
        let kept = c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let c = if kept { c } else { '-' };
        let starts = !ours.is_empty() || c.is_ascii_alphanumeric();
        if starts && !(c == '.' && ours.ends_with('.')) {
            ours.push(c);
        }
    }
    // No branch of git may end in a dot, or look like a lock.
    let ours = ours.trim_end_matches('.');
    let ours = match ours.strip_suffix(".lock") {
        Some(before) => format!("{before}-lock"),
        None => ours.to_owned(),
    };
    TaskId::new(if ours.is_empty() { "task".into() } else { ours })
}

/// The task id an envelope was written with, when it is not the hand-off's own.
pub(crate) fn foreign_id(handoff: &Handoff) -> Option<String> {
    let noted = handoff
        .notes
        .iter()
        .find_map(|n| n.strip_prefix(FOREIGN_ID))?;
    let theirs: String = serde_json::from_str(noted).ok()?;
    our_id(&theirs)
        .is_ok_and(|id| id == handoff.task_id)
        .then_some(theirs)
}
