//! From flags, environment and configuration to the servers a slot may be taken of.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use baton_cli::config::{ConfigFlags, Loaded, ProviderConfig, load};
use baton_cli::{Environment, Failure, lock_dir, state_dir};
use baton_protocol::{BaseUrl, Secret, SignalSource, Slots};

use crate::candidate::{Candidate, Limits, Rejection, judge};
use crate::cli::{OnUnknown, Prefer, Target};
use crate::etcd::Address;
use crate::key::Key;
use crate::offer::Offer;
use crate::store::Want;

/// The configuration, read only when something has to be looked up in it.
#[derive(Debug)]
pub(crate) struct Settings {
    env: Environment,
    loaded: Option<Loaded>,
    /// A variable that names the directory, and whose value cannot be read.
    unread: Option<&'static str>,
}

const STORE: &str = "BATON_STORE";
const LOCK_DIR: &str = "BATON_LOCK_DIR";

impl Settings {
    /// `complete`: the flags say everything. The configuration is then read only for the directory.
    pub(crate) fn new(env: Environment, complete: bool) -> Result<Self, Failure> {
        let needed = !complete || env.get(LOCK_DIR).is_none();
        let is_unread = |name: &&str| std::env::var_os(name).is_some_and(|v| v.to_str().is_none());
        let unread = [LOCK_DIR, "XDG_STATE_HOME"].into_iter().find(is_unread);
        let loaded = if needed {
            let here = std::env::current_dir().unwrap_or_else(|_| "/".into());
            Some(load(&env, &here, &ConfigFlags::default())?)
        } else {
            None
        };
        Ok(Self {
            env,
            loaded,
            unread,
        })
    }

    pub(crate) const fn env(&self) -> &Environment {
        &self.env
    }

    pub(crate) fn notes(&self) -> &[String] {
        self.loaded.as_ref().map_or(&[], |l| &l.notes)
    }

    /// The store of several hosts, where one is named.
    pub(crate) fn store(&self, flag: Option<&Address>) -> Result<Option<Address>, Failure> {
        if let Some(address) = flag {
            return Ok(Some(address.clone()));
        }
        // Whoever names a folder by the environment means slot files. (The configuration is not even
        // read where flags and that say everything.)
        let configured = match self.env.get(LOCK_DIR) {
            Some(_) => None,
            None => self
                .loaded
                .as_ref()
                .and_then(|l| l.config.slots.store.as_deref()),
        };
        let (place, text) = match (self.env.get(STORE), configured) {
            (Some(text), _) => (STORE, text),
            (None, Some(text)) => ("[slots] store", text),
            (None, None) => return Ok(None),
        };
        let address = text.parse();
        address
            .map(Some)
            .map_err(|wrong: String| Failure::config(format!("{place}: {wrong}")))
    }

    fn configured(&self) -> Option<PathBuf> {
        let loaded = self.loaded.as_ref()?;
        loaded.config.slots.directory.clone()
    }

    /// The directory of slot files.
    ///
    /// It must be the same for everybody who counts the same slots, so what would only mean
    /// something here and now (a relative path), or nothing at all, is refused.
    pub(crate) fn directory(&self) -> Result<PathBuf, Failure> {
        let directory = match (self.env.get(LOCK_DIR), self.configured()) {
            (Some(named), _) => {
                let named = PathBuf::from(named);
                if !named.is_absolute() {
                    return Err(Failure::config(format!(
                        "BATON_LOCK_DIR is `{}`, which every caller would look for in its own \
                         folder; set it to an absolute path",
                        named.display()
                    )));
                }
                return Ok(named);
            }
            (None, Some(directory)) => directory,
            (None, None) => lock_dir(&self.env),
        };
        if let Some(unread) = self.unread {
            return Err(Failure::config(format!(
                "{unread} is not UTF-8, so the directory of slot files cannot be named; set \
                 BATON_LOCK_DIR to an absolute path"
            )));
        }
        let home = ["HOME", "XDG_STATE_HOME"].map(|name| self.env.absolute_path(name));
        if home.iter().all(Option::is_none) && self.configured().is_none() {
            return Err(Failure::config(
                "there is no home directory (HOME is not set, and the user has none), so there is \
                 no place for slot files; set BATON_LOCK_DIR to an absolute path",
            ));
        }
        Ok(directory)
    }

    /// The other places where slots might be counted, by another user's or another day's settings.
    pub(crate) fn other_places(&self) -> Vec<PathBuf> {
        let mut places = vec![
            state_dir(&self.env).join("slots"),
            PathBuf::from("/run/baton"),
        ];
        places.extend(self.configured());
        let used = self.directory().ok();
        places.retain(|place| Some(place) != used.as_ref());
        places
    }

    fn providers(&self) -> &[ProviderConfig] {
        self.loaded.as_ref().map_or(&[], |l| &l.config.providers)
    }

    fn of_origin(&self, url: &BaseUrl) -> Option<&ProviderConfig> {
        self.providers()
            .iter()
            .find(|p| p.base_url.origin() == url.origin())
    }

    /// The key of a candidate's server.
    pub(crate) fn api_key(&self, candidate: &Candidate) -> Result<Option<Secret>, Failure> {
        let Some(url) = &candidate.base_url else {
            return Ok(None);
        };
        let mut provider = match self.of_origin(url) {
            Some(provider) => provider.clone(),
            None => {
                ProviderConfig::new(candidate.provider.clone().unwrap_or_default(), url.clone())
            }
        };
        if candidate.api_key_env.is_some() {
            provider.api_key_env.clone_from(&candidate.api_key_env);
        }
        provider.api_key(&self.env)
    }

    /// Whether the environment names this very server already.
    pub(crate) fn is_environments(&self, candidate: &Candidate) -> bool {
        let named = ["OPENCODE_VLLM_BASE_URL", "OPENAI_BASE_URL"].map(|name| {
            let url = self
                .env
                .get(name)
                .and_then(|text| BaseUrl::parse(text).ok());
            url.map(|url| url.api())
        });
        let ours = candidate.base_url.as_ref().map(BaseUrl::api);
        match ours {
            // No server is known (a bare key): nothing is changed.
            None => true,
            ours => named.iter().all(|named| *named == ours),
        }
    }
}

/// The one candidate the flags or the configuration name. `ask` says what its server tells of its
/// slots.
pub(crate) fn named(
    target: &Target,
    settings: &Settings,
    last_slots: impl FnOnce(&Key) -> Option<u32>,
    ask: impl FnOnce(&Key, &BaseUrl) -> Option<Slots>,
) -> Result<Candidate, Failure> {
    let provider = match (&target.key, &target.provider) {
        (Some(_), _) => None,
        (None, Some(id)) => Some(by_id(settings, id)?),
        (None, None) => Some(first(settings)?),
    };
    let key = match (&target.key, provider) {
        (Some(key), _) => key.clone(),
        (None, Some(provider)) => Key::of_server(&provider.base_url),
        (None, None) => return Err(Failure::internal("no key and no provider")),
    };
    let url = provider.map(|p| p.base_url.clone());
    let url = url.or_else(|| target.key.as_ref()?.server());
    let url = url.filter(|_| !target.ignore_server);
    let server = url.and_then(|url| ask(&key, &url));
    let told = target.slots.or_else(|| provider.and_then(|p| p.slots));
    let (slots, is_assumed) = match told {
        Some(told) => (at_most(told, server.as_ref()), false),
        None => untold(server.as_ref(), last_slots(&key)),
    };
    let reserve = target.reserve_interactive;
    Ok(Candidate {
        provider: provider.map(|p| p.id.clone()),
        base_url: provider.map(|p| p.base_url.clone()),
        model: provider.and_then(|p| p.models.first().cloned()),
        context: provider.and_then(|p| p.context),
        api_key_env: provider.and_then(|p| p.api_key_env.clone()),
        want: Want {
            key,
            slots,
            is_assumed,
            reserve_interactive: reserve
                .or_else(|| provider.map(|p| p.reserve_interactive))
                .unwrap_or(0),
            foreign: 0,
            tokens: None,
            only_model: None,
        },
        is_resident: false,
        speed: None,
        last_used: None,
    })
}

/// The number somebody chose, lowered to the server's own.
fn at_most(told: u32, server: Option<&Slots>) -> u32 {
    let own = server.filter(|s| matches!(s.source, SignalSource::Exact | SignalSource::Inferred));
    let own = own.and_then(|s| s.total).filter(|n| *n > 0);
    own.map_or(told, |own| told.min(own))
}

/// How many slots count where neither a flag nor the configuration says so: what the server itself
/// says, else the number somebody counted with before, else what is assumed of such a server. True:
/// assumed.
fn untold(server: Option<&Slots>, last: Option<u32>) -> (u32, bool) {
    let total = server.and_then(|s| s.total).filter(|n| *n > 0);
    let is_assumption = server.is_none_or(|s| s.source == SignalSource::Assumed);
    match (total, last) {
        (Some(told), _) if !is_assumption => (told, false),
        (_, Some(last)) => (last, false),
        (assumed, None) => (assumed.unwrap_or(1), true),
    }
}

fn by_id<'a>(settings: &'a Settings, id: &str) -> Result<&'a ProviderConfig, Failure> {
    let providers = settings.providers();
    providers.iter().find(|p| p.id == id).ok_or_else(|| {
        let known: Vec<&str> = providers.iter().map(|p| p.id.as_str()).collect();
        Failure::usage(format!(
            "no provider `{id}` is configured; there are: {}",
            if known.is_empty() {
                "none".into()
            } else {
                known.join(", ")
            }
        ))
    })
}

fn first(settings: &Settings) -> Result<&ProviderConfig, Failure> {
    settings.providers().first().ok_or_else(|| {
        Failure::config(
            "no server is named, so there is nothing to count slots of; \
             set OPENCODE_VLLM_BASE_URL, or give --key NAME",
        )
    })
}

/// What a document of candidates says.
#[derive(Debug, Default)]
pub(crate) struct Choice {
    /// Those that may be used, in the document's order.
    pub(crate) usable: Vec<Candidate>,
    /// Those that may not, and why.
    pub(crate) rejected: Vec<Rejection>,
}

/// Reads the candidates' document.
pub(crate) fn read_candidates(file: &Path) -> Result<String, Failure> {
    let file = (file != Path::new("-")).then_some(file);
    baton_cli::input::main_document(file, "candidates (a health/1 or estimate/1 document)")
}

/// Applies the hard filters to what is on offer. Pure but for the configuration it was given.
pub(crate) fn choose(
    offer: &Offer,
    target: &Target,
    settings: &Settings,
    last_used: impl Fn(&Key) -> Option<SystemTime>,
) -> Choice {
    let limits = Limits {
        slots: target.slots,
        reserve_interactive: target.reserve_interactive,
        tokens: target.tokens.or(offer.required_tokens),
        ignore_server: target.ignore_server,
    };
    let go = target.on_unknown == OnUnknown::Go;
    let mut choice = Choice::default();
    for one in &offer.offered {
        match judge(&one.provider, offer.is_judged, go, &limits) {
            Ok(mut candidate) => {
                let url = candidate.base_url.as_ref();
                let configured = url.and_then(|url| settings.of_origin(url));
                if let (None, Some(configured)) = (target.reserve_interactive, configured) {
                    candidate.want.reserve_interactive = configured.reserve_interactive;
                }
                candidate.last_used = last_used(&candidate.want.key);
                choice.usable.push(candidate);
            }
            Err(rejection) => choice.rejected.push(rejection),
        }
    }
    prefer(&mut choice.usable, target.prefer);
    choice
}

/// Puts the candidates in the order they are tried in. Among equals the one whose slots were not
/// used for longest is tried first, then the document decides.
fn prefer(candidates: &mut [Candidate], prefer: Prefer) {
    let speed = |c: &Candidate| c.speed.unwrap_or(0.0);
    match prefer {
        Prefer::Listed => {}
        Prefer::Resident => candidates.sort_by_key(|c| (!c.is_resident, c.last_used)),
        Prefer::Fastest => candidates.sort_by(|a, b| {
            let by_speed = speed(b).total_cmp(&speed(a));
            by_speed.then(a.last_used.cmp(&b.last_used))
        }),
    }
}
