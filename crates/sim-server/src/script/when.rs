//! The condition of a rule.

use serde::{Deserialize, Deserializer};

use super::pattern::Pattern;
use crate::chat::Chat;

/// Which requests a rule answers; what is not given does not matter.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct When {
    system: Option<Pattern>,
    first: Option<Pattern>,
    user: Option<Pattern>,
    last: Option<Pattern>,
    any: Option<Pattern>,
    last_role: Option<String>,
    tool: Option<String>,
    result: Option<Pattern>,
    turn: Option<Range>,
    request: Option<Range>,
    tools: Option<bool>,
    offers: Option<String>,
    format: Option<String>,
    model: Option<Pattern>,
}

impl When {
    /// Whether the `number`-th chat request meets the condition.
    pub(crate) fn matches(&self, chat: &Chat, number: u64) -> bool {
        let text = |pattern: &Option<Pattern>, text: &dyn Fn() -> String| {
            pattern
                .as_ref()
                .is_none_or(|pattern| pattern.matches(&text()))
        };
        let same = |wanted: &Option<String>, is: Option<&str>| {
            wanted
                .as_ref()
                .is_none_or(|wanted| Some(wanted.as_str()) == is)
        };
        let last = chat.messages.last();
        let first = chat.messages.iter().find(|m| m.role == "user");
        let words = |message: Option<&crate::chat::Message>| {
            message.map(|m| m.text.clone()).unwrap_or_default()
        };
        same(&self.last_role, last.map(|m| m.role.as_str()))
            && same(&self.tool, chat.answered_tool())
            && same(&self.format, Some(chat.format.name()))
            && self
                .tools
                .is_none_or(|wanted| wanted != chat.tools.is_empty())
            && self
                .offers
                .as_ref()
                .is_none_or(|name| chat.tools.iter().any(|t| t.name == *name))
            && self
                .turn
                .is_none_or(|range| range.holds(chat.turn() as u64))
            && self.request.is_none_or(|range| range.holds(number))
            && text(&self.model, &|| chat.model.clone())
            && text(&self.system, &|| chat.system())
            && text(&self.first, &|| words(first))
            && text(&self.user, &|| words(chat.last_of("user")))
            && text(&self.last, &|| words(last))
            && text(&self.result, &|| results(chat))
            && text(&self.any, &|| everything(chat))
    }
}

/// The tool results after the newest assistant message.
fn results(chat: &Chat) -> String {
    let newest = chat
        .messages
        .iter()
        .rev()
        .take_while(|m| m.role != "assistant");
    let mut texts: Vec<&str> = newest
        .filter(|m| m.role == "tool")
        .map(|m| m.text.as_str())
        .collect();
    texts.reverse();
    texts.join("\n")
}

fn everything(chat: &Chat) -> String {
    chat.messages
        .iter()
        .map(|m| m.text.as_str())
        .collect::<Vec<_>>()
        .join("\n")
}

/// A number, or the ends of a range that includes both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range {
    from: u64,
    to: u64,
}

impl Range {
    pub(crate) const fn holds(self, number: u64) -> bool {
        self.from <= number && number <= self.to
    }

    /// Reads `3`, `3..`, `..5` or `3..5`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let number = |part: &str, default: u64| match part.trim() {
            "" => Ok(default),
            digits => digits
                .parse()
                .map_err(|_| format!("`{text}` is no number or range like 2..4")),
        };
        match text.split_once("..") {
            Some((from, to)) => Ok(Self {
                from: number(from, 0)?,
                to: number(to, u64::MAX)?,
            }),
            None if text.trim().is_empty() => Err("a number is missing".to_owned()),
            None => number(text, 0).map(|n| Self { from: n, to: n }),
        }
    }
}

impl<'de> Deserialize<'de> for Range {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(input)?;
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_include_both_ends() {
        let holds = |text: &str, n| Range::parse(text).unwrap().holds(n);
        assert!(holds("2", 2) && !holds("2", 3));
        assert!(holds("2..4", 4) && !holds("2..4", 5) && holds("2..", 99) && holds("..1", 0));
        assert!(Range::parse("x").is_err() && Range::parse("").is_err());
    }
}
