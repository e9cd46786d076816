//! The first request of a task, as worker-run would send it.

use std::path::Path;

use baton_cli::Failure;
use baton_prompt::{
    CHECK_TOKENS, Inputs, Mode, RULE_TOKENS, Role, TREE_LINES, estimated_tokens, first_request,
    gather, mentions, pack_budget, plan_pack, render_tree,
};
use baton_protocol::Task;
use serde_json::{Value, json};

use crate::subject::Asked;

/// Builds the request: system text, tools, and the files packed for this window.
pub(crate) fn first_request_of(
    task: &Task,
    repo: &Path,
    window: Option<u64>,
) -> Result<Value, Failure> {
    let root = repo
        .canonicalize()
        .map_err(|e| Failure::input(format!("--repo {}: {e}", repo.display())))?;
    let cwd = root.to_str().ok_or_else(|| {
        Failure::input(format!("--repo {}: its path is not UTF-8", root.display()))
    })?;
    let found = gather(&root, task);
    let budget = pack_budget(window);
    let role = Role::from_name(&task.role, None);
    let named = mentions(task, role, &[]);
    let pack = plan_pack(&found.candidates, &named, budget, &estimated_tokens);
    let tree = render_tree(&found.paths, TREE_LINES);
    let request = first_request(
        &Inputs {
            task,
            role,
            mode: Mode::Tools,
            cwd,
            system: None,
            rules: found
                .rules
                .as_deref()
                .filter(|text| estimated_tokens(text) <= RULE_TOKENS),
            tree: Some(&tree),
            pack: &pack,
            baseline: &[],
        },
        &estimated_tokens,
    );
    Ok(json!({"messages": request.messages, "tools": request.tools}))
}

/// What the task itself reserves. The checks are not run here: their output gets room.
pub(crate) fn asked(task: &Task) -> Asked {
    let writes = Role::from_name(&task.role, None).writes();
    let checks = if writes { task.verify.len() as u64 } else { 0 };
    Asked {
        output: task.limits.output_tokens,
        thinking: task.limits.thinking_tokens,
        checks: checks * CHECK_TOKENS,
    }
}
