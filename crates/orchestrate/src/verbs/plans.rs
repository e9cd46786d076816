//! The written plans of a repository, in a line each.

use std::path::Path;

use crate::shell::layout::Layout;
use crate::shell::plan_store;

/// Each plan and how far it is.
pub(crate) fn lines(layout: &Layout, git_dir: &Path) -> Vec<String> {
    plan_store::all(layout, git_dir)
        .into_iter()
        .map(|(stored, plan)| match plan {
            Ok(plan) => format!(
                ".orchestrator/plans/{}.md: {} of {} steps done{}",
                stored.name,
                plan.done(),
                plan.steps.len(),
                plan.status.map(|s| format!(", {s}")).unwrap_or_default()
            ),
            Err(failure) => failure.message,
        })
        .collect()
}
