#!/usr/bin/env bash
# Records the demo: the real tools at work on a small repository, with a simulated server, as an
# asciinema cast (version 2: a header and one JSON line an event). No service and no recorder is needed.
#
#   examples/demo.sh [FILE]          writes the cast (default: examples/demo.cast, which is committed)
#   examples/demo.sh --play [FILE]   shows a cast on this terminal; `asciinema play FILE` does too
#
# What is typed and printed is real. Names that differ from run to run (hashes, ports, times, folders)
# are replaced by fixed ones, and the pace is that of a person who types, so that the same tools give
# the same file. Needs Rust, git, bash and jq; BATON_BIN_DIR names a folder of built tools instead.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
mode=record
case ${1:-} in
    -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
    --play) mode=play; shift ;;
    -*) echo "demo.sh: unknown argument $1 (there is only --play)" >&2; exit 2 ;;
esac
cast=${1:-$root/examples/demo.cast}

# ---- play -----------------------------------------------------------------------------------
if [ "$mode" = play ]; then
    last=0
    # The text of each event as a JSON string, so that its line breaks survive the way.
    while IFS=$'\t' read -r at text; do
        sleep "$(jq -n "[$at - $last, 0] | max")"
        last=$at
        jq -jn "$text"
    done < <(jq -r 'select(type == "array" and .[1] == "o") | "\(.[0])\t\(.[2] | tojson)"' "$cast")
    exit 0
fi

# ---- the tools, a server, a repository ------------------------------------------------------
if [ -n "${BATON_BIN_DIR:-}" ]; then
    bin=$BATON_BIN_DIR
else
    (cd "$root" && cargo build --quiet --bins --example sim-server)
    bin=$(cargo metadata --manifest-path "$root/Cargo.toml" --format-version 1 --no-deps |
        jq -r .target_directory)/debug
fi
export PATH=$bin:$PATH
folder=$(mktemp -d "${TMPDIR:-/tmp}/baton-demo.XXXXXX")
server=''
trap 'exec 8>&-; if [ -n "$server" ]; then wait "$server" || :; fi; rm -rf "$folder"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
export HOME=$folder GIT_CONFIG_NOSYSTEM=1 LC_ALL=C.UTF-8 COLUMNS=100
unset XDG_STATE_HOME XDG_CONFIG_HOME XDG_CACHE_HOME OPENCODE_VLLM_API_KEY OPENAI_BASE_URL \
    OPENAI_API_KEY BATON_LOCK_DIR BATON_SLOT

# The quickstart's model, with the second task after the first: side by side, they would end in an
# order of their own each time.
sed 's/^depends = \[\]/depends = [["slug", "pages"]]/' "$root/examples/quickstart-model.toml" > "$folder/model.toml"
mkfifo "$folder/hold"
exec 8<> "$folder/hold"
"$bin/examples/sim-server" --port 0 --until-eof --script "$folder/model.toml" \
    > "$folder/server.out" < "$folder/hold" 8>&- &
server=$!
until [ -s "$folder/server.out" ]; do
    kill -0 "$server" || { echo "demo.sh: the simulated server did not start" >&2; exit 1; }
    sleep 0.05
done
OPENCODE_VLLM_BASE_URL=$(jq -r .base_url "$folder/server.out")
export OPENCODE_VLLM_BASE_URL
mkdir -p "$folder/.config/baton"
printf '[[provider]]\nid = "arc"\nbase_url = "%s"\nslots = 2\n' "$OPENCODE_VLLM_BASE_URL" \
    > "$folder/.config/baton/config.toml"
cp -R "$root/examples/sample" "$folder/sample"
cd "$folder/sample"
git init -q -b main
git config user.name Demo
git config user.email demo@example.invalid
git config commit.gpgsign false
git add -A
git commit -q -m "Three helpers, three bugs"

# ---- the recording --------------------------------------------------------------------------
# What differs from run to run, and nothing else. A hash keeps its stand-in wherever it comes again.
steady() {
    sed -E \
        -e "s#$folder#/home/you#g" \
        -e 's#127\.0\.0\.1:[0-9]+#127.0.0.1:8000#g' \
        -e 's#[0-9]{8}-[0-9]{6}-[a-z]{3}#20260901-120000-abc#g' \
        -e 's#[0-9]+ prompt and [0-9]+ completion tokens, .*#8464 prompt and 702 completion tokens, 2.0 s (0.1 s waiting for a slot).#' |
        awk -v stand_ins="$(for i in {1..20}; do echo "$i" | git hash-object --stdin; done)" '
            BEGIN { split(stand_ins, other) }
            {
                out = ""
                while (match($0, /[0-9a-f]+/)) {
                    word = substr($0, RSTART, RLENGTH)
                    before = substr($0, 1, RSTART - 1)
                    after = substr($0, RSTART + RLENGTH)
                    alone = before !~ /[0-9A-Za-z_-]$/ && after !~ /^[0-9A-Za-z_-]/
                    key = substr(word, 1, 7)
                    if (alone && length(word) >= 7 && (key in known || word ~ /[0-9]/)) {
                        if (!(key in known)) known[key] = other[++count]
                        word = substr(known[key], 1, length(word))
                    }
                    out = out before word
                    $0 = after
                }
                print out $0
            }'
}
# The prompt, what is typed, what comes: a line each for jq, told apart by their first letters.
show() {
    printf 'type %s\n' "$1"
    # A command that fails is shown as it is: the tests do, at first.
    { eval "$1" || :; } 2>&1 < /dev/null | sed 's/^/out  /'
    printf 'rest \n'
}
{
    show 'vllm-health --text'
    show 'sh test/all.sh'
    show 'ctx-estimate --text lib/*.sh'
    show 'orchestrate run "Make slug() print lower case, and make pages() count a page that is not full." --text'
    show 'git log --oneline'
    show 'sh test/all.sh'
} | steady > "$folder/lines"

jq -Rnc --arg title "Baton: a goal becomes checked commits" '
    def event($text): . as $s | [($s.at * 1000 | round / 1000), "o", $text];
    def add($pause; $text): .at += $pause | .events += [event($text)];
    {"version": 2, "width": 100, "height": 40, "title": $title, "env": {"TERM": "xterm-256color"}},
    (reduce inputs as $line ({"at": 0.5, "events": []};
        ($line[0:5]) as $kind | $line[5:] as $text |
        if $kind == "type " then
            add(0.4; "\u001b[1;32m$\u001b[0m ")
            | reduce ($text | split("") | .[]) as $c (.; add(0.035; $c))
            | add(0.5; "\r\n")
        elif $kind == "out  " then add(0.09; $text + "\r\n")
        else .at += 1.4 end)
    | .events[])' "$folder/lines" > "$folder/cast"
mkdir -p "$(dirname "$cast")"
cp "$folder/cast" "$cast"
echo "$cast: $(wc -l < "$cast") lines; look at it: examples/demo.sh --play"
