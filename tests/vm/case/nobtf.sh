# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# A kernel that does not describe its types: an empty directory takes the place of the description.
mkdir -p /tmp/empty
mount -o bind /tmp/empty /sys/kernel/btf
views 'no BTF'
check 'hog doctor: says so' item btf '(none|no |not ).*'
names_loop tracepoint 'no BTF'
judges_loop 'no BTF' 'wait iowait memstall lock'
umount /sys/kernel/btf
