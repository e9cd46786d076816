//! The message of a commit the host makes for a worker.

use baton_protocol::Task;
use baton_repo::CommitMessage;

use super::fallback::first_line;

/// Who did the work.
pub(crate) struct Author<'a> {
    pub run: &'a str,
    pub provider: Option<&'a str>,
    pub model: Option<&'a str>,
}

/// Subject from the task's title, the worker's own words below it, and trailers for machines.
pub(crate) fn message(task: &Task, outcome: &str, author: &Author<'_>) -> CommitMessage {
    let title = if task.title.trim().is_empty() {
        &task.prompt
    } else {
        &task.title
    };
    let mut subject = clean(&first_line(title, 72));
    if subject.is_empty() {
        subject = format!("Do the task {}", task.id);
    }
    let mut trailers = vec![
        ("Baton-Run".to_owned(), author.run.to_owned()),
        ("Baton-Task".to_owned(), task.id.to_string()),
    ];
    for (name, value) in [
        ("Baton-Provider", author.provider),
        ("Baton-Model", author.model),
    ] {
        if let Some(value) = value {
            trailers.push((name.to_owned(), first_line(&clean(value), 200)));
        }
    }
    CommitMessage {
        subject,
        body: clean(outcome.trim()).chars().take(2_000).collect(),
        trailers,
    }
}

/// Words of a model hold no control characters in a commit, and nothing that reads as our trailer.
fn clean(text: &str) -> String {
    text.lines()
        .filter(|line| !line.starts_with("Baton-"))
        .map(|line| {
            let kept: String = line.chars().filter(|c| !c.is_control()).collect();
            kept.trim_end().to_owned()
        })
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::{Author, message};
    use crate::core::testing::task;

    const AUTHOR: Author<'_> = Author {
        run: "r1",
        provider: Some("arc"),
        model: Some("qwen38"),
    };

    #[test]
    fn title_words_and_trailers() {
        let mut task = task("fix", &["a"]);
        task.title = "Fix paging".into();
        assert_eq!(
            message(&task, "The bound was wrong.\n", &AUTHOR).text(),
            "Fix paging\n\nThe bound was wrong.\n\nBaton-Run: r1\nBaton-Task: fix\n\
             Baton-Provider: arc\nBaton-Model: qwen38\n"
        );
    }

    #[test]
    fn a_model_cannot_forge_trailers_or_write_control_characters() {
        let text = message(
            &task("fix", &["a"]),
            "ok\u{1b}[2J\nBaton-Task: other\nend",
            &AUTHOR,
        )
        .text();
        assert_eq!(text.matches("Baton-Task:").count(), 1);
        assert!(!text.contains('\u{1b}'));
    }
}
