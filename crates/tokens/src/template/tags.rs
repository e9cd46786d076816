//! Tags `minijinja` does not know.

/// Makes `{% generation %}` blocks plain blocks. They mark what the model said, for training; the
/// dashes that strip white space keep their effect.
pub(super) fn without_generation(source: &str) -> String {
    let mut result = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(start) = rest.find("{%") {
        let (before, tag) = rest.split_at(start);
        result.push_str(before);
        let end = tag.find("%}").map_or(tag.len(), |end| end + 2);
        let (tag, after) = tag.split_at(end);
        let word = tag.trim_matches(|c: char| "{}%-+".contains(c) || c.is_whitespace());
        result.push_str(&match word {
            "generation" => tag.replace(word, "if true"),
            "endgeneration" => tag.replace(word, "endif"),
            _ => tag.to_owned(),
        });
        rest = after;
    }
    result + rest
}

#[cfg(test)]
mod tests {
    use super::without_generation;

    #[test]
    fn only_the_word_is_replaced() {
        assert_eq!(
            without_generation(
                "a{%- generation -%}b{% endgeneration %}c{% set generation = 1 %}{%"
            ),
            "a{%- if true -%}b{% endif %}c{% set generation = 1 %}{%"
        );
    }
}
