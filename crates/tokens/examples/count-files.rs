//! Counts each file of a list with a tokenizer, for comparing with other tokenizers and for timing.
//!
//! `count-files TOKENIZER LIST CACHE` prints one count a line; times go to stderr.

use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, tokenizer, list, cache] = arguments.as_slice() else {
        return Err("count-files TOKENIZER LIST CACHE".into());
    };
    let start = Instant::now();
    let tokenizer = baton_tokens::Cache::below(Path::new(cache)).open(Path::new(tokenizer))?;
    let opened = start.elapsed();
    let texts: Vec<String> = std::fs::read_to_string(list)?
        .lines()
        .map(|path| Ok(String::from_utf8_lossy(&std::fs::read(path)?).into_owned()))
        .collect::<std::io::Result<_>>()?;
    let start = Instant::now();
    let mut counter = tokenizer.counter();
    let counts: Vec<u64> = texts.iter().map(|text| counter.count(text)).collect();
    let seconds = start.elapsed().as_secs_f64();
    let mut out = std::io::stdout().lock();
    for count in &counts {
        writeln!(out, "{count}")?;
    }
    let bytes: usize = texts.iter().map(String::len).sum();
    #[expect(clippy::cast_precision_loss, reason = "for people")]
    let speed = bytes as f64 / 1e6 / seconds;
    writeln!(
        std::io::stderr(),
        "opened in {opened:?}; {bytes} bytes, {} tokens, {speed:.1} MB/s",
        counts.iter().sum::<u64>()
    )?;
    Ok(())
}
