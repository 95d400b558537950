# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# PID namespaces and roots like a container's: rows have the PIDs of /proc. NSpid on the host tells which those are.

child_of() {
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        grep -so '^[0-9]*' "/proc/$1/task/$1/children" && return
        usleep 50000
    done
}

nspid() { # nspid PID [LEVELS-UP]
    awk -v up="${2:-0}" '$1 == "NSpid:" { print $(NF - up) }' "/proc/$1/status"
}

# counts NAME PID COMM: the loop has that PID and that name in all three windows, with the time that it had.
counts() {
    check "$1: the loop has its number there and its name" is_named "$2" "$3"
    check "$1: its time is what the scheduler counts" has_time "$2"
}

is_named() {
    cat /tmp/hog.out /tmp/hog.err
    awk -v pid="$1" -v comm="$2" "$BY_NAME"'$1 == "cpu" && col("pid") == pid { n++; bad += col("comm") != comm }
        END { exit n != 3 || bad }' /tmp/hog.out
}

has_time() {
    ms=$(awk -v pid="$1" "$BY_NAME"'$1 == "cpu" && col("pid") == pid { sum += col("run_ms") } END { printf "%.3f\n", sum }' /tmp/hog.out)
    echo "before $BEFORE after $AFTER"
    [ "$STATUS" = 0 ] && within "$ms" "$(dur_ms | awk '{ print $1 * 0.6 }')" \
        "$(echo "$BEFORE $AFTER" | awk '{ print $2 - $1 + 2 }')"
}

says_pids() {
    cat /tmp/hog.out
    [ "$(field_of pids | grep -cx "$1")" = 3 ]
}

all_others_are_one() {
    cat /tmp/hog.out
    awk "$BY_NAME"'$1 == "cpu" && (col("pid") == "-" || col("comm") == "[outside]") { n++; bad += col("pid") != "-" || col("uid") != "-" || col("comm") != "[outside]" }
        $1 == "cpu" && col("pid") > 1000000 { bad++ } END { exit n != 3 || bad }' /tmp/hog.out
}

adds_up() {
    cat /tmp/hog.out
    awk "$BY_NAME"'$1 == "cpu" { sum[WINDOW] += col("run_ms") }
        END {
            for (w = 1; w <= WINDOW; w++) {
                off = sum[w] + win("other_ms", w) + win("idle_ms", w) + win("missed_ms", w) + win("stolen_ms", w) + win("lost_ms", w) - win("cpus", w) * win("dur_ms", w)
                if (off > 0.1 || off < -0.1) { bad++; print "window " w ": off by " off " ms" }
            }
            exit WINDOW < 2 || bad
        }' /tmp/hog.out
}

# refused STATUS TEXT: one line says why.
refused() {
    cat /tmp/hog.out /tmp/hog.err
    [ "$STATUS" = "$1" ] && [ ! -s /tmp/hog.out ] && grep -v '^hog: [a-z]*: [a-z]*: ' /tmp/hog.err >/tmp/said
    [ "$(wc -l </tmp/said)" = 1 ] && grep -q "$2" /tmp/said
}

HOST=$LOOP
kill -STOP "$HOST" # another loop keeps a CPU busy here
unshare -p -f --mount-proc sleep 1000 &
first=$!
OUTER=$(child_of $first)
nsenter -t "$OUTER" -p -m unshare -p -f --mount-proc sleep 1000 &
INNER=$(child_of "$(child_of $!)")
nsenter -t "$INNER" -p -m yes >/dev/null &
LOOP=$(child_of $!)
export BUSY=$LOOP
sleep 0.5
check 'the loop is three levels deep' test "$(grep NSpid "/proc/$LOOP/status" | wc -w)" = 4

if [ "${MODE:-none}" = confidentiality ]; then
    AS="nsenter -t $OUTER -p -m" run_hog -k 10000
    check 'confidentiality: the PIDs of the host, and hog says so' says_pids host
    check 'confidentiality: and why' has 'hog: PIDs are the kernel' /tmp/hog.err
    counts 'confidentiality' "$LOOP" -
    AS="nsenter -t $OUTER -p -m" run_hog -p 1
    check 'confidentiality: -p is refused' refused 3 'the numbers of PID namespace [0-9]* cannot be had'
else
    AS="nsenter -t $OUTER -p -m" run_hog -k 10000
    check 'a private /proc: says so' says_pids namespace
    counts 'a private /proc' "$(nspid "$LOOP" 1)" yes
    check 'a private /proc: all processes outside are one row' all_others_are_one
    check 'a private /proc: the times add up' adds_up
    AS="nsenter -t $INNER -p -m" run_hog -k 10000 --without tp_btf
    counts 'a nested one, raw_tp' "$(nspid "$LOOP")" yes
    AS="nsenter -t $OUTER -p -m" run_hog -p "$(nspid "$LOOP" 1)"
    counts 'a private /proc, -p' "$(nspid "$LOOP" 1)" yes
    check 'a private /proc, -p: the times add up' adds_up
    AS="nsenter -t $OUTER -p -m" run_hog -p 999999
    check 'a private /proc, -p: a PID that does not exist there' refused 1 'no such process in the PID namespace of /proc'
    AS="nsenter -t $OUTER -p -m" run_hog -t -k 10000
    counts 'a private /proc, threads' "$(nspid "$LOOP" 1)" yes
    kill -STOP "$BUSY" # a full scan takes long in emulation
    nsenter -t "$OUTER" -p -m hog doctor >/tmp/doctor 2>&1
    kill -CONT "$BUSY"
    check 'a private /proc: doctor says it' item pids 'namespace: .*'
    AS="nsenter -t $OUTER -m" run_hog -p "$(nspid "$LOOP" 1)"
    counts 'a private /proc seen from outside' "$(nspid "$LOOP" 1)" yes
fi
DEEP=$LOOP
LOOP=$(nspid "$LOOP" 1)
AS="nsenter -t $OUTER -p -m" views 'PID namespace, its own /proc'
[ "${MODE:-none}" = confidentiality ] || AS="nsenter -t $OUTER -p -m" judges_loop 'PID namespace, its own /proc' "$(lock_unknown)"
LOOP=$DEEP

AS="unshare -p -f" run_hog -k 10000
check "the host's /proc in a namespace: says so" says_pids host
counts "the host's /proc in a namespace" "$LOOP" yes
AS="unshare -p -f" run_hog -p "$LOOP"
counts "the host's /proc in a namespace, -p" "$LOOP" yes

mkdir -p /tmp/root/proc /tmp/root/sys /tmp/root/bin
cp /bin/hog /bin/busybox /tmp/root/bin/
mount -t proc proc /tmp/root/proc
mount -t sysfs sysfs /tmp/root/sys
AS="chroot /tmp/root" run_hog -k 10000
check 'a chroot with a /proc of its own: says so' says_pids host
counts 'a chroot with a /proc of its own' "$LOOP" yes
AS="chroot /tmp/root" views 'chroot, a private /proc'
umount /tmp/root/proc
AS="chroot /tmp/root" run_hog -k 10000
counts 'a chroot without /proc' "$LOOP" -
check 'a chroot without /proc: says why there are no names' has 'hog: PIDs are the kernel' /tmp/hog.err
AS="chroot /tmp/root" run_hog -p "$LOOP"
check 'a chroot without /proc: -p is refused' refused 3 'no procfs on /proc'
umount /tmp/root/sys

kill -9 "$OUTER"
kill -CONT "$HOST"
