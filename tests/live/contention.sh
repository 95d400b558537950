#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# `hog contention` against the wait that the kernel counts for each task (second field of schedstat) and against what
# the loads are made to do to each other.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
LOADS=$BUILD/tests/load
cpu=$(($(nproc) - 1))

# A load on one CPU, in the session's group of the scheduler with the others. Its pid: LOAD_PID.
pinned() {
    load_start taskset -c "$cpu" "$@"
}

# Stopped, it waits for nothing: what the kernel counted for it is whole. All threads.
halt() {
    kill -STOP "$1"
    for _ in $(seq 100); do
        grep -q '^State:.T' /proc/"$1"/status && return
        sleep 0.02
    done
    return 1
}

waited_ms() {
    cat "/proc/$1/task"/*/schedstat | awk '{ ms += $2 / 1e6 } END { printf "%.3f\n", ms }'
}

# pairs_ms AWK-CONDITION: wait_ms of all rows that are so: 3 victim, 4 aggressor, 5 count, 6 wait_ms, 8 kind, 12 comm.
pairs_ms() {
    awk '$1 == "contention" && ('"$1"') { sum += $6 } END { printf "%.3f\n", sum }' "$TMP/out"
}

about() { # about MS TRUTH PERCENT [MS]
    [ -n "$2" ] && within "$1" "$(awk -v t="$2" -v p="$3" -v ms="${4:-2}" 'BEGIN { print t - t * p / 100 - ms }')" \
        "$(awk -v t="$2" -v p="$3" -v ms="${4:-2}" 'BEGIN { print t + t * p / 100 + ms }')"
}

at_least() { # at_least VALUE PERCENT OF
    echo "$1 is not $2 percent of $3"
    awk -v v="$1" -v p="$2" -v of="$3" 'BEGIN { exit !(of > 0 && v >= of * p / 100) }'
}

# ---- three on one CPU ----

measure contention -k 10000 0.5 || exit 1
pinned "$LOADS/duty" 60
a=$LOAD_PID
pinned nice -n 5 "$LOADS/duty" 60
b=$LOAD_PID
pinned "$LOADS/duty" 60
victim=$LOAD_PID
sleep 4
halt "$victim" && truth=$(waited_ms "$victim")
ran_a=$(awk '{ print $1 / 1e6 }' "/proc/$a/schedstat") ran_b=$(awk '{ print $1 / 1e6 }' "/proc/$b/schedstat")
measured
load_stop "$a"
load_stop "$b"
kill -CONT "$victim"
load_stop "$victim"
echo "truth $truth"
check 'hogs beside a victim: its pairs add up to the wait that the kernel counts' about "$(pairs_ms "\$3 == $victim")" "$truth" 2
check 'hogs beside a victim: they are the aggressors' at_least X "$truth"
by_weight() { # as they ran
    awk -v a="$(pairs_ms "\$3 == $victim && \$4 == $a")" -v b="$(pairs_ms "\$3 == $victim && \$4 == $b")" \
        -v ran_a="$ran_a" -v ran_b="$ran_b" 'BEGIN { printf "%.3f of %.3f and %.3f of %.3f ms\n", a, ran_a, b, ran_b
            exit !(b > 0 && ran_b > 0 && a / b > 0.8 * ran_a / ran_b && a / b < 1.25 * ran_a / ran_b) }'
}
check 'hogs beside a victim: each by the time that it ran' by_weight
check 'hogs beside a victim: it was preempted' at_least "$(pairs_ms "\$3 == $victim && \$8 == \"preempt\"")" 90 "$truth"
done_testing
