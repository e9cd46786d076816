//! The words and operators of a shell program.

/// One token. Redirections and comments are gone: they change no exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A word as it is written, quotes and all.
    Word(&'a str),
    /// `;` `;;` `&` `&&` `|` `|&` `||` `(` `)` and `\n` for a line's end.
    Op(&'static str),
}

/// Cuts a program into tokens; none when a quote or a bracket is never closed.
pub(super) fn tokens(text: &str) -> Option<Vec<(usize, Token<'_>)>> {
    let mut lexer = Lexer {
        text,
        bytes: text.as_bytes(),
        at: 0,
        heredocs: Vec::new(),
    };
    let mut found = Vec::new();
    while let Some(token) = lexer.next()? {
        found.push(token);
    }
    Some(found)
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    /// The ends of here-documents whose text begins on the next line.
    heredocs: Vec<String>,
}

const OPERATORS: [&str; 11] = [";;&", ";;", ";&", "&&", "||", "|&", ";", "&", "|", "(", ")"];
const REDIRECTIONS: [&str; 13] = [
    "<<<", "<<-", "<<", "<&", "<>", ">>", ">&", ">|", "&>>", "&>", "<", ">", "",
];

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The next token with its place; `Some(None)` at the end, none when something stays open.
    #[expect(
        clippy::option_option,
        reason = "the end and a fault are different answers"
    )]
    fn next(&mut self) -> Option<Option<(usize, Token<'a>)>> {
        loop {
            self.blanks();
            let start = self.at;
            let Some(byte) = self.bytes.get(start).copied() else {
                return Some(None);
            };
            if byte == b'#' {
                self.at += self.rest().find('\n').unwrap_or(self.rest().len());
                continue;
            }
            if byte == b'\n' {
                self.at += 1;
                self.skip_heredocs();
                return Some(Some((start, Token::Op("\n"))));
            }
            if self.redirection()? {
                continue;
            }
            if let Some(op) = OPERATORS.iter().find(|op| self.rest().starts_with(**op)) {
                self.at += op.len();
                return Some(Some((start, Token::Op(op))));
            }
            self.word()?;
            return Some(Some((start, Token::Word(&self.text[start..self.at]))));
        }
    }

    fn blanks(&mut self) {
        loop {
            match self.bytes.get(self.at) {
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                Some(b'\\') if self.bytes.get(self.at + 1) == Some(&b'\n') => self.at += 2,
                _ => return,
            }
        }
    }

    /// Skips `2>&1`, `> log`, `<<EOF`; whether there was one.
    fn redirection(&mut self) -> Option<bool> {
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        let after = &self.rest()[digits..];
        let op = REDIRECTIONS.iter().find(|r| after.starts_with(**r))?;
        // `<(…)` and `>(…)` are words, `(` alone after them is not.
        let substitution = after.starts_with("<(") || after.starts_with(">(");
        if op.is_empty() || substitution || (op.starts_with('&') && digits > 0) {
            return Some(false);
        }
        self.at += digits + op.len();
        self.blanks();
        let start = self.at;
        self.word()?;
        if *op == "<<" || *op == "<<-" {
            let end = self.text[start..self.at].replace(['\'', '"', '\\'], "");
            self.heredocs.push(end);
        }
        Some(true)
    }

    fn skip_heredocs(&mut self) {
        for end in std::mem::take(&mut self.heredocs) {
            loop {
                let line = self.rest().split('\n').next().unwrap_or_default();
                let last = line.len() == self.rest().len();
                self.at += line.len() + usize::from(!last);
                if last || line.trim_start_matches('\t') == end {
                    break;
                }
            }
        }
    }

    /// Runs to the end of a word.
    fn word(&mut self) -> Option<()> {
        while let Some(byte) = self.bytes.get(self.at) {
            match byte {
                // Also of `a&>b` and `a>b`: the word ends where the redirection begins.
                b' ' | b'\t' | b'\r' | b'\n' | b';' | b'|' | b')' | b'&' => break,
                b'<' | b'>' if self.bytes.get(self.at + 1) != Some(&b'(') => break,
                // A function's brackets end its name; those of `x=(a b)` and `@(a|b)` do not.
                b'(' => {
                    let glued = self.at > 0
                        && matches!(
                            self.bytes[self.at - 1],
                            b'=' | b'@' | b'?' | b'*' | b'+' | b'!' | b'<' | b'>' | b'$'
                        );
                    if !glued {
                        break;
                    }
                    self.at = closing(self.bytes, self.at, b'(', b')')?;
                }
                _ => self.at = past(self.bytes, self.at)?,
            }
        }
        Some(())
    }
}

/// The place after the character, quote or substitution that begins here.
fn past(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at)? {
        b'\\' => Some((at + 2).min(bytes.len())),
        b'\'' => find(bytes, at + 1, b'\'').map(|end| end + 1),
        b'"' => double(bytes, at + 1),
        b'`' => {
            let mut i = at + 1;
            loop {
                match bytes.get(i)? {
                    b'\\' => i += 2,
                    b'`' => return Some(i + 1),
                    _ => i += 1,
                }
            }
        }
        b'$' => match bytes.get(at + 1) {
            Some(b'(') => closing(bytes, at + 1, b'(', b')'),
            Some(b'{') => closing(bytes, at + 1, b'{', b'}'),
            Some(b'\'') => past(bytes, at + 1),
            _ => Some(at + 1),
        },
        _ => Some(at + 1),
    }
}

fn find(bytes: &[u8], from: usize, wanted: u8) -> Option<usize> {
    let at = bytes.get(from..)?.iter().position(|b| *b == wanted)?;
    Some(from + at)
}

fn double(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'$' | b'`' | b'\\' => at = past(bytes, at)?,
            _ => at += 1,
        }
    }
}

/// The place after the bracket that closes the one at `at`.
fn closing(bytes: &[u8], at: usize, open: u8, close: u8) -> Option<usize> {
    let (mut depth, mut i) = (0usize, at);
    loop {
        let byte = *bytes.get(i)?;
        if byte == open {
            depth += 1;
            i += 1;
        } else if byte == close {
            depth -= 1;
            i += 1;
            if depth == 0 {
                return Some(i);
            }
        } else {
            i = past(bytes, i)?;
        }
    }
}

/// A word without its quotes.
pub(super) fn unquoted(word: &str) -> String {
    let mut plain = String::with_capacity(word.len());
    let mut quote = None;
    let mut chars = word.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(q)) if c == q => quote = None,
            ('\\', None) => plain.extend(chars.next()),
            ('\\', Some('"')) => match chars.next() {
                Some(next @ ('"' | '\\' | '$' | '`')) => plain.push(next),
                Some(next) => plain.extend(['\\', next]),
                None => plain.push('\\'),
            },
            (c, _) => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::{Token, tokens, unquoted};

    fn words(text: &str) -> Vec<&str> {
        let found = tokens(text).unwrap();
        found
            .into_iter()
            .map(|(_, t)| match t {
                Token::Word(w) => w,
                Token::Op(op) => op,
            })
            .collect()
    }

    #[test]
    fn words_operators_and_redirections() {
        assert_eq!(
            words("a 'b; c' > log 2>&1|tee x # d\ne &>f&& g"),
            ["a", "'b; c'", "|", "tee", "x", "\n", "e", "&&", "g"]
        );
        assert_eq!(
            words("x=$(a; b) \"$(c \"d)\")\" ${e:-f g} <(h i)"),
            ["x=$(a; b)", "\"$(c \"d)\")\"", "${e:-f g}", "<(h i)"]
        );
        assert_eq!(words("cat <<E\na || true\nE\nb"), ["cat", "\n", "b"]);
        assert_eq!(words("t() { a; }"), ["t", "(", ")", "{", "a", ";", "}"]);
        assert!(tokens("a 'b").is_none() && tokens("$(a").is_none());
    }

    #[test]
    fn quotes_are_taken_off() {
        assert_eq!(unquoted("'a b'\\ c\"d\\\"\""), "a b cd\"");
    }
}
