//! The decoder of server-sent events: any split of the bytes gives the same events.

#![no_main]

use baton_model_server::stream::{SseCounts, SseDecoder, SseEvent};
use libfuzzer_sys::fuzz_target;

/// A small limit, so that the fuzzer reaches it.
const LIMIT: usize = 512;

/// The events, and whether the limit ended them.
fn decode<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> (Vec<SseEvent>, bool, SseCounts) {
    let mut decoder = SseDecoder::with_limit(LIMIT);
    let mut events = Vec::new();
    for piece in pieces {
        decoder.push(piece);
        loop {
            match decoder.next_event() {
                Ok(Some(event)) => events.push(event),
                Ok(None) => break,
                Err(too_long) => {
                    assert_eq!(too_long.limit, LIMIT);
                    return (events, true, decoder.counts());
                }
            }
        }
    }
    events.extend(decoder.finish());
    let counts = decoder.counts();
    assert_eq!(decoder.finish(), None, "finish gives its event once");
    (events, false, counts)
}

/// Pieces whose lengths come from the input itself.
fn pieces<'a>(sizes: &'a [u8], mut rest: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let mut sizes = sizes.iter().cycle();
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let size = sizes.next().map_or(1, |s| usize::from(*s) % 24);
        let (piece, tail) = rest.split_at(size.max(1).min(rest.len()));
        rest = tail;
        Some(piece)
    })
}

fuzz_target!(|input: &[u8]| {
    let (sizes, bytes) = input.split_at(input.len().min(4));
    let whole = decode(std::iter::once(bytes));
    assert_eq!(whole, decode(pieces(sizes, bytes)), "cut by {sizes:?}");
    assert_eq!(whole, decode(bytes.chunks(1)), "byte by byte");
    for event in &whole.0 {
        // A broken byte becomes a mark of three.
        assert!(event.data.len() <= 3 * LIMIT + 3);
    }
});
