//! Why no answer came, told apart: refused is not timed out.

use std::net::SocketAddr;

use crate::errors::{CallError, Clock, ErrorClass};

/// A failure below HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Every address refused the connection, or is not reachable.
    Refused {
        /// The addresses that were tried.
        addresses: Vec<SocketAddr>,
        /// The system's words.
        cause: String,
    },
    /// The name does not resolve.
    NoSuchHost(String),
    /// Connecting took too long.
    ConnectTimedOut,
    /// The TLS handshake failed.
    Tls(String),
    /// The server closed the connection before it answered.
    ClosedUnanswered,
    /// The connection broke in the middle of the answer.
    Broken(String),
    /// What answered does not speak HTTP.
    NotHttp(String),
    /// The proxy did not connect us.
    Proxy(String),
    /// The request could not be made: a bad header, an unreadable CA file.
    Local(String),
}

impl Failure {
    /// The error for whoever made the call.
    pub(crate) fn into_error(self, url: &str) -> CallError {
        match self {
            Self::Refused { addresses, cause } => {
                let tried = addresses
                    .iter()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>()
                    .join(", ");
                let hint = if !addresses.is_empty() && addresses.iter().all(SocketAddr::is_ipv6) {
                    "; the server may listen on 127.0.0.1 only"
                } else {
                    ""
                };
                CallError::new(
                    ErrorClass::Refused,
                    format!("{url}: {cause} (tried {tried}); is the server running?{hint}"),
                )
            }
            Self::NoSuchHost(host) => CallError::new(
                ErrorClass::NoSuchHost,
                format!("{url}: the name `{host}` does not resolve"),
            ),
            Self::ConnectTimedOut => CallError::new(
                ErrorClass::TimedOut(Clock::Connect),
                format!(
                    "{url}: no connection in time (nothing refused it: a firewall, or the machine is down)"
                ),
            ),
            Self::Tls(cause) => CallError::new(
                ErrorClass::Tls,
                format!(
                    "{url}: TLS failed: {cause} (for a server with its own certificate give its \
                     authority by --cacert FILE or `ca_file`; --insecure skips the check)"
                ),
            ),
            Self::ClosedUnanswered => CallError::new(
                ErrorClass::Cut,
                format!("{url}: the server closed the connection without an answer"),
            ),
            Self::Broken(cause) => CallError::new(
                ErrorClass::Cut,
                format!("{url}: the connection broke in the middle of the answer: {cause}"),
            ),
            Self::NotHttp(cause) => CallError::new(
                ErrorClass::NotApi,
                format!(
                    "{url}: what answers there does not speak HTTP ({cause}); check scheme and port"
                ),
            ),
            Self::Proxy(cause) => CallError::new(
                ErrorClass::NotApi,
                format!(
                    "{url}: the proxy did not connect: {cause} (NO_PROXY names hosts that need none)"
                ),
            ),
            Self::Local(cause) => {
                CallError::new(ErrorClass::Deterministic, format!("{url}: {cause}"))
            }
        }
    }
}
