# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# The cost of a direct read of 4 KiB, in instructions of the guest: with nothing, with hog block, with empty programs at its
# hooks, and with biotop if it is there: facts for tests/bench/block.sh. The disk answers by a timer after 20 us (null_blk),
# so that each read sleeps; what counts is the time that this CPU is not idle, interrupts included.
TOOLS=/tests/tools
kill -STOP "$LOOP"
ulimit -l unlimited # until 5.11 programs count against it

# The programs that $TOOL holds: their number, run time and runs.
statistics() {
    cat "/proc/$TOOL/fdinfo/"* 2>/dev/null |
        awk '/^prog_type/ { n++ } /^run_time_ns/ { ns += $2 } /^run_cnt/ { runs += $2 } END { printf "%d %.0f %.0f\n", n, ns, runs }'
}
works() { # works [OLD]: the tool has its programs, and no more appear
    for _ in $(seq 50); do
        sleep 0.3
        now=$(statistics | cut -d ' ' -f 1)
        [ "$now" -gt 0 ] && [ "$now" = "$old" ] && return
        old=$now
    done
    return 1
}
busy_ns() { awk '/^now at/ { now = $3 } /idle_sleeptime/ { idle = $3 } END { printf "%.0f\n", now - idle }' /proc/timer_list; }
reads() { $TOOLS/diskload read /dev/nullb0 4 "$1" >/dev/null; }
READS=3000

# cost NAME COMMAND...
cost() {
    what=$1 old=
    shift
    "$@" >/tmp/tool.out 2>&1 &
    TOOL=$!
    [ "$1" = sleep ] || check "$what is at work" works || sed 's/^/# /' /tmp/tool.out
    reads 200
    before=$(busy_ns)
    reads $READS
    echo "fact cost_$what $(busy_ns | awk -v n=$READS -v before="$before" '{ printf "%.1f\n", ($1 - before) / n }')"
    if [ "$1" != sleep ]; then
        echo 1 >/proc/sys/kernel/bpf_stats_enabled
        before=$(statistics)
        reads $READS
        echo "fact stats_$what $(echo "$before $(statistics)" | awk -v n=$READS '{ printf "%.1f %.2f\n", ($5 - $2) / n, ($6 - $3) / n }')"
        echo 0 >/proc/sys/kernel/bpf_stats_enabled
    fi
    kill -KILL $TOOL
    wait $TOOL 2>/dev/null
}
# round SCHEDULER NAME
round() {
    echo "$1" >/sys/block/nullb0/queue/scheduler
    cost "$2nothing" sleep 1000
    cost "$2hog" hog block 100
    ! command -v floor >/dev/null || cost "$2empty" floor block_rq_issue block_rq_complete block_rq_complete sched_switch
    ! command -v biotop >/dev/null || cost "$2biotop" biotop 100
}
insmod /tests/modules/configfs.ko
insmod /tests/modules/null_blk.ko queue_mode=2 irqmode=2 completion_nsec=20000 gb=1 nr_devices=1
if check 'there is a disk' test -b /dev/nullb0; then
    for _ in 1 2 3; do
        round none ''
    done
    round mq-deadline scheduled_
fi
