#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# A view is one new file: the example of docs/hacking.md in a copy of the tree, with no other file changed, is in everything that
# follows from the tables of views and columns: help, completion, all formats, recordings and reports, with the right units.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/../live/lib.sh"

# What is built already is copied, too: only the view is to be compiled.
copy=$TMP/copy
mkdir -p "$copy/build/obj"
cp -a Makefile src syscall bpf gen "$copy"
for part in flags uapi gen bpf libhog.a obj/src obj/syscall obj/gen; do
    [ ! -e "$BUILD/$part" ] || cp -a "$BUILD/$part" "$copy/build/$part"
done

awk '/^```/ { inside = $0 == "```c"; next } inside' docs/hacking.md >"$copy/src/view/toy.c"

unset MAKEFLAGS MAKELEVEL MFLAGS
check 'it builds' make -C "$copy" --no-print-directory BUILD=build "-j$(nproc)" all build/gen/hog.bash build/gen/hog.zsh build/gen/hog.fish
one_file_more() {
    local folder
    for folder in Makefile src syscall bpf gen; do
        diff -rq "$folder" "$copy/$folder"
    done >"$TMP/changed"
    cat "$TMP/changed"
    [ "$(cat "$TMP/changed")" = "Only in $copy/src/view: toy.c" ]
}
check 'with one file more, and no other changed' one_file_more

HOG=$copy/build/hog
[ -x "$HOG" ] || done_testing
check '--help lists it' grep -qE '^ +toy +An example: CPU time and memory' <("$HOG" --help)
for shell in bash zsh fish; do
    check "completion of $shell lists it" grep -qw toy "$copy/build/gen/hog.$shell"
done

if [ "$(id -u)" -ne 0 ]; then
    skip 'its rows' 'needs ROOT: BPF programs'
    done_testing
fi

# A load that runs, holds memory and touches new memory all the time.
load_start python3 -c 'import mmap
while True: mmap.mmap(-1, 1 << 22).write(b"x" * (1 << 22))'

columns=$("$HOG" toy 0.2 1 | sed -n 's/^#toy *//p' | xargs)
check 'text: its columns in their order' test "$columns" = 'pid cpu_pct run_ms switches_s held_kib touched_kib comm'

# field NAME: of the load's row in the last window.
"$HOG" toy -o json -k 10000 0.5 4 >"$TMP/json"
field() { jq -s --argjson pid "$LOAD_PID" "map(select(.view == \"toy\" and .pid == \$pid)) | last | .$1" "$TMP/json"; }
check 'json: its percentage' within "$(field cpu_pct)" 5 101
check 'json: its milliseconds' within "$(field run_ms)" 25 505
check 'json: its KiB' within "$(field touched_kib)" 4096 1e9

"$HOG" toy -o prom -k 10000 0.5 2 >"$TMP/prom"
prom() { sed -nE "s/^hog_toy_$1\{.*pid=\"$LOAD_PID\".*\} ([^ ]+).*/\1/p" "$TMP/prom" | tail -n 1; }
check 'prom: a percentage is a ratio' within "$(prom cpu_ratio)" 0.05 1.01
check 'prom: milliseconds are seconds' within "$(prom run_seconds)" 0.025 0.505
check 'prom: KiB are bytes' within "$(prom held_bytes)" 1e6 1e9

"$HOG" record "$TMP/recording" toy 0.5 4 -k 10000 >"$TMP/recorded" 2>&1
# reported COLUMN FIELD: of the load, in a report on that column. recorded N: the sum of its Nth column.
reported() {
    "$HOG" report "$TMP/recording" -o json --sort "$1" |
        jq -r --argjson pid "$LOAD_PID" "select(.view == \"report\" and .of == \"toy\" and .pid == \$pid) | .$2"
}
recorded() {
    jq -s --argjson pid "$LOAD_PID" "(map(objects | select(.view == \"toy\")) | first.columns) as \$names | (\$names | index(\"pid\")) as \$at |
        map(select(.[0]? == \"toy\" and .[\$at + 1] == \$pid) | .[(\$names | index(\"$1\")) + 1]) | add" "$TMP/recording"
}
check 'report: what it ranks by' test "$("$HOG" report "$TMP/recording" -o json | jq -r 'select(.view == "report" and .of == "toy") | .column' | uniq | xargs)" = 'cpu_pct touched_kib'
check 'report: a percentage has a total in seconds' test "$(reported cpu_pct unit)" = s
check 'report: of the right size' within "$(reported cpu_pct total)" 0.1 2.2
check 'report: KiB of a window have a total in KiB' test "$(reported touched_kib unit)" = KiB
check 'report: which is their sum' within "$(reported touched_kib total)" "$(recorded touched_kib)" "$(recorded touched_kib)"
check 'report: milliseconds have a total in milliseconds' test "$(reported run_ms unit)" = ms
check 'report: a level has no total' test "$(reported held_kib total)" = null
done_testing
