# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154 # of tests/load/verdicts.sh
# The sets of loads, each with the verdict that it deserves and the condition that must hold for it. For
# tests/load/verdicts.sh.

# One thread, on one of two CPUs or of many.
set_one_core() {
    begin "$deserve" one-core burn 1000 0 || return
    row one-core "$PID" cpu-bound . 'run >= 90 && others < 25'
}

# As much together, but no thread is near a whole CPU.
set_light_threads() {
    begin "$deserve" light-threads burn 5000 45000 3 || return
    row light-threads "$PID" ok - 'run > 24 && run < 34 && busiest < 13 && wait < 0.15 * (run + wait) && others < 25'
}

set_equals() {
    local a b
    begin_pinned "$deserve" equal-a burn 1000 0 || return
    a=$PID
    begin_pinned "$deserve" equal-b burn 1000 0 || return
    b=$PID
    begin_pinned "$deserve" equals-victim burn 1000 0 || return
    row equals-victim "$PID" starved "$a|$b" 'run < 40 && wait > 55'
}

set_nice() {
    local hog victim
    begin_pinned nice -n -20 "$deserve" nice-hog burn 1000 0 || return
    hog=$PID
    begin_pinned "$deserve" nice-victim burn 1000 0 || return
    victim=$PID
    begin_pinned "$deserve" nice-other burn 1000 0 || return
    row nice-hog "$hog" noisy "$victim|$PID" 'run > 90 && wait < 6'
    row nice-victim "$victim" starved "$hog" 'run < 10 && wait > 85'
}

# Nicer than its neighbour, which did nothing to cause that.
set_niced() {
    local hog
    begin_pinned "$deserve" niced-hog burn 1000 0 || return
    hog=$PID
    begin_pinned nice -n 10 "$deserve" niced-victim burn 1000 0 || return
    row niced-victim "$PID" starved "$hog" 'run < 20 && wait > 75'
}

# Sleeps voluntarily, so that others get the CPU; what it wants, it has at once.
set_fifo() {
    local hog victim
    begin_pinned "$deserve" fifo-victim burn 1000 0 || return
    victim=$PID
    begin_pinned "$deserve" fifo-other burn 3000 7000 || return
    begin_real_time "$deserve" fifo-hog burn 90000 10000 || return
    hog=$PID
    row fifo-hog "$hog" noisy "$victim|$PID" 'run > 80 && wait < 3'
    row fifo-victim "$victim" starved "$hog" 'run < 20 && wait > 75'
}

# A neighbour with higher priority that takes little: one load that has to wait now and then, and one that runs nearly all
# the time.
set_short_waits() {
    local hog
    begin_real_time "$deserve" short-hog burn 1000 6100 || return
    hog=$PID
    begin_pinned "$deserve" waits-little burn 3000 7000 || return
    row short-hog "$hog" ok - 'run > 5 && run < 20 && wait < 3'
    row waits-little "$PID" ok - 'run > 15 && run < 40 && wait < 0.2 * (run + wait) && others < 25'
}

set_runs_mostly() {
    local hog
    begin_real_time "$deserve" tenth-hog burn 1000 9000 || return
    hog=$PID
    begin_pinned "$deserve" runs-mostly burn 1000 0 || return
    row tenth-hog "$hog" ok - 'run > 5 && run < 15 && wait < 3'
    row runs-mostly "$PID" cpu-bound . 'run > 83 && wait > 5 && wait < 15 && others < 25'
}

set_alone() {
    begin_pinned nice -n -20 "$deserve" alone burn 1000 0 || return
    row alone "$PID" cpu-bound . 'run >= 90 && wait < 3 && others < 25'
}

set_quota() {
    quota_group quota 20 || return
    begin_in "$GROUP" "$deserve" throttled burn 1000 0 || return
    row throttled "$PID" throttled "${GROUP##*/}@20%" 'run > 15 && run < 25 && throttled > 60'
}

set_quota_unused() {
    quota_group unused 50 || return
    begin_in "$GROUP" "$deserve" below-quota burn 2000 8000 || return
    row below-quota "$PID" ok - 'run > 15 && run < 25 && throttled < 1 && wait < 4 && others < 25'
}

# The name of the device with the files, and that of the whole disk.
device() {
    local number at
    number=$(stat -c %d "$big")
    at=/sys/dev/block/$((number >> 8)):$((number & 255))
    at=$(realpath "$at" 2>/dev/null) || at=.
    echo "${at##*/}|$(basename "$(dirname "$at")")"
}

set_read() {
    begin "$deserve" reads read "$big/read" 262144 0 64 || return
    row reads "$PID" io-bound "$(device)" 'run < 40 && wait < 10 && blocked - run > 55 && io_kib > 1000 && stolen < 10'
}

set_sync() {
    begin "$deserve" syncs sync "$big/sync" 16384 0 4 || return
    row syncs "$PID" io-bound "$(device)" 'run < 45 && wait < 10 && blocked - run > 50 && io_kib > 100 && stolen < 10'
}

set_fio() {
    command -v fio >/dev/null || { WHY='needs FIO: not installed' && return 3; }
    mkdir -p "$big"
    begin bash -c 'echo pid=$$ ready; exec "$@"' - fio --name=fio --filename="$big/fio" --size=256M --rw=randread --bs=64k \
        --direct=1 --ioengine=psync --thread=1 --runtime=60 --time_based || return
    for _ in $(seq 200); do # it creates the file first
        [ "$(awk '/^read_bytes/ { print ($2 > 1e6) }' "/proc/$PID/io" 2>/dev/null)" = 1 ] && break
        sleep 0.05
    done
    row fio "$PID" io-bound "$(device)" 'run < 40 && wait < 10 && io_kib > 1000'
}

set_thrash_file() {
    memory_group mapped 32 || return
    begin_in "$GROUP" "$deserve" maps-too-much map "$big/large" 131072 0 || return
    row maps-too-much "$PID" thrashing "hog_mapped_$$@32MiB" 'majors > 500 && refaults > 500 && used_kib < 33000 && wait < 15'
}

set_thrash_swap() {
    swap_on || return
    memory_group swaps 64 || return
    # Without a pause the kernel sometimes finds no page to reclaim, and kills it.
    begin_in "$GROUP" "$deserve" swaps anon 163840 1000 || return
    row swaps "$PID" thrashing "hog_swaps_$$@64MiB|swap" 'majors > 500 && used_kib > 50000 && used_kib < 66000 && wait < 15'
}

# Headroom that is used up at a known rate; slowly; and not at all.
set_memory() {
    memory_group fills 400 || return
    begin_in "$GROUP" "$deserve" fills fill 204800 5120 409600 || return
    row fills "$PID" oom-risk "hog_fills_$$@400MiB" 'used_kib > 210000 && used_kib < 400000'
    memory_group slow 400 || return
    begin_in "$GROUP" "$deserve" fills-slowly fill 204800 102 409600 || return
    row fills-slowly "$PID" ok - 'used_kib > 200000 && used_kib < 220000'
    memory_group stops 400 || return
    begin_in "$GROUP" "$deserve" stops-filling fill 204800 5120 212992 || return
    row stops-filling "$PID" ok - 'used_kib > 200000 && used_kib < 220000'
}

# The holder sleeps, as if waiting for a disk or the network; the others can only wait for it.
set_locks() {
    begin "$deserve" lock-asleep lock 4 0 5000 0 || return
    row lock-asleep "$PID" lock-bound '\[futex\]' 'blocked > 250 && run < 10'
    begin "$deserve" lock-long lock 2 0 50000 1000 || return
    row lock-long "$PID" lock-bound '\[futex\]' 'blocked > 80 && run < 10'
}

set_lock_busy() {
    begin "$deserve" lock-busy lock 4 1000 0 0 || return
    row lock-busy "$PID" lock-bound '\[futex\]' 'blocked > 250 && run > 60 && wait < 40'
}

set_pingpong() {
    begin "$deserve" pingpong pingpong 0 || return
    row pingpong "$PID" lock-bound '\[futex\]' 'blocked > 130 && wait < 25 && stolen < 10'
}

# None of these needs more than a twentieth of a CPU, or of the disk.
set_quiet() {
    begin bash -c 'echo pid=$$ ready; exec sleep 600' || return
    row sleeps "$PID" ok - 'run < 1'
    begin "$deserve" polls poll 10 300 || return
    row polls "$PID" ok - 'run > 1 && run < 8 && wait < 3'
    begin "$deserve" timer burn 400 9600 || return
    row timer "$PID" ok - 'run > 1 && run < 8 && wait < 3'
    begin "$deserve" idle-pool pool 8 50 500 || return
    row idle-pool "$PID" ok - 'run > 1 && run < 8 && wait < 3'
    begin "$deserve" reads-seldom read "$big/seldom" 65536 16000 64 || return
    row reads-seldom "$PID" ok - 'blocked < 6 && wait < 3 && io_kib > 100'
    memory_group fits 64 || return 0
    begin_in "$GROUP" "$deserve" map-fits map "$big/small" 32768 10000 || return
    row map-fits "$PID" ok - 'majors < 5 && run < 8 && wait < 3'
}
