//! `orchestrate show`.

use baton_cli::{Failure, Output};
use baton_protocol::{Exit, Run, RunStatus, Timestamp};
use baton_repo::Repo;

use crate::cli::Show;
use crate::core::html::{self, Diff, Row};
use crate::core::job::Fate;
use crate::core::markdown;
use crate::core::state::State;
use crate::shell::journal::peek;
use crate::shell::layout::{Layout, RunFolder};
use crate::shell::{finishing, worker};

use super::place;

/// Prints a run's report: the one it wrote, or how it stands now.
pub(crate) fn show(cli: &Show, output: &Output) -> Result<Exit, Failure> {
    let repo = place::repository()?;
    let layout = Layout::new(repo.root());
    let name = place::find_run(&layout, cli.run.as_deref())?;
    let folder = layout.run(&name);
    let state = State::replay(&peek(&folder.journal())?);
    let anew = |status| finishing::make(&name, &folder, &state, status, Timestamp::now());
    let report = match (state.status, std::fs::read_to_string(folder.report_json())) {
        (Some(status), Ok(text)) => match baton_protocol::read::<Run>(&text) {
            Ok(report) => report,
            // The journal is the truth, and holds all that the report says.
            Err(error) => {
                let file = folder.report_json();
                output.note(&format!(
                    "{}: {error}; this is made anew from the run's journal",
                    file.display()
                ));
                anew(status)
            }
        },
        (Some(status), Err(_)) => anew(status),
        (None, _) => {
            output.note(&format!("run {name} has not ended; this is how it stands"));
            anew(RunStatus::Incomplete)
        }
    };
    if cli.html {
        let page = html::render(&report, &rows(&folder, &state), &diffs(&repo, &state));
        output.raw(output.redactor().text(&page).as_bytes())?;
        return Ok(Exit::Yes);
    }
    output.document(&report, || markdown::render(&report))?;
    Ok(Exit::Yes)
}

/// One line of the timeline for each attempt that was started.
fn rows(folder: &RunFolder, state: &State) -> Vec<Row> {
    let attempts = state
        .jobs
        .iter()
        .flat_map(|job| job.attempts.iter().map(move |attempt| (job, attempt)));
    attempts
        .filter_map(|(job, attempt)| {
            let files = folder.attempt(job.id(), attempt.number, attempt.placement);
            let spans = worker::activity(&files).spans;
            let from_ms = spans.iter().map(|s| s.from_ms).min()?;
            let to_ms = spans.iter().map(|s| s.to_ms).max()?;
            let name = if attempt.number > 1 {
                format!("{} ({})", job.id(), attempt.number)
            } else {
                job.id().to_string()
            };
            Some(Row {
                name,
                from_ms,
                to_ms,
                spans,
            })
        })
        .collect()
}

/// What each integrated task changed. A commit that git no longer has is left out.
fn diffs(repo: &Repo, state: &State) -> Vec<Diff> {
    state
        .jobs
        .iter()
        .filter_map(|job| {
            let Fate::Integrated { commit } = &job.fate else {
                return None;
            };
            let text = repo.diff_text(&format!("{commit}^"), commit, &[]).ok()?;
            Some(Diff {
                task: job.id().to_string(),
                text: String::from_utf8_lossy(&text).into_owned(),
            })
        })
        .collect()
}
