//! The simulator's own tokenizer: deterministic, reversible, and about as dense as a real one.
//!
//! Real vocabularies are not needed to test admission and limits; what is needed is that
//! `/tokenize`, `usage` and every limit agree to the token. Words are cut every six letters,
//! digits stand alone, other characters outside ASCII count one each, as in the Qwen family.

/// Markers that a chat template writes and that are one token each.
const SPECIAL: [&str; 6] = [
    "<|im_start|>",
    "<|im_end|>",
    "<think>",
    "</think>",
    "<tool_call>",
    "</tool_call>",
];

/// The size of the pretended vocabulary; ids of pieces stay below it.
const VOCABULARY: u32 = 151_643;

/// Cuts a text into its tokens; joined again they give the text.
pub(crate) fn pieces(text: &str) -> Vec<&str> {
    let mut out = Vec::with_capacity(text.len() / 3);
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, tail) = rest.split_at(first(rest));
        out.push(piece);
        rest = tail;
    }
    out
}

/// How many tokens a text has.
pub(crate) fn count(text: &str) -> u64 {
    pieces(text).len() as u64
}

/// The ids of a text's tokens: a hash of each piece, so that equal pieces have equal ids.
pub(crate) fn ids(text: &str) -> Vec<u32> {
    pieces(text).into_iter().map(id).collect()
}

fn id(piece: &str) -> u32 {
    // FNV-1a: short, stable across builds, and good enough for a prefix comparison.
    let hash = piece.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    hash % VOCABULARY
}

/// The length in bytes of the first token of a text that is not empty.
fn first(text: &str) -> usize {
    if text.starts_with('<')
        && let Some(marker) = SPECIAL.iter().find(|marker| text.starts_with(**marker))
    {
        return marker.len();
    }
    let mut chars = text.char_indices();
    let Some((_, lead)) = chars.next() else {
        return 0;
    };
    let next = chars.next();
    match (lead, next) {
        // One blank belongs to the word behind it.
        (' ', Some((at, c))) if c.is_ascii_alphabetic() => at + run(&text[at..], 6, char_is_word),
        (' ', _) => run(text, 16, |c| c == ' '),
        ('\n', _) => run(text, 4, |c| c == '\n'),
        (c, _) if c.is_ascii_alphabetic() => run(text, 6, char_is_word),
        (c, _) if c.is_ascii_punctuation() => {
            run(text, 2, |c| c.is_ascii_punctuation() && c != '<')
        }
        (c, _) => c.len_utf8(),
    }
}

fn char_is_word(c: char) -> bool {
    c.is_ascii_alphabetic()
}

/// The length of the run of characters that satisfy `keep`, one at least and `most` at most.
fn run(text: &str, most: usize, keep: impl Fn(char) -> bool) -> usize {
    let inside = text
        .chars()
        .take(most)
        .take_while(|c| keep(*c))
        .map(char::len_utf8)
        .sum();
    let one = text.chars().next().map_or(0, char::len_utf8);
    usize::max(inside, one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_digits_and_markers_are_cut_as_documented() {
        assert_eq!(
            pieces("let x12 = foo();"),
            ["let", " x", "1", "2", " ", "=", " foo", "()", ";"]
        );
        assert_eq!(pieces("<|im_start|>user\n"), ["<|im_start|>", "user", "\n"]);
        assert_eq!(count("日本語"), 3);
    }

    proptest::proptest! {
        #[test]
        fn pieces_join_to_the_text(text: String) {
            proptest::prop_assert_eq!(pieces(&text).concat(), text);
        }
    }
}
