#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Objects of others: the loader takes and refuses what libbpf (by way of bpftool) takes and refuses on this kernel. The
# programs of libbpf-tools carry their objects in themselves.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
what='objects of libbpf-tools load if libbpf loads them'

if ! command -v cpudist >/dev/null; then
    skip "$what" 'needs LIBBPFTOOLS: not installed'
    done_testing
fi

# What follows the object in the program stays behind it: it is not part of what its headers name.
extract() { # extract PROGRAM FILE
    local at
    at=$(grep -obUaPm 1 '\x7fELF\x02\x01\x01[\0]{9}\x01\0\xf7\0' "$1" | cut -d : -f 1) && [ -n "$at" ] && tail -c "+$((at + 1))" "$1" >"$2"
}

libbpf_loads() { # libbpf_loads FILE: into a BPF file system of its own, which goes with it
    # shellcheck disable=SC2016 # expanded in there
    unshare -m sh -c 'mount -t bpf bpf /sys/fs/bpf && bpftool prog loadall "$1" /sys/fs/bpf/all' sh "$1" >"$TMP/bpftool" 2>&1
}

both=0 differing=
for program in $(dpkg -L libbpf-tools | grep /sbin/); do
    extract "$program" "$TMP/object" || continue
    "$BUILD/tests/objrun" --load "$TMP/object" >"$TMP/ours" 2>&1
    ours=$?
    libbpf_loads "$TMP/object"
    theirs=$?
    if ((!ours != !theirs)); then
        differing="$differing ${program##*/}"
        { echo "== $program"; grep -v ' ok$' "$TMP/ours"; tail -n 5 "$TMP/bpftool"; } >&2
    fi
    both=$((both + (!ours && !theirs)))
done
check "$what" test -z "$differing"
check 'and these are many' test "$both" -ge 10
done_testing
