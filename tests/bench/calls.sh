# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154
# The part of run.sh about calls: the added cost of a system call and of a C library function, next to libbpf-tools, bpftrace
# and empty programs at the same hooks. All count calls and time them; hog by process, too.

# calls_tool KIND TOOL: starts it; its pids go to TOOL_PIDS.
calls_tool() {
    local hook
    TOOL_PIDS=()
    case $1/$2 in
    */nothing) return ;;
    getppid/hog) start_hog calls 1 ;;
    atoi/hog) start_hog calls --lib "$calls_libc" --func atoi 1 ;;
    getppid/pinned)
        "$HOG" pin "$TMP/bpf/calls/hog" calls || die 'hog pin'
        return
        ;;
    atoi/pinned)
        "$HOG" pin "$TMP/bpf/calls/hog" calls --lib "$calls_libc" --func atoi || die 'hog pin'
        return
        ;;
    getppid/floor)
        for hook in sys_enter sys_exit; do
            start "$bench/floor" "$hook"
            await "$PID" ready "$TMP/out"
            TOOL_PIDS+=("$PID")
        done
        return
        ;;
    atoi/floor)
        start "$bench/probes" "$calls_libc" atoi
        await "$PID" ready "$TMP/out"
        ;;
    getppid/syscount) start syscount -L -P -i 1 && await_programs "$PID" ;;
    atoi/funclatency) start funclatency "$calls_libc:atoi" && await_programs "$PID" ;;
    getppid/bpftrace)
        start bpftrace -e 'tracepoint:raw_syscalls:sys_enter { @since[tid] = nsecs; }
            tracepoint:raw_syscalls:sys_exit /@since[tid]/ { @us[pid, args->id] = stats(nsecs - @since[tid]); delete(@since[tid]); }'
        await_programs "$PID"
        ;;
    atoi/bpftrace)
        start bpftrace -e "uprobe:$calls_libc:atoi { @since[tid] = nsecs; }
            uretprobe:$calls_libc:atoi /@since[tid]/ { @us[pid] = hist(nsecs - @since[tid]); delete(@since[tid]); }"
        await_programs "$PID"
        ;;
    esac
    TOOL_PIDS=("$PID")
}
calls_tool_end() {
    local pid
    for pid in ${TOOL_PIDS[@]+"${TOOL_PIDS[@]}"}; do
        stop "$pid"
    done
    [ ! -e "$TMP/bpf/calls/hog" ] || "$HOG" unpin "$TMP/bpf/calls/hog"
}

part_calls() {
    local i kind tool order ours peer times
    mkdir "$TMP/bpf"
    mount -t bpf bpf "$TMP/bpf" || die 'no BPF file system'
    trap 'umount "$TMP/bpf"; cleanup' EXIT
    mkdir "$TMP/bpf/calls"
    [[ $bench == /* ]] || bench=$PWD/$bench
    calls_libc=$bench/calling # static: its own copy
    for kind in getppid atoi; do
        [ "$kind" = atoi ] && peer=funclatency times=60000 || peer=syscount times=400000
        order=(nothing floor hog pinned "$peer" bpftrace)
        for ((i = 0; i < 2 * repeats; i++)); do
            for tool in "${order[@]}"; do
                calls_tool "$kind" "$tool"
                for _ in 1 2 3; do
                    taskset -c "$last_cpu" "$bench/calling" "$kind" "$times" | sed 's/^ns=//'
                done >>"$TMP/$kind.$tool"
                calls_tool_end
            done
            order=("${order[@]:1}" "${order[0]}")
        done
        for tool in nothing floor hog pinned "$peer" bpftrace; do # other load only adds to it
            quantile 0.1 <"$TMP/$kind.$tool" >"$TMP/$kind.$tool.ns"
        done
        for tool in "$peer" bpftrace; do
            header "hog calls, a call of $kind" "$tool"
            for ours in hog pinned; do
                row "CPU time, ns$([ "$ours" = hog ] || echo ', counted in pinned maps')" "$(cat "$TMP/$kind.$ours.ns")" \
                    "$(cat "$TMP/$kind.$tool.ns")" "$(calculate "$(cat "$TMP/$kind.$ours.ns") / $(cat "$TMP/$kind.$tool.ns")")" - -
            done
        done
        row 'the same with empty programs, ns' "$(cat "$TMP/$kind.floor.ns")" - - - -
        row 'the same without any, ns' "$(cat "$TMP/$kind.nothing.ns")" - - - -
    done
    umount "$TMP/bpf"
    trap cleanup EXIT
}
