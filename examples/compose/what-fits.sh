#!/bin/sh
# Prints as many of the files as fit the model's context together with the prompt, in the given order.
#   what-fits.sh prompt.md src/*.rs
# The context is what vllm-health finds; ctx-estimate exits with 0 when all fit, 1 when they do not.
set -eu
prompt=$1
shift
health=$(mktemp)
trap 'rm -f "$health"' EXIT
vllm-health >"$health"
while [ $# -gt 0 ]; do
    if ctx-estimate --candidates "$health" "$prompt" "$@" >/dev/null; then
        printf '%s\n' "$@"
        exit 0
    fi
    # Drop the last file: the caller names the important ones first.
    count=$#
    for file; do
        shift
        count=$((count - 1))
        if [ "$count" -gt 0 ]; then set -- "$@" "$file"; fi
    done
done
exit 1
