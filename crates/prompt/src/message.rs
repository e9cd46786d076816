//! The wording of the first user message.

use std::fmt::Write as _;

use baton_protocol::Task;

use crate::pack::PackedFile;
use crate::request::Baseline;
use crate::role::{Mode, Role};

/// A fence longer than any run of backticks in `text`.
pub fn code_fence(text: &str) -> String {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    "`".repeat(3.max(longest + 1))
}

/// A file as it is shown to the model: its path, then its content in a fence.
pub fn fenced_file(path: &str, text: &str) -> String {
    let fence = code_fence(text);
    let language = language_of(path);
    let newline = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    format!("{path}\n{fence}{language}\n{text}{newline}{fence}\n")
}

fn language_of(path: &str) -> &'static str {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("py") => "python",
        Some("rs") => "rust",
        Some("js" | "mjs" | "cjs") => "javascript",
        Some("ts") => "typescript",
        Some("go") => "go",
        Some("c" | "h") => "c",
        Some("cpp" | "cc" | "hpp") => "cpp",
        Some("java") => "java",
        Some("rb") => "ruby",
        Some("sh") => "bash",
        Some("json") => "json",
        Some("toml") => "toml",
        Some("yml" | "yaml") => "yaml",
        Some("md") => "markdown",
        _ => "",
    }
}

pub(crate) fn workplace(cwd: &str) -> String {
    format!("The repository is at {cwd}; paths are relative to it.\n")
}

pub(crate) fn rules(text: &str) -> String {
    format!("\n# Rules of this repository\n{}\n", text.trim_end())
}

pub(crate) fn tree(text: &str) -> String {
    format!("\n# Files\n{text}\n")
}

pub(crate) fn files(shown: &[PackedFile], mode: Mode) -> String {
    let mut out = String::new();
    for (heading, writable) in [("# Files to change", true), ("# For reference", false)] {
        let group: Vec<&PackedFile> = shown.iter().filter(|f| f.writable == writable).collect();
        if group.is_empty() {
            continue;
        }
        let heading = match (writable, mode) {
            (true, Mode::Tools) => "# Files you may change (current content)",
            (false, Mode::Tools) => "# Other files (current content; not yours to change)",
            (false, _) => "# Only for reference, never reply with these",
            _ => heading,
        };
        let _ = writeln!(out, "\n{heading}");
        for file in group {
            out.push_str(&fenced_file(&file.path, &file.text));
        }
    }
    out
}

pub(crate) fn left_out(paths: &[(String, u64)]) -> String {
    if paths.is_empty() {
        return String::new();
    }
    let list: Vec<String> = paths
        .iter()
        .map(|(path, tokens)| format!("{path} ({tokens} tokens)"))
        .collect();
    format!("\nToo long to show here: {}\n", list.join(", "))
}

pub(crate) fn baseline(runs: &[Baseline]) -> String {
    let mut out = String::new();
    for run in runs {
        let fence = code_fence(&run.output);
        let _ = write!(
            out,
            "\n# Check `{}` fails now: {}\n{fence}\n{}\n{fence}\n",
            run.command,
            run.result,
            run.output.trim_end()
        );
    }
    out
}

/// The task itself: last, where a small model looks first.
pub(crate) fn task(task: &Task, role: Role, mode: Mode, red: bool, own: &[&str]) -> String {
    let prompt = match (&task.narrower, task.attempt > 1) {
        (Some(narrower), true) => narrower,
        _ => &task.prompt,
    };
    let mut out = format!("\n# Task\n{}\n", prompt.trim_end());
    bullets(&mut out, "Must hold", &task.must);
    bullets(&mut out, "Must not happen", &task.must_not);
    bullets(&mut out, "Done when", &task.done_when);
    if !task.sandbox.read.is_empty() {
        let places = task.sandbox.read.join(", ");
        let _ = writeln!(out, "Commands may also read {places}");
    }
    if role.writes() {
        if let Some(globs) = task.write_scope() {
            let _ = writeln!(out, "You may change only: {}", listed(globs, "nothing"));
        }
        if !task.sandbox.caches.is_empty() {
            let places = task.sandbox.caches.join(", ");
            let _ = writeln!(out, "Commands may also write in {places}");
        }
        let commands: Vec<String> = task.verify.iter().map(|v| v.command.clone()).collect();
        if !commands.is_empty() {
            let _ = writeln!(out, "Checks: {}", listed(&commands, ""));
        }
    }
    if role.writes() && !mode.has_tools() {
        // A small model that hears of an easy way out takes it: where a red check decides, the
        // word is not offered.
        let what = match (own, mode) {
            ([], _) => "with the files you change".to_string(),
            (files, Mode::Blocks) => {
                format!("with search/replace blocks for {}", files.join(" or "))
            }
            ([file], _) => format!("with the complete new content of {file} and nothing else"),
            (files, _) => format!(
                "with the complete new content of each you change: {}",
                files.join(", ")
            ),
        };
        let end = if red {
            ""
        } else {
            "; when nothing is left to change, reply with the one word DONE"
        };
        let _ = writeln!(out, "{REPLY_NOW} {what}{end}.");
    }
    if let Some(schema) = &task.result_schema {
        let place = if mode.has_tools() {
            "Give done a `result` that"
        } else {
            "Reply with JSON alone that"
        };
        let _ = writeln!(out, "{place} follows this JSON Schema: {schema}");
    }
    out
}

const REPLY_NOW: &str = "Reply now";
const THINK_FIRST: &str =
    "First say in one or two sentences why the check fails and what has to change. Then reply";

/// The first user message of a model that replies with files, asking for a thought before the files:
/// a small model that has to say what is wrong writes something else than it did without. All but
/// the last sentence stays, so that a server's cache serves it.
pub fn with_thought_first(user: &str) -> String {
    match user.rsplit_once(REPLY_NOW) {
        Some((before, after)) => {
            format!(
                "{before}{THINK_FIRST}{}",
                after.replacen(" and nothing else", "", 1)
            )
        }
        None => user.to_string(),
    }
}

fn bullets(out: &mut String, heading: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(out, "{heading}:");
    for line in lines {
        let _ = writeln!(out, "- {line}");
    }
}

fn listed(items: &[String], empty: &str) -> String {
    if items.is_empty() {
        return empty.to_string();
    }
    let quoted: Vec<String> = items.iter().map(|i| format!("`{i}`")).collect();
    quoted.join(", ")
}

#[cfg(test)]
mod tests {
    use super::{code_fence, fenced_file, with_thought_first};

    #[test]
    fn a_thought_comes_before_the_files_and_the_prefix_stays() {
        let user =
            "# Task\nFix it.\nReply now with the complete new content of a.py and nothing else.\n";
        let other = with_thought_first(user);
        assert!(other.starts_with("# Task\nFix it.\nFirst say "));
        assert!(other.ends_with("Then reply with the complete new content of a.py.\n"));
        assert_eq!(with_thought_first("x"), "x");
    }

    #[test]
    fn a_fence_is_longer_than_those_inside() {
        assert_eq!(code_fence("x"), "```");
        assert_eq!(code_fence("a ```` b"), "`````");
    }

    #[test]
    fn a_file_without_a_last_newline_still_closes_its_fence() {
        assert_eq!(fenced_file("a.py", "x"), "a.py\n```python\nx\n```\n");
        assert_eq!(fenced_file("b", ""), "b\n```\n```\n");
    }
}
