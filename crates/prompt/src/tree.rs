//! A short list of the repository's files.

use std::collections::BTreeMap;

/// Lists `paths` (sorted, `/` between segments) in at most `max_lines` lines.
///
/// Folders are shown as `dir/ (12 files)` where their files would not fit, deepest ones first.
pub fn render_tree(paths: &[String], max_lines: usize) -> String {
    if paths.len() <= max_lines {
        return paths.join("\n");
    }
    let deepest = paths.iter().map(|p| depth(p)).max().unwrap_or(0);
    for level in (0..=deepest).rev() {
        let lines = collapsed(paths, level);
        if lines.len() <= max_lines {
            return lines.join("\n");
        }
    }
    let mut lines = collapsed(paths, 0);
    let left_out = lines.len() - max_lines.saturating_sub(1);
    lines.truncate(max_lines.saturating_sub(1));
    lines.push(format!("... and {left_out} more"));
    lines.join("\n")
}

/// Files up to `level` folders deep as they are, deeper ones as a count of their folder.
fn collapsed(paths: &[String], level: usize) -> Vec<String> {
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    for path in paths {
        if depth(path) <= level {
            lines.insert(path.clone(), 0);
        } else {
            let folder: Vec<&str> = path.split('/').take(level + 1).collect();
            *lines.entry(folder.join("/") + "/").or_default() += 1;
        }
    }
    lines
        .into_iter()
        .map(|(name, files)| match files {
            0 => name,
            1 => format!("{name} (1 file)"),
            n => format!("{name} ({n} files)"),
        })
        .collect()
}

fn depth(path: &str) -> usize {
    path.matches('/').count()
}

#[cfg(test)]
mod tests {
    use super::render_tree;
    use proptest::prelude::{prop_assert, proptest};

    fn paths(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_small_repository_is_listed_whole() {
        assert_eq!(render_tree(&paths(&["a", "b/c"]), 5), "a\nb/c");
    }

    #[test]
    fn deep_folders_become_counts() {
        let all = paths(&["a", "src/m/x", "src/m/y", "src/z"]);
        assert_eq!(render_tree(&all, 3), "a\nsrc/m/ (2 files)\nsrc/z");
        assert_eq!(render_tree(&all, 2), "a\nsrc/ (3 files)");
    }

    #[test]
    fn too_many_at_the_top_are_cut() {
        let all: Vec<String> = (0..9).map(|n| format!("f{n}")).collect();
        assert_eq!(render_tree(&all, 3), "f0\nf1\n... and 7 more");
    }

    proptest! {
        #[test]
        fn it_never_exceeds_its_lines(names in proptest::collection::vec("[a-c]{1,2}(/[a-c]{1,2}){0,3}", 0..40), max in 1usize..20) {
            let mut names = names;
            names.sort();
            names.dedup();
            let text = render_tree(&names, max);
            prop_assert!(text.lines().count() <= max);
        }
    }
}
