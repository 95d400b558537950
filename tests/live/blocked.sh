#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Blocked processes on a host that is hostile or broken: hog never hangs with them, never touches their file systems, and
# needs no addresses of the kernel. What the verdicts are in usual troubles: tests/corpus.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"

if [ ! -e /dev/fuse ] || ! command -v bindfs >/dev/null; then
    skip 'a FUSE server that is stopped' 'needs FUSE: no /dev/fuse, or no bindfs'
    done_testing
    exit
fi

# A mount with a path of nearly 4,000 bytes, and a comma, a colon and a blank in it.
long=$TMP/a,b:c\ d
for _ in $(seq 15); do long=$long/$(printf '%0240d' 0); done
mkdir -p "$TMP/source" "$long"
head -c 100000 /dev/zero >"$TMP/source/file"
(cd "$long" && exec bindfs -f "$TMP/source" .) &
server=$!
lib_pids+=("$server")
undo() {
    kill -CONT "$server" 2>/dev/null
    (cd "${long%/*}" && umount -l "${long##*/}") 2>/dev/null
    [ -z "${restrict-}" ] || echo "$restrict" >/proc/sys/kernel/kptr_restrict
    lib_cleanup
}
trap undo EXIT
is_mounted() { grep -q ' - fuse' <(grep "$(basename "$TMP")" /proc/self/mountinfo); }
if ! eventually is_mounted; then
    check 'bindfs mounts it' is_mounted
fi
exec 7<"$long/file"
kill -STOP "$server"
load_start cat "$long/file"
by_path=$LOAD_PID
cat <&7 >/dev/null 2>&1 &
by_file=$!
lib_pids+=("$by_file")
waits() { [ "$(cat "/proc/$1/wchan")" = request_wait_answer ]; }
check 'a process hangs there' eventually waits "$by_path"

ran() { timeout 20 "$HOG" "$@" >"$TMP/out" 2>"$TMP/err"; }
blocked() { # blocked PID PATTERN: in the last window
    awk "$BY_NAME"'$1 == "top" && col("pid") == '"$1"' { line = col("verdict") " " col("by") } END { print line }' "$TMP/out" | tee "$TMP/line"
    grep -qE "$2" "$TMP/line"
}
check 'hog ends by itself' ran top -w -k 1000 1 2
check 'blocked by fuse, and its server' blocked "$by_path" "^blocked fuse:.*:$server/bindfs\$"
check 'a path of 4,000 bytes is cut, and what would end it replaced' blocked "$by_path" 'fuse:[^ ,]{1,170}$'
check 'hog why' ran why "$by_path" 1
check 'names the server, and that it is stopped' grep -qE "bindfs \($server\)," "$TMP/out"

# Not even by accident: a look at the mount would hang.
strace -f -o "$TMP/strace" -e trace=file timeout 20 "$HOG" top 1 2 >/dev/null 2>&1
touched() { grep -v readlinkat "$TMP/strace" | grep -E "$(basename "$TMP")|/proc/[0-9]+/(cmdline|environ|maps|stack|cwd|root|exe|mem)\"" | grep -v execve; }
not_touched() { ! touched && [ "$(grep -c /proc/ "$TMP/strace")" -gt 3 ]; }
check 'hog opens nothing below the mount, and nothing of a process that can hang' not_touched

restrict=$(cat /proc/sys/kernel/kptr_restrict)
echo 2 >/proc/sys/kernel/kptr_restrict
check 'addresses of the kernel are hidden: it runs' ran top -w -k 1000 1 2
check 'and says the same' blocked "$by_path" "^blocked fuse:.*:$server/bindfs\$"
echo "$restrict" >/proc/sys/kernel/kptr_restrict
restrict=

kill -CONT "$server"
gone() { [ ! -d "/proc/$by_path" ]; }
check 'the server goes on, and the process ends' eventually gone
exec 7<&-
done_testing
