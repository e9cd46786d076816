//! What a request cost, as the server counts it, and whether that can be true.

use serde_json::Value;

/// Tokens as the server counted them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the prompt, cached ones included.
    pub prompt: u64,
    /// Tokens generated, thinking included.
    pub completion: u64,
    /// Prompt tokens taken from the prefix cache, where the server tells.
    pub cached: Option<u64>,
    /// Generated tokens that were thinking, where the server tells.
    pub reasoning: Option<u64>,
}

impl Usage {
    /// Reads a `usage` object. All zero is no usage: some servers send that for a full answer.
    pub fn read(usage: &Value) -> Option<Self> {
        let field = |names: &[&str]| names.iter().find_map(|n| number(usage.get(*n)?));
        let detail = |object: &str, name: &str| number(usage.get(object)?.get(name)?);
        let read = Self {
            prompt: field(&["prompt_tokens", "input_tokens"]).unwrap_or(0),
            completion: field(&["completion_tokens", "output_tokens"]).unwrap_or(0),
            cached: detail("prompt_tokens_details", "cached_tokens")
                .or_else(|| field(&["cache_read_input_tokens"])),
            reasoning: detail("completion_tokens_details", "reasoning_tokens"),
        };
        (read.prompt > 0 || read.completion > 0).then_some(read)
    }

    /// Prompt and completion together.
    pub fn total(&self) -> u64 {
        self.prompt.saturating_add(self.completion)
    }
}

/// A sign that the server cut the prompt without saying so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shortfall {
    /// The server read far fewer tokens than were sent.
    PromptCut {
        /// The tokens we think were sent.
        sent: u64,
        /// The tokens the server says it read.
        read: u64,
    },
    /// Prompt and answer fill the window to the last token.
    WindowFull {
        /// The window, in tokens.
        window: u64,
    },
}

/// Compares an answer's usage with an estimate of its prompt and the known window.
///
/// The estimate may be off by a tokenizer; only a count below three fifths of it is a sign. The
/// prefix cache does not lower `prompt`, so it cannot be the reason.
pub fn shortfall(estimate: u64, usage: &Usage, window: Option<u64>) -> Option<Shortfall> {
    if let Some(window) = window
        && window > 0
        && usage.total() == window
    {
        return Some(Shortfall::WindowFull { window });
    }
    let cut = estimate >= 512 && usage.prompt > 0 && usage.prompt * 5 < estimate * 3;
    cut.then_some(Shortfall::PromptCut {
        sent: estimate,
        read: usage.prompt,
    })
}

/// A count from JSON: an integer, or a float or text that is one.
pub(crate) fn number(value: &Value) -> Option<u64> {
    if let Some(n) = value.as_u64() {
        return Some(n);
    }
    if let Some(text) = value.as_str() {
        return text.trim().parse().ok();
    }
    let float = value.as_f64()?;
    // Beyond 2^53 a float is no count any more.
    if float.fract() != 0.0 || !(0.0..=9_007_199_254_740_992.0).contains(&float) {
        return None;
    }
    format!("{float:.0}").parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Shortfall, Usage, shortfall};

    #[test]
    fn both_servers_details_are_read() {
        let usage = Usage::read(&json!({
            "prompt_tokens": 175, "completion_tokens": 200, "total_tokens": 375,
            "prompt_tokens_details": {"cached_tokens": 128},
            "completion_tokens_details": {"reasoning_tokens": 7},
        }))
        .unwrap();
        assert_eq!((usage.cached, usage.reasoning), (Some(128), Some(7)));
        assert_eq!(usage.total(), 375);
    }

    #[test]
    fn c20_zero_usage_is_no_usage() {
        assert_eq!(
            Usage::read(&json!({"prompt_tokens": 0, "completion_tokens": 0})),
            None
        );
        assert_eq!(Usage::read(&json!(null)), None);
        assert_eq!(Usage::read(&json!({"prompt_tokens": "x"})), None);
    }

    fn used(prompt: u64, completion: u64) -> Usage {
        Usage {
            prompt,
            completion,
            ..Usage::default()
        }
    }

    #[test]
    fn c11_c14_c23_a_prompt_cut_by_the_server_is_seen() {
        for (sent, read) in [(14_000, 2_051), (160_000, 16_387), (12_526, 4_096)] {
            assert_eq!(
                shortfall(sent, &used(read, 10), None),
                Some(Shortfall::PromptCut { sent, read })
            );
        }
        // An estimate 40 % too high is a tokenizer, not a cut.
        assert_eq!(shortfall(14_000, &used(10_000, 10), None), None);
        assert_eq!(shortfall(100, &used(20, 10), None), None);
    }

    #[test]
    fn c12_a_total_that_hits_the_window_exactly_is_a_cut() {
        for (prompt, completion) in [(193, 3903), (96, 4000)] {
            assert_eq!(
                shortfall(200, &used(prompt, completion), Some(4096)),
                Some(Shortfall::WindowFull { window: 4096 })
            );
        }
        assert_eq!(shortfall(200, &used(193, 3902), Some(4096)), None);
    }
}
