//! Noticing that a model says the same thing for ever.

/// The longest period looked for, in bytes.
const LONGEST_PERIOD: usize = 200;
/// How often a period must repeat.
const TIMES: usize = 8;
/// And how long the repetition must be.
const LEAST_BYTES: usize = 600;

/// The period (in bytes) with which the end of `text` repeats itself, if it does.
///
/// A row of equal characters inside a table or a banner is shorter than what is looked for.
pub(crate) fn repeating_tail(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    (1..=LONGEST_PERIOD).find(|period| {
        let needed = LEAST_BYTES.max(period * TIMES);
        bytes.len() >= needed && {
            let tail = &bytes[bytes.len() - needed..];
            tail[*period..] == tail[..tail.len() - period]
        }
    })
}

#[cfg(test)]
mod tests {
    use super::repeating_tail;
    use proptest::prelude::{prop_assert_eq, proptest};

    #[test]
    fn t23_one_sentence_again_and_again() {
        let sentence = "I will now fix the file. ";
        let text = format!("Let me see.{}", sentence.repeat(200));
        assert_eq!(repeating_tail(&text), Some(sentence.len()));
        assert_eq!(repeating_tail(&sentence.repeat(5)), None);
    }

    #[test]
    fn ordinary_code_is_no_repetition() {
        let code = (0..100)
            .map(|n| format!("    x[{n}] = {}\n", n * n))
            .collect::<Vec<_>>()
            .concat();
        assert_eq!(repeating_tail(&code), None);
        assert_eq!(repeating_tail(&"=".repeat(120)), None);
    }

    proptest! {
        #[test]
        fn any_period_is_found(period in "[a-zé]{1,60}", lead in "[0-9]{0,30}") {
            let text = format!("{lead}{}", period.repeat(700 / period.len() + 9));
            prop_assert_eq!(repeating_tail(&text).is_some(), true);
        }
    }
}
