#!/usr/bin/env bash
# What worker-run costs besides the model: requests, tokens, start, memory, processor.
#
#   cargo build --release --bins --examples && benches/worker-run.sh [path/to/release]
#
# The task is the one the peers were measured with: read, edit, run the test, done, against a server
# that answers at once. TOKENIZER=path/to/qwen3 counts the first request with the real vocabulary.
# Everything lies in memory where there is /dev/shm, so that no disk is measured, and the test runs
# with the system's own Python where there is one: a shim (pyenv's forks forty times) costs more
# than all the rest. What the test takes by itself is told apart.
# Knobs: RUNS=20
set -euo pipefail

here=$(cd "$(dirname "$0")/.." && pwd)
bin=$(realpath "${1:-$here/target/release}")
sim=$bin/examples/sim-server
[ -x "$sim" ] || sim=$bin/sim-server
for file in "$bin/worker-run" "$bin/slot-lock" "$bin/ctx-estimate" "$sim"; do
    [ -x "$file" ] || { echo "no $file; run: cargo build --release --bins --examples" >&2; exit 2; }
done

shm=/dev/shm
[ -w $shm ] || shm=${TMPDIR:-/tmp}
work=$(mktemp -d -p "$shm")
export TMPDIR=$work/tmp
mkdir "$TMPDIR"
[ ! -x /usr/bin/python3 ] || PATH=/usr/bin:$PATH
trap 'rm -rf "$work"' EXIT
echo "# load $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) cores, $("$bin/worker-run" --version)"
BIN=$bin SIM=$sim WORK=$work RUNS=${RUNS:-20} TOKENIZER=${TOKENIZER:-} python3 - <<'PY'
import json, os, resource, statistics, subprocess, sys, threading, urllib.request

BIN, SIM, WORK, RUNS = (os.environ[k] for k in ("BIN", "SIM", "WORK", "RUNS"))
RUNS = int(RUNS)
TASK = "The function add in calc.py is wrong. Fix it so that `python3 test.py` passes, then say done."
FOUR = [{"say": "I read the file.", "calls": [{"read": "calc.py"}]},
        {"say": "I fix it.", "calls": [{"edit": "calc.py", "old": "    return a - b", "new": "    return a + b"}]},
        {"say": "I run the test.", "calls": [{"bash": "python3 test.py"}]},
        {"say": "Finishing.", "calls": [{"done": "Done: `python3 test.py` passes."}], "hold": "last"}]
missed = 0


def bar(name, value, limit, text, what="<="):
    global missed
    ok = value <= limit if what == "<=" else value >= limit
    missed += not ok
    print(f"{name:<46} {text:>14}   bar {what} {limit:<8} {'ok' if ok else 'MISSED'}")


def get(url):
    with urllib.request.urlopen(url) as answer:
        return json.load(answer)


def post(url, body):
    data = json.dumps(body).encode()
    urllib.request.urlopen(urllib.request.Request(url, data, {"content-type": "application/json"})).read()


class Server:
    def __init__(self, script, *flags):
        path = f"{WORK}/script-{os.urandom(4).hex()}.json"
        json.dump({"rule": script}, open(path, "w"))
        self.process = subprocess.Popen([SIM, "--port", "0", "--until-eof", "--script", path, *flags],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.base = json.loads(self.process.stdout.readline())["base_url"]
        self.root = self.base.removesuffix("/v1")

    def records(self):
        found = get(self.root + "/sim/requests")
        return found["requests"] if isinstance(found, dict) else found

    def stop(self):
        self.process.terminate()
        self.process.wait()


def repository(name):
    path = f"{WORK}/{name}"
    os.makedirs(path)
    open(path + "/calc.py", "w").write('"""Small calculator."""\n\n\ndef add(a, b):\n    return a - b\n\n\ndef mul(a, b):\n    return a * b\n')
    open(path + "/test.py", "w").write('from calc import add, mul\n\nassert add(2, 3) == 5, add(2, 3)\nassert mul(2, 3) == 6\nprint("ok")\n')
    git = "git init -q -b main && git add -A && git -c user.name=a -c user.email=a@b commit -qm seed"
    subprocess.run(git, shell=True, cwd=path, check=True)
    return path


class Run:
    """One run, measured: the server holds the last answer while the peak memory is read."""

    def __init__(self, server, repo, *flags, slot=False, hold=True):
        subprocess.run(["git", "checkout", "-q", "."], cwd=repo, check=True)
        env = {"PATH": f"{BIN}:{os.environ['PATH']}", "HOME": WORK, "LANG": "C.UTF-8", "TMPDIR": os.environ["TMPDIR"],
               "OPENCODE_VLLM_BASE_URL": server.base, "BATON_LOCK_DIR": WORK + "/slots"}
        argv = [BIN + "/worker-run", "--mode", "tools", "--prompt", TASK, "--pack", "none", *([] if slot else ["--no-slot"]), *flags]
        before = len(server.records())
        urllib.request.urlopen(server.base + "/models").read()   # a mark on the server's clock
        pid = os.posix_spawn(argv[0], argv, env, file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, WORK + "/out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
            (os.POSIX_SPAWN_OPEN, 2, WORK + "/err", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)]) if os.chdir(repo) is None else 0
        self.peak_kb = 0
        if hold:
            get(server.root + "/sim/wait?held=1&timeout_ms=20000")
            lines = open(f"/proc/{pid}/status").read().splitlines()
            self.peak_kb = next(int(l.split()[1]) for l in lines if l.startswith("VmHWM"))
            post(server.root + "/sim/release", {"gate": "last"})
        _, status, usage = os.wait4(pid, 0)
        self.cpu = usage.ru_utime + usage.ru_stime
        new = server.records()[before:]
        mark = next(r for r in new if r["path"].endswith("/models"))
        self.chats = [r for r in new if r["chat"] is not None]
        self.first_ms = self.chats[0]["arrived_ms"] - mark["arrived_ms"]
        self.handoff = json.load(open(WORK + "/out"))
        if os.waitstatus_to_exitcode(status) != 0:
            sys.exit(f"not completed: {self.handoff['status_reason']}\n{open(WORK + '/err').read()}")


def rendered(request):
    body = request["body"]
    system, rest = body["messages"][0], body["messages"][1:]
    return json.dumps(system) + json.dumps(body.get("tools")) + "".join(json.dumps(m) for m in rest)


def common(a, b):
    return len(os.path.commonprefix([a, b]))


server = Server([{"step": FOUR}], "--kind", "llamacpp", "--context", "32768")
one, two = repository("one"), repository("another-place")
runs = [Run(server, one) for _ in range(RUNS)]
other = Run(server, two)
chats = runs[-1].chats
print(f"## the 4-step task, {RUNS} runs")
bar("requests (with hidden ones)", len(chats), 4, str(len(chats)))
json.dump(chats[0]["body"], open(WORK + "/request.json", "w"))
counted = subprocess.run([BIN + "/ctx-estimate", "--request", WORK + "/request.json", "--offline",
                          "--tokenizer", os.environ["TOKENIZER"] or "qwen"], capture_output=True, text=True)
n = json.loads(counted.stdout)["prompt_tokens"]
how = "counted" if os.environ["TOKENIZER"] else "estimated"
bar(f"tokens of the first request, {how} for Qwen", n, 1000, str(n))
texts = [rendered(r) for r in chats]
least = min(common(a, b) / len(a) for a, b in zip(texts, texts[1:]))
bar("common prefix of consecutive requests", least, 1.0, f"{least:.2f}", ">=")
held = [b["cached_tokens"] / a["prompt_tokens"] for a, b in zip(chats, chats[1:])]
bar("  as the server's prefix cache served it", min(held), 0.99, f"{min(held):.3f}", ">=")
a, b = rendered(chats[0]), rendered(other.chats[0])
user = a.index(json.dumps(chats[0]["body"]["messages"][1])[:20])
share = min(common(a, b) / user, 1.0)
bar("common prefix of two runs before the user's part", share, 1.0, f"{share:.2f}", ">=")
print(f"{'  of the whole first request':<46} {common(a, b) / len(a):>14.2f}")
first = sorted(r.first_ms for r in runs)
bar("start to first request, median ms", statistics.median(first), 15, f"{statistics.median(first):.0f} (min {first[0]})")
peak = max(r.peak_kb for r in runs) / 1024
bar("peak memory, MB", peak, 20, f"{peak:.1f}")


def test_alone():
    process = subprocess.Popen(["python3", "test.py"], cwd=one, stdout=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    return usage.ru_utime + usage.ru_stime


cpu = sorted(r.cpu for r in runs)
test = statistics.median(test_alone() for _ in range(RUNS))
total = statistics.median(cpu)
bar("processor with all children, median s", total, 0.05, f"{total:.3f} ({cpu[0]:.3f})")
print(f"{'  of which `python3 test.py` by itself takes':<46} {test:>14.3f}")
print(f"{'  and worker-run, git, bash and the border':<46} {total - test:>14.3f}")
slotted = sorted(Run(server, one, slot=True).first_ms for _ in range(max(RUNS // 2, 3)))
print(f"{'start to first request under slot-lock, median ms':<46} {statistics.median(slotted):>11.0f}")
server.stop()

print("## 24 long steps in a window of 32K")
line = "the quick brown fox jumps over the lazy dog and runs home"
grow = [{"times": 1, "answer": {"say": f"Step {n}.", "calls": [{"bash": f'for i in $(seq 1 100); do echo "step {n} line $i: {line}"; done'}]}}
        for n in range(1, 25)]
grow.insert(0, {"when": {"last": "Write a summary"}, "answer": {"say": "All outputs so far are alike."}})
grow += [{"times": 1, "answer": FOUR[1]}, {"answer": {"calls": [{"done": "Done."}]}}]
server = Server(grow, "--slots", "1", "--context", "32768")
run = Run(server, one, "--context", "32768", hold=False)
fresh = sum(r["prompt_tokens"] - (r["cached_tokens"] or 0) for r in run.chats if r["status"] == 200)
bar("tokens to prefill", fresh, 80000, f"{fresh} in {len(run.chats)}")
server.stop()
print("all bars held" if not missed else f"{missed} bars missed")
sys.exit(1 if missed else 0)
PY
