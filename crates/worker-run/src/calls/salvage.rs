//! Finding calls that a model wrote into its text, because its server could not parse them.

use baton_prompt::Tool;

use super::dialects::DIALECTS;
use super::names;

/// A call as it was written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TextCall {
    /// The name as written.
    pub(crate) name: String,
    /// Its arguments, as JSON text.
    pub(crate) arguments: String,
    /// In which notation, for the hand-off's counters.
    pub(crate) dialect: &'static str,
}

/// What a text without proper calls holds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Found {
    /// Complete calls of offered tools, and the text around them.
    Calls(Vec<TextCall>, String),
    /// A call that begins and does not end; it must not run.
    Incomplete,
    /// Plain text.
    Nothing,
}

/// What templates put behind an answer, and servers sometimes leave there.
const STOP_WORDS: [&str; 8] = [
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end|>",
    "<|endoftext|>",
    "<|return|>",
    "<｜end▁of▁sentence｜>",
    "</s>",
];

/// Looks for calls of `offered` tools in a text.
pub(crate) fn salvage(content: &str, offered: &[Tool]) -> Found {
    let text = without_stop_words(content);
    if text.is_empty() || offered.is_empty() {
        return Found::Nothing;
    }
    for dialect in DIALECTS {
        match dialect(text) {
            Found::Calls(calls, rest) => {
                let known = calls
                    .iter()
                    .all(|c| names::resolve(&c.name, offered).is_some());
                if known && !calls.is_empty() {
                    return Found::Calls(calls, rest);
                }
            }
            Found::Incomplete => return Found::Incomplete,
            Found::Nothing => {}
        }
    }
    Found::Nothing
}

/// The last call of a thought, where nothing follows it: what a server hands on as thinking when the
/// model calls without closing its thought. Calls it only considered on the way stand further up.
pub(crate) fn in_thought(reasoning: &str, offered: &[Tool]) -> Found {
    let text = without_stop_words(reasoning);
    let begin = [
        ("</tool_call>", "<tool_call>"),
        ("</function>", "<function="),
        ("</invoke>", "<invoke name="),
    ]
    .into_iter()
    .find(|(close, _)| text.ends_with(close))
    .and_then(|(_, open)| text.rfind(open));
    begin.map_or(Found::Nothing, |at| salvage(&text[at..], offered))
}

fn without_stop_words(content: &str) -> &str {
    let mut text = content.trim();
    while let Some(shorter) = STOP_WORDS.iter().find_map(|word| text.strip_suffix(word)) {
        text = shorter.trim_end();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Found, in_thought, names, salvage};
    use baton_prompt::{Mode, Role, Tool};
    use proptest::prelude::{any, proptest};
    use serde_json::{Value, json};

    fn find(text: &str) -> Found {
        salvage(text, Tool::offered(Role::Implementer, Mode::Tools))
    }

    #[track_caller]
    fn one(text: &str) -> (String, Value) {
        match find(text) {
            Found::Calls(calls, _) if calls.len() == 1 => (
                calls[0].name.clone(),
                serde_json::from_str(&calls[0].arguments).unwrap(),
            ),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn t01_a_fenced_call_with_parameters() {
        for key in ["parameters", "arguments"] {
            let text = format!("```json\n{{\"name\":\"read\",\"{key}\":{{\"path\":\"a\"}}}}\n```");
            assert_eq!(one(&text), ("read".into(), json!({"path": "a"})));
        }
    }

    #[test]
    fn t02_a_bare_object_that_is_the_whole_message() {
        let text = r#"{"name": "read", "arguments": {"path": "a"}}"#;
        assert_eq!(one(text), ("read".into(), json!({"path": "a"})));
        let text = r#"[{"name": "read", "arguments": "{\"path\": \"a\"}"}]"#;
        assert_eq!(one(text), ("read".into(), json!({"path": "a"})));
    }

    #[test]
    fn t03_what_only_looks_like_a_call_is_text() {
        for text in [
            r#"{"name": "launch_rocket", "arguments": {"path": "a"}}"#,
            r#"{"name": "read", "version": "1.0"}"#,
            r#"You can call {"name": "read", "arguments": {"path": "a"}} to see it."#,
            "Like this:\n```json\n{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}\n```\nGood luck.",
            "```json\n{\"name\": \"baton\", \"dependencies\": {}}\n```",
            "",
        ] {
            assert_eq!(find(text), Found::Nothing, "{text}");
        }
    }

    #[test]
    fn t04_the_opening_tag_is_missing() {
        let text = "I look.\n<function=search>\n<parameter=pattern>\n\n*.md\n\n</parameter>\n</function></tool_call>";
        assert_eq!(one(text), ("search".into(), json!({"pattern": "\n*.md\n"})));
        let unknown = text.replace("search", "teleport");
        assert_eq!(find(&unknown), Found::Nothing);
    }

    #[test]
    fn t05_a_parameter_ends_at_the_next_tag_and_a_cut_call_does_not_run() {
        let text = "<function=read><parameter=path>1<parameter=limit>2</function>";
        assert_eq!(
            one(text),
            ("read".into(), json!({"path": "1", "limit": "2"}))
        );
        for cut in [
            "<function=write><parameter=path>a</parameter><parameter=content>x",
            "<tool_call>\n{\"name\": \"bash\", \"arguments\": {\"command\": \"rm -r b",
            "<invoke name=\"bash\"><parameter name=\"command\">ls",
            "<function=bash",
        ] {
            assert_eq!(find(cut), Found::Incomplete, "{cut}");
        }
    }

    #[test]
    fn t06_the_dialects() {
        for text in [
            "<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}\n</tool_call>",
            "<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}",
            "<tool_call>\n<function=read>\n<parameter=path>\na\n</parameter>\n</function>\n</tool_call>",
            "<invoke name=\"read\"><parameter name=\"path\">a</parameter></invoke>",
            "[TOOL_CALLS][{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}]",
            "{\"type\":\"function\",\"function\":{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}}",
        ] {
            assert_eq!(one(text), ("read".into(), json!({"path": "a"})), "{text}");
        }
    }

    /// The notations of the model families, as their templates write them.
    #[test]
    fn t06_the_notations_of_the_families() {
        for text in [
            "[TOOL_CALLS]read[ARGS]{\"path\": \"a\"}",
            "[TOOL_CALLS]read[CALL_ID]9VbK2c7Xa[ARGS]{\"path\": \"a\"}</s>",
            "<|python_tag|>{\"name\": \"read\", \"parameters\": {\"path\": \"a\"}}<|eom_id|>",
            "<|python_start|>[read(path=\"a\")]<|python_end|><|eot|>",
            "[read(path='a')]",
            "read(path=\"a\")",
            "```tool_code\nread(path=\"a\")\n```",
            "<tool_call>read\n<arg_key>path</arg_key>\n<arg_value>a</arg_value>\n</tool_call>",
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read\n```json\n{\"path\": \"a\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>",
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>read<｜tool▁sep｜>{\"path\": \"a\"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.read:0<|tool_call_argument_begin|>{\"path\": \"a\"}<|tool_call_end|><|tool_calls_section_end|>",
            "<|channel|>commentary to=functions.read <|constrain|>json<|message|>{\"path\": \"a\"}<|call|>",
            "<|start|>assistant to=functions.read<|channel|>commentary json<|message|>{\"path\": \"a\"}",
            "<|tool_call|>[{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}]<|/tool_call|>",
            "<TOOLCALL>[{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}]</TOOLCALL>",
            "<tool_calls>[{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}]</tool_calls>",
            "<tools>\n{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}\n</tools>",
            "<function_call> {\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}</function_call>",
            "<|START_ACTION|>[{\"tool_call_id\": \"0\", \"tool_name\": \"read\", \"parameters\": {\"path\": \"a\"}}]<|END_ACTION|>",
            "<|action_start|><|plugin|>{\"name\": \"read\", \"parameters\": {\"path\": \"a\"}}<|action_end|>",
            "<|tool_call_start|>[read(path=\"a\")]<|tool_call_end|>",
            "functools[{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}]",
            "<minimax:tool_call>\n<invoke name=\"read\">\n<parameter name=\"path\">a</parameter>\n</invoke>\n</minimax:tool_call>",
            "Thought: I look.\nAction: read\nAction Input: {\"path\": \"a\"}\nObservation: it is empty",
        ] {
            match find(text) {
                Found::Calls(calls, _) if calls.len() == 1 => {
                    let offered = Tool::offered(Role::Implementer, Mode::Tools);
                    let tool = names::resolve(&calls[0].name, offered).map(|(tool, _)| tool);
                    let arguments: Value = serde_json::from_str(&calls[0].arguments).unwrap();
                    assert_eq!(
                        (tool, arguments),
                        (Some(Tool::Read), json!({"path": "a"})),
                        "{text}"
                    );
                }
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn several_calls_in_the_notations_of_the_families() {
        for text in [
            "[TOOL_CALLS]read[ARGS]{\"path\": \"a\"}[TOOL_CALLS]list[ARGS]{}",
            "<|python_tag|>{\"name\": \"read\", \"parameters\": {\"path\": \"a\"}}; {\"name\": \"list\", \"parameters\": {}}",
            "[read(path=\"a\"), list()]",
            "read(path=\"a\")\nlist()",
            "<tool_call>read\n<arg_key>path</arg_key><arg_value>a</arg_value></tool_call>\n<tool_call>list\n</tool_call>",
            "<｜tool▁call▁begin｜>read<｜tool▁sep｜>{\"path\":\"a\"}<｜tool▁call▁end｜><｜tool▁call▁begin｜>list<｜tool▁sep｜>{}<｜tool▁call▁end｜>",
            "<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}\n{\"name\": \"list\", \"arguments\": {}}\n</tool_call>",
        ] {
            match find(text) {
                Found::Calls(calls, _) => assert_eq!(
                    calls.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(),
                    ["read", "list"],
                    "{text}"
                ),
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn what_is_cut_in_any_notation_does_not_run() {
        for cut in [
            "[TOOL_CALLS]bash[ARGS]{\"command\": \"rm -r b",
            "<|python_tag|>{\"name\": \"bash\", \"parameters\": {\"command\": \"rm -r b",
            "<|python_start|>[bash(command=\"rm -r b",
            "<tool_call>bash\n<arg_key>command</arg_key>\n<arg_value>rm -r b",
            "<｜tool▁call▁begin｜>bash<｜tool▁sep｜>{\"command\": \"rm -r b",
            "<|tool_call_begin|>functions.bash:1<|tool_call_argument_begin|>{\"command\": \"rm -r b",
            "<|channel|>commentary to=functions.bash <|constrain|>json<|message|>{\"command\": \"rm -r b",
            "<|channel|>commentary to=functions.bash",
            "Action: bash\nAction Input: {\"command\": \"rm -r b",
            "<tools>\n{\"name\": \"bash\", \"arguments\": {\"command\": \"rm -r b",
        ] {
            assert_eq!(find(cut), Found::Incomplete, "{cut}");
        }
    }

    #[test]
    fn prose_about_the_notations_is_prose() {
        for text in [
            "Mistral writes [TOOL_CALLS] before a call.",
            "The function is called as read(path=\"a\") in main.py.",
            "print(\"hello\")",
            "read(\"a\")",
            "x = read(path=\"a\")",
            "launch(path=\"a\")",
            "The `<tools>` element holds the tools.",
            "Action: think about it again.",
            "[1, 2, 3]",
            "```python\nread(path=\"a\")\n```\nThis reads the file.",
        ] {
            assert_eq!(find(text), Found::Nothing, "{text}");
        }
    }

    #[test]
    fn a_thought_that_ends_in_a_call_was_meant_as_one() {
        let offered = Tool::offered(Role::Implementer, Mode::Tools);
        let call =
            "<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}\n</tool_call>";
        let considered = call.replace("read", "bash");
        let found = in_thought(&format!("Maybe {considered}? No: {call}\n"), offered);
        assert!(
            matches!(found, Found::Calls(calls, _) if calls.len() == 1 && calls[0].name == "read")
        );
        for thought in [
            format!("I could {call} but I will not."),
            format!("{call} is what I would write"),
            String::new(),
        ] {
            assert_eq!(in_thought(&thought, offered), Found::Nothing, "{thought}");
        }
    }

    #[test]
    fn words_before_a_tagged_call_are_kept_as_text() {
        let text =
            "I read it.\n<tool_call>{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}</tool_call>";
        assert!(matches!(find(text), Found::Calls(_, rest) if rest == "I read it."));
    }

    #[test]
    fn several_calls_in_one_text() {
        let two = "<tool_call>{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}</tool_call>\n<tool_call>{\"name\":\"list\",\"arguments\":{}}</tool_call>";
        assert!(matches!(find(two), Found::Calls(calls, _) if calls.len() == 2));
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in any::<String>()) {
            let _ = find(&text);
        }

        #[test]
        fn tags_in_any_order_do_not_panic(parts in proptest::collection::vec(proptest::sample::select(vec![
            "<tool_call>", "</tool_call>", "<function=", "read>", "</function>", "<parameter=", "x>", "</parameter>",
            "{\"name\":\"read\"", "}", "```json\n", "```", "\n", "é", "<invoke name=\"", "\">",
            "[TOOL_CALLS]", "[ARGS]", "<|python_tag|>", "<arg_key>", "<arg_value>", "to=functions.", "<|message|>",
            "read(", "path='", "'", ")", "[", "]", "Action: read\n", "Action Input: ", "<｜tool▁sep｜>",
        ]), 0..12)) {
            let _ = find(&parts.concat());
        }
    }
}
