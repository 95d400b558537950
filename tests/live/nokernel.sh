#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# --no-kernel next to a load that makes kernel threads work: a kernel thread is recognised by its parent, kthreadd.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"

# kernel_rows VIEW COLUMN FILE: PIDs in that column of the view's rows that are kernel threads
kernel_rows() {
    local pid
    while read -r pid; do
        # After the name, which may hold anything: state, parent.
        [ "$(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null | cut -d ' ' -f 2)" = 2 ] && echo "$pid"
    done < <(column_of "$3" "$1" "$2" | sort -u)
}

shows_kernel_threads() { # FILE: two of them, that ran long
    local pid n=0
    cat "$1"
    for pid in $(kernel_rows cpu pid "$1"); do
        n=$((n + $(awk -v pid="$pid" "$BY_NAME"'$1 == "cpu" && col("pid") == pid && col("run_ms") >= 100' "$1" | wc -l)))
    done
    [ "$n" -ge 2 ] && [ -n "$(kernel_rows contention victim "$1")" ]
}

hides_kernel_threads() { # FILE
    cat "$1"
    [ -z "$(kernel_rows cpu pid "$1")" ] && [ -z "$(kernel_rows contention victim "$1")" ] && [ -z "$(kernel_rows faults pid "$1")" ]
}

fills_up() { # FILE: as many rows as requested
    cat "$1"
    [ "$(grep -c '^cpu' "$1")" = 3 ]
}

in_top() { # FILE LEAST MOST: so many have rows, and others have some
    cat "$1"
    within "$(kernel_rows top pid "$1" | wc -l)" "$2" "$3" && grep -q '^top .* mover$' "$1"
}

# FILE: a wait for a kernel thread names its culprit
keeps_culprits() {
    cat "$1"
    [ -n "$(kernel_rows contention aggressor "$1")" ]
}

counts_all() { # FILE: sums include all: the rows do not add up to run_ms
    within "$(awk "$BY_NAME"'$1 == "cpu" { rows += col("run_ms") } END { print win("run_ms") - rows }' "$1")" 100 1000000
}

if [ "$(nproc)" -ge 2 ]; then
    load_start "$BUILD/tests/load/mover" 60
    loads=("$LOAD_PID")
    # Two processes that use less than the threads that move them, and more than all others.
    load_start "$BUILD/tests/load/duty" 1000 1000 39000
    loads+=("$LOAD_PID")
    load_start "$BUILD/tests/load/duty" 1000 1000 39000
    loads+=("$LOAD_PID")
    timeout 20 "$HOG" cpu,contention,faults -w -k 10000 2 1 >"$TMP/with" 2>"$TMP/err"
    timeout 20 "$HOG" cpu,contention,faults -w -k 3 --no-kernel 2 1 >"$TMP/without" 2>"$TMP/err"
    timeout 20 "$HOG" contention -w -k 10000 --no-kernel 2 1 >"$TMP/pairs" 2>"$TMP/err"
    timeout 20 "$HOG" top -w -k 10000 2 1 >"$TMP/top" 2>"$TMP/err"
    timeout 20 "$HOG" top -w -k 10000 --no-kernel 2 1 >"$TMP/top_without" 2>"$TMP/err"
    for load in "${loads[@]}"; do
        load_stop "$load"
    done
    check 'the load makes kernel threads work' shows_kernel_threads "$TMP/with"
    check '--no-kernel: none of them has a row' hides_kernel_threads "$TMP/without"
    check '--no-kernel: others have their rows' fills_up "$TMP/without"
    check '--no-kernel: sums are of all' counts_all "$TMP/without"
    check '--no-kernel: none is a victim, of however many pairs' hides_kernel_threads "$TMP/pairs"
    check 'top: kernel threads have rows' in_top "$TMP/top" 2 1000
    check 'top: --no-kernel: they have none' in_top "$TMP/top_without" 0 0
    check '--no-kernel: aggressors are shown even if they are kernel threads' keeps_culprits "$TMP/pairs"
else
    skip '--no-kernel next to kernel threads at work' 'needs CPUS2: nothing is moved on one CPU'
fi

# ---- chosen processes ----

timeout 20 "$HOG" cpu,faults -w -p 2,$$ 0.2 1 >"$TMP/with" 2>"$TMP/err"
timeout 20 "$HOG" cpu,faults -w -p 2,$$ --no-kernel 0.2 1 >"$TMP/without" 2>"$TMP/err"
timeout 20 "$HOG" track 2 $$ -w -n 3 >"$TMP/track" 2>"$TMP/err"
timeout 20 "$HOG" track 2 $$ -w -n 3 --no-kernel >"$TMP/track_without" 2>"$TMP/err"
asked_for() { # FILE ROWS ROWS-OF-KERNEL-THREADS
    cat "$1"
    [ "$(grep -vc '^#' "$1")" = "$2" ] && [ "$(awk "$BY_NAME"'!/^#/ && col("pid") == 2' "$1" | wc -l)" = "$3" ]
}
check 'asked for: a kernel thread that rests has rows' asked_for "$TMP/with" 4 2
check '--no-kernel: it has none, the process chosen next to it has' asked_for "$TMP/without" 2 0
check 'track: a kernel thread has rows' asked_for "$TMP/track" 6 3
check 'track: --no-kernel: it has none' asked_for "$TMP/track_without" 3 0

# ---- threads that ended ----

# A file system with a journal: its thread comes with the mount and ends with it. The kernel names the thread after the
# device.
journal() {
    local pid name
    JOURNAL=none
    mount -o loop "$TMP/disk" "$TMP/mounted" || return
    for pid in /proc/[0-9]*; do
        read -r name 2>/dev/null <"$pid/comm"
        [[ $name == jbd2/loop* ]] && JOURNAL=${pid#/proc/}
    done
    for _ in $(seq 5); do
        dd if=/dev/zero of="$TMP/mounted/file" bs=64k count=64 conv=fsync 2>/dev/null
    done
    umount "$TMP/mounted"
}
mkdir "$TMP/mounted"
if [ -e /dev/loop-control ] && truncate -s 32M "$TMP/disk" && mkfs.ext4 -q "$TMP/disk" 2>/dev/null; then
    ended() { # ROWS: of the journal's thread
        cat "$TMP/out"
        [ "$JOURNAL" != none ] && [ ! -e "/proc/$JOURNAL" ] &&
            [ "$(awk -v pid="$JOURNAL" "$BY_NAME"'$1 == "cpu" && col("pid") == pid' "$TMP/out" | wc -l)" = "$1" ]
    }
    measure cpu -k 10000 60 1
    journal
    measured
    check 'a kernel thread that ended has its row' ended 1
    measure cpu -k 10000 --no-kernel 60 1
    journal
    measured
    check '--no-kernel: a thread that ended has none' ended 0
else
    skip '--no-kernel hides a thread that ended' 'needs LOOP: there is no loop device'
fi
done_testing
