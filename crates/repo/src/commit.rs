//! Commits made by the host, never by a worker.

use std::fmt::Write as _;

use crate::error::RepoError;
use crate::git::Git;
use crate::id::ObjectId;
use crate::repo::Repo;

/// The text of a commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommitMessage {
    /// The first line.
    pub subject: String,
    /// The text below it; may be empty.
    pub body: String,
    /// `Key: value` lines at the end.
    pub trailers: Vec<(String, String)>,
}

impl CommitMessage {
    /// The message as git stores it.
    pub fn text(&self) -> String {
        let subject = one_line(&self.subject);
        let mut text = if subject.is_empty() {
            "Changes of a task".to_owned()
        } else {
            subject
        };
        text.push('\n');
        let body = self.body.trim();
        if !body.is_empty() {
            let _ = write!(text, "\n{body}\n");
        }
        for (i, (key, value)) in self.trailers.iter().enumerate() {
            let gap = if i == 0 { "\n" } else { "" };
            let _ = writeln!(text, "{gap}{}: {}", one_line(key), one_line(value));
        }
        text.replace('\0', "")
    }
}

/// A line break in a model's title must not start a trailer of its own.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Who commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The name.
    pub name: String,
    /// The address.
    pub email: String,
}

impl Repo {
    /// The identity the host's configuration gives; none when it gives none.
    pub fn identity(&self) -> Result<Option<Identity>, RepoError> {
        let said = self
            .git(["var", "GIT_COMMITTER_IDENT"])
            .setting("user.useConfigOnly", "true")
            .said()?;
        if !said.is_ok() {
            return Ok(None);
        }
        let line = said.line();
        Ok(line.split_once(" <").and_then(|(name, rest)| {
            let (email, _) = rest.split_once('>')?;
            Some(Identity {
                name: name.to_owned(),
                email: email.to_owned(),
            })
        }))
    }

    /// Commits everything that changed, untracked files included, without running any hook.
    /// None: there was nothing to commit.
    pub fn commit_all(&self, message: &CommitMessage) -> Result<Option<ObjectId>, RepoError> {
        self.git(["add", "--all"]).ok()?;
        let staged = match self.head()?.commit {
            Some(_) => self
                .git(["diff-index", "--cached", "--quiet", "HEAD"])
                .said()?,
            None => self
                .git(["diff-index", "--cached", "--quiet"])
                .arg(self.empty_tree()?.as_str())
                .said()?,
        };
        match staged.code {
            Some(0) => return Ok(None),
            Some(1) => {}
            _ => return Err(staged.into_error()),
        }
        self.as_committer(self.git([
            "commit",
            "--quiet",
            "--no-verify",
            "--cleanup=verbatim",
            "-F",
            "-",
        ]))?
        .stdin(message.text())
        .ok()?;
        Ok(self.head()?.commit)
    }

    /// Adds an identity where the host has none, so that a commit never fails for that.
    pub(crate) fn as_committer(&self, git: Git) -> Result<Git, RepoError> {
        if self.identity()?.is_some() {
            return Ok(git);
        }
        Ok(git
            .setting("user.name", "Baton")
            .setting("user.email", "baton@localhost"))
    }
}

#[cfg(test)]
mod tests {
    use super::CommitMessage;

    #[test]
    fn a_line_break_in_a_value_cannot_forge_a_trailer() {
        let message = CommitMessage {
            subject: "Fix page()\nReviewed-by: nobody".into(),
            body: "  why\n".into(),
            trailers: vec![
                ("Baton-Run".into(), "r1\nBaton-Task: x".into()),
                ("Baton-Task".into(), "t1".into()),
            ],
        };
        assert_eq!(
            message.text(),
            "Fix page() Reviewed-by: nobody\n\nwhy\n\n\
             Baton-Run: r1 Baton-Task: x\nBaton-Task: t1\n"
        );
    }
}
