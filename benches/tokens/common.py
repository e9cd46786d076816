"""What the scripts share: places, lists, our counter."""
import os, subprocess, sys

WORK = os.environ.get("WORK", "/tmp/baton-tokens")
NAMES = ["qwen3", "llama3", "gptoss", "deepseek_v3", "gemma3"]
TARGET = os.environ.get("CARGO_TARGET_DIR", os.path.join(os.path.dirname(__file__), "../../target"))
CTX = os.environ.get("CTX", f"{TARGET}/release/ctx-estimate")


def tokenizer(name):
    return f"{WORK}/tokenizers/{name}/tokenizer.json"


def read_list(path):
    with open(path, encoding="utf8") as file:
        return file.read().split("\n")[:-1]


def read_text(path):
    with open(path, encoding="utf8", newline="") as file:
        return file.read()


def our_counts(name, listing):
    """Our counts of the listed files, and what the counter said about its speed."""
    program = f"{TARGET}/release/examples/count-files"
    run = subprocess.run(
        [program, tokenizer(name), listing, f"{WORK}/cache"], capture_output=True, text=True, check=True
    )
    return [int(line) for line in run.stdout.split()], run.stderr.strip()


def report(line):
    print(line)
    sys.stdout.flush()
