#!/usr/bin/env bash
# run-plan with hundreds of steps on many slots, against a simulated server: are the slots kept busy,
# and does the conductor's memory stay flat?
#
#   cargo build --release --bins --examples && benches/run-plan.sh [folder of the tools]
#
# Every step is a worker that asks the model once; the simulated model thinks WAIT seconds and then
# writes one file (its own speed is ten times the measured hardware's: some 0.7 s a step, else a step
# would take 11 s). It ends after some three minutes. Slot time is what worker-run itself reports (from its start under the slot to its
# hand-off); utilisation is that time over SLOTS x (last hand-off - first start). Memory is the
# conductor's resident size, when a quarter and when all of the steps are done.
# Bars: utilisation >= 95 %; memory at the end < 1.5 x memory at a quarter.
# Knobs: STEPS=300 SLOTS=8 WAIT=4
set -euo pipefail

here=$(cd "$(dirname "$0")/.." && pwd)
bin=$(realpath "${1:-$here/target/release}")
if ! [ -x "$bin/orchestrate" ] || ! [ -x "$bin/examples/sim-server" ]; then
    echo "no tools in $bin; run: cargo build --release --bins --examples" >&2
    exit 2
fi
STEPS=${STEPS:-300} SLOTS=${SLOTS:-8} WAIT=${WAIT:-4}

work=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
export HOME=$work GIT_CONFIG_NOSYSTEM=1 PATH="$bin:$PATH"
unset XDG_CONFIG_HOME XDG_STATE_HOME XDG_CACHE_HOME BATON_LOCK_DIR OPENAI_BASE_URL
cat > "$work/script.json" <<JSON
{"rule": [{"name": "step", "step": [{"wait": "${WAIT}s", "calls": [
  {"write": "out/{{between:Write out/|.txt}}.txt", "content": "done\n"}, {"done": "written"}]}]}]}
JSON
"$bin/examples/sim-server" --slots "$SLOTS" --time-scale 0.1 --script "$work/script.json" > "$work/hello" &
server=$!
until [ -s "$work/hello" ]; do sleep 0.05; done
OPENCODE_VLLM_BASE_URL=$(sed 's/.*"base_url":"\([^"]*\)".*/\1/' "$work/hello")
export OPENCODE_VLLM_BASE_URL
mkdir -p "$work/.config/baton"
printf '[[provider]]\nid = "sim"\nbase_url = "%s"\nslots = %s\n[review]\nmode = "off"\n' \
    "$OPENCODE_VLLM_BASE_URL" "$SLOTS" > "$work/.config/baton/config.toml"

mkdir "$work/repo" && cd "$work/repo"
git init -q -b main && git config user.name bench && git config user.email bench@localhost
git config gc.auto 0
git commit -q --allow-empty -m start
mkdir -p .orchestrator/plans
{
    printf -- '---\norder: any\n---\n# Many files\n\n'
    for i in $(seq -w 1 "$STEPS"); do
        # shellcheck disable=SC2016 # Markdown's backticks, nothing to expand
        printf -- '- [ ] Write out/f%s.txt\n  - files: `out/f%s.txt`\n  - verify: `test -s out/f%s.txt`\n' "$i" "$i" "$i"
    done
} > .orchestrator/plans/many.md
plan=.orchestrator/plans/many.md
done_steps() { grep -c '^- \[x\]' "$plan" || true; }
resident() { awk '/^VmRSS/ { print $2 }' "/proc/$1/status" 2>/dev/null || echo 0; }

echo "# load $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) cores, $(orchestrate --version), $STEPS steps, $SLOTS slots, $WAIT s a step"
start=$(date +%s)
orchestrate run-plan many --max-parallel "$SLOTS" > "$work/report.json" 2> "$work/log" &
pid=$!
quarter=0 last=0
while kill -0 "$pid" 2>/dev/null; do
    rss=$(resident "$pid")
    if [ "${rss:-0}" -gt 0 ]; then last=$rss; fi
    if [ "$quarter" = 0 ] && [ "$(done_steps)" -ge $((STEPS / 4)) ]; then quarter=$last; fi
    sleep 0.5
done
wait "$pid" || { tail -5 "$work/log" >&2; exit 1; }
wall=$(($(date +%s) - start))

# One line a worker: start, end and wall time in milliseconds.
for file in .orchestrator/runs/*/tasks/*/handoff.json; do
    sed 's/.*"wall_ms":\([0-9]*\).*"started_at":"\([^"]*\)","ended_at":"\([^"]*\)".*/\2 \3 \1/' "$file"
done | while read -r from to ms; do
    echo "$(date -d "$from" +%s%3N) $(date -d "$to" +%s%3N) $ms"
done | awk -v slots="$SLOTS" -v wall="$wall" -v steps="$STEPS" -v q="$quarter" -v end="$last" '
    { busy += $2 - $1; if (!first || $1 < first) first = $1; if ($2 > final) final = $2; n++ }
    END {
        use = 100 * busy / (slots * (final - first))
        printf "steps %d of %d, wall %d s, slot time %.0f s\n", n, steps, wall, busy / 1000
        printf "utilisation %.1f %%   bar 95 %%   %s\n", use, (use >= 95 ? "ok" : "MISSED")
        printf "memory %d KiB at a quarter, %d KiB at the end   bar x1.5   %s\n", q, end, (end < 1.5 * q ? "ok" : "MISSED")
        exit (n == steps && use >= 95 && end < 1.5 * q) ? 0 : 1
    }'
