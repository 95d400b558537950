#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Fetches the newest cloud kernel of a Debian suite for an architecture (amd64, arm64), once, and prints where it is, in a
# form that qemu can boot. DIR/x holds the package, unpacked, without modules except those that any plan needs, in
# DIR/x/modules.
#
#   kernel.sh SUITE ARCH DIR [MODULE...]        fails if it has not these
#
# Status 3: the mirror does not have this suite, or no such kernel in it; 1: everything else. The reason is on stderr.
set -euo pipefail
export LC_ALL=C
# shellcheck source=scripts/vm/plans.sh
. "${0%/*}/plans.sh"
suite=$1 arch=$2 dir=$3
shift 3

# From 7.x on the image is in linux-binary-*; linux-image-* then only depends on it.
fetch() { "${0%/*}/../debian.sh" "$suite" "$arch" "$dir" "/linux-(binary|image)-[0-9].*-cloud-$arch/"; }

# keep MODULE: Debian compresses them from 6.7 on.
keep() {
    local file
    [ ! -e "$dir/x/modules/$1.ko" ] || return 0
    file=$(find "$dir"/x -path '*/kernel/*' -name "$1.ko*" -print -quit)
    mkdir -p "$dir/x/modules"
    case $file in
    *.ko) cp "$file" "$dir/x/modules/" ;;
    *.ko.xz) xz -dc "$file" >"$dir/x/modules/$1.tmp" && mv "$dir/x/modules/$1.tmp" "$dir/x/modules/$1.ko" ;;
    *) return 1 ;;
    esac
}
keep_all() { # keep_all MODULE...: and any others that plans need
    local module
    for module in "${VM_MODULES[@]}"; do
        keep "$module" || true
    done
    for module in "$@"; do
        keep "$module" || { echo "the kernel of $suite for $arch has no module $module" >&2 && return 1; }
    done
}

fetch
if ! keep_all "$@" 2>/dev/null; then # removed before a plan needed them
    rm -f "$dir/fetched"
    fetch
    keep_all "$@"
fi
rm -rf "$dir"/x/{,usr/}lib/modules/*/kernel
kernel=$(find "$dir/x" \( -path '*/boot/vmlinuz-*' -o -path '*/lib/modules/*/vmlinuz' \) -type f | sort | head -n 1)
if [ -z "$kernel" ]; then
    echo "the newest kernel package of $suite for $arch holds no kernel" >&2
    exit 1
fi
echo "$kernel"
