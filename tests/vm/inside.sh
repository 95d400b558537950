#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# The init of the virtual machine: runs the tests that need nothing but this directory, and switches off. Its lines go to
# the second serial port, where the kernel has no say: those of tests, `doctor ...` as hog says it, `# ...` with what a
# failed test said, `kernel ...` first, and `end` last.
/bin/busybox --install -s /bin
export PATH=/bin HOME=/ HOG_TEST_OBJECTS=/tests/bpf HOG=/bin/hog
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmpfs /tmp
mount -t bpf bpf /sys/fs/bpf
mount -t tracefs tracefs /sys/kernel/tracing
mount -t securityfs securityfs /sys/kernel/security
exec >/dev/ttyS1 </dev/null
stty raw -echo <&1
MODE=$(sed -n 's/.*\[\(.*\)\].*/\1/p' /sys/kernel/security/lockdown)

ok() { echo "ok - $1"; }
not_ok() { echo "not ok - $1"; }

# check NAME COMMAND...: as in tests/live/lib.sh.
check() {
    name=$1
    shift
    if "$@" >/tmp/check 2>&1; then
        ok "$name"
    else
        not_ok "$name: $(head -n 2 /tmp/check | tr '\n' ' ')"
        sed 's/^/# /' /tmp/check | head -n 30
    fi
}

# Does this kernel have what a test is skipped for? Debian's do, and lockdown is another boot.
lacks() {
    case $1 in
    BTF) [ ! -s /sys/kernel/btf/vmlinux ] ;;
    KPROBE) [ ! -e /sys/bus/event_source/devices/kprobe ] ;;
    UPROBE) [ ! -e /sys/bus/event_source/devices/uprobe ] ;;
    FENTRY) [ "$MODE" = confidentiality ] || [ ! -s /sys/kernel/btf/vmlinux ] ;;
    ATOMICS) ! bpftool feature probe kernel 2>/dev/null | grep -q 'bpf_for_each_map_elem$' ;; # one release later
    CLANG19) ! ls /tests/bpf/*.clang19.bpf.o >/dev/null 2>&1 ;;
    a) true ;; # "a kernel with ...": the program asked the kernel itself
    *) false ;;
    esac
}

# program NAME: one of the live tests.
program() {
    # Before 5.11 the limit of locked memory bounds BPF's: no probe may take that for a feature that is not there.
    (
        [ "$1" != load_probes ] || ulimit -Sl 0
        exec timeout 120 "/tests/live/$1"
    ) >/tmp/out 2>/tmp/err
    status=$?
    sed -n "s,^\\(\\(not \\)*ok\\) - ,\\1 - live/$1: ,p" /tmp/out
    sed -n "s,^skip - ,,p" /tmp/out | while read -r line; do
        need=$(echo "$line" | sed -n 's/.*: needs \([A-Za-z0-9]*\).*/\1/p')
        if lacks "$need"; then
            echo "skip - live/$1: $line"
        else
            not_ok "live/$1: $line (but this kernel has $need)"
        fi
    done
    if ! grep -q '^ok - \|^not ok - \|^skip - ' /tmp/out; then
        not_ok "live/$1: said nothing, status $status"
    elif [ $status -ne 0 ] && ! grep -q '^not ok - ' /tmp/out; then
        not_ok "live/$1: status $status"
    fi
    [ $status -eq 0 ] || tail -n 20 /tmp/err | sed 's/^/# /'
}

# ---- hog itself ----

within() { # within VALUE LOW HIGH
    echo "$1 in $2..$3"
    echo "$1 $2 $3" | awk 'NF != 3 || $1 < $2 || $1 > $3 { exit 1 }'
}

on_cpu_ms() { awk '{ printf "%.3f\n", $1 / 1e6 }' "/proc/$LOOP/schedstat"; }

# hog's run_ms of the loop, all windows together.
seen_ms() { awk -v pid="$LOOP" '$1 == "cpu" && $3 == pid { sum += $6 } END { printf "%.3f\n", sum }' /tmp/hog.out; }

dur_ms() { sed -n 's/^#window .* dur_ms=\([0-9.]*\) .*/\1/p' /tmp/hog.out | awk '{ sum += $1 } END { print sum + 0 }'; }

# The loop is first in each of the three windows, has nearly all of a CPU, and not more than the scheduler itself counts from
# before to after.
is_first() {
    cat /tmp/hog.out
    awk -v pid="$LOOP" '$1 == "cpu" && $2 == 1 { n++; bad += $3 != pid || $5 < 95 || $5 > 101 }
        END { exit n != 3 || bad }' /tmp/hog.out
}

agrees() {
    [ "$STATUS" = 0 ] && within "$(seen_ms)" "$(dur_ms | awk '{ print $1 * 0.95 }')" \
        "$(echo "$BEFORE $AFTER" | awk '{ print $2 - $1 + 2 }')"
}

none_missed() {
    cat /tmp/hog.out
    grep -q '^#window ' /tmp/hog.out && ! grep '^#window ' /tmp/hog.out | grep -v ' missed_ms=0\.000 '
}

uses() { # uses HOOK
    cat /tmp/hog.err
    grep -qx "hog: cpu: switch: $1" /tmp/hog.err && grep -qx "hog: cpu: exit: $1" /tmp/hog.err
}

run_hog() {
    BEFORE=$(on_cpu_ms)
    timeout 60 hog -v cpu "$@" 0.5 3 >/tmp/hog.out 2>/tmp/hog.err
    STATUS=$?
    AFTER=$(on_cpu_ms)
}

# names_loop HOOK NAME OPTION...
names_loop() {
    hook=$1 what=$2
    shift 2
    run_hog "$@"
    check "hog cpu, $what: the hook is $hook" uses "$hook"
    check "hog cpu, $what: the busy loop is first" is_first
    check "hog cpu, $what: its time is what the scheduler counts" agrees
}

nothing_left() {
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        { bpftool prog show && bpftool map show; } >/tmp/left || return 1
        grep ' name hog_' /tmp/left || ! cat /sys/kernel/tracing/[ku]probe_events 2>/dev/null | grep /hog_ || return 1
        grep -q ' name hog_' /tmp/left || return 0
        sleep 0.3
    done
    return 1
}

loads_while_running() { # the way to see programs sees them at all
    hog cpu 60 >/dev/null 2>&1 &
    pid=$!
    found=1
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        sleep 0.3
        bpftool prog show | grep ' name hog_' && found=0 && break
    done
    kill -9 $pid
    wait $pid
    return $found
}

item() { # item NAME PATTERN: a line of doctor
    grep "^$1 " /tmp/doctor
    grep -qE "^$1 +($2)\$" /tmp/doctor
}

says() { # says NAME TEXT: the same, to the letter
    sed -n "s/^$1  *//p" /tmp/doctor
    [ "$(sed -n "s/^$1  *//p" /tmp/doctor)" = "$2" ]
}

# Possible CPUs: the last number in a list like 0-3, and one. Newer kernels leave out what only a hotplug would bring.
possible() { sed 's/.*[,-]//' /sys/devices/system/cpu/possible | awk '{ print $1 + 1 }'; }

common() {
    hog doctor >/tmp/doctor 2>/tmp/doctor.err
    check 'hog doctor: status 0' test $? = 0
    sed 's/^/doctor /' /tmp/doctor
    check 'hog doctor: the kernel' says kernel "$(uname -r) $(uname -m)"
    check 'hog doctor: online and possible CPUs' says cpus "$(nproc) online, $(possible) possible"
    check 'hog doctor: the mode of lockdown' item lockdown "${MODE:-.*not told.*}"
    check 'hog doctor: BTF and its size' says btf \
        "/sys/kernel/btf/vmlinux, $(($(stat -c %s /sys/kernel/btf/vmlinux) / 1024)) KiB"
    names_loop tp_btf 'best hook'
    check 'hog cpu: no time is missed' none_missed
}

hooks() {
    names_loop raw_tp 'without tp_btf' --without tp_btf
    names_loop tracepoint 'without tp_btf and raw_tp' --without tp_btf,raw_tp
    names_loop tp_btf 'a hash map' --exact
    names_loop tp_btf threads -t
    names_loop tp_btf 'one process' -p "$LOOP"
    names_loop tp_btf 'the largest sketch' --stages 8 --slots 1024
    names_loop tp_btf 'the smallest sketch' --stages 1 --slots 8
    mkdir /tmp/empty
    mount -o bind /tmp/empty /sys/kernel/btf
    names_loop tracepoint 'no BTF'
    hog doctor >/tmp/doctor 2>&1
    check 'hog doctor, no BTF: says so' grep -qiE '^btf +.*(none|no |not )' /tmp/doctor
    check 'hog doctor, no BTF: the view works' item view.cpu ok
    umount /sys/kernel/btf
}

# What a mode of lockdown takes away is named; the best hook needs none of it.
refusals() {
    check 'hog doctor: the views work' item view.cpu ok
    check 'hog doctor: by tp_btf' item view.cpu.switch tp_btf
    [ "$MODE" = confidentiality ] || return
    for hook in kprobe tracepoint; do
        check "hog doctor: lockdown is why there is no $hook" item "hook.$hook" '.*lockdown.*'
    done
    run_hog --without tp_btf,raw_tp
    check 'hog cpu by a tracepoint: status 3' test $STATUS = 3
    check 'hog cpu by a tracepoint: lockdown is why not' grep -q lockdown /tmp/hog.err
}

echo "kernel $(uname -r)"
echo "# up after $(cut -d ' ' -f 1 /proc/uptime) s"
yes >/dev/null &
LOOP=$!
common
case $MODE in integrity | confidentiality) refusals ;; esac
[ "$MODE" = confidentiality ] || hooks
kill $LOOP
check 'programs of hog are seen while it runs' loads_while_running
check 'nothing of hog is left in the kernel, killed or not' nothing_left
if [ "$MODE" != confidentiality ]; then
    for test in /tests/live/*; do
        program "${test##*/}"
    done
fi
echo "# done after $(cut -d ' ' -f 1 /proc/uptime) s"
echo end
sync
poweroff -f
