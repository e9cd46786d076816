//! Finding JSON objects in a text: the whole of it, in fences, or bare between sentences.

use baton_protocol::WholeValue;
use serde_json::Value;

use super::NoReport;

/// What a text holds.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Each outermost object with the line it starts on.
    pub(crate) objects: Vec<(usize, Value)>,
    /// Whether the text is one object and nothing else.
    pub(crate) is_whole: bool,
    /// The lines of objects in which one key stands twice, and the key.
    pub(crate) doubled: Vec<(usize, String)>,
    /// The first thing that begins like a report and is not JSON.
    pub(crate) broken: Option<NoReport>,
}

/// A text with more opening braces than this is a program, not a report.
const MOST_ATTEMPTS: usize = 5000;
/// How far into a broken object its first keys are looked for.
const OPENING: usize = 400;
/// Words at the beginning of a report.
const MARKS: [&str; 6] = [
    "handoff/1",
    "\"taskId\"",
    "\"task_id\"",
    "\"filesChanged\"",
    "\"files_changed\"",
    "\"outcome\"",
];

/// Every outermost JSON object. A fence needs no special care: its content is found as an object,
/// whatever the fence is called, and also when it is missing.
pub(crate) fn objects(text: &str) -> Found {
    let mut found = Found::default();
    let mut at = 0;
    for _ in 0..MOST_ATTEMPTS {
        let Some(offset) = text[at..].find('{') else {
            break;
        };
        let start = at + offset;
        let line = text[..start].matches('\n').count() + 1;
        let mut stream =
            serde_json::Deserializer::from_str(&text[start..]).into_iter::<WholeValue>();
        match stream.next() {
            Some(Ok(WholeValue { value, doubled })) => {
                at = start + stream.byte_offset();
                if let Some(key) = doubled {
                    found
                        .doubled
                        .push((line, format!("the key `{key}` stands twice")));
                }
                found.is_whole = start == 0 && at == text.len();
                found.objects.push((line, value));
            }
            Some(Err(error)) => {
                if found.broken.is_none() && begins_like_a_report(&text[start..]) {
                    let message = error.to_string();
                    let cut_off = error.is_eof() || ends_in_fence(&text[start..], &error);
                    found.broken = Some(if cut_off {
                        NoReport::CutOff { line, message }
                    } else {
                        NoReport::Broken { line, message }
                    });
                    if cut_off {
                        // What follows are its inner objects, not reports of their own.
                        break;
                    }
                }
                at = start + 1;
            }
            None => break,
        }
    }
    found
}

fn begins_like_a_report(text: &str) -> bool {
    let end = text
        .char_indices()
        .nth(OPENING)
        .map_or(text.len(), |(i, _)| i);
    MARKS.iter().any(|mark| text[..end].contains(mark))
}

/// Whether the place where JSON ends is the closing fence: the object was cut off inside it.
fn ends_in_fence(text: &str, error: &serde_json::Error) -> bool {
    let line = text
        .lines()
        .nth(error.line().saturating_sub(1))
        .unwrap_or_default();
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
}
