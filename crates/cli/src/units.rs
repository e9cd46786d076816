//! Sizes and durations as people write them.

use std::time::Duration;

/// Reads a size in tokens or bytes: `4096`, `16k` (16,000), `16Ki` (16,384), also `M`, `Mi`, `G`, `Gi`.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits_end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, unit) = text.split_at(digits_end);
    let factor: u64 = match unit {
        "" => 1,
        "k" | "K" => 1000,
        "Ki" => 1 << 10,
        "M" => 1_000_000,
        "Mi" => 1 << 20,
        "G" => 1_000_000_000,
        "Gi" => 1 << 30,
        _ => return Err(format!("`{text}` is not a size; examples: 4096, 16k, 16Ki")),
    };
    let number: u64 = digits
        .parse()
        .map_err(|_| format!("`{text}` is not a size; examples: 4096, 16k, 16Ki"))?;
    number
        .checked_mul(factor)
        .ok_or_else(|| format!("`{text}` is too large"))
}

/// Reads a duration: `0`, `250ms`, `90s`, `1h30m`, `2 days`.
///
/// The longest accepted is a year, so that adding one to a point in time cannot overflow.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let duration = humantime::parse_duration(text.trim())
        .map_err(|e| format!("`{text}` is not a duration: {e}; examples: 250ms, 90s, 1h30m"))?;
    if duration > Duration::from_secs(366 * 24 * 3600) {
        return Err(format!("`{text}` is longer than a year"));
    }
    Ok(duration)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{parse_duration, parse_size};

    #[test]
    fn k_is_a_thousand_and_ki_is_1024() {
        for (text, value) in [
            ("0", 0),
            ("16k", 16_000),
            ("16Ki", 16_384),
            ("1Mi", 1 << 20),
        ] {
            assert_eq!(parse_size(text), Ok(value), "{text}");
        }
        for text in ["", "k", "-1", "1.5k", "16kb", "99999999999G"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn durations_need_a_unit_but_zero_does_not() {
        assert_eq!(parse_duration("0"), Ok(Duration::ZERO));
        assert_eq!(parse_duration("1h30m"), Ok(Duration::from_secs(5400)));
        for text in ["", "5", "-3s", "5 parsecs", "9999 years"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }
}
