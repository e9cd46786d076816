//! Walks a shell program with one command failing, to see whether anybody hears of it.

use std::collections::HashMap;

use super::known::{Class, of};
use super::parse::{Item, List, Node, Pipeline, each, parse};
use super::program::{base, plain};

/// Where a failure was lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Lost {
    /// Another command came after it.
    Sequence,
    /// What stands behind `||` succeeded.
    Or(String),
    Pipe(String),
    If,
    /// In a loop of this kind.
    Loop(&'static str),
    Negated,
    Background,
    /// In a program whose own exit code is another one.
    Inside(String),
    Trap,
}

/// How the walk ended.
#[derive(Debug, Clone)]
pub(super) struct End {
    /// The exit code of the whole.
    pub(super) code: i32,
    pub(super) lost: Option<Lost>,
    /// The command that ran last.
    pub(super) last: String,
    /// Whether the failing command was come to at all.
    pub(super) reached: bool,
}

/// A code that is not 0, and of which no more is known.
pub(super) const SOME_FAILURE: i32 = 99;
/// More steps than this is a loop without an end.
pub(super) const MOST_STEPS: usize = 5_000;

pub(super) enum Flow {
    Exit(i32),
    Return(i32),
    Break,
    Continue,
}

pub(super) type Step = Result<i32, Flow>;

/// Walks a program in which every command with this text fails.
pub(super) fn walk(list: &List<'_>, failing: &str, class: Class, pipefail: bool) -> End {
    let mut shell = Shell {
        failing: vec![failing.to_owned()],
        class,
        pipefail,
        ..Shell::default()
    };
    let mut code = match shell.list(list) {
        Ok(code) | Err(Flow::Exit(code) | Flow::Return(code)) => code,
        Err(Flow::Break | Flow::Continue) => 0,
    };
    if let Some(trap) = shell.exit_trap.take() {
        let commands = parse(&trap).unwrap_or_default();
        if let Err(Flow::Exit(other)) = shell.owned_list(&commands) {
            if code != 0 && other == 0 {
                shell.lost = Some(Lost::Trap);
            }
            code = other;
        }
    }
    End {
        code,
        lost: shell.lost,
        last: shell.last,
        reached: shell.reached,
    }
}

#[derive(Default)]
pub(super) struct Shell {
    /// The texts of the commands that fail.
    pub(super) failing: Vec<String>,
    /// What kind of command they are.
    pub(super) class: Class,
    pub(super) pipefail: bool,
    pub(super) errexit: bool,
    /// In a condition, where `set -e` does not act.
    pub(super) shielded: bool,
    /// In a later round of a loop, where the failing command does not fail again.
    pub(super) muted: bool,
    pub(super) variables: HashMap<String, String>,
    /// Texts of functions: they outlive the line they stand in.
    pub(super) functions: HashMap<String, String>,
    pub(super) status: i32,
    pub(super) pipes: Vec<i32>,
    pub(super) background: Vec<i32>,
    pub(super) exit_trap: Option<String>,
    pub(super) lost: Option<Lost>,
    pub(super) last: String,
    pub(super) reached: bool,
    pub(super) steps: usize,
    pub(super) depth: usize,
}

impl Shell {
    pub(super) fn fails(&self, text: &str) -> bool {
        self.failing.iter().any(|f| f == text)
    }

    pub(super) fn lose(&mut self, how: Lost) {
        if self.reached {
            self.lost.get_or_insert(how);
        }
    }

    pub(super) fn list(&mut self, list: &List<'_>) -> Step {
        let mut status = 0;
        for item in list {
            if status != 0 {
                self.lose(Lost::Sequence);
            }
            status = self.item(item)?;
            self.status = status;
        }
        Ok(status)
    }

    /// A list whose text does not live as long as the line.
    pub(super) fn owned_list(&mut self, list: &List<'_>) -> Step {
        self.depth += 1;
        let step = if self.depth > 16 {
            Ok(0)
        } else {
            self.list(list)
        };
        self.depth -= 1;
        step
    }

    fn item(&mut self, item: &Item<'_>) -> Step {
        if item.background {
            let status = self.apart(|shell| shell.and_or(item));
            if status != 0 {
                self.lose(Lost::Background);
            }
            self.background.push(status);
            return Ok(0);
        }
        self.and_or(item)
    }

    fn and_or(&mut self, item: &Item<'_>) -> Step {
        let several = !item.rest.is_empty();
        let mut status = self.shield(several, |s| s.pipeline(&item.first))?;
        let mut ran_last = !several && !item.first.negated;
        for (i, (or, pipeline)) in item.rest.iter().enumerate() {
            if (status != 0) != *or {
                ran_last = false;
                continue;
            }
            self.status = status;
            let is_last = i + 1 == item.rest.len();
            let before = status;
            if *or && self.reached {
                // `pytest || python -m unittest`: another command that judges. It fails too.
                let others = self.judges(pipeline);
                self.failing.extend(others);
            }
            status = self.shield(!is_last, |s| s.pipeline(pipeline))?;
            if before != 0 && status == 0 {
                self.lose(Lost::Or(shown(pipeline)));
            }
            ran_last = is_last && !pipeline.negated;
        }
        if self.errexit && !self.shielded && ran_last && status != 0 {
            return Err(Flow::Exit(status));
        }
        Ok(status)
    }

    /// The commands of a pipeline that judge as the failing one does.
    fn judges(&self, pipeline: &Pipeline<'_>) -> Vec<String> {
        let mut found = Vec::new();
        let item = vec![Item {
            first: pipeline.clone(),
            rest: Vec::new(),
            background: false,
        }];
        each(&item, &mut |words, text| {
            let class = of(&plain(words));
            if class >= self.class && class > Class::Helper {
                found.push(text.to_owned());
            }
        });
        found
    }

    fn shield(&mut self, shield: bool, run: impl FnOnce(&mut Self) -> Step) -> Step {
        let before = self.shielded;
        self.shielded |= shield;
        let step = run(self);
        self.shielded = before;
        step
    }

    /// Runs something in a subshell: nothing it sets stays.
    pub(super) fn apart(&mut self, run: impl FnOnce(&mut Self) -> Step) -> i32 {
        let kept = (
            self.variables.clone(),
            self.errexit,
            self.pipefail,
            self.exit_trap.take(),
            self.background.clone(),
        );
        let step = run(self);
        (
            self.variables,
            self.errexit,
            self.pipefail,
            self.exit_trap,
            self.background,
        ) = kept;
        match step {
            Ok(status) | Err(Flow::Exit(status) | Flow::Return(status)) => status,
            Err(Flow::Break | Flow::Continue) => 0,
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline<'_>) -> Step {
        let shield = pipeline.negated;
        let mut status = match pipeline.parts.as_slice() {
            [Node::Simple(words, text)] if pipeline.negated && searches(words) => {
                // `! grep bad file` fails when it finds something: that is what it is for.
                (*text).clone_into(&mut self.last);
                let found = self.fails(text) && !self.muted;
                self.reached |= found;
                self.pipes = vec![i32::from(found)];
                return Ok(i32::from(found));
            }
            [node] => {
                let status = self.shield(shield, |s| s.node(node))?;
                self.pipes = vec![status];
                status
            }
            parts => {
                let pipes: Vec<i32> = parts
                    .iter()
                    .map(|node| self.apart(|s| s.shield(shield, |s| s.node(node))))
                    .collect();
                let last = pipes.last().copied().unwrap_or(0);
                let worst = pipes.iter().rev().find(|s| **s != 0).copied().unwrap_or(0);
                self.pipes = pipes;
                if worst != 0 && last == 0 && !self.pipefail {
                    let name = parts.last().map(shown_node).unwrap_or_default();
                    let name = name.split_whitespace().next().unwrap_or_default();
                    self.lose(Lost::Pipe(name.to_owned()));
                }
                if self.pipefail { worst } else { last }
            }
        };
        if pipeline.negated {
            if status != 0 {
                self.lose(Lost::Negated);
            }
            status = i32::from(status == 0);
        }
        Ok(status)
    }

    fn node(&mut self, node: &Node<'_>) -> Step {
        match node {
            Node::Simple(words, text) => self.simple(words, text),
            Node::Group(true, list) => Ok(self.apart(|s| s.list(list))),
            Node::Group(false, list) => self.list(list),
            Node::If(branches) => {
                for (condition, then) in branches {
                    if condition.is_empty() {
                        return self.list(then);
                    }
                    let status = self.shield(true, |s| s.list(condition))?;
                    self.status = status;
                    if status == 0 {
                        return self.list(then);
                    }
                    self.lose(Lost::If);
                }
                Ok(0)
            }
            Node::Loop(condition, body) => self.rounds(condition.as_ref(), body),
            Node::Case(arms) => {
                let holds = |arm: &&List<'_>| {
                    let mut found = false;
                    each(arm, &mut |_, text| found |= self.fails(text));
                    found
                };
                match arms.iter().find(holds) {
                    Some(arm) => self.list(arm),
                    None => Ok(0),
                }
            }
            Node::Function(name, _, text) => {
                self.functions
                    .insert((*name).to_owned(), (*text).to_owned());
                Ok(0)
            }
        }
    }

    /// Two rounds of a loop; in the second the failing command succeeds, unless the loop is there
    /// to try again.
    fn rounds(&mut self, condition: Option<&(bool, List<'_>)>, body: &List<'_>) -> Step {
        let muted = self.muted;
        let mut tries_again = false;
        each(body, &mut |words, _| {
            tries_again |= matches!(words.first(), Some(&("break" | "exit" | "return")));
        });
        let (until, kind) = match condition {
            Some((true, _)) => (true, "until"),
            Some((false, _)) => (false, "while"),
            None => (false, "for"),
        };
        let mut status = 0;
        let mut first_failed = false;
        for round in 0..2 {
            if let Some((_, condition)) = condition {
                let judged = self.shield(true, |s| s.list(condition))?;
                self.status = judged;
                if (judged != 0) != until {
                    if judged != 0 {
                        self.lose(Lost::Loop(kind));
                    }
                    break;
                }
                if round == 1 && (until || condition.iter().any(|i| i.first.negated)) {
                    // It waits for the failing command to succeed, and that never comes.
                    return Err(Flow::Exit(SOME_FAILURE));
                }
            }
            self.muted = muted || (round > 0 && !tries_again);
            let step = self.list(body);
            self.muted = muted;
            match step {
                Ok(code) => status = code,
                Err(Flow::Break) => {
                    status = 0;
                    break;
                }
                Err(Flow::Continue) => status = 0,
                Err(other) => return Err(other),
            }
            first_failed |= status != 0;
        }
        if first_failed && status == 0 {
            self.lose(Lost::Loop(kind));
        }
        Ok(status)
    }
}

/// Programs that fail when they find nothing: `!` before them asks that nothing is found.
fn searches(words: &[&str]) -> bool {
    let words = plain(words);
    let name = words.first().map(|w| base(w)).unwrap_or_default();
    matches!(
        name,
        "grep"
            | "egrep"
            | "fgrep"
            | "rg"
            | "ag"
            | "ack"
            | "test"
            | "["
            | "[["
            | "(("
            | "pgrep"
            | "which"
            | "command"
            | "type"
            | "diff"
            | "cmp"
    ) || (name == "git" && words.get(1).is_some_and(|w| w == "grep"))
}

fn shown(pipeline: &Pipeline<'_>) -> String {
    let parts: Vec<String> = pipeline.parts.iter().map(shown_node).collect();
    parts.join(" | ")
}

fn shown_node(node: &Node<'_>) -> String {
    match node {
        Node::Simple(_, text) => (*text).to_owned(),
        Node::Group(true, list) => format!("( {}; )", source(list)),
        Node::Group(false, list) => format!("{{ {}; }}", source(list)),
        _ => "…".to_owned(),
    }
}

/// The list as text again, good enough to be walked.
fn source(list: &List<'_>) -> String {
    let mut text = Vec::new();
    for item in list {
        let mut line = String::new();
        for (i, (or, pipeline)) in std::iter::once((false, &item.first))
            .chain(item.rest.iter().map(|(or, p)| (*or, p)))
            .enumerate()
        {
            if i > 0 {
                line.push_str(if or { " || " } else { " && " });
            }
            if pipeline.negated {
                line.push_str("! ");
            }
            line.push_str(&shown(pipeline));
        }
        text.push(line);
    }
    text.join("; ")
}
