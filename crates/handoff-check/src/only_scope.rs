//! `scope`: the question of ownership alone, of any diff.

use std::io::Read as _;
use std::path::Path;

use baton_cli::{Failure, Output};
use baton_protocol::{
    Admission, Changes, Check, CheckVerdict, Exit, SchemaTag, Verdict, VerdictKind,
};
use baton_repo::GitPath;

use crate::checks::scope;
use crate::cli::Scope;
use crate::run::{globs, protected};
use crate::{names, text};

/// `scope`: are the changes of a diff allowed?
pub(crate) fn run(asked: &Scope, output: &Output) -> Result<Exit, Failure> {
    let text = read_diff(asked.diff.as_deref())?;
    let names = names::changed(&text).map_err(Failure::input)?;
    let owned = globs(&asked.allow, "--allow")?;
    let guarded = protected(&asked.protect)?;
    let touched: Vec<&GitPath> = names.iter().collect();
    let outside = scope::outside(touched.iter().copied(), &owned);
    let checks = [
        scope::scope(&outside, touched.len(), &owned),
        scope::protected(&touched, &guarded),
    ];
    let document = verdict(&checks, &outside);
    output.document(&document, || text::verdict(&document))?;
    Ok(if document.pass == Some(true) {
        Exit::Yes
    } else {
        Exit::No
    })
}

/// A diff is bytes: a name, or a line of content, need not be UTF-8. No change is an empty diff.
fn read_diff(file: Option<&Path>) -> Result<Vec<u8>, Failure> {
    use std::io::IsTerminal as _;
    if let Some(path) = file.filter(|p| *p != Path::new("-")) {
        return std::fs::read(path)
            .map_err(|e| Failure::input(format!("cannot read the diff {}: {e}", path.display())));
    }
    let mut stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Err(Failure::usage(
            "expects a diff on standard input, which is a terminal: git diff … | handoff-check scope …",
        ));
    }
    let mut bytes = Vec::new();
    stdin
        .read_to_end(&mut bytes)
        .map_err(|e| Failure::input(format!("cannot read the diff: {e}")))?;
    Ok(bytes)
}

/// A verdict about ownership alone.
fn verdict(checks: &[Check], outside: &[&GitPath]) -> Verdict {
    let pass = checks.iter().all(|c| c.verdict == CheckVerdict::Pass);
    Verdict {
        schema: SchemaTag::new(),
        pass: Some(pass),
        verdict: if pass {
            VerdictKind::Pass
        } else {
            VerdictKind::Fail
        },
        task_id: None,
        checks: checks.to_vec(),
        changes: Changes {
            outside_scope: outside.iter().map(ToString::to_string).collect(),
            ..Changes::default()
        },
        verification: Vec::new(),
        admission: Admission::Candidate,
    }
}
