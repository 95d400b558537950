#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 200
# hog why: each verdict in sentences, on loads that deserve it. top.sh has the starved ones.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
DESERVE=$BUILD/tests/load/deserve
last=$(($(nproc) - 1))

# says PATTERN ARGUMENTS...: hog why in one line, its lines short. What a load is in trouble for may take a few windows to show.
says() {
    local pattern=$1 try
    shift
    for try in 1 2 3 4; do
        "$HOG" why "$@" >"$TMP/out" 2>"$TMP/err" || return
        tr '\n' ' ' <"$TMP/out" >"$TMP/line"
        grep -qE "$pattern" "$TMP/line" && break
    done
    echo "try $try: $(cat "$TMP/line")"
    awk 'length > 79 { print "long: " $0; bad = 1 } END { exit bad }' "$TMP/out" && grep -qE "$pattern" "$TMP/line"
}
time='[0-9.]+ (m?s|us)'

load_start sleep 100
check 'a process that sleeps is idle' says "^sleep \($LOAD_PID\) is idle: it asked for next to nothing\. In $time it (was idle for $time|did next to nothing)\..* Next: " "$LOAD_PID" 1
load_stop "$LOAD_PID"

load_start taskset -c "$last" "$DESERVE" computes burn 10000 0
sleep 0.5
check 'one that computes is cpu-bound' says "^computes \($LOAD_PID\) is cpu-bound: .* it ran for $time.* Next: hog stacks -p $LOAD_PID " "$LOAD_PID" --thresholds cpu_bound_pct=50 1
load_stop "$LOAD_PID"

load_start "$BUILD/tests/load/functions" 100
check 'and in which functions' says '^functions .* On a CPU it is in takes_40 \([0-9]+ %\), takes_30 \([0-9]+ %\), takes_20 \([0-9]+ %\)\. ' "$LOAD_PID" 2
load_stop "$LOAD_PID"

load_start "$DESERVE" hands-over pingpong 200
sleep 0.5
check 'two threads that wait for each other are lock-bound' \
    says "^hands-over \($LOAD_PID\) is lock-bound: .* its threads, together, ran for $time.* slept for locks for $time\..* Next: hog stacks -p $LOAD_PID " "$LOAD_PID" 1
load_stop "$LOAD_PID"

if bash scripts/has.sh DISK && file=$(mktemp -p /var/tmp) && dd if=/dev/zero of="$file" bs=1M count=64 conv=fsync status=none; then
    trap 'rm -f "$file"; lib_cleanup' EXIT
    load_start "$DESERVE" reads read "$file" 65536 0 64
    sleep 0.5
    check 'one that reads is io-bound, and the disk is named' \
        says "^reads \($LOAD_PID\) is io-bound: it waits for a disk\. .* was blocked on a disk for $time.* On [a-z0-9]+ it had [1-9][0-9]* reads and [0-9]+ writes, [0-9.]+ [KMG]iB in all\..* Next: hog block " \
        "$LOAD_PID" --thresholds io_bound_pct=20 1
    load_stop "$LOAD_PID"
else
    skip 'one that reads is io-bound' 'needs DISK: the tests are on no disk'
fi

if chrt -f 1 true 2>/dev/null; then
    load_start taskset -c "$last" "$BUILD/tests/load/duty" 100
    load_start chrt -f 1 taskset -c "$last" "$DESERVE" first burn 80000 20000
    sleep 0.5
    check 'one that has priority is noisy, and what waits for it is named' \
        says "^first \($LOAD_PID\) is noisy: it keeps others waiting for a CPU\. .* others waited for the CPU that it had: .*duty \([0-9]+\) $time.* Next: renice " "$LOAD_PID" 1
    load_stop "$LOAD_PID"
    load_stop "${lib_pids[-1]}"
else
    skip 'one that has priority is noisy' 'needs RTPRIO: real-time priorities'
fi

# 40 MiB a second, of the memory of the host.
load_start "$DESERVE" grows fill 1024 40960 4000000
deadline() { column_of "$TMP/top" top by pid="$LOAD_PID" verdict=oom-risk | tee /dev/stderr | grep -qE '^.+:[1-9][0-9]*s$'; }
for _ in 1 2 3; do # what others give back at the same moment may hide it
    "$HOG" top -k 1000 --thresholds oom_seconds=86400,oom_share_pct=10 1 6 >"$TMP/top"
    deadline >/dev/null 2>&1 && break
done
check 'oom-risk: the seconds left stand in by' deadline
in_headline() { grep "^#headline" "$TMP/top" | tee /dev/stderr | grep -qE '^#headline .* runs out of memory in [0-9]+ s: grows \([0-9]+\) grows by [0-9.]+ [KMG]iB/s'; }
check 'and in the headline' in_headline
check 'one that grows is at risk' says "grows \($LOAD_PID\) is oom-risk: .* It grows by [0-9.]+ MiB a second\. .* left of .* enough for [0-9]+ seconds\. .* Next: hog alloc -p $LOAD_PID " \
    "$LOAD_PID" --thresholds oom_seconds=86400,oom_share_pct=10 0.5 12
load_stop "$LOAD_PID"

check 'a unit: its processes together' says '^/: [0-9]+ processes\. In ' / 0.5
check 'a name that no process has: status 1, and said' refuses 1 'no process, name or unit "nosuch.service"' why nosuch.service
done_testing
