//! A reply that was to be a whole file and holds only the functions that change.
//!
//! Small models do that more often than not when they think first. Written as it is, it would lose
//! everything else in the file; so where every definition of the reply is one of the file's, those
//! are replaced and the rest stays.

/// A stretch of lines: a definition with its name, or what stands between definitions.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part<'a> {
    name: Option<&'a str>,
    lines: Vec<&'a str>,
}

/// How a language shows where a definition ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    Indented,
    Braced,
}

/// The old text with the reply's definitions in place of its own; none if the reply is no fragment.
pub(crate) fn splice(path: &str, old: &str, new: &str) -> Option<String> {
    let extension = path.rsplit('/').next()?.rsplit_once('.')?.1;
    let layout = match extension {
        "py" | "pyi" => Layout::Indented,
        "js" | "mjs" | "cjs" | "ts" | "rs" | "go" => Layout::Braced,
        _ => return None,
    };
    let merged = merge(layout, 0, old, new)?;
    let mut text = merged.join("\n");
    text.push('\n');
    Some(text)
}

fn merge<'a>(layout: Layout, indent: usize, old: &'a str, new: &'a str) -> Option<Vec<&'a str>> {
    merge_lines(
        layout,
        indent,
        &old.lines().collect::<Vec<_>>(),
        &new.lines().collect::<Vec<_>>(),
    )
}

fn merge_lines<'a>(
    layout: Layout,
    indent: usize,
    old: &[&'a str],
    new: &[&'a str],
) -> Option<Vec<&'a str>> {
    let old_parts = parts(layout, indent, old);
    let new_parts = parts(layout, indent, new);
    let names =
        |parts: &[Part<'a>]| -> Vec<&'a str> { parts.iter().filter_map(|p| p.name).collect() };
    let (had, has) = (names(&old_parts), names(&new_parts));
    let unique = |names: &[&str]| {
        let mut sorted = names.to_vec();
        sorted.sort_unstable();
        sorted.windows(2).all(|pair| pair[0] != pair[1])
    };
    if has.is_empty() || !unique(&had) || !unique(&has) || !has.iter().all(|n| had.contains(n)) {
        return None;
    }
    let is_fragment = had.iter().any(|n| !has.contains(n));
    let mut changed_inside = false;
    let mut out: Vec<&'a str> = Vec::new();
    for part in &old_parts {
        let given = part
            .name
            .and_then(|name| new_parts.iter().find(|p| p.name == Some(name)));
        match given {
            None => out.extend(&part.lines),
            Some(given) => {
                // A class may come with some of its methods only.
                let inner = (layout == Layout::Indented && indent == 0)
                    .then(|| methods(&part.lines, &given.lines))
                    .flatten();
                changed_inside |= inner.is_some();
                let body = inner.unwrap_or_else(|| trimmed(&given.lines).to_vec());
                out.extend(body);
                let gap = part.lines.len() - trimmed(&part.lines).len();
                out.extend(std::iter::repeat_n("", gap));
            }
        }
    }
    if !is_fragment && !changed_inside {
        return None;
    }
    if indent == 0 {
        let missing: Vec<&'a str> = new_parts
            .iter()
            .filter(|p| p.name.is_none())
            .flat_map(|p| p.lines.iter().copied())
            .filter(|line| is_import(line) && !old.contains(line))
            .collect();
        let at = out
            .iter()
            .position(|line| is_import(line) && !line.contains("__future__"))
            .or_else(|| out.iter().position(|line| name_of(line, layout).is_some()))
            .unwrap_or(0);
        out.splice(at..at, missing);
    }
    while out.last().is_some_and(|line| line.trim().is_empty()) {
        out.pop();
    }
    Some(out)
}

/// The methods of a class, merged; none if that is not what the lines are.
fn methods<'a>(old: &[&'a str], new: &[&'a str]) -> Option<Vec<&'a str>> {
    let is_class = |lines: &[&str]| lines.iter().any(|l| l.starts_with("class "));
    if !is_class(old) || !is_class(new) {
        return None;
    }
    let indent = |lines: &[&str]| {
        lines
            .iter()
            .skip(1)
            .filter(|l| l.trim_start().starts_with("def "))
            .map(|l| l.len() - l.trim_start().len())
            .min()
    };
    let (a, b) = (indent(old)?, indent(new)?);
    if a != b || a == 0 {
        return None;
    }
    merge_lines(Layout::Indented, a, old, new)
}

/// Splits lines at the definitions of one indentation.
fn parts<'a>(layout: Layout, indent: usize, lines: &[&'a str]) -> Vec<Part<'a>> {
    let mut parts: Vec<Part<'a>> = Vec::new();
    let mut open = false;
    for line in lines {
        let bare = line.trim_start();
        let depth = line.len() - bare.len();
        let name = (depth == indent).then(|| name_of(bare, layout)).flatten();
        let is_mark = depth == indent && layout == Layout::Indented && bare.starts_with('@');
        if name.is_some() || is_mark {
            let has_mark = parts.last().is_some_and(|p| {
                p.name.is_none()
                    && p.lines
                        .last()
                        .is_some_and(|l| l.trim_start().starts_with('@'))
            });
            if has_mark && let Some(last) = parts.last_mut() {
                last.name = name;
                last.lines.push(line);
            } else {
                parts.push(Part {
                    name,
                    lines: vec![line],
                });
            }
            open = !one_line(bare, layout);
            continue;
        }
        // What stands at the outer level ends an indented definition; a brace there ends the other.
        let ends = layout == Layout::Indented
            && open
            && depth <= indent
            && !bare.is_empty()
            && !bare.starts_with([')', ']', '}', '#']);
        if ends {
            open = false;
        }
        match parts.last_mut() {
            Some(last)
                if open || (bare.is_empty() && last.name.is_some()) || last.name.is_none() =>
            {
                last.lines.push(line);
            }
            _ => parts.push(Part {
                name: None,
                lines: vec![line],
            }),
        }
        if layout == Layout::Braced && depth == indent && bare.starts_with('}') {
            open = false;
        }
    }
    parts
}

fn one_line(bare: &str, layout: Layout) -> bool {
    layout == Layout::Braced && (bare.trim_end().ends_with(';') || bare.trim_end().ends_with('}'))
}

/// The name a line defines.
fn name_of(line: &str, layout: Layout) -> Option<&str> {
    let mut rest = line;
    let words: &[&str] = match layout {
        Layout::Indented => &["async "],
        Layout::Braced => &[
            "export ",
            "default ",
            "async ",
            "pub(crate) ",
            "pub ",
            "const ",
            "unsafe ",
        ],
    };
    while let Some(shorter) = words.iter().find_map(|w| rest.strip_prefix(w)) {
        rest = shorter;
    }
    let kinds: &[&str] = match layout {
        Layout::Indented => &["def ", "class "],
        Layout::Braced => &[
            "function ",
            "class ",
            "fn ",
            "struct ",
            "enum ",
            "trait ",
            "func ",
        ],
    };
    let rest = kinds.iter().find_map(|k| rest.strip_prefix(k))?;
    let end = rest
        .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'))
        .unwrap_or(rest.len());
    (end > 0).then(|| &rest[..end])
}

fn is_import(line: &str) -> bool {
    let is_python =
        line.starts_with("import ") || (line.starts_with("from ") && line.contains(" import "));
    is_python || (line.starts_with("use ") && line.ends_with(';'))
}

fn trimmed<'b, 'a>(lines: &'b [&'a str]) -> &'b [&'a str] {
    let end = lines
        .iter()
        .rposition(|l| !l.trim().is_empty())
        .map_or(0, |at| at + 1);
    &lines[..end]
}

#[cfg(test)]
mod tests {
    use super::splice;
    use proptest::prelude::{prop_assert, proptest};

    const PAGER: &str = "\"\"\"Pages.\"\"\"\nimport sys\n\n\ndef page(items, n):\n    return items[n]\n\n\n@cached\ndef pages(items):\n    return len(items)\n\n\nMAX = 3\n";

    #[test]
    fn only_the_function_that_was_given_is_replaced() {
        let new = "import math\n\ndef page(items, n):\n    if n < 1:\n        raise ValueError\n    return items[n - 1]\n";
        let text = splice("pager.py", PAGER, new).unwrap();
        assert_eq!(
            text,
            "\"\"\"Pages.\"\"\"\nimport math\nimport sys\n\n\ndef page(items, n):\n    if n < 1:\n        raise ValueError\n    return items[n - 1]\n\n\n@cached\ndef pages(items):\n    return len(items)\n\n\nMAX = 3\n"
        );
    }

    #[test]
    fn a_class_with_some_of_its_methods_keeps_the_others() {
        let old = "class A(object):\n    x = 1\n\n    def get(self):\n        return 1\n\n    def put(self):\n        pass\n";
        let new = "class A(object):\n    def get(self):\n        return 2\n";
        let text = splice("a.py", old, new).unwrap();
        assert!(
            text.contains("return 2") && text.contains("def put") && text.contains("x = 1"),
            "{text}"
        );
    }

    #[test]
    fn a_whole_file_or_something_else_is_no_fragment() {
        assert_eq!(
            splice("pager.py", PAGER, &PAGER.replace("n]", "n - 1]")),
            None
        );
        assert_eq!(splice("pager.py", PAGER, "def other():\n    pass\n"), None);
        assert_eq!(splice("pager.py", PAGER, "x = 1\n"), None);
        assert_eq!(splice("a.txt", "def a():\ndef b():\n", "def a():\n"), None);
        // Two definitions of one name: which one is meant cannot be told.
        let twice = "def a():\n    pass\ndef a():\n    pass\ndef b():\n    pass\n";
        assert_eq!(splice("a.py", twice, "def a():\n    return 1\n"), None);
    }

    #[test]
    fn braces_end_a_definition_elsewhere() {
        let old = "use std::fmt;\n\npub fn a() -> u32 {\n    1\n}\n\nfn b() {\n    a();\n}\n";
        let text = splice("src/x.rs", old, "pub fn a() -> u32 {\n    2\n}\n").unwrap();
        assert_eq!(text, old.replace("    1\n", "    2\n"));
        let old = "export function a() {\n  return 1;\n}\n\nconst x = 1;\n\nfunction b() {\n  return a();\n}\n";
        let text = splice("x.js", old, "export function a() {\n  return 2;\n}\n").unwrap();
        assert_eq!(text, old.replace("return 1", "return 2"));
    }

    proptest! {
        #[test]
        fn nothing_outside_the_given_definition_is_lost(bodies in proptest::collection::vec("[a-z]{1,6}", 2..6), pick in 0usize..6) {
            let pick = pick % bodies.len();
            let def = |n: usize, body: &str| format!("def f{n}():\n    return '{body}'\n");
            let old: Vec<String> = bodies.iter().enumerate().map(|(n, b)| def(n, b)).collect();
            let text = splice("a.py", &old.join("\n\n"), &def(pick, "NEW")).unwrap();
            for (n, body) in bodies.iter().enumerate() {
                let wanted = if n == pick { def(n, "NEW") } else { def(n, body) };
                prop_assert!(text.contains(wanted.trim_end()), "{text}");
            }
        }

        #[test]
        fn it_never_panics(old in "(def |class |    |@|\\}|fn |a|\n){0,40}", new in "(def |class |    |@|\\}|fn |a|\n){0,40}") {
            let _ = splice("a.py", &old, &new);
            let _ = splice("a.rs", &old, &new);
        }
    }
}
