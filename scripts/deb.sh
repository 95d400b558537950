#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Packs what `make install` puts below a directory into a .deb. The same files give the same bytes, wherever and whenever:
# the only owner is root, and the time is that of the last commit, or SOURCE_DATE_EPOCH.
#
#   deb.sh DIRECTORY VERSION ARCHITECTURE FILE.deb
set -euo pipefail
root=$1 version=$2 architecture=$3 to=$4
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
export SOURCE_DATE_EPOCH

gzip -9nf "$root"/usr/share/man/man8/hog.8
mkdir -p "$root/DEBIAN" "$root/usr/share/doc/hog"
{
    echo 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/'
    echo
    echo 'Files: *'
    echo 'License: GPL-2.0-only'
} >"$root/usr/share/doc/hog/copyright"
size=$(find "$root/usr" -type f -printf '%s\n' | awk '{ kib += int(($1 + 1023) / 1024) } END { print kib }')
cat >"$root/DEBIAN/control" <<EOF
Package: hog
Version: $version
Architecture: $architecture
Maintainer: hog <root@localhost>
Installed-Size: $size
Section: admin
Priority: optional
Description: name the resource hogs of a host, and why a process is slow
 Counts in the kernel by BPF programs of its own: CPU, memory, waits, faults,
 I/O and energy by process, in windows down to a millisecond. One static
 program without any dependency.
EOF
find "$root" -exec chmod u=rwX,go=rX '{}' + -exec touch -h -d "@$SOURCE_DATE_EPOCH" '{}' +
dpkg-deb --root-owner-group -Zxz --build "$root" "$to" >/dev/null
