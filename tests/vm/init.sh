#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# The init of the virtual machine. Runs the cases that the kernel's command line names (hog.cases=A,B: the files case/A.sh
# and case/B.sh next to it, in that order) and powers off. Their output goes to the device of hog.out=, where the kernel does
# not write. Lines:
#
#   kernel RELEASE MACHINE         first
#   ok - NAME, not ok - NAME: DETAIL, skip - NAME: REASON       as of all tests
#   # TEXT                         what a failed test said
#   row CASE|VIEW|TEXT             a cell of the table
#   used VIEW WHAT HOOK            a hook that a view was seen to use, with right results
#   fact NAME VALUE                a figure, for the table of boots
#   end                            last
/bin/busybox --install -s /bin
export PATH=/bin HOME=/ HOG_TEST_OBJECTS=/tests/bpf HOG=/bin/hog
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmpfs /tmp
mount -t bpf bpf /sys/fs/bpf
mount -t tracefs tracefs /sys/kernel/tracing
mount -t securityfs securityfs /sys/kernel/security

argument() { tr ' ' '\n' </proc/cmdline | sed -n "s/^$1=//p" | tail -n 1; }

exec >"/dev/$(argument hog.out)" </dev/null
stty raw -echo <&1
export MODE
MODE=$(sed -n 's/.*\[\(.*\)\].*/\1/p' /sys/kernel/security/lockdown)
echo "kernel $(uname -r) $(uname -m)"
echo "fact up_s $(cut -d ' ' -f 1 /proc/uptime)"
# shellcheck source=tests/vm/lib.sh
. /tests/lib.sh
yes >/dev/null &
LOOP=$! BUSY=$!
for CASE in $(argument hog.cases | tr ',' ' '); do
    echo "# $CASE, after $(cut -d ' ' -f 1 /proc/uptime) s"
    # shellcheck source=/dev/null
    (. "/tests/case/$CASE.sh")
done
kill $LOOP
CASE=end
check 'nothing of hog is left in the kernel, killed or not' nothing_left
echo "fact done_s $(cut -d ' ' -f 1 /proc/uptime)"
echo end
sync
poweroff -f
