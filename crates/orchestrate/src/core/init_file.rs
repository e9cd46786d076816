//! The project's configuration file: written once, then edited in place. Comments, order and every
//! key that was not asked about stay as they are.

use toml_edit::{Array, DocumentMut, Item, Table, value};

use super::role_model::RoleModel;

/// What a fresh file holds: every key that is worth a look, as a comment with its default.
const FRESH: &str = "\
# Baton's configuration for this repository. Every line is optional; those that begin with `#` show
# the default. What anybody who clones this repository should not decide for you (addresses, keys,
# commands) belongs in ~/.config/baton/config.toml, or counts here only after: orchestrate trust
# See what counts, and why: orchestrate doctor

# [run]
# max_parallel = 2             # workers at once
# max_rounds = 2

# [review]
# mode = \"bounded\"             # off | bounded

# [budget]
# mode = \"advisory\"            # advisory | stop-between-steps
# max_tokens = 2000000

# [goal]
# max_continuations = 50
# cooldown = \"1s\"

# [commands]                   # any verb can be switched off
# polish = false
# strict_roles = false         # true: a role without a model of its own is an error
# require_review = false

# [worktree]
# setup = [\"npm ci\"]           # once in each fresh work tree, before its worker; needs trust
# copy = [\".env.test\"]         # files that git does not carry and the checks need

# Models by role, from the one that can do with least to the one that needs most:
# explore (small and fast), implementer, planner (capable), reviewer (strongest, best another model).
# [roles.reviewer]
# models = [\"PROVIDER/MODEL\"]  # in order; the next one is taken when the first is away
# effort = \"high\"              # sent as reasoning_effort
";

/// A file's new text and what is different about it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Edited {
    pub text: String,
    /// One sentence a change; empty: the file already says all that.
    pub changes: Vec<String>,
}

/// Puts the roles' models into a file, or into a fresh one.
pub(crate) fn edit(existing: Option<&str>, wanted: &[RoleModel]) -> Result<Edited, String> {
    let before = existing.unwrap_or(FRESH);
    let mut file: DocumentMut = before.parse().map_err(|e: toml_edit::TomlError| {
        format!("it is no TOML, so it was left alone: {}", e.message())
    })?;
    let mut changes = Vec::new();
    if existing.is_none() {
        changes.push("written".to_owned());
    }
    // A file of comments alone keeps them at its head; else new tables would stand before them.
    let lead = if file.as_table().is_empty() {
        let lead = file.trailing().as_str().unwrap_or_default().to_owned();
        file.set_trailing("");
        lead
    } else {
        String::new()
    };
    for model in wanted {
        set(&mut file, model, &mut changes)?;
    }
    let text = if changes.is_empty() || (existing.is_none() && wanted.is_empty()) {
        before.to_owned()
    } else {
        let apart = if lead.is_empty() || lead.ends_with("\n\n") {
            ""
        } else {
            "\n"
        };
        format!("{lead}{apart}{file}")
    };
    Ok(Edited { text, changes })
}

fn set(
    file: &mut DocumentMut,
    wanted: &RoleModel,
    changes: &mut Vec<String>,
) -> Result<(), String> {
    let role = &wanted.role;
    let no_table = || format!("[roles.{role}] is not a table, so it was left alone");
    let roles = file
        .entry("roles")
        .or_insert_with(|| {
            let mut roles = Table::new();
            roles.set_implicit(true);
            Item::Table(roles)
        })
        .as_table_like_mut()
        .ok_or_else(no_table)?;
    let table = roles
        .entry(role)
        .or_insert_with(|| Item::Table(Table::new()))
        .as_table_like_mut()
        .ok_or_else(no_table)?;
    let now: Vec<&str> = table
        .get("models")
        .and_then(Item::as_array)
        .map(|a| a.iter().filter_map(toml_edit::Value::as_str).collect())
        .unwrap_or_default();
    if now.first() != Some(&wanted.model.as_str()) {
        // Others stay behind it, to be taken when this one is away.
        let mut models = Array::new();
        models.push(wanted.model.as_str());
        for other in now.iter().filter(|m| **m != wanted.model) {
            models.push(*other);
        }
        changes.push(if now.is_empty() {
            format!("roles.{role}.models = [\"{}\"]", wanted.model)
        } else {
            format!(
                "roles.{role}.models: `{}` now comes before `{}`",
                wanted.model,
                now.join("`, `")
            )
        });
        table.insert("models", value(models));
    }
    if let Some(effort) = &wanted.effort
        && table.get("effort").and_then(Item::as_str) != Some(effort)
    {
        changes.push(format!("roles.{role}.effort = \"{effort}\""));
        table.insert("effort", value(effort.as_str()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{FRESH, edit};
    use crate::core::role_model::parse;

    #[test]
    fn a_fresh_file_is_sound_and_says_nothing_yet() {
        let made = edit(None, &[]).unwrap();
        assert_eq!(made.text, FRESH);
        assert_eq!(made.changes, ["written"]);
        let parsed: toml_edit::DocumentMut = made.text.parse().unwrap();
        assert!(parsed.iter().next().is_none());
        // What the comments show is what the configuration knows.
        let shown: Vec<&str> = FRESH
            .lines()
            .filter_map(|l| l.strip_prefix("# "))
            .filter(|l| l.starts_with('[') || l.contains(" = "))
            .collect();
        let shown = shown.join("\n");
        let value: toml_edit::DocumentMut = shown.parse().unwrap();
        assert!(value.get("goal").is_some(), "{shown}");
    }

    #[test]
    fn roles_are_added_and_the_second_time_changes_no_byte() {
        let wanted = [
            parse("planner=arc/qwen38#high").unwrap(),
            parse("explore=arc/small").unwrap(),
        ];
        let made = edit(None, &wanted).unwrap();
        assert!(made.text.starts_with(FRESH), "{}", made.text);
        assert!(
            made.text
                .contains("[roles.planner]\nmodels = [\"arc/qwen38\"]\neffort = \"high\"\n"),
            "{}",
            made.text
        );
        let again = edit(Some(&made.text), &wanted).unwrap();
        assert_eq!(again.text, made.text);
        assert!(again.changes.is_empty());
    }

    #[test]
    fn comments_order_and_other_keys_stay() {
        let before = "# mine\n[roles.planner]   # the thinker\nmodels = [\"a/x\"] # old\naccess = \"read\"\n\n[run]\nmax_rounds = 1\n";
        let made = edit(Some(before), &[parse("planner=a/y").unwrap()]).unwrap();
        for kept in [
            "# mine\n",
            "# the thinker",
            "access = \"read\"",
            "[run]\nmax_rounds = 1\n",
        ] {
            assert!(made.text.contains(kept), "{kept}: {}", made.text);
        }
        assert!(made.text.contains("[\"a/y\", \"a/x\"]"), "{}", made.text);
        assert_eq!(
            made.changes,
            ["roles.planner.models: `a/y` now comes before `a/x`"]
        );
    }

    #[test]
    fn inline_and_dotted_forms_are_edited_too() {
        for before in [
            "roles = { planner = { models = [\"a/x\"] } }\n",
            "roles.planner.models = [\"a/x\"]\n",
            "[roles]\nplanner = { models = [\"a/x\"] }\n",
        ] {
            let made = edit(Some(before), &[parse("planner=a/y").unwrap()]).unwrap();
            let value: toml_edit::DocumentMut = made.text.parse().unwrap();
            let first = value["roles"]["planner"]["models"][0].as_str();
            assert_eq!(first, Some("a/y"), "{}", made.text);
        }
    }

    #[test]
    fn what_is_no_toml_is_left_alone() {
        assert!(edit(Some("[run\n"), &[]).unwrap_err().contains("no TOML"));
    }
}
