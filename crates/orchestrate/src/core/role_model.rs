//! `ROLE=PROVIDER/MODEL#EFFORT`, as `init --model` takes it.

/// The roles orchestrate itself asks for.
pub(crate) const ROLES: [&str; 5] = ["planner", "explore", "implementer", "reviewer", "worker"];

/// What servers understand as `reasoning_effort`.
const EFFORTS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/// A model for a role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RoleModel {
    pub role: String,
    /// `PROVIDER/MODEL`.
    pub model: String,
    pub effort: Option<String>,
}

/// Reads one. The message names what is missing.
pub(crate) fn parse(text: &str) -> Result<RoleModel, String> {
    let form = "write ROLE=PROVIDER/MODEL, as in reviewer=arc/qwen38 or reviewer=arc/qwen38#high";
    let (role, model) = text
        .split_once('=')
        .ok_or_else(|| format!("there is no `=`; {form}"))?;
    let role = role.trim();
    check_role(role)?;
    let (model, effort) = match model.trim().rsplit_once('#') {
        Some((model, effort)) => (model, Some(effort)),
        None => (model.trim(), None),
    };
    let (provider, name) = model
        .split_once('/')
        .ok_or_else(|| format!("`{model}` names no provider; {form}"))?;
    let odd = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '"' | '\\');
    if provider.is_empty() || name.is_empty() || model.contains(odd) {
        return Err(format!("`{model}` is no PROVIDER/MODEL; {form}"));
    }
    if let Some(effort) = effort
        && !EFFORTS.contains(&effort)
    {
        return Err(format!(
            "the effort `{effort}` is not known; it may be {}",
            EFFORTS.join(", ")
        ));
    }
    Ok(RoleModel {
        role: role.to_owned(),
        model: model.to_owned(),
        effort: effort.map(str::to_owned),
    })
}

fn check_role(role: &str) -> Result<(), String> {
    let known = ROLES.join(", ");
    let mut letters = role.chars();
    let plain = letters.next().is_some_and(|c| c.is_ascii_lowercase())
        && letters.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c));
    if !plain {
        return Err(format!(
            "`{role}` is no role; the roles are {known}, or one of your own in small letters"
        ));
    }
    if ROLES.contains(&role) || role == "orchestrator" {
        return Ok(());
    }
    let near = ROLES
        .iter()
        .find(|known| strsim::damerau_levenshtein(known, role) <= 2);
    match near {
        Some(near) => Err(format!("there is no role `{role}`; did you mean `{near}`?")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{RoleModel, parse};

    #[test]
    fn a_role_a_provider_a_model_and_an_effort() {
        let effort = |e: &str| Some(e.to_owned());
        for (text, role, model, wanted) in [
            ("reviewer=arc/qwen38", "reviewer", "arc/qwen38", None),
            (
                "planner=arc/qwen38#high",
                "planner",
                "arc/qwen38",
                effort("high"),
            ),
            (
                "explore=hub/org/name:7b",
                "explore",
                "hub/org/name:7b",
                None,
            ),
            ("tester=arc/q", "tester", "arc/q", None),
        ] {
            let expected = RoleModel {
                role: role.into(),
                model: model.into(),
                effort: wanted,
            };
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, words) in [
            ("reviewer", "there is no `=`"),
            ("reviewer=qwen38", "names no provider"),
            ("reviewer=/m", "is no PROVIDER/MODEL"),
            ("reviewr=a/m", "did you mean `reviewer`?"),
            ("=a/m", "is no role"),
            ("../x=a/m", "is no role"),
            ("reviewer=a/m#huge", "the effort `huge` is not known"),
            ("reviewer=a/m m", "is no PROVIDER/MODEL"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
