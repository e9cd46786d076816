//! Whether a prompt and its reserve fit a window. Pure arithmetic, saturating.

use baton_protocol::{Fit, FitVerdict, Reserve, ServerKind};

use crate::count::Count;

/// What a server looks at before it accepts a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// vLLM and its like: prompt plus `max_tokens` must not pass the window. What exceeds it must be
    /// clamped before sending.
    PromptAndOutput,
    /// llama.cpp and its like: only the prompt must be shorter than the window; a long answer is cut
    /// off when the window is full.
    PromptOnly,
}

impl Admission {
    /// The rule of a kind of server; the stricter one where it is not known.
    pub const fn of(kind: ServerKind) -> Self {
        match kind {
            ServerKind::LlamaCpp
            | ServerKind::LlamaCppRouter
            | ServerKind::LlamaSwap
            | ServerKind::Skein
            | ServerKind::LmStudio
            | ServerKind::Ollama => Self::PromptOnly,
            _ => Self::PromptAndOutput,
        }
    }
}

/// An answer shorter than this is of no use: less room than it is a `no`, not `tight` (unless the
/// caller wants even less).
pub const LEAST_OUTPUT: u64 = 256;

/// The reserve, all of it.
pub const fn reserved(reserve: &Reserve) -> u64 {
    reserve
        .output_tokens
        .saturating_add(reserve.thinking_tokens)
        .saturating_add(reserve.margin_tokens)
}

/// What a request takes at most: the upper bound of its prompt and the whole reserve.
pub const fn required(prompt: &Count, reserve: &Reserve) -> u64 {
    prompt.upper_bound.saturating_add(reserved(reserve))
}

/// Whether a server with this usable context can hold the prompt and its reserve.
///
/// - `fits`: the upper bound and the whole reserve fit;
/// - `tight`: they fit with a shorter output (of [`LEAST_OUTPUT`] at least), thinking and margin whole;
/// - `no`: not even the lower bound fits;
/// - `unknown`: the usable context is not known, or the window lies between the bounds.
///
/// The verdict is the same under both admission rules: what one server refuses the other would cut
/// off. `largest_output_tokens` is the output to ask for beside the thinking reserve.
pub fn judge(prompt: &Count, reserve: &Reserve, usable: Option<u64>, model: Option<String>) -> Fit {
    let unknown = Fit {
        model,
        usable_context: usable,
        verdict: FitVerdict::Unknown,
        headroom_tokens: None,
        largest_output_tokens: None,
        prompt_tokens: Some(prompt.tokens),
        upper_bound_tokens: Some(prompt.upper_bound),
        method: Some(prompt.method),
        source: None,
    };
    let Some(usable) = usable else {
        return unknown;
    };
    let besides = reserve
        .thinking_tokens
        .saturating_add(reserve.margin_tokens);
    let room = |prompt_tokens: u64| usable.checked_sub(prompt_tokens.saturating_add(besides));
    let least = reserve.output_tokens.min(LEAST_OUTPUT);
    let verdict = match (room(prompt.upper_bound), room(prompt.lower_bound)) {
        (Some(left), _) if left >= reserve.output_tokens => FitVerdict::Fits,
        (Some(left), _) if left >= least => FitVerdict::Tight,
        (_, Some(left)) if left >= least => FitVerdict::Unknown,
        _ => FitVerdict::No,
    };
    Fit {
        verdict,
        headroom_tokens: Some(difference(usable, required(prompt, reserve))),
        largest_output_tokens: Some(room(prompt.upper_bound).unwrap_or(0)),
        ..unknown
    }
}

/// `a - b`, at the ends of the range where it would pass them.
fn difference(a: u64, b: u64) -> i64 {
    let distance = i64::try_from(a.abs_diff(b)).unwrap_or(i64::MAX);
    if a >= b { distance } else { -distance }
}

/// The better of two verdicts: something that fits wins, then what cannot be told, then a no.
pub const fn better(a: FitVerdict, b: FitVerdict) -> FitVerdict {
    use FitVerdict::{Fits, No, Tight, Unknown};
    match (a, b) {
        (Fits, _) | (_, Fits) => Fits,
        (Tight, _) | (_, Tight) => Tight,
        (Unknown, _) | (_, Unknown) => Unknown,
        (No, No) => No,
    }
}

#[cfg(test)]
mod tests {
    use baton_protocol::{FitVerdict, Method, Reserve, ServerKind};
    use proptest::prelude::*;

    use super::{Admission, better, judge};
    use crate::Count;

    fn reserve(output_tokens: u64, thinking_tokens: u64, margin_tokens: u64) -> Reserve {
        Reserve {
            output_tokens,
            thinking_tokens,
            margin_tokens,
        }
    }

    fn verdict(prompt: u64, reserve: &Reserve, usable: u64) -> FitVerdict {
        let prompt = Count::exact(prompt, Method::Server);
        judge(&prompt, reserve, Some(usable), None).verdict
    }

    #[test]
    fn c07_prompt_and_output_are_checked_together() {
        let prompt = Count::exact(62_466, Method::Server);
        let fit = judge(&prompt, &reserve(65_535, 0, 0), Some(128_000), None);
        assert_eq!(fit.verdict, FitVerdict::Tight);
        assert_eq!(fit.headroom_tokens, Some(-1));
        assert_eq!(fit.largest_output_tokens, Some(65_534));
    }

    #[test]
    fn c08_an_output_of_the_whole_window_is_never_fits() {
        let prompt = Count::exact(568, Method::Server);
        let fit = judge(&prompt, &reserve(6_048, 0, 0), Some(6_048), None);
        assert_eq!(fit.verdict, FitVerdict::Tight);
        assert_eq!(fit.largest_output_tokens, Some(5_480));
    }

    #[test]
    fn c09_text_tools_and_output_add_up() {
        let prompt = Count::exact(52_139 + 12_757, Method::Server);
        let fit = judge(&prompt, &reserve(200_000, 0, 0), Some(262_144), None);
        assert_eq!(fit.verdict, FitVerdict::Tight);
        assert_eq!(fit.largest_output_tokens, Some(197_248));
    }

    #[test]
    fn the_limit_and_one_token_either_side() {
        let whole = reserve(1_000, 500, 20);
        assert_eq!(verdict(2_000, &whole, 3_521), FitVerdict::Fits);
        assert_eq!(verdict(2_000, &whole, 3_520), FitVerdict::Fits);
        assert_eq!(verdict(2_000, &whole, 3_519), FitVerdict::Tight);
        // 256 tokens of output are the least that is of use.
        assert_eq!(verdict(2_000, &whole, 2_776), FitVerdict::Tight);
        assert_eq!(verdict(2_000, &whole, 2_775), FitVerdict::No);
        // Who wants less gets less.
        assert_eq!(verdict(100, &reserve(10, 0, 0), 110), FitVerdict::Fits);
        assert_eq!(verdict(100, &reserve(10, 0, 0), 109), FitVerdict::No);
        assert_eq!(verdict(100, &reserve(0, 0, 0), 100), FitVerdict::Fits);
        assert_eq!(verdict(101, &reserve(0, 0, 0), 100), FitVerdict::No);
    }

    #[test]
    fn an_unknown_window_never_fits() {
        let fit = judge(
            &Count::exact(1, Method::Server),
            &Reserve::default(),
            None,
            Some("m".into()),
        );
        assert_eq!(fit.verdict, FitVerdict::Unknown);
        assert_eq!(fit.headroom_tokens, None);
        assert_eq!(fit.largest_output_tokens, None);
    }

    #[test]
    fn c15_a_window_between_the_bounds_is_unknown() {
        let prompt = Count {
            tokens: 1_000,
            lower_bound: 900,
            upper_bound: 1_300,
            method: Method::Heuristic,
            error_band: 0.1,
        };
        let none = reserve(0, 0, 0);
        let verdict = |usable| judge(&prompt, &none, Some(usable), None).verdict;
        assert_eq!(verdict(1_300), FitVerdict::Fits);
        assert_eq!(verdict(1_299), FitVerdict::Unknown);
        assert_eq!(verdict(900), FitVerdict::Unknown);
        assert_eq!(verdict(899), FitVerdict::No);
    }

    #[test]
    fn admission_is_the_stricter_rule_where_the_server_is_not_known() {
        assert_eq!(Admission::of(ServerKind::LlamaCpp), Admission::PromptOnly);
        for kind in [ServerKind::Vllm, ServerKind::OpenAi, ServerKind::Unknown] {
            assert_eq!(Admission::of(kind), Admission::PromptAndOutput);
        }
    }

    #[test]
    fn what_cannot_be_told_beats_a_no() {
        use FitVerdict::{Fits, No, Tight, Unknown};
        assert_eq!(better(No, Unknown), Unknown);
        assert_eq!(better(Tight, Unknown), Tight);
        assert_eq!(better(Tight, Fits), Fits);
        assert_eq!(better(No, No), No);
    }

    proptest! {
        #[test]
        fn fits_only_with_room_for_all(
            upper in any::<u64>(), output in any::<u64>(), thinking in any::<u64>(),
            margin in any::<u64>(), usable in any::<u64>(),
        ) {
            let prompt = Count::exact(upper, Method::Server);
            let fit = judge(&prompt, &reserve(output, thinking, margin), Some(usable), None);
            let need = [upper, output, thinking, margin].map(u128::from).iter().sum::<u128>();
            prop_assert_eq!(fit.verdict == FitVerdict::Fits, need <= u128::from(usable));
            if fit.verdict == FitVerdict::Tight {
                let largest = fit.largest_output_tokens.unwrap();
                prop_assert!(largest < output);
                let clamped = [upper, largest, thinking, margin].map(u128::from);
                prop_assert!(clamped.iter().sum::<u128>() <= u128::from(usable));
            }
        }
    }
}
