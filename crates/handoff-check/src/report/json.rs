//! Finding JSON objects in a text: the whole of it, in fences, or bare between sentences.

use std::collections::HashSet;

use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::NoReport;

/// What a text holds.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Each outermost object with the line it starts on.
    pub(crate) objects: Vec<(usize, Value)>,
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
        let mut stream = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        match stream.next() {
            Some(Ok(value)) => {
                at = start + stream.byte_offset();
                if let Err(error) = serde_json::from_str::<EachKeyOnce>(&text[start..at]) {
                    found.doubled.push((line, error.to_string()));
                }
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

/// Any JSON in which no object has a key twice. Readers differ in which of the two counts, so such
/// a report says two things at once.
struct EachKeyOnce;

impl<'de> Deserialize<'de> for EachKeyOnce {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Walk)
    }
}

struct Walk;

impl<'de> Visitor<'de> for Walk {
    type Value = EachKeyOnce;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<EachKeyOnce, A::Error> {
        let mut seen = HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            map.next_value::<EachKeyOnce>()?;
            if seen.contains(&key) {
                return Err(A::Error::custom(format!("the key `{key}` stands twice")));
            }
            seen.insert(key);
        }
        Ok(EachKeyOnce)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<EachKeyOnce, A::Error> {
        while items.next_element::<EachKeyOnce>()?.is_some() {}
        Ok(EachKeyOnce)
    }

    fn visit_bool<E>(self, _: bool) -> Result<EachKeyOnce, E> {
        Ok(EachKeyOnce)
    }

    fn visit_i64<E>(self, _: i64) -> Result<EachKeyOnce, E> {
        Ok(EachKeyOnce)
    }

    fn visit_u64<E>(self, _: u64) -> Result<EachKeyOnce, E> {
        Ok(EachKeyOnce)
    }

    fn visit_f64<E>(self, _: f64) -> Result<EachKeyOnce, E> {
        Ok(EachKeyOnce)
    }

    fn visit_str<E>(self, _: &str) -> Result<EachKeyOnce, E> {
        Ok(EachKeyOnce)
    }

    fn visit_unit<E>(self) -> Result<EachKeyOnce, E> {
        Ok(EachKeyOnce)
    }
}
