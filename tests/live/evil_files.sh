#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 240
# calm: 1
# Files that any user can map, and that keep their reader busy or hang it: hog skips them, says so, and is not late.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"

chmod 755 "$TMP"
mkdir -m 777 "$TMP/evil" "$TMP/served" "$TMP/mnt"
trap 'umount -l "$TMP/mnt" 2>/dev/null; lib_cleanup' EXIT
as_nobody=(setpriv --reuid nobody --regid nogroup --clear-groups) # no function: the pid is to be that of the command

declare -A USUAL
VIEWS=('alloc' 'alloc --leaks 1ms' 'calls --preset libc-io' 'calls --preset mpi')

# took VIEW: runs it for one window; its messages are in $TMP/err, and how long it ran goes to TOOK, in ms. On a busy host
# that may be long, whatever the files are: the best of three counts if the first is late.
took() {
    local begin
    for _ in 1 2 3; do
        begin=${EPOCHREALTIME/./}
        # shellcheck disable=SC2086 # words
        timeout -s KILL 20 "$HOG" $1 -v -w 0.1 1 >"$TMP/out" 2>"$TMP/err" </dev/null
        TOOK=$(((${EPOCHREALTIME/./} - begin) / 1000))
        in_time "$1" >/dev/null && break
    done
}
in_time() { within "$TOOK" 0 $((${USUAL[$1]:-100000} + 1500)); }

# What each takes on this host as it is: the longest of three.
for view in "${VIEWS[@]}"; do
    longest=0
    for _ in 1 2 3; do
        took "$view"
        [ "$TOOK" -gt "$longest" ] && longest=$TOOK
    done
    USUAL[$view]=$longest
done

named() { grep -E "^hog: skipped: [^ ]*/$1: $2" "$TMP/err" || {
    cat "$TMP/err"
    return 1
}; }
counted() { within "$(field_of "$1_skipped")" 1 1000; }

# mapped KIND FILE...: a process of nobody has them mapped.
mapped() {
    load_ready "map_$1" "${as_nobody[@]}" "$BUILD/tests/load/evil" "$2" "${@:3}"
}

# ---- one after the other ----

for kind in symtabs sections strings symbols; do
    file=$TMP/evil/libc.so.$kind
    "${as_nobody[@]}" "$BUILD/tests/load/evil" make "$kind" "$file" || exit 1
    ln "$file" "$TMP/evil/libmpi.so.$kind"
    mapped "$kind" map "$file" "$TMP/evil/libmpi.so.$kind"
    for view in "${VIEWS[@]}"; do
        took "$view"
        name="libc.so.$kind"
        [[ $view != *mpi ]] || name="libmpi.so.$kind"
        [[ $view != alloc* ]] || name="lib(c|mpi).so.$kind" # after the first one, this user has had its time
        check "$view: $kind: in time" in_time "$view"
        [ "$kind,${view%% *}" = strings,calls ] && continue # it has time for that many
        check "$view: $kind: the file is named" named "$name" '(it took more|too much|damaged)'
        [[ $view == *mpi ]] || check "$view: $kind: it is counted" counted "${view%% *}"
    done
    load_end
done

# ---- what is no library ----

mapped zero map /dev/zero
took alloc
check 'a device that is mapped is passed over' in_time alloc
check 'and is not worth a word' eval "! grep -q skipped: '$TMP/err'"
load_end
mkfifo "$TMP/evil/libc.so.fifo"
check 'a FIFO as a library is refused' refuses 1 'not a regular file' calls --lib "$TMP/evil/libc.so.fifo" --func x
check 'and a device' refuses 1 'not a regular file' calls --lib /dev/zero --func x

# ---- one that changes while it is read ----

libc=$(ldconfig -p | awk '$1 == "libc.so.6" { print $NF; exit }')
cp "$libc" "$TMP/evil/libc.so.cut"
ln "$TMP/evil/libc.so.cut" "$TMP/evil/libmpi.so.cut"
chown nobody "$TMP/evil/libc.so.cut"
mapped cut cut "$TMP/evil/libc.so.cut" "$TMP/evil/libmpi.so.cut"
for view in "${VIEWS[@]}"; do
    took "$view"
    check "$view: a file that is cut while it is read: in time" in_time "$view"
done
load_stop "$LOAD_PID"
exec {GO}>&-

# ---- a server that does not answer ----

# A program that leaks, so that its own file is asked for names.
leaker() {
    cat >"$TMP/leaker.c" <<'SOURCE'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
    puts("ready");
    fflush(stdout);
    for (;;) {
        malloc(1000);
        usleep(1000);
    }
}
SOURCE
    cc -O0 -fno-builtin "$TMP/leaker.c" -o "$1"
}

serve() {
    bindfs -f "$TMP/served" "$TMP/mnt" >/dev/null 2>&1 &
    SERVER=$!
    lib_pids+=("$SERVER")
    eventually mountpoint -q "$TMP/mnt"
}

# ended SIGNAL: hog, which waits for the file, soon.
ended() {
    "$HOG" alloc 1 5 >/dev/null 2>&1 </dev/null &
    local pid=$! begin
    sleep 0.2
    begin=${EPOCHREALTIME/./}
    kill -s "$1" "$pid"
    wait "$pid" 2>/dev/null
    within $(((${EPOCHREALTIME/./} - begin) / 1000)) 0 100
}
once_ended() { ended "$1" || ended "$1" || ended "$1"; } # the kernel may be slow to remove probes on a busy host

if ! scripts/has.sh FUSE; then
    skip 'a FUSE server that is stopped' 'needs FUSE: no /dev/fuse, or no bindfs'
else
    cp "$libc" "$TMP/served/libc.so.fuse"
    cp "$libc" "$TMP/served/libmpi.so.fuse"
    leaker "$TMP/served/leaker"
    serve
    mapped fuse map "$TMP/mnt/libc.so.fuse" "$TMP/mnt/libmpi.so.fuse"
    load_ready leaker "${as_nobody[@]}" "$TMP/mnt/leaker"
    took alloc
    check 'a FUSE file is read while its server answers' eval "! grep -q skipped: '$TMP/err'"
    kill -STOP "$SERVER"
    for view in "${VIEWS[@]}"; do
        took "$view"
        name="libc.so.fuse"
        [[ $view != *mpi ]] || name="libmpi.so.fuse"
        [[ $view != alloc* ]] || name="[^ ]*"
        check "$view: a FUSE server that is stopped: in time" in_time "$view"
        check "$view: a FUSE server that is stopped: the file is named" named "$name" 'it took more than 200 ms'
    done
    check 'SIGTERM ends hog within 100 ms' once_ended TERM
    begin=${EPOCHREALTIME/./}
    check 'one that is asked for by its path is refused' refuses 1 'it took more than' calls --lib "$TMP/mnt/libc.so.fuse" --func x
    check 'within seconds' within $(((${EPOCHREALTIME/./} - begin) / 1000)) 0 9000
    kill -CONT "$SERVER"
fi

# ---- all of a user at once, with files that others need ----

cp "$libc" "$TMP/libc.so.good"
load_ready good "$BUILD/tests/load/evil" map "$TMP/libc.so.good"
mapped all map "$TMP"/evil/libc.so.s*
took alloc
check 'all of them: in time' in_time alloc
files() { within "$(field_of alloc_files | head -n 1)" 1 100000; }
check "a file of root's processes is probed all the same" files
done_testing
