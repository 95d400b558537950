#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# hog's own objects as they are, through the loader by themselves: each program loads. (That nothing stays in the
# kernel is checked after all tests.)
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"

loads_whole() { # loads_whole OBJECT: as many programs load as libbpf's tool finds in it
    "$BUILD/tests/objrun" --load "$1" >"$TMP/load" 2>&1 || { cat "$TMP/load"; return 1; }
    grep '^load ' "$TMP/load" | grep -v ' ok$' && return 1
    [ "$(grep -c '^load ' "$TMP/load")" -eq "$(llvm-readelf -s "$1" | awk '$4 == "FUNC" && $5 == "GLOBAL"' | wc -l)" ]
}

decides_all() { # decides_all OBJECT: no relocation is left undecided on this kernel
    "$BUILD/tests/objrun" --dump "$1" >"$TMP/dump" 2>&1 || { cat "$TMP/dump"; return 1; }
    grep -q '^core ' "$TMP/dump" && ! grep 'target=failed' "$TMP/dump"
}

for object in "$BUILD"/bpf/*.bpf.o; do
    name=$(basename "$object" .bpf.o)
    check "$name: every program loads" loads_whole "$object"
    check "$name: every CO-RE relocation is decided" decides_all "$object"
done
done_testing
