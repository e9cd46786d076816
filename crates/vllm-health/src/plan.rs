//! From the words of the command line to what is to be done. Pure.

use std::time::Duration;

use baton_cli::{Failure, parse_duration};
use baton_model_server::probe::Active;
use baton_protocol::BaseUrl;

use crate::cli::Cli;

/// What is wanted of the servers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Wants {
    /// A model by name.
    pub(crate) model: Option<String>,
    /// Context for one request, in tokens.
    pub(crate) min_context: Option<u64>,
    /// Every server, not just one.
    pub(crate) all: bool,
}

/// What the command line says, sorted out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) urls: Vec<BaseUrl>,
    pub(crate) wants: Wants,
    pub(crate) wait: Option<Duration>,
    pub(crate) active: Option<Active>,
}

/// The limit of `--wait` without one.
const DEFAULT_WAIT: &str = "10m";

/// Sorts out optional values: `--wait URL` is a URL and no limit, and `--probe tools` is meant as
/// `--probe=tools`.
pub(crate) fn plan(cli: &Cli) -> Result<Plan, Failure> {
    let mut targets: Vec<String> = cli.addresses().cloned().collect();
    let mut wait = cli.wait.clone();
    if let Some(text) = wait.clone().filter(|text| text.contains("://")) {
        targets.insert(0, text);
        wait = Some(DEFAULT_WAIT.to_owned());
    }
    let wait = wait
        .map(|text| parse_duration(&text))
        .transpose()
        .map_err(|e| Failure::usage(format!("--wait: {e}")))?;
    let mut word = cli.probe.clone();
    if word.as_deref() == Some("token") {
        let named = targets.iter().position(|t| t == "tools" || t == "json");
        if let Some(position) = named {
            word = Some(targets.remove(position));
        }
    }
    let active = match word.as_deref() {
        None => None,
        Some("token") => Some(Active::Token),
        Some("tools") => Some(Active::Tools),
        Some("json") => Some(Active::Json),
        Some(other) => {
            return Err(Failure::usage(format!(
                "--probe={other}: give --probe, --probe=tools or --probe=json"
            )));
        }
    };
    let urls = targets
        .iter()
        .map(|text| BaseUrl::parse(text))
        .collect::<Result<Vec<_>, _>>()
        .map_err(Failure::usage)?;
    if cli.timeout.is_zero() {
        return Err(Failure::usage(
            "--timeout 0 leaves no time to ask; give 1s or more",
        ));
    }
    if cli.watch.is_some_and(|pause| pause.is_zero()) {
        return Err(Failure::usage(
            "--watch 0s would ask without a pause, which harms what the server is doing; give 2s",
        ));
    }
    if cli.watch.is_some() && !cli.command.is_empty() {
        return Err(Failure::usage(
            "--watch never ends, so no command can follow it; use --wait",
        ));
    }
    Ok(Plan {
        urls,
        wants: Wants {
            model: cli.model.clone(),
            min_context: cli.min_context,
            all: cli.all,
        },
        wait,
        active,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use baton_model_server::probe::Active;
    use clap::Parser;

    use super::{Plan, plan};
    use crate::cli::Cli;

    fn of(words: &[&str]) -> Result<Plan, String> {
        let cli =
            Cli::try_parse_from([&["vllm-health"], words].concat()).map_err(|e| e.to_string())?;
        plan(&cli).map_err(|f| f.message)
    }

    #[test]
    fn optional_values_do_not_swallow_their_neighbours() {
        let url = "http://h:1/v1";
        for words in [
            &["--wait", url][..],
            &[url, "--wait"],
            &["--wait", "10m", url],
            &["--wait=10m", url],
        ] {
            let plan = of(words).unwrap();
            assert_eq!(plan.wait, Some(Duration::from_secs(600)), "{words:?}");
            assert_eq!(plan.urls.len(), 1, "{words:?}");
        }
        for words in [
            &["--probe", "tools", url][..],
            &["--probe=tools", url],
            &[url, "--probe", "tools"],
        ] {
            assert_eq!(of(words).unwrap().active, Some(Active::Tools), "{words:?}");
        }
        assert_eq!(of(&["--probe", url]).unwrap().active, Some(Active::Token));
        assert_eq!(
            of(&["--probe", "--", "make"]).unwrap().active,
            Some(Active::Token)
        );
    }

    #[test]
    fn wrong_words_are_named() {
        for (words, part) in [
            (&["--probe=chat"][..], "--probe=tools"),
            (&["--wait", "5"], "--wait"),
            (&["127.0.0.1:8000"], "http://"),
            (&["--timeout", "0"], "--timeout"),
            (&["--watch", "1s", "--", "true"], "--wait"),
            (&["--kind", "gpt"], "llamacpp"),
            (&["--any", "--all"], "--all"),
        ] {
            let error = of(words).unwrap_err();
            assert!(error.contains(part), "{words:?}: {error}");
        }
    }
}
