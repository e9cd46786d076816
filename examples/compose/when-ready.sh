#!/bin/sh
# Runs a command as soon as the model server is ready, and not at all if it does not get ready.
#   when-ready.sh make -C docs summaries
# vllm-health is a chain loader here: the command takes its place, with its exit code.
exec vllm-health --wait "${PATIENCE:-5m}" -- "$@"
