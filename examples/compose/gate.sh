#!/bin/sh
# Does one task and commits it only if the hand-off is true: schema, scope, changed files, and the
# task's checks run again. Otherwise the work stays in the tree and the verdict says what is wrong.
#   gate.sh task.json
set -eu
task=$1
work=$(mktemp -d)
worker-run --task "$task" >"$work/handoff.json" || echo "worker-run ended with $?" >&2
if handoff-check --task "$task" --repo . --rerun <"$work/handoff.json" >"$work/verdict.json"; then
    git add -A
    git commit -q -m "$(jq -r .title "$task")"
    echo "committed $(git rev-parse --short HEAD)"
else
    # No verdict at all is an error/1 document, which says why.
    jq -r 'if .checks then .checks[] | select(.verdict != "pass") | "\(.id): \(.verdict): \(.detail)"
        else "no verdict: \(.message)" end' "$work/verdict.json"
    echo "not committed; see $work" >&2
    exit 1
fi
