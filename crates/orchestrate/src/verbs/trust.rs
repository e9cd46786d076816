//! `orchestrate trust`.

use baton_cli::{Environment, Failure, Output, config, state_dir};
use baton_protocol::Exit;

use super::place;

/// Trusts the repository's configuration as it is now; a change takes the trust away.
pub(crate) fn trust(output: &Output) -> Result<Exit, Failure> {
    let repo = place::repository()?;
    let env = Environment::from_process();
    let file = repo.root().join(".orchestrator/config.toml");
    let content = std::fs::read(&file).map_err(|e| {
        Failure::usage(format!(
            "there is no configuration to trust: {}: {e}",
            file.display()
        ))
    })?;
    config::trust(&state_dir(&env), &file, &content)?;
    output.note(&format!(
        "{} is trusted as it is now; a change to it takes that away",
        file.display()
    ));
    Ok(Exit::Yes)
}
