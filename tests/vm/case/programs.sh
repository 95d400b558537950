# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# The tests of tests/live that are programs: the loader, with hooks of every kind.

# Does this kernel have what a test is skipped for? Debian's kernels do; lockdown is another boot.
lacks() {
    case $1 in
    BTF) [ ! -s /sys/kernel/btf/vmlinux ] ;;
    KPROBE) [ ! -e /sys/bus/event_source/devices/kprobe ] ;;
    UPROBE) [ ! -e /sys/bus/event_source/devices/uprobe ] ;;
    FENTRY) [ "$MODE" = confidentiality ] || [ ! -s /sys/kernel/btf/vmlinux ] || lacks_trampoline ;;
    ATOMICS) ! bpftool feature probe kernel 2>/dev/null | grep -q 'bpf_for_each_map_elem$' ;; # one release later
    DISK) ! grep -q ' /var/tmp ' /proc/mounts ;; # everything is in memory
    CLANG19) ! ls /tests/bpf/*.clang19.bpf.o >/dev/null 2>&1 ;;
    a) true ;; # "a kernel with ...": the program probed the kernel itself
    *) false ;;
    esac
}

# arm64 has what fentry needs from 6.4 on.
lacks_trampoline() {
    [ "$(uname -m)" = aarch64 ] && uname -r | awk -F . '{ exit !($1 < 6 || ($1 == 6 && $2 < 4)) }'
}

# program NAME
program() {
    # Before 5.11 the limit of locked memory applies to BPF's: a probe must not take that for a missing feature.
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
            echo "not ok - live/$1: $line (but this kernel has $need)"
        fi
    done
    if ! grep -q '^ok - \|^not ok - \|^skip - ' /tmp/out; then
        echo "not ok - live/$1: said nothing, status $status"
    elif [ $status -ne 0 ] && ! grep -q '^not ok - ' /tmp/out; then
        echo "not ok - live/$1: status $status"
    fi
    [ $status -eq 0 ] || tail -n 20 /tmp/err | sed 's/^/# /'
}

kill -STOP "$LOOP" # loading next to it takes long in emulation, and a thousand loads even longer
export HOG_TEST_CYCLES=120
for test in /tests/live/*; do
    program "${test##*/}"
done
kill -CONT "$LOOP"
