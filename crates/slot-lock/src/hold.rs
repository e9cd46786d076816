//! `slot-lock … -- COMMAND`: choose, take or wait, hold, run, give back.

use baton_cli::{Failure, Output};
use baton_protocol::Exit;

use crate::answer::granted;
use crate::candidate::Candidate;
use crate::cli;
use crate::clock::boot_ms;
use crate::command::{self, Supervision, prepare, replace, start_failure};
use crate::environment::{Change, Chosen, Flag, changes};
use crate::keeper::Limit;
use crate::label::shorten;
use crate::nested::{self, Nested};
use crate::session::Session;
use crate::store::{Ask, Held};
use crate::target::Settings;

/// Runs the command in a slot.
pub(crate) fn hold(cli: &cli::Hold, output: &Output, settings: Settings) -> Result<Exit, Failure> {
    let on_lost = cli.running.on_lost;
    let session = Session::open(
        &cli.target,
        &cli.waiting,
        &cli.place,
        on_lost,
        output,
        settings,
    )?;
    let mut hold = Hold { cli, session };
    if let Some(exit) = hold.below_an_ancestor()? {
        return Ok(exit);
    }
    hold.take_and_run()
}

/// A call that runs a command.
struct Hold<'a> {
    cli: &'a cli::Hold,
    session: Session<'a>,
}

impl Hold<'_> {
    /// Below a slot-lock that holds a slot of one of the candidates, waiting for another could be a
    /// deadlock: the ancestor waits for us.
    fn below_an_ancestor(&self) -> Result<Option<Exit>, Failure> {
        let session = &self.session;
        let ancestors = nested::parse(nested::variable(session.settings.env()));
        if ancestors.is_empty() || self.cli.running.nested == Nested::Queue {
            return Ok(None);
        }
        for candidate in &session.candidates {
            let listing = session.store.list(&candidate.want.key)?;
            let Some(ancestor) = nested::holder(&ancestors, &listing) else {
                continue;
            };
            let key = &candidate.want.key;
            if self.cli.running.nested == Nested::Refuse {
                session.write_refusal(&[listing]);
                return Err(Failure::try_again(format!(
                    "{key}: a slot-lock above this one holds slot {} already (--nested refuse)",
                    ancestor.slot
                )));
            }
            session.output.detail(&format!(
                "{key}: runs in slot {} of the slot-lock above",
                ancestor.slot
            ));
            // There is nothing to hold, so the command simply takes our place.
            let token = ancestor.token.as_str();
            let variables =
                self.variables(candidate, ancestor.slot, token, None, Flag::Ancestors)?;
            return self.become_command(variables).map(Some);
        }
        Ok(None)
    }

    fn become_command(&self, variables: Vec<Change>) -> Result<Exit, Failure> {
        let words = &self.cli.command;
        let command = prepare(words, variables).ok_or_else(|| Failure::usage("no command"))?;
        let (exit, message) = start_failure(words, &replace(command));
        Err(Failure::internal(message).with_exit(exit))
    }

    fn take_and_run(&mut self) -> Result<Exit, Failure> {
        let words = self.cli.command.iter();
        let words: Vec<String> = words.map(|w| w.to_string_lossy().into_owned()).collect();
        let session = &mut self.session;
        let ask = Ask {
            wants: session.candidates.iter().map(|c| c.want.clone()).collect(),
            bearer: session.bearer(&shorten(&words)),
            runs_child: !self.cli.running.exec,
        };
        let Some(held) = session.obtain(ask.clone())? else {
            return Err(session.no_slot());
        };
        let document = granted(
            &session.candidates[held.grant().want],
            held.grant(),
            &ask.bearer,
            session.waited(),
            &session.store.place(),
            session.notes.clone(),
        );
        session.write_report(&document)?;
        self.run_command(held)
    }

    fn run_command(&self, mut held: Box<dyn Held>) -> Result<Exit, Failure> {
        let Session {
            candidates,
            output,
            waker,
            signals,
            ..
        } = &self.session;
        let grant = held.grant();
        let candidate = &candidates[grant.want];
        let flag = grant.flag_file.as_deref().map_or(Flag::Nowhere, Flag::At);
        let token = grant.token.as_str();
        let variables = self.variables(candidate, grant.slot, token, grant.fence, flag)?;
        if self.cli.running.exec {
            held.keep(true, self.limit(false), false)?;
            held.watch(std::process::id())?;
            return self.become_command(variables);
        }
        let words = &self.cli.command;
        let mut command = prepare(words, variables).ok_or_else(|| Failure::usage("no command"))?;
        let may_be_ended = self.cli.running.max_hold.is_some() || held.care().end.is_some();
        // At a terminal the command stays in our group, or it could not read from it.
        let has_group = may_be_ended && !command::owns_terminal();
        let limit = self.limit(has_group);
        if has_group {
            std::os::unix::process::CommandExt::process_group(&mut command, 0);
        }
        held.keep(false, limit, has_group)?;
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(e) => {
                held.release();
                let (exit, message) = start_failure(words, &e);
                return Err(Failure::internal(message).with_exit(exit));
            }
        };
        // Should the keeper be gone, we still hold the slot ourselves.
        if let Err(e) = held.watch(child.id()) {
            output.detail(&e.to_string());
        }
        let mut supervision = Supervision {
            child: &mut child,
            waker,
            signals,
            limit,
            has_group,
            held: &*held,
            tell: &|note| output.note(note),
        };
        let exit = supervision.run();
        for note in held.release() {
            output.note(&note);
        }
        let exit =
            exit.map_err(|e| Failure::internal(format!("cannot wait for the command: {e}")))?;
        match exit {
            Exit::TimeLimit => output.note("--max-hold is over: the command was ended"),
            Exit::TryAgain => {
                output.note("the slot was lost: the command was ended (--on-lost end)");
            }
            _ => {}
        }
        Ok(exit)
    }

    /// When the command is ended.
    fn limit(&self, has_group: bool) -> Option<Limit> {
        let longest = u64::try_from(self.cli.running.max_hold?.as_millis()).ok()?;
        Some(Limit {
            deadline_ms: boot_ms().saturating_add(longest),
            has_group,
        })
    }

    fn variables(
        &self,
        candidate: &Candidate,
        slot: u32,
        token: &str,
        fence: Option<u64>,
        flag: Flag<'_>,
    ) -> Result<Vec<Change>, Failure> {
        let settings = &self.session.settings;
        let is_environments = settings.is_environments(candidate);
        let key = if is_environments {
            None
        } else {
            settings.api_key(candidate)?
        };
        let chosen = Chosen {
            provider: candidate.provider.as_deref(),
            model: candidate.model.as_deref(),
            context: candidate.context,
            base_url: candidate.base_url.as_ref(),
            key: key.as_ref(),
            is_environments,
        };
        let before = nested::variable(settings.env());
        let held = match flag {
            Flag::At(_) | Flag::Nowhere => nested::extend(before, token, slot, &candidate.want.key),
            Flag::Ancestors => before.to_owned(),
        };
        Ok(changes(&chosen, slot, token, fence, flag, &held))
    }
}
