//! What a step says about itself in lines of the form `key: value`: files, checks, dependencies, role.

use super::lines::{Kind, Line};

/// The fields of a step, as they are written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Fields {
    /// None: nothing is said. Empty: it says that it waits for nothing.
    pub depends: Option<Vec<String>>,
    pub files: Vec<String>,
    /// Commands: written as code.
    pub verify: Vec<String>,
    /// Words that may be a command or not.
    pub verify_words: Vec<String>,
    pub role: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Depends,
    Files,
    Verify,
    Role,
}

fn key(word: &str) -> Option<Key> {
    let word = word.to_lowercase().replace(['-', '_'], " ");
    Some(match word.trim() {
        "depends" | "depends on" | "dependencies" | "dependency" | "after" | "requires"
        | "needs" | "blocked by" | "prerequisites" => Key::Depends,
        "files" | "file" | "owns" | "scope" | "touches" | "paths" => Key::Files,
        "verify" | "verification" | "check" | "checks" | "verify with" | "verify by" => Key::Verify,
        "role" | "agent" => Key::Role,
        _ => return None,
    })
}

/// The key and value of a line, where it has one: `files: a`, `**Files:** a`, `_Depends on_: 1`.
fn field(text: &str) -> Option<(Key, &str)> {
    let (before, after) = text.split_once(':')?;
    let key = key(before.trim_matches(['*', '_', ' ', '\t']))?;
    let value = after.trim_start_matches(['*', '_']).trim();
    Some((key, value))
}

/// Reads the fields from the lines below a step (none of them in a fence counts as a key, but a fence
/// behind `verify:` holds commands) and from what stands in brackets at the end of its title.
pub(crate) fn read(title: &str, body: &[Line<'_>]) -> Fields {
    let mut fields = Fields::default();
    for (key, value) in in_title(title).1 {
        take(&mut fields, key, value);
    }
    let mut index = 0;
    while index < body.len() {
        let line = &body[index];
        index += 1;
        let plain = matches!(line.kind, Kind::Text | Kind::Item { .. }) && line.mark.is_none();
        let Some((key, value)) = plain.then(|| field(line.text)).flatten() else {
            continue;
        };
        if !value.is_empty() {
            take(&mut fields, key, value);
            continue;
        }
        if key == Key::Depends {
            fields.depends.get_or_insert_default();
        }
        index += below(&mut fields, key, line, &body[index..]);
    }
    fields
}

/// Takes the list (or the fence) below a key without a value; says how many lines it was.
fn below(fields: &mut Fields, key: Key, head: &Line<'_>, lines: &[Line<'_>]) -> usize {
    let deeper = matches!(head.kind, Kind::Item { .. });
    let mut used = 0;
    for line in lines {
        let belongs = match line.kind {
            Kind::Blank => true,
            Kind::Item { .. } => line.mark.is_none() && (!deeper || line.indent > head.indent),
            Kind::Verbatim => key == Key::Verify,
            Kind::Text | Kind::Heading { .. } => false,
        };
        if !belongs {
            break;
        }
        used += 1;
        match line.kind {
            Kind::Item { .. } => take(fields, key, line.text),
            Kind::Verbatim => {
                let text = line.text.trim();
                if !text.is_empty() && !text.starts_with(['#', '`', '~']) {
                    fields.verify.push(text.to_owned());
                }
            }
            _ => {}
        }
    }
    used
}

fn take(fields: &mut Fields, key: Key, value: &str) {
    match key {
        Key::Role => fields.role = Some(plain_word(value)),
        Key::Files => fields.files.extend(files(value)),
        Key::Depends => fields
            .depends
            .get_or_insert_default()
            .extend(references(value)),
        Key::Verify => {
            let code = code_spans(value);
            if code.is_empty() {
                fields.verify_words.push(value.to_owned());
            } else {
                fields.verify.extend(code);
            }
        }
    }
}

fn plain_word(value: &str) -> String {
    value
        .trim_matches(['`', '"', '\'', '*', ' ', '.'])
        .to_owned()
}

/// What stands in backticks.
fn code_spans(text: &str) -> Vec<String> {
    let spans = text.split('`').skip(1).step_by(2);
    spans
        .map(str::trim)
        .filter(|s| !s.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Paths: in backticks, or words set apart by commas. `Create: x` and `x:10-20` name `x`.
fn files(value: &str) -> Vec<String> {
    let code = code_spans(value);
    let words: Vec<String> = if code.is_empty() {
        let value = value
            .split_once(": ")
            .filter(|(word, _)| !word.contains(['/', '.']))
            .map_or(value, |(_, rest)| rest);
        value
            .split([',', ' ', '\t'])
            .map(|w| w.trim_matches(['"', '\'', '(', ')', ';']).to_owned())
            .filter(|w| w.contains(['/', '.', '*']) || !value.trim().contains(' '))
            .collect()
    } else {
        code
    };
    words
        .iter()
        .map(|word| without_lines(word.strip_prefix("./").unwrap_or(word)))
        .filter(|word| !word.is_empty() && *word != "none" && *word != "-")
        .map(str::to_owned)
        .collect()
}

fn without_lines(path: &str) -> &str {
    match path.rsplit_once(':') {
        Some((path, lines))
            if !lines.is_empty()
                && lines
                    .chars()
                    .all(|c| c.is_ascii_digit() || c == '-' || c == ',') =>
        {
            path
        }
        _ => path,
    }
}

/// References: set apart by commas, semicolons, `&` or `and`. `none` is none.
fn references(value: &str) -> Vec<String> {
    let value = value.replace(" and ", ",");
    value
        .split([',', ';', '&'])
        .map(plain_word)
        .filter(|r| !r.is_empty())
        .filter(|r| !matches!(r.to_lowercase().as_str(), "none" | "nothing" | "-" | "n/a"))
        .collect()
}

/// A title without the brackets at its end that hold fields, and those fields.
fn in_title(title: &str) -> (&str, Vec<(Key, &str)>) {
    let whole = (title, Vec::new());
    let Some((before, inside)) = title
        .trim_end()
        .strip_suffix(')')
        .and_then(|t| t.rsplit_once('('))
    else {
        return whole;
    };
    let mut found = Vec::new();
    for part in inside.split(';') {
        let part = part.trim();
        let read = field(part).or_else(|| {
            // `(after 1)`, `(depends on 1, 2)`: the colon is often left out.
            [
                "depends on ",
                "after ",
                "needs ",
                "requires ",
                "blocked by ",
            ]
            .iter()
            .find_map(|word| {
                let head = part.get(..word.len())?;
                head.eq_ignore_ascii_case(word)
                    .then(|| (Key::Depends, &part[word.len()..]))
            })
        });
        match read {
            Some((key, value)) if !value.is_empty() => found.push((key, value)),
            _ => return whole,
        }
    }
    (before.trim_end(), found)
}

/// A title as people would say it.
pub(crate) fn title(text: &str) -> String {
    let (text, _) = in_title(text);
    let text = text.replace("**", "").replace('`', "");
    text.trim().trim_end_matches(':').trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::lines;
    use super::{Fields, read, title};

    fn fields(title: &str, body: &str) -> Fields {
        read(title, &lines::read(body))
    }

    #[test]
    fn keys_in_the_forms_people_write_them() {
        for body in [
            "files: src/a.rs, src/b.rs\nverify: `make test`\ndepends: 1, 2\n",
            "- **Files:** `src/a.rs`, `src/b.rs:10-20`\n- **Verification:** `make test`\n- **Depends on:** 1 and 2\n",
            "  * _Files_: src/a.rs src/b.rs\n  * Check: `make test`\n  * blocked-by: 1; 2.\n",
            "Files:\n- Create: `src/a.rs`\n- Modify: `./src/b.rs:3`\n\nVerify:\n```sh\n# all\nmake test\n```\nAfter:\n- 1\n- 2\n",
        ] {
            let found = fields("x", body);
            assert_eq!(found.files, ["src/a.rs", "src/b.rs"], "{body}");
            assert_eq!(found.verify, ["make test"], "{body}");
            assert_eq!(found.depends.as_deref().unwrap(), ["1", "2"], "{body}");
        }
    }

    #[test]
    fn brackets_at_the_end_of_a_title_may_hold_them() {
        let found = fields("Add it (files: a.rs; depends: 3)", "");
        assert_eq!(found.files, ["a.rs"]);
        assert_eq!(found.depends.as_deref().unwrap(), ["3"]);
        assert_eq!(
            fields("Add it (after 1, 2)", "").depends.unwrap(),
            ["1", "2"]
        );
        assert_eq!(title("**Add it** (after 1)"), "Add it");
        assert_eq!(title("Add `it` (twice)"), "Add it (twice)");
    }

    #[test]
    fn nothing_is_something_else_than_not_said() {
        assert_eq!(fields("x", "depends: none\n").depends, Some(vec![]));
        assert_eq!(fields("x", "words\n").depends, None);
    }

    #[test]
    fn prose_and_code_are_not_taken_for_fields() {
        let body =
            "Note: files matter.\n```\nfiles: no\n```\nRun: `pytest x`\n- [ ] verify: `no`\n";
        assert_eq!(fields("x", body), Fields::default());
        let found = fields("x", "Verification: looks good to me\n");
        assert_eq!(found.verify, [""; 0]);
        assert_eq!(found.verify_words, ["looks good to me"]);
    }

    #[test]
    fn a_list_below_a_key_ends_where_the_next_key_begins() {
        let body = "- files:\n  - `a.rs`\n  - `b.rs`\n- verify: `true`\n";
        let found = fields("x", body);
        assert_eq!(found.files, ["a.rs", "b.rs"]);
        assert_eq!(found.verify, ["true"]);
    }
}
