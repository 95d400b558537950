# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# hog calls against a load that counts, with each way to see calls: system calls and functions.
kill -STOP "$LOOP" # emulation is slow enough

# sum COLUMN FUNC: over all windows, for the load.
sum() {
    awk -v name="$1" -v called="$2" -v pid="$LOAD" "$BY_NAME"'
        $1 == "calls" && col("pid") == pid && col("func") == called { n += col(name) } END { printf "%.3f\n", n }' /tmp/hog.out
}
is() { # is FUNC COLUMN NUMBER; decimals were rounded in each window
    echo "$2 of $1: $(sum "$2" "$1"), not $3"
    within "$(sum "$2" "$1")" "$(echo "$3" | awk '{ print $1 - 0.02 }')" "$(echo "$3" | awk '{ print $1 + 0.02 }')"
}

windows() { grep -c '^#window' /tmp/hog.out 2>/dev/null; }
until_windows() { # until_windows N: N windows have been shown, within 30 s
    for _ in $(seq 300); do
        [ "$(windows)" -ge "$1" ] && return
        kill -0 "$HOG_PID" 2>/dev/null || return
        sleep 0.1
    done
    return 1
}

# measure OPTION...: hog next to the load, from beginning to end.
measure() {
    rm -f /tmp/hog.out # not the windows of the previous run
    hog -v -w calls -k 1000 "$@" 0.5 >/tmp/hog.out 2>/tmp/hog.err &
    HOG_PID=$!
    until_windows 1
    rm -f /tmp/orders /tmp/load
    mkfifo /tmp/orders
    /tests/tools/caller </tmp/orders >/tmp/load &
    LOAD=$!
    exec 9>/tmp/orders
    printf 'calls 2048\nthreads 256\n' >&9
    for _ in $(seq 300); do
        grep -qs 'done threads' /tmp/load && break
        sleep 0.1
    done
    until_windows $(($(windows) + 2))
    exec 9>&-
    wait $LOAD
    kill $HOG_PID 2>/dev/null
    wait $HOG_PID
}
# shows FUNC COUNT KIB
shows() {
    cat /tmp/hog.err
    is "$1" count "$2" && is "$1" errors 0 && is "$1" kib "$3" && is "$1" entered "$2"
}
says() { # says WHAT HOOK
    cat /tmp/hog.err
    grep -q "^hog: calls: $1: $2\$" /tmp/hog.err
}

system() { # system NAME OPTION...
    by=$1
    shift
    measure "$@"
    check "$by: calls of the system are counted exactly" shows getppid 3072 0
    check "$by: and those that fail" is close errors 1536
    check "$by: and bytes" shows write 3072 300
}
system 'best hook'
mkdir -p /tmp/empty
mount -o bind /tmp/empty /sys/kernel/btf
system 'no type data'
umount /sys/kernel/btf

functions() { # functions NAME HOOK OPTION...
    by=$1 hook=$2
    shift 2
    measure --lib /tests/tools/caller --func 'write,close' --error 'ret<0' --bytes ret "$@"
    check "$by: the hook is $hook" says probe "$hook"
    check "$by: calls of functions are counted exactly" shows write 3072 300
    check "$by: and those that fail" is close errors 1536
}
if uname -r | grep -qE '^(6\.([6-9]|[1-9][0-9])|[7-9])'; then
    functions 'probes at once' uprobe_multi
fi
functions 'probes one by one' uprobe --without uprobe_multi

# Pinned: system calls with the best hook; functions with probes, which can be pinned from 5.15 on.
DIR=/sys/fs/bpf/pinned
left() { # maps and programs of hog in the kernel, which frees them a little later
    { bpftool map show && bpftool prog show; } | grep -c ' name hog_'
}
nothing_left() {
    for _ in $(seq 50); do
        [ "$(left)" = 0 ] && return
        sleep 0.2
    done
    bpftool map show
    return 1
}
calls_counted() { # the load's calls, as many as it makes, with their failures and all their times
    cat /tmp/hog.out /tmp/hog.err
    awk -v pid="$LOAD" "$BY_NAME"'
        $1 == "calls" && col("pid") == pid && col("func") == "write" { n += col("count"); kib += col("kib"); late += col("p50_us") == "-" && col("count") > 0 }
        $1 == "calls" && col("pid") == pid && col("func") == "close" { failed += col("errors") }
        END { print n, kib, failed, late; exit n < 3072 || n > 3080 || kib < 299 || kib > 301 || failed != 1536 || late }' /tmp/hog.out
}
for way in system uprobe_multi uprobe; do
    case $way in
    system) set -- ;;
    uprobe_multi)
        uname -r | grep -qE '^(6\.([6-9]|[1-9][0-9])|[7-9])' || continue
        set -- --lib /tests/tools/caller --func 'write,close' --error 'ret<0' --bytes ret
        ;;
    uprobe) set -- --lib /tests/tools/caller --func 'write,close' --error 'ret<0' --bytes ret --without uprobe_multi ;;
    esac
    hog pin $DIR calls "$@" -v >/tmp/pin.out 2>/tmp/pin.err
    STATUS=$?
    cat /tmp/pin.err
    if [ $way != system ] && uname -r | awk -F . '{ exit !($1 < 5 || ($1 == 5 && $2 < 15)) }'; then
        check "hog pin calls, $way: this kernel cannot, status 3" test $STATUS = 3
        check "hog pin calls, $way: says so" grep -q 'cannot pin that' /tmp/pin.err
        check "hog pin calls, $way: nothing is left" nothing_left
        check "hog pin calls, $way: no directory is left" test ! -e $DIR
        continue
    fi
    check "hog pin calls, $way: is pinned" test $STATUS = 0
    : >/tmp/hog.out
    hog read $DIR 0.5 -w -k 1000 >/tmp/hog.out 2>/tmp/hog.err &
    HOG_PID=$!
    until_windows 1
    rm -f /tmp/orders # a FIFO
    printf 'calls 2048\nthreads 256\n' >/tmp/orders
    /tests/tools/caller </tmp/orders >/tmp/load &
    LOAD=$!
    wait $LOAD
    until_windows $(($(windows) + 1))
    kill -TERM $HOG_PID
    wait $HOG_PID
    check "hog read calls, $way: as many as were made" calls_counted
    check "hog unpin calls, $way: ends" hog unpin $DIR
    check "hog unpin calls, $way: nothing is left" nothing_left
done
kill -CONT "$LOOP"
