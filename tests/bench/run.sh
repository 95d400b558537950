#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Measures hog against its budgets and next to libbpf-tools and bpftrace; docs/bench.md explains the numbers.
#
#   run.sh [program|scheduler|slowdown|start|size|windows|own|accuracy|admission|memory|alloc|block|calls|file|energy]...
#
# All parts by default; with LONG=1 more repeats of everything. Ends with 1 if a budget is exceeded.
# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"

[ "$(id -u)" -eq 0 ] || die 'needs root'
[ -x "$bench/floor" ] || die "$bench is not built: make bench does, once"
repeats=${LONG:+11}
repeats=${repeats:-5}
last_cpu=$(($(nproc) - 1))

header() {
    printf '\n%-46s %10s %10s %8s %9s  %s\n' "$1" ours "${2:-peer}" ratio budget verdict
}

# ---- mean run time of the program, from the kernel's own statistics ----

cost() { # cost PROGRAM-ID: ns and runs so far
    bpftool -j prog show id "$1" | jq -r '"\(.run_time_ns // 0) \(.run_cnt // 0)"'
}

named() { # named PID PREFIX: id of the process's program of that name
    local id
    for id in $(ids "$1" prog); do
        bpftool -j prog show id "$id" | jq -e --arg p "$2" '.name | startswith($p)' >/dev/null && echo "$id" && return
    done
    die "no program $2"
}

mean() { # mean BEFORE AFTER: ns a run
    # shellcheck disable=SC2086 # two numbers each
    set -- $1 $2
    calculate "($3 - $1) / ($4 - $2)" 1
}

# Of all programs of a process on the scheduler: ns so far. Its switches: those of the program of that name.
scheduler_ns() { # scheduler_ns PID
    local id sum=0
    for id in $(ids "$1" prog); do
        # shellcheck disable=SC2046 # two numbers
        set -- "$1" $(cost "$id")
        sum=$((sum + $2))
    done
    echo "$sum"
}

# One round for `top` against cpudist and runqlat together, on switches and wakeups.
scheduler_round() { # scheduler_round ROUND
    local -A pid before
    local what order=(hog cpudist runqlat) switches
    [ $(($1 % 2)) -eq 0 ] || order=(runqlat cpudist hog)
    for what in "${order[@]}"; do
        if [ "$what" = hog ]; then start_hog top 100; else start "$what" 100 && await_programs "$PID"; fi
        pid[$what]=$PID
    done
    taskset -c "$last_cpu" perf bench sched pipe -l 2000 >/dev/null
    switches=$(cost "$(named "${pid[cpudist]}" sched_switch)")
    for what in "${order[@]}"; do before[$what]=$(scheduler_ns "${pid[$what]}"); done
    taskset -c "$last_cpu" perf bench sched pipe -l "${LONG:+4}50000" >/dev/null
    for what in "${order[@]}"; do
        echo "$(($(scheduler_ns "${pid[$what]}") - before[$what]))" >"$TMP/scheduler.now.$what"
    done
    set -- "${switches#* }" "$(cost "$(named "${pid[cpudist]}" sched_switch)")"
    for what in "${order[@]}"; do
        calculate "$(cat "$TMP/scheduler.now.$what") / (${2#* } - $1)" 1 >>"$TMP/scheduler.$what"
    done
    for what in "${order[@]}"; do stop "${pid[$what]}"; done
}

scheduler_rows() {
    local ours peers
    ours=$(median <"$TMP/scheduler.hog")
    peers=$(calculate "$(median <"$TMP/scheduler.cpudist") + $(median <"$TMP/scheduler.runqlat")" 1)
    header 'hog top, all programs on switch and wakeup' 'both'
    row 'ns a switch, peers cpudist and runqlat' "$ours" "$peers" "$(calculate "$ours / $peers")" '<= 0.6' \
        "$(calculate "$ours / $peers" 4)"
}

# One round for a view: all attached, in another order each time; switches on one CPU.
program_round() { # program_round VIEW ROUND
    local -A pid id before
    local what order=(hog cpudist offcputime floor)
    [ $(($2 % 2)) -eq 0 ] || order=(floor offcputime cpudist hog)
    for what in "${order[@]}"; do
        case $what in
        hog) start_hog "$1" 100 ;;
        floor)
            start "$bench/floor"
            await "$PID" ready "$TMP/out"
            ;;
        *) start "$what" 100 && await_programs "$PID" ;;
        esac
        pid[$what]=$PID
    done
    id[hog]=$(named "${pid[hog]}" hog_switch)
    id[cpudist]=$(named "${pid[cpudist]}" sched_switch)
    id[offcputime]=$(named "${pid[offcputime]}" sched_switch)
    id[floor]=$(named "${pid[floor]}" bench_floor)
    taskset -c "$last_cpu" perf bench sched pipe -l 2000 >/dev/null
    for what in "${order[@]}"; do before[$what]=$(cost "${id[$what]}"); done
    taskset -c "$last_cpu" perf bench sched pipe -l "${LONG:+4}50000" >/dev/null
    for what in "${order[@]}"; do mean "${before[$what]}" "$(cost "${id[$what]}")" >>"$TMP/program.$1.$what"; done
    for what in "${order[@]}"; do stop "${pid[$what]}"; done
}

# program_rows VIEW CPUDIST-BUDGET OFFCPUTIME-BUDGET
program_rows() {
    local ours floor peer budget what
    ours=$(median <"$TMP/program.$1.hog")
    floor=$(median <"$TMP/program.$1.floor")
    for what in cpudist offcputime; do
        [ "$what" = cpudist ] && budget=$2 || budget=$3
        peer=$(median <"$TMP/program.$1.$what")
        header "hog $1, program on sched_switch, one run" "$what"
        row 'mean time, ns' "$ours" "$peer" "$(calculate "$ours / $peer")" "${budget:+<= }${budget:--}" \
            "$(calculate "$ours / $peer" 4)"
        row 'mean time without an empty program, ns' "$(calculate "$ours - $floor" 1)" "$(calculate "$peer - $floor" 1)" \
            "$(calculate "($ours - $floor) / ($peer - $floor)")" - -
    done
    row 'an empty program, ns' "$floor" - - - -
}

part_program() {
    local i stats view
    stats=$(sysctl -n kernel.bpf_stats_enabled)
    trap 'sysctl -qw kernel.bpf_stats_enabled='"$stats"'; cleanup' EXIT
    sysctl -qw kernel.bpf_stats_enabled=1
    for ((i = 0; i < repeats; i++)); do
        for view in cpu contention top; do program_round "$view" "$i"; done
    done
    sysctl -qw "kernel.bpf_stats_enabled=$stats"
    program_rows cpu 0.25 ''
    program_rows contention 0.5 0.1
    program_rows top 0.5 0.1
}

part_scheduler() {
    local i stats
    stats=$(sysctl -n kernel.bpf_stats_enabled)
    trap 'sysctl -qw kernel.bpf_stats_enabled='"$stats"'; cleanup' EXIT
    sysctl -qw kernel.bpf_stats_enabled=1
    for ((i = 0; i < repeats; i++)); do scheduler_round "$i"; done
    sysctl -qw "kernel.bpf_stats_enabled=$stats"
    scheduler_rows
}

# ---- how much slower the host gets ----

tool_start() {
    case $1 in
    nothing) PID= ;;
    hog) start_hog cpu 1 ;;
    top) start_hog top 1 ;;
    floor)
        start "$bench/floor"
        await "$PID" ready "$TMP/out"
        ;;
    bpftrace) start bpftrace -e 'tracepoint:sched:sched_switch { @[args->prev_pid] = count(); }' && await_programs "$PID" ;;
    *) start "$1" && await_programs "$PID" ;;
    esac
}

seconds() { # seconds COMMAND...: the time perf bench reports
    "$@" | awk '/Total time/ { print $3 }'
}

part_slowdown() {
    local i tool what base view name ours tools=(nothing floor hog top cpudist runqlat bpftrace) pipe groups
    pipe=${LONG:+400000} groups=${LONG:+10}
    for ((i = 0; i < repeats; i++)); do
        for tool in "${tools[@]}"; do
            tool_start "$tool"
            seconds taskset -c "$last_cpu" perf bench sched pipe -l "${pipe:-80000}" >>"$TMP/pipe.$tool"
            seconds perf bench sched messaging -g "${groups:-4}" -l 200 >>"$TMP/messaging.$tool"
            [ -z "$PID" ] || stop "$PID"
        done
        tools=("${tools[@]:1}" "${tools[0]}") # each tool has each place once
    done
    header 'slowdown of perf bench sched, %'
    for what in pipe messaging; do
        base=$(median <"$TMP/$what.nothing")
        for view in hog top; do
            ours=$(slower "$TMP/$what.$view" "$base")
            [ "$view" = hog ] && name='hog cpu' || name='hog top'
            for tool in cpudist runqlat bpftrace floor; do
                row "$what, $name, peer $tool" "$ours" "$(slower "$TMP/$what.$tool" "$base")" - - -
            done
        done
        # The cost of top above that of an empty program on the same hook.
        ours=$(calculate "100 * ($(median <"$TMP/$what.top") / $(median <"$TMP/$what.floor") - 1)" 1)
        if [ "$what" = messaging ]; then
            row 'messaging, hog top beyond an empty program' "$ours" - - '<= 1.0' "$ours"
        else
            row 'pipe, hog top beyond an empty program' "$ours" - - - -
        fi
    done
}

slower() {
    calculate "100 * ($(median <"$1") / $2 - 1)" 1
}

# ---- exec to programs attached ----

part_start() {
    local i
    for ((i = 0; i < 2 * repeats; i++)); do
        "$bench/start" hog_switch "$HOG" cpu 100 >>"$TMP/start.hog" || die 'start'
        "$bench/start" hog_switch "$HOG" top 100 >>"$TMP/start.top" || die 'start'
        "$bench/start" sched_switch cpudist 100 >>"$TMP/start.cpudist" || die 'start'
    done
    local ours peer view
    header 'exec to first program attached, ms' cpudist
    peer=$(median <"$TMP/start.cpudist")
    for view in hog top; do
        ours=$(median <"$TMP/start.$view")
        [ "$view" = hog ] && name='hog cpu' || name='hog top'
        row "$name" "$ours" "$peer" "$(calculate "$ours / $peer")" '<= 20' "$ours"
        row "$name, as a share of cpudist" - - "$(calculate "$ours / $peer")" '<= 1' "$(calculate "$ours / $peer" 4)"
    done
    part_start_all
}

# mapped_files N: a process that maps N libraries, each a file of its own
mapped_files() {
    local library i
    library=$(ldconfig -p | awk '/libz\.so\.1 / { print $NF; exit }')
    mkdir -p "$TMP/mapped"
    for ((i = 0; i < $1; i++)); do cp "$library" "$TMP/mapped/lib$i.so"; done
    start python3 -c 'import glob, mmap, sys, time
kept = [mmap.mmap(open(f, "rb").fileno(), 65536, prot=mmap.PROT_READ | mmap.PROT_EXEC, flags=mmap.MAP_PRIVATE)
        for f in glob.glob(sys.argv[1] + "/*")]
time.sleep(3600)' "$TMP/mapped"
    sleep 1
}

# HOG_BEFORE: an older hog to compare with, in the same run.
start_row() { # start_row NAME BUDGET ARGUMENTS...
    local i ours older=- ratio=-
    for ((i = 0; i < repeats; i++)); do
        "$bench/start" -a hog_ "$HOG" "${@:3}" 100 >>"$TMP/all.$1" || die 'start'
        [ -z "${HOG_BEFORE-}" ] || "$bench/start" -a hog_ "$HOG_BEFORE" "${@:3}" 100 >>"$TMP/before.$1"
    done
    ours=$(median <"$TMP/all.$1")
    if [ -n "${HOG_BEFORE-}" ]; then
        older=$(median <"$TMP/before.$1")
        ratio=$(calculate "$ours / $older")
    fi
    row "hog $1" "$ours" "$older" "$ratio" "<= $2" "$ours"
}

part_start_all() {
    local view i
    for ((i = 0; i < repeats; i++)); do
        "$bench/start" -a '' cpudist 100 >>"$TMP/all.cpudist" || die 'start'
    done
    header 'exec to all programs attached, ms' 'before'
    row cpudist "$(median <"$TMP/all.cpudist")" - - - -
    start_row cpu 20 cpu
    start_row top 35 top
    for view in contention faults mem block file alloc calls; do start_row "$view" 60 "$view"; done
    mapped_files 200
    start_row 'alloc, 200 mapped files' 150 alloc
    stop "$PID"
}

# ---- size, memory ----

peak_kib() {
    awk '/^VmHWM/ { print $2 }' "/proc/$1/status"
}

memlock() { # bytes of kernel memory of all maps of a process
    local id
    for id in $(ids "$1" map); do bpftool -j map show id "$id" | jq '.bytes_memlock // 0'; done |
        awk '{ sum += $1 } END { print sum / 1024 }'
}

part_size() {
    local ours peer id sketch ours_maps top_kib top_maps
    start_hog top -k 1000 0.05
    sleep 2
    top_kib=$(peak_kib "$PID")
    top_maps=$(memlock "$PID")
    stop "$PID"
    start_hog cpu -k 1000 0.05
    sleep 2
    ours=$(peak_kib "$PID")
    ours_maps=$(memlock "$PID")
    for id in $(ids "$PID" map); do
        bpftool -j map show id "$id" | jq -e '.name == "hog_sketch"' >/dev/null &&
            sketch=$(bpftool -j map show id "$id" | jq .bytes_value)
    done
    stop "$PID"
    start cpudist -P 1
    await_programs "$PID"
    sleep 2
    peer=$(peak_kib "$PID")
    header 'size' cpudist
    row 'binary, KiB' "$(calculate "$(stat -c %s "$HOG") / 1024" 0)" \
        "$(calculate "$(stat -Lc %s "$(command -v cpudist)") / 1024" 0)" - '<= 512' "$(calculate "$(stat -c %s "$HOG") / 1024" 1)"
    row 'peak resident, KiB' "$ours" "$peer" "$(calculate "$ours / $peer")" '<= 4096' "$ours"
    row 'peak resident, hog top, KiB' "$top_kib" - - '<= 4096' "$top_kib"
    row 'kernel memory of all maps here, KiB' "$ours_maps" "$(memlock "$PID")" - - -
    row 'the same of hog top, KiB' "$top_maps" - - - -
    row 'sketch on 12 CPUs, bytes' "$((sketch * 12))" - - '<= 183000' "$((sketch * 12))"
    stop "$PID"
}

# ---- length of windows ----

# lengths INTERVAL COUNT MS: |length - MS| of each window, ms
lengths() {
    "$HOG" track -i "$1" -n "$2" $$ |
        awk -v ms="$3" "$BY_NAME"'$1 == "#window" && WINDOW > 1 { d = win("dur_ms") - ms; print d < 0 ? -d : d }'
}

part_windows() {
    local load
    header 'windows: |length - asked|, ms' -
    for load in idle stress; do
        [ "$load" = idle ] || start stress-ng --cpu 4 --quiet
        lengths 10ms "${LONG:+1}500" 10 >"$TMP/ten"
        lengths 1ms "${LONG:+1}2000" 1 >"$TMP/one"
        [ "$load" = idle ] || stop "$PID"
        row "10 ms, $load: p99" "$(quantile 0.99 <"$TMP/ten")" - - '<= 0.5' "$(quantile 0.99 <"$TMP/ten")"
        row "1 ms, $load: p50" "$(quantile 0.5 <"$TMP/one")" - - '<= 0.1' "$(quantile 0.5 <"$TMP/one")"
        row "1 ms, $load: p99" "$(quantile 0.99 <"$TMP/one")" - - - -
    done
}

# ---- hog's own CPU time ----

# own VIEW INTERVAL: percent of one CPU, over some seconds
own() {
    local before after t0 t1
    start_hog "$1" "$2"
    sleep 0.5
    read -r before _ <"/proc/$PID/schedstat"
    t0=${EPOCHREALTIME/./}
    sleep "${LONG:+1}4"
    read -r after _ <"/proc/$PID/schedstat"
    t1=${EPOCHREALTIME/./}
    stop "$PID"
    calculate "($after - $before) / 10 / ($t1 - $t0)" 3
}

part_own() {
    local load view interval share fifo=$TMP/go
    mkfifo "$fifo"
    header 'own CPU time, % of one CPU' -
    for load in idle '200 processes at work'; do
        if [ "$load" != idle ]; then
            exec 8<>"$fifo"
            start sh -c "exec '$bench/duty' 200 1.0 $((50 * $(nproc))) 1000 0 <'$fifo'"
            local duty=$PID
            await "$duty" ready "$TMP/out"
            echo go >&8
        fi
        for view in cpu top mem; do
            for interval in 1s 10ms 1ms; do
                share=$(own "$view" "$interval")
                if [ "$interval" = 10ms ]; then
                    row "$view, $interval windows, $load" "$share" - - '<= 3' "$share"
                else
                    row "$view, $interval windows, $load" "$share" - - - -
                fi
            done
        done
    done
    stop "$duty"
    exec 8>&-
}

# ---- accuracy ----

part_accuracy() {
    printf '\n'
    python3 tests/bench/accuracy.py "$BUILD" ${LONG:+--long}
    case $? in
    0) ;;
    3) over=$((over + 1)) ;;
    *) die 'accuracy.py' ;;
    esac
}

part_admission() {
    printf '\n'
    tests/bench/record.sh "$BUILD" "$TMP/recorded" || die 'record.sh'
    "$bench/admission" ${LONG:+--long} "$TMP/recorded" || die 'admission'
}

# ---- memory ----

spawn_us() { # CPU time of a fork, exec and exit only
    "$BUILD/tests/load/spawn" "${LONG:+2}500" | sed -n 's/.* cpu_us=//p'
}

# The cost of memory changes: rounds with nothing, an empty program, and hog mem, alternately.
part_memory() {
    local i tool tools=(nothing floor hog) id floor stats
    for ((i = 0; i < 6 * repeats; i++)); do
        for tool in "${tools[@]}"; do
            case $tool in
            nothing) PID= ;;
            hog) start_hog mem 1 ;;
            floor)
                start "$bench/floor" rss_stat
                await "$PID" ready "$TMP/out"
                ;;
            esac
            spawn_us >>"$TMP/spawn.$tool"
            [ -z "$PID" ] || stop "$PID"
        done
        tools=("${tools[@]:1}" "${tools[0]}")
    done
    stats=$(sysctl -n kernel.bpf_stats_enabled)
    trap 'sysctl -qw kernel.bpf_stats_enabled='"$stats"'; cleanup' EXIT
    sysctl -qw kernel.bpf_stats_enabled=1
    start "$bench/floor" rss_stat
    floor=$PID
    await "$floor" ready "$TMP/out"
    start_hog mem 100
    for ((i = 0; i < repeats; i++)); do
        for id in $(named "$PID" hog_change) $(named "$floor" bench_floor); do cost "$id" >"$TMP/before.$id"; done
        spawn_us >/dev/null
        mean "$(cat "$TMP/before.$(named "$PID" hog_change)")" "$(cost "$(named "$PID" hog_change)")" >>"$TMP/change.hog"
        mean "$(cat "$TMP/before.$(named "$floor" bench_floor)")" "$(cost "$(named "$floor" bench_floor)")" >>"$TMP/change.floor"
    done
    stop "$PID"
    stop "$floor"
    sysctl -qw "kernel.bpf_stats_enabled=$stats"
    header 'hog mem, changes of memory' 'empty'
    row 'program on rss_stat, ns' "$(median <"$TMP/change.hog")" "$(median <"$TMP/change.floor")" - - -
    row 'fork, exec, exit: CPU time, us' "$(median <"$TMP/spawn.hog")" "$(median <"$TMP/spawn.floor")" \
        "$(calculate "$(median <"$TMP/spawn.hog") / $(median <"$TMP/spawn.floor")" 3)" '<= 1.02' \
        "$(calculate "$(median <"$TMP/spawn.hog") / $(median <"$TMP/spawn.floor")" 4)"
    row 'the same without any program, us' "$(median <"$TMP/spawn.nothing")" - - - -
    python3 tests/bench/memory.py "$BUILD" ${LONG:+--long}
    case $? in
    0) ;;
    3) over=$((over + 1)) ;;
    *) die 'memory.py' ;;
    esac
}

# ---- allocations ----

pair_ns() { # pair_ns FD FILE: CPU time of a pair of malloc and free, in the load that reads from FD and writes to FILE
    local had pairs=$((${LONG:+4}50000)) i
    had=$(grep -c '^ns=' "$2")
    echo "pair $pairs" >&"$1"
    for ((i = 0; i < 3000; i++)); do
        [ "$(grep -c '^ns=' "$2")" -gt "$had" ] && break
        sleep 0.02
    done
    calculate "$(sed -n 's/^ns=//p' "$2" | tail -n 1) / $pairs" 1
}

# A pair of malloc and free with nothing, empty programs at the same places, and hog alloc, alternately.
part_alloc() {
    local i tool tools=(nothing floor all) load said=$TMP/pairs fifo=$TMP/pairs.in ours floor
    mkfifo "$fifo"
    exec 7<>"$fifo"
    "$BUILD/tests/load/allocates" <"$fifo" >"$said" &
    load=$!
    started+=("$load")
    await "$load" ready "$said"
    for ((i = 0; i < 3 * repeats; i++)); do
        for tool in "${tools[@]}"; do
            case $tool in
            nothing) PID= ;;
            all)
                start_hog alloc -p "$load" 0.5
                await "$PID" '^#window' "$TMP/out"
                ;;
            floor)
                start "$bench/probes" "$load"
                await "$PID" ready "$TMP/out"
                ;;
            esac
            pair_ns 7 "$said" >>"$TMP/pair.$tool"
            [ -z "$PID" ] || stop "$PID"
        done
        tools=("${tools[@]:1}" "${tools[0]}")
    done
    stop "$load"
    exec 7>&-
    ours=$(quantile 0.1 <"$TMP/pair.all") # other load only adds to it
    floor=$(quantile 0.1 <"$TMP/pair.floor")
    header 'hog alloc, a pair of malloc and free' 'empty'
    row 'CPU time, ns' "$ours" "$floor" "$(calculate "$ours / $floor" 3)" '<= 1.3' "$(calculate "$ours / $floor" 4)"
    row 'the same without probes, ns' "$(quantile 0.1 <"$TMP/pair.nothing")" - - - -
}

# shellcheck source=tests/bench/block.sh
. tests/bench/block.sh
# shellcheck source=tests/bench/calls.sh
. tests/bench/calls.sh
# shellcheck source=tests/bench/file.sh
. tests/bench/file.sh
# shellcheck source=tests/bench/energy.sh
. tests/bench/energy.sh

[ $# -gt 0 ] || set -- program scheduler slowdown start size windows own accuracy admission memory alloc block calls file energy
echo "kernel $(uname -r) $(uname -m), $(nproc) CPUs, $(awk '/MemTotal/ { printf "%.1f GiB", $2 / 1048576 }' /proc/meminfo)," \
    "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), load $(cut -d' ' -f1 /proc/loadavg), $(date -u +%F)"
for part in "$@"; do
    case $part in
    program | scheduler | slowdown | start | size | windows | own | accuracy | admission | memory | alloc | block | calls | file | energy) "part_$part" ;;
    *) die "no part $part" ;;
    esac
done
[ "$over" -eq 0 ] || die "$over over budget"
