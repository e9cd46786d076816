//! What a failed assertion wanted and what it got, in plain words. Pure.
//!
//! A small model takes the value that was printed for the one that was wanted: told
//! `assert f(x) == "a", f(x)` and `AssertionError: b`, it makes sure that `b` comes out.

/// A sentence about the last assertion in a check's output, where it is clear which value is which.
pub(crate) fn expected_and_got(output: &str) -> Option<String> {
    let (call, wanted, got) = python(output).or_else(|| node(output))?;
    let what = call.map_or_else(|| "The value".to_owned(), |call| format!("`{call}`"));
    Some(format!("{what} must be {wanted}, but it is {got}."))
}

type Said = (Option<String>, String, String);

fn python(output: &str) -> Option<Said> {
    let lines: Vec<&str> = output.lines().map(str::trim).collect();
    let at = lines.iter().rposition(|line| said(line).is_some())?;
    let said = said(lines[at])?;
    let before = lines[..at].iter().rev();
    // Under the source stand marks (`^^^^`), and pytest's own lines in between.
    let source = before
        .map(|line| line.trim_start_matches("> ").trim())
        .find(|line| line.starts_with("assert ") || line.contains(".assertEqual("))?;
    if let Some(rest) = source.strip_prefix("assert ") {
        let (test, message) = match parts(rest, ",").as_slice() {
            [test] => ((*test).to_owned(), None),
            [test, message] => ((*test).to_owned(), Some((*message).to_owned())),
            _ => return None,
        };
        let [call, wanted] = two(&test, "==")?;
        if let Some(values) = said.strip_prefix("assert ") {
            let [got, right] = two(values, "==")?;
            return (right == wanted).then_some((Some(call), wanted, got));
        }
        return (message.as_deref() == Some(call.as_str()) && !said.is_empty())
            .then(|| (Some(call), wanted, said.to_owned()));
    }
    let (_, arguments) = source.split_once(".assertEqual(")?;
    let [left, right] = two(arguments.strip_suffix(')')?, ",")?;
    // unittest says "Lists differ: " and the like before the two.
    let values = said
        .split_once(" differ: ")
        .map_or(said, |(_, values)| values);
    let [first, second] = two(values, "!=")?;
    match (is_literal(&left), is_literal(&right)) {
        (false, true) => Some((Some(left), right, first)),
        (true, false) => Some((Some(right), left, second)),
        _ => None,
    }
}

/// What stands behind the name of the error, or what pytest says of the values.
fn said(line: &str) -> Option<&str> {
    let line = line.strip_prefix("E ").map_or(line, str::trim);
    line.strip_prefix("AssertionError: ")
        .or_else(|| {
            line.starts_with("assert ")
                .then_some(line)
                .filter(|l| l.contains("=="))
        })
        .filter(|_| line.starts_with("AssertionError") || has_values(line))
}

/// Whether an `assert` is pytest's report of values and no source.
fn has_values(line: &str) -> bool {
    line.strip_prefix("assert ")
        .and_then(|rest| two(rest, "=="))
        .is_some_and(|[left, right]| is_literal(&left) && is_literal(&right))
}

fn node(output: &str) -> Option<Said> {
    let mut lines = output.lines().map(str::trim);
    lines.find(|line| line.contains("Expected values to be strictly equal:"))?;
    let values = lines.find(|line| !line.is_empty())?;
    let [got, wanted] = two(values, "!==")?;
    Some((None, wanted, got))
}

fn is_literal(text: &str) -> bool {
    matches!(text, "None" | "True" | "False")
        || text.starts_with(|c: char| c.is_ascii_digit() || "'\"[{(-".contains(c))
}

fn two(text: &str, by: &str) -> Option<[String; 2]> {
    match parts(text, by).as_slice() {
        [a, b] if !a.is_empty() && !b.is_empty() => Some([(*a).to_owned(), (*b).to_owned()]),
        _ => None,
    }
}

/// Parts a text at a word that stands in no quotes and no brackets.
fn parts<'a>(text: &'a str, by: &str) -> Vec<&'a str> {
    let (mut found, mut start, mut depth) = (Vec::new(), 0, 0_i32);
    let mut quote: Option<u8> = None;
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        match (quote, byte) {
            (Some(_), b'\\') => at += 1,
            (Some(open), _) if byte == open => quote = None,
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'(' | b'[' | b'{') => depth += 1,
            (None, b')' | b']' | b'}') => depth -= 1,
            (None, _) if depth == 0 && bytes[at..].starts_with(by.as_bytes()) => {
                found.push(text[start..at].trim());
                at += by.len();
                start = at;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found.push(text[start..].trim());
    found
}

#[cfg(test)]
mod tests {
    use super::expected_and_got;
    use proptest::prelude::*;

    #[test]
    fn the_value_wanted_and_the_value_printed_are_told_apart() {
        for (output, sentence) in [
            (
                "Traceback (most recent call last):\n  File \"t.py\", line 4, in <module>\n    assert slug(\"A, B\") == \"a-b\", slug(\"A, B\")\n           ^^^^^^^^^\nAssertionError: a--b-",
                "`slug(\"A, B\")` must be \"a-b\", but it is a--b-.",
            ),
            (
                "FAIL: test\n    self.assertEqual(add(1, 2), 3)\nAssertionError: -1 != 3",
                "`add(1, 2)` must be 3, but it is -1.",
            ),
            (
                "    self.assertEqual([1, 2], pages(3))\nAssertionError: Lists differ: [1, 2] != [2]\n",
                "`pages(3)` must be [1, 2], but it is [2].",
            ),
            (
                "    self.assertEqual(3, add(1, 2))\nAssertionError: 3 != -1",
                "`add(1, 2)` must be 3, but it is -1.",
            ),
            (
                "    def test():\n>       assert f(1) == 4\nE       assert 3 == 4\nE        +  where 3 = f(1)\n\nt.py:3: AssertionError",
                "`f(1)` must be 4, but it is 3.",
            ),
            (
                "AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n\n3 !== 4\n",
                "The value must be 4, but it is 3.",
            ),
            ("    assert f(1) == 4\nAssertionError", ""),
            ("    assert f(1) == 4, \"bad\"\nAssertionError: bad", ""),
            ("    assert f(1)\nAssertionError: x", ""),
            ("make: *** [test] Error 1", ""),
        ] {
            let said = expected_and_got(output).unwrap_or_default();
            assert_eq!(said, sentence, "{output}");
        }
    }

    proptest! {
        #[test]
        fn any_output_is_read_without_a_panic(
            text in "(assert |AssertionError: |E  |> |==|!=|[\"'(),é\\\\\n ]|[a-z]){0,40}"
        ) {
            let _ = expected_and_got(&text);
        }
    }
}
