//! The first request of a task, as worker-run would send it.

use std::path::Path;

use baton_cli::Failure;
use baton_prompt::{Inputs, Mode, Role, first_request, gather, plan_pack, render_tree};
use baton_protocol::Task;
use baton_tokens::Meter;
use serde_json::{Value, json};

use crate::subject::Asked;

// What worker-run shows; the two must agree.
/// Lines of the file list.
const TREE_LINES: usize = 40;
/// Tokens of files shown where the context is unknown, and at most.
const PACK_TOKENS: u64 = 6000;
/// Tokens of the repository's own rules.
const RULE_TOKENS: u64 = 800;
/// Tokens of one failing check's output, with its heading.
const CHECK_TOKENS: u64 = 1000;

/// Builds the request: system text, tools, and the files packed for this window.
pub(crate) fn first_request_of(
    task: &Task,
    repo: &Path,
    window: Option<u64>,
    meter: &Meter,
) -> Result<Value, Failure> {
    let root = repo
        .canonicalize()
        .map_err(|e| Failure::input(format!("--repo {}: {e}", repo.display())))?;
    let cwd = root.to_str().ok_or_else(|| {
        Failure::input(format!("--repo {}: its path is not UTF-8", root.display()))
    })?;
    let found = gather(&root, task);
    let count = |text: &str| meter.count(text).tokens;
    let budget = pack_budget(window);
    let pack = plan_pack(&found.candidates, &mentions(task), budget, &count);
    let tree = render_tree(&found.paths, TREE_LINES);
    let request = first_request(
        &Inputs {
            task,
            role: Role::from_name(&task.role, None),
            mode: Mode::Tools,
            cwd,
            system: None,
            rules: found
                .rules
                .as_deref()
                .filter(|text| meter.count(text).tokens <= RULE_TOKENS),
            tree: Some(&tree),
            pack: &pack,
            baseline: &[],
        },
        &count,
    );
    Ok(json!({"messages": request.messages, "tools": request.tools}))
}

/// A quarter of the window goes to files.
fn pack_budget(window: Option<u64>) -> u64 {
    window.map_or(PACK_TOKENS, |window| (window / 4).min(PACK_TOKENS))
}

fn mentions(task: &Task) -> String {
    let texts = [&task.prompt, &task.title];
    let lists = [&task.must, &task.must_not, &task.done_when];
    let checks = task.verify.iter().map(|check| &check.command);
    let all = texts
        .into_iter()
        .chain(lists.into_iter().flatten())
        .chain(checks);
    all.map(String::as_str).collect::<Vec<_>>().join("\n")
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
