//! A snapshot of the environment, so that pure code can be given one.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Environment variables with UTF-8 names and values. An empty value counts as unset.
#[derive(Debug, Clone, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// This process's environment. Where `HOME` is not set (a service, `env -i`) it is the user's
    /// home by `/etc/passwd`, so that everything is looked for where the user's shell puts it.
    pub fn from_process() -> Self {
        let variables = std::env::vars_os();
        let mut environment: Self = variables
            .filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)))
            .collect();
        if environment.absolute_path("HOME").is_none()
            && let Some(home) = passwd_home()
        {
            environment.0.insert("HOME".into(), home);
        }
        environment
    }

    /// The value of a variable; none when unset or empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0
            .get(name)
            .map(String::as_str)
            .filter(|v| !v.is_empty())
    }

    /// Like [`Self::get`], as a path; a relative one is ignored, as the XDG rules say.
    pub fn absolute_path(&self, name: &str) -> Option<PathBuf> {
        self.get(name)
            .map(PathBuf::from)
            .filter(|p| p.is_absolute())
    }

    /// Every variable.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(k, v)| (k.as_str(), v.as_str()))
    }
}

fn passwd_home() -> Option<String> {
    let user = fs::metadata("/proc/self").ok()?.uid();
    home_of(user, &fs::read_to_string("/etc/passwd").ok()?)
}

/// The home directory of a user by the text of `/etc/passwd`.
fn home_of(user: u32, passwd: &str) -> Option<String> {
    let of_line = |line: &str| {
        let mut fields = line.split(':').skip(2);
        let is_users = fields.next()?.parse() == Ok(user);
        let home = fields.nth(2)?;
        (is_users && Path::new(home).is_absolute()).then(|| home.to_owned())
    };
    passwd.lines().find_map(of_line)
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(variables: I) -> Self {
        Self(
            variables
                .into_iter()
                .map(|(k, v)| (k.into(), v.into()))
                .collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::home_of;

    #[test]
    fn the_home_of_a_user_without_home_is_that_of_passwd() {
        let text = "# comment\nroot:x:0:0:root:/root:/bin/sh\nme:x:1000:1000::/home/me:/bin/sh\n\
                    odd:x:7:7::relative:/bin/sh\nshort:x:8\n";
        assert_eq!(home_of(0, text).as_deref(), Some("/root"));
        assert_eq!(home_of(1000, text).as_deref(), Some("/home/me"));
        for without in [7, 8, 9] {
            assert_eq!(home_of(without, text), None);
        }
    }
}
