# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Counts that outlive hog: with each hook, the loop has what the scheduler counts for it; and nothing is left behind.

DIR=/sys/fs/bpf/pinned

left() { # maps and programs of hog in the kernel
    { bpftool map show && bpftool prog show; } | grep -c ' name hog_'
}

# The kernel frees closed objects a little later.
nothing_left() {
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        [ "$(left)" = 0 ] && return
        sleep 0.5
    done
    bpftool map show
    return 1
}

# All windows together, and a snapshot takes time: an entry read a little later counts up to then.
read_pinned() {
    BEFORE=$(on_cpu_ms)
    timeout 60 hog read $DIR -w 0.5 3 >/tmp/hog.out 2>/tmp/hog.err
    STATUS=$?
    AFTER=$(on_cpu_ms)
}

counts_loop() {
    cat /tmp/hog.out /tmp/hog.err
    [ $STATUS = 0 ] && within "$(seen_ms)" "$(dur_ms | awk '{ print $1 * 0.8 }')" "$(echo "$BEFORE $AFTER" | awk '{ print $2 - $1 + 20 }')"
}

dumped() {
    bpftool -j map dump pinned $DIR/cpu/threads >/tmp/dump
    head -c 600 /tmp/dump
    grep -q "\"pid\":$LOOP,\"tid\":$LOOP" /tmp/dump && grep -q '"run_ns":' /tmp/dump
}

for hook in tp_btf raw_tp; do
    without=$([ $hook = raw_tp ] && echo --without=tp_btf,task_btf)
    # shellcheck disable=SC2086 # none or one
    check "hog pin by $hook: ends without a word" hog pin $DIR $without
    bpftool prog show >/tmp/pinned
    check "hog pin by $hook: the program is there" has hog_switch /tmp/pinned
    # Emulated CPUs may stand still during a snapshot: three tries.
    for _ in 1 2 3; do
        read_pinned
        counts_loop >/dev/null && break
    done
    check "hog read, $hook: the busy loop has what the scheduler counts" counts_loop
    check "bpftool, $hook: shows the loop by name" dumped
    check "hog unpin, $hook: ends without a word" hog unpin $DIR
    check "hog unpin, $hook: nothing is left" nothing_left
done

# Faults: as many as there are pages, by the hooks that can be pinned there.
pages_of() {
    : >/tmp/hog.out # the previous run has a window, too
    hog read $DIR 0.5 -w -k 1000 >/tmp/hog.out 2>/tmp/hog.err &
    reader=$!
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        grep -q '^#window' /tmp/hog.out && break
        sleep 0.2
    done
    dd if=/dev/zero of=/dev/null bs=40M count=1 2>/dev/null &
    dd=$!
    wait $dd
    kill -TERM $reader # the reader shows the window so far
    wait $reader
    cat /tmp/hog.out /tmp/hog.err
    within "$(awk -v pid=$dd "$BY_NAME"'
        $1 == "faults" && col("pid") == pid { n += (col("minor_s") + col("major_s")) * win("dur_ms") / 1000 } END { print n + 0 }' /tmp/hog.out)" 10000 11000
}
for hook in fexit perf_event; do
    without=$([ $hook = perf_event ] && echo --without=fexit,fentry)
    # shellcheck disable=SC2086 # none or one
    hog pin $DIR faults $without -v >/tmp/pin.out 2>/tmp/pin.err
    STATUS=$?
    if [ $hook = perf_event ] && uname -r | awk -F . '{ exit !($1 < 5 || ($1 == 5 && $2 < 15)) }'; then
        check "hog pin faults, $hook: this kernel cannot, status 3" test $STATUS = 3
        check "hog pin faults, $hook: says so" has 'cannot pin that' /tmp/pin.err
        check "hog pin faults, $hook: nothing is left" nothing_left
        check "hog pin faults, $hook: no directory is left" test ! -e $DIR
        continue
    fi
    check "hog pin faults, $hook: the hook is that" has "faults: end: $hook" /tmp/pin.err
    check "hog read faults, $hook: as many as pages were touched" pages_of
    check "hog unpin faults, $hook: ends" hog unpin $DIR
    check "hog unpin faults, $hook: nothing is left" nothing_left
done

# Disks and files, with the best hooks there are: writes to a tmpfs are counted for its mount.
mkdir -p /tmp/fs
mount -t tmpfs none /tmp/fs
files_written() {
    cat /tmp/hog.out /tmp/hog.err
    awk "$BY_NAME"'$1 == "file" && col("mount") == "/tmp/fs" && col("op") == "write" && col("size_kib") == 64 { count += col("count"); kib += col("kib") } END { exit count != 20 || kib != 1280 }' /tmp/hog.out
}
# This case does not test whether a view works here.
VIEWS='file'
hog doctor | grep -q '^view.block  *ok$' && VIEWS=file,block
check "hog pin $VIEWS: ends without a word" hog pin $DIR $VIEWS
: >/tmp/hog.out
hog read $DIR 0.5 -w -k 1000 >/tmp/hog.out 2>/tmp/hog.err &
reader=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    grep -q '^#window' /tmp/hog.out && break
    sleep 0.2
done
dd if=/dev/zero of=/tmp/fs/file bs=64k count=20 2>/dev/null
kill -TERM $reader
wait $reader
check "hog read $VIEWS: writes are counted for their mount" files_written
check "hog unpin $VIEWS: ends" hog unpin $DIR
check "hog unpin $VIEWS: nothing is left" nothing_left
umount /tmp/fs
