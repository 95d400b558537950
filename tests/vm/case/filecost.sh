# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# The cost of a read of 4 KiB from the page cache, in instructions of the guest: with nothing, with hog file by each of its
# hooks, with empty programs at the same hooks, and with tools that are there: facts for tests/bench/file.sh.
TOOLS=/tests/tools
kill -STOP "$LOOP"
dd if=/dev/zero of=/tmp/data bs=1M count=16 2>/dev/null

programs() { bpftool prog show 2>/dev/null | grep -c '^[0-9]*:'; }
until_is() { # until_is COMMAND...: true, in 10 s
    for _ in $(seq 100); do
        "$@" && return
        sleep 0.1
    done
    return 1
}
some() { [ "$(programs)" -gt "$BEFORE" ]; }
none() { [ "$(programs)" = "$BEFORE" ]; }

# cost NAME COMMAND...
cost() {
    what=$1
    shift
    BEFORE=$(programs)
    "$@" >/tmp/tool.out 2>&1 &
    TOOL=$!
    [ "$what" = nothing ] || check "$what is at work" until_is some || sed 's/^/# /' /tmp/tool.out
    sleep 3
    $TOOLS/rereads /tmp/data 2 1000 >/dev/null
    for _ in 1 2; do
        echo "fact cost_$what $($TOOLS/rereads /tmp/data 2 20000 | sed 's/ns=\([0-9.]*\) .*/\1/')"
    done
    bpftool prog show | sed 's/^/# /'
    kill -KILL $TOOL
    wait $TOOL
    check "$what is gone" until_is none
}
cost nothing sleep 1000
cost hog_fentry hog file 100
cost hog_tp_btf hog file --without fentry 100
cost hog_kprobe hog file --without fentry,tp_btf 100
if command -v floor >/dev/null; then
    cost empty_fentry floor fentry/vfs_read fexit/vfs_read
    cost empty_tp_btf floor sys_enter sys_exit
fi
for tool in filetop vfsstat; do
    ! command -v $tool >/dev/null || cost $tool $tool 100
done
