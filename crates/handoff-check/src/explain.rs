//! What each check proves, and how.

/// A check's name, what it proves, how.
pub(crate) const CHECKS: [(&str, &str, &str); 21] = [
    (
        "report",
        "there is one whole report",
        "handoff/1, a version-1 envelope or headings, anywhere in the text; two, none, a pointer or a cut-off one fail, and every wrong field is named",
    ),
    (
        "task",
        "it is about this task",
        "the report's task id equals the task's",
    ),
    (
        "status",
        "the worker says it is done",
        "only `completed` passes; a budget, a limit or a block is named",
    ),
    (
        "content",
        "the outcome says something",
        "empty texts, pointers and announcements of work fail",
    ),
    (
        "secrets",
        "no key is in the report",
        "known keys and the usual shapes of tokens",
    ),
    (
        "artifacts",
        "what it names as produced is there",
        "each file is looked up in the work tree",
    ),
    (
        "files",
        "it lists exactly what changed",
        "its list against git, byte by byte: claimed_not_changed, changed_not_claimed",
    ),
    (
        "base",
        "it is known what the work is measured against",
        "--base, else the task's base, else what the worker's harness recorded; HEAD only with a warning",
    ),
    (
        "state",
        "where the changes sit",
        "committed, staged, unstaged and untracked are told apart; conflicts fail",
    ),
    (
        "names",
        "every changed name can be written down",
        "names that are not UTF-8 fail and are shown with escapes",
    ),
    (
        "embedded",
        "no repository hides inside",
        "a new link to another repository that .gitmodules does not declare fails",
    ),
    (
        "scope",
        "every change is one the task owns",
        "both names of a rename, deletions, modes, links and commits that were undone again; globs of task.scope.write",
    ),
    (
        "hidden",
        "no ignore rule hides a stray file",
        "files hidden by rules that came with the work (a changed .gitignore, one that hides itself, .git/info/exclude and core.excludesFile where younger than the base) are compared with the scope: a warning",
    ),
    (
        "protected",
        "nothing protected changed",
        ".git, .orchestrator, --protect, --protect-ci, whatever the scope says",
    ),
    (
        "tree",
        "the tree is still the one handed over",
        "the recorded hash against a fresh one",
    ),
    (
        "claims",
        "nothing is claimed without a way to check it",
        "a claimed pass of a masked command, or of one the task does not have, is a warning",
    ),
    (
        "basis",
        "the worker did not make its own yardstick",
        "changed tests, expectations, scripts and set-up files that the commands rest on are a warning, unless the scope names them",
    ),
    (
        "effect",
        "the work has one",
        "no change at all is a warning when the commands pass, else unknown",
    ),
    (
        "verification",
        "the task's commands pass on exactly this tree",
        "--rerun in a scratch copy behind the sandbox with pipefail, else receipts of this very tree; masked forms and runs of no test prove nothing",
    ),
    (
        "red_first",
        "the changed tests show what was wrong",
        "--red-first: on the base with only the tests applied, a command must fail",
    ),
    (
        "strict",
        "no warning is left",
        "--strict turns warnings into failures",
    ),
];

/// The table as text.
pub(crate) fn text() -> String {
    let width = CHECKS
        .iter()
        .map(|(id, ..)| id.len())
        .max()
        .unwrap_or_default();
    let lines = CHECKS
        .iter()
        .map(|(id, proves, how)| format!("{id:width$}  {proves}\n{:width$}    {how}\n", ""));
    lines.collect()
}
