#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# `hog stacks`: functions that run for known shares, and sleeps that a load measures itself.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
LOADS=$BUILD/tests/load

# ---- on a CPU: tests/load/functions.c, built in each way that programs are ----

built() { # built NAME FLAG...
    local name=$1
    shift
    cc -O2 -std=gnu11 "$@" -o "$TMP/$name" tests/load/functions.c
}
built plain
built framed -fno-omit-frame-pointer -no-pie
built still -static
built exported -rdynamic -s
built stripped -s
built apart -g -Wl,--build-id
built container -fno-omit-frame-pointer

share() { # share PID PERCENT: the functions' shares in the samples of that process are as they should be, within this
    awk -v pid="$1" -v within="$2" "$BY_NAME"'
        $1 == "stacks" && (!pid || col("pid") == pid) && col("kind") == "cpu" { name = col("function"); n[name] += col("samples"); if (name ~ /^takes_/) all += col("samples") }
        END {
            for (i = 10; i <= 40; i += 10) {
                pct = all ? 100 * n["takes_" i] / all : 0
                print "takes_" i ": " pct " % of " all + 0
                bad += pct < i - within || pct > i + within
            }
            exit bad || all < 100
        }' "$TMP/out"
}

# Sampling is random: at 999 Hz and 2 s, 40 % of 2,000 samples are known to 1.1 points (one standard deviation).
for how in plain framed still exported; do
    load_start "$TMP/$how" 100
    "$HOG" stacks -w -p "$LOAD_PID" -k 1000 --rate 999 2 1 >"$TMP/out"
    load_stop "$LOAD_PID"
    check "$how: the shares of its functions" share "$LOAD_PID" 5
    [ $how != framed ] || cp "$TMP/out" "$TMP/framed.out"
done

all_reach() { # with frame pointers, all samples in user space reach the start of the program
    awk "$BY_NAME"'$1 == "stacks" && col("function") ~ /^takes_/ { n++; bad += col("cut") != "no" || col("stack") !~ /^takes_[0-9]*;main;/ }
        END { print n " rows, " bad + 0 " bad"; exit !n || bad }' "$TMP/framed.out"
}
check 'with frame pointers, stacks reach the start' all_reach

load_start "$TMP/stripped" 100
"$HOG" stacks -w -p "$LOAD_PID" -k 1000 1 1 >"$TMP/out"
load_stop "$LOAD_PID"
offsets() { awk "$BY_NAME"'$1 == "stacks" && col("kind") == "cpu" && col("function") ~ /^stripped\+0x[0-9a-f]+$/ { n += col("samples") } END { print n + 0; exit n < 50 }' "$TMP/out"; }
check 'without symbols, the place in the file' offsets

# Symbols in a file of their own, found by build id where packages put it.
id=$(readelf -n "$TMP/apart" | sed -n 's/.*Build ID: //p')
debug=/usr/lib/debug/.build-id/${id:0:2}
trap 'rm -f "$debug/${id:2}.debug"; rmdir -p --ignore-fail-on-non-empty "$debug" 2>/dev/null; lib_cleanup' EXIT
mkdir -p "$debug" && objcopy --only-keep-debug "$TMP/apart" "$debug/${id:2}.debug" && strip "$TMP/apart"
load_start "$TMP/apart" 100
"$HOG" stacks -w -p "$LOAD_PID" -k 1000 --rate 999 2 1 >"$TMP/out"
load_stop "$LOAD_PID"
check 'symbols apart, by build id' share "$LOAD_PID" 5

# In a mount namespace of its own, where the file is hidden from the host.
mkdir "$TMP/hidden"
load_start unshare -m bash -c "mount -t tmpfs none '$TMP/hidden' && cp '$TMP/container' '$TMP/hidden/' && exec '$TMP/hidden/container' 100"
sleep 0.5
"$HOG" stacks -w -p "$LOAD_PID" -k 1000 --rate 999 2 1 >"$TMP/out"
load_stop "$LOAD_PID"
check 'in another mount namespace' share "$LOAD_PID" 5

# Each has ended before the window does.
"$HOG" stacks -w -c framed -k 10000 --rate 999 3 1 >"$TMP/out" &
hog=$!
sleep 0.3
for _ in $(seq 30); do "$TMP/framed" 0.04; done
wait $hog
check 'processes that ended before the look' share '' 5

# perf has the same functions, in the same second.
if command -v perf >/dev/null && perf record -q -e cpu-clock -F 999 -o "$TMP/perf" true 2>/dev/null; then
    load_start "$TMP/framed" 100
    perf record -q -e cpu-clock -F 999 -p "$LOAD_PID" -o "$TMP/perf" sleep 2 2>/dev/null &
    perf=$!
    "$HOG" stacks -w --by function -p "$LOAD_PID" -k 20 --rate 999 2 1 >"$TMP/out"
    wait $perf
    load_stop "$LOAD_PID"
    hog_names() { awk "$BY_NAME"'$1 == "stacks" && col("function") ~ /^takes/ { print col("function") }' "$TMP/out"; }
    perf_names() { perf report -i "$TMP/perf" --stdio -g none --no-children -F overhead,sym 2>/dev/null | awk '/% .* takes_/ { print $NF }'; }
    same_names() { diff <(hog_names) <(perf_names); }
    check 'perf record has the same functions in the same order' same_names
else
    skip 'perf record has the same functions in the same order' 'needs PERF: perf cannot sample here'
fi

# ---- asleep ----

"$HOG" stacks -o tsv --kind all -t -c sleeps -k 10000 1 5 >"$TMP/out" &
hog=$!
sleep 0.7
"$LOADS/sleeps" 3 "$TMP" >"$TMP/truth"
wait $hog
slept() { # slept CALL NAME [WITHIN]: hog's milliseconds, of the thread that says so, and the load's
    awk -F '\t' -v call="$1" -v name="$2" -v within="${3:-0.01}" '
        FNR == NR { truth[$1] = $2 / 1e6; next }
        $1 == "#stacks" { for (i = 2; i <= NF; i++) at[$i] = i }
        $1 == "stacks" && $at["call"] ~ "^(" call ")$" && $at["kind"] != "cpu" { sum[$at["tid"]] += $at["time_ms"] }
        END {
            for (tid in sum) if (!best || (sum[tid] - truth[name]) ^ 2 < (best - truth[name]) ^ 2) best = sum[tid]
            print call ": " best " ms, the load: " truth[name]
            exit !(truth[name] > 500 && best > (1 - within) * truth[name] && best < (1 + within) * truth[name])
        }' "$TMP/truth" "$TMP/out"
}
check 'sleeps in nanosleep, to 1 %' slept '(clock_)?nanosleep' nanosleep
check 'sleeps in read of a pipe, to 1 %' slept read read
check 'sleeps in futex, to 1 %' slept futex futex
# Ten thousand short ones a second: some share a place with another task's.
check 'sleeps in fsync, to 4 %' slept fsync fsync 0.04
kinds() { # a lock is one, and fsync I/O
    awk -F '\t' '$1 == "#stacks" { for (i = 2; i <= NF; i++) at[$i] = i }
        $1 == "stacks" { ms[$at["call"] " " $at["kind"]] += $at["time_ms"] }
        END { for (k in ms) print k, ms[k]; exit !(ms["futex lock"] > 2000 && ms["fsync io"] > 400 && ms["read wait"] > 2000) }' "$TMP/out"
}
check 'what they are: lock, io, wait' kinds

# A thread that sleeps all the time, since before hog began.
load_start sleep 100
"$HOG" stacks -w -p "$LOAD_PID" 1 2 >"$TMP/out"
load_stop "$LOAD_PID"
whole() { awk "$BY_NAME"'$1 == "stacks" { n++; print; bad += col("pct") < 99.5 || col("pct") > 100.1 || col("kind") != "wait" || col("function") !~ /nanosleep/ }
    END { exit n != 2 || bad }' "$TMP/out"; }
check 'a sleep that began before hog, in each window' whole

# ---- folded ----

load_start "$TMP/framed" 100
"$HOG" stacks --folded -p "$LOAD_PID" 1 1 >"$TMP/folded"
load_stop "$LOAD_PID"
# The grammar of flamegraph.pl: frames separated by ';' without blanks, one blank, a number.
grammar() { grep -v '^#' "$TMP/folded" >"$TMP/lines"; [ -s "$TMP/lines" ] && ! grep -vE '^[^ ;]+(;[^ ;]+)+ [1-9][0-9]*$' "$TMP/lines"; }
check 'folded lines are what flamegraph.pl reads' grammar
check 'outermost first' grep -qE '^framed;([^ ;]+;)*main;takes_[1-4]0 [0-9]+$' "$TMP/folded"

# ---- bad input ----

mkdir "$TMP/jit"
cat >"$TMP/jit.c" <<'C'
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
int main(void)
{
    static const unsigned char loop[] = {0x48, 0xff, 0xc0, 0xeb, 0xfb}; /* inc rax; jmp */
    unsigned char *code = mmap((void *)0x10000000, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    memcpy(code, loop, sizeof loop);
    ((void (*)(void))code)();
}
C
jit() { # jit NAME WANTED: what the function at 0x10000000 is called, with the map that set_map made
    "$HOG" stacks -w -p "$LOAD_PID" -k 100 0.5 1 >"$TMP/out"
    awk "$BY_NAME"'$1 == "stacks" && col("kind") == "cpu" && col("function") !~ /^_|\./ { n[col("function")] += col("samples") }
        END { for (f in n) if (n[f] > most) { most = n[f]; best = f }; print best }' "$TMP/out"
}
if [ "$(uname -m)" = x86_64 ]; then
    cc -o "$TMP/jitted" "$TMP/jit.c"
    load_start "$TMP/jitted"
    map=/tmp/perf-$LOAD_PID.map
    check 'code without a map' test "$(jit)" = '[jit]'
    printf '10000000 1000 compiled;by a\tJIT\n' >"$map"
    check 'a map of a JIT, its name made safe' test "$(jit)" = 'compiled:by?a?JIT'
    chown nobody "$map"
    check 'a map of another user is not believed' test "$(jit)" = '[jit]'
    rm -f "$map"
    { head -c 3000 /dev/zero | tr '\0' x; echo; printf '10000000 1000 '; head -c 4000 /dev/zero | tr '\0' y; echo; } >"$map"
    check 'a name of 4,000 bytes is cut' test "$(jit)" = "$(head -c 127 /dev/zero | tr '\0' y)"
    truncate -s 1G "$map"
    before=$(date +%s%N)
    check 'a map of a gigabyte costs no more than its limit' test -n "$(jit)"
    check 'and no long time' test $((($(date +%s%N) - before) / 1000000)) -lt 3000
    rm -f "$map"
    load_stop "$LOAD_PID"
else
    skip 'maps of JITs' 'needs x86-64: the code of the load'
fi

hidden() { # an unprivileged look at kallsyms is all zeros: the same where kptr_restrict is 2
    local before status
    before=$(cat /proc/sys/kernel/kptr_restrict)
    echo 2 >/proc/sys/kernel/kptr_restrict
    "$HOG" stacks -w 0.5 1 >"$TMP/out"
    status=$?
    echo "$before" >/proc/sys/kernel/kptr_restrict
    [ "$status" = 0 ] && [ "$(field_of kernel_names "$TMP/out")" = hidden ]
}
check 'hidden kernel symbols are said' hidden

no_samples() {
    "$HOG" stacks --without perf_event --kind all -w 0.5 1 >"$TMP/out" && grep '^stacks' "$TMP/out" >"$TMP/rows" && awk "$BY_NAME"'$1 == "stacks" && col("kind") == "cpu" { exit 1 }' "$TMP/out"
}
check 'without perf events, sleeps are still shown' no_samples
check 'the deepest stacks and a thousand rows' "$HOG" stacks -w --kind all -k 10000 0.5 2
done_testing
