#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# `hog cpu` against the kernel's own accounting and what the loads report themselves.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
LOADS=$BUILD/tests/load

schedstat_ms() {
    awk '{ printf "%.3f\n", $1 / 1e6 }' "/proc/$1/schedstat"
}

# The largest share of a CPU that the load can have, also where sessions are scheduled as groups (autogroup). After
# load_start.
urgent() {
    exec setsid bash -c '{ echo -20 >/proc/self/autogroup; } 2>/dev/null; exec nice -n -20 "$@"' - "$@"
}

# ---- a load that never leaves its CPU ----

# Other tasks may take some of its CPU in any of the windows: that much may be missing there, and one percent.
busy_in_each_window() {
    echo "had $2 percent, unsure are $UNSURE ms"
    grep -E "^#window|^cpu .* $1 " "$TMP/out"
    awk -v pid="$1" -v had="$2" -v unsure="$UNSURE" "$BY_NAME"'
        BEGIN { most = 1 + unsure / 10; low = 100 - 3 * (100 - had) - most }
        $1 == "#window" { windows++ }
        $1 == "cpu" && col("pid") == pid { rows++; bad += col("cpu_pct") < low || col("cpu_pct") > 100 + most }
        END { exit !(windows == 3 && rows == 3 && !bad) }' "$TMP/out"
}

load_start urgent taskset -c 0 "$LOADS/duty" 1000
sleep 0.2
UNSURE_BEFORE=$(unsure_ms)
before=$(schedstat_ms "$LOAD_PID") began=$(date +%s%N)
"$HOG" cpu -w -k 10000 1 3 >"$TMP/out"
after=$(schedstat_ms "$LOAD_PID") ended=$(date +%s%N)
UNSURE=$(unsure_since "$UNSURE_BEFORE")
had=$(awk -v a="$before" -v b="$after" -v ns=$((ended - began)) 'BEGIN { print 100e6 * (b - a) / ns }')
lasted=$(window_sum dur_ms)
load_stop "$LOAD_PID"
check 'a load that never leaves its CPU has all of it in every window' busy_in_each_window "$LOAD_PID" "$had"
check 'and its windows add up to what schedstat says' \
    agrees "$(run_ms pid="$LOAD_PID")" "$(awk -v had="$had" -v ms="$lasted" 'BEGIN { if (ms) print had / 100 * ms }')"

load_start urgent "$LOADS/duty" 1000 1000 0 "$(nproc)"
sleep 0.1
"$HOG" cpu -k 1 0.4 1 >"$TMP/out"
load_stop "$LOAD_PID"
check 'a process that has all CPUs is first' test "$(awk "$BY_NAME"'$1 == "cpu" { print ROW, col("pid"), col("comm") }' "$TMP/out")" = "1 $LOAD_PID duty"

# ---- short timeslices, all inside the run ----

# The CPU clocks credit the time from a wakeup to the switch (some microseconds, the end of an interrupt) to the task that is
# woken; hog credits it to the task that still has the CPU. So the clock is the upper bound of what hog may report. The lower
# bound is what tracefs saw from switch to switch; where the host reports all switches, both are the same.
trace=/sys/kernel/tracing/instances/hog_test_$$
trap 'rmdir "$trace" 2>/dev/null; lib_cleanup' EXIT

trace_start() {
    mkdir "$trace" 2>/dev/null || return 1
    echo mono >"$trace/trace_clock"
    echo 8192 >"$trace/buffer_size_kb"
    echo "prev_comm == \"$1\" || next_comm == \"$1\"" >"$trace/events/sched/sched_switch/filter"
    echo 1 >"$trace/events/sched/sched_switch/enable"
}

# Milliseconds from switch to switch, one thread per line; nothing if the trace lost events.
trace_stop() {
    echo 0 >"$trace/events/sched/sched_switch/enable"
    if ! grep -qs '^overrun: [1-9]' "$trace"/per_cpu/*/stats; then
        sed -n 's/.* \([0-9.]*\): sched_switch: .* prev_pid=\([0-9]*\) .* next_pid=\([0-9]*\) .*/\1 \2 \3/p' "$trace/trace" |
            awk '{ if ($2 in on) { ms[$2] += ($1 - on[$2]) * 1000; delete on[$2] } if ($3) on[$3] = $1 }
                 END { for (tid in ms) printf "tid=%d ms=%.3f\n", tid, ms[tid] }'
    fi
    rmdir "$trace"
}

is_between() { # MS TRACED_MS CLOCK_MS
    [ -n "$2" ] && within "$1" "$(awk -v t="$2" -v p="$UNSURE" 'BEGIN { print t * 0.98 - 2 - p }')" \
        "$(awk -v t="$3" -v p="$UNSURE" 'BEGIN { print t * 1.02 + 2 + p }')"
}

traced=false
trace_start duty && traced=true
measure cpu -k 10000 0.2
loads=()
for load in a:'1000 1000' b:'100 100' c:'3000 7000 8' d:'20 20'; do
    # shellcheck disable=SC2086 # several arguments
    "$LOADS/duty" 1 ${load#*:} >"$TMP/${load%%:*}" &
    loads+=($!)
done
wait "${loads[@]}"
measured
$traced && trace_stop >"$TMP/trace"
for load in 'a:1 ms of 2' 'c:8 threads'; do
    file=$TMP/${load%%:*}
    check "timeslices of ${load#*:}: run_ms is the CPU clock" agrees "$(run_ms pid="$(told pid "$file")")" "$(told cpu_ms "$file")"
done
for load in 'a:1 ms of 2' 'b:100 us of 200' 'd:20 us of 40'; do
    name="timeslices of ${load#*:}: run_ms is the time from switch to switch"
    pid=$(told pid "$TMP/${load%%:*}")
    if $traced; then
        check "$name" is_between "$(run_ms pid="$pid")" "$(told ms "$TMP/trace" "tid=$pid ")" "$(told cpu_ms "$TMP/${load%%:*}")"
    else
        skip "$name" 'needs TRACEFS: it is the witness'
    fi
done
one_row_each() { # one_row_each COLUMN: none of its values is twice in a window
    awk -v name="$1" "$BY_NAME"'$1 == "cpu" { print WINDOW, col(name) }' "$TMP/out" | sort >"$TMP/rows"
    [ -s "$TMP/rows" ] && uniq -d "$TMP/rows" && [ -z "$(uniq -d "$TMP/rows")" ]
}
check 'a process is one row in each window' one_row_each pid

# ---- born and dead inside one window ----

is_row() { # is_row NAME=VALUE...: exactly one row matches
    grep '^cpu ' "$TMP/out" | head -n 30
    [ "$(row_count cpu "$@")" = 1 ]
}

measure cpu -k 10000 60
"$LOADS/named" 6c6976657321 40 >"$TMP/a"
setpriv --reuid 4711 "$LOADS/named" 75736572 30 >"$TMP/b"
"$LOADS/lives" exec 20 >"$TMP/c"
"$LOADS/lives" thread 20 >"$TMP/d"
"$LOADS/lives" orphan 20 >"$TMP/e"
measured
dead=$(told pid "$TMP/a") user=$(told pid "$TMP/b")
check 'a whole life in one window has a row with its name' is_row pid="$dead" comm='lives!'
check 'and with its time' agrees "$(run_ms pid="$dead")" "$(told cpu_ms "$TMP/a")"
check 'and with its user' is_row pid="$user" uid=4711 comm=user
check 'exec: one row, with the later name' is_row pid="$(told pid "$TMP/c")" comm=after
check 'exec: the time before and after' agrees "$(run_ms pid="$(told pid "$TMP/c")")" "$(told cpu_ms "$TMP/c")"
check 'exec by another thread than the first: one row' is_row pid="$(told pid "$TMP/d")" comm=after
check 'exec by another thread: the time before and after' \
    agrees "$(run_ms pid="$(told pid "$TMP/d")")" "$(told cpu_ms "$TMP/d")"
check 'a thread that outlives the first one: one row, with the name of the first' is_row pid="$(told pid "$TMP/e")" comm=before
check 'a thread that outlives the first one: all its time' \
    agrees "$(run_ms pid="$(told pid "$TMP/e")")" "$(told cpu_ms "$TMP/e")"

# ---- threads ----

each_thread_agrees() {
    local line tid ms
    grep ^tid= "$1" >"$TMP/threads"
    [ "$(wc -l <"$TMP/threads")" = 8 ] || return 1
    while read -r line; do
        tid=$(told tid <(echo "$line")) ms=$(told cpu_ms <(echo "$line"))
        agrees "$(run_ms tid="$tid")" "$ms" || return 1
    done <"$TMP/threads"
}

measure cpu -t -k 10000 0.3
"$LOADS/duty" 0.8 1000 2000 8 >"$TMP/a"
"$LOADS/lives" thread 20 >"$TMP/b"
"$LOADS/lives" orphan 20 >"$TMP/c"
measured
check '-t: each thread has its own time' each_thread_agrees "$TMP/a"
for load in 'a:8 threads' 'b:exec by another thread' 'c:a thread that outlives the first one'; do
    file=$TMP/${load%%:*}
    check "-t: ${load#*:}: the rows of a process add up to its CPU clock" \
        agrees "$(run_ms pid="$(told pid "$file")")" "$(told cpu_ms "$file")"
done
check '-t: a thread is one row in each window' one_row_each tid

# ---- the list itself ----

in_order() {
    awk "$BY_NAME"'$1 == "#window" { last = 1e9 }
         $1 == "cpu" { rows++; bad += col("run_ms") > last; last = col("run_ms") }
         END { exit !rows || bad }' "$TMP/out"
}

rows_in_window() { # the most
    awk '$1 == "#window" { n = 0 } $1 == "cpu" && ++n > most { most = n } END { print most + 0 }' "$TMP/out"
}

check 'rows go by run_ms' in_order
nobody_idles() {
    awk "$BY_NAME"'$1 == "cpu" { rows++; if (col("pid") == 0 || col("comm") ~ /^swapper/) { bad++; print } } END { exit !rows || bad }' "$TMP/out"
}
check 'the idle task is in no row' nobody_idles
for n in 1 3; do
    "$HOG" cpu -k $n 0.3 1 >"$TMP/out"
    check "-k $n: that many rows" test "$(rows_in_window)" = $n
done
done_testing
