//! Reading documents: lenient for what tools write, strict for what people write.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::doubled::doubled_key;
use crate::error::ErrorDocument;
use crate::schema::Document;

/// Why a document could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// No bytes, or only white space.
    #[error("the input is empty; expected a {expected} document")]
    Empty {
        /// The schema that was asked for.
        expected: &'static str,
    },
    /// The bytes are not JSON (the message gives line and column).
    #[error("not JSON: {0}")]
    NotJson(String),
    /// The document is another one, or another major version.
    #[error("schema is {found}, expected `{expected}`")]
    WrongSchema {
        /// What the document says of itself, quoted, or that it says nothing.
        found: String,
        /// The schema that was asked for.
        expected: &'static str,
    },
    /// A key is missing, wrong or (strict) unknown.
    #[error("{path}: {message}")]
    Key {
        /// The JSON path, for example `$.scope.write[1]`.
        path: String,
        /// What is wrong there.
        message: String,
    },
    /// The tool before us in the pipe reported an error instead of a document.
    #[error("{}: {}", .0.tool, .0.message)]
    Relayed(Box<ErrorDocument>),
}

/// Reads a document another tool wrote. Unknown keys are ignored, another major is refused.
///
/// An `error/1` document in its place is returned as [`ReadError::Relayed`].
pub fn read<T: Document>(text: &str) -> Result<T, ReadError> {
    let value = parse::<T>(text)?;
    read_value(value)
}

/// Like [`read`], from a value that is already parsed.
pub fn read_value<T: Document>(value: Value) -> Result<T, ReadError> {
    check_schema::<T>(&value)?;
    from_value(value)
}

/// Reads a document a person wrote: an unknown key is an error that names the nearest known one
/// (the types of such documents carry `deny_unknown_fields`), and so is a key that stands twice,
/// of which JSON readers silently take one.
pub fn read_strict<T: Document>(text: &str) -> Result<T, ReadError> {
    let document = read(text)?;
    match doubled_key(without_mark(text)) {
        Some(key) => Err(ReadError::Key {
            path: "$".into(),
            message: format!("the key `{key}` stands twice in one object"),
        }),
        None => Ok(document),
    }
}

fn parse<T: Document>(text: &str) -> Result<Value, ReadError> {
    let text = without_mark(text);
    if text.trim().is_empty() {
        return Err(ReadError::Empty {
            expected: T::SCHEMA,
        });
    }
    serde_json::from_str(text).map_err(|e| ReadError::NotJson(e.to_string()))
}

/// The text without the mark that some editors, and PowerShell, put before everything.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn check_schema<T: Document>(value: &Value) -> Result<(), ReadError> {
    let Some(object) = value.as_object() else {
        return Err(ReadError::Key {
            path: "$".into(),
            message: format!("expected an object with `\"schema\": \"{}\"`", T::SCHEMA),
        });
    };
    match object.get("schema").and_then(Value::as_str) {
        Some(found) if found == T::SCHEMA => Ok(()),
        Some(ErrorDocument::SCHEMA) => {
            let relayed = from_value(value.clone())?;
            Err(ReadError::Relayed(Box::new(relayed)))
        }
        Some(found) => Err(ReadError::WrongSchema {
            found: format!("`{found}`"),
            expected: T::SCHEMA,
        }),
        None => Err(ReadError::WrongSchema {
            found: "missing".into(),
            expected: T::SCHEMA,
        }),
    }
}

fn from_value<T: DeserializeOwned>(value: Value) -> Result<T, ReadError> {
    // Keeping track of the path costs as much as reading, and only an error needs it.
    if let Ok(read) = T::deserialize(&value) {
        return Ok(read);
    }
    serde_path_to_error::deserialize(value).map_err(|e| {
        let path = json_path(&e.path().to_string());
        ReadError::Key {
            path,
            message: nearest_key(&e.into_inner().to_string()),
        }
    })
}

fn json_path(path: &str) -> String {
    match path {
        "." | "" => "$".into(),
        p if p.starts_with('[') => format!("${p}"),
        p => format!("$.{p}"),
    }
}

/// Turns serde's message about an unknown key, with its list of all known keys, into one that names
/// the key that was probably meant. Other messages stay as they are.
pub fn nearest_key(message: &str) -> String {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let Some(rest) = message.strip_prefix("unknown field ") else {
        return in_plain_words(message);
    };
    let Some((unknown, known)) = quoted.split_first() else {
        return format!("unknown key {rest}");
    };
    let nearest = known
        .iter()
        .map(|k| (strsim::damerau_levenshtein(unknown, k), *k))
        .min()
        .filter(|(distance, k)| *distance <= 1 + k.len() / 3);
    match nearest {
        Some((_, k)) => format!("unknown key `{unknown}`; did you mean `{k}`?"),
        None => format!("unknown key `{unknown}`; known keys: {}", known.join(", ")),
    }
}

/// Says what is wanted in words that need no knowledge of the types we keep it in.
fn in_plain_words(message: &str) -> String {
    let Some((found, wanted)) = message.split_once(", expected ") else {
        return message.to_owned();
    };
    // A place in the document may follow: ` at line 3 column 9`.
    let (wanted, place) = wanted
        .find(" at line ")
        .map_or((wanted, ""), |at| wanted.split_at(at));
    let words = match wanted {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, 0 or more",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a sequence" => "a list",
        "a boolean" => "true or false",
        "a tuple of size 2" => "a list of two",
        ours if ours.starts_with("struct ") => "keys and values",
        other => other,
    };
    format!("{found}, expected {words}{place}")
}

#[cfg(test)]
mod tests {
    use super::{ReadError, in_plain_words, read, read_strict};
    use crate::{Health, Task};

    #[test]
    fn empty_input_is_an_error() {
        assert!(matches!(
            read::<Health>(" \n"),
            Err(ReadError::Empty { .. })
        ));
    }

    #[test]
    fn a_byte_order_mark_before_a_document_is_no_part_of_it() {
        let text = "\u{feff}{\"schema\":\"task/1\",\"id\":\"t\",\"prompt\":\"x\"}";
        assert_eq!(read_strict::<Task>(text).unwrap().id.as_str(), "t");
        assert!(matches!(
            read::<Health>("\u{feff} \n"),
            Err(ReadError::Empty { .. })
        ));
        let error = read_strict::<Task>(
            "\u{feff}{\"schema\":\"task/1\",\"id\":\"t\",\"id\":\"u\",\"prompt\":\"x\"}",
        );
        assert!(error.unwrap_err().to_string().contains("twice"));
    }

    #[test]
    fn another_major_is_refused_by_name() {
        let error = read::<Health>(r#"{"schema":"health/2"}"#).unwrap_err();
        assert_eq!(
            error.to_string(),
            "schema is `health/2`, expected `health/1`"
        );
        let error = read::<Health>("{}").unwrap_err();
        assert_eq!(error.to_string(), "schema is missing, expected `health/1`");
        assert!(
            read::<Health>("[1]")
                .unwrap_err()
                .to_string()
                .starts_with("$: expected")
        );
    }

    #[test]
    fn a_wrong_key_is_named_by_path() {
        let text = r#"{"schema":"task/1","id":"t","prompt":"x","scope":{"write":["a",3]}}"#;
        let error = read_strict::<Task>(text).unwrap_err().to_string();
        assert!(error.starts_with("$.scope.write[1]: "), "{error}");
    }

    #[test]
    fn an_unknown_key_names_the_nearest_known_one() {
        let text = r#"{"schema":"task/1","id":"t","prompt":"x","verfy":[]}"#;
        let error = read_strict::<Task>(text).unwrap_err().to_string();
        assert!(
            error.ends_with("unknown key `verfy`; did you mean `verify`?"),
            "{error}"
        );
    }

    #[test]
    fn a_key_that_stands_twice_is_an_error_where_people_write() {
        let text =
            r#"{"schema":"task/1","id":"t","prompt":"x","scope":{"write":[],"write":["a"]}}"#;
        let error = read_strict::<Task>(text).unwrap_err().to_string();
        assert_eq!(error, "$: the key `write` stands twice in one object");
        assert!(read::<Task>(text).is_ok(), "tools write no such thing");
    }

    #[test]
    fn an_error_document_is_relayed() {
        let text = r#"{"schema":"error/1","tool":"vllm-health","kind":"usage",
            "message":"no such flag","retryable":false,"detail":null}"#;
        let error = read::<Health>(text).unwrap_err();
        assert!(matches!(&error, ReadError::Relayed(d) if d.tool == "vllm-health"));
        assert_eq!(error.to_string(), "vllm-health: no such flag");
    }

    #[test]
    fn wanted_types_are_named_in_plain_words() {
        for (message, words) in [
            (
                "invalid type: string \"two\", expected u32",
                "invalid type: string \"two\", expected a whole number, 0 or more",
            ),
            (
                "invalid type: map, expected a sequence at line 3 column 9",
                "invalid type: map, expected a list at line 3 column 9",
            ),
            (
                "invalid type: string \"a\", expected a tuple of size 2",
                "invalid type: string \"a\", expected a list of two",
            ),
            (
                "invalid type: integer `3`, expected struct Gate",
                "invalid type: integer `3`, expected keys and values",
            ),
            ("duplicate key", "duplicate key"),
        ] {
            assert_eq!(in_plain_words(message), words);
        }
    }
}
