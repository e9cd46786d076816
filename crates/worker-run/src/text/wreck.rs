//! Noticing that a step wrecked a file: emptied it, or left a fragment or a placeholder.

/// How a file was wrecked, if it was; the text completes "it …".
pub(crate) fn wrecked(path: &str, before: &str, after: &str) -> Option<String> {
    let old_lines = meaningful(before);
    let new_lines = meaningful(after);
    if old_lines > 0 && new_lines == 0 {
        return Some("is empty now".into());
    }
    if let Some(line) = placeholder(before, after) {
        return Some(format!("has a placeholder instead of code: `{line}`"));
    }
    // A program of some length does not become one or two lines by a small change.
    if old_lines >= 6 && new_lines <= 2 {
        return Some(format!("shrank from {old_lines} lines to {new_lines}"));
    }
    let was_whole = unbalanced(path, before).is_none();
    match unbalanced(path, after) {
        Some(problem) if was_whole => Some(problem),
        _ => None,
    }
}

fn meaningful(text: &str) -> usize {
    text.lines().filter(|line| !line.trim().is_empty()).count()
}

/// A line like `... rest of the code unchanged ...` that was not there before.
fn placeholder(before: &str, after: &str) -> Option<String> {
    after
        .lines()
        .map(str::trim)
        .find(|line| {
            let words = line.trim_start_matches(['#', '/', '*', '-', '<', '!', ';', ' ']);
            let lower = words.to_ascii_lowercase();
            let dots = lower.contains("...") || lower.contains('…');
            let says_rest = [
                "rest of",
                "remaining ",
                "existing code",
                "unchanged",
                "same as before",
                "previous code",
                "other code",
            ]
            .iter()
            .any(|phrase| lower.contains(phrase));
            let comment = *line != words;
            dots && says_rest && (comment || lower.starts_with("...")) && !before.contains(line)
        })
        .map(|line| line.chars().take(80).collect())
}

/// What is wrong with the structure of a file, for the few kinds where that can be told for sure.
fn unbalanced(path: &str, text: &str) -> Option<String> {
    let extension = path.rsplit('/').next()?.rsplit_once('.')?.1;
    match extension {
        "json" => serde_json::from_str::<serde_json::Value>(text)
            .err()
            .map(|error| format!("is no longer valid JSON: {error}")),
        "py" | "rs" | "js" | "ts" | "go" | "c" | "h" | "cpp" | "java" => {
            let fence = text
                .lines()
                .find(|line| line.trim_start().starts_with("```"))?;
            // Fences are fine in doc comments, where the line starts with the comment's mark.
            Some(format!("has a Markdown fence in it: `{}`", fence.trim()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::wrecked;

    const PROGRAM: &str =
        "import re\n\ndef a():\n    return 1\n\ndef b():\n    return 2\n\nx = a()\ny = b()\n";

    #[test]
    fn a_file_replaced_by_a_fragment() {
        assert!(wrecked("pager.py", PROGRAM, "obj['pager.py']\n").is_some());
        assert!(
            wrecked("pager.py", PROGRAM, "\n")
                .unwrap()
                .contains("empty")
        );
    }

    #[test]
    fn a_placeholder_in_place_of_the_rest() {
        let lazy = "import re\n\ndef a():\n    return 5\n\n# ... rest of the code unchanged ...\n";
        assert!(
            wrecked("a.py", PROGRAM, lazy)
                .unwrap()
                .contains("placeholder")
        );
        assert_eq!(wrecked("a.py", lazy, lazy), None);
    }

    #[test]
    fn a_json_file_that_does_not_parse_any_more() {
        assert!(
            wrecked("p.json", "{\"a\": 1}", "{\"a\": 1")
                .unwrap()
                .contains("valid JSON")
        );
        assert_eq!(wrecked("p.json", "not json", "still not"), None);
    }

    #[test]
    fn a_fence_in_a_program() {
        let fenced = format!("```python\n{PROGRAM}```\n");
        assert!(wrecked("a.py", PROGRAM, &fenced).unwrap().contains("fence"));
    }

    #[test]
    fn an_honest_change_is_none() {
        let change = PROGRAM.replace("return 2", "return 3  # see the rest of the module");
        assert_eq!(wrecked("a.py", PROGRAM, &change), None);
        assert_eq!(wrecked("new.py", "", "x = 1\n"), None);
    }
}
