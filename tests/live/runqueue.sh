#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run-queue latency in `hog cpu`: against the kernel's counts (/proc/PID/schedstat: wait and timeslices), and its
# distribution against a load that takes the CPU for a known time.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
LOADS=$BUILD/tests/load
cpu=$(($(nproc) - 1))

halt() { # a stopped task waits for nothing
    kill -STOP "$1"
    eventually grep -q '^State:.T' /proc/"$1"/status
}

sum() { # sum COLUMN PID
    column_of "$TMP/out" cpu "$1" pid="$2" | awk '{ sum += $1 } END { printf "%.3f\n", sum }'
}

about() { # about VALUE TRUTH PERCENT LEAST
    within "$1" "$(awk -v t="$2" -v p="$3" -v least="$4" 'BEGIN { print t - t * p / 100 - least }')" \
        "$(awk -v t="$2" -v p="$3" -v least="$4" 'BEGIN { print t + t * p / 100 + least }')"
}

# ---- as the kernel counts ----

# same_as_kernel NAME PID: all threads, the whole life inside the measurement. A task that runs for one microsecond at a
# window's end has a row in the next window only if it runs there: the rows have all other waits.
same_as_kernel() {
    check "$1: wait_ms is the kernel's" about "$(sum wait_ms "$2")" "${WAIT[$2]}" 2 2
    check "$1: wait_count is how often it came on a CPU" about "$(sum wait_count "$2")" "${TIMES[$2]}" 1 20
}

WAIT=() TIMES=()
measure cpu -k 10000 0.1 || exit 1
load_start taskset -c "$cpu" "$LOADS/duty" 1000 && busy=$LOAD_PID
load_start taskset -c "$cpu" "$LOADS/duty" 1000 && other=$LOAD_PID
load_start "$LOADS/duty" 1000 200 800 8 && threads=$LOAD_PID
load_start "$LOADS/duty" 1000 1000 1000 && sleeper=$LOAD_PID
sleep 2.5
for pid in $busy $threads $sleeper; do
    halt "$pid" || exit 1
    WAIT[pid]=$(cat "/proc/$pid/task"/*/schedstat | awk '{ ms += $2 / 1e6 } END { printf "%.3f\n", ms }')
    TIMES[pid]=$(cat "/proc/$pid/task"/*/schedstat | awk '{ n += $3 } END { print n }')
done
measured
for pid in $busy $threads $sleeper; do
    kill -CONT "$pid"
    load_stop "$pid"
done
load_stop "$other"
same_as_kernel 'two on one CPU' "$busy"
same_as_kernel 'eight threads that sleep and wake' "$threads"
same_as_kernel 'one that sleeps and wakes' "$sleeper"

# ---- the distribution ----

# Real time, so that no other task interferes: one with priority 10 takes 4 of 40 ms from one with priority 5.
load_start taskset -c "$cpu" chrt -f 10 "$LOADS/duty" 1000 4000 36000 && taker=$LOAD_PID
load_start taskset -c "$cpu" chrt -f 5 "$LOADS/duty" 1000 400000 400000 && victim=$LOAD_PID
sleep 0.3
"$HOG" cpu -w -k 10000 3 1 >"$TMP/out"
load_stop "$victim"
load_stop "$taker"
show() { column_of "$TMP/out" cpu "$1" pid="$victim"; }
check 'a wait of 4 ms again and again: the median' within "$(show wait_p50_us)" 3750 4600
check 'a wait of 4 ms again and again: p99 is no less' within "$(show wait_p99_us)" 3750 20000
check 'a wait of 4 ms again and again: nor the longest' within "$(show wait_max_us)" 3990 20000
in_order() {
    awk "$BY_NAME"'$1 == "cpu" && col("wait_count") > 0 && col("wait_p50_us") != "-" { n++; if (col("wait_p50_us") > col("wait_p99_us") || col("wait_p99_us") > col("wait_max_us")) { bad++; print } }
        $1 == "cpu" && col("wait_count") == 0 && (col("wait_p50_us") col("wait_p99_us") col("wait_max_us") != "---") { bad++; print } END { exit !n || bad }' "$TMP/out"
}
check 'p50 <= p99 <= max in every row' in_order
load_start sleep 60
"$HOG" cpu -w -p "$LOAD_PID" 0.3 1 >"$TMP/out"
check 'an idle task waited for nothing' test "$(awk "$BY_NAME"'$1 == "cpu" { print col("wait_ms"), col("wait_count"), col("wait_p50_us") }' "$TMP/out")" = '0.000 0 -'
done_testing
