//! The deterministic plan check: what must hold before any worker is started.

use std::collections::{BTreeMap, BTreeSet};

use baton_protocol::{Plan, Task, TaskId};

use super::gate::{Route, route};
use super::glob_overlap::overlap;
use super::lock_files;
use super::verify_check::{self, Offer};

/// What the plan is judged against.
pub(crate) struct Rules<'a> {
    /// The most tasks of a round; none for a plan a person wrote.
    pub most_tasks: Option<usize>,
    /// Roles that exist.
    pub roles: &'a BTreeSet<String>,
    /// Ids that are taken by earlier rounds.
    pub taken: &'a BTreeSet<TaskId>,
    /// What verification commands find here.
    pub offer: Offer<'a>,
}

/// Files nobody may own.
const PROTECTED: &[&str] = &[".git", ".git/**", ".orchestrator", ".orchestrator/**"];

/// Every fault of a plan, each a sentence that a planner can act on. Empty: the plan is sound.
pub(crate) fn faults(plan: &Plan, rules: &Rules<'_>) -> Vec<String> {
    if plan.direct {
        return if plan.tasks.is_empty() {
            Vec::new()
        } else {
            vec!["`direct` is true, but there are tasks; a plan is one or the other".into()]
        };
    }
    let mut faults = Vec::new();
    if plan.tasks.is_empty() {
        faults.push("there are no tasks, and `direct` is false".into());
    }
    if let Some(most) = rules.most_tasks
        && plan.tasks.len() > most
    {
        faults.push(format!(
            "there are {} tasks; a round may have at most {most}",
            plan.tasks.len()
        ));
    }
    if rules.most_tasks.is_some() && plan.tasks.len() > 1 && route(&plan.gate) == Route::OneWorker {
        faults.push("the gate's facts describe one small change; give it to one task".into());
    }
    let mut seen = BTreeSet::new();
    for task in &plan.tasks {
        // Names become branch and folder names, which some systems compare without case.
        if !seen.insert(task.id.as_str().to_lowercase()) || rules.taken.contains(&task.id) {
            faults.push(format!("the id `{}` is used twice", task.id));
        }
        task_faults(task, rules, &mut faults);
    }
    let order = order_faults(plan, &mut faults);
    overlap_faults(plan, &order, &mut faults);
    faults
}

fn task_faults(task: &Task, rules: &Rules<'_>, faults: &mut Vec<String>) {
    let id = &task.id;
    if task.prompt.trim().is_empty() {
        faults.push(format!("task `{id}` has an empty prompt"));
    }
    // A person's plan reaches its workers with its words around it; a planner's does not.
    if rules.most_tasks.is_some()
        && let Some(phrase) = leans_on_others(&task.prompt)
    {
        faults.push(format!(
            "task `{id}` is not self-contained: it says `{phrase}`, but its worker sees only this prompt"
        ));
    }
    if !rules.roles.contains(&task.role) {
        let known: Vec<&str> = rules.roles.iter().map(String::as_str).collect();
        faults.push(format!(
            "task `{id}` wants the role `{}`; known are {}",
            task.role,
            known.join(", ")
        ));
    }
    match task.write_scope() {
        None => faults.push(format!(
            "task `{id}` does not say which files it owns (scope.write)"
        )),
        Some(globs) => {
            for glob in globs {
                if let Some(why) = bad_glob(glob) {
                    faults.push(format!("task `{id}`: the scope `{glob}` {why}"));
                }
            }
            if globs.is_empty() && !reads_only(&task.role) {
                faults.push(format!(
                    "task `{id}` owns no file, so it can change nothing"
                ));
            }
        }
    }
    for verify in &task.verify {
        if let Some(fault) = verify_check::fault(&verify.command, &rules.offer) {
            faults.push(format!(
                "task `{id}`: the check `{}` cannot be used: {fault}",
                verify.command
            ));
        }
    }
}

/// Roles that change nothing.
pub(crate) fn reads_only(role: &str) -> bool {
    matches!(role, "planner" | "explore" | "reviewer")
}

fn bad_glob(glob: &str) -> Option<&'static str> {
    if glob.trim().is_empty() {
        return Some("is empty");
    }
    if glob.starts_with('/') || glob.starts_with('~') {
        return Some("is not relative to the repository's root");
    }
    if glob.split('/').any(|s| s == "..") {
        return Some("leaves the repository");
    }
    let own = [glob.to_owned()];
    let protected: Vec<String> = PROTECTED.iter().map(ToString::to_string).collect();
    let named = glob.starts_with(".git/") || glob == ".git" || glob.starts_with(".orchestrator");
    (named && overlap(&own, &protected).is_some())
        .then_some("belongs to the orchestrator or to git")
}

/// A phrase that refers to something the worker does not see.
fn leans_on_others(prompt: &str) -> Option<&'static str> {
    let lower = prompt.to_lowercase();
    [
        "as discussed",
        "the other worker",
        "the other task",
        "the previous task",
        "see above",
        "as mentioned above",
        "same as task",
        "ask the user",
    ]
    .into_iter()
    .find(|phrase| lower.contains(phrase))
}

/// For every task all it waits for, directly or not.
type Order = BTreeMap<TaskId, BTreeSet<TaskId>>;

fn order_faults(plan: &Plan, faults: &mut Vec<String>) -> Order {
    let ids: BTreeSet<&TaskId> = plan.tasks.iter().map(|t| &t.id).collect();
    let mut direct: Order = ids
        .iter()
        .map(|id| ((*id).clone(), BTreeSet::new()))
        .collect();
    for (first, then) in &plan.depends {
        for id in [first, then] {
            if !ids.contains(id) {
                faults.push(format!(
                    "depends names `{id}`, which is no task of the plan"
                ));
            }
        }
        if ids.contains(first)
            && let Some(needs) = direct.get_mut(then)
        {
            needs.insert(first.clone());
        }
    }
    let mut order = direct.clone();
    // Each pass adds one step of the chain; a chain is no longer than there are tasks.
    for _ in 0..plan.tasks.len() {
        let before = order.clone();
        for needs in order.values_mut() {
            let further: BTreeSet<TaskId> = needs
                .iter()
                .filter_map(|id| before.get(id))
                .flatten()
                .cloned()
                .collect();
            needs.extend(further);
        }
        if order == before {
            break;
        }
    }
    for (id, needs) in &order {
        if needs.contains(id) {
            faults.push(format!(
                "task `{id}` waits for itself (depends has a circle)"
            ));
        }
    }
    order
}

fn overlap_faults(plan: &Plan, order: &Order, faults: &mut Vec<String>) {
    for (index, a) in plan.tasks.iter().enumerate() {
        for b in &plan.tasks[index + 1..] {
            let waits = |x: &Task, y: &Task| order.get(&x.id).is_some_and(|n| n.contains(&y.id));
            // Two of one name are a fault already, and no order could be given between them.
            if waits(a, b) || waits(b, a) || a.id == b.id {
                continue;
            }
            let (own_a, own_b) = (without_locks(a), without_locks(b));
            if let Some((x, y)) = overlap(&own_a, &own_b) {
                faults.push(format!(
                    "tasks `{}` and `{}` both own `{x}`{}; give the file to one of them, or add \
                     [\"{}\", \"{}\"] to depends",
                    a.id,
                    b.id,
                    if x == y {
                        String::new()
                    } else {
                        format!(" (as `{y}`)")
                    },
                    a.id,
                    b.id
                ));
            }
        }
    }
}

fn without_locks(task: &Task) -> Vec<String> {
    // The host makes lock files anew when it integrates, so sharing one is no conflict.
    let own = task.write_scope().unwrap_or(&[]).iter();
    own.filter(|glob| lock_files::kind_of(glob).is_none())
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use baton_protocol::{Gate, ParallelismValue, Plan};

    use super::{Rules, faults};
    use crate::core::testing::{plan, task};
    use crate::core::verify_check::Offer;

    fn check(plan: &Plan, most: Option<usize>) -> Vec<String> {
        let roles = ["implementer", "worker", "explore"]
            .map(String::from)
            .into();
        faults(
            plan,
            &Rules {
                most_tasks: most,
                roles: &roles,
                taken: &BTreeSet::new(),
                offer: Offer {
                    files: &BTreeSet::new(),
                    has_program: &|name| name == "python3",
                    has_module: &|_, _| true,
                    read: &|_| None,
                },
            },
        )
    }

    #[test]
    fn disjoint_tasks_are_sound() {
        let plan = plan(
            vec![task("a", &["src/a/**"]), task("b", &["src/b/**"])],
            &[],
        );
        assert_eq!(check(&plan, Some(2)), [""; 0]);
    }

    #[test]
    fn o01_two_tasks_that_both_need_a_file_are_refused() {
        let tasks = vec![
            task("a", &["src/a.rs", "src/mod.rs"]),
            task("b", &["src/b.rs", "src/mod.rs"]),
        ];
        let found = check(&plan(tasks.clone(), &[]), Some(2));
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("both own `src/mod.rs`"), "{found:?}");
        assert_eq!(check(&plan(tasks, &[("a", "b")]), Some(2)), [""; 0]);
    }

    #[test]
    fn a_shared_file_may_pass_along_a_chain_of_dependencies() {
        let tasks = vec![task("a", &["x"]), task("b", &["y"]), task("c", &["x"])];
        let chained = plan(tasks, &[("a", "b"), ("b", "c")]);
        assert_eq!(check(&chained, None), [""; 0]);
    }

    #[test]
    fn lock_files_may_be_shared_because_the_host_makes_them_anew() {
        let tasks = vec![
            task("a", &["a.rs", "Cargo.lock"]),
            task("b", &["b.rs", "Cargo.lock"]),
        ];
        assert_eq!(check(&plan(tasks, &[]), Some(2)), [""; 0]);
    }

    #[test]
    fn too_many_tasks_and_circles_and_strangers_are_named() {
        let tasks = vec![task("a", &["a"]), task("b", &["b"]), task("c", &["c"])];
        let bad = plan(tasks, &[("a", "b"), ("b", "a"), ("c", "zz")]);
        let found = check(&bad, Some(2)).join("\n");
        for part in ["3 tasks", "`a` waits for itself", "`zz`, which is no task"] {
            assert!(found.contains(part), "{found}");
        }
    }

    #[test]
    fn a_task_that_stands_there_twice_is_one_fault_and_gets_no_odd_advice() {
        let twice = plan(vec![task("a", &["a"]), task("a", &["a"])], &[]);
        assert_eq!(check(&twice, None), ["the id `a` is used twice"]);
    }

    #[test]
    fn a_task_must_stand_alone() {
        let mut vague = task("a", &["a"]);
        vague.prompt = "Finish what the other worker began.".into();
        vague.role = "wizard".into();
        vague.scope = None;
        vague.verify[0].command = "pytest || true".into();
        let found = check(&plan(vec![vague], &[]), Some(2)).join("\n");
        for part in ["self-contained", "`wizard`", "scope.write", "hides"] {
            assert!(found.contains(part), "{found}");
        }
    }

    #[test]
    fn scopes_stay_inside_and_away_from_git() {
        for glob in [
            "../x",
            "/etc/passwd",
            ".git/config",
            ".orchestrator/runs/**",
            "",
        ] {
            let found = check(&plan(vec![task("a", &[glob])], &[]), Some(2));
            assert_eq!(found.len(), 1, "{glob}: {found:?}");
        }
        assert_eq!(
            check(
                &plan(vec![task("a", &[".github/workflows/ci.yml"])], &[]),
                None
            ),
            [""; 0]
        );
    }

    #[test]
    fn a_trivial_goal_must_not_fan_out() {
        let mut two = plan(vec![task("a", &["a"]), task("b", &["b"])], &[]);
        two.gate = Gate {
            independent_subtasks: Some(1),
            dependent_stages: Some(0),
            files_modules: Some(1),
            independent_review: Some(false),
            external_side_effects: Some(false),
            shared_mutable_state: Some(false),
            security_compliance_risk: Some(false),
            expected_parallelism_value: Some(ParallelismValue::None),
        };
        assert_eq!(check(&two, Some(2)).len(), 1);
    }

    #[test]
    fn a_direct_answer_has_no_tasks() {
        let mut direct = plan(vec![], &[]);
        direct.direct = true;
        assert_eq!(check(&direct, Some(2)), [""; 0]);
        direct.tasks.push(task("a", &["a"]));
        assert_eq!(check(&direct, Some(2)).len(), 1);
    }
}
