# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# hog block where disks lie on disks: device-mapper (linear, and crypt) and md (raid1) on partitions of one disk. What is
# read and written through them is counted once at the disk below, with raid1 once for each copy, for the process that did
# it.
TOOLS=/tests/tools
DISK=nvme0n1
kill -STOP "$LOOP"

has_window() { grep -q '^#window' /tmp/hog.out 2>/dev/null || ! kill -0 $HOG_PID 2>/dev/null; }
start_hog() {
    rm -f /tmp/hog.out
    hog -v -w block -k 1000 0.5 >/tmp/hog.out 2>/tmp/hog.err &
    HOG_PID=$!
    until_is has_window
}
stop_hog() {
    sleep 0.6
    kill $HOG_PID 2>/dev/null
    wait $HOG_PID
}

# count COLUMN PID DISK: over all windows. PID or DISK "": any.
count() {
    awk -v name="$1" -v pid="$2" -v disk="$3" "$BY_NAME"'
        $1 == "block" && (pid == "" || col("pid") == pid) && (disk == "" || col("dev") == disk) { n += col(name) * win("dur_ms") / 1000 }
        END { printf "%.0f\n", n }' /tmp/hog.out
}
pidof_writer() { grep -l '^Name:.dmcrypt_write' /proc/[0-9]*/status | cut -d / -f 3; }
told() { sed -n 's/^pid=//p' /tmp/load; }
rows() { awk '$1 == "block"' /tmp/hog.out; }

exactly() { # exactly PID reads_s|writes_s COUNT COLUMN KIB: on that disk, and nothing elsewhere
    echo "$(count "$2" "$1" $DISK) requests, $(count "$4" "$1" $DISK) KiB; the load had $3, $5"
    rows
    [ "$(count "$2" "$1" $DISK)" = "$3" ] && [ "$(count "$4" "$1" $DISK)" = "$5" ] && [ "$(count "$4" "$1" '')" = "$5" ]
}
data_and_little_more() { # data_and_little_more KIB: plus the file system's metadata
    echo "$(count write_kib_s "$(told)" $DISK) KiB of $1"
    rows
    within "$(count write_kib_s "$(told)" $DISK)" "$1" "$(($1 + $1 / 20 + 200))"
}

# through HOST DEVICE COPIES [PID]: direct writes are charged to that thread, and not to the load
through() {
    what=$1 device=$2 copies=$3 writer=$4
    dd if="$device" of=/dev/null bs=4k count=1 2>/dev/null # the first reader scans for partitions
    start_hog
    $TOOLS/diskload read "$device" 64 150 >/tmp/load
    stop_hog
    check "$what: direct reads are exactly those of the load" exactly "$(told)" reads_s 150 read_kib_s 9600
    start_hog
    $TOOLS/diskload write "$device" 64 100 >/tmp/load
    stop_hog
    check "$what: direct writes are exactly those of the load" exactly "${writer:-$(told)}" writes_s $((100 * copies)) write_kib_s $((6400 * copies))
    mke2fs "$device" >/dev/null 2>&1
    mount -t ext4 "$device" /tmp/disk || mount -t ext2 "$device" /tmp/disk
    start_hog
    $TOOLS/diskload synced /tmp/disk/synced 64 50 >/tmp/load
    stop_hog
    check "$what: synced data is charged to its writer" data_and_little_more $((3200 * copies))
    start_hog
    $TOOLS/diskload left /tmp/disk/left 64 50 >/tmp/load
    sync
    stop_hog
    check "$what: data written back later is charged to its writer" data_and_little_more $((3200 * copies))
    umount /tmp/disk
}

for module in dm-mod dm-crypt md-mod raid1; do
    insmod /tests/modules/$module.ko
done
mkdir -p /tmp/disk
for n in 1 2 3; do
    $TOOLS/stack part /dev/$DISK $n $((n * 32768 - 30720)) 32768
done
mknod /tmp/md0 b 9 0
check 'a linear device of device-mapper' $TOOLS/stack dm linear 32768 linear "/dev/${DISK}p1 0"
check 'a mirror of md' $TOOLS/stack mirror /tmp/md0 32768 /dev/${DISK}p2 /dev/${DISK}p3

through 'device-mapper' /dev/dm-0 1 ''
check 'device-mapper: is gone' $TOOLS/stack remove linear
through 'md' /tmp/md0 2 ''
check 'md: is gone' $TOOLS/stack stop /tmp/md0
check 'an encrypted device' $TOOLS/stack dm crypt 32768 crypt "aes-cbc-plain 00112233445566778899aabbccddeeff 0 /dev/${DISK}p1 0"
through 'encrypted' /dev/dm-0 1 "$(pidof_writer)"
check 'encrypted: is gone' $TOOLS/stack remove crypt
kill -CONT "$LOOP"
