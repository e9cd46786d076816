//! The answer as text for people. Pure.

use baton_protocol::{Estimate, FitVerdict, Method, Part};

use crate::breakdown::percentiles;
use crate::judgement::Question;

/// The whole answer: the parts, the total, how sure it is, the candidates.
pub(crate) fn text(estimate: &Estimate, shown: &[Part], question: Question) -> String {
    let mut lines = Vec::new();
    if estimate.breakdown.len() > 1 {
        lines.extend(table(shown, estimate.prompt_tokens));
    }
    lines.push(total(estimate));
    if estimate.breakdown.len() >= 20 {
        let [median, p90, p99, largest] = percentiles(&estimate.breakdown).map(grouped);
        lines.push(format!(
            "per part: median {median}, 90 % below {p90}, 99 % below {p99}, largest {largest}"
        ));
    }
    lines.push(confidence(estimate));
    if question != Question::Count {
        let reserve = &estimate.reserve;
        lines.push(format!(
            "required: {} (upper bound, {} output, {} thinking, {} margin)",
            grouped(estimate.required_tokens),
            grouped(reserve.output_tokens),
            grouped(reserve.thinking_tokens),
            grouped(reserve.margin_tokens),
        ));
    }
    match question {
        Question::Count => {}
        Question::Window(usable) => lines.push(format!(
            "window {}: {}",
            grouped(usable),
            word(estimate.verdict)
        )),
        Question::Candidates => lines.extend(candidates(estimate)),
    }
    lines.push(String::new());
    lines.join("\n")
}

fn table(parts: &[Part], total: u64) -> Vec<String> {
    let tokens: Vec<String> = parts.iter().map(|part| grouped(part.tokens)).collect();
    let width = tokens.iter().map(String::len).max().unwrap_or(0).max(6);
    let rows = parts.iter().zip(&tokens).map(|(part, tokens)| {
        let share = (part.tokens * 100).checked_div(total).unwrap_or(0);
        format!("{tokens:>width$} {share:>3} %  {}", part.part)
    });
    rows.collect()
}

fn total(estimate: &Estimate) -> String {
    let parts = match estimate.breakdown.len() {
        0 | 1 => String::new(),
        n => format!(" in {n} parts"),
    };
    let tokens = grouped(estimate.prompt_tokens);
    if estimate.method == Method::Heuristic {
        let upper = grouped(estimate.upper_bound_tokens);
        format!("about {tokens} tokens{parts}, at most {upper}")
    } else {
        format!("{tokens} tokens{parts}")
    }
}

fn confidence(estimate: &Estimate) -> String {
    let source = estimate.source.as_deref().unwrap_or("unknown");
    match estimate.method {
        Method::Heuristic => format!(
            "estimated by: {source}; nine of ten texts within {:.0} %",
            estimate.error_band * 100.0
        ),
        Method::Tokenizer | Method::Server => format!("counted by: {source}"),
    }
}

fn candidates(estimate: &Estimate) -> Vec<String> {
    let mut rows = vec![
        [
            "provider",
            "model",
            "window",
            "verdict",
            "headroom",
            "largest output",
            "counted by",
        ]
        .map(str::to_owned),
    ];
    let number = |value: Option<u64>| value.map_or_else(|| "unknown".into(), grouped);
    for provider in &estimate.providers {
        rows.push(match &provider.fit {
            Some(fit) => [
                provider.id.clone(),
                fit.model.clone().unwrap_or_else(|| "?".into()),
                number(fit.usable_context),
                word(fit.verdict).to_owned(),
                fit.headroom_tokens.map_or_else(|| "unknown".into(), signed),
                number(fit.largest_output_tokens),
                fit.source.clone().unwrap_or_default(),
            ],
            None => [
                provider.id.clone(),
                "none".into(),
                String::new(),
                "unknown".into(),
                String::new(),
                String::new(),
                String::new(),
            ],
        });
    }
    let widths: Vec<usize> = (0..rows[0].len())
        .map(|column| {
            rows.iter()
                .map(|row| row[column].chars().count())
                .max()
                .unwrap_or(0)
        })
        .collect();
    let line = |row: &[String; 7]| {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:<width$}"))
            .collect();
        cells.join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

const fn word(verdict: FitVerdict) -> &'static str {
    match verdict {
        FitVerdict::Fits => "fits",
        FitVerdict::Tight => "tight",
        FitVerdict::No => "no",
        FitVerdict::Unknown => "unknown",
    }
}

/// With a comma between thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn signed(number: i64) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}", grouped(number.unsigned_abs()))
}

#[cfg(test)]
mod tests {
    use super::{grouped, signed};

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_000), "1,000");
        assert_eq!(grouped(12_345_678), "12,345,678");
        assert_eq!(signed(-1_234), "-1,234");
    }
}
