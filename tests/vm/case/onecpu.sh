# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# One CPU, which hog shares with a loop that never leaves it voluntarily: short windows come, everything adds up, and no task
# starves.

# All windows come, each accounts for all time of the CPU, and the loop has its part.
short_windows() {
    timeout 60 hog cpu -w 0.01 100 >/tmp/short
    status=$?
    grep -E '^#(window|totals)' /tmp/short | tail -n 10
    [ $status = 0 ] && awk -v pid="$LOOP" "$BY_NAME"'$1 == "cpu" && col("pid") == pid { loop += col("run_ms") }
        END {
            for (w = 1; w <= WINDOW; w++) {
                sum = win("run_ms", w) + win("other_ms", w) + win("idle_ms", w) + win("missed_ms", w) + win("stolen_ms", w) + win("lost_ms", w) - win("dur_ms", w)
                bad += win("cpus", w) != 1 || sum > 0.02 || sum < -0.02
            }
            print WINDOW " windows, " bad + 0 " bad, loop " loop " ms"; exit WINDOW != 100 || bad || loop < 200
        }' /tmp/short
}

tracked() { # the loop's time by hog track is what the scheduler counts around it
    BEFORE=$(on_cpu_ms)
    timeout 60 hog track "$LOOP" -w -i 10ms -n 100 >/tmp/track
    status=$?
    AFTER=$(on_cpu_ms)
    sum=$(awk "$BY_NAME"'$1 == "track" { sum += col("run_ms"); n++ } END { if (n == 100) print sum }' /tmp/track)
    [ $status = 0 ] && within "$sum" 200 "$(echo "$BEFORE $AFTER" | awk '{ print $2 - $1 + 2 }')"
}

# A virtual CPU may stand still for longer than a window while hog is on it: then the loop is not first in that window.
is_heaviest() {
    awk "$BY_NAME"'$1 == "cpu" { sum[col("pid")] += col("run_ms") } END { for (pid in sum) print sum[pid], pid }' /tmp/hog.out | sort -rn >/tmp/heaviest
    cat /tmp/heaviest
    [ "$(head -n 1 /tmp/heaviest | cut -d ' ' -f 2)" = "$LOOP" ]
}

check 'one CPU is online' test "$(nproc)" = 1
views 'one CPU'
run_hog
check 'hog cpu: the busy loop is the first of all windows together' is_heaviest
check 'hog cpu: its time is not more than the scheduler counts' within "$(seen_ms)" 200 "$(echo "$BEFORE $AFTER" | awk '{ print $2 - $1 + 2 }')"
check 'hog cpu: 100 windows of 10 ms, in each all time is somewhere' short_windows
# A task that wants the only CPU waits for the loop.
run_top
check 'hog top: the loop is cpu-bound, or others make it wait' test "$(of_row verdict "$LOOP")" = cpu-bound -o "$(of_row verdict "$LOOP")" = starved
check 'hog top: the loop has most of the CPU' within "$(of_row cpu_pct "$LOOP")" 50 101
check 'hog track: 100 windows of 10 ms, with what the scheduler counts' tracked
