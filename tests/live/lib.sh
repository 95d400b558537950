# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What tests on the live kernel share. A test sources it, checks, and ends with `done_testing`.
#
#   . "$(dirname "$0")/lib.sh"
#   load_start stress-ng --cpu 1
#   check 'names the hog' names_the_hog
#   done_testing
set -u
export LC_ALL=C PATH="$PATH:/usr/sbin:/sbin"
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
BUILD=${BUILD:-$PWD/build}
HOG=${HOG:-$BUILD/hog}
TMP=$(mktemp -d)
lib_failed=0 lib_lines=0 lib_pids=()

lib_cleanup() {
    local pid
    for pid in ${lib_pids[@]+"${lib_pids[@]}"}; do
        kill "$pid" 2>/dev/null
    done
    for pid in ${lib_pids[@]+"${lib_pids[@]}"}; do
        wait "$pid" 2>/dev/null
    done
    rm -rf "$TMP"
}
trap lib_cleanup EXIT
trap 'exit 143' TERM INT

# check NAME COMMAND...: the command, in this shell, must succeed. What it prints is shown when it does not.
check() {
    local name=$1
    shift
    lib_lines=$((lib_lines + 1))
    if "$@" >"$TMP/check.log" 2>&1; then
        echo "ok - $name"
        return 0
    fi
    lib_failed=1
    echo "not ok - $name: $(head -n 3 "$TMP/check.log" | tr '\n' ' ')"
    head -n 40 "$TMP/check.log" | sed "s/^/$name: /" >&2
    return 1
}

# skip NAME 'needs X: reason'    (X as in scripts/has.sh)
skip() {
    lib_lines=$((lib_lines + 1))
    echo "skip - $1: $2"
}

# load_start COMMAND...: runs until the test ends (or load_stop). Its pid goes to LOAD_PID.
load_start() {
    "$@" >/dev/null 2>&1 </dev/null &
    LOAD_PID=$!
    lib_pids+=("$LOAD_PID")
}

# load_stop PID: ends one of them now.
load_stop() {
    local pid keep=()
    for pid in "${lib_pids[@]}"; do
        [ "$pid" = "$1" ] || keep+=("$pid")
    done
    lib_pids=(${keep[@]+"${keep[@]}"})
    kill "$1" 2>/dev/null
    wait "$1" 2>/dev/null
}

# within VALUE LOW HIGH: LOW <= VALUE <= HIGH, as decimal numbers; anything else than a number is not within.
within() {
    awk -v v="$1" -v low="$2" -v high="$3" 'BEGIN {
        if (v ~ /^-?[0-9]+(\.[0-9]+)?$/ && v + 0 >= low + 0 && v + 0 <= high + 0)
            exit 0
        printf "%s is not within %s and %s\n", v, low, high
        exit 1
    }'
}

done_testing() {
    [ "$lib_lines" -gt 0 ] && [ "$lib_failed" -eq 0 ]
    exit $?
}
