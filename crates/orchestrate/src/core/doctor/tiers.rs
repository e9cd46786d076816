//! Which model suits which role: advice, never a refusal.
//!
//! explore can do with a small and fast model (it only reads, several at once), implementer and planner
//! want a capable one, the reviewer the strongest, and best another than the implementer's.

use std::collections::BTreeMap;

/// The billions of parameters a model's name tells, as in `qwen3-27b`, `Mixtral-8x7B` or `phi_1.5B`.
pub(crate) fn billions(model: &str) -> Option<f64> {
    let lower = model.to_lowercase();
    let words = lower.split(|c: char| !(c.is_ascii_alphanumeric() || c == '.'));
    words.filter_map(size_of_word).reduce(f64::max)
}

fn size_of_word(word: &str) -> Option<f64> {
    let number = word.strip_suffix('b')?;
    // `8x7`: experts times their size.
    let (times, number) = match number.split_once('x') {
        Some((times, number)) => (times.parse::<f64>().ok()?, number),
        None => (1.0, number),
    };
    let tail = number.trim_start_matches(|c: char| !c.is_ascii_digit());
    // `qwen2.5` is a version; a size stands alone, or behind one letter as in `e4b` and `a3b`.
    if number.len() - tail.len() > 1 {
        return None;
    }
    tail.parse::<f64>()
        .ok()
        .map(|n| n * times)
        .filter(|n| *n > 0.0)
}

/// What could be better about the models of the roles. `default` serves roles that name none.
pub(crate) fn advice(roles: &BTreeMap<String, String>, default: Option<&str>) -> Vec<String> {
    let of = |role: &str| roles.get(role).map(String::as_str).or(default);
    let size = |role: &str| of(role).and_then(billions);
    let mut advice = Vec::new();
    for weaker in ["reviewer", "planner"] {
        if let (Some(judge), Some(maker)) = (size(weaker), size("implementer"))
            && judge < maker
        {
            advice.push(format!(
                "the {weaker}'s model ({}) is smaller than the implementer's ({}); give the \
                 {weaker} the stronger one",
                of(weaker).unwrap_or_default(),
                of("implementer").unwrap_or_default()
            ));
        }
    }
    if let (Some(reader), Some(maker)) = (size("explore"), size("implementer"))
        && reader > maker
    {
        advice.push(format!(
            "explore uses a larger model ({}) than the implementer ({}); it only reads, so the \
             smaller one is faster and does",
            of("explore").unwrap_or_default(),
            of("implementer").unwrap_or_default()
        ));
    }
    let (reviewer, implementer) = (roles.get("reviewer"), roles.get("implementer"));
    if reviewer.is_some() && reviewer == implementer && distinct(roles, default) > 1 {
        advice.push(
            "the reviewer has the implementer's model although there is another; a different \
             model sees other faults"
                .into(),
        );
    }
    advice
}

fn distinct(roles: &BTreeMap<String, String>, default: Option<&str>) -> usize {
    let mut models: Vec<&str> = roles.values().map(String::as_str).chain(default).collect();
    models.sort_unstable();
    models.dedup();
    models.len()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{advice, billions};

    fn roles(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs
            .iter()
            .map(|(r, m)| ((*r).to_owned(), (*m).to_owned()))
            .collect()
    }

    #[test]
    fn sizes_are_read_from_names_and_versions_are_not() {
        for (name, size) in [
            ("arc/Qwen3-27B-AWQ", Some(27.0)),
            ("mixtral-8x7b-instruct", Some(56.0)),
            ("qwen2.5-coder-1.5b", Some(1.5)),
            ("gemma-3n-e4b", Some(4.0)),
            ("qwen38", None),
            ("gpt-5", None),
            ("web", None),
        ] {
            assert_eq!(billions(name), size, "{name}");
        }
    }

    #[test]
    fn a_weak_reviewer_and_a_heavy_explorer_are_said() {
        let found = advice(
            &roles(&[
                ("reviewer", "a/m-7b"),
                ("implementer", "a/m-32b"),
                ("explore", "a/m-70b"),
            ]),
            None,
        );
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("the reviewer's model (a/m-7b) is smaller"));
        assert!(found[1].contains("explore uses a larger model"));
    }

    #[test]
    fn one_model_for_all_is_no_fault() {
        assert!(advice(&roles(&[]), Some("arc/qwen38")).is_empty());
        let same = roles(&[("reviewer", "arc/q"), ("implementer", "arc/q")]);
        assert!(advice(&same, Some("arc/q")).is_empty());
        assert_eq!(advice(&same, Some("arc/other")).len(), 1);
    }
}
