#!/usr/bin/env bash
# CPU time (user + system) and peak memory: one-shot counts of a 20 KB prompt, and a repository.
set -euo pipefail
WORK=${WORK:-/tmp/baton-tokens}
CTX=${CARGO_TARGET_DIR:-target}/release/ctx-estimate
REPOSITORY=${1:-.}
export XDG_CACHE_HOME="$WORK/speed-cache"
# A prompt of 20 KB out of the corpus.
xargs -d '\n' cat < "$WORK/corpus.list" 2>/dev/null | head -c 20000 > "$WORK/prompt.txt" || true

# cpu RUNS COMMAND...: the least user + system time of some runs, in milliseconds, and the peak memory.
cpu() {
    local runs=$1; shift
    python3 - "$runs" "$@" <<'PY'
import os, resource, sys
runs, command = int(sys.argv[1]), sys.argv[2:]
best, peak = None, 0
for _ in range(runs):
    pid = os.fork()
    if pid == 0:
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0); os.dup2(null, 1); os.dup2(null, 2)
        os.execvp(command[0], command)
    _, status, used = os.wait4(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, (command, status)
    time = used.ru_utime + used.ru_stime
    best = time if best is None else min(best, time)
    peak = max(peak, used.ru_maxrss)
print(f"{best * 1000:9.1f} ms CPU {peak / 1024:7.1f} MB peak")
PY
}

for name in qwen3 llama3 gptoss deepseek_v3 gemma3; do
    tokenizer="$WORK/tokenizers/$name/tokenizer.json"
    rm -rf "$XDG_CACHE_HOME"
    echo "$name cold  $(cpu 1 "$CTX" --offline --tokenizer "$tokenizer" "$WORK/prompt.txt")"
    echo "$name warm  $(cpu 30 "$CTX" --offline --tokenizer "$tokenizer" "$WORK/prompt.txt")"
done
echo "class warm  $(cpu 30 "$CTX" --offline --tokenizer qwen "$WORK/prompt.txt")"
echo "ttok        $(cpu 5 "$WORK/venv/bin/ttok" -i "$WORK/prompt.txt")" ||
    echo "ttok: not measured (it needs its vocabulary from the network once)"
files=$(find "$REPOSITORY" -type f -not -path '*/.git/*' | wc -l)
echo "repository $REPOSITORY ($files files)"
tokenizer="$WORK/tokenizers/gptoss/tokenizer.json"
echo "gptoss      $(cpu 3 "$CTX" --offline --all --tokenizer "$tokenizer" "$REPOSITORY")"
