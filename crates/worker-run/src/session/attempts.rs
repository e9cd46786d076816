//! The attempts of a model that replies with files.
//!
//! Two things were measured with a small model. What stands in front of it is copied: ten of
//! fourteen second answers were the same bytes. And it writes something else, and better, when it
//! first has to say what is wrong. So a failed attempt is answered in turns: the question put anew
//! with the files as they were at the start and a thought asked for, then the newest attempt with
//! what the check says to it, then anew and warmer.

use baton_prompt::{Mode, with_thought_first};
use serde_json::json;

use super::{End, Session};
use crate::text::feedback::{REPAIR, REPEATED};

/// Failed attempts that end it.
const MOST: u32 = 12;

/// What follows a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// The conversation goes on: what is wrong with the attempt?
    Repair,
    /// From the start again, with a thought first, this much warmer.
    Anew(u32),
}

/// What follows the failed attempt of this number.
///
/// With several files the attempt may only be unfinished, so it is gone on from first. A reply that
/// was not used left the files as they are, and is corrected.
pub(crate) fn next(failed: u32, several_files: bool, refused: bool, repeated: bool) -> Next {
    let turn = failed.saturating_sub(1) + u32::from(several_files);
    if repeated {
        return Next::Anew(failed.min(3));
    }
    if refused || turn % 2 == 1 {
        return Next::Repair;
    }
    Next::Anew((turn / 2).min(3))
}

impl Session<'_> {
    /// Prepares the next attempt, or ends it.
    pub(crate) fn next_attempt(&mut self, refused: bool) -> Result<(), End> {
        self.patience.anew += 1;
        let failed = self.patience.anew;
        if failed >= MOST {
            return Err(End::failed(format!("{failed} attempts, and a check still fails")).stuck());
        }
        let red = !self.red_checks().is_empty();
        let next = next(failed, self.own_files > 1, refused, self.repeated);
        self.events.emit(
            self.output,
            "attempt",
            json!({"failed": failed, "next": match next { Next::Repair => "repair", Next::Anew(_) => "anew" }}),
        );
        match next {
            Next::Repair if red => {
                self.talk.append(REPAIR);
                self.talk.heat = 1;
            }
            Next::Repair => {}
            Next::Anew(heat) => {
                let mode = self.talk.mode();
                if red {
                    self.rewind()?;
                }
                self.begin(Some(mode));
                if red {
                    self.think_first();
                }
                if self.seen_attempt {
                    self.talk.append(REPEATED);
                }
                self.talk.heat = heat;
            }
        }
        Ok(())
    }

    /// Asks for a thought before the files.
    fn think_first(&mut self) {
        if self.talk.mode() == Mode::Tools {
            return;
        }
        if let Some(content) = self
            .talk
            .messages
            .last_mut()
            .and_then(|m| m.get_mut("content"))
            && let Some(text) = content.as_str()
        {
            *content = json!(with_thought_first(text));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Next::{Anew, Repair};
    use super::next;

    #[test]
    fn one_file_is_thought_about_then_repaired_then_warmer() {
        let all: Vec<_> = (1..8).map(|n| next(n, false, false, false)).collect();
        assert_eq!(
            all,
            [Anew(0), Repair, Anew(1), Repair, Anew(2), Repair, Anew(3)]
        );
    }

    #[test]
    fn several_files_are_gone_on_with_first() {
        let all: Vec<_> = (1..4).map(|n| next(n, true, false, false)).collect();
        assert_eq!(all, [Repair, Anew(1), Repair]);
    }

    #[test]
    fn the_same_reply_is_never_answered_with_the_same_question() {
        assert_eq!(next(1, false, true, false), Repair);
        assert_eq!(next(2, false, true, true), Anew(2));
        assert_eq!(next(9, true, false, true), Anew(3));
    }
}
