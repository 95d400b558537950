#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# hog file against loads with a known number of reads and writes: their own counts, and fio's report.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
LOADS=$BUILD/tests/load
TMP_MOUNTS=()
LOOPS=()

unmount_all() {
    local i
    for ((i = ${#TMP_MOUNTS[@]} - 1; i >= 0; i--)); do
        umount "${TMP_MOUNTS[i]}" 2>/dev/null || umount -l "${TMP_MOUNTS[i]}"
    done
    for i in ${LOOPS[@]+"${LOOPS[@]}"}; do
        losetup -d "$i" 2>/dev/null
    done
    lib_cleanup
}
trap unmount_all EXIT

# begin OPTION...: hog file, which has shown its first window: everything after it is counted.
begin() {
    rm -f "$TMP/out" "$TMP/err"
    "$HOG" -v -w file -k 10000 "$@" >"$TMP/out" 2>"$TMP/err" </dev/null &
    HOG_PID=$!
    lib_pids+=("$HOG_PID")
    for _ in $(seq 300); do
        grep -qs '^#window' "$TMP/out" && return
        kill -0 "$HOG_PID" 2>/dev/null || break
        sleep 0.05
    done
    cat "$TMP/err"
    return 1
}

# prepare DIR N [KIND]...: a filer there that waits for go. Its pid goes to LOAD_PID.
prepare() {
    load_ready load "${NAMESPACE[@]}" "$LOADS/filer" "$@"
    LOAD_PID=$(told pid "$TMP/load")
}
NAMESPACE=(env)

# go: lets it work, waits until it has finished, and until a window has passed.
go() {
    echo >&"$GO"
    eventually grep -q 'done' "$TMP/load"
    measured
    exec {GO}>&-
}

# The rows have what the load did, to the last byte; and nothing else, except its own messages.
exactly() { # exactly [MOUNT FSTYPE]
    cat "$TMP/load"
    grep -w "$LOAD_PID" "$TMP/out"
    MOUNT=${1-} awk -v pid="$LOAD_PID" -v type="${2-}" "$BY_NAME"'
        BEGIN { mount = ENVIRON["MOUNT"] } # unchanged: awk -v interprets backslashes
        function off(a, b) { return a - b > 0.01 || b - a > 0.01 }
        $1 == "want" { want[$2 " " $3 " " $4] = $5; kib[$2 " " $3 " " $4] = $6; n++ }
        $1 == "file" && col("pid") == pid && col("count") > 0 {
            key = col("op") " " col("via") " " col("size_kib")
            if (col("via") == "mmap" && mount != "" && col("mount") != mount) next # pages of its own program
            if (!(key in want)) {
                if (col("op") == "write" && col("size_kib") < 2 && col("via") ~ /^write/) next
                if (col("via") == "mmap") next
                print "not wanted: " key; bad++
            }
            if (mount != "" && (col("mount") != mount || col("fstype") != type)) { print "at " col("mount") " (" col("fstype") ")"; bad++ }
            got[key] += col("count"); got_kib[key] += col("kib")
        }
        END {
            for (key in want)
                if (got[key] + 0 != want[key] || off(got_kib[key] + 0, kib[key])) {
                    print key ": " got[key] + 0 " of " want[key] ", KiB " got_kib[key] + 0 " of " kib[key]
                    bad++
                }
            exit !n || bad
        }' "$TMP/load" "$TMP/out"
}
nothing_lost() { [ "$(window_sum lost)" = 0 ]; }

# with NAME DIR MOUNT FSTYPE OPTION...: a filer's work in DIR is counted there.
with() {
    local name=$1 dir=$2 mount=$3 type=$4
    shift 4
    local kinds=(aio)
    # A page of tmpfs belongs to memory, and one of overlay to the file system below.
    [[ -z $MMAP || $type != ext4 && $type != xfs ]] || kinds+=(mmap)
    prepare "$dir" 200 "${kinds[@]}"
    check "$name: hog begins" begin "${@//PID/$LOAD_PID}" 0.3
    go
    check "$name: counts and bytes by operation, call and size are those of the load" exactly "$mount" "$type"
    check "$name: nothing is lost" nothing_lost
}

# ---- every kind of call, on every kind of file system ----

mkdir "$TMP/dir" "$TMP/with blank"
MMAP=$("$HOG" doctor 2>/dev/null | sed -n 's/^view\.file\.mmap  *\([a-z_]*\)$/\1/p')
with 'here' "$TMP/dir" '' ''
with '-p' "$TMP/dir" '' '' -p PID
check '-p: no other process' test "$(awk "$BY_NAME"'$1 == "file" { print col("pid") }' "$TMP/out" | sort -u)" = "$LOAD_PID"
mount -t tmpfs none "$TMP/with blank"
TMP_MOUNTS+=("$TMP/with blank")
with 'tmpfs' "$TMP/with blank" "$TMP/with\\x20blank" tmpfs

# on FSTYPE: a loop device with that file system.
on() {
    local type=$1 device
    truncate -s 400M "$TMP/$type.image"
    "mkfs.$type" -q "$TMP/$type.image" >/dev/null 2>&1 && device=$(losetup -f --show "$TMP/$type.image") || return 1
    LOOPS+=("$device")
    mkdir "$TMP/$type"
    mount -t "$type" "$device" "$TMP/$type" || return 1
    TMP_MOUNTS+=("$TMP/$type")
}
for type in ext4 xfs; do
    need=LOOP
    [ "$type" = ext4 ] || need=XFS
    if ! bash scripts/has.sh "$need"; then
        skip "$type" "needs $need: no such file system can be made here"
    elif check "$type: there is one" on "$type"; then
        with "$type" "$TMP/$type" "$TMP/$type" "$type"
    fi
done
if grep -qw overlay /proc/filesystems; then
    mkdir "$TMP/lower" "$TMP/merged"
    mkdir "$TMP/with blank/upper" "$TMP/with blank/work"
    mount -t overlay none -o "lowerdir=$TMP/lower,upperdir=$TMP/with blank/upper,workdir=$TMP/with blank/work" "$TMP/merged" &&
        TMP_MOUNTS+=("$TMP/merged") && with 'overlay' "$TMP/merged" "$TMP/merged" overlay
fi

# ---- single files, mounts without processes, other files ----

of_files() { # the load has the reads from `from` and the writes to `to`, by calls and KiB
    cat "$TMP/load"
    grep '^files' "$TMP/out"
    FILES="$TMP/ext4" awk -v pid="$LOAD_PID" "$BY_NAME"'
        $1 == "want" { n[$2] += $5; kib[$2] += $6 }
        $1 == "files" && col("pid") == pid && col("file") == ENVIRON["FILES"] "/from" { got["read"] += col("reads"); got_kib["read"] += col("read_kib") }
        $1 == "files" && col("pid") == pid && col("file") == ENVIRON["FILES"] "/to" { got["write"] += col("writes"); got_kib["write"] += col("write_kib") }
        END {
            for (op in n) {
                off = got_kib[op] - kib[op]
                bad += got[op] != n[op] || off > 0.1 || off < -0.1
            }
            exit !n["read"] || bad
        }' "$TMP/load" "$TMP/out"
}
of_mount() {
    cat "$TMP/load"
    MOUNT="$TMP/ext4" awk "$BY_NAME"'
        $1 == "want" { want += $5 }
        $1 == "file" { bad += col("pid") != "-" || col("comm") != "-" }
        $1 == "file" && col("mount") == ENVIRON["MOUNT"] { got += col("count") }
        END { print got " of " want; exit !want || got != want || bad }' "$TMP/load" "$TMP/out"
}
if mountpoint -q "$TMP/ext4"; then
    mkdir -p "$TMP/ext4/a/b/c"
    prepare "$TMP/ext4" 100
    check '--top-files: hog begins' begin --top-files 1000 0.3
    go
    check '--top-files: calls and bytes of each file are those of the load, by its whole path' of_files
    prepare "$TMP/ext4" 100
    check '--by mount: hog begins' begin --by mount 0.3
    go
    check '--by mount: rows without a process, which add up to the work on that mount' of_mount
fi
others() { awk -v pid="$LOAD_PID" "$BY_NAME"'$1 == "file" && col("pid") == pid && col("fstype") == "pipefs" { n += col("count") } END { print n + 0 }' "$TMP/out"; }
prepare "$TMP/dir" 50
check '--all-files: hog begins' begin --all-files -p "$LOAD_PID" 0.3
go
check '--all-files: pipes are there, too' test "$(others)" -ge 100

# ---- what was in the page cache ----

hits() { awk "$BY_NAME"'$1 == "file" && col("op") == "read" && col("size_kib") == 64 && col("comm") == "dd" { n += col("count"); h += col("count") * col("hit_pct") / 100 } END { printf "%d %d\n", n, h }' "$TMP/out"; }
if mountpoint -q "$TMP/ext4"; then
    dd if=/dev/zero of="$TMP/ext4/data" bs=64k count=200 conv=fsync 2>/dev/null
    check 'page cache: hog begins' begin 0.3
    dd if="$TMP/ext4/data" of=/dev/null bs=64k 2>/dev/null
    measured
    read -r reads hit < <(hits)
    check 'page cache: reads of what is there are hits' test "$reads" = 200 -a "$hit" -ge 190
    check 'page cache: hog begins again' begin 0.3
    dd if="$TMP/ext4/data" of=/dev/null bs=64k iflag=direct 2>/dev/null
    measured
    read -r reads hit < <(hits)
    check 'page cache: direct reads are none' test "$reads" = 200 -a "$hit" -le 10
fi

# ---- fio ----

by_fio() { # its report, as ios and KiB
    jq -r '.jobs[0].read | "\(.total_ios) \(.io_kbytes)"' "$TMP/fio.json"
}
by_hog() { awk -v via="${1:-read}" "$BY_NAME"'$1 == "file" && col("op") == "read" && col("via") == via && col("size_kib") == 4 && col("comm") == "fio" { n += col("count"); kib += col("kib") } END { printf "%d %d\n", n, kib }' "$TMP/out"; }
if command -v fio >/dev/null && command -v jq >/dev/null; then
    truncate -s 16M "$TMP/dir/fio"
    check 'fio: hog begins' begin 0.3
    fio --name=x --filename="$TMP/dir/fio" --rw=randread --bs=4k --size=16m --ioengine=psync --invalidate=0 \
        --output-format=json --output="$TMP/fio.json" >/dev/null 2>&1
    measured
    check "fio: counts and bytes are those of its report ($(by_fio))" test "$(by_hog)" = "$(by_fio)"
fi
if grep -q 'uring: tp_btf' "$TMP/err" && fio --enghelp 2>/dev/null | grep -qw io_uring &&
    [ "$(cat /proc/sys/kernel/io_uring_disabled 2>/dev/null || echo 2)" = 0 ]; then
    check 'io_uring: hog begins' begin 0.3
    fio --name=x --filename="$TMP/dir/fio" --rw=randread --bs=4k --size=16m --ioengine=io_uring --iodepth=8 --invalidate=0 \
        --output-format=json --output="$TMP/fio.json" >/dev/null 2>&1
    measured
    check "io_uring: counts and bytes are those of fio's report ($(by_fio))" test "$(by_hog io_uring)" = "$(by_fio)"
fi

by_majors() { jq -r '.jobs[0] | "\(.majf) \(.majf * 4)"' "$TMP/fio.json"; }
on_ext4() { # as by_hog, for that mount; also other operations or sizes
    MOUNT="$TMP/ext4" awk -v via="$1" -v op="${2:-read}" -v size="${3:-4}" "$BY_NAME"'
        $1 == "file" && col("mount") == ENVIRON["MOUNT"] && col("op") == op && col("via") == via && col("size_kib") == size { n += col("count"); kib += col("kib") }
        END { printf "%d %d\n", n, kib }' "$TMP/out"
}
if mountpoint -q "$TMP/ext4" && fio --enghelp 2>/dev/null | grep -qw libaio; then
    by_fio_both() { jq -r '.jobs[0] | "\(.read.total_ios) \(.read.io_kbytes) \(.write.total_ios) \(.write.io_kbytes)"' "$TMP/fio.json"; }
    check 'libaio: hog begins' begin 0.3
    fio --name=x --filename="$TMP/ext4/fio" --rw=randrw --bs=4k,16k --size=8m --ioengine=libaio --iodepth=16 --iodepth_batch_submit=8 \
        --direct=1 --output-format=json --output="$TMP/fio.json" >/dev/null 2>&1
    measured
    check "libaio: counts and bytes of reads and writes are those of fio's report ($(by_fio_both))" \
        test "$(on_ext4 aio) $(on_ext4 aio write 16)" = "$(by_fio_both)"
    check 'libaio: nothing is lost' nothing_lost
fi
# Random reads from a mapped file that is not in memory: each takes a fault, which reads one page.
if mountpoint -q "$TMP/ext4" && [ -n "$MMAP" ]; then
    dd if=/dev/zero of="$TMP/ext4/mapped" bs=1M count=4 conv=fsync 2>/dev/null
    check 'mmap: hog begins' begin 0.3
    fio --name=x --filename="$TMP/ext4/mapped" --rw=randread --bs=4k --size=4m --ioengine=mmap --output-format=json \
        --output="$TMP/fio.json" >/dev/null 2>&1
    measured
    check "mmap: counts and bytes are those of fio's report ($(by_fio))" test "$(on_ext4 mmap)" = "$(by_fio)"
    check "mmap: and of the kernel's count of faults that read ($(by_majors))" \
        test "$(by_majors | cut -d ' ' -f 1)" -ge 1024 -a "$(on_ext4 mmap | cut -d ' ' -f 1)" = 1024
fi

# ---- namespaces ----

NAMESPACE=(unshare --mount sh -c "mkdir -p '$TMP/lower/inside' && mount -t tmpfs none '$TMP/lower/inside' && exec \"\$@\"" sh)
with 'another mount namespace' "$TMP/lower/inside" "$TMP/lower/inside" tmpfs
done_testing
