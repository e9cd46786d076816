"""Judges the class model and its bound, and characters divided by four, on the unseen corpus (or the one
named), of which no file was used in fitting. Needs `reference.py $WORK/unseen.list`. Bars: the mean error is at most a
fifth of that of characters/4; the bound is below the truth in at most 0.5 % of the files."""
import json, subprocess, sys
from common import CTX, NAMES, WORK, read_list, read_text, report

FAMILIES = {"qwen3": "qwen", "llama3": "llama3", "gptoss": "gpt-oss", "deepseek_v3": "deepseek", "gemma3": "gemma"}


def ours(paths, family):
    """(estimate, bound) of each file, many files a run."""
    found = {}
    for start in range(0, len(paths), 500):
        command = [CTX, "--offline", "--lines", "--tokenizer", family]
        run = subprocess.run(command + paths[start : start + 500], capture_output=True, text=True, check=True)
        for line in run.stdout.splitlines():
            part = json.loads(line)
            if "part" in part:
                found[part["part"]] = (part["tokens"], part["upper_bound_tokens"])
    return [found[path] for path in paths]


def percent(values):
    return 100 * sum(values) / max(1, len(values))


LISTING = f"{WORK}/{sys.argv[1] if len(sys.argv) > 1 else 'unseen'}.list"
with open(f"{LISTING}.counts.json") as file:
    truth = json.load(file)
paths = read_list(LISTING)
quarter = [len(read_text(path)) / 4 for path in paths]
missed = 0
for name in NAMES:
    true = truth[name]
    counted = ours(paths, FAMILIES[name])
    error = percent([abs(estimate / t - 1) for (estimate, _), t in zip(counted, true)])
    fourth = percent([abs(q / t - 1) for q, t in zip(quarter, true)])
    over = percent([bound / t - 1 for (_, bound), t in zip(counted, true)])
    under = percent([bound < t for (_, bound), t in zip(counted, true)])
    ok = error <= fourth / 5 and under <= 0.5
    missed += not ok
    report(
        f"{name:12}{len(paths)} files, mean error {error:.2f} % (characters/4: {fourth:.1f} %, 1/{fourth / error:.1f}), "
        f"bound {over:+.0f} % in the mean, below the truth in {under:.2f} %  {'ok' if ok else 'MISSED'}"
    )
sys.exit(missed > 0)
