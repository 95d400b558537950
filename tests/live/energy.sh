#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# `hog energy` on made-up sensors whose counters this test moves: the expected values are known to the microjoule.
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

# move ID UJ: the counter's new value.
move() { printf '%020d\n' "$2" 1<>"$CAP/$1/energy_uj"; }

# joules NAME=VALUE...: of the matching rows.
joules() { column_of "$TMP/out" energy joules "$@" | awk '{ s += $1 } END { printf "%.6f\n", s }'; }

# The sum of a domain's counter over all windows.
counted() { sed -n "s|^#domain domain=$1 joules=\\([0-9.]*\\).*|\\1|p" "$TMP/out" | awk '{ s += $1 } END { printf "%.6f\n", s }'; }

# The rows of each domain add up to its counter, in every window, to the microjoule.
adds_up() { # adds_up [FILE]
    grep -E '^(#window|#domain|energy)' "${1-$TMP/out}"
    awk "$BY_NAME"'function uj(j) { sub(/\./, "", j); return j + 0 }
        function judge(d) { for (d in want) { n++; if (want[d] != got[d]) { bad++; print d, want[d], got[d] } } delete want; delete got }
        $1 == "#window" { judge() }
        $1 == "#domain" { d = substr($2, 8); j = substr($3, 8); if (j != "-") { want[d] = uj(j); got[d] = 0 } }
        $1 == "energy" && col("domain") != "-" { got[col("domain")] += uj(col("joules")) }
        END { judge(); exit !n || bad }' "${1-$TMP/out}"
}

# beside NAME OPTION...: another hog for the same loads, writing $TMP/NAME; from beside_begun to beside_end.
BESIDE=() NAMES=()
beside() {
    local name=$1
    shift
    nice -n -20 "$HOG" -v -w energy --sysfs "$TMP/host" -k 1000 "$@" 60 >"$TMP/$name" 2>"$TMP/$name.err" </dev/null &
    BESIDE+=("$!") NAMES+=("$name")
    lib_pids+=("$!")
}
beside_begun() {
    local name
    for name in "${NAMES[@]}"; do
        for _ in $(seq 200); do
            grep -qs ': exit: ' "$TMP/$name.err" && break
            sleep 0.02
        done
    done
    sleep 0.1
}
beside_end() {
    kill -TERM "${BESIDE[@]}"
    wait "${BESIDE[@]}"
    BESIDE=() NAMES=()
}

# ---- a host without sensors ----

mkdir -p "$TMP/none/sys"
"$HOG" energy --sysfs "$TMP/none" 0.1 1 >"$TMP/out" 2>"$TMP/err"
status=$?
says_what_helps() {
    cat "$TMP/out" "$TMP/err"
    [ "$status" = 3 ] && [ ! -s "$TMP/out" ] && [ "$(wc -l <"$TMP/err")" = 1 ] && grep -q -- '--model busy=W' "$TMP/err"
}
check 'no sensor: status 3, and one line that says what would provide one' says_what_helps
doctor_is_well() {
    "$HOG" doctor --sysfs "$TMP/none" >"$TMP/out" || return 1
    grep '^view.energy  *no power sensor' "$TMP/out"
}
check 'and doctor says so, and that the host is usable' doctor_is_well

# ---- what the sensors count is shown ----

zone intel-rapl:0 package-0 262143000000
zone intel-rapl:0:0 core 1000
exact() { # three moves, one of them past the end of the range
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

unknown() {
    measure energy --sysfs "$TMP/host" -k 3 60 || return 1
    : >"$CAP/intel-rapl:0/energy_uj"
    move intel-rapl:0:0 12346679
    measured || return 1
    cat "$TMP/out"
    grep '^#domain domain=package-0 joules=- watts=-' "$TMP/out" && [ "$(counted package-0/core)" = 0.000001 ] &&
        [ "$(field_of power_unknown)" = 1 ] && [ "$(joules domain=package-0)" = 0.000000 ]
}
check 'a zone without a value has no joules; the others have' unknown
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

# ---- which process used it ----

joules_of() { joules pid="$(told pid "$1")" domain="${2:-package-0}"; }

# ratio A B WANT: B / A is WANT, within 2 percent.
ratio() {
    echo "$1 $2 J"
    within "$(awk -v a="$1" -v b="$2" 'BEGIN { print a ? b / a : "none" }')" "$(awk -v w="$3" 'BEGIN { print w * 0.98 }')" \
        "$(awk -v w="$3" 'BEGIN { print w * 1.02 }')"
}

# A load with twice the CPU time has twice the energy: counters advance at a constant rate, whatever else runs.
one_two_four() {
    local load
    load_start setsid nice -n -20 "$LOADS/zones" 20 0:0 "$CAP/intel-rapl:0/energy_uj=20000000"
    local feeder=$LOAD_PID
    measure energy --sysfs "$TMP/host" -k 1000 0.2 || return 1
    for load in 150 300 600; do
        nice -n -20 "$LOADS/named" 6f6e65 "$load" >"$TMP/$load" &
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

# The counter follows the CPU time of one process, 50 ms in each 100: whatever the window, the process has 10 joules per
# second of its CPU time. A reading that is late by milliseconds finds energy while nothing ran.
aligned() { # aligned INTERVAL
    load_start setsid nice -n -20 "$LOADS/zones" 1.5 50:50 "$CAP/intel-rapl:0/energy_uj=10000000"
    local feeder=$LOAD_PID
    UNSURE_BEFORE=$(unsure_ms)
    "$HOG" energy -w --sysfs "$TMP/host" -k 1000 "$1" "$(awk -v i="$1" 'BEGIN { print int(1 / i) }')" >"$TMP/out"
    UNSURE=$(unsure_since "$UNSURE_BEFORE")
    load_stop "$feeder"
    awk -v pid="$feeder" -v unsure="$UNSURE" "$BY_NAME"'
        function judge(off) {
            if (seen) { n++; off = j / 10 * 1000 - run; on += run > 1; if (off < -1.5 || off > 1.5) { bad++; sum += off < 0 ? -off : off; print n, j, run } }
            seen = 0
        }
        $1 == "#window" { judge(); run = 0 }
        $1 == "#domain" && $2 == "domain=package-0" { j = substr($3, 8); seen = 1 }
        $1 == "energy" && col("pid") == pid && col("domain") == "package-0" { run = col("run_ms") }
        END { judge(); print n " windows, " bad + 0 " are off, by " sum + 0 " ms; unsure are " unsure; exit n < 9 || on < n / 4 || (bad > n / 10 && sum > unsure) }' "$TMP/out"
}
check 'windows of 100 ms: the energy is in the window of the time' best_of 3 aligned 0.1
check 'windows of 30 ms, too, with and without load alternately' best_of 3 aligned 0.03

"$HOG" energy -w --sysfs "$TMP/host" -k 5 0.2 >"$TMP/out" &
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
    beside cpus --by cpu
    beside first --by cpu -k 1
    measure energy --sysfs "$TMP/host" -k 1000 60
    beside_begun
    taskset -c 0 nice -n -20 "$LOADS/named" 7a65726f 100 >"$TMP/a"
    taskset -c 1 nice -n -20 "$LOADS/named" 6f6e65 100 >"$TMP/b"
    move intel-rapl:0 900000000
    move intel-rapl:1 700001000
    measured
    beside_end
    few() { joules_of "$@" | awk '{ print $1 / 10 }'; } # taskset itself starts on any CPU
    sockets() {
        grep -E 'zero|one$' "$TMP/out"
        within "$(joules_of "$TMP/a" package-0)" 1 900 && within "$(joules_of "$TMP/b" package-1)" 1 700 &&
            within "$(joules_of "$TMP/a" package-1)" 0 "$(few "$TMP/a" package-0)" &&
            within "$(joules_of "$TMP/b" package-0)" 0 "$(few "$TMP/b" package-1)" &&
            [ "$(counted package-1)" = 700.000000 ]
    }
    check 'a process on one socket has energy of that socket' sockets
    check 'and the rows of each add up' adds_up
    # on CPU LOAD: its time there, in the domain of that CPU
    on() { awk -v cpu="$1" -v pid="$(told pid "$2")" "$BY_NAME"'$1 == "energy" && col("pid") == pid && col("cpu") == cpu && col("domain") !~ /core/ { s += col("run_ms") } END { print s + 0 }' "$TMP/cpus"; }
    # What the window reports as missed may belong to any process.
    has_all() { # has_all CPU LOAD
        awk -v told="$(told cpu_ms "$2")" -v counted="$(on "$1" "$2")" -v missed="$(field_of missed_ms "$TMP/cpus")" \
            'BEGIN { print counted " of " told ", missed " missed; exit counted < told * 0.98 - 2 - missed || counted > told * 1.02 + 5 }'
    }
    by_cpu() {
        grep -E '^#|zero|one$' "$TMP/cpus"
        has_all 0 "$TMP/a" && has_all 1 "$TMP/b" && within "$(on 1 "$TMP/a")" 0 10 && within "$(on 0 "$TMP/b")" 0 10
    }
    check '--by cpu: a process bound to a CPU has its time in the rows of that CPU' by_cpu
    check '--by cpu: the rows of a domain add up' adds_up "$TMP/cpus"
    cpus_add_up() { # to the domain, and their rows are there
        grep -E '^#' "$TMP/cpus"
        awk "$BY_NAME"'function uj(j) { sub(/.*[=]/, "", j); sub(/\./, "", j); return j + 0 }
            $1 == "#domain" { domain[substr($2, 8)] = uj($3) }
            $1 == "#cpu" { n++; d = substr($2, 8); all[d] += uj($4); want[d " " substr($3, 5)] = uj($4) }
            $1 == "energy" { got[col("domain") " " col("cpu")] += uj(col("joules")) }
            END { for (d in domain) bad += all[d] != domain[d]; for (c in want) if (want[c] != got[c]) { bad++; print c, want[c], got[c] }
                exit n < 3 || bad }' "$TMP/cpus"
    }
    check '--by cpu: what each CPU took is the sum of its rows, and all of them the domain' cpus_add_up
    top_of_each() {
        cat "$TMP/first"
        [ "$(awk "$BY_NAME"'$1 == "energy" && col("pid") != "-" { print col("domain"), col("cpu") }' "$TMP/first" | sort -u | wc -l)" = "$(awk "$BY_NAME"'$1 == "energy" && col("pid") != "-" { n++ } END { print n }' "$TMP/first")" ] &&
            [ "$(grep -c '^#cpu' "$TMP/first")" -ge 2 ] && adds_up "$TMP/first"
    }
    check '--by cpu: -k is of each CPU' top_of_each
    measure energy --sysfs "$TMP/host" -p $$ 60
    move intel-rapl:1 700001005
    measured
    check 'also for one process' adds_up
    rm -r "$CAP/intel-rapl:1"
else
    skip 'two sockets' 'needs CPUS: two of them'
fi

# ---- by cycles, grouped, and in top: all next to each other, for the same loads ----

rm -rf "$TMP/host/sys/devices" # the sockets
mkdir -p "$TMP/host/sys/bus/event_source/devices/cpu"
if ls -d /sys/bus/event_source/devices/{cpu,cpu_core,armv8*} >"$TMP/out" 2>/dev/null || [ -s "$TMP/out" ]; then
    check '--weight=cycles: this host counts them' "$HOG" energy --sysfs "$TMP/host" --weight=cycles 0.1 1
else
    "$HOG" energy --sysfs "$TMP/host" --weight=cycles 0.1 1 >"$TMP/out" 2>"$TMP/err"
    status=$?
    no_cycles() { # no_cycles STATUS
        cat "$TMP/out" "$TMP/err"
        [ "$1" = 3 ] && [ ! -s "$TMP/out" ] && [ "$(wc -l <"$TMP/err")" = 1 ] && grep -q 'no counter of cycles' "$TMP/err"
    }
    check '--weight=cycles where none are counted: status 3, and one line' no_cycles "$status"
fi
# A software clock in their place: the result must be the same as by time.
echo 1 >"$TMP/host/sys/bus/event_source/devices/cpu/type"
load_start setsid nice -n -20 "$LOADS/zones" 60 0:0 "$CAP/intel-rapl:0/energy_uj=20000000"
feeder=$LOAD_PID
load_start nice -n -20 "$LOADS/duty" 1000
duty=$LOAD_PID
beside cycles --weight=cycles --by cpu
beside cycles.pid --weight=cycles -p "$duty"
beside by.comm --by comm
beside by.user --by user
beside by.cgroup --by cgroup
beside_begun
UNSURE_BEFORE=$(unsure_ms)
nice -n -20 "$HOG" top -w --sysfs "$TMP/host" -k 1000 -i 0.3 -n 1 >"$TMP/top" &
top=$!
for load in 1 2; do
    nice -n -20 setpriv --reuid 4711 --clear-groups "$LOADS/named" 74776f 60 >"$TMP/two.$load" &
done
while [ -z "$(told pid "$TMP/two.1")" ] || [ -z "$(told pid "$TMP/two.2")" ]; do sleep 0.05; done
wait "$top"
beside_end
UNSURE=$(unsure_since "$UNSURE_BEFORE")
load_stop "$feeder"
load_stop "$duty"
# For each row: its share of the energy of all running processes, and of their time.
as_time() { # as_time FILE
    cat "$1"
    awk -v pid="$duty" -v unsure="$UNSURE" "$BY_NAME"'$1 == "energy" && col("domain") == "package-0" && col("comm") !~ /idle|unattrib/ { j += col("joules"); ms += col("run_ms"); n++; k = col("pid") " " col("cpu") " " col("comm"); J[k] += col("joules"); MS[k] += col("run_ms") }
        END { for (k in J) { off = J[k] / j - MS[k] / ms; most = 0.01 + unsure / ms; if (off > most || off < -most) { bad++; print k, J[k] / j, MS[k] / ms } }
            exit win("weight") != "cycles" || n < 2 || j < 1 || bad }' "$1"
}
check '--weight=cycles: by a clock it is as by time' as_time "$TMP/cycles"
check '--weight=cycles: and rows add up' adds_up "$TMP/cycles"
check '--weight=cycles: also for one process' as_time "$TMP/cycles.pid"
check '--weight=cycles: and rows add up' adds_up "$TMP/cycles.pid"
# Two processes with one name and user are one row, which has what both used: 20 W by time.
group() { # group BY COLUMN VALUE
    local file=$TMP/by.$1
    grep -E "^#|two" "$file"
    awk -v column="$2" -v value="$3" -v want="$(told cpu_ms "$TMP/two.1") $(told cpu_ms "$TMP/two.2")" "$BY_NAME"'
        $1 == "#domain" && $2 == "domain=package-0" { all = substr($3, 8) }
        $1 == "energy" && col("domain") == "package-0" && col(column) == value { n++; j = col("joules"); ms = col("run_ms"); members = col("members") }
        END { split(want, w, " "); t = w[1] + w[2]; e = all * ms / (win("dur_ms") * win("cpus"))
            print n, members, ms, t, j, e
            exit n != 1 || members != 2 || ms < t * 0.97 || ms > t * 1.1 + 10 || j < e * 0.99 - 0.001 || j > e * 1.01 + 0.001 }' "$file"
}
check '--by comm: a row has what its processes took' group comm comm two
check '--by user: a row has what its processes took' group user uid 4711
for by in comm user cgroup; do check "--by $by: and rows add up" adds_up "$TMP/by.$by"; done
in_top() { # 20 W, shared by time
    cat "$TMP/top"
    awk -v pid="$duty" -v cpus="$(nproc)" -v unsure="$UNSURE" "$BY_NAME"'BEGIN { part = 0.02 + unsure / 300 }
        $1 == "top" && col("pid") == pid { n++; want = 20 * col("cpu_pct") / 100 / cpus; bad += col("watts") < want * (1 - part) - 0.05 || col("watts") > want * (1 + part) + 0.05 || want < 0.1 }
        END { exit n != 1 || bad }' "$TMP/top"
}
check 'hog top has watts' in_top
"$HOG" top -w --sysfs "$TMP/none" -i 0.1 -n 1 >"$TMP/top"
no_watts() {
    cat "$TMP/top"
    awk "$BY_NAME"'$1 == "top" { n++; bad += col("watts") != "-" } END { exit !n || bad }' "$TMP/top"
}
check 'and none without a sensor' no_watts

# ---- without sensors ----

modelled() { # modelled BUSY IDLE DIVISOR
    local busy
    busy=$(awk -v a="$(field_of run_ms)" -v b="$(field_of missed_ms)" -v c="$(field_of lost_ms)" -v d="$(field_of stolen_ms)" \
        'BEGIN { print a + b + c + d }')
    within "$(counted model)" "$(awk -v b="$busy" -v i="$(field_of idle_ms)" -v B="$1" -v I="$2" -v d="$3" 'BEGIN { print (b * B + i * I) / 1000 / d - 0.001 }')" \
        "$(awk -v b="$busy" -v i="$(field_of idle_ms)" -v B="$1" -v I="$2" -v d="$3" 'BEGIN { print (b * B + i * I) / 1000 / d + 0.001 }')"
}
"$HOG" energy -w --sysfs "$TMP/host" --model busy=40.5,idle=8 0.3 1 >"$TMP/out"
check '--model: W of the host, by what its CPUs did; no sensor is asked' modelled 40.5 8 "$(field_of cpus)"
check 'and the rows add up' adds_up
"$HOG" energy -w --model idle=1,busy=10,percpu --idle share 0.3 1 >"$TMP/out"
check '--model percpu: W of each CPU' modelled 10 1 1
check 'and the rows add up, with idle time shared' adds_up
check 'which then has no row' test -z "$(grep 'idle\]' "$TMP/out")"

# ---- contradictory command lines ----

for arguments in 'energy --model busy=5' 'energy --model busy=4,idle=5' 'energy --model busy=5,idle=1,busy=6' \
    'energy --model busy=5,idle=' 'energy --weight=watts' 'cpu --weight=cycles' 'energy,cpu --weight=cycles' \
    'energy --weight=cycles --model busy=5,idle=1' 'energy --weight=cycles --exact' 'energy --by cpu --total' 'energy --by cpu -- true' 'energy --model busy=5ms,idle=1' 'energy --model busy=999999,idle=1' 'energy --idle both' \
    'cpu --total' 'cpu --model busy=5,idle=1' 'energy --' 'energy -p 1 -- true' 'energy --total -- true'; do
    # shellcheck disable=SC2086 # several arguments
    check "refuses hog $arguments" refuses 2 "" $arguments
done

# ---- a command ----

# command ARGUMENTS...: its energy, at 10 W a busy CPU.
command_energy() { "$HOG" energy --model busy=10,idle=1,percpu -- "$@" >"$TMP/stdout" 2>"$TMP/stderr"; }
of_command() { sed -n "s/^#command domain=model .*\\<$1=\\([^ ]*\\).*/\\1/p" "$TMP/stderr"; }
says() { cat "$TMP/stdout" "$TMP/stderr" && [ "$1" = "$2" ]; }

load_start "$LOADS/duty" 1000 # another process
command_energy bash -c "(setsid $LOADS/named 6f6e65 150 >$TMP/ca &); for i in 1 2 3 4 5 6 7 8 9 10; do $LOADS/named 6f6e65 15 >>$TMP/cb; done
    while [ ! -s $TMP/ca ]; do sleep 0.05; done; cat $TMP/ca $TMP/cb; exit 7"
status=$?
load_stop "$LOAD_PID"
check 'a command: its status' says "$status" 7
check 'a command: its output is its own' test "$(grep -c ^pid= "$TMP/stdout")" = 11
ms=$(sed -n 's/.*cpu_ms=//p' "$TMP/stdout" | awk '{ s += $1 } END { print s }')
all_children() { # in addition to the shell
    cat "$TMP/stderr"
    within "$(of_command cpu_s)" "$(awk -v ms="$ms" 'BEGIN { print ms / 1000 * 0.97 - 0.01 }')" \
        "$(awk -v ms="$ms" 'BEGIN { print ms / 1000 * 1.1 + 0.25 }')"
}
check 'a command: time of all processes it started, dead or alive, and of no others' all_children
its_energy() {
    cat "$TMP/stderr"
    within "$(of_command joules)" "$(awk -v s="$(of_command cpu_s)" 'BEGIN { print s * 9.98 - 0.01 }')" \
        "$(awk -v s="$(of_command cpu_s)" 'BEGIN { print s * 10.02 + 0.01 }')"
}
check 'a command: its energy' its_energy
# shellcheck disable=SC2016 # its own pid
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

# ---- another kind of sensor: perf, with its software clock in place of a counter that this machine may lack ----

PMU=$TMP/perf/sys/bus/event_source/devices/power
mkdir -p "$PMU/events"
echo 1 >"$PMU/type"
echo 0 >"$PMU/cpumask"
echo event=0x00 >"$PMU/events/energy-psys"
echo Joules >"$PMU/events/energy-psys.unit"
echo 5.0e-9 >"$PMU/events/energy-psys.scale"
by_perf() {
    "$HOG" energy -w --sysfs "$TMP/perf" 0.3 1 >"$TMP/out" || return 1
    cat "$TMP/out"
    [ "$(field_of power)" = perf ] && within "$(counted psys)" 1.4 1.7
}
check 'events of perf, by their scale' best_of 3 by_perf
done_testing
