#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# How hog ends with --alert and with why, and what thresholds change, next to loads of known use.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"

# ends STATUS WINDOWS ARGUMENT...: hog ends with this status after that many windows. -p, because other processes may use the
# CPUs, too.
ends() {
    local want=$1 windows=$2 status
    shift 2
    timeout 20 "$HOG" "$@" >"$TMP/out" 2>"$TMP/err"
    status=$?
    echo "status $status, $(grep -c '^#window' "$TMP/out") windows: $(tail -n 1 "$TMP/out") $(cat "$TMP/err")"
    [ "$status" = "$want" ] && [ "$(grep -c '^#window' "$TMP/out")" = "$windows" ]
}

# alerts N VERDICTS ARGUMENT...: hog ends with status 4 at the Nth consecutive window that has one of the verdicts, and not
# before; each is given by an option of its own. A process whose CPU is taken away may have a window without a verdict.
alerts() {
    local want=$1 verdicts=$2 verdict options=() status
    shift 2
    for verdict in ${verdicts//,/ }; do
        options+=(--alert "$verdict")
    done
    timeout 30 "$HOG" "${options[@]}" "$@" >"$TMP/out" 2>"$TMP/err"
    status=$?
    echo "status $status"
    cat "$TMP/err" "$TMP/out"
    [ "$status" = 4 ] && awk -v want="$want" -v verdicts=",$verdicts," "$BY_NAME"'
        $1 == "#window" { if (row == want) early = 1; windows++; has = 0 }
        $1 == "top" { has = index(verdicts, "," col("verdict") ",") > 0; row = has ? row + 1 : 0; rows++ }
        END { exit early || row != want || rows != windows }' "$TMP/out"
}

# The load has its 90 percent of a CPU, whatever else runs; it may make other processes wait.
chrt -f 1 true 2>/dev/null && first=(chrt -f 1)
load_start ${first[@]+"${first[@]}"} "$BUILD/tests/load/duty" 1000 900 100
busy=$LOAD_PID
load_start sleep 60
idle=$LOAD_PID
sleep 0.2
check 'a window that has it: status 4' alerts 1 cpu-bound,noisy --thresholds cpu_bound_pct=40 -p "$busy" 1 10
check 'the window is written by then' grep -Eq '^top .* (cpu-bound|noisy) ' "$TMP/out"
check 'three of them in a row' alerts 3 io-bound,cpu-bound,noisy --alert noisy:3 --thresholds cpu_bound_pct=40 -p "$busy" 1 15
check 'a process that sleeps: none' ends 0 2 --alert cpu-bound,starved,noisy -p "$idle" 1 2
check 'another verdict: none' ends 0 2 --alert throttled -p "$busy" 1 2
check 'a threshold that the load does not reach: none' ends 0 2 --alert cpu-bound --thresholds cpu_bound_pct=99,busy_pct=1000 -p "$busy" 1 2
printf 'cpu_bound_pct 99 # more than it has\nbusy_pct 1000\n' >"$TMP/thresholds"
check 'the same from a file' ends 0 2 --alert cpu-bound --thresholds "$TMP/thresholds" -p "$busy" 1 2
check 'in JSON, too' ends 4 0 --alert cpu-bound,noisy -o json -p "$busy" 1 5
check 'each line of that is whole' jq -e .type "$TMP/out"

asked_to_end() { # by a signal, before as many windows as --alert wants
    "$HOG" --alert cpu-bound,noisy:1000 -p "$busy" 0.5 >"$TMP/out" 2>"$TMP/err" &
    local hog=$! status
    lib_pids+=("$hog")
    sleep 1.7
    kill -TERM "$hog"
    wait "$hog"
    status=$?
    echo "status $status: $(tail -n 1 "$TMP/out") $(cat "$TMP/err")"
    [ "$status" = 0 ] && grep -q '^#window seq=3' "$TMP/out"
}
check 'a signal before: status 0' asked_to_end
no_reader() {
    timeout 20 "$HOG" --alert cpu-bound,noisy:3 -p "$busy" 0.5 20 2>"$TMP/err" | head -n 1 >/dev/null
    [ "${PIPESTATUS[0]}" = 0 ]
}
check 'a reader that has gone: status 0' no_reader

# ---- why ----

one_row() {
    cat "$TMP/out"
    jq -es --argjson pid "$busy" 'map(select(.type == "row")) | length == 2 and all(.pid == $pid)' "$TMP/out" &&
        jq -es --argjson pid "$busy" 'any(.type == "why" and .pid == $pid and .rule == "cpu-bound" and .holds == "yes")' "$TMP/out"
}
check 'why: one process' ends 0 0 why "$busy" -o json --thresholds cpu_bound_pct=40 1 2
check 'why: only its rows, and what its verdict is made of' one_row
says_end() {
    timeout 20 "$HOG" why "$idle" 0.2 100 >"$TMP/out" 2>"$TMP/err" &
    local hog=$! status
    lib_pids+=("$hog")
    sleep 0.8
    load_stop "$idle"
    wait "$hog"
    status=$?
    cat "$TMP/out"
    [ "$status" = 0 ] && [ "$(grep -v '^#self' "$TMP/out" | tail -n 1)" = "Process $idle has ended." ]
}
check 'why: a process that ends: hog says so and ends' says_end
check 'why: a process that is gone: status 1' ends 1 0 why "$idle" 1 2
check 'why: a process that is gone: hog says so' grep -qx "hog: why: no process, name or unit \"$idle\"" "$TMP/err"
done_testing
