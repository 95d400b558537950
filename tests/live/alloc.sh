#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# hog alloc against loads that know what they hold, for each allocator.
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

# For each load: its pid, the descriptors of its orders and its answers, and its last answer about what it holds.
declare -A PIDS TO FROM SAID
CHILD=

# hear NAME WORD: reads what the load says, up to a line that begins with the word.
hear() {
    local line
    while IFS= read -r -t 60 line <&"${FROM[$1]}"; do
        case $line in
        done*) SAID[$1]=$line ;;
        child=*) CHILD=${line#child=} ;;
        esac
        [[ $line != "$2"* ]] || return 0
    done
    echo "# $1 does not say $2"
    return 1
}

# start NAME PROGRAM [PRELOAD]: a load of three threads that waits for commands; start_at NAME PID PROGRAM: with that pid.
start() { launch "$1" '' "$2" "${3-}"; }
start_at() { launch "$1" "$BUILD/tests/load/at_pid $2" "$3" '' && PIDS[$1]=$2 && lib_pids+=("$2"); }
launch() { # launch NAME BY PROGRAM PRELOAD
    local to from
    rm -f "$TMP/$1.in" "$TMP/$1.said"
    mkfifo "$TMP/$1.in" "$TMP/$1.said"
    exec {to}<>"$TMP/$1.in" {from}<>"$TMP/$1.said"
    TO[$1]=$to FROM[$1]=$from SAID[$1]='done live=0 allocs=0 frees=0 failed=0'
    # shellcheck disable=SC2086 # a command
    LD_PRELOAD=$4 $2 "$3" 3 <"$TMP/$1.in" >"$TMP/$1.said" 2>&1 &
    PIDS[$1]=$!
    lib_pids+=("$!")
    hear "$1" ready
}

# order COMMAND NAME...: sends it to these loads; returns when all have done it.
order() {
    local command=$1 name
    shift
    for name in "$@"; do
        echo "$command" >&"${TO[$name]}"
    done
    for name in "$@"; do
        hear "$name" "done "
    done
}

said() { # said FIELD NAME
    [[ ${SAID[$2]} =~ \ $1=(-?[0-9]+) ]] && echo "${BASH_REMATCH[1]}"
}

stop() {
    local name to from
    for name in "$@"; do
        to=${TO[$name]} from=${FROM[$name]}
        exec {to}>&- {from}>&-
        load_stop "${PIDS[$name]}"
    done
}

# ---- hog ----

# By pid, from the last window that has all its rows. (bash itself allocates, and would be slow at reading them all.)
declare -A ROWS
FILES='' CELLS=(pid live_kib error_kib mapped_kib lib)
read_windows() { # read_windows N: until all rows of N more are there
    local until=$(($(windows) + $1 + 1)) last=$((SECONDS + 60)) pid line
    while [ "$(windows)" -lt "$until" ]; do
        [ "$SECONDS" -lt "$last" ] && kill -0 "$HOG_PID" 2>/dev/null || return
        sleep 0.03
    done
    ROWS=()
    while read -r pid line; do
        [ "$pid" = files ] && FILES=$line || ROWS[$pid]=$line
    done < <(awk -v pids=" ${PIDS[*]} $CHILD " -v cells="${CELLS[*]}" "$BY_NAME"'
        BEGIN { n = split(cells, cell, " ") }
        $1 == "#window" { last = now; now = "" }
        $1 == "alloc" && index(pids, " " col("pid") " ") {
            now = now col("pid")
            for (i = 1; i <= n; i++) now = now " " col(cell[i])
            now = now "\n"
        }
        END { printf "files %s\n%s", win("alloc_files", WINDOW - 1), last }' "$TMP/out")
}
begin() {
    measure alloc -k 10000 "$@" || return
    read_windows 1
}

# One file more has been found than before.
next_file() {
    local than=$1 last=$((SECONDS + 60))
    while [ "$SECONDS" -lt "$last" ]; do
        [ "$FILES" -gt "$than" ] && read_windows 1 && return
        read_windows 1
    done
    return 1
}

# The row of the last complete window, one of CELLS after the other. A process that holds nothing and does nothing has none.
row() { # row PID
    read -ra ROW <<<"${ROWS[$1]-- 0.000}"
}
cell() { # cell PID COLUMN: one of CELLS
    local i
    row "$1"
    for i in "${!CELLS[@]}"; do
        [ "${CELLS[i]}" != "$2" ] || echo "${ROW[i]}"
    done
}
bytes() { # of live_kib
    local kib
    kib=$(cell "$1" live_kib)
    [ "$kib" != - ] || kib=0.000
    echo $(((${kib%.*} * 1024000 + 10#${kib#*.} * 1024 + 500) / 1000))
}
# holds NAME [BEFORE]: live_kib is, to the byte, what the load says plus what was there before.
holds() {
    row "${PIDS[$1]}"
    echo "row: ${ROW[*]}; before: ${2-}; load: ${SAID[$1]}"
    [ "$(bytes "${PIDS[$1]}")" = "$(($(said live "$1") + ${2-0}))" ]
}
declare -A COUNTED
count() { # its allocations, frees and failures in all windows, from the rates
    local pid counts
    COUNTED=()
    while read -r pid counts; do
        COUNTED[$pid]=$counts
    done < <(awk "$BY_NAME"'function count(rate) { return int(rate * win("dur_ms") / 1000 + 0.5) }
        $1 == "alloc" { pid = col("pid"); allocs[pid] += count(col("allocs_s")); frees[pid] += count(col("frees_s")); failed[pid] += count(col("failed_s")) }
        END { for (pid in allocs) print pid, allocs[pid], frees[pid], failed[pid] }' "$TMP/out")
}
counts() { # counts NAME
    local counted=${COUNTED[${PIDS[$1]}]-}
    echo "allocations, frees, failures: $counted; load: ${SAID[$1]}"
    [ "$counted" = "$(said allocs "$1") $(said frees "$1") $(said failed "$1")" ]
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

# exact HOW WINDOW OPTION...: all loads at once, and hog with these options.
exact() {
    local how=$1 window=$2 name list=""
    shift 2
    for name in "${NAMES[@]}"; do
        PROGRAM[$name]=$TMP/$name
        [ -z "${PRELOAD[$name]-}" ] || PROGRAM[$name]=$TMP/glibc
        start "$name" "${PROGRAM[$name]}" "${PRELOAD[$name]-}"
        list=$list${list:+,}${PIDS[$name]}
    done
    begin "${@//PIDS/$list}" "$window" || cat "$TMP/err"
    order 'work 1000' "${NAMES[@]}"
    read_windows 1
    for name in "${NAMES[@]}"; do
        check "$how: $name: what it holds is right to the byte" holds "$name"
        check "$how: $name: the file of the allocator is named" test "$(cell "${PIDS[$name]}" lib)" = "${FILE[$name]}"
    done
    order 'map 5' "${NAMES[@]}"
    order 'remap 9' "${NAMES[@]}"
    order 'remap 3' "${NAMES[@]}"
    read_windows 1
    for name in "${NAMES[@]}"; do
        check "$how: $name: and with mmap and mremap" holds "$name"
        check "$how: $name: mapped_kib is that of mmap" test "$(cell "${PIDS[$name]}" mapped_kib)" = 48.000
    done
    order drop "${NAMES[@]}"
    order unmap "${NAMES[@]}"
    read_windows 1
    measured
    count
    for name in "${NAMES[@]}"; do
        check "$how: $name: holds nothing in the end" holds "$name"
        check "$how: $name: allocations, frees and failures are counted exactly" counts "$name"
    done
    check "$how: nothing is lost" test "$(window_sum lost)" = 0
    stop "${NAMES[@]}"
}
exact 'all processes' 0.2 --pointers 1048576
exact 'with -p' 0.1 -p PIDS
check 'with -p: no other process' test "$(awk "$BY_NAME"'$1 == "alloc" { print col("pid") }' "$TMP/out" | sort -u | wc -l)" = ${#NAMES[@]}
CXX=()
for name in "${NAMES[@]}"; do
    [ -z "${PRELOAD[$name]-}" ] || CXX+=("$name")
done
NAMES=(glibc static-musl)
exact 'one probe at a time' 0.1 -p PIDS --without uprobe_multi
cat >"$TMP/blind" <<SCRIPT
#!/bin/sh
mount -t tmpfs none /sys/kernel/btf && exec "$(realpath "$HOG")" "\$@"
SCRIPT
cat >"$TMP/no-types" <<SCRIPT
#!/bin/sh
exec unshare -m "$TMP/blind" "\$@"
SCRIPT
chmod +x "$TMP/blind" "$TMP/no-types"
HOG=$TMP/no-types exact 'a kernel that does not describe its types' 0.1 -p PIDS

# ---- one hog next to loads of all kinds ----

mkdir -p "$TMP/inside"
cat >"$TMP/contain" <<SCRIPT
#!/bin/sh
mount -t tmpfs none "$TMP/inside" && cp "$TMP/static-glibc" "$TMP/inside/init" && exec chroot "$TMP/inside" /init "\$@"
SCRIPT
cat >"$TMP/unshared" <<SCRIPT
#!/bin/sh
exec unshare -m "$TMP/contain" "\$@"
SCRIPT
chmod +x "$TMP/contain" "$TMP/unshared"
for name in "${CXX[@]}"; do
    start "$name" "$TMP/glibc" "${PRELOAD[$name]}"
done
start life "$TMP/glibc"
start early "$TMP/glibc"
start contained "$TMP/unshared"
start place "$TMP/static-musl"
begin --pointers 1048576 0.2
cp "$TMP/static-musl" "$TMP/late"
known=$FILES
start late "$TMP/late" # it takes a while to find it

order 'throw 3' "${CXX[@]}"
for name in "${CXX[@]}"; do
    check "$name: a new that fails, by an exception or without, does no harm" test "${SAID[$name]#done }" != "${SAID[$name]}"
done
order 'work 500' contained
order 'hold 1000' life
order 'fork 7' life
read_windows 1
check 'in a mount namespace and root of its own' holds contained
check 'fork: the parent holds what it held' holds life
check 'fork: the child holds what it allocated itself' test "$(bytes "$CHILD")" = 700
kill "$CHILD"
read_windows 1
check 'exit: a process that is gone has no row' test "$(cell "$CHILD" pid)" = -
echo exec >&"${TO[life]}"
hear life ready
read_windows 1
before=$(bytes "${PIDS[life]}") # of the C library, for threads
check 'exec: what it held is gone' within "$before" 0 5000
order 'hold 10' life
read_windows 1
check 'exec: holds what it allocated since' holds life "$before"

check 'a program that was never seen before is found' next_file "$known"
cp "$TMP/bump.so" "$TMP/gone.so"
known=$FILES
order "open $TMP/gone.so" early
check 'a library that comes by dlopen is found' next_file "$known"
before=$(bytes "${PIDS[early]}") # of dlopen
order 'hold 20' early
order 'work 500' late
read_windows 1
check 'a program that was never seen before: exact from then on' holds late
check 'dlopen of an unknown allocator: exact' holds early "$before"
check 'and its file is named' test "$(cell "${PIDS[early]}" lib)" = gone.so

# A thread's slot follows from its thread ID: if two threads map to the same slot, both count, whichever comes or goes first.
# A thread ID that is used again is another process.
if scripts/has.sh SETTID; then
    other=
    for ((step = 4096; step < $(cat /proc/sys/kernel/pid_max); step += 4096)); do
        other=$(((PIDS[place] + step) % $(cat /proc/sys/kernel/pid_max)))
        [ $((other % 4096)) = $((PIDS[place] % 4096)) ] && [ $other -gt 300 ] && [ ! -e /proc/$other ] && break
    done
    order 'hold 11' place
    start_at twin "$other" "$TMP/static-musl"
    order 'work 300' twin place
    read_windows 1
    check 'one slot for two threads: the first is exact' holds place
    check 'one slot for two threads: the second is exact' holds twin
    again=${PIDS[place]}
    stop place
    order 'work 300' twin
    read_windows 1
    check 'one slot for two threads: exact when the first has ended' holds twin
    start_at again "$again" "$TMP/static-musl"
    order 'hold 3' again
    read_windows 1
    check 'a PID that is used again holds what its process allocated' holds again
    stop again twin
else
    skip 'one slot for two threads' 'needs SETTID: to choose a number'
    stop place
fi
measured
stop life contained "${CXX[@]}"

rm "$TMP/gone.so" "$TMP/late"
begin -p "${PIDS[early]},${PIDS[late]}" 0.1
early=$(said live early) late=$(said live late)
order 'hold 30' early
order 'hold 40' late
read_windows 1
check 'a library that was deleted while it is mapped' holds early $((-early))
check 'a program that was deleted while it runs' holds late $((-late))
measured
stop early late

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
until grep -q ready "$TMP/text" || ! kill -0 "$text"; do
    sleep 0.02
done
begin -p "${PIDS[stripped]},${PIDS[other]},$text" 0.1
order 'hold 5' stripped other
read_windows 1
measured
check 'stripped: said once' test "$(grep -c "^#unseen pid=${PIDS[stripped]} " "$TMP/out")" = 1
check 'stripped: what it holds is not known' test "$(cell "${PIDS[stripped]}" live_kib)" = -
check 'stripped: others go on' holds other
check 'a mapped file that is no ELF file does no harm' test -n "$(column_of "$TMP/out" alloc pid pid="$text")"
load_stop "$text"
stop stripped other

# ---- leaks ----

start leak "$TMP/glibc"
begin -p "${PIDS[leak]}" --leaks 500ms 0.1
order 'hold 300' leak
order 'leak 20000' leak
read_windows 7
measured
# blocks, live_kib and stack of each row in the last complete window
leaks() {
    awk "$BY_NAME"'$1 == "#window" { last = now; now = "" }
        $1 == "leaks" { now = now col("blocks") " " col("live_kib") " " col("stack") "\n" } END { printf "%s", last }' "$TMP/out"
}
names_leak() {
    leaks
    leaks | head -n 1 | awk '{ split($3, f, ";"); exit !(f[1] == "leaks_here" && $1 == 20000) }'
}
check '--leaks: the function that leaks is first, with all its blocks' names_leak
check '--leaks: its bytes are those that it leaked' test "$(leaks | awk 'NR == 1 { print $2 }')" = 976.562
check '--leaks: the others are below' test "$(leaks | awk '$3 ~ /^hold;/ { print $1 }')" = 300
begin -p "${PIDS[leak]}" --leaks 1h 0.1
order 'leak 2000' leak
read_windows 2
measured
check '--leaks: what is younger is not listed' test -z "$(leaks)"
stop leak

# ---- a map that is too small ----

start many "$TMP/glibc"
begin -p "${PIDS[many]}" --pointers 1024 0.1
order 'hold 700' many
read_windows 1
check 'three quarters full: still exact' holds many
order 'hold 50000' many
read_windows 1
within_error() {
    row "${PIDS[many]}"
    echo "${ROW[*]}"
    awk -v live="$(said live many)" -v seen="$(cell "${PIDS[many]}" live_kib)" -v error="$(cell "${PIDS[many]}" error_kib)" \
        'BEGIN { off = seen - live / 1024; exit !(error > 0 && off < 2 * error && off > -2 * error) }'
}
check 'more: live_kib is within twice its error' within_error
check 'more: and the window says that it samples' grep -qE ' alloc_sampled=(2|4|8|[1-9][0-9]+) ' "$TMP/out"
count
check 'more: allocations are counted exactly' counts many
order drop many
read_windows 1
check 'all freed: nothing is left of it' test "$(cell "${PIDS[many]}" live_kib) $(cell "${PIDS[many]}" error_kib)" = '0.000 0.000'
order 'maps 3000' many
read_windows 1
measured
check 'what cannot be sampled and finds no room is lost, and counted' \
    test "$(($(window_sum lost) + $(field_of alloc_pointers | tail -n 1)))" = 3000
stop many

start million "$TMP/glibc"
begin -p "${PIDS[million]}" --pointers 2097152 0.3
order 'hold 1000000' million
read_windows 1
check 'a million blocks: exact' holds million
measured
stop million
done_testing
