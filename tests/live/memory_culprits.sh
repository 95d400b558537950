#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 60
# Which process takes the memory that another one lacks: in a control group at its limit, a reader of a mapped file thrashes.
# First next to a process of constant size, which is no culprit, then next to one that grows, which is.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/load/verdicts.sh
. tests/load/verdicts.sh
trap 'judge_cleanup; lib_cleanup' EXIT

if ! memory_group shared 64; then
    skip 'thrashing names what grows' "$WHY"
    done_testing
    exit
fi
mkdir -p "$big"
head -c 128M /dev/zero >"$big/large"
begin_in "$GROUP" "$deserve" constant fill 8192 1 8192
CONSTANT=$PID
begin_in "$GROUP" "$deserve" reader map "$big/large" 131072 0
READER=$PID

# The rows of the reader, in windows after the growth of memory is known.
look_at_reader() { "$HOG" top -o json -k 100 1 5 | jq -c "select(.view == \"top\" and .pid == $READER)" | tail -n 1 >"$TMP/rows"; }
resident() { awk '/VmRSS/ { print $2 }' "/proc/$1/status"; }
all_rows() {
    cat "$TMP/rows"
    jq -es "length > 0 and all(.[]; $1)" "$TMP/rows"
}

look_at_reader
check 'a process of constant size is no culprit' \
    all_rows ".verdict == \"thrashing\" and (.by | test(\"hog_shared_$$@64MiB\$\"))"

begin_in "$GROUP" "$deserve" grows fill 2048 3072 36864
before=$(resident "$PID")
look_at_reader
check 'the process that grows is the culprit' \
    all_rows ".verdict == \"thrashing\" and (.by | test(\"hog_shared_$$@64MiB:$PID/grows\$\"))"
is_true() { echo "grows: $before to $(resident "$PID") KiB, constant: $(resident "$CONSTANT") KiB" && [ "$(resident "$PID")" -gt $((before + 6000)) ]; }
check 'the kernel says so, too' is_true
done_testing
