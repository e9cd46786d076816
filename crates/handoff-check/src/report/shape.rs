//! The shape of a JSON value, checked completely: every fault with its path, not only the first.

use serde_json::Value;

/// A fault at a place of a document.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Issue {
    /// For example `$.assumptions[1].evidence[0]`.
    pub(crate) path: String,
    /// What is wrong there.
    pub(crate) message: String,
}

impl std::fmt::Display for Issue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

/// What a value must look like.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    /// Text of so many characters.
    Text { min: usize, max: usize },
    /// One of these words.
    Word(&'static [&'static str]),
    /// This number.
    Number(u64),
    /// Text that a function accepts; the error says what is wrong.
    Special(fn(&str) -> Result<(), String>),
    /// A list of at least so many elements.
    List { of: &'static Shape, min: usize },
    /// An object.
    Record(&'static Record),
    /// Anything.
    Any,
    /// The shape, or null.
    OrNull(&'static Shape),
}

/// An object's keys.
#[derive(Debug)]
pub(crate) struct Record {
    /// Each key, whether it must be there, and its shape.
    pub(crate) keys: &'static [(&'static str, bool, Shape)],
    /// Whether other keys are an error.
    pub(crate) closed: bool,
}

/// A place of a document, spelled out only where there is a fault.
#[derive(Clone, Copy)]
enum Place<'a> {
    Root,
    Key(&'a Place<'a>, &'a str),
    Item(&'a Place<'a>, usize),
}

impl std::fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Root => f.write_str("$"),
            Self::Key(above, key) => write!(f, "{above}.{key}"),
            Self::Item(above, i) => write!(f, "{above}[{i}]"),
        }
    }
}

impl Shape {
    /// Every fault of a value, in the order of the paths.
    pub(crate) fn issues(&self, value: &Value) -> Vec<Issue> {
        let mut issues = Vec::new();
        self.walk(Place::Root, value, &mut issues);
        issues.sort();
        issues
    }

    fn walk(&self, place: Place<'_>, value: &Value, issues: &mut Vec<Issue>) {
        let mut fault = |message: String| {
            issues.push(Issue {
                path: place.to_string(),
                message,
            });
        };
        match (self, value) {
            (Self::Any, _) | (Self::OrNull(_), Value::Null) => {}
            (Self::OrNull(shape), _) => shape.walk(place, value, issues),
            (Self::Text { min, max }, Value::String(text)) => {
                let length = text.chars().count();
                if length < *min {
                    fault("is empty".into());
                } else if length > *max {
                    fault(format!(
                        "has {length} characters, at most {max} are allowed"
                    ));
                }
            }
            (Self::Word(words), Value::String(text)) => {
                if !words.contains(&text.as_str()) {
                    fault(format!(
                        "is `{text}`, expected one of: {}",
                        words.join(", ")
                    ));
                }
            }
            (Self::Special(check), Value::String(text)) => {
                if let Err(message) = check(text) {
                    fault(message);
                }
            }
            (Self::Text { .. } | Self::Word(_) | Self::Special(_), _) => {
                fault(format!("is {}, expected text", kind(value)));
            }
            (Self::Number(number), _) => {
                if value.as_u64() != Some(*number) {
                    fault(format!("is {value}, expected {number}"));
                }
            }
            (Self::List { of, min }, Value::Array(items)) => {
                if items.len() < *min {
                    fault(format!(
                        "has {} entries, at least {min} are needed",
                        items.len()
                    ));
                }
                for (i, item) in items.iter().enumerate() {
                    of.walk(Place::Item(&place, i), item, issues);
                }
            }
            (Self::List { .. }, _) => fault(format!("is {}, expected a list", kind(value))),
            (Self::Record(record), Value::Object(_)) => record.walk(place, value, issues),
            (Self::Record(_), _) => fault(format!("is {}, expected an object", kind(value))),
        }
    }
}

impl Record {
    fn walk(&self, place: Place<'_>, value: &Value, issues: &mut Vec<Issue>) {
        for (key, required, shape) in self.keys {
            match value.get(key) {
                Some(inner) => shape.walk(Place::Key(&place, key), inner, issues),
                None if *required => issues.push(Issue {
                    path: Place::Key(&place, key).to_string(),
                    message: "is missing".into(),
                }),
                None => {}
            }
        }
        let unknown = value.as_object().into_iter().flat_map(|o| o.keys());
        for key in unknown.filter(|k| self.closed && !self.keys.iter().any(|(name, ..)| name == k))
        {
            issues.push(Issue {
                path: Place::Key(&place, key).to_string(),
                message: "is not a key of this object".into(),
            });
        }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
