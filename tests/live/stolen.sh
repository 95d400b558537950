#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What a hypervisor takes from a CPU is nobody's time, and who could have run there is starved by it.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
LOADS=$BUILD/tests/load
cpu=$(($(nproc) - 1))

# stolen_from VIEW OPTION...: windows of half a second while two fifths of that CPU are taken; the first has no thief yet.
stolen_from() {
    local hog status
    measure "$@" 0.5 6 || return
    hog=$HOG_PID
    load_start "$LOADS/thief" "$cpu" 40
    wait "$hog"
    status=$?
    load_stop "$LOAD_PID"
    head -n 60 "$TMP/out"
    return "$status"
}

# in_half CONDITION: of awk, holds for at least half of the windows after the first. w: the fields of its line; r: those of the
# row of the busy process.
in_half() {
    awk -v pid="$busy" '
        $1 ~ /^#(top|cpu)$/ { for (i = 2; i <= NF; i++) at[$i] = i }
        $1 == "#window" { n++; for (i = 2; i <= NF; i++) { split($i, a, "="); w[a[1]] = a[2] } }
        $1 ~ /^(top|cpu)$/ && $at["pid"] == pid && n > 1 { for (name in at) r[name] = $at[name]; rows++; good += ('"$1"') }
        END { print good + 0 " of " rows + 0 " windows"; exit !rows || good < rows / 2 }' "$TMP/out"
}

adds_up() {
    awk '$1 == "#window" { for (i = 2; i <= NF; i++) { split($i, a, "="); f[a[1]] = a[2] }
             off = f["run_ms"] + f["other_ms"] + f["idle_ms"] + f["missed_ms"] + f["stolen_ms"] + f["lost_ms"] - f["cpus"] * f["dur_ms"]
             n++; if (off > 0.01 || off < -0.01) { bad++; print "window " f["seq"] ": off by " off " ms" } }
         END { exit !n || bad }' "$TMP/out"
}

# It leaves its CPU 20 times a second, or so seldom that stints are longer than windows.
for load in '40000 10000' '1000000 0'; do
    # shellcheck disable=SC2086 # two numbers
    load_start taskset -c "$cpu" "$LOADS/duty" 1000 $load
    busy=$LOAD_PID
    name=${load/000 */ ms at a time}
    sleep 0.2
    measure cpu 60
    timeout 5 "$LOADS/thief" "$cpu" 0 >"$TMP/thief"
    status=$?
    load_end_hog() { kill "$HOG_PID" && wait "$HOG_PID"; }
    load_end_hog
    if [ "$status" = 3 ]; then
        skip "$name" 'needs STEAL: nothing was ever taken from its CPU, or it is not told'
        load_stop "$busy"
        continue
    fi
    check "$name: hog ran with a thief" stolen_from cpu -k 1000
    check "$name: two fifths of its CPU are in stolen_ms" in_half 'w["stolen_ms"] > 100 && w["stolen_ms"] < 260'
    check "$name: and not in its time" in_half 'r["run_ms"] > 200 && r["run_ms"] < 370'
    check "$name: all times add up" adds_up
    check "$name: the same with --exact" stolen_from cpu --exact -k 1000
    check "$name: two fifths, exact" in_half 'w["stolen_ms"] > 100 && w["stolen_ms"] < 260'
    check "$name: all times add up, exact" adds_up
    check "$name: hog top ran with a thief" stolen_from top -k 1000 --explain
    check "$name: its part is in stolen_pct" in_half 'r["stolen_pct"] > 15 && r["stolen_pct"] < 50'
    check "$name: starved, by the hypervisor" in_half 'r["verdict"] == "starved" && r["by"] ~ /^\[steal\]/'
    check "$name: and why" grep -q "^#why pid=$busy time=stolen " "$TMP/out"
    load_stop "$busy"
done
done_testing
