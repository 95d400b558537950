#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# hog block against dd, fio's own report and the kernel's counters, on file systems of loop devices and on the disk below.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
HERE=$(mktemp -d /var/tmp/hog_block.XXXXXX)
LOOP='' NAME=''

undo() {
    [ -z "$LOOP" ] || { umount "$HERE/mount" 2>/dev/null && losetup -d "$LOOP"; } || losetup -d "$LOOP" 2>/dev/null
    rm -rf "$HERE"
}
trap 'lib_cleanup; undo' EXIT

# make_disk MKFS...: a loop device with that file system, at $HERE/mount. Its name goes to NAME.
make_disk() {
    rm -f "$HERE/image"
    truncate -s 512M "$HERE/image"
    LOOP=$(losetup -f --show "$HERE/image") || return 1
    NAME=${LOOP#/dev/}
    mkdir -p "$HERE/mount"
    "$@" "$LOOP" >/dev/null 2>&1 && mount "$LOOP" "$HERE/mount"
}
drop_disk() {
    umount "$HERE/mount" && losetup -d "$LOOP" && LOOP=''
}

# begin OPTION...: hog block, which has shown its first window.
begin() {
    measure block -k 10000 "$@"
    for _ in $(seq 300); do
        grep -q '^#window' "$TMP/out" && return
        sleep 0.05
    done
    return 1
}

# sum COLUMN DISK [PID [COMM]]: the column's rates, as an amount over all windows. PID or COMM "": any.
sum() {
    awk -v name="$1" -v disk="$2" -v pid="${3-}" -v comm="${4-}" "$BY_NAME"'
        $1 == "block" && col("dev") == disk && (pid == "" || col("pid") == pid) && (comm == "" || col("comm") == comm) {
            n += col(name) * win("dur_ms") / 1000 }
        END { printf "%.0f\n", n }' "$TMP/out"
}
# last COLUMN DISK PID: in the last row.
last() {
    awk -v name="$1" -v disk="$2" -v pid="$3" "$BY_NAME"'
        $1 == "block" && col("dev") == disk && col("pid") == pid { v = col(name) } END { print v }' "$TMP/out"
}
has_name() { # has_name PID NAME: in all of its rows
    awk -v pid="$1" -v name="$2" "$BY_NAME"'$1 == "block" && col("pid") == pid { n++; bad += col("comm") != name; print } END { exit !n || bad }' "$TMP/out"
}

# ---- who is charged for writes ----

# Data is exact; the metadata that the file system writes in addition, charged to the process that caused it, is little.
writes_of_dd() { # writes_of_dd PID KIB
    echo "$(sum write_kib_s "$NAME" "$1") KiB of $2 are of process $1"
    awk '$1 == "block"' "$TMP/out" | head -n 20
    within "$(sum write_kib_s "$NAME" "$1")" "$2" "$(($2 + $2 / 50 + 64))"
}
# At least 95 %: a busy host may write part of it before dd has its slot.
left_by_dd() { # left_by_dd PID KIB
    echo "$(sum write_kib_s "$NAME" "$1") KiB of $2 are of process $1"
    awk '$1 == "block"' "$TMP/out" | head -n 20
    within "$(sum write_kib_s "$NAME" "$1")" "$(($2 * 95 / 100))" "$(($2 + $2 / 50 + 64))"
}

whose() { # whose FILESYSTEM
    local pid
    begin 0.3
    dd if=/dev/zero of="$HERE/mount/synced" bs=1M count=48 conv=fsync 2>/dev/null &
    pid=$!
    wait "$pid"
    sleep 0.4
    measured
    check "$1: what dd wrote and synced is dd's" writes_of_dd "$pid" $((48 * 1024))
    check "$1: by its name" has_name "$pid" dd

    begin 0.3
    # shellcheck disable=SC2016
    bash -c 'exec dd if=/dev/zero of="$1" bs=1M count=32 2>/dev/null' - "$HERE/mount/left" &
    pid=$!
    wait "$pid"
    sync -f "$HERE/mount/left" # another process makes the kernel write it
    sleep 0.4
    measured
    check "$1: what dd left to be written back is dd's, though it has ended" left_by_dd "$pid" $((32 * 1024))
    check "$1: by its name, and not by that before exec" has_name "$pid" dd
}

# ---- how many, and how long ----

prepare_file() {
    dd if=/dev/urandom of="$HERE/mount/data" bs=1M count=64 conv=fsync 2>/dev/null
    fio --version >/dev/null
}

# with_fio OPTION...: fio's report is in $TMP/fio.
with_fio() {
    "${RT[@]}" fio --name=load --filename="$HERE/mount/data" --size=64M --fallocate=none --allow_file_create=0 --direct=1 \
        --group_reporting --output-format=json "$@" >"$TMP/fio" 2>"$TMP/fio.err"
}
RT=()
told_by_fio() { # told_by_fio read|write FIELD
    jq ".jobs[0].$1.$2" "$TMP/fio"
}

# Everything fio did on that disk, in any of its processes.
exactly() { # exactly DISK [MORE]: up to MORE further reads, by the file system itself
    local reads writes read_kib write_kib
    reads=$(told_by_fio read total_ios) writes=$(told_by_fio write total_ios)
    read_kib=$(told_by_fio read io_kbytes) write_kib=$(told_by_fio write io_kbytes)
    echo "hog: $(sum reads_s "$1" '' fio) reads, $(sum read_kib_s "$1" '' fio) KiB, $(sum writes_s "$1" '' fio) writes, " \
        "$(sum write_kib_s "$1" '' fio) KiB; fio: $reads, $read_kib, $writes, $write_kib"
    [ "${reads:-0}" != 0 ] && within "$(sum reads_s "$1" '' fio)" "$reads" $((reads + ${2-0})) &&
        within "$(sum read_kib_s "$1" '' fio)" "$read_kib" $((read_kib + 64 * ${2-0})) &&
        [ "$(sum writes_s "$1" '' fio)" = "$writes" ] && [ "$(sum write_kib_s "$1" '' fio)" = "$write_kib" ]
}
on_their_way() { awk "$BY_NAME"'$1 == "block" && col("comm") == "fio" { n = col("inflight") } END { print n }' "$TMP/out"; }

# Some hosts run no program while a certain process of theirs has the CPU (hog cpu counts that time as missed_ms), and an
# interrupt that completes a request may come just then: it cannot be counted. So one run of six must be exact; a mistake in
# hog would show in all.
TRIES='1 2 3 4 5 6'
measure_exactly() { # measure_exactly [HOG-OPTION...] -- FIO-OPTION...: false: fio cannot do that
    local options=()
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    for _ in $TRIES; do
        begin 0.2 "${options[@]}"
        with_fio "${@:2}" || {
            measured
            return 1
        }
        sleep 0.3
        measured
        exactly "$NAME" >/dev/null && [ "$(window_sum lost)" = 0 ] && [ "$(on_their_way)" = 0 ] && return
    done
    return 0
}

counts() { # counts FILESYSTEM ENGINE DEPTH
    measure_exactly -- --ioengine="$2" --iodepth="$3" --rw=randrw --bs=4k --number_ios=1000 || {
        skip "$1, $2: counts" 'needs FIO: it does not know that engine'
        return
    }
    check "$1, $2: reads, writes and KiB are exactly those of fio" exactly "$NAME"
    check "$1, $2: none is lost" test "$(window_sum lost)" = 0
    check "$1, $2: none is on its way at the end" test "$(on_their_way)" = 0
}

# Many at once, so that a request takes long and the time until fio runs again is small compared to it. Three tries: a host
# may be busy.
column() { # column NAME: of fio's row
    awk -v name="$1" -v disk="$NAME" "$BY_NAME"'
        $1 == "block" && col("dev") == disk && col("comm") == "fio" && col("reads_s") > best { best = col("reads_s"); v = col(name) }
        END { print v }' "$TMP/out"
}
agree_on_times() {
    local p ours theirs bad=0
    for p in 50 95 99; do
        ours=$(column "p${p}_us") theirs=$(jq ".jobs[0].read.clat_ns.percentile.\"$p.000000\" / 1000" "$TMP/fio")
        echo "p$p: hog $ours us, fio $theirs us"
        # One bucket of hog's and half a bucket of fio's; the slowest requests are few, and fio notices some of them late.
        within "$ours" "$(awk -v t="$theirs" -v p=$p 'BEGIN { print t * (p == 99 ? 0.75 : 0.87) - 40 }')" "$(awk -v t="$theirs" 'BEGIN { print t * 1.13 + 40 }')" || bad=1
    done
    return $bad
}
waits_as_long() { # fio sleeps for nearly all of each request
    local sum slept busy
    sum=$(jq '.jobs[0].read | .clat_ns.mean * .total_ios / 1e6' "$TMP/fio")
    slept=$(awk "$BY_NAME"'$1 == "block" && col("comm") == "fio" && col("reads_s") > 0 { n += col("iowait_pct") * win("dur_ms") / 100 } END { print n }' "$TMP/out")
    busy=$(awk "$BY_NAME"'$1 == "block" && col("comm") == "fio" && col("reads_s") > 0 { n += col("util_pct") * win("dur_ms") / 100 } END { print n }' "$TMP/out")
    echo "slept $slept ms, busy $busy ms, all requests of fio $sum ms"
    within "$slept" "$(awk -v s="$sum" 'BEGIN { print s * 0.6 }')" "$(awk -v s="$sum" 'BEGIN { print s * 1.02 + 1 }')" &&
        within "$busy" "$(awk -v s="$sum" 'BEGIN { print s * 0.6 }')" "$(awk -v s="$sum" 'BEGIN { print s * 1.1 + 2 }')"
}
times() {
    scripts/has.sh RTPRIO && RT=(chrt -f 40)
    for _ in 1 2 3; do
        begin 4
        with_fio --ioengine=psync --thread --numjobs=12 --rw=randread --bs=1M --number_ios=120
        measured
        agree_on_times >/dev/null && break
    done
    check 'times: p50, p95 and p99 are those of fio, to a bucket' agree_on_times
    for _ in 1 2 3; do
        begin 4
        with_fio --ioengine=psync --rw=randread --bs=1M --number_ios=500
        measured
        waits_as_long >/dev/null && break
    done
    RT=()
    check 'times: iowait_pct and util_pct are what its requests take together' waits_as_long
}

if ! command -v fio >/dev/null; then
    skip 'all' 'needs FIO: to compare with'
    done_testing
fi
if ! make_disk mkfs.ext4 -q -F; then
    skip 'all' 'needs LOOP: for disks of our own'
    done_testing
fi
prepare_file
whose ext4
journal() {
    awk "$BY_NAME"'$1 == "block" && col("comm") == "[journal]"' "$TMP/out"
    [ "$(sum write_kib_s "$NAME" - '[journal]')" -gt 0 ]
}
check 'ext4: the journal is charged to no process' journal
counts ext4 psync 1
counts ext4 libaio 16
counts ext4 io_uring 16
times

# Merged requests: fewer requests, the same bytes.
merged() {
    echo "$(sum reads_s "$NAME" '' fio) requests, $(sum read_kib_s "$NAME" '' fio) KiB"
    within "$(sum reads_s "$NAME" '' fio)" 100 4096 && [ "$(sum read_kib_s "$NAME" '' fio)" = 16384 ]
}
for _ in $TRIES; do
    begin 0.2
    with_fio --ioengine=libaio --iodepth=32 --iodepth_batch=16 --rw=read --bs=4k --io_size=16M
    sleep 0.3
    measured
    merged >/dev/null && break
done
check 'merged requests: all bytes are there' merged

# The disk below has the same load, charged to the kernel thread that serves the loop device or to no process.
disk_below() { lsblk -no pkname "$(df --output=source /var/tmp | tail -n 1)" 2>/dev/null | head -n 1; }
begin 0.2 --device "$NAME"
with_fio --ioengine=psync --rw=randread --bs=4k --number_ios=500
sleep 0.3
measured
check '--device: only that one' test "$(awk "$BY_NAME"'$1 == "block" { print col("dev") }' "$TMP/out" | sort -u)" = "$NAME"
check '--device: is virtual' test "$(awk "$BY_NAME"'$1 == "block" { print col("type") }' "$TMP/out" | sort -u)" = virtual

# Threads, and chosen processes.
measure_exactly -t -- --ioengine=psync --rw=randread --bs=4k --number_ios=300 --thread --numjobs=3 --group_reporting
each_thread() {
    awk -v disk="$NAME" "$BY_NAME"'$1 == "block" && col("dev") == disk && col("comm") == "fio" { print col("tid") }' "$TMP/out" | sort -u | tee /dev/stderr |
        awk 'END { exit NR != 3 }'
}
check '-t: each thread has its row' each_thread
check '-t: together they did what fio says' exactly "$NAME"
load_start dd if="$LOOP" of=/dev/null bs=64k iflag=direct
other=$LOAD_PID
# shellcheck disable=SC2016 # the inner shell's argument
load_start bash -c 'while :; do dd if="$1" of=/dev/null bs=64k iflag=direct 2>/dev/null; done' - "$LOOP"
beside=$LOAD_PID
begin 0.2 -p "$other"
sleep 0.5
measured
check '-p: no other process' test "$(awk "$BY_NAME"'$1 == "block" { print col("pid") }' "$TMP/out" | sort -u)" = "$other"

# A process that dies with requests in flight, and a disk that goes.
begin 0.2
load_start dd if="$LOOP" of=/dev/null bs=8k iflag=direct
dying=$LOAD_PID
sleep 0.5
kill -9 "$dying"
wait "$dying" 2>/dev/null
load_stop "$other"
load_stop "$beside"
for _ in $(seq 50); do
    losetup -j "$HERE/image" | grep -q . && drop_disk 2>/dev/null && break
    sleep 0.1
done
sleep 0.5
check 'a disk that goes: hog goes on' kill -0 "$HOG_PID"
measured
status=$?
check 'a disk that goes: status 0' test "$status" = 0
check 'a process that dies with requests in flight: none is left' test "$(last inflight "$NAME" "$dying")" = 0
check 'a process that dies with requests in flight: it keeps its name' has_name "$dying" dd

if command -v mkfs.xfs >/dev/null && make_disk mkfs.xfs -q -f; then
    prepare_file
    whose xfs
    counts xfs psync 1
    drop_disk
else
    skip 'xfs' 'needs XFS: no mkfs.xfs or no such file system'
fi
done_testing
