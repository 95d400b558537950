# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154
# The part of run.sh about block I/O: the added cost of a 4 KiB read past the page cache, next to biotop of libbpf-tools or,
# where that does not work, biosnoop and biolatency, and next to empty programs at the same hooks. biotop works only on
# Debian 11's kernel: the comparison with it runs in a guest whose clock counts instructions.

BLOCK_HOOKS=(block_io_start block_rq_issue block_rq_complete)

# Programs of these processes: ns so far, over all their runs.
cost_of_all() { # cost_of_all PID...
    local pid id
    for pid in "$@"; do
        for id in $(ids "$pid" prog); do
            bpftool -j prog show id "$id"
        done
    done | jq -s 'map(.run_time_ns // 0) | add // 0'
}

has_come_up() { # whether the tool has its programs, within five seconds
    local i
    for ((i = 0; i < 250; i++)); do
        kill -0 "$PID" 2>/dev/null || return 1
        [ "$(programs "$PID")" -gt 0 ] && { sleep 0.3; return; }
        sleep 0.02
    done
    return 1
}

# block_tool TOOL: starts it; its pids go to TOOL_PIDS.
block_tool() {
    local hook
    TOOL_PIDS=()
    case $1 in
    nothing) return ;;
    hog)
        start_hog block 1
        TOOL_PIDS=("$PID")
        ;;
    floor)
        for hook in "${BLOCK_HOOKS[@]}"; do
            start "$bench/floor" "$hook"
            await "$PID" 'ready\|No such' "$TMP/out"
            TOOL_PIDS+=("$PID")
        done
        ;;
    biolatency) start biolatency 1000 1 && has_come_up && TOOL_PIDS=("$PID") ;;
    *) start "$1" && has_come_up && TOOL_PIDS=("$PID") ;;
    esac
    [ ${#TOOL_PIDS[@]} -gt 0 ]
}
block_tool_end() {
    local pid
    for pid in "${TOOL_PIDS[@]}"; do
        stop "$pid"
    done
}

# direct_reads FILE N: reads a second, and CPU time of fio a read, ns.
direct_reads() {
    taskset -c "$last_cpu" fio --name=reads --filename="$1" --size=64M --rw=randread --bs=4k --direct=1 --ioengine=psync \
        --norandommap --number_ios="$2" --output-format=json |
        jq -r '.jobs[0] | "\(.read.iops) \((.usr_cpu + .sys_cpu) / 100 * .job_runtime * 1e6 / .read.total_ios)"'
}

# block_fact NAME [FIELD]: the median of the guest's values.
block_fact() { tr -d '\r' <"$BUILD/vm/boots/bullseye-amd64-blockcost/lines" | awk -v name="$1" -v at="${2:-1}" '$1 == "fact" && $2 == name { print $(at + 2) }' | median; }

# In a guest: instructions per read, from the CPU's non-idle work above that of the empty run and from the kernel's
# statistics of the programs. The statistics themselves cost something in each run of a program: as much as with empty ones,
# which is subtracted. With a scheduler, where hog runs one more program, only the sum has a budget.
block_guest() {
    local scheduler nothing own ours theirs
    guest_tools "$TMP/more" biotop
    VM_MORE=$TMP/more BUILD=$BUILD scripts/vm/run.sh bullseye/amd64/blockcost >"$TMP/guest" 2>&1
    [ "$(block_fact cost_hog)" != - ] || die "the guest: $(tail -n 3 "$TMP/guest" | tr '\n' ' ')"
    own=$(calculate "$(block_fact stats_empty) / $(block_fact stats_empty 2)" 1)
    for scheduler in '' scheduled_; do
        header "hog block, a direct read of 4 KiB${scheduler:+ through mq-deadline}, in instructions" biotop
        nothing=$(block_fact "cost_${scheduler}nothing")
        ours=$(calculate "$(block_fact "cost_${scheduler}hog") - $nothing" 0)
        if [ "$(block_fact "cost_${scheduler}biotop")" = - ]; then
            row 'all that it adds' "$ours" - - - -
            continue
        fi
        theirs=$(calculate "$(block_fact "cost_${scheduler}biotop") - $nothing" 0)
        row 'all that it adds' "$ours" "$theirs" "$(calculate "$ours / $theirs")" '<= 0.6' "$(calculate "$ours / $theirs")"
        ours=$(calculate "$(block_fact "stats_${scheduler}hog")" 0) theirs=$(calculate "$(block_fact "stats_${scheduler}biotop")" 0)
        row '  runs of programs' "$(block_fact "stats_${scheduler}hog" 2)" "$(block_fact "stats_${scheduler}biotop" 2)" - - -
        row '  programs, by the statistics' "$ours" "$theirs" "$(calculate "$ours / $theirs")" - -
        ours=$(calculate "$ours - $own * $(block_fact "stats_${scheduler}hog" 2)" 0)
        theirs=$(calculate "$theirs - $own * $(block_fact "stats_${scheduler}biotop" 2)" 0)
        if [ -z "$scheduler" ]; then
            row '  without the share of the statistics' "$ours" "$theirs" "$(calculate "$ours / $theirs")" '<= 0.6' "$(calculate "$ours / $theirs")"
        else
            row '  without the share of the statistics' "$ours" "$theirs" "$(calculate "$ours / $theirs")" - -
        fi
    done
    row 'empty programs: all that they add' "$(calculate "$(block_fact cost_empty) - $(block_fact cost_nothing)" 0)" - - - -
    row 'with nothing' "$(calculate "$(block_fact cost_nothing)" 0)" - - - -
}

part_block() {
    local i tool stats before peer ours theirs floor base reads=${LONG:+20000} file tools=() order
    reads=${reads:-8000}
    file=$(mktemp /var/tmp/hog_bench.XXXXXX)
    stats=$(sysctl -n kernel.bpf_stats_enabled)
    trap 'sysctl -qw kernel.bpf_stats_enabled='"$stats; rm -f $file"'; cleanup' EXIT
    dd if=/dev/urandom of="$file" bs=1M count=64 conv=fsync 2>/dev/null
    for tool in biotop biosnoop biolatency; do
        block_tool "$tool" && tools+=("$tool")
        block_tool_end
        [ "$tool" = biotop ] && [ ${#tools[@]} -gt 0 ] && break
    done
    order=(nothing floor hog "${tools[@]}")
    for ((i = 0; i < 2 * repeats; i++)); do
        for tool in "${order[@]}"; do
            block_tool "$tool" || [ "$tool" = nothing ] || die "$tool does not come up"
            direct_reads "$file" "$reads" >>"$TMP/reads.$tool"
            sysctl -qw kernel.bpf_stats_enabled=1
            before=$(cost_of_all "${TOOL_PIDS[@]}")
            direct_reads "$file" "$reads" >/dev/null
            calculate "($(cost_of_all "${TOOL_PIDS[@]}") - ${before:-0}) / $reads" 1 >>"$TMP/cost.$tool"
            sysctl -qw "kernel.bpf_stats_enabled=$stats"
            block_tool_end
        done
        order=("${order[@]:1}" "${order[0]}")
    done
    rm -f "$file"
    ours=$(median <"$TMP/cost.hog") floor=$(median <"$TMP/cost.floor")
    for peer in "${tools[@]}"; do
        header 'hog block, a direct read of 4 KiB' "$peer"
        theirs=$(median <"$TMP/cost.$peer")
        row 'all programs, ns' "$ours" "$theirs" "$(calculate "$ours / $theirs")" - -
        base=$(cut -d ' ' -f 2 "$TMP/reads.nothing" | median)
        ours_cpu=$(calculate "$(cut -d ' ' -f 2 "$TMP/reads.hog" | median) - $base" 0)
        theirs_cpu=$(calculate "$(cut -d ' ' -f 2 "$TMP/reads.$peer" | median) - $base" 0)
        row 'CPU time of fio a read beyond nothing, ns' "$ours_cpu" "$theirs_cpu" "$(calculate "$ours_cpu / $theirs_cpu")" - -
        base=$(cut -d ' ' -f 1 "$TMP/reads.nothing" | median)
        row 'reads a second, % less than with nothing' \
            "$(calculate "100 - 100 * $(cut -d ' ' -f 1 "$TMP/reads.hog" | median) / $base" 1)" \
            "$(calculate "100 - 100 * $(cut -d ' ' -f 1 "$TMP/reads.$peer" | median) / $base" 1)" - - -
    done
    row 'three empty programs, ns' "$floor" - - - -
    if [ -n "${NO_GUEST-}" ] || [ "$(uname -m)" != x86_64 ]; then
        return
    fi
    block_guest
}
