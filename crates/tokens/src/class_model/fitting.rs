//! Writes the features of files, for fitting the weights (benches/tokens/fit.py).

use std::fmt::Write as _;

use super::features::Features;

/// `FILES=list OUT=table cargo test -p baton-tokens write_features -- --ignored`
#[test]
#[ignore = "a step of fitting the weights, not a test"]
fn write_features() {
    let list = std::fs::read_to_string(std::env::var("FILES").unwrap()).unwrap();
    let mut table = String::new();
    for path in list.lines() {
        let text = std::fs::read_to_string(path).unwrap();
        let mut features = Features::new();
        features.push(&text);
        write!(table, "{path}\t{}", text.len()).unwrap();
        for sum in features.sums() {
            write!(table, "\t{sum}").unwrap();
        }
        table.push('\n');
    }
    std::fs::write(std::env::var("OUT").unwrap(), table).unwrap();
}
