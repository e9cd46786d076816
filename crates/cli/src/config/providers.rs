//! The provider the environment names, and how it joins the configured ones.

use baton_protocol::BaseUrl;

use super::layers::Origins;
use super::types::ProviderConfig;
use crate::{Environment, Failure};

/// The variables that may name a provider: address and key, in order.
const VARIABLES: [(&str, &str); 2] = [
    ("OPENCODE_VLLM_BASE_URL", "OPENCODE_VLLM_API_KEY"),
    ("OPENAI_BASE_URL", "OPENAI_API_KEY"),
];

/// Puts the environment's provider first; one with the same origin becomes one with it.
pub(crate) fn add_from_environment(
    env: &Environment,
    providers: &mut Vec<ProviderConfig>,
    origins: &mut Origins,
) -> Result<(), Failure> {
    let Some((url_name, key_name, text)) = VARIABLES
        .iter()
        .find_map(|(url, key)| Some((url, key, env.get(url)?)))
    else {
        return Ok(());
    };
    let base_url = BaseUrl::parse(text).map_err(|e| Failure::config(format!("{url_name}: {e}")))?;
    add_first(
        providers,
        base_url,
        url_name,
        env.get(key_name).map(|_| *key_name),
        origins,
    );
    Ok(())
}

/// Puts a provider first, under the id of a configured one of the same origin where there is one.
pub(crate) fn add_first(
    providers: &mut Vec<ProviderConfig>,
    base_url: BaseUrl,
    origin: &str,
    key_env: Option<&str>,
    origins: &mut Origins,
) {
    let same = providers
        .iter()
        .position(|p| p.base_url.origin() == base_url.origin());
    let mut provider = match same {
        Some(index) => providers.remove(index),
        None => ProviderConfig::new(free_id(providers), base_url.clone()),
    };
    provider.base_url = base_url;
    origins.insert(
        format!("provider.{}.base_url", provider.id),
        origin.to_owned(),
    );
    if let Some(name) = key_env {
        provider.api_key_env = Some(name.to_owned());
        origins.insert(
            format!("provider.{}.api_key_env", provider.id),
            origin.to_owned(),
        );
    }
    providers.insert(0, provider);
}

/// `default`, or with a number when that name is taken. Among n providers, n + 1 names hold a free one.
fn free_id(providers: &[ProviderConfig]) -> String {
    let taken = |id: &str| providers.iter().any(|p| p.id == id);
    (1..=providers.len())
        .map(|n| {
            if n == 1 {
                "default".to_owned()
            } else {
                format!("default-{n}")
            }
        })
        .find(|id| !taken(id))
        .unwrap_or_else(|| match providers.len() {
            0 => "default".to_owned(),
            n => format!("default-{}", n + 1),
        })
}

/// What is wrong with the providers as a whole, if anything.
pub(crate) fn check(providers: &[ProviderConfig]) -> Result<(), Failure> {
    for (index, provider) in providers.iter().enumerate() {
        if provider.id.is_empty() || provider.id.contains('/') {
            return Err(Failure::config(format!(
                "provider id `{}`: use a name that is not empty and has no `/`",
                provider.id
            )));
        }
        if provider.slots == Some(0) {
            return Err(Failure::config(format!(
                "provider `{}`: slots = 0 would never run anything; leave it out or give 1 or more",
                provider.id
            )));
        }
        if provider.context == Some(0) {
            return Err(Failure::config(format!(
                "provider `{}`: context = 0 is not unlimited; leave it out if it is not known",
                provider.id
            )));
        }
        let twin = providers[..index]
            .iter()
            .find(|p| p.base_url.origin() == provider.base_url.origin());
        if let Some(twin) = twin {
            return Err(Failure::config(format!(
                "providers `{}` and `{}` are the same server ({}); merge them into one",
                twin.id,
                provider.id,
                provider.base_url.origin()
            )));
        }
    }
    Ok(())
}
