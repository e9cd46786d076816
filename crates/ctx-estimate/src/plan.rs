//! Which meters count: one a tokenizer family among the candidates. Pure.

use baton_cli::Failure;
use baton_protocol::Provider;
use baton_tokens::{Family, Meter};

use crate::judgement::Sourced;
use crate::subject::Subject;

/// The meters of one run. The first is the one the total is told by.
#[derive(Debug)]
pub(crate) struct Plan {
    families: Vec<Family>,
    /// The meters, one a family.
    pub(crate) meters: Vec<Meter>,
    forced: bool,
}

impl Plan {
    /// By `--tokenizer`, else by the names of `--model` and of the candidates' models.
    pub(crate) fn new(forced: Option<Family>, model: Option<&str>, providers: &[Provider]) -> Self {
        let mut families: Vec<Family> = Vec::new();
        let mut add = |family| {
            if !families.contains(&family) {
                families.push(family);
            }
        };
        if let Some(family) = forced {
            add(family);
        } else {
            model.map(Family::of_model).into_iter().for_each(&mut add);
            let models = providers.iter().flat_map(|provider| &provider.models);
            models
                .map(|model| Family::of_model(&model.id))
                .for_each(&mut add);
        }
        if families.is_empty() {
            families.push(Family::Unknown);
        }
        Self {
            meters: families.iter().copied().map(Meter::of_family).collect(),
            families,
            forced: forced.is_some(),
        }
    }

    /// The meter for a model.
    pub(crate) fn meter_of(&self, model: &str) -> usize {
        if self.forced {
            return 0;
        }
        let family = Family::of_model(model);
        let known = self.families.iter().position(|known| *known == family);
        known.unwrap_or(0)
    }

    /// The whole count by one meter.
    pub(crate) fn sourced(&self, subject: &Subject, meter: usize) -> Sourced {
        Sourced {
            count: subject.total(meter).with_version_margin(),
            source: self.meters[meter].source(),
        }
    }
}

/// The family a person names.
pub(crate) fn family(name: &str) -> Result<Family, Failure> {
    Family::from_name(name).ok_or_else(|| {
        let known = Family::KNOWN.map(Family::name).join(", ");
        Failure::usage(format!(
            "--tokenizer {name}: no such family; known: {known}"
        ))
    })
}

#[cfg(test)]
mod tests {
    use baton_tokens::Family;

    use super::{Plan, family};

    #[test]
    fn the_named_family_counts_for_every_model() {
        let plan = Plan::new(Some(Family::Gemma), Some("qwen3"), &[]);
        assert_eq!(plan.meters.len(), 1);
        assert_eq!(plan.meter_of("llama-3"), 0);
        assert!(plan.meters[0].source().contains("gemma"));
    }

    #[test]
    fn without_a_name_the_family_is_unknown() {
        let plan = Plan::new(None, None, &[]);
        assert!(plan.meters[0].source().contains("bytes"));
    }

    #[test]
    fn a_wrong_family_lists_the_known_ones() {
        let error = family("gpt2").unwrap_err();
        assert!(
            error
                .message
                .contains("qwen, llama3, gpt-oss, deepseek, gemma")
        );
    }
}
