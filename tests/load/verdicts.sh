# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2317
# Loads in trouble next to similar ones that are fine, and the verdicts of `hog top` about them. To be sourced; needs BUILD, HOG
# and TMP, and prints nothing itself.
#
#   judge SET [first]   sets one up, lets hog judge it, and ends it. 0; 2: it was not what it claims to be (WHY), which may
#                       differ if it has the CPU before all others (first); 3: this host cannot (WHY: `needs X: reason`)
#   row_*[i]            then, for each process of interest: label, pid, expected, by (a pattern), and hog's answer:
#                       said, said_by, said_s; `-` for said if there was no such row
#   judge_cleanup       ends and undoes everything, whatever happened; for a trap
#
# A set is a function set_NAME, which starts processes and declares the rows that count, each with a truth: an awk expression on
# what the kernel and the load itself counted while hog measured (see `measured`). Verdicts are never part of a truth.

deserve=$BUILD/tests/load/deserve
last_cpu=$(($(nproc) - 1))
big=${HOG_TEST_DIR:-/var/tmp}/hog-verdicts.$$ # on a disk, which /tmp may not be
begun=() groups=() swap='' first='' home='' WHY=''
declare -A group_of

# ---- start and cleanup ----

# begin COMMAND...: a load that says `ready` when it is. Its pid: PID.
begin() {
    local said=$TMP/said.${#begun[@]}
    "$@" >"$said" 2>&1 </dev/null &
    PID=$!
    begun+=("$PID")
    for _ in $(seq 500); do
        grep -qs ' ready$' "$said" && return
        [ -d "/proc/$PID" ] || break
        sleep 0.02
    done
    WHY="not ready: $* ($(head -n 1 "$said"))"
    return 2
}

# The load on the last CPU, the observers on the others.
begin_pinned() {
    [ "$last_cpu" = 0 ] || taskset -pc "0-$((last_cpu - 1))" $$ >/dev/null
    begin taskset -c "$last_cpu" "$@"
}

begin_real_time() { begin_in "${home:-/}" taskset -c "$last_cpu" chrt -f 10 "$@"; }

# shellcheck disable=SC2016 # the inner shell's own variables
begin_in() { # begin_in GROUP COMMAND...
    begin bash -c '[ ! -e "$0" ] || echo $$ >"$0" && exec "$@"' "$1/cgroup.procs" "${@:2}" || return
    group_of[$PID]=$1
}

# Where cgroups of that kind can be made: hierarchy cpu|memory
hierarchy() {
    local file
    for file in /sys/fs/cgroup/{cpu/cpu.shares,cpu,cpuacct/cpu.shares,memory/memory.swappiness}; do
        [[ ${file##*/} == "$1".* && -e $file ]] && echo "${file%/*}" && return
    done
    grep -qw "$1" /sys/fs/cgroup/cgroup.controllers && echo "+$1" >/sys/fs/cgroup/cgroup.subtree_control && echo /sys/fs/cgroup
}

# Everything started from here has the CPU before the rest of the host, as far as shares go, so that it can be what it claims
# to be next to other loads. But the kernel's own threads have to wait as well. Real-time tasks go back ($home).
stand_out() {
    local at
    [ -z "$first" ] || return 0
    at=$(hierarchy cpu 2>/dev/null) && mkdir -p "$at/hog_first_$$/main" 2>/dev/null || return 0
    first=$at/hog_first_$$
    home=$at$(sed -nE 's/^([0-9]+:([a-z]+,)*cpu(,[a-z]+)*|0:):(.*)/\4/p' /proc/$$/cgroup | head -n 1)
    if [ -e "$first/cpu.shares" ]; then
        echo 51200 >"$first/cpu.shares"
    else
        echo '+cpu +memory' >"$first/cgroup.subtree_control"
        echo 5000 >"$first/cpu.weight"
    fi
    echo $$ >"$first/main/cgroup.procs"
}

undo_stand_out() {
    [ -n "$first" ] || return 0
    echo $$ >"$home/cgroup.procs"
    rmdir "$first/main" "$first"
    first=
}

# new_group KIND NAME: GROUP
new_group() {
    local at
    at=$first
    [ -e "$at/main/$1.stat" ] || at=
    if ! at=${at:-$(hierarchy "$1" 2>/dev/null)} || [ -z "$at" ] || ! mkdir "$at/hog_$2_$$" 2>/dev/null; then
        WHY="needs CGROUP${1^^}: no control group for its $1 can be made"
        return 3
    fi
    GROUP=$at/hog_$2_$$
    groups+=("$GROUP")
}

quota_group() { # quota_group NAME PERCENT
    new_group cpu "$1" || return
    if [ -e "$GROUP/cpu.max" ]; then
        echo "$(($2 * 1000)) 100000" >"$GROUP/cpu.max"
    else
        echo "$(($2 * 1000))" >"$GROUP/cpu.cfs_quota_us"
    fi
}

memory_group() { # memory_group NAME MIB
    new_group memory "$1" || return
    if [ -e "$GROUP/memory.max" ]; then
        echo "$2M" >"$GROUP/memory.max"
    else
        echo "$2M" >"$GROUP/memory.limit_in_bytes"
    fi
}

# Swap on an otherwise unused compressed device in memory.
swap_on() {
    if [ "$(cat /sys/block/zram0/disksize 2>/dev/null)" != 0 ] || ! echo 512M >/sys/block/zram0/disksize; then
        WHY='needs ZRAM: no unused zram0 to swap to'
        return 3
    fi
    swap=/dev/zram0
    mkswap "$swap" >/dev/null 2>&1 && swapon "$swap" && return
    WHY='swapon failed'
    return 2
}

undo_swap() {
    [ -n "$swap" ] || return 0
    swapoff "$swap" 2>/dev/null
    echo 1 >/sys/block/zram0/reset
    swap=
}

end_loads() {
    local pid
    taskset -pc "0-$last_cpu" $$ >/dev/null
    for pid in ${begun[@]+"${begun[@]}"}; do kill "$pid" 2>/dev/null; done
    for pid in ${begun[@]+"${begun[@]}"}; do
        for _ in $(seq 250); do
            [ -d "/proc/$pid" ] || break
            [[ $(cat "/proc/$pid/stat" 2>/dev/null) == *') Z '* ]] && break
            sleep 0.02
        done
        kill -9 "$pid" 2>/dev/null
        wait "$pid" 2>/dev/null
    done
    begun=()
}

end_groups() {
    local group
    for group in ${groups[@]+"${groups[@]}"}; do
        [ ! -e "$group/memory.force_empty" ] || echo 0 >"$group/memory.force_empty" 2>/dev/null
        for _ in $(seq 50); do
            rmdir "$group" 2>/dev/null && break
            sleep 0.02
        done
    done
    groups=()
}

judge_cleanup() {
    end_loads
    undo_swap
    end_groups
    undo_stand_out
    rm -rf "$big"
}

# ---- what the kernel and the load counted ----

row() { # row LABEL PID EXPECTED BY TRUTH
    local i=${#row_pid[@]}
    row_label[i]=$1 row_pid[i]=$2 row_expected[i]=$3 row_by[i]=$4 row_truth[i]=$5
}

# One line per thread and one for the process: run_ns wait_ns of each; major faults, KiB read, and the group's ns.
look() { # look FILE
    local pid
    for pid in "${row_pid[@]}"; do
        awk -v pid="$pid" '{ split(FILENAME, p, "/"); print "thread", pid, p[5], $1, $2 }' "/proc/$pid/task"/*/schedstat
        sed "s/.*) //" "/proc/$pid/stat" 2>/dev/null | awk -v pid="$pid" '{ print "majors", pid, $10 }'
        awk -v pid="$pid" '/^(read|write)_bytes/ { sum += $2 } END { print "io", pid, sum / 1024 }' "/proc/$pid/io"
        [ -z "${group_of[$pid]-}" ] || look_group "$pid" "${group_of[$pid]}"
    done >"$1" 2>/dev/null
    look_others >>"$1"
    echo "at ${EPOCHREALTIME/./}" >>"$1"
}

# Busy time, and the part of it due to the loads started here, and to hog (a child of this shell that has ended).
look_others() {
    local pid
    awk '$1 == "cpu" { print "busy", 0, ($2 + $3 + $4 + $7 + $8) * 1e7; print "stolen", 0, $9 * 1e7 }' /proc/stat
    for pid in "${begun[@]}" $$; do
        sed "s/.*) //" "/proc/$pid/stat" | awk -v children="$((pid == $$))" '{ print "ours", 0, ($12 + $13 + children * ($14 + $15)) * 1e7 }'
    done 2>/dev/null
}

look_group() { # look_group PID GROUP
    awk -v pid="$1" '$1 == "throttled_time" { print "throttled", pid, $2 }
        $1 == "throttled_usec" { print "throttled", pid, $2 * 1000 }' "$2/cpu.stat" 2>/dev/null
    awk -v pid="$1" '/^workingset_refault_(anon|file) / { sum += $2 } END { print "refaults", pid, sum + 0 }' \
        "$2/memory.stat" 2>/dev/null
    cat "$2/memory.usage_in_bytes" "$2/memory.current" 2>/dev/null | awk -v pid="$1" '{ print "used", pid, $1 / 1024 }'
}

# What a condition can use, for one process while hog measured, in percent of that time: run and wait (all threads), busiest
# (run of the thread that ran most), throttled (its group), blocked (by the load's own clock, all threads), others (run of
# everything not started here), stolen (by the host of a virtual machine, from all CPUs). Per second: majors, refaults (of
# its group), io_kib. used_kib: memory of its group at the end.
measured() { # measured PID
    awk -v pid="$1" '
        $1 == "at" { at[FILENAME] = $2 / 1e6 }
        $1 ~ /^pid=/ && / wall_ms=/ { for (i = 1; i <= NF; i++) { split($i, f, "="); told[f[1]] = f[2] }
            if (told["pid"] == pid && told["wall_ms"] > 0) blocked = 100 * told["blocked_ms"] / told["wall_ms"] }
        $1 == "busy" || $1 == "ours" { sign = ($1 == "busy" ? 1 : -1) * (FILENAME == ARGV[2] ? 1 : -1); others += sign * $3 }
        $1 == "stolen" { stolen += (FILENAME == ARGV[2] ? 1 : -1) * $3 }
        $2 != pid { next }
        { last = FILENAME == ARGV[2] }
        $1 == "thread" && last { r = $4 - run0[$3]; run += r; wait += $5 - wait0[$3]; if (r > busiest) busiest = r }
        $1 == "thread" && !last { run0[$3] = $4; wait0[$3] = $5 }
        $1 == "used" { used = $3 }
        $1 != "thread" { v[$1] = $3 - (last ? first[$1] : 0); if (!last) first[$1] = $3 }
        END { s = at[ARGV[2]] - at[ARGV[1]]
            printf "run=%.1f wait=%.1f busiest=%.1f majors=%.0f io_kib=%.0f throttled=%.1f refaults=%.0f used_kib=%.0f blocked=%.1f others=%.0f stolen=%.0f\n",
                run / s / 1e7, wait / s / 1e7, busiest / s / 1e7, v["majors"] / s, v["io"] / s, v["throttled"] / s / 1e7,
                v["refaults"] / s, used, blocked, others / s / 1e7, stolen / s / 1e7 }' "$TMP/before" "$TMP/after" "$TMP"/said.*
}

truth_holds() { # truth_holds ROW: or WHY
    local facts
    facts=$(measured "${row_pid[$1]}")
    row_facts[$1]=$facts
    # shellcheck disable=SC2046,SC2086 # one argument for each name=value
    awk $(printf ' -v %s' $facts) "BEGIN { exit !(${row_truth[$1]}) }" && return
    WHY="${row_label[$1]} is not what it claims: $facts; want ${row_truth[$1]}"
    return 2
}

# ---- hog ----

# The verdicts of the last window, by column names.
read_verdicts() { # read_verdicts ROW
    local i=$1
    read -r 'row_said[i]' 'row_said_by[i]' 'row_said_s[i]' < <(awk -v pid="${row_pid[i]}" "$BY_NAME"'
        $1 == "#window" { verdict = by = left = "-" }
        $1 == "top" && col("pid") == pid { verdict = col("verdict"); by = col("by"); left = col("oom_s") }
        END { print verdict, by, left }' "$TMP/top")
}

# Two windows of a second, the second one counts; more where growth matters.
judge() { # judge SET
    local i status=0 windows=2
    row_label=() row_pid=() row_expected=() row_by=() row_truth=() row_said=() row_said_by=() row_said_s=() row_facts=() group_of=()
    [ "$1" != memory ] || windows=4
    rm -f "$TMP"/said.*
    mkdir -p "$big"
    if [ "${2-}" = first ]; then stand_out; else undo_stand_out; fi
    "set_$1" || status=$?
    if [ $status = 0 ]; then
        sleep 0.3
        look "$TMP/before"
        # shellcheck disable=SC2086 # several options or none
        "$HOG" top -w ${HOG_TOP_OPTIONS-} -k 10000 1 $windows >"$TMP/top" 2>"$TMP/top.err" || {
            status=$?
            WHY="hog ended with status $status: $(head -n 1 "$TMP/top.err")"
            status=2
        }
        look "$TMP/after"
    fi
    end_loads
    if [ $status = 0 ]; then
        for i in "${!row_pid[@]}"; do
            truth_holds "$i" || status=2
            read_verdicts "$i"
        done
    fi
    undo_swap
    end_groups
    return $status
}

# judged_right ROW: as expected. A process without a row is ok, as far as hog reports, and so is one that is idle.
judged_right() {
    [ "${row_said[$1]}" = "${row_expected[$1]}" ] || { [ "${row_expected[$1]}" = ok ] && [[ ${row_said[$1]} = - || ${row_said[$1]} = idle ]]; }
}

# judged_by ROW: names the right culprit, if the verdict is right; and the time until memory ends, to 20 %. Says why not.
judged_by() {
    case ${row_expected[$1]} in
    ok | cpu-bound) return 0 ;;
    esac
    echo "by ${row_said_by[$1]}, not ${row_by[$1]}"
    grep -qE "(^|[^0-9a-z_])(${row_by[$1]})([^0-9a-z]|\$)" <<<"${row_said_by[$1]}" || return
    [ "${row_expected[$1]}" = oom-risk ] || return 0
    # shellcheck disable=SC2046,SC2086
    awk -v said="${row_said_s[$1]}" $(printf ' -v %s' ${row_facts[$1]}) 'BEGIN { left = (409600 - used_kib) / 5120
        printf "in %s s, not %.1f\n", said, left
        exit !(said > 0.8 * left && said < 1.2 * left) }'
}

# ---- false alarms ----

# alarms SECONDS CONDITION [COMMAND...]: false alarms while the command runs: rows of `hog top` whose verdict v meets the awk
# condition. They are in $TMP/alarms. 0: there are none; 1: there are; 2: not measured (WHY). BUSY: how busy all CPUs were,
# in percent.
alarms() {
    local seconds=$1 condition=$2 before after command='' status=0
    shift 2
    if [ $# -gt 0 ]; then
        timeout 120 "$@" >"$TMP/command" 2>&1 </dev/null & # it hands a signal on to all processes of the command
        command=$!
        begun+=("$command")
    fi
    before=$(grep '^cpu ' /proc/stat)
    "$HOG" top -w -k 10000 1 "$seconds" >"$TMP/top" 2>"$TMP/top.err" || status=2
    after=$(grep '^cpu ' /proc/stat)
    BUSY=$(echo "$before $after" | awk '{ for (i = 2; i <= 9; i++) { d = $(i + 11) - $i; all += d; if (i != 5 && i != 6) busy += d } }
        END { printf "%.0f", 100 * busy / (all + !all) }')
    WHY=$(head -n 1 "$TMP/top.err")
    [ -z "$command" ] || [ -d "/proc/$command" ] || { status=2 && WHY="ended early: $(tail -n 1 "$TMP/command")"; }
    end_loads
    awk "$BY_NAME"'$1 == "#window" { n++ }
        $1 == "top" && col("comm") != "hog" { v = col("verdict"); if ('"$condition"') print "window " n ": " $0 }' "$TMP/top" >"$TMP/alarms"
    [ $status = 0 ] || return 2
    [ ! -s "$TMP/alarms" ]
}

# An idle host: no process can be in trouble.
alarms_idle() { alarms "$1" 'v !~ /^(ok|idle|cpu-bound)$/'; }
alarms_compile() { alarms "$1" 'v == "oom-risk"' make -C "$PWD" -j4 BUILD="$TMP/build" programs; }

# shellcheck source=tests/load/verdict_sets.sh
. tests/load/verdict_sets.sh
