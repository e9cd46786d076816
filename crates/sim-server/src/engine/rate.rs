//! How fast the pretended hardware is, and how simulated time becomes real time.

use std::time::Duration;

/// Tokens a second of each stream with that many streams: alone, two, three. Measured for the
/// setup this project started from: two streams are the sweet spot, a third one costs all of them.
const DECODE: [f64; 3] = [53.0, 45.0, 26.0];
/// All streams together beyond the table, in tokens a second.
const DECODE_CROWD: f64 = 68.0;
/// Prompt tokens a second: 8,000 tokens take 4.5 s to the first token.
const PREFILL: f64 = 1780.0;

/// Simulated time, scaled.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// Real seconds per simulated second; 0 is as fast as possible.
    pub(crate) scale: f64,
}

impl Pace {
    /// The real time that reading so many prompt tokens takes when `readers` prompts are read.
    pub(crate) fn prefill(self, tokens: u64, readers: usize) -> Duration {
        #[expect(
            clippy::cast_precision_loss,
            reason = "token and slot counts are far below 2^52"
        )]
        self.real(tokens as f64 / PREFILL * readers.max(1) as f64)
    }

    /// The real time between two tokens of one of `streams` streams.
    pub(crate) fn token(self, streams: usize) -> Duration {
        self.real(1.0 / decode_rate(streams))
    }

    fn real(self, simulated_seconds: f64) -> Duration {
        Duration::try_from_secs_f64(simulated_seconds * self.scale).unwrap_or(Duration::MAX)
    }
}

/// Milliseconds of simulated time for reading a prompt and writing an answer beside other streams.
pub(crate) fn simulated_ms(read: u64, written: u64, streams: usize) -> (f64, f64) {
    #[expect(
        clippy::cast_precision_loss,
        reason = "token counts are far below 2^52"
    )]
    let (read, written) = (read as f64, written as f64);
    (
        read * 1000.0 / PREFILL,
        written * 1000.0 / decode_rate(streams),
    )
}

/// Tokens a second of each of `streams` streams.
pub(crate) fn decode_rate(streams: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "slot counts are small")]
    let crowd = DECODE_CROWD / streams.max(1) as f64;
    streams
        .checked_sub(1)
        .and_then(|at| DECODE.get(at))
        .copied()
        .unwrap_or(crowd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_measured_rates_are_kept_and_a_crowd_gets_slower() {
        assert!((decode_rate(2) - 45.0).abs() < 1e-9);
        let totals: Vec<f64> = (1..=6_u8)
            .map(|n| f64::from(n) * decode_rate(n.into()))
            .collect();
        assert!(totals[1] > totals[0] && totals[2] < totals[1], "{totals:?}");
        assert!((2..8).all(|n| decode_rate(n + 1) < decode_rate(n)));
    }

    #[test]
    fn eight_thousand_tokens_take_four_and_a_half_seconds() {
        let time = Pace { scale: 1.0 }.prefill(8000, 1);
        assert!((4.4..4.6).contains(&time.as_secs_f64()), "{time:?}");
        assert_eq!(Pace { scale: 0.0 }.prefill(8000, 1), Duration::ZERO);
    }
}
