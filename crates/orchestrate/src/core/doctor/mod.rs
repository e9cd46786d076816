//! What `doctor` finds, and how it says it.

pub(crate) mod config;
pub(crate) mod servers;
pub(crate) mod tiers;

use std::fmt::Write as _;

use serde::Serialize;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    /// As it should be.
    Pass,
    /// Works, but a person should know. Never fails the report.
    Warn,
    /// Nothing can be worked on like this.
    Fail,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Check {
    pub name: String,
    pub status: Level,
    pub message: String,
    /// The command, or the line of configuration, that mends it.
    pub fix: Option<String>,
}

impl Check {
    pub(crate) fn pass(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            status: Level::Pass,
            message: message.into(),
            fix: None,
        }
    }

    pub(crate) fn warn(
        name: impl Into<String>,
        message: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self {
            status: Level::Warn,
            fix: Some(fix.into()),
            ..Self::pass(name, message)
        }
    }

    pub(crate) fn fail(
        name: impl Into<String>,
        message: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self {
            status: Level::Fail,
            ..Self::warn(name, message, fix)
        }
    }
}

/// One value of the configuration and where it was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Setting {
    pub key: String,
    pub value: String,
    pub origin: String,
}

/// The worst of the findings.
pub(crate) fn worst(checks: &[Check]) -> Level {
    checks.iter().map(|c| c.status).max().unwrap_or(Level::Pass)
}

/// One word for the whole report.
pub(crate) fn in_a_word(level: Level) -> &'static str {
    match level {
        Level::Pass => "ok",
        Level::Warn => "warning",
        Level::Fail => "error",
    }
}

/// The report for people: findings first, then what the configuration says and who said it.
pub(crate) fn text(checks: &[Check], settings: &[Setting]) -> String {
    let mut text = String::new();
    let width = checks.iter().map(|c| c.name.chars().count()).max();
    let width = width.unwrap_or(0).min(28);
    for check in checks {
        let mark = match check.status {
            Level::Pass => "ok  ",
            Level::Warn => "warn",
            Level::Fail => "FAIL",
        };
        let _ = writeln!(text, "{mark}  {:<width$}  {}", check.name, check.message);
        if let Some(fix) = &check.fix {
            let _ = writeln!(text, "      {:<width$}  mend it: {fix}", "");
        }
    }
    let told: Vec<&Setting> = settings.iter().filter(|s| s.origin != "default").collect();
    text.push_str("\nconfiguration (what is not listed has its default; all values: --json)\n");
    if told.is_empty() {
        text.push_str("  nothing is set\n");
    }
    for setting in told {
        let _ = writeln!(
            text,
            "  {} = {}  ({})",
            setting.key, setting.value, setting.origin
        );
    }
    let count = |level| checks.iter().filter(|c| c.status == level).count();
    let _ = writeln!(
        text,
        "\n{}: {} failed, {} to look at, {} fine",
        in_a_word(worst(checks)),
        count(Level::Fail),
        count(Level::Warn),
        count(Level::Pass)
    );
    text
}

#[cfg(test)]
mod tests {
    use super::{Check, Level, Setting, in_a_word, text, worst};

    #[test]
    fn one_failure_makes_the_report_an_error_and_a_warning_does_not() {
        let warn = Check::warn("gh", "not installed", "apt install gh");
        let fail = Check::fail("git", "not installed", "apt install git");
        assert_eq!(worst(&[]), Level::Pass);
        assert_eq!(worst(std::slice::from_ref(&warn)), Level::Warn);
        assert_eq!(worst(&[warn, fail]), Level::Fail);
        assert_eq!(in_a_word(Level::Warn), "warning");
    }

    #[test]
    fn every_problem_stands_with_what_mends_it_and_every_value_with_its_origin() {
        let checks = [
            Check::pass("git", "2.47"),
            Check::warn("gh", "not installed", "apt install gh"),
        ];
        let settings = [
            Setting {
                key: "run.max_parallel".into(),
                value: "2".into(),
                origin: "/home/me/.config/baton/config.toml".into(),
            },
            Setting {
                key: "run.max_rounds".into(),
                value: "2".into(),
                origin: "default".into(),
            },
        ];
        let text = text(&checks, &settings);
        assert!(text.contains("warn  gh"), "{text}");
        assert!(text.contains("mend it: apt install gh"), "{text}");
        assert!(
            text.contains("run.max_parallel = 2  (/home/me/.config/baton/config.toml)"),
            "{text}"
        );
        assert!(!text.contains("max_rounds"), "{text}");
        assert!(
            text.ends_with("warning: 0 failed, 1 to look at, 1 fine\n"),
            "{text}"
        );
    }
}
