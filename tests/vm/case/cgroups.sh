# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# No control groups mounted, version 2, version 1, and both; and limits in version 1 (tests/live has them in version 2).
mkdir -p /tmp/v1 /tmp/v2
is() { # is HOST WORD
    views "$1"
    check "hog doctor: $1" says cgroup "$2"
}
is 'no cgroups' 'none mounted'
mount -t cgroup2 none /tmp/v2
is 'cgroup v2' v2
mount -t cgroup -o none,name=hog none /tmp/v1
is 'cgroup hybrid' 'hybrid (v1 and v2)'
umount /tmp/v2
is 'cgroup v1' v1
umount /tmp/v1

mount -t cgroup -o cpu,memory none /tmp/v1
/tests/live/cgroup >/tmp/limits 2>&1
sed -n "s/^\\(\\(not \\)*ok\\) - /\\1 - $CASE: limits in version 1: /p" /tmp/limits
check 'limits in version 1: that is where they were' has ', version 1' /tmp/limits
umount /tmp/v1
