//! Finding the candidates: those that may be used, or why there is none.

use std::path::Path;
use std::time::Duration;

use baton_cli::Failure;
use baton_protocol::{BaseUrl, Exit, SignalSource, Timestamp};

use crate::candidate::{Candidate, Rejection};
use crate::cli::OnUnknown;
use crate::clock::boot_ms;
use crate::load::busy_all_along;
use crate::offer::{self, Offer};
use crate::session::Session;
use crate::target::{self, Choice};

/// How often a server of which it is unknown whether it may be used is asked again.
const ASK_AGAIN: Duration = Duration::from_secs(1);

impl Session<'_> {
    pub(crate) fn find_candidates(&mut self) -> Result<(), Failure> {
        let target = self.target;
        self.candidates = match &target.candidates {
            None => vec![self.named()?],
            Some(file) => {
                let text = target::read_candidates(file).map_err(|f| f.at("--candidates"))?;
                let offer = Offer::parse(&text, Timestamp::now(), boot_ms())
                    .map_err(|f| f.at(format!("--candidates {}", file.display())))?;
                self.offer = Some(offer);
                self.judge_until_known()?.usable
            }
        };
        let is_piped = target.candidates.as_deref() == Some(Path::new("-"));
        let offered = self.offer.as_ref().map_or(&[][..], |o| &o.offered);
        for candidate in &self.candidates {
            if candidate.want.is_assumed {
                let note = format!(
                    "{}: nobody says how many slots there are; assuming {} (give --slots, or set `slots` in the configuration)",
                    candidate.want.key, candidate.want.slots
                );
                // Who wrote such a document into our pipe has just said it on the same terminal.
                let is_said = is_piped
                    && offered.iter().any(|o| {
                        Some(&o.provider.id) == candidate.provider.as_ref()
                            && o.provider.slots.source == SignalSource::Assumed
                    });
                if !is_said {
                    self.output.note(&note);
                }
                self.notes.push(note);
            }
        }
        Ok(())
    }

    /// The one candidate that is named. When its server can be asked, what it said is on offer.
    fn named(&mut self) -> Result<Candidate, Failure> {
        let mut offer = None;
        let last = |key: &_| self.store.list(key).ok().and_then(|l| l.slots);
        let ask = |key: &_, url: &BaseUrl| {
            let before = self.store.list(key).ok()?;
            match offer::ask(&url.api(), self.output) {
                Ok(provider) => {
                    let after = self.store.list(key).ok()?;
                    let slots = provider.slots.clone();
                    offer = Some(Offer::of_one(provider, busy_all_along(&before, &after)));
                    Some(slots)
                }
                Err(reason) => {
                    self.output.detail(&reason);
                    None
                }
            }
        };
        let candidate = target::named(self.target, &self.settings, last, ask)?;
        let told = self
            .target
            .slots
            .filter(|told| *told > candidate.want.slots);
        if let Some(told) = told {
            let note = format!(
                "{}: the server has {} slots: that many count, not {told} (--ignore-server counts as told)",
                candidate.want.key, candidate.want.slots
            );
            self.output.note(&note);
            self.notes.push(note);
        }
        self.offer = offer;
        Ok(candidate)
    }

    /// Applies the hard filters, asking again while nobody may be used and it is not known of all
    /// why.
    fn judge_until_known(&mut self) -> Result<Choice, Failure> {
        let target = self.target;
        let mut is_told = false;
        loop {
            let Some(offer) = &mut self.offer else {
                return Ok(Choice::default());
            };
            let last_used = |key: &_| self.store.last_used(key);
            let choice = target::choose(offer, target, &self.settings, last_used);
            let waits = target.on_unknown == OnUnknown::Wait && !self.waiting.wait.is_zero();
            let is_unknown = choice.rejected.iter().any(Rejection::is_unknown);
            let over = boot_ms().saturating_sub(self.start_ms) >= millis(self.waiting.wait);
            if !choice.usable.is_empty() || !waits || !is_unknown || over {
                return self.judged(choice);
            }
            if !is_told {
                is_told = true;
                let reasons = reasons(&choice.rejected);
                self.output.note(&format!(
                    "waiting until a candidate is known to do: {reasons}"
                ));
            }
            for index in 0..offer.offered.len() {
                if let Err(reason) = offer.refresh(index, self.output) {
                    self.output.detail(&reason);
                }
            }
            if self.waker.sleep(None, Some(ASK_AGAIN)).by_signal
                && let Some(signal) = self.signals.ending()
            {
                return Err(Failure::interrupted(signal));
            }
        }
    }

    fn judged(&mut self, choice: Choice) -> Result<Choice, Failure> {
        for rejection in &choice.rejected {
            let note = format!("left out: {}", rejection.reason());
            self.output.detail(&note);
            self.notes.push(note);
        }
        if choice.usable.is_empty() {
            return Err(self.no_candidate(&choice.rejected));
        }
        Ok(choice)
    }

    /// Nobody may be used: the exit code says why, the report and the line name each.
    fn no_candidate(&self, rejected: &[Rejection]) -> Failure {
        let all = if rejected.is_empty() {
            "the document names no provider".into()
        } else {
            reasons(rejected)
        };
        self.write_refusal(&[]);
        let is_unavailable = |r: &Rejection| matches!(r, Rejection::Unavailable(_));
        if rejected.iter().any(Rejection::is_unknown) {
            let text = format!("no candidate is known to do: {all}");
            Failure::internal(text).with_exit(Exit::Unknown)
        } else if rejected.is_empty() || rejected.iter().any(is_unavailable) {
            Failure::unavailable(format!("no candidate is available: {all}"))
        } else {
            let text = format!("no candidate can hold the request: {all}");
            Failure::internal(text).with_exit(Exit::No)
        }
    }
}

fn reasons(rejected: &[Rejection]) -> String {
    let reasons: Vec<&str> = rejected.iter().map(Rejection::reason).collect();
    reasons.join("; ")
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
