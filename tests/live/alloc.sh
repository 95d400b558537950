#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# hog alloc against loads that know what they hold, on each allocator.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"

# ---- allocators ----

build() { # build NAME COMPILER...: the load
    "${@:2}" -D_GNU_SOURCE -O1 -fno-omit-frame-pointer -pthread tests/load/allocates.c -o "$TMP/$1" 2>"$TMP/cc.log" || {
        cat "$TMP/cc.log" >&2
        echo "not ok - builds $1: ${*:2}"
        exit 1
    }
}
build glibc cc
build musl musl-gcc
build static-glibc cc -static
build static-musl musl-gcc -static
cat >"$TMP/bump.c" <<'SOURCE'
#include <stddef.h>
static char memory[1 << 20] __attribute__((aligned(16)));
static size_t used;
void *malloc(size_t size)
{
    void *at = memory + used;
    used += (size + 15) & ~(size_t)15;
    return used <= sizeof memory ? at : NULL;
}
void free(void *p)
{
}
SOURCE
cc -shared -fPIC -O1 -fno-builtin "$TMP/bump.c" -o "$TMP/bump.so" || exit 1

library() { ldconfig -p | awk -v n="$1" 'index($1, n) == 1 { print $NF; exit }'; }

# ---- loads ----

declare -A PIDS FDS
# start NAME PROGRAM [PRELOAD]: a load of three threads that waits for commands.
start() {
    local preload=${3-} fd
    rm -f "$TMP/$1.in"
    mkfifo "$TMP/$1.in"
    LD_PRELOAD=$preload "$2" 3 <"$TMP/$1.in" >"$TMP/$1.said" 2>&1 &
    PIDS[$1]=$!
    lib_pids+=("$!")
    exec {fd}>"$TMP/$1.in"
    FDS[$1]=$fd
    for _ in $(seq 200); do
        grep -q ready "$TMP/$1.said" && return
        sleep 0.05
    done
}

# order COMMAND NAME...: to these loads; returns when all have done it.
order() {
    local command=$1 name had=()
    shift
    for name in "$@"; do
        had+=("$(grep -c ^done "$TMP/$name.said")")
        echo "$command" >&"${FDS[$name]}"
    done
    for name in "$@"; do
        for _ in $(seq 600); do
            [ "$(grep -c ^done "$TMP/$name.said")" -gt "${had[0]}" ] && break
            sleep 0.05
        done
        had=("${had[@]:1}")
    done
}

stop() {
    local name fd
    for name in "$@"; do
        fd=${FDS[$name]}
        exec {fd}>&-
        load_stop "${PIDS[$name]}"
    done
}

# ---- hog ----

windows() { grep -c '^#window' "$TMP/out"; }
next_windows() { # next_windows N: all rows of so many more are there
    local until=$(($(windows) + $1 + 1))
    for _ in $(seq 400); do
        [ "$(windows)" -ge "$until" ] && return
        sleep 0.05
    done
    return 1
}
begin() {
    measure alloc -k 10000 "$@" || return
    next_windows 1
}

# One more file has been found than there were.
files() { grep '^#window' "$TMP/out" | tail -n 1 | sed 's/.* alloc_files=\([0-9]*\) .*/\1/'; }
next_file() {
    local than=$1
    for _ in $(seq 400); do
        [ "$(files)" -gt "$than" ] && next_windows 1 && return
        sleep 0.05
    done
    return 1
}

# The row of the last complete window; who holds nothing and does nothing has none.
row() { # row PID
    awk -v pid="$1" '$1 == "#window" { last = now; now = "alloc - " pid " - 0.000" } $1 == "alloc" && $3 == pid { now = $0 }
        END { print last }' "$TMP/out"
}
bytes() { row "$1" | awk '{ print $5 == "-" ? $5 : int($5 * 1024 + 0.5) }'; }
# holds NAME [BEFORE]: live_kib is, to the byte, what the load says, and what was there before.
holds() {
    echo "row: $(row "${PIDS[$1]}"); before: ${2-}; load: $(tail -n 1 "$TMP/$1.said")"
    [ "$(bytes "${PIDS[$1]}")" = "$(($(told live "$TMP/$1.said") + ${2-0}))" ]
}
counted() { # counted COLUMN PID: how many in all windows, by rates
    awk -v c="$1" -v pid="$2" '$1 == "#window" { for (i = 2; i <= NF; i++) if (sub(/^dur_ms=/, "", $i)) ms = $i }
        $1 == "alloc" && $3 == pid { n += int($c * ms / 1000 + 0.5) } END { print n + 0 }' "$TMP/out"
}
counts() { # counts NAME
    local pid=${PIDS[$1]}
    echo "allocs $(counted 6 "$pid"), frees $(counted 7 "$pid"), failed $(counted 10 "$pid"); load: $(tail -n 1 "$TMP/$1.said")"
    [ "$(counted 6 "$pid")" = "$(told allocs "$TMP/$1.said")" ] && [ "$(counted 7 "$pid")" = "$(told frees "$TMP/$1.said")" ] &&
        [ "$(counted 10 "$pid")" = "$(told failed "$TMP/$1.said")" ]
}
field() { # field NAME: summed over windows
    sed -n "s/^#window .* $1=\([0-9.]*\).*/\1/p" "$TMP/out" | awk '{ n += $1 } END { print n + 0 }'
}

# ---- each allocator, exactly ----

declare -A FILE=([glibc]=libc.so.6 [musl]=libc.so [static-glibc]=static-glibc [static-musl]=static-musl) PRELOAD=() PROGRAM=()
NAMES=(glibc musl static-glibc static-musl)
NAMES+=(libstdc++) # whose new and delete call malloc and free
PRELOAD[libstdc++]=$(library libstdc++.so.6) FILE[libstdc++]=libc.so.6
for each in jemalloc:libjemalloc.so.2:JEMALLOC tcmalloc:libtcmalloc_minimal.so.4:TCMALLOC mimalloc:libmimalloc.so:MIMALLOC; do
    IFS=: read -r name file need <<<"$each"
    at=$(library "$file")
    if [ -z "$at" ]; then
        skip "$name" "needs $need: the library"
        continue
    fi
    NAMES+=("$name")
    PRELOAD[$name]=$at FILE[$name]=$(basename "$(readlink -f "$at")")
done

# exact HOW OPTION...: all loads at once, and hog with these options.
exact() {
    local how=$1 name list=""
    shift
    for name in "${NAMES[@]}"; do
        PROGRAM[$name]=$TMP/$name
        [ -z "${PRELOAD[$name]-}" ] || PROGRAM[$name]=$TMP/glibc
        start "$name" "${PROGRAM[$name]}" "${PRELOAD[$name]-}"
        list=$list${list:+,}${PIDS[$name]}
    done
    begin "${@//PIDS/$list}" 0.3 || cat "$TMP/err"
    order 'work 2000' "${NAMES[@]}"
    next_windows 1
    for name in "${NAMES[@]}"; do
        check "$how: $name: what it holds is right to the byte" holds "$name"
        check "$how: $name: the file of the allocator is named" test "$(row "${PIDS[$name]}" | awk '{ print $9 }')" = "${FILE[$name]}"
    done
    order 'map 5' "${NAMES[@]}"
    order 'remap 9' "${NAMES[@]}"
    order 'remap 3' "${NAMES[@]}"
    next_windows 1
    for name in "${NAMES[@]}"; do
        check "$how: $name: and with mmap and mremap" holds "$name"
        check "$how: $name: mapped_kib is that of mmap" test "$(row "${PIDS[$name]}" | awk '{ print $11 }')" = 48.000
    done
    order drop "${NAMES[@]}"
    order unmap "${NAMES[@]}"
    next_windows 1
    measured
    for name in "${NAMES[@]}"; do
        check "$how: $name: holds nothing in the end" holds "$name"
        check "$how: $name: allocations, frees and failures are counted exactly" counts "$name"
    done
    check "$how: nothing is lost" test "$(field lost)" = 0
    stop "${NAMES[@]}"
}
exact 'all processes' --pointers 1048576
exact 'with -p' -p PIDS
check 'with -p: nobody else' test "$(awk '$1 == "alloc" { print $3 }' "$TMP/out" | sort -u | wc -l)" = ${#NAMES[@]}
CXX=()
for name in "${NAMES[@]}"; do
    [ -n "${PRELOAD[$name]-}" ] || continue
    CXX+=("$name")
    start "$name" "$TMP/glibc" "${PRELOAD[$name]}"
done
begin --pointers 1048576 0.3
order 'throw 3' "${CXX[@]}"
measured
for name in "${CXX[@]}"; do
    check "$name: a new that fails, by an exception or without, does no harm" grep -q ^done "$TMP/$name.said"
done
stop "${CXX[@]}"
NAMES=(glibc static-musl)
exact 'one probe at a time' -p PIDS --without uprobe_multi

# ---- lives ----

start life "$TMP/glibc"
begin --pointers 1048576 0.3
order 'hold 1000' life
order 'fork 7' life
next_windows 1
child=$(told child "$TMP/life.said")
check 'fork: the parent holds what it held' holds life
check 'fork: the child holds what it allocated itself' test "$(bytes "$child")" = 700
kill "$child"
next_windows 1
check 'exit: who is gone has no row' test "$(row "$child" | awk '{ print $2 }')" = -
echo exec >&"${FDS[life]}"
for _ in $(seq 100); do
    [ "$(grep -c ready "$TMP/life.said")" = 2 ] && break
    sleep 0.05
done
next_windows 1
before=$(bytes "${PIDS[life]}") # of the C library, for threads
check 'exec: what it held is gone' within "$before" 0 5000
order 'hold 10' life
next_windows 1
check 'exec: holds what it allocated since' holds life "$before"
measured
stop life

# ---- files that come later ----

start early "$TMP/glibc"
begin --pointers 1048576 0.3
cp "$TMP/static-musl" "$TMP/late"
before=$(files)
start late "$TMP/late"
check 'a program that was never seen before is found' next_file "$before"
order 'work 500' late
next_windows 1
check 'a program that was never seen before: exact from then on' holds late
cp "$TMP/bump.so" "$TMP/gone.so"
before=$(files)
order "open $TMP/gone.so" early
check 'a library that comes by dlopen is found' next_file "$before"
before=$(bytes "${PIDS[early]}") # of dlopen
order 'hold 20' early
next_windows 1
check 'dlopen of an allocator that nobody knows: exact' holds early "$before"
check 'and its file is named' test "$(row "${PIDS[early]}" | awk '{ print $9 }')" = gone.so
measured
rm "$TMP/gone.so" "$TMP/late"
begin -p "${PIDS[early]},${PIDS[late]}" 0.3
early=$(told live "$TMP/early.said") late=$(told live "$TMP/late.said")
order 'hold 30' early
order 'hold 40' late
next_windows 1
check 'a library that was deleted while it is mapped' holds early $((-early))
check 'a program that was deleted while it runs' holds late $((-late))
measured
stop early late

mkdir -p "$TMP/inside"
cat >"$TMP/contain" <<SCRIPT
#!/bin/sh
mount -t tmpfs none "$TMP/inside" && cp "$TMP/static-glibc" "$TMP/inside/init" && exec chroot "$TMP/inside" /init "\$@"
SCRIPT
chmod +x "$TMP/contain"
cat >"$TMP/unshared" <<SCRIPT
#!/bin/sh
exec unshare -m "$TMP/contain" "\$@"
SCRIPT
chmod +x "$TMP/unshared"
start contained "$TMP/unshared"
begin --pointers 1048576 0.3
order 'work 500' contained
next_windows 1
check 'in a mount namespace and root of its own' holds contained
measured
stop contained

# ---- what has no allocator ----

strip -s "$TMP/static-musl" -o "$TMP/stripped"
start stripped "$TMP/stripped"
start other "$TMP/glibc"
python3 -c 'import mmap, sys, time
f = open(sys.argv[1], "r+b")
m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ | mmap.PROT_EXEC)
print("ready", flush=True)
time.sleep(60)' "$TMP/unshared" >"$TMP/text" &
text=$!
lib_pids+=("$text")
sleep 0.5
begin -p "${PIDS[stripped]},${PIDS[other]},$text" 0.3
order 'hold 5' stripped other
next_windows 1
measured
check 'stripped: said once' test "$(grep -c "^#unseen pid=${PIDS[stripped]} " "$TMP/out")" = 1
check 'stripped: what it holds is not known' test "$(row "${PIDS[stripped]}" | awk '{ print $5 }')" = -
check 'stripped: others go on' holds other
check 'a mapped file that is no ELF file harms nobody' test -n "$(row "$text")"
load_stop "$text"
stop stripped other

# ---- leaks ----

start leak "$TMP/glibc"
begin -p "${PIDS[leak]}" --leaks 1s 0.5
order 'hold 300' leak
order 'leak 20000' leak
next_windows 4
measured
leaks() { awk '$1 == "#window" { last = now; now = "" } $1 == "leaks" { now = now $0 "\n" } END { printf "%s", last }' "$TMP/out"; }
names_leak() {
    leaks
    leaks | head -n 1 | awk '{ split($7, f, /[+;]/); exit !($2 == 1 && f[1] == "leaks_here" && $5 == 20000) }'
}
check '--leaks: the function that leaks is first, with all its blocks' names_leak
check '--leaks: its bytes are those that it leaked' test "$(leaks | awk 'NR == 1 { print $4 }')" = 976.562
check '--leaks: the others are below' test "$(leaks | awk '$7 ~ /^hold\+/ { print $5 }')" = 300
begin -p "${PIDS[leak]}" --leaks 1h 0.3
order 'leak 2000' leak
next_windows 2
measured
check '--leaks: what is younger is not listed' test -z "$(leaks)"
stop leak

# ---- a map that is too small ----

start many "$TMP/glibc"
begin -p "${PIDS[many]}" --pointers 1024 0.3
order 'hold 700' many
next_windows 1
check 'three quarters full: still exact' holds many
order 'hold 50000' many
next_windows 1
within_error() {
    row "${PIDS[many]}"
    row "${PIDS[many]}" | awk -v live="$(told live "$TMP/many.said")" \
        '{ off = $5 - live / 1024; exit !($12 > 0 && off < 2 * $12 && off > -2 * $12) }'
}
check 'more: live_kib is within twice its error' within_error
check 'more: and the window says that it samples' grep -qE ' alloc_sampled=(2|4|8|[1-9][0-9]+) ' "$TMP/out"
check 'more: allocations are counted exactly' counts many
order drop many
next_windows 1
check 'all freed: nothing is left of it' test "$(row "${PIDS[many]}" | awk '{ print $5, $12 }')" = '0.000 0.000'
order 'maps 3000' many
next_windows 1
measured
check 'what cannot be sampled and finds no room is lost, and counted' \
    test "$(($(field lost) + $(grep '^#window' "$TMP/out" | tail -n 1 | sed 's/.*alloc_pointers=\([0-9]*\).*/\1/')))" = 3000
stop many

start million "$TMP/glibc"
begin -p "${PIDS[million]}" --pointers 2097152 1
order 'hold 1000000' million
next_windows 1
check 'a million blocks: exact' holds million
measured
stop million
done_testing
