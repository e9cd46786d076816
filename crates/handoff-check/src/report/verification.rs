//! The commands a Markdown report says were run. They are claims, nothing more.

use baton_protocol::markdown::first_span;
use baton_protocol::{Claim, CommandStatus};

use super::files::{is_none, items};

/// The claimed commands with the claimed results.
pub(crate) fn parse(text: &str) -> Vec<Claim> {
    items(text)
        .filter(|i| !is_none(i) && names_a_command(i))
        .map(claim)
        .collect()
}

/// A sentence such as "All tests pass" names none; a command stands in backticks, after `$`, or
/// begins as commands do.
fn names_a_command(item: &str) -> bool {
    let begins = |c: char| c.is_ascii_lowercase() || matches!(c, '.' | '/' | '$');
    item.contains('`') || item.starts_with(begins)
}

fn claim(item: &str) -> Claim {
    let item = item.strip_prefix("$ ").unwrap_or(item);
    let (command, result) = if let Some((_, command, rest)) = first_span(item) {
        (command, rest)
    } else {
        let ends = [" — ", " – ", " - ", ": ", " -> ", " → ", " => "];
        let end = ends
            .iter()
            .filter_map(|e| item.find(e))
            .min()
            .unwrap_or(item.len());
        item.split_at(end)
    };
    if let Some((status, result)) = stated(result) {
        return Claim {
            command: command.trim().to_owned(),
            status,
            result: result.to_owned(),
            evidence: Vec::new(),
        };
    }
    Claim {
        command: command.trim().to_owned(),
        status: status(if result.trim().is_empty() {
            item
        } else {
            result
        }),
        result: result
            .trim_matches(|c: char| " —–-:>=→".contains(c))
            .to_owned(),
        evidence: Vec::new(),
    }
}

/// The status and the result as we write them: `: pass (12 passed)`.
fn stated(text: &str) -> Option<(CommandStatus, &str)> {
    let text = text.strip_prefix(": ")?.trim_end();
    let (word, result) = text.split_once(" (").unwrap_or((text, ")"));
    let status = match word {
        "not-run" => CommandStatus::NotRun,
        "blocked" => CommandStatus::Blocked,
        "fail" => CommandStatus::Fail,
        "pass" => CommandStatus::Pass,
        _ => return None,
    };
    Some((status, result.strip_suffix(')')?))
}

/// What the words claim. "0 failed" claims no failure.
fn status(text: &str) -> CommandStatus {
    let mut lower = text.to_lowercase();
    for harmless in [
        "0 failed",
        "0 failures",
        "no failures",
        "0 errors",
        "no errors",
        "without errors",
    ] {
        lower = lower.replace(harmless, "");
    }
    let says = |words: &[&str]| words.iter().any(|w| lower.contains(w));
    if says(&[
        "not run",
        "not-run",
        "did not run",
        "skipped",
        "could not run",
        "couldn't run",
    ]) {
        CommandStatus::NotRun
    } else if says(&["blocked", "not installed", "unavailable"]) {
        CommandStatus::Blocked
    } else if says(&["fail", "error", "red", "❌", "✗", "exit 1", "exit code 1"]) {
        CommandStatus::Fail
    } else if says(&[
        "pass",
        "ok",
        "green",
        "succe",
        "exit 0",
        "exit code 0",
        "✅",
        "✓",
        "clean",
    ]) {
        CommandStatus::Pass
    } else {
        CommandStatus::NotRun
    }
}

#[cfg(test)]
mod tests {
    use baton_protocol::CommandStatus::{Fail, NotRun, Pass};

    use super::parse;

    #[test]
    fn claims_as_models_write_them() {
        let cases = [
            ("- `cargo test`: 12 passed, 0 failed", "cargo test", Pass),
            ("- `pytest -q` → exit 0", "pytest -q", Pass),
            ("cargo test - FAILED (1 failed)", "cargo test", Fail),
            ("- npm test: not run, npm is missing", "npm test", NotRun),
            ("- Ran `make check`, all green", "make check", Pass),
        ];
        for (text, command, status) in cases {
            let claims = parse(text);
            assert_eq!(claims.len(), 1, "{text}");
            assert_eq!(
                (claims[0].command.as_str(), claims[0].status),
                (command, status),
                "{text}"
            );
        }
        assert!(parse("None.").is_empty());
        assert!(parse("All tests pass.").is_empty());
    }
}
