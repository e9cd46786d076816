"""Judges the class model and its bound, and characters divided by four, on the held-out files.

Needs `reference.py` for both lists. The fourth of the files whose name's hash says so is not used in
fitting (`fit.py`); the same rule applies here."""
import json, subprocess
from common import NAMES, TARGET, WORK, held_out, read_list, read_text, report

FAMILIES = {"qwen3": "qwen", "llama3": "llama3", "gptoss": "gpt-oss", "deepseek_v3": "deepseek", "gemma3": "gemma"}


def ours(paths, family):
    """(estimate, bound) of each file, many files a run."""
    found = {}
    for start in range(0, len(paths), 500):
        command = [f"{TARGET}/release/ctx-estimate", "--offline", "--lines", "--tokenizer", family]
        run = subprocess.run(command + paths[start : start + 500], capture_output=True, text=True, check=True)
        for line in run.stdout.splitlines():
            part = json.loads(line)
            if "part" in part:
                found[part["part"]] = (part["tokens"], part["upper_bound_tokens"])
    return [found[path] for path in paths]


def percent(values):
    return 100 * sum(values) / max(1, len(values))


for listing in ("corpus", "languages"):
    with open(f"{WORK}/{listing}.list.counts.json") as file:
        truth = json.load(file)
    rows = [(index, path) for index, path in enumerate(read_list(f"{WORK}/{listing}.list")) if held_out(path)]
    paths = [path for _, path in rows]
    quarter = [len(read_text(path)) / 4 for path in paths]
    for name in NAMES:
        true = [truth[name][index] for index, _ in rows]
        counted = ours(paths, FAMILIES[name])
        error = percent([abs(estimate / t - 1) for (estimate, _), t in zip(counted, true)])
        fourth = percent([abs(q / t - 1) for q, t in zip(quarter, true)])
        over = percent([bound / t - 1 for (_, bound), t in zip(counted, true)])
        under = percent([bound < t for (_, bound), t in zip(counted, true)])
        report(
            f"{listing} {name}: {len(paths)} files, mean error {error:.1f} % (characters/4: {fourth:.1f} %), "
            f"bound {over:+.0f} % in the mean, below the truth in {under:.2f} %"
        )
