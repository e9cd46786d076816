//! The facts of git, and how sure they are.

use baton_protocol::{Changes, Check};
use baton_repo::{ChangeSet, GitPath, HeadAtBase, Mode, Names};

use super::{count, fail, list, pass, skipped, unknown, warning};

/// Where the base came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BaseSource {
    Flag,
    Task,
    Handoff,
    Head,
}

/// `base`: it is known what the work is measured against.
pub(crate) fn base(source: BaseSource, facts: &ChangeSet) -> Check {
    let tree = &facts.base.tree;
    if !facts.descends {
        return warning(
            "base",
            "HEAD does not descend from the base: commits were rewritten, or another branch is checked out",
        );
    }
    match (source, &facts.base.head) {
        (BaseSource::Head, _) => warning(
            "base",
            "no base was recorded (task.base, --base), so HEAD is it: commits of the worker are not seen",
        ),
        (_, HeadAtBase::Unknown) => warning(
            "base",
            format!(
                "tree {tree} belongs to no commit of this branch: commits that were undone again are not seen"
            ),
        ),
        (BaseSource::Flag, _) => pass("base", format!("tree {tree}, by --base")),
        (BaseSource::Task, _) => pass("base", format!("tree {tree}, by the task")),
        (BaseSource::Handoff, _) => pass(
            "base",
            format!("tree {tree}, recorded by the worker's harness"),
        ),
    }
}

/// Something git was asked to do here and has not finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unfinished {
    /// The file in the git folder that shows it.
    pub(crate) trace: &'static str,
    verb: &'static str,
    /// How it is ended.
    end: &'static str,
    /// Whether HEAD stands somewhere else until it is finished.
    moves_head: bool,
}

/// What may be unfinished. The first that is there counts.
pub(crate) const UNFINISHED: [Unfinished; 7] = [
    unfinished("rebase-merge", "rebase", "--continue or --abort", true),
    unfinished("rebase-apply/applying", "am", "--continue or --abort", true),
    unfinished("rebase-apply", "rebase", "--continue or --abort", true),
    unfinished("BISECT_LOG", "bisect", "reset", true),
    unfinished("MERGE_HEAD", "merge", "--continue or --abort", false),
    unfinished(
        "CHERRY_PICK_HEAD",
        "cherry-pick",
        "--continue or --abort",
        false,
    ),
    unfinished("REVERT_HEAD", "revert", "--continue or --abort", false),
];

impl Unfinished {
    pub(crate) const fn moves_head(self) -> bool {
        self.moves_head
    }
}

const fn unfinished(
    trace: &'static str,
    verb: &'static str,
    end: &'static str,
    moves_head: bool,
) -> Unfinished {
    Unfinished {
        trace,
        verb,
        end,
        moves_head,
    }
}

/// `state`: where the changes sit. A dirty tree is not "already merged", a clean one not "unchanged".
pub(crate) fn state(facts: &ChangeSet, summary: &Changes, unfinished: Option<Unfinished>) -> Check {
    let unmerged: Vec<_> = facts
        .status
        .iter()
        .filter(|e| e.unmerged)
        .map(|e| &e.path)
        .collect();
    if !unmerged.is_empty() {
        return fail("state", format!("in conflict: {}", list(unmerged)));
    }
    let parts = [
        (summary.committed.len(), "committed"),
        (summary.staged.len(), "staged"),
        (summary.unstaged.len(), "unstaged"),
        (summary.untracked.len(), "untracked"),
    ];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, what)| format!("{n} {what}"))
        .collect();
    let detail = if parts.is_empty() {
        "nothing differs from the base".to_owned()
    } else {
        format!("changed files: {}", parts.join(", "))
    };
    let Some(Unfinished { verb, end, .. }) = unfinished else {
        return pass("state", detail);
    };
    let what = format!("in the middle of a {verb} (git {verb} {end})");
    if unfinished.is_some_and(Unfinished::moves_head) {
        unknown(
            "state",
            format!("{what}, while HEAD is not what the branch holds; {detail}"),
        )
    } else {
        warning("state", format!("{what}; {detail}"))
    }
}

/// `names`: every changed name can be written down.
pub(crate) fn names(touched: &[&GitPath]) -> Check {
    let odd: Vec<&&GitPath> = touched.iter().filter(|p| p.to_str().is_none()).collect();
    if odd.is_empty() {
        pass("names", "all are UTF-8")
    } else {
        fail("names", format!("not UTF-8: {}", list(odd)))
    }
}

/// `embedded`: no repository was put inside the repository.
pub(crate) fn embedded(facts: &ChangeSet, submodules: &[String]) -> Check {
    let changes = facts.net.iter().chain(&facts.committed);
    let mut links: Vec<&GitPath> = changes
        .filter(|c| c.new_mode == Mode::Submodule && c.old_mode != Mode::Submodule)
        .map(|c| &c.path)
        .filter(|p| !submodules.iter().any(|s| s.as_bytes() == p.as_bytes()))
        .collect();
    links.sort();
    links.dedup();
    if links.is_empty() {
        pass("embedded", "no repository inside the repository")
    } else {
        fail(
            "embedded",
            format!(
                "a repository of its own, whose files git does not see: {}",
                list(links)
            ),
        )
    }
}

/// `effect`: the work has one, or the commands show that none was needed.
pub(crate) fn effect(touched: usize, writes: bool, verified: bool) -> Check {
    if touched > 0 {
        pass("effect", format!("{} changed", count(touched, "file")))
    } else if !writes {
        skipped("effect", "the task may change nothing")
    } else if verified {
        warning(
            "effect",
            "nothing was changed, though the task's commands pass as it is",
        )
    } else {
        unknown(
            "effect",
            "nothing was changed, and nothing shows that nothing had to be",
        )
    }
}

/// The changed names by where the change sits.
pub(crate) fn summary(all: &Names<'_>) -> Changes {
    let names = |paths: Vec<&GitPath>| paths.into_iter().map(ToString::to_string).collect();
    Changes {
        committed: names(all.committed()),
        staged: names(all.staged()),
        unstaged: names(all.unstaged()),
        untracked: names(all.untracked()),
        ..Changes::default()
    }
}
