#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# `hog contention` against the wait that the kernel counts for each task (second field of schedstat) and against what the
# loads do to each other by design.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
LOADS=$BUILD/tests/load
cpu=$(($(nproc) - 1))

# A load on one CPU, in the same scheduler group (autogroup) as the others. Its pid: LOAD_PID.
pinned() {
    load_start taskset -c "$cpu" "$@"
}

# begin INTERVAL [OPTION...]: starts the measurement; everything after it is inside.
begin() {
    measure contention -k 10000 "${@:2}" "$1" || exit 1
}

# ends_with PID...: stops the loads, stores in WAITED what the kernel counted for each, ends hog, then the loads.
ends_with() {
    local pid
    WAITED=()
    for pid in "$@"; do halt "$pid" || exit 1; done
    for pid in "$@"; do WAITED[pid]=$(waited_ms "$pid"); done
    measured
    for pid in "$@"; do
        kill -CONT "$pid"
        load_stop "$pid"
    done
}

# A stopped task waits for nothing, so what the kernel counted for it is complete. The process is reported as stopped when
# its first thread is; its other threads may still wait for a CPU to get there.
halt() {
    kill -STOP "$1"
    eventually all_stopped "$1"
}
all_stopped() { ! grep -L '^State:.T' "/proc/$1/task"/*/status | grep -q .; }

waited_ms() {
    cat "/proc/$1/task"/*/schedstat | awk '{ ms += $2 / 1e6 } END { printf "%.3f\n", ms }'
}

# pairs_ms NAME=VALUE...: wait_ms of all matching rows.
pairs_ms() {
    column_of "$TMP/out" contention wait_ms "$@" | awk '{ sum += $1 } END { printf "%.3f\n", sum }'
}

about() { # about MS TRUTH PERCENT [MS]
    [ -n "$2" ] && within "$1" "$(awk -v t="$2" -v p="$3" -v ms="${4:-2}" 'BEGIN { print t - t * p / 100 - ms }')" \
        "$(awk -v t="$2" -v p="$3" -v ms="${4:-2}" 'BEGIN { print t + t * p / 100 + ms }')"
}

at_least() { # at_least VALUE PERCENT OF
    echo "$1 is not $2 percent of $3"
    awk -v v="$1" -v p="$2" -v of="$3" 'BEGIN { exit !(of > 0 && v >= of * p / 100) }'
}

adds_up() { # adds_up PID [PERCENT]
    echo "pairs $(pairs_ms victim="$1"), kernel ${WAITED[$1]}, lost $(window_sum wait_lost_ms)"
    about "$(pairs_ms victim="$1")" "${WAITED[$1]}" "${2:-2}"
}

# ---- three tasks on one CPU ----

begin 0.5
pinned "$LOADS/duty" 1000 && a=$LOAD_PID
pinned nice -n 5 "$LOADS/duty" 1000 && b=$LOAD_PID
pinned "$LOADS/duty" 1000 && victim=$LOAD_PID
sleep 3
halt "$a" && ran_a=$(awk '{ print $1 / 1e6 }' "/proc/$a/schedstat")
halt "$b" && ran_b=$(awk '{ print $1 / 1e6 }' "/proc/$b/schedstat")
ends_with "$victim" "$a" "$b"
check 'hogs next to a victim: its pairs add up to the wait that the kernel counts' adds_up "$victim"
check 'hogs next to a victim: so do those of the hogs' adds_up "$a"
check 'hogs next to a victim: a nice one waits longer' at_least "${WAITED[b]}" 110 "${WAITED[a]}"
by_run_time() {
    awk -v a="$(pairs_ms victim="$victim" aggressor="$a")" -v b="$(pairs_ms victim="$victim" aggressor="$b")" \
        -v ran_a="$ran_a" -v ran_b="$ran_b" 'BEGIN { printf "%.3f of %.3f and %.3f of %.3f ms\n", a, ran_a, b, ran_b
            exit !(b > 0 && ran_b > 0 && a / b > 0.8 * ran_a / ran_b && a / b < 1.25 * ran_a / ran_b) }'
}
check 'hogs next to a victim: each by the time it ran' by_run_time
# The victim waits while they run, and for everything else on this busy machine; never longer than each of them ran.
named() { # named AGGRESSOR RAN_MS
    within "$(pairs_ms victim="$victim" aggressor="$1")" "$(awk -v ms="$2" 'BEGIN { print 0.7 * ms }')" \
        "$(awk -v ms="$2" 'BEGIN { print 1.1 * ms + 2 }')"
}
check 'hogs next to a victim: it waits while the first one runs' named "$a" "$ran_a"
check 'hogs next to a victim: it waits while the second one runs' named "$b" "$ran_b"
check 'hogs next to a victim: it was preempted' at_least "$(pairs_ms victim="$victim" kind=preempt)" 90 "${WAITED[victim]}"

# ---- more tasks than CPUs, free to move; short windows ----

begin 0.01
load_start "$LOADS/duty" 1000 1000 0 $(($(nproc) + 1)) && many=$LOAD_PID
load_start "$LOADS/duty" 1000 && one=$LOAD_PID
pinned "$LOADS/duty" 1000 1000 1500 && woken=$LOAD_PID
load_start "$LOADS/duty" 1000 300 700 4 && short=$LOAD_PID
sleep 2.5
ends_with "$one" "$many" "$woken" "$short"
check 'free to move, windows of 10 ms: the pairs of one thread add up' adds_up "$one"
check 'free to move, windows of 10 ms: the pairs of several threads add up' adds_up "$many"
check 'free to move, windows of 10 ms: the pairs of short timeslices add up' adds_up "$short"
check 'threads of one process can be victim and aggressor' at_least "$(pairs_ms victim="$many" aggressor="$many")" 10 "${WAITED[many]}"
check 'a task that sleeps and wakes: its pairs add up' adds_up "$woken"
check 'a task that sleeps and wakes: some of its wait is of kind wakeup' at_least "$(pairs_ms victim="$woken" kind=wakeup)" 10 "${WAITED[woken]}"

# ---- a task that never leaves its CPU ----

# The kernel leaves 5 percent to other tasks, once a second.
in_each_window() { # in_each_window PID AGGRESSOR: most of the window, or about 50 ms less than that
    grep -E "^#window|^contention .*\<($1|$2) " "$TMP/out"
    awk -v pid="$1" -v by="$2" "$BY_NAME"'
        $1 == "contention" && col("victim") == pid && col("aggressor") == by { ms[WINDOW] += col("wait_ms") }
        END { for (i = 2; i < WINDOW; i++) bad += ms[i] < 100 || ms[i] > 210; exit WINDOW < 8 || bad }' "$TMP/out"
}

pinned "$LOADS/duty" 1000 && starved=$LOAD_PID
pinned "$LOADS/duty" 1000 1000 20000 && sleeper=$LOAD_PID
sleep 0.2
pinned chrt -f 10 "$LOADS/duty" 1000 && hog=$LOAD_PID
sleep 0.1
"$HOG" contention -w -k 10000 0.2 10 >"$TMP/out"
load_stop "$hog"
check 'real time: a starved task is in every window, though it does not run' in_each_window "$starved" "$hog"
check 'real time: so is one that slept before' in_each_window "$sleeper" "$hog"
load_stop "$starved"
load_stop "$sleeper"

# ---- a quota ----

quota_group() { # makes a cgroup with a tenth of a CPU: $group, its file of processes: $procs
    if [ -w /sys/fs/cgroup/cpu/cpu.cfs_quota_us ] || [ -e /sys/fs/cgroup/cpu/cgroup.procs ]; then
        group=/sys/fs/cgroup/cpu/hog_test_$$
        mkdir "$group" && echo 20000 >"$group/cpu.cfs_quota_us"
    else
        group=/sys/fs/cgroup/hog_test_$$
        echo +cpu >/sys/fs/cgroup/cgroup.subtree_control
        mkdir "$group" && echo '20000 100000' >"$group/cpu.max"
    fi
}

throttled_ms() {
    awk '$1 == "throttled_time" { print $2 / 1e6 } $1 == "throttled_usec" { print $2 / 1e3 }' "$group/cpu.stat"
}

if quota_group 2>"$TMP/quota"; then
    trap 'lib_cleanup; rmdir "$group" 2>/dev/null' EXIT
    begin 0.2
    # shellcheck disable=SC2016 # the inner shell's own variables
    pinned bash -c 'echo $$ >"$0" && exec "$@"' "$group/cgroup.procs" "$LOADS/duty" 1000 && victim=$LOAD_PID
    sleep 2.5
    ends_with "$victim"
    truth=$(throttled_ms)
    check 'a quota: the pairs add up' adds_up "$victim"
    check 'a quota: [throttled] is what the group says' about "$(pairs_ms victim="$victim" comm='[throttled]')" "$truth" 3 20
    check 'a quota: the group was throttled at all' within "$truth" 100 3000
    sleep 0.1
    rmdir "$group"
else
    skip 'a quota: [throttled] is what the group says' "needs CGROUP: $(head -n 1 "$TMP/quota")"
fi

# ---- no victims ----

begin 0.2
load_start sleep 60 && asleep=$LOAD_PID
load_start "$LOADS/named" 6c6976657321 40 && dead=$LOAD_PID
sleep 1
measured
check 'a task that sleeps is no victim' test "$(pairs_ms victim="$asleep" | awk '{ print $1 < 50 }')" = 1
named_in_rows() {
    grep -w "$dead" "$TMP/out"
    [ -z "$(column_of "$TMP/out" contention victim victim="$dead" victim_comm=-)" ]
}
check 'a task that has died has its name' named_in_rows
done_testing
