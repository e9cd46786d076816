//! The written plans of a repository: found, read and changed inside `.orchestrator/plans/` only.

use std::path::{Path, PathBuf};

use baton_cli::Failure;
use baton_protocol::TaskId;

use super::goal_facts::plan_files;
use super::layout::Layout;
use super::{files, loops};
use crate::core::plan_file::{self, MOST, PlanFile, write};

/// One plan's file.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    /// Its file name without `.md`.
    pub name: String,
    path: PathBuf,
    git_dir: PathBuf,
}

/// A plan by its name, as `x`, `x.md` or `.orchestrator/plans/x.md`.
pub(crate) fn named(layout: &Layout, git_dir: &Path, wanted: &str) -> Result<Stored, Failure> {
    let name = wanted.strip_prefix("./").unwrap_or(wanted);
    let name = name.strip_prefix(".orchestrator/plans/").unwrap_or(name);
    let name = name.strip_suffix(".md").unwrap_or(name);
    let plain = !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', '\0']);
    if !plain {
        return Err(Failure::usage(format!(
            "`{wanted}` is no plan: plans are files of {}, called by their name",
            layout.plans().display()
        )));
    }
    let path = layout.plans().join(format!("{name}.md"));
    if std::fs::symlink_metadata(&path).is_err() {
        let there = names(layout);
        return Err(Failure::usage(if there.is_empty() {
            format!("there is no plan {}", path.display())
        } else {
            format!("there is no plan `{name}`; there are: {}", there.join(", "))
        }));
    }
    open(layout, git_dir, &path)
}

fn open(layout: &Layout, git_dir: &Path, path: &Path) -> Result<Stored, Failure> {
    let refused = |why: String| Failure::usage(format!("{}: {why}", path.display()));
    let real = |p: &Path| p.canonicalize().map_err(|e| refused(e.to_string()));
    // Both the folder and the file must really lie where they seem to: this repository may be foreign.
    let root = layout
        .folder()
        .parent()
        .map(Path::to_owned)
        .unwrap_or_default();
    let (root, folder, file) = (real(&root)?, real(&layout.plans())?, real(path)?);
    if !folder.starts_with(&root) || file.parent() != Some(folder.as_path()) {
        return Err(refused(
            "it leads out of the folder of the plans; put the plan itself there".into(),
        ));
    }
    if !file.is_file() {
        return Err(refused("it is no file".into()));
    }
    let name = path.file_stem().and_then(|s| s.to_str());
    Ok(Stored {
        name: name
            .ok_or_else(|| refused("its name is not UTF-8".into()))?
            .to_owned(),
        path: file,
        git_dir: git_dir.to_owned(),
    })
}

/// The plans' names, in order.
pub(crate) fn names(layout: &Layout) -> Vec<String> {
    let files = plan_files(&layout.plans());
    let stems = files.iter().filter_map(|p| p.file_stem()?.to_str());
    stems.map(str::to_owned).collect()
}

/// Every plan that can be opened, with what is in it or why it cannot be read.
pub(crate) fn all(layout: &Layout, git_dir: &Path) -> Vec<(Stored, Result<PlanFile, Failure>)> {
    plan_files(&layout.plans())
        .iter()
        .filter_map(|path| open(layout, git_dir, path).ok())
        .map(|stored| {
            let plan = stored.read().map(|(_, plan)| plan);
            (stored, plan)
        })
        .collect()
}

impl Stored {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The text as it stands, and what it says.
    pub(crate) fn read(&self) -> Result<(String, PlanFile), Failure> {
        let fail = |why: String| Failure::input(why).at(self.path.display());
        let size = std::fs::metadata(&self.path).map_or(0, |m| m.len());
        // A character has at most four bytes, so nothing longer can be within the limit.
        if size > 4 * u64::try_from(MOST).unwrap_or(u64::MAX) {
            return Err(fail(format!(
                "it has {size} bytes; a plan may have {MOST} characters"
            )));
        }
        let bytes = std::fs::read(&self.path).map_err(|e| fail(e.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|e| {
            fail(format!(
                "it is not UTF-8 (byte {})",
                e.utf8_error().valid_up_to()
            ))
        })?;
        let plan = plan_file::read(&text, &self.name).map_err(fail)?;
        Ok((text, plan))
    }

    /// Ticks a step, or takes its tick away. False: there is no such step any more.
    pub(crate) fn tick(&self, id: &TaskId, done: bool) -> Result<bool, Failure> {
        self.change(|text, plan| {
            if plan.steps.iter().any(|s| s.id == *id) {
                (write::tick(text, id, done), true)
            } else {
                (None, false)
            }
        })
    }

    /// Says how the plan stands.
    pub(crate) fn set_status(&self, status: &str) -> Result<(), Failure> {
        self.change(|text, _| (write::set_status(text, status), ()))
    }

    fn change<T>(
        &self,
        change: impl FnOnce(&str, &PlanFile) -> (Option<String>, T),
    ) -> Result<T, Failure> {
        loops::exclusively(&self.git_dir, "plan-file", || {
            let (text, plan) = self.read()?;
            let (new, answer) = change(&text, &plan);
            if let Some(new) = new {
                files::replace(&self.path, new.as_bytes())?;
            }
            Ok(answer)
        })
    }
}
