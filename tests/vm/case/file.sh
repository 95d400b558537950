# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# hog file with each of its hooks: counts and bytes are those of a load with known reads and writes.
TOOLS=/tests/tools
kill -STOP "$LOOP" # emulation is slow enough

has_window() { grep -q '^#window' /tmp/hog.out 2>/dev/null || ! kill -0 $HOG_PID 2>/dev/null; }

# As in tests/live/file.sh. LOSSY=1: a call may be missing if it is counted as lost.
exactly() {
    cat /tmp/hog.err
    grep -w "$PID" /tmp/hog.out
    awk -v pid="$PID" -v lossy="$LOSSY" "$BY_NAME"'
        function off(a, b) { return a - b > 0.01 || b - a > 0.01 }
        $1 == "#window" { lost += win("lost") }
        $1 == "want" { want[$2 " " $3 " " $4] = $5; kib[$2 " " $3 " " $4] = $6; n++ }
        $1 == "file" && col("pid") == pid {
            key = col("op") " " col("via") " " col("size_kib")
            if (!(key in want) && col("via") != "mmap" && !(col("op") == "write" && col("size_kib") < 2 && col("via") ~ /^write/)) { print "not wanted: " key; bad++ }
            got[key] += col("count"); got_kib[key] += col("kib")
        }
        END {
            for (key in want) {
                missed += want[key] - got[key]
                if (lossy && got[key] + 0 <= want[key]) continue
                if (got[key] + 0 != want[key] || off(got_kib[key] + 0, kib[key])) {
                    print key ": " got[key] + 0 " of " want[key] ", KiB " got_kib[key] + 0 " of " kib[key]
                    bad++
                }
            }
            # All calls of the load except the last one are checked.
            if (missed > lost + 1) { print "missed " missed ", lost " lost; bad++ }
            exit !n || bad
        }' /tmp/load /tmp/hog.out
}
uses_hook() {
    cat /tmp/hog.err
    grep -qx "hog: file: read: $1" /tmp/hog.err
}
has_times() {
    awk -v pid="$PID" "$BY_NAME"'$1 == "file" && col("pid") == pid && col("via") != "aio" && (col("via") != "mmap" || col("p50_us") != "-") { n++; bad += col("p50_us") !~ /^[0-9.]+$/ || col("p99_us") < col("p50_us") } END { exit !n || bad }' /tmp/hog.out
}

# by HOOK NAME OPTION...
by() {
    hook=$1 what=$2
    shift 2
    rm -f /tmp/go /tmp/hog.out
    mkfifo /tmp/go
    # shellcheck disable=SC2086 # several words or none
    $TOOLS/filer /tmp/dir 50 $KINDS </tmp/go >/tmp/load 2>&1 &
    PID=$!
    exec 3>/tmp/go
    until_is grep -q ready /tmp/load
    hog -v -w file -k 1000 "$@" 0.5 >/tmp/hog.out 2>/tmp/hog.err &
    HOG_PID=$!
    until_is has_window
    echo >&3
    until_is grep -q 'done' /tmp/load
    kill $HOG_PID 2>/dev/null
    wait $HOG_PID
    exec 3>&-
    wait $PID
    check "hog file, $what: the hook is $hook" uses_hook "$hook" || return
    if check "hog file, $what: counts and bytes by operation, call and size are those of the load" exactly; then
        sed -n 's/^hog: \([a-z]*\): \([a-z]*\): \([a-z_]*\)$/used \1 \2 \3/p' /tmp/hog.err
    fi
    check "hog file, $what: times are known" has_times
    [ "$LOSSY" = 1 ] || check "hog file, $what: nothing is lost" test "$(window_sum lost)" = 0
}

# sees KIND OPTION...
sees() {
    kind=$1
    shift
    hog doctor "$@" 2>/dev/null | grep -q "^view\.file\.$kind  *[a-z_]*\$"
}
kinds() { # kinds OPTION...: the filer's other operations. With hooks on system calls, AIO needs no hook of its own.
    KINDS=
    [ $# = 0 ] && ! sees aio || KINDS=aio
    ! sees mmap "$@" || KINDS="$KINDS mmap"
    echo "# kinds: $KINDS"
}

mkdir -p /tmp/dir
mount -t ramfs ramfs /tmp/dir # its pages are in the page cache, those of tmpfs do not count as such
LOSSY=0
kinds
if [ "$(hog doctor 2>/dev/null | sed -n 's/^hook.fentry  *//p')" = ok ]; then
    check 'hog file sees pages of mapped files by fentry' sees mmap
    by fentry 'best hook'
    by fentry '--top-files' --top-files 5
fi
kinds --without fentry
by tp_btf 'without fentry' --without fentry
by tp_btf 'without fentry, --top-files' --without fentry --top-files 5
# Where more tasks wait in a function than the kernel has slots for, it does not report the returns of the others.
LOSSY=1 KINDS=''
by kprobe 'without fentry and tp_btf' --without fentry,tp_btf
umount /tmp/dir
rmdir /tmp/dir
kill -CONT "$LOOP"
