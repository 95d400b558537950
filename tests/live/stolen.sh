#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Time that a hypervisor takes from a CPU belongs to no process, and a task that could have run there is starved by it.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
LOADS=$BUILD/tests/load
cpu=$(($(nproc) - 1))
# Whatever else runs: the load has its CPU, and the thief its moments, on another one if there is one.
chrt -f 1 true 2>/dev/null && first=(chrt -f 1) || first=(nice -n -20)

# stolen_from OPTION...: windows while two fifths of that CPU are stolen.
stolen_from() {
    local hog status
    measure "$@" || return
    hog=$HOG_PID
    load_start taskset -c 0 "${first[@]}" "$LOADS/thief" "$cpu" 40
    wait "$hog"
    status=$?
    load_stop "$LOAD_PID"
    head -n 60 "$TMP/out"
    return "$status"
}

# in_most CONDITION: an awk condition that holds for three quarters of the windows after the first, which has no thief yet.
# Columns of the load: col("x"); fields of the window: win("x").
in_most() {
    awk -v pid="$load_pid" "$BY_NAME"'
        $1 ~ /^(top|cpu)$/ && col("pid") == pid && WINDOW > 2 { rows++; good += ('"$1"') }
        END { print good + 0 " of " rows + 0 " windows"; exit !rows || good < rows * 0.75 }' "$TMP/out"
}

adds_up() {
    awk "$BY_NAME"'END {
        for (w = 1; w <= WINDOW; w++) {
            off = win("run_ms", w) + win("other_ms", w) + win("idle_ms", w) + win("missed_ms", w) + win("stolen_ms", w) + win("lost_ms", w) - win("cpus", w) * win("dur_ms", w)
            most = 0.005 + 0.001 * win("cpus", w)
            if (off > most || off < -most || win("stolen_ms", w) < 0) { bad++; print "window " w ": off by " off " ms" }
        }
        exit !WINDOW || bad }' "$TMP/out"
}

# duty ON_US OFF_US: on that CPU
duty() {
    load_start taskset -c "$cpu" "${first[@]}" "$LOADS/duty" 1000 "$@"
    load_pid=$LOAD_PID
    sleep 0.2
}

duty 200000 10000
measure cpu 60
timeout 1.5 "$LOADS/thief" "$cpu" 0 >"$TMP/thief"
status=$?
kill "$HOG_PID" && wait "$HOG_PID"
load_stop "$load_pid"
if [ "$status" = 3 ]; then
    skip 'what is stolen' 'needs STEAL: of the last CPU, 150 ms at least, reported by the kernel'
    done_testing
fi

# Timeslices of 40 ms in windows of half a second; and of 200 ms, which span several windows.
for load in '40000 10000 500 4' '200000 10000 50 40'; do
    read -r on off ms windows <<<"$load"
    name="$((on / 1000)) ms of $ms"
    interval=$(awk -v ms="$ms" 'BEGIN { print ms / 1000 }')
    share='win("stolen_ms") / win("dur_ms") * 100'
    duty "$on" "$off"
    check "$name: hog ran with a thief" stolen_from cpu -k 1000 "$interval" "$windows"
    check "$name: two fifths of its CPU are in stolen_ms" in_most "$share > 20 && $share < 50"
    check "$name: and not in its time" in_most 'col("cpu_pct") > 40 && col("cpu_pct") < 75'
    check "$name: all times add up" adds_up
    check "$name: the same with --exact" stolen_from cpu --exact -k 1000 "$interval" "$windows"
    check "$name: two fifths, exact" in_most "$share > 20 && $share < 50"
    check "$name: all times add up, exact" adds_up
    load_stop "$load_pid"
done

duty 40000 10000
check 'hog top ran with a thief' stolen_from top -k 1000 0.5 5
check 'its part is in stolen_pct' in_most 'col("stolen_pct") > 20 && col("stolen_pct") < 50'
check 'starved, by the hypervisor' in_most 'col("verdict") == "starved" && col("by") ~ /^\[(steal|interrupts)\]/'
check 'hog why ran with a thief' stolen_from why "$load_pid" 0.5 5
check 'which has the time' grep -qE 'lost to the hypervisor or' "$TMP/out"
load_stop "$load_pid"

# Time stolen from a CPU that no task wants is no task's loss. Where tasks want it, it is theirs.
wanted='win("idle_ms") < 0.9 * win("cpus") * win("dur_ms")'
duty 1000 99000
check 'a sleeping load: hog top ran with a thief' stolen_from top -k 1000 0.5 10
check 'a sleeping load: nothing was stolen from it' in_most "$wanted || (col(\"stolen_pct\") < 2 && col(\"verdict\") ~ /^(ok|idle)$/)"
check 'a sleeping load: nor from any other task' in_most "$wanted || win(\"stolen_ms\") < 20"
done_testing
