//! Name look-up that remembers which addresses were tried.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

/// The addresses the last look-up gave.
pub(super) type Tried = Arc<Mutex<Vec<SocketAddr>>>;

#[derive(Debug)]
pub(super) struct RecordingResolver {
    inner: DefaultResolver,
    tried: Tried,
}

impl RecordingResolver {
    pub(super) fn new(tried: Tried) -> Self {
        Self {
            inner: DefaultResolver::default(),
            tried,
        }
    }
}

impl Resolver for RecordingResolver {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        // An address needs no look-up, and so no thread to bound it.
        let literal = uri
            .authority()
            .and_then(|authority| authority.as_str().parse::<SocketAddr>().ok());
        let addresses = match literal {
            Some(address) => {
                let mut addresses = self.empty();
                addresses.push(address);
                addresses
            }
            None => self.inner.resolve(uri, config, timeout)?,
        };
        let mut tried = self.tried.lock().unwrap_or_else(PoisonError::into_inner);
        *tried = addresses.iter().copied().collect();
        Ok(addresses)
    }
}
