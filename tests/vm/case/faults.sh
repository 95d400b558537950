# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# hog faults with each of its hooks: counts against getrusage(2) of a load with a known number of faults, times against the
# clock of a load with slow faults. Major faults come from a disk: half of it is a file system, half swap.
TOOLS=/tests/tools
kill -STOP "$LOOP" # emulation is slow enough

# count COLUMN: faults of the load in all windows, from its rates.
count() {
    awk -v pid="$PID" -v name="$1" "$BY_NAME"'
        $1 == "faults" && col("pid") == pid { n += int(col(name) * win("dur_ms") / 1000 + 0.5) } END { print n + 0 }' /tmp/hog.out
}
sum() { awk -v pid="$PID" -v name="$1" "$BY_NAME"'$1 == "faults" && col("pid") == pid { n += col(name) } END { printf "%.3f\n", n }' /tmp/hog.out; }
told() { tail -n 1 /tmp/load | tr ' ' '\n' | sed -n "s/^$1=//p"; }

has_window() { grep -q '^#window' /tmp/hog.out 2>/dev/null || ! kill -0 $HOG_PID 2>/dev/null; }
has_told() { [ "$(grep -c ^pid= /tmp/load)" = 2 ]; }

start_hog() { # start_hog OPTION...
    rm -f /tmp/hog.out # not the window of the previous run
    hog -v -w "${VIEW:-faults}" -k 1000 "$@" 0.5 >/tmp/hog.out 2>/tmp/hog.err &
    HOG_PID=$!
    until_is has_window
}
stop_hog() {
    kill $HOG_PID 2>/dev/null
    wait $HOG_PID
}

hook() { sed -n "s/^hog: faults: $1: \\([a-z_]*\\)\$/\\1/p" /tmp/hog.err; }
uses_hooks() {
    cat /tmp/hog.err
    [ "$(hook begin)" = "$1" ] && [ "$(hook end)" = "$2" ]
}

# Where the end is a software event, faults without an exception (HELPED) are not seen.
exact() {
    seen=$(told minor) kernel=$KERNEL
    if [ "$(hook end)" = fexit ]; then
        kernel=$((kernel + HELPED))
    else
        seen=$((seen - HELPED))
    fi
    tail -n 1 /tmp/load
    echo "minor $(count minor_s), major $(count major_s), kernel $(count kernel_s), seen should be $seen, $kernel in the kernel"
    has_told && [ "$(count minor_s)" = "$seen" ] && [ "$(count major_s)" = "$(told major)" ] && [ "$(count kernel_s)" = "$kernel" ]
}

from_swap() {
    echo "from swap $(count swap_s), major $(count major_s), the file has $MAJOR; the kernel says $(tail -n 1 /tmp/load)"
    [ "$(count swap_s)" -ge $SWAPPED ] && within "$(count swap_s)" $(($(count major_s) - MAJOR - 5)) $(($(count major_s) - MAJOR)) &&
        within "$(count major_s)" "$(told major)" $(($(told major) + 5))
}

# What was paged out is still in the swap cache. A limit of 0 takes it out of there.
reclaim() {
    echo 0 >/tmp/cgroup/load/memory.high
    sleep 0.2
    echo max >/tmp/cgroup/load/memory.high
}

# measure_load OPTION...: hog with these options next to the load.
measure_load() {
    KERNEL=200 HELPED=30
    rm -f /tmp/go
    mkfifo /tmp/go
    sh -c "echo \$\$ >/tmp/cgroup/load/cgroup.procs
        exec $TOOLS/faulter 3000 $MAJOR $KERNEL $HELPED 1 /tmp/disk/file $SWAPPED" </tmp/go >/tmp/load 2>&1 &
    PID=$!
    exec 3>/tmp/go
    until_is grep -q ready /tmp/load
    start_hog "$@"
    [ "$SWAPPED" = 0 ] || reclaim
    echo >&3
    until_is has_told
    stop_hog
    exec 3>&-
    wait $PID
}

# faults BEGIN END NAME OPTION...: with these hooks.
faults() {
    begin=$1 end=$2 what=$3 SWAPPED=0
    shift 3
    measure_load "$@"
    check "hog faults, $what: hooks are $begin and $end" uses_hooks "$begin" "$end" || return
    if check "hog faults, $what: minor, major and kernel-mode faults are exactly those of getrusage" exact; then
        sed -n 's/^hog: \([a-z]*\): \([a-z]*\): \([a-z_]*\)$/used \1 \2 \3/p' /tmp/hog.err
    fi
    check "hog faults, $what: nothing is lost" test "$(window_sum lost)" = 0
}

# mapped NAME OPTION...: hog file counts pages of a mapped file that have to be read.
read_pages() {
    awk -v pid="$PID" "$BY_NAME"'$1 == "file" && col("pid") == pid && col("mount") == "/tmp/disk" && col("via") == "mmap" { n += col("count"); kib += col("kib") }
        END { print n + 0, kib + 0 }' /tmp/hog.out
}
all_mapped() {
    cat /tmp/hog.err
    grep -w "$PID" /tmp/hog.out
    tail -n 1 /tmp/load
    has_told && [ "$(read_pages)" = "$MAJOR $((MAJOR * 4))" ] && [ "$(told major)" = $MAJOR ]
}
mapped() {
    what=$1 SWAPPED=0 VIEW=file
    shift
    if hog doctor "$@" 2>/dev/null | grep -q '^view\.file\.mmap  *[a-z_]*$'; then
        measure_load "$@"
        check "hog file, $what: each page of a mapped file that had to be read counts once" all_mapped
    fi
    VIEW=faults
}

# swap NAME OPTION...: which major faults are from swap. The pages of the reporting code are swapped, too: some more than
# reported. Some of those are pages of the program's own file that were written to, which hog does not recognise as swapped.
swap() {
    what=$1 SWAPPED=60
    shift
    measure_load "$@"
    check "hog faults, $what: all major faults but those of the file are from swap" from_swap
}

# slow NAME OPTION...: the times of faults that take 50 ms each.
slow() {
    what=$1
    shift
    start_hog "$@"
    $TOOLS/slowfault slow 20 50 >/tmp/load
    stop_hog
    PID=$(told pid)
    check "hog faults, $what: the time of slow faults is that by the clock" within "$(sum lat_ms)" \
        "$(told slow_ms | awk '{ print $1 * 0.95 }')" "$(told slow_ms | awk '{ print $1 * 1.05 + 200 }')"
    start_hog "$@"
    $TOOLS/slowfault slow 1 2000 >/tmp/load
    stop_hog
    PID=$(told pid)
    check "hog faults, $what: a fault that lasts is in each window" within \
        "$(awk -v pid="$PID" "$BY_NAME"'$1 == "faults" && col("pid") == pid && col("lat_ms") > 400 { n++ } END { print n + 0 }' /tmp/hog.out)" 2 6
    check "hog faults, $what: the parts of a fault that lasts make the whole" within "$(sum lat_ms)" \
        "$(told slow_ms | awk '{ print $1 * 0.95 }')" "$(told slow_ms | awk '{ print $1 * 1.05 + 200 }')"
}

# Two halves of the disk: a file in the first is a file system, the second is swap.
mke2fs /dev/nvme0n1 >/dev/null 2>&1
mkdir -p /tmp/disk
mount -t ext4 /dev/nvme0n1 /tmp/disk || mount -t ext2 /dev/nvme0n1 /tmp/disk
MAJOR=40
check 'there is a disk' touch /tmp/disk/file
dd if=/dev/zero of=/tmp/disk/swap bs=1024k count=16 2>/dev/null
mkswap /tmp/disk/swap >/dev/null
check 'and swap' swapon /tmp/disk/swap
echo 0 >/proc/sys/vm/page-cluster # each page by itself
mkdir -p /tmp/cgroup
mount -t cgroup2 none /tmp/cgroup
echo +memory >/tmp/cgroup/cgroup.subtree_control
mkdir -p /tmp/cgroup/load
check 'there is a group whose memory can be reclaimed' test -e /tmp/cgroup/load/memory.high

exceptions=no
[ "$(uname -m)" != x86_64 ] || exceptions=tp_btf
if [ "$(hog doctor 2>/dev/null | sed -n 's/^hook.fentry  *//p')" = ok ]; then
    faults fentry fexit 'best hook'
    slow fentry
    swap fentry
    mapped fentry
    faults fentry fexit '--exact' --exact
fi
if [ $exceptions = tp_btf ]; then
    faults tp_btf perf_event 'without fentry' --without fentry,fexit
    slow tp_btf --without fentry,fexit
fi
mapped tp_btf --without fentry
faults kprobe perf_event 'without fentry and tp_btf' --without fentry,fexit,tp_btf
slow kprobe --without fentry,fexit,tp_btf
faults '' perf_event 'counts alone' --without fentry,fexit,tp_btf,kprobe
mkdir -p /tmp/empty
mount -o bind /tmp/empty /sys/kernel/btf
if [ $exceptions = tp_btf ]; then
    faults raw_tp perf_event 'no BTF'
else
    faults '' perf_event 'no BTF'
fi
umount /sys/kernel/btf
rmdir /tmp/cgroup/load
umount /tmp/cgroup
swapoff /tmp/disk/swap
umount /tmp/disk
kill -CONT "$LOOP"
