//! How a model writes a tool call when the server does not parse it: one text form a family.

use serde::Deserialize;
use serde_json::Value;

use crate::answer::Call;

/// A way to write calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Dialect {
    /// As the API has it: `tool_calls`.
    #[default]
    Native,
    /// JSON inside `<tool_call>` tags.
    Hermes,
    /// `<function=…><parameter=…>` inside `<tool_call>` tags.
    Qwen,
    /// The same without the opening tag, as small models lose it.
    QwenUnopened,
    /// `<invoke name="…"><parameter name="…">`.
    Invoke,
    /// JSON in a fenced block.
    Fenced,
    /// The same with the key `parameters` in place of `arguments`.
    FencedParameters,
    /// The message is one JSON object.
    Bare,
    /// `[TOOL_CALLS][…]`.
    Mistral,
    /// `<|python_tag|>{…}`.
    Llama,
    /// `[name(key="value")]`.
    Pythonic,
}

/// The text of some calls in a dialect; `None` for the native form.
pub(crate) fn write(dialect: Dialect, calls: &[Call]) -> Option<String> {
    let each = |form: &dyn Fn(&Call) -> String, glue: &str| {
        Some(calls.iter().map(form).collect::<Vec<_>>().join(glue))
    };
    let object = |call: &Call, key: &str| {
        format!(
            "{{\"name\": \"{}\", \"{key}\": {}}}",
            call.name, call.arguments
        )
    };
    match dialect {
        Dialect::Native => None,
        Dialect::Hermes => each(
            &|c| format!("<tool_call>\n{}\n</tool_call>", object(c, "arguments")),
            "\n",
        ),
        Dialect::Qwen => each(&|c| format!("<tool_call>\n{}\n</tool_call>", qwen(c)), "\n"),
        Dialect::QwenUnopened => each(&|c| format!("{}\n</tool_call>", qwen(c)), "\n"),
        Dialect::Invoke => each(&invoke, "\n"),
        Dialect::Fenced => each(
            &|c| format!("```json\n{}\n```", object(c, "arguments")),
            "\n",
        ),
        Dialect::FencedParameters => each(
            &|c| format!("```json\n{}\n```", object(c, "parameters")),
            "\n",
        ),
        Dialect::Bare => each(&|c| object(c, "arguments"), "\n"),
        Dialect::Mistral => {
            each(&|c| object(c, "arguments"), ", ").map(|list| format!("[TOOL_CALLS][{list}]"))
        }
        Dialect::Llama => each(
            &|c| format!("<|python_tag|>{}", object(c, "parameters")),
            "; ",
        ),
        Dialect::Pythonic => each(&pythonic, ", ").map(|list| format!("[{list}]")),
    }
}

/// The arguments as pairs of a name and the text a tag would hold.
fn pairs(call: &Call) -> Vec<(String, Value)> {
    let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
    arguments
        .as_object()
        .map(|map| map.clone().into_iter().collect())
        .unwrap_or_default()
}

fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

fn qwen(call: &Call) -> String {
    let parameter = |(key, value): (String, Value)| {
        format!("<parameter={key}>\n{}\n</parameter>\n", plain(&value))
    };
    let parameters: String = pairs(call).into_iter().map(parameter).collect();
    format!("<function={}>\n{parameters}</function>", call.name)
}

fn invoke(call: &Call) -> String {
    let parameter = |(key, value): (String, Value)| {
        format!("<parameter name=\"{key}\">{}</parameter>\n", plain(&value))
    };
    let parameters: String = pairs(call).into_iter().map(parameter).collect();
    format!("<invoke name=\"{}\">\n{parameters}</invoke>", call.name)
}

fn pythonic(call: &Call) -> String {
    let argument = |(key, value): (String, Value)| format!("{key}={value}");
    let arguments: Vec<String> = pairs(call).into_iter().map(argument).collect();
    format!("{}({})", call.name, arguments.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_dialect_looks_like_its_family() {
        let calls = [Call {
            name: "read".into(),
            arguments: "{\"path\":\"a\"}".into(),
        }];
        let text = |dialect| write(dialect, &calls).unwrap();
        assert_eq!(
            text(Dialect::Qwen),
            "<tool_call>\n<function=read>\n<parameter=path>\na\n</parameter>\n</function>\n</tool_call>"
        );
        assert_eq!(text(Dialect::Pythonic), "[read(path=\"a\")]");
        assert_eq!(
            text(Dialect::Bare),
            "{\"name\": \"read\", \"arguments\": {\"path\":\"a\"}}"
        );
        assert_eq!(write(Dialect::Native, &calls), None);
    }
}
