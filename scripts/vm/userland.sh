#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Fetches, once, the programs that a guest of an architecture (amd64, arm64) needs, from this machine's own suite:
#
#   userland.sh ARCH DIR
#
# DIR/root, to be copied into an initramfs, gets bin/busybox (static), bin/bpftool, and the libraries of the latter where its
# dynamic linker searches for them. Status 3: the mirror does not have them; 1: everything else. The reason is on stderr.
set -euo pipefail
export LC_ALL=C
arch=$1 dir=$2
x=$dir/x

"${0%/*}/../debian.sh" --depends own "$arch" "$dir" busybox-static bpftool

# needed FILE: the libraries that an ELF file asks for.
needed() { readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p'; }

# copy_libraries FILE: its libraries, and theirs.
copy_libraries() {
    local name file
    for name in $(needed "$1"); do
        [ ! -e "$root/lib/$name" ] || continue
        file=$(find "$x" -path "*/lib/*-linux-gnu/$name" -print -quit)
        [ -n "$file" ] || { echo "$1: no $name in what it depends on" >&2 && return 1; }
        cp -L "$file" "$root/lib/$name"
        copy_libraries "$file"
    done
}

exec 9>"$dir/lock"
flock 9
[ "$dir/root" -ot "$dir/fetched" ] || exit 0
root=$dir/root.tmp
rm -rf "$root" "$dir/root"
mkdir -p "$root/bin" "$root/lib"
cp "$(find "$x" -path '*/bin/busybox')" "$(find "$x" -path '*/sbin/bpftool')" "$root/bin/"
copy_libraries "$root/bin/bpftool"
loader=$(readelf -l "$root/bin/bpftool" | sed -n 's/.*interpreter: \(.*\)\]$/\1/p')
mkdir -p "$root${loader%/*}"
[ -e "$root$loader" ] || cp -L "$root/lib/${loader##*/}" "$root$loader"
mv "$root" "$dir/root"
