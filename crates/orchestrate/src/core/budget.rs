//! What a run may spend and has spent. An unknown number is unknown, never zero.

use baton_protocol::{Budget, Usage};

use super::record::BudgetLimits;

/// What was spent so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Spent {
    pub usage: Usage,
    pub retries: u64,
    /// A hand-off without token counts was seen.
    pub tokens_unknown: bool,
    /// Money that is known.
    pub cost_usd: f64,
    /// Work without a known price was seen.
    pub cost_unknown: bool,
    /// Workers that ended.
    pub workers: u64,
}

impl Spent {
    /// Adds one worker's usage.
    pub(crate) fn add(&mut self, usage: &Usage, cost_usd: Option<f64>) {
        self.workers += 1;
        let sum = &mut self.usage;
        sum.requests += usage.requests;
        sum.steps += usage.steps;
        sum.tool_calls += usage.tool_calls;
        for (total, part) in [
            (&mut sum.prompt_tokens, usage.prompt_tokens),
            (&mut sum.cached_tokens, usage.cached_tokens),
            (&mut sum.completion_tokens, usage.completion_tokens),
            (&mut sum.reasoning_tokens, usage.reasoning_tokens),
            (&mut sum.queue_ms, usage.queue_ms),
        ] {
            if let Some(part) = part {
                *total = Some(total.unwrap_or(0) + part);
            }
        }
        sum.prefill_ms += usage.prefill_ms;
        sum.decode_ms += usage.decode_ms;
        sum.tools_ms += usage.tools_ms;
        if usage.requests > 0 {
            let known = usage.prompt_tokens.is_some() && usage.completion_tokens.is_some();
            self.tokens_unknown |= !known;
            match cost_usd {
                Some(cost) => self.cost_usd += cost,
                None => self.cost_unknown = true,
            }
        }
    }

    fn tokens(&self) -> u64 {
        self.usage.prompt_tokens.unwrap_or(0) + self.usage.completion_tokens.unwrap_or(0)
    }
}

/// The first limit that is passed, in words. Equality is within the limit, save that nothing more can
/// be done within a limit that is exactly used up, which the next step would show.
pub(crate) fn passed(limits: &BudgetLimits, spent: &Spent, wall_ms: u64) -> Option<String> {
    let counted = [
        ("max_steps", limits.max_steps, u64::from(spent.usage.steps)),
        (
            "max_requests",
            limits.max_requests,
            u64::from(spent.usage.requests),
        ),
        ("max_tokens", limits.max_tokens, spent.tokens()),
        ("max_wall_ms", limits.max_wall_ms, wall_ms),
        ("max_retries", limits.max_retries, spent.retries),
    ];
    for (name, limit, used) in counted {
        if let Some(limit) = limit
            && used > limit
        {
            return Some(format!("{name}: {used} used, {limit} allowed"));
        }
    }
    if limits.max_tokens.is_some() && spent.tokens_unknown {
        return Some(
            "max_tokens: the server does not report tokens, so the limit cannot be kept".into(),
        );
    }
    let limit = limits.max_cost_usd?;
    if spent.cost_unknown {
        return Some("max_cost_usd: a price is unknown, so the limit cannot be kept".into());
    }
    (spent.cost_usd > limit)
        .then(|| format!("max_cost_usd: {:.4} spent, {limit} allowed", spent.cost_usd))
}

/// The budget as the report shows it.
pub(crate) fn document(limits: &BudgetLimits, spent: &Spent, wall_ms: u64) -> Budget {
    Budget {
        mode: if limits.stop {
            "stop-between-steps"
        } else {
            "advisory"
        }
        .into(),
        max_steps: limits.max_steps,
        max_requests: limits.max_requests,
        max_tokens: limits.max_tokens,
        max_cost_usd: limits.max_cost_usd,
        max_wall_ms: limits.max_wall_ms,
        max_retries: limits.max_retries,
        spent_cost_usd: (!spent.cost_unknown && spent.workers > 0).then_some(spent.cost_usd),
        exceeded: passed(limits, spent, wall_ms),
    }
}

#[cfg(test)]
mod tests {
    use baton_protocol::Usage;

    use super::{Spent, passed};
    use crate::core::record::BudgetLimits;

    fn used(requests: u32, tokens: Option<u64>, cost: Option<f64>) -> Spent {
        let mut spent = Spent::default();
        let usage = Usage {
            requests,
            prompt_tokens: tokens,
            completion_tokens: tokens.map(|_| 0),
            ..Usage::default()
        };
        spent.add(&usage, cost);
        spent
    }

    #[test]
    fn a_limit_that_is_just_reached_is_kept() {
        let limits = BudgetLimits {
            max_requests: Some(5),
            ..BudgetLimits::default()
        };
        assert_eq!(passed(&limits, &used(5, None, None), 0), None);
        let over = passed(&limits, &used(6, None, None), 0).unwrap();
        assert_eq!(over, "max_requests: 6 used, 5 allowed");
    }

    #[test]
    fn o19_an_unknown_price_is_not_zero() {
        let limits = BudgetLimits {
            max_cost_usd: Some(1.0),
            ..BudgetLimits::default()
        };
        assert!(passed(&limits, &used(1, Some(10), None), 0).is_some());
        assert_eq!(passed(&limits, &used(1, Some(10), Some(0.0)), 0), None);
        assert!(passed(&limits, &used(1, Some(10), Some(1.5)), 0).is_some());
    }

    #[test]
    fn unknown_tokens_close_a_token_limit() {
        let limits = BudgetLimits {
            max_tokens: Some(1000),
            ..BudgetLimits::default()
        };
        assert!(passed(&limits, &used(1, None, None), 0).is_some());
        assert_eq!(passed(&limits, &used(0, None, None), 0), None);
    }

    #[test]
    fn o20_a_limit_of_one_kind_does_not_act_on_another() {
        let limits = BudgetLimits {
            max_cost_usd: Some(0.0),
            ..BudgetLimits::default()
        };
        assert_eq!(
            passed(&limits, &used(9, Some(1_000_000), Some(0.0)), 0),
            None
        );
    }
}
