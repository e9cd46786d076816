//! The first request of a task, as worker-run would send it.

use std::path::Path;

use baton_cli::Failure;
use baton_cli::config::RoleConfig;
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
    configured: Option<&RoleConfig>,
) -> Result<Value, Failure> {
    let root = repo
        .canonicalize()
        .map_err(|e| Failure::input(format!("--repo {}: {e}", repo.display())))?;
    let cwd = root.to_str().ok_or_else(|| {
        Failure::input(format!("--repo {}: its path is not UTF-8", root.display()))
    })?;
    let found = gather(&root, task);
    let budget = pack_budget(window);
    let role = role(task, configured);
    let system = system_text(task, configured)?;
    let named = mentions(task, role, &[]);
    let pack = plan_pack(&found.candidates, &named, budget, &estimated_tokens);
    let tree = render_tree(&found.paths, TREE_LINES);
    let request = first_request(
        &Inputs {
            task,
            role,
            mode: Mode::Tools,
            cwd,
            system: system.as_deref(),
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

fn role(task: &Task, configured: Option<&RoleConfig>) -> Role {
    Role::from_name(&task.role, configured.and_then(|role| role.access))
}

/// The configured text in place of the built-in one.
fn system_text(task: &Task, configured: Option<&RoleConfig>) -> Result<Option<String>, Failure> {
    let Some(path) = configured.and_then(|role| role.prompt.as_ref()) else {
        return Ok(None);
    };
    let text = std::fs::read_to_string(path).map_err(|e| {
        let path = path.display();
        Failure::config(format!("roles.{}.prompt: {path}: {e}", task.role))
    })?;
    Ok(Some(text))
}

/// What the task itself reserves. The checks are not run here: their output gets room.
pub(crate) fn asked(task: &Task, configured: Option<&RoleConfig>) -> Asked {
    let writes = role(task, configured).writes();
    let checks = if writes { task.verify.len() as u64 } else { 0 };
    Asked {
        output: task.limits.output_tokens,
        thinking: task.limits.thinking_tokens,
        checks: checks * CHECK_TOKENS,
    }
}
