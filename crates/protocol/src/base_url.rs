//! Base URLs of model servers, normalised once.
//!
//! People write `http://box:8000`, `…/v1` and `…/v1/`; all three mean the same server. The root (for
//! `/health`, `/metrics`) has no `v1`, the API (for `/chat/completions`) has exactly one.

use std::net::Ipv6Addr;

use http::Uri;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The normalised address of a model server.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BaseUrl {
    scheme: &'static str,
    /// Lower case; an IPv6 address in brackets.
    host: String,
    port: u16,
    /// The path before the last `v1` segment: empty, or `/` and segments without a trailing slash.
    prefix: String,
}

impl BaseUrl {
    /// Reads what a person wrote. The error says what is wrong and what a right one looks like.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let wrong = |what: &str| {
            let shown = without_secrets(text);
            Err(format!(
                "`{shown}` is not a base URL: {what} (example: http://127.0.0.1:8000/v1)"
            ))
        };
        if text.is_empty() {
            return wrong("it is empty");
        }
        let Ok(uri) = text.parse::<Uri>() else {
            return wrong(why_unreadable(text));
        };
        // `http://a/v1,http://b/v1` reads as one address with an odd path.
        if uri.path().contains(',') || uri.path().contains("://") {
            return wrong("it is more than one address; give each by itself");
        }
        if uri.path().split('/').any(|s| s == ".." || s == ".") {
            return wrong("it has `.` or `..` in its path");
        }
        let (scheme, default_port) = match uri.scheme_str() {
            Some("http") => ("http", 80),
            Some("https") => ("https", 443),
            Some(_) => return wrong("only http and https are spoken"),
            None => return wrong("it does not start with http:// or https://"),
        };
        if uri.query().is_some() {
            return wrong("it has a query");
        }
        let Some(authority) = uri.authority() else {
            return wrong("it names no host");
        };
        if authority.as_str().contains('@') {
            return wrong("it holds a user name or password; give a key by api_key_env instead");
        }
        let host = canonical_host(authority.host());
        if host.is_empty() || host == "[]" {
            return wrong("it names no host");
        }
        let port_text = authority
            .as_str()
            .strip_prefix(authority.host())
            .unwrap_or_default();
        let port = match port_text.strip_prefix(':') {
            None => default_port,
            Some(digits) => match digits.parse::<u16>() {
                Ok(port) if port != 0 => port,
                _ => return wrong("its port is not 1 to 65535"),
            },
        };
        let mut segments: Vec<&str> = uri.path().split('/').filter(|s| !s.is_empty()).collect();
        let is_route = matches!(
            segments.as_slice(),
            [.., "chat", "completions"] | [.., "v1", "completions" | "models" | "responses"]
        );
        if is_route {
            return wrong("it ends with a route; leave off what comes after /v1");
        }
        if segments.last() == Some(&"v1") {
            segments.pop();
        }
        let prefix = segments.iter().flat_map(|segment| ["/", segment]).collect();
        Ok(Self {
            scheme,
            host,
            port,
            prefix,
        })
    }

    /// The canonical origin: scheme, host and port, for example `http://127.0.0.1:8000`.
    ///
    /// Two providers with the same origin are the same server.
    pub fn origin(&self) -> String {
        format!("{}://{}:{}", self.scheme, self.host, self.port)
    }

    /// The root, without a trailing slash: `http://box:8000` (with a sub-path where one was given).
    pub fn root(&self) -> String {
        format!(
            "{}://{}{}{}",
            self.scheme,
            self.host,
            self.port_part(),
            self.prefix
        )
    }

    /// The API root, without a trailing slash: `http://box:8000/v1`.
    pub fn api(&self) -> String {
        format!("{}/v1", self.root())
    }

    /// The host; an IPv6 address without brackets.
    pub fn host(&self) -> &str {
        self.host.trim_start_matches('[').trim_end_matches(']')
    }

    /// The port.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Whether it is spoken to over TLS.
    pub fn is_tls(&self) -> bool {
        self.scheme == "https"
    }

    /// Whether the host is this machine (`localhost`, `127.0.0.0/8`, `::1`, `0.0.0.0`).
    pub fn is_loopback(&self) -> bool {
        let host = self.host();
        host == "localhost"
            || host.ends_with(".localhost")
            || host
                .parse::<std::net::IpAddr>()
                .map(|ip| ip.to_canonical())
                // A server that listens on every address says 0.0.0.0; there it is this machine.
                .is_ok_and(|ip| ip.is_loopback() || ip.is_unspecified())
    }

    fn port_part(&self) -> String {
        match (self.scheme, self.port) {
            ("http", 80) | ("https", 443) => String::new(),
            (_, port) => format!(":{port}"),
        }
    }
}

/// Why an address cannot be read, where that can be told.
fn why_unreadable(text: &str) -> &'static str {
    let lower = text.to_ascii_lowercase();
    let quotes = [
        '"', '\'', '`', '<', '>', '\u{201c}', '\u{201d}', '\u{2018}', '\u{2019}',
    ];
    if text.starts_with(quotes) || text.ends_with(quotes) {
        return "it is quoted; leave the quotation marks off";
    }
    if lower.contains("unix:") {
        return "UNIX sockets are not spoken to; let the server listen on a port";
    }
    let Some(rest) = ["http://", "https://"]
        .iter()
        .find_map(|scheme| lower.strip_prefix(scheme))
    else {
        return "it does not start with http:// or https://";
    };
    let authority = rest.split('/').next().unwrap_or(rest);
    if authority.is_empty() {
        return "it names no host";
    }
    if !authority.is_ascii() {
        return "its host is not ASCII; write it as DNS does (xn--…)";
    }
    if text.contains(char::is_whitespace) {
        return "there is a blank in it";
    }
    if text.contains('\\') {
        return "there is a backslash in it; write /";
    }
    if authority.matches(':').count() > 1 && !authority.starts_with('[') {
        return "an IPv6 address stands in brackets: http://[::1]:8000";
    }
    "it cannot be parsed"
}

/// What was written, without the places where keys hide: a user's password and a query's values.
fn without_secrets(text: &str) -> String {
    let (text, query) = match text.split_once('?') {
        Some((before, _)) => (before, "?…"),
        None => (text, ""),
    };
    let start = text.find("://").map_or(0, |at| at + 3);
    let (scheme, rest) = text.split_at(start);
    let end = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    match authority.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}…@{host}{path}{query}"),
        None => format!("{scheme}{authority}{path}{query}"),
    }
}

/// Lower case, without a trailing dot, IPv6 in its shortest form.
fn canonical_host(host: &str) -> String {
    let bare = host.strip_prefix('[').and_then(|h| h.strip_suffix(']'));
    match bare.and_then(|h| h.parse::<Ipv6Addr>().ok()) {
        Some(ip) => format!("[{ip}]"),
        None => host.trim_end_matches('.').to_ascii_lowercase(),
    }
}

impl std::fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.api())
    }
}

impl std::str::FromStr for BaseUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::parse(text)
    }
}

impl Serialize for BaseUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for BaseUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::BaseUrl;

    fn url(text: &str) -> BaseUrl {
        BaseUrl::parse(text).unwrap()
    }

    #[test]
    fn r21_r22_r24_exactly_one_whole_segment_v1_is_the_api_root() {
        for same in [
            "http://h:1234",
            "http://h:1234/",
            "http://h:1234/v1",
            "http://h:1234/v1/",
        ] {
            assert_eq!(url(same).root(), "http://h:1234");
            assert_eq!(url(same).api(), "http://h:1234/v1");
        }
        assert_eq!(url("http://h/av1").api(), "http://h/av1/v1");
        assert_eq!(url("http://h/v10").api(), "http://h/v10/v1");
        assert_eq!(url("http://h/v1/v1").root(), "http://h/v1");
    }

    #[test]
    fn r23_a_sub_path_is_kept() {
        assert_eq!(url("https://h/api/v1").root(), "https://h/api");
        assert_eq!(url("https://h/api/v1/").api(), "https://h/api/v1");
        assert_eq!(url("https://h//api//").api(), "https://h/api/v1");
    }

    #[test]
    fn r28_an_ipv6_literal_is_parsed() {
        let v6 = url("http://[::1]:11434");
        assert_eq!((v6.host(), v6.port()), ("::1", 11434));
        assert!(v6.is_loopback());
        assert_eq!(url("http://[0:0:0:0:0:0:0:1]:1").origin(), "http://[::1]:1");
    }

    #[test]
    fn the_origin_is_canonical() {
        assert_eq!(url("HTTP://Box.Local./v1").origin(), "http://box.local:80");
        assert_eq!(url("https://h/x/v1").origin(), "https://h:443");
        assert_ne!(url("http://h").origin(), url("https://h:80").origin());
    }

    #[test]
    fn r21_a_route_is_no_base() {
        for text in [
            "http://h:8000/v1/chat/completions",
            "http://h/llm/chat/completions/",
            "http://h/v1/models",
            "http://h/api/v1/completions",
        ] {
            let error = BaseUrl::parse(text).unwrap_err();
            assert!(error.contains("a route"), "{error}");
        }
        assert_eq!(url("http://h/models").root(), "http://h/models");
    }

    #[test]
    fn r29_every_spelling_of_this_machine_is_loopback() {
        for text in [
            "http://0.0.0.0:8000",
            "http://[::]:8000",
            "http://[::ffff:127.0.0.1]:8000",
        ] {
            assert!(url(text).is_loopback(), "{text}");
        }
        assert!(!url("http://[::ffff:10.0.0.1]").is_loopback());
    }

    #[test]
    fn loopback_is_recognised() {
        for yes in [
            "http://localhost:1",
            "http://127.8.9.1",
            "http://[::1]",
            "http://a.localhost",
        ] {
            assert!(url(yes).is_loopback(), "{yes}");
        }
        for no in [
            "http://10.0.0.1",
            "http://localhost.example",
            "http://[fd00::1]",
        ] {
            assert!(!url(no).is_loopback(), "{no}");
        }
    }

    #[test]
    fn wrong_ones_say_what_is_wrong() {
        let cases = [
            ("", "empty"),
            ("127.0.0.1:8000", "http://"),
            ("localhost", "http://"),
            ("ftp://h", "only http"),
            ("http://", "no host"),
            ("http:///v1", "no host"),
            ("127.0.0.1:8000/v1", "http://"),
            ("http//h:8000", "http://"),
            ("http:/h:8000", "http://"),
            ("{{base_url}}", "http://"),
            ("\"http://h:8000/v1\"", "quoted"),
            ("'http://h'", "quoted"),
            ("unix:///run/x.sock", "UNIX"),
            ("http+unix://%2Frun%2Fx.sock/v1", "UNIX"),
            ("http://m\u{fc}nchen.example/v1", "ASCII"),
            ("http://exa mple:8000", "blank"),
            ("http://h:8000\\v1", "backslash"),
            ("http://::1:8000/v1", "brackets"),
            ("http://a:1/v1,http://b:1/v1", "more than one"),
            ("http://a:1/http://b:1/v1", "more than one"),
            ("http://h:1/v1/../v1", ".."),
            ("http://h:0", "port"),
            ("http://h:99999", "port"),
            ("http://h/v1?x=1", "query"),
            ("http://me:pw@h/v1", "password"),
            ("/chat/completions", "http://"),
        ];
        for (text, word) in cases {
            let error = BaseUrl::parse(text).unwrap_err();
            assert!(error.contains(word), "{text}: {error}");
        }
    }
}
