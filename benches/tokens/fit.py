"""Fits the weights of the class model and prints both tables as Rust.

First write the features of all files:
  cat $WORK/corpus.list $WORK/languages.list > $WORK/all.list
  FILES=$WORK/all.list OUT=$WORK/features cargo test -p baton-tokens write_features -- --ignored"""
import json
import numpy as np
from scipy.optimize import linprog, nnls
from scipy.sparse import csr_matrix, hstack, identity
from common import NAMES, WORK, held_out, read_list, report

QUANTILE, SAMPLE, ROUNDS = 0.996, 3500, 12
rows = [line.rstrip("\n").split("\t") for line in open(f"{WORK}/features", encoding="utf8")]
features = {row[0]: np.array([float(sum_) for sum_ in row[2:]]) for row in rows}
length = {row[0]: int(row[1]) for row in rows}
paths, truth = [], {name: [] for name in NAMES}
for listing in ("corpus", "languages"):
    counts = json.load(open(f"{WORK}/{listing}.list.counts.json"))
    for index, path in enumerate(read_list(f"{WORK}/{listing}.list")):
        if not held_out(path):
            paths.append(path)
            for name in NAMES:
                truth[name].append(counts[name][index])
matrix = np.array([features[path] for path in paths])
matrix[:, -1] = 1  # the constant
hard = np.array(["_hard-" in path for path in paths])
code = np.array(["/corpus/" in path for path in paths])
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
low = {name: estimate(np.array(truth[name], float)) for name in order}
high = {name: bound(np.array(truth[name], float), low[name]) for name in order}
for title, table in (("ESTIMATE", low), ("UPPER", high)):
    report(title)
    for feature in range(matrix.shape[1]):
        report("    [" + ", ".join(f"{table[name][feature]:7.4f}" for name in order) + "],")
