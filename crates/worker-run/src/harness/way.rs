//! Two ways for a model to act: by tool calls, or by files in its replies. Which one is taken.

use serde::{Deserialize, Serialize};

use crate::cli::ModeFlag;

/// Models up to this size repeat failing calls more than anything else, and solve the same tasks
/// when they reply with files.
const SMALL: u64 = 4_000_000_000;

/// How earlier tasks with this model went, where it was free to change over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Past {
    /// The newest one had to change over from tools to files.
    pub(crate) last_gave_up: bool,
    /// So did the last three.
    pub(crate) all_gave_up: bool,
}

/// What the choice rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Signs {
    /// What the command line says.
    pub(crate) asked: ModeFlag,
    /// What the configuration says of the provider.
    pub(crate) configured: Option<ModeFlag>,
    /// What `vllm-health --probe=tools` found; none: not asked, or nothing proven.
    pub(crate) calls_tools: Option<bool>,
    /// The size of the model, in parameters.
    pub(crate) parameters: Option<u64>,
    /// Earlier tasks.
    pub(crate) past: Past,
    /// Whether this is a second attempt at the task.
    pub(crate) again: bool,
    /// Whether the role writes.
    pub(crate) writes: bool,
}

/// The way taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Way {
    /// Never `Auto`.
    pub(crate) mode: ModeFlag,
    /// Why, where it was not asked for.
    pub(crate) why: Option<String>,
    /// Whether it may be left for the other one.
    pub(crate) may_change: bool,
}

/// Chooses.
pub(crate) fn choose(signs: &Signs) -> Way {
    let fixed = |mode| Way {
        mode,
        why: None,
        may_change: false,
    };
    if signs.asked != ModeFlag::Auto {
        return fixed(signs.asked);
    }
    if let Some(mode) = signs.configured.filter(|m| *m != ModeFlag::Auto) {
        return Way {
            why: Some("the configuration says so".into()),
            ..fixed(mode)
        };
    }
    let files = |why: &str| Way {
        mode: ModeFlag::Whole,
        why: Some(why.into()),
        may_change: true,
    };
    if signs.calls_tools == Some(false) {
        return Way {
            may_change: false,
            ..files("the probe got no tool call from this model")
        };
    }
    if signs.writes {
        if signs.parameters.is_some_and(|n| n <= SMALL) {
            return files("a model of this size does better with files than with tools");
        }
        if signs.past.all_gave_up {
            return files("its last three tasks had to change over from tools to files");
        }
        if signs.again && signs.past.last_gave_up {
            return files("the attempt before had to change over from tools to files");
        }
    }
    Way {
        mode: ModeFlag::Tools,
        why: None,
        may_change: signs.writes,
    }
}

#[cfg(test)]
mod tests {
    use super::{Past, Signs, choose};
    use crate::cli::ModeFlag;

    const PLAIN: Signs = Signs {
        asked: ModeFlag::Auto,
        configured: None,
        calls_tools: None,
        parameters: None,
        past: Past {
            last_gave_up: false,
            all_gave_up: false,
        },
        again: false,
        writes: true,
    };

    #[test]
    fn what_a_person_says_is_done_and_not_changed() {
        for mode in [ModeFlag::Tools, ModeFlag::Whole, ModeFlag::Blocks] {
            let asked = choose(&Signs {
                asked: mode,
                parameters: Some(1),
                ..PLAIN
            });
            assert_eq!(
                (asked.mode, asked.may_change, asked.why),
                (mode, false, None)
            );
            let configured = choose(&Signs {
                configured: Some(mode),
                parameters: Some(1),
                ..PLAIN
            });
            assert_eq!((configured.mode, configured.may_change), (mode, false));
        }
        let auto = choose(&Signs {
            configured: Some(ModeFlag::Auto),
            ..PLAIN
        });
        assert_eq!((auto.mode, auto.may_change), (ModeFlag::Tools, true));
    }

    #[test]
    fn signs_that_tools_do_not_work_lead_to_files() {
        let signs = [
            Signs {
                calls_tools: Some(false),
                ..PLAIN
            },
            Signs {
                parameters: Some(1_500_000_000),
                ..PLAIN
            },
            Signs {
                past: Past {
                    last_gave_up: true,
                    all_gave_up: true,
                },
                ..PLAIN
            },
            Signs {
                past: Past {
                    last_gave_up: true,
                    all_gave_up: false,
                },
                again: true,
                ..PLAIN
            },
        ];
        for signs in signs {
            let way = choose(&signs);
            assert_eq!(way.mode, ModeFlag::Whole, "{signs:?}");
            assert!(way.why.is_some());
        }
        let large = Signs {
            parameters: Some(27_000_000_000),
            calls_tools: Some(true),
            ..PLAIN
        };
        assert_eq!(choose(&large).mode, ModeFlag::Tools);
        let reader = Signs {
            writes: false,
            parameters: Some(1),
            ..PLAIN
        };
        assert_eq!(
            (choose(&reader).mode, choose(&reader).may_change),
            (ModeFlag::Tools, false)
        );
    }
}
