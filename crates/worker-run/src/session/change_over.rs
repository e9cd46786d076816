//! Changing over: a model that is stuck in one way of working gets the other one, once.

use baton_prompt::Mode;
use serde_json::json;

use super::{End, Session, calibration};
use crate::cli::ModeFlag;
use crate::harness::guard::Guard;
use crate::harness::stop::Colour;
use crate::harness::way::{Signs, choose};
use crate::session::Patience;
use crate::tools::edits::Seen;

/// Changing over is worth it if at least this share of the time is left, in percent.
const LEAST_TIME_PERCENT: u32 = 10;

impl Session<'_> {
    /// Chooses the way to begin with, by what is known of the model.
    pub(crate) fn choose_way(&mut self, lines: &str) {
        let way = self.chosen.take().unwrap_or_else(|| {
            choose(&Signs {
                asked: self.job.mode,
                configured: self.job.provider.mode,
                calls_tools: self.job.provider.calls_tools,
                parameters: self.served.parameters,
                past: calibration::past(lines, self.model()),
                again: self.job.task.attempt > 1,
                writes: self.job.role.writes(),
            })
        });
        self.way = way.mode;
        self.may_change_over = way.may_change;
        if let Some(why) = &way.why {
            self.ledger
                .note(format!("mode {}: {why} (--mode)", word(way.mode)));
        }
        self.events.emit(
            self.output,
            "mode",
            json!({"mode": word(way.mode), "why": way.why}),
        );
        self.chosen = Some(way);
    }

    /// Whether an end was avoided by changing over: same task, same limits, the other way.
    pub(crate) fn changes_over(&mut self, end: &End) -> bool {
        if !end.stuck || !self.may_change_over || self.within_bounds().is_err() {
            return false;
        }
        let left = self.job.bounds.wall.saturating_sub(self.started.elapsed());
        if left < self.job.bounds.wall * LEAST_TIME_PERCENT / 100 {
            return false;
        }
        let to = if self.talk.mode().has_tools() {
            ModeFlag::Whole
        } else {
            ModeFlag::Tools
        };
        match self.rewind() {
            Ok(()) => {}
            Err(end) => {
                self.ledger.note(end.reason);
                return false;
            }
        }
        self.may_change_over = false;
        self.first_end = Some(end.clone());
        let kind = match to {
            ModeFlag::Tools => "switched_to_tools",
            _ => "switched_to_files",
        };
        self.ledger.repaired(kind);
        self.ledger.note(format!(
            "changed over to mode {} in the middle: {}",
            word(to),
            end.reason
        ));
        self.events.emit(
            self.output,
            "mode",
            json!({"mode": word(to), "why": end.reason}),
        );
        self.output
            .note(&format!("{}; going on in mode {}", end.reason, word(to)));
        self.guard = Guard::default();
        self.patience = Patience::default();
        self.way = to;
        self.begin(None);
        true
    }

    /// The end of a task whose both ways got stuck: the status of the first, the reasons of both.
    pub(crate) fn both_ends(&mut self, end: End) -> End {
        match self.first_end.take() {
            Some(first) if end.stuck => {
                let reason = format!(
                    "{}; and in mode {}: {}",
                    first.reason,
                    word(self.way),
                    end.reason
                );
                End { reason, ..first }
            }
            _ => end,
        }
    }

    /// Puts the files back as they were at the start, unless fewer checks fail than then: what a
    /// model left that got stuck is copied by it again and again.
    pub(crate) fn rewind(&mut self) -> Result<(), End> {
        let Some(start) = self.start.clone() else {
            return Ok(());
        };
        let red = |colours: &mut dyn Iterator<Item = Colour>| {
            colours.filter(|c| *c == Colour::Red).count()
        };
        let before = red(&mut self.checks.start().iter().copied());
        let now = red(&mut self.checks.now().iter().map(|run| run.colour));
        if now < before {
            return Ok(());
        }
        let undone = self.tree.undo_all(&start).map_err(End::failed)?;
        self.checks.rewind(&start);
        self.seen = Seen::default();
        self.seen_attempt = false;
        self.repeated = false;
        if !undone.is_empty() {
            self.events
                .emit(self.output, "rewind", json!({"files": undone}));
        }
        Ok(())
    }

    /// Keeps for later tasks whether tools worked with this model.
    pub(crate) fn remember_way(&self) {
        if self.job.mode != ModeFlag::Auto || self.ledger.usage.steps == 0 {
            return;
        }
        let gave_up = self.ledger.repairs.contains_key("switched_to_files");
        if gave_up || (self.way == ModeFlag::Tools && self.talk.mode() == Mode::Tools) {
            let line = calibration::way_line(
                baton_protocol::Timestamp::now(),
                self.model().or(self.ledger.model.as_deref()),
                gave_up,
            );
            calibration::append(&self.job.calibration, &line);
        }
    }
}

/// A mode as the command line names it.
fn word(mode: ModeFlag) -> &'static str {
    match mode {
        ModeFlag::Auto => "auto",
        ModeFlag::Tools => "tools",
        ModeFlag::Whole => "whole",
        ModeFlag::Blocks => "blocks",
    }
}
