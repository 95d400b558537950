#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# However it ends, hog leaves nothing in the kernel; and a CPU may go offline while it runs.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
LOADS=$BUILD/tests/load

# BPF objects that no process has a descriptor of, one id per line.
ownerless() {
    local kind
    for kind in prog map link; do
        comm -23 <(bpftool -j "$kind" show | jq -r '.[].id' | sort) \
            <(cat /proc/[0-9]*/fdinfo/* 2>/dev/null | sed -n "s/^${kind}_id:[[:space:]]*//p" | sort -u) | sed "s/^/$kind /"
    done
}

# The kernel frees closed objects a little later.
nothing_left() {
    for _ in $(seq 20); do
        comm -13 "$TMP/before" <(ownerless | sort) >"$TMP/left"
        [ -s "$TMP/left" ] || return 0
        sleep 0.25
    done
    cat "$TMP/left"
    return 1
}

# The check itself must work: while hog runs, its programs are there, and have an owner.
is_seen() {
    bpftool prog show | grep hog_
    bpftool prog show | grep -q ' name hog_' && ! ownerless | grep "$(bpftool -j prog show | jq -r '[.[] | select(.name // "" | startswith("hog_"))][0].id')\$"
}

ownerless | sort >"$TMP/before"
measure cpu 60
check 'while it runs its programs are in the kernel' is_seen
measured
check 'after SIGTERM nothing is left' nothing_left

# ---- killed ----

died=0
for i in $(seq 20); do
    "$HOG" cpu -k 1000 0.01 >/dev/null 2>&1 &
    pid=$!
    sleep "0.0$((RANDOM % 60 + 10))"
    [ $((i % 2)) -eq 1 ] || sleep 0.1
    kill -9 "$pid"
    wait "$pid" 2>/dev/null
    [ $? -eq 137 ] && died=$((died + 1))
done
check '20 were killed while they started or ran' test $died = 20
check 'the killed ones left nothing' nothing_left

# ---- a thousand times ----

starts() {
    local wrong=0 i
    for ((i = 0; i < 1000; i++)); do
        "$HOG" cpu 0.001 1 >"$TMP/out" 2>"$TMP/err" && grep -q '^#window seq=1 ' "$TMP/out" && continue
        wrong=$((wrong + 1))
        cat "$TMP/err"
    done
    [ "$wrong" = 0 ]
}
check 'a thousand starts in a row work' starts
check 'a thousand starts leave nothing' nothing_left

# ---- a CPU goes offline and comes back ----

online=/sys/devices/system/cpu/cpu1/online
name='a CPU goes offline and comes back: hog goes on'
if scripts/has.sh CPUHOTPLUG; then
    trap 'echo 1 >"$online"; lib_cleanup' EXIT
    load_start taskset -c 0 "$LOADS/duty" 1000
    all=$(nproc --all)
    measure cpu -k 10000 0.1
    echo 0 >"$online"
    sleep 1.5
    echo 1 >"$online"
    sleep 1.5
    measured
    check "$name" test $? = 0
    check 'cpus= shows it' test "$(field_of cpus | uniq | xargs)" = "$all $((all - 1)) $all"
    check 'no process has more than there is' test -z "$(awk -v all="$all" "$BY_NAME"'$1 == "cpu" && (col("cpu_pct") > 100 * all + 1 || col("cpu_pct") < 0)' "$TMP/out")"
    check 'no time is negative' test -z "$(grep -E '_ms=-0*[.0]*[1-9]' "$TMP/out")"
else
    skip "$name" 'needs CPUHOTPLUG: no CPU can be switched off'
fi
done_testing
