//! Where a model server is and how it is reached.

use std::path::PathBuf;

use baton_protocol::{BaseUrl, Secret};

use super::proxy::ProxyRules;

/// The address of a model server with everything needed to speak to it.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// The normalised base URL.
    pub base: BaseUrl,
    /// The key, sent as a bearer token.
    pub key: Option<Secret>,
    /// A PEM file with the certificate authorities to trust, for servers with their own.
    pub ca_file: Option<PathBuf>,
    /// Do not verify the server's certificate. Off unless a person asks for it by name.
    pub insecure: bool,
    /// Which proxy to use. Loopback addresses never go through one.
    pub proxies: ProxyRules,
}

impl Endpoint {
    /// An endpoint without a key, with the proxies this process's environment names.
    pub fn new(base: BaseUrl) -> Self {
        Self {
            base,
            key: None,
            ca_file: None,
            insecure: false,
            proxies: ProxyRules::from_variables(|name| std::env::var(name).ok()),
        }
    }

    /// The same endpoint with a key.
    #[must_use]
    pub fn with_key(mut self, key: Option<Secret>) -> Self {
        self.key = key;
        self
    }

    /// Whether what it names can be used; the error says what cannot.
    pub fn check(&self) -> Result<(), String> {
        if let Some(key) = &self.key {
            super::exchange::check_key(key.reveal())?;
        }
        if self.ca_file.is_some() {
            super::tls::config(self)?;
        }
        Ok(())
    }

    /// The address of a route below the root, for example `/health`.
    pub(crate) fn at_root(&self, route: &str) -> String {
        format!("{}{route}", self.base.root())
    }

    /// The address of a route below the API root, for example `/chat/completions`.
    pub(crate) fn at_api(&self, route: &str) -> String {
        format!("{}{route}", self.base.api())
    }
}
