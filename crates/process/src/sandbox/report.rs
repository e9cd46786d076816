//! What the launcher tells the tool, line by line through a pipe of its own. Pure.

use super::coverage::Facts;
use crate::{ExitStatus, Leftover};

/// A launcher's report as the tool reads it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Report {
    /// What was set up; `None` if the launcher did not get that far.
    pub(crate) facts: Option<Facts>,
    /// How the command ended, where the launcher stayed to see it.
    pub(crate) exit: Option<ExitStatus>,
    /// The command could not be executed: the system's error number.
    pub(crate) exec_error: Option<i32>,
    /// The launcher itself failed.
    pub(crate) failure: Option<String>,
    /// What the command left behind in its namespace.
    pub(crate) leftovers: Vec<Leftover>,
}

impl Report {
    /// Reads what came through the pipe. A line that says nothing known is skipped: it can only
    /// come from a launcher of another version, and no line of that kind grants anything.
    pub(crate) fn parse(text: &str) -> Self {
        let mut report = Self::default();
        for line in text.lines() {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "facts" => report.facts = parse_facts(rest),
                "exit" => report.exit = rest.parse().ok().map(ExitStatus::Code),
                "signal" => report.exit = rest.parse().ok().map(ExitStatus::Signal),
                "exec" => report.exec_error = rest.parse().ok(),
                "failed" => report.failure = Some(rest.to_owned()),
                "left" => report.leftovers.extend(parse_leftover(rest)),
                _ => {}
            }
        }
        report
    }
}

/// `facts` as one word, for the pipe.
pub(crate) fn write_facts(facts: Facts) -> String {
    let flags = [
        facts.pid,
        facts.mounts,
        facts.net,
        facts.loopback,
        facts.protected_inside,
    ];
    let flags: String = flags.iter().map(|f| if *f { '1' } else { '0' }).collect();
    format!("{}:{flags}", facts.landlock)
}

pub(crate) fn parse_facts(text: &str) -> Option<Facts> {
    let (landlock, flags) = text.split_once(':')?;
    let flags: Vec<bool> = flags.chars().map(|c| c == '1').collect();
    let [pid, mounts, net, loopback, protected_inside] = flags.try_into().ok()?;
    let landlock = landlock.parse().ok()?;
    Some(Facts {
        landlock,
        pid,
        mounts,
        net,
        loopback,
        protected_inside,
    })
}

fn parse_leftover(text: &str) -> Option<Leftover> {
    let (pid, command) = text.split_once(' ')?;
    Some(Leftover {
        pid: pid.parse().ok()?,
        command: command.to_owned(),
    })
}

pub(crate) fn write_leftover(leftover: &Leftover) -> String {
    let command: String = leftover
        .command
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    format!("left {} {command}", leftover.pid)
}

pub(crate) fn write_exit(exit: ExitStatus) -> String {
    match exit {
        ExitStatus::Code(code) => format!("exit {code}"),
        ExitStatus::Signal(signal) => format!("signal {signal}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn facts_come_back(landlock in 0_u8..20, flags in any::<[bool; 5]>()) {
            let [pid, mounts, net, loopback, protected_inside] = flags;
            let facts = Facts { landlock, pid, mounts, net, loopback, protected_inside };
            prop_assert_eq!(parse_facts(&write_facts(facts)), Some(facts));
        }

        #[test]
        fn parsing_never_panics(text in "(facts|exit|left|x)? ?.{0,40}\n?") {
            let _ = Report::parse(&text);
        }
    }

    #[test]
    fn a_whole_report() {
        let leftover = Leftover {
            pid: 7,
            command: "sleep\n300".into(),
        };
        let text = format!("facts 7:11111\n{}\nsignal 9\n", write_leftover(&leftover));
        let report = Report::parse(&text);
        assert_eq!(report.exit, Some(ExitStatus::Signal(9)));
        assert_eq!(report.leftovers[0].command, "sleep 300");
        assert!(report.facts.is_some_and(|f| f.pid && f.landlock == 7));
    }
}
