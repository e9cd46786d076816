//! Which files go into the first message.

use crate::Counter;

/// A file that may be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedFile {
    /// Its path, relative to the root.
    pub path: String,
    /// Its text.
    pub text: String,
    /// Whether the task may change it.
    pub writable: bool,
    /// Whether the task's scope asks for it by name or glob (`**` asks for nothing in particular).
    pub asked: bool,
}

/// What is shown and what did not fit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PackPlan {
    /// The files shown, in order.
    pub shown: Vec<PackedFile>,
    /// Files worth showing that are too long, with their tokens.
    pub left_out: Vec<(String, u64)>,
    /// The tokens of what is shown.
    pub tokens: u64,
}

/// Chooses among `candidates` within `budget` tokens.
///
/// `mentions` are the texts a person or a check wrote: a file named there comes first. The files
/// the task may change come before the ones that only explain; smaller ones before larger ones.
/// A file that nobody named is shown only where all of them together are small.
/// The result is sorted by path, so that one more file changes as little as possible.
pub fn plan_pack(
    candidates: &[PackedFile],
    mentions: &str,
    budget: u64,
    count: Counter<'_>,
) -> PackPlan {
    let mut ranked: Vec<(u8, u64, &PackedFile)> = candidates
        .iter()
        .map(|file| (rank(file, mentions), count(&file.text), file))
        .collect();
    let all: u64 = ranked.iter().map(|(_, tokens, _)| tokens).sum();
    if all > budget / 2 {
        ranked.retain(|(rank, _, _)| *rank < UNNAMED);
    }
    ranked.sort_by(|a, b| (a.0, a.1, &a.2.path).cmp(&(b.0, b.1, &b.2.path)));
    let mut plan = PackPlan::default();
    for (rank, tokens, file) in ranked {
        if plan.tokens + tokens <= budget {
            plan.tokens += tokens;
            plan.shown.push(file.clone());
        } else if rank < UNNAMED {
            plan.left_out.push((file.path.clone(), tokens));
        }
    }
    plan.shown.sort_by(|a, b| a.path.cmp(&b.path));
    plan.left_out.sort();
    plan
}

const UNNAMED: u8 = 4;

fn rank(file: &PackedFile, mentions: &str) -> u8 {
    let named = mentioned(&file.path, mentions);
    match (file.writable, named, file.asked) {
        (true, true, _) => 0,
        (true, false, true) => 1,
        (false, true, _) => 2,
        (false, false, true) => 3,
        (_, false, false) => UNNAMED,
    }
}

/// Whether a text names the file, by path or by file name.
fn mentioned(path: &str, text: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    [path, name].iter().any(|needle| {
        text.match_indices(needle).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let after = text[at + needle.len()..].chars().next();
            let part_of_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
            !before.is_some_and(part_of_name) && !after.is_some_and(part_of_name)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{PackedFile, mentioned, plan_pack};

    fn file(path: &str, tokens: usize, writable: bool) -> PackedFile {
        PackedFile {
            path: path.into(),
            text: "x".repeat(tokens),
            writable,
            asked: writable,
        }
    }

    fn bytes(text: &str) -> u64 {
        u64::try_from(text.len()).unwrap_or(u64::MAX)
    }

    #[test]
    fn what_may_change_comes_before_what_explains() {
        let all = [
            file("docs.md", 10, false),
            file("src/b.py", 10, true),
            file("src/a.py", 10, true),
        ];
        let plan = plan_pack(&all, "", 20, &bytes);
        let shown: Vec<&str> = plan.shown.iter().map(|f| f.path.as_str()).collect();
        assert_eq!(shown, ["src/a.py", "src/b.py"]);
        assert!(plan.left_out.is_empty());
    }

    #[test]
    fn a_named_file_that_is_too_long_is_told() {
        let all = [file("src/a.py", 100, true), file("src/b.py", 10, true)];
        let plan = plan_pack(&all, "fix a.py", 50, &bytes);
        assert_eq!(plan.left_out, [("src/a.py".to_string(), 100)]);
        assert_eq!(plan.tokens, 10);
    }

    #[test]
    fn nobody_named_it_and_the_repository_is_large() {
        let mut all = [file("a.py", 10, true), file("b.py", 60, true)];
        for f in &mut all {
            f.asked = false;
        }
        assert!(plan_pack(&all, "", 100, &bytes).shown.is_empty());
        assert_eq!(plan_pack(&all, "", 140, &bytes).shown.len(), 2);
        assert_eq!(plan_pack(&all, "in b.py", 100, &bytes).shown.len(), 1);
    }

    #[test]
    fn a_name_inside_another_name_is_no_mention() {
        assert!(mentioned("src/a.py", "see a.py:3"));
        assert!(mentioned("src/a.py", "`src/a.py`"));
        assert!(!mentioned("src/a.py", "see data.py"));
        assert!(!mentioned("src/a.py", "a.pyc"));
    }
}
