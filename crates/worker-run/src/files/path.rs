//! From the path a model writes to a path inside the work tree.

use std::path::{Component, Path};

/// Why a path is refused; the text is what the model gets to read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadPath {
    /// Nothing was given.
    #[error("the path is empty")]
    Empty,
    /// It leaves the work tree.
    #[error("{path} is outside the repository at {root}; use a path relative to it{hint}")]
    Outside {
        /// As it was written.
        path: String,
        /// The work tree.
        root: String,
        /// `""`, or a file of the same name inside.
        hint: String,
    },
    /// It is inside `.git`.
    #[error("{path} belongs to git; only the host writes there")]
    Git {
        /// As it was written.
        path: String,
    },
    /// It holds a NUL byte.
    #[error("the path holds a NUL byte")]
    Nul,
}

/// A path inside the work tree: relative, `/` between segments, `.` for the root itself.
///
/// This is about names only. Symbolic links are the business of `beneath`.
pub(crate) fn resolve(asked: &str, roots: &[&Path], known: &[String]) -> Result<String, BadPath> {
    let trimmed = asked.trim().trim_matches(['"', '`']);
    if trimmed.is_empty() {
        return Err(BadPath::Empty);
    }
    if trimmed.contains('\0') {
        return Err(BadPath::Nul);
    }
    let trimmed = trimmed.strip_prefix("file://").unwrap_or(trimmed);
    let path = Path::new(trimmed);
    let relative = if path.is_absolute() {
        let plain = lexical(path);
        roots
            .iter()
            .find_map(|root| {
                plain
                    .as_deref()?
                    .strip_prefix(root.to_str()?.trim_end_matches('/'))
                    .map(str::to_string)
            })
            .filter(|rest| rest.is_empty() || rest.starts_with('/'))
            .map(|rest| rest.trim_start_matches('/').to_string())
    } else if trimmed.starts_with('~') {
        None
    } else {
        lexical(path)
    };
    match relative {
        Some(inside) if is_git(&inside) => Err(BadPath::Git {
            path: asked.to_string(),
        }),
        Some(inside) if inside.is_empty() => Ok(".".into()),
        Some(inside) => Ok(inside),
        None => Err(BadPath::Outside {
            path: asked.to_string(),
            root: roots
                .first()
                .map(|r| r.display().to_string())
                .unwrap_or_default(),
            hint: same_name(trimmed, known),
        }),
    }
}

/// The path with `.` and `..` taken out; none if it climbs above its start.
fn lexical(path: &Path) -> Option<String> {
    let mut kept: Vec<&str> = Vec::new();
    let mut absolute = false;
    for component in path.components() {
        match component {
            Component::RootDir => absolute = true,
            Component::CurDir => {}
            Component::ParentDir => {
                kept.pop()?;
            }
            Component::Normal(name) => kept.push(name.to_str()?),
            Component::Prefix(_) => return None,
        }
    }
    let joined = kept.join("/");
    Some(if absolute {
        format!("/{joined}")
    } else {
        joined
    })
}

fn is_git(inside: &str) -> bool {
    inside
        .split('/')
        .any(|segment| segment.eq_ignore_ascii_case(".git"))
}

fn same_name(path: &str, known: &[String]) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    known
        .iter()
        .find(|k| k.rsplit('/').next() == Some(name))
        .map(|found| format!("; did you mean {found}?"))
        .unwrap_or_default()
}

/// Known files like one that does not exist, for an error message: same name, or nearly.
pub(crate) fn similar(path: &str, known: &[String]) -> Option<String> {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let stem = |n: &str| n.split('.').next().unwrap_or(n).to_ascii_lowercase();
    let of = |k: &String| k.rsplit('/').next().unwrap_or(k).to_ascii_lowercase();
    known
        .iter()
        .find(|k| of(k) == name)
        .or_else(|| known.iter().find(|k| stem(&of(k)) == stem(&name)))
        .cloned()
}

/// The known file a reply means when it puts an invented folder in front: `path/to/src/a.py` for
/// `src/a.py`. Only if that folder does not exist and exactly one file fits.
pub(crate) fn without_invented_folder(path: &str, known: &[String]) -> Option<String> {
    let first = path.split('/').next()?;
    let folder = format!("{first}/");
    if known.iter().any(|k| k == path || k.starts_with(&folder)) {
        return None;
    }
    let mut fits = known.iter().filter(|k| path.ends_with(&format!("/{k}")));
    let found = fits.next()?;
    // The longest one wins: `src/a.py` and `a.py` both end `x/src/a.py`.
    let longest = fits.fold(found, |best, k| if k.len() > best.len() { k } else { best });
    Some(longest.clone())
}

#[cfg(test)]
mod tests {
    use super::{BadPath, resolve, similar, without_invented_folder};
    use proptest::prelude::{prop_assert, proptest};
    use std::path::Path;

    fn inside(asked: &str) -> Result<String, BadPath> {
        let known = ["data/logs.txt".to_string()];
        resolve(
            asked,
            &[Path::new("/real/ws"), Path::new("/link/ws")],
            &known,
        )
    }

    #[test]
    fn e15_honest_spellings_are_allowed() {
        assert_eq!(inside("src/./a.rs").unwrap(), "src/a.rs");
        assert_eq!(inside("src/x/../a.rs").unwrap(), "src/a.rs");
        assert_eq!(inside("/real/ws/src/a.rs").unwrap(), "src/a.rs");
        assert_eq!(inside("/link/ws/src/a.rs").unwrap(), "src/a.rs");
        assert_eq!(inside("/link/ws").unwrap(), ".");
        assert_eq!(inside("./").unwrap(), ".");
        assert_eq!(inside(".github/x.yml").unwrap(), ".github/x.yml");
        assert_eq!(inside("`a.py`").unwrap(), "a.py");
    }

    #[test]
    fn t17_an_invented_place_is_refused_with_the_root_and_the_real_file() {
        for asked in [
            "/home/user/logs.txt",
            "/app/logs.txt",
            "~/logs.txt",
            "../logs.txt",
        ] {
            let text = inside(asked).unwrap_err().to_string();
            assert!(
                text.contains("/real/ws") && text.contains("data/logs.txt"),
                "{text}"
            );
        }
        assert!(inside("/real/wsx/a").is_err());
        assert!(inside("a/../../b").is_err());
        assert!(inside("/real/ws/../../etc/passwd").is_err());
    }

    #[test]
    fn git_metadata_is_not_ours_to_write() {
        for asked in [".git/config", "sub/.git/hooks/pre-commit", ".GIT/x", ".git"] {
            assert!(matches!(inside(asked), Err(BadPath::Git { .. })), "{asked}");
        }
        assert!(inside(".gitignore").is_ok());
        assert!(matches!(inside("a\0b"), Err(BadPath::Nul)));
        assert!(matches!(inside("  "), Err(BadPath::Empty)));
    }

    #[test]
    fn a_missing_file_has_a_likely_namesake() {
        let known = ["src/pager.py".to_string()];
        assert_eq!(similar("pager.py", &known).as_deref(), Some("src/pager.py"));
        assert_eq!(similar("pager.rs", &known).as_deref(), Some("src/pager.py"));
        assert_eq!(similar("x.py", &known), None);
    }

    #[test]
    fn an_invented_folder_in_front_is_taken_off() {
        let known = ["src/a.py".to_string(), "a.py".into()];
        let meant = |path| without_invented_folder(path, &known);
        assert_eq!(meant("path/to/src/a.py").as_deref(), Some("src/a.py"));
        assert_eq!(meant("path/to/a.py").as_deref(), Some("a.py"));
        assert_eq!(
            meant("src/deep/a.py"),
            None,
            "that folder exists, so it may be new"
        );
        assert_eq!(meant("a.py"), None);
        assert_eq!(meant("path/to/b.py"), None);
    }

    proptest! {
        #[test]
        fn what_is_allowed_has_no_dots_and_is_relative(asked in "[a/.~ ]{1,12}") {
            if let Ok(path) = inside(&asked) {
                prop_assert!(path == "." || path.split('/').all(|s| !matches!(s, "" | "." | "..")));
            }
        }
    }
}
