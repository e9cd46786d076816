//! Which requests go through a proxy.
//!
//! The variables are those curl reads. Loopback addresses never go through a proxy, whatever the
//! variables say: a corporate proxy cannot reach this machine, and it answers with a web page.

use std::net::IpAddr;

use baton_protocol::BaseUrl;

/// The proxies the environment names, and the hosts that are reached without one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProxyRules {
    http: Option<String>,
    https: Option<String>,
    exceptions: Vec<Exception>,
}

/// One entry of `NO_PROXY`.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Exception {
    Everything,
    /// A name, and every name below it.
    Domain(String),
    /// An address and the number of leading bits that count.
    Network(IpAddr, u32),
}

impl ProxyRules {
    /// Reads the rules from variables. Lower case wins, as in curl; `HTTP_PROXY` in upper case is
    /// read too, because the programs people compare us with do.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        let first = |names: &[&str]| {
            names
                .iter()
                .filter_map(|name| variable(name))
                .map(|value| value.trim().to_owned())
                .find(|value| !value.is_empty())
        };
        let all = first(&["all_proxy", "ALL_PROXY"]);
        Self {
            http: first(&["http_proxy", "HTTP_PROXY"]).or_else(|| all.clone()),
            https: first(&["https_proxy", "HTTPS_PROXY"]).or(all),
            exceptions: first(&["no_proxy", "NO_PROXY"])
                .map(|list| exceptions(&list))
                .unwrap_or_default(),
        }
    }

    /// The proxy for a server, or none.
    pub fn for_url(&self, url: &BaseUrl) -> Option<&str> {
        if url.is_loopback() || self.exceptions.iter().any(|e| e.covers(url.host())) {
            return None;
        }
        let proxy = if url.is_tls() {
            &self.https
        } else {
            &self.http
        };
        proxy.as_deref()
    }
}

fn exceptions(list: &str) -> Vec<Exception> {
    list.split([',', ' ', '\t', ';'])
        .map(str::trim)
        .filter(|entry| !entry.is_empty())
        .filter_map(exception)
        .collect()
}

fn exception(entry: &str) -> Option<Exception> {
    if entry == "*" {
        return Some(Exception::Everything);
    }
    let bare = entry.trim_start_matches('[').replace(']', "");
    if let Some((address, bits)) = bare.split_once('/') {
        let address = address.parse::<IpAddr>().ok()?;
        return Some(Exception::Network(address, bits.parse().ok()?));
    }
    if let Ok(address) = bare.parse::<IpAddr>() {
        return Some(Exception::Network(address, 128));
    }
    // A port after a name is ignored: the rule is about the host.
    let name = entry.split(':').next().unwrap_or(entry);
    let name = name.trim_start_matches('*').trim_matches('.');
    (!name.is_empty()).then(|| Exception::Domain(name.to_ascii_lowercase()))
}

impl Exception {
    fn covers(&self, host: &str) -> bool {
        match self {
            Self::Everything => true,
            Self::Domain(name) => {
                host == name
                    || host
                        .strip_suffix(name.as_str())
                        .is_some_and(|rest| rest.ends_with('.'))
            }
            Self::Network(network, bits) => host
                .parse::<IpAddr>()
                .is_ok_and(|address| same_network(address, *network, *bits)),
        }
    }
}

fn same_network(a: IpAddr, b: IpAddr, bits: u32) -> bool {
    match (a, b) {
        (IpAddr::V4(a), IpAddr::V4(b)) => {
            let shift = 32 - bits.min(32);
            u64::from(a.to_bits()) >> shift == u64::from(b.to_bits()) >> shift
        }
        (IpAddr::V6(a), IpAddr::V6(b)) => {
            let shift = 128 - bits.min(128);
            shift == 128 || a.to_bits() >> shift == b.to_bits() >> shift
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use baton_protocol::BaseUrl;

    use super::ProxyRules;

    fn proxy(variables: &[(&str, &str)], url: &str) -> Option<String> {
        let rules = ProxyRules::from_variables(|name| {
            variables
                .iter()
                .find(|(n, _)| *n == name)
                .map(|(_, v)| (*v).to_owned())
        });
        rules
            .for_url(&BaseUrl::parse(url).unwrap())
            .map(ToOwned::to_owned)
    }

    const PROXY: (&str, &str) = ("http_proxy", "http://proxy:3128");

    #[test]
    fn r29_loopback_never_goes_through_a_proxy() {
        for url in [
            "http://127.0.0.1:8000",
            "http://127.9.9.9",
            "http://localhost:1",
            "http://[::1]:8000",
        ] {
            assert_eq!(proxy(&[PROXY], url), None, "{url}");
        }
        assert!(proxy(&[PROXY], "http://10.0.0.1:8000").is_some());
    }

    #[test]
    fn r29_networks_and_blanks_in_no_proxy_are_understood() {
        let none = (
            "NO_PROXY",
            "127.0.0.0/8,localhost, lan, fd00::/64 ,10.1.0.0/16",
        );
        for url in [
            "http://box.lan",
            "http://lan:80",
            "http://[fd00::5]:8000",
            "http://10.1.200.3",
        ] {
            assert_eq!(proxy(&[PROXY, none], url), None, "{url}");
        }
        for url in [
            "http://10.2.0.1",
            "http://vlan",
            "http://[fd00:0:0:1::5]",
            "http://lan.example",
        ] {
            assert!(proxy(&[PROXY, none], url).is_some(), "{url}");
        }
    }

    #[test]
    fn r30_ipv6_in_no_proxy_matches_with_and_without_brackets() {
        for list in ["localhost,127.0.0.1,fd00::7", "[fd00::7]", "[fd00::7]/128"] {
            let none = ("no_proxy", list);
            assert_eq!(
                proxy(&[PROXY, none], "http://[fd00::7]:8000"),
                None,
                "{list}"
            );
        }
    }

    #[test]
    fn other_forms_of_no_proxy() {
        let yes = |list, url| proxy(&[PROXY, ("no_proxy", list)], url).is_none();
        assert!(yes("*", "http://anything"));
        assert!(yes(".corp.example", "http://gpu.corp.example"));
        assert!(yes("*.corp.example", "http://gpu.corp.example"));
        assert!(yes("gpu.corp.example:8000", "http://gpu.corp.example:8000"));
        assert!(yes("0.0.0.0/0", "http://9.9.9.9"));
        assert!(yes("::/0", "http://[2001:db8::1]"));
        assert!(!yes("", "http://gpu"));
        assert!(!yes("10.0.0.0/nonsense", "http://10.0.0.1"));
    }

    #[test]
    fn each_scheme_has_its_proxy_and_all_proxy_serves_both() {
        assert_eq!(proxy(&[PROXY], "https://h"), None);
        let all = ("ALL_PROXY", "http://p:1");
        assert!(proxy(&[all], "https://h").is_some());
        assert!(proxy(&[all], "http://h").is_some());
        assert_eq!(proxy(&[("http_proxy", " ")], "http://h"), None);
    }
}
