//! Where the tokens are: the largest parts, sums by folder, percentiles.

use std::collections::BTreeMap;

use baton_protocol::Part;

/// The `top` largest parts, largest first, and one for all others.
pub(crate) fn largest(mut parts: Vec<Part>, top: usize) -> Vec<Part> {
    parts.sort_by(|a, b| b.tokens.cmp(&a.tokens).then_with(|| a.part.cmp(&b.part)));
    let others: Vec<Part> = parts.split_off(top.min(parts.len()));
    if !others.is_empty() {
        parts.push(Part {
            part: format!("({} others)", others.len()),
            tokens: others.iter().map(|part| part.tokens).sum(),
        });
    }
    parts
}

/// Sums by folder, as du prints them: each folder after what is in it, the whole as `.` at the end.
pub(crate) fn by_folder(parts: &[Part]) -> Vec<Part> {
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for part in parts {
        let mut path = part.part.as_str();
        while let Some((folder, _)) = path.rsplit_once('/') {
            if folder.is_empty() {
                break;
            }
            *sums.entry(folder).or_default() += part.tokens;
            path = folder;
        }
    }
    let mut folders: Vec<Part> = sums
        .into_iter()
        .map(|(folder, tokens)| Part {
            part: format!("{folder}/"),
            tokens,
        })
        .collect();
    folders.reverse();
    folders.push(Part {
        part: "./".into(),
        tokens: parts.iter().map(|part| part.tokens).sum(),
    });
    folders
}

/// The 50th, 90th and 99th percentile and the largest of the parts' tokens.
pub(crate) fn percentiles(parts: &[Part]) -> [u64; 4] {
    let mut tokens: Vec<u64> = parts.iter().map(|part| part.tokens).collect();
    tokens.sort_unstable();
    [50, 90, 99, 100].map(|percent| {
        let rank = (tokens.len() * percent).div_ceil(100).saturating_sub(1);
        tokens.get(rank).copied().unwrap_or(0)
    })
}

#[cfg(test)]
mod tests {
    use baton_protocol::Part;

    use super::{by_folder, largest, percentiles};

    fn parts(list: &[(&str, u64)]) -> Vec<Part> {
        let part = |(name, tokens): &(&str, u64)| Part {
            part: (*name).into(),
            tokens: *tokens,
        };
        list.iter().map(part).collect()
    }

    #[test]
    fn the_rest_is_summed() {
        assert_eq!(
            largest(parts(&[("a", 1), ("b", 3), ("c", 2), ("d", 4)]), 2),
            parts(&[("d", 4), ("b", 3), ("(2 others)", 3)])
        );
        assert_eq!(largest(parts(&[("a", 1)]), 5), parts(&[("a", 1)]));
    }

    #[test]
    fn folders_are_summed_as_du_does() {
        assert_eq!(
            by_folder(&parts(&[("a/b/x", 1), ("a/y", 2), ("z", 4), ("/abs/f", 8)])),
            parts(&[("a/b/", 1), ("a/", 3), ("/abs/", 8), ("./", 15)])
        );
    }

    #[test]
    fn percentiles_of_few_and_of_none() {
        assert_eq!(percentiles(&parts(&[("a", 5), ("b", 1)])), [1, 5, 5, 5]);
        assert_eq!(percentiles(&[]), [0; 4]);
    }
}
