//! `orchestrate show`.

use baton_cli::{Failure, Output};
use baton_protocol::{Exit, Run, RunStatus, Timestamp};

use crate::cli::Show;
use crate::core::markdown;
use crate::core::state::State;
use crate::shell::finishing;
use crate::shell::journal::peek;
use crate::shell::layout::Layout;

use super::place;

/// Prints a run's report: the one it wrote, or how it stands now.
pub(crate) fn show(cli: &Show, output: &Output) -> Result<Exit, Failure> {
    let repo = place::repository()?;
    let layout = Layout::new(repo.root());
    let name = place::find_run(&layout, cli.run.as_deref())?;
    let folder = layout.run(&name);
    let state = State::replay(&peek(&folder.journal())?);
    let report = match (state.status, std::fs::read_to_string(folder.report_json())) {
        (Some(_), Ok(text)) => baton_protocol::read::<Run>(&text)
            .map_err(|e| Failure::from(e).at(folder.report_json().display()))?,
        (status, _) => {
            if status.is_none() {
                output.note(&format!("run {name} has not ended; this is how it stands"));
            }
            let status = status.unwrap_or(RunStatus::Incomplete);
            finishing::make(&name, &folder, &state, status, Timestamp::now())
        }
    };
    output.document(&report, || markdown::render(&report))?;
    Ok(Exit::Yes)
}
