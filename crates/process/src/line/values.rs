//! What variables and tests are worth during the walk: exit codes kept in `rc`, counters, `[ … ]`.

use super::lex::unquoted;
use super::parse::parse;
use super::walk::{SOME_FAILURE, Shell};

impl Shell {
    /// `rc=$?`, `out=$(cargo test)`; the status is that of the last substitution.
    pub(super) fn assign(&mut self, words: &[&str]) -> i32 {
        let mut status = 0;
        for word in words {
            let Some((name, value)) = word.split_once('=') else {
                continue;
            };
            let value = unquoted(value);
            if let Some(name) = name.strip_suffix('+') {
                self.variables.insert(name.into(), SOME_FAILURE.to_string());
                continue;
            }
            if let Some(program) = substituted(&value) {
                let list = parse(program).unwrap_or_default();
                status = self.apart(|s| s.owned_list(&list));
                self.variables.remove(name);
                continue;
            }
            match self.value(&value) {
                Some(value) => self.variables.insert(name.into(), value),
                None => self.variables.remove(name),
            };
        }
        status
    }

    /// What a word stands for, where that is known.
    pub(super) fn value(&self, word: &str) -> Option<String> {
        let Some(rest) = word.strip_prefix('$') else {
            return (!word.contains(['$', '`'])).then(|| word.to_owned());
        };
        if let Some(expression) = rest.strip_prefix("((") {
            return Some(
                self.expression(expression.trim_end_matches(')'))
                    .to_string(),
            );
        }
        let name = rest
            .strip_prefix('{')
            .and_then(|r| r.strip_suffix('}'))
            .unwrap_or(rest);
        let name = name.split(":-").next().unwrap_or(name);
        let numbered = name
            .strip_prefix("PIPESTATUS[")
            .and_then(|n| n.strip_suffix(']'));
        match (name, numbered) {
            ("?", _) => Some(self.status.to_string()),
            (_, Some(number)) => {
                let number: usize = number.parse().unwrap_or(0);
                self.pipes.get(number).map(ToString::to_string)
            }
            ("PIPESTATUS", _) => self.pipes.first().map(ToString::to_string),
            _ => self.variables.get(name).cloned(),
        }
    }

    pub(super) fn number(&self, word: &str) -> Option<i32> {
        self.value(word)?.trim().parse().ok()
    }

    /// 0 where every part of an expression is known to be 0.
    fn expression(&self, text: &str) -> i32 {
        let text = text.replace("$?", &self.status.to_string());
        let mut parts = text
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .filter(|p| !p.is_empty());
        let zero = parts.all(|p| {
            let known = self.variables.get(p).map_or(p, String::as_str);
            known == "0"
        });
        if zero { 0 } else { SOME_FAILURE }
    }

    pub(super) fn arithmetic(&mut self, words: &[String]) {
        let text = words.concat();
        let name: String = text
            .trim_start_matches(['+', '-'])
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
            .collect();
        let changes = text.contains("++") || text.contains("+=") || text.contains("|=");
        if changes && !name.is_empty() {
            self.variables.insert(name, SOME_FAILURE.to_string());
        }
    }

    /// `[ $rc -eq 0 ]` and its like; what cannot be told is taken for true.
    pub(super) fn test(&mut self, command: &[String]) -> i32 {
        let words: Vec<&str> = command[1..]
            .iter()
            .map(String::as_str)
            .filter(|w| !matches!(*w, "]" | "]]"))
            .collect();
        if command[0] == "((" {
            self.arithmetic(&command[1..]);
        }
        let (negated, words) = match words.split_first() {
            Some((&"!", rest)) => (true, rest),
            _ => (false, words.as_slice()),
        };
        let known = |w: &str| {
            let bare = command[0] == "((" && self.variables.contains_key(w);
            if bare {
                self.variables.get(w).cloned()
            } else {
                self.value(w)
            }
        };
        let truth = match words {
            ["-z", word] => known(word).map(|v| v.is_empty()),
            ["-n", word] => known(word).map(|v| !v.is_empty()),
            [left, operator, right] => match (known(left), known(right)) {
                (Some(left), Some(right)) => compare(&left, operator, &right),
                _ => None,
            },
            [word] if command[0] == "((" => known(word).map(|v| v != "0"),
            _ => None,
        };
        match truth {
            Some(truth) => i32::from(truth == negated),
            None => 0,
        }
    }
}

/// The program in `$(…)`, when a value is nothing else.
pub(super) fn substituted(value: &str) -> Option<&str> {
    let new = value.strip_prefix("$(").filter(|v| !v.starts_with('('));
    let old = || value.strip_prefix('`')?.strip_suffix('`');
    new.and_then(|v| v.strip_suffix(')')).or_else(old)
}

fn compare(left: &str, operator: &str, right: &str) -> Option<bool> {
    let numbers = || Some((left.parse::<i64>().ok()?, right.parse::<i64>().ok()?));
    match operator {
        "=" | "==" => Some(left == right),
        "!=" => Some(left != right),
        "-eq" => numbers().map(|(l, r)| l == r),
        "-ne" => numbers().map(|(l, r)| l != r),
        "-gt" => numbers().map(|(l, r)| l > r),
        "-ge" => numbers().map(|(l, r)| l >= r),
        "-lt" => numbers().map(|(l, r)| l < r),
        "-le" => numbers().map(|(l, r)| l <= r),
        _ => None,
    }
}
