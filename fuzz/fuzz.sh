#!/usr/bin/env bash
# Builds and runs the fuzz targets with the toolchain that is there: no nightly, no cargo-fuzz.
#   fuzz/fuzz.sh build             build all, quickly and unoptimised (what CI does)
#   fuzz/fuzz.sh list              name them
#   fuzz/fuzz.sh run TARGET [S]    run one for S seconds (default 600)
# With a nightly toolchain `cargo fuzz run TARGET` does the same, with the address sanitizer.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# The coverage that libFuzzer steers by; these are the flags cargo-fuzz gives, less the sanitizer
# (our code has no unsafe). `--target` keeps them away from build scripts.
host=$(rustc -vV | sed -n 's/^host: //p')
flags=(
    --cfg=fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
    -Cllvm-args=-sanitizer-coverage-trace-compares
)
target_dir=${CARGO_TARGET_DIR:-target}

build() { RUSTFLAGS="${flags[*]}" cargo build --target "$host" --target-dir "$target_dir" "$@"; }
list() { sed -n 's/^name = "\(.*\)"$/\1/p' Cargo.toml | grep -v baton-fuzz; }

case ${1:-} in
build) build ;;
list) list ;;
run)
    name=${2:?which target? $(list | tr '\n' ' ')}
    build --release --bin "$name"
    mkdir -p "corpus/$name" "artifacts/$name"
    "$target_dir/$host/release/$name" -max_total_time="${3:-600}" -max_len=8192 -timeout=10 -dict=json.dict \
        -artifact_prefix="artifacts/$name/" -print_final_stats=1 "corpus/$name" "seeds/$name"
    ;;
*)
    sed -n '2,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
