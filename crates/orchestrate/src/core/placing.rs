//! Which providers a role's task may go to, and what its work costs.

use std::collections::BTreeSet;

use baton_cli::config::ProviderConfig;
use baton_protocol::{Provider, Usage};

/// The providers in the role's order, each with the models the role may use there first, without
/// those to avoid. When every one is to be avoided, none is: a place that came back is better than
/// no place. A role that names no models may use all, and stays with the one that is `in_use`.
pub(crate) fn candidates(
    providers: Vec<Provider>,
    wanted: &[String],
    avoid: &BTreeSet<String>,
    in_use: &dyn Fn(&str) -> Option<String>,
) -> Vec<Provider> {
    let chosen = if wanted.is_empty() {
        providers.into_iter().map(|p| staying(p, in_use)).collect()
    } else {
        in_order(&providers, wanted)
    };
    let kept: Vec<Provider> = chosen
        .iter()
        .filter(|p| !avoid.contains(&p.id))
        .cloned()
        .collect();
    if kept.is_empty() { chosen } else { kept }
}

/// The provider with the model the run uses there already in front.
fn staying(mut provider: Provider, in_use: &dyn Fn(&str) -> Option<String>) -> Provider {
    if let Some(used) = in_use(&provider.id) {
        provider.models.sort_by_key(|model| model.id != used);
    }
    provider
}

fn in_order(providers: &[Provider], wanted: &[String]) -> Vec<Provider> {
    let mut chosen: Vec<Provider> = Vec::new();
    for name in wanted {
        let (id, model) = match name.split_once('/') {
            Some((id, model)) => (id, Some(model)),
            None => (name.as_str(), None),
        };
        let Some(provider) = providers.iter().find(|p| p.id == id) else {
            continue;
        };
        let mut provider = provider.clone();
        if let Some(model) = model {
            provider.models.retain(|m| m.id == model);
            if provider.models.is_empty() {
                continue;
            }
        }
        match chosen.iter_mut().find(|p| p.id == id) {
            // The same provider again: a further model of it, less preferred.
            Some(known) => known.models.extend(provider.models),
            None => chosen.push(provider),
        }
    }
    chosen
}

/// Why none of the providers is ready, in words.
pub(crate) fn reasons(providers: &[Provider]) -> String {
    let each: Vec<String> = providers
        .iter()
        .map(|p| format!("{} ({}): {}", p.id, p.base_url, p.state_reason))
        .collect();
    format!("no server is ready: {}", each.join("; "))
}

/// What a worker's tokens cost; none when the price or the tokens are not known.
pub(crate) fn cost(
    providers: &[ProviderConfig],
    provider: Option<&str>,
    usage: &Usage,
) -> Option<f64> {
    let price = providers
        .iter()
        .find(|p| Some(p.id.as_str()) == provider)?
        .price?;
    // Token counts stay far below 2^53, where a float is exact.
    #[expect(
        clippy::cast_precision_loss,
        reason = "token counts are far below 2^53"
    )]
    let million = |tokens: Option<u64>| tokens.map(|t| t as f64 / 1e6);
    Some(
        million(usage.prompt_tokens)? * price.input
            + million(usage.completion_tokens)? * price.output,
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use baton_cli::config::{Price, ProviderConfig};
    use baton_protocol::{BaseUrl, Health, Provider, Usage};

    use super::{candidates, cost};

    fn provider(id: &str, models: &[&str]) -> Provider {
        let text = include_str!("../../../protocol/examples/health-1.json");
        let health: Health = baton_protocol::read(text).unwrap();
        let mut provider = health.providers[0].clone();
        let model = provider.models[0].clone();
        provider.id = id.into();
        provider.models = models
            .iter()
            .map(|id| {
                let mut model = model.clone();
                model.id = (*id).into();
                model
            })
            .collect();
        provider
    }

    fn names(providers: &[Provider]) -> Vec<String> {
        let named = providers.iter().map(|p| {
            let models: Vec<&str> = p.models.iter().map(|m| m.id.as_str()).collect();
            format!("{}:{}", p.id, models.join("+"))
        });
        named.collect()
    }

    #[test]
    fn a_role_s_models_come_in_its_order() {
        let all = vec![provider("a", &["m", "n"]), provider("b", &["m"])];
        let wanted = ["b/m", "a/n", "a/m", "c/x"].map(String::from);
        let chosen = candidates(all.clone(), &wanted, &BTreeSet::new(), &|_| None);
        assert_eq!(names(&chosen), ["b:m", "a:n+m"]);
        assert_eq!(
            names(&candidates(all, &[], &BTreeSet::new(), &|_| None)),
            ["a:m+n", "b:m"]
        );
    }

    #[test]
    fn o31_a_role_that_names_no_model_stays_with_the_run_s() {
        let all = vec![provider("a", &["m", "n"]), provider("b", &["m", "n"])];
        let used = |id: &str| (id == "a").then(|| "n".to_owned());
        let chosen = candidates(all, &[], &BTreeSet::new(), &used);
        assert_eq!(names(&chosen), ["a:n+m", "b:m+n"]);
    }

    #[test]
    fn a_place_that_failed_is_avoided_unless_it_is_the_only_one() {
        let all = vec![provider("a", &["m"]), provider("b", &["m"])];
        let avoid: BTreeSet<String> = ["a".to_owned()].into();
        assert_eq!(
            names(&candidates(all.clone(), &[], &avoid, &|_| None)),
            ["b:m"]
        );
        let both: BTreeSet<String> = ["a", "b"].map(String::from).into();
        assert_eq!(candidates(all, &[], &both, &|_| None).len(), 2);
    }

    #[test]
    fn o19_a_price_that_is_not_known_is_not_zero() {
        let url = BaseUrl::parse("http://127.0.0.1:1").unwrap();
        let mut config = ProviderConfig::new("a", url);
        let usage = Usage {
            prompt_tokens: Some(1_000_000),
            completion_tokens: Some(500_000),
            ..Usage::default()
        };
        assert_eq!(cost(&[config.clone()], Some("a"), &usage), None);
        config.price = Some(Price {
            input: 1.0,
            output: 2.0,
        });
        assert_eq!(cost(&[config.clone()], Some("a"), &usage), Some(2.0));
        assert_eq!(cost(&[config], Some("a"), &Usage::default()), None);
    }
}
