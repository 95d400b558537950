# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the tests on the live kernel share. A test sources it, checks, and ends with `done_testing`.
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
BY_NAME=$(cat tests/rows.awk)
lib_failed=0 lib_lines=0 lib_pids=()

lib_cleanup() {
    local pid
    for pid in ${lib_pids[@]+"${lib_pids[@]}"}; do
        kill "$pid" 2>/dev/null
    done
    sleep 0.1
    for pid in ${lib_pids[@]+"${lib_pids[@]}"}; do
        kill -9 "$pid" 2>/dev/null # some block the other signals: unshare --fork
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
    head -n 40 "$TMP/check.log" | NAME=$name awk '{ print ENVIRON["NAME"] ": " $0 }' >&2
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

# eventually COMMAND...: within half a minute; otherwise the status of the last attempt.
eventually() {
    for _ in $(seq 600); do
        "$@" && return
        sleep 0.05
    done
    "$@"
}

# load_ready NAME COMMAND...: a load that reads orders and has said `ready`; its messages are in $TMP/NAME. Its pid goes to
# LOAD_PID, the descriptor of its orders to GO.
load_ready() {
    rm -f "$TMP/$1.orders"
    mkfifo "$TMP/$1.orders"
    "${@:2}" <"$TMP/$1.orders" >"$TMP/$1" 2>&1 &
    LOAD_PID=$!
    lib_pids+=("$LOAD_PID")
    exec {GO}>"$TMP/$1.orders"
    eventually grep -q ready "$TMP/$1"
}

# load_order NAME ORDER: to the latest of them; returns when the load has said that it is done.
load_order() {
    echo "$2" >&"$GO"
    eventually grep -qx "done $2" "$TMP/$1"
}

# load_end: no more orders for the latest of them; it ends.
load_end() {
    exec {GO}>&-
    wait "$LOAD_PID"
    load_stop "$LOAD_PID"
}

# within VALUE LOW HIGH: LOW <= VALUE <= HIGH, as decimal numbers; anything that is no number is not within.
within() {
    awk -v v="$1" -v low="$2" -v high="$3" 'BEGIN {
        if (v ~ /^-?[0-9]+(\.[0-9]+)?$/ && v + 0 >= low + 0 && v + 0 <= high + 0)
            exit 0
        printf "%s is not within %s and %s\n", v, low, high
        exit 1
    }'
}

# refuses STATUS PATTERN ARGUMENT...: hog ends with that status, prints nothing on stdout, and one matching line on stderr.
refuses() {
    timeout 60 "$HOG" "${@:3}" >"$TMP/out" 2>"$TMP/err" </dev/null
    local status=$?
    echo "status $status"
    cat "$TMP/out" "$TMP/err"
    [ "$status $(wc -l <"$TMP/err") $(wc -c <"$TMP/out")" = "$1 1 0" ] && grep -qE -- "$2" "$TMP/err"
}

# Some hosts do not report the switches of some threads of PID 1, not to perf either. Their time cannot be distinguished from
# that of the task before them: that much may be in the wrong row. And time that the host of a virtual machine took away is
# not in the CPU clocks, but in hog's times if they come from classic tracepoints. Prints the CPU time of PID 1, all threads,
# plus stolen time, in ms.
unsure_ms() {
    { cat /proc/1/task/*/schedstat 2>/dev/null && cat /proc/stat; } |
        awk '$1 == "cpu" { ms += $9 * 10 } NF == 3 && $1 ~ /^[0-9]+$/ { ms += $1 / 1e6 } END { printf "%.3f\n", ms }'
}
UNSURE_BEFORE=$(unsure_ms) UNSURE=0

# Since then; a host that ever stole time may have stolen up to a tick more than it has reported.
unsure_since() {
    awk -v a="$1" -v b="$(unsure_ms)" '$1 == "cpu" { print b - a + ($9 > 0) * 10 }' /proc/stat
}

# measure ARGUMENTS...: hog in the background with -w, its output in $TMP/out. Returns when it measures.
measure() {
    local wide=(-w)
    [ "$1" != why ] || wide=() # it has no rows
    UNSURE_BEFORE=$(unsure_ms)
    rm -f "$TMP/out" "$TMP/err" # the output of the previous run must not be taken for its own
    "$HOG" -v ${wide[@]+"${wide[@]}"} "$@" >"$TMP/out" 2>"$TMP/err" </dev/null &
    HOG_PID=$!
    lib_pids+=("$HOG_PID")
    for _ in $(seq 200); do
        # The last hook is attached right before the first window begins.
        grep -qs ': exit: ' "$TMP/err" && sleep 0.1 && return 0
        kill -0 "$HOG_PID" 2>/dev/null || break
        sleep 0.02
    done
    cat "$TMP/err"
    return 1
}

# measured: ends hog with the window so far. Returns its status.
measured() {
    local status
    kill -TERM "$HOG_PID" 2>/dev/null
    wait "$HOG_PID"
    status=$?
    UNSURE=$(unsure_since "$UNSURE_BEFORE")
    return "$status"
}

windows() { grep -c '^#window' "$TMP/out"; }

# next_windows N: returns when N more have been shown.
next_windows() {
    eventually lib_has_windows "$(($(windows) + $1))"
}
lib_has_windows() { [ "$(windows)" -ge "$1" ]; }

# counting ARGUMENTS...: as measure; the first window has been shown, so everything from now on is counted.
counting() {
    measure "$@" && next_windows 1
}

# field_of FIELD [FILE]: that field of each window of $TMP/out, a line each.
field_of() {
    awk -v name="$1" "$BY_NAME"'END { for (n = 1; n <= WINDOW; n++) print win(name, n) }' "${2-$TMP/out}"
}

# window_sum FIELD [FILE]: over all windows of $TMP/out.
window_sum() {
    field_of "$@" | awk '{ n += $1 } END { printf "%.12g\n", n }'
}

# column_of FILE VIEW NAME [NAME=VALUE]...: that column of each matching row.
column_of() {
    awk -v view="$2" -v name="$3" -v wanted="${*:4}" "$BY_NAME"'
        BEGIN { n = split(wanted, want, " ") }
        $1 == view {
            for (i = 1; i <= n; i++) {
                equals = index(want[i], "=")
                if (col(substr(want[i], 1, equals - 1)) "" != substr(want[i], equals + 1) "")
                    next
            }
            print col(name)
        }' "$1"
}

# column_sum FILE VIEW NAME [NAME=VALUE]...: their sum; `-` if no row knows it.
column_sum() {
    column_of "$@" | awk '$1 != "-" { n += $1; known++ } END { printf known ? "%.12g\n" : "-\n", n }'
}

# run_ms [NAME=VALUE]...: all time on a CPU in the matching rows of $TMP/out, in all windows.
run_ms() {
    column_of "$TMP/out" cpu run_ms "$@" | awk '{ sum += $1 } END { printf "%.3f\n", sum }'
}

# row_count VIEW [NAME=VALUE]...: how many rows of $TMP/out match.
row_count() {
    column_of "$TMP/out" "$1" comm "${@:2}" | wc -l
}

# told FIELD FILE [WORD]: what a load reported: in `pid=7 cpu_ms=9` the field pid is 7. From the last line, or the last one
# with the word.
told() {
    grep -F -- "${3-}" "$2" | tr ' ' '\n' | sed -n "s/^$1=//p" | tail -n 1
}

# agrees MS TRUTH_MS: equal within 2 percent, 2 ms, and the time that cannot be attributed for certain.
agrees() {
    [ -n "$2" ] && within "$1" "$(awk -v t="$2" -v p="$UNSURE" 'BEGIN { print t * 0.98 - 2 - p }')" \
        "$(awk -v t="$2" -v p="$UNSURE" 'BEGIN { print t * 1.02 + 2 + p }')"
}

done_testing() {
    [ "$lib_lines" -gt 0 ] && [ "$lib_failed" -eq 0 ]
    exit $?
}
