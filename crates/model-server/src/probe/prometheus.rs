//! Reads the Prometheus text format, as far as counters and gauges need it.

use std::collections::BTreeMap;

/// One line of a metrics page.
#[derive(Debug, Clone, PartialEq)]
struct Sample {
    name: String,
    labels: BTreeMap<String, String>,
    value: f64,
}

/// A metrics page.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Metrics {
    samples: Vec<Sample>,
}

impl Metrics {
    /// Reads a page; lines that are not understood are skipped.
    pub fn parse(text: &str) -> Self {
        Self {
            samples: text.lines().filter_map(sample).collect(),
        }
    }

    /// The sum over all label sets of a metric (engines, models); none if it does not occur.
    pub fn sum(&self, name: &str) -> Option<f64> {
        let mut values = self.samples.iter().filter(|s| s.name == name).peekable();
        values.peek()?;
        Some(values.map(|s| s.value).sum())
    }

    /// The first of several names that occurs (metrics get renamed between versions).
    pub fn first(&self, names: &[&str]) -> Option<f64> {
        names.iter().find_map(|name| self.sum(name))
    }

    /// A gauge that counts things: rounded, never negative.
    pub fn count(&self, names: &[&str]) -> Option<u32> {
        let value = self.first(names)?;
        if !(0.0..=f64::from(u32::MAX)).contains(&value) {
            return None;
        }
        format!("{value:.0}").parse().ok()
    }

    /// The labels of every sample of a metric.
    pub fn labels(&self, name: &str) -> impl Iterator<Item = (&BTreeMap<String, String>, f64)> {
        self.samples
            .iter()
            .filter(move |s| s.name == name)
            .map(|s| (&s.labels, s.value))
    }

    /// Whether any metric's name starts so.
    pub fn has_prefix(&self, prefix: &str) -> bool {
        self.samples.iter().any(|s| s.name.starts_with(prefix))
    }

    /// One counter divided by another; none while nothing was counted.
    pub fn ratio(&self, amount: &[&str], seconds: &[&str]) -> Option<f64> {
        let (amount, seconds) = (self.first(amount)?, self.first(seconds)?);
        (amount > 0.0 && seconds > 0.0).then(|| amount / seconds)
    }
}

fn sample(line: &str) -> Option<Sample> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return None;
    }
    let (name, labels, rest) = if let Some((name, after)) = line.split_once('{') {
        let (labels, rest) = labels(after)?;
        (name, labels, rest)
    } else {
        let (name, rest) = line.split_once(char::is_whitespace)?;
        (name, BTreeMap::new(), rest)
    };
    let value: f64 = rest.split_whitespace().next()?.parse().ok()?;
    value.is_finite().then(|| Sample {
        name: name.trim().to_owned(),
        labels,
        value,
    })
}

/// Labels up to the closing brace, and what follows it.
fn labels(text: &str) -> Option<(BTreeMap<String, String>, &str)> {
    let mut found = BTreeMap::new();
    let mut rest = text.trim_start();
    loop {
        if let Some(after) = rest.strip_prefix('}') {
            return Some((found, after));
        }
        let (name, after) = rest.split_once('=')?;
        let mut value = String::new();
        let mut chars = after.strip_prefix('"')?.char_indices();
        let end = loop {
            match chars.next()? {
                (_, '\\') => match chars.next()?.1 {
                    'n' => value.push('\n'),
                    other => value.push(other),
                },
                (at, '"') => break at,
                (_, other) => value.push(other),
            }
        };
        found.insert(name.trim().to_owned(), value);
        // One for the opening quote, one for the closing.
        rest = after.get(end + 2..)?.trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Metrics;

    #[test]
    fn values_are_summed_over_labels() {
        let metrics = Metrics::parse(
            "# HELP vllm:num_requests_running x\n\
             vllm:num_requests_running{engine=\"0\",model_name=\"a,}\\\"b\"} 1.0\n\
             vllm:num_requests_running{engine=\"1\",model_name=\"c\"} 2.0 1796029688\n\
             llamacpp:requests_processing 3\n\
             broken{ 1\nnan_metric NaN\n",
        );
        assert_eq!(metrics.sum("vllm:num_requests_running"), Some(3.0));
        assert_eq!(
            metrics.count(&["x", "llamacpp:requests_processing"]),
            Some(3)
        );
        assert_eq!(metrics.sum("nan_metric"), None);
        let labels: Vec<_> = metrics.labels("vllm:num_requests_running").collect();
        assert_eq!(labels[0].0["model_name"], "a,}\"b");
        assert!(metrics.has_prefix("vllm:") && !metrics.has_prefix("sglang:"));
    }

    #[test]
    fn a_ratio_of_nothing_is_none() {
        let metrics = Metrics::parse("t 0\ns 0\nu 10\nv 4\n");
        assert_eq!(metrics.ratio(&["t"], &["s"]), None);
        assert_eq!(metrics.ratio(&["u"], &["v"]), Some(2.5));
        assert_eq!(metrics.ratio(&["u"], &["gone"]), None);
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "\\PC{0,80}") {
            let _ = Metrics::parse(&format!("{text}\na{{{text}\n"));
        }
    }
}
