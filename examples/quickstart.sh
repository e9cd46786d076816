#!/usr/bin/env bash
# The main job from nothing: builds Baton, makes a small repository with failing tests, lets the six
# tools do their work on it, and shows what came out.
#
#   examples/quickstart.sh                 uses your server if OPENCODE_VLLM_BASE_URL names one that is
#                                          ready; else a simulated one with a scripted model
#   examples/quickstart.sh --real-model    installs and starts a real llama-server with a small model
#                                          (see real-model.sh) if no server of yours is ready
#
# Needs Rust, git and bash. Everything it makes lies in a temporary folder, which it names at the end.
# Ctrl-C ends it at any time; nothing stays behind but that folder.
set -euo pipefail
# A shell starts `quickstart.sh &` with Ctrl-C ignored, and bash cannot undo that; env can.
if [ -z "${QUICKSTART_AGAIN:-}" ] && env --default-signal=INT true 2>/dev/null; then
    QUICKSTART_AGAIN=yes exec env --default-signal=INT bash "$0" "$@"
fi
# Every background job gets a process group of its own, so that ending it ends all it started.
set -m

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
real_model=no
for argument; do
    case $argument in
        --real-model) real_model=yes ;;
        -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
        *) echo "quickstart.sh: unknown argument $argument (there is only --real-model)" >&2; exit 2 ;;
    esac
done

job='' server='' folder=''
# shellcheck disable=SC2317 # called by the trap
clean_up() {
    local group
    for group in $job $server; do kill -TERM -- "-$group" 2>/dev/null || :; done
    for group in $job $server; do
        # The tools end within their grace period; whatever does not is killed.
        for _ in {1..100}; do kill -0 -- "-$group" 2>/dev/null || break; sleep 0.1; done
        kill -KILL -- "-$group" 2>/dev/null || :
        wait "$group" 2>/dev/null || :
    done
}
trap clean_up EXIT
trap 'echo "quickstart.sh: interrupted${folder:+; what there is so far lies in $folder}" >&2; exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

# Runs one command, or a function, in its group; a signal to this script is acted upon at once.
run() {
    "$@" </dev/null 8>&- &
    job=$!
    local status=0
    wait "$job" || status=$?
    job=''
    return "$status"
}
step() { printf '\n== %s\n' "$*"; }

# ---- build ----------------------------------------------------------------------------------
if [ -n "${BATON_BIN_DIR:-}" ]; then
    bin=$BATON_BIN_DIR
else
    cd "$root"
    run cargo build --quiet --bins --example sim-server
    bin=$(cargo metadata --format-version 1 --no-deps | sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p')/debug
fi
export PATH=$bin:$PATH

# ---- the folder and the server --------------------------------------------------------------
folder=$(mktemp -d "${TMPDIR:-/tmp}/baton-quickstart.XXXXXX")
repo=$folder/sample
# Where this run keeps what the tools otherwise keep in your home.
own_places() {
    export XDG_STATE_HOME=$folder/state XDG_CONFIG_HOME=$folder/config XDG_CACHE_HOME=$folder/cache
    unset OPENCODE_VLLM_API_KEY OPENAI_BASE_URL OPENAI_API_KEY BATON_LOCK_DIR BATON_SLOT
}
# Waits for the line with the address that both servers print. (Not in a $(...): bash would wait for
# its end before it acts on Ctrl-C.)
wait_for_address() {
    for _ in {1..36000}; do
        if [ -s "$folder/server.out" ]; then
            read -r OPENCODE_VLLM_BASE_URL < <(sed -n '1s/.*"base_url": *"\([^"]*\)".*/\1/p' "$folder/server.out")
            export OPENCODE_VLLM_BASE_URL
            return
        fi
        kill -0 "$server" 2>/dev/null || break
        sleep 0.1
    done
    echo "quickstart.sh: the server did not start:" >&2
    tail -n 5 "$folder/server.log" >&2
    return 1
}
# Its stdin ends when this script ends, even by SIGKILL: then a simulated server ends too.
start() {
    mkfifo "$folder/hold"
    exec 8<>"$folder/hold"
    "$@" >"$folder/server.out" 2>"$folder/server.log" <"$folder/hold" 8>&- &
    server=$!
    wait_for_address
}

reason="OPENCODE_VLLM_BASE_URL is not set"
yours=no
if [ -n "${OPENCODE_VLLM_BASE_URL:-}" ]; then
    if run vllm-health >/dev/null 2>&1; then yours=yes; else reason="$OPENCODE_VLLM_BASE_URL is not ready"; fi
fi
if [ "$yours" = yes ]; then
    echo "Server: yours, $OPENCODE_VLLM_BASE_URL"
elif [ "$real_model" = yes ]; then
    echo "Server: a real llama-server with Qwen2.5-Coder 1.5B, started here ($reason)"
    XDG_CACHE_HOME_BEFORE=${XDG_CACHE_HOME:-$HOME/.cache}
    BATON_REAL_MODEL_DIR=${BATON_REAL_MODEL_DIR:-$XDG_CACHE_HOME_BEFORE/baton/real-model}
    export BATON_REAL_MODEL_DIR
    own_places
    echo "Installing it, if this is the first time; progress: $folder/server.log"
    LOG=$folder/llama-server.log start "$root/examples/real-model.sh" serve
    run vllm-health --wait 5m >/dev/null
else
    echo "Server: simulated, with a scripted model: sim-server ($reason)"
    own_places
    start "$bin/examples/sim-server" --port 0 --until-eof --script "$root/examples/quickstart-model.toml"
fi

# ---- the sample repository ------------------------------------------------------------------
cp -R "$root/examples/sample" "$repo"
cd "$repo"
git init -q -b main
git config user.name Quickstart
git config user.email quickstart@example.invalid
git config commit.gpgsign false
git add -A
git commit -q -m "Three helpers, three bugs"
start_commit=$(git rev-parse HEAD)
step "A repository with failing tests: $repo"
sh test/all.sh || :

# ---- the tools by hand ----------------------------------------------------------------------
# The task and the hand-off live outside the repository.
task=$folder/task.json
handoff=$folder/handoff.json
cat >"$task" <<'JSON'
{
  "schema": "task/1",
  "id": "clip",
  "role": "implementer",
  "title": "clip() loses the last character",
  "prompt": "clip TEXT N in lib/clip.sh must print the first N characters of TEXT; it prints one too few.",
  "scope": { "write": ["lib/clip.sh"], "read": ["lib/**", "test/**"] },
  "verify": [{ "command": "sh test/clip.sh", "timeout_ms": 20000 }]
}
JSON

step "One task by a pipe: vllm-health | ctx-estimate | slot-lock -- worker-run, then handoff-check"
# shellcheck disable=SC2317 # called through run
by_hand() {
    vllm-health |
        ctx-estimate --task "$task" --candidates - |
        slot-lock --candidates - --wait 60s -- worker-run --task "$task" >"$handoff" &&
        handoff-check --task "$task" --repo . --rerun --text <"$handoff"
}
if run by_hand; then
    git add -A
    git commit -q -m "Fix clip()"
    echo "Checked and committed: $(git log -1 --format=%s)"
else
    echo "Not committed: the hand-off is $handoff"
    git checkout -q .
fi

# ---- the main job ---------------------------------------------------------------------------
goal="Make slug() in lib/slug.sh print lower case, and make pages() in lib/pages.sh count a page that is not full."
step "orchestrate run \"$goal\""
status=0
run orchestrate run "$goal" --text || status=$?

step "What was integrated: git log --stat"
git --no-pager log --stat --format='%h %s' "$start_commit..HEAD"
step "The tests of the sample repository now"
sh test/all.sh || :

step "Where everything lies"
echo "repository:  $repo"
for run in "$repo"/.orchestrator/runs/*/; do
    [ -d "$run" ] && echo "run:         ${run%/} (journal.jsonl, report.json, report.md, tasks/)"
done
echo "by hand:     $task, $handoff"
[ -n "$server" ] && echo "server log:  $folder/server.log"
exit "$status"
