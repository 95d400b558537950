#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# hog calls against loads that know what they call, and against strace.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"

begin() { counting calls -k 10000 "$@"; }

# sum COLUMN PID LIB FUNC: over all windows.
sum() { column_sum "$TMP/out" calls "$1" pid="$2" lib="$3" func="$4"; }
is() { # is NUMBER COLUMN PID LIB FUNC
    echo "$2 of $5: $(sum "${@:2}"), not $1"
    [ "$(sum "${@:2}")" = "$1" ]
}
counts() { # counts PID LIB FUNC COUNT ERRORS KIB
    is "$4" count "$1" "$2" "$3" && is "$4" entered "$1" "$2" "$3" && is "$5" errors "$1" "$2" "$3" && is "$6" kib "$1" "$2" "$3"
}

# ---- system calls ----

# exact HOW OPTION...: PID in an option stands for the load's pid.
exact() {
    local how=$1
    shift
    load_ready caller "$BUILD/tests/load/caller"
    check "$how: begins" begin "${@//PID/$LOAD_PID}" 0.2
    load_order caller 'calls 20480'
    next_windows 1
    load_order caller 'threads 5120'
    load_order caller hang
    next_windows 2
    measured
    check "$how: getppid" counts "$LOAD_PID" '[syscall]' getppid 40960 0 0
    check "$how: those that fail" counts "$LOAD_PID" '[syscall]' close 20480 20480 0
    check "$how: bytes that were written" within "$(sum kib "$LOAD_PID" '[syscall]' write)" 3999.9 4001 # and its own messages
    check "$how: bytes that were read" within "$(sum kib "$LOAD_PID" '[syscall]' read)" 2559.9 2561
    # shellcheck disable=SC2016
    check "$how: a call that hangs is reported, with the time it has taken so far" \
        awk -v pid="$LOAD_PID" "$BY_NAME"'
            $1 == "calls" && col("pid") == pid && col("func") == "read" { print; seen += col("in_call") >= 1 && col("total_ms") > win("dur_ms") * 0.9 }
            END { exit !seen }' "$TMP/out"
    check "$how: nothing is lost" test "$(window_sum lost)" = 0
    load_end
}
exact 'all processes'
exact 'with -p' -p PID
check 'with -p: no other process' test "$(awk "$BY_NAME"'$1 == "calls" { print col("pid") }' "$TMP/out" | sort -u | wc -l)" = 1
exact 'without tp_btf' --without tp_btf
cat >"$TMP/untyped" <<SCRIPT
#!/bin/sh
exec unshare -m sh -c 'mount -t tmpfs none /sys/kernel/btf && exec "\$0" "\$@"' "$HOG" "\$@"
SCRIPT
chmod +x "$TMP/untyped"
HOG=$TMP/untyped exact 'without type data'

# ---- next to another tracer ----

begin 0.2
strace -f -c -o "$TMP/strace" "$BUILD/tests/load/caller" >"$TMP/traced" <<'COMMANDS' &
calls 3000
threads 500
COMMANDS
tracer=$!
lib_pids+=("$tracer")
wait "$tracer"
next_windows 2
measured
same_as_strace() {
    local pid calls errors name n=0
    pid=$(awk "$BY_NAME"'$1 == "calls" && / getppid / && / caller$/ { print col("pid"); exit }' "$TMP/out")
    while read -r calls errors name; do
        n=$((n + 1))
        echo "strace: $calls $errors $name; we: $(sum count "$pid" '[syscall]' "$name")"
        # strace does not count what the process did before it ran the program.
        within "$(sum count "$pid" '[syscall]' "$name")" "$calls" $((calls + 20)) && is "$errors" errors "$pid" '[syscall]' "$name" || return
    done < <(awk '$4 ~ /^[0-9]+$/ && $4 >= 1000 { print $4, (NF > 5 ? $5 : 0), $NF }' "$TMP/strace" | grep -v total)
    cat "$TMP/strace"
    [ "$n" = 4 ]
}
check 'counts and errors are those of strace -c' same_as_strace

# ---- 32-bit programs ----

cat >"$TMP/compat.c" <<'SOURCE'
static int call(int number, int a)
{
    int r;
    __asm__ volatile("int $0x80" : "=a"(r) : "a"(number), "b"(a), "c"(0), "d"(0) : "memory");
    return r;
}
void _start(void)
{
    for (int i = 0; i < 1000; i++) {
        call(20, 0); /* getpid; writev of 64-bit programs */
        call(6, -1); /* close; lstat */
    }
    call(1, 0);
}
SOURCE
if [ ! -e /proc/sys/abi/vsyscall32 ]; then
    skip '32-bit programs' 'needs IA32: the kernel runs none'
else
    cc -O1 -nostdlib -static -fno-pie -no-pie "$TMP/compat.c" -o "$TMP/compat"
    begin 0.2
    "$TMP/compat"
    next_windows 2
    measured
    pid=$(awk "$BY_NAME"'$1 == "calls" && col("comm") == "compat" { print col("pid"); exit }' "$TMP/out")
    check 'calls by the entry of 32-bit programs have their own names' counts "$pid" '[compat]' getpid 1000 0 0
    check 'and fail by themselves' counts "$pid" '[compat]' close 1000 1000 0
    check 'a process that exits inside a call has entered it' is 1 entered "$pid" '[compat]' exit
    check 'none of them is mistaken for another' test "$(sum count "$pid" '[syscall]' writev)" = -
fi
done_testing
