# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# A command's energy with all its children, by an estimate; energy by cycles, with a clock in place of the counters that
# emulation lacks; and, where the module for it exists (scripts/vm/module.sh), the kernel's own powercap, with counters that
# advance at a known rate.
TOOLS=/tests/tools
MODULE=$TOOLS/hogcap.ko

# ---- a command ----

timeout 60 hog energy --model busy=10,idle=1,percpu -- sh -c "(setsid $TOOLS/named 6f6e65 150 >/tmp/ca &)
    $TOOLS/named 6f6e65 100 >/tmp/cb; $TOOLS/named 6f6e65 50 >>/tmp/cb; while [ ! -s /tmp/ca ]; do sleep 0.1; done; exit 7" 2>/tmp/command
STATUS=$?
of_command() { grep "^#command domain=$1 " /tmp/command | tr ' ' '\n' | sed -n "s/^$2=//p"; }
status_is() {
    cat /tmp/command
    [ "$STATUS" = "$1" ]
}
check 'a command: its status' status_is 7
MS=$(sed -n 's/.*cpu_ms=//p' /tmp/ca /tmp/cb | awk '{ s += $1 } END { print s }')
# It includes the shells and their start, which takes long in emulation.
check 'a command: time of all that it began' within "$(of_command model cpu_s)" "$(echo "$MS" | awk '{ print $1 / 1000 * 0.95 - 0.01 }')" \
    "$(echo "$MS" | awk '{ print $1 / 1000 * 1.1 + 1.5 }')"
check 'a command: energy of that time' within "$(of_command model joules)" "$(of_command model cpu_s | awk '{ print $1 * 9.98 - 0.01 }')" \
    "$(of_command model cpu_s | awk '{ print $1 * 10.02 + 0.01 }')"
check 'a command: no process was lost' test "$(of_command model lost)" = 0

# ---- by cycles ----

ZONE=/tmp/host/sys/class/powercap/intel-rapl:0 PMU=/tmp/host/sys/bus/event_source/devices/cpu
mkdir -p "$ZONE" "$PMU"
echo package-0 >"$ZONE/name"
echo 65712999613 >"$ZONE/max_energy_range_uj"
printf '%020d\n' 1000 >"$ZONE/energy_uj"
hog energy -w --sysfs /tmp/host --weight=cycles 0.2 1 >/tmp/cycles 2>/tmp/cycles.err
STATUS=$?
no_counter() {
    cat /tmp/cycles /tmp/cycles.err
    [ "$STATUS" = 3 ] && [ "$(wc -l </tmp/cycles.err)" = 1 ] && grep -q 'no counter of cycles' /tmp/cycles.err
}
if ls -d /sys/bus/event_source/devices/armv8* >/dev/null 2>&1; then # emulation has one there
    check '--weight=cycles: counted' grep -qE ' weight=cycles( |$)' /tmp/cycles
else
    check '--weight=cycles without a counter: status 3, and why' no_counter
fi
echo 1 >"$PMU/type" # software events: the first one is a clock
$TOOLS/zones 60 0:0 "$ZONE/energy_uj=20000000" >/dev/null &
FEEDER=$!
timeout 60 hog energy -w --sysfs /tmp/host --weight=cycles -k 1000 0.5 3 >/tmp/cycles 2>/tmp/cycles.err
kill "$FEEDER"
# Counted by a clock, cycles are time: the shares of energy are the tasks' shares of time.
counted_cycles() {
    cat /tmp/cycles.err /tmp/cycles
    [ "$(field_of weight /tmp/cycles | xargs)" = 'cycles cycles cycles' ]
}
check 'by cycles: programs read them' counted_cycles
loop_share() { # its share of energy, and of the time of all rows
    awk -v loop="$LOOP" "$BY_NAME"'$1 == "energy" { j += col("joules"); ms += col("run_ms"); if (col("pid") == loop) { lj += col("joules"); lms += col("run_ms") } }
        END { print j && ms && lms ? lj / j / (lms / ms) : "none" }' /tmp/cycles
}
# Not closer: in emulation, reading the counter takes a part of the short runs of others.
check 'by cycles: with a clock for cycles it is as by time' within "$(loop_share)" 0.9 1.1

# ---- the kernel's powercap ----

[ -e $MODULE ] || exit 0
cap() { dmesg -c >/dev/null; insmod $MODULE "uw=20000000,0,7000000" "uj=0,5,0" range_uj=60000000 || { dmesg && return 1; }; }
check 'powercap: the module for tests is there' cap
ls -l /sys/class/powercap/*/energy_uj >/dev/null 2>&1 || exit 0

timeout 60 hog energy -w -k 1000 0.5 7 >/tmp/cap 2>/tmp/cap.err
# The counters are read between the end of the window and skew_us later.
at_pace() { # at_pace DOMAIN UW
    cat /tmp/cap.err
    grep -E "^#window|^#domain domain=$1 " /tmp/cap
    awk -v domain="domain=$1" -v uw="$2" "$BY_NAME"'
        $1 == "#domain" && $2 == domain { joules[WINDOW] = substr($3, 8) }
        END {
            for (w = 1; w <= WINDOW; w++) {
                us = win("dur_ms", w) * 1000; uj = joules[w] * 1e6; all += uj; n += w in joules
                if (w > 1 && (uj < (us - win("skew_us", w - 1)) * uw / 1e6 - 2 || uj > (us + win("skew_us", w)) * uw / 1e6 + 2)) { bad++; print w, uj }
            }
            print n " windows, " bad + 0 " off, " all " uJ"; exit n != 7 || bad || all < 60000000 * uw / 20000000
        }' /tmp/cap
}
check 'powercap: a zone has what its counter grew by, also over its end' at_pace package-0 20000000
check 'powercap: the other package, too' at_pace package-1 7000000
check 'powercap: a part that stands still has nothing' test "$(grep -c '^#domain domain=package-0/core joules=0.000000 watts=0.000' /tmp/cap)" = 7
add_up() { # to busybox's awk, numbers with a 0 in front are octal
    grep -E '^#|unattr' "/tmp/$1"
    awk "$BY_NAME"'function uj(j, part) { split(j, part, "."); return part[1] * 1000000 + ("1" part[2]) - 1000000 }
        function judge(d) { for (d in want) { n++; if (want[d] != got[d]) { bad++; print d, want[d], got[d] } } delete want; delete got }
        $1 == "#window" { judge() }
        $1 == "#domain" && $3 != "joules=-" { want[substr($2, 8)] = uj(substr($3, 8)); got[substr($2, 8)] = 0 }
        $1 == "energy" && col("joules") != "-" { got[col("domain")] += uj(col("joules")) }
        END { judge(); exit !n || bad }' "/tmp/$1"
}
check 'powercap: rows add up to the microjoule' add_up cap

# Moved by hand, the sum is exact.
hog -v -w energy -k 1000 60 >/tmp/moved 2>/tmp/moved.err &
HOG=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    grep -q ': start: ' /tmp/moved.err && break
    sleep 0.5
done
sleep 1
echo 0,12345683,0 >/sys/module/hogcap/parameters/uj
sleep 0.2
echo 0,3,0 >/sys/module/hogcap/parameters/uj && echo 0,59999999,0 >/sys/module/hogcap/parameters/uj
echo 0,12345683,0 >/sys/module/hogcap/parameters/uj
kill -INT $HOG
wait $HOG
check 'powercap: joules are to the microjoule what the counter was moved by' has '#domain domain=package-0/core joules=12.345678 ' /tmp/moved
check 'powercap: and rows add up' add_up moved

timeout 60 hog energy -- $TOOLS/named 6f6e65 300 >/dev/null 2>/tmp/command
all_of() {
    cat /tmp/command
    within "$(of_command package-0 domain_joules)" "$(of_command package-0 known_s | awk '{ print $1 * 20 * 0.98 }')" \
        "$(of_command package-0 known_s | awk '{ print $1 * 20 * 1.02 }')"
}
check 'powercap: a command: what all took meanwhile' all_of

# The driver is removed while hog runs, and comes back.
hog energy -w -k 1000 0.3 >/tmp/gone 2>/tmp/gone.err &
HOG=$!
known() { awk '$1 == "#domain" && $2 == "domain=package-1" { print $3 == "joules=-" ? "-" : "+" }' /tmp/gone | uniq | tr -d '\n'; }
await() {
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        [ "$(known)" != "$1" ] || return 0
        sleep 0.5
    done
    return 1
}
await +
check 'powercap: the driver can go while hog reads it' rmmod hogcap
await +-
cap
await +-+
kill -INT $HOG
wait $HOG
check 'powercap: a zone is not known while its driver is gone, and is again' test "$(known)" = +-+
check 'powercap: and rows add up' add_up gone
rmmod hogcap
