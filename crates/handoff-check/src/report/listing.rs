//! Files listed in two dimensions, as one name a line: tables, and drawn trees.

/// The text with the cell of the name first in every row, and with whole names instead of branches.
pub(super) fn plain(text: &str) -> String {
    let mut lines = Vec::new();
    let mut column = None;
    let mut folders: Vec<String> = Vec::new();
    let all: Vec<&str> = text.lines().collect();
    for (i, line) in all.iter().enumerate() {
        let row = line.trim();
        if row.starts_with('|') {
            let next = all.get(i + 1).map_or("", |l| l.trim());
            if is_rule(next) && next.starts_with('|') {
                column = cells(row).iter().position(|c| is_name_title(c));
            }
            lines.push(reordered(row, column));
            continue;
        }
        column = None;
        let is_branch = |i: usize| all.get(i).and_then(|l| branch(l));
        if let Some((depth, name)) = branch(line) {
            folders.truncate(depth);
            if is_branch(i + 1).is_some_and(|(next, _)| next > depth) {
                folders.push(format!("{}/", name.trim_end_matches('/')));
            } else {
                lines.push(folders.concat() + name);
            }
            continue;
        }
        folders.clear();
        // The root of a tree that follows is no file.
        if is_branch(i + 1).is_some() && !row.is_empty() {
            let root = row.trim_end_matches('/');
            let is_here = root == ".";
            folders.push(if is_here {
                String::new()
            } else {
                format!("{root}/")
            });
        } else {
            lines.push((*line).to_owned());
        }
    }
    lines.join("\n")
}

fn is_rule(line: &str) -> bool {
    !line.is_empty() && line.chars().all(|c| matches!(c, '-' | '|' | ':' | ' '))
}

fn cells(row: &str) -> Vec<&str> {
    let inner = row.trim_matches('|');
    inner.split('|').map(str::trim).collect()
}

fn is_name_title(cell: &str) -> bool {
    let cell = cell.trim_matches(['*', '`']).to_lowercase();
    let titles = [
        "file",
        "files",
        "path",
        "name",
        "file name",
        "filename",
        "file path",
        "datei",
        "fichier",
        "archivo",
        "文件",
        "ファイル",
    ];
    titles.contains(&cell.as_str())
}

/// The row with the cell of the name first; the first one that looks like a name, if no title tells.
fn reordered(row: &str, column: Option<usize>) -> String {
    // A code span may hold a bar; such a row is left as it is.
    if is_rule(row) || row.contains("\\|") {
        return row.to_owned();
    }
    let mut cells = cells(row);
    let looks = |c: &&str| c.contains('`') || (c.contains(['.', '/']) && !c.contains(' '));
    let at = column.or_else(|| cells.iter().position(looks)).unwrap_or(0);
    if at == 0 || at >= cells.len() {
        return row.to_owned();
    }
    let name = cells.remove(at);
    cells.insert(0, name);
    format!("| {} |", cells.join(" | "))
}

/// The depth and the name of `│   ├── name`; the root has depth 0, what is below it 1.
fn branch(line: &str) -> Option<(usize, &str)> {
    let line = line.trim_end();
    let at = line.find(['├', '└', '`'])?;
    let rest = &line[at..];
    let name = ["├── ", "└── ", "├─ ", "└─ ", "`-- "]
        .iter()
        .find_map(|b| rest.strip_prefix(b))?;
    let before = &line[..at];
    let drawn = before
        .chars()
        .all(|c| matches!(c, '│' | ' ' | '|' | '\u{a0}'));
    drawn.then(|| (before.chars().count() / 4 + 1, name))
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn a_drawn_tree_becomes_whole_names() {
        let tree = "src/\n├── a.rs\n├── deep\n│   ├── b.rs\n│   └── c.rs\n└── d.rs\n\n.\n└── e";
        assert_eq!(
            plain(tree),
            "src/a.rs\nsrc/deep/b.rs\nsrc/deep/c.rs\nsrc/d.rs\n\ne"
        );
    }

    #[test]
    fn the_cell_of_the_name_comes_first() {
        let table = "| Status | File |\n|---|---|\n| M | src/a.rs |";
        assert_eq!(
            plain(table),
            "| File | Status |\n|---|---|\n| src/a.rs | M |"
        );
        let untitled = "| new | `a b` | x |";
        assert_eq!(plain(untitled), "| `a b` | new | x |");
    }
}
