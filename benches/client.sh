#!/usr/bin/env bash
# The client of crates/model-server against `curl -N` and `jq`: processor time for the same streams.
#
#   cargo build --release --examples && cargo build --release -p baton-model-server --examples
#   benches/client.sh [path/to/streams [path/to/sim-server]]
#
# Knobs: RUNS=20, STREAMS=2, TOKENS=300
set -euo pipefail

here=$(cd "$(dirname "$0")/.." && pwd)
ours=$(realpath "${1:-$here/target/release/examples/streams}")
sim=$(realpath "${2:-$here/target/release/examples/sim-server}")
for program in "$ours" "$sim"; do
    [ -x "$program" ] || { sed -n '4s/^# *//p' "$0" >&2; exit 2; }
done
for program in python3 curl jq; do
    command -v "$program" >/dev/null || { echo "needs $program" >&2; exit 2; }
done
export RUNS=${RUNS:-20} STREAMS=${STREAMS:-2} TOKENS=${TOKENS:-300}

work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || :; rm -rf "$work"' EXIT
cd "$work"
words=$(printf 'word%.0s ' $(seq "$TOKENS"))
printf '[[rule]]\nanswer.say = "%s"\n' "$words" > script.toml
mkfifo first
"$sim" --kind vllm --time-scale 0 --script script.toml > first &
read -r line < first
root=$(jq -r .root <<<"$line")

echo "# load $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) cores, $STREAMS streams of $TOKENS tokens, $RUNS runs in turns"
cat > curl.sh <<'SH'
root=$1 streams=$2
body='{"model":"qwen38","messages":[{"role":"user","content":"Count."}],"max_tokens":'$TOKENS',"stream":true,"stream_options":{"include_usage":true}}'
for _ in $(seq "$streams"); do
    curl -sN "$root/v1/chat/completions" -H 'Content-Type: application/json' -d "$body" |
        jq -Rrj 'select(startswith("data: {")) | .[6:] | fromjson | .choices[0].delta.content // empty' > /dev/null &
done
wait
SH
cat > measure.py <<'PY'
import resource, statistics, subprocess, sys

def once(argv):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(argv, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime) * 1e3

ours, root, runs, streams, tokens = sys.argv[1:]
mine, theirs, shell = [], [], []
for _ in range(int(runs)):
    mine.append(once([ours, root + "/v1", streams, tokens]))
    theirs.append(once(["bash", "curl.sh", root, streams]))
    shell.append(once(["bash", "-c", f"for _ in $(seq {streams}); do true | true & done; wait"]))
a, c = statistics.median(mine), statistics.median(shell)
b = statistics.median(theirs) - c
print(f"client          median {a:6.2f} ms of processor time, min {min(mine):6.2f}")
print(f"curl -N and jq  median {b:6.2f} ms, min {min(theirs) - min(shell):6.2f} (their shell's {c:.2f} ms taken off)")
print(f"client / (curl -N and jq) = {100 * a / b:.1f} % (bar: 15)")
PY
"$ours" "$root/v1" "$STREAMS" "$TOKENS"
python3 measure.py "$ours" "$root" "$RUNS" "$STREAMS" "$TOKENS"
