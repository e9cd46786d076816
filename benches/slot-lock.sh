#!/usr/bin/env bash
# slot-lock against its peers, in one run: uncontended cost, contention, hand-over, waiting cost.
#
#   cargo build --release && benches/slot-lock.sh [path/to/slot-lock]
#
# Peers that are not installed are left out, aloud (Debian: util-linux, parallel, moreutils, hyperfine).
# Knobs: RUNS=200 JOBS=1000 WIDTH=32 JOB_MS=20
# ETCD=1 measures the store of several hosts instead (Debian: etcd-server, etcd-client).
# shellcheck disable=SC2016 # what is in single quotes is for the shells that are started
set -euo pipefail

here=$(cd "$(dirname "$0")/.." && pwd)
tool=$(realpath "${1:-$here/target/release/slot-lock}")
[ -x "$tool" ] || { echo "no $tool; run: cargo build --release" >&2; exit 2; }
RUNS=${RUNS:-200} JOBS=${JOBS:-1000} WIDTH=${WIDTH:-32} JOB_MS=${JOB_MS:-20}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work BATON_LOCK_DIR=$work/slots PARALLEL_HOME=$work
cd "$work"
have() { command -v "$1" >/dev/null || { echo "($1 is not installed: left out)" >&2; return 1; }; }
now_us() { local t=${EPOCHREALTIME/[.,]/}; echo "$t"; }

echo "# load $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) cores, $("$tool" --version)"

# One member on loopback, whose ports are taken from the kernel's free ones.
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
with_etcd() {
    local client peer
    client=http://127.0.0.1:$(free_port) peer=http://127.0.0.1:$(free_port)
    etcd --name m --data-dir "$work/etcd" --listen-client-urls "$client" --advertise-client-urls "$client" \
        --listen-peer-urls "$peer" --initial-advertise-peer-urls "$peer" --initial-cluster "m=$peer" \
        --logger zap --log-level error > "$work/etcd.log" 2>&1 &
    etcd=$!
    trap 'kill $etcd; wait $etcd 2>/dev/null; rm -rf "$work"' EXIT
    export ETCDCTL_API=3 ETCDCTL_ENDPOINTS=${client#http://}
    until etcdctl get x > /dev/null 2>&1; do kill -0 $etcd; sleep 0.1; done
    store=etcd://${client#http://}/bench
}

[ -n "${ETCD:-}" ] || echo "## uncontended: take, run true, give back (median, min, user+system; ms)"
if [ -z "${ETCD:-}" ] && have hyperfine; then
    commands=(-n true true -n flock "flock f true" -n slot-lock "$tool --key k --slots 2 -- true")
    have lckdo && commands+=(-n lckdo "lckdo l true")
    # In turns, so that what else the machine does meets all alike.
    for turn in $(seq 10); do
        hyperfine -N --warmup 5 --runs $((RUNS / 10)) --style none --export-json "a$turn.json" "${commands[@]}" 2>/dev/null
    done
    if have sem; then
        hyperfine -N --warmup 2 --runs 20 --style none --export-json b.json -n "sem --fg" "sem --id x -j2 --fg true" 2>/dev/null
    fi
    jq -rs '[.[].results[]] | group_by(.command)[] | (map(.times[]) | sort) as $t |
            [.[0].command, $t[($t | length) / 2 | floor], $t[0], (map(.user + .system) | add / length)] | @tsv' ./*.json |
        awk -F'\t' '{ printf "%-12s %8.2f %8.2f %8.2f\n", $1, $2*1e3, $3*1e3, $4*1e3; m[$1] = $2 }
            END { if (m["flock"]) printf "slot-lock / flock = %.2f (bar: 1.5)\n", m["slot-lock"] / m["flock"]
                  if (m["sem --fg"]) printf "sem / slot-lock = %.0f (bar: 20)\n", m["sem --fg"] / m["slot-lock"] }'
fi

# A job: its number, its start and its end in microseconds, one line a job.
cat > job <<'JOB'
#!/usr/bin/env bash
s=$EPOCHREALTIME; read -rt "$JOB_S" _ <> <(:) || :; echo "$1 ${s/[.,]/} ${EPOCHREALTIME/[.,]/}" >> jobs.log
JOB
chmod +x job
export JOB_S; JOB_S=$(awk "BEGIN { print $JOB_MS / 1000 }")

# Wall time, the most at once, pairs that started in another order than they were launched.
judge() { # NAME SLOTS WALL_US
    local most
    most=$(awk '{ print $2, 1; print $3, -1 }' jobs.log | sort -n -k1,1 -k2,2 |
        awk '{ at += $2; if (at > most) most = at } END { print most }')
    sort -n jobs.log | awk -v name="$1" -v slots="$2" -v wall="$3" -v most="$most" -v ms="$JOB_MS" '
        { start[NR] = $2 }
        END { for (i = 1; i <= NR; i++) for (j = i + 1; j <= NR; j++) if (start[j] < start[i]) inversions++
              ideal = NR * ms * 1e3 / slots
              printf "%-20s %4d jobs, %6.2f s wall, %3.0f %% of the ideal, most at once %d, inversions %d of %d\n",
                  name, NR, wall / 1e6, 100 * ideal / wall, most, inversions, NR * (NR - 1) / 2 }'
}
contend() { # NAME SLOTS COMMAND...
    local name=$1 slots=$2; shift 2
    rm -f jobs.log
    local start; start=$(now_us)
    seq "$JOBS" | xargs -P "$WIDTH" -I{} "$@" ./job {}
    wall=$(($(now_us) - start))
    judge "$name" "$slots" "$wall"
}
# What a job costs the member: its requests by kind, and its processor time.
told() {
    curl -s "http://$ETCDCTL_ENDPOINTS/metrics" |
        sed -nE 's/^grpc_server_started_total\{grpc_method="([A-Za-z]+)",.*\} ([0-9.e+]+)$/\1 \2/p' | awk '$2 > 0' | sort
    awk '{ print "cpu", ($14 + $15) * 10 }' "/proc/$etcd/stat"
}
counted() { # NAME SLOTS COMMAND...
    told > before
    contend "$@"
    told > after
    awk -v jobs="$(wc -l < jobs.log)" 'FILENAME == "before" { was[$1] = $2; next }
        $1 == "cpu" { cpu = ($2 - was[$1]) / jobs; next }
        $2 > was[$1] { line = line sprintf(" %s %.2f", $1, ($2 - was[$1]) / jobs); all += ($2 - was[$1]) / jobs }
        END { printf "    a job: %.1f requests (%s ), %.1f ms of the member\n", all, line, cpu }' before after
}
if [ -n "${ETCD:-}" ]; then
    JOB_S=0.005 JOB_MS=5
    with_etcd
    ETCDCTL_JOBS=$((JOBS / 5))
    echo "## store of several hosts: $JOBS jobs of 5 ms, $WIDTH in flight (etcdctl lock: $ETCDCTL_JOBS, one slot)"
    contend "slot files, 2 slots" 2 "$tool" --key c --slots 2 -q --
    files=$wall
    counted "etcd, 2 slots" 2 "$tool" --store "$store" --key c --slots 2 -q --
    cluster=$wall
    awk -v a="$files" -v b="$cluster" 'BEGIN { printf "etcd / slot files = %.1f (bar: 4)\n", b / a }'
    JOBS=$ETCDCTL_JOBS counted "etcd, 1 slot" 1 "$tool" --store "$store" --key e --slots 1 -q --
    ours=$wall
    JOBS=$ETCDCTL_JOBS counted "etcdctl lock, 1 slot" 1 etcdctl lock bench-lock --
    awk -v a="$ours" -v b="$wall" 'BEGIN { printf "ours / etcdctl lock = %.2f (bar: 1)\n", a / b }'
    WIDTH=300 counted "etcd, 300 in flight" 2 "$tool" --store "$store" --key w --slots 2 -q --
    awk -v a="$cluster" -v b="$wall" 'BEGIN { printf "300 in flight / %d in flight = %.2f\n", '"$WIDTH"', b / a }'
    exit
fi
echo "## contended: $JOBS jobs of $JOB_MS ms, $WIDTH in flight"
# The jobs themselves take longer than they sleep, so the measure is a launcher without any lock.
WIDTH=2 contend "no lock, 2 at a time" 2 env
floor=$wall
contend "flock, 1 slot" 1 flock f
contend "slot-lock, 1 slot" 1 "$tool" --key d --slots 1 -q --
contend "flock, 2 files" 2 sh -c 'exec flock f$(($2 % 2)) "$1" "$2"' sh
two_files=$wall
contend "slot-lock, 2 slots" 2 "$tool" --key c --slots 2 -q --
awk -v floor="$floor" -v flock="$two_files" -v ours="$wall" 'BEGIN {
    printf "slot-lock = %.0f %% of no lock (bar: 90), %.2f of flock on 2 files (bar: 1)\n", 100 * floor / ours, ours / flock }'

echo "## hand-over: from the end of the holder's command to the first instruction of the next (100 jobs, 8 in flight; us)"
if have cc; then
    cc -O2 -static -o stamp "$here/benches/slot-lock/stamp.c"
    own=$(for _ in $(seq 51); do ./stamp start; done | sort -n | sed -n 26p)
    hand_over() { # NAME COMMAND...
        local name=$1; shift
        rm -f stamps
        seq 100 | xargs -P 8 -I{} "$@" ./stamp stamps 20
        sort -n stamps | awk 'NR > 1 && $1 > end { print $1 - end } { end = $2 }' | sort -n |
            awk -v name="$name" -v own="$own" '{ v[NR] = $1 / 1e3 } END {
                median = v[int((NR + 1) / 2)]
                printf "%-10s median %.0f, p90 %.0f, least %.0f; without the start of the command itself (%.0f): %.0f\n",
                    name, median, v[int(NR * 0.9)], v[1], own / 1e3, median - own / 1e3 }'
    }
    hand_over flock flock f
    hand_over slot-lock "$tool" --key h --slots 1 -q --
    echo "(bar for the last figure of slot-lock: 1000)"
fi

echo "## waiting: processor time of 20 waiters on one slot"
"$tool" --key w --slots 1 -- sleep 12 &
sleep 1
for _ in $(seq 20); do
    bash -c 'TIMEFORMAT="%U %S"; time "$0" --key w --slots 1 --wait 10s -q -- true' "$tool" 2>&1 | tail -1 &
done | awk '{ t += $1 + $2 } END { printf "%.2f ms a waiter and second\n", t * 1e3 / 20 / 10 }'
wait
