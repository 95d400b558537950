#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# hog's own objects, unchanged, through the loader: each program loads. (That nothing stays in the kernel is checked after
# all tests.)
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"

# Programs are the functions outside of .text; those in .text are called by them.
programs() { # programs OBJECT: as another ELF reader counts them
    local text
    text=$(llvm-readelf -SW "$1" | sed -n 's/^ *\[ *\([0-9]*\)\] \.text .*/\1/p')
    llvm-readelf -s "$1" | awk -v text="$text" '$4 == "FUNC" && $5 == "GLOBAL" && $7 != text' | wc -l
}

loads_whole() { # loads_whole OBJECT: all programs, except those for hooks that this machine lacks
    "$BUILD/tests/objrun" --load "$1" >"$TMP/load" 2>&1
    grep '^load ' "$TMP/load" | grep -v ' ok$' >"$TMP/refused"
    if ! scripts/has.sh FENTRY; then
        sed -i '/ section f\(entry\|exit\)\//d' "$TMP/refused"
    fi
    sed -n 's,.* section tp_btf/\([^ ]*\) .* ENOENT .*,\1,p' "$TMP/refused" >"$TMP/absent"
    while read -r tracepoint; do
        grep -qaw "btf_trace_$tracepoint" /sys/kernel/btf/vmlinux || # another release's name
            sed -i "\\, section tp_btf/$tracepoint ,d" "$TMP/refused"
    done <"$TMP/absent"
    cat "$TMP/refused" "$TMP/load"
    [ ! -s "$TMP/refused" ] && [ "$(grep -c '^load ' "$TMP/load")" -eq "$(programs "$1")" ]
}

decides_all() { # decides_all OBJECT: no relocation is left undecided on this kernel
    "$BUILD/tests/objrun" --dump "$1" >"$TMP/dump" 2>&1 || { cat "$TMP/dump"; return 1; }
    # An object that exists for its maps has one program, which is never attached and reads nothing.
    if ! grep -q '^core ' "$TMP/dump" && grep '^program ' "$TMP/dump" | grep -v ' section raw_tp/none '; then
        return 1
    fi
    ! grep "target=failed" "$TMP/dump"
}

for object in "$BUILD"/bpf/*.bpf.o; do
    name=$(basename "$object" .bpf.o)
    check "$name: every program loads" loads_whole "$object"
    grep ' section f\(entry\|exit\)/' "$TMP/load" | grep -v ' ok$' | while read -r _ program _; do
        echo "skip - $name: $program loads: needs FENTRY: this kernel refuses fentry"
    done
    check "$name: every CO-RE relocation is decided" decides_all "$object"
done
done_testing
