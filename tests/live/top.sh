#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The view `top`: each of its columns against another source, and its verdicts on the command line.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
LOADS=$BUILD/tests/load
cpu=$(($(nproc) - 1))

# cells PID COLUMN: that column in all rows of the process.
cells() { column_of "$TMP/out" top "$2" pid="$1"; }
last() { cells "$@" | tail -n 1; }

is() { # is GOT WANTED
    echo "$1, not $2"
    [ "$1" = "$2" ]
}

about() { # about VALUE TRUTH PERCENT [MORE]
    within "$1" "$(awk -v t="$2" -v p="$3" -v m="${4:-0}" 'BEGIN { print t - t * p / 100 - m }')" \
        "$(awk -v t="$2" -v p="$3" -v m="${4:-0}" 'BEGIN { print t + t * p / 100 + m }')"
}

# ---- two hogs next to a victim ----

load_start taskset -c "$cpu" "$LOADS/duty" 1000 && a=$LOAD_PID
load_start taskset -c "$cpu" "$LOADS/duty" 1000 && b=$LOAD_PID
load_start taskset -c "$cpu" "$LOADS/duty" 1000 && victim=$LOAD_PID
sleep 0.3
schedstat() { awk '{ print $1 / 1e6, $2 / 1e6 }' "/proc/$victim/schedstat"; }

measure -k 1000 60
read -r ran waited < <(schedstat)
sleep 3
read -r ran_after waited_after < <(schedstat)
measured
total_ms=$(field_of dur_ms)
ran=$(awk -v a="$ran" -v b="$ran_after" 'BEGIN { print b - a }')
waited=$(awk -v a="$waited" -v b="$waited_after" 'BEGIN { print b - a }')
of_window() { awk -v ms="$1" -v all="$total_ms" 'BEGIN { print 100 * ms / all }'; }
check 'without a view: top' grep -Eq '^#top .*\<pid +cpu_pct ' "$TMP/out"
# hog began before and ended after the two readings, about 0.3 s in all.
check 'the victim ran as long as schedstat says' about "$(last "$victim" cpu_pct)" "$(of_window "$ran")" 5 4
check 'the victim waited as long as schedstat says' about "$(last "$victim" wait_pct)" "$(of_window "$waited")" 5 8
check 'the victim is starved' is "$(last "$victim" verdict)" starved
by_both() {
    local by
    by=$(last "$victim" by)
    echo "by $by, not $a and $b"
    [[ ,$by == *",$a/duty"* && ,$by == *",$b/duty"* ]]
}
check 'by the hogs' by_both
caused() { # the victim's wait, and that of the others for each other: with three, 2/3 of the window each
    awk -v a="$(last "$a" caused_pct)" -v b="$(last "$b" caused_pct)" -v v="$(last "$victim" caused_pct)" \
        -v wa="$(last "$a" wait_pct)" -v wb="$(last "$b" wait_pct)" -v wv="$(last "$victim" wait_pct)" \
        'BEGIN { printf "caused %s, waited %s\n", a + b + v, wa + wb + wv
                 exit !(a > 20 && b > 20 && a + b + v > 0.7 * (wa + wb + wv) && a + b + v < 1.3 * (wa + wb + wv)) }'
}
check 'what they cause is what they wait' caused
check 'the busiest CPU of a pinned thread has all its time' about "$(last "$victim" busiest_cpu_pct)" "$(last "$victim" cpu_pct)" 3 1

same_fields() {
    local n
    n=$(awk '$1 == "top" { print NF }' "$TMP/out" | sort -u | wc -l)
    echo "$n different numbers of fields"
    [ "$n" = 1 ]
}
check 'all rows have as many fields as the header has names' same_fields
header_fits() {
    [ "$(awk '$1 == "#top" { print NF; exit }' "$TMP/out")" = "$(awk '$1 == "top" { print NF; exit }' "$TMP/out")" ]
}
check 'the header has as many' header_fits

# ---- alerts ----

status_of() { # status_of WANTED ARGUMENTS...
    local wanted=$1 status
    shift
    timeout 20 "$HOG" "$@" >"$TMP/out" 2>"$TMP/err" </dev/null
    status=$?
    echo "status $status, not $wanted: $(cat "$TMP/err")"
    [ "$status" = "$wanted" ]
}
check 'an alert ends the run at its first window' status_of 4 --alert starved 0.5 20
check 'which was the first' is "$(windows)" 1
shown_first() { [ "$(awk "$BY_NAME"'$1 == "top" { print col("verdict"); exit }' "$TMP/out")" = starved ]; }
check 'and shows it first' shown_first
check 'three windows in a row' status_of 4 --alert starved,oom-risk:3 0.3 20
check 'are three' is "$(windows)" 3
check 'no alert, no status' status_of 0 --alert oom-risk 0.3 3
check 'a threshold can make it quiet' status_of 0 why "$victim" --alert starved --thresholds starved_pct=100 0.3 3

# ---- why ----

check 'why: one process' status_of 0 why "$victim" -o json 0.5 2
only_it() { jq -es --argjson pid "$victim" 'map(select(.type == "row") | .pid) | unique == [$pid]' "$TMP/out"; }
check 'only its row' only_it
why() { jq -es --argjson pid "$victim" "any(.type == \"why\" and .pid == \$pid and $1)" "$TMP/out"; }
check 'the rule that holds' why '.rule == "starved" and .holds == "yes" and .threshold == "starved_pct" and .limit == 25'
check 'and one that does not' why '.rule == "throttled" and .holds == "no"'
check 'what it waited for' why "(.waited_for == \"$a/duty\" or .waited_for == \"$b/duty\") and .wait_ms > 0"
check 'in sentences' status_of 0 why "$victim" 1 1
sentences() { tr '\n' ' ' <"$TMP/out" | grep -E "^$1"; }
check 'the verdict, and what it means' sentences "duty \($victim\) is starved: it was ready to run, but something else had the CPU\. In 1\.0 s it ran for [0-9]+ ms,? and waited for a CPU for [0-9]+ ms"
check 'what had the CPU' sentences ".*Meanwhile the CPU was with duty \(($a|$b)\) for [0-9]+ ms"
check 'what to do next' sentences ".*Next: hog contention -p $victim "
narrow() { awk 'length > 79 { exit 1 }' "$TMP/out"; }
check 'no line is longer than 79 characters' narrow
check 'by name' status_of 0 why duty 0.5
check 'all of that name, together' sentences 'duty: [0-9]+ processes\. In [0-9.]+ m?s their threads, together, ran for '
check 'of all in trouble' status_of 0 why 0.5
check 'the shortage first' sentences '[0-9.]+ runnable for [0-9]+ CPUs?'
gone=$(bash -c 'echo $$')
check 'why, without a process' status_of 1 why "$gone" 0.5 2
check 'says so' grep -q "$gone" "$TMP/err"
ends_with_it() {
    "$LOADS/duty" 60 >/dev/null &
    local one=$!
    (sleep 1 && kill "$one") &
    status_of 0 why "$one" 0.2 40 && sentences ".*Process $one has ended\."
}
check 'it ends with the process' ends_with_it
for pid in "$a" "$b" "$victim"; do load_stop "$pid"; done

# ---- idle processes ----

load_start perl -e 'select(undef, undef, undef, 0.3) while 1' && idle=$LOAD_PID
rows_of_zeros() { # by the header's names: all sums but memory and watts are 0.00, and the verdict is idle
    awk "$BY_NAME"'
        $1 == "top" && col("verdict") == "idle" {
            split("cpu wait iowait caused throttled memstall lock", pct)
            sum = col("faults_s") + col("read_kib_s") + col("write_kib_s")
            for (i in pct) sum += col(pct[i] "_pct")
            n += sum == 0
        } END { print n + 0 }' "$TMP/out"
}
measure -k 10000 0.5 2
wait "$HOG_PID"
check 'no row of an idle process' is "$(rows_of_zeros)" 0
measure -p "$idle" 0.1 2
wait "$HOG_PID"
check 'except a chosen one' is "$(cells "$idle" pid | sort -u)" "$idle"
on_terminal() { script -qec "stty cols 400; $HOG top -p $idle $1 0.1 1" /dev/null | tr -d '\r' >"$TMP/out"; }
units() {
    on_terminal --human
    rss=$(awk '$1 == "VmRSS:" { printf "%.2fM", $2 / 1024 }' "/proc/$idle/status")
    is "$(last "$idle" rss_kib) $(last "$idle" cpu_pct | tail -c 2)" "$rss %"
}
check '--human: units on a terminal' units
check '--human into a pipe: refused' status_of 2 top --human 0.1 1
check 'says so' grep -q 'stdout is no terminal' "$TMP/err"
load_stop "$idle"

# ---- the columns read from /proc ----

load_start "$LOADS/worker" "$BUILD/top.work" 30 && worker=$LOAD_PID
sleep 0.5
counts() { # minor + major faults, write_bytes, ms
    awk '{ sub(/.*\) /, ""); printf "%d ", $8 + $10 }' "/proc/$worker/stat"
    awk '$1 == "write_bytes:" { printf "%d ", $2 }' "/proc/$worker/io"
    awk '{ print $1 * 1000 }' /proc/uptime
}
measure -k 1000 60
read -r faults bytes since < <(counts)
sleep 2
read -r faults_after bytes_after until < <(counts)
rss=$(awk '$1 == "VmRSS:" { print $2 }' "/proc/$worker/status")
measured
a_second() { awk -v a="$1" -v b="$2" -v ms="$((${until%.*} - ${since%.*}))" 'BEGIN { print (b - a) * 1000 / ms }'; }
check 'faults a second, by its /proc/PID/stat' about "$(last "$worker" faults_s)" "$(a_second "$faults" "$faults_after")" 12 50
check 'written a second, by its /proc/PID/io' about "$(last "$worker" write_kib_s)" "$(a_second $((bytes / 1024)) $((bytes_after / 1024)))" 12 50
check 'resident memory, by its status' about "$(last "$worker" rss_kib)" "$rss" 5 4400
load_stop "$worker"
rm -f "$BUILD/top.work"

# ---- pressure ----

if grep -q some /proc/pressure/cpu 2>/dev/null; then
    load_start taskset -c "$cpu" "$LOADS/duty" 1000 && a=$LOAD_PID
    load_start taskset -c "$cpu" "$LOADS/duty" 1000 && b=$LOAD_PID
    sleep 0.5
    total() { sed -n 's/^some .*total=//p' /proc/pressure/cpu; }
    from=$(total) begin=$(date +%s%N)
    timeout 20 "$HOG" -w 2 1 >"$TMP/out" 2>/dev/null
    to=$(total) end=$(date +%s%N)
    check 'pressure of the window' about "$(field_of psi_cpu_pct)" "$(((to - from) * 100000 / (end - begin)))" 8 3
    load_stop "$a"
    load_stop "$b"
else
    timeout 20 "$HOG" -w 0.3 1 >"$TMP/out" 2>"$TMP/err"
    check 'no pressure on this host: it is not known, and no error' is "$(field_of psi_cpu_pct)" -
fi

# ---- groups that come and go while they are read ----

if [ -d /sys/fs/cgroup/memory ] && [ -w /sys/fs/cgroup/memory ]; then
    (
        trap 'exit' TERM
        trap 'sleep 0.1; rmdir /sys/fs/cgroup/memory/hog_top_* 2>/dev/null' EXIT
        while :; do
            group=/sys/fs/cgroup/memory/hog_top_$RANDOM
            mkdir "$group" || continue
            (echo "$BASHPID" >"$group/tasks" && exec sleep 0.03)
            rmdir "$group"
        done
    ) >/dev/null 2>&1 &
    lib_pids+=($!)
    check 'groups vanish mid-read' status_of 0 -k 100 0.01 200
    check 'and nothing is said of it' [ ! -s "$TMP/err" ]
else
    skip 'groups vanish mid-read' 'needs cgroup_memory: no memory controller of version 1 here'
fi

# ---- json ----

check 'json: status' status_of 0 why -o json 0.3 2
if command -v jq >/dev/null; then
    check 'json: each line is one' jq -e . "$TMP/out"
    check 'json: rows have a verdict' jq -es 'map(select(.view == "top")) | all(.verdict | type == "string")' "$TMP/out"
    check 'json: the headline' jq -es 'map(select(.type == "headline")) | length == 2 and all(.text != "" and (.short | type == "string"))' "$TMP/out"
fi
done_testing
