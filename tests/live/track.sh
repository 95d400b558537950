#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# `hog track`: a grid of short windows that does not drift, and no time of a process is lost.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
LOADS=$BUILD/tests/load

# How far windows begin off the grid, in order, ms. Skipped windows are on the grid, too.
offsets() { # offsets INTERVAL_MS
    awk -v step="$1" "$BY_NAME"'
        $1 == "track" && ROW == 1 { begun[WINDOW] = col("t_ms") }
        END {
            for (w = 1; w <= WINDOW; w++) {
                if (w in begun) printf "%.3f\n", begun[w] - point * step
                point += 1 + win("skipped", w)
            }
        }' "$TMP/out"
}

median() {
    sort -n | awk '{ v[NR] = $1 } END { if (NR) print v[int((NR + 1) / 2)]; else print "none" }'
}

never_early() {
    awk '{ n++; bad += $1 < -0.001 } END { print n + 0, "windows,", bad + 0, "too early"; exit !n || bad }' "$TMP/offsets"
}

no_drift() {
    [ -s "$TMP/offsets" ] && within "$(awk -v a="$(head -n 50 "$TMP/offsets" | median)" -v b="$(tail -n 50 "$TMP/offsets" | median)" 'BEGIN { print b - a }')" -2 2
}

a_row_each() {
    awk -v windows="$1" "$BY_NAME"'$1 == "track" { row[WINDOW, col("pid")]++; n++ }
        END { for (i in row) bad += row[i] != 1; print WINDOW, "windows,", n, "rows"; exit !(WINDOW == windows && n == 2 * windows && !bad) }' "$TMP/out"
}

sum_of() {
    awk -v pid="$1" "$BY_NAME"'$1 == "track" && col("pid") == pid { sum += col("run_ms") } END { print sum + 0 }' "$TMP/out"
}

rows_of() {
    awk -v pid="$1" "$BY_NAME"'$1 == "track" && col("pid") == pid { rows++ } END { print rows + 0 }' "$TMP/out"
}

load_start "$LOADS/duty" 1000
busy=$LOAD_PID
load_start sleep 100
idle=$LOAD_PID
sleep 0.1

for case in '10 150' '1 1000'; do
    read -r step count <<<"$case"
    "$HOG" track "$busy" "$idle" -w -i "${step}ms" -n "$count" >"$TMP/out"
    offsets "$step" >"$TMP/offsets"
    check "$step ms: a row a window and process" a_row_each "$count"
    check "$step ms: no window begins before its time" never_early
    check "$step ms: windows do not drift" no_drift
    check "$step ms: the median window begins within 1 ms" within "$(median <"$TMP/offsets")" 0 1
    check "$step ms: a sleeping process has nothing" test "$(rows_of "$idle") $(sum_of "$idle")" = "$count 0"
done

check 'without -i windows of 10 ms' within \
    "$("$HOG" track "$idle" -n 30 >"$TMP/out" && field_of dur_ms | median)" 9 11

# ---- nothing is lost: a life inside the run, against the load's own CPU clock ----

go=$TMP/go
mkfifo "$go"
for step in 10 1; do
    UNSURE_BEFORE=$(unsure_ms)
    # exec keeps the PID, so it is known before the load begins.
    bash -c 'read -r <"$1"; shift; exec "$@"' - "$go" "$LOADS/duty" 0.7 3000 2000 >"$TMP/a" &
    pid=$!
    "$HOG" -v -w track "$pid" -i "${step}ms" >"$TMP/out" 2>"$TMP/err" &
    HOG_PID=$!
    lib_pids+=("$HOG_PID" "$pid")
    until grep -q '^#window' "$TMP/out" || ! kill -0 "$HOG_PID" 2>/dev/null; do
        sleep 0.02
    done
    had=$(awk '{ print $1 / 1e6 }' "/proc/$pid/schedstat")
    echo go >"$go"
    wait "$pid"
    measured # it has ended already: its own status
    check "$step ms: ends when the process ends" test $? = 0
    check "$step ms: a whole life adds up to its CPU clock" \
        agrees "$(sum_of "$pid")" "$(awk -v had="$had" -v all="$(told cpu_ms "$TMP/a")" 'BEGIN { print all - had }')"
    check "$step ms: and its end is said" test "$(grep '^#exit' "$TMP/out")" = "#exit pid=$pid"
done

# ---- hog itself is stopped for a while ----

stall_is_counted() { # within 500 ms / 10 ms, plus the time to stop and continue
    awk "$BY_NAME"'END {
        for (w = 1; w <= WINDOW; w++) {
            sum += win("skipped", w)
            if (win("skipped", w) > most) { most = win("skipped", w); long = win("dur_ms", w) }
        }
        print sum + 0, "skipped,", long, "ms"; exit !(most >= 45 && long >= 450)
    }' "$TMP/out"
}

measure track "$busy" -i 10ms
kill -STOP "$HOG_PID"
sleep 0.5
kill -CONT "$HOG_PID"
sleep 0.4
measured
offsets 10 >"$TMP/offsets"
check 'windows that did not happen are counted as skipped' stall_is_counted
check 'and the grid goes on' within "$(tail -n 20 "$TMP/offsets" | median)" 0 2
check 'and the time in between is not lost' within \
    "$(awk "$BY_NAME"'$1 == "#window" { ms += win("dur_ms") } $1 == "track" { run += col("run_ms") } END { print 100 * run / ms }' "$TMP/out")" \
    "$(awk "$BY_NAME"'$1 == "track" { if (col("cpu_pct") < low || !n++) low = col("cpu_pct") } END { print low }' "$TMP/out")" 101

# ---- woken on time ----

name='asks for real-time priority'
if chrt -f 1 true 2>/dev/null; then
    measure cpu 0.1
    chrt -p "$HOG_PID" >"$TMP/policy"
    measured
    check "$name" grep SCHED_FIFO "$TMP/policy"
else
    skip "$name" 'needs RTPRIO: the kernel refuses it to every process'
fi
done_testing
