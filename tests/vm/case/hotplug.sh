# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# A CPU that comes online for the first time, goes offline and comes back while hog runs: its time is counted only while it
# is online, no task gets more than the scheduler counts, and everything adds up. With each hook, all at once: hotplug takes
# seconds.

CPU1=/sys/devices/system/cpu/cpu1/online

# start NAME OPTION...: hog in /tmp/NAME.out, until stop_all.
HOGS='' NAMES='' VIEW=cpu
start() {
    who=$1
    shift
    hog -v -w $VIEW -k 10000 "$@" >"/tmp/$who.out" 2>"/tmp/$who.err" &
    HOGS="$HOGS $!" NAMES="$NAMES $who"
}

# Bounded: a hog that does not begin is noticed by its missing output.
all_began() {
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        for who in tp_btf raw_tp tracepoint short top energy; do
            [ "$(grep -c '^#window' "/tmp/$who.out")" -ge 2 ] || { sleep 0.5 && continue 2; }
        done
        grep -q '^hog: cpu: start: [a-z_]*$' /tmp/long.err || { sleep 0.5 && continue; }
        return 0
    done
    return 1
}

stop_all() {
    # shellcheck disable=SC2086 # pids
    kill -INT $HOGS
    for pid in $HOGS; do
        wait "$pid"
    done
}

schedstat_ms() { awk '{ printf "%.3f\n", $1 / 1e6 }' "/proc/$1/schedstat"; }

ran_ms() { # ran_ms NAME PID
    awk -v pid="$2" "$BY_NAME"'$1 == "cpu" && col("pid") == pid { sum += col("run_ms") } END { printf "%.3f\n", sum }' "/tmp/$1.out"
}

# One line per window: cpus dur run other idle missed lost stolen, in ms.
windows() {
    awk "$BY_NAME"'END { for (w = 1; w <= WINDOW; w++) print win("cpus", w), win("dur_ms", w), win("run_ms", w), win("other_ms", w),
        win("idle_ms", w), win("missed_ms", w), win("lost_ms", w), win("stolen_ms", w) }' "/tmp/$1.out"
}

# The numbers of online CPUs in consecutive windows.
saw() { # saw NAME CPUS...
    windows "$1" | cut -d ' ' -f 1 | uniq | tr '\n' ' ' | tee /tmp/saw
    shift
    [ "$(cat /tmp/saw)" = "$* " ]
}

# While no CPU comes or goes, all times add up to the windows' length on each; otherwise the sum is bounded by the CPUs that
# were online throughout and those that were online at all.
adds_up() {
    windows "$1" | awk '{ sum = $3 + $4 + $5 + $6 + $7 + $8; if (NR == 1) before = $1
        low = (before < $1 ? before : $1) * $2 - 0.02; high = (before > $1 ? before : $1) * $2 + 0.02
        if (sum < low || sum > high) { bad++; print "window " NR ": " sum " is not in " low ".." high ": " $0 }
        before = $1 }
        END { exit NR < 3 || bad }'
}

# All windows together: CPU 0 all the time, CPU 1 as long as the clock says: from OFF_LONG ms at most to OFF_SHORT at least.
online_time() {
    windows "$1" | awk -v long="$OFF_LONG" -v short="$OFF_SHORT" '{ dur += $2; sum += $3 + $4 + $5 + $6 + $7 + $8 }
        END { print "offline for " 2 * dur - sum " ms of " dur ", by the clock " short ".." long; off = 2 * dur - sum
            exit off < short || off > long }'
}

# The process of a thread that dies while its virtual CPU stands still cannot be looked up: with classic tracepoints its time
# is missed, and reported after all.
no_negative() {
    cat "/tmp/$1.out"
    awk -v sums="$([ "$1" = tracepoint ] || echo 1)" '/^#window/ { n++ } / -[0-9]/ { bad++ } { for (i = 2; i <= NF; i++) { split($i, a, "="); bad += sums && a[2] ~ /^-[0-9]/ && a[2] < -2 } }
        END { exit !n || bad }' "/tmp/$1.out"
}

none_missed() {
    windows "$1"
    windows "$1" | awk '{ missed += $6 } END { exit !NR || missed }'
}

# The stop task of CPU 1 is the last task before the CPU goes offline.
no_long_stop() {
    grep '^cpu .*migration/1$' "/tmp/$1.out"
    awk "$BY_NAME"'$1 == "cpu" && col("comm") == "migration/1" { n++; bad += col("run_ms") > 50 } END { exit !n || bad }' "/tmp/$1.out"
}

uses_hook() {
    cat "/tmp/$1.err"
    grep -qx "hog: cpu: switch: $1" "/tmp/$1.err"
}

# hog's time of a loop is at most the scheduler's, and includes what the scheduler counted while all were measuring. A
# virtual CPU that stands still at a switch makes a difference.
agrees() { # agrees NAME PID LEAST MOST
    within "$(ran_ms "$1" "$2")" "$(echo "$3" | awk '{ print $1 * 0.97 - 20 }')" "$(echo "$4" | awk '{ print $1 * 1.03 + 20 }')"
}

judge() { # judge NAME (check has a variable name)
    who=$1
    check "$who: no row is negative, nor a sum by more than clocks can drift" no_negative "$who"
    check "$who: the stop task of the CPU that goes has no time after that" no_long_stop "$who"
    check "$who: a CPU has as much time as it is online by the clock" online_time "$who"
    [ "$(argument tsc)" != unstable ] || return
    check "$who: a task that stays gets what the scheduler counts" agrees "$who" "$LOOP" \
        "$(echo "$LOOP_ENDS $LOOP_BEGAN" | awk '{ print $1 - $2 }')" "$(echo "$LOOP_LAST $LOOP_FIRST" | awk '{ print $1 - $2 }')"
    check "$who: a task driven from its CPU gets what the scheduler counts" agrees "$who" "$PINNED" "$PINNED_ENDS" "$PINNED_LAST"
}

# ---- energy: CPU 1 is a package of its own, and cycles come from a clock ----
ZONES=/tmp/host/sys/class/powercap
for package in 0 1; do
    topology=/tmp/host/sys/devices/system/cpu/cpu$package/topology
    mkdir -p $ZONES/intel-rapl:$package $topology
    echo $package >$topology/physical_package_id
    echo package-$package >$ZONES/intel-rapl:$package/name
    echo 65712999613 >$ZONES/intel-rapl:$package/max_energy_range_uj
    printf '%020d\n' 1000 >$ZONES/intel-rapl:$package/energy_uj
done
mkdir -p /tmp/host/sys/bus/event_source/devices/cpu
echo 1 >/tmp/host/sys/bus/event_source/devices/cpu/type
feed() {
    uj=1000
    while sleep 0.1; do
        uj=$((uj + 1234567))
        for zone in "$ZONES"/*/energy_uj; do printf '%020d\n' $uj 1<>"$zone"; done
    done
}
energy_adds_up() { # to busybox's awk, numbers with a 0 in front are octal
    grep -E '^#|unattr' /tmp/energy.out
    awk "$BY_NAME"'function uj(j, part) { split(j, part, "."); return part[1] * 1000000 + ("1" part[2]) - 1000000 }
        function judge(d) { for (d in want) { n++; all += want[d]; if (want[d] != got[d]) { bad++; print d, want[d], got[d] } } delete want; delete got }
        $1 == "#window" { judge() }
        $1 == "#domain" && $3 != "joules=-" { want[substr($2, 8)] = uj(substr($3, 8)); got[substr($2, 8)] = 0 }
        $1 == "energy" && col("joules") != "-" { got[col("domain")] += uj(col("joules")) }
        END { judge(); exit n < 6 || !all || bad }' /tmp/energy.out
}
energy_has_place() { # a package has rows of its own CPU only, and none while that is offline
    grep -E '^#|yes$|unattr' /tmp/energy.out
    awk "$BY_NAME"'$1 == "energy" && col("pid") != "-" { n[col("domain")]++; bad += col("domain") != "package-" col("cpu") } END { exit !n["package-0"] || !n["package-1"] || bad }' /tmp/energy.out
}
# By cycles at first, by time where a CPU came or went, and then by cycles again, on the returned CPU, too.
energy_counts() {
    grep -E '^#window|^#totals|yes$' /tmp/energy.out
    awk "$BY_NAME"'$1 == "#totals" { w = win("weight") == "cycles" ? "c" : "t"; order = order (w == last ? "" : w); last = w }
        $1 == "energy" && col("domain") == "package-1" && col("pid") != "-" && col("run_ms") > 50 && col("joules") > 0.1 && last == "c" { again = length(order) }
        END { print order, again; exit order !~ /^ctctc/ || again < 7 }' /tmp/energy.out
}

# ---- CPU 1 has never been online ----
check 'CPU 1 is there and not online' [ "$(cat $CPU1)" = 0 ]
views 'CPU offline'
check 'hog doctor: online and possible CPUs' says cpus "1 online, $(sed 's/.*-//' /sys/devices/system/cpu/possible | awk '{ print $1 + 1 }') possible"

# ---- it comes, goes and comes ----
START=$(uptime_ms)
LOOP_FIRST=$(schedstat_ms "$LOOP")
start tp_btf 0.2
start raw_tp --without tp_btf 0.2
start tracepoint --without tp_btf,raw_tp 0.2
start short -t 0.05
start long 60
VIEW=top
start top 0.2
VIEW=energy
start energy --sysfs /tmp/host --weight=cycles --by cpu 0.2
NAMES=${NAMES% top energy} # their rows differ
feed &
FEEDER=$!
check 'hog begins to measure' all_began
BEGAN=$(uptime_ms)
LOOP_BEGAN=$(schedstat_ms "$LOOP")
COMES=$(uptime_ms)
echo 1 >$CPU1
CAME=$(uptime_ms)
taskset 2 yes >/dev/null &
PINNED=$!
sleep 2
GOES=$(uptime_ms)
echo 0 >$CPU1
GONE=$(uptime_ms)
sleep 1
RETURNS=$(uptime_ms)
echo 1 >$CPU1
BACK=$(uptime_ms)
sleep 1
LOOP_ENDS=$(schedstat_ms "$LOOP") PINNED_ENDS=$(schedstat_ms "$PINNED")
stop_all
LOOP_LAST=$(schedstat_ms "$LOOP") PINNED_LAST=$(schedstat_ms "$PINNED")
kill "$PINNED" "$FEEDER"

OFF_LONG=$(echo "$START $CAME $GOES $BACK" | awk '{ print $2 - $1 + $4 - $3 + 100 }')
OFF_SHORT=$(echo "$BEGAN $COMES $GONE $RETURNS" | awk '{ print $2 - $1 + $4 - $3 - 20 }')
for who in tp_btf raw_tp tracepoint short top energy; do
    check "$who: cpus= follows the CPU" saw "$who" 1 2 1 2
    check "$who: all times together are the time that CPUs were online" adds_up "$who"
done
for who in tp_btf raw_tp tracepoint; do
    check "$who: is the hook" uses_hook "$who"
done
for who in $NAMES; do
    judge "$who"
done
check 'top: no row is negative' no_negative top
check 'energy: no row is negative' no_negative energy
check 'energy: rows add up to the microjoule' energy_adds_up
check 'energy: the energy of a package belongs to its CPU, which comes and goes' energy_has_place
check 'energy: by cycles, also of a CPU that is back' energy_counts
# In one window, where the running task need not be looked up while a virtual CPU stands still.
check 'long: what passes on an offline CPU is not missed time' none_missed long
