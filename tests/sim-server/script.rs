//! Scripted models, as a client meets them.

use serde_json::{Value, json};

use crate::kit::{CHAT, chats, post, request, scripted, tool};

const FIXER: &str = r#"
[[rule]]
name = "planner"
when = { format = "json_schema", system = "planner" }
answer.fill = { tasks = ["fix {{after:File}}"] }

[[rule]]
name = "fixer"
when.system = "implementer"
[[rule.step]]
think = "The sign is wrong."
calls = [{ edit = "calc.py", old = "a - b", new = "a + b" }]
[[rule.step]]
calls = [{ done = "add() adds" }]

[[rule]]
when.user = "dialect"
answer = { calls = [{ read = "a.py" }], dialect = "qwen-unopened", say = "I read." }

[[rule]]
when.user = "error"
times = 1
answer = { status = 503, body = { error = "later" }, retry_after = "2" }

[[rule]]
when.user = "claims"
answer = { say = "x", finish = "content_filter", model = "other", usage = { prompt_tokens = 1 } }
"#;

fn message(body: &Value) -> Value {
    body["choices"][0]["message"].clone()
}

#[test]
fn an_agent_can_be_scripted_step_by_step() {
    let sim = scripted(FIXER, &[]);
    let system = json!({"role": "system", "content": "You are the implementer."});
    let tools = json!([
        tool("edit", &["path", "old_string", "new_string"]),
        tool("done", &["status", "summary"])
    ]);
    let mut body =
        json!({"messages": [system, {"role": "user", "content": "fix it"}], "tools": tools});
    let first = message(&post(&sim, CHAT, &body).json());
    assert_eq!(first["reasoning"], "The sign is wrong.");
    assert_eq!(
        first["tool_calls"][0]["function"]["arguments"],
        r#"{"path":"calc.py","old_string":"a - b","new_string":"a + b"}"#
    );
    let talk = body["messages"].as_array_mut().unwrap();
    talk.push(first);
    talk.push(json!({"role": "tool", "content": "ok", "tool_call_id": "x"}));
    let second = message(&post(&sim, CHAT, &body).json());
    assert_eq!(second["tool_calls"][0]["function"]["name"], "done");
    assert_eq!(chats(&sim)[1]["rule"], "fixer");
}

#[test]
fn structured_output_follows_the_schema_of_the_request() {
    let sim = scripted(FIXER, &[]);
    let schema = json!({"type": "object", "required": ["tasks", "direct"], "properties":
        {"tasks": {"type": "array"}, "direct": {"type": "boolean"}}});
    let body = json!({
        "messages": [{"role": "system", "content": "planner"}, {"role": "user", "content": "File `a.py`."}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "plan", "schema": schema}},
    });
    let content = message(&post(&sim, CHAT, &body).json())["content"].clone();
    let plan: Value = serde_json::from_str(content.as_str().unwrap()).unwrap();
    assert_eq!(plan, json!({"tasks": ["fix a.py"], "direct": true}));
}

#[test]
fn a_dialect_is_plain_text_to_the_server() {
    let sim = scripted(FIXER, &[]);
    let body = request("dialect", json!({"tools": [tool("read", &["path"])]}));
    let answer = post(&sim, CHAT, &body).json();
    assert_eq!(
        message(&answer)["content"],
        "I read.\n<function=read>\n<parameter=path>\na.py\n</parameter>\n</function>\n</tool_call>"
    );
    assert_eq!(answer["choices"][0]["finish_reason"], "stop");
}

#[test]
fn errors_claims_and_the_built_in_model() {
    let sim = scripted(FIXER, &[]);
    let refused = post(&sim, CHAT, &request("error", json!({})));
    assert_eq!(
        (refused.status, refused.header("retry-after").as_deref()),
        (503, Some("2"))
    );
    let fallback = post(&sim, CHAT, &request("error", json!({}))).json();
    assert!(
        message(&fallback)["content"]
            .as_str()
            .unwrap()
            .contains("simulated answer")
    );
    let claims = post(&sim, CHAT, &request("claims", json!({}))).json();
    assert_eq!(claims["model"], "other");
    assert_eq!(claims["choices"][0]["finish_reason"], "content_filter");
    assert_eq!(claims["usage"]["prompt_tokens"], 1);
    assert!(claims["usage"]["total_tokens"].as_u64().unwrap() > 1);
}

#[test]
fn a_script_can_be_replaced_while_the_server_runs() {
    let sim = scripted(FIXER, &[]);
    let script = json!({"rule": [{"answer": {"say": "new {{turn}}"}}]});
    assert_eq!(post(&sim, "/sim/script", &script).status, 204);
    let answer = post(&sim, CHAT, &request("hi", json!({}))).json();
    assert_eq!(message(&answer)["content"], "new 0");
    let wrong = post(&sim, "/sim/script", &json!({"rules": []}));
    assert!(
        wrong.status == 400 && wrong.text().contains("rules"),
        "{}",
        wrong.text()
    );
}
