#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 240
# The headline of a window: a build is one story, a disk and its hog are named, and where nothing is short it says so.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"

# in_most WINDOWS JQ-CONDITION: of the headlines of as many windows of a second, more than half meet it.
in_most() {
    "$HOG" top -o json 1 "$1" >"$TMP/json"
    jq -c 'select(.type == "headline")' "$TMP/json" | tee "$TMP/headlines" | tee -a "$TMP/all"
    jq -es --argjson all "$1" "map(select(.type == \"headline\") | select($2)) | length * 2 > \$all" "$TMP/json"
}

# A build of C files on all CPUs and two more: compilers come and go, none of them takes much.
mkdir "$TMP/build"
for i in $(seq 200); do
    awk -v i="$i" 'BEGIN { for (n = 0; n < 400; n++) printf "int f%d_%d(int a, int b) { int s = 0; for (int i = a; i < b; i++) s += i * a ^ b %% (i | 1); return s; }\n", i, n }' >"$TMP/build/$i.c"
done
printf '%%.o: %%.c\n\t%s -O2 -c $< -o $@\nall: %s\n' "${CC:-cc}" "$(seq -f '%g.o' -s ' ' 200)" >"$TMP/build/Makefile"
unset MAKEFLAGS MAKELEVEL MFLAGS
load_start make -s -C "$TMP/build" -j $(($(nproc) + 2)) all
check 'a build is one story: make and its processes have most of the CPUs' \
    in_most 6 '.short == "cpu" and (.hog | test("^make \\([0-9]+ processes\\)$")) and .share_pct > 60 and .demand > .capacity'
check 'in words' grep -qE '[0-9.]+ runnable for [0-9]+ CPUs?: make \([0-9]+ processes\) takes [0-9]+ %' "$TMP/headlines"
"$HOG" top -k 3 1 2 >"$TMP/out"
in_its_place() { awk '$1 == "#headline" && before != "#window" { exit 1 } { before = $1; n += $1 == "#headline" } END { exit n != 2 }' "$TMP/out"; }
check 'text has it behind each window line' in_its_place
load_stop "$LOAD_PID"
built() { ! pgrep -x cc1; }
eventually built # make ends before its compilers do

# Two processes that spin on one CPU, next to each other: the hog is one of them, the other one loses.
load_start taskset -c 0 "$BUILD/tests/load/duty" 60
load_start taskset -c 0 "$BUILD/tests/load/duty" 60
check 'tasks that are bound to a CPU: it is short' in_most 4 '.short == "cpu" and (.hog | test("^duty \\("))'
load_stop "${lib_pids[-1]}"
load_stop "${lib_pids[-1]}"

# A reader that waits for each of its blocks.
if command -v fio >/dev/null && LOOP=$(truncate -s 256M "$TMP/image" && losetup -f --show "$TMP/image"); then
    trap 'losetup -d "$LOOP"; lib_cleanup' EXIT
    load_start fio --name=reads --filename="$LOOP" --rw=randread --bs=4k --direct=1 --size=256M --runtime=60 --time_based
    # shellcheck disable=SC2016 # $0 is for that shell
    load_start bash -c 'while dd if=/dev/zero of="$0" bs=1M count=200 oflag=direct; do :; done' "$LOOP"
    sleep 2
    check 'a disk is short, and what moves most of its bytes is named' \
        in_most 6 '.short == "'"${LOOP#/dev/}"'" and (.hog | test("^(dd|fio) \\("))'
    load_stop "${lib_pids[-1]}"
    load_stop "${lib_pids[-1]}"
else
    skip 'a disk is short' 'needs FIO: fio and a loop device'
fi

sleep 1
check 'nothing is short on a quiet host' in_most 4 '.short == "none" and (.text | test("^no resource is short: [0-9]+ CPUs? [0-9]+ % busy"))'
short_enough() { jq -r .text "$TMP/all" | awk '{ n++ } length > 110 { print; bad = 1 } END { exit bad || n < 10 }'; }
check 'no headline is longer than 110 characters' short_enough
done_testing
