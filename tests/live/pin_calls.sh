#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Pinned counts of calls: system calls, MPI-IO, any function, against loads that know what they call; read by bpftool and by
# hog.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck source=tests/live/pins/lib.sh
. "$(dirname "$0")/pins/lib.sh"

dump() { # all pinned values of calls, one per line, with the name of the function if it is one
    local functions='[]'
    [ ! -e "$DIR/calls/functions" ] ||
        functions=$(bpftool -j map dump pinned "$DIR/calls/functions" | jq -c '[.[].formatted.value.name]')
    bpftool -j map dump pinned "$DIR/calls/calls" |
        jq -c --argjson functions "$functions" '.[] | {raw: .key} + (.formatted | .key + .value.sums + {name: .value.name} +
            {func: (if .key.kind == 0 then $functions[.key.call] else null end)})' >"$TMP/dump"
}

# told_by PID CALL CONDITION: there is one such value, and the condition (in jq) is true for it. A call is a number or a
# name. (If an entry gives way while bpftool reads, bpftool starts again and prints others twice.)
told_by() {
    jq -c --argjson pid "$1" --argjson call "$2" 'select(.process == $pid and (.call == $call or .func == $call))' "$TMP/dump" |
        sort -u >"$TMP/value"
    cat "$TMP/value"
    [ "$(wc -l <"$TMP/value")" = 1 ] && jq -e "$3" "$TMP/value"
}

# timed NUMBER: the histogram of the last such value has that many entries.
timed() {
    local key
    key=$(jq -r '.raw | join(" ")' "$TMP/value")
    # shellcheck disable=SC2086 # bytes
    bpftool -j map lookup pinned "$DIR/calls/call_times" key $key | jq -e --argjson n "$1" '.formatted.value.counts | add == $n'
}

number() { # of a system call, on this machine
    printf '#include <asm/unistd.h>\n__NR_%s\n' "$1" | cc -E - | tail -n 1
}
declare -A NR
for call in read write close getppid; do NR[$call]=$(number "$call"); done

# sum COLUMN PID FUNC: over all windows of $TMP/one.
sum() { column_sum "$TMP/one" calls "$1" pid="$2" func="$3"; }
is() { # is NUMBER COLUMN PID FUNC
    echo "$2 of $4: $(sum "${@:2}"), not $1"
    [ "$(sum "${@:2}")" = "$1" ]
}

has_said() { # has_said LINE: the load
    eventually grep -qsx "$1" "$TMP/said"
}

# calls COMMAND..: the load, which does that and ends; its children have a moment to do it; its pid goes to CALLER.
calls() {
    rm -f "$TMP/said"
    {
        printf '%s\n' "$@"
        has_said "done ${*: -1}"
        sleep 0.2
    } | "$BUILD/tests/load/caller" >"$TMP/said" &
    CALLER=$!
    wait "$CALLER"
}

# ---- system calls ----

hog pin "$DIR" calls
check 'pin: calls of the system' ended 0
ids >"$TMP/ids"
# Where many processes come and go, its entry may have given way to theirs: then once more.
all_there() {
    local call
    for call in "${NR[@]}"; do
        jq -e -n --argjson pid "$CALLER" --argjson call "$call" 'any(inputs; .process == $pid and .call == $call)' "$TMP/dump" >"$TMP/any" || return
    done
}
for _ in 1 2 3 4 5; do
    calls 'calls 20480' 'threads 5120' hang
    dump
    all_there && break
done
# The shell's child had the same PID before it ran the program: it has called close and read, too.
check 'bpftool: a process that lived and died unseen has its calls' told_by "$CALLER" "${NR[getppid]}" \
    '.returned == 40960 and .failed == 0 and .bytes == 0 and .left == 0 and .ns > 0 and .kind == 1 and .thread == 0'
check 'bpftool: and those that failed' told_by "$CALLER" "${NR[close]}" '.failed == 20480 and .returned < 20500'
check 'bpftool: and their bytes' told_by "$CALLER" "${NR[write]}" '.bytes >= 4096000 and .bytes < 4097000'
check 'bpftool: and a call that never returned' told_by "$CALLER" "${NR[read]}" '.left + .failed == 1' # which may have been interrupted by a signal
check 'bpftool: and its name, that of the program' told_by "$CALLER" "${NR[close]}" \
    '.name.comm == "caller" and .name.uid == 0 and .name.kernel == 0 and .name.process_born_ns > 0'

for _ in 1 2 3 4 5; do
    reader one
    rm -f "$TMP/said"
    {
        printf 'calls 3000\nhang\n'
        has_said 'done hang'
        sleep 0.7
    } | "$BUILD/tests/load/caller" >"$TMP/said" &
    SECOND=$!
    wait "$SECOND"
    sleep 0.3
    reader_ends "$READER"
    STATUS=$?
    [ "$(window_sum lost "$TMP/one")" = 0 ] && break
done
check 'read: ends with status 0' test "$STATUS" = 0
check 'read: calls are counted exactly' is 3000 count "$SECOND" getppid
check 'read: and those that fail' is 1500 errors "$SECOND" close
# shellcheck disable=SC2016
check 'read: the latency, and the name of a process that has ended' awk -v pid="$SECOND" "$BY_NAME"'
    $1 == "calls" && col("pid") == pid && col("func") == "getppid" { print; n++; bad += !(col("p50_us") > 0 && col("p50_us") <= col("p99_us") && col("p99_us") <= col("max_us")) || col("comm") != "caller" }
    END { exit !n || bad }' "$TMP/one"
# shellcheck disable=SC2016
check 'read: a call that hangs is reported' awk -v pid="$SECOND" "$BY_NAME"'
    $1 == "calls" && col("pid") == pid && col("func") == "read" && col("in_call") == 2 && col("total_ms") > 190 { n++ } END { exit !n }' "$TMP/one"
check 'read: a process that had ended before does not come again' is - count "$CALLER" getppid

# More keys than there is room for: an entry idle for long gives way, and a new one is counted. A frequent reader has seen
# those that gave way; another learns how many it has not seen.
ROOM=$(bpftool -j map show pinned "$DIR/calls/calls" | jq .max_entries)
reader one -k 100
ONE=$READER
"$HOG" read "$DIR" 100 >"$TMP/two" 2>&1 </dev/null &
TWO=$!
lib_pids+=("$TWO")
sleep 0.2
"$BUILD/tests/load/spawn" $((ROOM / 5)) >/dev/null # each makes about seven different calls
calls 'calls 4000'
sleep 0.3
awk '/^VmHWM/ { print $2 }' "/proc/$ONE/status" >"$TMP/peak"
reader_ends "$ONE"
reader_ends "$TWO"
check 'read: a process that comes when there is no room left is counted exactly' is 4000 count "$CALLER" getppid
once=$(window_sum lost "$TMP/two")
check 'read: a reader that reads once misses many, and says so' within "$once" $((ROOM / 6)) $((ROOM * 4))
check 'read: one that reads often misses few' within "$(window_sum lost "$TMP/one")" 0 $((once / 2))
check 'read: hog stays small' within "$(cat "$TMP/peak")" 100 4096
reader two
hog unpin "$DIR"
check 'unpin: calls of the system' ended 0
check 'unpin: nothing is left of them' eventually none_is_left
wait "$READER"
check 'unpin: a reader ends with status 1' test $? = 1

# ---- functions, by a probe for each ----

cat >"$TMP/few.c" <<'SOURCE'
#include <unistd.h>
int main(void)
{
    for (int i = 0; i < 1000; i++) {
        getppid();
        if (i % 2)
            close(-1);
    }
}
SOURCE
cc -O1 "$TMP/few.c" -o "$TMP/few" || exit 1
hog pin "$DIR" calls --lib libc.so.6 --func 'getppid,close' --error 'ret<0' --without uprobe_multi
check 'pin: functions, one by one' ended 0
ids >"$TMP/ids"
check 'pin: with a link for each, and its return' test "$(find "$DIR/calls" -name 'link*' | wc -l)" -ge 6
"$TMP/few" &
FEW=$!
wait "$FEW"
dump
check 'bpftool: calls of a function' told_by "$FEW" '"getppid"' \
    '.returned == 1000 and .failed == 0 and .kind == 0 and .name.comm == "few"'
check 'bpftool: and their times' timed 1000
check 'bpftool: and those that fail' told_by "$FEW" '"close"' '.failed == 500'
layout 0x63
hog read "$DIR"
check 'read: another layout is refused' ended 3 'in layout 99'
bpftool map create "$DIR/calls/mine" type array key 4 value 8 entries 1 name mine
hog unpin "$DIR"
check 'unpin: leaves a foreign file, and says so' ended 1 "$DIR/calls/mine was not made by hog"
check 'unpin: and nothing else' test "$(find "$DIR" -type f)" = "$DIR/calls/mine"
check 'unpin: no probe is left' eventually none_is_left
rm "$DIR/calls/mine" && rmdir "$DIR/calls" "$DIR"

# ---- MPI-IO, next to files ----

if ! scripts/has.sh OPENMPI; then
    skip 'pin --preset mpi' 'needs OPENMPI: mpicc, mpif90 and mpirun'
else
    cat >"$TMP/mpi.c" <<'SOURCE'
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    static int numbers[1000];
    static double doubles[100];
    MPI_File file;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("rank=%d pid=%d\n", rank, (int)getpid());
    if (MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file))
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < 50; i++)
        MPI_File_write_at_all(file, (rank * 50 + i) * 4000, numbers, 1000, MPI_INT, MPI_STATUS_IGNORE);
    for (int i = 0; i < 20 + rank; i++)
        MPI_File_read_at(file, rank * 4000, doubles, 100, MPI_DOUBLE, MPI_STATUS_IGNORE);
    for (int i = 0; i < 7; i++)
        MPI_File_write_at(file, 0, numbers, -1, MPI_INT, MPI_STATUS_IGNORE); /* fails */
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
SOURCE
    mpicc "$TMP/mpi.c" -o "$TMP/mpi_caller" || exit 1
    hog pin "$DIR" file,calls --preset mpi
    check 'pin: MPI-IO and files' ended 0
    ids >"$TMP/ids"
    reader one
    mpirun --allow-run-as-root --oversubscribe -n 2 "$TMP/mpi_caller" "$TMP/mpi.data" >"$TMP/said" || cat "$TMP/said"
    sleep 0.3
    reader_ends "$READER"
    dump
    for rank in 0 1; do
        pid=$(told pid "$TMP/said" "rank=$rank")
        check "bpftool: rank $rank: collective writes and their bytes" told_by "$pid" '"MPI_File_write_at_all"' \
            '.returned == 50 and .failed == 0 and .bytes == 200000 and .name.comm == "mpi_caller"'
        check "bpftool: rank $rank: reads and their bytes" told_by "$pid" '"MPI_File_read_at"' \
            ".returned == $((20 + rank)) and .bytes == $(((20 + rank) * 800)) and .unsized == 0"
        check "bpftool: rank $rank: those that fail" told_by "$pid" '"MPI_File_write_at"' '.returned == 7 and .failed == 7 and .bytes == 0'
        check "bpftool: rank $rank: one open, one close" told_by "$pid" '"MPI_File_open"' '.returned == 1 and .failed == 0'
        check "read: rank $rank: the same counts" is 50 count "$pid" MPI_File_write_at_all
        check "read: rank $rank: and errors" is 7 errors "$pid" MPI_File_write_at
    done
    in_files() { # two ranks wrote to a file, which the other view saw in the same windows
        awk "$BY_NAME"'$1 == "file" && col("op") == "write" { kib += col("kib") } END { print kib; exit kib < 390 }' "$TMP/one"
    }
    check 'read: files next to it' in_files
    check 'bpftool: libraries and functions have names' eval \
        "bpftool -j map dump pinned '$DIR/calls/functions' | jq -e '[.[].formatted.value | select(.name == \"MPI_File_open\" and (.lib | startswith(\"libmpi\")))] | length == 1'"
    hog unpin "$DIR"
    check 'unpin: MPI-IO and files' ended 0
    check 'unpin: nothing is left of these' eventually none_is_left
fi

# ---- refusals ----

hog pin "$DIR" calls --lib nosuchlib --func x
check 'no such library' ended 1 'nosuchlib: no process has mapped'
hog pin "$DIR" calls --lib libc.so.6 --func getppidd
check 'no such function: near ones are named' ended 1 'near that are getppid'
hog pin "$DIR" calls --lib libc.so.6 --func '*'
check 'too many functions' ended 1 'at most 512'
hog pin "$DIR" energy
check 'energy: why it cannot be pinned' ended 2 'energy cannot be pinned: its sensors'
hog pin "$DIR" mem
check 'mem: where a sampler finds it' ended 2 '/proc/PID/status'
hog pin "$DIR" cpu --preset mpi
check 'MPI-IO needs the view calls' ended 2 '--preset needs the view calls'
hog pin "$TMP/nowhere" calls --preset libc-io
check 'no BPF file system' ended 3 'is no BPF file system'
check 'nothing is left' nothing_there
done_testing
