#!/bin/sh
# Any program can be the worker. slot-lock holds one slot while it runs, and tells it by its
# environment where to go: OPENAI_BASE_URL and BATON_MODEL. Here the program is curl.
#   echo "Write a haiku about locks." | any-program.sh
set -eu
question=$(cat)
health=$(mktemp)
trap 'rm -f "$health"' EXIT
vllm-health >"$health"
export question
# shellcheck disable=SC2016 # the inner shell expands these
slot-lock --candidates "$health" --wait 60s -- sh -c '
    jq -n --arg model "$BATON_MODEL" --arg text "$question" \
        "{model: \$model, max_tokens: 400, messages: [{role: \"user\", content: \$text}]}" |
        curl -sSf -H "Content-Type: application/json" --data-binary @- "$OPENAI_BASE_URL/chat/completions" |
        jq -r ".choices[0].message.content"
'
