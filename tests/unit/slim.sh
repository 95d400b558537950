#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The binary contains each object as the compiler made it, except the source lines.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/../live/lib.sh"

# LLVM's description of an object, without file offsets: code, data, relocations, symbols.
described() {
    llvm-objdump -s -d -r -t --section-headers "$1" | grep -v -e 'file format' -e '^$' >"$2.all"
    # .BTF and .BTF.ext differ, and are checked below.
    awk '/^Contents of section/ || /^Disassembly/ { skip = / \.BTF(\.ext)?:/ } !skip && !/ \.BTF/' "$2.all" >"$2"
}

for slim in "$BUILD"/bpf/*.slim.o; do
    name=$(basename "$slim" .slim.o)
    full=$BUILD/bpf/$name.bpf.o
    described "$full" "$TMP/full"
    described "$slim" "$TMP/slim"
    # One object is only a map: there are no lines to leave out.
    grep -q 'hog_none' "$TMP/full" && least=30 lines=false || least=100 lines=true
    check "$name: has code, data and symbols" test "$(wc -l <"$TMP/full")" -gt "$least"
    check "$name: they are the same without source lines" cmp "$TMP/full" "$TMP/slim"
    $lines && check "$name: it is a fifth smaller at least" \
        test $(($(stat -c %s "$slim") * 5)) -lt $(($(stat -c %s "$full") * 4))
    llvm-objcopy --dump-section .BTF="$TMP/btf" --dump-section .BTF.ext="$TMP/ext" "$slim" "$TMP/copy"
    llvm-objcopy --dump-section .BTF="$TMP/full.btf" --dump-section .BTF.ext="$TMP/full.ext" "$full" "$TMP/copy"
    $lines && check "$name: the source was in its types' strings" grep -aq 'if (.*);\|= .*;' "$TMP/full.btf"
    check "$name: it is not there any more" test -z "$(grep -ao ';' <(strings -n 4 "$TMP/btf"))"
    word() { od -An -t u4 -j "$2" -N 4 "$1" | tr -d ' '; }
    check "$name: no records of lines" test "$(word "$TMP/ext" 20)" = 0
    check "$name: all records of functions" test "$(word "$TMP/ext" 12)" = "$(word "$TMP/full.ext" 12)"
    check "$name: all relocations" test "$(word "$TMP/ext" 28)" = "$(word "$TMP/full.ext" 28)"
    check "$name: all types" test "$(word "$TMP/btf" 12)" = "$(word "$TMP/full.btf" 12)"
done
done_testing
