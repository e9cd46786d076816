//! What the command finds in its environment.

use std::path::Path;

use baton_protocol::{BaseUrl, Secret};

/// The secret of the acquisition: renews, releases, and tells a nested slot-lock whose child it is.
pub(crate) const TOKEN: &str = "BATON_SLOT_TOKEN";

/// Every slot held by this process's ancestors: `TOKEN@SLOT@FOLDER`, separated by commas.
pub(crate) const HELD: &str = "BATON_SLOTS_HELD";

/// The variables any OpenAI client reads its key from.
const KEYS: [&str; 2] = ["OPENCODE_VLLM_API_KEY", "OPENAI_API_KEY"];

/// Where the command may flag its requests.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Flag<'a> {
    /// In this file.
    At(&'a Path),
    /// As the ancestor whose slot it runs in.
    Ancestors,
    /// Nowhere.
    Nowhere,
}

/// What was chosen, as far as it is known.
#[derive(Debug, Clone, Default)]
pub(crate) struct Chosen<'a> {
    pub(crate) provider: Option<&'a str>,
    pub(crate) model: Option<&'a str>,
    pub(crate) context: Option<u64>,
    pub(crate) base_url: Option<&'a BaseUrl>,
    pub(crate) key: Option<&'a Secret>,
    /// The environment already names this very server: its variables stay as they are.
    pub(crate) is_environments: bool,
}

/// One change of the environment: a value, or none to remove the variable.
pub(crate) type Change = (&'static str, Option<String>);

/// The changes for a command that was given this choice and this slot.
pub(crate) fn changes(
    chosen: &Chosen<'_>,
    slot: u32,
    token: &str,
    fence: Option<u64>,
    flag: Flag<'_>,
    held: &str,
) -> Vec<Change> {
    let text = |value: Option<&str>| value.map(str::to_owned);
    let mut changes = vec![
        ("BATON_PROVIDER", text(chosen.provider)),
        ("BATON_MODEL", text(chosen.model)),
        ("BATON_CONTEXT", chosen.context.map(|n| n.to_string())),
        ("BATON_SLOT", Some(slot.to_string())),
        (TOKEN, Some(token.to_owned())),
        (HELD, Some(held.to_owned())),
    ];
    // Below an ancestor's slot its own flag file and fence go on counting.
    let file = match flag {
        Flag::At(file) => Some(file.to_str().map(str::to_owned)),
        Flag::Nowhere => Some(None),
        Flag::Ancestors => None,
    };
    if let Some(file) = file {
        changes.push(("BATON_SLOT_FILE", file));
        changes.push(("BATON_FENCE", fence.map(|n| n.to_string())));
    }
    if let (Some(url), false) = (chosen.base_url, chosen.is_environments) {
        changes.push(("OPENCODE_VLLM_BASE_URL", Some(url.api())));
        changes.push(("OPENAI_BASE_URL", Some(url.api())));
        // A key that belongs to another server must not travel to this one.
        let key = chosen.key.map(|key| key.reveal().to_owned());
        changes.extend(KEYS.map(|name| (name, key.clone())));
    }
    changes
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use baton_protocol::{BaseUrl, Secret};

    use super::{Change, Chosen, Flag, changes};

    fn value<'a>(changes: &'a [Change], name: &str) -> Option<&'a Option<String>> {
        changes.iter().find(|(n, _)| *n == name).map(|(_, v)| v)
    }

    #[test]
    fn the_key_of_another_server_is_taken_away() {
        let url = BaseUrl::parse("http://box:1").unwrap();
        let chosen = Chosen {
            base_url: Some(&url),
            ..Chosen::default()
        };
        let changes = changes(&chosen, 0, "t", None, Flag::At(Path::new("/f")), "");
        assert_eq!(value(&changes, "OPENAI_API_KEY"), Some(&None));
        let url = Some("http://box:1/v1".to_owned());
        assert_eq!(value(&changes, "OPENAI_BASE_URL"), Some(&url));
    }

    #[test]
    fn the_providers_key_goes_to_both_variables() {
        let (url, key) = (BaseUrl::parse("http://box:1").unwrap(), Secret::new("k"));
        let chosen = Chosen {
            base_url: Some(&url),
            key: Some(&key),
            context: Some(4096),
            ..Chosen::default()
        };
        let changes = changes(&chosen, 1, "t", None, Flag::At(Path::new("/f")), "");
        for (name, expected) in [
            ("OPENCODE_VLLM_API_KEY", "k"),
            ("OPENAI_API_KEY", "k"),
            ("BATON_CONTEXT", "4096"),
            ("BATON_SLOT", "1"),
        ] {
            assert_eq!(
                value(&changes, name),
                Some(&Some(expected.to_owned())),
                "{name}"
            );
        }
        // What is not known is removed, not left over from an outer slot-lock.
        assert_eq!(value(&changes, "BATON_MODEL"), Some(&None));
    }

    #[test]
    fn the_environments_own_server_keeps_its_variables() {
        let url = BaseUrl::parse("http://box:1").unwrap();
        let chosen = Chosen {
            base_url: Some(&url),
            is_environments: true,
            ..Chosen::default()
        };
        let changes = changes(&chosen, 0, "t", None, Flag::At(Path::new("/f")), "");
        assert_eq!(value(&changes, "OPENAI_API_KEY"), None);
        assert_eq!(value(&changes, "OPENAI_BASE_URL"), None);
    }
}
