#!/usr/bin/env bash
# The whole storm over slot-lock, with an observer outside that costs next to nothing
# (benches/slot-lock/witness.c): kills, stops, removed files, changing N, PID namespaces; and two
# choosers at the same instant on single-slot servers.
#
#   cargo build --release && benches/slot-lock-storm.sh [path/to/slot-lock]
#
# Knobs: SIZE=64x2000 (processes x acquisitions each; half the processes in namespaces). The choosers
# take 10,000 rounds. Nice it: the storm takes every core it can get.
set -euo pipefail

here=$(cd "$(dirname "$0")/.." && pwd)
tool=$(realpath "${1:-$here/target/release/slot-lock}")
[ -x "$tool" ] || { echo "no $tool; run: cargo build --release" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc -O2 -static -Wall -o "$work/witness" "$here/benches/slot-lock/witness.c"

export BATON_STRESS=${SIZE:-64x2000} BATON_STRESS_TOOL=$tool BATON_STRESS_WITNESS=$work/witness
echo "# $BATON_STRESS, load $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) cores, $("$tool" --version)"
cd "$here"
for test in stress::l19_never_more_than_n_holders_under stress::l19_never_more_than_n_holders_across \
    stress::q01_two_choosers; do
    echo "## $test"
    cargo test -q --test slot-lock -- --nocapture "$test" 2>&1 | grep -E 'served|rounds|seed|panicked|exit code|test result'
done
