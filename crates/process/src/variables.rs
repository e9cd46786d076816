//! Which variables a confined command gets: one list, so that a check sees the same environment
//! whoever runs it (the worker, the check of its hand-off, the host before it lands).

use crate::sandbox::Network;

/// What makes tools work: places, languages, settings of compilers. No keys, no addresses, nothing
/// of the session (agents, displays, job servers).
const PASSED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "XDG_CACHE_HOME",
    // Rust
    "CARGO_HOME",
    "CARGO_TARGET_DIR",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "RUSTC",
    "RUSTFLAGS",
    // Go
    "GOPATH",
    "GOROOT",
    "GOCACHE",
    "GOMODCACHE",
    "GOFLAGS",
    "GOTOOLCHAIN",
    // Java and what runs on it
    "JAVA_HOME",
    "MAVEN_HOME",
    "MAVEN_OPTS",
    "GRADLE_USER_HOME",
    "SDKMAN_DIR",
    // JavaScript
    "NVM_DIR",
    "VOLTA_HOME",
    "FNM_DIR",
    "NODE_PATH",
    "NODE_OPTIONS",
    "NPM_CONFIG_CACHE",
    "PNPM_HOME",
    "DENO_DIR",
    "BUN_INSTALL",
    // Python
    "PYENV_ROOT",
    "PYENV_VERSION",
    "PYTHONPATH",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "UV_CACHE_DIR",
    "PIP_CACHE_DIR",
    // Ruby, PHP, Perl
    "GEM_HOME",
    "GEM_PATH",
    "RBENV_ROOT",
    "BUNDLE_PATH",
    "COMPOSER_HOME",
    "PERL5LIB",
    // .NET, Haskell, OCaml, Julia, versions of many
    "DOTNET_ROOT",
    "NUGET_PACKAGES",
    "STACK_ROOT",
    "OPAMROOT",
    "OPAMSWITCH",
    "JULIA_DEPOT_PATH",
    "ASDF_DIR",
    "ASDF_DATA_DIR",
    "MISE_DATA_DIR",
    // C and libraries
    "CC",
    "CXX",
    "CFLAGS",
    "CXXFLAGS",
    "LDFLAGS",
    "LD_LIBRARY_PATH",
    "LIBRARY_PATH",
    "CPATH",
    "PKG_CONFIG_PATH",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NIX_PATH",
];

/// How to get out, for commands that may.
const PASSED_WITH_NETWORK: &[&str] = &[
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "GOPROXY",
];

/// Values that keep programs from asking, paging, editing and colouring. Editors fail rather than
/// accept: `GIT_SEQUENCE_EDITOR=true` would run a rebase with its default list.
const FIXED: &[(&str, &str)] = &[
    ("CI", "1"),
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("GIT_EDITOR", "true"),
    ("GIT_SEQUENCE_EDITOR", "false"),
    ("EDITOR", "false"),
    ("VISUAL", "false"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("SSH_ASKPASS", "false"),
    ("SSH_ASKPASS_REQUIRE", "never"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("PYTHONDONTWRITEBYTECODE", "1"),
    ("PYTHONUNBUFFERED", "1"),
    ("PIP_NO_INPUT", "1"),
    ("npm_config_yes", "true"),
    ("npm_config_fund", "false"),
    ("npm_config_audit", "false"),
    ("CARGO_TERM_COLOR", "never"),
    ("CARGO_TERM_PROGRESS_WHEN", "never"),
];

/// The variables for a confined command, out of all of ours. Those that a task names (`named`) are
/// its own affair: they come too, whatever they are, and are stronger than the fixed ones.
pub fn confined_variables<'a>(
    ours: impl IntoIterator<Item = (&'a str, &'a str)>,
    named: &[String],
    network: Network,
) -> Vec<(String, String)> {
    let is_named = |name: &str| named.iter().any(|n| n == name);
    let is_usual = |name: &str| {
        PASSED.contains(&name)
            || name.starts_with("LC_")
            || (network == Network::All && PASSED_WITH_NETWORK.contains(&name))
    };
    let passed: Vec<_> = ours
        .into_iter()
        .filter(|(name, _)| is_named(name) || is_usual(name))
        .collect();
    let is_passed = |name: &str| passed.iter().any(|(n, _)| *n == name);
    let fixed = FIXED.iter().copied().filter(|(name, _)| !is_passed(name));
    let own = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    fixed.chain(passed.iter().copied()).map(own).collect()
}

#[cfg(test)]
mod tests {
    use super::{FIXED, PASSED, PASSED_WITH_NETWORK, confined_variables};
    use crate::sandbox::Network;

    const OURS: [(&str, &str); 9] = [
        ("PATH", "/bin"),
        ("LC_MESSAGES", "de_DE"),
        ("OPENAI_API_KEY", "sk-x"),
        ("OPENCODE_VLLM_BASE_URL", "http://h/v1"),
        ("SSH_AUTH_SOCK", "/run/agent"),
        ("BATON_SLOT", "1"),
        ("HTTPS_PROXY", "http://u:p@proxy"),
        ("TERM", "xterm"),
        ("DATABASE_URL", "sqlite::memory:"),
    ];

    fn value<'a>(variables: &'a [(String, String)], name: &str) -> Option<&'a str> {
        let mut found = variables.iter().filter(|(n, _)| n == name);
        let value = found.next().map(|(_, v)| v.as_str());
        assert_eq!(found.next(), None, "{name} stands there twice");
        value
    }

    #[test]
    fn what_tools_need_passes_and_keys_and_addresses_do_not() {
        let variables = confined_variables(OURS, &[], Network::Loopback);
        assert_eq!(value(&variables, "PATH"), Some("/bin"));
        assert_eq!(value(&variables, "LC_MESSAGES"), Some("de_DE"));
        assert_eq!(value(&variables, "TERM"), Some("dumb"));
        assert_eq!(value(&variables, "GIT_EDITOR"), Some("true"));
        for name in [
            "OPENAI_API_KEY",
            "OPENCODE_VLLM_BASE_URL",
            "SSH_AUTH_SOCK",
            "BATON_SLOT",
            "HTTPS_PROXY",
            "DATABASE_URL",
        ] {
            assert_eq!(value(&variables, name), None, "{name}");
        }
    }

    #[test]
    fn a_proxy_is_told_only_to_those_who_may_get_out() {
        for (network, proxy) in [
            (Network::None, None),
            (Network::Loopback, None),
            (Network::All, Some("http://u:p@proxy")),
        ] {
            let variables = confined_variables(OURS, &[], network);
            assert_eq!(value(&variables, "HTTPS_PROXY"), proxy, "{network:?}");
        }
    }

    #[test]
    fn what_a_task_names_comes_too_and_is_stronger() {
        let named = ["DATABASE_URL", "TERM", "CI", "NOT_SET"].map(String::from);
        let variables = confined_variables(OURS, &named, Network::None);
        assert_eq!(value(&variables, "DATABASE_URL"), Some("sqlite::memory:"));
        assert_eq!(value(&variables, "TERM"), Some("xterm"));
        assert_eq!(value(&variables, "CI"), Some("1"), "asked for, but not set");
        assert_eq!(value(&variables, "NOT_SET"), None);
    }

    #[test]
    fn no_name_is_both_passed_and_fixed_and_none_looks_like_a_key() {
        let passed: Vec<&str> = PASSED.iter().chain(PASSED_WITH_NETWORK).copied().collect();
        for (at, name) in passed.iter().enumerate() {
            assert!(
                !passed[at + 1..].contains(name),
                "{name} stands there twice"
            );
            assert!(!FIXED.iter().any(|(fixed, _)| fixed == name), "{name}");
            for word in [
                "KEY", "TOKEN", "SECRET", "PASSWORD", "AUTH", "BATON", "OPENAI",
            ] {
                assert!(!name.contains(word), "{name}");
            }
        }
    }
}
