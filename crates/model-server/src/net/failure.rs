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
                format!("{url}: TLS failed: {cause} ({})", tls_advice(&cause)),
            ),
            Self::ClosedUnanswered => {
                let hint = if url.starts_with("http:") {
                    " (does it want https?)"
                } else {
                    ""
                };
                CallError::new(
                    ErrorClass::Cut,
                    format!("{url}: the server closed the connection without an answer{hint}"),
                )
            }
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

/// What to do about a TLS failure.
fn tls_advice(cause: &str) -> &'static str {
    let lower = cause.to_lowercase();
    let has = |word: &str| lower.contains(word);
    // Only bytes that are no TLS at all are called corrupt at the first message.
    if has("corrupt message") || has("invalidcontenttype") {
        return "what answers there does not speak TLS: is it http:// without s?";
    }
    if has("causedasendentity") {
        return "its certificate is an authority and cannot be a server's as well, as `openssl req \
                -x509` makes them: make it anew with -addext basicConstraints=critical,CA:FALSE; \
                --insecure skips the check";
    }
    if has("notvalidforname") || has("not valid for name") {
        return "the certificate names another host: write the host as the certificate does; \
                --insecure skips the check";
    }
    if has("expired") || has("notvalidyet") || has("not valid yet") {
        return "renew the certificate, or set the clock; --insecure skips the check";
    }
    "for a server with its own certificate give its authority by --cacert FILE or `ca_file`; \
     --insecure skips the check"
}

#[cfg(test)]
mod tests {
    use super::Failure;

    fn words(cause: &str) -> String {
        Failure::Tls(cause.to_owned())
            .into_error("https://h/health")
            .message
    }

    #[test]
    fn r31_each_way_in_which_tls_fails_has_its_own_advice() {
        for (cause, advice) in [
            (
                "received corrupt message of type InvalidContentType",
                "http://",
            ),
            (
                "invalid peer certificate: Other(OtherError(CaUsedAsEndEntity))",
                "CA:FALSE",
            ),
            (
                "invalid peer certificate: certificate not valid for name \"h\"",
                "another host",
            ),
            ("invalid peer certificate: Expired", "renew"),
            ("invalid peer certificate: UnknownIssuer", "--cacert"),
        ] {
            let said = words(cause);
            assert!(said.contains(advice) && said.contains(cause), "{said}");
        }
    }

    #[test]
    fn a_closed_connection_asks_for_https_only_where_it_was_not_used() {
        let of = |url: &str| Failure::ClosedUnanswered.into_error(url).message;
        assert!(of("http://h:1/health").contains("https?"));
        assert!(!of("https://h:1/health").contains("https?"));
    }
}
