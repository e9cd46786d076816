//! What servers really counted, against what was estimated.
//!
//! worker-run appends a line to `calibration/PROVIDER.jsonl` in the state folder for each answer; who
//! estimates reads them. They centre and narrow an estimate, and they show a server that cuts prompts
//! silently. They never lower an upper bound: a bound made of past prompts does not hold for the next.

use std::path::{Path, PathBuf};

use baton_protocol::Method;
use serde::Deserialize;

use crate::count::Count;

/// The file of a provider's observations, below the state folder.
pub fn calibration_file(provider: &str) -> PathBuf {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let safe = |c: char| if is_safe(c) { c } else { '_' };
    let name: String = provider.chars().map(safe).collect();
    Path::new("calibration").join(format!("{name}.jsonl"))
}

/// Fewer observations than this say nothing.
const ENOUGH: usize = 20;
/// Older observations than this many do not count: models change behind a name.
const LATEST: usize = 200;

/// One answered request: what was estimated for an unknown tokenizer, and `usage.prompt_tokens`. The
/// lines hold more, which is of no use here.
#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Observation {
    model: Option<String>,
    estimated_tokens: u64,
    prompt_tokens: u64,
}

impl Observation {
    fn is_short(&self) -> bool {
        is_short(self.estimated_tokens * 65 / 100, self.prompt_tokens)
    }
}

/// A server that counts less than two thirds of the least it can be has not read all of it.
const fn is_short(lower_bound: u64, prompt_tokens: u64) -> bool {
    prompt_tokens.saturating_mul(3) < lower_bound.saturating_mul(2)
}

/// What the usage of an answer says about what the server read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsageCheck {
    /// The server read the prompt.
    Plausible,
    /// It reports nothing, or zero: the estimate stands.
    Missing,
    /// It counted far fewer tokens than the prompt has: it cut the prompt silently.
    CutByServer,
    /// Prompt and answer fill the window to the token: one of them was cut.
    WindowFull,
}

/// Compares a server's usage with what was sent.
pub fn check_usage(
    sent: &Count,
    prompt_tokens: Option<u64>,
    completion_tokens: u64,
    window: Option<u64>,
) -> UsageCheck {
    match prompt_tokens {
        None | Some(0) => UsageCheck::Missing,
        Some(prompt) if is_short(sent.lower_bound, prompt) => UsageCheck::CutByServer,
        Some(prompt) if window == Some(prompt.saturating_add(completion_tokens)) => {
            UsageCheck::WindowFull
        }
        Some(_) => UsageCheck::Plausible,
    }
}

/// What past answers say about one model's estimates.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// Real over estimated tokens: the middle, and the ends of the middle nine tenths. None while
    /// there are too few observations.
    ratio: Option<[f64; 3]>,
    /// The latest answer that shows a cut prompt: what was estimated, what the server counted.
    pub cut: Option<(u64, u64)>,
}

impl Calibration {
    /// Reads the lines about one model; lines that are none of ours are passed over.
    pub fn read(lines: &str, model: &str) -> Self {
        let mut seen: Vec<Observation> = lines
            .lines()
            .rev()
            .filter_map(|line| serde_json::from_str(line).ok())
            .filter(|seen: &Observation| seen.model.as_deref() == Some(model))
            .filter(|seen| seen.prompt_tokens > 0 && seen.estimated_tokens > 0)
            .take(LATEST)
            .collect();
        let cut = seen.iter().find(|seen| seen.is_short());
        let cut = cut.map(|seen| (seen.estimated_tokens, seen.prompt_tokens));
        // A cut prompt says nothing about the estimate.
        seen.retain(|seen| !seen.is_short());
        let mut ratios: Vec<f64> = seen
            .iter()
            .map(|seen| ratio(seen.prompt_tokens, seen.estimated_tokens))
            .collect();
        ratios.sort_by(f64::total_cmp);
        let at = |percent: usize| {
            ratios
                .get(ratios.len().saturating_sub(1) * percent / 100)
                .copied()
        };
        let ratio = (ratios.len() >= ENOUGH)
            .then(|| Some([at(50)?, at(5)?, at(95)?]))
            .flatten();
        Self { ratio, cut }
    }

    /// A better estimate: centred, its band that of the past answers. The upper bound is only raised.
    #[must_use]
    pub fn apply(&self, count: Count) -> Count {
        let Some([middle, low, high]) = self.ratio.filter(|_| count.method == Method::Heuristic)
        else {
            return count;
        };
        let tokens = scaled(count.tokens, middle).min(count.upper_bound);
        let spread = (high / middle - 1.0).max(1.0 - low / middle);
        Count {
            tokens,
            lower_bound: scaled(count.tokens, low).min(tokens),
            upper_bound: count.upper_bound.max(scaled(count.tokens, high)),
            error_band: spread,
            ..count
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn ratio(real: u64, estimated: u64) -> f64 {
    real as f64 / estimated as f64
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts are far below 2^52 and not negative"
)]
fn scaled(tokens: u64, by: f64) -> u64 {
    (tokens as f64 * by).ceil() as u64
}

#[cfg(test)]
mod tests {
    use baton_protocol::Method;
    use proptest::prelude::*;

    use super::{Calibration, UsageCheck, calibration_file, check_usage};
    use crate::Count;

    fn seen(estimated_tokens: u64, prompt_tokens: u64) -> String {
        let line = serde_json::json!({
            "at": "2026-11-30T12:00:00Z", "model": "m", "estimated_tokens": estimated_tokens,
            "prompt_tokens": prompt_tokens, "completion_tokens": 5,
        });
        format!("{line}\n")
    }

    fn estimate(tokens: u64) -> Count {
        Count {
            tokens,
            lower_bound: tokens * 65 / 100,
            upper_bound: tokens * 2,
            method: Method::Heuristic,
            error_band: 0.35,
        }
    }

    #[test]
    fn past_answers_centre_and_narrow_an_estimate() {
        let lines: String = (0..40).map(|n| seen(1_000, 1_080 + n)).collect();
        let calibration = Calibration::read(&lines, "m");
        let better = calibration.apply(estimate(1_000));
        assert_eq!(better.tokens, 1_099);
        assert!(better.error_band < 0.03, "{better:?}");
        assert_eq!(better.upper_bound, 2_000, "the bound stays");
        let other = Calibration::read(&lines, "other");
        assert_eq!(other.apply(estimate(1_000)), estimate(1_000));
        let few = Calibration::read(&seen(1_000, 1_100), "m");
        assert_eq!(few.apply(estimate(1_000)), estimate(1_000));
    }

    #[test]
    fn a_provider_has_a_file_of_its_own_inside_the_folder() {
        let file = calibration_file("a/b ..");
        assert_eq!(file.to_str(), Some("calibration/a_b_...jsonl"));
    }

    #[test]
    fn c11_c14_c23_a_prompt_cut_in_silence_is_seen() {
        let sent = estimate(14_000);
        let check = |prompt| check_usage(&sent, prompt, 10, None);
        assert_eq!(check(Some(2_051)), UsageCheck::CutByServer);
        assert_eq!(check(Some(13_000)), UsageCheck::Plausible);
        let lines = seen(14_000, 2_051) + &seen(1_000, 1_000);
        let calibration = Calibration::read(&lines, "m");
        assert_eq!(calibration.cut, Some((14_000, 2_051)));
    }

    #[test]
    fn c12_a_total_of_exactly_the_window_is_flagged() {
        let sent = estimate(193);
        let window = Some(4_096);
        assert_eq!(
            check_usage(&sent, Some(193), 3_903, window),
            UsageCheck::WindowFull
        );
        assert_eq!(
            check_usage(&sent, Some(193), 3_902, window),
            UsageCheck::Plausible
        );
    }

    #[test]
    fn c20_zero_usage_is_missing_usage() {
        assert_eq!(
            check_usage(&estimate(100), Some(0), 0, None),
            UsageCheck::Missing
        );
        assert_eq!(
            check_usage(&estimate(100), None, 0, None),
            UsageCheck::Missing
        );
        let lines = seen(1_000, 0).repeat(50);
        let calibration = Calibration::read(&lines, "m");
        assert_eq!(calibration.cut, None);
        assert_eq!(calibration.apply(estimate(9)), estimate(9));
    }

    proptest! {
        #[test]
        fn any_file_is_read(lines in "(\\PC{0,40}\n){0,5}") {
            let calibration = Calibration::read(&lines, "m");
            prop_assert_eq!(calibration.apply(estimate(10)), estimate(10));
        }
    }
}
