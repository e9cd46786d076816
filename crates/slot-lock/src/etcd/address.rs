//! `etcd://HOST:PORT[,HOST:PORT…]/PREFIX`: where an etcd store is.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How long a slot outlives a holder that cannot be heard any more.
const DEFAULT_TTL: Duration = Duration::from_secs(10);
/// etcd grants no less than 2 s, and a third of it must do for one request.
const TTL_RANGE: std::ops::RangeInclusive<u64> = 3..=3600;
const DEFAULT_PORT: u16 = 2379;

/// A store's address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Address {
    /// `http://HOST:PORT` of every member that is to be asked.
    pub(super) roots: Vec<String>,
    /// The beginning of all keys, with a slash at its end.
    pub(super) prefix: String,
    pub(super) ttl: Duration,
}

impl std::str::FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |what: &str| {
            Err(format!(
                "`{text}` is no store: {what} (example: etcd://10.0.0.5:2379,10.0.0.6:2379/baton)"
            ))
        };
        let (scheme, rest) = match text.split_once("://") {
            Some(("etcd", rest)) => ("http", rest),
            Some(("etcds", rest)) => ("https", rest),
            _ => return wrong("it starts with neither etcd:// nor etcds:// (TLS)"),
        };
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (members, path) = rest.split_once('/').unwrap_or((rest, ""));
        if members.contains('@') {
            return wrong("name the user in ETCDCTL_USER, not in the address");
        }
        let mut roots = Vec::new();
        for member in members.split(',') {
            match member_root(scheme, member.trim()) {
                Some(root) => roots.push(root),
                None if !member.is_ascii() => {
                    return wrong(&format!(
                        "`{member}` is not in ASCII; write the name as DNS has it (xn--…)"
                    ));
                }
                None => return wrong(&format!("`{member}` is no HOST:PORT")),
            }
        }
        let path = path.trim_matches('/');
        let mut ttl = DEFAULT_TTL;
        for setting in query.split('&').filter(|s| !s.is_empty()) {
            let Some(("ttl", value)) = setting.split_once('=') else {
                return wrong(&format!("`{setting}` is no setting; there is: ttl=TIME"));
            };
            ttl = match humantime::parse_duration(value) {
                Ok(ttl) if ttl.subsec_nanos() == 0 && TTL_RANGE.contains(&ttl.as_secs()) => ttl,
                _ => return wrong("ttl is whole seconds from 3s to 1h"),
            };
        }
        let prefix = if path.is_empty() { "baton" } else { path };
        Ok(Self {
            roots,
            prefix: format!("{prefix}/"),
            ttl,
        })
    }
}

fn member_root(scheme: &str, member: &str) -> Option<String> {
    let (host, port) = match member.rsplit_once(':') {
        // An IPv6 address without a port ends with its bracket.
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()?),
        _ => (member, DEFAULT_PORT),
    };
    let bracketed = host.starts_with('[') && host.ends_with(']') && host.len() > 2;
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_');
    let is_host = bracketed || (!host.is_empty() && host.bytes().all(plain));
    (is_host && port != 0).then(|| format!("{scheme}://{host}:{port}"))
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let is_tls = self.roots.first().is_some_and(|r| r.starts_with("https"));
        f.write_str(if is_tls { "etcds://" } else { "etcd://" })?;
        for (at, root) in self.roots.iter().enumerate() {
            let member = root.split_once("://").map_or(root.as_str(), |(_, m)| m);
            let comma = if at > 0 { "," } else { "" };
            write!(f, "{comma}{member}")?;
        }
        write!(f, "/{}", self.prefix.trim_end_matches('/'))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Address;

    #[test]
    fn members_prefix_and_time_to_live_are_read() {
        let address: Address = "etcd://10.0.0.5:2379,box,[::1]:1/a/b/?ttl=5s"
            .parse()
            .unwrap();
        let roots = ["http://10.0.0.5:2379", "http://box:2379", "http://[::1]:1"];
        assert_eq!(address.roots, roots);
        assert_eq!(
            (address.prefix.as_str(), address.ttl.as_secs()),
            ("a/b/", 5)
        );
        assert_eq!(
            address.to_string(),
            "etcd://10.0.0.5:2379,box:2379,[::1]:1/a/b"
        );
        let tls: Address = "etcds://h".parse().unwrap();
        assert_eq!(tls.roots, ["https://h:2379"]);
        assert_eq!((tls.prefix.as_str(), tls.ttl.as_secs()), ("baton/", 10));
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (bad, said) in [
            ("redis://h", "neither etcd://"),
            ("etcd://", "HOST:PORT"),
            ("etcd://h:0/x", "HOST:PORT"),
            ("etcd://h:70000", "HOST:PORT"),
            ("etcd://h,,i", "HOST:PORT"),
            ("etcd://bücher:1/x", "xn--"),
            ("etcd://me:secret@h", "ETCDCTL_USER"),
            ("etcd://h/x?ttl=1s", "3s to 1h"),
            ("etcd://h/x?ttl=2500ms", "3s to 1h"),
            ("etcd://h/x?tls=1", "no setting"),
        ] {
            let told = bad.parse::<Address>().unwrap_err();
            assert!(told.contains(said), "{bad}: {told}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in "(etcd://)?.{0,40}") {
            let _ = text.parse::<Address>();
        }
    }
}
