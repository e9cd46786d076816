//! Where Baton keeps things, by the XDG base directory rules.

use std::path::{Path, PathBuf};

use crate::Environment;

/// Names a file instead of the user's configuration.
pub(crate) const CONFIG: &str = "BATON_CONFIG";

fn home_relative(env: &Environment, variable: &str, default: &str) -> PathBuf {
    env.absolute_path(variable).unwrap_or_else(|| {
        let home = env
            .absolute_path("HOME")
            .unwrap_or_else(|| PathBuf::from("/"));
        home.join(default)
    })
}

/// `$BATON_CONFIG`, else `$XDG_CONFIG_HOME/baton/config.toml`, else `~/.config/baton/config.toml`.
pub fn config_file(env: &Environment) -> PathBuf {
    if let Some(file) = env.absolute_path(CONFIG) {
        return file;
    }
    home_relative(env, "XDG_CONFIG_HOME", ".config").join("baton/config.toml")
}

/// `$XDG_STATE_HOME/baton`, else `~/.local/state/baton`: calibration, trust, slots.
pub fn state_dir(env: &Environment) -> PathBuf {
    home_relative(env, "XDG_STATE_HOME", ".local/state").join("baton")
}

/// `$XDG_CACHE_HOME/baton`, else `~/.cache/baton`: what can be made again.
pub fn cache_dir(env: &Environment) -> PathBuf {
    home_relative(env, "XDG_CACHE_HOME", ".cache").join("baton")
}

/// `$BATON_LOCK_DIR`, else `slots` in the state folder.
pub fn lock_dir(env: &Environment) -> PathBuf {
    match env.get("BATON_LOCK_DIR") {
        Some(dir) => Path::new(dir).to_owned(),
        None => state_dir(env).join("slots"),
    }
}

#[cfg(test)]
mod tests {
    use super::{cache_dir, config_file, lock_dir, state_dir};
    use crate::Environment;

    #[test]
    fn places_follow_the_xdg_rules() {
        let home: Environment = [("HOME", "/home/me")].into_iter().collect();
        assert_eq!(
            state_dir(&home).to_str(),
            Some("/home/me/.local/state/baton")
        );
        assert_eq!(
            lock_dir(&home).to_str(),
            Some("/home/me/.local/state/baton/slots")
        );
        let xdg: Environment = [
            ("HOME", "/home/me"),
            ("XDG_STATE_HOME", "/state"),
            ("XDG_CACHE_HOME", "relative/is/ignored"),
            ("XDG_CONFIG_HOME", ""),
            ("BATON_LOCK_DIR", "/run/baton"),
        ]
        .into_iter()
        .collect();
        assert_eq!(state_dir(&xdg).to_str(), Some("/state/baton"));
        assert_eq!(cache_dir(&xdg).to_str(), Some("/home/me/.cache/baton"));
        assert_eq!(
            config_file(&xdg).to_str(),
            Some("/home/me/.config/baton/config.toml")
        );
        assert_eq!(lock_dir(&xdg).to_str(), Some("/run/baton"));
        let named: Environment = [("HOME", "/home/me"), ("BATON_CONFIG", "/etc/b.toml")]
            .into_iter()
            .collect();
        assert_eq!(config_file(&named).to_str(), Some("/etc/b.toml"));
    }
}
