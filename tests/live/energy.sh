#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# `hog energy` on made-up sensors, whose counters this test moves: what it says is known to the microjoule.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
LOADS=$BUILD/tests/load
CAP=$TMP/host/sys/class/powercap

# zone ID NAME UJ: a powercap zone.
zone() {
    mkdir -p "$CAP/$1"
    echo "$2" >"$CAP/$1/name"
    echo 262143328850 >"$CAP/$1/max_energy_range_uj"
    printf '%020d\n' "$3" >"$CAP/$1/energy_uj"
}

# place CPU PACKAGE
place() {
    mkdir -p "$TMP/host/sys/devices/system/cpu/cpu$1/topology"
    echo "$2" >"$TMP/host/sys/devices/system/cpu/cpu$1/topology/physical_package_id"
    echo 0 >"$TMP/host/sys/devices/system/cpu/cpu$1/topology/die_id"
}

# move ID UJ: what the counter says now.
move() { printf '%020d\n' "$2" 1<>"$CAP/$1/energy_uj"; }

# sum COLUMN CONDITION: of the rows that are so; 4 is the domain, 5 joules.
sum() { awk '$1 == "energy" && ('"$2"') { s += $'"$1"' } END { printf "%.6f\n", s }' "$TMP/out"; }

# What the counters said of a domain, all windows.
counted() { sed -n "s|^#domain domain=$1 joules=\\([0-9.]*\\).*|\\1|p" "$TMP/out" | awk '{ s += $1 } END { printf "%.6f\n", s }'; }

# The rows of each domain add up to what its counter says, in every window, to the microjoule.
adds_up() {
    grep -E '^(#window|#domain|energy)' "$TMP/out"
    awk 'function uj(j) { sub(/\./, "", j); return j + 0 }
        function judge(d) { for (d in want) { n++; if (want[d] != got[d]) { bad++; print d, want[d], got[d] } } delete want; delete got }
        $1 == "#window" { judge() }
        $1 == "#domain" { d = substr($2, 8); j = substr($3, 8); if (j != "-") { want[d] = uj(j); got[d] = 0 } }
        $1 == "energy" && $5 != "-" { got[$5 == "-" ? "" : $5] += 0; got[$5] += uj($6) }
        END { judge(); exit !n || bad }' "$TMP/out"
}

# ---- a host without sensors ----

mkdir -p "$TMP/none/sys"
"$HOG" energy --sysfs "$TMP/none" 0.1 1 >"$TMP/out" 2>"$TMP/err"
status=$?
says_what_helps() {
    cat "$TMP/out" "$TMP/err"
    [ "$status" = 3 ] && [ ! -s "$TMP/out" ] && [ "$(wc -l <"$TMP/err")" = 1 ] && grep -q -- '--model busy=W' "$TMP/err"
}
check 'no sensor: status 3, and one line that says what would give one' says_what_helps
doctor_is_well() {
    "$HOG" doctor --sysfs "$TMP/none" >"$TMP/out" || return 1
    grep '^view.energy  *no power sensor' "$TMP/out"
}
check 'and doctor says so, and that the host is well' doctor_is_well

# ---- what is counted is shown ----

zone intel-rapl:0 package-0 262143000000
zone intel-rapl:0:0 core 1000
exact() { # three moves, one of them over the end of the range
    measure energy --sysfs "$TMP/host" -k 3 60 || return 1
    move intel-rapl:0 262143328849
    move intel-rapl:0:0 12346678
    move intel-rapl:0 20000000
    measured || return 1
    cat "$TMP/out"
    [ "$(counted package-0)" = 20.328850 ] && [ "$(counted package-0/core)" = 12.345678 ]
}
check 'a domain has what its counter grew by, also over its end' exact
check 'and its rows add up to that' adds_up

total() {
    measure energy --sysfs "$TMP/host" --total -k 3 0.3 || return 1
    move intel-rapl:0 21000000
    sleep 0.7
    move intel-rapl:0 23000000
    measured || return 1
    grep '^#domain domain=package-0 ' "$TMP/out" | tail -n 1 | grep ' joules=3.000000 '
}
check '--total: all since hog began' total
check 'and its rows add up to that' adds_up

# shellcheck disable=SC2016 # fields of awk
unknown() {
    measure energy --sysfs "$TMP/host" -k 3 60 || return 1
    : >"$CAP/intel-rapl:0/energy_uj"
    move intel-rapl:0:0 12346679
    measured || return 1
    cat "$TMP/out"
    grep '^#domain domain=package-0 joules=- watts=-' "$TMP/out" && [ "$(counted package-0/core)" = 0.000001 ] &&
        grep -q '^#window .* power_unknown=1 ' "$TMP/out" && [ "$(sum 6 '$5 == "package-0"')" = 0.000000 ]
}
check 'a zone that tells nothing has no joules; the others have' unknown
move intel-rapl:0 1

chmod 400 "$CAP"/*/energy_uj
chmod 755 "$TMP" "$TMP/host"
setpriv --reuid 4711 --clear-groups "$HOG" energy --sysfs "$TMP/host" 0.1 1 >"$TMP/out" 2>"$TMP/err"
status=$?
refused() {
    cat "$TMP/out" "$TMP/err"
    [ "$status" = 3 ] && [ "$(wc -l <"$TMP/err")" = 1 ] && grep -q 'may not be read' "$TMP/err"
}
check 'sensors that may not be read: status 3, and why' refused

# ---- who had it ----

joules_of() { sum 6 "\$3 == $(told pid "$1") && \$5 == \"${2:-package-0}\""; }

# ratio A B WANT: B / A is WANT, within 2 percent.
ratio() {
    echo "$1 $2 J"
    within "$(awk -v a="$1" -v b="$2" 'BEGIN { print a ? b / a : "none" }')" "$(awk -v w="$3" 'BEGIN { print w * 0.98 }')" \
        "$(awk -v w="$3" 'BEGIN { print w * 1.02 }')"
}

# A load of twice the CPU time takes twice the energy: counters go at a constant rate, whatever else runs.
one_two_four() {
    local load
    load_start setsid nice -n -20 "$LOADS/zones" 20 0:0 "$CAP/intel-rapl:0/energy_uj=20000000"
    local feeder=$LOAD_PID
    measure energy --sysfs "$TMP/host" -k 1000 0.2 || return 1
    for load in 150 300 600; do
        "$LOADS/named" 6f6e65 "$load" >"$TMP/$load" &
    done
    for load in 150 300 600; do
        while [ -z "$(told pid "$TMP/$load")" ]; do sleep 0.05; done
    done
    measured || return 1
    load_stop "$feeder"
    grep one "$TMP/out"
    ratio "$(joules_of "$TMP/150")" "$(joules_of "$TMP/300")" 2 && ratio "$(joules_of "$TMP/150")" "$(joules_of "$TMP/600")" 4
}
best_of() { # best_of N COMMAND...
    local n=$1
    shift
    while ! "$@"; do
        n=$((n - 1))
        [ "$n" -gt 0 ] || return 1
    done
}
check 'CPU time of 1:2:4 takes energy of 1:2:4' best_of 3 one_two_four
check 'and all rows add up' adds_up

# The counter goes by the CPU time of one process, 50 ms of 100: whatever the window, it has as many joules as that process
# has seconds, 10 W. A reading that is late by milliseconds finds energy where nobody ran.
aligned() { # aligned INTERVAL
    load_start setsid nice -n -20 "$LOADS/zones" 1.5 50:50 "$CAP/intel-rapl:0/energy_uj=10000000"
    local feeder=$LOAD_PID
    "$HOG" energy --sysfs "$TMP/host" -k 1000 "$1" "$(awk -v i="$1" 'BEGIN { print int(1 / i) }')" >"$TMP/out"
    load_stop "$feeder"
    awk -v pid="$feeder" 'function judge(off) { if (seen) { n++; off = j / 10 * 1000 - run; on += run > 1; if (off < -1.5 || off > 1.5) { bad++; print n, j, run } } seen = 0 }
        $1 == "#window" { judge(); run = 0 }
        $1 == "#domain" && $2 == "domain=package-0" { j = substr($3, 8); seen = 1 }
        $1 == "energy" && $3 == pid && $5 == "package-0" { run = $9 }
        END { judge(); print n " windows, " bad + 0 " are off"; exit n < 9 || on < n / 4 || bad > n / 10 }' "$TMP/out"
}
check 'windows of 100 ms: the energy is in the window of the time' best_of 3 aligned 0.1
check 'windows of 30 ms, too, with and without load in turns' best_of 3 aligned 0.03

"$HOG" energy --sysfs "$TMP/host" -k 5 0.2 >"$TMP/out" &
HOG_PID=$!
lib_pids+=("$HOG_PID")
load_start "$LOADS/zones" 5 0:0 "$CAP/intel-rapl:0/energy_uj=20000000"
feeder=$LOAD_PID
"$LOADS/storm" 1 >"$TMP/storm"
load_stop "$feeder"
measured
check 'rows add up under a storm of forks' adds_up

# ---- two sockets ----

if [ "$(nproc)" -gt 1 ]; then
    zone intel-rapl:1 package-1 1000
    for cpu in $(seq 0 $(($(nproc) - 1))); do place "$cpu" $((cpu > 0)); done
    measure energy --sysfs "$TMP/host" -k 1000 60
    taskset -c 0 "$LOADS/named" 7a65726f 100 >"$TMP/a"
    taskset -c 1 "$LOADS/named" 6f6e65 100 >"$TMP/b"
    move intel-rapl:0 900000000
    move intel-rapl:1 700001000
    measured
    few() { joules_of "$@" | awk '{ print $1 / 10 }'; } # taskset itself begins anywhere
    sockets() {
        grep -E 'zero|one$' "$TMP/out"
        within "$(joules_of "$TMP/a" package-0)" 1 900 && within "$(joules_of "$TMP/b" package-1)" 1 700 &&
            within "$(joules_of "$TMP/a" package-1)" 0 "$(few "$TMP/a" package-0)" &&
            within "$(joules_of "$TMP/b" package-0)" 0 "$(few "$TMP/b" package-1)" &&
            [ "$(counted package-1)" = 700.000000 ]
    }
    check 'who runs on one socket has energy of that one' sockets
    check 'and the rows of each add up' adds_up
    measure energy --sysfs "$TMP/host" -p $$ 60
    move intel-rapl:1 700001005
    measured
    check 'of one process alone, too' adds_up
    rm -r "$CAP/intel-rapl:1"
else
    skip 'two sockets' 'needs CPUS: two of them'
fi

# ---- without sensors ----

# of_window FIELD
of_window() { sed -n "s/^#window .* $1=\\([^ ]*\\).*/\\1/p" "$TMP/out"; }

modelled() { # modelled BUSY IDLE DIVISOR
    local busy
    busy=$(awk -v a="$(of_window run_ms)" -v b="$(of_window missed_ms)" -v c="$(of_window lost_ms)" 'BEGIN { print a + b + c }')
    within "$(counted model)" "$(awk -v b="$busy" -v i="$(of_window idle_ms)" -v B="$1" -v I="$2" -v d="$3" 'BEGIN { print (b * B + i * I) / 1000 / d - 0.001 }')" \
        "$(awk -v b="$busy" -v i="$(of_window idle_ms)" -v B="$1" -v I="$2" -v d="$3" 'BEGIN { print (b * B + i * I) / 1000 / d + 0.001 }')"
}
"$HOG" energy --sysfs "$TMP/host" --model busy=40.5,idle=8 0.3 1 >"$TMP/out"
check '--model: W of the host, by what its CPUs did; no sensor is asked' modelled 40.5 8 "$(of_window cpus)"
check 'and the rows add up' adds_up
"$HOG" energy --model idle=1,busy=10,percpu --idle share 0.3 1 >"$TMP/out"
check '--model percpu: W of each CPU' modelled 10 1 1
check 'and the rows add up, with idle time shared' adds_up
check 'which then has no row' test -z "$(grep 'idle\]' "$TMP/out")"

# ---- command lines that mean nothing ----

refuses() { # refuses ARGUMENT...: status 2, and one line
    "$HOG" "$@" >"$TMP/out" 2>"$TMP/err" </dev/null
    local status=$?
    cat "$TMP/out" "$TMP/err"
    [ "$status" = 2 ] && [ ! -s "$TMP/out" ] && [ "$(wc -l <"$TMP/err")" = 1 ]
}
for arguments in 'energy --model busy=5' 'energy --model busy=4,idle=5' 'energy --model busy=5,idle=1,busy=6' \
    'energy --model busy=5,idle=' 'energy --model busy=5ms,idle=1' 'energy --model busy=999999,idle=1' 'energy --idle both' \
    'cpu --total' 'cpu --model busy=5,idle=1' 'energy --' 'energy -p 1 -- true' 'energy --total -- true'; do
    # shellcheck disable=SC2086 # several arguments
    check "refuses hog $arguments" refuses $arguments
done

# ---- a command ----

# command ARGUMENTS...: its energy, at 10 W a busy CPU.
command_energy() { "$HOG" energy --model busy=10,idle=1,percpu -- "$@" >"$TMP/stdout" 2>"$TMP/stderr"; }
of_command() { sed -n "s/^#command domain=model .*\\<$1=\\([^ ]*\\).*/\\1/p" "$TMP/stderr"; }
says() { cat "$TMP/stdout" "$TMP/stderr" && [ "$1" = "$2" ]; }

load_start "$LOADS/duty" 60 # somebody else
command_energy bash -c "(setsid $LOADS/named 6f6e65 150 >$TMP/ca &); for i in 1 2 3 4 5 6 7 8 9 10; do $LOADS/named 6f6e65 15 >>$TMP/cb; done
    while [ ! -s $TMP/ca ]; do sleep 0.05; done; cat $TMP/ca $TMP/cb; exit 7"
status=$?
load_stop "$LOAD_PID"
check 'a command: its status' says "$status" 7
check 'a command: its output is its own' test "$(grep -c ^pid= "$TMP/stdout")" = 11
ms=$(sed -n 's/.*cpu_ms=//p' "$TMP/stdout" | awk '{ s += $1 } END { print s }')
all_children() { # beside them there is the shell
    cat "$TMP/stderr"
    within "$(of_command cpu_s)" "$(awk -v ms="$ms" 'BEGIN { print ms / 1000 * 0.97 - 0.01 }')" \
        "$(awk -v ms="$ms" 'BEGIN { print ms / 1000 * 1.1 + 0.25 }')"
}
check 'a command: time of all that it began, dead or alive, and of nobody else' all_children
its_energy() {
    cat "$TMP/stderr"
    within "$(of_command joules)" "$(awk -v s="$(of_command cpu_s)" 'BEGIN { print s * 9.98 - 0.01 }')" \
        "$(awk -v s="$(of_command cpu_s)" 'BEGIN { print s * 10.02 + 0.01 }')"
}
check 'a command: its energy' its_energy
# shellcheck disable=SC2016 # its own number
command_energy sh -c 'kill -9 $$'
check 'a command that a signal ends: 128 and that' says "$?" 137
command_energy "$TMP/no such"
check 'a command that is not there: 127' says "$?" 127
command_energy "$CAP/intel-rapl:0/name"
check 'a command that is none: 126' says "$?" 126
"$HOG" energy --sysfs "$TMP/none" -- touch "$TMP/touched" >"$TMP/stdout" 2>"$TMP/stderr"
check 'without a sensor it is not begun: 3' says "$? $(ls "$TMP/touched" 2>/dev/null)" '3 '
"$HOG" energy --model busy=10,idle=1 -- sleep 60 >"$TMP/stdout" 2>"$TMP/stderr" &
HOG_PID=$!
lib_pids+=("$HOG_PID")
until pgrep -P "$HOG_PID" -x sleep >/dev/null || ! kill -0 "$HOG_PID"; do sleep 0.05; done
kill -TERM "$HOG_PID"
wait "$HOG_PID"
check 'signals go to the command' says "$? $(of_command status)" '143 143'

# ---- another kind of sensor: perf, with its clock in place of a counter that this machine may lack ----

PMU=$TMP/perf/sys/bus/event_source/devices/power
mkdir -p "$PMU/events"
echo 1 >"$PMU/type"
echo 0 >"$PMU/cpumask"
echo event=0x00 >"$PMU/events/energy-psys"
echo Joules >"$PMU/events/energy-psys.unit"
echo 5.0e-9 >"$PMU/events/energy-psys.scale"
by_perf() {
    "$HOG" energy --sysfs "$TMP/perf" 0.3 1 >"$TMP/out" || return 1
    cat "$TMP/out"
    grep -q 'power=perf ' "$TMP/out" && within "$(counted psys)" 1.4 1.7
}
check 'events of perf, by their scale' best_of 3 by_perf
done_testing
