#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Every nanosecond of every CPU is accounted for in each window: in a row, or in other, idle, missed, stolen or lost.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
LOADS=$BUILD/tests/load

# Of the rows, not run_ms= of the window's line: that sum is checked against them. 1 us for the rounding of each number.
adds_up() {
    head -n 3 "$TMP/out"
    awk -v most=10000 "$BY_NAME"'
        function check(w) {
            off = rows[w] + win("other_ms", w) + win("idle_ms", w) + win("missed_ms", w) + win("stolen_ms", w) + win("lost_ms", w) - win("cpus", w) * win("dur_ms", w)
            rounding = 0.001 * (n[w] + 10)
            if (off > rounding || off < -rounding) { bad++; print "window " w ": the sum is off by " off " ms" }
            off = rows[w] - win("run_ms", w)
            if (off > rounding || off < -rounding) { bad++; print "window " w ": run_ms is off by " off " ms" }
            if (n[w] == most) { bad++; print "too many rows" }
        }
        $1 == "cpu" { rows[WINDOW] += col("run_ms"); n[WINDOW]++; if (col("run_ms") < 0) { bad++; print "negative: " $0 } }
        END { for (w = 1; w <= WINDOW; w++) check(w); exit (WINDOW < 2 || bad > 0) }' "$TMP/out" >"$TMP/off"
    local status=$?
    cat "$TMP/off"
    return "$status"
}

cpus_are() {
    head -n 3 "$TMP/out"
    [ "$(field_of cpus | sort -u)" = "$1" ]
}

lost_is_said() { # lost_is_said no|yes
    paste <(field_of lost) <(field_of lost_ms) | tee "$TMP/lost"
    awk -v want="$1" '{ some += $1 > 0 && $2 > 0; one += !$1 && $2 > 0 }
         END { exit !NR || one || (want == "yes") != (some > 0) }' "$TMP/lost"
}

# steal_ms: all CPUs, since boot; some kernels count what interrupts lose separately.
steal_ms() {
    awk '$1 == "cpu" { print $9 * 10, ($7 + $8 + $9) * 10 }' /proc/stat
}

# The windows' stolen_ms are no more than what the kernel reported meanwhile, in ticks of 10 ms; time stolen while nothing
# wanted to run is not in them.
stolen_is_told() {
    local before after
    before=$(steal_ms)
    run 0.5 8
    after=$(steal_ms)
    field_of stolen_ms | awk -v before="$before" -v after="$after" -v cpus="$(nproc)" '
        BEGIN { split(before, b); split(after, a); high = a[2] - b[2] + 10 + 10 * cpus }
        { sum += $1; negative += $1 < 0 }
        END { print "stolen " sum " ms, by the kernel " a[1] - b[1] ".." a[2] - b[2]; exit NR != 8 || negative || sum > high }'
}

run() {
    "$HOG" cpu -w -k 10000 "$@" >"$TMP/out"
}

load_start "$LOADS/duty" 1000 1000 1000 4
duty=$LOAD_PID
load_start "$LOADS/duty" 1000 50 200
run 1 2
check 'sketch, 1 s' adds_up
check 'cpus= is what nproc says' cpus_are "$(nproc --all)"
run 0.01 50
check 'sketch, 10 ms' adds_up
run 0.001 300
check 'sketch, 1 ms' adds_up
check 'no more is stolen than the kernel says' stolen_is_told
check 'sketch, 500 ms' adds_up
run --exact 0.2 5
check 'exact, 200 ms' adds_up
check 'exact loses nothing' lost_is_said no
run --exact 0.001 300
check 'exact, 1 ms' adds_up
run -t 0.01 50
check 'threads, 10 ms' adds_up
run -p "$duty" 0.1 5
check 'chosen process, 100 ms' adds_up
run -p "$duty" -t 0.001 300
check 'threads of a chosen process, 1 ms' adds_up

load_start "$LOADS/storm" 100 50 4
run 0.5 3
check 'storm of processes, 500 ms' adds_up
run 0.01 100
check 'storm of processes, 10 ms' adds_up
run --exact 0.2 5
check 'storm of processes, exact' adds_up
check 'storm of processes, exact: nothing lost' lost_is_said no
run -t 0.1 5
check 'storm of processes, threads' adds_up
run --stages 1 --slots 8 0.5 3
check 'storm of processes, the smallest sketch' adds_up
check 'what the smallest sketch drops is in lost= and lost_ms=' lost_is_said yes
run --stages 8 --slots 1024 0.2 5
check 'storm of processes, the largest sketch' adds_up
check 'the largest sketch loses nothing in 200 ms' lost_is_said no
done_testing
