//! Real against estimated tokens, and rates, kept for later estimates.

use std::fs::{OpenOptions, create_dir_all};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use baton_model_server::ChatAnswer;
use baton_protocol::Timestamp;
use serde_json::{Value, json};

use crate::harness::way::Past;

/// A prompt shorter than this tells nothing about the prefill rate.
const LEAST_PREFILL: u64 = 64;

/// The file of a provider below the state folder.
pub(crate) fn file(state: &Path, provider: &str) -> PathBuf {
    let safe: String = provider
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || "-_.".contains(c) {
                c
            } else {
                '_'
            }
        })
        .collect();
    state.join("calibration").join(format!("{safe}.jsonl"))
}

/// One line: what was estimated and what the server counted and needed.
pub(crate) fn line(
    at: Timestamp,
    model: Option<&str>,
    estimated: u64,
    answer: &ChatAnswer,
) -> Option<Value> {
    let usage = answer.usage?;
    let fresh = usage.prompt.saturating_sub(usage.cached.unwrap_or(0));
    let rate = |count: u64, ms: u64| (ms > 0).then(|| count * 1000 / ms);
    Some(json!({
        "at": at, "model": answer.model.as_deref().or(model), "estimated_tokens": estimated,
        "prompt_tokens": usage.prompt, "cached_tokens": usage.cached, "completion_tokens": usage.completion,
        "first_event_ms": answer.timing.first_event_ms, "decode_ms": answer.timing.decode_ms,
        "prefill_tokens_per_s": (fresh >= LEAST_PREFILL).then(|| rate(fresh, answer.timing.first_event_ms)).flatten(),
        "decode_tokens_per_s": rate(usage.completion, answer.timing.decode_ms),
    }))
}

/// Answers looked at for a rate.
const LATEST: usize = 20;

/// The rate at which this model's prompts were read lately, in tokens per second: the slowest
/// quarter of the last answers, since a limit is made of it.
pub(crate) fn prefill_rate(lines: &str, model: Option<&str>) -> Option<u64> {
    let mut rates: Vec<u64> = lines
        .lines()
        .rev()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|line| model.is_none() || line["model"].as_str() == model)
        .filter_map(|line| {
            line["prefill_tokens_per_s"]
                .as_u64()
                .filter(|rate| *rate > 0)
        })
        .take(LATEST)
        .collect();
    rates.sort_unstable();
    rates.get(rates.len() / 4).copied()
}

/// A line about one task: whether its model had to change over from tools to files.
pub(crate) fn way_line(at: Timestamp, model: Option<&str>, gave_up: bool) -> Value {
    json!({"at": at, "model": model, "tools": if gave_up { "gave_up" } else { "worked" }})
}

/// How the last tasks with this model went, where it could have called tools.
pub(crate) fn past(lines: &str, model: Option<&str>) -> Past {
    let newest: Vec<bool> = lines
        .lines()
        .rev()
        .filter(|line| line.contains("\"tools\""))
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|line| model.is_some() && line["model"].as_str() == model)
        .filter_map(|line| Some(line.get("tools")?.as_str()? == "gave_up"))
        .take(3)
        .collect();
    Past {
        last_gave_up: newest.first() == Some(&true),
        all_gave_up: newest.len() == 3 && newest.iter().all(|gave_up| *gave_up),
    }
}

/// Appends a line. It is a help for later, so a folder that cannot be written ends nothing.
pub(crate) fn append(path: &Path, line: &Value) {
    if let Some(folder) = path.parent()
        && create_dir_all(folder).is_ok()
        && let Ok(mut file) = OpenOptions::new().create(true).append(true).open(path)
    {
        // One write, so that lines of several workers do not mix.
        let _ = file.write_all(format!("{line}\n").as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::{append, file, line, past, prefill_rate, way_line};
    use baton_model_server::stream::whole_answer;
    use baton_protocol::Timestamp;
    use serde_json::json;
    use std::path::Path;

    #[test]
    fn rates_come_from_what_was_really_processed() {
        let mut answer = whole_answer(&json!({"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1000, "completion_tokens": 50, "prompt_tokens_details": {"cached_tokens": 800}}}))
        .unwrap();
        answer.timing.first_event_ms = 2000;
        answer.timing.decode_ms = 1000;
        let line = line(Timestamp::now(), Some("m"), 900, &answer).unwrap();
        assert_eq!(line["prefill_tokens_per_s"], 100);
        assert_eq!(line["decode_tokens_per_s"], 50);
        assert_eq!(line["estimated_tokens"], 900);
    }

    #[test]
    fn a_rate_is_that_of_the_model_and_on_the_slow_side() {
        let lines: String = [40, 10, 30, 20]
            .map(|r| format!("{}\n", json!({"model": "m", "prefill_tokens_per_s": r})))
            .concat();
        let lines = format!(
            "{lines}broken\n{}\n",
            json!({"model": "other", "prefill_tokens_per_s": 1})
        );
        assert_eq!(prefill_rate(&lines, Some("m")), Some(20));
        assert_eq!(prefill_rate(&lines, Some("gone")), None);
        assert_eq!(prefill_rate("", None), None);
    }

    #[test]
    fn the_last_tasks_tell_whether_tools_work() {
        let lines = |outcomes: &[bool]| -> String {
            let at = Timestamp::now();
            let lines: Vec<String> = outcomes
                .iter()
                .map(|gave_up| way_line(at, Some("m"), *gave_up).to_string())
                .collect();
            lines.join("\n")
        };
        let of = |outcomes: &[bool]| {
            let past = past(&lines(outcomes), Some("m"));
            (past.last_gave_up, past.all_gave_up)
        };
        assert_eq!(of(&[]), (false, false));
        assert_eq!(of(&[true]), (true, false));
        assert_eq!(of(&[false, true, true, true]), (true, true));
        assert_eq!(of(&[true, true, true, false]), (false, false));
        assert!(!past(&lines(&[true]), Some("other")).last_gave_up);
    }

    #[test]
    fn lines_are_appended_under_a_safe_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = file(dir.path(), "a/../b");
        assert_eq!(path, dir.path().join(Path::new("calibration/a_.._b.jsonl")));
        append(&path, &json!({"n": 1}));
        append(&path, &json!({"n": 2}));
        assert_eq!(
            std::fs::read_to_string(path).unwrap(),
            "{\"n\":1}\n{\"n\":2}\n"
        );
    }
}
