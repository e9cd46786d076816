//! One man page: the parts clap knows, then the hand-written sections.

use clap::{Arg, Command};

/// The date of the last change of the hand-written sections.
const DATE: &str = "2026-11-30";

/// Renders a page; `sections` holds the hand-written roff from EXIT STATUS on.
///
/// The generator of clap's own project leaves the values out of the synopsis, calls the examples
/// EXTRA and does not pass the linter, so the page is put together here.
pub fn page(mut command: Command, sections: &str) -> String {
    command.build();
    let name = command.get_name().to_owned();
    let about = command
        .get_about()
        .map(ToString::to_string)
        .unwrap_or_default();
    let title = name.to_uppercase();
    let mut page = format!(
        ".\\\" Generated from the command's definition and man/sections/{name}.roff; see CONTRIBUTING.md.\n\
         .TH {title} 1 {DATE} \"baton {}\" \"Baton manual\"\n",
        env!("CARGO_PKG_VERSION")
    );
    page += &format!(
        ".SH NAME\n{} \\- {}\n",
        escape(&name),
        escape(about.trim_end_matches('.'))
    );
    page += ".SH SYNOPSIS\n";
    page += &synopsis(&name, &command);
    for subcommand in visible_subcommands(&command) {
        page += ".br\n";
        page += &synopsis(&format!("{name} {}", subcommand.get_name()), subcommand);
    }
    page += ".SH DESCRIPTION\n";
    let long = command.get_long_about().or(command.get_about());
    page += &paragraphs(&long.map(ToString::to_string).unwrap_or_default());
    page += ".SH OPTIONS\n";
    page += &options(&command, true);
    for subcommand in visible_subcommands(&command) {
        let own = options(subcommand, false);
        page += &format!(".SS {} {}\n", escape(&name), escape(subcommand.get_name()));
        page += &paragraphs(
            &subcommand
                .get_about()
                .map(ToString::to_string)
                .unwrap_or_default(),
        );
        page += &own;
    }
    page + sections
}

fn visible_subcommands(command: &Command) -> impl Iterator<Item = &Command> {
    command
        .get_subcommands()
        .filter(|s| !s.is_hide_set() && s.get_name() != "help")
}

fn visible_arguments(command: &Command, with_global: bool) -> impl Iterator<Item = &Arg> {
    command
        .get_arguments()
        .filter(move |a| !a.is_hide_set() && (with_global || !a.is_global_set()))
        .filter(move |a| with_global || !matches!(a.get_id().as_str(), "help" | "version"))
}

/// `tool [OPTIONS] [FILE]...`, as clap's own usage line says it.
fn synopsis(name: &str, command: &Command) -> String {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim();
    let mut lines = usage.lines().map(str::trim).filter(|l| !l.is_empty());
    let first = lines.next().unwrap_or(name);
    let rest = first.strip_prefix(name).unwrap_or(first);
    format!("\\fB{}\\fR{}\n", escape(name), escape(rest))
}

fn options(command: &Command, with_global: bool) -> String {
    let mut text = String::new();
    for argument in visible_arguments(command, with_global) {
        text += ".TP\n";
        text += &heading(argument);
        text.push('\n');
        let help = argument.get_long_help().or(argument.get_help());
        let help = help.map(ToString::to_string).unwrap_or_default();
        text += &lines(help.trim_end_matches('.'));
        let values = argument.get_possible_values();
        let shown: Vec<&str> = values
            .iter()
            .filter(|v| !v.is_hide_set())
            .map(clap::builder::PossibleValue::get_name)
            .collect();
        if !shown.is_empty() && argument.get_action().takes_values() {
            text += &format!("One of: {}.\n", escape(&shown.join(", ")));
        }
        let defaults: Vec<String> = argument
            .get_default_values()
            .iter()
            .map(|v| v.to_string_lossy().into_owned())
            .collect();
        if !defaults.is_empty()
            && argument.get_action().takes_values()
            && !argument.is_hide_default_value_set()
        {
            text += &format!("Default: {}.\n", escape(&defaults.join(" ")));
        }
    }
    text
}

/// `-v, --verbose` or `--wait DURATION` or `FILE...`, names bold and values in italics.
fn heading(argument: &Arg) -> String {
    let mut names = Vec::new();
    names.extend(argument.get_short().map(|s| format!("\\fB\\-{s}\\fR")));
    names.extend(
        argument
            .get_long()
            .map(|l| format!("\\fB\\-\\-{}\\fR", escape(l))),
    );
    let mut heading = names.join(", ");
    if argument.get_action().takes_values() {
        let values = argument.get_value_names().map_or_else(
            || argument.get_id().to_string().to_uppercase(),
            |names| {
                names
                    .iter()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>()
                    .join(" ")
            },
        );
        let optional = argument.get_num_args().is_some_and(|n| n.min_values() == 0);
        let many = argument.get_num_args().is_some_and(|n| n.max_values() > 1);
        let dots = if many { "..." } else { "" };
        let value = format!("\\fI{}\\fR{dots}", escape(&values));
        heading += &match (names.is_empty(), optional) {
            (true, _) => value,
            (false, true) => format!("[={value}]"),
            (false, false) => format!(" {value}"),
        };
    }
    heading
}

fn paragraphs(text: &str) -> String {
    let blocks: Vec<String> = text
        .split("\n\n")
        .map(lines)
        .filter(|b| !b.is_empty())
        .collect();
    blocks.join(".PP\n")
}

fn lines(text: &str) -> String {
    let text = text.trim();
    if text.is_empty() {
        return String::new();
    }
    let dot = if text.ends_with(['.', ':', ';', '?', '!']) {
        ""
    } else {
        "."
    };
    text.lines()
        .map(|l| escape(l.trim()))
        .collect::<Vec<_>>()
        .join("\n")
        + dot
        + "\n"
}

/// Makes text safe for roff: backslashes, hyphens, and a control character at the start of a line.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '\\' => escaped.push_str("\\e"),
            '-' => escaped.push_str("\\-"),
            '`' => escaped.push_str("\\(ga"),
            '\'' => escaped.push_str("\\(aq"),
            '…' => escaped.push_str("..."),
            '–' | '—' => escaped.push_str("\\(en"),
            '→' => escaped.push_str("\\->"),
            other => escaped.push(other),
        }
    }
    if escaped.starts_with('.') {
        escaped.insert_str(0, "\\&");
    }
    escaped
}
