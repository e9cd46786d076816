//! What the shell asks before and after each command: nothing, a recorder, or a player.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Player, Recorder};
use crate::tools::shell::{Order, Ran};

/// Who sees the commands.
#[derive(Debug, Clone, Default)]
pub(crate) enum Tape {
    /// Nobody.
    #[default]
    None,
    /// They are written down.
    Record(Arc<Recorder>),
    /// They are answered from a recording, as long as it has them.
    Play(Arc<Player>),
}

/// Where a command runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    /// The work tree.
    pub(crate) root: &'a Path,
    /// The file in which a shell tells where it ended.
    pub(crate) end: &'a Path,
}

impl Tape {
    /// The recorded result of a command, with its effects applied.
    pub(crate) fn play(&self, order: Order<'_>, place: Place<'_>) -> Result<Option<Ran>, String> {
        match self {
            Self::Play(player) => player.command(order, place),
            Self::None | Self::Record(_) => Ok(None),
        }
    }

    /// The command as it is to run here: a replay lives in another folder than it says.
    pub(crate) fn line(&self, line: &str, root: &Path) -> String {
        match self {
            Self::Play(player) => player.to_here(line, root),
            Self::None | Self::Record(_) => line.into(),
        }
    }

    /// An output as the model is to see it.
    pub(crate) fn text(&self, text: String, root: &Path) -> String {
        match self {
            Self::Play(player) => player.to_there(&text, root),
            Self::None | Self::Record(_) => text,
        }
    }

    /// Before a command that really runs.
    pub(crate) fn before(&self) {
        if let Self::Record(recorder) = self {
            recorder.before_command();
        }
    }

    /// After it.
    pub(crate) fn after(&self, ran: &Ran, place: Place<'_>) {
        if let Self::Record(recorder) = self {
            recorder.command(ran, place);
        }
    }

    /// The folder of the whole outputs, if it is not a temporary one: where it is, and what the
    /// model is told.
    pub(crate) fn outputs(&self) -> Option<(PathBuf, PathBuf)> {
        match self {
            Self::None => None,
            Self::Record(recorder) => Some((recorder.outputs(), recorder.outputs())),
            Self::Play(player) => Some(player.outputs()),
        }
    }

    /// Whether waits can be skipped, because nobody is waited for.
    pub(crate) fn hurries(&self) -> bool {
        match self {
            Self::Play(player) => player.is_playing(),
            Self::None | Self::Record(_) => false,
        }
    }
}
