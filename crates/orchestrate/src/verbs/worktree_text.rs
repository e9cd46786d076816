//! What `orchestrate worktree` says to people.

use std::fmt::Write as _;

use serde_json::Value;

/// The document as text.
pub(super) fn text(document: &Value) -> String {
    let mut text = String::new();
    let shown = |v: &Value| match v {
        Value::String(s) => s.clone(),
        Value::Null => "-".into(),
        other => other.to_string(),
    };
    match document["action"].as_str() {
        Some("push") => {
            let _ = writeln!(
                text,
                "pushed {} to {}",
                shown(&document["branch"]),
                shown(&document["remote"])
            );
        }
        Some("cleanup") => {
            let done = document["done"] == Value::Bool(true);
            let verb = if done { "removed" } else { "would remove" };
            for entry in document["removed"].as_array().into_iter().flatten() {
                let _ = writeln!(
                    text,
                    "{verb} {} ({} stays)",
                    shown(&entry["path"]),
                    shown(&entry["branch"])
                );
            }
            for entry in document["kept"].as_array().into_iter().flatten() {
                let _ = writeln!(
                    text,
                    "kept {}: {}",
                    shown(&entry["path"]),
                    shown(&entry["why"])
                );
            }
            if text.is_empty() {
                text.push_str("nothing to clean up\n");
            } else if !done {
                text.push_str("do it with: --confirm\n");
            }
        }
        _ => {
            for tree in document["trees"].as_array().into_iter().flatten() {
                let _ = write!(
                    text,
                    "{:<14} {:<9} {:<24} {}",
                    shown(&tree["state"]),
                    shown(&tree["owner"]),
                    shown(&tree["branch"]),
                    shown(&tree["path"])
                );
                if let (Some(ahead), Some(behind)) =
                    (tree["ahead"].as_u64(), tree["behind"].as_u64())
                    && (ahead, behind) != (0, 0)
                {
                    let _ = write!(text, " (+{ahead} -{behind})");
                }
                text.push('\n');
                if let Some(why) = tree["why"].as_str().filter(|w| !w.is_empty()) {
                    let _ = writeln!(text, "               {why}");
                }
            }
        }
    }
    text
}
