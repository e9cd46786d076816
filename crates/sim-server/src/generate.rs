//! An answer as the tokens a model would write, cut where the limit cuts it.

use crate::answer::Answer;
use crate::chat::Chat;
use crate::tokens;

/// Tokens that frame one tool call (tags, braces, the keys `name` and `arguments`).
const CALL_FRAME: u64 = 10;

/// A tool call as far as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) name: String,
    pub(crate) arguments: Vec<String>,
    pub(crate) complete: bool,
}

impl Written {
    pub(crate) fn text(&self) -> String {
        self.arguments.concat()
    }
}

/// Everything that was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Output {
    pub(crate) think: Vec<String>,
    pub(crate) say: Vec<String>,
    pub(crate) calls: Vec<Written>,
    /// What the limit cut off in the middle of the call section, as raw text.
    pub(crate) cut_call: bool,
    pub(crate) finish: String,
    /// All tokens, thinking and calls included.
    pub(crate) tokens: u64,
}

impl Output {
    pub(crate) fn thinking(&self) -> String {
        self.think.concat()
    }

    pub(crate) fn said(&self) -> String {
        self.say.concat()
    }

    pub(crate) fn was_cut(&self) -> bool {
        self.finish == "length"
    }
}

/// Writes the answer with at most `limit` tokens.
pub(crate) fn write(answer: &Answer, chat: &Chat, limit: u64) -> Output {
    let mut budget = Budget {
        left: limit,
        spent: 0,
    };
    let mut out = Output::default();
    let mut think = owned(&answer.think);
    if !chat.thinking {
        think.clear();
    }
    if let Some(most) = chat.thinking_budget {
        think.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    }
    let wanted = think.len();
    out.think = budget.take(think);
    let mut whole = out.think.len() == wanted;
    // The closing tag of the thinking is a token of its own, and two line ends follow it.
    let mut say = owned(&answer.say);
    if wanted > 0 && whole {
        whole = budget.spend(1);
        if !say.is_empty() {
            say.insert(0, "\n\n".to_owned());
        }
    }
    if whole {
        let wanted = say.len();
        out.say = budget.take(say);
        whole = out.say.len() == wanted;
    }
    for call in &answer.calls {
        if !whole {
            break;
        }
        whole = budget.spend(CALL_FRAME + tokens::count(&call.name));
        let arguments = if whole {
            owned(&call.arguments)
        } else {
            Vec::new()
        };
        let wanted = arguments.len();
        let arguments = budget.take(arguments);
        whole = whole && arguments.len() == wanted;
        out.cut_call |= !whole;
        out.calls.push(Written {
            name: call.name.clone(),
            arguments,
            complete: whole,
        });
    }
    // The end of the message is a token too, and it may be the one that no longer fits.
    whole = whole && budget.spend(1);
    out.tokens = budget.spent;
    out.finish = match (&answer.finish, whole, out.calls.is_empty()) {
        (Some(finish), _, _) => finish.clone(),
        (None, false, _) => "length".to_owned(),
        (None, true, true) => "stop".to_owned(),
        (None, true, false) => "tool_calls".to_owned(),
    };
    out
}

fn owned(text: &str) -> Vec<String> {
    tokens::pieces(text)
        .into_iter()
        .map(str::to_owned)
        .collect()
}

struct Budget {
    left: u64,
    spent: u64,
}

impl Budget {
    fn take(&mut self, mut pieces: Vec<String>) -> Vec<String> {
        pieces.truncate(usize::try_from(self.left).unwrap_or(usize::MAX));
        self.spend(pieces.len() as u64);
        pieces
    }

    /// Spends `count`, or all that is left; says whether it was enough.
    fn spend(&mut self, count: u64) -> bool {
        let paid = count.min(self.left);
        self.left -= paid;
        self.spent += paid;
        paid == count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Call;
    use serde_json::json;

    fn chat() -> Chat {
        Chat::from_body(&json!({"messages": []}))
    }

    #[test]
    fn a_limit_cuts_in_the_thinking_in_the_text_or_in_a_call() {
        let call = Call {
            name: "bash".into(),
            arguments: "{\"command\":\"ls\"}".into(),
        };
        let answer = Answer {
            think: "one two".into(),
            calls: vec![call],
            ..Answer::text("three four")
        };
        let whole = write(&answer, &chat(), 1000);
        assert_eq!(
            (whole.finish.as_str(), whole.said().as_str()),
            ("tool_calls", "\n\nthree four")
        );
        for limit in 0..whole.tokens {
            let cut = write(&answer, &chat(), limit);
            assert_eq!((cut.finish.as_str(), cut.tokens), ("length", limit));
        }
        assert_eq!(write(&answer, &chat(), 1).thinking(), "one");
        assert!(!write(&answer, &chat(), whole.tokens - 2).calls[0].complete);
    }

    #[test]
    fn a_thinking_budget_shortens_the_thinking_only() {
        let answer = Answer {
            think: "one two three".into(),
            ..Answer::text("ok")
        };
        let mut chat = chat();
        chat.thinking_budget = Some(1);
        let short = write(&answer, &chat, 100);
        assert_eq!(
            (short.thinking().as_str(), short.said().as_str()),
            ("one", "\n\nok")
        );
        chat.thinking = false;
        assert_eq!(write(&answer, &chat, 100).said(), "ok");
    }
}
