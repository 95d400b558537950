#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# pin, read, unpin: counts that outlive hog, read by several readers at once, by bpftool, and by the sampler of
# docs/pinned.md.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck source=tests/live/pins/lib.sh
. "$(dirname "$0")/pins/lib.sh"

# row_ms FILE PID: over all windows
row_ms() {
    awk -v pid="$2" "$BY_NAME"'$1 == "cpu" && col("pid") == pid { sum += col("run_ms") } END { printf "%.3f\n", sum }' "$1"
}

names() { # names FILE PID COMM
    grep "^cpu .*\<$2 " "$1"
    awk -v pid="$2" -v comm="$3" "$BY_NAME"'$1 == "cpu" && col("pid") == pid { n++; bad += col("comm") != comm } END { exit !n || bad }' "$1"
}

# All time of all CPUs is accounted for, over all windows together: a snapshot takes time, so it may not hold for each.
adds_up() {
    grep '^#window' "$1"
    awk "$BY_NAME"'END {
        for (w = 1; w <= WINDOW; w++) {
            all += win("cpus", w) * win("dur_ms", w)
            sum += win("run_ms", w) + win("other_ms", w) + win("idle_ms", w) + win("missed_ms", w) + win("stolen_ms", w) + win("lost_ms", w)
        }
        print sum, all; exit !(all && sum > all * 0.97 && sum < all * 1.03) }' "$1"
}

schedstat_ms() { awk '{ printf "%.3f\n", $1 / 1e6 }' "/proc/$1/schedstat"; }

# ---- pin ----

hog pin "$DIR"
check 'pin: ends without a word' ended 0
ids >"$TMP/ids"
check 'pin: programs and maps are there without hog' test "$(grep -c . "$TMP/ids")" -ge 4
is_known() { bpftool prog show id "$(sed -n 's/^prog //p' "$TMP/ids" | head -n 1)" | grep -q 'name hog_switch'; }
check 'pin: the program is in the kernel' is_known
hog pin "$DIR"
check 'pin: twice is refused' ended 1 "$DIR is not empty"

# ---- read ----

# A life from beginning to end, seen by two readers.
reader one
ONE=$READER
reader two -t
TWO=$READER
UNSURE_BEFORE=$(unsure_ms)
"$BUILD/tests/load/named" 70696e6e6564 300 >"$TMP/life"
"$BUILD/tests/load/duty" 1 1000 1000 3 >"$TMP/duty"
LIFE=$(told pid "$TMP/life") DUTY=$(told pid "$TMP/duty" pid)
sleep 0.5
reader_ends "$ONE"
check 'read: ends with status 0' test $? = 0
reader_ends "$TWO"
check 'read: so does the other one' test $? = 0
UNSURE=$(unsure_since "$UNSURE_BEFORE")
check 'read: a process that lived and died has its CPU time' agrees "$(row_ms "$TMP/one" "$LIFE")" "$(told cpu_ms "$TMP/life")"
check 'read: and its name' names "$TMP/one" "$LIFE" pinned
check 'read: so it has by another reader at the same time' agrees "$(row_ms "$TMP/two" "$LIFE")" "$(told cpu_ms "$TMP/life")"
check 'read: three threads add up to their process' agrees "$(row_ms "$TMP/one" "$DUTY")" "$(told cpu_ms "$TMP/duty" pid)"
each_thread() {
    local tid=0 ms=0 n=0 line
    while read -r line; do
        tid=${line#tid=} tid=${tid%% *} ms=${line##*=} n=$((n + 1))
        agrees "$(awk -v tid="$tid" "$BY_NAME"'$1 == "cpu" && col("tid") == tid { sum += col("run_ms") } END { print sum + 0 }' "$TMP/two")" "$ms" || return 1
    done < <(grep '^tid=' "$TMP/duty")
    [ "$n" = 3 ]
}
check 'read: -t: and so do the rows of each thread' each_thread
check 'read: all time of all CPUs is accounted for' adds_up "$TMP/one"
nothing_lost() { [ "$(window_sum lost "$TMP/one")" = 0 ]; }
check 'read: nothing is lost' nothing_lost

# Processes that run one after the other count as much as one.
reader one
"$BUILD/tests/load/lives" thread 200 >"$TMP/exec"
sleep 0.4
reader_ends "$READER"
UNSURE=$(unsure_since "$UNSURE_BEFORE")
check 'read: exec by another thread is no new process' agrees "$(row_ms "$TMP/one" "$(told pid "$TMP/exec")")" "$(told cpu_ms "$TMP/exec")"

# A process that never ends: between the scheduler's values after and before.
load_start "$BUILD/tests/load/duty" 1000
LIVING=$LOAD_PID
BEFORE=$(schedstat_ms "$LIVING")
reader one -p "$LIVING"
FROM=$(schedstat_ms "$LIVING")
sleep 1
TO=$(schedstat_ms "$LIVING")
sleep 0.4
reader_ends "$READER"
AFTER=$(schedstat_ms "$LIVING")
UNSURE=$(unsure_since "$UNSURE_BEFORE")
check 'read: -p: a process that does not leave its CPU has its time' within "$(row_ms "$TMP/one" "$LIVING")" \
    "$(awk -v a="$FROM" -v b="$TO" -v u="$UNSURE" 'BEGIN { print b - a - 5 - u }')" \
    "$(awk -v a="$BEFORE" -v b="$AFTER" -v u="$UNSURE" 'BEGIN { print b - a + 5 + u }')"
check 'read: -p: and no other process has a row' test "$(grep -c '^cpu' "$TMP/one")" = "$(awk -v pid="$LIVING" "$BY_NAME"'$1 == "cpu" && col("pid") == pid' "$TMP/one" | wc -l)"

# ---- other readers ----

dumped() {
    bpftool -j map dump pinned "$DIR/cpu/threads" | jq -e --argjson pid "$LIVING" \
        '.[].formatted | select(.key.pid == $pid and .key.tid == $pid and .key.born_ns > 0) |
         .value | .name.comm == "duty" and .name.uid == 0 and .name.kernel == 0 and .since_ns > 0 and (.run_ns | type) == "number"'
}
check 'bpftool: keys and values have names and types' dumped
kernel_thread() {
    bpftool -j map dump pinned "$DIR/cpu/threads" | jq -e '[.[].formatted.value.name | select(.comm | startswith("rcu_")).kernel] | length > 0 and all(. == 1)'
}
check 'bpftool: kernel threads are marked' kernel_thread
informs() {
    bpftool -j map dump pinned "$DIR/info" | jq -e --arg version "$("$HOG" --version | cut -d ' ' -f 2)" --argjson now "$(date +%s)" \
        '.[0].formatted.value | .layout == 4 and .views == "cpu" and .version == $version and
         (.pinned_ns / 1e9 - $now | fabs) < 200 and .booted_ns < .pinned_ns'
}
check 'bpftool: the directory says what it is' informs
# shellcheck disable=SC2016 # no command
sed -n '/^```c$/,/^```$/p' docs/pinned.md | grep -v '^```' >"$TMP/sampler.c"
check 'the sampler of the manual is C' cc -Wall -Wextra -Werror -o "$TMP/sampler" "$TMP/sampler.c"
"$HOG" read "$DIR" 0.1 1 >/dev/null # so that hog has run, too
sampled() {
    local before after
    before=$("$TMP/sampler" "$DIR/cpu/threads" | awk -v tid="$LIVING" '$2 == tid { print $3 }')
    FROM=$(schedstat_ms "$LIVING")
    sleep 0.5
    TO=$(schedstat_ms "$LIVING")
    after=$("$TMP/sampler" "$DIR/cpu/threads" | awk -v tid="$LIVING" '$2 == tid { print $3 }')
    "$TMP/sampler" "$DIR/cpu/threads" | head -n 20
    within "$(awk -v a="$before" -v b="$after" 'BEGIN { print b - a }')" "$(awk -v a="$FROM" -v b="$TO" 'BEGIN { print b - a - 5 }')" 100000
}
check 'the sampler sees the time grow' sampled
load_stop "$LIVING"

# ---- bad input ----

hog pin "$TMP/nowhere"
check 'pin: no BPF file system is refused' ended 3 'is no BPF file system'
hog pin "$BPF/no/such"
check 'pin: no such directory is refused' ended 1 'No such file or directory'
hog pin "$BPF/with.dot"
check 'pin: a name with a dot is refused' ended 3 'dot'
hog pin
check 'pin: without DIR: usage' ended 2 'pin needs DIR'
hog pin "$BPF/two" 1
check 'pin: takes no INTERVAL' ended 2 'unexpected "1"'
hog pin "$BPF/two" cpu,contention
check 'pin: a view that cannot be pinned is named' ended 2 'contention cannot be pinned'
hog read "$BPF/two"
check 'read: nothing there' ended 1 'No such file or directory'
hog pin "$BPF/two" cpu,faults
hog read "$BPF/two" -o csv 0.1 1
check 'read: several views are no csv' ended 2 'csv has the columns of one view'
hog unpin "$BPF/two"
hog unpin "$BPF/two"
check 'unpin: nothing there' ended 1 'No such file or directory'
hog unpin "$TMP"
check 'unpin: no BPF file system is refused' ended 3 'is no BPF file system'
check 'none of these left anything' test "$(ls "$BPF")" = hog
unprivileged() { # cannot, whatever the mode of the files
    mkdir -p "$TMP/open" && chmod 755 "$TMP" "$TMP/bpf" "$BPF"
    setpriv --reuid 65534 --clear-groups --inh-caps=-all --bounding-set=-all "$HOG" "$@" >"$TMP/out" 2>"$TMP/err"
    STATUS=$?
}
cp "$HOG" "$TMP/hog" && chmod 755 "$TMP/hog"
HOG=$TMP/hog unprivileged read "$DIR" 1 1
check 'read: no permission: one line' ended 3 'Permission denied'
HOG=$TMP/hog unprivileged pin "$BPF/two"
check 'pin: no permission: one line' ended 3 'pin: '

# Objects with hog's names but another shape.
bpftool map create "$BPF/fake" type array key 4 value 8 entries 1 name hog_fake
mkdir "$BPF/three" && bpftool map create "$BPF/three/info" type array key 4 value 8 entries 1 name hog_info
hog read "$BPF/three"
check 'read: a map of another shape is refused' ended 3 'is not what hog pins'
rm "$BPF/three/info" && rmdir "$BPF/three"

layout 0x63
hog read "$DIR"
check 'read: another layout is refused, with the version that pinned it' ended 3 "was pinned by hog $("$HOG" --version | cut -d ' ' -f 2) in layout 99"

# ---- unpin, with a foreign file and a reader ----

layout 0x04
reader one
bpftool map create "$DIR/cpu/mine" type array key 4 value 8 entries 1 name mine
hog unpin "$DIR"
check 'unpin: leaves a foreign file, and says so' ended 1 "$DIR/cpu/mine was not made by hog"
check 'unpin: nothing else stays' test "$(find "$DIR" -type f)" = "$DIR/cpu/mine"
wait "$READER"
check 'unpin: a reader ends with status 1' test $? = 1
check 'unpin: and says why' grep -q "unpinned" "$TMP/one.err"
rm "$DIR/cpu/mine" && rmdir "$DIR/cpu" "$DIR"
check 'unpin: no program and no map is left' eventually none_is_left

# ---- page faults ----

# Where fexit is refused, the hooks are perf events, which can be pinned from 5.15 on.
hog pin "$DIR" faults,cpu
check 'pin: two views' ended 0
check 'pin: one of them with a link for each event and CPU, or two' test "$(find "$DIR/faults" -name 'link*' | wc -l)" -ge 2
faulted() { # faulted: the load has the faults that the kernel counts for it, with a name and a time
    local pid
    reader one
    echo go | "$BUILD/tests/load/counted" "$BUILD/tests/load/faulter" 20000 0 500 0 >"$TMP/counted"
    sleep 0.4
    reader_ends "$READER"
    pid=$(told pid "$TMP/counted" minor)
    awk -v pid="$pid" "$BY_NAME"'$1 == "#window" { dur = win("dur_ms") / 1000 }
        $1 == "faults" && col("pid") == pid { minor += col("minor_s") * dur; major += col("major_s") * dur; ms += col("lat_ms"); name = col("comm") }
        END { printf "minor %.0f major %.0f ms %.3f name %s\n", minor, major, ms, name }' "$TMP/one" | tee "$TMP/faulted"
    cat "$TMP/counted"
    within "$(cut -d ' ' -f 2 "$TMP/faulted")" "$(awk -v n="$(told minor "$TMP/counted")" 'BEGIN { print n * 0.98 }')" \
        "$(awk -v n="$(told minor "$TMP/counted")" 'BEGIN { print n * 1.02 }')" &&
        within "$(cut -d ' ' -f 6 "$TMP/faulted")" 1 60000 && grep -q ' name faulter$' "$TMP/faulted"
}
check 'read: faults are as many as the kernel counts' faulted
ids >"$TMP/ids"
hog unpin "$DIR"
check 'unpin: two views' ended 0
check 'unpin: nothing is left of them' eventually none_is_left

# ---- files, by mount, and disks ----

mkdir "$TMP/fs"
mount -t tmpfs none "$TMP/fs" || exit 1
hog pin "$DIR" file,block
check 'pin: files and disks' ended 0
written() { # written: writes to a file system of its own are counted for its mount, by number and size
    awk -v mount="$TMP/fs" "$BY_NAME"'
        $1 == "file" && col("mount") == mount && col("op") == "write" && col("size_kib") == 64 { count += col("count"); kib += col("kib"); bad += col("pid") != "-" || col("fstype") != "tmpfs" }
        END { printf "%d %.0f KiB, %d bad\n", count, kib, bad; exit count != 100 || kib != 6400 || bad }' "$TMP/one"
}
# of_dd COLUMN: KiB/s in that column of dd's rows, as KiB over all windows
of_dd() {
    awk -v pid="$DD" -v name="$1" "$BY_NAME"'
        $1 == "block" && col("pid") == pid { sum += col(name) * win("dur_ms") / 1000 } END { printf "%.0f\n", sum }' "$TMP/one"
}
direct() { dd if=/dev/zero of="$DISK" bs=1M count=20 oflag=direct; }
DISK=$(mktemp /var/tmp/hog-pin-XXXXXX)
DIRECT=$(direct 2>&1 | grep -c '20 MiB')
reader one
dd if=/dev/zero of="$TMP/fs/file" bs=64k count=100 2>/dev/null
dd if=/dev/zero of="$DISK" bs=1M count=20 oflag=direct conv=notrunc 2>/dev/null &
DD=$!
wait $DD
sleep 0.4
reader_ends "$READER"
rm -f "$DISK"
check 'read: files: writes by mount, as many and as large as they were' written
if [ "$DIRECT" = 1 ]; then
    check 'read: disks: a dead writer has its bytes' within "$(of_dd write_kib_s)" 20480 21504
    named() { awk -v pid="$DD" "$BY_NAME"'$1 == "block" && col("pid") == pid && col("comm") == "dd" { n++ } END { exit !n }' "$TMP/one"; }
    check 'read: disks: and its name' named
else
    skip 'read: disks: a dead writer has its bytes' 'needs DISK: no direct I/O on /var/tmp'
fi
has_names() {
    bpftool -j map dump pinned "$DIR/block/io" | jq -e '.[].formatted | select(.value.write_bytes >= 20971520) | .key.process > 0 and .key.device > 0' || [ "$DIRECT" = 0 ]
}
check 'bpftool: disks: keys and values have names' has_names
ids >"$TMP/ids"
hog unpin "$DIR"
check 'unpin: files and disks' ended 0
check 'unpin: nothing is left of these' eventually none_is_left
umount "$TMP/fs"

# ---- again, into an empty directory; and a future layout ----

mkdir "$DIR"
hog pin "$DIR/"
check 'pin: an empty directory will do' ended 0
layout 0x63
ids >"$TMP/ids"
hog unpin "$DIR"
check 'unpin: whatever the layout' ended 0
check 'unpin: no program and no map of that layout is left either' eventually none_is_left

# ---- killed ----

rm "$BPF/fake"
# At any moment: everything is pinned, or nothing.
whole_or_nothing() {
    local i pid whole=0
    for i in $(seq 20); do
        "$HOG" pin "$DIR" 2>/dev/null &
        pid=$!
        # Later each time, and sometimes right after the directory was made.
        if [ $((i % 2)) = 0 ]; then
            while [ -d "/proc/$pid" ] && [ -z "$(ls "$BPF")" ]; do :; done
        else
            sleep "0.0$(printf '%02d' $((i * 2)))"
        fi
        kill -9 "$pid"
        wait "$pid"
        if [ -e "$DIR/info" ]; then
            whole=$((whole + 1))
            "$HOG" read "$DIR" 0.01 1 >/dev/null && "$HOG" unpin "$DIR" || return 1
        fi
        eventually nothing_there || return 1
    done 2>/dev/null
    echo "$whole of 20 were whole"
}
# Right before the final rename everything is pinned. When the first directory is made, and the second.
killed_at() { # killed_at CALL N
    strace -o "$TMP/strace" -e "trace=/^$1" -e "inject=/^$1:signal=KILL:when=$2" "$HOG" pin "$DIR" 2>/dev/null
    grep "$1" "$TMP/strace" && grep -q 'killed by SIGKILL' "$TMP/strace" && eventually nothing_there
}
check 'pin: killed when all is pinned leaves nothing' killed_at rename 1
check 'pin: killed when the directory is made leaves nothing' killed_at mkdir 1
check 'pin: killed when half is pinned leaves nothing' killed_at mkdir 2
check 'pin: killed at any moment leaves all or nothing' whole_or_nothing
check 'nothing is left' nothing_there
done_testing
