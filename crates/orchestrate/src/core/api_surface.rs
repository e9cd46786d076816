//! The public names of source files, as far as lines tell: enough to show a person what a change does
//! to them.

use std::collections::BTreeMap;

/// The lines of a file that others can use, normalised.
pub(crate) fn surface(path: &str, text: &str) -> Vec<String> {
    let extension = path.rsplit_once('.').map_or("", |(_, e)| e);
    let public: fn(&str) -> bool = match extension {
        "rs" => |l| l.trim_start().starts_with("pub ") || l.starts_with("#[macro_export]"),
        "ts" | "tsx" | "js" | "jsx" | "mjs" | "mts" => |l| l.starts_with("export "),
        "py" => python,
        "go" => go,
        "java" | "kt" | "cs" | "swift" => |l| l.trim_start().starts_with("public "),
        "h" | "hpp" => |l| l.trim_end().ends_with(';') && l.contains('('),
        "sh" | "bash" => |l| l.contains("()") && !l.starts_with([' ', '\t', '#', '_']),
        "rb" => |l| {
            let line = l.trim_start();
            ["def ", "class ", "module "]
                .iter()
                .any(|w| line.starts_with(w))
        },
        _ => return Vec::new(),
    };
    text.lines().filter(|l| public(l)).map(normal).collect()
}

fn python(line: &str) -> bool {
    let trimmed = line.trim_start();
    let name = ["def ", "async def ", "class "]
        .iter()
        .find_map(|word| trimmed.strip_prefix(word));
    name.is_some_and(|name| !name.starts_with('_'))
}

fn go(line: &str) -> bool {
    let capital = |name: &str| name.starts_with(char::is_uppercase);
    if let Some(rest) = line.strip_prefix("func ") {
        let name = match rest.strip_prefix('(') {
            Some(method) => method.split_once(") ").map_or("", |(_, name)| name),
            None => rest,
        };
        return capital(name);
    }
    ["type ", "var ", "const "]
        .iter()
        .find_map(|word| line.strip_prefix(word))
        .is_some_and(capital)
}

/// A line without the body that may begin on it, with single spaces.
fn normal(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let line = words.join(" ");
    line.trim_end_matches(['{', ';', ' ', ':']).to_owned()
}

/// What is not public any more, and what is now: `- …` and `+ …`.
pub(crate) fn difference(before: &[String], after: &[String]) -> Vec<String> {
    let mut count: BTreeMap<&str, i64> = BTreeMap::new();
    for line in before {
        *count.entry(line).or_default() -= 1;
    }
    for line in after {
        *count.entry(line).or_default() += 1;
    }
    let signed = |sign: char, keep: fn(i64) -> bool| {
        count
            .iter()
            .filter(move |(_, n)| keep(**n))
            .map(move |(line, _)| format!("{sign} {line}"))
            .collect::<Vec<_>>()
    };
    let mut lines = signed('-', |n| n < 0);
    lines.extend(signed('+', |n| n > 0));
    lines
}

#[cfg(test)]
mod tests {
    use super::{difference, surface};

    #[test]
    fn public_lines_of_the_usual_languages() {
        for (path, text, expected) in [
            (
                "a.rs",
                "pub fn a() {\nfn b() {}\npub(crate) fn c() {}\n    pub x: u8,\n",
                vec!["pub fn a()", "pub x: u8,"],
            ),
            (
                "a.ts",
                "export  function a() {\nfunction b() {}\n",
                vec!["export function a()"],
            ),
            (
                "a.py",
                "def a():\n    pass\ndef _b():\nclass C:\n    def d(self):\n",
                vec!["def a()", "class C", "def d(self)"],
            ),
            (
                "a.go",
                "func A() {\nfunc b() {\nfunc (x T) C() {\ntype D struct {\n",
                vec!["func A()", "func (x T) C()", "type D struct"],
            ),
            ("a.sh", "a() {\n_b() {\n# c()\n", vec!["a()"]),
            ("a.txt", "pub fn a()\n", vec![]),
        ] {
            assert_eq!(surface(path, text), expected, "{path}");
        }
    }

    #[test]
    fn a_moved_line_is_no_difference_and_a_changed_one_is_two() {
        let lines = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert!(difference(&lines(&["a", "b"]), &lines(&["b", "a"])).is_empty());
        assert_eq!(
            difference(&lines(&["a()", "b"]), &lines(&["a(x)", "b"])),
            ["- a()", "+ a(x)"]
        );
    }
}
