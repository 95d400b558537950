#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Does this machine have what a skipped test said it needs? Status 0: it has; 1: it has not; 2: no such need. Checked without
# hog, so that a hog that wrongly gives up is noticed.
#
#   has.sh NEED
set -u
export PATH="$PATH:/usr/sbin:/sbin"

# Attaches a fentry program with bpftool.
has_fentry() {
    local dir status
    dir=$(mktemp -d) || return 1
    mkdir -p "/sys/fs/bpf/has_$$" || return 1
    clang -target bpf -O2 -g -x c -c -o "$dir/fentry.o" - <<'SOURCE' &&
__attribute__((section("fentry/schedule"), used)) int on_schedule(void *context)
{
    return 0;
}
char LICENSE[] __attribute__((section("license"), used)) = "GPL";
SOURCE
        bpftool prog load "$dir/fentry.o" "/sys/fs/bpf/has_$$/prog" >/dev/null 2>&1
    status=$?
    rm -rf "$dir"
    rm -f "/sys/fs/bpf/has_$$/prog"
    rmdir "/sys/fs/bpf/has_$$"
    return "$status"
}

# Does the mirror of this machine's packages have that suite of Debian?
has_suite() {
    local mirror file status
    mirror=${VM_MIRROR:-$(apt-get indextargets --format "\$(REPO_URI) \$(CODENAME)" 'Component: main' |
        awk '/debian/ && $2 !~ /-/ { print $1; exit }')}
    file=$(mktemp) || return 1
    /usr/lib/apt/apt-helper -q download-file "${mirror%/}/dists/$1/InRelease" "$file" >/dev/null 2>&1
    status=$?
    rm -f "$file"
    return "$status"
}

# Can a cgroup of that kind be made, of version 1 or 2?
has_cgroup() { # has_cgroup cpu|memory
    local at
    for at in "/sys/fs/cgroup/$1" /sys/fs/cgroup/cpu,cpuacct /sys/fs/cgroup; do
        case $at in
        *cpu* | *memory) [ -e "$at/tasks" ] || continue ;;
        *) { echo "+$1" >"$at/cgroup.subtree_control"; } 2>/dev/null || continue ;;
        esac
        mkdir "$at/has_$$" 2>/dev/null && rmdir "$at/has_$$" && return
    done
    return 1
}

# Are the CPUs idle, except for 15 % of them?
is_idle() {
    {
        grep '^cpu ' /proc/stat
        sleep 3
        grep '^cpu ' /proc/stat
    } | awk '{ for (i = 2; i <= 9; i++) all[NR] += $i; idle[NR] = $5 + $6 }
        END { exit !(idle[2] - idle[1] > 0.85 * (all[2] - all[1])) }'
}

# Does podman run a program in a container here?
has_containers() {
    local dir status
    command -v podman busybox >/dev/null && dir=$(mktemp -d) || return 1
    cp "$(command -v busybox)" "$dir/busybox"
    tar -C "$dir" -c busybox | tests/load/podman.sh "$dir/podman" import - has:it >/dev/null 2>&1 &&
        tests/load/podman.sh "$dir/podman" run --rm has:it /busybox true >/dev/null 2>&1
    status=$?
    rm -rf "$dir"
    return "$status"
}

any() { [ -e "$1" ]; }

case ${1-} in
ROOT) [ "$(id -u)" -eq 0 ] ;;
BTF) [ -s /sys/kernel/btf/vmlinux ] ;;
KPROBE) [ -e /sys/bus/event_source/devices/kprobe ] ;;
UPROBE) [ -e /sys/bus/event_source/devices/uprobe ] ;;
FENTRY) has_fentry ;;
ATOMICS) bpftool feature probe kernel 2>/dev/null | grep -q 'bpf_for_each_map_elem$' ;; # one release later
TRACEFS) [ -d /sys/kernel/tracing/events ] ;;
BPFFS) mountpoint -q /sys/fs/bpf ;;
RAPL) any /sys/class/powercap/*:0/energy_uj || [ -e /sys/bus/event_source/devices/power ] ;;
PMU) [ -e /sys/bus/event_source/devices/cpu/events/cpu-cycles ] || any /sys/bus/event_source/devices/armv8*/events/cpu_cycles ;;
MAWK | GAWK | BUSYBOX) command -v "${1,,}" >/dev/null ;;
CGROUP2) grep -q ' - cgroup2 ' /proc/self/mountinfo ;;
CGROUP1) grep -q ' - cgroup ' /proc/self/mountinfo ;;
CGROUPCPU) has_cgroup cpu ;;
CGROUPMEMORY) has_cgroup memory ;;
ZRAM) [ "$(cat /sys/block/zram0/disksize 2>/dev/null)" = 0 ] ;;
IDLE) is_idle ;;
OWNCPU) awk '$1 == "cpu" { exit !($9 * 1000 < $2 + $3 + $4) }' /proc/stat ;; # almost nothing was stolen from it
# At least 300 ms of the last CPU, nearly all of it reported to the scheduler: tests/load/thief.c wants half.
STEAL)
    awk -v cpu="cpu$(($(nproc) - 1))" '$1 == cpu { exit $9 < 30 }' /proc/stat &&
        { zcat /proc/config.gz || cat "/boot/config-$(uname -r)"; } 2>/dev/null | grep -qx CONFIG_PARAVIRT_TIME_ACCOUNTING=y
    ;;
SCHEDSTATS) [ -e /proc/sys/kernel/sched_schedstats ] ;;
BLKIO1) [ -e /sys/fs/cgroup/blkio/blkio.throttle.read_bps_device ] ;;
MEMCG1) [ -e /sys/fs/cgroup/memory/memory.limit_in_bytes ] ;;
SWAP) [ "$(wc -l </proc/swaps)" -gt 1 ] ;;
JEMALLOC) ldconfig -p | grep -q libjemalloc.so.2 ;;
TCMALLOC) ldconfig -p | grep -q libtcmalloc_minimal.so.4 ;;
MIMALLOC) ldconfig -p | grep -q libmimalloc.so ;;
FIO) command -v fio >/dev/null ;;
OPENMPI) command -v mpicc >/dev/null && command -v mpif90 >/dev/null && command -v mpirun >/dev/null ;;
LOOP) [ -e /dev/loop-control ] ;;
FSFREEZE) command -v fsfreeze >/dev/null ;;
FUSE) [ -e /dev/fuse ] && command -v bindfs >/dev/null ;;
XFS) [ -e /dev/loop-control ] && grep -qw xfs /proc/filesystems && command -v mkfs.xfs >/dev/null ;;
RTPRIO) chrt -f 1 true 2>/dev/null ;;
CPUHOTPLUG) [ -w /sys/devices/system/cpu/cpu1/online ] ;;
SETTID) "${BUILD:-build}/tests/load/reuse" 1 1 >/dev/null || [ $? -ne 3 ] ;;
CPUS2) [ "$(nproc)" -ge 2 ] ;;
IA32) [ -e /proc/sys/abi/vsyscall32 ] ;;
IRQTICKS) awk '/^cpu / { exit !($7 + $8) }' /proc/stat ;;
IPTABLES) unshare -n iptables-restore </dev/null 2>/dev/null ;;
TIMENS) [ -e /proc/self/ns/time ] ;;
USERNS) unshare -r true 2>/dev/null ;;
CLANG19) command -v clang-19 >/dev/null ;;
QEMU) command -v qemu-system-x86_64 >/dev/null ;;
KVM) [ -w /dev/kvm ] ;;
PROMTOOL) command -v promtool >/dev/null ;;
PROMETHEUS) command -v prometheus >/dev/null && command -v prometheus-node-exporter >/dev/null ;;
SYSTEMD) command -v systemd-analyze >/dev/null ;;
KUBERNETES) [ -d /usr/lib/python3/dist-packages/kubernetes ] ;;
CONTAINERS) has_containers ;;
JSONSCHEMA) /usr/bin/python3 -c 'import jsonschema' 2>/dev/null ;;
YAMLLINT) command -v yamllint >/dev/null ;;
CHROMIUM) command -v chromium-headless-shell >/dev/null ;;
LIBBPFTOOLS) command -v cpudist >/dev/null ;;
TMP) [ -d /tmp ] ;;
DISK) ! df --output=fstype /var/tmp | grep -qE '^(tmpfs|ramfs|rootfs)$' ;;
CGROUPCPUMEMORY) grep -q '^cpu\s.*1$' /proc/cgroups && grep -q '^memory\s.*1$' /proc/cgroups ;;
BULLSEYE | BOOKWORM | TRIXIE | SID) has_suite "${1,,}" ;;
*) exit 2 ;;
esac || exit 1
