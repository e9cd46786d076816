//! Thinking that a server left in the answer text.
//!
//! A leading `<think>…</think>` block is taken out while it streams, however its tags are cut. A
//! closing tag without an opening one (templates that put the opening tag into the prompt) is
//! resolved at the end, when the whole text is known. Tags in the middle of an answer are text.

/// Tags that open a block of thinking at the start of an answer.
const TAGS: [(&str, &str); 3] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
];

/// A piece of text, sorted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// The answer.
    Content(String),
    /// Thinking.
    Thinking(String),
}

/// Takes a leading block of thinking out of streamed text.
#[derive(Debug, Default)]
pub(super) struct Splitter {
    state: State,
    held: String,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing but blanks, or a beginning of a tag, so far.
    #[default]
    Start,
    /// In a block that ends with this tag.
    Inside(&'static str),
    /// After the block; blanks before the answer are dropped.
    After,
    /// Whatever comes is the answer.
    Content,
}

impl Splitter {
    /// Takes the next text.
    pub(super) fn push(&mut self, text: &str) -> Vec<Piece> {
        if self.state == State::Content {
            return vec![Piece::Content(text.to_owned())];
        }
        self.held.push_str(text);
        let mut pieces = Vec::new();
        if self.state == State::Start {
            self.start(&mut pieces);
        }
        if let State::Inside(close) = self.state {
            self.inside(close, &mut pieces);
        }
        if self.state == State::After {
            let answer = std::mem::take(&mut self.held).trim_start().to_owned();
            if !answer.is_empty() {
                self.state = State::Content;
                pieces.push(Piece::Content(answer));
            }
        }
        pieces
    }

    /// The text has ended; gives what was held back.
    pub(super) fn finish(&mut self) -> Option<Piece> {
        let held = std::mem::take(&mut self.held);
        if held.is_empty() {
            return None;
        }
        Some(match self.state {
            State::Inside(_) => Piece::Thinking(held),
            State::Start | State::After | State::Content => Piece::Content(held),
        })
    }

    fn start(&mut self, pieces: &mut Vec<Piece>) {
        let text = self.held.trim_start();
        if let Some((open, close)) = TAGS.iter().find(|(open, _)| text.starts_with(open)) {
            self.held = text.get(open.len()..).unwrap_or_default().to_owned();
            self.state = State::Inside(close);
        } else if !TAGS.iter().any(|(open, _)| open.starts_with(text)) {
            self.state = State::Content;
            pieces.push(Piece::Content(std::mem::take(&mut self.held)));
        }
    }

    fn inside(&mut self, close: &'static str, pieces: &mut Vec<Piece>) {
        if let Some((thinking, rest)) = self.held.split_once(close) {
            if !thinking.is_empty() {
                pieces.push(Piece::Thinking(thinking.to_owned()));
            }
            self.held = rest.to_owned();
            self.state = State::After;
            return;
        }
        let keep = partial_tag(&self.held, close);
        let tail = self.held.split_off(self.held.len() - keep);
        let thinking = std::mem::replace(&mut self.held, tail);
        if !thinking.is_empty() {
            pieces.push(Piece::Thinking(thinking));
        }
    }
}

/// How many bytes at the end of `text` may be the beginning of `tag`.
fn partial_tag(text: &str, tag: &str) -> usize {
    (1..tag.len())
        .rev()
        .find(|n| tag.get(..*n).is_some_and(|head| text.ends_with(head)))
        .unwrap_or(0)
}

/// Splits a whole text at a closing tag that nothing opened: (thinking, answer).
///
/// A tag that is only mentioned (in quotes, in backticks, in a code fence) is left alone.
pub(super) fn split_lone_close(text: &str) -> Option<(&str, &str)> {
    TAGS.iter().find_map(|(open, close)| {
        let (before, after) = text.split_once(close)?;
        let mentioned = before.ends_with(['`', '"', '\'', '“'])
            || after.starts_with(['`', '"', '\''])
            || before.matches("```").count() % 2 == 1;
        (!mentioned && !before.contains(open) && !after.contains(close))
            .then(|| (before.trim(), after.trim_start()))
    })
}

#[cfg(test)]
mod tests {
    use super::{Piece, Splitter, split_lone_close};

    fn split(chunks: &[&str]) -> (String, String) {
        let mut splitter = Splitter::default();
        let mut pieces: Vec<Piece> = chunks.iter().flat_map(|c| splitter.push(c)).collect();
        pieces.extend(splitter.finish());
        let (mut thinking, mut content) = (String::new(), String::new());
        for piece in pieces {
            match piece {
                Piece::Thinking(t) => thinking.push_str(&t),
                Piece::Content(c) => content.push_str(&c),
            }
        }
        (thinking, content)
    }

    fn both(thinking: &str, content: &str) -> (String, String) {
        (thinking.to_owned(), content.to_owned())
    }

    #[test]
    fn s29_a_tag_cut_by_chunks_is_still_a_tag() {
        assert_eq!(
            split(&["<thi", "nk>some reasoning</thi", "nk>answer"]),
            both("some reasoning", "answer")
        );
        let text = "\n<think>a < b </th no</think>\n\nyes";
        for cut in 0..text.len() {
            let (a, b) = text.split_at(cut);
            assert_eq!(split(&[a, b]), both("a < b </th no", "yes"), "cut at {cut}");
        }
    }

    #[test]
    fn s29_text_that_mentions_the_tag_is_not_touched() {
        let prose = "Models write `<think>draft</think>` first; strip it.";
        assert_eq!(split(&[prose]), both("", prose));
        assert_eq!(split_lone_close(prose), None);
        for prose in [
            "The tag `</think>` closes it.",
            "```\nx</think>\n```",
            "say \"</think>\" twice",
            "a</think>b</think>c",
        ] {
            assert_eq!(split_lone_close(prose), None, "{prose}");
        }
    }

    #[test]
    fn s28_text_before_a_lone_closing_tag_is_thinking() {
        assert_eq!(
            split_lone_close("thoughts …\n</think>{\"ok\":true}"),
            Some(("thoughts …", "{\"ok\":true}"))
        );
        assert_eq!(
            split_lone_close("some reasoning</think>answer"),
            Some(("some reasoning", "answer"))
        );
        assert_eq!(split_lone_close("no tag"), None);
    }

    #[test]
    fn an_unclosed_block_is_thinking_and_a_beginning_of_a_tag_is_text() {
        assert_eq!(split(&["<think>on and on"]), both("on and on", ""));
        assert_eq!(split(&["<th"]), both("", "<th"));
        assert_eq!(split(&["  <p>"]), both("", "  <p>"));
    }
}
