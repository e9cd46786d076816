//! The fault switchboard: every way a real server was seen to misbehave, by name.

mod answers;
mod gzip;
mod probes;
mod refusals;
mod streams;
mod switchboard;
mod table;

use crate::answer::Answer;
use crate::chat::Chat;
use crate::config::Config;
use crate::engine::Freeze;
use crate::http::Response;
use crate::kinds::Visit;
use crate::wire::{Body, Data};

pub(crate) use switchboard::{Active, Switchboard, parse};
use table::ALL;

/// What a fault does in place of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Act {
    /// Sends this; with `true` signed as the server kind signs.
    Send(Response, bool),
    /// Sends nothing until the gate is released or the client leaves, then goes on.
    Silence(&'static str),
    /// Closes the connection without a byte.
    Close,
    /// Resets the connection.
    Reset,
}

/// Where a fault acts.
#[derive(Clone, Copy)]
pub(crate) enum Effect {
    /// On any request, before it is answered.
    Route(fn(&Visit<'_>) -> Option<Act>),
    /// On the answer of a probe.
    Edit(fn(&Visit<'_>, &mut Response)),
    /// On a chat request that was read, before the model sees it.
    Chat(fn(&Chat, &Config) -> Option<Act>),
    /// On what the model says.
    Answer(fn(&mut Answer)),
    /// On the answer as data.
    Data(fn(&mut Data, &Config)),
    /// On the answer as bytes.
    Bytes(fn(&mut Body)),
    /// On the engine, from that request on.
    Engine(Freeze),
    /// On nothing but this: the answer is one document, though a stream was asked for.
    Whole,
    /// On nothing but this: a client that leaves is not noticed while it queues or does not stream.
    Deaf,
}

/// One fault.
pub(crate) struct Fault {
    pub(crate) name: &'static str,
    /// The rows of the bug log it rebuilds.
    pub(crate) cases: &'static str,
    pub(crate) about: &'static str,
    pub(crate) effect: Effect,
}

impl std::fmt::Debug for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// The fault of that name.
pub(crate) fn find(name: &str) -> Option<&'static Fault> {
    ALL.iter().find(|fault| fault.name == name)
}

/// One line a fault: name, cases, what it does.
pub(crate) fn list() -> String {
    let line = |fault: &Fault| format!("{:<26} {:<18} {}\n", fault.name, fault.cases, fault.about);
    ALL.iter().map(line).chain([SET_UPS.to_owned()]).collect()
}

/// What is not a fault but a way to set the server up.
const SET_UPS: &str = "\
# Rows that a set-up rebuilds: R-12 --kind llamacpp-router; R-13 R-15 --kind lmstudio; R-23 R-24 --prefix;
# R-27 R-28 --host; R-31 --tls; R-33 --api-key; R-34 --no-tools; R-35 --kind llamacpp; R-36 --unified;
# C-10 C-14 --kind ollama; Q-05 --cancel-lag; Q-08 Q-10 --slots 1 and a script with `hold`; Q-11 --queue-limit.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_cases_look_like_cases() {
        let mut names: Vec<_> = ALL.iter().map(|fault| fault.name).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
        for fault in ALL {
            for case in fault.cases.split_whitespace() {
                assert!(
                    case.len() == 4 && "RCSQ".contains(&case[..1]),
                    "{}: {case}",
                    fault.name
                );
            }
        }
    }

    /// Rows whose input is not something a server does: addresses, proxies and environment of the
    /// client, its own estimate, or its own order of doing things.
    const OF_THE_CLIENT: &[&str] = &[
        "R-21", "R-25", "R-30", "C-15", "C-16", "C-17", "C-18", "C-19", "C-21", "C-22", "Q-01",
        "Q-14",
    ];

    #[test]
    fn every_row_of_the_sections_r_c_s_q_is_a_fault_a_set_up_or_the_clients_own() {
        let all = list();
        for (section, rows) in [("R", 40), ("C", 23), ("S", 35), ("Q", 14)] {
            for row in 1..=rows {
                let row = format!("{section}-{row:02}");
                let known = all.contains(&row) || OF_THE_CLIENT.contains(&row.as_str());
                assert!(known, "{row} is nowhere");
            }
        }
    }
}
