//! What a slot file or a ticket says about its owner. Only for display: the kernel's lock decides.

use baton_protocol::{Holder, SlotClass, Timestamp};
use serde::{Deserialize, Serialize};

use crate::identity::Identity;

/// The version of the label's layout.
const VERSION: u32 = 1;

/// Written by the owner after it has the lock; ignored when nobody has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Label {
    v: u32,
    /// The secret of this one acquisition.
    pub token: String,
    /// The slot-lock process, or the keeper of `slot-lock acquire`.
    pub owner: Identity,
    /// The host's name.
    pub host: String,
    /// The user's number.
    pub uid: u32,
    /// The command, shortened.
    pub command: String,
    /// The class it was asked for with.
    pub class: SlotClass,
    /// Tokens reserved in the server's pool.
    pub tokens: Option<u64>,
    /// The model, on a server that has one in memory at a time.
    #[serde(default)]
    pub model: Option<String>,
    /// When it was taken (a ticket: since when it waits).
    pub since: Timestamp,
    /// When a keeper gives it back at the latest.
    pub expires_at: Option<Timestamp>,
    /// Held by `slot-lock acquire`: `release` may end the owner.
    #[serde(default)]
    pub is_lease: bool,
}

/// Who is about to take a slot: everything of a label but the slot's own part.
#[derive(Debug, Clone)]
pub(crate) struct Bearer {
    pub(crate) owner: Identity,
    pub(crate) host: String,
    pub(crate) uid: u32,
    pub(crate) command: String,
    pub(crate) class: SlotClass,
    pub(crate) tokens: Option<u64>,
    pub(crate) expires_at: Option<Timestamp>,
    pub(crate) is_lease: bool,
}

impl Bearer {
    /// Who asks, as documents name a holder.
    pub(crate) fn holder(&self) -> Holder {
        Holder {
            pid: self.owner.pid,
            start: self.owner.start_text(),
            host: self.host.clone(),
            command: self.command.clone(),
        }
    }
}

impl Label {
    /// Whether the holder is a program that flags each request before it sends it.
    pub(crate) fn will_flag(&self) -> bool {
        let program = self.command.split_whitespace().next().unwrap_or_default();
        program.rsplit('/').next() == Some("worker-run")
    }

    /// The label of `bearer` for one acquisition.
    pub(crate) fn new(bearer: &Bearer, token: String, since: Timestamp) -> Self {
        Self {
            v: VERSION,
            token,
            owner: bearer.owner.clone(),
            host: bearer.host.clone(),
            uid: bearer.uid,
            command: bearer.command.clone(),
            class: bearer.class,
            tokens: bearer.tokens,
            model: None,
            since,
            expires_at: bearer.expires_at,
            is_lease: bearer.is_lease,
        }
    }

    /// Reads a label; none for an empty or garbled one, or one of another version.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut label: Self = serde_json::from_str(text).ok()?;
        // Where directories are shared, others write it.
        label.command = shorten(&[label.command]);
        label.host = shorten(&[label.host]);
        (label.v == VERSION).then_some(label)
    }

    /// The label as it is written, one line.
    pub(crate) fn line(&self) -> String {
        let mut line = serde_json::to_string(self).unwrap_or_default();
        line.push('\n');
        line
    }

    /// The owner as documents name it.
    pub(crate) fn holder(&self) -> Holder {
        Holder {
            pid: self.owner.pid,
            start: self.owner.start_text(),
            host: self.host.clone(),
            command: self.command.clone(),
        }
    }
}

/// Long enough to recognise a command by.
const COMMAND_LENGTH: usize = 100;

/// A command line shortened for display, without control characters.
pub(crate) fn shorten(words: &[String]) -> String {
    let mut text = String::new();
    for word in words {
        if !text.is_empty() {
            text.push(' ');
        }
        text.extend(word.chars().map(|c| if c.is_control() { ' ' } else { c }));
        if text.len() > COMMAND_LENGTH * 4 {
            break;
        }
    }
    match text.char_indices().nth(COMMAND_LENGTH) {
        // What was shortened before ends with the mark already.
        Some((at, '…')) if at + '…'.len_utf8() == text.len() => text,
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use baton_protocol::{SlotClass, Timestamp};
    use proptest::prelude::*;

    use super::{Bearer, Label, shorten};
    use crate::identity::Identity;

    fn label() -> Label {
        let bearer = Bearer {
            owner: Identity::of_self(),
            host: "box".into(),
            uid: 1000,
            command: "true".into(),
            class: SlotClass::Worker,
            tokens: Some(4096),
            expires_at: None,
            is_lease: false,
        };
        Label::new(&bearer, "t".into(), Timestamp::now())
    }

    #[test]
    fn a_worker_that_has_not_begun_is_known_by_its_name() {
        let of = |command: &str| Label {
            command: command.into(),
            ..label()
        };
        assert!(of("worker-run --task t.json").will_flag());
        assert!(of("/usr/local/bin/worker-run").will_flag());
        assert!(!of("opencode run worker-run").will_flag());
        assert!(!of("").will_flag());
    }

    #[test]
    fn l05_an_empty_garbled_or_foreign_label_says_nothing() {
        for text in ["", "{", "null", "{\"v\":1}", "\0\0\0\0", "12345\n"] {
            assert_eq!(Label::parse(text), None, "{text:?}");
        }
        let other = label().line().replace("\"v\":1", "\"v\":2");
        assert_eq!(Label::parse(&other), None);
    }

    #[test]
    fn a_label_others_wrote_does_not_steer_the_terminal() {
        let other = label().line().replace("\"true\"", "\"x\\u001b[2Jy\"");
        assert_eq!(Label::parse(&other).unwrap().command, "x [2Jy");
    }

    #[test]
    fn a_label_comes_back_as_it_was_written() {
        let label = label();
        assert_eq!(Label::parse(&label.line()), Some(label));
    }

    #[test]
    fn a_long_command_is_cut_at_a_character() {
        let words = vec!["printf".to_owned(), "é\n".repeat(200)];
        let short = shorten(&words);
        assert!(short.starts_with("printf é é") && short.ends_with('…'));
        assert_eq!(short.chars().count(), 101);
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in ".{0,200}") {
            let _ = Label::parse(&text);
        }
    }
}
