"""Whole chat requests, with and without tools, against a real server's own count.

requests.py llamacpp|vllm URL TOKENIZER [TEMPLATE]: TOKENIZER is what the server runs (a GGUF file, or a
model folder), TEMPLATE the file it was started with (--chat-template-file), if any."""
import json, random, subprocess, sys, urllib.request
from common import CTX, WORK, read_list, read_text, report

KIND, URL, TOKENIZER = sys.argv[1:4]
TEMPLATE = ["--template", sys.argv[4]] if len(sys.argv) > 4 else []
with urllib.request.urlopen(f"{URL}/v1/models", timeout=60) as answer:
    MODEL = json.load(answer)["data"][0]["id"]
rng = random.Random(5)
texts = read_list(f"{WORK}/fresh.list")


def snippet(most):
    text = read_text(rng.choice(texts))
    start = rng.randrange(max(1, len(text) - most))
    return text[start : start + rng.randint(1, most)]


def tool(name):
    parameters = {key: {"type": "string", "description": snippet(80)} for key in ("path", "text")}
    schema = {"type": "object", "properties": parameters, "required": ["path"]}
    return {"type": "function", "function": {"name": name, "description": snippet(200), "parameters": schema}}


def request(with_tools):
    messages = [{"role": "system", "content": snippet(400)}] if rng.random() < 0.7 else []
    messages.append({"role": "user", "content": snippet(rng.choice([20, 300, 3000]))})
    for turn in range(rng.choice([0, 0, 1, 3, 8])):
        if with_tools:
            arguments = json.dumps({"path": f"src/m_{turn}.rs", "text": snippet(60)})
            call = {"id": f"c{turn}", "type": "function", "function": {"name": "read", "arguments": arguments}}
            content = rng.choice([None, "", snippet(100)])
            messages.append({"role": "assistant", "content": content, "tool_calls": [call]})
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": snippet(800)})
        messages.append({"role": "assistant", "content": snippet(300)})
        messages.append({"role": "user", "content": snippet(200)})
    body = {"model": "m", "messages": messages}
    if with_tools:
        body["tools"] = [tool(name) for name in ("read", "write", "bash")[: rng.randint(1, 3)]]
    return body


def variations(body):
    """Now and then what clients also send: parts, thinking, its switch."""
    messages = body["messages"]
    if rng.random() < 0.2:
        parts = [{"type": "text", "text": snippet(60)}, {"type": "text", "text": snippet(60)}]
        messages[-1] = {"role": "user", "content": parts}
    if rng.random() < 0.2:
        for message in messages:
            if message["role"] == "assistant" and message["content"]:
                message["reasoning_content"] = snippet(100)
    if rng.random() < 0.2:
        body["chat_template_kwargs"] = {"enable_thinking": rng.random() < 0.5}
    return body


def post(route, body):
    data = json.dumps(body).encode()
    request = urllib.request.Request(URL + route, data, {"Content-Type": "application/json"})
    return json.load(urllib.request.urlopen(request, timeout=120))


def count_of_server(body):
    if KIND == "llamacpp":
        return post("/v1/chat/completions/input_tokens", body)["input_tokens"]
    # vLLM's /tokenize knows thinking in the history by its new name only.
    body = json.loads(json.dumps(body))
    for message in body["messages"]:
        if "reasoning_content" in message:
            message["reasoning"] = message.pop("reasoning_content")
    return post("/tokenize", body)["count"]


wrong, total = [], 60
for index in range(total):
    body = variations(request(index % 2 == 0))
    body["model"] = MODEL
    theirs = count_of_server(body)
    command = [CTX, "--request", "-", "--offline", "--json", "--tokenizer", TOKENIZER]
    run = subprocess.run(command + TEMPLATE, input=json.dumps(body).encode(), capture_output=True, check=True)
    ours = json.loads(run.stdout)
    if (ours["prompt_tokens"], ours["method"]) != (theirs, "tokenizer"):
        wrong.append((index, theirs, ours["prompt_tokens"], ours["method"], ours["notes"]))
        with open(f"/tmp/request-{KIND}-{index}.json", "w") as file:
            json.dump(body, file)
report(f"{KIND}: {len(wrong)} of {total} requests differ {wrong[:5] or ''}")
