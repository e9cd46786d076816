#!/usr/bin/env bash
# vllm-health against its bars: many servers side by side, start to exit against curl, --wait.
#
#   cargo build --release --bins --examples && benches/vllm-health.sh [path/to/vllm-health [path/to/sim-server]]
#
# Knobs: RUNS=5 (of the 200 servers), PAIRS=50 (start to exit), WAITS=10
set -euo pipefail

here=$(cd "$(dirname "$0")/.." && pwd)
tool=$(realpath "${1:-$here/target/release/vllm-health}")
sim=$(realpath "${2:-$here/target/release/examples/sim-server}")
for program in "$tool" "$sim"; do
    [ -x "$program" ] || { echo "no $program; run: cargo build --release --bins --examples" >&2; exit 2; }
done
RUNS=${RUNS:-5} PAIRS=${PAIRS:-50} WAITS=${WAITS:-10}
for program in python3 curl; do
    command -v "$program" >/dev/null || { echo "needs $program" >&2; exit 2; }
done

work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || :; rm -rf "$work"' EXIT
export HOME=$work XDG_CONFIG_HOME=$work XDG_STATE_HOME=$work
unset OPENCODE_VLLM_BASE_URL OPENCODE_VLLM_API_KEY OPENAI_BASE_URL OPENAI_API_KEY
cd "$work"

# Starts a simulated server on every address; its port is in `port`.
serve() { # ARGUMENT...
    local line
    mkfifo first
    "$sim" --host 0.0.0.0 "$@" > first &
    read -r line < first
    rm first
    port=$(sed 's/.*"base_url":"[^"]*:\([0-9]*\)\/.*/\1/' <<<"$line")
}

echo "# load $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) cores, $("$tool" --version)"
serve --kind vllm; vllm=$port
serve --kind llamacpp; llama=$port
serve --kind ollama; ollama=$port
serve --kind sglang; sglang=$port
serve --fault mute; hanging=$port
nobody=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')

# Every address of 127.0.0.0/8 leads to these, so each is a server of its own.
for n in $(seq 200); do
    case $((n % 10)) in
    0) port=$hanging ;; 5) port=$nobody ;; 1 | 6) port=$llama ;; 2 | 7) port=$ollama ;; 3) port=$sglang ;; *) port=$vllm ;;
    esac
    printf '[[provider]]\nid = "p%d"\nbase_url = "http://127.0.1.%d:%d"\n' "$n" "$n" "$port"
done > servers.toml

# Runs commands side by side with nothing else and prints what each took: times in ms, memory in kB.
cat > measure.py <<'PY'
import os, resource, statistics, subprocess, sys, time

def once(argv):
    began = time.perf_counter()
    child = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, used = os.wait4(child.pid, 0)
    return (time.perf_counter() - began) * 1e3, used.ru_maxrss, (used.ru_utime + used.ru_stime) * 1e3

what, tool = sys.argv[1], sys.argv[2]
if what == "many":
    rounds = [once([tool, "--config", "servers.toml", "--timeout", "3s"]) for _ in range(int(sys.argv[3]))]
    over = [wall - 3000 for wall, _, _ in rounds]
    rss = max(r for _, r, _ in rounds) / 1024
    print("over the limit of 3 s (ms):", " ".join(f"{o:.0f}" for o in over),
          f"; median {statistics.median(over):.0f} (bar: 50)")
    print(f"peak memory {rss:.1f} MB (bar: 40), processor time {statistics.median(c for *_, c in rounds):.0f} ms")
else:
    url, runs = sys.argv[3], int(sys.argv[4])
    ours, curls = [], []
    for _ in range(runs):
        ours.append(once([tool, url]))
        curls.append(once(["curl", "-s", url.removesuffix("/v1") + "/health"]))
    for name, all_of in (("vllm-health", ours), ("curl -s /health", curls)):
        walls = [w for w, *_ in all_of]
        print(f"{name:16} median {statistics.median(walls):7.2f} ms, min {min(walls):7.2f}, "
              f"processor {statistics.median(c for *_, c in all_of):6.2f}")
    ratio = statistics.median(w for w, *_ in ours) / statistics.median(w for w, *_ in curls)
    print(f"vllm-health / curl = {ratio:.2f} (bar: 3)")
PY

echo "## 200 servers, 20 of them hanging, 20 refusing"
"$tool" --config servers.toml --timeout 3s > many.json 2>/dev/null || :
python3 - <<'PY'
import collections, json
providers = json.load(open("many.json"))["providers"]
print("states:", dict(collections.Counter(p["state"] for p in providers)))
PY
python3 measure.py many "$tool" "$RUNS"

echo "## start to exit against a ready server (median of $PAIRS, in turns)"
python3 measure.py single "$tool" "http://127.0.0.1:$vllm/v1" "$PAIRS"

echo "## --wait, begun before the server: from ready to returned"
for _ in $(seq "$WAITS"); do
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    { "$tool" "http://127.0.0.1:$port/v1" --wait 60s -q 2>/dev/null; echo "${EPOCHREALTIME/[.,]/}"; } > returned &
    waiter=$!
    read -rt "0.$((RANDOM % 400 + 500))" _ <> <(:) || :
    mkfifo first
    "$sim" --port "$port" > first &
    server=$!
    read -r _ < first
    ready=${EPOCHREALTIME/[.,]/}
    rm first
    wait "$waiter"
    kill "$server"
    wait "$server" 2>/dev/null || :
    echo $(($(cat returned) - ready))
done | sort -n | awk '{ v[NR] = $1 / 1e3 } END { printf "median %.0f ms, most %.0f ms (bar: 200)\n", v[int((NR + 1) / 2)], v[NR] }'
