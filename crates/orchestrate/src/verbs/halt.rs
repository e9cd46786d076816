//! `orchestrate halt`.

use baton_cli::{Failure, Output};
use baton_protocol::Exit;

use crate::cli::Halt;
use crate::shell::layout::Layout;
use crate::shell::{halt, lock};

use super::place;

/// Asks the run that works on this repository to stop.
pub(crate) fn halt(cli: &Halt, output: &Output) -> Result<Exit, Failure> {
    let repo = place::repository()?;
    let layout = Layout::new(repo.root());
    let Some(who) = lock::holder(repo.common_dir()) else {
        output.note("no run works on this repository; there is nothing to halt");
        return Ok(Exit::No);
    };
    halt::ask(
        &layout.halt_file(),
        &halt::Halt {
            now: cli.now,
            run: None,
        },
    )?;
    let how = if cli.now {
        "its workers are ended now"
    } else {
        "it stops when what runs is done"
    };
    output.note(&format!("asked run {who} to stop; {how}"));
    Ok(Exit::Yes)
}
