//! Which meters count: one a tokenizer among the candidates' models. Pure.

use std::collections::HashMap;

use baton_protocol::Provider;
use baton_tokens::{Family, Meter, Tokenizer};

use crate::judgement::Sourced;
use crate::subject::Subject;

/// What a person names with `--tokenizer`.
#[derive(Debug, Clone)]
pub(crate) enum Named {
    /// A family of the class model.
    Family(Family),
    /// A tokenizer.
    Tokenizer(Tokenizer),
}

/// The meters of one run. The first is the one the total is told by.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The meters, each once.
    pub(crate) meters: Vec<Meter>,
    by_model: HashMap<String, usize>,
}

impl Plan {
    /// By what is named, else by the models: `--model` first, then the candidates'. `lookup` finds the
    /// tokenizer of a model, where this machine has it.
    pub(crate) fn new(
        named: Option<&Named>,
        model: Option<&str>,
        providers: &[Provider],
        mut lookup: impl FnMut(&str) -> Option<Tokenizer>,
    ) -> Self {
        let mut plan = Self {
            meters: Vec::new(),
            by_model: HashMap::new(),
        };
        match named {
            Some(Named::Family(family)) => plan.meters.push(Meter::of_family(*family)),
            Some(Named::Tokenizer(one)) => plan.meters.push(Meter::of_tokenizer(one.clone())),
            None => {
                let candidates = providers.iter().flat_map(|provider| &provider.models);
                let ids = candidates.map(|model| model.id.as_str());
                for name in model.into_iter().chain(ids) {
                    if !plan.by_model.contains_key(name) {
                        let meter = match lookup(name) {
                            Some(tokenizer) => Meter::of_tokenizer(tokenizer),
                            None => Meter::of_family(Family::of_model(name)),
                        };
                        let index = plan.add(meter);
                        plan.by_model.insert(name.to_owned(), index);
                    }
                }
            }
        }
        if plan.meters.is_empty() {
            plan.meters.push(Meter::of_family(Family::Unknown));
        }
        plan
    }

    fn add(&mut self, meter: Meter) -> usize {
        let source = meter.source();
        let known = self
            .meters
            .iter()
            .position(|known| known.source() == source);
        known.unwrap_or_else(|| {
            self.meters.push(meter);
            self.meters.len() - 1
        })
    }

    /// The meter for a model.
    pub(crate) fn meter_of(&self, model: &str) -> usize {
        self.by_model.get(model).copied().unwrap_or(0)
    }

    /// The whole count by one meter.
    pub(crate) fn sourced(&self, subject: &Subject, meter: usize) -> Sourced {
        Sourced {
            count: subject.total(meter).with_version_margin(),
            source: self.meters[meter].source(),
        }
    }
}

#[cfg(test)]
mod tests {
    use baton_tokens::Family;

    use super::{Named, Plan};

    #[test]
    fn the_named_family_counts_for_every_model() {
        let named = Named::Family(Family::Gemma);
        let plan = Plan::new(Some(&named), Some("qwen3"), &[], |_| None);
        assert_eq!(plan.meters.len(), 1);
        assert_eq!(plan.meter_of("llama-3"), 0);
        assert!(plan.meters[0].source().contains("gemma"));
    }

    #[test]
    fn without_a_name_the_family_is_unknown() {
        let plan = Plan::new(None, None, &[], |_| None);
        assert!(plan.meters[0].source().contains("bytes"));
    }

    #[test]
    fn models_of_one_family_share_a_meter() {
        let plan = Plan::new(None, Some("qwen2.5-coder"), &[], |_| None);
        assert_eq!(plan.meters.len(), 1);
        assert!(
            plan.meters[plan.meter_of("qwen2.5-coder")]
                .source()
                .contains("qwen")
        );
    }
}
