#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Fetches the newest cloud kernel of a Debian suite for an architecture (amd64, arm64), once, and prints where it is, in a
# form that qemu can boot. DIR/x holds the package, unpacked, without modules.
#
#   kernel.sh SUITE ARCH DIR
#
# Status 3: the mirror does not have this suite, or no such kernel in it; 1: everything else. The reason is on stderr.
set -euo pipefail
export LC_ALL=C
suite=$1 arch=$2 dir=$3

# From 7.x on the image is in linux-binary-*; linux-image-* then only depends on it.
"${0%/*}/../debian.sh" "$suite" "$arch" "$dir" "/linux-(binary|image)-[0-9].*-cloud-$arch/"
rm -rf "$dir"/x/{,usr/}lib/modules/*/kernel
kernel=$(find "$dir/x" \( -path '*/boot/vmlinuz-*' -o -path '*/lib/modules/*/vmlinuz' \) -type f | sort | head -n 1)
if [ -z "$kernel" ]; then
    echo "the newest kernel package of $suite for $arch holds no kernel" >&2
    exit 1
fi
echo "$kernel"
