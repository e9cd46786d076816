//! What templates expect of Python: how it prints JSON and dates.

use serde_json::Value;

/// How `json.dumps` is asked to print.
#[derive(Debug, Default)]
pub(super) struct Style {
    pub(super) indent: Option<usize>,
    /// Between elements, and between key and value.
    pub(super) separators: Option<Vec<String>>,
    /// Escape what is not ASCII.
    pub(super) ascii: bool,
    pub(super) sorted: bool,
}

/// `json.dumps(value, ...)`.
pub(super) fn dumps(value: &Value, style: &Style) -> String {
    let between = if style.indent.is_some() { "," } else { ", " };
    let (between, colon) = match style.separators.as_deref() {
        Some([between, colon]) => (between.as_str(), colon.as_str()),
        _ => (between, ": "),
    };
    let mut printer = Printer {
        style,
        between,
        colon,
        out: String::new(),
    };
    printer.value(value, 0);
    printer.out
}

struct Printer<'a> {
    style: &'a Style,
    between: &'a str,
    colon: &'a str,
    out: String,
}

impl Printer<'_> {
    fn value(&mut self, value: &Value, depth: usize) {
        match value {
            Value::Array(list) => self.list('[', ']', list.iter(), depth, |printer, one| {
                printer.value(one, depth + 1);
            }),
            Value::Object(object) => {
                let mut entries: Vec<_> = object.iter().collect();
                if self.style.sorted {
                    entries.sort_by_key(|(key, _)| *key);
                }
                self.list(
                    '{',
                    '}',
                    entries.into_iter(),
                    depth,
                    |printer, (key, value)| {
                        printer.text(key);
                        printer.out.push_str(printer.colon);
                        printer.value(value, depth + 1);
                    },
                );
            }
            Value::String(text) => self.text(text),
            other => self.out.push_str(&other.to_string()),
        }
    }

    fn list<T>(
        &mut self,
        open: char,
        close: char,
        elements: impl ExactSizeIterator<Item = T>,
        depth: usize,
        mut element: impl FnMut(&mut Self, T),
    ) {
        self.out.push(open);
        let empty = elements.len() == 0;
        for (index, one) in elements.enumerate() {
            if index > 0 {
                self.out.push_str(self.between);
            }
            self.line(depth + 1);
            element(self, one);
        }
        if !empty {
            self.line(depth);
        }
        self.out.push(close);
    }

    /// A line break, where the style has them.
    fn line(&mut self, depth: usize) {
        if let Some(indent) = self.style.indent {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n(' ', indent * depth));
        }
    }

    fn text(&mut self, text: &str) {
        let quoted = Value::from(text).to_string();
        for c in quoted.chars() {
            if self.style.ascii && !c.is_ascii() {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    self.escape(u32::from(*unit));
                }
            } else if c == '\u{7f}' && self.style.ascii {
                self.escape(0x7F);
            } else {
                self.out.push(c);
            }
        }
    }
}

impl Printer<'_> {
    fn escape(&mut self, unit: u32) {
        self.out.push_str("\\u");
        let digit = |shift: u32| char::from_digit(unit >> shift & 0xF, 16);
        self.out.extend([12, 8, 4, 0].into_iter().filter_map(digit));
    }
}

/// A day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Date {
    /// The year.
    pub year: i32,
    /// The month, from 1.
    pub month: u32,
    /// The day of the month, from 1.
    pub day: u32,
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

impl Date {
    /// The day of a point in time, in seconds since 1970, UTC.
    pub fn of_seconds(seconds: i64) -> Self {
        // Howard Hinnant's `civil_from_days`: years begin in March, so that leap days come last.
        let days = seconds.div_euclid(86_400) + 719_468;
        let era = days.div_euclid(146_097);
        let day_of_era = days.rem_euclid(146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let march_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * march_month + 2) / 5 + 1;
        let month = if march_month < 10 {
            march_month + 3
        } else {
            march_month - 9
        };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        Self {
            year: i32::try_from(year).unwrap_or(i32::MAX),
            month: u32::try_from(month).unwrap_or(1),
            day: u32::try_from(day).unwrap_or(1),
        }
    }

    /// `strftime`, for the parts of a day; others stay as they are.
    pub(super) fn format(self, format: &str) -> String {
        let month = MONTHS[(self.month as usize).clamp(1, 12) - 1];
        format
            .replace("%d", &format!("{:02}", self.day))
            .replace("%m", &format!("{:02}", self.month))
            .replace("%b", &month[..3])
            .replace("%B", month)
            .replace("%Y", &self.year.to_string())
            .replace("%y", &format!("{:02}", self.year.rem_euclid(100)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Date, Style, dumps};

    #[test]
    fn json_is_printed_as_python_does() {
        let value = json!({"b": [1, {}], "a": "é\n"});
        assert_eq!(
            dumps(&value, &Style::default()),
            r#"{"b": [1, {}], "a": "é\n"}"#
        );
        let style = Style {
            indent: Some(2),
            ascii: true,
            sorted: true,
            ..Style::default()
        };
        assert_eq!(
            dumps(&value, &style),
            "{\n  \"a\": \"\\u00e9\\n\",\n  \"b\": [\n    1,\n    {}\n  ]\n}"
        );
        assert_eq!(dumps(&json!([]), &style), "[]");
    }

    #[test]
    fn days_are_found() {
        for (seconds, year, month, day) in [
            (0, 1970, 1, 1),
            (951_782_400, 2000, 2, 29),
            (1_796_000_000, 2026, 11, 30),
            (-1, 1969, 12, 31),
        ] {
            assert_eq!(Date::of_seconds(seconds), Date { year, month, day });
        }
        let date = Date {
            year: 2024,
            month: 7,
            day: 6,
        };
        assert_eq!(
            date.format("%d %b %Y, %B, %m/%y"),
            "06 Jul 2024, July, 07/24"
        );
    }
}
