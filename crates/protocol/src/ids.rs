//! Names that are safe to use as file names and paths.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

/// The name of a task: 1 to 128 of `A-Z a-z 0-9 . _ -`, starting with a letter or digit.
///
/// Such a name can stand in a path, a branch name and a shell word without quoting.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TaskId(String);

impl TaskId {
    /// Checks and wraps a name; the error says what is wrong with it.
    pub fn new(name: impl Into<String>) -> Result<Self, String> {
        let name = name.into();
        let starts_well = name.starts_with(|c: char| c.is_ascii_alphanumeric());
        let all_allowed = name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
        // Git refuses branches that end so.
        let ends_badly = name
            .rsplit_once('.')
            .is_some_and(|(_, last)| matches!(last, "" | "lock"));
        if name.len() > 128 || !starts_well || ends_badly || !all_allowed || name.contains("..") {
            return Err(format!(
                "`{name}` is not a task id: use 1 to 128 letters, digits, `.`, `_` or `-`, \
                 starting with a letter or digit, without `..`, ending neither with `.` nor with `.lock`"
            ));
        }
        Ok(Self(name))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for TaskId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for TaskId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// A path inside the repository: relative, `/` between segments, no empty, `.` or `..` segment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RelPath(String);

impl RelPath {
    /// Checks and wraps a path; the error says what is wrong with it.
    pub fn new(path: impl Into<String>) -> Result<Self, String> {
        let path = path.into();
        let bad = if path.is_empty() {
            "it is empty"
        } else if path.starts_with('/') {
            "it is absolute"
        } else if path.contains('\0') {
            "it holds a NUL byte"
        } else if path.split('/').any(|s| matches!(s, "" | "." | "..")) {
            "it has an empty, `.` or `..` segment"
        } else {
            return Ok(Self(path));
        };
        Err(format!(
            "`{path}` is not a path inside the repository: {bad}"
        ))
    }

    /// The path.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for RelPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for RelPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::{RelPath, TaskId};

    #[test]
    fn task_ids_cannot_leave_their_folder() {
        for bad in [
            "",
            ".",
            "..",
            "-x",
            "a/b",
            "a..b",
            "a b",
            "é",
            "a.",
            "a.lock",
            &"x".repeat(129),
        ] {
            assert!(TaskId::new(bad).is_err(), "{bad}");
        }
        for good in ["t1", "fix-slugify.2", "A_b", &"x".repeat(128)] {
            assert!(TaskId::new(good).is_ok(), "{good}");
        }
    }

    #[test]
    fn paths_stay_inside_the_repository() {
        for bad in [
            "",
            "/etc/passwd",
            "a/../b",
            "./a",
            "a//b",
            "a/",
            "a\0b",
            "..",
        ] {
            assert!(RelPath::new(bad).is_err(), "{bad:?}");
        }
        for good in ["a", "src/lib.rs", "a b/ü.txt", "..a/b", "a -> b"] {
            assert!(RelPath::new(good).is_ok(), "{good:?}");
        }
    }
}
