//! The report as one self-contained page: no script, no request to anybody.

use std::fmt::Write as _;

use baton_protocol::{CheckVerdict, MergeState, Run, RunStatus, RunTask};

use super::activity::{Span, Spent};
use super::fallback::first_line;
use super::markdown::in_words;

/// One line of the timeline.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub name: String,
    pub from_ms: u64,
    pub to_ms: u64,
    pub spans: Vec<Span>,
}

/// A change, as git shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Diff {
    pub task: String,
    pub text: String,
}

/// The longest diff shown whole.
const MOST_DIFF: usize = 60_000;

/// Diffs of no more lines than this are open from the start.
const OPEN_DIFF: usize = 60;

const STYLE: &str = "\
:root{color-scheme:light dark;--good:#2a7d4f;--bad:#b3382c;--line:#8884}\
body{font:15px/1.5 system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem}\
h1{font-size:1.35rem;margin-bottom:.4rem}h2{font-size:1.1rem;margin:2rem 0 .6rem}\
.status{display:inline-block;border-radius:.3rem;padding:0 .5rem;margin-right:.6rem;color:#fff;background:var(--bad)}\
.status.done{background:var(--good)}.facts{color:#777}\
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.35rem .6rem;border-bottom:1px solid var(--line);vertical-align:top}\
td:last-child,th:last-child{white-space:nowrap;text-align:right}\
pre{overflow:auto;background:#8881;padding:.8rem;font-size:.85rem}code{font-size:.9em}\
.good{color:var(--good)}.bad{color:var(--bad)}.small{font-size:.85em;color:#777}\
svg.time{width:100%;height:auto;font:11px system-ui,sans-serif}svg text{fill:currentColor}svg line{stroke:var(--line)}\
.queue{fill:#a9a9a9}.prefill{fill:#d9a441}.decode{fill:#3f7fbf}.tools{fill:#8a63b5}.check{fill:#4d9e6a}\
.whole{fill:#8883}.key{width:.8em;height:.8em;margin:0 .3em 0 1em}.key:first-child{margin-left:0}\
.add{color:var(--good)}.del{color:var(--bad)}details{margin:.3rem 0}summary{cursor:pointer}";

/// The page.
pub(crate) fn render(run: &Run, rows: &[Row], diffs: &[Diff]) -> String {
    let mut page = String::new();
    head(&mut page, run);
    gaps(&mut page, run);
    timeline(&mut page, rows);
    tasks(&mut page, run);
    changes(&mut page, diffs);
    if let Some(summary) = &run.summary {
        let _ = write!(
            page,
            "<h2>In a model's words</h2>\n<p>{}</p>\n",
            escape(summary)
        );
    }
    if !run.next.is_empty() {
        let _ = write!(
            page,
            "<h2>Next</h2>\n<pre>{}</pre>\n",
            escape(&run.next.join("\n"))
        );
    }
    page.push_str("</body></html>\n");
    page
}

fn head(page: &mut String, run: &Run) {
    let done = if run.status == RunStatus::Completed {
        " done"
    } else {
        ""
    };
    let number = |n: Option<u64>| n.map_or("unknown".to_owned(), |n| n.to_string());
    let seconds = |ms: u64| std::time::Duration::from_millis(ms).as_secs_f64();
    // Writing into a String cannot fail, so the results are not looked at.
    let _ = write!(
        page,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\
         <title>{title}</title><style>{STYLE}</style></head><body>\n\
         <h1><span class=\"status{done}\">{status}</span>{goal}</h1>\n",
        title = escape(&format!(
            "{}: {}",
            in_words(run.status),
            first_line(&run.goal, 70)
        )),
        status = escape(in_words(run.status)),
        goal = escape(&first_line(&run.goal, 140)),
    );
    let goal = run.goal.trim();
    if goal != first_line(goal, 140) {
        let _ = writeln!(page, "<pre>{}</pre>", escape(goal));
    }
    let branch = run.branch.as_ref().map_or(String::new(), |b| {
        format!(", branch <code>{}</code>", escape(b))
    });
    let _ = writeln!(
        page,
        "<p class=\"facts\">Run <code>{}</code>{branch}. {} requests, {} prompt and {} completion tokens, \
         {:.1} s{}.</p>",
        escape(&run.run_id),
        run.usage.requests,
        number(run.usage.prompt_tokens),
        number(run.usage.completion_tokens),
        seconds(run.usage.wall_ms),
        run.usage.queue_ms.map_or(String::new(), |ms| format!(
            "; workers waited {:.1} s for a slot",
            seconds(ms)
        )),
    );
}

fn changes(page: &mut String, diffs: &[Diff]) {
    if diffs.is_empty() {
        return;
    }
    page.push_str("<h2>Changes</h2>\n");
    for diff in diffs {
        let cut: String = diff.text.chars().take(MOST_DIFF).collect();
        let rest = if cut.len() < diff.text.len() {
            "\n(the rest is left out; see git)"
        } else {
            ""
        };
        let count = |sign: char, head: &str| {
            let lines = diff.text.lines();
            lines
                .filter(|l| l.starts_with(sign) && !l.starts_with(head))
                .count()
        };
        let open = if diff.text.lines().count() <= OPEN_DIFF {
            " open"
        } else {
            ""
        };
        let _ = writeln!(
            page,
            "<details{open}><summary><code>{}</code> <span class=\"add\">+{}</span> \
             <span class=\"del\">-{}</span></summary><pre>{}{rest}</pre></details>",
            escape(&diff.task),
            count('+', "+++"),
            count('-', "---"),
            coloured(&cut)
        );
    }
}

fn gaps(page: &mut String, run: &Run) {
    if run.gaps.is_empty() {
        return;
    }
    page.push_str("<h2>Gaps</h2>\n<ul>\n");
    for gap in &run.gaps {
        let _ = writeln!(page, "<li class=\"bad\">{}</li>", escape(&gap.statement));
    }
    page.push_str("</ul>\n");
}

/// Height of a row, and where the bars begin and how wide they may be.
const ROW: u64 = 22;
const LEFT: u64 = 180;
const WIDTH: u64 = 800;

fn timeline(page: &mut String, rows: &[Row]) {
    let from = rows.iter().map(|r| r.from_ms).min().unwrap_or(0);
    let to = rows.iter().map(|r| r.to_ms).max().unwrap_or(0);
    if to <= from {
        return;
    }
    let whole = to - from;
    let x = |at: u64| LEFT + at.clamp(from, to).saturating_sub(from) * WIDTH / whole;
    page.push_str("<h2>Timeline</h2>\n<p>");
    for what in Spent::ALL {
        let _ = write!(
            page,
            "<svg class=\"key\" viewBox=\"0 0 10 10\"><rect class=\"{0}\" width=\"10\" height=\"10\"/></svg>{0} ",
            what.name()
        );
    }
    let height = u64::try_from(rows.len()).unwrap_or(0) * ROW + 20;
    let _ = write!(
        page,
        "</p>\n<svg class=\"time\" viewBox=\"0 0 {} {height}\" role=\"img\" aria-label=\"timeline\">\n",
        LEFT + WIDTH
    );
    for (index, row) in rows.iter().enumerate() {
        let y = u64::try_from(index).unwrap_or(0) * ROW;
        let _ = writeln!(
            page,
            "<text x=\"0\" y=\"{}\">{}</text><rect class=\"whole\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"14\"/>",
            y + 14,
            escape(&first_line(&row.name, 28)),
            x(row.from_ms),
            y + 3,
            (x(row.to_ms) - x(row.from_ms)).max(1)
        );
        for span in &row.spans {
            let _ = writeln!(
                page,
                "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"14\"><title>{0} {} ms</title></rect>",
                span.what.name(),
                x(span.from_ms),
                y + 3,
                x(span.to_ms).saturating_sub(x(span.from_ms)).max(1),
                span.to_ms - span.from_ms
            );
        }
    }
    for part in 0..=4 {
        let at = LEFT + WIDTH * part / 4;
        let anchor = ["start", "middle", "end"][usize::from(part > 0) + usize::from(part == 4)];
        let seconds = std::time::Duration::from_millis(whole * part / 4).as_secs_f64();
        let _ = writeln!(
            page,
            "<line x1=\"{at}\" x2=\"{at}\" y1=\"0\" y2=\"{0}\"/><text x=\"{at}\" y=\"{1}\" text-anchor=\"{anchor}\">{seconds:.1} s</text>",
            height - 18,
            height - 4,
        );
    }
    page.push_str("</svg>\n");
}

fn tasks(page: &mut String, run: &Run) {
    page.push_str(
        "<h2>Tasks</h2>\n<table><tr><th>Task</th><th>Result</th><th>Checks</th><th>Tokens</th></tr>\n",
    );
    for task in run.rounds.iter().flat_map(|r| &r.tasks) {
        let (class, result) = result(task);
        let tokens = task.handoff.as_ref().map_or(String::new(), |h| {
            let n = |n: Option<u64>| n.map_or("?".to_owned(), |n| n.to_string());
            format!(
                "{} + {}",
                n(h.usage.prompt_tokens),
                n(h.usage.completion_tokens)
            )
        });
        let attempt = if task.attempt > 1 {
            format!(" ({})", task.attempt)
        } else {
            String::new()
        };
        let _ = writeln!(
            page,
            "<tr><td><code>{}</code>{attempt}</td><td class=\"{class}\">{}</td><td>{}</td><td>{tokens}</td></tr>",
            escape(task.task.as_str()),
            escape(&result),
            checks(task)
        );
    }
    page.push_str("</table>\n");
}

fn result(task: &RunTask) -> (&'static str, String) {
    let Some(merge) = &task.merge else {
        return ("bad", "not finished".into());
    };
    let why = || match &task.handoff {
        // What came of an attempt that was followed by another is told by the worker.
        Some(handoff) if !handoff.status_reason.is_empty() && task.attempt == 1 => {
            first_line(&handoff.status_reason, 300)
        }
        _ => first_line(&merge.detail, 300),
    };
    match merge.state {
        MergeState::Integrated => ("good", "integrated".into()),
        MergeState::Nothing => ("good", "done, nothing to integrate".into()),
        MergeState::NotTried => ("bad", why()),
        _ => ("bad", first_line(&merge.detail, 300)),
    }
}

/// The commands that were run again, the checks that fail, and how many hold.
fn checks(task: &RunTask) -> String {
    let Some(verdict) = &task.verdict else {
        return String::new();
    };
    let mut text = String::new();
    for run in &verdict.verification {
        let (class, outcome) = match run.exit_code {
            Some(0) => ("good", "passed".to_owned()),
            Some(code) => ("bad", format!("ended with {code}")),
            None => ("bad", "was not run to its end".to_owned()),
        };
        let _ = write!(
            text,
            "<code>{}</code> <span class=\"{class}\">{outcome}</span>{}<br>",
            escape(&first_line(&run.command, 120)),
            run.duration_ms.map_or(String::new(), |ms| format!(
                " <span class=\"small\">{ms} ms</span>"
            ))
        );
    }
    let mut hold = 0;
    for check in &verdict.checks {
        match check.verdict {
            CheckVerdict::Pass => hold += 1,
            CheckVerdict::Fail | CheckVerdict::Unknown => {
                let _ = write!(
                    text,
                    "<span class=\"bad\">{}: {}</span><br>",
                    escape(&check.id),
                    escape(&first_line(&check.detail, 200))
                );
            }
            CheckVerdict::Warning | CheckVerdict::Skipped => {}
        }
    }
    let _ = write!(
        text,
        "<span class=\"small\">{hold} checks of the hand-off hold</span>"
    );
    text
}

/// A diff with its added and removed lines in colour.
fn coloured(diff: &str) -> String {
    let mut text = String::new();
    for line in diff.lines() {
        let class = match line.as_bytes().first() {
            Some(b'+') => "add",
            Some(b'-') => "del",
            _ => "",
        };
        let _ = if class.is_empty() {
            writeln!(text, "{}", escape(line))
        } else {
            writeln!(text, "<span class=\"{class}\">{}</span>", escape(line))
        };
    }
    text
}

fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c if c.is_control() && c != '\n' && c != '\t' => {}
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Diff, Row, escape, render};
    use crate::core::activity::{Span, Spent};

    fn example() -> baton_protocol::Run {
        baton_protocol::read(include_str!("../../../protocol/examples/run-1.json")).unwrap()
    }

    #[test]
    fn words_of_models_and_files_cannot_become_markup() {
        let mut run = example();
        run.goal = "<script>alert(1)</script>".into();
        run.summary = Some("<img src=x onerror=y>".into());
        let diff = Diff {
            task: "t\"><b>".into(),
            text: "+<script src=//evil>\n-</pre>\n".into(),
        };
        let page = render(&run, &[], &[diff]);
        for bad in ["<script", "<img", "<b>", "src=//evil>\n"] {
            assert!(!page.contains(bad), "{bad}");
        }
    }

    #[test]
    fn the_page_asks_nobody_for_anything() {
        let row = Row {
            name: "a".into(),
            from_ms: 0,
            to_ms: 100,
            spans: vec![Span {
                what: Spent::Decode,
                from_ms: 10,
                to_ms: 90,
            }],
        };
        let page = render(&example(), &[row], &[]);
        assert!(page.contains("class=\"decode\""));
        for link in ["http://", "https://", "src=", "@import", "url("] {
            assert!(!page.contains(link), "{link}");
        }
    }

    proptest! {
        #[test]
        fn no_text_escapes(text in ".{0,80}") {
            prop_assert!(!escape(&text).contains(['<', '>', '"']));
        }
    }
}
