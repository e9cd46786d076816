#!/usr/bin/env bash
# Ten small tasks for a real model: what is solved, what is not, and why.
#
#   benches/small-tasks/run.sh BASE_URL [TASK...]       for example: run.sh http://127.0.0.1:8080/v1 slug lru
#
# Each task is a small repository with a check that fails (NAME/task.json), and a second check
# (NAME/hidden.sh) that the worker never sees: a task counts as solved when both pass afterwards.
# Settings: WORKER_RUN (target/release/worker-run, else target/debug), MODE (auto), WALL (150s) for one
# task, OUT (a new folder in /tmp) for the hand-offs and events. The bar is 8 of 10 for the 1.5B coder
# of examples/real-model.sh. Exit code 0: the bar is reached.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
url=${1:?usage: run.sh BASE_URL [TASK...]}
shift
mode=${MODE:-auto}
wall=${WALL:-150s}
out=${OUT:-$(mktemp -d /tmp/small-tasks.XXXXXX)}
worker=${WORKER_RUN:-}
for kind in release debug; do
    [ -z "$worker" ] && [ -x "$here/../../target/$kind/worker-run" ] && worker=$here/../../target/$kind/worker-run
done
[ -n "$worker" ] || { echo "run.sh: no worker-run; build it (cargo build --release) or set WORKER_RUN" >&2; exit 2; }
mkdir -p "$out"
export PYTHONDONTWRITEBYTECODE=1

names=("$@")
if [ ${#names[@]} -eq 0 ]; then
    for folder in "$here"/*/; do names+=("$(basename "$folder")"); done
fi

printf '%-10s %-13s %-6s %-6s %5s %4s %8s %7s  %s\n' task status check hidden wall_s reqs prompt cached remarks
solved=0
for name in "${names[@]}"; do
    repo=$out/$name/repo
    rm -rf "${out:?}/$name"
    mkdir -p "$out/$name"
    cp -R "$here/$name/repo" "$repo"
    git -C "$repo" init -q
    git -C "$repo" -c user.name=bench -c user.email=bench@localhost add -A
    git -C "$repo" -c user.name=bench -c user.email=bench@localhost commit -qm start
    "$worker" --task "$here/$name/task.json" --repo "$repo" --base-url "$url" --no-slot --mode "$mode" --wall "$wall" \
        --events "$out/$name/events.jsonl" --json >"$out/$name/handoff.json" 2>"$out/$name/stderr.log" </dev/null || :
    command=$(jq -r '.verify[0].command' "$here/$name/task.json")
    check=fail
    hidden=fail
    if (cd "$repo" && bash -c "$command") >/dev/null 2>&1; then check=pass; fi
    if (cd "$repo" && sh -e "$here/$name/hidden.sh") >"$out/$name/hidden.log" 2>&1; then hidden=pass; fi
    [ $check$hidden = passpass ] && solved=$((solved + 1))
    jq -r --arg name "$name" --arg check $check --arg hidden $hidden '
        [$name, .status, $check, $hidden, (.usage.wall_ms / 1000 | floor), .usage.requests,
         .usage.prompt_tokens, .usage.cached_tokens, (.repairs // {} | to_entries | map("\(.key)=\(.value)") | join(" "))] | @tsv' \
        "$out/$name/handoff.json" |
        while IFS=$'\t' read -r a b c d e f g h i; do
            printf '%-10s %-13s %-6s %-6s %5s %4s %8s %7s  %s\n' "$a" "$b" "$c" "$d" "$e" "$f" "$g" "$h" "$i"
        done
done
echo "solved: $solved of ${#names[@]} (mode $mode; hand-offs and events in $out)"
[ $((solved * 10)) -ge $((${#names[@]} * 8)) ]
