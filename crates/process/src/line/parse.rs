//! The tree of a shell program, as far as exit codes need it.

use super::lex::{Token, tokens};

/// Pipelines one after another.
pub(super) type List<'a> = Vec<Item<'a>>;

/// `a && b || c`, perhaps in the background.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item<'a> {
    pub(super) first: Pipeline<'a>,
    /// Each with whether it is `||` (else `&&`).
    pub(super) rest: Vec<(bool, Pipeline<'a>)>,
    pub(super) background: bool,
}

/// `! a | b`
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pipeline<'a> {
    pub(super) negated: bool,
    pub(super) parts: Vec<Node<'a>>,
}

/// One command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node<'a> {
    /// Words, and the text they stand in.
    Simple(Vec<&'a str>, &'a str),
    /// `( … )` (true) or `{ … }`.
    Group(bool, List<'a>),
    /// Conditions with what follows them; the last condition is empty for `else`.
    If(Vec<(List<'a>, List<'a>)>),
    /// `for`: no condition; `while` and `until` (true).
    Loop(Option<(bool, List<'a>)>, List<'a>),
    Case(Vec<List<'a>>),
    /// Its name, its body, and the body's text.
    Function(&'a str, Box<Node<'a>>, &'a str),
}

/// Parses a program; none when it is not one we understand whole.
pub(super) fn parse(text: &str) -> Option<List<'_>> {
    let mut parser = Parser {
        text,
        tokens: tokens(text)?,
        at: 0,
        depth: 0,
    };
    let list = parser.list(&[])?;
    (parser.at == parser.tokens.len()).then_some(list)
}

/// No honest line is nested deeper.
const DEEPEST: usize = 40;

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<(usize, Token<'a>)>,
    at: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<Token<'a>> {
        self.tokens.get(self.at).map(|(_, t)| *t)
    }

    fn is(&self, token: Token<'_>) -> bool {
        self.peek() == Some(token)
    }

    fn eat(&mut self, token: Token<'_>) -> bool {
        let there = self.is(token);
        self.at += usize::from(there);
        there
    }

    fn word(&mut self, word: &str) -> Option<()> {
        self.eat(Token::Word(word)).then_some(())
    }

    fn newlines(&mut self) {
        while self.eat(Token::Op("\n")) {}
    }

    /// Items up to one of these reserved words, or a bracket or the end.
    fn list(&mut self, ends: &[&str]) -> Option<List<'a>> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let mut items = Vec::new();
        loop {
            while self.eat(Token::Op("\n")) || self.eat(Token::Op(";")) {}
            match self.peek() {
                None | Some(Token::Op(")" | ";;" | ";&" | ";;&")) => break,
                Some(Token::Word(word)) if ends.contains(&word) => break,
                Some(_) => {}
            }
            let mut item = self.item()?;
            item.background = self.eat(Token::Op("&"));
            items.push(item);
        }
        self.depth -= 1;
        Some(items)
    }

    fn item(&mut self) -> Option<Item<'a>> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            let or = match self.peek() {
                Some(Token::Op("&&")) => false,
                Some(Token::Op("||")) => true,
                _ => break,
            };
            self.at += 1;
            self.newlines();
            rest.push((or, self.pipeline()?));
        }
        Some(Item {
            first,
            rest,
            background: false,
        })
    }

    fn pipeline(&mut self) -> Option<Pipeline<'a>> {
        let mut negated = false;
        while self.eat(Token::Word("!")) {
            negated = !negated;
        }
        let mut parts = vec![self.node()?];
        while self.eat(Token::Op("|")) || self.eat(Token::Op("|&")) {
            self.newlines();
            parts.push(self.node()?);
        }
        Some(Pipeline { negated, parts })
    }

    fn node(&mut self) -> Option<Node<'a>> {
        match self.peek()? {
            Token::Op("(") if self.is_arithmetic() => self.arithmetic(),
            Token::Op("(") => {
                self.at += 1;
                let list = self.list(&[])?;
                self.eat(Token::Op(")")).then_some(Node::Group(true, list))
            }
            Token::Op(_) => None,
            Token::Word(word) => match word {
                "{" => {
                    self.at += 1;
                    let list = self.list(&["}"])?;
                    self.word("}")?;
                    Some(Node::Group(false, list))
                }
                "if" => self.conditional(),
                "while" | "until" => {
                    self.at += 1;
                    let condition = self.list(&["do"])?;
                    let body = self.body()?;
                    Some(Node::Loop(Some((word == "until", condition)), body))
                }
                "for" | "select" => {
                    self.at += 1;
                    while !self.is(Token::Word("do")) && !self.is(Token::Word("{")) {
                        self.peek()?;
                        self.at += 1;
                    }
                    Some(Node::Loop(None, self.body()?))
                }
                "case" => self.case(),
                "function" => {
                    self.at += 1;
                    let Some(Token::Word(name)) = self.peek() else {
                        return None;
                    };
                    self.at += 1;
                    if self.eat(Token::Op("(")) && !self.eat(Token::Op(")")) {
                        return None;
                    }
                    self.function(name)
                }
                "then" | "else" | "elif" | "fi" | "do" | "done" | "esac" | "}" | "in" => None,
                _ => self.simple(),
            },
        }
    }

    /// `((` without a blank between.
    fn is_arithmetic(&self) -> bool {
        let start = self.tokens.get(self.at).map_or(0, |(at, _)| *at);
        self.tokens.get(self.at + 1) == Some(&(start + 1, Token::Op("(")))
    }

    /// `(( … ))` as a command whose first word is `((`.
    fn arithmetic(&mut self) -> Option<Node<'a>> {
        let start = self.tokens.get(self.at)?.0;
        let mut words = vec!["(("];
        let mut depth = 0usize;
        loop {
            match self.peek()? {
                Token::Op("(") => depth += 1,
                Token::Op(")") => depth -= 1,
                Token::Op(op) => words.push(op),
                Token::Word(word) => words.push(word),
            }
            self.at += 1;
            if depth == 0 {
                let end = self.tokens[self.at - 1].0 + 1;
                return Some(Node::Simple(words, &self.text[start..end]));
            }
        }
    }

    fn conditional(&mut self) -> Option<Node<'a>> {
        let mut branches = Vec::new();
        loop {
            self.at += 1;
            let condition = self.list(&["then"])?;
            self.word("then")?;
            branches.push((condition, self.list(&["elif", "else", "fi"])?));
            match self.peek()? {
                Token::Word("elif") => {}
                Token::Word("else") => {
                    self.at += 1;
                    branches.push((Vec::new(), self.list(&["fi"])?));
                    break;
                }
                _ => break,
            }
        }
        self.word("fi")?;
        Some(Node::If(branches))
    }

    fn body(&mut self) -> Option<List<'a>> {
        let (open, close) = if self.is(Token::Word("{")) {
            ("{", "}")
        } else {
            ("do", "done")
        };
        self.word(open)?;
        let list = self.list(&[close])?;
        self.word(close)?;
        Some(list)
    }

    fn case(&mut self) -> Option<Node<'a>> {
        while !self.eat(Token::Word("in")) {
            self.peek()?;
            self.at += 1;
        }
        let mut arms = Vec::new();
        loop {
            self.newlines();
            if self.eat(Token::Word("esac")) {
                return Some(Node::Case(arms));
            }
            while !self.eat(Token::Op(")")) {
                self.peek()?;
                self.at += 1;
            }
            arms.push(self.list(&["esac"])?);
            while self.eat(Token::Op(";;"))
                || self.eat(Token::Op(";&"))
                || self.eat(Token::Op(";;&"))
            {}
        }
    }

    fn function(&mut self, name: &'a str) -> Option<Node<'a>> {
        self.newlines();
        let start = self.tokens.get(self.at)?.0;
        let body = self.node()?;
        let end = self.tokens.get(self.at).map_or(self.text.len(), |t| t.0);
        let text = &self.text[start..end];
        Some(Node::Function(name, Box::new(body), text))
    }

    fn simple(&mut self) -> Option<Node<'a>> {
        let start = self.tokens.get(self.at)?.0;
        let mut words = Vec::new();
        let mut end = start;
        while let Some(Token::Word(word)) = self.peek() {
            words.push(word);
            end = self.tokens[self.at].0 + word.len();
            self.at += 1;
            if words.len() == 1 && self.is(Token::Op("(")) {
                self.at += 1;
                self.eat(Token::Op(")")).then_some(())?;
                return self.function(word);
            }
        }
        Some(Node::Simple(words, &self.text[start..end]))
    }
}

/// What each simple command of a list is, inner ones too.
pub(super) fn each<'a, 'l>(list: &'l List<'a>, see: &mut dyn FnMut(&'l [&'a str], &'a str)) {
    for item in list {
        let rest = item.rest.iter().map(|(_, p)| p);
        for node in std::iter::once(&item.first)
            .chain(rest)
            .flat_map(|p| &p.parts)
        {
            each_in(node, see);
        }
    }
}

fn each_in<'a, 'l>(node: &'l Node<'a>, see: &mut dyn FnMut(&'l [&'a str], &'a str)) {
    match node {
        Node::Simple(words, text) => see(words, text),
        Node::Group(_, list) => each(list, see),
        Node::If(branches) => {
            for (condition, then) in branches {
                each(condition, see);
                each(then, see);
            }
        }
        Node::Loop(condition, body) => {
            if let Some((_, condition)) = condition {
                each(condition, see);
            }
            each(body, see);
        }
        Node::Case(arms) => arms.iter().for_each(|arm| each(arm, see)),
        Node::Function(_, body, _) => each_in(body, see),
    }
}

#[cfg(test)]
mod tests {
    use super::{each, parse};

    fn simple(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        let list = parse(text).unwrap_or_else(|| panic!("{text}"));
        each(&list, &mut |_, text| found.push(text.to_owned()));
        found
    }

    #[test]
    fn the_commands_of_compound_ones() {
        for (text, expected) in [
            ("if a; then b c; elif d; then e; else f; fi", "a|b c|d|e|f"),
            ("for x in 1 2; do a $x || b; done", "a $x|b"),
            ("while ! a\ndo b; done < c", "a|b"),
            ("case $x in a|b) c;; *) d; esac; e", "c|d|e"),
            ("t() { a; }; function u { b; }; t", "a|b|t"),
            ("(a; b) | { c & d; } && ! e", "a|b|c|d|e"),
            ("a \\\n  b # c\nd", "a \\\n  b|d"),
        ] {
            assert_eq!(simple(text).join("|"), expected, "{text}");
        }
        for text in ["if a; fi", "a )", "(a", "&& a", "done", "{ a"] {
            assert!(parse(text).is_none(), "{text}");
        }
    }
}
