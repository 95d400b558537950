# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# The verdicts of `hog top` for loads that deserve one, and for some that almost do, with cgroups of version 2, a disk, a
# swap device, and known pressure.
DESERVE=/tests/tools/deserve
kill -STOP "$LOOP" # emulation is slow enough

# begin COMMAND...: a load; its pid: PID.
begin() {
    rm -f /tmp/load
    "$@" >/tmp/load 2>&1 &
    PID=$!
    LOADS="$LOADS $PID"
    for _ in $(seq 200); do
        grep -qs ' ready$' /tmp/load && return
        sleep 0.1
    done
    not_ok "$* begins: $(head -n 1 /tmp/load)"
}

# begin_in GROUP LIMIT-FILE LIMIT COMMAND...
begin_in() {
    mkdir -p "/tmp/cgroup/$1" && echo "$3" >"/tmp/cgroup/$1/$2"
    group=$1
    shift 3
    # shellcheck disable=SC2016 # the inner shell's own variables
    begin sh -c 'echo $$ >"$0" && exec "$@"' "/tmp/cgroup/$group/cgroup.procs" "$@"
}

end() {
    for pid in $LOADS; do kill "$pid" 2>/dev/null; done
    for pid in $LOADS; do wait "$pid" 2>/dev/null; done
    LOADS=
    rmdir /tmp/cgroup/*/ 2>/dev/null
}

judge() { # judge [WINDOWS]: with windows of 2 s
    timeout 60 hog -v -w top -k 1000 2 "${1:-3}" >/tmp/top 2>/tmp/top.err
}

field() { # field NAME PID: in the last window, or - if there is no such row
    awk -v name="$1" -v pid="$2" "$BY_NAME"'$1 == "#window" { value = "-" }
        $1 == "top" && col("pid") == pid { value = col(name) } END { print value }' /tmp/top
}

# In one of the last two windows: in emulation a CPU can stand still, and then other tasks wait for the one on it.
is() { # is PID VERDICT [BY]
    grep -E "^#top|^top +$1 " /tmp/top
    cat /tmp/top.err
    awk -v pid="$1" -v verdict="$2" -v by="${3-}" "$BY_NAME"'
        $1 == "#window" { before = now; now = verdict == "ok" }
        $1 == "top" && col("pid") == pid {
            said = col("by")
            sub(/:[0-9]+s$/, "", said) # the seconds left
            now = col("verdict") == verdict && (by == "" || index("," said ",", "," by ",") || index("," said, "," by "/"))
        }
        END { exit !(now || before) }' /tmp/top
}

# judged NAME PID VERDICT [BY]: otherwise once more, because the guest may not have had the CPU that it needs.
judged() {
    name=$1
    shift
    for _ in 1 2 3; do
        judge
        is "$@" >/dev/null && break
    done
    check "$name" is "$@"
}

stalled() { # stalled FILE: its stall time in us, and the time since boot
    awk -F '[ =]' '/^some/ { us = $NF } /^[0-9]/ { up = $1 } END { print us, up }' "$1" /proc/uptime
}

agrees() { # agrees FIELD FILE: within 20 points, on average of the windows; $before is the stall time when they began
    truth=$(echo "$before $(stalled "$2")" | awk '{ print ($3 - $1) / 1e4 / ($4 - $2) }')
    within "$(field_of "$1" /tmp/top | awk '{ sum += $1 } END { print sum / NR }')" \
        "$(echo "$truth" | awk '{ print $1 - 20 }')" "$(echo "$truth" | awk '{ print $1 + 20 }')"
}

pressed() { # pressed NAME FIELD FILE: as `judged`; the file includes what hog does before its first window
    name=$1
    shift
    for _ in 1 2 3; do
        before=$(stalled "$2")
        judge
        agrees "$@" >/dev/null && break
    done
    check "$name" agrees "$@"
}

mkdir -p /tmp/cgroup
mount -t cgroup2 none /tmp/cgroup
check 'control groups of version 2 bound CPU and memory' eval 'echo "+cpu +memory" >/tmp/cgroup/cgroup.subtree_control'

# ---- CPU ----

begin $DESERVE hog burn 1000 0 && hog=$PID
begin $DESERVE victim burn 1000 0
renice -n 10 -p "$PID" >/dev/null
judged 'a nice task next to a hog: starved by it' "$PID" starved "$hog"
end
begin $DESERVE alone burn 1000 0
judged 'alone on a CPU: cpu-bound' "$PID" cpu-bound
end
begin_in quota cpu.max '20000 100000' $DESERVE throttled burn 1000 0
judged 'cpu.max: throttled by it' "$PID" throttled '/quota@20%'
if grep -qw psi=1 /proc/cmdline; then # each window has the group's pressure since the last read; together they have that of its file
    pressed 'pressure of the group by hog is that of its file' psi_cgroup_cpu_pct /tmp/cgroup/quota/cpu.pressure
    check 'pressure: the group that has most of it is named' test "$(field_of psi_cgroup /tmp/top | grep -cx /quota)" = 3
fi
status_of_alert() {
    timeout 60 hog --alert "$1:2" 0.5 10 >/tmp/top 2>/tmp/top.err
    echo $?
}
check 'an alert of it: status 4' test "$(status_of_alert throttled)" = 4
check 'no alert of what there is not' test "$(status_of_alert oom-risk,thrashing)" = 0
end
begin_in unused cpu.max '70000 100000' $DESERVE below burn 2000 18000
judged 'cpu.max that is not reached: ok' "$PID" ok
end

# ---- memory ----

in_time() { # the seconds left, by the group's own counter, read a little later
    left=$(awk '{ print (192 * 1048576 - $1) / 2097152 }' /tmp/cgroup/fills/memory.current)
    within "$(field oom_s "$fills")" "$(echo "$left" | awk '{ print $1 * 0.8 }')" "$(echo "$left" | awk '{ print $1 * 1.2 + 1 }')"
}
begin_in fills memory.max 192M $DESERVE fills fill 102400 2048 196608 && fills=$PID
begin_in slow memory.max 160M $DESERVE slow fill 81920 40 163840
for _ in 1 2 3; do
    judge 4
    in_time >/dev/null && break
done
check 'memory.max and 2 MiB/s: the seconds left, to 20 %' in_time
check 'memory.max and 2 MiB/s: oom-risk by it' is "$fills" oom-risk '/fills@192MiB'
check 'memory.max and hardly growing: ok' is "$PID" ok
end
begin_in thrash memory.max 16M $DESERVE thrash map /dev/nvme0n1 49152 0
judged 'more mapped than memory.max allows: thrashing by it' "$PID" thrashing '/thrash@16MiB'
end
begin_in fits memory.max 64M $DESERVE fits map /dev/nvme0n1 16384 50000
judged 'less than that: ok' "$PID" ok
end

# ---- disk, locks ----

begin $DESERVE reads read /dev/nvme0n1 49152 0 64
judged 'reads from a disk, one at a time: io-bound by it' "$PID" io-bound nvme0n1
end
begin $DESERVE locks lock 4 0 20000 0
if grep -qw bpf_task_pt_regs /proc/kallsyms; then # from 5.15
    judged 'a lock held asleep: lock-bound' "$PID" lock-bound
else
    judge
    check 'a lock held by a sleeping task: unknown on this kernel' test "$(field lock_pct "$PID")" = -
fi
end
begin $DESERVE pool pool 4 10 500
judged 'threads that wait for work: ok' "$PID" ok
end

# ---- pressure ----

if grep -qw psi=1 /proc/cmdline; then
    begin $DESERVE a burn 1000 0
    begin $DESERVE b burn 20000 20000
    pressed 'pressure by hog is that of the kernel' psi_cpu_pct /proc/pressure/cpu
    end
else
    begin $DESERVE a burn 1000 0
    judge 1
    check 'no pressure: not known' test "$(field_of psi_cpu_pct /tmp/top | tail -n 1)" = -
    end
fi
umount /tmp/cgroup
kill -CONT "$LOOP"
