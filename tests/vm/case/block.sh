# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# hog block with each of its hooks, against loads with known I/O: half of the disk is a file system, half swap.
TOOLS=/tests/tools
DISK=nvme0n1
kill -STOP "$LOOP" # emulation is slow enough

has_window() { grep -q '^#window' /tmp/hog.out 2>/dev/null || ! kill -0 $HOG_PID 2>/dev/null; }
has_told() { [ "$(grep -c ^pid= /tmp/load)" = 2 ]; }
start_hog() { # start_hog OPTION...
    rm -f /tmp/hog.out # not the window of the previous run
    hog -v -w block -k 1000 --device $DISK "$@" 0.5 >/tmp/hog.out 2>/tmp/hog.err &
    HOG_PID=$!
    until_is has_window
}
stop_hog() {
    sleep 0.6
    kill $HOG_PID 2>/dev/null
    wait $HOG_PID
}

# count COLUMN PID NAME: over all windows. PID or NAME "": any.
count() {
    awk -v name="$1" -v pid="$2" -v comm="$3" "$BY_NAME"'
        $1 == "block" && (pid == "" || col("pid") == pid) && (comm == "" || col("comm") == comm) { n += col(name) * win("dur_ms") / 1000 }
        END { printf "%.0f\n", n }' /tmp/hog.out
}
told() { sed -n 's/^pid=//p' /tmp/load; }

uses() { # uses WHAT HOOK
    cat /tmp/hog.err
    grep -qx "hog: block: $1: $2" /tmp/hog.err
}
exactly() { # exactly reads_s|writes_s COUNT COLUMN KIB
    echo "$(count "$1" "$(told)" '') requests, $(count "$3" "$(told)" '') KiB; the load had $2, $4"
    awk '$1 == "block"' /tmp/hog.out
    [ "$(count "$1" "$(told)" '')" = "$2" ] && [ "$(count "$3" "$(told)" '')" = "$4" ]
}
data_and_little_more() { # data_and_little_more KIB: plus the file system's metadata
    echo "$(count write_kib_s "$(told)" diskload) KiB of $1"
    awk '$1 == "block"' /tmp/hog.out
    within "$(count write_kib_s "$(told)" diskload)" "$(($1 * 95 / 100))" $(($1 + 200))
}
all_in() { # the times of its requests: ordered, and all known
    awk "$BY_NAME"'
        $1 == "block" && col("comm") == "diskload" && col("reads_s") > 0 { n++; print
            bad += col("p50_us") <= 0 || col("p50_us") > col("p99_us") || col("disk_p50_us") > col("p50_us") * 1.13 ||
                col("util_pct") <= 0 || col("util_pct") > 100 || col("iowait_pct") == "-" }
        END { exit !n || bad }' /tmp/hog.out
}

# block HOOK NAME OPTION...: with these hooks.
block() {
    hook=$1 what=$2
    shift 2
    start_hog "$@"
    $TOOLS/diskload read /dev/$DISK 64 150 >/tmp/load
    stop_hog
    for part in start issue end merge dirty switch exit; do
        check "hog block, $what: the hook for $part is $hook" uses $part "$hook" || return
    done
    if check "hog block, $what: reads are exactly those of the load" exactly reads_s 150 read_kib_s 9600; then
        sed -n 's/^hog: \([a-z]*\): \([a-z]*\): \([a-z_]*\)$/used \1 \2 \3/p' /tmp/hog.err
    fi
    check "hog block, $what: times are known" all_in
    start_hog "$@"
    $TOOLS/diskload synced /tmp/disk/synced 64 50 >/tmp/load
    stop_hog
    check "hog block, $what: synced data is charged to its writer" data_and_little_more 3200
    start_hog "$@"
    $TOOLS/diskload left /tmp/disk/left 64 50 >/tmp/load
    sync
    stop_hog
    check "hog block, $what: data written back later is charged to its writer" data_and_little_more 3200
    rm -f /tmp/disk/synced /tmp/disk/left
    sync
}

swapped() {
    echo "written $(count write_kib_s '' '[swap]') KiB, read $(count read_kib_s '' '[swap]')"
    awk '$1 == "block"' /tmp/hog.out
    [ "$(count write_kib_s '' '[swap]')" -ge 800 ] && [ "$(count read_kib_s '' '[swap]')" -ge 800 ]
}

# The load's group may have no memory: its pages are swapped out.
swap() {
    rm -f /tmp/go /tmp/load
    mkfifo /tmp/go
    start_hog
    sh -c "echo \$\$ >/tmp/cgroup/load/cgroup.procs
        exec $TOOLS/faulter 100 0 0 0 1 /tmp/disk/file 256" </tmp/go >/tmp/load 2>&1 &
    PID=$!
    exec 3>/tmp/go
    until_is grep -q ready /tmp/load
    echo 0 >/tmp/cgroup/load/memory.high
    sleep 0.5
    echo max >/tmp/cgroup/load/memory.high
    echo >&3
    until_is has_told
    stop_hog
    exec 3>&-
    wait $PID
    check 'hog block: what goes to swap and comes back is charged to no process' swapped
}

mke2fs /dev/$DISK >/dev/null 2>&1
mkdir -p /tmp/disk
mount -t ext4 /dev/$DISK /tmp/disk || mount -t ext2 /dev/$DISK /tmp/disk
check 'there is a disk' touch /tmp/disk/file
if uname -r | awk -F . '{ exit !($1 > 5 || ($1 == 5 && $2 >= 15)) }'; then
    block tp_btf 'best hook'
fi
block raw_tp 'without tp_btf' --without tp_btf
dd if=/dev/zero of=/tmp/disk/swap bs=1024k count=16 2>/dev/null
mkswap /tmp/disk/swap >/dev/null
check 'and swap' swapon /tmp/disk/swap
echo 0 >/proc/sys/vm/page-cluster # each page by itself
mkdir -p /tmp/cgroup
mount -t cgroup2 none /tmp/cgroup
echo +memory >/tmp/cgroup/cgroup.subtree_control
mkdir -p /tmp/cgroup/load
swap
rmdir /tmp/cgroup/load
umount /tmp/cgroup
swapoff /tmp/disk/swap
umount /tmp/disk
kill -CONT "$LOOP"
