//! What came with a task is written to files of its own, readable by nobody else.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use baton_cli::Failure;
use baton_protocol::Launch;

/// The variables that came beside the order; keys are among them.
pub(super) type Variables = BTreeMap<String, String>;

/// What stands for the folder of the files in the configuration's text.
const HERE: &str = "{launch_files}";

/// The files a command is pointed at.
#[derive(Debug)]
pub(super) struct Given {
    pub task: PathBuf,
    pub candidates: Option<PathBuf>,
    pub config: Option<PathBuf>,
}

/// Writes the order's parts into a folder.
pub(super) fn write(launch: &Launch, folder: &Path) -> Result<Given, Failure> {
    std::fs::create_dir_all(folder)
        .map_err(|e| Failure::internal(format!("cannot make {}: {e}", folder.display())))?;
    let task = folder.join("task.json");
    file(&task, &json(&launch.task)?)?;
    let candidates = match &launch.candidates {
        Some(document) => {
            let path = folder.join("candidates.json");
            file(&path, &json(document)?)?;
            Some(path)
        }
        None => None,
    };
    for (name, text) in &launch.files {
        // A name becomes part of a path.
        if !baton_protocol::is_token(name) || name.starts_with('.') {
            return Err(Failure::input(format!("$.files: `{name}` is no name")));
        }
        file(&folder.join(name), text)?;
    }
    let config = if launch.config.is_empty() {
        None
    } else {
        let path = folder.join("config.toml");
        file(
            &path,
            &launch.config.replace(HERE, &folder.display().to_string()),
        )?;
        Some(path)
    };
    Ok(Given {
        task,
        candidates,
        config,
    })
}

fn json<T: serde::Serialize>(document: &T) -> Result<String, Failure> {
    serde_json::to_string(document)
        .map_err(|e| Failure::internal(format!("cannot write a document: {e}")))
}

fn file(path: &Path, text: &str) -> Result<(), Failure> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|e| Failure::internal(format!("cannot write {}: {e}", path.display())))
}
