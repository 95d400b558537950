# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034
# What the benchmarks share: starting, awaiting and ending tools, medians, and the table.
set -u
export LC_ALL=C PATH="$PATH:/usr/sbin:/sbin"
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
BUILD=${BUILD:-build}
HOG=${HOG:-$BUILD/hog}
bench=$BUILD/tests/bench
LONG=${LONG:-}
TMP=$(mktemp -d)
BY_NAME=$(cat tests/rows.awk)
over=0 started=()

cleanup() {
    local pid
    for pid in ${started[@]+"${started[@]}"}; do
        kill "$pid" 2>/dev/null
        wait "$pid" 2>/dev/null
    done
    rm -rf "$TMP"
}
trap cleanup EXIT
trap 'exit 143' TERM INT

die() {
    echo "bench: $*" >&2
    exit 1
}

# start COMMAND...: in the background until `stop PID`; its pid goes to PID, its output to $TMP/said and $TMP/out.
start() {
    rm -f "$TMP/said" "$TMP/out" # a tool that is still ending may write to the old ones
    : >"$TMP/said"
    "$@" >"$TMP/out" 2>"$TMP/said" </dev/null &
    PID=$!
    started+=("$PID")
}

stop() {
    local pid keep=()
    kill "$1" 2>/dev/null
    wait "$1" 2>/dev/null
    for pid in "${started[@]}"; do
        [ "$pid" = "$1" ] || keep+=("$pid")
    done
    started=(${keep[@]+"${keep[@]}"})
}

# await PID PATTERN FILE: until the tool has printed it, for ten seconds at most.
await() {
    local i
    for ((i = 0; i < 500; i++)); do
        grep -q "$2" "$3" 2>/dev/null && return
        kill -0 "$1" 2>/dev/null || die "a tool ended early: $(head -n 2 "$3")"
        sleep 0.02
    done
    die "a tool does not come up: no '$2' in what it says"
}

programs() { # how many BPF programs a process holds
    local n=0 info
    for info in /proc/"$1"/fdinfo/*; do
        grep -qs '^prog_type' "$info" && n=$((n + 1))
    done
    echo "$n"
}

# await_programs PID: until a tool that does not say so has its programs; then a moment for attaching.
await_programs() {
    local i
    for ((i = 0; i < 500; i++)); do
        [ "$(programs "$1")" -gt 0 ] && { sleep 0.3; return; }
        kill -0 "$1" 2>/dev/null || die "a tool ended early: $(head -n 2 "$TMP/said")"
        sleep 0.02
    done
    die 'a tool does not come up: it has no BPF program'
}

start_hog() { # start_hog VIEW ARGUMENTS...
    start "$HOG" "$1" -v "${@:2}"
    await "$PID" "hog: $1: exit:" "$TMP/said"
}

# guest_tools DIR TOOL...: empty programs and, where available, these tools with their libraries, for a guest's root.
guest_tools() {
    local more=$1 tool library
    mkdir -p "$more/bin" "$more/lib"
    cp "$bench/floor" "$more/bin/"
    for tool in "${@:2}"; do
        command -v "$tool" >/dev/null || continue
        cp -L "$(command -v "$tool")" "$more/bin/"
        ldd "$(command -v "$tool")" | awk '$3 ~ /^\// { print $3 }' | while read -r library; do
            cp -L "$library" "$more/lib/"
        done
    done
}

# ids of the programs or maps that a process holds, from the kernel: ids PID prog|map
ids() {
    grep -hs "^$2_id:" /proc/"$1"/fdinfo/* | awk '{ print $2 }' | sort -un
}

# quantile Q: of the numbers on stdin, one per line.
quantile() {
    sort -g | awk -v q="$1" '{ v[NR] = $1 } END { if (!NR) { print "-"; exit } i = int(q * (NR - 1) + 1.5); print v[i] }'
}

median() {
    quantile 0.5
}

calculate() { # calculate EXPRESSION [DIGITS]
    awk "BEGIN { printf \"%.${2:-2}f\\n\", $1 }"
}

# row WHAT OURS PEER RATIO BUDGET VALUE: VALUE is what the budget, `<= N` or -, applies to.
row() {
    local verdict=-
    if [ "$5" != - ]; then
        verdict=ok
        if ! awk -v v="$6" -v limit="${5#<= }" 'BEGIN { exit !(v ~ /^-?[0-9.]+$/ && v + 0 <= limit + 0) }'; then
            verdict=OVER
            over=$((over + 1))
        fi
    fi
    printf '%-46s %10s %10s %8s %9s  %s\n' "$1" "$2" "$3" "$4" "$5" "$verdict"
}
