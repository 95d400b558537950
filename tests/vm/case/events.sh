# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Each exec and exit once, through either kind of buffer; and a kill for lack of memory.

# of CONDITION: rows of the last run
of() { awk "$BY_NAME"'$1 == "events" && ('"$1"') { n++ } END { print n + 0 }' /tmp/events; }

# while_watching NAME OPTION...: the function runs while hog watches
while_watching() {
    work=$1
    shift
    rm -f /tmp/events # of the run before
    hog -v -w events "$@" 0.5 >/tmp/events 2>/tmp/events.err &
    hog=$!
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
        grep -q '^#window' /tmp/events && break
        sleep 1
    done
    $work
    sleep 1.2
    kill $hog
    wait $hog
    STATUS=$?
}

programs() {
    for i in 1 2 3 4 5 6 7 8 9 10; do
        /bin/busybox sh -c "exit $i"
    done
}
all_there() {
    cat /tmp/events.err
    head -n 5 /tmp/events
    [ $STATUS = 0 ] && grep -q "buffer: $1" /tmp/events.err && [ "$(of 'col("event") == "exec"')" -ge 10 ] &&
        [ "$(of 'col("event") == "exit" && col("what") == "status:7"')" = 1 ] &&
        [ "$(of 'col("event") == "exit" && col("what") ~ /^status:([2-9]|10)$/')" = 9 ]
}
while_watching programs
check 'a ring buffer: ten programs, and how they ended' all_there ringbuf
while_watching programs --without ringbuf
check 'a perf buffer: the same' all_there perfbuf

kill_for_memory() { # a line without an end, of which tail keeps all
    /bin/busybox tail /dev/zero >/dev/null 2>&1
    echo "tail: $?" >/tmp/killed
}
while_watching kill_for_memory --event oom-kill,exit
killed() {
    cat /tmp/killed /tmp/events.err
    grep events /tmp/events
    [ "$(of 'col("event") == "oom-kill" && col("what") ~ /^by:/')" -ge 1 ] && [ "$(of 'col("event") == "exit" && col("what") == "signal:9"')" -ge 1 ]
}
check 'the kernel kills for lack of memory: victim, and who asked' killed
