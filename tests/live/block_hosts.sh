#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# hog block where several processes share a disk, where file systems lie on each other, and where a disk goes with requests
# in flight: each byte is counted once, for the process that asked for it. All loads run next to one hog.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
HERE=$(mktemp -d /var/tmp/hog_block_hosts.XXXXXX)
LOAD=$BUILD/tests/load/diskload
LOOP='' GONE='' GROUPS_MADE=()

undo() {
    local group
    umount "$HERE/merged" 2>/dev/null
    umount "$HERE/mount" 2>/dev/null
    [ -z "$LOOP" ] || losetup -d "$LOOP" 2>/dev/null
    [ -z "$GONE" ] || losetup -d "$GONE" 2>/dev/null
    for group in "${GROUPS_MADE[@]}"; do
        rmdir "$group" 2>/dev/null
    done
    [ -z "${OWN_CGROUP-}" ] || { umount "$HERE/cgroup" && rmdir "$HERE/cgroup"; } 2>/dev/null
    rm -rf "$HERE"
}
trap 'lib_cleanup; undo' EXIT

disk() { # disk NAME: a loop device, silently. With direct I/O to the file below, if possible.
    truncate -s 128M "$HERE/$1" && { losetup -f --show --direct-io=on "$HERE/$1" 2>/dev/null || losetup -f --show "$HERE/$1"; }
}

# rows DISK PID COLUMN: the column's rates, as an amount over all windows; DISK or PID "": any.
rows() {
    awk -v disk="$1" -v pid="$2" -v name="$3" "$BY_NAME"'
        $1 == "block" && (disk == "" || col("dev") == disk) && (pid == "" || col("pid") == pid) { n += col(name) * win("dur_ms") / 1000 }
        END { printf "%.0f\n", n }' "$TMP/out"
}
of() { sed -n 's/^pid=//p' "$HERE/$1"; } # the pid that the load wrote there
did() { # did WHO reads|writes COUNT KIB: exactly, on that disk; a page or two of the program may come from another disk
    local pid
    pid=$(of "$1")
    echo "$1 ($pid): $(rows "$NAME" "$pid" "${2}_s") $2, $(rows "$NAME" "$pid" "${2%s}_kib_s") KiB, on all disks $(rows '' "$pid" "${2%s}_kib_s")"
    [ -n "$pid" ] && [ "$(rows "$NAME" "$pid" "${2}_s")" = "$3" ] && [ "$(rows "$NAME" "$pid" "${2%s}_kib_s")" = "$4" ] &&
        within "$(rows '' "$pid" "${2%s}_kib_s")" "$4" $(($4 + 1024))
}
wrote() { # wrote WHO KIB: plus the file system's metadata
    local pid
    pid=$(of "$1")
    echo "$1 ($pid): $(rows "$NAME" "$pid" write_kib_s) KiB of $2"
    [ -n "$pid" ] && within "$(rows "$NAME" "$pid" write_kib_s)" "$2" $(($2 + $2 / 50 + 64))
}

# On some hosts some completions reach no program (see tests/live/block.sh). So one load of six, each a process of its own,
# must be counted to the last request; a mistake in hog would show in all.
try_until() { # try_until CHECK LOAD: until the check holds for the load, over all windows so far
    for _ in 1 2 3 4 5 6; do
        "$2"
        for _ in 1 2 3 4 5; do # windows come late on a busy host
            sleep 0.3
            "$1" >/dev/null 2>&1 && return
        done
    done
}

ready() {
    LOOP=$(disk image) && NAME=${LOOP#/dev/} && mkfs.ext4 -q -F "$LOOP" 2>/dev/null && mkdir "$HERE/mount" && mount "$LOOP" "$HERE/mount" &&
        GONE=$(disk gone)
}
if ! ready; then
    skip 'all' 'needs LOOP: for disks of our own'
    done_testing
fi
dd if=/dev/urandom of="$HERE/mount/data" bs=1M count=16 conv=fsync 2>/dev/null
stat_of() { # stat_of DISK: writes (with zeroes and flushes) and discards, as the kernel counts them
    awk '{ print $5 + $12 }' "/sys/block/${1#/dev/}/stat"
}
measure block -k 10000 --with cgroup 0.2
sleep 0.2

# Two containers, each with its own cgroup and mounts: at the same time, one reads and one writes.
CGROUP=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
contained() { # contained NAME LOAD-ARGUMENT...
    local group=$CGROUP/hog_block_$$_$1
    # shellcheck disable=SC2016 # expanded by the shells inside
    bash -c 'echo $$ >"$0/cgroup.procs" && exec unshare -mC bash -c '"'"'mount -t tmpfs none /mnt && exec "$@"'"'"' - "$@"' \
        "$group" "$LOAD" "${@:2}" >"$HERE/$1"
}
in_groups() { # each in its own; the cgroup of a process that has ended by the end of the window is not known
    awk -v one="$(of one)" -v two="$(of two)" -v group="/hog_block_$$_" "$BY_NAME"'
        $1 == "block" && (col("pid") == one || col("pid") == two) && col("cgroup") != "-" {
            want = group (col("pid") == one ? "one" : "two")
            n++; bad += substr(col("cgroup"), length(col("cgroup")) - length(want) + 1) != want; print }
        END { exit !n || bad }' "$TMP/out"
}
two_containers() {
    local one
    contained one read "$HERE/mount/data" 8 2000 &
    one=$!
    contained two synced "$HERE/mount/two" 64 100 &
    wait "$one" $!
}
both_did() { did one reads 2000 16000 && wrote two 6400; }
if [ -n "$CGROUP" ]; then
    for group in "$CGROUP/hog_block_$$"_{one,two}; do
        mkdir "$group" && GROUPS_MADE+=("$group")
    done
    try_until both_did two_containers
fi

# Overlay: a file of the lower layer, and one that is written to the upper layer.
below() { "$LOAD" read "$HERE/merged/below" 32 150 >"$HERE/below"; }
below_did() { did below reads 150 4800; }
above() { "$LOAD" synced "$HERE/merged/above" 64 100 >"$HERE/above"; }
above_did() { wrote above 6400; }
OVERLAY=
mkdir "$HERE"/{merged,mount/lower,mount/upper,mount/work}
cp "$HERE/mount/data" "$HERE/mount/lower/below" && sync -f "$HERE/mount/data"
if mount -t overlay none -o "lowerdir=$HERE/mount/lower,upperdir=$HERE/mount/upper,workdir=$HERE/mount/work" "$HERE/merged" 2>/dev/null; then
    OVERLAY=yes
    try_until below_did below
    try_until above_did above
fi

# Requests that move no data, on a disk with no other user: what the kernel counts.
counted() { echo $(($(rows "${GONE#/dev/}" '' other_s) + $(rows "${GONE#/dev/}" '' writes_s))); }
dataless() {
    sleep 0.3
    before=$(stat_of "$GONE") counted_before=$(counted)
    blkdiscard -l 8M "$GONE"
    blkdiscard -z -o 8M -l 8M "$GONE"
    dd if=/dev/zero of="$GONE" bs=64k count=20 oflag=direct conv=fsync,notrunc 2>/dev/null
    after=$(stat_of "$GONE")
}
dataless_counted() {
    awk -v disk="${GONE#/dev/}" "$BY_NAME"'$1 == "#block" || ($1 == "block" && col("dev") == disk)' "$TMP/out"
    echo "$counted_before to $(counted) counted, $(rows "${GONE#/dev/}" '' other_s) without data; the kernel: $((after - before))"
    [ "$after" -gt "$before" ] && [ $(($(counted) - counted_before)) = $((after - before)) ] &&
        [ "$(rows "${GONE#/dev/}" '' other_s)" -ge 2 ]
}
try_until dataless_counted dataless

# A disk that goes while a process reads it: its file is cut, reads fail, the device is detached, and its readers are killed.
# shellcheck disable=SC2016 # the inner shell's argument
load_start bash -c 'while :; do dd if="$0" of=/dev/null bs=64k iflag=direct 2>/dev/null; done' "$GONE"
again=$LOAD_PID
load_start fio --name=gone --filename="$GONE" --direct=1 --ioengine=libaio --iodepth=32 --rw=randread --bs=4k --continue_on_error=all \
    --allow_file_create=0 --time_based --runtime=60
sleep 0.3
truncate -s 0 "$HERE/gone"
sleep 0.3
losetup -d "$GONE"
while read -r pid; do
    kill -9 "$pid"
done < <(pgrep -P "$LOAD_PID"; echo "$LOAD_PID"; echo "$again")
wait "$LOAD_PID" "$again" 2>/dev/null
lib_pids=("$HOG_PID")
sleep 0.5
measured
status=$?

check 'hog bears it all: status 0' test "$status" = 0
if [ -n "$CGROUP" ]; then
    check 'two containers: the reader has its reads and no others' did one reads 2000 16000
    check 'two containers: the writer has its writes' wrote two 6400
    check 'two containers: each is in its control group' in_groups
else
    skip 'two containers' 'needs CGROUP2: for their groups'
fi
if [ -n "$OVERLAY" ]; then
    check 'overlay: what is read from the layer below' below_did
    check 'overlay: writes to the upper layer' above_did
else
    skip 'overlay' 'needs OVERLAY: the kernel mounts none'
fi
check 'discards, zeroes, flushes and writes: as many as the kernel counts' dataless_counted
GONE_NAME=${GONE#/dev/}
failed() { awk -v disk="$GONE_NAME" "$BY_NAME"'
    $1 == "block" && col("dev") == disk { n += col("failed"); left = col("inflight"); print } END { exit !n || left > 1 }' "$TMP/out"; }
check 'a disk that goes: failed requests are reported, and none is left in flight' failed
GONE=
done_testing
