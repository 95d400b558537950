# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# The part of run.sh about energy: hog's own cost with eight zones (files of a made-up /sys) at windows of 100 ms, and the
# cost of the program at a switch when weighted by cycles. Where the CPUs have no counter that perf can read, a software
# clock takes its place, and the line says so.

energy_tree() {
    local i zone cpu=$TMP/host/sys/bus/event_source/devices/cpu
    for ((i = 0; i < 8; i++)); do
        zone=$TMP/host/sys/class/powercap/zone:$i
        mkdir -p "$zone"
        echo "zone-$i" >"$zone/name"
        echo 262143328850 >"$zone/max_energy_range_uj"
        printf '%020d\n' 1000 >"$zone/energy_uj"
    done
    counter='a counter'
    if ! "$HOG" energy --sysfs "$TMP/host" --weight=cycles 0.05 1 >"$TMP/out" 2>&1; then
        counter='a clock'
        mkdir -p "$cpu"
        echo 1 >"$cpu/type"
    fi
}

energy_own() { # energy_own WEIGHT: percent of a CPU, by the scheduler
    local before after
    start_hog energy --sysfs "$TMP/host" --weight="$1" -i 100ms
    sleep 0.5
    before=$(cut -d ' ' -f 1 "/proc/$PID/schedstat")
    sleep "${LONG:+1}3"
    after=$(cut -d ' ' -f 1 "/proc/$PID/schedstat")
    stop "$PID"
    calculate "($after - $before) / ${LONG:+1}3e9 * 100"
}

energy_round() { # energy_round WEIGHT...: both attached, switches on one CPU
    local -A pid id before
    local weight
    for weight in "$@"; do
        start_hog energy --sysfs "$TMP/host" --weight="$weight" -i 100
        pid[$weight]=$PID
        id[$weight]=$(named "$PID" hog_switch)
    done
    taskset -c "$last_cpu" perf bench sched pipe -l 2000 >/dev/null
    for weight in "$@"; do before[$weight]=$(cost "${id[$weight]}"); done
    taskset -c "$last_cpu" perf bench sched pipe -l "${LONG:+4}50000" >/dev/null
    for weight in "$@"; do mean "${before[$weight]}" "$(cost "${id[$weight]}")" >>"$TMP/energy.$weight"; done
    for weight in "$@"; do stop "${pid[$weight]}"; done
}

part_energy() {
    local i stats counter share weight time cycles
    energy_tree
    header 'hog energy, own CPU time, % of one CPU' -
    for weight in time cycles; do
        for ((i = 0; i < 3; i++)); do energy_own "$weight"; done >"$TMP/energy.own"
        share=$(median <"$TMP/energy.own")
        row "8 zones, 100ms windows, --weight=$weight" "$share" - - '<= 2' "$share"
    done
    stats=$(sysctl -n kernel.bpf_stats_enabled)
    trap 'sysctl -qw kernel.bpf_stats_enabled='"$stats"'; cleanup' EXIT
    sysctl -qw kernel.bpf_stats_enabled=1
    for ((i = 0; i < repeats; i++)); do
        if [ $((i % 2)) -eq 0 ]; then energy_round time cycles; else energy_round cycles time; fi
    done
    sysctl -qw "kernel.bpf_stats_enabled=$stats"
    time=$(median <"$TMP/energy.time")
    cycles=$(median <"$TMP/energy.cycles")
    header 'hog energy, program on sched_switch, ns' time
    row "--weight=cycles, by $counter" "$cycles" "$time" "$(calculate "$cycles / $time")" - -
}
