//! The program a command starts, behind `env`, `timeout`, `npx` and their like.

use super::lex::unquoted;
use super::parse::{each, parse};

/// The words from the program on, without quotes: no variables before it, no wrappers around it.
pub(super) fn plain(words: &[&str]) -> Vec<String> {
    let mut plain: Vec<String> = words.iter().map(|w| unquoted(w)).collect();
    // A wrapper inside a wrapper inside a wrapper; more is no command.
    for _ in 0..8 {
        let skip = wrapper(&plain);
        if skip == 0 {
            break;
        }
        plain.drain(..skip);
    }
    plain
}

/// The last part of a path.
pub(super) fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

pub(super) fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let name = name.strip_suffix('+').unwrap_or(name);
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// How many words stand before the program this command really runs; 0 when none do.
fn wrapper(words: &[String]) -> usize {
    let Some(first) = words.first() else { return 0 };
    if is_assignment(first) {
        return 1;
    }
    let second = words.get(1).map_or("", String::as_str);
    // The options that take the next word, and how many words besides the options are its own.
    let (name_length, valued, own): (usize, &[&str], usize) = match base(first) {
        "env" => (1, &["-u", "--unset", "-C", "--chdir"], 0),
        "timeout" | "gtimeout" => (1, &["-k", "--kill-after", "-s", "--signal"], 1),
        "nice" => (1, &["-n", "--adjustment"], 0),
        "ionice" => (1, &["-c", "-n"], 0),
        "sudo" | "doas" => (1, &["-u", "-g", "-C", "--user"], 0),
        "command" | "builtin" if !second.starts_with('-') => (1, &[], 0),
        "exec" => (1, &["-a"], 0),
        "xvfb-run" => (1, &["-s", "-n", "--server-args"], 0),
        "stdbuf" => (1, &["-i", "-o", "-e"], 0),
        "time" | "nohup" | "setsid" | "chronic" | "unbuffer" | "catchsegv" | "busybox"
        | "strace" | "valgrind" => (1, &[], 0),
        "flock" | "faketime" => (1, &["-w", "-E"], 1),
        "xargs" => (1, &["-n", "-I", "-P", "-L", "-d", "-a", "-s"], 0),
        "npx" | "bunx" | "pnpx" => (1, &["-p", "--package"], 0),
        "npm" | "pnpm" | "yarn" if matches!(second, "exec" | "dlx") => (2, &["-p"], 0),
        "bun" if second == "x" => (2, &[], 0),
        "poetry" | "uv" | "pipenv" | "pdm" | "hatch" | "rye" if second == "run" => {
            (2, &["--with", "--extra", "--group", "-p", "--python"], 0)
        }
        "conda" | "mamba" | "micromamba" if second == "run" => (2, &["-n", "--name", "-p"], 0),
        "bundle" | "mise" | "asdf" if second == "exec" => (2, &[], 0),
        "direnv" if second == "exec" => (2, &[], 1),
        "coverage" if second == "run" => (2, &["--source", "--rcfile", "--include", "--omit"], 0),
        name if is_python(name) => return module(words),
        _ => return 0,
    };
    let mut at = name_length;
    while let Some(word) = words.get(at) {
        if word == "--" {
            at += 1;
            break;
        }
        if !word.starts_with('-') || word == "-" {
            break;
        }
        // `coverage run -m pytest`, `env -S`: the program follows.
        at += 1 + usize::from(valued.contains(&word.as_str()));
    }
    at += own;
    if words.get(at).is_some_and(|w| w == "--") {
        at += 1;
    }
    if at < words.len() { at } else { 0 }
}

pub(super) fn is_python(name: &str) -> bool {
    name.strip_prefix("python")
        .is_some_and(|v| v.chars().all(|c| c.is_ascii_digit() || c == '.'))
        || name == "py"
}

/// `python3 -X dev -m pytest`: up to the module.
fn module(words: &[String]) -> usize {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        match word.as_str() {
            "-m" => return if at + 1 < words.len() { at + 1 } else { 0 },
            "-W" | "-X" => at += 2,
            option if option.starts_with('-') && option != "-c" && option != "-" => at += 1,
            _ => return 0,
        }
    }
    0
}

/// The program text that `bash -c`, `sh -ec` or `eval` is given, and the options before it.
pub(super) fn inner(words: &[String]) -> Option<(Vec<String>, String)> {
    let name = base(words.first()?);
    match name {
        "eval" => Some((Vec::new(), words[1..].join(" "))),
        "bash" | "sh" | "dash" | "zsh" | "ksh" | "ash" => {
            let mut options = Vec::new();
            let mut at = 1;
            loop {
                let word = words.get(at)?;
                if !word.starts_with('-') && !word.starts_with('+') {
                    return None;
                }
                at += 1;
                let short = !word.starts_with("--");
                options.push(word.clone());
                if short && word.ends_with('o') {
                    options.push(words.get(at)?.clone());
                    at += 1;
                }
                if short && word.starts_with('-') && word.contains('c') {
                    let text = words.get(at..)?.iter().find(|w| !w.starts_with('-'))?;
                    return Some((options, text.clone()));
                }
            }
        }
        "script" => {
            let at = words
                .iter()
                .position(|w| matches!(w.as_str(), "-c" | "-qc" | "--command"))?;
            Some((words[1..].to_vec(), words.get(at + 1)?.clone()))
        }
        _ => None,
    }
}

/// The programs and scripts a command line starts, without `./`: the first word of each command,
/// and what an interpreter is given to run.
pub fn programs(command: &str) -> Vec<String> {
    let mut found = Vec::new();
    gather(command, 0, &mut found);
    found
}

fn gather(command: &str, depth: usize, found: &mut Vec<String>) {
    const INTERPRETERS: [&str; 16] = [
        "bash", "sh", "dash", "zsh", "ksh", "node", "deno", "bun", "ruby", "perl", "php", "pwsh",
        "source", ".", "tclsh", "lua",
    ];
    let Some(list) = parse(command) else {
        // Not a line we can read: its first word is better than nothing.
        let first = command.split_whitespace().next();
        found.extend(first.map(|w| bare(w).to_owned()));
        return;
    };
    each(&list, &mut |words, _| {
        let words = plain(words);
        let Some(first) = words.first() else { return };
        found.push(bare(first).to_owned());
        if let Some((_, text)) = inner(&words).filter(|_| depth < 4) {
            gather(&text, depth + 1, found);
            return;
        }
        let name = base(first);
        let script = words.iter().skip(1).find(|w| !w.starts_with('-'));
        if INTERPRETERS.contains(&name) || is_python(name) {
            found.extend(script.map(|s| bare(s).to_owned()));
        }
    });
}

fn bare(word: &str) -> &str {
    word.strip_prefix("./").unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::{plain, programs};

    #[test]
    fn the_program_behind_its_wrappers() {
        for (line, expected) in [
            ("A=1 env -u B C=2 timeout -k 5 60 cargo test", "cargo test"),
            ("sudo -u x nice -n 5 make", "make"),
            ("python3 -X dev -m pytest -q", "pytest -q"),
            ("poetry run coverage run -m pytest", "pytest"),
            ("npx --yes jest", "jest"),
            ("uv run --with x pytest", "pytest"),
            ("python3 x.py", "python3 x.py"),
            ("timeout 60", "timeout 60"),
            ("command -v cargo", "command -v cargo"),
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            assert_eq!(plain(&words).join(" "), expected, "{line}");
        }
    }

    #[test]
    fn what_a_line_starts() {
        let line = "cd x && ./a.sh | python3 b.py; bash -c 'sh c.sh; d'";
        assert_eq!(
            programs(line),
            ["cd", "a.sh", "python3", "b.py", "bash", "sh", "c.sh", "d"]
        );
    }
}
