#!/bin/sh
# Asks many questions about a repository, one a line on stdin, and writes one JSON line an answer.
#   ask-many.sh < questions.txt > answers.jsonl
# Eight workers are started, but slot-lock lets no more run than the server has slots.
set -eu
vllm-health >/dev/null
# shellcheck disable=SC2016 # the inner shell expands these
tr '\n' '\0' | xargs -0 -n 1 -P 8 sh -c '
    slot-lock --wait 10m -- worker-run --role explore --prompt "$1" |
        jq -c --arg question "$1" "{question: \$question, status, outcome}"
' sh
