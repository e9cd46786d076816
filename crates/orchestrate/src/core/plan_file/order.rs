//! Which step waits for which: what the plan says, its order, and the files that steps share.

use std::collections::{BTreeMap, BTreeSet};

use crate::core::glob_overlap::overlap;

use super::{PlanFile, Step};

/// For each open step the open steps it waits for, as places in `open`.
pub(super) fn order(
    plan: &PlanFile,
    open: &[&Step],
    scopes: &[Vec<String>],
) -> Result<Vec<(usize, usize)>, String> {
    let place: BTreeMap<&str, usize> = open
        .iter()
        .enumerate()
        .map(|(index, step)| (step.id.as_str(), index))
        .collect();
    let mut edges = BTreeSet::new();
    for (index, step) in open.iter().enumerate() {
        match &step.fields.depends {
            None if plan.in_order && index > 0 => {
                edges.insert((index - 1, index));
            }
            None => {}
            Some(wanted) => {
                for reference in wanted {
                    for found in resolve(plan, step, reference)? {
                        // What is ticked is done; nobody waits for it.
                        if let Some(before) = place.get(found.id.as_str()) {
                            edges.insert((*before, index));
                        }
                    }
                }
            }
        }
    }
    share_files(open.len(), scopes, &mut edges);
    Ok(edges.into_iter().collect())
}

/// Two steps that may change the same file go one after the other, as they are written.
fn share_files(count: usize, scopes: &[Vec<String>], edges: &mut BTreeSet<(usize, usize)>) {
    let mut before = closure(count, edges);
    for later in 0..count {
        for earlier in (0..later).rev() {
            if before[later][earlier] || before[earlier][later] {
                continue;
            }
            if overlap(&scopes[earlier], &scopes[later]).is_some() {
                edges.insert((earlier, later));
                // Everything that comes before the earlier one now comes before the later one too.
                let reached = before[earlier].clone();
                for (mine, theirs) in before[later].iter_mut().zip(reached) {
                    *mine |= theirs;
                }
                before[later][earlier] = true;
            }
        }
    }
}

/// `before[b][a]`: a comes before b, directly or not.
fn closure(count: usize, edges: &BTreeSet<(usize, usize)>) -> Vec<Vec<bool>> {
    let mut needs: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (first, then) in edges {
        needs[*then].push(*first);
    }
    (0..count)
        .map(|start| {
            let mut reached = vec![false; count];
            let mut open = needs[start].clone();
            while let Some(next) = open.pop() {
                if !std::mem::replace(&mut reached[next], true) {
                    open.extend(&needs[next]);
                }
            }
            reached
        })
        .collect()
}

/// The steps a reference names: a number, `previous`, `all`, an id, or the beginning of a title.
fn resolve<'a>(plan: &'a PlanFile, step: &Step, reference: &str) -> Result<Vec<&'a Step>, String> {
    let here = plan.steps.iter().position(|s| s.id == step.id).unwrap_or(0);
    let lower = reference.to_lowercase();
    match lower.as_str() {
        "previous" | "previous step" | "previous task" | "the previous step" => {
            return Ok(plan.steps[..here].last().into_iter().collect());
        }
        "all" | "all previous" | "everything above" | "all of the above" => {
            return Ok(plan.steps[..here].iter().collect());
        }
        _ => {}
    }
    let bare = ["task", "step", "#"]
        .iter()
        .find_map(|word| lower.strip_prefix(word))
        .unwrap_or(&lower)
        .trim_matches([' ', '#', '.', ':']);
    if let Ok(number) = bare.parse::<u64>() {
        return match plan.steps.iter().find(|s| s.number == number) {
            Some(found) => Ok(vec![found]),
            None => Err(format!(
                "line {}: step `{}` waits for number {number}, and there is no such step",
                step.line, step.title
            )),
        };
    }
    let exact = |s: &&Step| s.id.as_str() == lower || s.title.to_lowercase() == lower;
    if let Some(found) = plan.steps.iter().find(exact) {
        return Ok(vec![found]);
    }
    let begins: Vec<&Step> = plan
        .steps
        .iter()
        .filter(|s| s.title.to_lowercase().starts_with(&lower))
        .collect();
    match begins.as_slice() {
        [one] => Ok(vec![one]),
        [] => Err(format!(
            "line {}: step `{}` waits for `{reference}`, and no step is called so; name it by its \
             number or its title",
            step.line, step.title
        )),
        many => Err(format!(
            "line {}: step `{}` waits for `{reference}`, which may be any of {} steps; name it by \
             its number",
            step.line,
            step.title,
            many.len()
        )),
    }
}
