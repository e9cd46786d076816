//! How a window is shared out: the prompt, the answer, and what a summary would need later.

/// Kept free of the window, for what a template adds and an estimate misses.
pub(crate) const MARGIN: u64 = 96;
/// An answer shorter than this is not worth a request.
pub(crate) const LEAST_OUTPUT: u64 = 128;
/// The question for a summary, with its place in the template.
pub(crate) const QUESTION: u64 = 96;
/// Tokens of a summary, at most.
const SUMMARY: u64 = 700;
/// Of what is free, one result may take a part of so many.
const RESULT_SHARE: u64 = 4;
/// Tokens of one result, at most.
const RESULT: u64 = 2000;
/// Below this a result tells nothing.
const LEAST_RESULT: u64 = 100;
/// The share of the window, in percent, that the last turns may keep after a summary.
const KEPT_PERCENT: u64 = 30;

/// A number of tokens that is not known exactly.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Size {
    /// The best estimate.
    pub(crate) tokens: u64,
    /// No less than the truth.
    pub(crate) most: u64,
}

impl Size {
    /// One that was counted.
    pub(crate) const fn exact(tokens: u64) -> Self {
        Self {
            tokens,
            most: tokens,
        }
    }

    /// Whether it is only estimated.
    pub(crate) const fn is_uncertain(self) -> bool {
        self.most > self.tokens
    }
}

impl std::ops::Add for Size {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            tokens: self.tokens + other.tokens,
            most: self.most + other.most,
        }
    }
}

/// Tokens of a summary in a window.
pub(crate) fn summary_tokens(window: u64) -> u64 {
    (window / 10).clamp(LEAST_OUTPUT, SUMMARY)
}

/// What must stay free of a window so that a summary can still be asked for.
pub(crate) fn summary_reserve(window: u64) -> u64 {
    summary_tokens(window) + QUESTION
}

/// Tokens an answer may have; none if the prompt leaves no room, and the `reserve` stays free.
pub(crate) fn answer_room(
    window: Option<u64>,
    prompt: u64,
    reserve: u64,
    wish: u64,
) -> Option<u64> {
    let Some(window) = window else {
        return Some(wish);
    };
    let room = window.saturating_sub(prompt + MARGIN + reserve).min(wish);
    (room >= LEAST_OUTPUT.min(wish)).then_some(room)
}

/// Tokens a summary may have after a prompt; none if there is no room to ask for one.
pub(crate) fn summary_room(window: Option<u64>, prompt: u64) -> Option<u64> {
    let wish = window.map_or(SUMMARY, summary_tokens);
    answer_room(window, prompt + QUESTION, 0, wish).filter(|room| *room >= LEAST_OUTPUT)
}

/// Tokens one result may have: never more than a quarter of what is left beside the prompt and a
/// later summary.
pub(crate) fn result_room(window: Option<u64>, prompt: u64) -> u64 {
    let free = window.map_or(u64::MAX, |window| {
        window.saturating_sub(prompt + MARGIN + summary_reserve(window))
    });
    RESULT.min(free / RESULT_SHARE).max(LEAST_RESULT)
}

/// Tokens the last turns may keep after a summary, beside a history that begins with `head`.
pub(crate) fn kept_room(window: Option<u64>, head: u64) -> u64 {
    let Some(window) = window else {
        return u64::MAX;
    };
    let free = window.saturating_sub(head + MARGIN + summary_reserve(window) + 2 * LEAST_OUTPUT);
    free.min(window * KEPT_PERCENT / 100)
}

#[cfg(test)]
mod tests {
    use super::{
        LEAST_OUTPUT, MARGIN, QUESTION, answer_room, kept_room, result_room, summary_reserve,
        summary_room, summary_tokens,
    };
    use proptest::prelude::*;

    const WINDOWS: [u64; 5] = [2_048, 4_096, 8_192, 32_768, 131_072];

    #[test]
    fn the_last_prompt_that_is_sent_leaves_room_for_an_answer_and_a_summary() {
        for window in WINDOWS {
            let reserve = summary_reserve(window);
            let limit = window - MARGIN - reserve - LEAST_OUTPUT;
            let room = |prompt| answer_room(Some(window), prompt, reserve, 4096);
            assert_eq!(room(limit - 1), Some(LEAST_OUTPUT + 1), "{window}");
            assert_eq!(room(limit), Some(LEAST_OUTPUT), "{window}");
            assert_eq!(room(limit + 1), None, "{window}");
            // What was answered to it can be summed up, whole.
            let after = limit + LEAST_OUTPUT;
            assert_eq!(
                summary_room(Some(window), after),
                Some(summary_tokens(window)),
                "{window}"
            );
        }
    }

    #[test]
    fn a_summary_is_asked_for_as_long_as_it_says_something() {
        for window in WINDOWS {
            let limit = window - MARGIN - QUESTION - LEAST_OUTPUT;
            assert_eq!(summary_room(Some(window), limit), Some(LEAST_OUTPUT));
            assert_eq!(summary_room(Some(window), limit + 1), None);
            assert!(summary_room(Some(window), limit - 1).is_some());
        }
        assert_eq!(summary_room(None, 1_000_000), Some(700));
    }

    #[test]
    fn an_unknown_window_limits_nothing() {
        assert_eq!(answer_room(None, 1_000_000, 0, 512), Some(512));
        assert_eq!(result_room(None, 1_000_000), 2000);
    }

    #[test]
    fn a_small_wish_is_a_small_need() {
        assert_eq!(answer_room(Some(200), 90, 0, 10), Some(10));
        assert_eq!(answer_room(Some(200), 100, 0, 10), None);
    }

    proptest! {
        #[test]
        fn prompt_answer_and_summary_never_pass_the_window(
            window in 512_u64..200_000, prompt in 0_u64..200_000, wish in 1_u64..10_000
        ) {
            let reserve = summary_reserve(window);
            if let Some(room) = answer_room(Some(window), prompt, reserve, wish) {
                prop_assert!(prompt + room + reserve + MARGIN <= window);
                prop_assert!(room <= wish);
                prop_assert!(summary_room(Some(window), prompt + room).is_some());
                let result = result_room(Some(window), prompt + room);
                prop_assert!(result <= 2000);
            }
            prop_assert!(kept_room(Some(window), prompt) <= window * 3 / 10);
        }
    }
}
