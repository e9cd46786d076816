"""Fits the weights of the class model and writes them into weights.rs. The fresh corpus has no part in it.

First write the features of all files:
  cat $WORK/corpus.list $WORK/languages.list > $WORK/all.list
  FILES=$WORK/all.list OUT=$WORK/features cargo test -p baton-tokens write_features -- --ignored"""
import json, os
import numpy as np
from scipy.optimize import linprog, nnls
from scipy.sparse import csr_matrix, hstack, identity
from common import NAMES, WORK, read_list, report

QUANTILE, SAMPLE, ROUNDS = 0.996, 3500, 12
rows = [line.rstrip("\n").split("\t") for line in open(f"{WORK}/features", encoding="utf8")]
features = {row[0]: np.array([float(sum_) for sum_ in row[2:]]) for row in rows}
length = {row[0]: int(row[1]) for row in rows}


def load(listing):
    """Paths, true counts and features of a corpus."""
    paths = read_list(f"{WORK}/{listing}.list")
    with open(f"{WORK}/{listing}.list.counts.json") as file:
        truth = {name: np.array(counts, float) for name, counts in json.load(file).items()}
    matrix = np.array([features[path] for path in paths])
    matrix[:, -1] = 1  # the constant
    return paths, truth, matrix


(paths, truth, matrix), (more_paths, more_truth, more) = load("corpus"), load("languages")
paths, matrix = paths + more_paths, np.vstack([matrix, more])
truth = {name: np.concatenate([truth[name], more_truth[name]]) for name in NAMES}
hard = np.array(["_hard-" in path for path in paths])
code = np.arange(len(paths)) < len(paths) - len(more_paths)
rng = np.random.default_rng(1)


def estimate(y):
    """Least relative error in the mean, weights not below zero: least squares, weighted anew."""
    base = np.where(code, 1.0, np.where(hard, 0.02, 0.1))
    weight = base.copy()
    for _ in range(ROUNDS):
        scaled = matrix * (np.sqrt(weight) / y)[:, None]
        unit = np.abs(scaled).max(0) + 1e-12
        found = nnls(scaled / unit, np.sqrt(weight), maxiter=20_000)[0] / unit
        weight = base / np.maximum(np.abs(matrix @ found / y - 1), 0.01)
    return found


def bound(y, low):
    """The quantile of y, no weight below `low`; then raised until 99.9 % of the texts lie below."""
    weight = np.where(code, 1.0, np.where(hard, 0.25, 0.7))
    sample = rng.choice(len(y), SAMPLE, replace=False, p=weight / weight.sum())
    part = matrix[sample] / y[sample][:, None]
    unit = np.abs(part).max(0) + 1e-12
    count = matrix.shape[1]
    cost = np.r_[np.zeros(count), np.full(SAMPLE, QUANTILE), np.full(SAMPLE, 1 - QUANTILE)]
    equal = hstack([csr_matrix(part / unit), identity(SAMPLE), -identity(SAMPLE)]).tocsr()
    more = linprog(cost, A_eq=equal, b_eq=1 - part @ low, bounds=(0, None), method="highs").x[:count] / unit
    found = low + more
    most = np.minimum(matrix @ found, np.array([length[path] for path in paths]) + 1)
    return found * max(1, np.quantile((y / most)[~hard], 0.999))


order = ["qwen3", "llama3", "gptoss", "deepseek_v3", "gemma3"]
low = {name: estimate(truth[name]) for name in order}
high = {name: bound(truth[name], low[name]) for name in order}
WEIGHTS = os.path.join(os.path.dirname(__file__), "../../crates/tokens/src/class_model/weights.rs")
with open(WEIGHTS) as file:
    lines = file.read().split("\n")
table, feature = {}, 0
for place, line in enumerate(lines):
    if line.startswith("pub(super) const"):
        table, feature = (low if "ESTIMATE" in line else high), 0
    elif "// " in line and line.startswith("    [") and table:
        row = ", ".join(f"{table[name][feature]:7.4f}" for name in order)
        lines[place] = f"    [{row}], // " + line.split("// ")[1]
        feature += 1
with open(WEIGHTS, "w") as file:
    file.write("\n".join(lines))
report(f"wrote {feature} rows a table")
