//! Changing a plan in place: ticks and the status, and not a byte more.

use baton_protocol::TaskId;

use super::head::{front, status_section, unquoted};
use super::{Mark, lines, steps};

/// Sets or takes away the ticks of a step and of the boxes in it. None: there is no such step (any
/// more), or it stands so already.
pub(crate) fn tick(text: &str, id: &TaskId, done: bool) -> Option<String> {
    let read = lines::read(text);
    let (steps, _) = steps::find(text, &read, front(text).lines);
    let step = steps.iter().find(|s| s.id == *id)?;
    if step.done == done {
        return None;
    }
    let mut raw: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    let mark = if done { "x" } else { " " };
    match &step.mark {
        Mark::Boxes(places) => {
            for &(line, byte) in places {
                let old = raw[line][byte..].chars().next()?;
                if lines::is_settled(old) != done {
                    raw[line].replace_range(byte..byte + old.len_utf8(), mark);
                }
            }
        }
        // One box among items without any would look like the only step, so all get theirs.
        Mark::Missing(..) => {
            for other in &steps {
                if let Mark::Missing(line, byte) = other.mark {
                    let mark = if other.id == *id { mark } else { " " };
                    raw[line].insert_str(byte, &format!("[{mark}] "));
                }
            }
        }
    }
    Some(raw.concat())
}

/// Says how the plan stands: in its frontmatter, else below its `Status` heading, else in a
/// frontmatter that is put before it. None: it says so already.
pub(crate) fn set_status(text: &str, status: &str) -> Option<String> {
    let mut raw: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let front = front(text);
    if let Some(line) = front.line_of("status") {
        if front.get("status") == Some(status) {
            return None;
        }
        raw[line] = with_value(&raw[line], status)?;
        return Some(raw.concat());
    }
    let read = lines::read(text);
    if let Some((heading, value)) = status_section(read.get(front.lines..)?) {
        let heading = front.lines + heading;
        if let Some(value) = value {
            let line = front.lines + value;
            if read[line].text == status {
                return None;
            }
            let start = read[line].words_at;
            let end = raw[line].trim_end_matches(['\n', '\r']).len();
            raw[line].replace_range(start..end, status);
        } else {
            let own = if raw[heading].ends_with('\n') {
                ""
            } else {
                ending
            };
            let below = [own, ending, status, ending].concat();
            raw[heading].push_str(&below);
        }
        return Some(raw.concat());
    }
    let line = format!("status: {status}{ending}");
    if front.lines > 0 {
        raw.insert(front.lines - 1, line);
        return Some(raw.concat());
    }
    let (mark, rest) = match text.strip_prefix('\u{feff}') {
        Some(rest) => ("\u{feff}", rest),
        None => ("", text),
    };
    Some(format!("{mark}---{ending}{line}---{ending}{ending}{rest}"))
}

/// A line `key: value` with another value; quotes and what stands behind the value stay.
fn with_value(line: &str, value: &str) -> Option<String> {
    let body = line.trim_end_matches(['\n', '\r']);
    let ending = &line[body.len()..];
    let (key, old) = body.split_once(':')?;
    let space = old.len() - old.trim_start().len();
    let old = old.trim_start();
    let quote = old.chars().next().filter(|c| matches!(c, '"' | '\''));
    let tail = match quote {
        Some(q) => old[1..].split_once(q).map_or("", |(_, tail)| tail),
        None => &old[unquoted(old).len()..],
    };
    let quote = quote.map(String::from).unwrap_or_default();
    let space = if space == 0 {
        " "
    } else {
        &body[key.len() + 1..][..space]
    };
    Some(format!("{key}:{space}{quote}{value}{quote}{tail}{ending}"))
}
