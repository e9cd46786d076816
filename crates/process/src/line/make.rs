//! What a makefile's recipe does with the failures of its lines.

use super::hidden::masked;
use super::known::{Class, of};
use super::parse::{each, parse};
use super::program::plain;
use super::recipes::{Read, behind_line, follow, join};

/// A rule: its targets, what they need, its recipe.
#[derive(Debug, Default)]
struct Rule {
    targets: Vec<String>,
    needs: Vec<String>,
    recipe: Vec<String>,
}

#[derive(Debug, Default)]
struct Makefile {
    rules: Vec<Rule>,
    variables: Vec<(String, String)>,
}

/// Why `make TARGET` succeeds although a test in it fails.
pub(super) fn hidden(
    words: &[String],
    folder: &str,
    depth: usize,
    read: &Read<'_>,
) -> Option<String> {
    let mut folder = folder.to_owned();
    let mut file = None;
    let mut targets = Vec::new();
    let mut rest = words[1..].iter();
    while let Some(word) = rest.next() {
        match word.as_str() {
            "-C" | "--directory" => folder = join(&folder, rest.next()?)?,
            "-f" | "--file" | "--makefile" => file = rest.next(),
            "-o" | "-W" | "-I" | "-l" => {
                rest.next();
            }
            word if word.starts_with('-') || word.contains('=') => {}
            word if word.chars().all(|c| c.is_ascii_digit()) => {}
            word => targets.push(word.to_owned()),
        }
    }
    let names = ["GNUmakefile", "makefile", "Makefile"];
    let text = match file {
        Some(file) => read(&join(&folder, file)?)?,
        None => names.iter().find_map(|n| read(&join(&folder, n)?))?,
    };
    let makefile = parse_makefile(&text);
    if targets.is_empty() {
        let first = makefile.rules.iter().flat_map(|r| &r.targets);
        targets.extend(first.filter(|t| !t.starts_with('.')).take(1).cloned());
    }
    let look = Look {
        makefile: &makefile,
        folder: &folder,
        read,
    };
    let found = targets.iter().map(|t| look.target(t, depth));
    found.flatten().find_map(|(_, why)| why)
}

struct Look<'a> {
    makefile: &'a Makefile,
    folder: &'a str,
    read: &'a Read<'a>,
}

impl Look<'_> {
    /// What judges in a target and the targets it needs, and why that is not heard. A linter that
    /// may fail beside a test that may not hides nothing.
    fn target(&self, target: &str, depth: usize) -> Option<(Class, Option<String>)> {
        if depth == 0 {
            return None;
        }
        let rules = || {
            let all = self.makefile.rules.iter();
            all.filter(|r| r.targets.iter().any(|t| t == target))
        };
        let mut found: Vec<(Class, Option<String>)> = Vec::new();
        for need in rules().flat_map(|r| &r.needs) {
            found.extend(self.target(need, depth - 1));
        }
        for line in rules().flat_map(|r| &r.recipe) {
            found.extend(self.line(target, line, depth));
        }
        let top = found.iter().map(|(class, _)| *class).max()?;
        let why = found
            .into_iter()
            .filter(|(class, _)| *class == top)
            .find_map(|(_, why)| why);
        Some((top, why))
    }

    fn line(&self, target: &str, line: &str, depth: usize) -> Option<(Class, Option<String>)> {
        let marks: String = line.chars().take_while(|c| "@-+ \t".contains(*c)).collect();
        let command = self.expand(&line[marks.len()..]);
        let list = parse(&command)?;
        let mut top = Class::Trivial;
        each(&list, &mut |words, _| {
            let words = plain(words);
            top = top.max(of(&words));
        });
        let place = format!("the recipe of `{target}`");
        let why = if top < Class::Check && !command.contains("make ") {
            None
        } else if marks.contains('-') {
            let shown = line.trim();
            Some(format!("{place} ignores the exit code of `{shown}`"))
        } else if self.ignores(target) {
            Some("`.IGNORE` ignores the exit codes of its recipes".into())
        } else if self.variable("MAKEFLAGS").is_some_and(|f| {
            f.split_whitespace()
                .any(|w| matches!(w, "-i" | "i" | "--ignore-errors" | "-n" | "-ik" | "-ki"))
        }) {
            Some("MAKEFLAGS of the makefile ignores every failure".into())
        } else if self
            .shell()
            .is_some_and(|s| s.ends_with("true") || s.ends_with("echo"))
        {
            Some("SHELL of the makefile runs nothing".into())
        } else if self.has_pipefail() {
            masked(&command)
                .map(|why| format!("{place} hides failures: {why}"))
                .or_else(|| follow(&command, self.folder, depth - 1, self.read))
        } else {
            behind_line(&place, &command, self.folder, depth, self.read)
        };
        Some((top, why))
    }

    fn ignores(&self, target: &str) -> bool {
        let ignored = self
            .makefile
            .rules
            .iter()
            .filter(|r| r.targets == [".IGNORE"]);
        let mut ignored =
            ignored.map(|r| r.needs.is_empty() || r.needs.iter().any(|n| n == target));
        ignored.any(|i| i)
    }

    fn variable(&self, name: &str) -> Option<&str> {
        let found = self
            .makefile
            .variables
            .iter()
            .rev()
            .find(|(n, _)| n == name);
        found.map(|(_, value)| value.as_str())
    }

    fn shell(&self) -> Option<&str> {
        self.variable("SHELL")
    }

    fn has_pipefail(&self) -> bool {
        [".SHELLFLAGS", "SHELL"]
            .iter()
            .any(|n| self.variable(n).is_some_and(|v| v.contains("pipefail")))
    }

    /// `$(VAR)` and `${VAR}` of this makefile, `$$` as `$`.
    fn expand(&self, line: &str) -> String {
        let mut text = line.to_owned();
        for (open, close) in [("$(", ')'), ("${", '}')] {
            for _ in 0..20 {
                // Not the `$$(…)` of the shell.
                let at = text
                    .match_indices(open)
                    .map(|(at, _)| at)
                    .find(|at| !text[..*at].ends_with('$'));
                let Some(at) = at else { break };
                let Some(end) = text[at..].find(close) else {
                    break;
                };
                let name = &text[at + 2..at + end];
                let value = match name {
                    "MAKE" => "make",
                    name => self.variable(name).unwrap_or("x"),
                };
                let value = value.to_owned();
                text.replace_range(at..=at + end, &value);
            }
        }
        text.replace("$@", "x")
            .replace("$<", "x")
            .replace("$^", "x")
            .replace("$$", "$")
    }
}

fn parse_makefile(text: &str) -> Makefile {
    let mut makefile = Makefile::default();
    let joined = text.replace("\\\n", " ");
    for line in joined.lines() {
        if let Some(recipe) = line.strip_prefix('\t') {
            if let Some(rule) = makefile.rules.last_mut() {
                rule.recipe.push(recipe.trim().to_owned());
            }
            continue;
        }
        let line = line.trim_end();
        if line.is_empty() || line.starts_with(['#', ' ']) {
            continue;
        }
        if let Some((name, value)) = assignment(line) {
            makefile.variables.push((name, value));
            continue;
        }
        let Some((targets, rest)) = line.split_once(':') else {
            continue;
        };
        let rest = rest.trim_start_matches(':');
        let (needs, recipe) = rest.split_once(';').unwrap_or((rest, ""));
        let list = |text: &str| -> Vec<String> {
            text.split_whitespace()
                .filter(|w| *w != "|")
                .map(str::to_owned)
                .collect()
        };
        makefile.rules.push(Rule {
            targets: list(targets),
            needs: list(needs.split('#').next().unwrap_or_default()),
            recipe: Some(recipe.trim().to_owned())
                .filter(|r| !r.is_empty())
                .into_iter()
                .collect(),
        });
    }
    makefile
}

/// `A = b`, `A := b`, `A ?= b`, `A += b`, `export A = b`.
fn assignment(line: &str) -> Option<(String, String)> {
    let (left, value) = line.split_once('=')?;
    let name = left.trim_end_matches([':', '?', '+', '!']).trim();
    let name = name.strip_prefix("export ").unwrap_or(name).trim();
    let plain = !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'));
    plain.then(|| (name.to_owned(), value.trim().to_owned()))
}
