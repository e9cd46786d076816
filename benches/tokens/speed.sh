#!/usr/bin/env bash
# CPU time (user + system) and peak memory, side by side with ttok and repomix: a prompt of 20 KB, and a
# repository. Each line states its bar; the exit code is 1 where one is missed.
set -euo pipefail
WORK=${WORK:-/tmp/baton-tokens}
CTX=${CTX:-${CARGO_TARGET_DIR:-target}/release/ctx-estimate}
REPOSITORY=${1:-$WORK/repository}
export XDG_CACHE_HOME="$WORK/speed-cache" TIKTOKEN_CACHE_DIR="$WORK/tiktoken"
# A prompt of 20 KB out of the fresh corpus.
xargs -d '\n' cat < "$WORK/fresh.list" 2> /dev/null | head -c 20000 > "$WORK/prompt.txt" || true
# ttok counts one text: what the others read file by file, as one.
find "$REPOSITORY" -type f -not -path '*/.git/*' -print0 | sort -z | xargs -0 grep -lIZ . | xargs -0 cat |
    iconv -c -f UTF-8 -t UTF-8 > "$WORK/repository.txt" || true

exec python3 - "$CTX" "$WORK" "$REPOSITORY" << 'PY'
import os, shutil, subprocess, sys

ctx, work, repository = sys.argv[1:4]
missed = 0


def cpu(runs, command, fresh_cache=False):
    """The least user + system time of some runs in milliseconds, children included, and the peak in MB."""
    best, peak = None, 0
    for _ in range(runs):
        if fresh_cache:
            shutil.rmtree(os.environ["XDG_CACHE_HOME"], ignore_errors=True)
        pid = os.fork()
        if pid == 0:
            null = os.open(os.devnull, os.O_RDWR)
            for stream in range(3):
                os.dup2(null, stream)
            os.execvp(command[0], command)
        _, status, used = os.wait4(pid, 0)
        if os.waitstatus_to_exitcode(status) != 0:
            sys.exit(f"failed: {command}")
        time = (used.ru_utime + used.ru_stime) * 1000
        best, peak = time if best is None else min(best, time), max(peak, used.ru_maxrss / 1024)
    return best, peak


def row(name, figures, bar="", ok=True):
    global missed
    missed += not ok
    verdict = "" if not bar else f"  bar: {bar}: {'ok' if ok else 'MISSED'}"
    print(f"{name:24} {figures[0]:9.1f} ms CPU {figures[1]:7.1f} MB peak{verdict}", flush=True)


def ours(tokenizer, *rest):
    return [ctx, "--offline", "--json", "--tokenizer", tokenizer, *rest]


prompt = f"{work}/prompt.txt"
ttok = cpu(5, [f"{work}/venv/bin/ttok", "-m", "gpt-4o", "-i", prompt])
print(f"one prompt of {os.path.getsize(prompt)} bytes")
row("ttok (o200k)", ttok)
for name in ("qwen3", "llama3", "gptoss", "deepseek_v3", "gemma3"):
    tokenizer = f"{work}/tokenizers/{name}/tokenizer.json"
    cold = cpu(2, ours(tokenizer, prompt), fresh_cache=True)
    row(f"ours, {name}, cold", cold, "1,500 ms", cold[0] < 1500)
    warm = cpu(30, ours(tokenizer, prompt))
    good = warm[0] * 50 <= ttok[0] and warm[1] <= 30
    row(f"ours, {name}, warm", warm, f"1/50 of ttok, 30 MB (1/{ttok[0] / warm[0]:.0f})", good)
row("ours, class model", cpu(30, ours("qwen", prompt)))

files = sum(len(names) for folder, _, names in os.walk(repository) if "/.git" not in folder)
print(f"a repository of {files} files, {os.path.getsize(f'{work}/repository.txt')} bytes of text")
ttok = cpu(1, [f"{work}/venv/bin/ttok", "-m", "gpt-4o", "-i", f"{work}/repository.txt"])
row("ttok, all in one text", ttok)
repomix = [f"{work}/node/node_modules/.bin/repomix", "--no-security-check", "--quiet", "-o", f"{work}/repomix.xml", repository]
repomix = cpu(1, repomix)
row("repomix", repomix)
tokenizer = f"{work}/tokenizers/gptoss/tokenizer.json"
whole = cpu(3, ours(tokenizer, "--all", repository))
good = whole[0] * 5 <= ttok[0] and whole[0] * 15 <= repomix[0]
bar = f"1/5 of ttok, 1/15 of repomix (1/{ttok[0] / whole[0]:.1f}, 1/{repomix[0] / whole[0]:.1f})"
row("ours, gptoss", whole, bar, good)
sys.exit(missed > 0)
PY
