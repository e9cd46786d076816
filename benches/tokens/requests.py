"""Whole chat requests, with and without tools, against a real llama-server's own count.

requests.py URL TOKENIZER [TEMPLATE]: TOKENIZER is the GGUF file the server runs, TEMPLATE the file it
was started with (--chat-template-file), if any."""
import json, os, random, subprocess, sys, urllib.request
from common import TARGET, WORK, read_list, read_text, report

URL, TOKENIZER = sys.argv[1:3]
TEMPLATE = ["--template", sys.argv[3]] if len(sys.argv) > 3 else []
rng = random.Random(5)
texts = read_list(f"{WORK}/corpus.list")


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


wrong, total = [], 60
for index in range(total):
    body = json.dumps(request(index % 2 == 0)).encode()
    post = urllib.request.Request(f"{URL}/v1/chat/completions/input_tokens", body, {"Content-Type": "application/json"})
    theirs = json.load(urllib.request.urlopen(post, timeout=60))["input_tokens"]
    command = [f"{TARGET}/release/ctx-estimate", "--request", "-", "--offline", "--json", "--tokenizer", TOKENIZER]
    run = subprocess.run(command + TEMPLATE, input=body, capture_output=True, check=True)
    ours = json.loads(run.stdout)
    if (ours["prompt_tokens"], ours["method"]) != (theirs, "tokenizer"):
        wrong.append((index, theirs, ours["prompt_tokens"], ours["method"]))
report(f"requests: {len(wrong)} of {total} differ {wrong[:5] or ''}")
