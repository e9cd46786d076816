#!/usr/bin/env bash
# orchestrate at full load: how near a run comes to what the servers can do, and what it costs itself.
#
#   cargo build --release --bins --examples && benches/orchestrate.sh [folder of the programs]
#
# 24 independent tasks of 20 simulated seconds, from a plan file, on 2 servers with 2 slots each. The
# ideal is what the simulator needs for the same answers when they are asked for back to back.
# Knobs: TASKS=24 SECONDS_EACH=20 SCALE=1 (real seconds a simulated second); about 2.5 minutes.
set -euo pipefail

here=$(cd "$(dirname "$0")/.." && pwd)
bin=$(realpath "${1:-$here/target/release}")
TASKS=${TASKS:-24} EACH=${SECONDS_EACH:-20} SCALE=${SCALE:-1}
sim=$bin/sim-server; [ -x "$sim" ] || sim=$bin/examples/sim-server
for program in "$bin/orchestrate" "$bin/worker-run" "$bin/slot-lock" "$bin/handoff-check" "$sim"; do
    [ -x "$program" ] || { echo "no $program; run: cargo build --release --bins --examples" >&2; exit 2; }
done
command -v python3 >/dev/null || { echo "python3 is needed to measure" >&2; exit 2; }

work=$(mktemp -d)
cleanup() { exec 8>&- 9>&- || :; wait 2>/dev/null || :; rm -rf "$work"; }
trap cleanup EXIT
export HOME=$work/home XDG_STATE_HOME=$work/state XDG_CACHE_HOME=$work/cache XDG_CONFIG_HOME=$work/config
mkdir -p "$HOME" "$work/config/baton" "$work/repo"
unset OPENCODE_VLLM_BASE_URL OPENAI_BASE_URL

# The answers: each task writes a file whose length makes it last as long as wanted at 45 tokens/s.
python3 - "$work" "$TASKS" "$EACH" <<'PY'
import json, sys
work, tasks, each = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
tokens = int(each * 45)
rules, plan = [], []
for n in range(tasks):
    text = " ".join(f"w{(n * 7919 + i) % 997:03d}" for i in range(max(1, tokens // 3))) + "\n"
    rules.append({"name": f"t{n}", "when": {"first": f"Write file-{n}.txt please."}, "step": [
        {"calls": [{"write": f"file-{n}.txt", "content": text}]}, {"calls": [{"done": "written"}]}]})
    plan.append({"schema": "task/1", "id": f"t{n}", "title": f"File {n}", "prompt": f"Write file-{n}.txt please.",
                 "scope": {"write": [f"file-{n}.txt"]}, "verify": [{"command": f"test -s file-{n}.txt"}]})
json.dump({"rule": rules}, open(f"{work}/script.json", "w"))
json.dump({"schema": "plan/1", "goal": f"{tasks} files", "tasks": plan}, open(f"{work}/plan.json", "w"))
PY

serve() { # FD NAME
    mkfifo "$work/$2.in"
    "$sim" --slots 2 --context 65536 --time-scale "$SCALE" --until-eof --script "$work/script.json" \
        < "$work/$2.in" > "$work/$2.out" 2>/dev/null &
    eval "exec $1>\"$work/$2.in\""
    until [ -s "$work/$2.out" ]; do read -rt 0.05 _ <> <(:) || :; done
    sed -n 's/.*"base_url": *"\([^"]*\)".*/\1/p' "$work/$2.out"
}
serve 8 one > "$work/one.url"; serve 9 two > "$work/two.url"
cat > "$work/config/baton/config.toml" <<TOML
[[provider]]
id = "one"
base_url = "$(cat "$work/one.url")"
slots = 2
[[provider]]
id = "two"
base_url = "$(cat "$work/two.url")"
slots = 2
[review]
mode = "off"
TOML

cd "$work/repo"
git init -q && git config user.name Bench && git config user.email bench@localhost
echo start > README.md && git add -A && git commit -qm start

echo "# load $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) cores, $("$bin/orchestrate" --version); $TASKS tasks, scale $SCALE"
python3 - "$bin" "$work" "$TASKS" "$SCALE" <<'PY'
import json, os, subprocess, sys, time, urllib.request
bin, work, tasks, scale = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
urls = [open(f"{work}/{n}.url").read().strip() for n in ("one", "two")]
tick = os.sysconf("SC_CLK_TCK")

def cpu(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / tick

begun = time.monotonic()
child = subprocess.Popen([f"{bin}/orchestrate", "run", "--from", f"{work}/plan.json", "--max-parallel", "4", "--queue", "1h"],
                         stdout=open(f"{work}/report.json", "w"), stderr=open(f"{work}/log", "w"))
own = 0.0
while child.poll() is None:
    try: own = max(own, cpu(child.pid))
    except (FileNotFoundError, ProcessLookupError, IndexError): pass
    time.sleep(0.02)
wall = time.monotonic() - begun
if child.returncode != 0:
    print(open(f"{work}/log").read()[-3000:], file=sys.stderr)
    sys.exit(f"orchestrate ended with {child.returncode}")

# What the servers were asked, and when.
chats = []
for url in urls:
    root = url.rsplit("/v1", 1)[0]
    with urllib.request.urlopen(f"{root}/sim/requests?path=chat") as answer:
        chats.append(json.load(answer)["requests"])
# The ideal: every slot always busy with the very answers that were given.
busy = sum(c["ended_ms"] - c["arrived_ms"] for server in chats for c in server) / 1000
most = max((sum(1 for c in server if c["arrived_ms"] <= t["arrived_ms"] < c["ended_ms"]) for server in chats for t in server), default=0)
longest = max(c["ended_ms"] - c["arrived_ms"] for server in chats for c in server) / 1000
ideal = max(busy / 4, longest)
ratio = wall / ideal
print(f"makespan {wall:8.2f} s, ideal {ideal:8.2f} s: {ratio:.3f}x (bar: 1.05x)   requests {sum(map(len, chats))}, most at once on a server {most} (bar: 2)")
print(f"orchestrate's own CPU {own:.2f} s: {1000 * own / tasks:.1f} ms a task (bar: 50 ms)")

journal = next(os.path.join(d, "journal.jsonl") for d, _, f in os.walk(".orchestrator/runs") if "journal.jsonl" in f)
from datetime import datetime
at = lambda line: datetime.fromisoformat(line["at"].replace("Z", "+00:00")).timestamp()
lines = [json.loads(l) for l in open(journal)]
first = at(lines[0])
ended = [at(l) for l in lines if l["type"] == "ended"]
started = {l["task"]: at(l) for l in lines if l["type"] == "started"}
print(f"tail: {at(lines[-1]) - max(ended):.2f} s from the last worker's end to the report; head: {min(started.values()) - first:.2f} s from the start to the first worker")
PY
