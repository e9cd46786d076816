#!/usr/bin/env bash
# handoff-check on many changed files, against git itself in the same run.
#
#   cargo build --release && benches/handoff-check.sh [path/to/handoff-check]
#
# For each kind of change the tool judges an honest report of all files. Beside it stands the time of
# what anybody would ask git: `git status` (with every untracked file: by default it names a new
# folder and does not look into it) and `git diff --name-status BASE`. Bar: under twice that.
# Where the report records the tree it handed over (worker-run's does), every changed file must be
# hashed as well, which git's two questions never do; those rows also show what hashing alone costs.
# Knobs: FILES=10000 RUNS=7 ONLY=regex (of the rows to measure)
set -euo pipefail

here=$(cd "$(dirname "$0")/.." && pwd)
tool=$(realpath "${1:-$here/target/release/handoff-check}")
[ -x "$tool" ] || { echo "no $tool; run: cargo build --release" >&2; exit 2; }
FILES=${FILES:-10000} RUNS=${RUNS:-7}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work GIT_CONFIG_NOSYSTEM=1
cd "$work"
git config --global user.name bench && git config --global user.email bench@localhost
git config --global init.defaultBranch main && git config --global gc.auto 0

echo "# load $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) cores, $("$tool" --version), $(git --version), $FILES files"

# FILES files of about 1 kB in folders of 100, half of them with a line the changes touch.
tree() { # FOLDER SALT
    awk -v n="$FILES" -v dir="$1" -v salt="$2" 'BEGIN { for (i = 0; i < n; i++) {
        d = sprintf("%s/d%03d", dir, int(i / 100)); if (i % 100 == 0) system("mkdir -p " d)
        f = sprintf("%s/f%05d.txt", d, i); for (l = 0; l < 20; l++) printf "file %d line %d of some text, %s\n", i, l, salt > f; close(f) } }'
}

mkdir repo && cd repo && git init -q
tree src one && echo r > README && git add -A && git commit -qm start
base=$(git rev-parse HEAD)
cd ..
echo "{\"schema\":\"task/1\",\"id\":\"t\",\"prompt\":\"x\",\"scope\":{\"write\":[\"src/**\",\"new/**\"]},\"base\":\"$base\"}" > task.json

report() { # KEY VALUE: an honest report of what differs from the base
    local base=$base
    { git -C repo diff --no-renames --name-only "$base"; git -C repo ls-files --others --exclude-standard; } | sort -u |
        awk -v tree="${1:-}" 'BEGIN { printf "{\"schema\":\"handoff/1\",\"task_id\":\"t\",\"role\":\"implementer\",\"status\":\"completed\",\"outcome\":\"All files carry the new word.\",\"verification\":[]," }
            BEGIN { if (tree != "") printf "\"tree\":\"%s\",", tree; printf "\"files_changed\":[" }
            { printf "%s{\"path\":\"%s\",\"scope\":\"text\"}", (NR > 1 ? "," : ""), $0 } END { print "]}" }' > report.json
}

us() { local t=${EPOCHREALTIME/[.,]/}; echo "$t"; }
# The least of RUNS times, in milliseconds. The index is put back before each, as git refreshes it.
least() {
    local best='' i start took
    for ((i = 0; i < RUNS; i++)); do
        cp -p index.kept repo/.git/index
        start=$(us); "$@" > out 2> err || [ $? -eq 3 ] || { cat err out | head -c 2000 >&2; exit 1; }
        took=$(($(us) - start))
        if [ -z "$best" ] || [ "$took" -lt "$best" ]; then best=$took; fi
    done
    echo "$best"
}
ask_git() { git -C repo status --untracked-files=all > /dev/null && git -C repo diff --name-status "$base" > /dev/null; }
judge() { "$tool" --task task.json --repo repo --json < report.json; }
hash_all() { # what hashing the changes into a private index costs git alone
    local dir; dir=$(mktemp -d -p .) && mkdir "$dir/objects"
    cp repo/.git/index "$dir/index"
    GIT_INDEX_FILE=$work/$dir/index GIT_OBJECT_DIRECTORY=$work/$dir/objects \
        GIT_ALTERNATE_OBJECT_DIRECTORIES=$work/repo/.git/objects git -C repo add -A
    GIT_INDEX_FILE=$work/$dir/index GIT_OBJECT_DIRECTORY=$work/$dir/objects \
        GIT_ALTERNATE_OBJECT_DIRECTORIES=$work/repo/.git/objects git -C repo write-tree
    rm -rf "$dir"
}
tree_now() { hash_all; }

row() { # NAME [tree|FORM of the report]
    local name=$1 peer ours hashing=""
    [[ $name =~ ${ONLY:-.} ]] || return 0
    cp -p repo/.git/index index.kept
    if [ "${2:-}" = tree ]; then report "$(tree_now)"; else report; fi
    case ${2:-} in envelope | markdown*) "$tool" --emit "$2" < report.json > other && mv other report.json ;; esac
    peer=$(least ask_git) ours=$(least judge)
    grep -q '"pass":true' out || { echo "the honest report of \"$name\" was not believed: $(head -c 1500 out)" >&2; exit 1; }
    if [ "${2:-}" = tree ]; then hashing=$(least hash_all); fi
    awk -v name="$name" -v peer="$peer" -v ours="$ours" -v hashing="$hashing" 'BEGIN {
        printf "%-46s git %7.1f ms, handoff-check %7.1f ms, ratio %.2f", name, peer / 1e3, ours / 1e3, ours / peer
        if (hashing != "") printf "  (git add + write-tree alone %.1f ms, %.2f of it)", hashing / 1e3, ours / hashing
        print "" }'
    cp -p index.kept repo/.git/index
}
reset() { git -C repo reset -q --hard "$base" && git -C repo clean -qfdx; }

echo "## bar: ratio under 2"
tree repo/src two
row "modified"
row "modified, the report records its tree" tree
row "modified, reported as an envelope" envelope
row "modified, reported under headings" markdown-4
reset; tree repo/new two
row "new, untracked"
row "new, untracked, with its tree" tree
git -C repo add -A
row "new, staged"
git -C repo commit -qm work
row "new, committed since the base"
reset; (cd repo && find src -name '*.txt' -delete)
row "deleted"
reset; (cd repo && git mv src new)
row "renamed, staged"
reset; (cd repo && mv src new)
row "renamed, not staged"
reset; tree repo/src two; (cd repo && git add -A && git commit -qm one); tree repo/src three
row "committed, then modified again"
