#!/usr/bin/env bash
# Ten thousand changed files: handoff-check against `git status` plus `git diff --name-status`.
#
#   cargo build --release --bin handoff-check
#   crates/handoff-check/benches/ten-thousand-files.sh target/release/handoff-check [ROUNDS]
#
# Prints the median of each in milliseconds and their ratio; exit 1 when the ratio is 2 or more.
set -euo pipefail
tool=$(realpath "${1:?usage: $0 HANDOFF-CHECK [ROUNDS]}")
rounds=${2:-9}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 HOME=$dir

git init -q "$dir/repo"
cd "$dir/repo"
git config user.name bench
git config user.email bench@localhost
for d in $(seq 100); do
  mkdir -p "src/d$d"
  for f in $(seq 100); do printf 'line %s %s\n' "$d" "$f" >"src/d$d/f$f.txt"; done
done
git add -A
git commit -qm start
base=$(git rev-parse HEAD)
for file in src/*/*.txt; do printf 'changed\n' >>"$file"; done

cat >"$dir/task.json" <<JSON
{"schema": "task/1", "id": "bench", "prompt": "x", "scope": {"write": ["src/**"]}, "base": "$base"}
JSON
{
  printf '{"schema": "handoff/1", "task_id": "bench", "role": "implementer", "status": "completed",'
  printf '"outcome": "A line was added everywhere.", "verification": [], "files_changed": ['
  printf '%s\n' src/*/*.txt | sed 's/.*/{"path": "&"},/' | sed '$ s/,$//'
  printf ']}'
} >"$dir/handoff.json"

now() { echo $(($(date +%s%N) / 1000)); }
git_says() { git status >/dev/null && git diff --name-status >/dev/null; }
we_say() { "$tool" --task "$dir/task.json" --repo . "$dir/handoff.json" >"$dir/verdict.json"; }
median() { sort -n | sed -n "$((rounds / 2 + 1))p"; }

git_says
we_say
: >"$dir/git.us"
: >"$dir/we.us"
# Turn about, so that whatever else the machine does hits both alike.
for _ in $(seq "$rounds"); do
  start=$(now); git_says; echo $(($(now) - start)) >>"$dir/git.us"
  start=$(now); we_say; echo $(($(now) - start)) >>"$dir/we.us"
done
git_us=$(median <"$dir/git.us")
we_us=$(median <"$dir/we.us")
ratio=$((we_us * 100 / git_us))
printf 'git status + git diff --name-status: %d ms\nhandoff-check: %d ms\nratio: %d.%02d\n' \
  $((git_us / 1000)) $((we_us / 1000)) $((ratio / 100)) $((ratio % 100))
[ "$ratio" -lt 200 ]
