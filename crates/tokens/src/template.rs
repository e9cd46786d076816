//! Rendering a chat request with its model's template, as the server will.
//!
//! Templates are Jinja. Hugging Face's transformers render them with Jinja2 and a few settings and
//! functions of their own; the same is done here with `minijinja`, and vLLM's preparation of the
//! messages before it. A template is foreign code: it can only make text, and its steps are bounded.

mod messages;
mod python;
mod tags;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Serde};
use minijinja::{Environment, Error, ErrorKind, Value};
use serde_json::{Map, Value as Json};

pub use python::Date;

/// Steps a template may take; one of a thousand messages takes a hundredth.
const FUEL: u64 = 10_000_000;

/// A template cannot be rendered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("chat template: {0}")]
pub struct TemplateError(String);

impl From<Error> for TemplateError {
    fn from(error: Error) -> Self {
        // The alternative form prints the causes, of which the last says most.
        Self(
            format!("{error:#}")
                .lines()
                .next()
                .unwrap_or_default()
                .to_owned(),
        )
    }
}

/// A model's chat template and the special tokens it names.
#[derive(Debug, Clone, Copy)]
pub struct ChatTemplate<'a> {
    /// Its text.
    pub source: &'a str,
    /// `bos_token`, empty where there is none.
    pub bos_token: &'a str,
    /// `eos_token`, empty where there is none.
    pub eos_token: &'a str,
}

impl ChatTemplate<'_> {
    /// The prompt of a chat request, the opening of the answer included. `today` is what
    /// `strftime_now` tells: some templates print the date.
    pub fn render(&self, request: &Json, today: Date) -> Result<String, TemplateError> {
        let source = tags::without_generation(self.source);
        let mut environment = environment(today)?;
        environment.add_template("chat", &source)?;
        let context = context(self, request);
        Ok(environment.get_template("chat")?.render(Serde(&context))?)
    }
}

fn environment<'source>(today: Date) -> Result<Environment<'source>, Error> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build()?;
    environment.set_syntax(syntax);
    environment.set_fuel(Some(FUEL));
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.add_function(
        "raise_exception",
        |message: String| -> Result<Value, Error> {
            Err(Error::new(ErrorKind::InvalidOperation, message))
        },
    );
    environment.add_function("strftime_now", move |format: &str| today.format(format));
    environment.add_filter("tojson", |value: &Value, options: Kwargs| {
        to_json(value, &options)
    });
    Ok(environment)
}

fn context(template: &ChatTemplate<'_>, request: &Json) -> Map<String, Json> {
    let mut context = Map::new();
    for key in ["tools", "documents", "reasoning_effort"] {
        if let Some(value) = request.get(key).filter(|value| !value.is_null()) {
            context.insert(key.into(), value.clone());
        }
    }
    // No tools is no list of tools: templates ask only whether there is one.
    if context
        .get("tools")
        .is_some_and(|tools| tools.as_array().is_some_and(Vec::is_empty))
    {
        context.remove("tools");
    }
    context.insert(
        "messages".into(),
        messages::prepared(request, template.source),
    );
    context.insert("add_generation_prompt".into(), true.into());
    context.insert("bos_token".into(), template.bos_token.into());
    context.insert("eos_token".into(), template.eos_token.into());
    if let Some(switches) = request
        .get("chat_template_kwargs")
        .and_then(Json::as_object)
    {
        context.extend(switches.clone());
    }
    context
}

/// `tojson`, as transformers define it: Python's `json.dumps` without the escapes for HTML.
fn to_json(value: &Value, options: &Kwargs) -> Result<Value, Error> {
    let style = python::Style {
        indent: options.get("indent")?,
        separators: options.get::<Option<Vec<String>>>("separators")?,
        ascii: options
            .get::<Option<bool>>("ensure_ascii")?
            .unwrap_or(false),
        sorted: options.get::<Option<bool>>("sort_keys")?.unwrap_or(false),
    };
    options.assert_all_used()?;
    let json = serde_json::to_value(value)
        .map_err(|e| Error::new(ErrorKind::BadSerialization, e.to_string()))?;
    Ok(Value::from_safe_string(python::dumps(&json, &style)))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::{ChatTemplate, Date, TemplateError};

    const TODAY: Date = Date {
        year: 2026,
        month: 11,
        day: 30,
    };

    fn render(source: &str, request: &Json) -> Result<String, TemplateError> {
        let template = ChatTemplate {
            source,
            bos_token: "<s>",
            eos_token: "</s>",
        };
        template.render(request, TODAY)
    }

    fn ask(content: &str) -> Json {
        json!({"messages": [{"role": "user", "content": content}]})
    }

    #[test]
    fn blocks_are_trimmed_as_jinja2_does_it() {
        let source = "{{ bos_token }}\n{% for m in messages %}\n    {% if true %}\n[{{ m.role }}] {{ m['content'] }}\n    {% endif %}\n{% endfor %}\n{% if add_generation_prompt %}\n[assistant]\n{% endif %}\n";
        assert_eq!(
            render(source, &ask("hi")).unwrap(),
            "<s>\n[user] hi\n[assistant]\n"
        );
    }

    #[test]
    fn python_methods_and_functions_are_there() {
        let source =
            "{{ messages[0].content.strip().split('|')[-1] }} {{ strftime_now('%d %b %Y') }}";
        assert_eq!(render(source, &ask(" a|b ")).unwrap(), "b 30 Nov 2026");
        let refused = render("{{ raise_exception('only user turns') }}", &ask("x")).unwrap_err();
        assert!(refused.to_string().contains("only user turns"), "{refused}");
    }

    #[test]
    fn tools_are_printed_as_python_prints_them() {
        let mut request = ask("x");
        request["tools"] = json!([{"name": "naïve", "n": [1, 2.5, true, null], "html": "<&>"}]);
        assert_eq!(
            render("{{ tools[0] | tojson }}", &request).unwrap(),
            r#"{"name": "naïve", "n": [1, 2.5, true, null], "html": "<&>"}"#
        );
        assert_eq!(
            render("{{ tools[0].n | tojson(separators=(',', ':')) }}", &request).unwrap(),
            "[1,2.5,true,null]"
        );
        request["tools"] = json!([]);
        assert_eq!(
            render("{% if tools %}yes{% else %}no{% endif %}", &request).unwrap(),
            "no"
        );
    }

    #[test]
    fn switches_reach_the_template() {
        let mut request = ask("x");
        request["chat_template_kwargs"] = json!({"enable_thinking": false});
        let source =
            "{% if enable_thinking is defined and enable_thinking is false %}off{% endif %}";
        assert_eq!(render(source, &request).unwrap(), "off");
    }

    #[test]
    fn generation_marks_and_loop_controls_are_understood() {
        let source = "{% for m in messages %}{% generation %}{{ m.content }}{% endgeneration %}{% break %}{% endfor %}";
        assert_eq!(render(source, &ask("x")).unwrap(), "x");
    }

    #[test]
    fn an_endless_template_ends() {
        let source = "{% for a in range(9999) %}{% for b in range(9999) %}{% for c in range(9999) %}{% endfor %}{% endfor %}{% endfor %}";
        assert!(render(source, &ask("x")).is_err());
        assert!(render("{% if %}", &ask("x")).is_err());
    }
}
