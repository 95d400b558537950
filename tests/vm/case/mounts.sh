# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Kernel file systems that are not mounted, or elsewhere.
mounts() { cut -d ' ' -f 3- /proc/self/mountinfo | sort; }

same_mounts() {
    mounts >/tmp/mounts.after
    diff /tmp/mounts.before /tmp/mounts.after
}

umount /sys/kernel/tracing /sys/fs/bpf /sys/kernel/security
mounts >/tmp/mounts.before
views 'no tracefs, bpffs, securityfs'
check 'hog doctor: no tracefs' item tracefs 'not mounted: .*'
check 'hog doctor: the mode of lockdown, without securityfs' item lockdown "${MODE:-.*unknown.*}"
names_loop tracepoint 'no tracefs' --without tp_btf,raw_tp
judges_loop 'no tracefs' "$(lock_unknown)"
check 'no tracefs, bpffs, securityfs: nothing was mounted' same_mounts

mount -t debugfs none /sys/kernel/debug
ls /sys/kernel/debug/tracing/events >/dev/null # the lookup mounts it
mounts >/tmp/mounts.before
views 'tracefs in debugfs' --without tp_btf,raw_tp
check 'hog doctor: tracefs in debugfs' says tracefs /sys/kernel/debug/tracing
names_loop tracepoint 'tracefs in debugfs' --without tp_btf,raw_tp
check 'tracefs in debugfs: nothing was mounted' same_mounts
umount /sys/kernel/debug/tracing 2>/dev/null
umount /sys/kernel/debug /sys

views 'no sysfs'
hog cpu 0.2 1 >/tmp/refused 2>&1
check 'no sysfs: status 3' test $? = 3
check 'no sysfs: says so' has 'is sysfs mounted?' /tmp/refused
check 'hog doctor: no sysfs' item btf 'none: .*sysfs.*'
mount -t sysfs sysfs /sys
mount -t bpf bpf /sys/fs/bpf
mount -t tracefs tracefs /sys/kernel/tracing
mount -t securityfs securityfs /sys/kernel/security
