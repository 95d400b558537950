#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What doctor reports about the host, against other sources on the host. (Hooks: fallback.sh.)
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"

before=$(grep -c securityfs /proc/self/mountinfo)
"$HOG" doctor >"$TMP/doctor"
after=$(grep -c securityfs /proc/self/mountinfo)

said() { # said ITEM: doctor's value of that item
    sed -n "s/^$1 \\+//p" "$TMP/doctor"
}

same() {
    [ "$1" = "$2" ] || { echo "'$1' is not '$2'"; return 1; }
}

# In a mount namespace of its own, whatever is mounted outside.
lockdown() {
    local mount="mount -t securityfs none $TMP/securityfs"
    unshare -m sh -c "$mount && cat $TMP/securityfs/lockdown" 2>/dev/null | sed -n 's/.*\[\(.*\)\].*/\1/p'
}

# Possible CPUs: the highest number in a list like 0-3,8, plus one.
possible() {
    sed 's/[,-]/\n/g' /sys/devices/system/cpu/possible | awk '$1 + 1 > n { n = $1 + 1 } END { print n }'
}

btf_kib() {
    said btf | sed -n 's/.*, \([0-9]*\) KiB/\1/p'
}

mkdir "$TMP/securityfs"
mode=$(lockdown)
check 'kernel: release and machine' same "$(said kernel)" "$(uname -rm)"
check 'cpus: online and possible' same "$(said cpus)" "$(getconf _NPROCESSORS_ONLN) online, $(possible) possible"
if [ -n "$mode" ]; then
    check 'lockdown: the mode, securityfs mounted or not' same "$(said lockdown)" "$mode"
else
    check 'lockdown: unknown' grep -q '^lockdown .*unknown' "$TMP/doctor"
fi
check 'btf: its size' same "$(btf_kib)" "$(($(stat -c %s /sys/kernel/btf/vmlinux) / 1024))"
check 'nothing stays mounted' same "$after" "$before"
done_testing
