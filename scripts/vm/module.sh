#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Builds the kernel module of tests/vm/powercap for the kernel that kernel.sh fetched, by Debian's headers for it, which
# debian.sh unpacks below DIR, and prints where it is. Nothing is installed; DIR/module holds what was built.
#
#   module.sh SUITE ARCH KERNEL DIR
#
# KERNEL is what kernel.sh printed. Status 3: the mirror does not have these headers (any more); 1: everything else. The
# reason is on stderr.
set -euo pipefail
export LC_ALL=C
suite=$1 arch=$2 release=${3##*/vmlinuz-}
mkdir -p "$4"
dir=$(realpath "$4")
here=$(realpath "${0%/*}")
source=$here/../../tests/vm/powercap
version=${release%-cloud-*}

"$here/../debian.sh" "$suite" "$arch" "$dir" "linux-headers-$release" "linux-headers-$version-common" \
    "linux-kbuild-$(cut -d . -f 1,2 <<<"$version")"
module=$dir/module/hogcap.ko
exec 9>"$dir/module.lock"
flock 9
if [ ! -e "$module" ] || [ "$source/hogcap.c" -nt "$module" ] || [ "$dir/fetched" -nt "$module" ]; then
    rm -rf "$dir/module"
    mkdir -p "$dir/module"
    cp "$source/hogcap.c" "$dir/module/"
    echo 'obj-m := hogcap.o' >"$dir/module/Makefile"
    # The headers' makefile refers to its installed path: not here.
    headers=$dir/x/usr/src
    compiler=$(command -v gcc-12 || command -v gcc) || { echo 'no gcc to build a module with' >&2 && exit 1; }
    if ! env -u MAKEFLAGS -u MAKELEVEL make -C "$headers/linux-headers-$release" -f "$headers/linux-headers-$version-common/Makefile" \
        M="$dir/module" CC="$compiler" modules >"$dir/module/log" 2>&1; then
        grep -m 1 -E 'error|Error' "$dir/module/log" >&2 || tail -n 1 "$dir/module/log" >&2
        exit 1
    fi
fi
echo "$module"
